"""Rows of the library, and the preview of a session. Titles and paths are untrusted."""

from collections.abc import Iterable, Sequence
from typing import Final

from textual.content import Content, Span
from textual.strip import Strip
from textual.style import Style

from workbench.render import cells, list_rows
from workbench.render.cells import Column, hanging_lines, safe_content, styled, wrap_code
from workbench.render.glyphs import Glyphs
from workbench.render.theme import Ink
from workbench.text import human
from workbench.text.human import SECOND_MICROS, duration_text
from workbench.text.width import cell_width
from workbench.views.library import LibraryRow, SearchHit
from workbench.views.statistics import Outcome, PreviewFile, SessionPreview
from workbench.views.status_icons import StatusName

OUTCOME_ICONS: Final[dict[Outcome, StatusName]] = {
    "by rule": "rule", "by grant": "ok", "own mode": "ok", "approved": "ok", "partly": "partly",
    "rejected": "rejected", "expired": "expired", "withdrawn": "cancelled", "replaced": "cancelled",
    "not allowed": "failed",
}  # fmt: skip
MAX_PREVIEW_FILES: Final = 8
_FACT_NAME_CELLS: Final = 13


def library_strip(
    row: LibraryRow, width: int, ink: Ink, glyphs: Glyphs, now: int, *, is_cursor: bool, has_focus: bool,
    has_costs: bool = False,
) -> Strip:  # fmt: skip
    """Draw a session: sign, title, folder, when, cost where any is known, what is to be said of it."""
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
        Column(content=title, grows=True, least=20, gap=0),
        Column(content=safe_content(row.folder, muted, ink), width=14, drop=2),
        Column(
            content=styled(human.clock_time(row.when, now) or "now", muted), width=6, align="right", drop=1
        ),
        *([Column(content=styled(row.cost, muted), width=8, align="right", drop=3)] if has_costs else []),
        Column(content=note, width=16, align="right", drop=0),
        list_rows.END_COLUMN,
    ]
    style = list_rows.list_row_style(ink, is_cursor=is_cursor, has_focus=has_focus)
    return cells.row_strip(columns, width, style, glyphs=glyphs)


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
    lines += _asked_lines(view, width, ink, glyphs)
    lines += _call_lines(view, ink, glyphs)
    lines += _file_lines(view.files, view.changed, width, ink, glyphs)
    return lines + _hit_lines(view, width, ink, glyphs, chosen)


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


# --- tools ------------------------------------------------------------------------------------------


# --- asks -------------------------------------------------------------------------------------------


# --- the right side ---------------------------------------------------------------------------------
