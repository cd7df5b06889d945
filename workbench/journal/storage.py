"""How events and rows are stored as SQLite values, and the reader that queries them.

One column a field, JSON where a field is no plain value. No read transaction stays open between two calls,
so a reader never blocks a WAL checkpoint.
"""

import contextlib
import functools
import json
import re
import threading
import types
import typing
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import apsw
from msgspec.structs import astuple, replace

from workbench.domain.codec import (
    BODY_BY_KIND,
    decode_stored_actor,
    decode_stored_body,
    json_decoder,
    to_json_value,
)
from workbench.domain.events import Event
from workbench.domain.machines import ActionState, CallState, SessionStatus
from workbench.domain.rows import (
    ALL_AGENTS,
    Action,
    AgentHold,
    Call,
    Host,
    Lease,
    PipelineState,
    Rule,
    Session,
    StepState,
    TokenUse,
    Trust,
    step_key,
)
from workbench.domain.values import SYSTEM_SESSION, SessionKind
from workbench.journal.database import WAKES_DRIVER, Database, SqlRow, SqlValue, connect
from workbench.journal.errors import JournalClosed, as_journal_error

SELECT_EVENTS: Final = (
    "SELECT position, id, session_id, sequence_number, at, recorded_at, actor, turn_id, call_id,"
    " action_id, step, kind, body FROM event"
)
SELECT_NEWEST_TIME: Final = "SELECT coalesce(recorded_at, at) FROM event ORDER BY position DESC LIMIT 1"
_MOST_IDLE_CONNECTIONS: Final = 4
_SESSIONS_OF_PROMPTS: Final = 20
WHERE_DUE: Final = "WHERE state = 'pending' AND expires_at <= ? ORDER BY expires_at, opened_at"
"""The actions whose time has run out at a moment."""
STREAMED_KINDS: Final = tuple(kind for kind, body in BODY_BY_KIND.items() if not body.DURABLE)
"""Kinds that are pieces of something; no row changes with them."""
_BACKWARDS: Final = "< ? ORDER BY sequence_number DESC"


def decode_event(values: Sequence[Any]) -> Event:
    """Build an event from the values of `SELECT_EVENTS`, trusting that this program stored them."""
    position, key, session, number, moment, recorded, actor, turn, call, action, step, kind, text = values
    body, raw = decode_stored_body(kind, text)
    return Event(
        id=key, session_id=session, at=moment, actor=decode_stored_actor(actor), body=body, position=position,
        sequence_number=number, turn_id=turn, call_id=call, action_id=action, step=step, recorded_at=recorded,
        raw=raw,
    )  # fmt: skip


def event_with_position(event: Event, position: int, number: int) -> Event:
    return replace(event, position=position, sequence_number=number)


AnyRow = (
    Session | Call | Action | Rule | Trust | AgentHold | PipelineState | StepState | Lease | Host | TokenUse
)  # fmt: skip
ROW_KEYS: Final[dict[type[AnyRow], str]] = {
    Session: "id", Call: "id", Action: "id", Rule: "id", Trust: "workspace", Lease: "session_id", Host: "id",
    AgentHold: "id", PipelineState: "pipeline_id", StepState: "key", TokenUse: "key",
}  # fmt: skip
"""Row classes with a table, and the field that is their key."""


@functools.cache
def select_statement(row: type[AnyRow]) -> str:
    """Return `SELECT every column FROM table`, for `load`."""
    return f"SELECT {', '.join(column_names(row))} FROM {table_name(row)}"  # noqa: S608 names of our own classes


def row_from_values(row: type[Any], values: Sequence[Any]) -> Any:
    content = dict(zip(column_names(row), values, strict=True))
    for column, read in _decoded_columns(row):
        value = content[column]
        if value is not None:
            content[column] = read(value)
    return row(**content)


class RowReader:
    """Rows by their keys, read from the database or from a transaction."""

    def _row(self, row: type[AnyRow], key: str) -> Any:
        raise NotImplementedError

    def session(self, key: str) -> Session | None:
        return self._row(Session, key)

    def call(self, key: str) -> Call | None:
        return self._row(Call, key)

    def action(self, key: str) -> Action | None:
        return self._row(Action, key)

    def rule(self, key: str) -> Rule | None:
        return self._row(Rule, key)

    def trust(self, key: str) -> Trust | None:
        return self._row(Trust, key)

    def agent_hold(self, key: str = ALL_AGENTS) -> AgentHold | None:
        """Return the newest hold, in force or released."""
        return self._row(AgentHold, key)

    @property
    def are_agents_held(self) -> bool:
        """Return whether every call of every agent asks now."""
        row = self.agent_hold()
        return row is not None and row.is_in_force

    def lease(self, key: str) -> Lease | None:
        return self._row(Lease, key)

    def pipeline_state(self, key: str) -> PipelineState | None:
        return self._row(PipelineState, key)

    def token_use(self, key: str) -> TokenUse | None:
        return self._row(TokenUse, key)


