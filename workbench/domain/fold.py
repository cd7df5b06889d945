"""From events to rows: `apply_event`, used by the index tables, the views and the tests.

Total and pure: never raises on any event in any state. An illegal move leaves the row unchanged; the journal
refuses it before it is stored.
"""

from collections.abc import Callable, Iterable
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.domain.events import (
    ActionApproved,
    ActionBecameStale,
    ActionCancelled,
    ActionExpired,
    ActionOpened,
    ActionRejected,
    ActionSuperseded,
    CallExecuting,
    CallFinished,
    CallProposed,
    Event,
    PromptSubmitted,
    ReplyCompleted,
    RuleAdded,
    RuleRevoked,
    RuleUsed,
    SessionChanged,
    SessionCreated,
    SessionStatusChanged,
    TurnEnded,
    TurnStarted,
    WorkspaceTrusted,
    WorkspaceTrustRevoked,
)
from workbench.domain.machines import (
    ACTION_MOVES,
    CALL_MOVES,
    SESSION_MOVES,
    ActionState,
    CallState,
    may_move,
)
from workbench.domain.rows import Action, Call, PipelineState, Row, Rule, Session, StepState, Trust
from workbench.domain.run_fold import RUN_HANDLERS, RunRowLookup
from workbench.domain.values import SYSTEM_SESSION, Actor, ApprovalMethod, Body, GateVerdict, ReplyCall


class RowLookup(RunRowLookup, Protocol):
    """The rows as they stand before an event."""

    def call(self, key: str) -> Call | None:
        """Return a call by id."""
        ...

    def action(self, key: str) -> Action | None:
        """Return an action by id."""
        ...

    def rule(self, key: str) -> Rule | None:
        """Return a rule by its number, such as `R3`."""
        ...

    def trust(self, key: str) -> Trust | None:
        """Return the trust row of a workspace path."""
        ...


class MemoryTables(Struct):
    """Rows in memory: a Lookup that views, tests and the rebuild check fold into."""

    sessions: dict[str, Session] = field(default_factory=dict[str, Session])
    calls: dict[str, Call] = field(default_factory=dict[str, Call])
    actions: dict[str, Action] = field(default_factory=dict[str, Action])
    rules: dict[str, Rule] = field(default_factory=dict[str, Rule])
    trusts: dict[str, Trust] = field(default_factory=dict[str, Trust])
    pipeline_states: dict[str, PipelineState] = field(default_factory=dict[str, PipelineState])
    step_states: dict[str, StepState] = field(default_factory=dict[str, StepState])

    def session(self, key: str) -> Session | None:
        """Return a session by id."""
        return self.sessions.get(key)

    def call(self, key: str) -> Call | None:
        """Return a call by id."""
        return self.calls.get(key)

    def action(self, key: str) -> Action | None:
        """Return an action by id."""
        return self.actions.get(key)

    def rule(self, key: str) -> Rule | None:
        """Return a rule by its number."""
        return self.rules.get(key)

    def trust(self, key: str) -> Trust | None:
        """Return the trust row of a workspace path."""
        return self.trusts.get(key)

    def pipeline_state(self, key: str) -> PipelineState | None:
        """Return a pipeline run by id."""
        return self.pipeline_states.get(key)

    def step_state(self, key: str) -> StepState | None:
        """Return a step of a run by `RUN/STEP`."""
        return self.step_states.get(key)

    def put(self, row: Row) -> None:
        """Store a row under its key."""
        match row:
            case Session():
                self.sessions[row.id] = row
            case Call():
                self.calls[row.id] = row
            case Action():
                self.actions[row.id] = row
            case Rule():
                self.rules[row.id] = row
            case Trust():
                self.trusts[row.workspace] = row
            case PipelineState():
                self.pipeline_states[row.pipeline_id] = row
            case StepState():
                self.step_states[row.key] = row

    def fold(self, events: Iterable[Event]) -> "MemoryTables":
        """Apply events in order and return self."""
        for event in events:
            for row in apply_event(event, self):
                self.put(row)
        return self


CROSS_SESSION_EVENTS: tuple[type[Body], ...] = (
    RuleAdded,
    RuleUsed,
    RuleRevoked,
    WorkspaceTrusted,
    WorkspaceTrustRevoked,
)
"""What reaches beyond its session; of an imported one it is kept and shown, and grants nothing here."""


def apply_event(event: Event, look: RowLookup) -> tuple[Row, ...]:
    """Return the rows that an event changes, as they stand after it."""
    if not event.body.DURABLE:
        return ()
    handler = None if _is_foreign_grant(event) else _HANDLERS.get(type(event.body))
    rows = handler(event, look) if handler else ()
    if any(isinstance(row, Session) for row in rows):
        return rows
    return (*rows, *_touch_session(event, look))


