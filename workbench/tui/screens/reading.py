"""A page of lines over the main screen, to be read: the log after an error.

Owns scrolling and leaving. Lines are untrusted: they are made safe and wrapped, never cut.
"""

from collections.abc import Sequence
from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.strip import Strip

from workbench.draw import cells
from workbench.draw.wrapping import hard_wrap, safe_lines
from workbench.tui.theme import glyphs, ink
from workbench.tui.widgets.lines import LineView

_STEPS: Final = {"j": 1, "down": 1, "k": -1, "up": -1}
_PAGES: Final = {"ctrl+d": 1, "pagedown": 1, "space": 1, "ctrl+u": -1, "pageup": -1}
_LEAVE: Final = frozenset({"escape", "q", "l", "enter"})


class Pages(LineView):
    """The lines, wrapped."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__(key="reading-lines")
        self._raw = [line for text in lines for line in safe_lines(text)]
        self._rows: list[Content] = []

    def on_width(self, width: int) -> None:
        """Wrap anew."""
        self._rows = hard_wrap([cells.content(line) for line in self._raw], max(1, width - 2))
        self.set_line_count(len(self._rows))

    def draw_line(self, line: int, width: int) -> Strip:
        """Draw a row."""
        return cells.strip(Content(" ") + self._rows[line], width, ink(self).on("background"))


class ReadingScreen(ModalScreen[None], inherit_bindings=False):
    """A box with a title and lines."""

    def __init__(self, title: str, lines: Sequence[str]) -> None:
        super().__init__(id="reading-screen")
        self._words, self._view = title, Pages(lines)

    def compose(self) -> ComposeResult:
        """Yield the lines."""
        with Vertical(id="reading-box"):
            yield self._view

    def on_mount(self) -> None:
        """Name the page."""
        box = self.query_one("#reading-box")
        line = glyphs(self).line
        box.border_title = cells.content(line(self._words))  # type: ignore[assignment]
        box.border_subtitle = cells.content("j k scroll  g G ends  esc back")  # type: ignore[assignment]
        self._view.focus()

    def on_key(self, event: events.Key) -> None:
        """Scroll or leave."""
        event.stop()
        view, height = self._view, max(1, self._view.size.height - 1)
        if event.key in _LEAVE:
            self.dismiss()
        elif event.key in _STEPS:
            view.scroll_to_line(view.first_line + _STEPS[event.key])
        elif event.key in _PAGES:
            view.scroll_to_line(view.first_line + _PAGES[event.key] * height)
        elif event.key in ("g", "home"):
            view.scroll_to_line(0)
        elif event.key in ("G", "end"):
            view.scroll_to_line(view.line_count)
