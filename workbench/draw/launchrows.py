"""Rows of the launch form: pipelines, steps of the dry run, grants, what is wrong. Texts are untrusted."""

from textual.content import Content
from textual.strip import Strip

from workbench.draw import cells
from workbench.draw.cells import Column, content, styled
from workbench.draw.glyphs import Glyphs
from workbench.draw.tokens import Ink
from workbench.views.launch import Finding, Grantable, PipelineChoice, PlannedStep

_FACTS, _MOST_FACTS, _BEFORE = 28, 44, 82
"""Cells of contract, tries and time: as many as they need where what is asked has its room before them."""


class LaunchRows:
    """Draws one row each, in the colours in force."""

    def __init__(self, ink: Ink, glyphs: Glyphs, width: int, *, is_cursor: bool, has_focus: bool) -> None:
        self._ink, self._glyphs, self._width = ink, glyphs, width
        self._is_cursor = is_cursor
        self._style = ink.cursor(has_focus=has_focus) if is_cursor else None

    def _row(self, *columns: Column) -> Strip:
        bar = self._glyphs.of("cursor") if self._is_cursor else " "
        first = Column(content=styled(bar, self._ink.of("info")), gap=0)
        last = Column(content=Content(" "), gap=0)
        return cells.row((first, *columns, last), self._width, self._style, glyphs=self._glyphs)

    def choice(self, one: PipelineChoice, *, is_chosen: bool) -> Strip:
        """Draw a pipeline that can be chosen."""
        ink, glyphs = self._ink, self._glyphs
        sign = glyphs.of("failed") if one.is_broken else glyphs.of("running" if is_chosen else "todo")
        meaning = "failed" if one.is_broken else "running" if is_chosen else "todo"
        says = "cannot be used as it is" if one.is_broken else one.description
        steps = f"{one.steps} step{'' if one.steps == 1 else 's'}"
        return self._row(
            Column(content=styled(sign, ink.sign(meaning)), gap=0),
            Column(content=content(one.name, ink.of("foreground", bold=is_chosen), ink), width=24),
            Column(content=styled(steps, ink.of("muted")), width=9, align="right"),
            Column(content=content(says, ink.of("muted"), ink), grows=True, gap=2),
        )

    def caption(self, title: str, right: str) -> Strip:
        """Draw the heading of a part."""
        ink = self._ink
        return self._row(
            Column(content=styled(title, ink.of("foreground", bold=True)), gap=0),
            Column(content=styled(right, ink.of("muted")), grows=True, gap=2),
        )

    def step(self, one: PlannedStep) -> Strip:
        """Draw a step: wave, id, who does it, what a human is asked, what it does."""
        ink, glyphs = self._ink, self._glyphs
        meaning = "failed" if one.cannot else "waiting" if one.is_asking else "todo"
        words = f"cannot run here: {one.cannot}" if one.cannot else one.asks
        says = ink.of("failed" if one.cannot else "waiting" if one.kind == "gate" else "muted")
        facts = content(one.facts, ink.of("faint"), ink)
        room = max(_FACTS, min(_MOST_FACTS, self._width - _BEFORE, facts.cell_length))
        return self._row(
            Column(content=styled(f"{one.wave:>3}", ink.of("faint")), gap=0),
            Column(content=styled(glyphs.of(meaning), ink.sign(meaning))),
            Column(content=content(one.id, None, ink), width=20),
            Column(content=content(one.who, ink.of("muted"), ink), width=11),
            Column(content=content(words, says, ink), grows=True, least=24),
            Column(content=content(one.does, ink.of("faint", italic=True), ink), width=32, drop=2, gap=2),
            Column(content=facts, width=room, align="right", drop=1),
        )

    def grant(self, one: Grantable) -> Strip:
        """Draw what may be granted: taken or left, pattern, whose, where it was written."""
        ink, glyphs = self._ink, self._glyphs
        sign = glyphs.of("taken" if one.is_taken else "left")
        words = f"never: {one.refused}" if one.refused else "granted for this run" if one.is_taken else "asks"
        shade = ink.of("added" if one.is_taken else "faint" if one.refused else "muted")
        return self._row(
            Column(content=styled(f"    {sign}", shade), gap=0),
            Column(content=content(one.pattern, ink.of("faint") if one.refused else None, ink), width=30),
            Column(content=content(words, shade, ink), grows=True, least=20),
            Column(content=content(one.whose, ink.of("muted"), ink), width=24, drop=2),
            Column(
                content=content(one.origin, ink.of("faint"), ink), width=20, align="right", cut="path", drop=1
            ),
        )

    def finding(self, one: Finding) -> Strip:
        """Draw something that is wrong: where, what."""
        ink, glyphs = self._ink, self._glyphs
        meaning = "failed" if one.stops else "risk"
        return self._row(
            Column(content=styled(f"    {glyphs.of(meaning)}", ink.sign(meaning)), gap=0),
            Column(content=content(one.place, ink.of("foreground"), ink), cut="path"),
            Column(content=content(one.message, ink.of("muted"), ink), grows=True, least=20),
        )
