"""The queued messages of a session: edit one, take one back, change their order."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.strip import Strip
from textual.widgets import Static

from workbench.render import cells
from workbench.render.cells import Column
from workbench.render.list_rows import END_COLUMN, cursor_column, list_row_style
from workbench.text.human import counted
from workbench.text.safe import one_line
from workbench.tui.keyboard import keymap
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.dialog import ListDialog
from workbench.tui.widgets.line_view import RowList, RowPlacement

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext

_LOOK_SECONDS: Final = 0.2
"""Seconds between two looks at the queue while the dialog is open: agents and other screens change it."""
_MOST_ROW_LETTERS: Final = 400
_HINTS: Final = (
    ("queue.edit", "edit"), ("queue.take-back", "take back"), ("queue.later", "later"),
    ("queue.earlier", "earlier"), ("queue.leave", "back"),
)  # fmt: skip


def open_queue(context: "MainContext") -> None:
    """Open the list of the queued messages of the session on show, or say that none is queued."""
    if context.state.transcript.facts.queue:
        context.app.push_screen(QueueDialog(context))
    else:
        context.say("No message is queued here.")


class _QueueList(RowList):
    """One row for each message, the first to be sent first."""

    def __init__(self) -> None:
        super().__init__(key="queue-list")
        self._texts: dict[str, str] = {}

    def show_messages(self, texts: dict[str, str]) -> None:
        self._texts = texts
        self.set_ids(list(texts), set(texts))

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        colours, signs = ink(self), glyphs(self)
        number = list(self._texts).index(placed.row_id) + 1
        text = one_line(self._texts[placed.row_id], _MOST_ROW_LETTERS)
        columns = [
            cursor_column(signs, colours, is_cursor=placed.is_cursor, has_focus=placed.is_focused),
            Column(content=Content.styled(str(number), colours.of("faint")), width=3, align="right"),
            Column(content=cells.safe_content(text), grows=True, gap=2),
            END_COLUMN,
        ]
        style = list_row_style(colours, is_cursor=placed.is_cursor, has_focus=placed.is_focused)
        return cells.row_strip(columns, width, style, glyphs=signs)


class QueueDialog(ListDialog, inherit_bindings=False):
    """The list over the main screen."""

    BINDINGS = keymap.bindings("queue")
    LEAVES = "queue.leave"
    DECIDES = True

    def __init__(self, context: "MainContext") -> None:
        self._queue = _QueueList()
        super().__init__("queue", self._queue)
        self._main = context
        current = context.state.current
        self._session_id = current.id if current is not None else ""
        self._shown: dict[str, str] = {}
        self._keys = Static(id="queue-keys")

    def compose_box(self) -> Iterable[Static | RowList]:
        yield self._queue
        yield self._keys

    def opened(self) -> None:
        super().opened()
        self.fill()
        self.set_interval(_LOOK_SECONDS, self._look)

    def fill(self) -> None:
        queue = self._main.state.transcript.facts.queue
        self._shown = {block.id.removeprefix("prompt:"): block.text for block in queue}
        self._queue.show_messages(self._shown)
        self.set_titles(f"{counted(len(self._shown), 'queued message')}", "sent from the top")
        hints = keymap.own_keys(self, _HINTS)
        self._keys.update(self.hint_row(hints, max(20, self._keys.size.width)))

    def _look(self) -> None:
        queue = self._main.state.transcript.facts.queue
        known = {block.id.removeprefix("prompt:"): block.text for block in queue}
        if not known:
            self._main.say("No message is queued any more.")
            self.dismiss()
        elif list(known.items()) != list(self._shown.items()):
            self.fill()

    def row_opened(self, row_id: str) -> None:
        del row_id
        self.edit()

    def edit(self) -> None:
        """Bring the message under the cursor into the composer, where it is edited."""
        prompt_id = self._queue.cursor
        self.dismiss()
        if prompt_id is not None:
            composer = self._main.widgets.composer
            composer.focus_input()
            composer.edit_queued(prompt_id)

    def take_back(self) -> None:
        """Withdraw the message under the cursor."""
        self._change(lambda prompt_id: self._main.tasks.edit_queued(self._session_id, prompt_id, ""))

    def move_message(self, places: int) -> None:
        """Send the message under the cursor later, or earlier by a negative number of places."""
        self._change(lambda prompt_id: self._main.tasks.move_queued(self._session_id, prompt_id, places))

    def _change(self, change: Callable[[str], None]) -> None:
        if (prompt_id := self._queue.cursor) is not None:
            change(prompt_id)
