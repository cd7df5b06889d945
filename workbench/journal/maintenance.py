"""Deletion, retention and compaction.

Deleting a session is the one exception to append-only: tombstone and rows go first, events and blobs follow
in short transactions, and what a crash leaves is finished the next time.
"""

# What is let go is no event. `retention.sealed_days` removes files of `blobs/sealed/` and nothing else: the
# events still name them and the tables still say so. A missing sealed file that no open session needs is no
# loss to `doctor`.
#
# Deleting ends with a `VACUUM`. `secure_delete` overwrites what SQLite frees, but copies that once were
# elsewhere in a page stay there; only a database written anew holds none. Databases over 256 MB wait until
# nobody drives a session.

import contextlib
import time
from collections.abc import Iterable, Sequence
from typing import Final

from workbench.domain.codec import blob_refs
from workbench.domain.events import Event, SessionDeleted
from workbench.domain.fold import MemoryTables
from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.rows import Action, Call, Lease, PipelineState, Session, StepState, TokenUse
from workbench.domain.values import SYSTEM_SESSION, Actor, BlobRef
from workbench.effects.file_primitives import FileRefused
from workbench.effects.folders import remove_tree
from workbench.journal import database as journal_database
from workbench.journal import search, storage
from workbench.journal.database import SqlValue, hold_lock, live_drivers
from workbench.journal.errors import GuardFailed, SessionDriven, SessionUnknown
from workbench.journal.journal import Journal
from workbench.journal.leases import is_lease_live
from workbench.journal.replay import delete_replay_checkpoints
from workbench.journal.token_use_table import token_use_after
from workbench.journal.transaction import TransactionTables
from workbench.journal.write_queue import prepare_event, store_event
from workbench.text.human import DAY_MICROS

MOST_EVENTS_REMOVED: Final = 1000
MOST_SEARCHED_REMOVED: Final = 10
"""Searched events that one transaction removes; forgetting a text costs milliseconds in a large index."""
LARGEST_COMPACTED: Final = 256_000_000
"""Bytes of a database that is written anew in about a second."""
_TRUNCATE_TRIES: Final = 20
_TRUNCATE_PAUSE: Final = 0.02
SWEEP_AFTER_SECONDS: Final = 3600.0
"""Seconds after which bytes that no event refers to are removed."""
SWEEP_ALONE_SECONDS: Final = 60.0
"""The same at a delete while nobody drives: only drivers store bytes long before they name them."""


def delete_session(journal: Journal, session_id: str, actor: Actor) -> None:
    """Delete a session with its events and the blobs that only it refers to. Children stay.

    Raises SessionUnknown: there is none; SessionDriven: a living process drives it; GuardFailed: it is the
    session of the journal itself.
    """
    failure = f"session {session_id} was not deleted"
    if session_id == SYSTEM_SESSION:
        raise GuardFailed(failure, "it holds rules, trust and tombstones", "name another session")

    def bury(live: TransactionTables) -> None:
        if live.session(session_id) is None:
            raise SessionUnknown(failure, "there is none", "check the id with workbench sessions list")
        lease = live.lease(session_id)
        if lease is not None and is_lease_live(journal.home, lease):
            raise SessionDriven(session_id, lease.pid, lease.driver, lease.host_id, undone="deleted")
        tombstone = journal.event(SessionDeleted(deleted_id=session_id), SYSTEM_SESSION, actor, at=live.now)
        store_event(prepare_event(tombstone), live, strict=True)
        remove_session_rows(live, session_id)

    journal.change(bury)
    delete_replay_checkpoints(journal.home)
    remove_session_remains(journal, session_id)


def finish_deletions(journal: Journal) -> list[str]:
    """Finish what a crash left of deleted sessions, and return their ids."""
    tombstones = "SELECT json_extract(body, '$.deleted_id') AS id FROM event WHERE kind = 'session.deleted'"
    has_events = "EXISTS (SELECT 1 FROM event WHERE session_id = stone.id)"
    has_blobs = "EXISTS (SELECT 1 FROM blob_ref WHERE session_id = stone.id)"
    with journal.snapshot() as database:
        rows = database.execute(f"SELECT id FROM ({tombstones}) AS stone WHERE {has_events} OR {has_blobs}")  # noqa: S608
        sessions = [row[0] for row in rows]
    if sessions:
        delete_replay_checkpoints(journal.home)
    for session_id in sessions:
        remove_session_remains(journal, session_id)
    return sessions


