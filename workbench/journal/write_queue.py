"""How events get into the journal: prepared by the producer, queued, stored by the one writer thread.

The thread commits jobs in groups: fast jobs wait at most 25 ms, a durable job takes all before it along. A
job that fails is rolled back alone. An event id is stored once, and times never run backwards.
"""

# What the writer looked up stays from one transaction to the next while `PRAGMA data_version` of its
# connection says that nobody else has committed; a transaction that fails keeps nothing.

import functools
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Final, Protocol, TypeVar, cast

import apsw
from msgspec import Struct, field
from msgspec.structs import replace

from workbench.domain.codec import MalformedEventError, actor_json, blob_refs, body_json, validate_body
from workbench.domain.events import CallFinished, Event, FileChanged, SessionStatusChanged, TurnEnded
from workbench.domain.values import Body
from workbench.effects import fault_points
from workbench.effects.clock import Clock
from workbench.journal.database import SCHEMA_VERSION, Database, WriteConnections
from workbench.journal.errors import (
    BlobMissing,
    EventConflict,
    JournalBusy,
    JournalClosed,
    JournalFull,
    JournalNewer,
    as_journal_error,
)
from workbench.journal.home import BlobStore, Home
from workbench.journal.transaction import (
    LookupCache,
    TransactionTables,
    require_legal_event,
    require_not_deleted,
)

GROUP_SECONDS: Final = 0.025
"""The longest that a fast job waits for company."""
GROUP_BYTES: Final = 256_000
LONGEST_TRANSACTION: Final = 0.04
"""Seconds after which a transaction takes no further job; other processes wait for it."""
_STORAGE_ERRORS: Final = (apsw.Error, OSError)


class WriteJob(Struct, kw_only=True):
    """Something to do in a transaction; `run` may be called again if the commit fails."""

    run: Callable[[TransactionTables], Any]
    is_durable: bool
    size: int = 0
    """Bytes that it will store, roughly."""
    is_outcome: bool = False
    """Whether the reserve may be spent on it when the disk is full."""
    future: "Future[Any]" = field(default_factory=lambda: Future[Any]())
    result: Any = None
    error: Exception | None = None

    def settle(self) -> None:
        if self.error is None:
            self.future.set_result(self.result)
        else:
            self.future.set_exception(self.error)


class WriterThread:
    """A queue of jobs and the thread that commits them."""

    def __init__(
        self, home: Home, begin: Callable[[Database], TransactionTables], on_commit: Callable[[], None]
    ) -> None:
        """Start the thread.

        `begin`: makes the tables of a transaction that has just begun. `on_commit`: called in the thread
        after each commit that wrote something.
        """
        self._home, self._begin, self._on_commit = home, begin, on_commit
        self._store = WriteConnections(home)
        self._jobs: deque[WriteJob] = deque()
        self._bytes = 0
        self._durable = 0
        self._is_closing = False
        self._last = 0.0
        self._wake = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="journal-writer", daemon=True)
        self._thread.start()

    def submit(self, job: WriteJob) -> "Future[Any]":
        """Queue a job. Raises JournalClosed: the writer was closed."""
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

    def _next_group(self) -> list[WriteJob]:
        with self._wake:
            quiet = time.monotonic() - self._last
            if quiet < GROUP_SECONDS:
                self._wake.wait_for(self._is_due, GROUP_SECONDS - quiet)
            group: list[WriteJob] = []
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

    def _commit(self, group: list[WriteJob]) -> None:
        while group:
            committed = self._try(group)
            group = group[len(committed) :]

    def _try(self, group: list[WriteJob]) -> list[WriteJob]:
        """Commit as many jobs of the group as one transaction may take, at least one."""
        database = self._store.durable if any(job.is_durable for job in group) else self._store.fast
        try:
            committed, has_written = self._transaction(database, group)
        except Exception as error:  # noqa: BLE001 no error may end the thread that everybody waits for
            _roll_back(database)
            return self._after_failure(group, error)
        self._announce(committed, has_written)
        return committed

    def _transaction(self, database: Database, group: list[WriteJob]) -> tuple[list[WriteJob], bool]:
        database.execute("BEGIN IMMEDIATE")
        _require_version(database)
        live = self._begin(database)
        until = time.monotonic() + LONGEST_TRANSACTION
        finished: list[WriteJob] = []
        for job in group:
            _run_job(job, live)
            finished.append(job)
            if time.monotonic() > until:
                break
        fault_points.fault_point("journal.before_commit")
        database.execute("COMMIT")
        live.keep()
        return finished, live.has_written

    def _announce(self, committed: list[WriteJob], has_written: bool) -> None:
        try:
            fault_points.fault_point("journal.after_commit")
        except OSError as error:
            for job in committed:
                job.error = as_journal_error(error)
        if has_written:
            self._on_commit()
        for job in committed:
            job.settle()
        self._store.checkpoint_if_due()

    def _after_failure(self, group: list[WriteJob], error: Exception) -> list[WriteJob]:
        failure = as_journal_error(error) or error
        if len(group) > 1 and not isinstance(failure, JournalBusy | JournalNewer):
            # One of them may be too large for what is left of the disk; the others are not to blame.
            for job in group:
                self._try([job])
        elif isinstance(failure, JournalFull) and group[0].is_outcome and self._home.free_reserve():
            self._try(group)
        else:
            for job in group:
                job.error = failure
                job.settle()
        return group


