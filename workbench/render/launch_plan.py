"""The plan of a run before its launch, as lines."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from textual.content import Content
from textual.strip import Strip

from workbench.render import cells
from workbench.render.cells import Column, safe_content, styled
from workbench.render.glyphs import Glyphs
from workbench.render.list_rows import cursor_column
from workbench.render.theme import Ink
from workbench.text.width import cell_width
from workbench.views.pipeline import GrantOffer, LaunchProblem, PipelineChoice, PlannedStep

_MAX_ID_CELLS, _MAX_WHO_CELLS, _MAX_PATTERN_CELLS = 28, 16, 40
_MIN_ASKS_CELLS, _MIN_DOES_CELLS = 40, 40
"""Cells that a column keeps where the row is too narrow for all, as far as its content needs them.

What a step does is a column only where much of it can be read; it is below the list for the marked step.
"""
_GAP = 2


class PlanColumns(Struct, frozen=True, kw_only=True):
    """Cells of the columns of a plan's steps: as many as the longest content needs, where there is room."""

    step: int
    who: int
    asks: int
    does: int
    """0 leaves the column out, as with facts."""
    facts: int


def plan_columns(steps: Sequence[PlannedStep], width: int) -> PlanColumns:
    step = min(_MAX_ID_CELLS, _longest(one.id for one in steps))
    who = min(_MAX_WHO_CELLS, _longest(one.who for one in steps))
    asks, does = _longest(map(_asked_words, steps)), _longest(one.does for one in steps)
    facts = _longest(one.facts for one in steps)
    room = width - len("▌999 ◯ ") - step - _GAP - who - 1
    asks = max(0, min(asks, room - _GAP, max(_MIN_ASKS_CELLS, room - facts - 2 * _GAP)))
    room -= asks + _GAP
    facts = facts if facts + _GAP <= room else 0
    room -= facts + _GAP
    does = min(does, room - _GAP) if room - _GAP >= min(does, _MIN_DOES_CELLS) else 0
    return PlanColumns(step=step, who=who, asks=asks, does=does, facts=facts)


def _longest(texts: Iterable[str]) -> int:
    return max(map(cell_width, texts), default=0)


def _asked_words(step: PlannedStep) -> str:
    return f"cannot run here: {step.cannot}" if step.cannot else step.asks


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

    def choice(self, choice: PipelineChoice, choices: Sequence[PipelineChoice]) -> Strip:
        """Draw one of the pipelines; a sign stands only before one that cannot be used."""
        ink = self._ink
        says = "cannot be used as it is" if choice.is_broken else choice.description
        steps, steps_cells = _steps_text(choice), _longest(map(_steps_text, choices))
        sign = styled(self._glyphs.of("failed") if choice.is_broken else " ", ink.sign("failed"))
        name = safe_content(choice.name, ink.of("foreground", bold=self._is_cursor), ink)
        return self._row(
            Column(content=sign, gap=0),
            Column(content=name, width=min(_MAX_PATTERN_CELLS, _longest(one.name for one in choices))),
            Column(content=styled(steps, ink.of("muted")), width=steps_cells, align="right", gap=_GAP),
            Column(content=safe_content(says, ink.of("muted"), ink), grows=True, gap=_GAP),
        )  # fmt: skip

    def blank(self) -> Strip:
        return Strip.blank(self._width)

    def caption(self, title: str, right: str) -> Strip:
        ink = self._ink
        return self._row(
            Column(content=styled(title, ink.of("foreground", bold=True)), gap=0),
            Column(content=styled(right, ink.of("muted")), grows=True, gap=2),
        )

    def step(self, step: PlannedStep, columns: PlanColumns) -> Strip:
        """Draw a step: wave, id, who does it, what a human is asked, what it does, tries and time."""
        ink, glyphs = self._ink, self._glyphs
        meaning = "failed" if step.cannot else "todo"
        says = ink.of("failed" if step.cannot else "foreground" if step.kind == "gate" else "muted")
        does = step.does if columns.does else ""
        facts = step.facts if columns.facts else ""
        return self._row(
            Column(content=styled(f"{step.wave:>3}", ink.of("faint")), gap=0),
            Column(content=styled(glyphs.of(meaning), ink.sign(meaning))),
            Column(content=safe_content(step.id, None, ink), width=columns.step),
            Column(content=safe_content(step.who, ink.of("muted"), ink), width=columns.who, gap=_GAP),
            Column(content=safe_content(_asked_words(step), says, ink), width=columns.asks, gap=_GAP),
            Column(content=safe_content(does, ink.of("faint", italic=True), ink), grows=True, gap=_GAP),
            Column(
                content=safe_content(facts, ink.of("faint"), ink),
                width=columns.facts,
                align="right",
                gap=_GAP,
            ),
        )

    def grant(self, grant: GrantOffer, grants: Sequence[GrantOffer]) -> Strip:
        """Draw what may be granted: taken or left, pattern, whose, where it was written, why it never is."""
        ink, glyphs = self._ink, self._glyphs
        sign = glyphs.of("taken" if grant.is_taken else "left")
        words = _grant_words(grant)
        shade = ink.of("added" if grant.is_taken else "faint" if grant.refused else "muted")
        pattern = safe_content(grant.pattern, ink.of("faint") if grant.refused else None, ink)
        return self._row(
            Column(content=styled(f"    {sign}", shade), gap=0),
            Column(content=pattern, width=min(_MAX_PATTERN_CELLS, _longest(one.pattern for one in grants))),
            Column(content=styled(words, shade), width=len("granted"), gap=_GAP),
            Column(
                content=safe_content(grant.whose, ink.of("muted"), ink),
                width=_longest(one.whose for one in grants), drop=2, gap=_GAP,
            ),
            Column(
                content=safe_content(grant.origin, ink.of("faint"), ink),
                width=_longest(one.origin for one in grants), cut="path", drop=1, gap=_GAP,
            ),
            Column(content=safe_content(grant.refused, ink.of("faint"), ink), grows=True, gap=_GAP),
        )  # fmt: skip

    def finding(self, problem: LaunchProblem) -> Strip:
        ink, glyphs = self._ink, self._glyphs
        meaning = "failed" if problem.stops else "risk"
        return self._row(
            Column(content=styled(f"    {glyphs.of(meaning)}", ink.sign(meaning)), gap=0),
            Column(content=safe_content(problem.place, ink.of("foreground"), ink), cut="path"),
            Column(content=safe_content(problem.message, ink.of("muted"), ink), grows=True, least=20),
        )


def _steps_text(choice: PipelineChoice) -> str:
    return f"{choice.steps} step{'' if choice.steps == 1 else 's'}"


def _grant_words(grant: GrantOffer) -> str:
    if grant.refused:
        return "never"
    return "granted" if grant.is_taken else "asks"


def prompt_lines(step: PlannedStep, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    """Return what a step does, on at most two rows below its list, the second one cut with a sign."""
    head = safe_content(f"{step.id}  ", ink.of("muted"), ink)
    text = safe_content(step.does, ink.of("foreground", italic=True), ink)
    first, *rest = cells.wrap_line(head + text, width) or [Content("")]
    if not rest:
        return [first]
    second = rest[0] if len(rest) == 1 else rest[0] + Content(" ") + rest[1]
    return [first, cells.shorten_line(second, width, glyphs)]