def compact_database(journal: Journal, largest: int = LARGEST_COMPACTED) -> bool:
    """Leave no copy of what was deleted in any file: to be called once after the last delete.

    Bytes that no event refers to go, whoever left them. So do backups of older schemas; the database is
    written anew, and the log of changes is emptied. SQLite overwrites what it deletes, but copies of a row
    that once was elsewhere in a page stay there. `largest`: bytes of a database that is written anew while
    sessions are driven, whose writers wait. Returns False if the database was too large for that, or a reader
    kept the log; nothing is lost by it.
    """
    sweep_unused_blobs(journal, SWEEP_AFTER_SECONDS if live_drivers(journal.home) else SWEEP_ALONE_SECONDS)
    for backup in journal.home.path.glob("journal.db.schema-*.backup"):
        backup.unlink(missing_ok=True)
    home = journal.home
    if home.database.stat().st_size > largest and live_drivers(home):
        return False
    lock = hold_lock(home.run / "checkpoint.lock")
    with lock, contextlib.closing(journal_database.connect(home.database)) as database:
        journal_database.vacuum_database(database)
        for _ in range(_TRUNCATE_TRIES):
            if journal_database.truncate_wal(database):
                return True
            time.sleep(_TRUNCATE_PAUSE)
    return False


def sweep_unused_blobs(journal: Journal, older_than: float = SWEEP_AFTER_SECONDS) -> int:
    """Remove blobs that no event refers to and temporary files, both older than some seconds.

    Returns how many files were removed.
    """
    removed = journal.blobs.sweep_temporary(older_than)
    with journal.snapshot() as database:
        # Asked again inside the transaction; here it keeps the writer from walking over all that is in use.
        used = {row[0] for row in database.execute("SELECT DISTINCT ref FROM blob_ref")}
    stale = [ref for ref in journal.blobs.stale(older_than) if ref not in used]
    return removed + remove_unused_blobs(journal, stale)


def remove_session_rows(live: TransactionTables, session_id: str) -> None:
    """Remove a session from every index table."""
    live.has_written = True
    storage.delete_rows(live.database, Session, "id = ?", session_id)
    for row in (Call, Action, Lease, TokenUse):
        storage.delete_rows(live.database, row, "session_id = ?", session_id)
    for row in (PipelineState, StepState):
        storage.delete_rows(live.database, row, "pipeline_id = ?", session_id)
    live.forget()


def remove_session_events(journal: Journal, session_id: str) -> None:
    while journal.change(lambda live: _remove_events(live, session_id)):
        pass


def cut_session(journal: Journal, session_id: str, first_events: Sequence[Event]) -> None:
    """Remove the end of a session: the events behind some that stay, which keep their positions.

    `first_events`: its first events, all of them in order. The rows are folded of them anew.
    """
    last = first_events[-1].sequence_number if first_events else 0
    while journal.change(lambda live: _remove_searched_behind(live, session_id, last)):
        pass
    tables = MemoryTables()
    used: dict[str, TokenUse] = {}
    for event in first_events:
        tables.fold([event])
        if use := token_use_after(event, tables.session(event.session_id), used.get):
            used[use.key] = use
    refs = sorted({ref for event in first_events for ref in blob_refs(event.body)})

    def work(live: TransactionTables) -> None:
        live.database.execute(
            "DELETE FROM event WHERE session_id = ? AND sequence_number > ?", (session_id, last)
        )
        remove_session_rows(live, session_id)
        for table in (tables.sessions, tables.calls, tables.actions, used):
            for row in table.values():
                live.put(row)
        live.database.execute("DELETE FROM blob_ref WHERE session_id = ?", (session_id,))
        for ref in refs:
            live.database.execute("INSERT INTO blob_ref VALUES (?, ?)", (ref, session_id))

    journal.change(work)


def _remove_searched_behind(live: TransactionTables, session_id: str, last: int) -> int:
    live.has_written = True
    live.forget()  # it remembers words that may go now
    return search.remove_searched_events(live.database, session_id, MOST_SEARCHED_REMOVED, last)


def remove_session_remains(journal: Journal, session_id: str) -> None:
    """Remove the events of a session, what it has paid and printed, and the blobs that only it refers to."""
    journal.change(
        lambda live: live.database.execute("DELETE FROM paid_request WHERE session_id = ?", (session_id,))
    )
    remove_session_events(journal, session_id)
    with contextlib.suppress(FileRefused):
        remove_tree(str(journal.home.path / "jobs" / session_id))
    refs = journal.change(lambda live: _release_blob_refs(live, session_id))
    remove_unused_blobs(journal, refs)


def remove_session(live: TransactionTables, session_id: str) -> list[BlobRef]:
    """Remove a session without a tombstone, in one transaction; returns the blobs that it referred to."""
    remove_session_rows(live, session_id)
    live.database.execute("DELETE FROM paid_request WHERE session_id = ?", (session_id,))
    while _remove_events(live, session_id):
        pass
    return _release_blob_refs(live, session_id)


