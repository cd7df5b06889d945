"""Lines of exact width: columns, cuts, wrapping of text and code, rows of key hints.

Text that comes in passes `text.safe`; Content was made by `safe_content` or another module of `render`.
"""

import re
from collections.abc import Sequence
from functools import cache
from math import ceil
from typing import Final, Literal

from msgspec import Struct
from textual.content import Content, Span
from textual.strip import Strip
from textual.style import Style

from workbench.render.glyphs import UNICODE_GLYPHS, Glyphs
from workbench.render.theme import Ink
from workbench.text.safe import one_line, safe_text
from workbench.text.width import cell_width, cut_path_to_width, cut_to_width

MAX_LINE_CELLS: Final = 4_000
MARK_STARTS: Final = ("⟨U+", "⟨ESC", "⟨secret: ")
"""Starts of marks that stand for something else; half a mark would say nothing."""
_EMPTY_LINE = Content("")
_NO_STYLE = Style.null()


class Column(Struct, frozen=True, kw_only=True):
    """One column of one row."""

    content: Content
    width: int | None = None
    """Cells; None is as wide as the content."""
    grows: bool = False
    """Takes what is left; one column of a row grows."""
    align: Literal["left", "right"] = "left"
    cut: Literal["end", "path"] = "end"
    """`path` keeps the end of a path."""
    drop: int = 0
    """0 is never dropped; of the others the highest number goes first when the row is too narrow."""
    least: int = 0
    gap: int = 1

    @property
    def room(self) -> int:
        if self.grows:
            return self.least
        return self.content.cell_length if self.width is None else self.width


def safe_content(text: str, style: Style | None = None, ink: Ink | None = None) -> Content:
    """Return untrusted text as one safe line; hidden characters are reversed, in the colours of `ink`."""
    return mark_hidden(styled(one_line(text, MAX_LINE_CELLS), style), ink)


def styled(text: str, style: Style | None = None) -> Content:
    """Return text that is safe already in a style."""
    return Content(text, spans=[Span(0, len(text), style)] if style and text else None)


def mark_hidden(line: Content, ink: Ink | None) -> Content:
    """Return a safe line with the marks of hidden characters reversed."""
    if "⟨" not in line.plain:
        return line
    style = ink.reverse("failed") if ink else Style(reverse=True)
    marks = (mark.span() for mark in _mark_pattern().finditer(line.plain))
    return line.add_spans([Span(start, end, style) for start, end in marks])


@cache
def _mark_pattern() -> re.Pattern[str]:
    return re.compile("⟨(?:U\\+[0-9A-F]{4,6}|ESC[^⟨⟩]*|[0-9]+ (?:more marks|blanks|empty lines))⟩")


def line_strip(line: Content, width: int, style: Style | None = None) -> Strip:
    """Return one line of Content as a strip of exactly `width` cells, cut or filled up with blanks."""
    base = style or _NO_STYLE
    strip = Strip(line.render_segments(base) if line.plain else [])
    return strip.adjust_cell_length(max(0, width), base.rich_style)


def row_strip(
    columns: Sequence[Column], width: int, style: Style | None = None, *, glyphs: Glyphs = UNICODE_GLYPHS
) -> Strip:
    """Compose columns into a strip of exactly `width` cells; those without width and content take no room."""
    return line_strip(compose_columns(columns, width, glyphs), width, style)


def compose_columns(columns: Sequence[Column], width: int, glyphs: Glyphs = UNICODE_GLYPHS) -> Content:
    """Return columns as one line of Content, as `row_strip` does."""
    fitting = _fitting_columns([column for column in columns if _takes_room(column)], width)
    spare = width - sum(column.gap + column.room for column in fitting if not column.grows)
    parts: list[Content] = []
    for column in fitting:
        room = max(0, spare - column.gap) if column.grows else column.room
        parts += [Content(" " * column.gap), _fitted_column(column, room, glyphs)]
    return _EMPTY_LINE.join(parts)


def _takes_room(column: Column) -> bool:
    return column.grows or column.width is not None or bool(column.content.plain)


def _fitting_columns(columns: list[Column], width: int) -> list[Column]:
    fitting = list(columns)
    while sum(column.gap + column.room for column in fitting) > width:
        first = max(fitting, key=lambda column: column.drop)
        if first.drop == 0:
            break
        fitting.remove(first)
    return fitting


