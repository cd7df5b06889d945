"""The events of a run and of all sessions below it, in one order for every process that prints them."""

from typing import Final

from workbench.domain.events import Event
from workbench.journal.journal import Journal
from workbench.journal.session_queries import session_ids_after

_UNPRINTED: Final = ("lease.taken", "lease.released")
"""Kinds that say which process drives a session, and nothing of the run."""


class RunEvents:
    """Reads what is new of a run and of the sessions of its steps."""

    def __init__(self, journal: Journal, run_id: str, after: int) -> None:
        """Begin behind a position of the journal."""
        self._journal, self._cursor = journal, after
        self._is_inside = {run_id: True}
        """Whether a session belongs to the run, of those that were looked up."""

    def read(self) -> list[Event]:
        """Return the events since the last look."""
        until = self._journal.last_position()
        with self._journal.snapshot() as database:
            ids = session_ids_after(database, self._cursor, until)
        own = [session_id for session_id in ids if self._belongs(session_id)]
        events = self._journal.events_of_sessions(own, self._cursor, until) if own else []
        self._cursor = until
        return [event for event in events if event.kind not in _UNPRINTED]

    def _belongs(self, session_id: str) -> bool:
        known = self._is_inside.get(session_id)
        if known is None:
            session = self._journal.session(session_id)
            parent = session.parent_id if session is not None else None
            known = self._is_inside[session_id] = parent is not None and self._belongs(parent)
        return known