def _remove_events(live: TransactionTables, session_id: str) -> int:
    live.has_written = True
    live.forget()  # it remembers words that may go now
    if removed := search.remove_searched_events(live.database, session_id, MOST_SEARCHED_REMOVED):
        return removed
    search.forget_search_session(live.database, session_id)
    some = "SELECT position FROM event WHERE session_id = ? LIMIT ?"
    statement = f"DELETE FROM event WHERE position IN ({some}) RETURNING 1"  # noqa: S608 no values in it
    return len(live.all(statement, session_id, MOST_EVENTS_REMOVED))


def _release_blob_refs(live: TransactionTables, session_id: str) -> list[BlobRef]:
    live.has_written = True
    return [row[0] for row in live.all("DELETE FROM blob_ref WHERE session_id = ? RETURNING ref", session_id)]


BLOBS_PER_TRANSACTION: Final = 200
_SELECT_USED: Final = "SELECT 1 FROM blob_ref WHERE ref = ? LIMIT 1"


def remove_unused_blobs(
    journal: Journal, refs: Iterable[BlobRef], needed: str = _SELECT_USED, *values: SqlValue
) -> int:
    """Remove blobs that a statement does not find, inside transactions: who appends one now misses it.

    Returns how many files were removed.
    """

    def remove(live: TransactionTables, some: list[BlobRef]) -> int:
        return sum(journal.blobs.remove(ref) for ref in some if live.value(needed, *values, ref) is None)

    waiting = list(refs)
    return sum(
        journal.change(lambda live, start=start: remove(live, waiting[start : start + BLOBS_PER_TRANSACTION]))
        for start in range(0, len(waiting), BLOBS_PER_TRANSACTION)
    )


_ENDED_STATUSES: Final = ", ".join(repr(status) for status in sorted(TERMINAL_SESSION_STATES))
# A supervised session has no end, as its agent can take it up again: it is over while nothing is open.
_IS_OVER: Final = (
    f"(status IN ({_ENDED_STATUSES}) OR (session.kind = 'supervised' AND NOT EXISTS (SELECT 1 FROM action"  # noqa: S608
    " WHERE action.session_id = session.id AND action.state = 'pending') AND NOT EXISTS (SELECT 1 FROM call"
    " WHERE call.session_id = session.id AND call.state IN ('pending', 'approved', 'executing'))))"
)
_OVER_BEFORE: Final = f"({_IS_OVER} AND updated_at <= iif(session.kind = 'supervised', ?2, ?1))"
_SELECT_EXPIRED: Final = (  # nothing but our own words in it, and so below
    "SELECT DISTINCT ref FROM blob_ref JOIN session ON session.id = blob_ref.session_id"  # noqa: S608
    f" WHERE ref GLOB 'sealed:*' AND {_OVER_BEFORE}"
)
_SELECT_STILL_NEEDED: Final = (
    "SELECT 1 FROM blob_ref LEFT JOIN session ON session.id = blob_ref.session_id"  # noqa: S608
    f" WHERE ref = ?3 AND (status IS NULL OR NOT {_OVER_BEFORE}) LIMIT 1"
)
_SELECT_MISSED: Final = (
    "SELECT 1 FROM blob_ref LEFT JOIN session ON session.id = blob_ref.session_id"  # noqa: S608
    f" WHERE ref = ? AND (status IS NULL OR NOT {_IS_OVER}) LIMIT 1"
)


def remove_expired_blobs(journal: Journal, days: int, older_than: float = SWEEP_AFTER_SECONDS) -> int:
    """Remove sealed bytes that only sessions need which ended so many days ago.

    `days`: whole days since the end; 0 removes them at once, those of supervised sessions after a day.
    `older_than`: seconds since the bytes were stored last: somebody may be about to refer to newer ones.
    Returns how many files were removed.
    """
    now = journal.now()
    before, idle_before = now - days * DAY_MICROS, now - max(days, 1) * DAY_MICROS
    with journal.snapshot() as database:
        over = {row[0] for row in database.execute(_SELECT_EXPIRED, (before, idle_before))}
    stale = [ref for ref in journal.blobs.stale(older_than) if ref in over] if over else []
    return remove_unused_blobs(journal, stale, _SELECT_STILL_NEEDED, before, idle_before)


def expired_blobs(journal: Journal, refs: Iterable[BlobRef]) -> set[BlobRef]:
    """Return those of some sealed bytes that no session needs any more, so that missing they are no loss."""
    with journal.snapshot() as database:
        return {
            ref
            for ref in refs
            if ref.startswith("sealed:") and not database.execute(_SELECT_MISSED, (ref,)).fetchall()
        }
