"""The index tables compared with the fold of all events, and rebuilt from it."""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct, field

from workbench.domain.codec import blob_refs
from workbench.domain.events import Event, SessionDeleted
from workbench.domain.fold import MemoryTables
from workbench.domain.rows import Lease, TokenUse
from workbench.journal import search, storage
from workbench.journal.database import Database
from workbench.journal.journal import Journal
from workbench.journal.storage import SELECT_EVENTS, decode_event
from workbench.journal.token_use_table import token_use_after
from workbench.journal.transaction import TransactionTables, lease_after_event

EVENTS_PER_QUERY: Final = 2000
_MOST_PROBLEMS: Final = 20


class FoldedJournal(Struct):
    """What the events say: the folded tables, and what stands beside them."""

    known: MemoryTables = field(default_factory=MemoryTables)
    leases: dict[str, Lease] = field(default_factory=dict[str, Lease])
    token_uses: dict[str, TokenUse] = field(default_factory=dict[str, TokenUse])
    refs: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    gaps: list[str] = field(default_factory=list[str])
    deleted: set[str] = field(default_factory=set[str])
    """Sessions of which only a tombstone counts, whatever a cut-short delete has left."""
    _last: dict[str, int] = field(default_factory=dict[str, int])

    def take(self, event: Event) -> None:
        if event.session_id in self.deleted:
            return
        expected = self._last.get(event.session_id, 0) + 1
        if event.sequence_number != expected:
            mismatch = f"has number {event.sequence_number} where {expected} follows"
            self.gaps.append(f"event {event.id} of session {event.session_id} {mismatch}")
        self._last[event.session_id] = event.sequence_number
        self.known.fold((event,))
        if lease := lease_after_event(event, self.leases.get(event.session_id)):
            self.leases[event.session_id] = lease
        if used := token_use_after(event, self.known.session(event.session_id), self.token_uses.get):
            self.token_uses[used.key] = used
        self.refs.update((ref, event.session_id) for ref in blob_refs(event.body))

    def rows(self) -> Iterator[storage.AnyRow]:
        rows = self.known
        for table in (rows.sessions, rows.calls, rows.actions, rows.rules, rows.trusts, self.leases):
            yield from table.values()
        for table in (rows.agent_holds, rows.pipeline_states, rows.step_states, self.token_uses):
            yield from table.values()


def fold_journal(database: Database) -> FoldedJournal:
    """Fold every event of the journal, but those of sessions that were deleted."""
    folded = FoldedJournal(deleted=_deleted_sessions(database))
    for event in _all_events(database):
        folded.take(event)
    return folded


def rebuild_index_tables(journal: Journal) -> None:
    """Make the index tables anew from the events, in one transaction."""

    def work(live: TransactionTables) -> None:
        folded = fold_journal(live.database)
        for row in (*storage.INDEX_ROW_TYPES, Lease, TokenUse):
            storage.delete_rows(live.database, row)
        live.database.execute("DELETE FROM blob_ref")
        live.forget()
        for row in folded.rows():
            live.put(row)
        for ref in sorted(folded.refs):
            live.database.execute("INSERT INTO blob_ref VALUES (?, ?)", ref)
        search.rebuild_search_index(live.database)

    journal.change(work)


def index_table_differences(journal: Journal) -> list[str]:
    """Compare the tables with what the events say; an empty list is the proof that they agree."""
    with journal.snapshot() as database:
        database.execute("BEGIN")
        try:
            folded = fold_journal(database)
            wrong = [*folded.gaps, *_table_differences(database, folded)]
        finally:
            database.execute("COMMIT")
    return [*wrong, *journal.change(lambda live: search.search_index_differences(live.database))]


def database_problems(journal: Journal) -> list[str]:
    """Let SQLite check the structure of the database; an empty list is the proof that it is whole."""
    with journal.snapshot() as database:
        lines = database.execute(f"PRAGMA integrity_check({_MOST_PROBLEMS})").fetchall()
    return [row[0] for row in lines if row[0] != "ok"]


def _deleted_sessions(database: Database) -> set[str]:
    tombstones = database.execute(f"{SELECT_EVENTS} WHERE kind = ?", (SessionDeleted.KIND,))
    bodies = (decode_event(values).body for values in tombstones)
    return {body.deleted_id for body in bodies if isinstance(body, SessionDeleted)}


def _all_events(database: Database) -> Iterator[Event]:
    after = 0
    while chunk := database.execute(
        f"{SELECT_EVENTS} WHERE position > ? ORDER BY position LIMIT ?", (after, EVENTS_PER_QUERY)
    ).fetchall():
        yield from map(decode_event, chunk)
        after = chunk[-1][0]


def _table_differences(database: Database, folded: FoldedJournal) -> Iterable[str]:
    folded_rows = {(type(row), getattr(row, storage.ROW_KEYS[type(row)])): row for row in folded.rows()}
    stored_rows = {
        (cls, getattr(row, storage.ROW_KEYS[cls])): row
        for cls in (*storage.INDEX_ROW_TYPES, Lease, TokenUse)
        for row in (
            storage.row_from_values(cls, values) for values in database.execute(storage.select_statement(cls))
        )
    }
    for key in sorted(folded_rows.keys() | stored_rows.keys(), key=lambda key: (key[0].__name__, key[1])):
        yield from _row_differences(key, stored_rows.get(key), folded_rows.get(key))
    stored = database.execute("SELECT ref, session_id FROM blob_ref")
    refs = {(row[0], row[1]) for row in stored if row[1] not in folded.deleted}
    for ref, session in sorted(refs ^ folded.refs):
        source = "table" if (ref, session) in refs else "events"
        yield f"blob_ref {ref} of session {session}: only in {source}"


def _row_differences(
    key: tuple[type[storage.AnyRow], str], stored: storage.AnyRow | None, folded: storage.AnyRow | None
) -> Iterator[str]:
    name = f"{storage.table_name(key[0])} {key[1]}"
    if stored is None or folded is None:
        yield f"{name}: only in {'events' if stored is None else 'table'}"
        return
    for column in storage.column_names(key[0]):
        mine, theirs = getattr(stored, column), getattr(folded, column)
        if mine != theirs:
            yield f"{name}: {column} is {mine!r} in the table, {theirs!r} by the events"
