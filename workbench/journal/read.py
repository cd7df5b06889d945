"""What is read back from the journal: events by position or number, and rows of the index tables.

Owns the SQL of every question that is asked outside of a transaction. No read transaction stays open
between two calls, so a reader never keeps the WAL from being checkpointed.
"""

import contextlib
import threading
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, cast

import apsw

from workbench.domain.codec import trusted_actor, trusted_body
from workbench.domain.events import Event
from workbench.domain.machines import ActionState, CallState, SessionStatus
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
    step_key,
)
from workbench.domain.values import SYSTEM_SESSION, SessionKind
from workbench.journal import sql, tables
from workbench.journal.errors import JournalClosed, translate
from workbench.journal.schema import WAKE

EVENTS: Final = (
    "SELECT position, id, session_id, sequence_number, at, recorded_at, actor, turn_id, call_id,"
    " action_id, step, kind, body FROM event"
)
"""The columns that `decode` reads."""

NEWEST: Final = "SELECT coalesce(recorded_at, at) FROM event ORDER BY position DESC LIMIT 1"
"""When the newest event was stored."""

_KEPT: Final = 4
_SESSIONS_OF_PROMPTS: Final = 20
STREAMED: Final = ("text.streamed", "thinking.streamed", "output.streamed", "progress.reported")
"""Kinds that are pieces of something; no row changes with them."""
_BACKWARDS: Final = "< ? ORDER BY sequence_number DESC"


def decode(values: Sequence[Any]) -> Event:
    """Build an event from the values of `EVENTS`, trusting that this program stored them."""
    position, key, session, number, at, recorded, actor, turn, call, action, step, kind, text = values
    body, raw = trusted_body(kind, text)
    draft = _Draft()
    draft.id, draft.session_id, draft.at, draft.actor = key, session, at, trusted_actor(actor)
    draft.body, draft.position, draft.sequence_number = body, position, number
    draft.turn_id, draft.call_id, draft.action_id, draft.step = turn, call, action, step
    draft.recorded_at, draft.raw = recorded, raw
    return _frozen(draft)


def numbered(event: Event, position: int, number: int) -> Event:
    """Return an event as it is stored under a position and a number."""
    draft = _Draft()
    draft.id, draft.session_id, draft.at, draft.actor = event.id, event.session_id, event.at, event.actor
    draft.body, draft.position, draft.sequence_number = event.body, position, number
    draft.turn_id, draft.call_id, draft.action_id = event.turn_id, event.call_id, event.action_id
    draft.step, draft.recorded_at, draft.raw = event.step, event.recorded_at, event.raw
    return _frozen(draft)


class _Draft:
    """An event while it is filled.

    A frozen dataclass sets each of its 13 fields through `object.__setattr__`, 2.5 µs an event; a class of
    the same slots is filled in 0.4 µs and becomes an event by a change of class, which CPython allows
    between equal layouts.
    """

    __slots__ = (
        "action_id",
        "actor",
        "at",
        "body",
        "call_id",
        "id",
        "position",
        "raw",
        "recorded_at",
        "sequence_number",
        "session_id",
        "step",
        "turn_id",
    )  # fmt: skip


def _frozen(draft: _Draft) -> Event:
    draft.__class__ = cast("type[_Draft]", Event)
    return cast("Event", draft)


