"""Hairlines between panes: a column that joins the title rows beside it, and the rule under the body.

No border of CSS can join lines of neighbours, so these widgets look where the titles are after each layout.
"""

from collections.abc import Callable
from typing import Any, cast

from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.draw import cells
from workbench.tui.theme import glyphs, ink
from workbench.tui.widgets.title import PaneTitle

_JOINTS = {(False, False): "│", (True, False): "┤", (False, True): "├", (True, True): "┼"}


def after_layout(widget: Widget, look: Callable[[], None]) -> None:
    """Have a function called whenever a widget's screen was laid out."""

    def laid_out(_: object) -> None:
        look()

    # Textual leaves the type of a screen's result open; nothing here depends on it.
    cast("Any", widget).screen.screen_layout_refresh_signal.subscribe(widget, laid_out)


class Divider(Widget):
    """One column between two panes."""

    DEFAULT_CSS = "Divider { width: 1; height: 1fr; }"

    def __init__(self, *, key: str | None = None, top: str = "") -> None:
        """Divide two panes.

        Args:
            key: the id.
            top: what the first cell is where a title meets it at the left; empty joins it as any other.
        """
        super().__init__(id=key)
        self._top = top

    def on_mount(self) -> None:
        """Look again whenever something was laid out."""
        after_layout(self, self.look)

    def look(self) -> None:
        """Note the rows at which titles meet this column."""
        joints: dict[int, str] = {}
        column = self.region.x
        # Not a query: matching selectors against every widget, thrice a layout, took longer than laying out.
        regions = [title.region for title in self.screen.walk_children(PaneTitle)]
        titles = [region for region in regions if region.width and column in (region.right, region.x - 1)]
        for y in range(self.region.y, self.region.bottom):
            left = any(region.y == y and region.right == column for region in titles)
            right = any(region.y == y and region.x == column + 1 for region in titles)
            joints[y - self.region.y] = _JOINTS[left, right]
        if joints and joints[0] == "┼":
            joints[0] = "┬"
        elif joints and joints[0] == "┤" and self._top:
            joints[0] = self._top
        if joints != getattr(self, "_joints", None):
            self._joints = joints
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw a cell of the line."""
        joint = getattr(self, "_joints", {}).get(y, "│")
        colours = ink(self)
        return cells.strip(
            Content.styled(glyphs(self).line(joint), colours.of("rule")), 1, colours.on("background")
        )


class Rule(Widget):
    """The row under the body: a hairline, or for four seconds a sentence in it."""

    DEFAULT_CSS = "Rule { height: 1; width: 1fr; }"

    class Changed(Message):
        """A sentence came or went."""

    SECONDS = 4.0

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(id=key)
        self._said, self._is_error = "", False
        self._asked = ""
        self._count = 0
        self._columns: set[int] = set()

    def on_mount(self) -> None:
        """Draw again whenever something was laid out."""
        after_layout(self, self.look)

    def look(self) -> None:
        """Note the columns at which dividers meet this row."""
        dividers = (divider.region for divider in self.screen.walk_children(Divider))
        columns = {region.x for region in dividers if region.width}
        if columns != self._columns:
            self._columns = columns
            self.refresh()

    def say(self, text: str, *, is_error: bool = False) -> None:
        """Show a sentence for four seconds."""
        self._said, self._is_error = text, is_error
        self._count += 1
        count = self._count
        self.refresh()
        self.post_message(self.Changed())
        self.set_timer(self.SECONDS, lambda: self._stop(count))

    def ask(self, text: str) -> None:
        """Show a question until it is answered; empty takes it away."""
        self._asked = text
        self.refresh()
        self.post_message(self.Changed())

    def _stop(self, count: int) -> None:
        if count == self._count:
            self._said = ""
            self.refresh()
            self.post_message(self.Changed())

    @property
    def said(self) -> str:
        """Return the sentence that is shown."""
        return self._asked or self._said

    def render_line(self, y: int) -> Strip:
        """Draw the line, its joints, and the sentence."""
        del y
        colours, signs = ink(self), glyphs(self)
        line = "".join(signs.line("┴" if x in self._columns else "─") for x in range(self.size.width))
        base = colours.on("background")
        if not self.said:
            return cells.strip(Content.styled(line, colours.of("rule")), self.size.width, base)
        is_error = self._is_error and not self._asked
        style = colours.of("failed" if is_error else "waiting", bold=True)
        said = cells.shorten(cells.content(self.said, style), max(0, self.size.width - 4), signs)
        words = Content.assemble(" ", said, " ")
        rest = Content.styled(line[min(len(line), 1 + words.cell_length) :], colours.of("rule"))
        whole = Content.assemble((line[:1], colours.of("rule")), words, rest)
        return cells.strip(whole, self.size.width, base)
