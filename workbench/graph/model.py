"""The steps of a graph, its edges without cycles, and what is known of each step of a run.

Holds the states, their one-cell signs and the short badge texts. A badge never grows wider than the cells
that the layout reserved for it.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from workbench.text.safe import one_line
from workbench.text.width import cell_width, cut_to_width
from workbench.views.status_icons import ICONS, STEP_STATUSES, StepStatus

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
    """Only one of the steps that it feeds goes on: a branch, not a fan."""
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
    kept, closing = _without_loops(needs, [display_name(step) for step in steps], problems)
    return Graph(
        steps=tuple(steps),
        needs=tuple(tuple(row) for row in kept),
        feeds=tuple(tuple(row) for row in _reversed_edges(kept)),
        back=tuple(sorted({*closing, *_self_loops(steps), *_declared_returns(steps)})),
        problems=tuple(problems),
    )


def display_name(step: GraphStep) -> str:
    """Return the name of a step as it may be drawn: one line, nothing hidden, never empty."""
    name = one_line(step.name or step.id, LONGEST_NAME).strip() or "·"
    if step.many is None:
        return name
    return f"{name} x{step.many or '?'}"


def topological_order(needs: Sequence[Sequence[int]], feeds: Sequence[Sequence[int]]) -> list[int]:
    """Order the indexes so that each stands after its predecessors, early ones first."""
    left = [len(row) for row in needs]
    order = [v for v, count in enumerate(left) if not count]
    for v in order:
        for w in feeds[v]:
            left[w] -= 1
            if not left[w]:
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
    "completed_empty",
    "completed",
)
"""From what must be seen first to what may be overlooked."""
_DURATION_WIDTH = 4
_COUNTS_WIDTH = len("99 ok 99 run 99 failed")


class StatusCounts(Struct, frozen=True, kw_only=True):
    """How the members of a folded step stand."""

    ok: int = 0
    run: int = 0
    failed: int = 0
    asks: int = 0
    todo: int = 0
    """Not begun; said only where another one has."""


class StepFacts(Struct, frozen=True, kw_only=True):
    """What is known of one step of a run."""

    state: StepStatus = "pending"
    duration: str = ""
    """At most 4 cells: see `short_duration`."""
    attempt: int = 1
    contract: Literal["", "kept", "broken"] = ""
    note: str = ""
    """What a gate asks, or until when: `ask 14:22`."""
    counts: StatusCounts | None = None
    """Of a folded step."""


PENDING_FACTS = StepFacts()


def short_duration(seconds: float) -> str:
    """Write a duration in at most 4 cells: `0.4s` `12s` `8m41` `2h13` `3d4h` `412d`."""
    whole = int(max(0.0, seconds))
    if seconds < 9.95:
        tenths = f"{max(0.0, seconds):.1f}s"
        return tenths if not tenths.endswith(".0s") else tenths.replace(".0", "")
    for unit, sign, small, below in ((86400, "d", 3600, "h"), (3600, "h", 60, ""), (60, "m", 1, "")):
        if whole >= unit:
            return _two_units(whole // unit, sign, whole % unit // small, below)
    return f"{whole}s"


def _two_units(big: int, sign: str, rest: int, below: str) -> str:
    text = f"{big}{sign}{rest}{below}" if below else f"{big}{sign}{rest:02}"
    return text if len(text) <= _DURATION_WIDTH else f"{min(big, 999)}{sign}"


def badge_width(step: GraphStep) -> int:
    """Return the cells that the badges of a step may take at most while it lives."""
    if step.many is not None:
        return _COUNTS_WIDTH
    if step.asks:
        return len("ask 14:22")
    retry = 1 + len(f"{RETRIES}{step.attempts}/{step.attempts}") if step.attempts > 1 else 0
    return _DURATION_WIDTH + retry + (3 if step.contract else 0)


def static_badge_width(step: GraphStep, facts: StepFacts) -> int:
    """Return the cells of a picture that does not live: what is said of a step is known and has room."""
    words = (
        len(FAILED_GOES_ON) + 1 + _DURATION_WIDTH if facts.state == "warned" and facts.counts is None else 0
    )
    return max(badge_width(step), words)


def fact_line_width(step: GraphStep) -> int:
    """Return the cells that a step may take for its facts where they have a line of their own (cards)."""
    if step.many is not None:
        return _COUNTS_WIDTH
    if step.asks:
        return len("asks you 14:22")
    retry = len("  « 2/3") if step.attempts > 1 else 0
    return _DURATION_WIDTH + retry + (len("  contract ✓") if step.contract else 0)


def status_sign(facts: StepFacts, *, is_ascii: bool = False) -> str:
    """Return the icon of a status, one cell wide."""
    icon = ICONS[STEP_STATUSES[facts.state][0]]
    return icon.ascii if is_ascii else icon.unicode


def fact_line(step: GraphStep, facts: StepFacts, room: int, *, is_ascii: bool = False) -> str:
    """Write the same as a badge in words, where they fit: `1m12  « 2/3  contract ✓`."""
    retry = _attempt_text(step, facts)
    parts = (
        cut_to_width(facts.duration, _DURATION_WIDTH),
        _BADGE_WORDS.get(facts.state, ""),
        facts.note if facts.state in ("waiting", "running") else "",
        f"{RETRIES} {retry}" if retry else "",
        {"kept": "contract ✓", "broken": "contract ×"}.get(facts.contract, ""),
    )
    text = "  ".join(part for part in parts if part)
    text = as_ascii(text) if is_ascii else text
    if facts.counts is None and cell_width(text) <= room:
        return text
    return badge_text(step, facts, room, is_ascii=is_ascii)


def badge_text(step: GraphStep, facts: StepFacts, room: int, *, is_ascii: bool = False) -> str:
    """Write what fits of duration, attempt, contract, counts or what a gate asks."""
    if facts.counts is not None:
        return _counts_text(facts.counts, room)
    for parts in _badge_candidates(step, facts):
        text = " ".join(part for part in parts if part)
        text = as_ascii(text) if is_ascii else text
        if text and cell_width(text) <= room:
            return text
    return ""


def _badge_candidates(step: GraphStep, facts: StepFacts) -> list[tuple[str, ...]]:
    time = cut_to_width(facts.duration, _DURATION_WIDTH)
    tried = _attempt_text(step, facts)
    retry = f"{RETRIES}{tried}" if tried else ""
    mark = {"kept": "c✓", "broken": "c×"}.get(facts.contract, "")
    word = _BADGE_WORDS.get(facts.state, "")
    note = facts.note if facts.state in ("waiting", "running") else ""
    brief = "skip" if facts.state == "skipped" else ""
    bang = f"{time}!" if facts.state == "warned" else time
    widest = [(time, word, note, retry, mark), (word, note, retry, mark), (bang, note, retry, mark)]
    return [
        *widest,
        (note, mark),
        (bang, retry),
        (bang, mark),
        (note,),
        (word,),
        (brief,),
        (retry,),
        (bang,),
        (time,),
        (mark,),
    ]


def _attempt_text(step: GraphStep, facts: StepFacts) -> str:
    """Return `2/3`: which attempt of how many; `4` where a run went round more often than a step is tried."""
    if facts.attempt < 2 and facts.state != "retrying":
        return ""
    return f"{facts.attempt}/{step.attempts}" if facts.attempt <= step.attempts else str(facts.attempt)


FAILED_GOES_ON = STEP_STATUSES["warned"][1]
RETRIES = ICONS["retries"].unicode
_BADGE_WORDS: dict[StepStatus, str] = {
    "completed_empty": "empty",
    **{name: STEP_STATUSES[name][1] for name in ("warned", "skipped", "cancelled")},
}
"""Words of statuses that their icon and their time do not say."""


def _counts_text(counts: StatusCounts, room: int) -> str:
    shown = ((counts.ok, "ok"), (counts.run, "run"), (counts.asks, "ask"), (counts.failed, "failed"))
    kept = [f"{n} {word}" for n, word in shown if n]
    if kept and counts.todo:
        text = " ".join((*kept, f"{counts.todo} todo"))
        if len(text) <= room:
            return text
    while kept:
        text = " ".join(kept)
        if len(text) <= room:
            return text
        kept = kept[1:]  # what failed stands last and is cut last
    return ""


def as_ascii(text: str) -> str:
    """Write a text in ASCII; what has no counterpart becomes `?`, one for each cell."""
    if text.isascii():
        return text
    return "".join(_ASCII_FALLBACKS.get(c, c if c.isascii() else "?" * cell_width(c)) for c in text)


_ASCII_FALLBACKS = {
    **{icon.unicode: icon.ascii for icon in ICONS.values()},
    **{"…": "~", "←": "<", "·": ".", "⏎": "^", "→": ">"},
}
