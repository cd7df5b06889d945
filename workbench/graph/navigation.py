"""Navigation in a large graph: cursor moves, urgent steps, and the overview."""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.graph.canvas import Picture
from workbench.graph.layout import GraphLayout
from workbench.graph.model import (
    PENDING_FACTS,
    STATUS_BY_SEVERITY,
    Graph,
    GraphStep,
    StatusCounts,
    StepFacts,
    display_name,
    topological_order,
)
from workbench.graph.step_text import as_ascii, status_sign
from workbench.text.width import cell_width
from workbench.views.status_icons import StepStatus

URGENT_STATUSES: tuple[StepStatus, ...] = ("waiting", "failed", "warned", "retrying", "running", "refused")
"""What must be in view, and what the next-problem key goes to, in this order."""


class CursorTrail(Struct, frozen=True, kw_only=True):
    """Where the cursor went last from each step."""

    onward: Mapping[int, int] = field(default_factory=dict[int, int])
    back: Mapping[int, int] = field(default_factory=dict[int, int])
    parent: int | None = None
    """The step that a fan was entered from."""


def follow_edge(
    picture: Picture, at: int, way: Literal["onward", "back"], trail: CursorTrail | None = None
) -> tuple[int, CursorTrail]:
    """Follow a line: to where it went last time, else on the same row, else to the nearest."""
    trail = trail or CursorTrail()
    edges = picture.layout.drawn
    neighbors = [v for u, v in edges if u == at] if way == "onward" else [u for u, v in edges if v == at]
    if not neighbors:
        return at, trail
    last_target = (trail.onward if way == "onward" else trail.back).get(at)
    target = (
        last_target if last_target in neighbors else min(neighbors, key=lambda v: _distance(picture, at, v))
    )
    first, last = (at, target) if way == "onward" else (target, at)
    return target, replace(
        trail,
        onward={**trail.onward, first: last},
        back={**trail.back, last: first},
        parent=at if way == "onward" else None,
    )


def step_beside(picture: Picture, at: int, step: Literal[-1, 1], trail: CursorTrail | None = None) -> int:
    """Go up (-1) or down (1): in the fan, the layer, then the next layer; in a list by lines."""
    if picture.kind == "list":
        order = sorted(range(len(picture.places)), key=lambda v: picture.places[v].y)
        return order[min(len(order) - 1, max(0, order.index(at) + step))]
    net = picture.layout.net
    if trail and trail.parent is not None:
        fan = [v for u, v in picture.layout.drawn if u == trail.parent]
        neighbor = _neighbor_in_order(sorted(fan, key=lambda v: picture.layout.row[v]), at, step)
        if neighbor is not None:
            return neighbor
    order = sorted(range(net.steps), key=lambda v: (net.layer[v], picture.layout.row[v]))
    neighbor = _neighbor_in_order(order, at, step)
    return at if neighbor is None else neighbor


def _neighbor_in_order(order: Sequence[int], at: int, step: int) -> int | None:
    if at not in order:
        return None
    index = order.index(at) + step
    return order[index] if 0 <= index < len(order) else None


def _distance(picture: Picture, at: int, v: int) -> tuple[int, int, int]:
    row, layer = picture.layout.row, picture.layout.net.layer
    return abs(row[v] - row[at]), abs(layer[v] - layer[at]), v


def urgent_steps(layout: GraphLayout, facts: Mapping[int, StepFacts]) -> list[int]:
    """Return the steps with an urgent status, by `URGENT_STATUSES`, then from left to right."""
    urgent = [v for v in range(layout.net.steps) if v in facts and facts[v].state in URGENT_STATUSES]
    return sorted(
        urgent, key=lambda v: (URGENT_STATUSES.index(facts[v].state), layout.net.layer[v], layout.row[v])
    )


def longest_path(graph: Graph, seconds: Sequence[float]) -> list[int]:
    """Return the steps of the path with the most seconds."""
    best: list[tuple[float, int]] = [(0.0, 0)] * len(seconds)
    before: list[int | None] = [None] * len(seconds)
    for v in topological_order(graph.needs, graph.feeds):
        for p in sorted(graph.needs[v]):
            if best[p] > best[v]:
                best[v], before[v] = best[p], p
        best[v] = best[v][0] + max(0.0, seconds[v]), best[v][1] + 1
    step = max(range(len(best)), key=lambda v: (best[v], -v), default=None)
    path: list[int] = []
    while step is not None:
        path.append(step)
        step = before[step]
    return path[::-1]


def neighbourhood(graph: Graph, at: int, hops: int | None = None) -> tuple[GraphStep, ...]:
    """Keep a step with what comes before and after it, at most so many hops away."""
    included = {at}
    for edges in (graph.needs, graph.feeds):
        ring = [at]
        reached = {at}
        distance = 0
        while ring and (hops is None or distance < hops):
            ring = [v for v in dict.fromkeys(w for u in ring for w in edges[u]) if v not in reached]
            reached.update(ring)
            distance += 1
        included |= reached
    ids = {graph.steps[v].id for v in included}
    return tuple(
        replace(
            step,
            needs=tuple(need for need in step.needs if need in ids),
            returns=tuple(to for to in step.returns if to in ids),
        )
        for v, step in enumerate(graph.steps)
        if v in included
    )


