"""From events to rows: `apply_event`, used by the index tables, the views and the tests.

Total and pure: never raises on any event in any state. An illegal move leaves the row unchanged; the journal
refuses it before it is stored.
"""

from collections.abc import Callable, Iterable
from typing import Final, Protocol, assert_never, cast, get_args

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.machines import (
    ACTION_MOVES,
    CALL_MOVES,
    COMPLETED_STEP_STATES,
    ENDED_RUN_STATES,
    ENDED_STEP_STATES,
    RUN_MOVES,
    SESSION_MOVES,
    STEP_MOVES,
    ActionState,
    CallState,
    may_move,
)
from workbench.domain.rows import (
    ALL_AGENTS,
    Action,
    AgentHold,
    Call,
    PipelineState,
    Row,
    Rule,
    Session,
    StepState,
    Trust,
    step_key,
)
from workbench.domain.values import SYSTEM_SESSION, Actor, ApprovalMethod, Grade, Json, ReplyCall, StepPlan


class RowLookup(Protocol):
    """The rows as they stand before an event, by id; rules by number, trust by path, steps by `RUN/STEP`."""

    def session(self, key: str) -> Session | None: ...
    def call(self, key: str) -> Call | None: ...
    def action(self, key: str) -> Action | None: ...
    def rule(self, key: str) -> Rule | None: ...
    def trust(self, key: str) -> Trust | None: ...
    def agent_hold(self, key: str = ALL_AGENTS) -> AgentHold | None: ...
    def pipeline_state(self, key: str) -> PipelineState | None: ...
    def step_state(self, key: str) -> StepState | None: ...


class MemoryTables(Struct):
    """Rows in memory, which views, tests and the check of a rebuild fold events into."""

    sessions: dict[str, Session] = field(default_factory=dict[str, Session])
    calls: dict[str, Call] = field(default_factory=dict[str, Call])
    actions: dict[str, Action] = field(default_factory=dict[str, Action])
    rules: dict[str, Rule] = field(default_factory=dict[str, Rule])
    trusts: dict[str, Trust] = field(default_factory=dict[str, Trust])
    agent_holds: dict[str, AgentHold] = field(default_factory=dict[str, AgentHold])
    pipeline_states: dict[str, PipelineState] = field(default_factory=dict[str, PipelineState])
    step_states: dict[str, StepState] = field(default_factory=dict[str, StepState])

    def session(self, key: str) -> Session | None:
        return self.sessions.get(key)

    def call(self, key: str) -> Call | None:
        return self.calls.get(key)

    def action(self, key: str) -> Action | None:
        return self.actions.get(key)

    def rule(self, key: str) -> Rule | None:
        return self.rules.get(key)

    def trust(self, key: str) -> Trust | None:
        return self.trusts.get(key)

    def agent_hold(self, key: str = ALL_AGENTS) -> AgentHold | None:
        return self.agent_holds.get(key)

    def pipeline_state(self, key: str) -> PipelineState | None:
        return self.pipeline_states.get(key)

    def step_state(self, key: str) -> StepState | None:
        return self.step_states.get(key)

    def put(self, row: Row) -> None:
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
            case AgentHold():
                self.agent_holds[row.id] = row
            case PipelineState():
                self.pipeline_states[row.pipeline_id] = row
            case StepState():
                self.step_states[row.key] = row

    def fold(self, events: Iterable[Event]) -> "MemoryTables":
        for event in events:
            for row in apply_event(event, self):
                self.put(row)
        return self


CROSS_SESSION_EVENTS = (
    e.RuleAdded, e.RulePlaced, e.RuleUsed, e.RuleRevoked, e.WorkspaceTrusted, e.WorkspaceTrustRevoked,
    e.AgentsHeld, e.AgentsReleased,
)  # fmt: skip
"""What reaches beyond its session; of an imported one it is kept and shown, and grants nothing here."""


def apply_event(event: Event, look: RowLookup) -> tuple[Row, ...]:
    """Return the rows that an event changes, as they stand after it."""
    if not event.body.DURABLE:
        return ()
    rows = () if _is_foreign_grant(event) else _changed_rows(event, look)
    return rows if any(isinstance(row, Session) for row in rows) else (*rows, *_touch_session(event, look))


