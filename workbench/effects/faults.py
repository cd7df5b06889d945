"""Named places where a test can kill, stop or fail the program.

Owns the registry of all fault points and what is armed at them. With nothing armed a point costs two
lookups. It must never change what the program does otherwise, and no point may be passed that the
registry does not name.
"""

import errno
import os
import signal
import threading
from collections.abc import Callable
from typing import Final, Self

Action = str | BaseException | Callable[[], None]

VARIABLE: Final = "WORKBENCH_FAULTS"

POINTS: Final[dict[str, str]] = {
    "journal.before_commit": "The writer has inserted everything and is about to commit.",
    "journal.after_commit": "The transaction is committed and the producer was not told yet.",
    "journal.blob_written": "A blob's temporary file is written and synced, not renamed.",
    "journal.blob_renamed": "A blob is at its place and no event refers to it yet.",
    "turn.model_called": "The request to the model is sent and no reply has been recorded.",
    "call.before_gate": "A call is pending and the gate was not asked.",
    "call.before_propose": "The gate has answered and nothing is proposed yet.",
    "call.proposed": "The proposal and its action are committed.",
    "call.before_executing": "The call is approved and checked again, not yet marked as executing.",
    "call.executing": "The call is durably marked as executing and nothing was done.",
    "call.started": "The command's process is prepared and process.started is not recorded.",
    "call.process_recorded": "process.started is recorded and the command was not let go.",
    "call.released": "The command was let go.",
    "call.finished_effect": "The effect is done and call.finished is not recorded.",
    "call.finished": "call.finished is committed.",
    "tree.copied": "A folder is copied beside its place in a workspace and not renamed.",
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
    "host.started": "A host holds its lock and has done nothing else.",
}


class UnknownPoint(Exception):
    """A fault point was named that the registry does not know."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no fault point {name!r}; the known ones are in faults.POINTS")


class Armed:
    """One armed fault; disarms itself at the end of a ``with`` block."""

    def __init__(self, name: str, action: Action, nth: int) -> None:
        self._name = name
        self._fire = _action(action)
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
        faults = [fault for fault in _armed.get(self._name, ()) if fault is not self]
        if faults:
            _armed[self._name] = faults
        else:
            _armed.pop(self._name, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disarm()


_armed: dict[str, list[Armed]] = {}


def point(name: str) -> None:
    """Pass a fault point: nothing happens unless a test armed it.

    Raises:
        UnknownPoint: The registry has no such name.
    """
    if name not in POINTS:
        raise UnknownPoint(name)
    if _armed:
        for fault in tuple(_armed.get(name, ())):
            fault.passed()


def armed(name: str, action: Action, nth: int = 1) -> Armed:
    """Arm a point, at once; use the result as a context manager to disarm it.

    Args:
        name: A name in `POINTS`.
        action: ``exit`` (`os._exit` 137), ``kill`` (SIGKILL to this process), ``stop`` (SIGSTOP to this
            process), ``enospc``, ``eio``, an exception to raise, or something to call.
        nth: Which passage fires, counted from 1; only that one does.

    Raises:
        UnknownPoint: The registry has no such name.
        ValueError: No such action, or `nth` is below 1.
    """
    if name not in POINTS:
        raise UnknownPoint(name)
    if nth < 1:
        raise ValueError(f"passages count from 1, not {nth}")
    fault = Armed(name, action, nth)
    _armed.setdefault(name, []).append(fault)
    return fault


def disarm_all() -> None:
    """Take every fault away."""
    _armed.clear()


def arm_from(text: str) -> None:
    """Arm what ``WORKBENCH_FAULTS`` says: ``name:action[:nth]``, separated by commas.

    Raises:
        ValueError: A part cannot be read; names it.
        UnknownPoint: A name is not in the registry.
    """
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, colon, rest = part.partition(":")
        action, _, nth = rest.partition(":")
        if not colon or not (nth or "1").isdecimal():
            raise ValueError(f"{VARIABLE}: {part!r} is not name:action[:nth]")
        armed(name, action, int(nth or "1"))


def _action(action: Action) -> Callable[[], None]:
    if isinstance(action, BaseException):
        return _raising(action)
    if not isinstance(action, str):
        return action
    if action not in _ACTIONS:
        raise ValueError(f"there is no fault action {action!r}; there are {', '.join(_ACTIONS)}")
    return _ACTIONS[action]


def _raising(error: BaseException) -> Callable[[], None]:
    def fire() -> None:
        raise error

    return fire


def _fail(number: int) -> Callable[[], None]:
    def fire() -> None:
        raise OSError(number, os.strerror(number))

    return fire


def _stop() -> None:
    # Sent to this very thread: a signal to the process is taken by the main thread, and a writer thread
    # would run on past the point for a moment.
    signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)


_ACTIONS: Final[dict[str, Callable[[], None]]] = {
    "exit": lambda: os._exit(137),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "stop": _stop,
    "enospc": _fail(errno.ENOSPC),
    "eio": _fail(errno.EIO),
}

arm_from(os.environ.get(VARIABLE, ""))
