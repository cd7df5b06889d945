"""The one thread that writes: takes what is queued, commits it in order, and says how it went.

Owns grouping and durability. Fast jobs wait at most 25 ms for company, a durable job takes everything
before it along at once. A job that fails is taken back alone; a commit that fails is tried job by job.
It knows nothing of events: a job is a function of the tables.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import field
from typing import Any, Final

import apsw

from workbench.effects import faults
from workbench.journal.errors import JournalBusy, JournalClosed, JournalFull, JournalNewer, translate
from workbench.journal.home import Home
from workbench.journal.live import LiveTables
from workbench.journal.schema import SCHEMA_VERSION
from workbench.journal.sql import Database
from workbench.journal.store import Store
from workbench.records import dataclass

GROUP_SECONDS: Final = 0.025
"""The longest that a fast job waits for company."""
GROUP_BYTES: Final = 256_000
LONGEST_TRANSACTION: Final = 0.04
"""Seconds after which a transaction takes no further job; other processes wait for it."""

_STORAGE: Final = (apsw.Error, OSError)


@dataclass(slots=True, kw_only=True)
class Job:
    """Something to do in a transaction; `run` may be called again if the commit fails."""

    run: Callable[[LiveTables], Any]
    is_durable: bool
    size: int = 0
    """Bytes that it will store, roughly."""
    is_outcome: bool = False
    """Whether the reserve may be spent on it when the disk is full."""
    future: "Future[Any]" = field(default_factory=lambda: Future[Any]())
    result: Any = None
    error: Exception | None = None

    def settle(self) -> None:
        """Tell the producer."""
        if self.error is None:
            self.future.set_result(self.result)
        else:
            self.future.set_exception(self.error)


class Writer:
    """A queue of jobs and the thread that commits them."""

    def __init__(
        self, home: Home, begin: Callable[[Database], LiveTables], on_commit: Callable[[], None]
    ) -> None:
        """Start the thread.

        Args:
            home: Where the database is; it is prepared.
            begin: Makes the tables of a transaction that has just begun.
            on_commit: Called in the thread after each commit that wrote something.
        """
        self._home, self._begin, self._on_commit = home, begin, on_commit
        self._store = Store(home)
        self._jobs: deque[Job] = deque()
        self._bytes = 0
        self._durable = 0
        self._is_closing = False
        self._last = 0.0
        self._wake = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="journal-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> "Future[Any]":
        """Queue a job.

        Raises:
            JournalClosed: The writer was closed.
        """
        if threading.current_thread() is self._thread:
            raise RuntimeError("a job must not wait for another one: it runs in the thread that commits")
        with self._wake:
            if self._is_closing:
                raise JournalClosed("nothing was written to the journal", "it is closed", "open it again")
            self._jobs.append(job)
            self._bytes += job.size
            self._durable += job.is_durable
            # Company for a first job that waits needs no waking: 400 wake-ups a second for nothing.
            if len(self._jobs) == 1 or self._is_due():
                self._wake.notify()
        return job.future

    def close(self) -> None:
        """Commit what is queued and end the thread; twice is harmless."""
        with self._wake:
            self._is_closing = True
            self._wake.notify()
        self._thread.join()

    def _is_due(self) -> bool:
        return self._is_closing or self._durable > 0 or self._bytes >= GROUP_BYTES

    def _work(self) -> None:
        try:
            while not self._is_done():
                self._commit(self._next_group())
                self._last = time.monotonic()
        finally:
            self._store.close()

    def _is_done(self) -> bool:
        with self._wake:
            self._wake.wait_for(lambda: self._jobs or self._is_closing)
            return not self._jobs

    def _next_group(self) -> list[Job]:
        with self._wake:
            quiet = time.monotonic() - self._last
            if quiet < GROUP_SECONDS:
                self._wake.wait_for(self._is_due, GROUP_SECONDS - quiet)
            group: list[Job] = []
            size = 0
            while self._jobs and size < GROUP_BYTES:
                job = self._jobs.popleft()
                size += job.size
                self._durable -= job.is_durable
                # From here on it cannot be cancelled any more; whoever did so before is not served.
                if job.future.set_running_or_notify_cancel():
                    group.append(job)
            self._bytes -= size
            return group

    def _commit(self, group: list[Job]) -> None:
        while group:
            done = self._try(group)
            group = group[len(done) :]

    def _try(self, group: list[Job]) -> list[Job]:
        """Commit as many jobs of the group as one transaction may take, at least one."""
        database = self._store.durable if any(job.is_durable for job in group) else self._store.fast
        try:
            done, has_written = self._transaction(database, group)
        except Exception as error:  # noqa: BLE001 no error may end the thread that everybody waits for
            _roll_back(database)
            return self._after_failure(group, error)
        self._announce(done, has_written)
        return done

    def _transaction(self, database: Database, group: list[Job]) -> tuple[list[Job], bool]:
        database.execute("BEGIN IMMEDIATE")
        _require_version(database)
        live = self._begin(database)
        until = time.monotonic() + LONGEST_TRANSACTION
        done: list[Job] = []
        for job in group:
            _run(job, live)
            done.append(job)
            if time.monotonic() > until:
                break
        faults.point("journal.before_commit")
        database.execute("COMMIT")
        live.keep()
        return done, live.has_written

    def _announce(self, done: list[Job], has_written: bool) -> None:
        try:
            faults.point("journal.after_commit")
        except OSError as error:
            for job in done:
                job.error = translate(error)
        if has_written:
            self._on_commit()
        for job in done:
            job.settle()
        self._store.checkpoint_if_due()

    def _after_failure(self, group: list[Job], error: Exception) -> list[Job]:
        found = translate(error) or error
        if len(group) > 1 and not isinstance(found, JournalBusy | JournalNewer):
            # One of them may be too large for what is left of the disk; the others are not to blame.
            for job in group:
                self._try([job])
        elif isinstance(found, JournalFull) and group[0].is_outcome and self._home.free_reserve():
            self._try(group)
        else:
            for job in group:
                job.error = found
                job.settle()
        return group


def _run(job: Job, live: LiveTables) -> None:
    job.error = job.result = None
    live.database.execute("SAVEPOINT job")
    try:
        job.result = job.run(live)
    except _STORAGE:
        raise
    except Exception as error:  # noqa: BLE001 whatever it is, the producer gets it
        job.error = error
        live.database.execute("ROLLBACK TO job")
        live.forget()
    live.database.execute("RELEASE job")


def _roll_back(database: Database) -> None:
    if database.in_transaction:
        database.execute("ROLLBACK")


def _require_version(database: Database) -> None:
    version = database.execute("PRAGMA user_version").get
    if version != SCHEMA_VERSION:
        raise JournalNewer(
            "nothing was written to the journal",
            f"its schema was changed to {version} by another version of the program",
            "end this one and start that one",
        )
