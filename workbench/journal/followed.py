"""Storing what the session file of a supervised agent says: each event once, and what it has paid with it."""

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Final

from workbench.domain.events import Event
from workbench.journal.journal import Journal
from workbench.journal.leases import LeaseGuard
from workbench.journal.transaction import TransactionTables, require_legal_event
from workbench.journal.write_queue import prepare_event, store_new_events

_OWNER: Final = "SELECT session_id FROM paid_request WHERE key = ?"
_STORE_PAID: Final = "INSERT OR IGNORE INTO paid_request (key, session_id) VALUES (?, ?)"


LinePlace = tuple[int, int]
"""A line of a file, from 1, and one of the records that were known with it, from 0."""


class PaidElsewhere(Exception):
    """Another session has paid a request since it was looked up; nothing was stored."""


def request_key(journal: Journal, request: str) -> str:
    """Return the name under which it is kept which session has paid a request."""
    return journal.blobs.keyed(request.encode("utf-8", "surrogatepass"))[:32]


def payer(journal: Journal, key: str) -> str | None:
    """Return the session that has paid a request, None if it is not paid yet."""
    with journal.snapshot() as database:
        return database.execute(_OWNER, (key,)).get


def line_event_id(session_id: str, place: LinePlace) -> str:
    """Return the id of the first event that a place in a session's file made."""
    line, part = place
    return f"{session_id}.L{line}.{part}"


def last_line_event(journal: Journal, session_id: str) -> LinePlace:
    """Return the last place in a session's file that made an event; before the first one if none did."""
    statement = (
        "SELECT id FROM event WHERE session_id = ?1 AND id > ?1 || '.L' AND id < ?1 || '.M'"
        " ORDER BY sequence_number DESC LIMIT 1"
    )
    with journal.snapshot() as database:
        last = database.execute(statement, (session_id,)).get
    if last is None:
        return (0, 0)
    line, part = last.removeprefix(f"{session_id}.L").split(".")[:2]
    return (int(line), int(part))


def has_own_title(journal: Journal, session_id: str) -> bool:
    """Return whether a human gave a session its title."""
    statement = (
        "SELECT 1 FROM event WHERE session_id = ? AND kind = 'session.changed' AND recorded_at IS NULL"
        " AND json_extract(body, '$.title') IS NOT NULL LIMIT 1"
    )
    with journal.snapshot() as database:
        return database.execute(statement, (session_id,)).get is not None


def store_followed_events(
    journal: Journal, events: Sequence[Event], guard: LeaseGuard, paid: Sequence[str]
) -> Future[None]:
    """Store events that are not there yet, and the requests that they pay, in one transaction.

    A power loss may take it back: the lines are read again then. The future raises PaidElsewhere, LeaseLost,
    SessionEnded.
    """
    prepared = [prepare_event(event) for event in events]

    def work(live: TransactionTables) -> None:
        guard.check(live)
        owners = (live.value(_OWNER, key) for key in paid)
        if any(owner not in (None, guard.session_id) for owner in owners):
            raise PaidElsewhere
        for event in events[:1]:
            require_legal_event(event, live)  # the session is there, and takes events
        store_new_events(prepared, live)
        live.database.executemany(_STORE_PAID, ((key, guard.session_id) for key in paid))

    return journal.change_later(work, sum(len(one.body) for one in prepared))
