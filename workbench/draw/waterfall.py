"""Bars of waited and run time on one axis.

Owns the cells of a bar: waiting is dashed, running heavy, what is under a cell a tick.
"""

from textual.content import Content

from workbench.draw.glyphs import Glyphs
from workbench.draw.tokens import Ink
from workbench.views.tools import Axis, Span


def bar(span: Span, width: int, ink: Ink, glyphs: Glyphs) -> Content:
    """Return a bar of exactly `width` cells."""
    raise NotImplementedError(span, width, ink, glyphs)


def marks(axis: Axis, width: int, ink: Ink) -> Content:
    """Return the marks over the bars: `0`, two or three round times, and the whole at the right end."""
    raise NotImplementedError(axis, width, ink)