def _changed_rows(event: Event, look: RowLookup) -> tuple[Row, ...]:
    match event.body:
        case e.CallEvent() as body:
            return _call_rows(event, body, look)
        case e.TurnEvent() as body:
            return _turn_rows(event, body, look)
        case e.ActionEvent() as body:
            return _action_rows(event, body, look)
        case e.SessionEvent() as body:
            return _session_rows(event, body, look)
        case e.RunEvent() as body:
            return _run_rows(event, body, look)
        case e.PromptSubmitted():
            return _on_session(event, look, lambda s: replace(s, last_prompt_at=event.at))
        case e.RuleEvent() as body:
            return _rule_or_trust_rows(event, body, look)
        case (
            e.InterruptRequested()
            | e.PromptWithdrawn() | e.PromptsReordered()
            | e.ContinueRequested() | e.CompactionRequested() | e.RefreshRequested()
            | e.UndoRequested()
            | e.PatchRequested() | e.MarkAdded() | e.ForkRequested() | e.ContextCollected()
            | e.IncidentsListed() | e.IncidentsRequested() | e.IncidentsCancelRequested()
            | e.IncidentDismissed() | e.IncidentStarted() | e.IncidentChecked() | e.IncidentEnded()
            | e.Unknown()
        ):  # fmt: skip
            return ()
        case _:
            assert_never(event.body)


def _is_foreign_grant(event: Event) -> bool:
    is_imported = event.recorded_at is not None and event.session_id != SYSTEM_SESSION
    return is_imported and isinstance(event.body, CROSS_SESSION_EVENTS)


def describe_actor(actor: Actor) -> str:
    """Return who it was in words: `user (cli, pid 41)`."""
    facts = [fact for fact in (actor.via, f"pid {actor.pid}" if actor.pid else None) if fact]
    return f"{actor.kind} ({', '.join(facts)})" if facts else actor.kind


def _touch_session(event: Event, look: RowLookup) -> tuple[Row, ...]:
    if (session := look.session(event.session_id)) is None or event.at <= session.updated_at:
        return ()
    return (replace(session, updated_at=event.at),)


def _on_session(event: Event, look: RowLookup, change: Callable[[Session], Session]) -> tuple[Row, ...]:
    if (session := look.session(event.session_id)) is None:
        return ()
    changed = change(session)
    return (replace(changed, updated_at=event.at) if event.at > changed.updated_at else changed,)


# --- sessions ---------------------------------------------------------------------------------


def _session_rows(event: Event, body: e.SessionBody, look: RowLookup) -> tuple[Row, ...]:
    match body:
        case e.SessionCreated():
            return _session_created(event, body, look)
        case e.SessionStatusChanged():
            return _status_changed(event, body, look)
        case e.SessionChanged():
            return _session_changed(event, body, look)
        case e.AgentConnected() | e.AgentGone():
            is_gone = isinstance(body, e.AgentGone)
            return _on_session(event, look, lambda s: replace(s, is_agent_gone=is_gone))
        case e.SessionDeleted() | e.LeaseTaken() | e.LeaseReleased():
            return ()
        case _:
            assert_never(body)


def _session_created(event: Event, body: e.SessionCreated, look: RowLookup) -> tuple[Row, ...]:
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


def _status_changed(event: Event, body: e.SessionStatusChanged, look: RowLookup) -> tuple[Row, ...]:

    def change(session: Session) -> Session:
        if not may_move(SESSION_MOVES, session.status, body.status):
            return session
        ended = body.detail if session.kind == "ask" and body.detail else session.origin_status
        return replace(session, status=body.status, reason=body.reason, origin_status=ended)

    return _on_session(event, look, change)


def _session_changed(event: Event, body: e.SessionChanged, look: RowLookup) -> tuple[Row, ...]:
    names = ("title", "tags", "archived", "provider", "model")
    changes = {name: value for name in names if (value := getattr(body, name)) is not None}

    def change(session: Session) -> Session:
        changed = _with_tools(replace(session, **changes), body.active_tools)
        if body.configuration is None:
            return changed
        both = {**changed.configuration, **body.configuration}
        configuration = {name: value for name, value in both.items() if value is not None}
        return replace(changed, configuration=configuration)

    return _on_session(event, look, change)


_NEXT_TOOLS: Final = "next_tools"
"""Member of a session's configuration: the tools that it has once its open turn has ended."""