def _is_foreign_grant(event: Event) -> bool:
    is_imported = event.recorded_at is not None and event.session_id != SYSTEM_SESSION
    return is_imported and isinstance(event.body, CROSS_SESSION_EVENTS)


def describe_actor(actor: Actor) -> str:
    """Return who it was in words: `user (cli, pid 41)`."""
    facts = [fact for fact in (actor.via, f"pid {actor.pid}" if actor.pid else None) if fact]
    return f"{actor.kind} ({', '.join(facts)})" if facts else actor.kind


def _touch_session(event: Event, look: RowLookup) -> tuple[Row, ...]:
    session = look.session(event.session_id)
    if session is None or event.at <= session.updated_at:
        return ()
    return (replace(session, updated_at=event.at),)


def _on_session(event: Event, look: RowLookup, change: Callable[[Session], Session]) -> tuple[Row, ...]:
    session = look.session(event.session_id)
    if session is None:
        return ()
    changed = change(session)
    return (replace(changed, updated_at=event.at) if event.at > changed.updated_at else changed,)


# --- sessions ---------------------------------------------------------------------------------


def _session_created(event: Event, look: RowLookup) -> tuple[Row, ...]:
    body = event.body
    assert isinstance(body, SessionCreated)
    if look.session(event.session_id) is not None:
        return ()
    return (
        Session(
            id=event.session_id, kind=body.session_kind, status="created", created_at=event.at,
            updated_at=event.at, parent_id=body.parent_id, title=body.title, workspace=body.workspace,
            provider=body.provider, model=body.model, system_prompt=body.system_prompt,
            system_prompt_ref=body.system_prompt_ref, configuration=body.configuration,
            active_tools=body.active_tools, telemetry_id=body.telemetry_id, origin=body.origin,
            origin_status=body.origin_status, number=body.number,
        ),
    )  # fmt: skip


def _status_changed(event: Event, look: RowLookup) -> tuple[Row, ...]:
    body = event.body
    assert isinstance(body, SessionStatusChanged)

    def change(session: Session) -> Session:
        if not may_move(SESSION_MOVES, session.status, body.status):
            return session
        return replace(session, status=body.status, reason=body.reason)

    return _on_session(event, look, change)


def _session_changed(event: Event, look: RowLookup) -> tuple[Row, ...]:
    body = event.body
    assert isinstance(body, SessionChanged)
    names = ("title", "tags", "archived", "provider", "model")
    given = {name: value for name in names if (value := getattr(body, name)) is not None}
    if body.configuration is None:
        return _on_session(event, look, lambda s: replace(s, **given))
    members = body.configuration

    def changed(session: Session) -> Session:
        both = {**session.configuration, **members}
        return replace(session, **given, configuration={name: v for name, v in both.items() if v is not None})

    return _on_session(event, look, changed)


def _prompt_submitted(event: Event, look: RowLookup) -> tuple[Row, ...]:
    return _on_session(event, look, lambda s: replace(s, last_prompt_at=event.at))


def _turn_started(event: Event, look: RowLookup) -> tuple[Row, ...]:
    return _on_session(event, look, lambda s: replace(s, open_turn=event.turn_id))


def _turn_ended(event: Event, look: RowLookup) -> tuple[Row, ...]:
    return _on_session(event, look, lambda s: replace(s, open_turn=None))


def _reply_completed(event: Event, look: RowLookup) -> tuple[Row, ...]:
    body = event.body
    assert isinstance(body, ReplyCompleted)
    calls = tuple(
        _new_call(event, call, body.round * 1000 + number)
        for number, call in enumerate(body.calls)
        if look.call(call.call_id) is None
    )
    return (*calls, *_on_session(event, look, lambda s: replace(s, usage=s.usage.plus(body.usage))))


def _new_call(event: Event, call: ReplyCall, ordinal: int) -> Call:
    return Call(
        id=call.call_id, session_id=event.session_id, turn_id=event.turn_id, ordinal=ordinal,
        provider_call_id=call.provider_call_id, tool=call.tool, state="pending", requested_at=event.at,
        parameters=call.arguments, parameters_ref=call.arguments_ref,
    )  # fmt: skip


# --- calls -------------------------------------------------------------------------------------


