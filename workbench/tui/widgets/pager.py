"""The pager: a title and lines to read, wrapped and scrolled."""

from collections.abc import Iterable, Sequence
from typing import Final

from textual import events
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from workbench.render import cells
from workbench.render.cells import safe_lines, wrap_code
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.dialog import END_KEYS, LINE_KEYS, PAGE_KEYS, Dialog, rows_of_key
from workbench.tui.widgets.line_view import LineView

_LEAVE_KEYS: Final = frozenset({"escape", "q", "enter"})
_PAGE_DOWN: Final = "space"
_READ_KEYS: Final = frozenset({*LINE_KEYS, *PAGE_KEYS, *END_KEYS, _PAGE_DOWN})


class WrappedLines(LineView):
    """Lines, wrapped; plain text is untrusted and made safe."""

    def __init__(self, lines: Sequence[str | Content]) -> None:
        super().__init__(key="pager-lines")
        self._lines = [part for line in lines for part in _safe_contents(line)]
        self._rows: list[Content] = []

    def show_lines(self, lines: Sequence[str | Content]) -> None:
        """Show other lines, from their beginning."""
        self._lines = [part for line in lines for part in _safe_contents(line)]
        self.on_width(self.size.width)
        self.scroll_to_line(0)
        self.invalidate()

    def on_width(self, width: int) -> None:
        self._rows = wrap_code(self._lines, max(1, width - 2))
        self.set_line_count(len(self._rows))

    def draw_line(self, line: int, width: int) -> Strip:
        return cells.line_strip(Content(" ") + self._rows[line], width, ink(self).on("background"))


def _safe_contents(line: str | Content) -> list[Content]:
    return [line] if isinstance(line, Content) else [cells.safe_content(text) for text in safe_lines(line)]


class PagerScreen(Dialog, inherit_bindings=False):
    """A title and lines to read."""

    BOX_CLASSES = "dialog-box pager-box"

    def __init__(
        self,
        title: str,
        lines: Sequence[str | Content],
        *,
        name: str = "pager",
        begins_at_end: bool = False,
        opened_by: str = "",
    ) -> None:
        """Show lines; the key it was `opened_by` closes it too."""
        super().__init__(name)
        self._leave_keys = _LEAVE_KEYS | {opened_by}
        self._title, self._view, self._begins_at_end = title, WrappedLines(lines), begins_at_end

    def compose_box(self) -> Iterable[Widget]:
        yield self._view

    def opened(self) -> None:
        self.set_titles(glyphs(self).line(self._title), "j k scroll  g G ends  esc back")
        self.follow(self._view)
        self._view.focus()
        if self._begins_at_end:
            self.call_after_refresh(lambda: self._view.scroll_to_line(self._view.line_count))

    def reads_key(self, key: str) -> bool:
        return key in self._leave_keys or key in _READ_KEYS

    def on_key(self, event: events.Key) -> None:
        """Scroll or leave."""
        event.stop()
        view, page = self._view, max(1, self._view.size.height - 1)
        if event.key in self._leave_keys:
            self.leave()
        elif rows := page if event.key == _PAGE_DOWN else rows_of_key(event.key, page):
            view.scroll_to_line(view.first_line + rows)
