"""Which steps of a run may start now, which never can, and the timers that they wait for."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from workbench.domain.events import (
    Event,
    RunStarted,
    StepChanged,
)
from workbench.pipelines.model import Pipeline, Step
from workbench.pipelines.state import RunState, StepRun, insert_sorted, remove_sorted
from workbench.pipelines.step_order import dependents_of


def ready_steps(
    state: RunState, steps: Iterable[Step], *, reworked: Sequence[Step] = ()
) -> Iterator[StepRun]:
    """Yield the steps and items that may start now, in the order of `steps`; slots are not counted here.

    A rework step starts only where one of `reworked` has failed and names it.
    """
    for step in steps:
        step_run = state.steps.get(step.id)
        if step_run is None:
            continue
        if step.matrix is not None and step_run.state == "running":
            yield from _ready_items(state, step)
        elif step_run.state == "retrying":
            if not due_rework(step_run, step):
                yield step_run
        elif step_run.state == "pending" and (
            _is_rework_due(step, reworked, state)
            if step.is_rework_only
            else all(is_need_met(need, step, state) for need in step.needs)
        ):
            yield step_run


def is_need_met(need: str, step: Step, state: RunState) -> bool:
    """Return whether a step has what it needs of another: it is done, and its failure not only a route's."""
    step_run = state.steps.get(need)
    return step_run is not None and step_run.is_done and (not step_run.has_failed or need in step.tolerates)


def _is_rework_due(step: Step, steps: Sequence[Step], state: RunState) -> bool:
    runs = ((other, state.steps.get(other.id)) for other in steps)
    return any(due_rework(step_run, other) == step.id for other, step_run in runs if step_run is not None)


def _ready_items(state: RunState, step: Step) -> Iterator[StepRun]:
    items, matrix = state.matrices.get(step.id), step.matrix
    if items is None or matrix is None or not items.is_known or (matrix.is_stopping and items.is_stopped):
        return
    active, limit = items.active_count, matrix.limit or len(items.ids)
    for item_id in items.startable_ids():
        if active >= limit:
            return
        active += 1
        yield state.item(step.id, item_id)


def due_rework(step_run: StepRun, step: Step) -> str:
    """Return the step that does the work of a failed one without attempts left; empty where none does."""
    if step_run.state != "retrying":
        return ""
    policy = step.failing
    is_due = policy.then == "rework" and step_run.failures == policy.attempts
    return step_run.rework_step or (policy.rework_step if is_due else "")  # older journals do not name it


def has_reworked(rework: StepRun, step_run: StepRun) -> bool:
    """Return whether a rework step ran for a failed step: it ended, and began after that had failed.

    One that began earlier ran for another step that shares it.
    """
    return rework.has_ended and rework.begun_position > step_run.moved_position


def reworks_of(names: Collection[str], steps: Sequence[Step]) -> set[str]:
    """Return the rework steps of some steps: a later round starts them again together with those."""
    return {rework for step in steps if step.id in names for rework in step.rework_steps}


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


class StepSkip(Struct, frozen=True, kw_only=True):
    """A step that can no longer start, and why."""

    step: str
    why: str


def unreachable_steps(state: RunState, doomed: Sequence[Step]) -> list[StepSkip]:
    """Return the pending steps that can never start, with what they need and will not get."""
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
    """Return the rework steps that no failure needed."""
    return [
        StepSkip(step=step.id, why="nothing had to be fixed")
        for step in steps
        if step.is_rework_only and state.steps[step.id].state == "pending"
    ]


class OpenSteps:
    """The steps of a run that have not ended, kept up to date event by event.

    `RunState` takes every event first. A step is current when it runs, waits, or needs no open step.
    """

    def __init__(self, pipeline: Pipeline, state: RunState) -> None:
        self.pipeline, self.state = pipeline, state
        self._steps = {step.id: step for step in pipeline.steps}
        self._index = {name: number for number, name in enumerate(self._steps)}
        self._dependents = dependents_of({name: step.needs for name, step in self._steps.items()})
        self._open: set[str] = set()
        self._open_needs: dict[str, int] = {}
        """How many steps that a step needs have not ended."""
        self._current: list[int] = []
        self._current_controls: list[int] = []
        self._doomed: set[str] = set()
        self._build()

    def _build(self) -> None:
        self._open_needs = {name: len(set(step.needs)) for name, step in self._steps.items()}
        self._open = self._steps.keys() & self.state.steps.keys()
        self._current, self._current_controls, self._doomed = [], [], set()
        for name, step in self._steps.items():
            run = self.state.steps.get(name)
            if not step.needs or step.is_rework_only or (run is not None and run.state != "pending"):
                self._add(name)
        for name in list(self._open):
            if self.state.steps[name].has_ended:
                self._end(name)

    def take(self, event: Event) -> None:
        if isinstance(event.body, RunStarted):
            self._build()
        elif isinstance(event.body, StepChanged) and event.step in self._index:
            self._add(event.step)
            if self.state.steps[event.step].has_ended and event.step in self._open:
                self._end(event.step)

    def _add(self, name: str) -> None:
        if name in self._open:
            insert_sorted(self._current, self._index[name])
            if self._steps[name].is_control:
                insert_sorted(self._current_controls, self._index[name])

    def _end(self, name: str) -> None:
        self._open.discard(name)
        remove_sorted(self._current, self._index[name])
        remove_sorted(self._current_controls, self._index[name])
        self._doomed.discard(name)
        for dependent in self._dependents[name]:
            self._open_needs[dependent] -= 1
            if is_need_lost(name, self._steps[dependent], self.state):
                self._doomed.add(dependent)
            if not self._open_needs[dependent]:
                self._add(dependent)

    def current(self) -> list[Step]:
        """Return the current steps in file order."""
        return [self.pipeline.steps[index] for index in self._current]

    def controls(self) -> list[Step]:
        """Return the gates, routes and matrices among the current steps."""
        return [self.pipeline.steps[index] for index in self._current_controls]

    def doomed(self) -> list[Step]:
        """Return the open steps that need one which ended without being done, in file order."""
        indexes = sorted(self._index[name] for name in self._doomed & self._open)
        return [self.pipeline.steps[index] for index in indexes]

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(self._open)

    @property
    def is_over(self) -> bool:
        return not self._open


NOTED_WAIT_SECONDS: Final = 1.0
"""Seconds that a step waits for a place before the record says so."""


class StepTimers:
    """Steps that wait for a time and hold no slot: delayed retries and timer gates."""

    def __init__(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self.sleep = sleep
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def __contains__(self, step_id: str) -> bool:
        return step_id in self._tasks

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def start(self, step_id: str, seconds: float, then: Callable[[], Awaitable[None]]) -> None:
        """Call `then` after some seconds; the step counts as waiting until that has returned."""

        async def wait() -> None:
            await self.sleep(seconds)
            await then()
            self._tasks.pop(step_id, None)

        self._tasks[step_id] = asyncio.create_task(wait(), name=f"timer {step_id}")

    def cancel(self) -> list[asyncio.Task[None]]:
        """Cancel every timer and return their tasks."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        self._tasks.clear()
        return tasks
