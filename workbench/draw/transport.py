"""The rows of a replay's bar: marks, the line itself, facts.

Owns how they share a width; what stands on which cell is `views.transport`.
"""

from collections.abc import Mapping, Set
from itertools import groupby
from typing import Final, cast

from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from workbench.draw import cells
from workbench.draw.glyphs import Glyphs
from workbench.draw.tokens import Ink
from workbench.views.signs import Meaning, SignName
from workbench.views.transport import Transport

LEFT: Final = 10
"""Cells before the line: the word `marks`, the speed."""
_WIDE: Final = 100


def bar_width(shown: Transport, width: int) -> int:
    """Return how many cells the line itself has."""
    return max(8, width - LEFT - len(shown.elapsed) - len(shown.length) - 4)


def marks_row(signs: Mapping[int, SignName], room: int, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return the row of marks over the line, which has `room` cells."""
    line = Content.styled(" marks".ljust(LEFT), ink.of("muted"))
    parts, end = [line], 0
    for cell in sorted(cell for cell in signs if cell < room):
        parts.append(Content(" " * (cell - end)))
        parts.append(Content.styled(glyphs.of(signs[cell]), _style(signs[cell], ink)))
        end = cell + 1
    return cells.strip(Content("").join(parts), width, ink.on("background"))


def line_row(
    shown: Transport, room: int, at: int, gaps: Set[int], width: int, ink: Ink, glyphs: Glyphs
) -> Strip:
    """Return the speed, the line up to `at` and after it, and the times."""
    if shown.is_live:
        sign, speed = glyphs.of("running"), "live"
    else:
        sign = glyphs.of("folded" if shown.is_playing else "paused")
        speed = shown.speed if shown.speed == "max" else f"{shown.speed}{glyphs.of('times')}"
    head = Content.assemble((f" {sign} ", ink.of("info")), (speed, ink.of("info", bold=True)))
    parts = [head.pad_right(max(0, LEFT - head.cell_length))]
    line: list[tuple[SignName | None, bool]] = [
        (_line_sign(cell, at, gaps), cell <= at) for cell in range(room)
    ]
    for (name, is_before), run in groupby(line):
        tone = "muted" if name == "gap" else "info" if is_before else "faint"
        drawn = glyphs.of(name) if name is not None else glyphs.line("─")
        parts.append(Content.styled(drawn * len(list(run)), ink.of(tone)))
    times = Content.assemble(" ", (shown.elapsed, ink.of("foreground", bold=True)), f" /{shown.length}")
    return cells.strip(Content("").join([*parts, times]), width, ink.on("background"))


def _line_sign(cell: int, at: int, gaps: Set[int]) -> SignName | None:
    """Return which sign a cell of the line has; none where it is yet to come."""
    if cell == at:
        return "running"
    if cell in gaps:
        return "gap"
    return "ran" if cell < at else None


def facts_row(shown: Transport, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return which event it is, the next mark, and how much idle time is left out."""
    muted = ink.of("muted")
    left = Content.styled(f" {shown.event}", muted)
    saved = shown.saved if width >= _WIDE else shown.saved.rpartition(", ")[2]
    right = Content.styled(f"{glyphs.of('gap')} {saved} " if saved else "", muted)
    if shown.next_sign is not None:
        room = width - left.cell_length - right.cell_length - len(shown.next_in) - 20
        what = cells.shorten(cells.content(shown.next_words), max(0, room), glyphs)
        sign = (glyphs.of(shown.next_sign), _style(shown.next_sign, ink))
        when = " now" if shown.next_in == "now" else f" in {shown.next_in}"
        left = Content.assemble(left, ("   next: ", muted), sign, " ", what, (when, muted))
    gap = " " * max(1, width - left.cell_length - right.cell_length)
    return cells.strip(Content.assemble(left, gap, right), width, ink.on("background"))


def _style(sign: SignName, ink: Ink) -> Style:
    return ink.of("info", bold=True) if sign == "prompt" else ink.sign(cast("Meaning", sign))
