"""The times of the steps of a run: a scale, a bar for each step, and one step's time in words."""

from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from typing import Final

from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from workbench.render import cells
from workbench.render.cells import Column, safe_content, styled
from workbench.render.glyphs import Glyphs
from workbench.render.list_rows import cursor_column, list_row_style
from workbench.render.theme import Ink
from workbench.text.human import SECOND_MICROS, countdown_text, duration_text, ordinal
from workbench.text.ticks import tick_step, tick_text
from workbench.text.width import cell_width, cut_to_width
from workbench.views.run_history import (
    IDLE_KINDS,
    EarlierStep,
    RunTimes,
    SpanKind,
    StepSpan,
    StepTimes,
    usual_seconds,
)
from workbench.views.status_icons import GlyphName, StatusName

_MOST_NAME, _LEAST_BAR, _TIME_CELLS = 28, 12, 8
_WAITED_FROM: Final = 60
"""Cells from which there is a column with the time that a step waited."""
_TICK_CELLS: Final = 12
"""Cells at least from one tick of the scale to the next."""
_SPAN_SIGNS: Final[dict[SpanKind, StatusName]] = {"worked": "ok", "failed": "failed", "works": "running"}
_IDLE_WORDS: Final[dict[SpanKind, str]] = {"lost": "its process was gone", "stopped": "the run was stopped"}
_SPAN_WORDS: Final[dict[SpanKind, str]] = {
    "worked": "worked", "failed": "worked, failed", "waited": "waited for you", "works": "works",
    **_IDLE_WORDS,
}  # fmt: skip
_SPAN_GLYPHS: Final[dict[SpanKind, GlyphName]] = {"waited": "waited", "lost": "gap", "stopped": "gap"}
_EARLIER_BAR: Final = 40
_MOST_SPANS: Final = 200
"""Spans of a run that are listed in order of time."""
_LEAST_WORK: Final = 10_000
"""Microseconds of work next to a wait that are worth a cell."""
_TWO_COLUMNS_FROM: Final = 110
"""Cells from which the time of the whole run is next to that of a step instead of below it."""


