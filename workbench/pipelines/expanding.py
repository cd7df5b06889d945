"""Loops and edges as the steps of a plain order: what the coordinator walks has only steps and needs.

Owns which step a loop or an edge becomes. A loop ends in a step of kind route that leads back to its
beginning; edges of a step that does something become a route behind it. Pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from workbench.pipelines.model import Edge, Route, Step
from workbench.pipelines.order import Needs, ancestors, fed_by

COMPLETE: Final = "_complete"
FAIL: Final = "_fail"
ENDS: Final = (COMPLETE, FAIL)
"""Targets that are no steps."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A step and what it was taken apart into."""

    steps: tuple[Step, ...]
    exit: str
    """The step after which all of it is over."""


def expanded(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return steps without loops and edges, in the order of their file."""
    parts = [_part(step) for step in steps]
    exits = {part.steps[0].id: part.exit for part in parts if part.steps[0].id != part.exit}
    renamed = [
        replace(step, needs=tuple(exits.get(need, need) for need in step.needs))
        if step is part.steps[0]
        else step
        for part in parts
        for step in part.steps
    ]
    return _wired([one for step in renamed for one in _with_route(step)])


def _part(step: Step) -> _Part:
    loop = step.loop
    if loop is None:
        return _Part((step,), step.id)
    head = replace(step, loop=None)
    is_own = step.kind != "route"
    before = (step.id,) if is_own else step.needs
    body: list[Step] = []
    exits: dict[str, str] = {}
    for number, one in enumerate(loop.steps):
        inner = {other.id for other in loop.steps[:number]}
        needs = tuple(exits.get(need, need) for need in one.needs)
        if not inner & set(one.needs):
            needs = (*needs, *(before if number == 0 else (exits[loop.steps[number - 1].id],)))
        part = _part(replace(one, needs=tuple(dict.fromkeys(needs))))
        exits[one.id] = part.exit
        body += part.steps
    end = f"{step.id}.until" if is_own else step.id
    first = step.id if is_own else body[0].id if body else end
    named = tuple(one.id for one in body if f"{one.id}.outcome" in loop.until)
    fed = {need for one in body for need in one.needs}
    last = [name for name in exits.values() if name not in fed or name in named]
    needs = tuple(dict.fromkeys(last)) if last or not is_own else (step.id,)
    closing = Step(
        id=end, line=step.line, path=step.path, kind="route", name="" if is_own else step.name, needs=needs,
        route=Route(edges=(Edge(target=COMPLETE, condition=loop.until), Edge(target=first)), most=loop.most)
        if loop.until
        else Route(edges=(Edge(target=first),), most=loop.most),
        tolerates=named, max_visits=max(loop.most, step.max_visits),
    )  # fmt: skip
    body = [replace(one, max_visits=max(loop.most, one.max_visits)) for one in body]
    opening = (replace(head, max_visits=max(loop.most, step.max_visits)),) if is_own else ()
    return _Part((*opening, *body, closing), end)


def _with_route(step: Step) -> tuple[Step, ...]:
    if not step.edges or step.route is not None:
        return (step,)
    route = Step(
        id=f"{step.id}.next", line=step.line, path=step.path, kind="route",
        needs=(step.id,), route=Route(edges=step.edges), tolerates=(step.id,),
    )  # fmt: skip
    return replace(step, edges=()), route


def _wired(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps with what a route leads to behind it: it does not begin before it was chosen."""
    first: dict[str, Step] = {}
    for step in steps:
        first.setdefault(step.id, step)
    found, order = dict(first), {name: step.needs for name, step in first.items()}
    for step in first.values():
        if step.route is None:
            continue
        before = ancestors(step.id, order)
        for edge in step.route.edges:
            target = found.get(edge.target)
            if target is None or edge.target == step.id or edge.target in before:
                continue
            needs = target.needs if step.id in target.needs else (*target.needs, step.id)
            taken = tuple(dict.fromkeys((*target.tolerates, *step.tolerates)))
            found[target.id], order[target.id] = replace(target, needs=needs, tolerates=taken), needs
    return tuple(found[step.id] if first[step.id] is step else step for step in steps)


def taken(steps: Iterable[Step]) -> frozenset[str]:
    """Return the steps whose failure a route takes."""
    return frozenset(name for step in steps if step.kind == "route" for name in step.tolerates)


def rounds(steps: Sequence[Step]) -> tuple[frozenset[str], ...]:
    """Return, for each way back, the steps that are done again by it."""
    needs: Needs = {step.id: step.needs for step in steps}
    feeds = fed_by(needs) if any(targets(step) for step in steps) else {}
    found: list[frozenset[str]] = []
    for step in steps:
        leads = [one for one in targets(step) if one in needs]
        before = ancestors(step.id, needs) | {step.id} if leads else frozenset[str]()
        # What is needed and what needs are walked alike: `ancestors` of the edges turned round.
        found += [before & (ancestors(one, feeds) | {one}) for one in leads if one in before]
    return tuple(found)


def targets(step: Step) -> tuple[str, ...]:
    """Return the steps that a gate's answers or a route's edges lead to."""
    if step.route is not None:
        return tuple(edge.target for edge in step.route.edges if edge.target not in ENDS)
    return tuple(target for target in step.gate.targets.values() if target not in ENDS) if step.gate else ()
