"""Rows of exact width: fixed and flexible columns, what is dropped first, what is cut and where.

Owns the last step from text to a Strip. Every text that comes in passes `text.safe`; a Content that comes in
was made by `content` or by another module of `draw`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from workbench.draw.glyphs import UNICODE, Glyphs
from workbench.draw.tokens import Ink


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


def content(text: str, style: Style | str = "", ink: Ink | None = None) -> Content:
    """Return untrusted text as one safe line of Content; hidden characters stand as marks, reversed with ink."""
    raise NotImplementedError(text, style, ink)


def row(
    columns: Sequence[Column], width: int, style: Style | None = None, *, glyphs: Glyphs = UNICODE
) -> Strip:
    """Compose columns into a strip of exactly `width` cells.

    Args:
        columns: left to right; empty ones take no room.
        width: cells of the whole row.
        style: of the whole row, under the styles of the columns.
        glyphs: for the sign of a cut.
    """
    raise NotImplementedError(columns, width, style, glyphs)


def strip(line: Content, width: int, style: Style | None = None) -> Strip:
    """Return one line of Content as a strip of exactly `width` cells, cut or filled up with blanks."""
    raise NotImplementedError(line, width, style)


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
    raise NotImplementedError(left, right, width, ink, glyphs, has_focus)
