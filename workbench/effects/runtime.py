"""The clock and ids, locks between processes, file system types, and fault points for tests."""

import contextlib
import errno
import fcntl
import itertools
import os
import re
import signal
import stat
import threading
import time
import uuid
from collections.abc import Callable, Generator
from pathlib import Path, PurePosixPath
from typing import Final, Protocol, Self


class Clock(Protocol):
    """Tell the time and make identifiers; everything that needs either is given one."""

    def now(self) -> int:
        """Return the wall clock in microseconds since the epoch, UTC."""
        ...

    def monotonic(self) -> float:
        """Return steady seconds from an arbitrary start; never goes back."""
        ...

    def new_id(self) -> str:
        """Return a new identifier as the text of a version 4 UUID."""
        ...


class SystemClock:
    """The clock of this machine, and random identifiers."""

    def now(self) -> int:
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        return time.monotonic()

    def new_id(self) -> str:
        return str(uuid.uuid4())


class ManualClock:
    """A clock that moves when told to, with identifiers that count up: for tests and golden sessions."""

    def __init__(self, start: int = 1_700_000_000_000_000) -> None:
        self._start = start
        self._passed = 0
        self._ids = itertools.count(1)

    def now(self) -> int:
        return self._start + self._passed

    def monotonic(self) -> float:
        return self._passed / 1_000_000

    def new_id(self) -> str:
        """Return the next identifier: ``00000000-0000-4000-8000-000000000001``, then ``…002``."""
        return f"00000000-0000-4000-8000-{next(self._ids):012d}"

    def advance(self, seconds: float) -> None:
        """Move both clocks forward, rounded to a microsecond. Raises ValueError: the clock would go back."""
        if seconds < 0:
            raise ValueError(f"a clock does not go back ({seconds} s)")
        self._passed += round(seconds * 1_000_000)


_FLAGS: Final = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_ATTEMPTS: Final = 50
_PAUSE: Final = 0.002


