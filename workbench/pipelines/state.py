"""The state of a run, folded from the events of its session, and which steps may begin next.

Replaying a dead coordinator's events gives the state to resume from.
"""

# `on_failure: skip` ends a step as failed with a mark under which the run does not fail; what needs it is
# skipped. A running step has no move to `skipped`.

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
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
from workbench.domain.values import BlobRef, Json, RunLink, Usage
from workbench.pipelines.matrix_items import ItemState, MatrixItems
from workbench.pipelines.model import Pipeline, Step
from workbench.text.safe import one_line


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
    items_ref: BlobRef | None = None
    """Where the ids of many items stand, once a matrix step knows them."""
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
    links: tuple[RunLink, ...] = ()
    said_ref: BlobRef | None = None
    """What its agent said when it was completed last, for the steps of its thread."""
    said_at: int = 0

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
            self.said_ref, self.links = None, ()
        self.state, self.failures, self.detail, self.is_warned = "pending", 0, "", False
        self.items_ref, self.action_id, self.working_ms, self.has_failed = None, None, 0, False
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
    matrices: dict[str, MatrixItems] = field(default_factory=dict[str, MatrixItems])
    """The items of the matrix steps that know theirs."""
    usage: Usage = Usage()
    """The tokens of all attempts of all steps."""
    waiting: dict[str, StepRun] = field(default_factory=dict[str, StepRun])
    """Those of them that wait for a human."""
    is_cancelled: bool = False
    cancel_reason: str = ""
    retries: set[str] = field(default_factory=set[str])
    """Steps that a human wants done again."""
    is_continue_requested: bool = False
    """A human said to go on, and no round has begun since."""
    reads_files: bool = False
    """The last word of a human was to go on with the files as they are now."""
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

    def items_of(self, matrix: str) -> list[StepRun]:
        known = self.matrices.get(matrix)
        return [self.item(matrix, item_id) for item_id in known.ids] if known is not None else []

    def item(self, matrix: str, item_id: str) -> StepRun:
        """Return an item of a matrix, made where nothing was said of it yet."""
        step_run = self.steps.get(item_id)
        if step_run is None:
            value = self.matrices[matrix].value(item_id)
            step_run = self.steps[item_id] = StepRun(id=item_id, matrix=matrix, item=value)
        return step_run

    def list_items(self, matrix: str, ids: tuple[str, ...], values: Sequence[Json]) -> None:
        """Take the items of a matrix, in their order."""
        items = self.matrices[matrix] = MatrixItems(ids=ids, values=values)
        self._count_items(items)
        for item_id, value in zip(ids, values, strict=False):
            if item_id in self.steps and self.steps[item_id].item is None:
                self.steps[item_id].item = value

    def count_items(self) -> None:
        """Count the items of all matrices anew."""
        for items in self.matrices.values():
            self._count_items(items)

    def _count_items(self, items: MatrixItems) -> None:
        known = ((item_id, self.steps.get(item_id)) for item_id in items.ids)
        items.count_anew({item_id: item_state(item) for item_id, item in known if item is not None})

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
            state.matrices.pop(name, None)
    state.count_items()


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
    if body.state in COMPLETED_STEP_STATES:
        step.links = body.links
    if body.said_ref is not None:
        step.said_ref, step.said_at = body.said_ref, event.at
    _note_items(state, step, body)
    state.waiting.pop(name, None)
    if body.state == "waiting":
        step.action_id = event.action_id
        step.last_question_id = event.action_id or step.last_question_id
        state.waiting[name] = step
    if body.state in (*ENDED_STEP_STATES, "retrying", "waiting"):
        step.usage, state.usage = step.usage.plus(body.usage), state.usage.plus(body.usage)
    if body.state in (*ENDED_STEP_STATES, "retrying"):
        _attempt_ended(step, body)
    if step.matrix in state.matrices:
        state.matrices[step.matrix].note(name, item_state(step))


def _note_items(state: RunState, step: StepRun, body: StepChanged) -> None:
    if body.item is not None:
        step.item = body.item
    if body.items is not None:
        state.list_items(step.id, body.items, ())
    elif body.items_ref is not None:
        step.items_ref = body.items_ref


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


def _on_continue_requested(state: RunState, _event: Event, body: ContinueRequested) -> None:
    state.is_continue_requested, state.reads_files = True, body.reads_files


def _on_retry_requested(state: RunState, event: Event, body: StepRetryRequested) -> None:
    state.is_continue_requested, state.reads_files = True, body.reads_files
    if event.step:
        state.retries.add(event.step)


def _on_lease_released(state: RunState, _event: Event, _body: LeaseReleased) -> None:
    state.is_given_back = True


def _on_session_status(state: RunState, _event: Event, body: SessionStatusChanged) -> None:
    state.session_status, state.reason, state.is_given_back = body.status, body.reason, False
    if body.status == "paused" and body.reason == "run ended":  # it was over, or was refused
        state.is_continue_requested = False


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
    state = RunState()
    for event in events:
        state.take(event)
    return state


class StepSkip(Struct, frozen=True, kw_only=True):
    """A step that cannot begin any more, and why."""

    step: str
    why: str


