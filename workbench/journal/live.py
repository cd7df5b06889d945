"""The index tables inside one transaction of the writer: looked up, changed, and kept in step with events.

Owns what a producer may ask while it decides what to append. It belongs to the writer's thread and to one
transaction; nothing of it may be kept afterwards.
"""

from collections.abc import Callable
from typing import Any, Final

from workbench.domain import fold
from workbench.domain.codec import blob_refs
from workbench.domain.events import Event, LeaseReleased, LeaseTaken
from workbench.domain.rows import (
    Action,
    Call,
    Host,
    Lease,
    PipelineState,
    Rule,
    Session,
    StepState,
    Trust,
)
from workbench.journal import search, tables
from workbench.journal.read import EVENTS, NEWEST, decode, numbered
from workbench.journal.sql import Database, Value, Values
from workbench.records import dataclass, replace

Rows = dict[tuple[type[tables.AnyRow], str], Any]

MOST_KEPT: Final = 400
"""Rows that are kept from one transaction to the next."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What a transaction has looked up, as it stood when it was committed."""

    newest: int
    rows: Rows
    sequences: dict[str, int]
    deleted: dict[str, bool]
    words: set[str]
    """Words that the search knows."""


class Kept:
    """What the writer's last transaction looked up, as long as nobody else has committed anything.

    `PRAGMA data_version` of a connection changes with every commit of another one, in this process or
    elsewhere, and not with its own: equal numbers on one connection mean that what was read there stands.
    """

    def __init__(self) -> None:
        self._database: Database | None = None
        self._version = 0
        self._looked: Looked | None = None

    def take(self, database: Database) -> Looked | None:
        """Return what still stands, inside a transaction that has begun; it is gone from here until `put`."""
        version = int(database.execute("PRAGMA data_version").get)
        is_same = database is self._database and version == self._version
        looked = self._looked if is_same else None
        self._database, self._version, self._looked = database, version, None
        return looked

    def put(self, looked: Looked) -> None:
        """Keep what the transaction of the last `take` has looked up."""
        self._looked = (
            looked if len(looked.rows) <= MOST_KEPT else Looked(looked.newest, {}, {}, {}, looked.words)
        )


