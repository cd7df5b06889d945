"""Routes: steps that do nothing but choose where a run goes on: forward, back to an earlier step, to its end.

Owns what a choice means in the journal, and the limits of going round. A way back begins a later round of the
same run, as an answer of a gate does; it waits until nothing of what it does again still runs.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.domain.events import Event
from workbench.domain.runs import StepChanged
from workbench.pipelines import conditions, due, templates
from workbench.pipelines.artifacts import ArtifactGone
from workbench.pipelines.attempt import Attempt
from workbench.pipelines.expanding import COMPLETE, ENDS, FAIL
from workbench.pipelines.model import Edge, Route, Step
from workbench.pipelines.order import ancestors, descendants
from workbench.pipelines.state import StepRun
from workbench.pipelines.values import Values, outcome

if TYPE_CHECKING:
    from workbench.pipelines.coordinator import Coordinator

ALIKE: Final = 3
"""Rounds in a row in which a step fails with the same words before nothing leads back to it any more."""
_GOING: Final = ("running", "waiting", "retrying")


class NoWay(ValueError):
    """A route leads nowhere; says why."""


async def settle(run: "Coordinator") -> None:
    """Take the routes that are due."""
    steps = [step for step in run.frontier.open() if step.kind == "route"]
    for found in list(due.ready(run.state, steps)):
        await _take(run, run.pipeline.step(found.id), found)
        run.catch_up()


async def _take(run: "Coordinator", step: Step, found: StepRun) -> None:
    route = step.route or Route(edges=())
    number = found.attempt + 1
    try:
        target = _chosen(run, step, route, found)
        is_back = leads_back(run, step.id, target)
        reset = _within_limits(run, step, target) if is_back else ()
    except (NoWay, templates.Unresolved, ArtifactGone, conditions.BadCondition) as error:
        await _moved(run, step, number, StepChanged(state="failed", attempt=number, detail=str(error)))
        return
    if is_back and any(run.state.steps[name].state in _GOING for name in reset):
        return  # what is done again has to have ended; its end rings
    done = StepChanged(state="completed", attempt=number, detail=f"→ {target}")
    if is_back:
        await _moved(run, step, number, done, *back(run, step.id, reset))
        return
    if target == FAIL:
        why = "; ".join(_failures(run, step)) or "its condition holds"
        failed = StepChanged(state="failed", attempt=number, detail=f"leads to {FAIL}: {why}")
        await _moved(run, step, number, failed)
        return
    others = {e.target for e in route.edges if e.target not in (*ENDS, target)}
    others = {one for one in others if not leads_back(run, step.id, one)}
    await _moved(run, step, number, done, *not_chosen(run, others, f"{step.id} leads to {target}"))


async def _moved(run: "Coordinator", step: Step, number: int, end: StepChanged, *more: Event) -> None:
    ledger = run.ledger
    bodies = (StepChanged(state="running", attempt=number), replace(end, detail=ledger.scrubbed(end.detail)))
    await ledger.append(*(ledger.event(body, step=step.id) for body in bodies), *more)


def _chosen(run: "Coordinator", step: Step, route: Route, found: StepRun) -> str:
    """Return the target of the first edge that holds; NoWay if there is none."""
    if route.most and found.visits + 1 >= route.most:
        return COMPLETE  # a loop ends after its last round, whatever holds
    values = Attempt(run.parts, step, found, found.attempt + 1).values
    for edge in route.edges:
        if conditions.parse(edge.condition).holds(lambda name: _value(run, step, values, name)):
            return edge.target
    raise NoWay(f"no edge holds: {'; '.join(_said(run, step, route.edges))}")


def _said(run: "Coordinator", step: Step, edges: tuple[Edge, ...]) -> list[str]:
    said = [f"outcome={_outcome(run, step)}", *_failures(run, step)]
    return [*said, f"asked was {', '.join(edge.condition for edge in edges)}"]


def _outcome(run: "Coordinator", step: Step) -> str:
    failed = any(outcome(run.state.steps[need]) == "failure" for need in step.needs)
    return "failure" if failed else "success"


def _failures(run: "Coordinator", step: Step) -> list[str]:
    steps = (run.state.steps[need] for need in step.needs)
    return [f"{one.id}: {one.last_failure}" for one in steps if outcome(one) == "failure"]


def _value(run: "Coordinator", step: Step, values: Values, name: str) -> str:
    """Return what a name of a condition stands for; `context.x` is a field of what came before."""
    if name == "outcome":
        return _outcome(run, step)
    if not name.startswith("context."):
        return values.asked(name)
    found = (values.asked(f"{need}.output.{name.removeprefix('context.')}") for need in step.needs)
    return next(filter(None, found), "")


# --- ways back, which gates take as well --------------------------------------------------------------


def leads_back(run: "Coordinator", step: str, target: str) -> bool:
    """Return whether a target is before a step, or the step itself."""
    needs = {one.id: one.needs for one in run.pipeline.steps}
    return target == step or target in ancestors(step, needs)


def again(run: "Coordinator", target: str) -> tuple[str, ...]:
    """Return the steps and items that a way back to a step does again."""
    needs = {one.id: one.needs for one in run.pipeline.steps}
    names = {target, *descendants(target, needs)}
    return tuple(
        name
        for name, one in run.state.steps.items()
        if (name in names or one.matrix in names) and one.state != "pending"
    )


def back(run: "Coordinator", step: str, reset: tuple[str, ...]) -> list[Event]:
    """Return the event that begins a later round with these steps."""
    started = run.state.started
    assert started is not None
    body = replace(
        started, round=run.state.round + 1, reset=tuple(dict.fromkeys((*reset, step))), kept=(), from_run="",
        returned_by=step,
    )  # fmt: skip
    return [run.ledger.event(body)]


def not_chosen(run: "Coordinator", steps: set[str], why: str) -> list[Event]:
    """Return the skips of the ways that were not taken."""
    return [
        run.ledger.event(StepChanged(state="skipped", detail=run.ledger.scrubbed(why)), step=one)
        for one in sorted(steps)
        if one in run.state.steps and run.state.steps[one].state == "pending"
    ]


def _within_limits(run: "Coordinator", step: Step, target: str) -> tuple[str, ...]:
    """Return what a way back does again; NoWay once it was done too often, or fails alike each time."""
    reset = again(run, target)
    for name in reset:
        found = run.state.steps[name]
        most = run.pipeline.step(due.base(name, run.state)).max_visits
        if found.visits + 1 >= most:
            raise NoWay(f"{name} was done {found.visits + 1} times; max_visits is {most}")
        if found.alike >= ALIKE:
            raise NoWay(f"{name} failed {found.alike} times in the same way: {found.last_failure}")
    most = run.pipeline.max_step_visits
    total = sum(one.visits + (one.state != "pending") for one in run.state.steps.values())
    if most and total >= most:
        raise NoWay(f"its steps were done {total} times in all; max_step_visits is {most}")
    return (*reset, step.id)
