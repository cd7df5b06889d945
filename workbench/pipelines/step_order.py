"""The order of steps: dependency graph, loops and edges rewritten as plain steps, and the plan of a run.

Pure. A loop becomes a route step that leads back to its beginning; edges of a step become a route behind it.
The coordinator only ever sees steps and their needs.
"""

# Loops and edges are taken apart when a pipeline is read: what the coordinator walks has only steps and
# needs. A loop ends in a step of kind `route` that leads back to its first step, edges of a step become a
# route behind it, and what a route leads to needs that route. So going round is a later round of the same
# run, the same event that a gate's answer makes, and resuming is no second program.

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.values import StepPlan
from workbench.pipelines.model import Manifest, Pipeline, Route, RouteEdge, Step

StepNeeds = Mapping[str, tuple[str, ...]]


def find_cycles(needs: StepNeeds) -> list[tuple[str, ...]]:
    """Return each circle once, as the steps along it with the first again at the end."""
    cycles: list[tuple[str, ...]] = []
    done: set[str] = set()
    for start in needs:
        if start not in done:
            _walk_depth_first(start, needs, done, cycles)
    return cycles


def _walk_depth_first(start: str, needs: StepNeeds, done: set[str], cycles: list[tuple[str, ...]]) -> None:
    """Go depth first with a stack of its own, so that a long chain cannot exhaust Python's."""
    path: list[str] = [start]
    on_path = {start}
    waiting = [iter(_known_needs(start, needs))]
    while path:
        step = next(waiting[-1], None)
        if step is None:
            waiting.pop()
            done.add(path[-1])
            on_path.discard(path.pop())
        elif step in on_path:
            circle = [*path[path.index(step) :], step]
            cycles.append(tuple(reversed(circle)))
        elif step not in done:
            path.append(step)
            on_path.add(step)
            waiting.append(iter(_known_needs(step, needs)))


def _known_needs(step: str, needs: StepNeeds) -> tuple[str, ...]:
    return tuple(need for need in needs[step] if need in needs)


def ancestors(step: str, needs: StepNeeds) -> frozenset[str]:
    """Return every step that ends before this one starts."""
    reached: set[str] = set()
    waiting = list(needs.get(step, ()))
    while waiting:
        need = waiting.pop()
        if need not in reached and need in needs:
            reached.add(need)
            waiting += needs[need]
    return frozenset(reached)


def descendants(step: str, needs: StepNeeds) -> frozenset[str]:
    """Return every step that starts after this one has ended."""
    return ancestors(step, dependents_of(needs))


def dependents_of(needs: StepNeeds) -> dict[str, tuple[str, ...]]:
    """Return the steps that directly need each step."""
    dependents: dict[str, list[str]] = {name: [] for name in needs}
    for name, before in needs.items():
        for need in dict.fromkeys(before):
            if need in dependents:
                dependents[need].append(name)
    return {name: tuple(names) for name, names in dependents.items()}


def unordered_thread_steps(steps: Iterable[Step], needs: StepNeeds) -> Iterator[tuple[Step, Step]]:
    """Yield each step of a thread with an earlier one of it that may run at the same time."""
    threads: dict[str, list[Step]] = {}
    for step in steps:
        # A rework step runs after the one that it reworks, whatever it needs.
        if step.thread and not step.is_rework_only:
            threads.setdefault(step.thread, []).append(step)
    for members in threads.values():
        before = {step.id: ancestors(step.id, needs) for step in members}
        for number, second in enumerate(members):
            for first in members[:number]:
                if first.id not in before[second.id] and second.id not in before[first.id]:
                    yield second, first
                    break


def parallel_waves(needs: StepNeeds) -> list[list[str]]:
    """Return the steps in groups that could run together, in order; those of a circle are left out."""
    sorter = TopologicalSorter[str](dict.fromkeys(needs, ()))
    for step in needs:
        sorter.add(step, *_known_needs(step, needs))
    with contextlib.suppress(CycleError):
        sorter.prepare()
    waves: list[list[str]] = []
    while wave := sorter.get_ready():
        waves.append(list(wave))
        sorter.done(*wave)
    return waves


COMPLETE_TARGET: Final = "_complete"
FAIL_TARGET: Final = "_fail"
END_TARGETS: Final = (COMPLETE_TARGET, FAIL_TARGET)
"""Targets that are no steps."""


class _DesugaredStep(Struct, frozen=True):
    """A step and what it was taken apart into."""

    steps: tuple[Step, ...]
    exit: str
    """The step after which all of it is over."""


