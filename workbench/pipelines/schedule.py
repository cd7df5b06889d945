"""Which steps of a run may begin, which never can, and whether the run is over.

`OpenSteps` keeps the steps at which something may happen next, so that an event costs no walk over all of
them.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from workbench.domain.events import Event, RunStarted, StepChanged
from workbench.domain.machines import RunStatus
from workbench.pipelines.model import Pipeline, Step
from workbench.pipelines.state import RunState, StepRun


class StepSkip(Struct, frozen=True, kw_only=True):
    """A step that cannot begin any more, and why."""

    step: str
    why: str


def base_step_id(step_id: str, state: RunState) -> str:
    """Return the step of the file that a step or an item belongs to."""
    step_run = state.steps.get(step_id)
    return step_run.matrix if step_run and step_run.matrix else step_id


def ready_steps(state: RunState, steps: Sequence[Step]) -> Iterator[StepRun]:
    """Yield the steps and items that may begin now, in file order; slots are not counted here."""
    for step in steps:
        step_run = state.steps.get(step.id)
        if step_run is None:
            continue
        if step.matrix is not None and step_run.state == "running":
            yield from _ready_items(state, step)
        elif step_run.state == "retrying":
            if not _awaits_rework(step_run, step, state):
                yield step_run
        elif step_run.state == "pending" and _may_begin_now(step, steps, state):
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
    items = state.items_of(step.id)
    if step.matrix and step.matrix.is_stopping and any(is_item_broken(item) for item in items):
        return
    running = sum(item.state in ("running", "waiting") for item in items)
    limit = step.matrix.limit if step.matrix and step.matrix.limit else len(items)
    for item in items:
        if item.state in ("pending", "retrying") and running < limit:
            running += 1
            yield item


def is_item_broken(item: StepRun) -> bool:
    """Return whether an item ended in a way that its matrix does not go on from."""
    return item.has_ended and not item.is_done and not item.is_warned


def needs_rework(step_run: StepRun, step: Step) -> bool:
    """Return whether a step that is tried again had no attempt left, so that something mends it first."""
    return step.failing.then == "rework" and step_run.failures == step.failing.attempts


def _awaits_rework(step_run: StepRun, step: Step, state: RunState) -> bool:
    if not needs_rework(step_run, step):
        return False
    mender = state.steps.get(step.failing.rework_step)
    return mender is not None and not mender.has_ended


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
        StepSkip(step=step.id, why="nothing had to be mended")
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
        and state.steps[step.id].items is not None
        and _have_items_ended(state.items_of(step.id), step)
        and len(state.items_of(step.id)) == len(state.steps[step.id].items or ())
    ]


def _have_items_ended(items: Sequence[StepRun], step: Step) -> bool:
    is_stopped = step.matrix is not None and step.matrix.is_stopping and any(map(is_item_broken, items))
    return all(item.has_ended or (is_stopped and item.state == "pending") for item in items)


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
        self._unmet: dict[str, int] = {}
        self._left: set[str] = set()
        self._open: set[str] = set()
        self._doomed: set[str] = set()
        self._gather()

    def _gather(self) -> None:
        self._unmet = {step.id: len(set(step.needs)) for step in self.pipeline.steps}
        self._left = {step.id for step in self.pipeline.steps if step.id in self.state.steps}
        self._open, self._doomed = set(), set()
        for step in self.pipeline.steps:
            if not step.needs or step.is_rework_only or self._state_of(step.id) != "pending":
                self._open.add(step.id)
        for name in list(self._left):
            if self.state.steps[name].has_ended:
                self._ended(name)

    def _state_of(self, name: str) -> str:
        step_run = self.state.steps.get(name)
        return step_run.state if step_run else "pending"

    def take(self, event: Event) -> None:
        """Take an event that the state has taken."""
        if isinstance(event.body, RunStarted):
            self._gather()
        elif isinstance(event.body, StepChanged) and event.step in self._place:
            self._open.add(event.step)
            if self.state.steps[event.step].has_ended and event.step in self._left:
                self._ended(event.step)

    def _ended(self, name: str) -> None:
        self._left.discard(name)
        self._open.discard(name)
        self._doomed.discard(name)
        for other in self._feeds[name]:
            self._unmet[other] -= 1
            if is_need_lost(name, self._steps[other], self.state):
                self._doomed.add(other)
            if not self._unmet[other]:
                self._open.add(other)

    def open(self) -> list[Step]:
        """Return the steps that run, wait, or have nothing before them that goes on, in file order."""
        steps, place = self.pipeline.steps, self._place
        return [steps[number] for number in sorted(place[name] for name in self._open & self._left)]

    def doomed(self) -> list[Step]:
        """Return the steps that need one which ended without being done, in file order."""
        steps, place = self.pipeline.steps, self._place
        return [steps[number] for number in sorted(place[name] for name in self._doomed & self._left)]

    @property
    def left(self) -> frozenset[str]:
        """Return the steps of the file that have not ended."""
        return frozenset(self._left)

    @property
    def is_over(self) -> bool:
        """Return whether every step of the file has ended."""
        return not self._left