class LiveTables:
    """Rows as they stand at this point of the transaction; a `fold.Lookup`."""

    def __init__(
        self, database: Database, now: int, has_blob: Callable[[str], bool], kept: "Kept | None" = None
    ) -> None:
        """Look at the tables in a transaction that has begun.

        Args:
            database: The connection of the transaction.
            now: The wall clock.
            has_blob: Whether stored bytes are there.
            kept: What an earlier transaction looked up; taken over if nothing was committed since elsewhere.
        """
        self.database = database
        self.has_blob = has_blob
        self._kept = kept or Kept()
        found = self._kept.take(database)
        self.newest: int = (self.value(NEWEST) or 0) if found is None else found.newest
        """When the newest event was stored; the times of what is appended never lie before it."""
        self.now = max(now, self.newest)
        """The wall clock, or the newest event if the clock was set back behind it."""
        self.has_written = False
        self._rows: Rows = {} if found is None else found.rows
        self._sequences: dict[str, int] = {} if found is None else found.sequences
        self._deleted: dict[str, bool] = {} if found is None else found.deleted
        self._words: set[str] = set() if found is None else found.words
        self._held: Rows | None = None

    def keep(self) -> None:
        """Keep what was looked up for the next transaction; to be called once this one is committed."""
        self._kept.put(Looked(self.newest, self._rows, self._sequences, self._deleted, self._words))

    def session(self, key: str) -> Session | None:
        """Return a session by id."""
        return self._get(Session, key)

    def call(self, key: str) -> Call | None:
        """Return a call by id."""
        return self._get(Call, key)

    def action(self, key: str) -> Action | None:
        """Return an action by id."""
        return self._get(Action, key)

    def rule(self, key: str) -> Rule | None:
        """Return a rule by its number."""
        return self._get(Rule, key)

    def trust(self, key: str) -> Trust | None:
        """Return the trust row of a workspace path."""
        return self._get(Trust, key)

    def pipeline_state(self, key: str) -> PipelineState | None:
        """Return a pipeline run by id."""
        return self._get(PipelineState, key)

    def step_state(self, key: str) -> StepState | None:
        """Return a step of a run by `RUN/STEP`."""
        return self._get(StepState, key)

    def next_run_number(self, pipeline: str, workspace: str) -> int:
        """Return the next number of a pipeline's runs in a workspace, from 1."""
        return (self.value(_LAST_RUN, pipeline, workspace) or 0) + 1

    def lease(self, key: str) -> Lease | None:
        """Return the lease of a session."""
        return self._get(Lease, key)

    def host(self, key: str) -> Host | None:
        """Return a driver by id."""
        return self._get(Host, key)

    def due(self) -> list[Action]:
        """Return the pending actions whose time has run out."""
        where = "WHERE state = 'pending' AND expires_at <= ? ORDER BY expires_at, opened_at"
        found = self.database.execute(f"{tables.select(Action)} {where}", (self.now,))
        return [tables.load(Action, values) for values in found]

    def event_at(self, position: int) -> Event | None:
        """Return the event at a position."""
        found = self.database.execute(f"{EVENTS} WHERE position = ?", (position,)).fetchone()
        return decode(found) if found else None

    def stored(self, event_id: str) -> Event | None:
        """Return the event with an id."""
        found = self.database.execute(f"{EVENTS} WHERE id = ?", (event_id,)).fetchone()
        return decode(found) if found else None

    def is_deleted(self, session_id: str) -> bool:
        """Return whether a session of this id was deleted."""
        if session_id not in self._deleted:
            found = self.value(_TOMBSTONE, session_id)
            self._deleted[session_id] = found is not None
        return self._deleted[session_id]

    def next_rule(self) -> str:
        """Return the next rule number; those of revoked rules are never used again."""
        return f"R{(self.value(_LAST_RULE) or 0) + 1}"

    def next_sequence(self, session_id: str) -> int:
        """Take the next number of a session."""
        last = self._sequences.get(session_id)
        if last is None:
            last = self.value("SELECT max(sequence_number) FROM event WHERE session_id = ?", session_id) or 0
        self._sequences[session_id] = last + 1
        return last + 1

    def last_position(self, session_id: str) -> int:
        """Return the position of a session's newest event; 0 if it has none."""
        newest = "SELECT position FROM event WHERE session_id = ? ORDER BY sequence_number DESC LIMIT 1"
        return self.value(newest, session_id) or 0

    def insert(self, event: Event, actor: str, body: str) -> Event:
        """Store an event that is not there yet, and return it with its position and number."""
        number = self.next_sequence(event.session_id)
        self.database.execute(
            _INSERT,
            (
                event.id, event.session_id, number, event.at, event.recorded_at, actor, event.turn_id,
                event.call_id, event.action_id, event.step, event.kind, body,
            ),
        )  # fmt: skip
        position = self.database.last_insert_rowid()
        self.newest = max(self.newest, event.at if event.recorded_at is None else event.recorded_at)
        self.now = max(self.now, self.newest)
        self.has_written = True
        return numbered(event, position, number)

    def apply(self, event: Event) -> None:
        """Bring the tables to where they stand after an event."""
        for row in fold.apply(event, self):
            self.put(row)
        if isinstance(event.body, LeaseTaken | LeaseReleased):
            lease = lease_after(event, self.lease(event.session_id))
            if lease is not None:
                self.put(lease)
        search.index(self.database, event, self._words)
        for ref in blob_refs(event.body):
            self.database.execute("INSERT OR IGNORE INTO blob_ref VALUES (?, ?)", (ref, event.session_id))

    def put(self, row: tables.AnyRow) -> None:
        """Store a row under its key."""
        cls = type(row)
        key = getattr(row, tables.KEYS[cls])
        old = self._get(cls, key)
        if self._held is not None:
            self._held.setdefault((cls, key), old)
        else:
            self._write(old, row)
        self._rows[cls, key] = row
        self.has_written = True

    def _write(self, old: tables.AnyRow | None, row: tables.AnyRow) -> None:
        if old is None:
            tables.insert(self.database, row)
        else:
            tables.update(self.database, old, row)

    def hold(self) -> None:
        """Keep changed rows here until `flush`: hundreds of events of one session change its row as often."""
        self._held = {}

    def flush(self) -> None:
        """Write the rows that were held, each once."""
        held, self._held = self._held or {}, None
        for key, old in held.items():
            self._write(old, self._rows[key])

    def forget(self) -> None:
        """Look everything up anew: what was written last has been taken back."""
        self._held = None
        self._rows.clear()
        self._sequences.clear()
        self._deleted.clear()
        self._words.clear()
        self.newest = self.value(NEWEST) or 0

    def value(self, statement: str, *values: Value) -> Any:
        """Return the first value of the first row; None if there is none."""
        found = self.database.execute(statement, values).fetchone()
        return found[0] if found else None

    def all(self, statement: str, *values: Value) -> list[Values]:
        """Return all rows of a question."""
        return self.database.execute(statement, values).fetchall()

    def _get(self, row: type[tables.AnyRow], key: str) -> Any:
        if (row, key) not in self._rows:
            statement = f"{tables.select(row)} WHERE {tables.KEYS[row]} = ?"
            found = self.database.execute(statement, (key,)).fetchone()
            self._rows[row, key] = tables.load(row, found) if found else None
        return self._rows[row, key]


def lease_after(event: Event, lease: Lease | None) -> Lease | None:
    """Return the lease that an event makes or changes, as it stands after it."""
    match event.body:
        case LeaseTaken(host_id=host_id, epoch=epoch, pid=pid, driver=driver):
            return Lease(
                session_id=event.session_id, host_id=host_id, epoch=epoch, pid=pid, driver=driver,
                taken_at=event.at,
            )  # fmt: skip
        case LeaseReleased(host_id=host_id, epoch=epoch) if lease and (lease.host_id, lease.epoch) == (
            host_id,
            epoch,
        ):
            return replace(lease, released=True)
        case _:
            return None


_INSERT = (
    "INSERT INTO event (id, session_id, sequence_number, at, recorded_at, actor, turn_id, call_id, action_id,"
    " step, kind, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)

_TOMBSTONE = "SELECT 1 FROM event WHERE kind = 'session.deleted' AND json_extract(body, '$.deleted_id') = ?"
_LAST_RULE = "SELECT max(CAST(substr(id, 2) AS INTEGER)) FROM rule WHERE id GLOB 'R[0-9]*'"
_LAST_RUN = (
    "SELECT max(p.number) FROM pipeline_state AS p JOIN session AS s ON s.id = p.pipeline_id"
    " WHERE p.pipeline_name = ? AND s.workspace = ?"
)
