"""Rows of the library, and the preview of a session. Titles and paths are untrusted."""

from collections.abc import Iterable, Sequence
from typing import Final

from textual.content import Content, Span
from textual.strip import Strip
from textual.style import Style

from workbench.render import cells, list_rows
from workbench.render.cells import Column, hanging_lines, safe_content, styled, wrap_code, wrap_plain_text
from workbench.render.glyphs import Glyphs
from workbench.render.session_board import axis_line
from workbench.render.theme import Ink
from workbench.text import human
from workbench.text.human import SECOND_MICROS, duration_text
from workbench.text.width import cell_width
from workbench.views.library import LibraryRow, SearchHit
from workbench.views.session_board import BoardAxis
from workbench.views.statistics import OUTCOME_ICONS, PreviewFile, SessionPreview

MAX_PREVIEW_FILES: Final = 8
_FACT_NAME_CELLS: Final = 13
_SAID_FROM: Final = 84
"""Cells of the list from which its rows say what sessions said last."""
_TITLE_CELLS: Final = 24
_AXIS_MARGIN: Final = 2
_MOST_ANSWER_ROWS: Final = 3
_MOST_TALK_ROWS: Final = 5
"""Rows of one message or reply."""


def library_strip(
    row: LibraryRow, width: int, ink: Ink, glyphs: Glyphs, now: int, *, is_cursor: bool, has_focus: bool,
    has_costs: bool = False, said: str = "",
) -> Strip:  # fmt: skip
    """Draw a session: sign, title, what it said last where there is room, folder, when, cost, a note."""
    muted = ink.of("muted")
    title = underline_hits(safe_content(row.title, ink.of("foreground", bold=is_cursor), ink), row.hits, ink)
    note = list_rows.line_counts(row.added, row.removed, ink, glyphs)
    if row.note:
        note = safe_content(row.note, ink.sign(row.tone) if row.tone else muted)
    mark = glyphs.of("taken") if row.is_marked else " "
    if row.agents:
        sign = glyphs.of("open" if row.is_opened else "folded")
        title = styled(f"{sign} ", muted) + title
    title = styled("  " * row.depth) + title
    columns = [
        list_rows.cursor_column(glyphs, ink, is_cursor=is_cursor, has_focus=has_focus),
        list_rows.icon_column(row.sign, ink, glyphs),
        Column(content=styled(mark, ink.of("info")), width=1, gap=0),
        *_title_columns(title, said, width, ink, glyphs),
        Column(content=safe_content(row.folder, muted, ink), width=10 if shows_said(width) else 14, drop=2),
        Column(
            content=styled(human.clock_time(row.when, now) or "now", muted), width=6, align="right", drop=1
        ),
        *([Column(content=styled(row.cost, muted), width=8, align="right", drop=3)] if has_costs else []),
        Column(content=note, width=16, align="right", drop=0),
        list_rows.END_COLUMN,
    ]
    style = list_rows.list_row_style(ink, is_cursor=is_cursor, has_focus=has_focus)
    return cells.row_strip(columns, width, style, glyphs=glyphs)


def shows_said(width: int) -> bool:
    """Return whether rows have a column for what a session said last."""
    return width >= _SAID_FROM


