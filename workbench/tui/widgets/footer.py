"""The row of keys at the bottom of a screen, in parts; what does not fit is left out, the last first."""

# A click never answers. Keys in the footer can be clicked where they move, show or choose; all others say
# which key to press. What changed while a dialog lay over it counts as seen, and may be answered, only
# after the dialog is gone.

from collections.abc import Sequence
from typing import Final

from textual import events
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.render import cells
from workbench.tui.keyboard.footer_keys import FOOTER_PARTS, FooterKey
from workbench.tui.render_context import glyphs, ink

MOST_KEYS: Final = 9
"""Keys that a footer shows at most; the others are in help."""
GAP: Final = "  "


class Footer(Widget):
    """Keys of what has the focus."""

    DEFAULT_CSS = "Footer { height: 1; width: 1fr; background: $panel; }"

    class Pressed(Message):
        """A key was clicked."""

        def __init__(self, key: FooterKey) -> None:
            super().__init__()
            self.key = key

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
        del y
        self._places = []
        width = self.size.width
        right = self._item(self._right, width) if self._right else Content("")
        rule = Content.styled(glyphs(self).line("│") + " ", ink(self).of("rule"))
        line, before = Content(" "), None
        for key, item in self._fitting(width - right.cell_length - 4):
            if before not in (None, key.part):
                line = Content.assemble(line, rule)
            before = key.part
            self._places.append((line.cell_length, line.cell_length + item.cell_length, key))
            line = Content.assemble(line, item, GAP)
        if self._right is not None:
            self._places.append((width - right.cell_length - 1, width - 1, self._right))
        gap = " " * max(0, width - line.cell_length - right.cell_length - 1)
        return cells.line_strip(Content.assemble(line, gap, right, " "), width, ink(self).on("panel"))

    def _fitting(self, room: int) -> list[tuple[FooterKey, Content]]:
        """Return the keys that fit into so many cells, by part; those of the first ranks are chosen first."""
        chosen: list[tuple[FooterKey, Content]] = []
        for key in self._keys:
            item = self._item(key, self.size.width)
            parts = len({key.part, *(other.part for other, _ in chosen)})
            needed = item.cell_length + sum(other.cell_length + len(GAP) for _, other in chosen)
            if needed + (parts - 1) * 2 <= room and len(chosen) < MOST_KEYS:
                chosen.append((key, item))
        return sorted(chosen, key=lambda pair: FOOTER_PARTS.index(pair[0].part))

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
        return Content.assemble((keys, key_tone), " ", cells.safe_content(label, tone))
