"""The line at the bottom that replaces composer and footer: a reason, an answer, a filter, words to find.

Owns the text field, its history and that enter counts only after it has stood for 300 ms where it decides.
What the words are for is the asking pane's.
"""

from typing import TYPE_CHECKING

from textual import events
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from workbench.draw import cells
from workbench.records import dataclass
from workbench.tui.arming import ARM_SECONDS
from workbench.tui.messages import LineAsked, Said
from workbench.tui.theme import drawing, glyphs, ink

if TYPE_CHECKING:
    from textual.widgets import Input

    from workbench.tui.panes.lineinput import LineInput, LineRows

_SHOWN_EARLIER = 2
_WORDS = "earlier words"
_LOOKING = frozenset({"filter", "find", "time"})
"""Purposes of a line that do nothing outside of the screen."""
_EARLIER = {"reject": "earlier reasons", "batch": "earlier reasons", "answer": "earlier answers"}
"""What the history of a line is called, by its purpose."""


class LineBar(Vertical):
    """Title, field, earlier lines, keys."""

    @dataclass
    class Heard(Message):
        """The words changed, or were sent."""

        asked: LineAsked
        text: str
        is_final: bool

    @dataclass
    class Dropped(Message):
        """The line was left; nothing is done."""

        asked: LineAsked

    def __init__(self) -> None:
        super().__init__(id="line-bar")
        self._rows: LineRows | None = None
        self._asked: LineAsked | None = None
        self._at = -1
        self._since = 0.0

    @property
    def rows(self) -> "LineRows":
        """Return what it consists of, made when it is first asked for."""
        if self._rows is None:
            from workbench.tui.panes.lineinput import LineRows

            self._rows = LineRows(self)
        return self._rows

    @property
    def input(self) -> "LineInput":
        """Return the text field."""
        return self.rows.input

    @property
    def asked(self) -> LineAsked | None:
        """Return what is asked for now."""
        return self._asked

    def ask(self, asked: LineAsked) -> None:
        """Take a line for a pane."""
        self._asked, self._at = asked, -1
        self.rows.title.show(Content(" "), Content.styled(asked.right, ink(self).of("muted")), asked.title)
        with self.input.prevent(self.input.Changed):
            self.input.value = asked.text
        self.input.cursor_position = len(asked.text)
        self._say(asked)
        self.display = True
        self.input.focus()
        self._since = drawing(self).monotonic()

    def _say(self, asked: LineAsked) -> None:
        colours, signs = ink(self), glyphs(self)
        quoted = [
            cells.content(signs.line(f"“{one}”"), colours.of("muted", italic=True)) for one in asked.history
        ]
        shown = Content("   ").join(quoted[:_SHOWN_EARLIER])
        self.rows.earlier.display = bool(quoted)
        self.rows.earlier.update(Content.assemble((f" {signs.of('caret')} ", colours.of("faint")), shown))
        info = colours.of("info", bold=True)
        parts = [Content.assemble(("enter", info), f" {asked.does}")]
        if quoted:
            parts.append(
                Content.assemble((signs.line("↑ ↓"), info), f" {_EARLIER.get(asked.purpose, _WORDS)}")
            )
        parts.append(Content.assemble(("esc", info), " back, nothing is done"))
        self.rows.keys.update(Content.assemble(" ", Content("  ").join(parts)))

    def show_pending(self, label: str) -> None:
        """Say that enter counts in a moment; empty words say again what the keys do."""
        asked = self._asked
        if asked is None:
            return
        if not label:
            self._say(asked)
            return
        info = ink(self).of("info", bold=True)
        self.rows.keys.update(
            Content.assemble(" ", ("enter", info), f" {asked.does} …  ", ("esc", info), " takes it back")
        )

    def acts_at_once(self, key_id: str) -> bool:
        """Return whether enter only looks for something: then it need not wait."""
        del key_id
        return self._asked is not None and self._asked.purpose in _LOOKING

    def close(self) -> None:
        """Give composer and footer their place back."""
        self._asked = None
        self.display = False

    def on_input_changed(self, message: "Input.Changed") -> None:
        """Tell the asking pane of the words so far; named so that the class need not be loaded for it."""
        message.stop()
        if self._asked is not None:
            self.post_message(self.Heard(self._asked, message.value, is_final=False))

    def send(self) -> None:
        """Send the words, once the line has stood long enough."""
        asked = self._asked
        if asked is None:
            return
        if asked.is_armed and drawing(self).key_time - self._since < ARM_SECONDS:
            self._since = drawing(self).monotonic()
            self.post_message(Said("Too quick: this line just appeared. Press enter again."))
            return
        self.post_message(self.Heard(asked, self.input.value.strip(), is_final=True))

    def leave(self) -> None:
        """Leave the line."""
        if self._asked is not None:
            self.post_message(self.Dropped(self._asked))

    def recall(self, step: int) -> None:
        """Take an earlier (1) or later (-1) line."""
        history = self._asked.history if self._asked else ()
        self._at = max(-1, min(self._at + step, len(history) - 1))
        self.input.value = history[self._at] if self._at >= 0 else ""
        self.input.cursor_position = len(self.input.value)

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text never sends the line."""
        event.stop()
