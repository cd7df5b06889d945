"""The detail of the row that the queue's cursor came to: made after the frame that shows the cursor there.

Owns when the detail is made, and that keys which follow each other quickly make the last one only. It never
lets a key act while the detail is that of another row: only keys that move the cursor need not wait for it.
"""

# A diff takes several times as long to make and to draw as a row with the cursor. The cursor is drawn first,
# so that a key that is held down never waits for a diff that nobody sees. Nothing can be answered in between:
# `ApprovalsPane.subject` is empty while the detail is not that of the row under the cursor.

from typing import TYPE_CHECKING, Final

from workbench.tui.keyboard.dispatch import binding_of
from workbench.tui.main.context import MainContext
from workbench.tui.render_context import call_once_after

if TYPE_CHECKING:
    from workbench.tui.main.screen import MainScreen

_CURSOR_KEYS: Final = frozenset(
    {
        "list.row-down", "list.row-up", "list.row-first", "list.row-last",
        "list.problem-next", "list.problem-previous",
    }
)  # fmt: skip
"""Keys that only move the cursor of the queue."""
_NEXT_KEY_SECONDS: Final = 0.01
"""After which the detail is due again that gave way to a key."""


class DetailRequest:
    """Whether the detail of the row under the queue's cursor is still to be made."""

    def __init__(self, screen: "MainScreen", context: MainContext) -> None:
        self._screen, self._context = screen, context
        self.is_due = False
        """Whether the detail is not, or not yet again, that of the row under the cursor."""

    def changed(self, action_id: str | None) -> None:
        """Make the detail of a row: at once where it is on show, else after the next frame."""
        detail = self._context.widgets.approvals.detail
        if detail is not None and detail.id == action_id:
            self.make()
        elif not self.is_due:
            self.is_due = True
            self._after_frame()

    def _after_frame(self) -> None:
        # Twice: the list tells the screen of the row to draw only when nothing is left for it to do.
        self._screen.call_after_refresh(self._screen.call_after_refresh, self._frame_drawn)

    def _frame_drawn(self) -> None:
        if not self.is_due:
            return
        app = self._context.app
        if app.has_unread_keys or app.message_queue_size:
            call_once_after(self._screen, _NEXT_KEY_SECONDS, self._frame_drawn)
        else:
            self.make()

    def make(self) -> None:
        """Make the detail now."""
        self.is_due = False
        self._context.presenter.detail(self._context.widgets.approvals.queue.cursor)

    def make_before_key(self, key: str) -> bool:
        """Make a detail that is due before a key that may be about it; return whether one was made."""
        if not self.is_due or (key and self._only_moves(key)):
            return False
        self.make()
        return True

    def _only_moves(self, key: str) -> bool:
        if not self._context.widgets.approvals.has_pane_focus:
            return False
        binding = binding_of(self._context.app, key)
        return binding is not None and binding.id in _CURSOR_KEYS
