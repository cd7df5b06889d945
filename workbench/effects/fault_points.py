"""Fault points: named places where a test lets a process fail, stop or be killed."""

import errno
import os
import signal
import threading
from collections.abc import Callable
from typing import Final, Self

FaultAction = str | BaseException | Callable[[], None]
FAULTS_VARIABLE: Final = "WORKBENCH_FAULTS"
FAULT_POINTS: Final[dict[str, str]] = {
    "journal.before_commit": "The writer has inserted everything and is about to commit.",
    "journal.after_commit": "The transaction is committed and the producer was not told yet.",
    "journal.blob_written": "A blob's temporary file is written and synced, not renamed.",
    "journal.blob_renamed": "A blob is at its place and no event refers to it yet.",
    "turn.model_called": "The request to the model is sent and no reply has been recorded.",
    "call.before_gate": "A call is pending and the gate was not asked.",
    "call.before_propose": "The gate has answered and nothing is proposed yet.",
    "call.proposed": "The proposal and its action are committed.",
    "read.before_release": "A waiting read is allowed by a grant and that is not recorded yet.",
    "read.released": "The question of a read is withdrawn and its call allowed, in one transaction.",
    "reopen.before_propose": "A human asked for an approved change again, and nothing is proposed yet.",
    "reopen.proposed": "The call that proposes it again and its action are committed.",
    "patch.before_propose": "A human asked for a patch, and nothing is proposed yet.",
    "patch.proposed": "The call that proposes a patch and its action are committed.",
    "call.before_executing": "The call is approved and checked again, not yet marked as executing.",
    "call.executing": "The call is durably marked as executing and nothing was done.",
    "call.started": "The command's process is prepared and process.started is not recorded.",
    "job.prepared": "The owner of a command has prepared it and written nothing.",
    "job.written": "The owner has written its record and has not reported it to the driver.",
    "job.released": "The driver has released the command and the owner has not started it.",
    "job.before_end": "The command has ended and the owner has not recorded the result.",
    "job.ended": "The owner has recorded the result and has not reported it to the driver.",
    "call.process_recorded": "process.started is recorded and the command was not let go.",
    "call.released": "The command was let go.",
    "call.finished_effect": "The effect is done and call.finished is not recorded.",
    "call.finished": "call.finished is committed.",
    "call.before_repeated": "A call repeated itself and that is not recorded yet.",
    "call.repeated": "call.repeated is committed.",
    "supervised.asked": "A call of an agent that executes its own is announced with its verdict.",
    "supervised.before_executing": "Such a call is checked again and not marked as handed over.",
    "supervised.executing": "It is durably marked as handed over, and its agent was not answered.",
    "supervised.answered": "Its agent was answered.",
    "supervised.observed": "What the agent did is looked at and recorded.",
    "import.before_replaced": "An agent connects whose session was imported; nothing of that is removed.",
    "import.replaced": "Its own session is in the place of the import, and blobs of that may be left.",
    "tree.copied": "A folder is copied beside its place in a workspace and not renamed.",
    "incidents.begun": "The driver of a list has said that it works; nothing was asked yet.",
    "incident.before_started": "An incident is next; neither its prompt nor the note of it is there.",
    "incident.started": "The prompt about an incident and the note of it are committed, in one transaction.",
    "incident.before_check": "The agent's turn about an incident is over; the checker was not run.",
    "incident.checked": "The checker has run, and what it said is not recorded yet.",
    "incident.asked": "The question what to do with an incident is committed.",
    "incident.undo_requested": "An undo for an incident is asked for, and its agent has not taken it up yet.",
    "incident.before_ended": "It is known how the work on an incident ends, and that is not recorded yet.",
    "incident.ended": "The end of an incident is committed; its session may have to be closed.",
    "place.waits": "A run stands in the queue for a place.",
    "place.taken": "A run has a place and nothing is started in it.",
    "run.requested": "A request for a run or a list is committed, with its driver's lease if it has one.",
    "run.started": "run.started is committed and no step was looked at.",
    "step.before_running": "A step is prepared and its move to running is not committed.",
    "step.running": "A step's move to running is committed and nothing of it runs.",
    "step.ended": "A step's work is done and nothing of its end is committed.",
    "step.before_completed": "Artifacts are sealed, contracts checked; the end of the step is not committed.",
    "step.completed": "The end of a step is committed.",
    "run.before_end": "Every step has ended and the end of the run is not committed.",
    "turn.before_end": "All calls are settled and turn.ended is not recorded.",
    "apply.staged": "Every temporary file of a change is written and nothing is renamed.",
    "apply.renaming": "The next file of a change is about to be renamed.",
    "apply.renamed": "One more file of a change has been renamed.",
    "apply.done": "Every file of a change has been renamed.",
    "decide.before_commit": "A decision is checked and about to be committed.",
    "decide.after_commit": "A decision is committed and the user was not told.",
    "lease.taken": "A lease is committed and its session was not touched.",
    "host.started": "A background process holds its lock and has done nothing else.",
}


