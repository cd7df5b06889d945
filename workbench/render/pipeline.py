"""Pipelines: the graph of a run, rows of two runs compared, rows of the launch form.

Nothing of a status may reach the structure (`graph_steps`), so a running graph never moves.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from workbench.domain.values import StepPlan
from workbench.graph.model import (
    PENDING_FACTS,
    STATUS_BY_SEVERITY,
    GraphStep,
    StatusCounts,
    StepFacts,
    short_duration,
)
from workbench.graph.navigation import FoldedGraph, FoldMember, combine_facts
from workbench.render import cells
from workbench.render.cells import Column, safe_content, styled
from workbench.render.list_rows import cursor_column
from workbench.render.theme import Glyphs, Ink
from workbench.text.human import countdown_text, duration_text, token_text
from workbench.views.detail_pages import ComparedStep, ComparisonRow, RunComparison
from workbench.views.pipeline import (
    ContractState,
    GrantOffer,
    LaunchProblem,
    PipelineChoice,
    PipelineItem,
    PipelineRun,
    PipelineStep,
    PlannedStep,
)
from workbench.views.status_icons import StepStatus

_STATES_WITH_DURATION: tuple[StepStatus, ...] = (
    "running", "retrying", "completed", "completed_empty", "warned", "failed", "cancelled",
)  # fmt: skip
"""States in which a duration says something; a gate's window is said instead of its time."""


def planned_graph_steps(
    plans: Iterable[StepPlan], lists: Mapping[str, tuple[str, ...]] | None = None
) -> tuple[GraphStep, ...]:
    """Return the steps of a pipeline that does not run; `lists` has the items of matrix steps."""
    return tuple(
        GraphStep(
            id=plan.id, needs=plan.needs, name=plan.name, returns=plan.returns, attempts=plan.attempts,
            asks=plan.kind == "gate", chooses=plan.kind == "route", contract=bool(plan.contract),
            is_matrix=plan.is_matrix, item_count=plan.item_count, items=(lists or {}).get(plan.id),
        )
        for plan in plans
    )  # fmt: skip


def graph_steps(run: PipelineRun) -> tuple[GraphStep, ...]:
    """Return the structure of a run: it changes when a matrix learns its items, and never with a state."""
    return tuple(
        GraphStep(
            id=step.id, needs=step.needs, name=step.name, returns=step.returns, attempts=step.attempts,
            asks=step.kind == "gate", chooses=step.kind == "route", contract=bool(step.contract),
            is_matrix=step.is_matrix, item_count=step.item_count,
            items=tuple(_item_key(step, item) for item in step.items) if step.items else None,
        )
        for step in run.steps
    )  # fmt: skip


def _item_key(step: PipelineStep, item: PipelineItem) -> str:
    return item.id.removeprefix(f"{step.id}[").removesuffix("]")


def graph_step_facts(step: PipelineStep) -> StepFacts:
    """Return how one step stands; a matrix is the sum of its items."""
    counts, state = None, step.state
    if step.counts is not None:
        items = step.counts
        counts = StatusCounts(
            ok=items.done, run=items.running, failed=items.failed, asks=items.waiting, todo=items.todo
        )
        if step.state in ("running", "waiting", "retrying"):
            # The worst item is what must be seen: failed before asking before running.
            state = "failed" if items.failed else "waiting" if items.waiting else step.state
    return StepFacts(
        state=state, duration=_duration_text(step.state, step.seconds), attempt=max(1, step.attempt),
        contract=_contract_mark(step.contract_mark), note=_step_note(step), counts=counts,
    )  # fmt: skip


def graph_item_facts(item: PipelineItem) -> StepFacts:
    """Return how one item of a matrix stands."""
    return StepFacts(
        state=item.state, duration=_duration_text(item.state, item.seconds), attempt=max(1, item.attempt),
        contract=_contract_mark(item.contract_mark), note=item.error,
    )  # fmt: skip


def _contract_mark(mark: ContractState) -> Literal["", "kept", "broken"]:
    return "" if mark == "unchecked" else mark


