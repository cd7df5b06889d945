"""Markdown as wrapped lines of Content, once a block is closed; plain wrapping while it still streams.

Owns headings, lists, tables, fences, quotes and emphasis. Links are text, followed by their address; nothing
can be clicked, no HTML is read, and untrusted text never meets markup.
"""

from textual.content import Content

from workbench.draw.glyphs import Glyphs
from workbench.draw.syntax import Painter
from workbench.draw.tokens import Ink


def blocks(text: str, width: int, ink: Ink, glyphs: Glyphs, painter: Painter | None = None) -> list[Content]:
    """Return markdown as lines of at most `width` cells.

    Args:
        text: untrusted, of any size; above 200 KB it is wrapped as plain text.
        width: cells, at least 1.
        ink: colours.
        glyphs: for bullets, rules and tables.
        painter: for fenced code; None leaves it in one colour.
    """
    raise NotImplementedError(text, width, ink, glyphs, painter)


def plain_wrap(text: str, width: int, ink: Ink | None = None) -> list[Content]:
    """Return text as safe lines of at most `width` cells, broken between words where possible."""
    raise NotImplementedError(text, width, ink)
