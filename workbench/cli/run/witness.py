"""Sees each event of a run once: tallies it and tells it, and remembers when nobody listens any more.

Owns the cursor of a run. It must never raise into the driver: a reader that went away ends the run in order.
"""

from collections.abc import Iterable

from workbench.cli.run.printing import Printer
from workbench.cli.run.result import Tally
from workbench.domain.events import Event
from workbench.journal.journal import Journal


class Witness:
    """The eyes of a run on one session."""

    def __init__(self, journal: Journal, session_id: str, printer: Printer, start: int) -> None:
        self.journal, self.session_id, self.start = journal, session_id, start
        self.tally = Tally()
        self.failure: OSError | None = None
        self._printer, self._cursor = printer, start

    def see(self, events: Iterable[Event]) -> None:
        """Take in what is new of some events."""
        fresh = [event for event in events if event.position > self._cursor]
        if not fresh:
            return
        self._cursor = fresh[-1].position
        self.tally.see(fresh)
        if self.failure is None:
            try:
                self._printer.see(fresh)
            except OSError as error:
                self.failure = error

    def catch_up(self) -> None:
        """Take in everything that is in the journal by now."""
        self.see(self.journal.events(self.session_id, after=self._cursor))

    def wait(self, seconds: float) -> None:
        """Wait until there is more, but not longer than some seconds."""
        self.journal.wait(self._cursor, seconds)

    def require_listener(self) -> None:
        """Raise what went wrong while telling."""
        if self.failure is not None:
            raise self.failure
