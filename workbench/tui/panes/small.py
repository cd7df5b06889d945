"""What a screen says that is too small for a diff: nothing can be decided there.

Owns its sentences only.
"""

from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static

from workbench.text import human
from workbench.tui.theme import glyphs, ink
from workbench.views.queue import QueueSummary


class Small(Static):
    """A page of a few sentences."""

    def __init__(self) -> None:
        super().__init__(id="small")

    def show(self, size: Size, summary: QueueSummary) -> None:
        """Say how big the screen must be, and what waits."""
        colours, signs = ink(self), glyphs(self)
        left = "" if summary.first_left is None else f" {human.countdown(summary.first_left)}"
        waits = (
            f"{signs.of('waiting')} {summary.waiting} waiting{left}" if summary.waiting else "nothing waits"
        )
        info = colours.of("info", bold=True)
        self.update(
            Content("\n").join(
                [
                    Content.assemble((" workbench ", info), (waits, colours.of("waiting", bold=True))),
                    Content(""),
                    Content(f"  {size.width}×{size.height} is too small to read a diff."),
                    Content("  Make it 60×18 or more."),
                    Content(""),
                    Content("  Agents go on. Nothing is decided here."),
                    Content("  By line instead:"),
                    Content.styled("  workbench approvals watch", colours.of("muted")),
                    Content(""),
                    Content.assemble("  ", ("q", info), " leave"),
                ]
            )
        )