def _fitted_column(column: Column, room: int, glyphs: Glyphs) -> Content:
    line = shorten_line(column.content, room, glyphs, keeps_end=column.cut == "path")
    blanks = Content(" " * max(0, room - line.cell_length))
    return blanks + line if column.align == "right" else line + blanks


def measured_bar(share: float, width: int, ink: Ink, glyphs: Glyphs) -> Content:
    """Return a bar of `width` cells of which a share is done: `━━━━╌╌╌`."""
    done = max(0, min(width, ceil(share * width)))
    rest = glyphs.of("waited") * (width - done)
    return Content.assemble((glyphs.of("ran") * done, ink.of("info")), (rest, ink.of("faint")))


def shorten_line(
    line: Content, room: int, glyphs: Glyphs = UNICODE_GLYPHS, *, keeps_end: bool = False
) -> Content:
    """Return a line cut to at most `room` cells; the cut is shown."""
    if line.cell_length <= room:
        return line
    sign = glyphs.line("…")
    if keeps_end:
        return _shorten_path(line, room, sign)
    head = without_torn_mark(cut_to_width(line.plain, room + 1 - len(sign)).removesuffix("…"))
    return line[: len(head)] + sign if room >= len(sign) else Content(sign[:room])


def without_torn_mark(text: str) -> str:
    """Return a text that was cut without the beginning of a mark that lost its end."""
    start = text.rfind("⟨")
    if start < 0 or "⟩" in text[start:]:
        return text
    torn = text[start:]
    return text[:start] if any(torn.startswith(mark[: len(torn)]) for mark in MARK_STARTS) else text


def _shorten_path(line: Content, room: int, sign: str) -> Content:
    shown = _without_torn_marks(cut_path_to_width(line.plain, room + 1 - len(sign)))
    if len(sign) > 1:
        shown = cut_to_width(shown.replace("…", sign, 1), room)
    style = line.get_style_at_offset(0) if line.spans else None
    return styled(shown, style)


def _without_torn_marks(shown: str) -> str:
    """Return a text with its middle cut out, without halves of marks at both sides of the cut."""
    head, sign, tail = shown.partition("…")
    end = tail.find("⟩")
    if end >= 0 and "⟨" not in tail[:end]:
        tail = tail[end + 1 :]
    return without_torn_mark(head) + sign + tail


def title_strip(
    left: Content,
    right: Content,
    width: int,
    ink: Ink,
    *,
    glyphs: Glyphs = UNICODE_GLYPHS,
    has_focus: bool = False,
) -> Strip:
    """Return a pane's title row `─ left ─── right ─`, its rule in `$info` with focus."""
    line = glyphs.line("─")
    rule = ink.of("info" if has_focus else "rule")
    used = 3 + left.cell_length + (right.cell_length + 3 if right.plain else 0)
    if used >= width:
        right = _EMPTY_LINE
        left = shorten_line(left, max(0, width - 4), glyphs)
        used = 3 + left.cell_length
    parts = [styled(f"{line} ", rule), left, Content(" ")]
    parts.append(styled(line * max(1, width - used), rule))
    if right.plain:
        parts += [Content(" "), right, styled(f" {line}", rule)]
    return line_strip(_EMPTY_LINE.join(parts), width, ink.on("background"))


TAB_CELLS = 4
HANGING_CELLS = 2
"""Cells that a line of code which goes on is deeper than its beginning."""
_BREAK_CHARACTERS = frozenset(" ,;:)]}|&=+/")
"""Characters behind which a long line of code is broken."""


def wrap_line(line: Content, width: int) -> list[Content]:
    """Return one line as lines of at most `width` cells; leading blanks stay, blanks at breaks go."""
    if line.cell_length <= width:
        return [line]
    return [line[start:end] for start, end in word_breaks(line.plain, width)]


def word_breaks(text: str, width: int) -> list[tuple[int, int]]:
    """Return where a text is broken, as (from, to) characters, without the blanks at the breaks."""
    width = max(1, width)
    breaks: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = _fitting_end(text, start, width)
        if end < len(text) and text[end] != " ":
            blank = text.rfind(" ", start, end)
            if blank > start and text[start:blank].strip():
                end = blank
        breaks.append((start, start + len(text[start:end].rstrip(" "))))
        start = end
        while start < len(text) and text[start] == " ":
            start += 1
    return breaks or [(0, 0)]