def name_cells(times: RunTimes, width: int) -> int:
    """Return the cells of the column with the names."""
    longest = max((len(row.name) for row in times.rows), default=4)
    return max(4, min(longest, _MOST_NAME, width // 3))


def _bar_cells(times: RunTimes, width: int) -> int:
    times_cells = (_TIME_CELLS + 1) * (1 + (width >= _WAITED_FROM))
    return max(_LEAST_BAR, width - name_cells(times, width) - times_cells - 6)


def _scale(times: RunTimes, room: int) -> float:
    """Return the cells of a microsecond; the last cell is kept for the sign of what ends there."""
    return max(1, room - 1) / (times.last - times.first)


def tick_cells(times: RunTimes, room: int) -> list[tuple[int, str]]:
    """Return where the ticks of the scale are, and what they say."""
    seconds = (times.last - times.first) / SECOND_MICROS
    step = tick_step(seconds, room // _TICK_CELLS)
    scale = _scale(times, room) * SECOND_MICROS
    ticks = [(int(at * scale), tick_text(at, step)) for at in range(0, int(seconds) + 1, step)]
    return [(cell, text) for cell, text in ticks if cell + len(text) < room]


def times_head_strip(times: RunTimes, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return the scale above the bars: the time since the first step began."""
    room = _bar_cells(times, width)
    scale = ""
    for cell, text in tick_cells(times, room):
        scale = f"{scale:<{cell}}{glyphs.line('│')}{text}"
    faint = ink.of("faint")
    columns = _columns(
        times, width, Content(" "), Content(""), styled("step", faint), styled(scale[:room], faint),
        styled("worked", faint), styled("waited", faint),
    )  # fmt: skip
    return cells.row_strip(columns, width, ink.on("background"), glyphs=glyphs)


def times_strip(
    row: StepTimes, times: RunTimes, width: int, ink: Ink, glyphs: Glyphs, *, is_cursor: bool, has_focus: bool
) -> Strip:
    """Return the row of a step."""
    bar = cursor_column(glyphs, ink, is_cursor=is_cursor, has_focus=True).content
    columns = _columns(
        times, width, bar, styled(glyphs.of(row.sign), ink.sign(row.sign)),
        safe_content(row.name, ink.of("foreground", bold=is_cursor), ink),
        span_bar(row, times, width, ink, glyphs), _time(row.seconds, ink.of("muted"), ink, glyphs),
        _time(row.waited, ink.of("waiting" if row.sign == "waiting" else "muted"), ink, glyphs),
    )  # fmt: skip
    return cells.row_strip(
        columns, width, list_row_style(ink, is_cursor=is_cursor, has_focus=has_focus), glyphs=glyphs
    )


def _time(seconds: float, style: Style, ink: Ink, glyphs: Glyphs) -> Content:
    if seconds < 0.0005:
        return styled(glyphs.line("–"), ink.of("faint"))
    return styled(duration_text(seconds), style)


def _columns(
    times: RunTimes, width: int, bar: Content, sign: Content, name: Content, line: Content, worked: Content,
    waited: Content,
) -> list[Column]:  # fmt: skip
    columns = [
        Column(content=bar, gap=0), Column(content=sign, width=1, gap=0),
        Column(content=name, width=name_cells(times, width), gap=1),
        Column(content=line, grows=True, least=_LEAST_BAR, gap=1),
        Column(content=worked, width=_TIME_CELLS, align="right", gap=1),
    ]  # fmt: skip
    if width >= _WAITED_FROM:
        columns.append(Column(content=waited, width=_TIME_CELLS, align="right", gap=1))
    return [*columns, Column(content=Content(" "), gap=0)]


def span_bar(row: StepTimes, times: RunTimes, width: int, ink: Ink, glyphs: Glyphs) -> Content:
    """Return the bar of a step; each of its spans has at least one cell, and each try the sign of its end."""
    room = _bar_cells(times, width)
    scale = _scale(times, room)
    drawn: list[SpanKind | None] = [None] * room
    ends: list[tuple[int, StatusName]] = []
    last = 0
    spans = _seen_spans(row)
    for span, after in zip_longest(spans, spans[1:]):
        first = min(room - 2, max(last, int((span.first - times.first) * scale)))
        last = min(room - 1, max(first + 1, round((span.last - times.first) * scale)))
        for cell in range(first, last):
            drawn[cell] = span.kind
        if (sign := _end_sign(row, span, after)) is not None:
            ends.append((last, sign))
    signs: dict[int, StatusName] = {
        cell: sign for cell, sign in ends if drawn[cell] is None or drawn[cell] in IDLE_KINDS
    }
    ticks = {cell for cell, _ in tick_cells(times, room)}

    def facts(cell: int) -> tuple[SpanKind | None, StatusName | None, bool]:
        return drawn[cell], signs.get(cell), drawn[cell] is None and cell in ticks

    bar = Content("")
    for (kind, sign, is_tick), stretch in groupby(range(room), key=facts):
        length = len(list(stretch))
        if sign is not None:
            bar += styled(glyphs.of(sign) * length, ink.sign(sign))
        elif kind is None:
            bar += styled(glyphs.line("│" if is_tick else " ") * length, ink.of("rule"))
        else:
            bar += _stretch(kind, length, row, ink, glyphs)
    return bar


def _seen_spans(row: StepTimes) -> Sequence[StepSpan]:
    """Return the spans of a step without the moments just before and after the question of a gate."""
    waits = {moment for span in row.spans if span.kind == "waited" for moment in (span.first, span.last)}
    return [
        span
        for span in row.spans
        if span.kind != "worked"
        or span.last - span.first >= _LEAST_WORK
        or not waits.intersection((span.first, span.last))
    ]


def _end_sign(row: StepTimes, span: StepSpan, after: StepSpan | None) -> StatusName | None:
    """Return the sign of how an attempt ended; None where the step continued."""
    if span.kind == "failed":
        return "failed"
    is_over = after is None and row.sign not in ("running", "waiting", "todo") and span.kind != "works"
    return row.sign if is_over else None


def _span_style(kind: SpanKind, row: StepTimes, ink: Ink) -> Style:
    if kind in IDLE_KINDS:
        return ink.of("faint")
    if kind == "waited":
        return ink.of("waiting" if row.sign == "waiting" else "muted")
    return ink.sign(_SPAN_SIGNS[kind])


def _stretch(kind: SpanKind, length: int, row: StepTimes, ink: Ink, glyphs: Glyphs) -> Content:
    """Return a stretch of a bar; time without a process says so where there is room."""
    text = glyphs.of(_SPAN_GLYPHS.get(kind, "ran")) * length
    words = f" {_IDLE_WORDS[kind]} " if kind in _IDLE_WORDS else ""
    if words and length >= len(words) + 6:
        left = (length - len(words)) // 2
        text = f"{text[:left]}{words}{text[left + len(words) :]}"
    return styled(text, _span_style(kind, row, ink))


def times_legend(ink: Ink, glyphs: Glyphs) -> Content:
    """Return what the lines of the bars mean."""
    parts: tuple[tuple[SpanKind, str], ...] = (
        ("worked", "worked"), ("failed", "failed"), ("waited", "waited for you"),
        ("lost", "no process worked on it"),
    )  # fmt: skip
    colors = (ink.of("added"), ink.of("failed"), ink.of("muted"), ink.of("faint"))
    return Content("   ").join(
        styled(glyphs.of(_SPAN_GLYPHS.get(kind, "ran")) * 2, color) + styled(f" {words}", ink.of("faint"))
        for (kind, words), color in zip(parts, colors, strict=True)
    )


# --- one step -----------------------------------------------------------------------------------


def step_times_lines(
    row: StepTimes, times: RunTimes, earlier: Sequence[EarlierStep], width: int, ink: Ink, glyphs: Glyphs
) -> list[Content]:
    """Return the time of a step in words, how it went in earlier runs, and the time of the whole run."""
    own, before = list(_span_lines(row, times, ink, glyphs)), _earlier_lines(row, earlier, ink, glyphs)
    whole = list(_run_lines(row, times, ink, glyphs))
    if width < _TWO_COLUMNS_FROM:
        lines = [*own, Content(""), *before, Content(""), *whole]
        return [cells.shorten_line(line, max(1, width - 1), glyphs) for line in lines]
    half = width // 2
    return [
        _padded(cells.shorten_line(left or Content(""), half - 1, glyphs), half)
        + cells.shorten_line(right or Content(""), width - half - 1, glyphs)
        for left, right in zip_longest([*own, Content(""), *before], whole)
    ]


def _padded(line: Content, room: int) -> Content:
    return line + Content(" " * (room - line.cell_length))


def _span_lines(row: StepTimes, times: RunTimes, ink: Ink, glyphs: Glyphs) -> Iterator[Content]:
    yield styled(f" {'at':>9}{'for':>10}", ink.of("faint"))
    attempt, has_failed = 1, False
    for span in _seen_spans(row):
        if has_failed and span.kind in _SPAN_SIGNS:
            attempt, has_failed = attempt + 1, False
        has_failed = has_failed or span.kind == "failed"
        tried = f", {ordinal(attempt)} try" if attempt > 1 and span.kind in _SPAN_SIGNS else ""
        yield _span_line(span, row, times, f"{_SPAN_WORDS[span.kind]}{tried}", ink, glyphs)
    if not row.spans:
        yield styled(f" It did no work: {row.word}.", ink.of("muted"))


def _span_line(
    span: StepSpan, row: StepTimes, times: RunTimes, words: str, ink: Ink, glyphs: Glyphs
) -> Content:
    at = countdown_text((span.first - times.first) // SECOND_MICROS)
    lasted = duration_text((span.last - span.first) / SECOND_MICROS)
    glyph = glyphs.of(_SPAN_GLYPHS.get(span.kind, "ran")) * 2
    return Content.assemble(
        styled(f" {at:>9}{lasted:>10}", ink.of("muted")), "   ",
        styled(glyph, _span_style(span.kind, row, ink)), " ", safe_content(words, ink.of("foreground"), ink),
    )  # fmt: skip


def _run_lines(row: StepTimes, times: RunTimes, ink: Ink, glyphs: Glyphs) -> Iterator[Content]:
    """Yield what all steps did, in the order of time; what belongs to the step under the cursor is bold."""
    spans = sorted(
        ((span, other) for other in times.rows for span in _seen_spans(other)),
        key=lambda pair: (pair[0].first, pair[0].last),
    )
    more = f", the first {_MOST_SPANS} of {len(spans):,}" if len(spans) > _MOST_SPANS else ""
    yield styled(f" {'at':>9}{'for':>10}   all steps in order of time{more}", ink.of("faint"))
    room = min(_MOST_NAME, max((cell_width(other.name) for _, other in spans), default=0))
    for span, other in spans[:_MOST_SPANS]:
        is_cut = cell_width(other.name) > room
        name = glyphs.line(cut_to_width(other.name, room)) if is_cut else other.name
        name += " " * (room - cell_width(name))
        line = _span_line(span, other, times, f"{name}  {_SPAN_WORDS[span.kind]}", ink, glyphs)
        yield line.stylize(Style(bold=True), 25) if other is row else line


def _earlier_lines(row: StepTimes, earlier: Sequence[EarlierStep], ink: Ink, glyphs: Glyphs) -> list[Content]:
    if not earlier:
        return [styled(" No earlier run of this pipeline had this step.", ink.of("faint"))]
    usual = usual_seconds(earlier)
    longest = max(row.seconds, *(step.seconds for step in earlier)) or 1.0
    cells_of_run = max(len(step.run) for step in earlier)
    head = f" usual {duration_text(usual)}" if usual is not None else " earlier runs"
    lines = [styled(head, ink.of("faint"))]
    for step in earlier:
        bar = max(1, round(_EARLIER_BAR * step.seconds / longest))
        lines.append(Content.assemble(
            styled(f" {step.run:<{cells_of_run}} ", ink.of("muted")),
            styled(f"{glyphs.of(step.sign)} ", ink.sign(step.sign)),
            styled(f"{duration_text(step.seconds):>8} ", ink.of("muted")),
            styled(glyphs.of("ran") * bar, ink.sign(step.sign)),
            styled(f" {step.word}{f': {step.error}' if step.error else ''}", ink.of("faint")),
        ))  # fmt: skip
    return lines