def _duration_text(state: StepStatus, seconds: float) -> str:
    has_worked = seconds > 0 or state != "cancelled"  # what never began took no time
    return short_duration(seconds) if state in _STATES_WITH_DURATION and has_worked else ""


def _step_note(step: PipelineStep) -> str:
    if step.state != "waiting":
        return ""
    return "asks you" if step.left is None else f"ask {countdown_text(_floor_to_tens(step.left))}"


_ENDED_STATES: tuple[StepStatus, ...] = ("completed", "completed_empty", "warned", "failed")
_STATE_ORDER = {state: rank for rank, state in enumerate(STATUS_BY_SEVERITY)}
_UNSEEN_ITEMS = {state: FoldMember(name="", facts=StepFacts(state=state)) for state in STATUS_BY_SEVERITY}


def _floor_to_tens(left: float) -> float:
    """Round the time for an answer down to 10 s: a graph does not count seconds; the queue's row does."""
    return left // 10 * 10


class RunFacts:
    """The facts of everything that may be drawn of one run, by id."""

    def __init__(self, run: PipelineRun) -> None:
        self.run = run
        self.steps = {step.id: step for step in run.steps}
        self._facts = {step.id: graph_step_facts(step) for step in run.steps}
        self._items: dict[str, PipelineItem] = {}
        for step in run.steps:
            self._items.update((item.id, item) for item in step.items)

    def step_of(self, drawn: str, folded: FoldedGraph) -> PipelineStep | None:
        """Return the step of the file behind what is drawn: of an item its matrix, of a fold the worst."""
        if drawn in self.steps:
            return self.steps[drawn]
        if drawn in self._items:
            return self.steps.get(drawn.partition("[")[0])
        members = [member for member in folded.members.get(drawn, ()) if member in self.steps]
        worst = combine_facts([self._facts[member] for member in members]).state
        return next((self.steps[member] for member in members if self._facts[member].state == worst), None)

    def item(self, drawn: str) -> PipelineItem | None:
        """Return the item of a matrix that is drawn as a step."""
        return self._items.get(drawn)

    def of(self, drawn: str, folded: FoldedGraph) -> StepFacts:
        """Return how something drawn stands."""
        if drawn in self._facts:
            return self._facts[drawn]
        if drawn in self._items:
            return graph_item_facts(self._items[drawn])
        return combine_facts(
            [self._facts.get(member, PENDING_FACTS) for member in folded.members.get(drawn, ())]
        )

    def members(
        self, drawn: str, folded: FoldedGraph, first: int, lines: int
    ) -> tuple[list[FoldMember], str]:
        """Return what an open fold lists, and how long those took that are only counted.

        `first` items are scrolled past, the worst status first; those not among the `lines` seen have only a
        status.
        """
        ids = folded.members.get(drawn, ())
        states = [self._state(member) for member in ids]
        order = sorted(range(len(ids)), key=[_STATE_ORDER[state] for state in states].__getitem__)
        members = [_UNSEEN_ITEMS[state] for state in states]
        for index in order[first : first + lines]:
            members[index] = FoldMember(name=self._name(ids[index]), facts=self._fact(ids[index]))
        return members, self._spread([ids[index] for index in order[first + lines - 1 :]])

    def _spread(self, rest: Sequence[str]) -> str:
        known = (self._items.get(item) for item in rest)
        took = [item.seconds for item in known if item is not None and item.state in _ENDED_STATES]
        if not took:
            return ""
        least, most = short_duration(min(took)), short_duration(max(took))
        return least if least == most else f"{least}…{most}"

    def _state(self, drawn: str) -> StepStatus:
        item = self._items.get(drawn)
        return item.state if item is not None else self._facts.get(drawn, PENDING_FACTS).state

    def _fact(self, drawn: str) -> StepFacts:
        item = self._items.get(drawn)
        return graph_item_facts(item) if item is not None else self._facts.get(drawn, PENDING_FACTS)

    def _name(self, drawn: str) -> str:
        item = self._items.get(drawn)
        return item.label if item else self.steps[drawn].name if drawn in self.steps else drawn


