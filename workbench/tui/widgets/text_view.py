"""A view of lines that are made for its width: what is known of one row, or a page to read."""

from abc import abstractmethod

from textual.content import Content
from textual.strip import Strip

from workbench.render import cells
from workbench.tui.render_context import ink
from workbench.tui.widgets.line_view import LineView


class TextView(LineView):
    """Lines, made again for another width or in other colours."""

    def __init__(self, *, key: str) -> None:
        super().__init__(key=key)
        self._lines: list[Content] = []

    @abstractmethod
    def lines_for(self, width: int) -> list[Content]:
        """Return its lines in a width."""

    def on_width(self, width: int) -> None:
        self._lines = self.lines_for(width)
        self.set_line_count(len(self._lines))
        self.invalidate()

    def draw_line(self, line: int, width: int) -> Strip:
        return cells.line_strip(self._lines[line], width, ink(self).on("background"))

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self._lines and self.is_attached:
            self.on_width(self.width)
