"""The state of a run: a fold of the events of its session.

Replaying the events of a coordinator that died gives the state to resume from.
"""

# `on_failure: skip` ends a step as failed with a mark under which the run does not fail; what needs it is
# skipped. A running step has no move to `skipped`.

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

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
from workbench.pipelines.model import Pipeline
from workbench.text.safe import one_line

ItemState = Literal["pending", "retrying", "active", "ended", "stopped"]
"""Where an item of a matrix stands. `active`: running or waiting; `stopped`: ended in a way after which a
matrix with `is_stopping` starts no further item."""
_STARTABLE: tuple[ItemState, ...] = ("pending", "retrying")


def insert_sorted(numbers: list[int], number: int) -> None:
    """Put a number into a sorted list; nothing happens where it is in it."""
    place = bisect_left(numbers, number)
    if place == len(numbers) or numbers[place] != number:
        numbers.insert(place, number)


def remove_sorted(numbers: list[int], number: int) -> None:
    """Take a number out of a sorted list; nothing happens where it is not in it."""
    place = bisect_left(numbers, number)
    if place < len(numbers) and numbers[place] == number:
        del numbers[place]


class MatrixItems(Struct):
    """The items of one matrix, counted as they move, so that finding the next walks no long list."""

    ids: tuple[str, ...]
    values: Sequence[Json] = ()
    """What each item is; empty until this driver has read the list."""
    counts: dict[ItemState, int] = field(default_factory=dict[ItemState, int])
    """Without the items that no event has named: they are pending."""
    _indexes: dict[str, int] = field(default_factory=dict[str, int])
    _states: dict[str, ItemState] = field(default_factory=dict[str, ItemState])
    _next: int = 0
    """All items before this index have started."""
    _again: list[int] = field(default_factory=list[int])
    """Indexes before `_next` of items that may start again, sorted."""

    @property
    def is_known(self) -> bool:
        return len(self.values) >= len(self.ids)

    @property
    def active_count(self) -> int:
        return self.counts.get("active", 0)

    @property
    def is_stopped(self) -> bool:
        return self.counts.get("stopped", 0) > 0

    def value(self, item_id: str) -> Json:
        index = self._index(item_id)
        return self.values[index] if index is not None and index < len(self.values) else None

    def _index(self, item_id: str) -> int | None:
        if not self._indexes:
            self._indexes = {name: number for number, name in enumerate(self.ids)}
        return self._indexes.get(item_id)

    def note(self, item_id: str, state: ItemState) -> None:
        """Take the state that an item has now."""
        index, before = self._index(item_id), self._states.get(item_id)
        if index is None or state == before:
            return
        self._states[item_id] = state
        self.counts[state] = self.counts.get(state, 0) + 1
        if before is not None:
            self.counts[before] -= 1
        if index < self._next:
            (insert_sorted if state in _STARTABLE else remove_sorted)(self._again, index)

    def recount(self, states: Mapping[str, ItemState]) -> None:
        """Take the states of all items, as after the start of a later round."""
        self.counts, self._states, self._again, self._next = {}, {}, [], 0
        for item_id, state in states.items():
            self.note(item_id, state)

    def startable_ids(self) -> Iterator[str]:
        """Yield the items that may start, in order."""
        while self._next < len(self.ids) and not self._is_startable(self._next):
            self._next += 1
        for index in list(self._again):
            yield self.ids[index]
        for index in range(self._next, len(self.ids)):
            if self._is_startable(index):
                yield self.ids[index]

    def _is_startable(self, index: int) -> bool:
        return self._states.get(self.ids[index], "pending") in _STARTABLE

    def has_ended(self, *, is_stopping: bool) -> bool:
        """Return whether no item continues: all have ended, or one has and nothing may start after it."""
        ended = self.counts.get("ended", 0) + self.counts.get("stopped", 0)
        unfinished = self.active_count + self.counts.get("retrying", 0)
        return ended == len(self.ids) or (is_stopping and self.is_stopped and not unfinished)


