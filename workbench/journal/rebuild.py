"""Proof and repair: the index tables hold what the events say, or are made anew from them.

Used by `doctor` and after every crash test. Nothing here changes an event.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from workbench.domain.codec import blob_refs
from workbench.domain.events import Event, SessionDeleted
from workbench.domain.fold import Tables
from workbench.domain.rows import Lease
from workbench.journal import search, tables
from workbench.journal.journal import Journal
from workbench.journal.live import LiveTables, lease_after
from workbench.journal.read import EVENTS, decode
from workbench.journal.sql import Database

CHUNK: Final = 2000
_MOST_PAGES: Final = 20


@dataclass(slots=True)
class Truth:
    """What the events say: the folded tables, and what stands beside them."""

    known: Tables = field(default_factory=Tables)
    leases: dict[str, Lease] = field(default_factory=dict[str, Lease])
    refs: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    gaps: list[str] = field(default_factory=list[str])
    deleted: set[str] = field(default_factory=set[str])
    """Sessions of which only a tombstone counts, whatever a cut-short delete has left."""
    _last: dict[str, int] = field(default_factory=dict[str, int])

    def take(self, event: Event) -> None:
        """Add an event."""
        if event.session_id in self.deleted:
            return
        expected = self._last.get(event.session_id, 0) + 1
        if event.sequence_number != expected:
            found = f"has number {event.sequence_number} where {expected} follows"
            self.gaps.append(f"event {event.id} of session {event.session_id} {found}")
        self._last[event.session_id] = event.sequence_number
        self.known.fold((event,))
        if lease := lease_after(event, self.leases.get(event.session_id)):
            self.leases[event.session_id] = lease
        self.refs.update((ref, event.session_id) for ref in blob_refs(event.body))

    def rows(self) -> Iterator[tables.AnyRow]:
        """Yield every row of every table that events make."""
        rows = self.known
        for found in (rows.sessions, rows.calls, rows.actions, rows.rules, rows.trusts, self.leases):
            yield from found.values()
        for found in (rows.pipeline_states, rows.step_states):
            yield from found.values()


def truth(database: Database) -> Truth:
    """Fold every event of the journal, but those of sessions that were deleted."""
    found = Truth(deleted=_deleted(database))
    for event in _events(database):
        found.take(event)
    return found


def rebuild(journal: Journal) -> None:
    """Make the index tables anew from the events, in one transaction."""

    def work(live: LiveTables) -> None:
        found = truth(live.database)
        for row in (*tables.INDEX_TABLES, Lease):
            tables.delete(live.database, row)
        live.database.execute("DELETE FROM blob_ref")
        live.forget()
        for row in found.rows():
            live.put(row)
        for ref in sorted(found.refs):
            live.database.execute("INSERT INTO blob_ref VALUES (?, ?)", ref)
        search.rebuild(live.database)

    journal.change(work)


def differences(journal: Journal) -> list[str]:
    """Compare the tables with what the events say; an empty list is the proof that they agree."""
    with journal.reader.snapshot() as database:
        database.execute("BEGIN")
        try:
            found = truth(database)
            wrong = [*found.gaps, *_compared(database, found)]
        finally:
            database.execute("COMMIT")
    return [*wrong, *journal.change(lambda live: search.differences(live.database))]


def integrity(journal: Journal) -> list[str]:
    """Let SQLite check the structure of the database; an empty list is the proof that it is whole."""
    with journal.reader.snapshot() as database:
        lines = database.execute(f"PRAGMA integrity_check({_MOST_PAGES})").fetchall()
    return [row[0] for row in lines if row[0] != "ok"]


def _deleted(database: Database) -> set[str]:
    stones = database.execute(f"{EVENTS} WHERE kind = ?", (SessionDeleted.KIND,))
    bodies = (decode(values).body for values in stones)
    return {body.deleted_id for body in bodies if isinstance(body, SessionDeleted)}


def _events(database: Database) -> Iterator[Event]:
    after = 0
    while chunk := database.execute(
        f"{EVENTS} WHERE position > ? ORDER BY position LIMIT ?", (after, CHUNK)
    ).fetchall():
        yield from map(decode, chunk)
        after = chunk[-1][0]


def _compared(database: Database, found: Truth) -> Iterable[str]:
    said = {(type(row), getattr(row, tables.KEYS[type(row)])): row for row in found.rows()}
    kept = {
        (cls, getattr(row, tables.KEYS[cls])): row
        for cls in (*tables.INDEX_TABLES, Lease)
        for row in (tables.load(cls, values) for values in database.execute(tables.select(cls)))
    }
    for key in sorted(said.keys() | kept.keys(), key=lambda key: (key[0].__name__, key[1])):
        yield from _differing(key, kept.get(key), said.get(key))
    stored = database.execute("SELECT ref, session_id FROM blob_ref")
    refs = {(row[0], row[1]) for row in stored if row[1] not in found.deleted}
    for ref, session in sorted(refs ^ found.refs):
        where = "table" if (ref, session) in refs else "events"
        yield f"blob_ref {ref} of session {session}: only in {where}"


def _differing(
    key: tuple[type[tables.AnyRow], str], kept: tables.AnyRow | None, said: tables.AnyRow | None
) -> Iterator[str]:
    name = f"{tables.name(key[0])} {key[1]}"
    if kept is None or said is None:
        yield f"{name}: only in {'events' if kept is None else 'table'}"
        return
    for column in tables.columns(key[0]):
        mine, theirs = getattr(kept, column), getattr(said, column)
        if mine != theirs:
            yield f"{name}: {column} is {mine!r} in the table, {theirs!r} by the events"
