"""The steps of a graph, its edges without cycles, and what is known of each step of a run."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from workbench.text.safe import one_line
from workbench.views.status_icons import StepStatus

LONGEST_NAME = 200
"""Cells of a name that are kept at all; a drawing cuts it further."""


class GraphStep(Struct, frozen=True, kw_only=True):
    """A step of a pipeline as far as a drawing needs it."""

    id: str
    """Unique in the pipeline; what other steps name."""
    needs: tuple[str, ...] = ()
    """Ids of the steps that end before this one starts."""
    name: str = ""
    """What is shown; the id where it is empty."""
    returns: tuple[str, ...] = ()
    """Ids of earlier steps that this one may send the run back to (rework)."""
    attempts: int = 1
    """How often it may be tried; more than one reserves room for the count."""
    asks: bool = False
    """It is a gate: room for what it asks and until when is reserved."""
    chooses: bool = False
    """The run continues with only one of the steps that it feeds: a branch, not a fan."""
    contract: bool = False
    """Its output is checked: room for the mark is reserved."""
    is_matrix: bool = False
    """It runs once for each of a list of items."""
    items: tuple[str, ...] | None = None
    """The items of a matrix, None as long as the list is not known."""
    item_count: int = 0
    """How many items a matrix will have, if that is known before they are."""
    many: int | None = None
    """How many steps a folded step stands for: None = it is one step, 0 = not known yet."""
    is_open: bool = False
    """A matrix whose items are listed below it."""


class Graph(Struct, frozen=True, kw_only=True):
    """Steps by index in file order, with edges that form no loop."""

    steps: tuple[GraphStep, ...]
    needs: tuple[tuple[int, ...], ...]
    """The predecessors of each step."""
    feeds: tuple[tuple[int, ...], ...]
    """The successors of each step."""
    back: tuple[tuple[int, int], ...] = ()
    """From, to: edges that lead back; a mark on the first, never a line of the layout."""
    problems: tuple[str, ...] = ()
    """What was left out and why, one sentence each."""

    def index(self, step_id: str) -> int:
        """Find a step by its id. Raises KeyError."""
        for position, step in enumerate(self.steps):
            if step.id == step_id:
                return position
        raise KeyError(step_id)

    def edges(self) -> tuple[tuple[int, int], ...]:
        return tuple(sorted((p, v) for v, needs in enumerate(self.needs) for p in needs))


def build_graph(steps: Sequence[GraphStep]) -> Graph:
    """Make a graph of the steps; what cannot be drawn as an edge becomes a problem or a back edge."""
    problems: list[str] = []
    needs = _indexed_needs(steps, problems)
    needs_kept, closing = _without_loops(needs, [display_name(step) for step in steps], problems)
    return Graph(
        steps=tuple(steps),
        needs=tuple(tuple(row) for row in needs_kept),
        feeds=tuple(tuple(row) for row in _reversed_edges(needs_kept)),
        back=tuple(sorted({*closing, *_self_loops(steps), *_declared_returns(steps)})),
        problems=tuple(problems),
    )


def display_name(step: GraphStep) -> str:
    """Return the name of a step as it may be drawn: one line, nothing hidden, never empty."""
    name = one_line(step.name or step.id, LONGEST_NAME).strip() or "·"
    if step.many is None:
        return name
    return f"{name} ({step.many or '?'})"


def topological_order(needs: Sequence[Sequence[int]], feeds: Sequence[Sequence[int]]) -> list[int]:
    """Order the indexes so that each stands after its predecessors, early ones first."""
    open_needs = [len(row) for row in needs]
    order = [v for v, count in enumerate(open_needs) if not count]
    for v in order:
        for w in feeds[v]:
            open_needs[w] -= 1
            if not open_needs[w]:
                order.append(w)
    return order


def implied_edges(graph: Graph) -> frozenset[tuple[int, int]]:
    """Find the edges that say nothing new: A to C beside A to B to C."""
    before = [0] * len(graph.steps)
    implied: list[tuple[int, int]] = []
    for v in topological_order(graph.needs, graph.feeds):
        union = own = 0
        for p in graph.needs[v]:
            union |= before[p]
            own |= 1 << p
        if union & own:
            implied += [(p, v) for p in graph.needs[v] if union >> p & 1]
        before[v] = union | own
    return frozenset(implied)


def _indexed_needs(steps: Sequence[GraphStep], problems: list[str]) -> list[list[int]]:
    index: dict[str, int] = {}
    for index_of_step, step in enumerate(steps):
        if step.id in index:
            problems.append(f"two steps are called {_quoted(step.id)}: needs mean the first")
        index.setdefault(step.id, index_of_step)
    return [
        _indexed_needs_of(index_of_step, step, index, problems) for index_of_step, step in enumerate(steps)
    ]


def _indexed_needs_of(
    position: int, step: GraphStep, index: dict[str, int], problems: list[str]
) -> list[int]:
    indexes: list[int] = []
    for need in dict.fromkeys(step.needs):
        other = index.get(need)
        if other is None:
            problems.append(f"{_quoted(step.id)} needs {_quoted(need)}: there is no such step")
        elif other == position or need == step.id:
            problems.append(f"{_quoted(step.id)} needs itself")
        else:
            indexes.append(other)
    return indexes


def _quoted(step_id: str) -> str:
    return one_line(step_id, 40)


def _without_loops(
    needs: list[list[int]], names: list[str], problems: list[str]
) -> tuple[list[list[int]], list[tuple[int, int]]]:
    feeds = _reversed_edges(needs)
    closing: list[tuple[int, int]] = []
    seen = [0] * len(needs)  # 1 = on the path, 2 = done
    for start in range(len(needs)):
        if seen[start]:
            continue
        path, edges = [start], [iter(feeds[start])]
        seen[start] = 1
        while path:
            target = next(edges[-1], None)
            if target is None:
                edges.pop()
                seen[path.pop()] = 2
            elif seen[target] == 1:
                closing.append((path[-1], target))
                loop = [names[v] for v in path[path.index(target) :]] + [names[target]]
                problems.append(f"loop: {one_line(' → '.join(loop), 120)}")
            elif not seen[target]:
                seen[target] = 1
                path.append(target)
                edges.append(iter(feeds[target]))
    cut = set(closing)
    return [[p for p in row if (p, v) not in cut] for v, row in enumerate(needs)], closing


def _reversed_edges(needs: Sequence[Sequence[int]]) -> list[list[int]]:
    feeds: list[list[int]] = [[] for _ in needs]
    for v, row in enumerate(needs):
        for p in row:
            feeds[p].append(v)
    return feeds


def _self_loops(steps: Sequence[GraphStep]) -> list[tuple[int, int]]:
    return [(position, position) for position, step in enumerate(steps) if step.id in step.needs]


def _declared_returns(steps: Sequence[GraphStep]) -> list[tuple[int, int]]:
    index = {step.id: position for position, step in reversed(list(enumerate(steps)))}
    return [
        (position, index[to]) for position, step in enumerate(steps) for to in step.returns if to in index
    ]


STATUS_BY_SEVERITY: tuple[StepStatus, ...] = (
    "failed",
    "waiting",
    "warned",
    "retrying",
    "running",
    "ready",
    "pending",
    "cancelled",
    "skipped",
    "refused",
    "completed_empty",
    "completed",
)
"""From what must be seen first to what may be overlooked."""


class StatusCounts(Struct, frozen=True, kw_only=True):
    """How the members of a folded step stand."""

    ok: int = 0
    run: int = 0
    failed: int = 0
    asks: int = 0
    todo: int = 0
    """Not started; said only where another one has."""


class StepFacts(Struct, frozen=True, kw_only=True):
    """What is known of one step of a run."""

    state: StepStatus = "pending"
    duration: str = ""
    """How long it took or has been at work, as `duration_text` writes it."""
    attempt: int = 1
    contract: Literal["", "kept", "broken"] = ""
    left: str = ""
    """The time left to answer it while it waits: `14:20`; empty for what does not expire."""
    asks: str = ""
    """What it asks while it waits: `docs/review.md +2`."""
    reason: str = ""
    """Why it failed."""
    is_queued: bool = False
    """It could run and waits for a place among the steps of all runs."""
    share: float | None = None
    """The part of its usual time that has gone by while it runs; None where no earlier run tells."""
    usual: str = ""
    """How long it took in an earlier run."""
    counts: StatusCounts | None = None
    """Of a folded step."""
    refused: int = 0
    """Calls of its agents that were refused."""
    notes: tuple[str, ...] = ()
    """What came of it, one line each: what it handed on, its last words."""


PENDING_FACTS = StepFacts()
