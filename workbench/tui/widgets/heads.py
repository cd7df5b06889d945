"""Column heads over a list: one row that stays while the list scrolls.

Owns nothing but its row; what it says is drawn by a function of the width.
"""

from collections.abc import Callable

from textual.strip import Strip
from textual.widget import Widget


class Heads(Widget):
    """The heads of a list's columns."""

    DEFAULT_CSS = "Heads { height: 1; width: 1fr; background: $background; }"

    def __init__(self, draw: Callable[[int], Strip], *, key: str | None = None) -> None:
        """Show what `draw` returns for a width in cells."""
        super().__init__(id=key)
        self._draw = draw

    def render_line(self, y: int) -> Strip:
        """Draw the row."""
        del y
        return self._draw(self.size.width).apply_style(self.rich_style)
