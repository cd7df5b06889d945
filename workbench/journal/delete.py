"""Deleting a session, the one exception to append-only, and sweeping bytes that nothing refers to.

The tombstone and the rows go first, in one transaction, so that a session is there or gone; its events and
blobs follow in short transactions, and what a crash leaves is finished the next time. `compact` then sees to
it that no file holds a remnant.
"""

import contextlib
import time
from collections.abc import Iterable
from typing import Final

from workbench.domain.events import SessionDeleted
from workbench.domain.rows import Action, Call, Lease, PipelineState, Session, StepState
from workbench.domain.values import SYSTEM_SESSION, Actor, BlobRef
from workbench.journal import search, sql, tables
from workbench.journal.checkpoints import forget_checkpoints
from workbench.journal.entry import enter, prepare
from workbench.journal.errors import Driven, GuardFailed, SessionUnknown
from workbench.journal.journal import Journal
from workbench.journal.lease import is_live
from workbench.journal.live import LiveTables
from workbench.journal.store import held, live_drivers

CHUNK: Final = 1000
"""Events, or a fifth of it in files, that one transaction removes."""

SEARCHED: Final = 10
"""Searched events that one transaction removes; forgetting a text costs milliseconds in a large index."""

COMPACTED: Final = 256_000_000
"""Bytes of a database that is written anew in about a second."""

_TRIES: Final = 20
_PAUSE: Final = 0.02

SWEPT_AFTER: Final = 3600.0
"""Seconds after which bytes that no event refers to are removed."""

SWEPT_ALONE: Final = 60.0
"""The same at a delete while nobody drives: only drivers store bytes long before they name them."""


def delete_session(journal: Journal, session_id: str, actor: Actor) -> None:
    """Delete a session with its events and the blobs that only it refers to. Children stay.

    Raises:
        SessionUnknown: There is none.
        Driven: A living process drives it.
        GuardFailed: It is the session of the journal itself.
    """
    what = f"session {session_id} was not deleted"
    if session_id == SYSTEM_SESSION:
        raise GuardFailed(what, "it holds rules, trust and tombstones", "name another session")

    def bury(live: LiveTables) -> None:
        if live.session(session_id) is None:
            raise SessionUnknown(what, "there is none", "check the id with workbench sessions list")
        lease = live.lease(session_id)
        if lease is not None and is_live(journal.home, lease):
            raise Driven(session_id, lease.pid, lease.driver, lease.host_id, undone="deleted")
        stone = journal.event(SessionDeleted(deleted_id=session_id), SYSTEM_SESSION, actor, at=live.now)
        enter(prepare(stone), live, strict=True)
        tables.delete(live.database, Session, "id = ?", session_id)
        for row in (Call, Action, Lease):
            tables.delete(live.database, row, "session_id = ?", session_id)
        for row in (PipelineState, StepState):
            tables.delete(live.database, row, "pipeline_id = ?", session_id)
        live.forget()

    journal.change(bury)
    forget_checkpoints(journal.home)
    _clear(journal, session_id)


def finish_deletes(journal: Journal) -> list[str]:
    """Finish what a crash left of deleted sessions, and return their ids."""
    stones = "SELECT json_extract(body, '$.deleted_id') AS id FROM event WHERE kind = 'session.deleted'"
    left = "EXISTS (SELECT 1 FROM event WHERE session_id = stone.id)"
    blobs = "EXISTS (SELECT 1 FROM blob_ref WHERE session_id = stone.id)"
    with journal.reader.snapshot() as database:
        found = database.execute(f"SELECT id FROM ({stones}) AS stone WHERE {left} OR {blobs}")  # noqa: S608
        sessions = [row[0] for row in found]
    if sessions:
        forget_checkpoints(journal.home)
    for session_id in sessions:
        _clear(journal, session_id)
    return sessions


def compact(journal: Journal, largest: int = COMPACTED) -> bool:
    """Leave no copy of what was deleted in any file: to be called once after the last delete.

    Bytes that no event refers to go, whoever left them. So do backups of older schemas; the database is
    written anew, and the log of changes is emptied. SQLite
    overwrites what it deletes, but copies of a row that once was elsewhere in a page stay there.

    Args:
        journal: Where.
        largest: Bytes of a database that is written anew while sessions are driven, whose writers wait.

    Returns:
        False if the database was too large for that, or a reader kept the log; nothing is lost by it.
    """
    sweep(journal, SWEPT_AFTER if live_drivers(journal.home) else SWEPT_ALONE)
    for backup in journal.home.path.glob("journal.db.schema-*.backup"):
        backup.unlink(missing_ok=True)
    home = journal.home
    if home.database.stat().st_size > largest and live_drivers(home):
        return False
    lock = held(home.run / "checkpoint.lock")
    with lock, contextlib.closing(sql.connect(home.database)) as database:
        sql.vacuum(database)
        for _ in range(_TRIES):
            if sql.truncate(database):
                return True
            time.sleep(_PAUSE)
    return False


def sweep(journal: Journal, older_than: float = SWEPT_AFTER) -> int:
    """Remove blobs that no event refers to and temporary files, both older than some seconds.

    Returns:
        How many files were removed.
    """
    removed = journal.blobs.sweep_temporary(older_than)
    with journal.reader.snapshot() as database:
        # Asked again inside the transaction; here it keeps the writer from walking over all that is in use.
        used = {row[0] for row in database.execute("SELECT DISTINCT ref FROM blob_ref")}
    stale = [ref for ref in journal.blobs.stale(older_than) if ref not in used]
    return removed + remove_unused(journal, stale)


def _clear(journal: Journal, session_id: str) -> None:
    while journal.change(lambda live: _remove_events(live, session_id)):
        pass
    refs = journal.change(lambda live: _release(live, session_id))
    remove_unused(journal, refs)


def _remove_events(live: LiveTables, session_id: str) -> int:
    live.has_written = True
    live.forget()  # it remembers words that may go now
    if removed := search.remove(live.database, session_id, SEARCHED):
        return removed
    search.forget(live.database, session_id)
    some = "SELECT position FROM event WHERE session_id = ? LIMIT ?"
    statement = f"DELETE FROM event WHERE position IN ({some}) RETURNING 1"  # noqa: S608 no values in it
    return len(live.all(statement, session_id, CHUNK))


def _release(live: LiveTables, session_id: str) -> list[BlobRef]:
    live.has_written = True
    return [row[0] for row in live.all("DELETE FROM blob_ref WHERE session_id = ? RETURNING ref", session_id)]


def remove_unused(journal: Journal, refs: Iterable[BlobRef]) -> int:
    """Remove blobs without a `blob_ref`, inside transactions: who appends one now finds it missing."""
    waiting = list(refs)
    removed = 0
    while waiting:
        some, waiting = waiting[: CHUNK // 5], waiting[CHUNK // 5 :]
        removed += journal.change(lambda live, some=some: _remove(journal, live, some))
    return removed


def _remove(journal: Journal, live: LiveTables, refs: list[BlobRef]) -> int:
    used = "SELECT 1 FROM blob_ref WHERE ref = ? LIMIT 1"
    return sum(journal.blobs.remove(ref) for ref in refs if live.value(used, ref) is None)
