"""From events of pipeline runs to rows; called by `fold.apply_event` only."""

from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from workbench.domain.events import ContractChecked, Event, RunChanged, RunRequested, RunStarted, StepChanged
from workbench.domain.machines import (
    COMPLETED_STEP_STATES,
    ENDED_RUN_STATES,
    ENDED_STEP_STATES,
    RUN_MOVES,
    STEP_MOVES,
    may_move,
)
from workbench.domain.rows import PipelineState, Session, StepState, step_key
from workbench.domain.values import Body, StepPlan

RunRow = PipelineState | StepState


class RunRowLookup(Protocol):
    """The rows of runs as they stand before an event."""

    def session(self, key: str) -> Session | None:
        """Return a session by id."""
        ...

    def pipeline_state(self, key: str) -> PipelineState | None:
        """Return a run by id."""
        ...

    def step_state(self, key: str) -> StepState | None:
        """Return a step by `RUN/STEP`."""
        ...


def _run_requested(event: Event, look: RunRowLookup) -> tuple[RunRow, ...]:
    body = event.body
    assert isinstance(body, RunRequested)
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


def _run_started(event: Event, look: RunRowLookup) -> tuple[RunRow, ...]:
    body = event.body
    assert isinstance(body, RunStarted)
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
    event: Event, body: RunStarted, plan: StepPlan, ordinal: int, look: RunRowLookup
) -> StepState | None:
    key = step_key(event.session_id, plan.id)
    known = look.step_state(key)
    if known is not None:
        return _reset_step(known, event.at) if plan.id in body.reset else None
    is_kept = plan.id in body.kept
    return StepState(
        key=key, pipeline_id=event.session_id, step_id=plan.id, ordinal=ordinal, kind=plan.kind,
        persona=plan.persona, state="completed" if is_kept else "pending", moved_at=event.at,
        completed_at=event.at if is_kept else None,
    )  # fmt: skip


def _reset_item(event: Event, step: str, look: RunRowLookup) -> StepState | None:
    known = look.step_state(step_key(event.session_id, step))
    return _reset_step(known, event.at) if known is not None and known.matrix else None


def _reset_step(step: StepState, at: int) -> StepState:
    return replace(
        step, state="pending", moved_at=at, completed_at=None, error_message="", is_warned=False,
        contract=None, duration_ms=0, exit_code=None, action_id=None,
    )  # fmt: skip


def _run_changed(event: Event, look: RunRowLookup) -> tuple[RunRow, ...]:
    body = event.body
    assert isinstance(body, RunChanged)
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


def _step_changed(event: Event, look: RunRowLookup) -> tuple[RunRow, ...]:
    body = event.body
    assert isinstance(body, StepChanged)
    if event.step is None:
        return ()
    step = look.step_state(step_key(event.session_id, event.step)) or _new_item(event, body, look)
    if step is None or not may_move(STEP_MOVES, step.state, body.state):
        return ()
    run = look.pipeline_state(event.session_id)
    touched = (replace(run, updated_at=event.at),) if run else ()
    return (_moved_step(step, event, body), *touched)


def _new_item(event: Event, body: StepChanged, look: RunRowLookup) -> StepState | None:
    """Make the row of a matrix item, which nobody knew when the run was started."""
    of = look.step_state(step_key(event.session_id, body.matrix)) if body.matrix else None
    if of is None or event.step is None:
        return None
    return StepState(
        key=step_key(event.session_id, event.step), pipeline_id=event.session_id, step_id=event.step,
        state="pending", ordinal=of.ordinal, kind=of.kind, persona=of.persona, matrix=body.matrix,
    )  # fmt: skip


def _moved_step(step: StepState, event: Event, body: StepChanged) -> StepState:
    is_begun = body.state == "running" and body.attempt != step.attempt
    is_failure = body.state in ("failed", "retrying", "skipped", "cancelled") or body.is_warned
    # `waiting` has usage only where a step goes over from a full conversation to the next.
    is_counted = body.state in (*ENDED_STEP_STATES, "retrying", "waiting")
    usage = step.usage.plus(body.usage) if is_counted else step.usage
    return replace(
        step, state=body.state, attempt=body.attempt, moved_at=event.at, duration_ms=body.duration_ms,
        retry_count=step.retry_count + (body.state == "retrying"), is_warned=body.is_warned,
        contract=None if is_begun else step.contract,
        started_at=event.at if is_begun or step.started_at is None else step.started_at,
        completed_at=event.at if body.state in ENDED_STEP_STATES else None,
        workspace_path=body.workspace or step.workspace_path, session_id=body.session_id or step.session_id,
        action_id=event.action_id if body.state == "waiting" else step.action_id,
        exit_code=body.exit_code, error_message=body.detail if is_failure else "", usage=usage,
    )  # fmt: skip


def _contract_checked(event: Event, look: RunRowLookup) -> tuple[RunRow, ...]:
    body = event.body
    assert isinstance(body, ContractChecked)
    step = look.step_state(step_key(event.session_id, event.step or ""))
    if step is None or step.state in COMPLETED_STEP_STATES:
        return ()
    return (replace(step, contract=body.outcome),)


RUN_HANDLERS: dict[type[Body], Callable[[Event, RunRowLookup], tuple[RunRow, ...]]] = {
    RunRequested: _run_requested,
    RunStarted: _run_started,
    RunChanged: _run_changed,
    StepChanged: _step_changed,
    ContractChecked: _contract_checked,
}
