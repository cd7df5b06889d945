"""Remove what the data folder keeps no longer: expired blobs, logs, locks and rows of hosts."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from workbench.domain.rows import Host
from workbench.effects.file_locks import FileLock, is_lock_held, remove_unheld_lock
from workbench.effects.file_primitives import FileRefused
from workbench.host.box_folders import remove_old_box_folders
from workbench.host.job_folders import remove_old_jobs
from workbench.host.lost_boxes import remove_lost_boxes
from workbench.journal import storage
from workbench.journal.errors import JournalError
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.transaction import TransactionTables
from workbench.text.human import DAY_MICROS

TIDY_INTERVAL_SECONDS: Final = 3600.0
MAX_KEPT_DAYS: Final = 30
"""Days that the log and the row of a driver are kept after its end."""
LOG = logging.getLogger("workbench.host")


def tidy_data_folder_if_due(
    home: Home, journal: Journal, sealed_days: int, every: float = TIDY_INTERVAL_SECONDS
) -> bool:
    """Tidy unless that was done in the last `every` seconds or is being done; return whether it was done."""
    path = home.run / "upkeep.lock"
    if _seconds_since_write(path) < every:
        return False
    try:
        with FileLock(path) as lock:
            if not lock.try_acquire():
                return False
            tidy_data_folder(home, journal, sealed_days)
    except (JournalError, OSError, FileRefused) as error:
        LOG.warning("the data folder was not tidied: %s", error)
        return False
    return True


def tidy_data_folder_later(
    home: Home, journal: Journal, sealed_days: int, delay: float
) -> Callable[[], None]:
    """Tidy in a thread after some seconds, if due; returns the function that cancels it."""
    cancelled = threading.Event()

    def work() -> None:
        if not cancelled.wait(delay):
            tidy_data_folder_if_due(home, journal, sealed_days)

    threading.Thread(target=work, name="upkeep", daemon=True).start()
    return cancelled.set


def tidy_data_folder(home: Home, journal: Journal, sealed_days: int) -> None:
    """Tidy now; the modules are loaded here, as most processes end before."""
    from workbench.journal.imports import undo_unfinished_imports
    from workbench.journal.maintenance import finish_deletions, remove_expired_blobs, sweep_unused_blobs

    deleted = finish_deletions(journal)
    undo_unfinished_imports(journal)
    sealed = remove_expired_blobs(journal, sealed_days)
    unused = sweep_unused_blobs(journal)
    _remove_old_locks(home)
    _remove_old_logs(home)
    remove_old_box_folders(home, journal, MAX_KEPT_DAYS)
    remove_lost_boxes(str(home.path), MAX_KEPT_DAYS)
    remove_old_jobs(home, journal)
    journal.change(lambda live: _remove_old_host_rows(home, live))
    if deleted or sealed or unused:
        LOG.info("tidied: %d deleted sessions, %d sealed, %d unused files", len(deleted), sealed, unused)


def _remove_old_locks(home: Home) -> None:
    for pattern in ("driver-*.lock", "*.screen-*.lock"):
        for path in home.run.glob(pattern):
            with suppress(OSError):
                if _seconds_since_write(path) > TIDY_INTERVAL_SECONDS:
                    remove_unheld_lock(path)


def _remove_old_logs(home: Home) -> None:
    for path in home.logs.glob("host-*.log"):
        host_id = path.stem.removeprefix("host-")
        if _seconds_since_write(path) > MAX_KEPT_DAYS * 86_400 and not is_lock_held(
            home.driver_lock(host_id)
        ):
            path.unlink(missing_ok=True)


def _remove_old_host_rows(home: Home, live: TransactionTables) -> None:
    """Forget drivers that ended long ago; one that was killed has only a lock that nobody holds."""
    before = live.now - MAX_KEPT_DAYS * DAY_MICROS
    old = live.all("SELECT id FROM host WHERE coalesce(ended_at, started_at) < ?", before)
    for (host_id,) in old:
        if not is_lock_held(home.driver_lock(str(host_id))):
            storage.delete_rows(live.database, Host, "id = ?", str(host_id))
            live.has_written = True


def _seconds_since_write(path: Path) -> float:
    try:
        return max(0.0, time.time() - path.stat().st_mtime)
    except FileNotFoundError:
        return float("inf")
