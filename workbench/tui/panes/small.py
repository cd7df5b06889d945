"""What a screen says that is too small for a diff: nothing can be decided there.

Owns its sentences only, and which of them a screen of a few cells still has room for.
"""

from typing import Final

from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static

from workbench.draw import cells
from workbench.text import human
from workbench.tui.arrangement import NARROW, SHORT
from workbench.tui.theme import glyphs, ink
from workbench.views.queue import QueueSummary

_FULL = Size(44, 10)
"""Cells from which there is room for whole sentences."""
_GOES_ON: Final = " agents go on, nothing is decided here"
_GOES_ON_FROM: Final = 5
"""Rows from which there is one for it."""


class Small(Static):
    """A page of a few sentences."""

    def __init__(self) -> None:
        super().__init__(id="small")

    def show(self, size: Size, summary: QueueSummary) -> None:
        """Say how big the screen must be, and what waits."""
        is_full = size.width >= _FULL.width and size.height >= _FULL.height
        lines = self._sentences(size) if is_full else self._words(size)
        lines = [self._waits(summary, is_full=is_full), *lines]
        signs = glyphs(self)
        shown = [cells.shorten(line, size.width, signs) for line in lines[: size.height]]
        self.update(Content("\n").join(shown))

    def _waits(self, summary: QueueSummary, *, is_full: bool) -> Content:
        colours, signs = ink(self), glyphs(self)
        left = "" if summary.first_left is None else f" {human.countdown(summary.first_left)}"
        count = f"{signs.of('waiting')} {summary.waiting} waiting{left}"
        waits = Content.styled(count, colours.of("waiting", bold=True))
        if not summary.waiting:
            waits = Content("nothing waits")
        name = (" workbench ", colours.of("info", bold=True)) if is_full else " "
        return Content.assemble(name, waits)

    def _sentences(self, size: Size) -> list[Content]:
        colours, line = ink(self), glyphs(self).line
        return [
            Content(""),
            Content(line(f"  {size.width}×{size.height} is too small to read a diff.")),
            Content(line(f"  Make it {NARROW}×{SHORT} or more.")),
            Content(""),
            Content("  Agents go on. Nothing is decided here."),
            Content("  By line instead:"),
            Content.styled("  workbench approvals watch", colours.of("muted")),
            Content(""),
            self._leave("  "),
        ]

    def _words(self, size: Size) -> list[Content]:
        line = glyphs(self).line
        has_room = size.width > len(_GOES_ON) and size.height >= _GOES_ON_FROM
        return [
            Content(line(f" {size.width}×{size.height} is too small")),
            Content(line(f" make it {NARROW}×{SHORT}")),
            *([Content(_GOES_ON)] if has_room else []),
            self._leave(" "),
        ]

    def _leave(self, indent: str) -> Content:
        return Content.assemble(indent, ("q", ink(self).of("info", bold=True)), " leave")
