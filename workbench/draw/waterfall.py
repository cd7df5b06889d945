"""Bars of waited and run time on one axis.

Owns the cells of a bar: waiting is dashed, running heavy, what is under a cell a tick.
"""

from math import ceil

from textual.content import Content

from workbench.draw.cells import styled
from workbench.draw.glyphs import Glyphs
from workbench.draw.tokens import Ink
from workbench.text.human import duration
from workbench.views.signs import GlyphName
from workbench.views.tools import Axis, Span

_STEPS = (1, 2, 4, 5, 8, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)


def bar(span: Span, width: int, ink: Ink, glyphs: Glyphs) -> Content:
    """Return a bar of exactly `width` cells."""
    cells: list[GlyphName | None] = [None] * width
    _fill(cells, span.waited, "waited")
    _fill(cells, span.ran, "ran")
    line = Content("")
    style = ink.of("failed") if span.sign == "failed" else ink.of("info")
    styles = {"ran": style, "tick": style, "waited": ink.of("waiting")}
    for name in cells:
        line += styled(glyphs.of(name), styles[name]) if name else Content(" ")
    return line


def _fill(cells: list[GlyphName | None], piece: tuple[float, float] | None, glyph: GlyphName) -> None:
    if piece is None or not cells:
        return
    low, high = (share * len(cells) for share in piece)
    first = min(len(cells) - 1, int(low))
    last = min(len(cells), ceil(high))
    if glyph == "ran" and high - low < 1:
        cells[first] = "tick" if high - low < 0.5 else glyph
        return
    for at in range(first, max(first + 1, last)):
        cells[at] = glyph


def marks(axis: Axis, width: int, ink: Ink) -> Content:
    """Return the marks over the bars: `0`, a few round times, and the whole as the title says it."""
    end = duration(axis.seconds)
    if width < len(end) + 3:
        return styled(end.rjust(width)[:width], ink.of("faint"))
    cells = ["0", *" " * (width - 1)]
    cells[width - len(end) :] = end
    for seconds in _round_times(axis.seconds, width):
        at = int(seconds / axis.seconds * width)
        words = short_seconds(seconds)
        if "".join(cells[at - 2 : at + len(words) + 2]).strip():
            continue
        cells[at : at + len(words)] = words
    return styled("".join(cells), ink.of("faint"))


def short_seconds(seconds: float) -> str:
    """Return a mark of the axis: `8 s`, `1:20`, `400 ms`."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60}:{whole % 60:02}"


def _round_times(seconds: float, width: int) -> list[int]:
    if seconds <= 0 or width < 30:
        return []
    step = next((step for step in _STEPS if seconds / step * 9 <= width), None)
    return [step * n for n in range(1, int(seconds / step) + 1)] if step else []