class Reader:
    """Ask the journal; any thread may, each question with a connection of its own."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._idle: list[sql.Database] = []
        self._lock = threading.Lock()
        self._is_closed = False

    # --- events --------------------------------------------------------------------------------

    def events(self, session_id: str | None = None, after: int = 0, limit: int | None = None) -> list[Event]:
        """Return events in order of position.

        Args:
            session_id: Only of this session.
            after: Only those with a greater position.
            limit: At most so many.
        """
        most = -1 if limit is None else limit
        if session_id is None:
            found = self._all(f"{EVENTS} WHERE position > ? ORDER BY position LIMIT ?", after, most)
        elif after == 0:
            order = "ORDER BY sequence_number LIMIT ?"
            found = self._all(f"{EVENTS} WHERE session_id = ? {order}", session_id, most)
        else:
            # The plus keeps SQLite from walking the session from its start to find a late position.
            where = "WHERE +session_id = ? AND position > ? ORDER BY position LIMIT ?"
            found = self._all(f"{EVENTS} {where}", session_id, after, most)
        return [decode(values) for values in found]

    def window(self, session_id: str, first_sequence: int, count: int) -> list[Event]:
        """Return events of a session by their number, from `first_sequence` on."""
        where = "WHERE session_id = ? AND sequence_number >= ? ORDER BY sequence_number LIMIT ?"
        return [
            decode(values) for values in self._all(f"{EVENTS} {where}", session_id, first_sequence, count)
        ]

    def lasting(
        self, session_id: str, *, before: int | None = None, after: int = 0, limit: int
    ) -> list[Event]:
        """Return events of a session that are no piece of anything streamed, in order.

        Args:
            session_id: Which.
            before: Only those with a smaller number, and of these the last.
            after: Without `before`: only those with a greater number, and of these the first.
            limit: At most so many.
        """
        where = f"WHERE session_id = ? AND kind NOT IN ({', '.join('?' * len(STREAMED))})"
        number, order = (after, "> ? ORDER BY sequence_number") if before is None else (before, _BACKWARDS)
        found = self._all(
            f"{EVENTS} {where} AND sequence_number {order} LIMIT ?", session_id, *STREAMED, number, limit
        )
        return [decode(values) for values in (found if before is None else reversed(found))]

    def turns_before(self, session_id: str, number: int) -> int:
        """Return how many turns of a session ended before its event with a number."""
        ended = "SELECT count(*) FROM event WHERE session_id = ? AND kind = 'turn.ended'"
        if 2 * number < self.last_sequence(session_id):
            return self._value(f"{ended} AND sequence_number < ?", session_id, number) or 0
        # An index counts all of them: the end of a long session is shown without reading its beginning.
        later = self._value(f"{ended} AND sequence_number >= ?", session_id, number) or 0
        return (self._value(ended, session_id) or 0) - later

    def call_count(self, session_id: str) -> int:
        """Return how many calls a session has."""
        return self._value("SELECT count(*) FROM call WHERE session_id = ?", session_id) or 0

    def call_events(self, call_id: str) -> list[Event]:
        """Return the events of one call in order."""
        return [
            decode(values) for values in self._all(f"{EVENTS} WHERE call_id = ? ORDER BY position", call_id)
        ]

    def step_events(self, run: str, step: str) -> list[Event]:
        """Return the events of one step of a run in order, without those of its items."""
        where = "WHERE session_id = ? AND step = ? ORDER BY sequence_number"
        return [decode(values) for values in self._all(f"{EVENTS} {where}", run, step)]

    def event_at(self, position: int) -> Event | None:
        """Return the event at a position; None if it was deleted or never was."""
        found = self._all(f"{EVENTS} WHERE position = ?", position)
        return decode(found[0]) if found else None

    def last_position(self) -> int:
        """Return the newest position; 0 in an empty journal."""
        return self._value("SELECT max(position) FROM event") or 0

    def last_sequence(self, session_id: str) -> int:
        """Return the number of a session's newest event; 0 if it has none."""
        return self._value("SELECT max(sequence_number) FROM event WHERE session_id = ?", session_id) or 0

    def newest(self) -> int:
        """Return when the newest event was stored; 0 in an empty journal."""
        return self._value(NEWEST) or 0

    # --- rows ----------------------------------------------------------------------------------

    def session(self, key: str) -> Session | None:
        """Return a session by id."""
        return self._row(Session, key)

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

        Args:
            workspace: Only of this workspace (its real path).
            status: Only in one of these.
            kinds: Only of one of these kinds.
            parent_id: Only children of this session.
            archived: Only archived ones, or only others.
            limit: At most so many.
            offset: After leaving out so many.
        """
        where = _Where()
        where.equal("workspace", workspace)
        where.one_of("status", status)
        where.one_of("kind", kinds)
        where.equal("parent_id", parent_id)
        where.equal("archived", archived)
        page = (-1 if limit is None else limit, offset)
        return self._rows(
            Session, f"{where} ORDER BY updated_at DESC, id LIMIT ? OFFSET ?", *where.given, *page
        )

    def prompts(self, workspace: str, limit: int) -> list[Event]:
        """Return what people said last in the newest sessions of a workspace, oldest first."""
        newest = "SELECT id FROM session WHERE workspace = ? ORDER BY updated_at DESC LIMIT ?"
        where = f"WHERE session_id IN ({newest}) AND {WAKE} AND kind = 'prompt.submitted'"
        order = "ORDER BY position DESC LIMIT ?"
        found = self._all(f"{EVENTS} {where} {order}", workspace, _SESSIONS_OF_PROMPTS, limit)
        return [decode(values) for values in reversed(found)]

    def driven(self, host_id: str, workspace: str) -> list[Session]:
        """Return the sessions of a workspace that a driver has not given back, the last changed first."""
        # The plus has SQLite begin with the few leases and not with all sessions of a workspace.
        held = "id IN (SELECT session_id FROM lease WHERE host_id = ? AND NOT released)"
        where = f"WHERE {held} AND +workspace = ? ORDER BY updated_at DESC, id"
        return self._rows(Session, where, host_id, workspace)

    def call(self, key: str) -> Call | None:
        """Return a call by id."""
        return self._row(Call, key)

    def last_calls(self, session_id: str, limit: int) -> list[Call]:
        """Return the calls of a session that were asked for last, in the order they were asked for."""
        found = self._rows(Call, "WHERE session_id = ? ORDER BY rowid DESC LIMIT ?", session_id, limit)
        found.reverse()  # of two with the same place the one that came first stands first, as in a fold
        return sorted(found, key=lambda call: (call.requested_at, call.ordinal))

    def calls(self, session_id: str, states: Iterable[CallState] | None = None) -> list[Call]:
        """Return the calls of a session in the order they were asked for."""
        where = _Where()
        where.equal("session_id", session_id)
        where.one_of("state", states)
        return self._rows(Call, f"{where} ORDER BY requested_at, ordinal, rowid", *where.given)

    def action(self, key: str) -> Action | None:
        """Return an action by id."""
        return self._row(Action, key)

    def actions(
        self, session_id: str | None = None, states: Iterable[ActionState] | None = None
    ) -> list[Action]:
        """Return actions in the order they were opened."""
        where = _Where()
        where.equal("session_id", session_id)
        where.one_of("state", states)
        return self._rows(Action, f"{where} ORDER BY opened_at", *where.given)

    def due(self, now: int) -> list[Action]:
        """Return the pending actions whose time has run out."""
        where = "WHERE state = 'pending' AND expires_at <= ? ORDER BY expires_at, opened_at"
        return self._rows(Action, where, now)

    def rules(self, now: int | None = None) -> list[Rule]:
        """Return rules in order of their numbers; with `now` only those in force then."""
        active = "WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) " if now else ""
        given = () if now is None else (now,)
        return self._rows(Rule, f"{active}ORDER BY created_at, rowid", *given)

    def rule(self, number: str) -> Rule | None:
        """Return a rule by its number, revoked or not."""
        return self._row(Rule, number)

    def trust(self, workspace: str) -> Trust | None:
        """Return what was last said about a workspace."""
        return self._row(Trust, workspace)

    def trusted(self, workspace: str) -> Event | None:
        """Return the event that last trusted a workspace."""
        where = "WHERE session_id = ? AND kind = 'workspace.trusted'"
        newest = "AND json_extract(body, '$.workspace') = ? ORDER BY sequence_number DESC LIMIT 1"
        found = self._all(f"{EVENTS} {where} {newest}", SYSTEM_SESSION, workspace)
        return decode(found[0]) if found else None

    def lease(self, session_id: str) -> Lease | None:
        """Return who drives a session, or did last."""
        return self._row(Lease, session_id)

    def pipeline_state(self, run: str) -> PipelineState | None:
        """Return a pipeline run by id."""
        return self._row(PipelineState, run)

    def pipeline_states(self, workspace: str | None = None, limit: int | None = None) -> list[PipelineState]:
        """Return the pipeline runs of a workspace, or of all, the newest first."""
        here = (
            "" if workspace is None else "WHERE pipeline_id IN (SELECT id FROM session WHERE workspace = ?)"
        )
        given = () if workspace is None else (workspace,)
        order = f"{here} ORDER BY created_at DESC, rowid DESC LIMIT ?"
        return self._rows(PipelineState, order, *given, -1 if limit is None else limit)

    def step_state(self, run: str, step: str) -> StepState | None:
        """Return a step of a run."""
        return self._row(StepState, step_key(run, step))

    def step_states(self, run: str) -> list[StepState]:
        """Return the steps of a run in the order of its file, items of a matrix behind their step."""
        order = "WHERE pipeline_id = ? ORDER BY ordinal, matrix != '', rowid"
        return self._rows(StepState, order, run)

    def hosts(self) -> list[Host]:
        """Return every driver that was ever started, the newest first."""
        return self._rows(Host, "ORDER BY started_at DESC, id")

    def awaiting(self, workspace: str) -> list[Session]:
        """Return sessions of a workspace that something was asked of since they were last given back."""
        order = "ORDER BY position DESC LIMIT 1"
        last = f"(SELECT kind FROM event WHERE session_id = session.id AND {WAKE} {order})"  # noqa: S608 ours
        is_open = "EXISTS (SELECT 1 FROM call WHERE session_id = session.id AND state IN (?, ?))"
        live = "status NOT IN ('completed', 'failed', 'terminated')"
        where = f"WHERE workspace = ? AND {live} AND ({last} != 'lease.released' OR {is_open})"
        return self._rows(Session, f"{where} ORDER BY created_at", workspace, "approved", "executing")

    # --- connections ---------------------------------------------------------------------------

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for database in idle:
            database.close()

    @contextlib.contextmanager
    def snapshot(self) -> Generator[sql.Database, None, None]:
        """Lend a connection for one question or several."""
        with self._lock:
            if self._is_closed:
                raise JournalClosed("the journal was not read", "it is closed", "open it again")
            database = self._idle.pop() if self._idle else None
        try:
            if database is None:
                database = sql.connect(self._database, query_only=True)
            yield database
        except BaseException as error:
            if database is not None:
                database.close()
            if isinstance(error, apsw.Error):
                raise (translate(error) or error) from error
            raise
        with self._lock:
            is_kept = not self._is_closed and len(self._idle) < _KEPT
            if is_kept:
                self._idle.append(database)
        if not is_kept:
            database.close()

    def _all(self, statement: str, *values: sql.Value) -> list[sql.Values]:
        with self.snapshot() as database:
            return database.execute(statement, values).fetchall()

    def _value(self, statement: str, *values: sql.Value) -> Any:
        found = self._all(statement, *values)
        return found[0][0] if found else None

    def _row(self, row: type[tables.AnyRow], key: str) -> Any:
        found = self._rows(row, f"WHERE {tables.KEYS[row]} = ?", key)
        return found[0] if found else None

    def _rows(self, row: type[tables.AnyRow], rest: str, *values: sql.Value) -> list[Any]:
        return [tables.load(row, found) for found in self._all(f"{tables.select(row)} {rest}", *values)]


class _Where:
    """Conditions of a list, those that were given."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.given: list[sql.Value] = []

    def equal(self, column: str, value: sql.Value) -> None:
        if value is not None:
            self._parts.append(f"{column} = ?")
            self.given.append(value)

    def one_of(self, column: str, values: Iterable[str] | None) -> None:
        if values is not None:
            listed = list(values)
            self._parts.append(f"{column} IN ({', '.join('?' * len(listed))})")
            self.given += listed

    def __str__(self) -> str:
        return f"WHERE {' AND '.join(self._parts)}" if self._parts else ""