def _with_tools(session: Session, tools: tuple[str, ...] | None) -> Session:
    """Return a session with other tools, or, while a turn is open, with a note of them."""
    if tools is None:
        return session
    configuration = {name: value for name, value in session.configuration.items() if name != _NEXT_TOOLS}
    if session.open_turn is None:
        return replace(session, active_tools=tools, configuration=configuration)
    return replace(session, configuration={**configuration, _NEXT_TOOLS: list(tools)})


def _without_turn(session: Session) -> Session:
    """Return a session whose turn ended; it has the tools that it was given meanwhile."""
    ended, tools = replace(session, open_turn=None), session.configuration.get(_NEXT_TOOLS)
    if not isinstance(tools, list):
        return ended
    return _with_tools(ended, tuple(map(str, cast("list[Json]", tools))))


def _turn_rows(event: Event, body: e.TurnBody, look: RowLookup) -> tuple[Row, ...]:
    match body:
        case e.ReplyCompleted():
            return _reply_completed(event, body, look)
        case e.ConversationCompacted(usage=used):
            return _on_session(event, look, lambda s: replace(s, usage=s.usage.plus(used)))
        case e.TurnStarted():
            return _on_session(event, look, lambda s: replace(s, open_turn=event.turn_id))
        case e.TurnEnded():
            return _on_session(event, look, _without_turn)
        case e.TextStreamed() | e.ThinkingStreamed() | e.ProgressReported() | e.ErrorRaised() | e.HookRan():
            return ()
        case e.CommandSuggested():
            return ()
        case _:
            assert_never(body)


def _reply_completed(event: Event, body: e.ReplyCompleted, look: RowLookup) -> tuple[Row, ...]:
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


def _call_rows(event: Event, body: e.CallBody, look: RowLookup) -> tuple[Row, ...]:
    match body:
        case e.CallProposed():
            return _call_proposed(event, body, look)
        case e.CallExecuting():
            moved = _moved_call(look.call(event.call_id or ""), "executing")
            return (replace(moved, started_at=event.at),) if moved else ()
        case e.CallFinished():
            return _call_finished(event, body, look)
        case e.CallRepeated(times=times):
            return tuple(replace(call, repeats=times) for call in (look.call(event.call_id or ""),) if call)
        case e.SandboxRefused(refusals=refusals):
            return tuple(
                replace(call, refusals=refusals) for call in (look.call(event.call_id or ""),) if call
            )
        case e.ProcessStarted() | e.OutputStreamed() | e.FileChanged():
            return ()
        case _:
            assert_never(body)