def _fitting_end(text: str, start: int, width: int) -> int:
    piece = text[start : start + width + 1]
    if piece.isascii():
        return min(len(text), start + width)
    used = 0
    for index in range(start, len(text)):
        used += cell_width(text[index])
        if used > width and index > start:
            whole = len(without_torn_mark(text[start:index]))
            return start + whole if whole else index
    return len(text)


def safe_lines(text: str) -> list[str]:
    """Return raw text as safe lines, tabs expanded."""
    clean = safe_text(text.replace("\r\n", "\n"))
    return [line.expandtabs(TAB_CELLS) for line in clean.split("\n")]


def wrap_plain_text(text: str, width: int, ink: Ink | None = None) -> list[Content]:
    """Return raw text as safe lines of at most `width` cells, broken between words where possible."""
    return [
        mark_hidden(Content(line[start:end]), ink)
        for line in safe_lines(text)
        for start, end in word_breaks(line, width)
    ]


def hanging_lines(head: Content, lines: Sequence[Content], indent: int) -> list[Content]:
    """Return lines with `head` before the first of them, and `indent` blanks before all others."""
    blanks = Content(" " * indent)
    return [(blanks if index else head) + line for index, line in enumerate(lines)]


def wrap_code(lines: Sequence[Content], width: int) -> list[Content]:
    """Return lines of code broken to `width` cells: every blank stays, what goes on is indented."""
    return [row for line in lines for row in _wrap_code_line(line, width)]


def _wrap_code_line(line: Content, width: int) -> list[Content]:
    hang = hanging_indent(line.plain, width)
    pieces = code_breaks(line.plain, width, hang)
    return [
        Content(" " * (hang if index else 0)) + line[start:end] for index, (start, end) in enumerate(pieces)
    ]


def hanging_indent(text: str, width: int) -> int:
    """Return how far the further rows of a broken line of code are indented: two deeper than it."""
    indent = len(text) - len(text.lstrip(" "))
    return min(indent + HANGING_CELLS, width // 3)


def code_breaks(text: str, width: int, hang: int = 0) -> list[tuple[int, int]]:
    """Return where a safe line of code is broken, as (from, to) characters; nothing of it is left out.

    Breaks behind a blank or a mark of punctuation where one is in the last third of a row, so that names
    stay whole. All rows but the first are indented by `hang`.
    """
    pieces: list[tuple[int, int]] = []
    start, room = 0, max(1, width)
    while start < len(text):
        end = _code_row_end(text, start, room)
        pieces.append((start, end))
        start, room = end, max(1, width - hang)
    return pieces or [(0, 0)]


def _code_row_end(text: str, start: int, room: int) -> int:
    end = _fitting_end(text, start, room)
    if end >= len(text):
        return len(text)
    least = end - max(1, (end - start) // 3)
    ends = (end_index for end_index in range(end, least, -1) if text[end_index - 1] in _BREAK_CHARACTERS)
    return next(
        (
            end_index
            for end_index in ends
            if without_torn_mark(text[start:end_index]) == text[start:end_index]
        ),
        end,
    )


def key_hint(keys: str, words: str, ink: Ink) -> Content:
    return Content.assemble((keys, ink.of("info", bold=True)), " ", styled(words, ink.of("foreground")))


def key_hint_row(parts: Sequence[Content], width: int, *, keeps: int = 1, gap: int = 2) -> Content:
    """Return key hints in one row; if too narrow, the last go first, but never the `keeps` at the end."""
    first, last = list(parts[: len(parts) - keeps]), list(parts[len(parts) - keeps :])
    while first and 1 + sum(part.cell_length + gap for part in [*first, *last]) - gap > width:
        first.pop()
    return Content.assemble(" ", Content(" " * gap).join([*first, *last]))


def stylize_over(line: Content, style: Style) -> Content:
    return line.stylize(style) if line.plain else line


def stylize_under(line: Content, style: Style) -> Content:
    return line.stylize_before(style) if line.plain else line
