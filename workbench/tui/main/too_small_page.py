"""The page of a terminal that is too small for any pane; loaded when it is first shown."""

from typing import Final

from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static

from workbench.render import cells
from workbench.text import human
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.screen_sizes import LEAST_ROWS, NARROW
from workbench.views.approvals import QueueSummary

_FULL_TEXT_SIZE = Size(44, 10)
"""Cells from which there is room for whole sentences."""
_AGENTS_GO_ON: Final = " agents still work, nothing is decided"
_AGENTS_GO_ON_FROM_ROWS: Final = 5
"""Rows from which there is one for it."""


class TooSmallPage(Static):
    """A page of a few sentences."""

    def __init__(self) -> None:
        super().__init__(id="small")

    def show(self, size: Size, summary: QueueSummary) -> None:
        """Say how big the screen must be, and what waits."""
        is_full = size.width >= _FULL_TEXT_SIZE.width and size.height >= _FULL_TEXT_SIZE.height
        lines = self._sentences(size) if is_full else self._words(size)
        lines = [self._waits(summary, is_full=is_full), *lines]
        signs = glyphs(self)
        shown = [cells.shorten_line(line, size.width, signs) for line in lines[: size.height]]
        self.update(Content("\n").join(shown))

    def _waits(self, summary: QueueSummary, *, is_full: bool) -> Content:
        colours, signs = ink(self), glyphs(self)
        left = "" if summary.first_left is None else f" {human.countdown_text(summary.first_left)}"
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
            Content(line(f"  Make it {NARROW}×{LEAST_ROWS} or more.")),
            Content(""),
            Content("  Agents keep working. Nothing is decided here."),
            Content("  By line instead:"),
            Content.styled("  workbench approvals watch", colours.of("muted")),
            Content(""),
            self._leave("  "),
        ]

    def _words(self, size: Size) -> list[Content]:
        line = glyphs(self).line
        has_room = size.width > len(_AGENTS_GO_ON) and size.height >= _AGENTS_GO_ON_FROM_ROWS
        return [
            Content(line(f" {size.width}×{size.height} is too small")),
            Content(line(f" make it {NARROW}×{LEAST_ROWS}")),
            *([Content(_AGENTS_GO_ON)] if has_room else []),
            self._leave(" "),
        ]

    def _leave(self, indent: str) -> Content:
        return Content.assemble(indent, ("q q", ink(self).of("info", bold=True)), " leave")
