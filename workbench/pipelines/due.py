"""What is due in a run: which steps may begin, which cannot any more, and whether it is over.

Pure: looks at a `RunState` and a pipeline, starts nothing and knows no clock.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.domain.machines import RunStatus
from workbench.pipelines.model import Pipeline, Step
from workbench.pipelines.state import RunState, StepRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """A step that cannot begin any more, and why."""

    step: str
    why: str


def base(step_id: str, state: RunState) -> str:
    """Return the step of the file that a step or an item belongs to."""
    found = state.steps.get(step_id)
    return found.matrix if found and found.matrix else step_id


def ready(state: RunState, steps: Sequence[Step]) -> Iterator[StepRun]:
    """Yield the steps and items that may begin now, in file order; slots are not counted here.

    Args:
        state: the run.
        steps: those at which something may happen (`frontier`).
    """
    for step in steps:
        found = state.steps.get(step.id)
        if found is None:
            continue
        if step.matrix is not None and found.state == "running":
            yield from _items(state, step)
        elif found.state == "retrying":
            if not _awaits_rework(found, step, state):
                yield found
        elif found.state == "pending" and _is_wanted(step, steps, state):
            yield found


def _is_wanted(step: Step, steps: Sequence[Step], state: RunState) -> bool:
    return _is_called(step, steps, state) if step.is_rework_only else _may_begin(step, state)


def is_met(need: str, step: Step, state: RunState) -> bool:
    """Return whether a step has what it needs of another: it is done, and its failure not only a route's."""
    found = state.steps.get(need)
    return found is not None and found.is_done and (not found.has_failed or need in step.tolerates)


def _may_begin(step: Step, state: RunState) -> bool:
    return all(is_met(need, step, state) for need in step.needs)


def _items(state: RunState, step: Step) -> Iterator[StepRun]:
    items = state.items_of(step.id)
    if step.matrix and step.matrix.is_stopping and any(is_broken(item) for item in items):
        return
    running = sum(item.state in ("running", "waiting") for item in items)
    limit = step.matrix.limit if step.matrix and step.matrix.limit else len(items)
    for item in items:
        if item.state in ("pending", "retrying") and running < limit:
            running += 1
            yield item


def is_broken(item: StepRun) -> bool:
    """Return whether an item ended in a way that its matrix does not go on from."""
    return item.has_ended and not item.is_done and not item.is_warned


def is_reworked(found: StepRun, step: Step) -> bool:
    """Return whether a step that is tried again had no attempt left, so that something mends it first."""
    return step.failing.then == "rework" and found.failures == step.failing.attempts


def _awaits_rework(found: StepRun, step: Step, state: RunState) -> bool:
    if not is_reworked(found, step):
        return False
    mender = state.steps.get(step.failing.rework_step)
    return mender is not None and not mender.has_ended


def _is_called(step: Step, steps: Sequence[Step], state: RunState) -> bool:
    """Return whether a step that waits for its mending names this one."""
    for other in steps:
        found = state.steps.get(other.id)
        is_mine = other.failing.rework_step == step.id
        if is_mine and found and found.state == "retrying" and is_reworked(found, other):
            return True
    return False


def skips(state: RunState, doomed: Sequence[Step]) -> list[Skip]:
    """Return the steps that can never begin, because what they need will not be there."""
    return [
        Skip(
            step=step.id,
            why=f"it needs {', '.join(need for need in step.needs if is_lost(need, step, state))}",
        )
        for step in doomed
        if not step.is_rework_only and state.steps[step.id].state == "pending"
    ]


def is_lost(need: str, step: Step, state: RunState) -> bool:
    """Return whether a step can never have what it needs of another in this round."""
    found = state.steps.get(need)
    return found is not None and found.has_ended and not is_met(need, step, state)


def unused(state: RunState, steps: Sequence[Step]) -> list[Skip]:
    """Return the steps that only mend others and that nobody called."""
    return [
        Skip(step=step.id, why="nothing had to be mended")
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
        and _are_over(state.items_of(step.id), step)
        and len(state.items_of(step.id)) == len(state.steps[step.id].items or ())
    ]


def _are_over(items: Sequence[StepRun], step: Step) -> bool:
    """Return whether no item goes on or may begin."""
    is_stopped = step.matrix is not None and step.matrix.is_stopping and any(map(is_broken, items))
    return all(item.has_ended or (is_stopped and item.state == "pending") for item in items)


def verdict(state: RunState, pipeline: Pipeline) -> tuple[RunStatus, str]:
    """Return how a run that is over ended, and why."""
    ended = [(step.id, state.steps[step.id]) for step in pipeline.steps]
    failed = [name for name, found in ended if found.state == "failed" and not found.is_warned]
    if state.is_cancelled:
        return "cancelled", state.cancel_reason or "it was cancelled"
    if failed:
        first = state.steps[failed[0]]
        more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
        return "failed", f"{failed[0]}{more} failed: {first.detail}"
    if any(state.steps[step.id].state == "cancelled" for step in pipeline.steps):
        return "cancelled", "it was cancelled"
    return "completed", ""