def _call_proposed(event: Event, look: RowLookup) -> tuple[Row, ...]:
    body = event.body
    assert isinstance(body, CallProposed)
    if event.call_id is None:
        return ()
    replaced = look.call(body.replaces) if body.replaces else None
    call = look.call(event.call_id) or _unannounced_call(event, body, replaced)
    if call.state != "pending":
        return ()
    state, method = _VERDICT_STATES[body.verdict.outcome], _approval_method(body.verdict)
    now = replace(
        call, proposed=True, state=state, approval_method=method, rule=body.verdict.rule,
        verdict_by=body.verdict.by, target=body.target, parameters=body.parameters,
        parameters_ref=body.parameters_ref, error=body.verdict.reason if state == "rejected" else "",
        detail=body.verdict.outcome if state == "rejected" else "",
        finished_at=event.at if state == "rejected" else None,
    )  # fmt: skip
    return (now, replace(replaced, replaced_by=now.id)) if replaced else (now,)


_VERDICT_STATES: dict[str, CallState] = {
    "allowed": "approved",
    "ask": "pending",
    "denied": "rejected",
    "refused": "rejected",
}


def _approval_method(verdict: GateVerdict) -> ApprovalMethod | None:
    if verdict.outcome != "allowed":
        return None
    return "config_rule" if verdict.rule else "auto"


def _unannounced_call(event: Event, body: CallProposed, replaced: Call | None) -> Call:
    """Make the row of a call that no reply announced: an undo, or one that replaces a stale call."""
    return Call(
        id=event.call_id or "", session_id=event.session_id,
        turn_id=replaced.turn_id if replaced else event.turn_id,
        ordinal=replaced.ordinal if replaced else event.sequence_number,
        provider_call_id=body.provider_call_id or (replaced.provider_call_id if replaced else ""),
        tool=body.tool, state="pending", requested_at=event.at,
    )  # fmt: skip


def _moved_call(call: Call | None, state: CallState) -> Call | None:
    if call is None or not may_move(CALL_MOVES, call.state, state):
        return None
    return replace(call, state=state)


def _call_executing(event: Event, look: RowLookup) -> tuple[Row, ...]:
    call = _moved_call(look.call(event.call_id or ""), "executing")
    return (replace(call, started_at=event.at),) if call else ()


def _call_finished(event: Event, look: RowLookup) -> tuple[Row, ...]:
    body = event.body
    assert isinstance(body, CallFinished)
    call = _moved_call(look.call(event.call_id or ""), body.state)
    if call is None:
        return ()
    return (
        replace(
            call, finished_at=event.at, detail=body.detail, summary=body.summary, error=body.error,
            exit_code=body.exit_code, duration_ms=body.duration_ms, output_bytes=body.output_bytes,
        ),
    )  # fmt: skip


# --- actions -----------------------------------------------------------------------------------


def _action_opened(event: Event, look: RowLookup) -> tuple[Row, ...]:
    body = event.body
    assert isinstance(body, ActionOpened)
    if event.action_id is None or look.action(event.action_id) is not None:
        return ()
    action = Action(
        id=event.action_id, session_id=event.session_id, kind=body.action_kind, state="pending",
        target=body.target, digest=body.digest, created_at=body.created_at, opened_at=event.position,
        expires_at=body.expires_at, call_id=event.call_id, turn_id=event.turn_id, tool=body.tool,
        verb=body.verb, added=body.added, removed=body.removed, warnings=body.warnings,
        supersedes=body.supersedes, extensions=body.extensions, files=body.files,
        choices=tuple(choice.key for choice in body.choices), subject=body.subject,
    )  # fmt: skip
    call = look.call(event.call_id or "")
    return (action, replace(call, action_id=action.id)) if call else (action,)


def _decided_action(event: Event, look: RowLookup, state: ActionState, **facts: object) -> Action | None:
    action = look.action(event.action_id or "")
    if action is None or not may_move(ACTION_MOVES, action.state, state):
        return None
    who = describe_actor(event.actor)
    return replace(action, state=state, decided_at=event.at, decided_by=who, **facts)  # type: ignore[arg-type]


def _action_with_call(
    action: Action | None, look: RowLookup, event: Event, state: CallState
) -> tuple[Row, ...]:
    if action is None:
        return ()
    call = _moved_call(look.call(action.call_id or ""), state)
    if call is None:
        return (action,)
    if state == "approved":
        return action, replace(call, approval_method="manual", approved_until=action.approved_until)
    return action, replace(call, finished_at=event.at, error=action.reason or "", detail=state)


def _action_approved(event: Event, look: RowLookup) -> tuple[Row, ...]:
    body = event.body
    assert isinstance(body, ActionApproved)
    action = _decided_action(
        event, look, "approved", reason=body.reason, approved_until=body.approved_until,
        result_digest=body.result_digest, selection=body.selection, edited=body.edited,
        choice=body.choice, text=body.text, seen=body.seen,
    )  # fmt: skip
    return _action_with_call(action, look, event, "approved")