class FileLock:
    """An exclusive lock on a file, held until released or until this process is gone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    @property
    def is_mine(self) -> bool:
        return self._file is not None

    def try_acquire(self) -> bool:
        """Take the lock without waiting; return whether it is held. Raises OSError: no regular file."""
        if self._file is None:
            self._file = _acquire(self.path)
        return self._file is not None

    def release(self) -> None:
        """Give the lock back; twice is harmless. The file stays."""
        if self._file is not None:
            os.ftruncate(self._file, 0)
            fcntl.flock(self._file, fcntl.LOCK_UN)  # a child just forked has it open until it executes
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def is_lock_held(path: Path) -> bool:
    """Ask the kernel whether any process (this one too) holds the lock; a missing file is not held."""
    with _opened_lock_file(path, os.O_RDONLY) as file:
        return file is not None and not _try_flock(file, fcntl.LOCK_SH)


def lock_holder(path: Path) -> int | None:
    """Return the pid that the holder wrote, for people; None if nobody holds the lock or it says none."""
    with _opened_lock_file(path, os.O_RDONLY) as file:
        if file is None or _try_flock(file, fcntl.LOCK_SH):
            return None
        text = os.pread(file, 20, 0).strip()
    return int(text) if text.isdigit() else None


def remove_unheld_lock(path: Path) -> bool:
    """Delete a lock file that nobody holds; True if it is gone afterwards.

    The lock is held meanwhile, and whoever opened the file in between sees that it has lost its name.
    """
    with FileLock(path) as lock:
        if lock.try_acquire():
            path.unlink(missing_ok=True)
    return not path.exists()


def _acquire(path: Path) -> int | None:
    for _ in range(_ATTEMPTS):
        file = _open_lock_file(path, os.O_RDWR | os.O_CREAT)
        if _try_flock(file, fcntl.LOCK_EX) and _is_still_named(file, path):
            os.ftruncate(file, 0)
            with contextlib.suppress(OSError):  # a full disk: only people read the pid, the lock is held
                os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
            return file
        # Somebody who only asks (`is_lock_held`) holds a shared lock for a moment: that is not being taken.
        is_only_asked = _try_flock(file, fcntl.LOCK_SH)
        os.close(file)
        if not is_only_asked:
            return None
        time.sleep(_PAUSE)
    return None


def _try_flock(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still_named(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.lstat())
    except FileNotFoundError:
        return False


def _open_lock_file(path: Path, flags: int) -> int:
    file = os.open(path, flags | _FLAGS, 0o600)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(f"{path} is not a regular file and cannot be a lock; remove it")
    return file


@contextlib.contextmanager
def _opened_lock_file(path: Path, flags: int) -> Generator[int | None, None, None]:
    try:
        file = _open_lock_file(path, flags)
    except FileNotFoundError:
        yield None
        return
    try:
        yield file
    finally:
        os.close(file)


# fmt: off
_FUSE_TYPES: Final = (
    "afp", "ceph", "cephfs", "curlftpfs", "davfs", "davfs2", "gcsfuse", "glusterfs", "goofys",
    "grpcfuse", "gvfsd-fuse", "juicefs", "mfs", "moosefs", "osxfs", "rclone", "s3fs", "seaweedfs",
    "smbnetfs", "sshfs", "vmhgfs-fuse",
)
NETWORK_TYPES: Final = frozenset({
    "9p", "acfs", "afp", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "drvfs", "fhgfs", "gfs",
    "gfs2", "glusterfs", "gpfs", "lustre", "ncp", "ncpfs", "nfs", "nfs3", "nfs4", "ocfs2", "orangefs",
    "osxfs", "panfs", "pcnfs", "prl_fs", "pvfs2", "smb2", "smb3", "smbfs", "vboxsf", "vmhgfs", "webdav",
    *(f"fuse.{name}" for name in _FUSE_TYPES),
})
"""File system types on which shared memory and locks between processes cannot be relied on."""
# fmt: on

_MOUNTINFO: Final = Path("/proc/self/mountinfo")
_OCTAL: Final = re.compile(r"\\([0-7]{3})")


def network_mount(path: str | Path, mountinfo: str | None = None) -> str | None:
    """Return the type of the network file system of a path (``nfs4``, ``9p``); None for a local one.

    The path need not exist. `mountinfo` stands in for ``/proc/self/mountinfo``, which macOS does not have.
    """
    kind = _mount_type(Path(path).resolve(), _read_mountinfo() if mountinfo is None else mountinfo)
    return kind if kind in NETWORK_TYPES else None


def _read_mountinfo() -> str:
    try:
        return _MOUNTINFO.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def _mount_type(path: Path, mountinfo: str) -> str | None:
    best, mount_type = -1, None
    for line in mountinfo.split("\n"):
        mount = _parse_mount(line)
        if mount is None or not path.is_relative_to(mount[0]):
            continue
        # Not "longer than": of two mounts on one folder the later one covers the earlier.
        if (depth := len(mount[0].parts)) >= best:
            best, mount_type = depth, mount[1]
    return mount_type


def _parse_mount(line: str) -> tuple[PurePosixPath, str] | None:
    fields = line.split(" ")
    if "-" not in fields[6:]:
        return None
    after = fields[fields.index("-", 6) + 1 :]
    if not after:
        return None
    return PurePosixPath(_OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[4])), after[0]


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
    "call.before_executing": "The call is approved and checked again, not yet marked as executing.",
    "call.executing": "The call is durably marked as executing and nothing was done.",
    "call.started": "The command's process is prepared and process.started is not recorded.",
    "call.process_recorded": "process.started is recorded and the command was not let go.",
    "call.released": "The command was let go.",
    "call.finished_effect": "The effect is done and call.finished is not recorded.",
    "call.finished": "call.finished is committed.",
    "call.before_repeated": "A call repeated itself and that is not recorded yet.",
    "call.repeated": "call.repeated is committed.",
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
CALL_VARIABLE: Final = "WORKBENCH_CALL"
"""Marks every process of a call, so that those which escape their group are found."""
AGENT_VARIABLE: Final = "WORKBENCH_AGENT"
"""Set in every process that a host starts for an agent; deciding commands refuse where they see it."""