class StepRun(Struct):
    """One step, or one item of a matrix."""

    id: str
    matrix: str = ""
    item: Json = None
    state: StepStateName = "pending"
    attempt: int = 0
    failures: int = 0
    """Failed attempts of this round."""
    rework_step: str = ""
    """The step that runs in its place now that no attempt is left."""
    moved_at: int = 0
    moved_position: int = 0
    """Journal position of its last move."""
    begun_position: int = 0
    """Journal position at which its last attempt began."""
    working_ms: int = 0
    """Working time of the attempt before its last move."""
    session_id: str | None = None
    action_id: str | None = None
    last_question_id: str | None = None
    """The last question of a gate, also of earlier rounds: templates name its answer."""
    workspace: str = ""
    detail: str = ""
    is_warned: bool = False
    is_unanswered: bool = False
    """It failed because a question expired or no human could be asked."""
    exit_code: int | None = None
    items_ref: BlobRef | None = None
    """Where the ids of many items stand, once a matrix step knows them."""
    usage: Usage = Usage()
    artifacts: dict[str, ArtifactStored] = field(default_factory=dict[str, ArtifactStored])
    process: ProcessStarted | None = None
    """The process that may still run if its coordinator died."""
    part_processes: dict[str, ProcessStarted] = field(default_factory=dict[str, ProcessStarted])
    """Those of parts of its attempt, such as contracts, by the names of the parts."""
    has_failed: bool = False
    """It failed, and only a route that takes its failure continues from it."""
    last_failure: str = ""
    """Why it failed when it ran last, also in a round before."""
    same_failures: int = 0
    """Rounds in a row in which it failed for this reason."""
    visits: int = 0
    """Rounds that a route or a gate led back from."""
    printed: str = ""
    """The end of what a command printed."""
    printed_ref: BlobRef | None = None
    links: tuple[RunLink, ...] = ()
    said_ref: BlobRef | None = None
    """Transcript of its agent when it completed last, for the steps of its thread."""
    said_at: int = 0

    @property
    def is_done(self) -> bool:
        """Return whether what depends on it may start."""
        return self.state in COMPLETED_STEP_STATES

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED_STEP_STATES

    @property
    def outcome(self) -> str:
        """Return how it ended, as conditions name it; empty before it has."""
        if self.has_failed or self.state == "failed":
            return "failure"
        return "success" if self.is_done else self.state if self.has_ended else ""

    @property
    def item_state(self) -> ItemState:
        """Return the state of an item as its matrix counts it."""
        if self.state in ("running", "waiting"):
            return "active"
        if self.has_ended:
            return "ended" if self.is_done or self.is_warned else "stopped"
        return "retrying" if self.state == "retrying" else "pending"

    def reset(self, *, is_returned: bool = False) -> None:
        """Make it pending for a later round; after a way back its artifacts and its failure stay."""
        if is_returned:
            self.visits += self.has_ended and self.state != "skipped"
        else:
            self.artifacts, self.last_failure, self.printed, self.printed_ref = {}, "", "", None
            self.said_ref, self.links = None, ()
        self.state, self.failures, self.detail, self.is_warned = "pending", 0, "", False
        self.items_ref, self.action_id, self.working_ms, self.has_failed = None, None, 0, False
        self.process, self.part_processes = None, {}

    def note_end(self, why: str) -> None:
        """Take how an attempt ended: why it failed, or empty."""
        reason, reason_before = (" ".join(text.split())[:500] for text in (why, self.last_failure))
        if not reason:
            self.same_failures = 0
        else:
            self.same_failures = self.same_failures + 1 if reason == reason_before else 1
        self.last_failure = why


