"""Moving through a graph: neighbours, the way back, what needs a look, the longest path.

Owns where a cursor goes. Pure functions of a picture and of the trail that the cursor left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from workbench.graph.facts import Facts, State
from workbench.graph.layout import Layout
from workbench.graph.model import Graph, Step, shown, topological
from workbench.graph.picture import Picture

URGENT: tuple[State, ...] = ("failed", "waiting", "retrying", "running")
"""What the next-problem key goes to, in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """Where the cursor went last from each step."""

    onward: Mapping[int, int] = field(default_factory=dict[int, int])
    back: Mapping[int, int] = field(default_factory=dict[int, int])
    parent: int | None = None
    """The step that a fan was entered from."""


def along(
    picture: Picture, at: int, way: Literal["onward", "back"], trail: Trail | None = None
) -> tuple[int, Trail]:
    """Follow a line: to where it went last time, else on the same row, else to the nearest.

    Returns:
        The step reached, the same one at an end, and the trail that leads back.
    """
    trail = trail or Trail()
    edges = picture.layout.drawn
    near = [v for u, v in edges if u == at] if way == "onward" else [u for u, v in edges if v == at]
    if not near:
        return at, trail
    known = (trail.onward if way == "onward" else trail.back).get(at)
    to = known if known in near else min(near, key=lambda v: _distance(picture, at, v))
    first, last = (at, to) if way == "onward" else (to, at)
    return to, replace(
        trail,
        onward={**trail.onward, first: last},
        back={**trail.back, last: first},
        parent=at if way == "onward" else None,
    )


def beside(picture: Picture, at: int, step: Literal[-1, 1], trail: Trail | None = None) -> int:
    """Go up (-1) or down (1): among the steps of a fan first, then in the layer, then to the next layer.

    In a list it is the line above or below. The same step is returned at an end.
    """
    if picture.kind == "list":
        order = sorted(range(len(picture.places)), key=lambda v: picture.places[v].y)
        return order[min(len(order) - 1, max(0, order.index(at) + step))]
    net = picture.layout.net
    if trail and trail.parent is not None:
        fan = [v for u, v in picture.layout.drawn if u == trail.parent]
        found = _next(sorted(fan, key=lambda v: picture.layout.row[v]), at, step)
        if found is not None:
            return found
    order = sorted(range(net.steps), key=lambda v: (net.layer[v], picture.layout.row[v]))
    found = _next(order, at, step)
    return at if found is None else found


def _next(order: Sequence[int], at: int, step: int) -> int | None:
    if at not in order:
        return None
    index = order.index(at) + step
    return order[index] if 0 <= index < len(order) else None


def _distance(picture: Picture, at: int, v: int) -> tuple[int, int, int]:
    row, layer = picture.layout.row, picture.layout.net.layer
    return abs(row[v] - row[at]), abs(layer[v] - layer[at]), v


def urgent(layout: Layout, facts: Mapping[int, Facts]) -> list[int]:
    """List the steps that need a look: failed, waiting, running, each from left to right."""
    found = [v for v in range(layout.net.steps) if v in facts and facts[v].state in URGENT]
    return sorted(found, key=lambda v: (URGENT.index(facts[v].state), layout.net.layer[v], layout.row[v]))


def longest(graph: Graph, seconds: Sequence[float]) -> list[int]:
    """Find the longest path.

    Args:
        graph: The graph.
        seconds: Measured or expected, by step, 0 or more.

    Returns:
        The steps from first to last; of equal paths the one with more steps, then the earlier one.
    """
    best: list[tuple[float, int]] = [(0.0, 0)] * len(seconds)
    before: list[int | None] = [None] * len(seconds)
    for v in topological(graph.needs, graph.feeds):
        for p in sorted(graph.needs[v]):
            if best[p] > best[v]:
                best[v], before[v] = best[p], p
        best[v] = best[v][0] + max(0.0, seconds[v]), best[v][1] + 1
    at = max(range(len(best)), key=lambda v: (best[v], -v), default=None)
    path: list[int] = []
    while at is not None:
        path.append(at)
        at = before[at]
    return path[::-1]


def neighbourhood(graph: Graph, at: int, hops: int | None = None) -> tuple[Step, ...]:
    """Keep a step with what comes before and after it, at most so many hops away."""
    kept = {at}
    for edges in (graph.needs, graph.feeds):
        ring = [at]
        seen = {at}
        distance = 0
        while ring and (hops is None or distance < hops):
            ring = [v for v in dict.fromkeys(w for u in ring for w in edges[u]) if v not in seen]
            seen.update(ring)
            distance += 1
        kept |= seen
    ids = {graph.steps[v].id for v in kept}
    return tuple(
        replace(
            step,
            needs=tuple(need for need in step.needs if need in ids),
            returns=tuple(to for to in step.returns if to in ids),
        )
        for v, step in enumerate(graph.steps)
        if v in kept
    )


def sentence(layout: Layout, at: int) -> str:
    """Say what a step needs and feeds; implied edges stand in brackets."""
    graph, hidden = layout.graph, frozenset(layout.hidden)
    needs = [_name(graph, u, (u, at) in hidden) for u in graph.needs[at]]
    feeds = [_name(graph, v, (at, v) in hidden) for v in graph.feeds[at]]
    back = [shown(graph.steps[to]) for start, to in graph.back if start == at]
    parts = [("needs", needs), ("feeds", feeds), ("may go back to", back)]
    between = {"feeds": " or " if graph.steps[at].chooses else ", "}
    return " · ".join(f"{verb} {between.get(verb, ', ').join(names)}" for verb, names in parts if names)


def _name(graph: Graph, v: int, is_hidden: bool) -> str:
    name = shown(graph.steps[v])
    return f"({name})" if is_hidden else name


def hidden_note(layout: Layout) -> str:
    """Say how many edges are not drawn because others imply them; empty for none."""
    count = len(layout.hidden)
    return f"{count} implied edge{'s' * (count > 1)} hidden" if count else ""