def _run_job(job: WriteJob, live: TransactionTables) -> None:
    job.error = job.result = None
    live.database.execute("SAVEPOINT job")
    try:
        job.result = job.run(live)
    except _STORAGE_ERRORS:
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


T = TypeVar("T")


class AppendGuard(Protocol):
    """What a producer relies on, checked in the transaction of its append."""

    @property
    def is_validating(self) -> bool:
        """Whether what is appended under it is validated field by field first."""
        ...

    def check(self, live: TransactionTables) -> None:
        """Raise `GuardFailed` unless it holds."""
        ...


class WriteQueue:
    """A journal's writer, and what is to be done in its transactions."""

    def __init__(
        self,
        home: Home,
        clock: Clock,
        blobs: BlobStore,
        announce: Callable[[], None],
        note: Callable[[int], None],
    ) -> None:
        """Begin the thread that writes.

        `blobs`: what events may refer to. `announce`: called in the thread after each commit that wrote
        something. `note`: told the time of the newest event at the beginning of each transaction.
        """
        self._clock, self._blobs, self._note = clock, blobs, note
        self._cache = LookupCache()
        self._writer = WriterThread(home, self._begin, announce)

    def close(self) -> None:
        """Commit what is queued and end the thread; twice is harmless."""
        self._writer.close()

    def submit(
        self, events: Sequence[Event], guard: AppendGuard | None, *, strict: bool
    ) -> Future[list[int]]:
        """Queue events for one transaction; see `Journal.append`."""
        is_validated = guard is not None and guard.is_validating
        many = [prepare_event(event, is_validated=is_validated) for event in events]

        def run(live: TransactionTables) -> list[int]:
            if guard is not None:
                guard.check(live)
            return [event.position for event in store_events(many, live, strict=strict)]

        job = WriteJob(
            run=run, is_durable=any(event.body.DURABLE for event in events),
            size=sum(len(prepared.body) for prepared in many),
            is_outcome=bool(events) and all(isinstance(event.body, OUTCOME_EVENTS) for event in events),
        )  # fmt: skip
        return cast("Future[list[int]]", self._writer.submit(job))

    def transact(
        self, work: Callable[[TransactionTables, int], Sequence[Event]], *, is_durable: bool
    ) -> list[Event]:
        """Look at the tables and append in one transaction; see `Journal.transact`."""

        def run(live: TransactionTables) -> list[Event]:
            return store_events([prepare_event(event) for event in work(live, live.now)], live, strict=True)

        return self.change(run, is_durable=is_durable).result()

    def change(
        self, work: Callable[[TransactionTables], T], *, is_durable: bool = True, size: int = 0
    ) -> Future[T]:
        """Queue a function for a transaction; see `Journal.change` and `change_later`."""
        return cast("Future[T]", self._writer.submit(WriteJob(run=work, is_durable=is_durable, size=size)))

    def _begin(self, database: Database) -> TransactionTables:
        live = TransactionTables(database, self._clock.now(), self._blobs.has, self._cache)
        self._note(live.newest)
        return live


