"""The state of a run, folded from the events of its session, one event at a time.

Replaying a dead coordinator's events gives the state to resume from.
"""

from typing import Any

from msgspec import Struct, field

from workbench.domain.events import (
    ArtifactStored,
    ContinueRequested,
    Event,
    LeaseReleased,
    ProcessStarted,
    RunCancelRequested,
    RunChanged,
    RunRequested,
    RunStarted,
    SessionStatusChanged,
    StepChanged,
    StepRetryRequested,
)
from workbench.domain.machines import COMPLETED_STEP_STATES, ENDED_STEP_STATES, RunStatus, StepStateName
from workbench.domain.values import BlobRef, Json, Usage


class StepRun(Struct):
    """One step, or one item of a matrix."""

    id: str
    matrix: str = ""
    item: Json = None
    state: StepStateName = "pending"
    attempt: int = 0
    failures: int = 0
    """Failed attempts of this round."""
    moved_at: int = 0
    working_ms: int = 0
    """Working time of the attempt before its last move."""
    session_id: str | None = None
    action_id: str | None = None
    last_question_id: str | None = None
    """The last question of it as a gate, also of earlier rounds: its answer is what templates name."""
    workspace: str = ""
    detail: str = ""
    is_warned: bool = False
    exit_code: int | None = None
    items: tuple[str, ...] | None = None
    usage: Usage = Usage()
    artifacts: dict[str, ArtifactStored] = field(default_factory=dict[str, ArtifactStored])
    process: ProcessStarted | None = None
    """What may be left of it if its coordinator died."""
    has_failed: bool = False
    """It failed, and only a route that takes failures goes on from it."""
    last_failure: str = ""
    """Why it failed when it was done last, also in a round before."""
    alike: int = 0
    """Rounds in a row in which it failed with these words."""
    visits: int = 0
    """Rounds that a route or a gate led back from."""
    printed: str = ""
    """The end of what a command printed."""
    printed_ref: BlobRef | None = None

    @property
    def is_done(self) -> bool:
        """Return whether what depends on it may begin."""
        return self.state in COMPLETED_STEP_STATES

    @property
    def has_ended(self) -> bool:
        """Return whether nothing of it goes on."""
        return self.state in ENDED_STEP_STATES

    def begin_anew(self, *, is_returned: bool = False) -> None:
        """Forget what happened before a later round, but not how often it was tried."""
        if is_returned:
            self.visits += self.has_ended and self.state != "skipped"
        else:
            self.artifacts, self.last_failure, self.printed, self.printed_ref = {}, "", "", None
        self.state, self.failures, self.detail, self.is_warned = "pending", 0, "", False
        self.items, self.action_id, self.working_ms, self.has_failed = None, None, 0, False
        self.process = None

    def note_end(self, why: str) -> None:
        """Take how an attempt ended: why it failed, or empty."""
        words = " ".join(why.split())[:500]
        self.alike = (
            (self.alike + 1 if words == " ".join(self.last_failure.split())[:500] else 1) if words else 0
        )
        self.last_failure = why


class RunState(Struct):
    """The run as a whole."""

    request: RunRequested | None = None
    started: RunStarted | None = None
    status: RunStatus = "queued"
    round: int = 0
    steps: dict[str, StepRun] = field(default_factory=dict[str, StepRun])
    """Steps in file order, then items as they appeared."""
    waiting: dict[str, StepRun] = field(default_factory=dict[str, StepRun])
    """Those of them that wait for a human."""
    is_cancelled: bool = False
    cancel_reason: str = ""
    retries: set[str] = field(default_factory=set[str])
    """Steps that a human wants done again."""
    is_continue_requested: bool = False
    """A human said to go on, and no round has begun since."""
    is_given_back: bool = False
    session_status: str = "created"
    reason: str | None = None
    working_ms: int = 0
    moved_at: int = 0
    cursor: int = 0

    def take(self, event: Event) -> None:
        """Take the next event of the run's session."""
        self.cursor = event.position
        handler = _HANDLERS.get(type(event.body))
        if handler:
            handler(self, event, event.body)

    @property
    def usage(self) -> Usage:
        """Return the tokens of all attempts of all steps."""
        total = Usage()
        for step in self.steps.values():
            total = total.plus(step.usage)
        return total

    def items_of(self, matrix: str) -> list[StepRun]:
        """Return the items of a matrix step in their order."""
        ids = self.steps[matrix].items or ()
        return [self.steps[one] for one in ids if one in self.steps]

    def steps_to_redo(self) -> tuple[str, ...]:
        """Return the steps and items that a later round has to begin anew; what waits goes on waiting."""
        return tuple(
            step.id
            for step in self.steps.values()
            if not step.is_done and step.state not in ("pending", "waiting")
        )


