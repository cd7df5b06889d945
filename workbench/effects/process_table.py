"""The running processes (proc(5) or ps), their identities, and the children this process started."""

# A command is marked (`WORKBENCH_CALL=<call id>` in its environment), and what carries the mark is ended
# with it: process groups do not hold daemons. The host is the subreaper of what it starts, so that ancestry
# holds too.
#
# A process without an environment is looked at again. Between two programs (exec) the kernel shows none,
# and what a command left behind would have been missed there; found when reading the process table became
# fast.

import contextlib
import functools
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterable, Set
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.effects.process_marks import CALL_VARIABLE

_PROC: Final = "/proc"
_IS_LINUX: Final = sys.platform == "linux"
_PS: Final = ("/bin/ps", "-axo", "pid=,ppid=,pgid=,stat=,lstart=")
_DEAD: Final = frozenset("ZXx")
_STOPPED: Final = frozenset("Tt")
_TRIES: Final = 5
_RETRY_SECONDS: Final = 0.002
"""Seconds that an exec may take in which a process shows no environment."""
_MARK_PATTERN: Final = re.compile(r"[A-Za-z0-9._:-]{1,200}")


class ProcessIdentity(Struct, frozen=True, kw_only=True):
    """Which process, also after its number was given to another one."""

    pid: int
    group: int
    start_time: str
    """Opaque: on Linux the boot's id and the clock ticks since, on macOS what ps prints."""


class ProcessRow(Struct, frozen=True, kw_only=True):
    """One process as the table showed it."""

    pid: int
    parent: int
    group: int
    session: int
    """0 where the table does not say (macOS)."""
    is_alive: bool
    """Whether it can still do anything."""
    ticks: int
    """Start in clock ticks since the boot; 0 where the table does not say."""
    start_time: str
    is_stopped: bool = False
    """Whether it stands still (SIGSTOP, a debugger) until somebody lets it go on."""


ProcessTable = dict[int, ProcessRow]


def read_process_table(since: int = 0, first: int = 0) -> ProcessTable:
    """Read all processes but those from before a clock tick: every command's end looks at this table.

    `first`: a process that began a moment ago, as `Terminator` knows; what began before it is left out.
    """
    if not _IS_LINUX:
        return _by_pid(parse_ps(_run_ps()))
    pids = [int(name) for name in os.listdir(_PROC) if name.isdigit()]  # noqa: PTH208 -- no path objects, see `_row`
    # Numbers rise, and begin again at the bottom when they run out, which the newest one shows.
    if first and (newest := newest_pid()) >= first:
        pids = [pid for pid in pids if first <= pid <= newest]
    return _by_pid(row for pid in pids if (row := _read_row(pid, since)) is not None)


