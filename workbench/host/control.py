"""Stop the host of a workspace and say what came of it.

Owns nothing that runs: a signal to the process that holds the host's lock, then the wait for that lock to be
free. It needs no journal, so that a host of another version can be ended before a migration.
"""

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from workbench.effects.locks import holder
from workbench.host.places import host_lock
from workbench.journal.home import Home

PATIENCE = 10.0
"""Seconds that a host has to end what it runs: more than the grace of a command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """What came of asking a host to end."""

    pid: int | None
    """None: there was none."""
    is_gone: bool
    was_killed: bool = False

    @property
    def words(self) -> str:
        """Say it in a sentence."""
        if self.pid is None:
            return "No host runs here."
        if not self.is_gone:
            return f"The host (pid {self.pid}) still runs."
        how = "was killed" if self.was_killed else "has ended"
        return f"The host (pid {self.pid}) {how}. What waits goes on waiting."


def stop(home: Home, workspace: str, timeout: float = PATIENCE, *, force: bool = False) -> Stopped:
    """Ask the workspace's host to end and wait until none lives any more.

    Args:
        home: The data folder.
        workspace: Real path.
        timeout: Seconds to wait.
        force: Whether a host that does not end by then is killed; what it ran is settled by the next one.
    """
    return stop_holder(host_lock(home, workspace), timeout, force=force)


def stop_holder(lock: Path, timeout: float = PATIENCE, *, force: bool = False) -> Stopped:
    """Do as `stop` for the host that holds a lock."""
    pid = holder(lock)
    if pid is None:
        return Stopped(pid=None, is_gone=True)
    # A suspended process hears the request only once it goes on.
    _signal(pid, signal.SIGTERM)
    _signal(pid, signal.SIGCONT)
    if _has_left(lock, pid, timeout):
        return Stopped(pid=pid, is_gone=True)
    if not force:
        return Stopped(pid=pid, is_gone=False)
    _signal(pid, signal.SIGKILL)
    return Stopped(pid=pid, is_gone=_has_left(lock, pid, timeout), was_killed=True)


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _has_left(lock: Path, pid: int, timeout: float) -> bool:
    until = time.monotonic() + timeout
    while holder(lock) == pid:
        if time.monotonic() >= until:
            return False
        time.sleep(0.02)
    return True
