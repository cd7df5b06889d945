"""The index tables inside one transaction of the writer, and the invariants that an event must keep.

Lookups, changes and the checks belong to the writer's thread and to one transaction. Imports are not checked:
foreign histories are stored as they are.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain import fold
from workbench.domain.codec import blob_refs
from workbench.domain.events import (
    ActionApproved,
    ActionCancelled,
    ActionExpired,
    ActionOpened,
    ActionRejected,
    ActionSuperseded,
    AgentsReleased,
    AnswerRefused,
    ArtifactStored,
    CallExecuting,
    CallFinished,
    CallProposed,
    CallRepeated,
    ContractChecked,
    Event,
    FileChanged,
    LeaseReleased,
    LeaseTaken,
    RuleAdded,
    RulePlaced,
    RuleRevoked,
    RunChanged,
    RunRequested,
    RunStarted,
    SecurityNoted,
    SessionChanged,
    SessionCreated,
    SessionStatusChanged,
    StepChanged,
)
from workbench.domain.machines import (
    ACTION_MOVES,
    CALL_MOVES,
    COMPLETED_STEP_STATES,
    RUN_MOVES,
    SESSION_MOVES,
    STEP_MOVES,
    TERMINAL_SESSION_STATES,
    IllegalMoveError,
    require_move,
)
from workbench.domain.rows import Action, Call, Host, Lease, StepState, step_key
from workbench.domain.values import SYSTEM_SESSION, Body
from workbench.journal import search, storage
from workbench.journal.database import Database, SqlRow, SqlValue
from workbench.journal.errors import AgentsAreHeld, GuardFailed, SessionEnded, SessionUnknown
from workbench.journal.storage import SELECT_EVENTS, SELECT_NEWEST_TIME, decode_event, event_with_position
from workbench.journal.token_use_table import token_use_after
from workbench.text.human import DAY_MICROS, MINUTE_MICROS

RowsByKey = dict[tuple[type[storage.AnyRow], str], Any]
MOST_CACHED_ROWS: Final = 400
"""Rows that are kept from one transaction to the next."""


class CachedLookups(Struct, frozen=True):
    """What a transaction has looked up, as it stood when it was committed."""

    newest: int
    rows: RowsByKey
    sequences: dict[str, int]
    deleted: dict[str, bool]
    words: set[str]


class LookupCache:
    """What the writer's last transaction looked up, as long as nobody else has committed anything.

    `PRAGMA data_version` of a connection changes with every commit of another one, in this process or
    elsewhere, and not with its own: equal numbers on one connection mean that what was read there stands.
    """

    def __init__(self) -> None:
        self._database: Database | None = None
        self._version = 0
        self._lookups: CachedLookups | None = None

    def take(self, database: Database) -> CachedLookups | None:
        """Return what still stands, inside a transaction that has begun; it is gone from here until `put`."""
        version = int(database.execute("PRAGMA data_version").get)
        is_same = database is self._database and version == self._version
        lookups = self._lookups if is_same else None
        self._database, self._version, self._lookups = database, version, None
        return lookups

    def put(self, lookups: CachedLookups) -> None:
        """Keep what the transaction of the last `take` has looked up."""
        self._lookups = (
            lookups
            if len(lookups.rows) <= MOST_CACHED_ROWS
            else CachedLookups(lookups.newest, {}, {}, {}, lookups.words)
        )


class TransactionTables(storage.RowReader):
    """Rows as they stand at this point of the transaction; a `fold.RowLookup`."""

    def __init__(
        self,
        database: Database,
        now: int,
        has_blob: Callable[[str], bool],
        cache: "LookupCache | None" = None,
    ) -> None:
        """Look at the tables in a transaction that has begun.

        `has_blob`: whether stored bytes are there. `cache`: what an earlier transaction looked up; taken over
        if nothing was committed since elsewhere.
        """
        self.database = database
        self.has_blob = has_blob
        self._cache = cache or LookupCache()
        cached = self._cache.take(database)
        self.newest: int = (self.value(SELECT_NEWEST_TIME) or 0) if cached is None else cached.newest
        """When the newest event was stored; the times of what is appended never lie before it."""
        self.now = max(now, self.newest)
        """The wall clock, or the newest event if the clock was set back behind it."""
        self.has_written = False
        self._rows: RowsByKey = {} if cached is None else cached.rows
        self._sequences: dict[str, int] = {} if cached is None else cached.sequences
        self._deleted: dict[str, bool] = {} if cached is None else cached.deleted
        self._words: set[str] = set() if cached is None else cached.words
        self._held_rows: RowsByKey | None = None

    def keep(self) -> None:
        """Keep what was looked up for the next transaction; to be called once this one is committed."""
        self._cache.put(CachedLookups(self.newest, self._rows, self._sequences, self._deleted, self._words))

    def step_state(self, key: str) -> StepState | None:
        """Return a step of a run by `RUN/STEP`."""
        return self._row(StepState, key)

    def next_run_number(self, pipeline: str, workspace: str) -> int:
        return (self.value(_LAST_RUN_NUMBER, pipeline, workspace) or 0) + 1

    def host(self, key: str) -> Host | None:
        return self._row(Host, key)

    def due(self) -> list[Action]:
        """Return the pending actions whose time has run out."""
        rows = self.database.execute(f"{storage.select_statement(Action)} {storage.WHERE_DUE}", (self.now,))
        return [storage.row_from_values(Action, values) for values in rows]

    def event_at(self, position: int) -> Event | None:
        return self._event("position = ?", position)

    def events_after(self, session_id: str, position: int) -> list[Event]:
        """Return the events of a session behind a position, in order."""
        # The plus has the few newest events read by their position, not all of the session's.
        where = "WHERE position > ? AND +session_id = ? ORDER BY position"
        rows = self.database.execute(f"{SELECT_EVENTS} {where}", (position, session_id))
        return [decode_event(row) for row in rows]

    def stored(self, event_id: str) -> Event | None:
        return self._event("id = ?", event_id)

    def _event(self, where: str, value: SqlValue) -> Event | None:
        row = self.database.execute(f"{SELECT_EVENTS} WHERE {where}", (value,)).fetchone()
        return decode_event(row) if row else None

    def is_deleted(self, session_id: str) -> bool:
        if session_id not in self._deleted:
            tombstone = self.value(_TOMBSTONE, session_id)
            self._deleted[session_id] = tombstone is not None
        return self._deleted[session_id]

    def next_rule(self) -> str:
        """Return the next rule number; those of revoked rules are never used again."""
        return f"R{(self.value(_LAST_RULE_NUMBER) or 0) + 1}"

    def next_sequence(self, session_id: str) -> int:
        last = self._sequences.get(session_id)
        if last is None:
            last = self.value("SELECT max(sequence_number) FROM event WHERE session_id = ?", session_id) or 0
        self._sequences[session_id] = last + 1
        return last + 1

    def verdict_step(self, call_id: str) -> str:
        """Return the step at which the gate last spoke about a call; `request` is a human's own request."""
        return self.value(_LAST_VERDICT_STEP, call_id) or ""

    def last_position(self, session_id: str) -> int:
        """Return the position of a session's newest event; 0 if it has none."""
        newest = "SELECT position FROM event WHERE session_id = ? ORDER BY sequence_number DESC LIMIT 1"
        return self.value(newest, session_id) or 0

    def insert(self, event: Event, actor: str, body: str) -> Event:
        """Store an event that is not there yet, and return it with its position and number."""
        return self.insert_all([(event, actor, body)])[0]

    def insert_all(self, many: Sequence[tuple[Event, str, str]]) -> list[Event]:
        """Store events that are not there yet at once, each with its actor and body as text."""
        numbers = [self.next_sequence(event.session_id) for event, _, _ in many]
        rows = [
            (
                event.id, event.session_id, number, event.at, event.recorded_at, actor, event.turn_id,
                event.call_id, event.action_id, event.step, event.kind, body,
            )
            for number, (event, actor, body) in zip(numbers, many, strict=True)
        ]  # fmt: skip
        self.database.executemany(_INSERT_EVENT, rows)
        # Positions are counted on (AUTOINCREMENT), and nobody else writes inside this transaction.
        first = self.database.last_insert_rowid() - len(many) + 1
        times = (event.at if event.recorded_at is None else event.recorded_at for event, _, _ in many)
        self.newest = max(self.newest, *times)
        self.now = max(self.now, self.newest)
        self.has_written = True
        return [
            event_with_position(event, position, number)
            for position, number, (event, _, _) in zip(itertools.count(first), numbers, many, strict=False)
        ]

    def expect_call(self, key: str) -> None:
        """Note that no call has this id yet, so that nobody looks for it."""
        self._rows.setdefault((Call, key), None)

    def apply(self, event: Event) -> None:
        """Bring the tables to where they stand after an event."""
        for row in fold.apply_event(event, self):
            self.put(row)
        if isinstance(event.body, LeaseTaken | LeaseReleased):
            lease = lease_after_event(event, self.lease(event.session_id))
            if lease is not None:
                self.put(lease)
        used = token_use_after(event, self.session(event.session_id), self.token_use)
        if used is not None:
            self.put(used)
        search.index_event(self.database, event, self._words)
        for ref in blob_refs(event.body):
            self.database.execute("INSERT OR IGNORE INTO blob_ref VALUES (?, ?)", (ref, event.session_id))

    def put(self, row: storage.AnyRow) -> None:
        """Store a row under its key."""
        cls = type(row)
        key = getattr(row, storage.ROW_KEYS[cls])
        old = self._row(cls, key)
        if self._held_rows is not None:
            self._held_rows.setdefault((cls, key), old)
        else:
            self._write(old, row)
        self._rows[cls, key] = row
        self.has_written = True

    def _write(self, old: storage.AnyRow | None, row: storage.AnyRow) -> None:
        if old is None:
            storage.insert_row(self.database, row)
        else:
            storage.update_row(self.database, old, row)

    def hold(self) -> None:
        """Keep changed rows here until `flush`: hundreds of events of one session change its row as often."""
        self._held_rows = {}

    def flush(self) -> None:
        """Write the rows that were held, each once."""
        held_rows, self._held_rows = self._held_rows or {}, None
        for key, old in held_rows.items():
            self._write(old, self._rows[key])

    def forget(self) -> None:
        """Look everything up anew: what was written last has been taken back."""
        self._held_rows = None
        self._rows.clear()
        self._sequences.clear()
        self._deleted.clear()
        self._words.clear()
        self.newest = self.value(SELECT_NEWEST_TIME) or 0

    def value(self, statement: str, *values: SqlValue) -> Any:
        return self.database.execute(statement, values).get

    def all(self, statement: str, *values: SqlValue) -> list[SqlRow]:
        return self.database.execute(statement, values).fetchall()

    def _row(self, row: type[storage.AnyRow], key: str) -> Any:
        if (row, key) not in self._rows:
            statement = f"{storage.select_statement(row)} WHERE {storage.ROW_KEYS[row]} = ?"
            values = self.database.execute(statement, (key,)).fetchone()
            self._rows[row, key] = storage.row_from_values(row, values) if values else None
        return self._rows[row, key]


