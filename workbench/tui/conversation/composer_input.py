"""The text field of the composer: its keys in their order, pasted text, placeholders of long pastes.

A file of its own because it loads Textual's TextArea, which the first frame does not need.
"""

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.widgets import TextArea

from workbench.text import human
from workbench.text.safe import safe_text
from workbench.tui.conversation.composer import MAX_PASTE_LETTERS
from workbench.tui.keyboard import keymap
from workbench.tui.pane import StatusMessage

if TYPE_CHECKING:
    from workbench.tui.conversation.composer import Composer


class ComposerInput(TextArea):
    """The text; its keys are those of the table's scope `composer`."""

    BINDINGS: ClassVar = [*keymap.bindings("composer")]

    def __init__(self, composer: "Composer") -> None:
        super().__init__(
            soft_wrap=True, tab_behavior="focus", show_line_numbers=False, compact=True,
            highlight_cursor_line=False, id="composer-input",
        )  # fmt: skip
        self._composer = composer
        self.cursor_blink = False
        self.match_cursor_bracket = False

    async def _on_key(self, event: events.Key) -> None:
        """Take the keys of the table in the order in which they were typed.

        A binding with priority would run before characters that wait in this widget's queue: of words and
        enter that arrive together, as over a slow line, enter would come first.
        """
        key_id = keymap.ids_by_key("composer", keymap.user_keymap(self)).get(event.key)
        if key_id is not None:
            event.prevent_default()
            event.stop()
            self.action_do(key_id)

    def action_do(self, key_id: str) -> None:
        self._composer.action_do(key_id)

    def type_in(self, text: str) -> None:
        """Write at the end of what stands here, as if it had been typed here."""
        self.insert(safe_text(text), self.document.end)
        self.move_cursor(self.document.end)

    def put(self, text: str) -> None:
        """Let a text stand here, and the cursor at its end."""
        self.load_text(text)
        self.move_cursor(self.document.end)

    def action_copy(self) -> None:
        """Copy what is selected; without a selection stop the agent, or clear the text if none works."""
        if self.selected_text:
            super().action_copy()
        else:
            self._composer.stop_or_clear()

    async def _on_paste(self, event: events.Paste) -> None:
        """Take pasted text in as text: visible, with its line ends, and never sent by itself."""
        event.prevent_default()
        event.stop()
        if len(event.text) > MAX_PASTE_LETTERS:
            most = human.size_text(MAX_PASTE_LETTERS)
            self.post_message(StatusMessage(
                f"Nothing was pasted: more than {most}. Save it as a file and name it with @.", is_error=True
            ))  # fmt: skip
            return
        text = self._composer.folded(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        self.replace(text, *self.selection)

    def action_delete_left(self) -> None:
        """Delete the character before the cursor, or the whole mark of a folded paste."""
        if not self._delete_mark():
            super().action_delete_left()

    def action_delete_word_left(self) -> None:
        """Delete the word before the cursor, or the whole mark of a folded paste."""
        if not self._delete_mark():
            super().action_delete_word_left()

    def _delete_mark(self) -> bool:
        row, column = self.cursor_location
        length = self._composer.mark_before(self.document.get_line(row)[:column])
        if length and self.selection.is_empty:
            self.delete((row, column - length), (row, column))
            return True
        return False