def _action_rejected(event: Event, look: RowLookup) -> tuple[Row, ...]:
    body = event.body
    assert isinstance(body, ActionRejected)
    action = _decided_action(event, look, "rejected", reason=body.reason, choice=body.choice)
    return _action_with_call(action, look, event, "rejected")


def _action_expired(event: Event, look: RowLookup) -> tuple[Row, ...]:
    return _action_with_call(_decided_action(event, look, "expired"), look, event, "expired")


def _action_superseded(event: Event, look: RowLookup) -> tuple[Row, ...]:
    body = event.body
    assert isinstance(body, ActionSuperseded)
    action = _decided_action(event, look, "superseded", successor=body.successor, reason=body.why)
    return (action,) if action else ()


def _action_cancelled(event: Event, look: RowLookup) -> tuple[Row, ...]:
    body = event.body
    assert isinstance(body, ActionCancelled)
    action = _decided_action(event, look, "cancelled", reason=body.why)
    return (action,) if action else ()


def _became_stale(event: Event, look: RowLookup) -> tuple[Row, ...]:
    body = event.body
    assert isinstance(body, ActionBecameStale)
    action = look.action(event.action_id or "")
    if action is None or action.state != "pending":
        return ()
    warnings = action.warnings if "stale" in action.warnings else (*action.warnings, "stale")
    return (replace(action, stale_paths=body.paths, warnings=warnings),)


# --- rules and trust -------------------------------------------------------------------------------


def _rule_added(event: Event, look: RowLookup) -> tuple[Row, ...]:
    body = event.body
    assert isinstance(body, RuleAdded)
    if look.rule(body.rule) is not None:
        return ()
    return (
        Rule(
            id=body.rule, effect=body.effect, origin=body.origin, scope=body.scope, tool=body.tool,
            pattern_kind=body.pattern_kind, pattern=body.pattern, description=body.description,
            created_at=event.at, scope_id=body.scope_id, expires_at=body.expires_at,
            created_from=body.created_from, external_id=body.external_id,
        ),
    )  # fmt: skip


def _rule_used(event: Event, look: RowLookup) -> tuple[Row, ...]:
    body = event.body
    assert isinstance(body, RuleUsed)
    rule = look.rule(body.rule)
    if rule is None:
        return ()
    last = max(rule.last_used_at or 0, event.at)
    return (replace(rule, use_count=rule.use_count + 1, last_used_at=last),)


def _rule_revoked(event: Event, look: RowLookup) -> tuple[Row, ...]:
    body = event.body
    assert isinstance(body, RuleRevoked)
    rule = look.rule(body.rule)
    return (replace(rule, revoked_at=event.at),) if rule and rule.revoked_at is None else ()


def _workspace_trusted(event: Event, look: RowLookup) -> tuple[Row, ...]:
    del look
    body = event.body
    assert isinstance(body, WorkspaceTrusted)
    return (
        Trust(
            workspace=body.workspace, content_hash=body.content_hash, read_grant=body.read_grant,
            decided_at=event.at, decided_by=describe_actor(event.actor),
        ),
    )  # fmt: skip


def _trust_revoked(event: Event, look: RowLookup) -> tuple[Row, ...]:
    body = event.body
    assert isinstance(body, WorkspaceTrustRevoked)
    row = look.trust(body.workspace)
    return (replace(row, revoked_at=event.at),) if row and row.revoked_at is None else ()


_Handler = Callable[[Event, RowLookup], tuple[Row, ...]]
_HANDLERS: dict[type[Body], _Handler] = {
    SessionCreated: _session_created,
    SessionStatusChanged: _status_changed,
    SessionChanged: _session_changed,
    PromptSubmitted: _prompt_submitted,
    TurnStarted: _turn_started,
    TurnEnded: _turn_ended,
    ReplyCompleted: _reply_completed,
    CallProposed: _call_proposed,
    CallExecuting: _call_executing,
    CallFinished: _call_finished,
    ActionOpened: _action_opened,
    ActionApproved: _action_approved,
    ActionRejected: _action_rejected,
    ActionExpired: _action_expired,
    ActionSuperseded: _action_superseded,
    ActionCancelled: _action_cancelled,
    ActionBecameStale: _became_stale,
    RuleAdded: _rule_added,
    RuleUsed: _rule_used,
    RuleRevoked: _rule_revoked,
    WorkspaceTrusted: _workspace_trusted,
    WorkspaceTrustRevoked: _trust_revoked,
    **RUN_HANDLERS,
}