def _on_requested(state: RunState, _event: Event, body: RunRequested) -> None:
    state.request = body


def _on_started(state: RunState, event: Event, body: RunStarted) -> None:
    if body.returned_by and state.status == "running":
        state.working_ms += max(0, event.at - state.moved_at) // 1000  # it went on all the time
    state.started, state.round, state.status = body, body.round, "running"
    state.is_cancelled, state.is_continue_requested, state.moved_at = False, False, event.at
    state.retries = set()
    for plan in body.steps:
        step = state.steps.setdefault(plan.id, StepRun(id=plan.id))
        if plan.id in body.kept and body.round == 1:
            step.state = "completed"
    if not body.returned_by:
        for step in state.steps.values():
            step.visits = step.alike = 0
    for name in body.reset:
        if name in state.steps:
            state.steps[name].begin_anew(is_returned=bool(body.returned_by))
            state.waiting.pop(name, None)


def _on_changed(state: RunState, event: Event, body: RunChanged) -> None:
    state.status, state.working_ms, state.moved_at = body.status, body.duration_ms, event.at


def _on_step_changed(state: RunState, event: Event, body: StepChanged) -> None:
    name = event.step or ""
    step = state.steps.setdefault(name, StepRun(id=name, matrix=body.matrix, item=body.item))
    step.state, step.moved_at, step.detail = body.state, event.at, body.detail
    if body.state == "running" and body.attempt != step.attempt:
        step.artifacts, step.printed, step.printed_ref = {}, "", None  # of a round before
    if body.state not in ("skipped", "cancelled"):
        step.attempt = body.attempt  # what never began was not tried
    step.working_ms, step.is_warned = body.duration_ms, body.is_warned
    step.exit_code = body.exit_code
    step.session_id = body.session_id or step.session_id
    step.workspace = body.workspace or step.workspace
    if body.item is not None:
        step.item = body.item
    if body.items is not None:
        step.items = body.items
    state.waiting.pop(name, None)
    if body.state == "waiting":
        step.action_id = event.action_id
        step.last_question_id = event.action_id or step.last_question_id
        state.waiting[name] = step
    if body.state in (*ENDED_STEP_STATES, "retrying", "waiting"):
        step.usage = step.usage.plus(body.usage)
    if body.state in (*ENDED_STEP_STATES, "retrying"):
        _attempt_ended(step, body)


def _attempt_ended(step: StepRun, body: StepChanged) -> None:
    step.process, step.has_failed = None, body.has_failed
    step.printed, step.printed_ref = body.output, body.output_ref
    if body.state == "retrying":
        step.failures += 1
    elif body.state not in ("skipped", "cancelled"):
        step.note_end(body.detail if body.has_failed or body.state == "failed" else "")


def _on_artifact_stored(state: RunState, event: Event, body: ArtifactStored) -> None:
    name = event.step or ""
    step = state.steps.setdefault(name, StepRun(id=name))
    step.artifacts[body.name] = body


def _on_process_started(state: RunState, event: Event, body: ProcessStarted) -> None:
    if event.step in state.steps:
        state.steps[event.step].process = body


def _on_cancel_requested(state: RunState, _event: Event, body: RunCancelRequested) -> None:
    state.is_cancelled, state.cancel_reason = True, body.reason


def _on_continue_requested(state: RunState, _event: Event, _body: ContinueRequested) -> None:
    state.is_continue_requested = True


def _on_retry_requested(state: RunState, event: Event, _body: StepRetryRequested) -> None:
    state.is_continue_requested = True
    if event.step:
        state.retries.add(event.step)


def _on_lease_released(state: RunState, _event: Event, _body: LeaseReleased) -> None:
    state.is_given_back = True


def _on_session_status(state: RunState, _event: Event, body: SessionStatusChanged) -> None:
    state.session_status, state.reason, state.is_given_back = body.status, body.reason, False


_HANDLERS: dict[type[Any], Any] = {
    RunRequested: _on_requested, RunStarted: _on_started, RunChanged: _on_changed,
    StepChanged: _on_step_changed,
    ArtifactStored: _on_artifact_stored, ProcessStarted: _on_process_started,
    RunCancelRequested: _on_cancel_requested,
    ContinueRequested: _on_continue_requested, StepRetryRequested: _on_retry_requested,
    LeaseReleased: _on_lease_released,
    SessionStatusChanged: _on_session_status,
}  # fmt: skip


def fold_run(events: list[Event]) -> RunState:
    """Return the state after events."""
    state = RunState()
    for event in events:
        state.take(event)
    return state