def _call_proposed(event: Event, body: e.CallProposed, look: RowLookup) -> tuple[Row, ...]:
    if event.call_id is None:
        return ()
    replaced = look.call(body.replaces) if body.replaces else None
    call = look.call(event.call_id) or _unannounced_call(event, body, replaced)
    if call.state != "pending":
        return ()
    state = _VERDICT_STATES[body.verdict.outcome]
    by_gate: ApprovalMethod = "config_rule" if body.verdict.rule else "auto"
    method = by_gate if body.verdict.outcome == "allowed" else None
    now = replace(
        call, proposed=True, state=state, approval_method=method, rule=body.verdict.rule,
        verdict_by=body.verdict.by, target=body.target, parameters=body.parameters, place=body.verdict.place,
        parameters_ref=body.parameters_ref, cwd=body.cwd, paths=body.paths, asks_itself=body.asks_itself,
        error=body.verdict.reason if state == "rejected" else "",
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


def _unannounced_call(event: Event, body: e.CallProposed, replaced: Call | None) -> Call:
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


def _call_finished(event: Event, body: e.CallFinished, look: RowLookup) -> tuple[Row, ...]:
    call = _moved_call(look.call(event.call_id or ""), body.state)
    if call is None:
        return ()
    return (
        replace(
            call, finished_at=event.at, detail=body.detail, summary=body.summary, error=body.error,
            exit_code=body.exit_code, duration_ms=body.duration_ms, output_bytes=body.output_bytes,
            grade=next((grade for grade in get_args(Grade) if grade == body.metadata.get("grade")), None),
        ),
    )  # fmt: skip


# --- actions -----------------------------------------------------------------------------------


def _action_rows(event: Event, body: e.ActionBody, look: RowLookup) -> tuple[Row, ...]:
    match body:
        case e.ActionOpened():
            return _action_opened(event, body, look)
        case e.ActionApproved():
            return _action_approved(event, body, look)
        case e.ActionRejected():
            return _action_rejected(event, body, look)
        case e.ActionExpired():
            return _action_with_call(_decided_action(event, look, "expired"), look, event, "expired")
        case e.ActionSuperseded():
            action = _decided_action(event, look, "superseded", successor=body.successor, reason=body.why)
        case e.ActionCancelled():
            action = _decided_action(event, look, "cancelled", reason=body.why)
        case e.ActionBecameStale():
            return _became_stale(event, body, look)
        case e.AnswerRefused():
            return ()
        case _:
            assert_never(body)
    return () if action is None else (action,)


def _action_opened(event: Event, body: e.ActionOpened, look: RowLookup) -> tuple[Row, ...]:
    if event.action_id is None or look.action(event.action_id) is not None:
        return ()
    action = Action(
        id=event.action_id, session_id=event.session_id, kind=body.action_kind, state="pending",
        target=body.target, digest=body.digest, created_at=body.created_at, opened_at=event.position,
        expires_at=body.expires_at, call_id=event.call_id, turn_id=event.turn_id, tool=body.tool,
        verb=body.verb, added=body.added, removed=body.removed, warnings=body.warnings,
        supersedes=body.supersedes, extensions=body.extensions, files=body.files,
        choices=tuple(choice.key for choice in body.choices), subject=body.subject,
        place=body.place, level=body.level,
    )  # fmt: skip
    call = look.call(event.call_id or "")
    return (action, replace(call, action_id=action.id)) if call else (action,)


def _decided_action(event: Event, look: RowLookup, state: ActionState, **facts: object) -> Action | None:
    action = look.action(event.action_id or "")
    if action is None or not may_move(ACTION_MOVES, action.state, state):
        return None
    decided_by = describe_actor(event.actor)
    return replace(action, state=state, decided_at=event.at, decided_by=decided_by, **facts)  # type: ignore[arg-type]


def _action_with_call(
    action: Action | None, look: RowLookup, event: Event, state: CallState
) -> tuple[Row, ...]:
    if action is None:
        return ()
    call = _moved_call(look.call(action.call_id or ""), state)
    if call is None:
        return (action,)
    if state == "approved":
        return action, replace(
            call, approval_method="manual", approved_until=action.approved_until, place=action.place
        )
    return action, replace(call, finished_at=event.at, error=action.reason or "", detail=state)


def _action_approved(event: Event, body: e.ActionApproved, look: RowLookup) -> tuple[Row, ...]:
    action = _decided_action(
        event, look, "approved", reason=body.reason, approved_until=body.approved_until,
        result_digest=body.result_digest, selection=body.selection, edited=body.edited,
        choice=body.choice, text=body.text, seen=body.seen,
    )  # fmt: skip
    if action is not None and body.place is not None:
        action = replace(action, place=body.place)
    return _action_with_call(action, look, event, "approved")


def _action_rejected(event: Event, body: e.ActionRejected, look: RowLookup) -> tuple[Row, ...]:
    action = _decided_action(event, look, "rejected", reason=body.reason, choice=body.choice)
    return _action_with_call(action, look, event, "rejected")


def _became_stale(event: Event, body: e.ActionBecameStale, look: RowLookup) -> tuple[Row, ...]:
    action = look.action(event.action_id or "")
    if action is None or action.state != "pending":
        return ()
    warnings = action.warnings if "stale" in action.warnings else (*action.warnings, "stale")
    return (replace(action, stale_paths=body.paths, warnings=warnings),)


# --- rules and trust -------------------------------------------------------------------------------


def _rule_or_trust_rows(event: Event, body: e.RuleBody, look: RowLookup) -> tuple[Row, ...]:
    match body:
        case e.RuleAdded():
            return _rule_added(event, body, look)
        case e.RulePlaced():
            rule = look.rule(body.rule)
            return (replace(rule, place=body.place),) if rule else ()
        case e.RuleUsed():
            rule = look.rule(body.rule)
            if rule is None:
                return ()
            last = max(rule.last_used_at or 0, event.at)
            return (replace(rule, use_count=rule.use_count + 1, last_used_at=last),)
        case e.RuleRevoked():
            rule = look.rule(body.rule)
            return (replace(rule, revoked_at=event.at),) if rule and rule.revoked_at is None else ()
        case e.WorkspaceTrusted():
            return (
                Trust(
                    workspace=body.workspace, content_hash=body.content_hash, read_grant=body.read_grant,
                    decided_at=event.at, decided_by=describe_actor(event.actor),
                    sandbox_grant=body.sandbox_grant,
                ),
            )  # fmt: skip
        case e.WorkspaceTrustRevoked():
            row = look.trust(body.workspace)
            return (replace(row, revoked_at=event.at),) if row and row.revoked_at is None else ()
        case e.AgentsHeld() | e.AgentsReleased():
            return _agent_hold(event, look.agent_hold())
        case e.SecurityNoted():
            return ()
        case _:
            assert_never(body)


def _agent_hold(event: Event, row: AgentHold | None) -> tuple[Row, ...]:
    is_held = row is not None and row.is_in_force
    if isinstance(event.body, e.AgentsHeld):
        by = describe_actor(event.actor)
        return () if is_held else (AgentHold(id=ALL_AGENTS, held_at=event.at, held_by=by),)
    if row is None or not is_held or event.actor.kind != "user":
        return ()
    return (replace(row, released_at=event.at),)


def _rule_added(event: Event, body: e.RuleAdded, look: RowLookup) -> tuple[Row, ...]:
    if look.rule(body.rule) is not None:
        return ()
    return (
        Rule(
            id=body.rule, effect=body.effect, origin=body.origin, scope=body.scope, tool=body.tool,
            pattern_kind=body.pattern_kind, pattern=body.pattern, description=body.description,
            created_at=event.at, scope_id=body.scope_id, expires_at=body.expires_at,
            created_from=body.created_from, external_id=body.external_id, place=body.place,
        ),
    )  # fmt: skip


# --- pipeline runs --------------------------------------------------------------------------------


def _run_rows(event: Event, body: e.RunBody, look: RowLookup) -> tuple[Row, ...]:
    match body:
        case e.RunRequested():
            return _run_requested(event, body, look)
        case e.RunStarted():
            return _run_started(event, body, look)
        case e.RunChanged():
            return _run_changed(event, body, look)
        case e.StepChanged():
            return _step_changed(event, body, look)
        case e.ContractChecked():
            step = look.step_state(step_key(event.session_id, event.step or ""))
            if step is None or step.state in COMPLETED_STEP_STATES:
                return ()
            return (replace(step, contract=body.outcome),)
        case e.RunCancelRequested() | e.StepRetryRequested() | e.ArtifactStored():
            return ()
        case _:
            assert_never(body)


def _run_requested(event: Event, body: e.RunRequested, look: RowLookup) -> tuple[Row, ...]:
    if look.pipeline_state(event.session_id) is not None:
        return ()
    session = look.session(event.session_id)
    return (
        PipelineState(
            pipeline_id=event.session_id, pipeline_name=body.pipeline, status="queued",
            created_at=event.at, updated_at=event.at, moved_at=event.at, input=body.input, file=body.file,
            number=session.number if session else None,
        ),
    )  # fmt: skip


def _run_started(event: Event, body: e.RunStarted, look: RowLookup) -> tuple[Row, ...]:
    run = look.pipeline_state(event.session_id)
    if run is None or run.status == "completed":
        return ()
    # Where a route led back the run went on all the time.
    is_going_on = bool(body.returned_by) and run.status == "running"
    worked = max(0, event.at - (run.moved_at or event.at)) // 1000 if is_going_on else 0
    now = replace(
        run, status="running", round=body.round, updated_at=event.at, moved_at=event.at, finished_at=None,
        started_at=event.at if run.started_at is None else run.started_at, error_message="",
        duration_ms=run.duration_ms + worked,
    )  # fmt: skip
    steps = (_step_of_round(event, body, plan, ordinal, look) for ordinal, plan in enumerate(body.steps))
    items = (_reset_item(event, key, look) for key in body.reset if "[" in key)
    return (now, *(step for step in (*steps, *items) if step is not None))


def _step_of_round(
    event: Event, body: e.RunStarted, plan: StepPlan, ordinal: int, look: RowLookup
) -> StepState | None:
    key = step_key(event.session_id, plan.id)
    step = look.step_state(key)
    if step is not None:
        return _reset_step(step, event.at) if plan.id in body.reset else None
    is_kept = plan.id in body.kept
    return StepState(
        key=key, pipeline_id=event.session_id, step_id=plan.id, ordinal=ordinal, kind=plan.kind,
        persona=plan.persona, state="completed" if is_kept else "pending", moved_at=event.at,
        completed_at=event.at if is_kept else None,
    )  # fmt: skip


def _reset_item(event: Event, step: str, look: RowLookup) -> StepState | None:
    state = look.step_state(step_key(event.session_id, step))
    return _reset_step(state, event.at) if state is not None and state.matrix else None


def _reset_step(step: StepState, moved_at: int) -> StepState:
    return replace(
        step, state="pending", moved_at=moved_at, completed_at=None, error_message="", is_warned=False,
        contract=None, duration_ms=0, exit_code=None, action_id=None,
    )  # fmt: skip


def _run_changed(event: Event, body: e.RunChanged, look: RowLookup) -> tuple[Row, ...]:
    run = look.pipeline_state(event.session_id)
    if run is None or not may_move(RUN_MOVES, run.status, body.status):
        return ()
    return (
        replace(
            run, status=body.status, updated_at=event.at, moved_at=event.at,
            duration_ms=body.duration_ms, usage=body.usage,
            finished_at=event.at if body.status in ENDED_RUN_STATES else None,
            error_message=body.detail if body.status in ("failed", "cancelled") else "",
        ),
    )  # fmt: skip


def _step_changed(event: Event, body: e.StepChanged, look: RowLookup) -> tuple[Row, ...]:
    if event.step is None:
        return ()
    step = look.step_state(step_key(event.session_id, event.step)) or _new_item(event, body, look)
    if step is None or not may_move(STEP_MOVES, step.state, body.state):
        return ()
    run = look.pipeline_state(event.session_id)
    touched = (replace(run, updated_at=event.at),) if run else ()
    return (_moved_step(step, event, body), *touched)


def _new_item(event: Event, body: e.StepChanged, look: RowLookup) -> StepState | None:
    """Make the row of a matrix item, which nobody knew when the run was started."""
    matrix_step = look.step_state(step_key(event.session_id, body.matrix)) if body.matrix else None
    if matrix_step is None or event.step is None:
        return None
    return StepState(
        key=step_key(event.session_id, event.step), pipeline_id=event.session_id, step_id=event.step,
        state="pending", ordinal=matrix_step.ordinal, kind=matrix_step.kind, persona=matrix_step.persona,
        matrix=body.matrix,
    )  # fmt: skip


def _started_at(step: StepState, event: Event, body: e.StepChanged) -> int | None:
    """Return when the attempt of a step started; None where it ends in this round without a start."""
    if body.state != "running":
        return None if step.state == "pending" else step.started_at
    is_same_attempt = body.attempt == step.attempt and step.started_at is not None
    return step.started_at if is_same_attempt else event.at


def _moved_step(step: StepState, event: Event, body: e.StepChanged) -> StepState:
    is_new_attempt = body.state == "running" and body.attempt != step.attempt
    is_failure = body.state in ("failed", "retrying", "skipped", "cancelled") or body.is_warned
    # `waiting` has usage only where a step goes over from a full conversation to the next.
    is_counted = body.state in (*ENDED_STEP_STATES, "retrying", "waiting")
    usage = step.usage.plus(body.usage) if is_counted else step.usage
    return replace(
        step, state=body.state, attempt=body.attempt, moved_at=event.at, duration_ms=body.duration_ms,
        retry_count=step.retry_count + (body.state == "retrying"), is_warned=body.is_warned,
        contract=None if is_new_attempt else step.contract,
        started_at=_started_at(step, event, body),
        completed_at=event.at if body.state in ENDED_STEP_STATES else None,
        workspace_path=body.workspace or step.workspace_path, session_id=body.session_id or step.session_id,
        action_id=event.action_id if body.state == "waiting" else step.action_id,
        exit_code=body.exit_code, error_message=body.detail if is_failure else "", usage=usage,
    )  # fmt: skip
