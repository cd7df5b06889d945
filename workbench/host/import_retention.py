"""Deletion of imported sessions after `sessions.keep_imported_days`, and of all sessions of one origin."""

from typing import Final

from workbench.domain.rows import Session
from workbench.domain.values import Actor
from workbench.journal.errors import SessionDriven, SessionUnknown
from workbench.journal.imports import is_imported_session
from workbench.journal.journal import Journal
from workbench.journal.maintenance import delete_session, finish_deletions

_DAY_MICROS: Final = 86_400_000_000
_ACTOR: Final = Actor(kind="system", via="import")


def sessions_of_origin(journal: Journal, origin: str) -> list[Session]:
    """Return the imported sessions of an agent or format, by its name."""
    rows = [session for session in journal.sessions() if session.origin == origin]
    return [session for session in rows if is_imported_session(journal, session.id)]


def delete_expired_imports(journal: Journal, days: int) -> int:
    """Delete imported sessions that ended so many days ago; 0 keeps all. Returns how many were deleted."""
    if not days:
        return 0
    before = journal.now() - days * _DAY_MICROS
    query = "SELECT id FROM session WHERE origin IS NOT NULL AND updated_at < ?"
    with journal.snapshot() as database:
        old = [row[0] for row in database.execute(query, (before,))]
    count = 0
    for session_id in old:
        if is_imported_session(journal, session_id):
            try:
                delete_session(journal, session_id, _ACTOR)
            except (SessionDriven, SessionUnknown):
                continue
            count += 1
    if count:
        finish_deletions(journal)
    return count