def newest_pid() -> int:
    """Return the number that was given to a process last; 0 where the system does not say."""
    try:
        file = os.open("/proc/loadavg", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        number = os.read(file, 4096).split()[-1:]
    except OSError:
        return 0
    finally:
        os.close(file)
    return int(number[0]) if number and number[0].isdigit() else 0


def variable_names(pid: int) -> frozenset[str] | None:
    """Return the names of the variables that a process was started with and that are not empty.

    None where the system does not say (macOS, a process of another user).
    """
    try:
        data = Path(f"{_PROC}/{pid}/environ").read_bytes()
    except OSError:
        return None
    pairs = (item.partition(b"=") for item in data.split(b"\0"))
    return frozenset(os.fsdecode(name) for name, _, value in pairs if value.strip())


def read_process(pid: int) -> ProcessRow | None:
    if not _IS_LINUX:
        return _by_pid(parse_ps(_run_ps())).get(pid)
    return _read_row(pid, 0)


def _read_row(pid: int, since: int) -> ProcessRow | None:
    try:
        # Two system calls and no path object: there are hundreds of processes, read twice a command.
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = os.read(file, 4096).decode("utf-8", "replace")
        return parse_stat(text, boot_id()) if not since or _start_ticks(text) >= since else None
    except (OSError, ValueError):
        return None
    finally:
        os.close(file)


def _start_ticks(text: str) -> int:
    fields = text[text.rfind(")") :].split(None, 21)
    return int(fields[20]) if len(fields) > 20 and fields[20].isdigit() else 0


def _by_pid(rows: Iterable[ProcessRow]) -> ProcessTable:
    return {row.pid: row for row in rows}


def parse_stat(text: str, boot: str) -> ProcessRow:
    """Read ``/proc/<pid>/stat`` (proc(5)); the name may hold spaces and parentheses. Raises ValueError."""
    pid, _, rest = text.partition(" ")
    fields = rest.rpartition(")")[2].split()
    if len(fields) < 20:
        raise ValueError(f"not the stat of a process: {text[:80]!r}")
    parent, group, session = (int(field) for field in fields[1:4])
    ticks = int(fields[19])
    return ProcessRow(
        pid=int(pid),
        parent=parent,
        group=group,
        session=session,
        # A process whose first thread has ended looks like a zombie while its other threads run on.
        is_alive=fields[0] not in _DEAD or int(fields[17]) > 1,
        ticks=ticks,
        start_time=f"{boot}:{ticks}",
        is_stopped=fields[0] in _STOPPED,
    )


def parse_ps(text: str) -> list[ProcessRow]:
    """Read what ps prints for pid, ppid, pgid, stat and lstart; other lines are passed over."""
    rows: list[ProcessRow] = []
    for line in text.splitlines():
        fields = line.split(None, 4)
        if len(fields) < 5 or not all(field.isdigit() for field in fields[:3]):
            continue
        pid, parent, group = (int(field) for field in fields[:3])
        start = " ".join(fields[4].split())
        rows.append(
            ProcessRow(
                pid=pid,
                parent=parent,
                group=group,
                session=0,
                is_alive=fields[3][0] not in _DEAD,
                ticks=0,
                start_time=start,
                is_stopped=fields[3][0] in _STOPPED,
            )
        )
    return rows


def _run_ps() -> str:
    env = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"}
    return subprocess.run(_PS, capture_output=True, env=env, check=False, timeout=10).stdout.decode(
        "utf-8", "replace"
    )


@functools.cache
def boot_id() -> str:
    """Return what tells this boot of the machine from others; empty where there is none."""
    try:
        return Path(_PROC, "sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


def process_identity(pid: int) -> ProcessIdentity:
    """Return the identity of a process. Raises ProcessLookupError: there is none of that number."""
    row = read_process(pid)
    if row is None:
        raise ProcessLookupError(f"there is no process {pid}")
    return ProcessIdentity(pid=pid, group=row.group, start_time=row.start_time)


def require_mark(mark: str) -> None:
    """Raise ValueError for a mark that could be taken for another call's."""
    if not _MARK_PATTERN.fullmatch(mark):
        raise ValueError(f"{mark[:80]!r} cannot mark a process; use letters, digits and . _ : -")


def carries_mark(pid: int, mark: str) -> bool:
    """Whether a process was started with this mark in its environment; False where that cannot be read."""
    variable = f"{CALL_VARIABLE}={mark}".encode()
    for _ in range(_TRIES):
        try:
            environment = Path(_PROC, str(pid), "environ").read_bytes()
        except OSError:
            return False
        if environment:
            return variable in environment.split(b"\0")
        # Nothing is there while a program takes the place of another; threads of the kernel never have any.
        time.sleep(_RETRY_SECONDS)
    return False


def is_descendant(row: ProcessRow, elders: Set[int], table: ProcessTable) -> bool:
    """Whether a process is a child of one of the elders, directly or through living ones."""
    visited: set[int] = set()
    current: ProcessRow | None = row
    while current is not None and current.pid not in visited:
        if current.parent in elders:
            return True
        visited.add(current.pid)
        current = table.get(current.parent)
    return False


def ancestor_pids(process: int | None = None) -> list[int]:
    """Return the parents of a process, by default of this one, nearest first, up to 1."""
    table = {} if _IS_LINUX else read_process_table()

    def parent(pid: int) -> int:
        row = read_process(pid) if _IS_LINUX else table.get(pid)
        return row.parent if row else 0

    pids: list[int] = []
    pid = os.getppid() if process is None else parent(process)
    while pid > 0 and pid not in pids:
        pids.append(pid)
        pid = parent(pid)
    return pids


def is_running(process: ProcessIdentity) -> bool:
    """Return whether a process has not ended, and its number was not given to another one."""
    row = read_process(process.pid)
    return row is not None and row.is_alive and row.start_time == process.start_time


def open_pidfd(pid: int) -> int | None:
    """Open a descriptor that becomes readable when the process ends; None where there is no such thing."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


_SET_CHILD_SUBREAPER: Final = 36


class ChildRegistry:
    """The children of this process; there is one object, `CHILD_REGISTRY`."""

    def __init__(self) -> None:
        self._children: set[int] = set()
        self._running: set[int] = set()
        self._making = threading.Lock()
        self.is_subreaper = False

    @contextlib.contextmanager
    def making(self, *, is_detached: bool) -> Generator[list[subprocess.Popen[bytes]], None, None]:
        """Remember what the block makes and puts into the list; detached ones do not count as running.

        Until the block is left nobody asks who is adopted, so a child that is not remembered yet is never
        taken for an orphan.
        """
        children: list[subprocess.Popen[bytes]] = []
        with self._making:
            try:
                yield children
            finally:
                pids = {child.pid for child in children}
                self._children |= pids
                self._running |= set() if is_detached else pids

    def ended(self, pid: int) -> None:
        self._children.discard(pid)
        self._running.discard(pid)

    def orphans_of(self, pid: int, table: ProcessTable) -> list[ProcessRow]:
        """Return adopted processes of a table that can only come from this command: it alone is running."""
        adopted = self._adopted(table)
        return adopted if self._running == {pid} else []

    def reap(self, table: ProcessTable) -> int:
        """Wait for adopted processes that a table shows dead, so that no zombies pile up; return how many."""
        return sum(_reap(row.pid) for row in self._adopted(table) if not row.is_alive)

    def reap_orphan(self, pid: int) -> None:
        """Wait for a dead process of a command if it was handed to this one."""
        if self.is_subreaper:
            _reap(pid)

    def _adopted(self, table: ProcessTable) -> list[ProcessRow]:
        if not self.is_subreaper:
            return []
        me, session = os.getpid(), os.getsid(0)
        # After the table was read: whoever is in it and still being made is remembered once this is free.
        with self._making:
            own_children = frozenset(self._children)
        # Children in our own session are not orphans of a command: those begin in sessions of their own.
        return [
            row
            for row in table.values()
            if row.parent == me and row.session != session and row.pid not in own_children
        ]


CHILD_REGISTRY: Final = ChildRegistry()


def become_subreaper() -> bool:
    """Have orphaned grandchildren handed to this process where Linux offers that; return whether it does."""
    if sys.platform == "linux":
        import ctypes

        try:
            CHILD_REGISTRY.is_subreaper = ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
        except (OSError, AttributeError):
            return False
    return CHILD_REGISTRY.is_subreaper


def reap_later(child: subprocess.Popen[bytes]) -> None:
    """Wait for a child in the background, so that its end leaves no zombie."""

    def wait() -> None:
        child.wait()
        CHILD_REGISTRY.ended(child.pid)

    threading.Thread(target=wait, name=f"wait-{child.pid}", daemon=True).start()


def _reap(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return False