class RunState(Struct):
    """A run, its steps and what humans asked of it."""

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
    """The steps that wait for a human."""
    is_cancelled: bool = False
    is_cancel_last: bool = False
    """Nobody asked to continue since it was cancelled: a round that starts does not take the cancel back."""
    cancel_reason: str = ""
    retries: set[str] = field(default_factory=set[str])
    """Steps that a human asked to run again."""
    is_continue_requested: bool = False
    """A human asked to continue, and no round has started since."""
    reads_files: bool = False
    """The last request to continue was to read the files again."""
    is_lease_released: bool = False
    session_status: str = "created"
    reason: str | None = None
    working_ms: int = 0
    moved_at: int = 0
    cursor: int = 0

    def take(self, event: Event) -> None:
        """Take the next event of the run's session."""
        self.cursor = event.position
        handler = EVENT_HANDLERS.get(type(event.body))
        if handler:
            handler(self, event, event.body)

    def items_of(self, matrix: str) -> list[StepRun]:
        items = self.matrices.get(matrix)
        return [self.item(matrix, item_id) for item_id in items.ids] if items is not None else []

    def item(self, matrix: str, item_id: str) -> StepRun:
        """Return an item of a matrix, made where no event has named it yet."""
        step_run = self.steps.get(item_id)
        if step_run is None:
            value = self.matrices[matrix].value(item_id)
            step_run = self.steps[item_id] = StepRun(id=item_id, matrix=matrix, item=value)
        return step_run

    def list_items(self, matrix: str, ids: tuple[str, ...], values: Sequence[Json]) -> None:
        """Take the items of a matrix, in their order."""
        items = self.matrices[matrix] = MatrixItems(ids=ids, values=values)
        self._count(items)
        for item_id, value in zip(ids, values, strict=False):
            if item_id in self.steps and self.steps[item_id].item is None:
                self.steps[item_id].item = value

    def count_items(self) -> None:
        """Count the items of all matrices again."""
        for items in self.matrices.values():
            self._count(items)

    def _count(self, items: MatrixItems) -> None:
        runs = ((item_id, self.steps.get(item_id)) for item_id in items.ids)
        items.recount({item_id: item.item_state for item_id, item in runs if item is not None})

    def steps_to_redo(self) -> tuple[str, ...]:
        """Return the steps and items that a later round starts again; what waits stays as it is."""
        return tuple(
            step.id
            for step in self.steps.values()
            if not step.is_done and step.state not in ("pending", "waiting")
        )


def _on_requested(state: RunState, _event: Event, body: RunRequested) -> None:
    state.request = body


def _on_started(state: RunState, event: Event, body: RunStarted) -> None:
    if body.returned_by and state.status == "running":
        state.working_ms += max(0, event.at - state.moved_at) // 1000  # it ran all the time
    state.started, state.round, state.status = body, body.round, "running"
    state.is_continue_requested, state.moved_at = False, event.at
    if not state.is_cancel_last:
        state.is_cancelled = False
    state.retries = set()
    for plan in body.steps:
        step = state.steps.setdefault(plan.id, StepRun(id=plan.id))
        if plan.id in body.kept and body.round == 1:
            step.state = "completed"
    if not body.returned_by:
        for step in state.steps.values():
            step.visits = step.same_failures = 0
    for name in body.reset:
        if name in state.steps:
            state.steps[name].reset(is_returned=bool(body.returned_by))
            state.waiting.pop(name, None)
            state.matrices.pop(name, None)
    state.count_items()


def _on_changed(state: RunState, event: Event, body: RunChanged) -> None:
    state.status, state.working_ms, state.moved_at = body.status, body.duration_ms, event.at


def _on_step_changed(state: RunState, event: Event, body: StepChanged) -> None:
    name = event.step or ""
    step = state.steps.setdefault(name, StepRun(id=name, matrix=body.matrix, item=body.item))
    step.state, step.moved_at, step.detail = body.state, event.at, body.detail
    step.moved_position, step.rework_step = event.position, body.rework_step
    if body.state == "running" and body.attempt != step.attempt:
        step.begun_position = event.position
        step.artifacts, step.printed, step.printed_ref = {}, "", None  # those of a round before
    if body.state not in ("skipped", "cancelled"):
        step.attempt = body.attempt  # what never started was not tried
    step.working_ms, step.is_warned = body.duration_ms, body.is_warned
    step.exit_code, step.is_unanswered = body.exit_code, body.is_unanswered
    step.session_id = body.session_id or step.session_id
    step.workspace = body.workspace or step.workspace
    if body.state in COMPLETED_STEP_STATES:
        step.links = body.links
    if body.said_ref is not None:
        step.said_ref, step.said_at = body.said_ref, event.at
    _note_items(state, step, body)
    state.waiting.pop(name, None)
    if body.state == "waiting":
        step.process, step.part_processes = None, {}
        step.printed, step.printed_ref = body.output, body.output_ref
        step.action_id = event.action_id
        step.last_question_id = event.action_id or step.last_question_id
        state.waiting[name] = step
    if body.state in (*ENDED_STEP_STATES, "retrying", "waiting"):
        step.usage, state.usage = step.usage.plus(body.usage), state.usage.plus(body.usage)
    if body.state in (*ENDED_STEP_STATES, "retrying"):
        _attempt_ended(step, body)
    if step.matrix in state.matrices:
        state.matrices[step.matrix].note(name, step.item_state)


