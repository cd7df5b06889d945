"""Ending the processes of a call, wherever they have gone.

Owns every signal that is sent to another process: the group, the living descendants, those that carry the
call's mark, and orphans handed to us. It never signals this process, its parents, or a process whose start
time is not the one that was seen.
"""

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from typing import Final

from workbench.effects.offspring import OFFSPRING
from workbench.effects.proctable import (
    ProcessIdentity,
    ProcessRow,
    Table,
    ancestors,
    boot_id,
    carries,
    descends,
    process,
    processes,
    require_mark,
)

GRACE: Final = 2.0
"""Seconds between the request to end (SIGTERM) and the end (SIGKILL)."""

_PATIENCE: Final = 3.0

Key = tuple[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What belongs to a call."""

    leader: int | None
    """The process we started, if its number is known to be still its own."""
    group: int | None
    mark: str
    since: int
    """Clock ticks at its start: nothing older can belong to it."""


def target_of(identity: ProcessIdentity, mark: str) -> Target:
    """Describe a call whose process was started by us and was not waited for yet."""
    return Target(leader=identity.pid, group=identity.group, mark=mark, since=_ticks(identity))


def end_leftovers(identity: ProcessIdentity, mark: str, grace: float = GRACE) -> int:
    """End what is left of a call whose host has died.

    The group is ended only if the process is still there with the same start time; what carries the mark
    is ended in any case. Blocks up to `grace` and a few seconds if something cannot be ended.

    Args:
        identity: As recorded before the command was let go.
        mark: As given to `prepare`.
        grace: Seconds between SIGTERM and SIGKILL.

    Returns:
        How many processes were ended.

    Raises:
        ValueError: The mark is none.
    """
    require_mark(mark)
    if identity.start_time.rpartition(":")[0] != boot_id() and boot_id():
        return 0
    row = process(identity.pid)
    is_same = row is not None and row.start_time == identity.start_time
    leader, group = (identity.pid, identity.group) if is_same else (None, None)
    return end_all(Target(leader=leader, group=group, mark=mark, since=_ticks(identity)), grace)


def _ticks(identity: ProcessIdentity) -> int:
    ticks = identity.start_time.rpartition(":")[2]
    return int(ticks) if boot_id() and ticks.isdigit() else 0


def end_all(target: Target, grace: float) -> int:
    """Ask everything that belongs to a call to end, then end it; return how many processes that were."""
    return Hunt(target).end(grace)


class Hunt:
    """Finds and ends what belongs to a call; what it has seen it knows again when its parent is gone."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._known: set[Key] = set()
        self._asked: set[Key] = set()
        self._beyond: set[Key] = set()

    def notice(self) -> list[ProcessRow]:
        """Return what belongs to the call now and can be ended."""
        rows = self._belonging(processes(self._target.since))
        if rows:  # mostly there are none, and asking for our parents costs as much as the rest
            spared = {os.getpid(), *ancestors()}
            rows = [row for row in rows if row.pid not in spared]
        self._known |= {_key(row) for row in rows}
        return [row for row in rows if _key(row) not in self._beyond]

    def end(self, grace: float) -> int:
        """Ask all to end, and end what is left after the grace; return how many processes that were."""
        begun = time.monotonic()
        while rows := self.notice():
            waited = time.monotonic() - begun
            if waited > grace + _PATIENCE:
                break
            self._signal(rows, is_last=waited >= grace)
            time.sleep(min(0.05, 0.005 + waited / 4))
        OFFSPRING.reap()
        return len(self._asked - self._beyond)

    def _signal(self, rows: list[ProcessRow], *, is_last: bool) -> None:
        group = self._target.group
        if is_last and group is not None and any(row.group == group for row in rows):
            # In one step, which a group that forks faster than it is counted does not survive.
            signal_group(group, signal.SIGKILL)
        for row in rows:
            key = _key(row)
            is_ours = _signal(row, signal.SIGKILL) if is_last else key in self._asked or _ask(row)
            (self._asked if is_ours else self._beyond).add(key)

    def _belonging(self, table: Table) -> list[ProcessRow]:
        target = self._target
        rows = [row for row in table.values() if row.is_alive and row.ticks >= target.since]
        adopted = OFFSPRING.orphans_of(target.leader, table) if target.leader is not None else []
        elders = {row.pid for row in (*rows, *adopted) if row in adopted or _key(row) in self._known}
        if target.leader is not None:
            elders.add(target.leader)
        # The environment is read last: that is the costly question.
        return [
            row
            for row in rows
            if row.pid in elders
            or (target.group is not None and row.group == target.group)
            or descends(row, elders, table)
            or carries(row.pid, target.mark)
        ]


def _key(row: ProcessRow) -> Key:
    return row.pid, row.start_time


def _ask(row: ProcessRow) -> bool:
    # A stopped process sees the request only once it goes on.
    return _signal(row, signal.SIGTERM) and _signal(row, signal.SIGCONT)


def _signal(row: ProcessRow, number: signal.Signals) -> bool:
    """Send a signal to exactly this process; False if it is not ours to end."""
    with contextlib.suppress(ProcessLookupError):
        try:
            _send(row, number)
        except PermissionError:
            return False
    return True


def _send(row: ProcessRow, number: signal.Signals) -> None:
    if not hasattr(os, "pidfd_open"):
        os.kill(row.pid, number)
        return
    file = os.pidfd_open(row.pid)
    try:
        # The number may have passed to another process since the table was read; the descriptor has not.
        now = process(row.pid)
        if now is not None and now.start_time == row.start_time:
            signal.pidfd_send_signal(file, number)
    finally:
        os.close(file)


def signal_group(group: int, number: signal.Signals) -> None:
    """Signal the group of a child of ours that was not waited for yet; nothing there is no error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