OUTCOME_EVENTS: Final[tuple[type[Body], ...]] = (CallFinished, FileChanged, SessionStatusChanged, TurnEnded)
"""What must still be written when the disk is full: what was done, and that it stopped."""


class PreparedEvent(Struct, frozen=True, kw_only=True):
    """An event with its stored text, made in the producer's thread to keep the writer's short."""

    event: Event
    actor: str
    body: str


def prepare_event(event: Event, *, is_validated: bool = False) -> PreparedEvent:
    """Make an event ready to be stored.

    Raises MalformedEventError: it cannot be stored as JSON text, or a field has a wrong type or value.
    """
    try:
        body = body_json(event)
        body.encode()
    except (ValueError, TypeError) as error:
        raise MalformedEventError(f"{event.kind}: body cannot be stored: {error}") from None
    if is_validated:
        validate_body(event, body)
    return PreparedEvent(event=event, actor=_cached_actor_json(event.actor), body=body)


_cached_actor_json = functools.lru_cache(maxsize=256)(actor_json)


def store_event(prepared: PreparedEvent, live: TransactionTables, *, strict: bool) -> Event:
    """Store an event with the rows that it changes, and return it as stored.

    `strict`: False for imports, which may make any move and name bytes that are not here. Raises
    EventConflict: its id is taken by another event; BlobMissing: it names bytes that are not stored;
    GuardFailed, IllegalMoveError: see `require_legal_event`.
    """
    if duplicate := live.stored(prepared.event.id):
        _require_same_event(prepared, duplicate)
        return duplicate
    event = _with_valid_time(prepared.event, live, strict=strict)
    if strict:
        require_legal_event(event, live)
        _require_blobs(event, live)
    else:
        require_not_deleted(event, live)
    stored = live.insert(event, prepared.actor, prepared.body)
    if event.body.DURABLE:
        live.apply(stored)
    return stored


def store_events(many: Sequence[PreparedEvent], live: TransactionTables, *, strict: bool) -> list[Event]:
    """Store events in order; any that is refused refuses all."""
    return [store_event(prepared, live, strict=strict) for prepared in many]


def store_new_events(many: Sequence[PreparedEvent], live: TransactionTables) -> None:
    """Store imported events whose ids nobody has, as the caller knows; each row is written once."""
    for prepared in many:
        require_not_deleted(prepared.event, live)
    live.hold()
    rows = [(_with_valid_time(entry.event, live, strict=False), entry.actor, entry.body) for entry in many]
    for stored in live.insert_all(rows):
        if stored.body.DURABLE:
            live.apply(stored)
    live.flush()


def _with_valid_time(event: Event, live: TransactionTables, *, strict: bool) -> Event:
    if event.recorded_at is not None:
        return event
    if not strict:
        return replace(event, recorded_at=live.now)
    # Two producers may commit in another order than they looked at the clock, and a clock may be set
    # back: a time before the newest event would let windows that have run out begin again.
    return replace(event, at=live.newest) if event.at < live.newest else event


def _require_same_event(prepared: PreparedEvent, stored: Event) -> None:
    event = prepared.event
    mine = (event.session_id, event.kind, prepared.body, event.turn_id, event.call_id, event.action_id)
    theirs = (
        stored.session_id,
        stored.kind,
        body_json(stored),
        stored.turn_id,
        stored.call_id,
        stored.action_id,
    )
    if mine != theirs:
        why = f"event id {event.id} is taken by {stored.kind} at position {stored.position}"
        raise EventConflict(f"{event.kind} was not written", why, "make a new id for every event")


def _require_blobs(event: Event, live: TransactionTables) -> None:
    for ref in blob_refs(event.body):
        if not live.has_blob(ref):
            why = f"the stored bytes {ref} are not there"
            raise BlobMissing(f"{event.kind} was not written", why, "store them again, then append")