def needs_and_feeds_text(layout: GraphLayout, at: int) -> str:
    """Return what a step needs and feeds, in words; implied edges stand in brackets."""
    graph, hidden = layout.graph, frozenset(layout.hidden)
    needs = [_edge_name(graph, u, (u, at) in hidden) for u in graph.needs[at]]
    feeds = [_edge_name(graph, v, (at, v) in hidden) for v in graph.feeds[at]]
    back = [display_name(graph.steps[to]) for start, to in graph.back if start == at]
    parts = [("needs", needs), ("feeds", feeds), ("may go back to", back)]
    between = {"feeds": " or " if graph.steps[at].chooses else ", "}
    return " · ".join(f"{verb} {between.get(verb, ', ').join(names)}" for verb, names in parts if names)


def _edge_name(graph: Graph, v: int, is_hidden: bool) -> str:
    name = display_name(graph.steps[v])
    return f"({name})" if is_hidden else name


def hidden_edges_note(layout: GraphLayout) -> str:
    """Say how many edges are not drawn because others imply them; empty for none."""
    count = len(layout.hidden)
    return f"{count} implied edge{'s' * (count > 1)} hidden" if count else ""


_OVERVIEW_DOTS: dict[StepStatus, tuple[str, str]] = {
    "completed": ("▪", "v"),
    "completed_empty": ("▪", "v"),
    "pending": ("·", "."),
    "ready": ("·", "."),
}


def overview_lines(
    layout: GraphLayout, facts: Mapping[int, StepFacts], *, rows: int | None = None, is_ascii: bool = False
) -> list[str]:
    """Draw one cell for each layer and so many rows (None: all in one line); the worst state wins."""
    per_line = max(1, rows or layout.height)
    worst: dict[tuple[int, int], int] = {}
    for v in range(layout.net.steps):
        spot = layout.row[v] // per_line, layout.net.layer[v]
        rank = STATUS_BY_SEVERITY.index(facts.get(v, PENDING_FACTS).state)
        worst[spot] = min(rank, worst.get(spot, rank))
    lines = -(-layout.height // per_line)
    return [
        " ".join(
            _overview_dot(worst.get((line, layer)), rows is None, is_ascii) for layer in range(layout.layers)
        ).rstrip()
        for line in range(lines)
    ]


def overview_viewport(
    layout: GraphLayout,
    picture: Picture,
    span: tuple[int, int],
    lines: tuple[int, int],
    *,
    rows: int | None = None,
) -> tuple[int, int, int, int]:
    """Return the part of the overview that a pane shows: first and last column, first and last line."""
    per_line = max(1, rows or layout.height)
    visible = [
        v
        for v, place in enumerate(picture.places)
        if place.sign_x < span[1] and place.end > span[0] and lines[0] <= place.y < lines[1]
    ]
    columns = [2 * layout.net.layer[v] for v in visible] or [0]
    rows_seen = [layout.row[v] // per_line for v in visible] or [0]
    return min(columns), max(columns), min(rows_seen), max(rows_seen)


def _overview_dot(rank: int | None, is_plain: bool, is_ascii: bool) -> str:
    if rank is None:
        return " "
    state = STATUS_BY_SEVERITY[rank]
    small = None if is_plain else _OVERVIEW_DOTS.get(state)
    return small[is_ascii] if small else status_sign(StepFacts(state=state), is_ascii=is_ascii)


def back_edge_lines(picture: Picture, at: int) -> list[str]:
    """Draw the edges that lead back from or to a step, one line each, to stand below the picture."""
    back = [edge for edge in picture.layout.graph.back if at in edge]
    return [_back_edge_line(picture, start, to) for start, to in back]


def _back_edge_line(picture: Picture, start: int, to: int) -> str:
    source, target = picture.places[start], picture.places[to]
    arrow, dash, left, right = "<.''" if picture.is_ascii else "◄╌╰╯"
    width = source.end - max(1, cell_width(source.mark) // 2) - target.sign_x
    if picture.kind in ("list", "wrapped") or width < 4:
        names = [display_name(picture.steps()[v]) for v in (start, to)]
        words = " → ".join(names)
        return f"{arrow}{dash} {as_ascii(words.replace('→', '->')) if picture.is_ascii else words}"
    return " " * target.sign_x + left + arrow + dash * (width - 3) + right


def combine_facts(members: Sequence[StepFacts]) -> StepFacts:
    """Return the worst state of the members of a fold, and how many have which state."""
    if not members:
        return StepFacts(counts=StatusCounts())
    states: list[StepStatus] = [facts.state for facts in members]
    done: tuple[StepStatus, ...] = ("completed", "completed_empty", "refused")
    return StepFacts(
        state=min(states, key=STATUS_BY_SEVERITY.index),
        counts=StatusCounts(
            ok=sum(state in done for state in states),
            run=sum(state in ("running", "retrying") for state in states),
            failed=states.count("failed") + states.count("warned"),
            asks=states.count("waiting"),
            todo=states.count("pending") + states.count("ready"),
        ),
    )
