"""Which children of this process it started itself, and which it was left with.

Owns the registry of our own children, without which orphans that the kernel hands to us could not be told
from them. The children of a process are one list for the whole process, so this is one too. It ends
nobody.
"""

import contextlib
import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Generator
from typing import Final

from workbench.effects.proctable import ProcessRow, Table, processes

_SET_CHILD_SUBREAPER: Final = 36


class Offspring:
    """The children of one process; there is one object, `OFFSPRING`."""

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
        made: list[subprocess.Popen[bytes]] = []
        with self._making:
            try:
                yield made
            finally:
                pids = {child.pid for child in made}
                self._children |= pids
                self._running |= set() if is_detached else pids

    def ended(self, pid: int) -> None:
        """Forget a child that was waited for."""
        self._children.discard(pid)
        self._running.discard(pid)

    def orphans_of(self, pid: int, table: Table) -> list[ProcessRow]:
        """Return adopted processes of a table that can only come from this command: it alone is running."""
        adopted = self._adopted(table)
        return adopted if self._running == {pid} else []

    def reap(self) -> int:
        """Wait for adopted processes that are dead, so that no zombies pile up; return how many."""
        if not self.is_subreaper:
            return 0
        return sum(_waited(row.pid) for row in self._adopted(processes()) if not row.is_alive)

    def _adopted(self, table: Table) -> list[ProcessRow]:
        if not self.is_subreaper:
            return []
        me, session = os.getpid(), os.getsid(0)
        # After the table was read: whoever is in it and still being made is remembered once this is free.
        with self._making:
            known = frozenset(self._children)
        # Children in our own session are not orphans of a command: those begin in sessions of their own.
        return [
            row
            for row in table.values()
            if row.parent == me and row.session != session and row.pid not in known
        ]


OFFSPRING: Final = Offspring()


def become_subreaper() -> bool:
    """Have orphaned grandchildren handed to this process instead of to process 1, where Linux offers that.

    Returns:
        Whether it does from now on.
    """
    if sys.platform == "linux":
        try:
            OFFSPRING.is_subreaper = ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
        except (OSError, AttributeError):
            return False
    return OFFSPRING.is_subreaper


def reap_later(child: subprocess.Popen[bytes]) -> None:
    """Wait for a child in the background, so that its end leaves no zombie."""

    def wait() -> None:
        child.wait()
        OFFSPRING.ended(child.pid)

    threading.Thread(target=wait, name=f"wait-{child.pid}", daemon=True).start()


def _waited(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return False