class JournalReader(RowReader):
    """Ask the journal; any thread may, each question with a connection of its own."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._idle: list[Database] = []
        self._lock = threading.Lock()
        self._is_closed = False

    # --- events --------------------------------------------------------------------------------

    def events(self, session_id: str | None = None, after: int = 0, limit: int | None = None) -> list[Event]:
        """Return events in order of position.

        `session_id`: only of this session. `after`: only those with a greater position.
        """
        most = -1 if limit is None else limit
        if session_id is None:
            return self._events("position > ? ORDER BY position LIMIT ?", after, most)
        if after == 0:
            return self._events("session_id = ? ORDER BY sequence_number LIMIT ?", session_id, most)
        # The plus keeps SQLite from walking the session from its start to find a late position.
        where = "+session_id = ? AND position > ? ORDER BY position LIMIT ?"
        return self._events(where, session_id, after, most)

    def events_of_kinds(self, kinds: Iterable[str], after: int) -> list[Event]:
        """Return the events of some kinds, of any session, after a position."""
        names = tuple(kinds)
        where = f"position > ? AND +kind IN ({', '.join('?' * len(names))}) ORDER BY position"
        return self._events(where, after, *names)

    def events_of_sessions(self, session_ids: Sequence[str], after: int, until: int) -> list[Event]:
        """Return the events of some sessions behind a position, up to another one, in order of position."""
        listed = "SELECT value FROM json_each(?)"
        where = f"position > ? AND position <= ? AND +session_id IN ({listed}) ORDER BY position"
        return self._events(where, after, until, json.dumps(session_ids))

    def window(self, session_id: str, first_sequence: int, count: int) -> list[Event]:
        """Return events of a session by their number, from `first_sequence` on."""
        where = "session_id = ? AND sequence_number >= ? ORDER BY sequence_number LIMIT ?"
        return self._events(where, session_id, first_sequence, count)

    def lasting(
        self, session_id: str, *, before: int | None = None, after: int = 0, limit: int
    ) -> list[Event]:
        """Return events of a session that are no piece of anything streamed, in order.

        `before`: only those with a smaller number, and of these the last. `after`: without `before`: only
        those with a greater number, and of these the first.
        """
        where = f"session_id = ? AND kind NOT IN ({placeholders(STREAMED_KINDS)})"
        number, order = (after, "> ? ORDER BY sequence_number") if before is None else (before, _BACKWARDS)
        where = f"{where} AND sequence_number {order} LIMIT ?"
        events = self._events(where, session_id, *STREAMED_KINDS, number, limit)
        return events if before is None else events[::-1]

    def turns_before(self, session_id: str, number: int) -> int:
        """Return how many turns of a session ended before its event with a number."""
        ended = "SELECT count(*) FROM event WHERE session_id = ? AND kind = 'turn.ended'"
        if 2 * number < self.last_sequence(session_id):
            return self._value(f"{ended} AND sequence_number < ?", session_id, number) or 0
        # An index counts all of them: the end of a long session is shown without reading its beginning.
        later = self._value(f"{ended} AND sequence_number >= ?", session_id, number) or 0
        return (self._value(ended, session_id) or 0) - later

    def call_count(self, session_id: str) -> int:
        return self._value("SELECT count(*) FROM call WHERE session_id = ?", session_id) or 0

    def call_events(self, call_id: str) -> list[Event]:
        return self._events("call_id = ? ORDER BY position", call_id)

    def step_events(self, run: str, step: str) -> list[Event]:
        """Return the events of one step of a run in order, without those of its items."""
        return self._events("session_id = ? AND step = ? ORDER BY sequence_number", run, step)

    def event_at(self, position: int) -> Event | None:
        return next(iter(self._events("position = ?", position)), None)

    def last_position(self) -> int:
        return self._value("SELECT max(position) FROM event") or 0

    def last_sequence(self, session_id: str) -> int:
        """Return the number of a session's newest event; 0 if it has none."""
        return self._value("SELECT max(sequence_number) FROM event WHERE session_id = ?", session_id) or 0

    def newest(self) -> int:
        return self._value(SELECT_NEWEST_TIME) or 0

    # --- rows ----------------------------------------------------------------------------------

    def sessions(
        self,
        workspace: str | None = None,
        *,
        status: Iterable[SessionStatus] | None = None,
        kinds: Iterable[SessionKind] | None = None,
        parent_id: str | None = None,
        archived: bool | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[Session]:
        """Return sessions, the last changed first.

        `workspace`: only of this workspace (its real path). `status`: only in one of these. `kinds`: only of
        one of these kinds. `parent_id`: only children of this session. `archived`: only archived ones, or
        only others. `offset`: after leaving out so many.
        """
        where = _Conditions()
        where.equal("workspace", workspace)
        where.one_of("status", status)
        where.one_of("kind", kinds)
        where.equal("parent_id", parent_id)
        where.equal("archived", archived)
        page = (-1 if limit is None else limit, offset)
        return self._rows(
            Session, f"{where} ORDER BY updated_at DESC, id LIMIT ? OFFSET ?", *where.bindings, *page
        )

    def session_of_telemetry(self, telemetry_id: str) -> Session | None:
        """Return the session that has a telemetry id (S4)."""
        rows = self._rows(Session, "WHERE telemetry_id = ? LIMIT 1", telemetry_id)
        return rows[0] if rows else None

    def driving_session(self, session_id: str) -> Session | None:
        """Return the session whose driver acts for a session: of a step its run, else itself; None: deleted.

        A step may work in a folder of its own, so only this one says to which workspace a step belongs.
        """
        session = self.session(session_id)
        while session is not None and session.kind == "step" and session.parent_id:
            session = self.session(session.parent_id)
        return session

    def prompts(self, workspace: str, limit: int) -> list[Event]:
        """Return what people said last in the newest sessions of a workspace, oldest first."""
        newest = "SELECT id FROM session WHERE workspace = ? ORDER BY updated_at DESC LIMIT ?"
        where = f"session_id IN ({newest}) AND {WAKES_DRIVER} AND kind = 'prompt.submitted'"
        order = "ORDER BY position DESC LIMIT ?"
        return self._events(f"{where} {order}", workspace, _SESSIONS_OF_PROMPTS, limit)[::-1]

    def dismissals(self, workspace: str) -> list[Event]:
        """Return what was said in all lists of a workspace of incidents that will not be fixed."""
        lists = "SELECT id FROM session WHERE workspace = ? AND kind = 'incidents'"
        own = "kind = 'incident.dismissed' AND recorded_at IS NULL"
        return self._events(f"session_id IN ({lists}) AND {own} ORDER BY position", workspace)

    def driven(self, host_id: str, workspace: str) -> list[Session]:
        """Return the sessions of a workspace that a driver has not given back, the last changed first."""
        # The plus has SQLite begin with the few leases and not with all sessions of a workspace.
        is_leased = "id IN (SELECT session_id FROM lease WHERE host_id = ? AND NOT released)"
        where = f"WHERE {is_leased} AND +workspace = ? ORDER BY updated_at DESC, id"
        return self._rows(Session, where, host_id, workspace)

    def last_calls(self, session_id: str, limit: int) -> list[Call]:
        """Return the calls of a session that were asked for last, in the order they were asked for."""
        calls = self._rows(Call, "WHERE session_id = ? ORDER BY rowid DESC LIMIT ?", session_id, limit)
        calls.reverse()  # of two with the same place the one that came first stands first, as in a fold
        return sorted(calls, key=lambda call: (call.requested_at, call.ordinal))

    def calls(
        self,
        session_id: str,
        states: Iterable[CallState] | None = None,
        *,
        turn_id: str | None = None,
        provider_call_id: str | None = None,
    ) -> list[Call]:
        """Return calls of a session in the order they were asked for: all, of a turn, or of a model's id."""
        where = _Conditions()
        where.equal("session_id", session_id)
        where.one_of("state", states)
        where.equal("turn_id", turn_id)
        where.equal("provider_call_id", provider_call_id)
        return self._rows(Call, f"{where} ORDER BY requested_at, ordinal, rowid", *where.bindings)

    def actions(
        self, session_id: str | None = None, states: Iterable[ActionState] | None = None
    ) -> list[Action]:
        """Return actions in the order they were opened."""
        where = _Conditions()
        where.equal("session_id", session_id)
        where.one_of("state", states)
        return self._rows(Action, f"{where} ORDER BY opened_at", *where.bindings)

    def due(self, now: int) -> list[Action]:
        """Return the pending actions whose time has run out."""
        return self._rows(Action, WHERE_DUE, now)

    def trusted(self, workspace: str) -> Event | None:
        where = "session_id = ? AND kind = 'workspace.trusted' AND json_extract(body, '$.workspace') = ?"
        newest = f"{where} ORDER BY sequence_number DESC LIMIT 1"
        return next(iter(self._events(newest, SYSTEM_SESSION, workspace)), None)

    def pipeline_states(self, workspace: str | None = None, limit: int | None = None) -> list[PipelineState]:
        """Return the pipeline runs of a workspace, or of all, the newest first."""
        where = (
            "" if workspace is None else "WHERE pipeline_id IN (SELECT id FROM session WHERE workspace = ?)"
        )
        bindings = () if workspace is None else (workspace,)
        order = f"{where} ORDER BY created_at DESC, rowid DESC LIMIT ?"
        return self._rows(PipelineState, order, *bindings, -1 if limit is None else limit)

    def step_state(self, run: str, step: str) -> StepState | None:
        return self._row(StepState, step_key(run, step))

    def step_states(self, run: str) -> list[StepState]:
        """Return the steps of a run in the order of its file, items of a matrix behind their step."""
        order = "WHERE pipeline_id = ? ORDER BY ordinal, matrix != '', rowid"
        return self._rows(StepState, order, run)

    def own_step_states(self, run: str) -> list[StepState]:
        """Return the steps of a run in order, without the items of its matrices."""
        return self._rows(StepState, "WHERE pipeline_id = ? AND matrix = '' ORDER BY ordinal, rowid", run)

    def failed_items(self, run: str, matrix: str, limit: int) -> list[StepState]:
        """Return the first items of a matrix that failed, tolerated failures among them."""
        where = (
            "WHERE pipeline_id = ? AND matrix = ? AND (state = 'failed' OR is_warned) ORDER BY rowid LIMIT ?"
        )
        return self._rows(StepState, where, run, matrix, limit)

    def hosts(self) -> list[Host]:
        """Return every driver that was ever started, the newest first."""
        return self._rows(Host, "ORDER BY started_at DESC, id")

    def awaiting(self, workspace: str) -> list[Session]:
        """Return sessions of a workspace that something was asked of since they were last given back.

        Those of kind `ask` have nobody who waits for them once their program is gone.
        """
        order = "ORDER BY position DESC LIMIT 1"
        last = f"(SELECT kind FROM event WHERE session_id = session.id AND {WAKES_DRIVER} {order})"  # noqa: S608 ours
        is_asked = "(state = 'pending' AND session.kind = 'supervised')"  # by an agent that may be gone
        is_open = (
            f"EXISTS (SELECT 1 FROM call WHERE session_id = session.id AND (state IN (?, ?) OR {is_asked}))"  # noqa: S608
        )
        live = "status NOT IN ('completed', 'failed', 'terminated')"
        is_here = "(session.kind = 'supervised' AND NOT is_agent_gone)"  # as far as is recorded
        is_due = f"({last} != 'lease.released' OR {is_open} OR {is_here})"
        where = f"WHERE workspace = ? AND kind != 'ask' AND {live} AND {is_due}"
        return self._rows(Session, f"{where} ORDER BY created_at", workspace, "approved", "executing")

    # --- connections ---------------------------------------------------------------------------

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for database in idle:
            database.close()

    @contextlib.contextmanager
    def snapshot(self) -> Generator[Database, None, None]:
        """Lend a connection for one question or several."""
        with self._lock:
            if self._is_closed:
                raise JournalClosed("the journal was not read", "it is closed", "open it again")
            database = self._idle.pop() if self._idle else None
        try:
            if database is None:
                database = connect(self._database, query_only=True)
            yield database
        except BaseException as error:
            if database is not None:
                database.close()
            if isinstance(error, apsw.Error):
                raise (as_journal_error(error) or error) from error
            raise
        with self._lock:
            is_kept = not self._is_closed and len(self._idle) < _MOST_IDLE_CONNECTIONS
            if is_kept:
                self._idle.append(database)
        if not is_kept:
            database.close()

    def _events(self, where: str, *values: SqlValue) -> list[Event]:
        return [decode_event(columns) for columns in self._all(f"{SELECT_EVENTS} WHERE {where}", *values)]

    def _all(self, statement: str, *values: SqlValue) -> list[SqlRow]:
        with self.snapshot() as database:
            return database.execute(statement, values).fetchall()

    def _value(self, statement: str, *values: SqlValue) -> Any:
        with self.snapshot() as database:
            return database.execute(statement, values).get

    def _row(self, row: type[AnyRow], key: str) -> Any:
        rows = self._rows(row, f"WHERE {ROW_KEYS[row]} = ?", key)
        return rows[0] if rows else None

    def _rows(self, row: type[AnyRow], rest: str, *values: SqlValue) -> list[Any]:
        return [
            row_from_values(row, columns) for columns in self._all(f"{select_statement(row)} {rest}", *values)
        ]


class _Conditions:
    def __init__(self) -> None:
        self._parts: list[str] = []
        self.bindings: list[SqlValue] = []

    def equal(self, column: str, value: SqlValue) -> None:
        if value is not None:
            self._parts.append(f"{column} = ?")
            self.bindings.append(value)

    def one_of(self, column: str, values: Iterable[str] | None) -> None:
        if values is not None:
            listed = list(values)
            self._parts.append(f"{column} IN ({placeholders(listed)})")
            self.bindings += listed

    def __str__(self) -> str:
        return f"WHERE {' AND '.join(self._parts)}" if self._parts else ""


INDEX_ROW_TYPES: Final[tuple[type[AnyRow], ...]] = (
    Session,
    Call,
    Action,
    Rule,
    Trust,
    AgentHold,
    PipelineState,
    StepState,
)
"""The tables that hold nothing but what the events say."""
_CAPITAL: Final = re.compile(r"(?<!^)(?=[A-Z])")


_MOST_IDS: Final = 500


def id_chunks(ids: Iterable[str]) -> Iterator[list[str]]:
    """Yield different ids in lists that one statement takes."""
    listed = list(dict.fromkeys(ids))
    return (listed[start : start + _MOST_IDS] for start in range(0, len(listed), _MOST_IDS))


def placeholders(values: Collection[object]) -> str:
    """Return a question mark for each value, for `IN (…)` and `VALUES (…)`."""
    return ", ".join("?" * len(values))


def table_name(row: type[AnyRow]) -> str:
    """Return the table of a row class: `PipelineState` is `pipeline_state`."""
    return _CAPITAL.sub("_", row.__name__).lower()


@functools.cache
def column_names(row: type[AnyRow]) -> tuple[str, ...]:
    """Return the columns of a row class, in the order of its fields."""
    return row.__struct_fields__


def row_to_values(row: AnyRow) -> list[SqlValue]:
    return [_column_value(row, column) for column in column_names(type(row))]


_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def insert_row(database: Database, row: AnyRow) -> None:
    cls = type(row)
    database.execute(_insert_statement(cls), [_column_value(row, column) for column in column_names(cls)])


def update_row(database: Database, old: AnyRow, new: AnyRow) -> None:
    """Store what differs between two states of one row; nothing if nothing does."""
    cls = type(new)
    pairs = zip(column_names(cls), astuple(old), astuple(new), strict=True)
    changed = tuple(column for column, before, after in pairs if before is not after and before != after)
    if changed:
        key = getattr(new, ROW_KEYS[cls])
        database.execute(
            _update_statement(cls, changed), [*(_column_value(new, column) for column in changed), key]
        )


def delete_rows(database: Database, row: type[AnyRow], where: str = "true", *values: str) -> None:
    """Remove the rows that a condition selects; all without one."""
    database.execute(f"DELETE FROM {table_name(row)} WHERE {where}", values)  # noqa: S608 our own names


@functools.cache
def _insert_statement(row: type[AnyRow]) -> str:
    columns = column_names(row)
    return f"INSERT INTO {table_name(row)} ({', '.join(columns)}) VALUES ({placeholders(columns)})"  # noqa: S608 as above


@functools.lru_cache(maxsize=1024)
def _update_statement(row: type[AnyRow], changed: tuple[str, ...]) -> str:
    fields = ", ".join(f"{column} = ?" for column in changed)
    return f"UPDATE {table_name(row)} SET {fields} WHERE {ROW_KEYS[row]} = ?"  # noqa: S608 as above


def _column_value(row: AnyRow, column: str) -> SqlValue:
    value = getattr(row, column)
    if value is None or isinstance(value, str | int | float):
        return value
    return _encode(to_json_value(value))


@functools.cache
def _decoded_columns(row: type[AnyRow]) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    hints = typing.get_type_hints(row)
    readers = ((column, _column_decoder(hints[column])) for column in column_names(row))
    return tuple((column, read) for column, read in readers if read is not None)


def _column_decoder(hint: Any) -> Callable[[Any], Any] | None:
    whole = hint
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        (hint,) = (part for part in typing.get_args(hint) if part is not type(None))
    if hint is bool:
        return bool
    is_plain = hint in (str, int, float) or typing.get_origin(hint) is typing.Literal
    return None if is_plain else json_decoder(whole)