def _title_columns(title: Content, said: str, width: int, ink: Ink, glyphs: Glyphs) -> list[Column]:
    if not shows_said(width):
        return [Column(content=title, grows=True, least=20, gap=0)]
    quoted = safe_content(glyphs.line(f"“{said}”") if said else "", ink.of("muted", italic=True), ink)
    return [
        Column(content=title, width=max(_TITLE_CELLS, width // 3), gap=0),
        Column(content=quoted, grows=True, gap=2),
    ]


def underline_hits(line: Content, hits: Iterable[tuple[int, int]], ink: Ink) -> Content:
    """Return a line with what was found in it underlined."""
    spans = [Span(first, last, ink.hit()) for first, last in hits]
    return line.add_spans(spans) if spans else line


def separator_strip(width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    return cells.line_strip(
        styled(f" {glyphs.line('─') * max(0, width - 2)} ", ink.of("rule")), width, ink.on("background")
    )


def time_range(begin: int, end: int, now: int) -> str:
    """Write when a session was: `today 09:12 to 09:41, 29 min`."""
    day, last = human.clock_time(begin, now), human.clock_time(end, now)
    if day == human.clock_time(begin) and last == human.clock_time(end):
        first, last = f"today {human.clock_time(begin)}", human.clock_time(end)
    elif day == last:
        first, last = f"{day} {human.clock_time(begin)}", human.clock_time(end)
    else:
        first, last = f"{day} {human.clock_time(begin)}", f"{last} {human.clock_time(end)}"
    return (
        f"{first} to {last}, {duration_text((end - begin) / SECOND_MICROS)}"
        if end - begin >= SECOND_MICROS
        else first
    )


def preview_lines(
    view: SessionPreview, width: int, ink: Ink, glyphs: Glyphs, chosen: int = 0
) -> list[Content]:
    """Return everything that is said of a session; `chosen` is the hit at which a replay would begin."""
    lines = [Content(""), *_fact_lines(view, width, ink, glyphs)]
    lines += _axis_lines(view, width, ink, glyphs)
    lines += _asked_lines(view, width, ink, glyphs)
    lines += _call_lines(view, ink, glyphs)
    lines += _file_lines(view.files, view.changed, width, ink, glyphs)
    # What was looked for is more than what was said last.
    lines += [] if view.place_count else _talk_lines(view, width, ink, glyphs)
    return lines + _hit_lines(view, width, ink, glyphs, chosen)


def _axis_lines(view: SessionPreview, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    """Return the last events of a session on a time axis, with the clock at both ends."""
    room = width - 2 * _AXIS_MARGIN
    if not view.activity.marks.times or room < 2 * _AXIS_MARGIN:
        return []
    axis = BoardAxis(begin=view.begun, end=max(view.ended, view.begun + SECOND_MICROS))
    drawn = axis_line(view.activity, axis, axis.end, room, ink, glyphs)
    begin, end = human.clock_time(axis.begin), human.clock_time(axis.end)
    if begin == end:
        begin, end = human.clock_time_seconds(axis.begin), human.clock_time_seconds(axis.end)
    scale = begin + end.rjust(max(0, room - len(begin)))
    margin = " " * _AXIS_MARGIN
    return [Content(""), Content(margin) + drawn, styled(f"{margin}{scale}", ink.of("faint"))]


def _talk_lines(view: SessionPreview, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    """Return what was said last."""
    if not view.talk:
        return []
    lines = [Content(""), _heading("said last", ink)]
    for who, text in view.talk:
        sign = styled(glyphs.of("prompt") if who == "you" else " ", ink.of("info"))
        tone = ink.of("foreground" if who == "you" else "muted")
        rows = wrap_plain_text(text, max(8, width - 7), ink)
        if len(rows) > _MOST_TALK_ROWS:
            rows = [*rows[: _MOST_TALK_ROWS - 1], rows[_MOST_TALK_ROWS - 1] + glyphs.line(" …")]
        lines += hanging_lines(Content("  ") + sign + " ", [row.stylize_before(tone) for row in rows], 4)
    return lines


def _fact_lines(view: SessionPreview, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    lines: list[Content] = []
    for name, text in view.facts:
        head = styled(f"  {glyphs.line(name)}".ljust(_FACT_NAME_CELLS), ink.of("muted"))
        below = wrap_code(
            [safe_content(text, ink.of("foreground"), ink)], max(8, width - _FACT_NAME_CELLS - 2)
        )[:3]
        lines += hanging_lines(head, below, _FACT_NAME_CELLS)
    return lines


def _asked_lines(view: SessionPreview, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    if not view.asked and not view.outcomes:
        return []
    most = view.asked + view.unasked
    digits = len(f"{most:,}")
    room = max(4, width - 20 - digits)
    waits = f", {view.waiting:,} wait{'s' if view.waiting == 1 else ''}" if view.waiting else ""
    unasked = f", {view.unasked:,} not asked" if view.unasked else ""
    lines = [Content(""), _heading(f"asked {view.asked:,}{waits}{unasked}", ink)]
    signs = [styled(f"{glyphs.of(sign)} ", ink.sign(sign)) for sign in view.answers]
    across = max(1, (width - 4) // 2)
    rows = [Content("").join(signs[first : first + across]) for first in range(0, len(signs), across)]
    lines += [Content("  ") + row for row in rows[-_MOST_ANSWER_ROWS:]]
    for name, count in view.outcomes:
        sign = OUTCOME_ICONS[name]
        head = Content.assemble("  ", (glyphs.of(sign), ink.sign(sign)), f" {count:>{digits},} ")
        word = styled(f"{name:<11} ", ink.of("muted"))
        lines.append(head + word + count_bar(count, most, room, ink.sign(sign), glyphs))
    return lines


def count_bar(count: int, most: int, room: int, style: Style, glyphs: Glyphs) -> Content:
    """Return a bar on a scale on which `most` takes the room; whatever is there is at least a cell."""
    length = max(1, round(room * count / most)) if count and most else 0
    return styled(glyphs.of("ran") * length, style)


def _call_lines(view: SessionPreview, ink: Ink, glyphs: Glyphs) -> list[Content]:
    if not view.calls:
        return []
    line = _heading(f"{view.calls:,} call{'' if view.calls == 1 else 's'}", ink)
    if view.failed_calls:
        line += styled(f"   {glyphs.of('failed')} {view.failed_calls:,} failed", ink.of("failed"))
    return [Content(""), line]


def _file_lines(
    files: Sequence[PreviewFile], changed: int, width: int, ink: Ink, glyphs: Glyphs
) -> list[Content]:
    if not changed:
        return []
    lines = [Content(""), _heading(f"changed {changed:,} file{'' if changed == 1 else 's'}", ink)]
    for file in files[:MAX_PREVIEW_FILES]:
        columns = [
            Column(content=safe_content(file.path, ink.of("foreground"), ink), grows=True, cut="path", gap=2),
            Column(content=list_rows.line_counts(file.added, file.removed, ink, glyphs), align="right"),
        ]
        lines.append(cells.compose_columns(columns, width - 2, glyphs))
    if changed > MAX_PREVIEW_FILES:
        lines.append(styled(f"  and {changed - MAX_PREVIEW_FILES:,} more", ink.of("muted")))
    return lines


def _hit_lines(view: SessionPreview, width: int, ink: Ink, glyphs: Glyphs, chosen: int) -> list[Content]:
    if not view.place_count:
        return []
    matches = "1 place matches" if view.place_count == 1 else f"{view.place_count:,} places match"
    marked = chosen if len(view.places) > 1 else None
    drawn = (
        _hit_line(hit, width, ink, glyphs, is_chosen=index == marked) for index, hit in enumerate(view.places)
    )
    return [Content(""), _heading(matches, ink), *drawn]


def _hit_line(hit: SearchHit, width: int, ink: Ink, glyphs: Glyphs, *, is_chosen: bool) -> Content:
    is_prompt = hit.who == "you"
    sign = styled(glyphs.of("prompt") if is_prompt else " ", ink.of("info"))
    line = underline_hits(safe_content(hit.text, ink.of("foreground", bold=is_chosen), ink), hit.hits, ink)
    bar = styled(glyphs.of("cursor") if is_chosen else " ", ink.of("info"))
    head = Content.assemble(bar, " ", sign, (f" {hit.who:<6}", ink.of("muted")))
    return head + cells.shorten_line(line, max(4, width - cell_width(head.plain) - 1), glyphs)


def _heading(text: str, ink: Ink) -> Content:
    return styled(f"  {text}", ink.of("muted"))
