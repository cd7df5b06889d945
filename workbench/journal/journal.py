"""An open journal: append events, read them back, wait for changes.

The change notifier watches for touches of the WAL and polls SQLite's change counter every 250 ms; it says
that something was committed, not what. The writing half is loaded with the first write.
"""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Self, TypeVar, cast

import apsw

from workbench.domain.events import Event
from workbench.domain.rows import Rule
from workbench.domain.values import Actor, Body
from workbench.effects.clock import Clock, SystemClock
from workbench.journal import database as journal_database
from workbench.journal.database import prepare_database
from workbench.journal.errors import JournalClosed
from workbench.journal.home import DATABASE_NAME, BlobStore, Home
from workbench.journal.storage import JournalReader
from workbench.journal.token_use_table import OnMigration

if TYPE_CHECKING:
    from concurrent.futures import Future

    from workbench.domain.events import EventBody
    from workbench.journal.transaction import TransactionTables
    from workbench.journal.write_queue import AppendGuard, WriteQueue

T = TypeVar("T")


class Journal(JournalReader):
    """An open journal; one per process and home."""

    def __init__(self, home: Home, clock: Clock) -> None:
        super().__init__(home.database)
        self.home, self.clock = home, clock
        self.blobs = BlobStore(home)
        self.notifier = ChangeNotifier(home)
        self._newest = self.newest()
        self._write_queue: WriteQueue | None = None

    @classmethod
    def open(cls, home: Home, clock: Clock | None = None, on_migration: OnMigration | None = None) -> Self:
        """Open the journal of a home, creating or migrating its database; `on_migration` hears how far.

        Raises JournalError: see `prepare_database`.
        """
        prepare_database(home, on_progress=on_migration)
        return cls(home, clock or SystemClock())

    def close(self) -> None:
        """Commit what is queued and let everything go; twice is harmless."""
        self.notifier.close()
        super().close()
        if self._write_queue is not None:
            self._write_queue.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- appending -----------------------------------------------------------------------------

    def event(
        self,
        body: Body,
        session_id: str,
        actor: Actor,
        *,
        turn_id: str | None = None,
        call_id: str | None = None,
        action_id: str | None = None,
        step: str | None = None,
        at: int | None = None,
    ) -> Event:
        """Make an event with a new id; its time is now unless `at` says otherwise."""
        time_of = max(self.clock.now(), self._newest) if at is None else at
        return Event(
            id=self.clock.new_id(), session_id=session_id, at=time_of, actor=actor,
            body=cast("EventBody", body), turn_id=turn_id, call_id=call_id, action_id=action_id, step=step,
        )  # fmt: skip

    def append(
        self, events: Sequence[Event], *, guard: "AppendGuard | None" = None, strict: bool = True
    ) -> list[int]:
        """Store events in one transaction and return their positions, when it is committed.

        `events`: in order, also of several sessions. One whose id is stored already is not stored again.
        `guard`: what must hold in the transaction. `strict`: false for imports: any move is taken as it
        comes. Raises GuardFailed: the guard, a session or a row does not allow it; nothing was written;
        IllegalMoveError: a state machine does not allow it; nothing was written; MalformedEventError: an
        event cannot be stored; nothing was written; JournalError: nothing was written; says why.
        """
        return self.submit(events, guard=guard, strict=strict).result()

    def submit(
        self, events: Sequence[Event], *, guard: "AppendGuard | None" = None, strict: bool = True
    ) -> "Future[list[int]]":
        """Do as `append` without waiting; events are stored in the order they were submitted."""
        return self._open_queue().submit(events, guard, strict=strict)

    def transact(
        self, work: "Callable[[TransactionTables, int], Sequence[Event]]", durable: bool = True
    ) -> list[Event]:
        """Look at the tables and append in one transaction.

        `work`: is given the tables and now, and returns what to append. It runs in the writer's thread, must
        not wait for the journal, and may be run again if a commit fails. `durable`: whether it must survive a
        power loss. Returns the events as stored. Raises Exception: whatever `work` raised; nothing was
        written; JournalError: as `append`.
        """
        return self._open_queue().transact(work, is_durable=durable)

    def change(self, work: "Callable[[TransactionTables], T]") -> T:
        """Run a function in a durable transaction: for rows that are no events, such as hosts."""
        return self._open_queue().change(work).result()

    def change_later(self, work: "Callable[[TransactionTables], T]", size: int) -> "Future[T]":
        """Run a function in a transaction that a power loss may take back, without waiting: for imports.

        `size`: bytes that it will store, roughly.
        """
        return self._open_queue().change(work, is_durable=False, size=size)

    def _open_queue(self) -> "WriteQueue":
        with self._lock:
            if self._is_closed:
                raise JournalClosed("nothing was written to the journal", "it is closed", "open it again")
            if self._write_queue is None:
                from workbench.journal.write_queue import WriteQueue

                self._write_queue = WriteQueue(
                    self.home, self.clock, self.blobs, self.notifier.announce, self._note
                )
            return self._write_queue

    def _note(self, newest: int) -> None:
        """Note the time of the newest event: what is made from now on is not older."""
        self._newest = max(self._newest, newest)

    # --- reading -------------------------------------------------------------------------------

    def now(self) -> int:
        """Return the wall clock, or the time of the newest event if that is later."""
        self._newest = max(self._newest, self.newest())
        return max(self.clock.now(), self._newest)

    def rules(self, active: bool = True) -> list[Rule]:
        """Return rules in order of their numbers; only those in force unless `active` is False."""
        where = "WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) " if active else ""
        return self._rows(Rule, f"{where}ORDER BY created_at, rowid", *((self.now(),) if active else ()))

    # --- changes -------------------------------------------------------------------------------

    def wait(self, cursor: int, timeout: float) -> bool:
        """Wait until there is something after a position; False when the time is over first."""
        until = time.monotonic() + timeout
        while True:
            changes = self.notifier.changes
            if self.last_position() > cursor:
                return True
            remaining = until - time.monotonic()
            if remaining <= 0 or not self.notifier.wait(changes, remaining):
                return self.last_position() > cursor

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back in another thread when something was committed; returns what unsubscribes."""
        return self.notifier.on_change(callback)


POLL_SECONDS: Final = 0.25
"""Interval of looks at the change counter where the system reports touches as well."""
UNWATCHED_POLL_SECONDS: Final = 0.05
"""The same where nothing reports touches, such as on macOS: one read of shared memory each."""
_DATABASE_FILES: Final = (DATABASE_NAME, f"{DATABASE_NAME}-wal")
_log: Final = logging.getLogger(__name__)


class ChangeNotifier:
    """One per process: a thread that sleeps until the journal changes."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._wal = home.path / f"{DATABASE_NAME}-wal"
        self._wake_up = threading.Event()
        self._changed = threading.Condition()
        self._changes = 0
        self._callbacks: list[Callable[[], None]] = []
        self._thread: threading.Thread | None = None
        self._is_closed = False
        self._is_woken = False

    @property
    def changes(self) -> int:
        """How often something was committed, as far as this process has noticed."""
        return self._changes

    def announce(self) -> None:
        """Wake every process: called after a commit of this one.

        Watchers wait for the touch: the WAL is written before the commit can be seen.
        """
        with contextlib.suppress(OSError):
            os.utime(self._wal)
        if self._thread is not None:
            self._wake_up.set()

    def wake(self) -> None:
        """Call the listeners of this process though nothing was committed: what they look at changed."""
        self._is_woken = True
        self._wake_up.set()

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back, in another thread, whenever something was committed; returns what unsubscribes."""
        with self._changed:
            self._callbacks.append(callback)
            self._start()

        def unsubscribe() -> None:
            with self._changed, contextlib.suppress(ValueError):
                self._callbacks.remove(callback)

        return unsubscribe

    def wait(self, changes: int, timeout: float) -> bool:
        """Wait until there are more changes than so many; False when the time is over first.

        `changes`: from the property, read before looking at the journal.
        """
        with self._changed:
            self._start()
            return self._changed.wait_for(lambda: self._changes != changes or self._is_closed, timeout)

    def close(self) -> None:
        """End the thread and the watch; whoever waits is let go."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            thread, self._thread = self._thread, None
        if thread is not None:
            self._wake_up.set()
            thread.join()

    def _start(self) -> None:
        if self._thread is None and not self._is_closed:
            self._thread = threading.Thread(target=self._listen, name="journal-changes", daemon=True)
            self._thread.start()

    def _listen(self) -> None:
        with contextlib.closing(journal_database.connect(self._home.database, query_only=True)) as database:
            stop_watching = _watch_database(self._home, self._wake_up.set)
            try:
                self._loop(database, POLL_SECONDS if stop_watching else UNWATCHED_POLL_SECONDS)
            finally:
                if stop_watching:
                    stop_watching()

    def _loop(self, database: journal_database.Database, poll_seconds: float) -> None:
        # Listeners are called once at the start: what was committed before the watch has no event of its own.
        last_version = None
        while not self._is_closed:
            self._wake_up.clear()
            is_woken, self._is_woken = self._is_woken, False
            version = _data_version(database, last_version)
            if is_woken or version != last_version:
                last_version = version
                self._notify()
            self._wake_up.wait(poll_seconds)

    def _notify(self) -> None:
        with self._changed:
            self._changes += 1
            callbacks = tuple(self._callbacks)
            self._changed.notify_all()
        for callback in callbacks:
            try:
                callback()
            except Exception:  # noqa: BLE001 one listener must not stop the others
                _log.exception("a listener of the journal failed")


def _data_version(database: journal_database.Database, last_version: int | None) -> int | None:
    try:
        return database.execute("PRAGMA data_version").get
    except apsw.Error:
        return last_version


def _watch_database(home: Home, ring: Callable[[], None]) -> Callable[[], None] | None:
    """Call `ring` when the database was touched. Returns what ends it; None where nothing reports that."""
    from workbench.effects import file_watch

    try:
        # The folder, not the file: the WAL is removed and made again.
        return file_watch.watch_files(home.path, _DATABASE_FILES, ring)
    except OSError:
        _log.warning("no watch on %s; looking every %s s", home.path, UNWATCHED_POLL_SECONDS)
        return None
