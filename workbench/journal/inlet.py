"""The way into the journal: events and changes as jobs of the one thread that writes.

Owns the writer and what it knows from one transaction to the next. It is loaded with the first thing that is
written, and it reads nothing for others.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TypeVar, cast

from workbench.domain.events import Event
from workbench.effects.clock import Clock
from workbench.journal.blobs import Blobs
from workbench.journal.entry import Guard, enter_all, is_durable, is_outcome, prepare
from workbench.journal.home import Home
from workbench.journal.live import Kept, LiveTables
from workbench.journal.sql import Database
from workbench.journal.writer import Job, Writer

T = TypeVar("T")


class Inlet:
    """A journal's writer, and what is to be done in its transactions."""

    def __init__(
        self,
        home: Home,
        clock: Clock,
        blobs: Blobs,
        announce: Callable[[], None],
        note: Callable[[int], None],
    ) -> None:
        """Begin the thread that writes.

        Args:
            home: Where the database is; it is prepared.
            clock: What time it is.
            blobs: What events may refer to.
            announce: Called in the thread after each commit that wrote something.
            note: Told the time of the newest event at the beginning of each transaction.
        """
        self._clock, self._blobs, self._note = clock, blobs, note
        self._kept = Kept()
        self._writer = Writer(home, self._begin, announce)

    def close(self) -> None:
        """Commit what is queued and end the thread; twice is harmless."""
        self._writer.close()

    def submit(self, events: Sequence[Event], guard: Guard | None, *, strict: bool) -> Future[list[int]]:
        """Queue events for one transaction; see `Journal.append`."""
        is_validated = guard is not None and guard.is_validating
        many = [prepare(event, is_validated=is_validated) for event in events]

        def run(live: LiveTables) -> list[int]:
            if guard is not None:
                guard.check(live)
            return [event.position for event in enter_all(many, live, strict=strict)]

        job = Job(
            run=run, is_durable=is_durable(events), size=sum(len(one.body) for one in many),
            is_outcome=is_outcome(events),
        )  # fmt: skip
        return cast("Future[list[int]]", self._writer.submit(job))

    def transact(
        self, work: Callable[[LiveTables, int], Sequence[Event]], *, is_durable: bool
    ) -> list[Event]:
        """Look at the tables and append in one transaction; see `Journal.transact`."""

        def run(live: LiveTables) -> list[Event]:
            return enter_all([prepare(event) for event in work(live, live.now)], live, strict=True)

        return self.change(run, is_durable=is_durable).result()

    def change(self, work: Callable[[LiveTables], T], *, is_durable: bool = True, size: int = 0) -> Future[T]:
        """Queue a function for a transaction; see `Journal.change` and `change_later`."""
        return cast("Future[T]", self._writer.submit(Job(run=work, is_durable=is_durable, size=size)))

    def _begin(self, database: Database) -> LiveTables:
        live = LiveTables(database, self._clock.now(), self._blobs.has, self._kept)
        self._note(live.newest)
        return live
