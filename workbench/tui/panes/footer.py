"""The last row: what the keys do here, by rank; what is off stays, faint, with its reason.

Owns how keys and labels share one row. Which keys there are is the key table's, what they do now the pane's.
"""

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.draw import cells
from workbench.records import dataclass
from workbench.tui.theme import glyphs, ink


@dataclass(frozen=True, slots=True, kw_only=True)
class FooterKey:
    """One key of the footer."""

    keys: str
    label: str
    why_off: str = ""
    is_waiting: bool = False
    """It counts in a moment: what it is about just appeared."""
    id: str = ""
    """Which key of the table a click is about; empty where a click does nothing."""


class Footer(Widget):
    """Keys of what has the focus."""

    DEFAULT_CSS = "Footer { height: 1; width: 1fr; background: $panel; }"

    @dataclass
    class Pressed(Message):
        """A key was clicked."""

        key: FooterKey

    def __init__(self) -> None:
        super().__init__(id="footer")
        self._places: list[tuple[int, int, FooterKey]] = []
        self._keys: Sequence[FooterKey] = ()
        self._right: FooterKey | None = None

    def show(self, keys: Sequence[FooterKey], right: FooterKey | None) -> None:
        """Show keys by rank, and one at the right end."""
        if (keys, right) != (self._keys, self._right):
            self._keys, self._right = keys, right
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the row and note where each key stands; what does not fit is left out from the end."""
        del y
        self._places = []
        width = self.size.width
        right = self._item(self._right, width) if self._right else Content("")
        room = width - right.cell_length - 3
        line = Content(" ")
        for key in self._keys:
            item = self._item(key, width)
            if line.cell_length + item.cell_length > room:
                continue
            self._places.append((line.cell_length, line.cell_length + item.cell_length, key))
            line = Content.assemble(line, item, "  ")
        if self._right is not None:
            self._places.append((width - right.cell_length - 1, width - 1, self._right))
        gap = " " * max(0, width - line.cell_length - right.cell_length - 1)
        return cells.strip(Content.assemble(line, gap, right, " "), width, ink(self).on("panel"))

    def on_click(self, event: events.Click) -> None:
        """Say which key was clicked."""
        for first, last, key in self._places:
            if first <= event.x < last and key.id:
                self.post_message(self.Pressed(key))

    def _item(self, key: FooterKey, width: int) -> Content:
        colours, signs = ink(self), glyphs(self)
        keys, label = signs.line(key.keys), signs.line(key.label)
        if key.why_off:
            reason = f" {key.why_off}" if width >= 140 else ""
            words = reason or f" {label}"
            return Content.styled(f"{keys}{words}", colours.of("faint"))
        tone = colours.of("faint" if key.is_waiting else "foreground")
        key_tone = colours.of("muted") if key.is_waiting else colours.of("info", bold=True)
        return Content.assemble((keys, key_tone), " ", cells.content(label, tone))