def lease_after_event(event: Event, lease: Lease | None) -> Lease | None:
    """Return the lease that an event makes or changes, as it stands after it."""
    body = event.body
    if isinstance(body, LeaseTaken):
        return Lease(
            session_id=event.session_id, host_id=body.host_id, epoch=body.epoch, pid=body.pid,
            driver=body.driver, taken_at=event.at,
        )  # fmt: skip
    if not isinstance(body, LeaseReleased) or lease is None:
        return None
    is_same = (lease.host_id, lease.epoch) == (body.host_id, body.epoch)
    return replace(lease, released=True) if is_same else None


_INSERT_EVENT = (
    "INSERT INTO event (id, session_id, sequence_number, at, recorded_at, actor, turn_id, call_id, action_id,"
    " step, kind, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_TOMBSTONE = "SELECT 1 FROM event WHERE kind = 'session.deleted' AND json_extract(body, '$.deleted_id') = ?"
_LAST_VERDICT_STEP = (
    "SELECT json_extract(body, '$.verdict.step') FROM event"
    " WHERE call_id = ? AND kind = 'call.proposed' ORDER BY position DESC LIMIT 1"
)
_LAST_RULE_NUMBER = "SELECT max(CAST(substr(id, 2) AS INTEGER)) FROM rule WHERE id GLOB 'R[0-9]*'"
_LAST_RUN_NUMBER = (
    "SELECT max(p.number) FROM pipeline_state AS p JOIN session AS s ON s.id = p.pipeline_id"
    " WHERE p.pipeline_name = ? AND s.workspace = ?"
)
ALLOWED_AFTER_END: Final[tuple[type[Body], ...]] = (
    AnswerRefused, SessionChanged, SecurityNoted,
    # What was already under way when the session ended: its outcome is a fact, and questions close.
    CallFinished, FileChanged, ActionExpired, ActionCancelled, LeaseReleased,
)  # fmt: skip
LONGEST_WINDOW: Final = DAY_MICROS
"""Microseconds; the longest window that the configuration allows."""


def require_not_deleted(event: Event, live: TransactionTables) -> None:
    """Refuse an event for a session that was deleted: its id is never used again.

    Raises SessionUnknown: it was deleted.
    """
    if event.session_id != SYSTEM_SESSION and live.is_deleted(event.session_id):
        raise SessionUnknown(
            _not_written(event), f"session {event.session_id} was deleted", "use a new session id"
        )


def require_legal_event(event: Event, live: TransactionTables) -> None:
    """Refuse an event that its session, call or action does not allow as they stand.

    Raises SessionUnknown: there is no such session; SessionEnded: the session takes no more events;
    IllegalMoveError: a state machine does not allow the move; GuardFailed: what the event is about does not
    exist, or exists already.
    """
    if event.session_id != SYSTEM_SESSION:
        _require_session(event, live)
    check = _INVARIANTS.get(type(event.body))
    if check:
        check(event, live)


def _not_written(event: Event) -> str:
    return _NOT_DONE.get(event.kind, f"{event.kind} was not written")


_NOT_DONE: Final = {
    "agents.released": "the agents were not released",
    "rule.added": "the rule was not added", "rule.revoked": "the rule was not revoked",
    "prompt.submitted": "the message was not sent", "prompt.withdrawn": "the message was not taken back",
    "prompts.reordered": "the messages were not reordered", "session.created": "the session was not started",
    "session.deleted": "the session was not deleted", "run.started": "the run was not started",
}  # fmt: skip
"""What a person asked for, by the kind of the event; of all others only a driver reads the refusal."""


def _require_session(event: Event, live: TransactionTables) -> None:
    session = live.session(event.session_id)
    if isinstance(event.body, SessionCreated):
        require_not_deleted(event, live)
        if session is not None:
            raise GuardFailed(_not_written(event), f"session {session.id} exists", "use a new session id")
    elif session is None:
        why = f"there is no session {event.session_id}"
        raise SessionUnknown(_not_written(event), why, "check the id with workbench sessions list")
    elif session.status in TERMINAL_SESSION_STATES and not isinstance(event.body, ALLOWED_AFTER_END):
        why = f"session {session.id} is {session.status}"
        raise SessionEnded(_not_written(event), why, "start or fork a session")


def _status_changed(event: Event, live: TransactionTables) -> None:
    assert isinstance(event.body, SessionStatusChanged)
    if session := live.session(event.session_id):
        require_move("session", SESSION_MOVES, session.status, event.body.status)


def _call_proposed(event: Event, live: TransactionTables) -> None:
    if event.call_id is None:
        raise GuardFailed(_not_written(event), "it names no call", "report this as a bug")
    call = live.call(event.call_id)
    if call and call.state != "pending":
        raise IllegalMoveError("call", call.state, "pending")


def _required_call(event: Event, live: TransactionTables) -> Call:
    call = live.call(event.call_id or "")
    if call is None:
        raise GuardFailed(_not_written(event), f"there is no call {event.call_id}", "report this as a bug")
    return call


_STEPS_BEYOND_HOLD: Final = ("request", "agent")
"""A human's own request, and a call that its agent has made already: it is only noted that it ran."""


def _call_executing(event: Event, live: TransactionTables) -> None:
    assert isinstance(event.body, CallExecuting)
    call, use = _required_call(event, live), event.body.sandbox
    require_move("call", CALL_MOVES, call.state, "executing")
    if call.place == "inside" and (use is None or use.place == "outside"):
        why = "it was allowed inside the sandbox only"
        raise GuardFailed(_not_written(event), why, "propose it again, and ask to run it outside")
    if call.approved_until is not None and live.now >= call.approved_until:
        why = "its approval has lapsed"
        raise GuardFailed(_not_written(event), why, "cancel the call; it can be proposed again")
    is_judged = live.are_agents_held and live.verdict_step(call.id) not in _STEPS_BEYOND_HOLD
    if is_judged and call.approval_method != "manual":
        raise AgentsAreHeld(_not_written(event), "all agents are held", "ask a human about the call")


def _call_finished(event: Event, live: TransactionTables) -> None:
    assert isinstance(event.body, CallFinished)
    require_move("call", CALL_MOVES, _required_call(event, live).state, event.body.state)


def _call_repeated(event: Event, live: TransactionTables) -> None:
    _required_call(event, live)


def _action_opened(event: Event, live: TransactionTables) -> None:
    body = event.body
    assert isinstance(body, ActionOpened)
    if event.action_id is None or live.action(event.action_id) is not None:
        why = f"action {event.action_id} exists or has no id"
        raise GuardFailed(_not_written(event), why, "open it under a new id")
    _require_window(event, body)
    if body.action_kind == "trust" and not {"workspace", "content_hash"} <= body.subject.keys():
        why = "it does not say which workspace and which files it is about"
        raise GuardFailed(_not_written(event), why, "report this as a bug")
    if call := live.call(event.call_id or ""):
        require_move("call", CALL_MOVES, call.state, "approved")
        before = live.action(call.action_id or "")
        if before and before.state == "pending":
            why = f"action {before.id} of this call is open"
            raise GuardFailed(_not_written(event), why, "supersede it in the same append")


def _require_window(event: Event, body: ActionOpened) -> None:
    if body.expires_at is None:
        return
    window = body.expires_at - body.created_at
    if window < 0 or (body.action_kind == "tool" and window > LONGEST_WINDOW):
        why = f"its window is {window / MINUTE_MICROS:g} minutes"
        raise GuardFailed(_not_written(event), why, "set approvals.window_minutes to at most 1440")


def _required_action(event: Event, live: TransactionTables) -> Action:
    action = live.action(event.action_id or "")
    if action is None:
        why = f"there is no action {event.action_id}"
        raise GuardFailed(_not_written(event), why, "check the id with workbench approvals list")
    return action


def _action_moves(state: str) -> Callable[[Event, TransactionTables], None]:
    def check(event: Event, live: TransactionTables) -> None:
        require_move("action", ACTION_MOVES, _required_action(event, live).state, state)

    return check


def _answer_moves(state: str) -> Callable[[Event, TransactionTables], None]:
    def check(event: Event, live: TransactionTables) -> None:
        action = _required_action(event, live)
        require_move("action", ACTION_MOVES, action.state, state)
        if call := live.call(action.call_id or ""):
            require_move("call", CALL_MOVES, call.state, state)

    return check


def _rule_added(event: Event, live: TransactionTables) -> None:
    assert isinstance(event.body, RuleAdded)
    if live.rule(event.body.rule) is not None:
        why = f"rule {event.body.rule} exists; numbers are never used again"
        raise GuardFailed(_not_written(event), why, "take the next number")


def _rule_revoked(event: Event, live: TransactionTables) -> None:
    assert isinstance(event.body, RuleRevoked)
    if live.rule(event.body.rule) is None:
        why = f"there is no rule {event.body.rule}"
        raise GuardFailed(_not_written(event), why, "check the number with workbench rules list")


def _rule_placed(event: Event, live: TransactionTables) -> None:
    assert isinstance(event.body, RulePlaced)
    if event.actor.kind != "user":
        raise GuardFailed(_not_written(event), "only a human places a rule", "use workbench rules place")
    if live.rule(event.body.rule) is None:
        why = f"there is no rule {event.body.rule}"
        raise GuardFailed(_not_written(event), why, "check the number with workbench rules list")


def _agents_released(event: Event, live: TransactionTables) -> None:
    del live
    if event.actor.kind != "user":
        raise GuardFailed(_not_written(event), "only a human ends a hold", "use workbench release")


def _lease_taken(event: Event, live: TransactionTables) -> None:
    assert isinstance(event.body, LeaseTaken)
    lease = live.lease(event.session_id)
    before = lease.epoch if lease else 0
    if event.body.epoch != before + 1:
        why = f"the lease stands at epoch {before}"
        raise GuardFailed(_not_written(event), why, "take the lease again")


def _run_requested(event: Event, live: TransactionTables) -> None:
    session = live.session(event.session_id)
    if session is None or session.kind != "pipeline" or live.pipeline_state(session.id) is not None:
        raise GuardFailed(
            _not_written(event), "its session is not a new pipeline run", "report this as a bug"
        )


def _run_started(event: Event, live: TransactionTables) -> None:
    assert isinstance(event.body, RunStarted)
    run = live.pipeline_state(event.session_id)
    if run is None or run.status == "completed" or event.body.round != run.round + 1:
        state = (
            f"run {event.session_id} is in round {run.round}, {run.status}" if run else "there is no such run"
        )
        raise GuardFailed(_not_written(event), state, "look at the run with workbench pipeline status")


def _run_changed(event: Event, live: TransactionTables) -> None:
    assert isinstance(event.body, RunChanged)
    run = live.pipeline_state(event.session_id)
    require_move("run", RUN_MOVES, run.status if run else "", event.body.status)


def _step_changed(event: Event, live: TransactionTables) -> None:
    body = event.body
    assert isinstance(body, StepChanged)
    step = live.step_state(step_key(event.session_id, event.step or ""))
    if step is None and live.step_state(step_key(event.session_id, body.matrix)) is None:
        raise GuardFailed(_not_written(event), f"the run has no step {event.step}", "report this as a bug")
    require_move("step", STEP_MOVES, step.state if step else "pending", body.state)


def _step_is_open(event: Event, live: TransactionTables) -> None:
    step = live.step_state(step_key(event.session_id, event.step or ""))
    is_late = (
        step is not None and step.state in COMPLETED_STEP_STATES and isinstance(event.body, ContractChecked)
    )
    if step is None or is_late:
        state = step.state if step else "not there"
        why = f"step {event.step} is {state}"
        raise GuardFailed(_not_written(event), why, "report this as a bug")


_INVARIANTS: Final[dict[type[Body], Callable[[Event, TransactionTables], None]]] = {
    SessionStatusChanged: _status_changed,
    CallProposed: _call_proposed,
    CallExecuting: _call_executing,
    CallFinished: _call_finished,
    CallRepeated: _call_repeated,
    ActionOpened: _action_opened,
    ActionApproved: _answer_moves("approved"),
    ActionRejected: _answer_moves("rejected"),
    ActionExpired: _action_moves("expired"),
    ActionSuperseded: _action_moves("superseded"),
    ActionCancelled: _action_moves("cancelled"),
    RuleAdded: _rule_added,
    RuleRevoked: _rule_revoked,
    RulePlaced: _rule_placed,
    AgentsReleased: _agents_released,
    LeaseTaken: _lease_taken,
    RunRequested: _run_requested,
    RunStarted: _run_started,
    RunChanged: _run_changed,
    StepChanged: _step_changed,
    ContractChecked: _step_is_open,
    ArtifactStored: _step_is_open,
}