def base_step_id(step_id: str, state: RunState) -> str:
    """Return the step of the file that a step or an item belongs to."""
    step_run = state.steps.get(step_id)
    return step_run.matrix if step_run and step_run.matrix else step_id


def ready_steps(state: RunState, steps: Iterable[Step]) -> Iterator[StepRun]:
    """Yield the steps and items that may begin now, in file order; slots are not counted here.

    Steps that only mend others begin where all steps are given, as a sequence.
    """
    every = steps if isinstance(steps, Sequence) else ()
    for step in steps:
        step_run = state.steps.get(step.id)
        if step_run is None:
            continue
        if step.matrix is not None and step_run.state == "running":
            yield from _ready_items(state, step)
        elif step_run.state == "retrying":
            if not needs_rework(step_run, step):
                yield step_run
        elif step_run.state == "pending" and _may_begin_now(step, every, state):
            yield step_run


def _may_begin_now(step: Step, steps: Sequence[Step], state: RunState) -> bool:
    return _is_rework_called(step, steps, state) if step.is_rework_only else _are_needs_met(step, state)


def is_need_met(need: str, step: Step, state: RunState) -> bool:
    """Return whether a step has what it needs of another: it is done, and its failure not only a route's."""
    step_run = state.steps.get(need)
    return step_run is not None and step_run.is_done and (not step_run.has_failed or need in step.tolerates)


def _are_needs_met(step: Step, state: RunState) -> bool:
    return all(is_need_met(need, step, state) for need in step.needs)


def _ready_items(state: RunState, step: Step) -> Iterator[StepRun]:
    items, matrix = state.matrices.get(step.id), step.matrix
    if items is None or matrix is None or not items.is_known or (matrix.is_stopping and items.is_broken):
        return
    running, limit = items.at_work, matrix.limit or len(items.ids)
    for item_id in items.open_ids():
        if running >= limit:
            return
        running += 1
        yield state.item(step.id, item_id)


def item_state(item: StepRun) -> ItemState:
    """Return where an item of a matrix stands."""
    if item.state in ("running", "waiting"):
        return "at work"
    if item.has_ended:
        return "broken" if is_item_broken(item) else "ended"
    return "again" if item.state == "retrying" else "pending"


def is_item_broken(item: StepRun) -> bool:
    """Return whether an item ended in a way that its matrix does not go on from."""
    return item.has_ended and not item.is_done and not item.is_warned


def needs_rework(step_run: StepRun, step: Step) -> bool:
    """Return whether a step has no attempt left, so that another does its work instead."""
    policy = step.failing
    return policy.then == "rework" and bool(policy.rework_step) and step_run.failures == policy.attempts


def reworks_of(names: Collection[str], steps: Sequence[Step]) -> set[str]:
    """Return the steps that stand for others when those fail: they begin anew together with them."""
    return {step.failing.rework_step for step in steps if step.id in names and step.failing.rework_step}


def _is_rework_called(step: Step, steps: Sequence[Step], state: RunState) -> bool:
    for other in steps:
        step_run = state.steps.get(other.id)
        is_mine = other.failing.rework_step == step.id
        if is_mine and step_run and step_run.state == "retrying" and needs_rework(step_run, other):
            return True
    return False


def unreachable_steps(state: RunState, doomed: Sequence[Step]) -> list[StepSkip]:
    """Return the steps that can never begin, because what they need will not be there."""
    return [
        StepSkip(
            step=step.id,
            why=f"it needs {', '.join(need for need in step.needs if is_need_lost(need, step, state))}",
        )
        for step in doomed
        if not step.is_rework_only and state.steps[step.id].state == "pending"
    ]


def is_need_lost(need: str, step: Step, state: RunState) -> bool:
    """Return whether a step can never have what it needs of another in this round."""
    step_run = state.steps.get(need)
    return step_run is not None and step_run.has_ended and not is_need_met(need, step, state)


def unused_rework_steps(state: RunState, steps: Sequence[Step]) -> list[StepSkip]:
    """Return the steps that only mend others and that nobody called."""
    return [
        StepSkip(step=step.id, why="nothing had to be fixed")
        for step in steps
        if step.is_rework_only and state.steps[step.id].state == "pending"
    ]


def finished_matrices(state: RunState, steps: Sequence[Step]) -> list[Step]:
    """Return the matrix steps all of whose items have ended."""
    return [
        step
        for step in steps
        if step.matrix is not None
        and state.steps[step.id].state == "running"
        and (items := state.matrices.get(step.id)) is not None
        and items.has_ended(is_stopping=step.matrix.is_stopping)
    ]


def run_verdict(state: RunState, pipeline: Pipeline) -> tuple[RunStatus, str]:
    """Return how a run that is over ended, and why."""
    ended = [(step.id, state.steps[step.id]) for step in pipeline.steps]
    failed = [name for name, step_run in ended if step_run.state == "failed" and not step_run.is_warned]
    if state.is_cancelled:
        return "cancelled", state.cancel_reason or "it was cancelled"
    if failed:
        first = state.steps[failed[0]]
        more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
        return "failed", f"{failed[0]}{more} failed: {first.detail}"
    if any(state.steps[step.id].state == "cancelled" for step in pipeline.steps):
        return "cancelled", "it was cancelled"
    return "completed", ""


