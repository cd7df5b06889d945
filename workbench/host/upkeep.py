"""Tidy a data folder now and then: what nobody needs any more goes, nothing that anybody needs is touched.

Owns when that is done (at most once an hour, by one process) and the list of what is tidied. Each part may be
cut short by a crash at any moment: what is left goes the next time.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from workbench.domain.rows import Host
from workbench.effects.locks import FileLock, is_held, remove_unheld
from workbench.journal import tables
from workbench.journal.errors import JournalError
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.live import LiveTables

EVERY: Final = 3600.0
"""Seconds between two times."""

KEPT_DAYS: Final = 30
"""Days that the log and the row of a driver are kept after its end."""

_DAY: Final = 86_400 * 1_000_000
"""Microseconds."""

LOG = logging.getLogger("workbench.host")


def tidy_if_due(home: Home, journal: Journal, sealed_days: int, every: float = EVERY) -> bool:
    """Tidy unless this was done within the last hour or is being done; return whether it was done.

    Args:
        home: The data folder.
        journal: Its journal.
        sealed_days: How long exact bytes are kept after a session ended (`retention.sealed_days`).
        every: Seconds since the last time.
    """
    path = home.run / "upkeep.lock"
    if _age(path) < every:
        return False
    try:
        with FileLock(path) as lock:
            if not lock.try_acquire():
                return False
            tidy(home, journal, sealed_days)
    except (JournalError, OSError) as error:
        LOG.warning("the data folder was not tidied: %s", error)
        return False
    return True


def tidy_later(home: Home, journal: Journal, sealed_days: int, delay: float) -> Callable[[], None]:
    """Tidy in a thread after some seconds, if that is due then; returns how to call it off."""
    over = threading.Event()

    def work() -> None:
        if not over.wait(delay):
            tidy_if_due(home, journal, sealed_days)

    threading.Thread(target=work, name="upkeep", daemon=True).start()
    return over.set


def tidy(home: Home, journal: Journal, sealed_days: int) -> None:
    """Do it now; what does it is loaded for it, as most screens and hosts are closed before."""
    from workbench.journal.delete import finish_deletes, sweep
    from workbench.journal.importing import take_back_unfinished
    from workbench.journal.retention import let_go

    deleted = finish_deletes(journal)
    take_back_unfinished(journal)
    sealed = let_go(journal, sealed_days)
    unused = sweep(journal)
    _drop_locks(home)
    _drop_logs(home)
    journal.change(lambda live: _drop_hosts(home, live))
    if deleted or sealed or unused:
        LOG.info("tidied: %d deleted sessions, %d sealed, %d unused files", len(deleted), sealed, unused)


def _drop_locks(home: Home) -> None:
    """Remove lock files of drivers and screens that are gone."""
    for pattern in ("driver-*.lock", "*.screen-*.lock"):
        for path in home.run.glob(pattern):
            with suppress(OSError):
                if _age(path) > EVERY:
                    remove_unheld(path)


def _drop_logs(home: Home) -> None:
    for path in home.logs.glob("host-*.log"):
        host_id = path.stem.removeprefix("host-")
        if _age(path) > KEPT_DAYS * 86_400 and not is_held(home.driver_lock(host_id)):
            path.unlink(missing_ok=True)


def _drop_hosts(home: Home, live: LiveTables) -> None:
    """Forget drivers that ended long ago; one that was killed has no end, only a lock that nobody holds."""
    before = live.now - KEPT_DAYS * _DAY
    old = live.all("SELECT id FROM host WHERE coalesce(ended_at, started_at) < ?", before)
    for (host_id,) in old:
        if not is_held(home.driver_lock(str(host_id))):
            tables.delete(live.database, Host, "id = ?", str(host_id))
            live.has_written = True


def _age(path: Path) -> float:
    """Return the seconds since a file was written last; endless for one that is not there."""
    try:
        return max(0.0, time.time() - path.stat().st_mtime)
    except FileNotFoundError:
        return float("inf")
