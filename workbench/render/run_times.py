"""The times of the steps of a run, as bars."""

from itertools import groupby
from typing import Final

from textual.content import Content
from textual.strip import Strip

from workbench.render import cells
from workbench.render.cells import Column, safe_content, styled
from workbench.render.glyphs import Glyphs
from workbench.render.list_rows import cursor_column
from workbench.render.theme import Ink
from workbench.text.human import SECOND_MICROS, countdown_text, duration_text, ordinal
from workbench.views.run_history import RunTimes, SpanKind, StepTimes
from workbench.views.status_icons import StatusName

_MOST_NAME, _LEAST_BAR, _STEP_TIME_CELLS = 28, 12, 14
_SPAN_STATUSES: Final[dict[SpanKind, StatusName]] = {
    "worked": "ok", "failed": "failed", "waited": "waiting", "works": "running",
}  # fmt: skip
_TICK_EVERY: Final = 16
"""Cells from one time of the scale to the next."""


def name_cells(times: RunTimes, width: int) -> int:
    """Return the cells of the column with the names."""
    longest = max((len(row.name) for row in times.rows), default=4)
    return max(4, min(longest, _MOST_NAME, width // 3))


def _bar_cells(times: RunTimes, width: int) -> int:
    return max(_LEAST_BAR, width - name_cells(times, width) - _STEP_TIME_CELLS - 8)


def times_head_strip(times: RunTimes, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return the scale above the bars: the time since the first step began."""
    room = _bar_cells(times, width)
    whole = (times.last - times.first) / SECOND_MICROS
    scale = ""
    for cell in range(0, max(1, room - 6), _TICK_EVERY):
        scale = f"{scale:<{cell}}{glyphs.line('│')}{countdown_text(whole * cell / room)}"
    faint = ink.of("faint")
    columns = _columns(
        times, width, Content(" "), Content(""), styled("step", faint), styled(scale[:room], faint),
        styled("time", faint),
    )  # fmt: skip
    return cells.row_strip(columns, width, ink.on("background"), glyphs=glyphs)


def times_strip(
    row: StepTimes, times: RunTimes, width: int, ink: Ink, glyphs: Glyphs, *, is_cursor: bool, has_focus: bool
) -> Strip:
    """Return the row of a step."""
    bar = cursor_column(glyphs, ink, is_cursor=is_cursor, has_focus=True).content
    tried = f"{ordinal(row.attempt)} try " if row.attempt > 1 else ""
    time = duration_text(row.seconds) if row.seconds >= 0.05 else ""
    columns = _columns(
        times, width, bar, styled(glyphs.of(row.sign), ink.sign(row.sign)),
        safe_content(row.name, ink.of("foreground"), ink), span_bar(row, times, width, ink, glyphs),
        styled(f"{tried}{time}", ink.of("muted")),
    )  # fmt: skip
    style = ink.cursor(has_focus=has_focus) if is_cursor else None
    return cells.row_strip(columns, width, style, glyphs=glyphs)


def _columns(
    times: RunTimes, width: int, bar: Content, sign: Content, name: Content, line: Content, time: Content
) -> list[Column]:
    return [
        Column(content=bar, gap=0), Column(content=sign, width=1, gap=0),
        Column(content=name, width=name_cells(times, width), gap=1),
        Column(content=line, grows=True, least=_LEAST_BAR, gap=1),
        Column(content=time, width=_STEP_TIME_CELLS, align="right", gap=1),
        Column(content=Content(" "), gap=0),
    ]  # fmt: skip


def span_bar(row: StepTimes, times: RunTimes, width: int, ink: Ink, glyphs: Glyphs) -> Content:
    """Return the bar of a step; each of its spans has at least one cell."""
    room = _bar_cells(times, width)
    scale = room / (times.last - times.first)
    drawn: list[SpanKind | None] = [None] * room
    for span in row.spans:
        first = min(room - 1, int((span.first - times.first) * scale))
        last = min(room, max(first + 1, round((span.last - times.first) * scale)))
        for cell in range(first, last):
            drawn[cell] = span.kind
    bar = Content("")
    for kind, stretch in groupby(drawn):
        length = len(list(stretch))
        if kind is None:
            bar += Content(" " * length)
        else:
            glyph = glyphs.of("waited" if kind == "waited" else "ran")
            bar += styled(glyph * length, ink.sign(_SPAN_STATUSES[kind]))
    return bar