def desugar_steps(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return steps without loops and edges, in the order of their file."""
    parts = [_desugar_loop(step) for step in steps]
    exits = {part.steps[0].id: part.exit for part in parts if part.steps[0].id != part.exit}
    renamed = [
        replace(step, needs=tuple(exits.get(need, need) for need in step.needs))
        if step is part.steps[0]
        else step
        for part in parts
        for step in part.steps
    ]
    return _with_route_needs([routed for step in renamed for routed in _with_route(step)])


def _desugar_loop(step: Step) -> _DesugaredStep:
    loop = step.loop
    if loop is None:
        return _DesugaredStep((step,), step.id)
    head = replace(step, loop=None)
    is_own = step.kind != "route"
    before = (step.id,) if is_own else step.needs
    body: list[Step] = []
    exits: dict[str, str] = {}
    for number, body_step in enumerate(loop.steps):
        inner = {other.id for other in loop.steps[:number]}
        needs = tuple(exits.get(need, need) for need in body_step.needs)
        if not inner & set(body_step.needs):
            needs = (*needs, *(before if number == 0 else (exits[loop.steps[number - 1].id],)))
        part = _desugar_loop(replace(body_step, needs=tuple(dict.fromkeys(needs))))
        exits[body_step.id] = part.exit
        body += part.steps
    end = f"{step.id}.until" if is_own else step.id
    first = step.id if is_own else body[0].id if body else end
    named = tuple(body_step.id for body_step in body if f"{body_step.id}.outcome" in loop.until)
    fed = {need for body_step in body for need in body_step.needs}
    last = [name for name in exits.values() if name not in fed or name in named]
    needs = tuple(dict.fromkeys(last)) if last or not is_own else (step.id,)
    closing = Step(
        id=end, line=step.line, path=step.path, kind="route", name="" if is_own else step.name, needs=needs,
        route=Route(edges=(RouteEdge(target=COMPLETE_TARGET, condition=loop.until), RouteEdge(target=first)),
                    most=loop.most)
        if loop.until
        else Route(edges=(RouteEdge(target=first),), most=loop.most),
        tolerates=named, max_visits=max(loop.most, step.max_visits),
    )  # fmt: skip
    body = [replace(body_step, max_visits=max(loop.most, body_step.max_visits)) for body_step in body]
    opening = (replace(head, max_visits=max(loop.most, step.max_visits)),) if is_own else ()
    return _DesugaredStep((*opening, *body, closing), end)


def _with_route(step: Step) -> tuple[Step, ...]:
    if not step.edges or step.route is not None:
        return (step,)
    route = Step(
        id=f"{step.id}.next", line=step.line, path=step.path, kind="route",
        needs=(step.id,), route=Route(edges=step.edges), tolerates=(step.id,),
    )  # fmt: skip
    return replace(step, edges=()), route


def _with_route_needs(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps; each target of a route needs the route, so that it starts only once chosen."""
    first: dict[str, Step] = {}
    for step in steps:
        first.setdefault(step.id, step)
    changed, order = dict(first), {name: step.needs for name, step in first.items()}
    for step in first.values():
        if step.route is None:
            continue
        before = ancestors(step.id, order)
        for edge in step.route.edges:
            target = changed.get(edge.target)
            if target is None or edge.target == step.id or edge.target in before:
                continue
            needs = target.needs if step.id in target.needs else (*target.needs, step.id)
            tolerated = tuple(dict.fromkeys((*target.tolerates, *step.tolerates)))
            changed[target.id], order[target.id] = replace(target, needs=needs, tolerates=tolerated), needs
    return tuple(changed[step.id] if first[step.id] is step else step for step in steps)


def steps_with_routed_failure(steps: Iterable[Step]) -> frozenset[str]:
    """Return the steps whose failure a route takes."""
    return frozenset(name for step in steps if step.kind == "route" for name in step.tolerates)


def repeated_step_sets(steps: Sequence[Step]) -> tuple[frozenset[str], ...]:
    """Return, for each way back, the steps that are done again by it."""
    needs: StepNeeds = {step.id: step.needs for step in steps}
    dependents = dependents_of(needs) if any(route_targets(step) for step in steps) else {}
    repeated: list[frozenset[str]] = []
    for step in steps:
        leads = [target for target in route_targets(step) if target in needs]
        before = ancestors(step.id, needs) | {step.id} if leads else frozenset[str]()
        # The ancestors by the reversed edges are the descendants.
        repeated += [
            before & (ancestors(target, dependents) | {target}) for target in leads if target in before
        ]
    return tuple(repeated)


def chosen_steps(steps: Sequence[Step]) -> frozenset[str]:
    """Return the steps that a gate's answer or a route decides about, with those that need them."""
    dependents = dependents_of({step.id: step.needs for step in steps})
    targets = {target for step in steps for target in route_targets(step)} & dependents.keys()
    return frozenset(targets).union(*(ancestors(target, dependents) for target in targets))


def route_targets(step: Step) -> tuple[str, ...]:
    """Return the steps that a gate's answers or a route's edges lead to."""
    if step.route is not None:
        return tuple(edge.target for edge in step.route.edges if edge.target not in END_TARGETS)
    return (
        tuple(target for target in step.gate.targets.values() if target not in END_TARGETS)
        if step.gate
        else ()
    )


def step_plans(pipeline: Pipeline, manifest: Manifest | None) -> tuple[StepPlan, ...]:
    needs = {step.id: step.needs for step in pipeline.steps}
    return tuple(_step_plan(step, manifest, needs) for step in pipeline.steps)


def _step_plan(step: Step, manifest: Manifest | None, needs: StepNeeds) -> StepPlan:
    contract = step.contracts[0].written_type if step.contracts else ""
    back = [target for target in route_targets(step) if target in needs]
    before: frozenset[str] = ancestors(step.id, needs) if back else frozenset()
    returns = list(step.rework_steps)
    returns += [target for target in back if target in before or target == step.id]
    return StepPlan(
        id=step.id, kind=step.kind, needs=step.needs, name=step.name, persona=step.persona,
        attempts=step.failing.attempts, contract=contract, is_matrix=step.matrix is not None,
        item_count=len(step.matrix.items or ()) if step.matrix else 0,
        returns=tuple(dict.fromkeys(returns)), timeout_ms=step.timeout_seconds(manifest) * 1000,
        has_links=bool(step.outcomes) or step.kind == "pipeline", sandbox=step.level(manifest),
    )  # fmt: skip
