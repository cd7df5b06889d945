"""The title row of a pane: `─ 2 Approvals  ◆ 4 ──── by time left ─`, in reverse while the pane has the focus.

Owns how name, facts and rule share one row. Facts are Content; names are our own words.
"""

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from workbench.draw import cells
from workbench.records import dataclass
from workbench.tui.theme import glyphs

_LEAST = 12
"""Cells of facts that are worth more than what stands at the right end."""


class PaneTitle(Widget):
    """One row over a pane."""

    DEFAULT_CSS = "PaneTitle { height: 1; width: 1fr; color: $foreground; }"

    @dataclass
    class Pressed(Message):
        """The title was clicked: the pane wants the focus."""

        title: "PaneTitle"

    def __init__(self, name: str, number: int | None = None, *, key: str | None = None) -> None:
        super().__init__(id=key)
        self._number, self._words = number, name
        self._facts: Content = Content("")
        self._right: Content = Content("")
        self.is_focused = False

    def show(
        self, facts: Content | None = None, right: Content | None = None, name: str | None = None
    ) -> None:
        """Set what is said beside the name and at the right end; None leaves a part as it is."""
        # Nothing to say is said too: an empty text is no reason to keep the one before.
        facts = self._facts if facts is None else facts
        right = self._right if right is None else right
        is_same = facts.is_same(self._facts) and right.is_same(self._right)
        if not is_same or (name or self._words) != self._words:
            self._facts, self._right, self._words = facts, right, name or self._words
            self.refresh()

    def set_focused(self, is_focused: bool) -> None:
        """Show whether the keys count here."""
        if is_focused != self.is_focused:
            self.is_focused = is_focused
            self.refresh()

    def render(self) -> Content:
        """Return the row: name, facts, rule, facts."""
        rule = "$info" if self.is_focused else "$rule"
        line = glyphs(self).line("─")
        right = (
            Content.assemble(" ", self._right, " ", (line, rule))
            if self._right.plain.strip()
            else Content("")
        )
        bare = self._left(line, rule, Content("")).cell_length + (3 if self._words else 1)
        for room in (self.size.width - bare - right.cell_length, self.size.width - bare):
            if room >= min(_LEAST, self._facts.cell_length):
                break
            right = Content("")
        left = self._left(line, rule, self._cut(max(0, room)))
        room = self.size.width - left.cell_length - right.cell_length - 1
        return Content.assemble(left, " ", (line * max(0, room), rule), right).truncate(self.size.width)

    def _cut(self, room: int) -> Content:
        """Return the facts in so many cells; of a part that is cut to nothing no sign is left."""
        found, sign = cells.shorten(self._facts, room, glyphs(self)), glyphs(self).line("…")
        head = found.plain.removesuffix(sign)
        return found[: len(head.rstrip())] if head != found.plain and head.endswith("  ") else found

    def _left(self, line: str, rule: str, facts: Content) -> Content:
        name = self._words if self._number is None else f"{self._number} {self._words}"
        style = "bold $background on $info" if self.is_focused else "bold $foreground"
        if not name:
            return Content.assemble((line, rule), " ", facts)
        gap = "" if self.is_focused else " "
        shown = Content.styled(f" {name} " if self.is_focused else name, style)
        parts = [Content.styled(line, rule), Content(gap), shown]
        if facts.plain.strip():
            # The reversed name ends in a blank of its own: facts stand in the same cells with and without.
            parts += [Content(" " if self.is_focused else "  "), facts]
        return Content("").join(parts)

    def on_click(self, event: events.Click) -> None:
        """Ask for the focus."""
        event.stop()
        self.post_message(self.Pressed(self))