def expected_seconds(
    paint: RunFacts, folded: FoldedGraph, drawn: Sequence[GraphStep], before: Mapping[str, float]
) -> list[float]:
    """Return what each drawn step took or is expected to take, by the seconds of an earlier run."""
    expected: list[float] = []
    for step in drawn:
        ids = folded.members.get(step.id) or (step.id,)
        steps = [paint.steps[step_id] for step_id in ids if step_id in paint.steps]
        if not steps and step.id in paint.steps:
            steps = [paint.steps[step.id]]
        expected.append(max((_expected_step_seconds(step_id, before) for step_id in steps), default=0.0))
    return expected


def _expected_step_seconds(step: PipelineStep, before: Mapping[str, float]) -> float:
    is_over = step.completed_at is not None
    return step.seconds if is_over else max(step.seconds, before.get(step.id, 0.0))


def seconds_to_go(paint: RunFacts, path: Iterable[str], before: Mapping[str, float]) -> float | None:
    """Return the seconds that are left on a path; None where nobody knows how long a step of it takes."""
    left = 0.0
    for key in path:
        step = paint.steps.get(key)
        if step is None or step.completed_at is not None or step.kind == "gate":
            continue
        if key not in before:
            return None
        left += max(0.0, before[key] - step.seconds)
    return left


_TIME_CELLS, _MIN_OUTCOME_CELLS, _MAX_OUTCOME_CELLS = 9, 11, 27
_OTHER_CELLS = 80


