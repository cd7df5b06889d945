"""The rows of a replay's bar: marks, the line itself, facts."""

from collections.abc import Mapping, Set
from itertools import groupby
from typing import Final, cast

from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from workbench.render import cells
from workbench.render.glyphs import Glyphs
from workbench.render.theme import Ink
from workbench.views.replay import ReplayStatus
from workbench.views.status_icons import IconName, StatusName

BAR_LEFT_CELLS: Final = 10
_WIDE_CELLS: Final = 100


def replay_bar_width(shown: ReplayStatus, width: int) -> int:
    return max(8, width - BAR_LEFT_CELLS - len(shown.elapsed) - len(shown.length) - 4)


def replay_marks_strip(
    signs: Mapping[int, IconName], room: int, width: int, ink: Ink, glyphs: Glyphs
) -> Strip:
    """Return the row of marks over the line, which has `room` cells."""
    line = Content.styled(" marks".ljust(BAR_LEFT_CELLS), ink.of("muted"))
    parts, end = [line], 0
    for cell in sorted(cell for cell in signs if cell < room):
        parts.append(Content(" " * (cell - end)))
        parts.append(Content.styled(glyphs.of(signs[cell]), _icon_style(signs[cell], ink)))
        end = cell + 1
    return cells.line_strip(Content("").join(parts), width, ink.on("background"))


def replay_line_strip(
    shown: ReplayStatus, room: int, position: int, gaps: Set[int], width: int, ink: Ink, glyphs: Glyphs
) -> Strip:
    """Return the speed, the line up to `position` and after it, and the times."""
    if shown.is_live:
        sign, speed = glyphs.of("running"), "live"
    else:
        sign = glyphs.of("playing" if shown.is_playing else "paused")
        speed = shown.speed if shown.speed == "max" else f"{shown.speed}x"
    head = Content.assemble((f" {sign} ", ink.of("info")), (speed, ink.of("info", bold=True)))
    parts = [head.pad_right(max(0, BAR_LEFT_CELLS - head.cell_length))]
    line: list[tuple[IconName | None, bool]] = [
        (_line_icon(cell, position, gaps), cell <= position) for cell in range(room)
    ]
    for (name, is_before), run in groupby(line):
        tone = "muted" if name == "gap" else "info" if is_before else "faint"
        drawn = glyphs.of(name) if name is not None else glyphs.line("─")
        parts.append(Content.styled(drawn * len(list(run)), ink.of(tone)))
    times = Content.assemble(" ", (shown.elapsed, ink.of("foreground", bold=True)), f" /{shown.length}")
    return cells.line_strip(Content("").join([*parts, times]), width, ink.on("background"))


def _line_icon(cell: int, position: int, gaps: Set[int]) -> IconName | None:
    if cell == position:
        return "running"
    if cell in gaps:
        return "gap"
    return "ran" if cell < position else None


def replay_facts_strip(shown: ReplayStatus, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return which event it is, the next mark, and how much idle time is left out."""
    muted = ink.of("muted")
    left = Content.styled(f" {shown.event}", muted)
    saved = shown.saved if width >= _WIDE_CELLS else shown.saved.rpartition(", ")[2]
    right = Content.styled(f"{glyphs.of('gap')} {saved} " if saved else "", muted)
    if shown.next_sign is not None:
        room = width - left.cell_length - right.cell_length - len(shown.next_in) - 20
        what = cells.shorten_line(cells.safe_content(shown.next_words), max(0, room), glyphs)
        sign = (glyphs.of(shown.next_sign), _icon_style(shown.next_sign, ink))
        when = " now" if shown.next_in == "now" else f" in {shown.next_in}"
        left = Content.assemble(left, ("   next: ", muted), sign, " ", what, (when, muted))
    gap = " " * max(1, width - left.cell_length - right.cell_length)
    return cells.line_strip(Content.assemble(left, gap, right), width, ink.on("background"))


def _icon_style(sign: IconName, ink: Ink) -> Style:
    return ink.of("info", bold=True) if sign == "prompt" else ink.sign(cast("StatusName", sign))
