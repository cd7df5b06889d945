"""The line at the bottom that replaces composer and footer: a reason, an answer, a filter, words to find.

Owns the text field, its history and that enter counts only after it has stood for 300 ms where it decides.
What the words are for is the asking pane's.
"""

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from workbench.draw import cells
from workbench.records import dataclass
from workbench.tui import keymap
from workbench.tui.arming import ARM_SECONDS
from workbench.tui.messages import LineAsked, Said
from workbench.tui.theme import drawing, glyphs, ink
from workbench.tui.widgets.title import PaneTitle

_SHOWN_EARLIER = 2
_WORDS = "earlier words"
_EARLIER = {"reject": "earlier reasons", "batch": "earlier reasons", "answer": "earlier answers"}
"""What the history of a line is called, by its purpose."""


class LineInput(Input, inherit_bindings=True):
    """The text field; its keys are the dialog's."""

    BINDINGS = keymap.bindings("dialog")

    def action_do(self, key_id: str) -> None:
        """Do what the table says."""
        keymap.run(key_id, self.parent_bar)

    @property
    def parent_bar(self) -> "LineBar":
        """Return the line it belongs to."""
        return self.query_ancestor(LineBar)


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
        self._title = PaneTitle("", key="line-title")
        self.input = LineInput(id="line-input", select_on_focus=False)
        self.input.cursor_blink = False
        self._earlier, self._keys = Static(id="line-earlier"), Static(id="line-keys")
        self._asked: LineAsked | None = None
        self._at = -1
        self._since = 0.0

    def compose(self) -> ComposeResult:
        """Yield the rows."""
        yield self._title
        with Horizontal(id="line-row"):
            yield Static(Content(f" {glyphs(self).of('prompt')} "), id="line-sign")
            yield self.input
        yield self._earlier
        yield self._keys

    @property
    def asked(self) -> LineAsked | None:
        """Return what is asked for now."""
        return self._asked

    def ask(self, asked: LineAsked) -> None:
        """Take a line for a pane."""
        self._asked, self._at = asked, -1
        self._title.show(Content(" "), Content.styled(asked.right, ink(self).of("muted")), asked.title)
        with self.input.prevent(Input.Changed):
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
        self._earlier.display = bool(quoted)
        self._earlier.update(Content.assemble((f" {signs.of('caret')} ", colours.of("faint")), shown))
        info = colours.of("info", bold=True)
        parts = [Content.assemble(("enter", info), f" {asked.does}")]
        if quoted:
            parts.append(
                Content.assemble((signs.line("↑ ↓"), info), f" {_EARLIER.get(asked.purpose, _WORDS)}")
            )
        parts.append(Content.assemble(("esc", info), " back, nothing is done"))
        self._keys.update(Content.assemble(" ", Content("  ").join(parts)))

    def close(self) -> None:
        """Give composer and footer their place back."""
        self._asked = None
        self.display = False

    @on(Input.Changed)
    def _changed(self, message: Input.Changed) -> None:
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