class OpenSteps:
    """What is open of one run; told of every event after the run's state has taken it."""

    def __init__(self, pipeline: Pipeline, state: RunState) -> None:
        self.pipeline, self.state = pipeline, state
        self._place = {step.id: number for number, step in enumerate(pipeline.steps)}
        self._steps = {step.id: step for step in pipeline.steps}
        self._feeds: dict[str, list[str]] = {step.id: [] for step in pipeline.steps}
        for step in pipeline.steps:
            for need in set(step.needs):
                self._feeds.get(need, []).append(step.id)
        self._controls = {
            step.id for step in pipeline.steps if step.kind in ("gate", "route") or step.matrix is not None
        }
        """Steps that the coordinator settles itself."""
        self._unmet: dict[str, int] = {}
        self._left: set[str] = set()
        self._open: list[int] = []
        """Places of the steps that run, wait, or have nothing before them that goes on, in file order."""
        self._open_controls: list[int] = []
        self._doomed: set[str] = set()
        self._gather()

    def _gather(self) -> None:
        self._unmet = {step.id: len(set(step.needs)) for step in self.pipeline.steps}
        self._left = {step.id for step in self.pipeline.steps if step.id in self.state.steps}
        self._open, self._open_controls, self._doomed = [], [], set()
        for step in self.pipeline.steps:
            if not step.needs or step.is_rework_only or self._state_of(step.id) != "pending":
                self._add(step.id)
        for name in list(self._left):
            if self.state.steps[name].has_ended:
                self._ended(name)

    def _state_of(self, name: str) -> str:
        step_run = self.state.steps.get(name)
        return step_run.state if step_run else "pending"

    def take(self, event: Event) -> None:
        if isinstance(event.body, RunStarted):
            self._gather()
        elif isinstance(event.body, StepChanged) and event.step in self._place:
            self._add(event.step)
            if self.state.steps[event.step].has_ended and event.step in self._left:
                self._ended(event.step)

    def _add(self, name: str) -> None:
        if name in self._left:
            self._list(self._open, name)
            if name in self._controls:
                self._list(self._open_controls, name)

    def _list(self, places: list[int], name: str) -> None:
        place = self._place[name]
        where = bisect_left(places, place)
        if where == len(places) or places[where] != place:
            places.insert(where, place)

    def _unlist(self, places: list[int], name: str) -> None:
        place = self._place[name]
        where = bisect_left(places, place)
        if where < len(places) and places[where] == place:
            del places[where]

    def _ended(self, name: str) -> None:
        self._left.discard(name)
        self._unlist(self._open, name)
        self._unlist(self._open_controls, name)
        self._doomed.discard(name)
        for other in self._feeds[name]:
            self._unmet[other] -= 1
            if is_need_lost(name, self._steps[other], self.state):
                self._doomed.add(other)
            if not self._unmet[other]:
                self._add(other)

    def open(self) -> list[Step]:
        """Return the steps that run, wait, or have nothing before them that goes on, in file order."""
        return list(self.each())

    def each(self) -> Iterator[Step]:
        """Yield them; whoever asks stops when no slot is left."""
        return (self.pipeline.steps[place] for place in self._open)

    def controls(self) -> list[Step]:
        """Return the gates, routes and matrices among them."""
        return [self.pipeline.steps[place] for place in self._open_controls]

    def doomed(self) -> list[Step]:
        """Return the steps that need one which ended without being done, in file order."""
        steps, place = self.pipeline.steps, self._place
        return [steps[number] for number in sorted(place[name] for name in self._doomed & self._left)]

    @property
    def left(self) -> frozenset[str]:
        return frozenset(self._left)

    @property
    def is_over(self) -> bool:
        return not self._left


def allowed_failures(state: RunState, pipeline: Pipeline) -> list[str]:
    """Return a sentence for each step that failed and with which the run goes on."""
    policies = {step.id: step.failing.then for step in pipeline.steps}
    failed = [
        step_run
        for step_run in state.steps.values()
        if step_run.has_ended and (step_run.is_warned or step_run.has_failed)
    ]
    matrices = {step_run.matrix for step_run in failed if step_run.matrix}
    return [
        _allowed_failure(step_run, policies.get(step_run.matrix or step_run.id, "fail"))
        for step_run in failed
        if step_run.id not in matrices
    ]


def _allowed_failure(step_run: StepRun, policy: str) -> str:
    reasons = {"warn": "on_failure: warn", "continue": "on_failure: continue", "skip": "on_failure: skip"}
    reason = (
        "a route that takes failures" if step_run.has_failed else reasons.get(policy, "a check that may fail")
    )
    code = (
        f"exit {step_run.exit_code}"
        if step_run.exit_code
        else one_line(step_run.detail.split("\n", 1)[0], 160)
    )
    return f"{one_line(step_run.id, 80)} failed{f': {code}' if code else ''} (allowed by {reason})"
