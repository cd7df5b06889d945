"""The table of running processes: who is whose child, in which group, started when, with which mark.

Owns the reading of /proc and of ps. It only looks: nothing here sends a signal. Everything it returns
may be out of date a moment later, so whoever ends a process compares its start time again.
"""

import functools
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Set
from pathlib import Path
from typing import Final

from workbench.effects.marks import CALL
from workbench.records import dataclass

_PROC: Final = "/proc"
_IS_LINUX: Final = sys.platform == "linux"
_PS: Final = ("/bin/ps", "-axo", "pid=,ppid=,pgid=,stat=,lstart=")
_DEAD: Final = frozenset("ZXx")
_STOPPED: Final = frozenset("Tt")
_TRIES: Final = 5
_MOMENT: Final = 0.002
"""Seconds that an exec may take in which a process shows no environment."""
_MARK: Final = re.compile(r"[A-Za-z0-9._:-]{1,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessIdentity:
    """Which process, also after its number was given to another one."""

    pid: int
    group: int
    start_time: str
    """Opaque: on Linux the boot's id and the clock ticks since, on macOS what ps prints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRow:
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


Table = dict[int, ProcessRow]


def processes(since: int = 0) -> Table:
    """Read the table of all processes that did not start before a clock tick.

    Older ones are passed over before anything is made of them: every command's end looks at this table.
    """
    if not _IS_LINUX:
        return _by_pid(parse_ps(_ps()))
    pids = (int(name) for name in os.listdir(_PROC) if name.isdigit())  # noqa: PTH208 -- no path objects, see `_row`
    return _by_pid(row for pid in pids if (row := _row(pid, since)) is not None)


def process(pid: int) -> ProcessRow | None:
    """Read the row of one process; None if there is none."""
    if not _IS_LINUX:
        return _by_pid(parse_ps(_ps())).get(pid)
    return _row(pid, 0)


def _row(pid: int, since: int) -> ProcessRow | None:
    try:
        # Two system calls and no path object: there are hundreds of processes, read twice a command.
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = os.read(file, 4096).decode("utf-8", "replace")
        return parse_stat(text, boot_id()) if not since or _ticks(text) >= since else None
    except (OSError, ValueError):
        return None
    finally:
        os.close(file)


def _ticks(text: str) -> int:
    """Return when a process started, by its stat; 0 where that cannot be read, so that it is looked at."""
    fields = text[text.rfind(")") :].split(None, 21)
    return int(fields[20]) if len(fields) > 20 and fields[20].isdigit() else 0


def _by_pid(rows: Iterable[ProcessRow]) -> Table:
    return {row.pid: row for row in rows}


def parse_stat(text: str, boot: str) -> ProcessRow:
    """Read ``/proc/<pid>/stat`` (proc(5)); the name may hold spaces and parentheses.

    Raises:
        ValueError: It is something else.
    """
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


def _ps() -> str:
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


def identify(pid: int) -> ProcessIdentity:
    """Return the identity of a process.

    Raises:
        ProcessLookupError: There is none of that number.
    """
    row = process(pid)
    if row is None:
        raise ProcessLookupError(f"there is no process {pid}")
    return ProcessIdentity(pid=pid, group=row.group, start_time=row.start_time)


def require_mark(mark: str) -> None:
    """Refuse marks that could be taken for another call's.

    Raises:
        ValueError: Not 1 to 200 letters, digits, dots, colons, dashes, underscores.
    """
    if not _MARK.fullmatch(mark):
        raise ValueError(f"{mark[:80]!r} cannot mark a process; use letters, digits and . _ : -")


def carries(pid: int, mark: str) -> bool:
    """Whether a process was started with this mark in its environment; False where that cannot be read."""
    wanted = f"{CALL}={mark}".encode()
    for _ in range(_TRIES):
        try:
            environment = Path(_PROC, str(pid), "environ").read_bytes()
        except OSError:
            return False
        if environment:
            return wanted in environment.split(b"\0")
        # Nothing is there while a program takes the place of another; threads of the kernel never have any.
        time.sleep(_MOMENT)
    return False


def descends(row: ProcessRow, elders: Set[int], table: Table) -> bool:
    """Whether a process is a child of one of the elders, directly or through living ones."""
    seen: set[int] = set()
    current: ProcessRow | None = row
    while current is not None and current.pid not in seen:
        if current.parent in elders:
            return True
        seen.add(current.pid)
        current = table.get(current.parent)
    return False


def ancestors() -> list[int]:
    """Return the parents of this process, nearest first, up to 1."""
    table = {} if _IS_LINUX else processes()
    found: list[int] = []
    pid = os.getppid()
    while pid > 0 and pid not in found:
        found.append(pid)
        row = process(pid) if _IS_LINUX else table.get(pid)
        pid = row.parent if row else 0
    return found


def open_pidfd(pid: int) -> int | None:
    """Open a descriptor that becomes readable when the process ends; None where there is no such thing."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None