def _note_items(state: RunState, step: StepRun, body: StepChanged) -> None:
    if body.item is not None:
        step.item = body.item
    if body.items is not None:
        state.list_items(step.id, body.items, ())
    elif body.items_ref is not None:
        step.items_ref = body.items_ref


def _attempt_ended(step: StepRun, body: StepChanged) -> None:
    step.process, step.part_processes, step.has_failed = None, {}, body.has_failed
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
    step = state.steps.get(event.step or "")
    if step is not None and body.part:
        step.part_processes[body.part] = body
    elif step is not None:
        step.process = body


def _on_cancel_requested(state: RunState, _event: Event, body: RunCancelRequested) -> None:
    state.is_cancelled, state.is_cancel_last, state.cancel_reason = True, True, body.reason


def _on_continue_requested(state: RunState, _event: Event, body: ContinueRequested) -> None:
    state.is_continue_requested, state.reads_files = True, body.reads_files
    state.is_cancel_last = False


def _on_retry_requested(state: RunState, event: Event, body: StepRetryRequested) -> None:
    state.is_continue_requested, state.reads_files = True, body.reads_files
    state.is_cancel_last = False
    if event.step:
        state.retries.add(event.step)


def _on_lease_released(state: RunState, _event: Event, _body: LeaseReleased) -> None:
    state.is_lease_released = True


def _on_session_status(state: RunState, _event: Event, body: SessionStatusChanged) -> None:
    state.session_status, state.reason, state.is_lease_released = body.status, body.reason, False
    if body.status == "paused" and body.reason == "run ended":  # it was over, or was refused
        state.is_continue_requested = False


EVENT_HANDLERS: Final[Mapping[type[Any], Any]] = {
    RunRequested: _on_requested, RunStarted: _on_started, RunChanged: _on_changed,
    StepChanged: _on_step_changed, ArtifactStored: _on_artifact_stored, ProcessStarted: _on_process_started,
    RunCancelRequested: _on_cancel_requested, ContinueRequested: _on_continue_requested,
    StepRetryRequested: _on_retry_requested, LeaseReleased: _on_lease_released,
    SessionStatusChanged: _on_session_status,
}  # fmt: skip


def fold_run(events: list[Event]) -> RunState:
    state = RunState()
    for event in events:
        state.take(event)
    return state


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


def is_run_unanswered(state: RunState) -> bool:
    """Return whether a step or an item failed the run because a question of it was not answered."""
    failed = {
        name: step for name, step in state.steps.items() if step.state == "failed" and not step.is_warned
    }
    return any(step.is_unanswered and (step.matrix or name) in failed for name, step in failed.items())


def allowed_failures(state: RunState, pipeline: Pipeline) -> list[str]:
    """Return a sentence for each step whose failure does not fail the run."""
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
    if step_run.has_failed:
        reason = "a route that takes failures"
    else:
        reason = (
            f"on_failure: {policy}" if policy in ("warn", "continue", "skip") else "a check that may fail"
        )
    code = (
        f"exit {step_run.exit_code}"
        if step_run.exit_code
        else one_line(step_run.detail.split("\n", 1)[0], 160)
    )
    return f"{one_line(step_run.id, 80)} failed{f': {code}' if code else ''} (allowed by {reason})"
