"""Stop the background process of a workspace.

That needs no journal, so that a process of another version can be ended before a migration.
"""

# `host stop` asks whoever holds the host's lock: a migration waits until every host has ended, and the
# command that ends them must not wait for the migration.

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from workbench.effects.file_locks import lock_holder
from workbench.host.host_locks import host_lock_path
from workbench.journal.home import Home

STOP_TIMEOUT_SECONDS = 10.0
"""Seconds that a host has to end what it runs: more than the grace of a command."""


class StopResult(Struct, frozen=True, kw_only=True):
    """What came of asking a host to end."""

    pid: int | None
    """None: there was none."""
    is_gone: bool
    was_killed: bool = False

    @property
    def words(self) -> str:
        if self.pid is None:
            return "No background process runs here."
        if not self.is_gone:
            return f"The background process (pid {self.pid}) still runs."
        how = "was killed" if self.was_killed else "has ended"
        rest = "Questions stay open, and commands of pipelines continue."
        return f"The background process (pid {self.pid}) {how}. {rest}"


def stop_host(
    home: Home, workspace: str, timeout: float = STOP_TIMEOUT_SECONDS, *, force: bool = False
) -> StopResult:
    """Ask the workspace's host to end and wait `timeout` seconds; `force` kills it then."""
    return stop_lock_holder(host_lock_path(home, workspace), timeout, force=force)


def stop_lock_holder(lock: Path, timeout: float = STOP_TIMEOUT_SECONDS, *, force: bool = False) -> StopResult:
    """Do as `stop_host` for the host that holds a lock."""
    pid = lock_holder(lock)
    if pid is None:
        return StopResult(pid=None, is_gone=True)
    # A suspended process hears the request only once it goes on.
    _send_signal(pid, signal.SIGTERM)
    _send_signal(pid, signal.SIGCONT)
    if _has_released_lock(lock, pid, timeout):
        return StopResult(pid=pid, is_gone=True)
    if not force:
        return StopResult(pid=pid, is_gone=False)
    _send_signal(pid, signal.SIGKILL)
    return StopResult(pid=pid, is_gone=_has_released_lock(lock, pid, timeout), was_killed=True)


def _send_signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _has_released_lock(lock: Path, pid: int, timeout: float) -> bool:
    until = time.monotonic() + timeout
    while lock_holder(lock) == pid:
        if time.monotonic() >= until:
            return False
        time.sleep(0.02)
    return True
