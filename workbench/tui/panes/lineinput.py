"""The rows of the line at the bottom: title, text field, earlier lines, keys.

Loaded when a line is first asked for: nobody types into it before the first frame. What the words are for,
and when they are sent, is the line bar's.
"""

from typing import TYPE_CHECKING

from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from workbench.tui import keymap
from workbench.tui.theme import glyphs
from workbench.tui.widgets.title import PaneTitle

if TYPE_CHECKING:
    from workbench.tui.panes.linebar import LineBar


class LineInput(Input, inherit_bindings=True):
    """The text field; its keys are the dialog's."""

    BINDINGS = keymap.bindings("dialog")

    def __init__(self, bar: "LineBar") -> None:
        super().__init__(id="line-input", select_on_focus=False)
        self.cursor_blink = False
        self._bar = bar

    def action_do(self, key_id: str) -> None:
        """Do what the table says."""
        keymap.run(key_id, self._bar)


class LineRows:
    """The widgets of one line bar, mounted on it."""

    def __init__(self, bar: "LineBar") -> None:
        self.title = PaneTitle("", key="line-title")
        self.input = LineInput(bar)
        self.earlier, self.keys = Static(id="line-earlier"), Static(id="line-keys")
        row = Horizontal(id="line-row")
        bar.mount(self.title, row, self.earlier, self.keys)
        # Not handed to the row to compose: what has no screen yet is refused the focus, silently.
        row.mount(Static(Content(f" {glyphs(bar).of('prompt')} "), id="line-sign"), self.input)