class UnknownFaultPoint(Exception):
    """A fault point was named that the registry does not know."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no fault point {name!r}; the known ones are in FAULT_POINTS")


class ArmedFault:
    """One armed fault; disarms itself at the end of a ``with`` block."""

    def __init__(self, name: str, action: FaultAction, nth: int) -> None:
        self._name = name
        self._fire = _fault_action(action)
        self._left = nth
        self._lock = threading.Lock()

    def passed(self) -> None:
        """Count one passage and fire if it is the one that was asked for."""
        with self._lock:
            self._left -= 1
            is_due = self._left == 0
        if is_due:
            self._fire()

    def disarm(self) -> None:
        """Take the fault away; twice is harmless."""
        faults = [fault for fault in _armed_faults.get(self._name, ()) if fault is not self]
        if faults:
            _armed_faults[self._name] = faults
        else:
            _armed_faults.pop(self._name, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disarm()


_armed_faults: dict[str, list[ArmedFault]] = {}


def fault_point(name: str) -> None:
    """Pass a fault point: nothing happens unless a test armed it. Raises UnknownFaultPoint."""
    if name not in FAULT_POINTS:
        raise UnknownFaultPoint(name)
    if _armed_faults:
        for fault in tuple(_armed_faults.get(name, ())):
            fault.passed()


def arm_fault(name: str, action: FaultAction, nth: int = 1) -> ArmedFault:
    """Arm a point at once; use the result as a context manager to disarm it.

    `action` is ``exit`` (`os._exit` 137), ``kill`` (SIGKILL to this process), ``stop`` (SIGSTOP to this
    thread), ``enospc``, ``eio``, an exception to raise, or something to call. Only passage number `nth`, from
    1, fires it. Raises UnknownFaultPoint, and ValueError for another action or number.
    """
    if name not in FAULT_POINTS:
        raise UnknownFaultPoint(name)
    if nth < 1:
        raise ValueError(f"passages count from 1, not {nth}")
    fault = ArmedFault(name, action, nth)
    _armed_faults.setdefault(name, []).append(fault)
    return fault


def disarm_all_faults() -> None:
    """Take every fault away."""
    _armed_faults.clear()


def arm_faults_from(text: str) -> None:
    """Arm what ``WORKBENCH_FAULTS`` says: ``name:action[:nth]``, separated by commas.

    Raises UnknownFaultPoint, and ValueError naming a part that cannot be read.
    """
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, colon, rest = part.partition(":")
        action, _, nth = rest.partition(":")
        if not colon or not (nth or "1").isdecimal():
            raise ValueError(f"{FAULTS_VARIABLE}: {part!r} is not name:action[:nth]")
        arm_fault(name, action, int(nth or "1"))


def _fault_action(action: FaultAction) -> Callable[[], None]:
    if isinstance(action, BaseException):
        return _raise_error(action)
    if not isinstance(action, str):
        return action
    if action not in _FAULT_ACTIONS:
        raise ValueError(f"there is no fault action {action!r}; there are {', '.join(_FAULT_ACTIONS)}")
    return _FAULT_ACTIONS[action]


def _raise_error(error: BaseException) -> Callable[[], None]:
    def fire() -> None:
        raise error

    return fire


def _fail_with_errno(number: int) -> Callable[[], None]:
    def fire() -> None:
        raise OSError(number, os.strerror(number))

    return fire


def _stop_thread() -> None:
    # Sent to this very thread: a signal to the process is taken by the main thread, and a writer thread
    # would run on past the point for a moment.
    signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)


_FAULT_ACTIONS: Final[dict[str, Callable[[], None]]] = {
    "exit": lambda: os._exit(137),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "stop": _stop_thread,
    "enospc": _fail_with_errno(errno.ENOSPC),
    "eio": _fail_with_errno(errno.EIO),
}

arm_faults_from(os.environ.get(FAULTS_VARIABLE, ""))