def comparison_head_strip(comparison: RunComparison, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Draw the heads: the titles of both runs over their columns."""
    faint, bold = ink.of("faint"), ink.of("foreground", bold=True)
    columns = _comparison_columns(
        width, Content(" "), styled("step", faint), _run_heads("before", comparison.earlier.title, bold, ink),
        _run_heads("now", comparison.later.title, bold, ink), styled("change", faint), Content(""),
    )  # fmt: skip
    return cells.row_strip(columns, width, ink.on("background"), glyphs=glyphs)


def _run_heads(word: str, title: str, style: Style, ink: Ink) -> tuple[Content, Content, Content]:
    number = title.rpartition(" #")[2] if " #" in title else ""
    faint = ink.of("faint")
    return (
        safe_content(f"{word} #{number}" if number else word, style, ink), styled("time", faint),
        styled("tokens", faint),
    )  # fmt: skip


def comparison_strip(
    row: ComparisonRow, width: int, ink: Ink, glyphs: Glyphs, *, is_cursor: bool, has_focus: bool
) -> Strip:
    """Draw one step in both runs."""
    bar = cursor_column(glyphs, ink, is_cursor=is_cursor, has_focus=True).content
    name = safe_content(row.name, ink.of("foreground", bold=row.kind in ("outcome", "added", "gone")), ink)
    word = _outcome_cells(width)
    columns = _comparison_columns(
        width, bar, name, _step_contents(row.earlier, word, ink, glyphs),
        _step_contents(row.later, word, ink, glyphs),
        _time_change(row, ink),
        _token_change(row.tokens, ink) if row.earlier and row.later else Content(""),
    )  # fmt: skip
    return cells.row_strip(
        columns, width, ink.cursor(has_focus=has_focus) if is_cursor else None, glyphs=glyphs
    )


def comparison_total_strip(comparison: RunComparison, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Draw the sums of both runs."""
    bold = ink.of("foreground", bold=True)
    sides = [
        (
            styled(run.status, bold),
            styled(duration_text(run.seconds), bold),
            styled(token_text(run.tokens), bold),
        )
        for run in (comparison.earlier, comparison.later)
    ]
    change = styled(_signed_duration(comparison.later.seconds - comparison.earlier.seconds), bold)
    columns = _comparison_columns(
        width, Content(" "), styled("all of it", bold), sides[0], sides[1], change,
        _token_change(comparison.later.tokens - comparison.earlier.tokens, ink),
    )  # fmt: skip
    return cells.row_strip(columns, width, ink.on("panel"), glyphs=glyphs)


def _outcome_cells(width: int) -> int:
    return max(_MIN_OUTCOME_CELLS, min(_MAX_OUTCOME_CELLS, (width - _OTHER_CELLS) // 2))


def _comparison_columns(
    width: int,
    bar: Content,
    name: Content,
    earlier: tuple[Content, Content, Content],
    later: tuple[Content, Content, Content],
    change: Content,
    more: Content,
) -> list[Column]:
    columns = [Column(content=bar, gap=0), Column(content=name, grows=True, least=12, gap=0)]
    for side in (earlier, later):
        columns += [
            Column(content=side[0], width=_outcome_cells(width), gap=2),
            Column(content=side[1], width=_TIME_CELLS, align="right", drop=1),
            Column(content=side[2], width=6, align="right", drop=3),
        ]
    columns += [
        Column(content=change, width=_MIN_OUTCOME_CELLS, align="right", gap=2),
        Column(content=more, width=8, align="right", drop=2),
        Column(content=Content(" "), gap=0),
    ]
    return columns


def _step_contents(
    side: ComparedStep | None, word_cells: int, ink: Ink, glyphs: Glyphs
) -> tuple[Content, Content, Content]:
    if side is None:
        return styled("not in it", ink.of("faint")), Content(""), Content("")
    tried = f" {glyphs.of('retries')}{side.attempt}" if side.attempt > 1 else ""
    word = styled(f"{glyphs.of(side.sign)} {side.word}{tried}", ink.sign(side.sign))
    muted = ink.of("muted")
    has_time = side.seconds >= 0.05
    return (
        cells.shorten_line(word, word_cells, glyphs),
        styled(duration_text(side.seconds) if has_time else "", muted),
        styled(token_text(side.tokens) if side.tokens else "", muted),
    )


def _time_change(row: ComparisonRow, ink: Ink) -> Content:
    if row.kind in ("added", "gone"):
        return styled("new" if row.kind == "added" else "gone", ink.of("info"))
    if row.kind == "outcome":
        words = "failed now" if row.is_worse else "differs"
        return styled(words, ink.of("failed" if row.is_worse else "waiting", bold=True))
    if row.kind in ("same", "open"):
        return styled("same" if row.kind == "same" else "not yet", ink.of("faint"))
    return styled(_signed_duration(row.seconds), ink.of("waiting" if row.kind == "slower" else "added"))


def _signed_duration(seconds: float) -> str:
    if abs(seconds) < 0.05:
        return "same"
    return f"{'+' if seconds > 0 else '-'}{duration_text(abs(seconds))}"


def _token_change(count: int, ink: Ink) -> Content:
    if not count:
        return Content("")
    return styled(f"{'+' if count > 0 else '-'}{token_text(abs(count))}", ink.of("muted"))


def comparison_text(row: ComparisonRow) -> str:
    """Say what is known of a step beyond its row: attempts, contracts, errors."""
    parts: list[str] = []
    for name, side in (("before", row.earlier), ("now", row.later)):
        if side is None:
            continue
        words = [f"{name}: {side.word}"]
        words += [f"attempt {side.attempt} of {side.attempts}"] if side.attempts > 1 and side.attempt else []
        words += [f"contract {side.contract}"] if side.contract else []
        words += [side.error] if side.error else []
        parts.append(", ".join(words))
    return "   ".join([row.id, *parts])


_MIN_FACTS_CELLS, _MAX_FACTS_CELLS, _CELLS_BEFORE_FACTS = 28, 44, 82
"""Cells of contract, tries and time: as many as they need where what is asked has its room before them."""


class LaunchRows:
    """Draws one row each, in the colours in force."""

    def __init__(self, ink: Ink, glyphs: Glyphs, width: int, *, is_cursor: bool, has_focus: bool) -> None:
        self._ink, self._glyphs, self._width = ink, glyphs, width
        self._is_cursor = is_cursor
        self._style = ink.cursor(has_focus=has_focus) if is_cursor else None

    def _row(self, *columns: Column) -> Strip:
        first = cursor_column(self._glyphs, self._ink, is_cursor=self._is_cursor, has_focus=True)
        last = Column(content=Content(" "), gap=0)
        return cells.row_strip((first, *columns, last), self._width, self._style, glyphs=self._glyphs)

    def choice(self, choice: PipelineChoice, *, is_chosen: bool) -> Strip:
        """Draw a pipeline that can be chosen."""
        ink, glyphs = self._ink, self._glyphs
        sign = glyphs.of("failed") if choice.is_broken else glyphs.of("running" if is_chosen else "todo")
        meaning = "failed" if choice.is_broken else "running" if is_chosen else "todo"
        says = "cannot be used as it is" if choice.is_broken else choice.description
        steps = f"{choice.steps} step{'' if choice.steps == 1 else 's'}"
        return self._row(
            Column(content=styled(sign, ink.sign(meaning)), gap=0),
            Column(content=safe_content(choice.name, ink.of("foreground", bold=is_chosen), ink), width=24),
            Column(content=styled(steps, ink.of("muted")), width=9, align="right"),
            Column(content=safe_content(says, ink.of("muted"), ink), grows=True, gap=2),
        )

    def caption(self, title: str, right: str) -> Strip:
        """Draw the heading of a part."""
        ink = self._ink
        return self._row(
            Column(content=styled(title, ink.of("foreground", bold=True)), gap=0),
            Column(content=styled(right, ink.of("muted")), grows=True, gap=2),
        )

    def step(self, step: PlannedStep) -> Strip:
        """Draw a step: wave, id, who does it, what a human is asked, what it does."""
        ink, glyphs = self._ink, self._glyphs
        meaning = "failed" if step.cannot else "waiting" if step.is_asking else "todo"
        words = f"cannot run here: {step.cannot}" if step.cannot else step.asks
        says = ink.of("failed" if step.cannot else "waiting" if step.kind == "gate" else "muted")
        facts = safe_content(step.facts, ink.of("faint"), ink)
        room = max(
            _MIN_FACTS_CELLS, min(_MAX_FACTS_CELLS, self._width - _CELLS_BEFORE_FACTS, facts.cell_length)
        )
        return self._row(
            Column(content=styled(f"{step.wave:>3}", ink.of("faint")), gap=0),
            Column(content=styled(glyphs.of(meaning), ink.sign(meaning))),
            Column(content=safe_content(step.id, None, ink), width=20),
            Column(content=safe_content(step.who, ink.of("muted"), ink), width=11),
            Column(content=safe_content(words, says, ink), grows=True, least=24),
            Column(
                content=safe_content(step.does, ink.of("faint", italic=True), ink), width=32, drop=2, gap=2
            ),
            Column(content=facts, width=room, align="right", drop=1),
        )

    def grant(self, grant: GrantOffer) -> Strip:
        """Draw what may be granted: taken or left, pattern, whose, where it was written."""
        ink, glyphs = self._ink, self._glyphs
        sign = glyphs.of("taken" if grant.is_taken else "left")
        words = (
            f"never: {grant.refused}"
            if grant.refused
            else "granted for this run"
            if grant.is_taken
            else "asks"
        )
        shade = ink.of("added" if grant.is_taken else "faint" if grant.refused else "muted")
        return self._row(
            Column(content=styled(f"    {sign}", shade), gap=0),
            Column(
                content=safe_content(grant.pattern, ink.of("faint") if grant.refused else None, ink), width=30
            ),
            Column(content=safe_content(words, shade, ink), grows=True, least=20),
            Column(content=safe_content(grant.whose, ink.of("muted"), ink), width=24, drop=2),
            Column(
                content=safe_content(grant.origin, ink.of("faint"), ink),
                width=20,
                align="right",
                cut="path",
                drop=1,
            ),
        )

    def finding(self, problem: LaunchProblem) -> Strip:
        """Draw something that is wrong: where, what."""
        ink, glyphs = self._ink, self._glyphs
        meaning = "failed" if problem.stops else "risk"
        return self._row(
            Column(content=styled(f"    {glyphs.of(meaning)}", ink.sign(meaning)), gap=0),
            Column(content=safe_content(problem.place, ink.of("foreground"), ink), cut="path"),
            Column(content=safe_content(problem.message, ink.of("muted"), ink), grows=True, least=20),
        )
