"""The line that replaces composer and footer while a pane asks for words; loaded when it is first shown."""

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from workbench.render import cells
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.owner import KeyOwner
from workbench.tui.keyboard.rule import ARM_SECONDS
from workbench.tui.pane import LineWanted, StatusMessage
from workbench.tui.render_context import context_of, glyphs, ink
from workbench.tui.widgets.pane_frame import PaneTitle


class PromptBarInput(Input, inherit_bindings=True):
    """The text field; its keys are the dialog's."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *keymap.bindings("dialog"), Binding("ctrl+c", "copy_or_leave", show=False),
    ]  # fmt: skip

    def __init__(self, bar: "PromptBar") -> None:
        super().__init__(id="line-input", select_on_focus=False)
        self.cursor_blink = False
        self._bar = bar

    def action_do(self, key_id: str) -> None:
        self._bar.action_do(key_id)

    def action_copy_or_leave(self) -> None:
        """Copy what is selected; without that leave the line, as ctrl+c does in a shell."""
        if self.selected_text:
            self.action_copy()
        else:
            self._bar.leave()


class PromptBarRows:
    """The widgets of one line bar, mounted on it."""

    def __init__(self, bar: "PromptBar") -> None:
        self.title = PaneTitle("", key="line-title")
        self.input = PromptBarInput(bar)
        self.earlier, self.keys = Static(id="line-earlier"), Static(id="line-keys")
        row = Horizontal(id="line-row")
        bar.mount(self.title, row, self.earlier, self.keys)
        # Not handed to the row to compose: what has no screen yet is refused the focus, silently.
        row.mount(Static(Content(f" {glyphs(bar).of('prompt')} "), id="line-sign"), self.input)


_MAX_SHOWN_HISTORY = 2
_DEFAULT_HISTORY_TITLE = "earlier words"
_HISTORY_TITLES = {"reject": "earlier reasons", "batch": "earlier reasons", "answer": "earlier answers"}
"""What the history of a line is called, by its purpose."""


class PromptBar(Vertical, KeyOwner):
    """Title, field, earlier lines, keys."""

    def __init__(self, on_close: Callable[[LineWanted], None]) -> None:
        """Stand where nothing is asked yet.

        Args:
            on_close: is told when the line is sent or left, before the pane that asked hears of it.
        """
        super().__init__(id="line-bar")
        self._on_close = on_close
        self._rows: PromptBarRows | None = None
        self._asked: LineWanted | None = None
        self._at = -1
        self._since = 0.0

    @property
    def rows(self) -> "PromptBarRows":
        """Return what it consists of, made when it is first asked for."""
        if self._rows is None:
            self._rows = PromptBarRows(self)
        return self._rows

    @property
    def input(self) -> "PromptBarInput":
        """Return the text field."""
        return self.rows.input

    @property
    def asked(self) -> LineWanted | None:
        """Return what is asked for now."""
        return self._asked

    def ask(self, asked: LineWanted) -> None:
        """Take a line for a pane."""
        self._asked, self._at = asked, -1
        self.rows.title.show(Content(" "), Content.styled(asked.right, ink(self).of("muted")), asked.title)
        with self.input.prevent(self.input.Changed):
            self.input.value = asked.text
        self.input.cursor_position = len(asked.text)
        self._say(asked)
        self.display = True
        self.input.focus()
        self._since = context_of(self).monotonic()

    def _say(self, asked: LineWanted) -> None:
        colours, signs = ink(self), glyphs(self)
        quoted = [
            cells.safe_content(signs.line(f"“{entry}”"), colours.of("muted", italic=True))
            for entry in asked.history
        ]
        shown = Content("   ").join(quoted[:_MAX_SHOWN_HISTORY])
        self.rows.earlier.display = bool(quoted)
        self.rows.earlier.update(Content.assemble((f" {signs.of('caret')} ", colours.of("faint")), shown))
        info = colours.of("info", bold=True)
        parts = [Content.assemble(("enter", info), f" {asked.does}")]
        if quoted:
            parts.append(
                Content.assemble(
                    (signs.line("↑ ↓"), info),
                    f" {_HISTORY_TITLES.get(asked.purpose, _DEFAULT_HISTORY_TITLE)}",
                )
            )
        parts.append(Content.assemble(("esc", info), " back, nothing is done"))
        self.rows.keys.update(Content.assemble(" ", Content("  ").join(parts)))

    def _close(self, asked: LineWanted) -> None:
        self._asked = None
        self.display = False
        self._on_close(asked)

    def on_input_changed(self, message: "Input.Changed") -> None:
        """Tell the asking pane of the words so far; named so that the class need not be loaded for it."""
        message.stop()
        if self._asked is not None:
            self._asked.pane.line_heard(self._asked.purpose, message.value, is_final=False)

    def send(self) -> None:
        """Send the words, once the line has stood long enough."""
        asked = self._asked
        if asked is None:
            return
        if asked.is_armed and context_of(self).key_time - self._since < ARM_SECONDS:
            self._since = context_of(self).monotonic()
            self.post_message(StatusMessage("Too quick: this line just appeared. Press enter again."))
            return
        text = self.input.value.strip()
        self._close(asked)
        asked.pane.line_heard(asked.purpose, text, is_final=True)

    def leave(self) -> None:
        """Leave the line."""
        asked = self._asked
        if asked is not None:
            self._close(asked)
            asked.pane.line_dropped(asked.purpose)

    def recall(self, step: int) -> None:
        """Take an earlier (1) or later (-1) line."""
        history = self._asked.history if self._asked else ()
        self._at = max(-1, min(self._at + step, len(history) - 1))
        self.input.value = history[self._at] if self._at >= 0 else ""
        self.input.cursor_position = len(self.input.value)

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text never sends the line."""
        event.stop()
