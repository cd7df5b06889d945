"""Rows of exact width: fixed and flexible columns, what is dropped first, what is cut and where.

Owns the last step from text to a Strip. Every text that comes in passes `text.safe`; a Content that comes in
was made by `content` or by another module of `draw`.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, Literal

from textual.content import Content, Span
from textual.strip import Strip
from textual.style import Style

from workbench.draw.glyphs import UNICODE, Glyphs
from workbench.draw.tokens import Ink
from workbench.records import dataclass
from workbench.text.safe import one_line
from workbench.text.width import cut, cut_middle

LONGEST_LINE: Final = 4_000
"""Cells of a line that anybody looks at; what is longer is cut."""

MARKS: Final = ("⟨U+", "⟨ESC", "⟨secret: ")
"""How marks begin that stand for something else; half a one would say nothing."""

_EMPTY = Content("")
_PLAIN = Style.null()


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
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
    """Cells the growing column keeps before others are dropped."""
    gap: int = 1
    """Blanks before it."""

    @property
    def room(self) -> int:
        """Return the cells that it asks for, without its gap."""
        if self.grows:
            return self.least
        return self.content.cell_length if self.width is None else self.width


def content(text: str, style: Style | None = None, ink: Ink | None = None) -> Content:
    """Return untrusted text as one safe line; hidden characters stand as reversed marks.

    Args:
        text: anything.
        style: of the text.
        ink: for the colour of the marks; None reverses them without one.
    """
    return mark_hidden(styled(one_line(text, LONGEST_LINE), style), ink)


def styled(text: str, style: Style | None = None) -> Content:
    """Return text that is safe already in a style."""
    return Content(text, spans=[Span(0, len(text), style)] if style and text else None)


def mark_hidden(line: Content, ink: Ink | None) -> Content:
    """Return a safe line with the marks of hidden characters reversed."""
    if "⟨" not in line.plain:
        return line
    style = ink.reverse("failed") if ink else Style(reverse=True)
    marks = (found.span() for found in _mark_pattern().finditer(line.plain))
    return line.add_spans([Span(start, end, style) for start, end in marks])


@cache
def _mark_pattern() -> re.Pattern[str]:
    return re.compile("⟨(?:U\\+[0-9A-F]{4,6}|ESC[^⟨⟩]*|[0-9]+ (?:more marks|blanks|empty lines))⟩")


def strip(line: Content, width: int, style: Style | None = None) -> Strip:
    """Return one line of Content as a strip of exactly `width` cells, cut or filled up with blanks."""
    base = style or _PLAIN
    found = Strip(line.render_segments(base) if line.plain else [])
    return found.adjust_cell_length(max(0, width), base.rich_style)


def row(
    columns: Sequence[Column], width: int, style: Style | None = None, *, glyphs: Glyphs = UNICODE
) -> Strip:
    """Compose columns into a strip of exactly `width` cells.

    Args:
        columns: left to right; those without width and content take no room.
        width: cells of the whole row.
        style: of the whole row, under the styles of the columns.
        glyphs: for the sign of a cut.
    """
    return strip(compose(columns, width, glyphs), width, style)


def compose(columns: Sequence[Column], width: int, glyphs: Glyphs = UNICODE) -> Content:
    """Return columns as one line of Content, as `row` does."""
    kept = _fitting([column for column in columns if _takes_room(column)], width)
    spare = width - sum(column.gap + column.room for column in kept if not column.grows)
    parts: list[Content] = []
    for column in kept:
        room = max(0, spare - column.gap) if column.grows else column.room
        parts += [Content(" " * column.gap), _fitted(column, room, glyphs)]
    return _EMPTY.join(parts)


def _takes_room(column: Column) -> bool:
    return column.grows or column.width is not None or bool(column.content.plain)


def _fitting(columns: list[Column], width: int) -> list[Column]:
    kept = list(columns)
    while sum(column.gap + column.room for column in kept) > width:
        first = max(kept, key=lambda column: column.drop)
        if first.drop == 0:
            break
        kept.remove(first)
    return kept


def _fitted(column: Column, room: int, glyphs: Glyphs) -> Content:
    line = shorten(column.content, room, glyphs, keeps_end=column.cut == "path")
    blanks = Content(" " * max(0, room - line.cell_length))
    return blanks + line if column.align == "right" else line + blanks


def shorten(line: Content, room: int, glyphs: Glyphs = UNICODE, *, keeps_end: bool = False) -> Content:
    """Return a line cut to at most `room` cells; the cut is shown."""
    if line.cell_length <= room:
        return line
    sign = glyphs.line("…")
    if keeps_end:
        return _shorten_path(line, room, sign)
    head = whole_marks(cut(line.plain, room + 1 - len(sign)).removesuffix("…"))
    return line[: len(head)] + sign if room >= len(sign) else Content(sign[:room])


def whole_marks(text: str) -> str:
    """Return a text that was cut without the beginning of a mark that lost its end."""
    at = text.rfind("⟨")
    if at < 0 or "⟩" in text[at:]:
        return text
    torn = text[at:]
    return text[:at] if any(torn.startswith(mark[: len(torn)]) for mark in MARKS) else text


def _shorten_path(line: Content, room: int, sign: str) -> Content:
    shown = _without_torn_marks(cut_middle(line.plain, room + 1 - len(sign)))
    if len(sign) > 1:
        shown = cut(shown.replace("…", sign, 1), room)
    style = line.get_style_at_offset(0) if line.spans else None
    return styled(shown, style)


def _without_torn_marks(shown: str) -> str:
    """Return a text with its middle cut out, without halves of marks at both sides of the cut."""
    head, sign, tail = shown.partition("…")
    end = tail.find("⟩")
    if end >= 0 and "⟨" not in tail[:end]:
        tail = tail[end + 1 :]
    return whole_marks(head) + sign + tail


def title(
    left: Content,
    right: Content,
    width: int,
    ink: Ink,
    *,
    glyphs: Glyphs = UNICODE,
    has_focus: bool = False,
) -> Strip:
    """Return a pane's title row `─ left ─── right ─`, its rule in `$info` with focus."""
    line = glyphs.line("─")
    rule = ink.of("info" if has_focus else "rule")
    used = 3 + left.cell_length + (right.cell_length + 3 if right.plain else 0)
    if used >= width:
        right = _EMPTY
        left = shorten(left, max(0, width - 4), glyphs)
        used = 3 + left.cell_length
    parts = [styled(f"{line} ", rule), left, Content(" ")]
    parts.append(styled(line * max(1, width - used), rule))
    if right.plain:
        parts += [Content(" "), right, styled(f" {line}", rule)]
    return strip(_EMPTY.join(parts), width, ink.on("background"))
