"""Rows that were decided a moment ago: they stay where they are until the hand has left them.

Owns how long that is: 4 s, or until the cursor is two rows away.
"""

from collections.abc import Callable
from typing import Final

from textual.widget import Widget

from workbench.tui.panes.queue import QueueList

LINGER_SECONDS: Final = 4.0


class Lingering:
    """The ids of rows that linger in a list."""

    def __init__(self, pane: Widget, rows: QueueList, reshow: Callable[[], None]) -> None:
        self._pane, self._rows, self._reshow = pane, rows, reshow
        self.ids: set[str] = set()

    def add(self, action_id: str) -> None:
        """Let a row stay for a while."""
        self.ids.add(action_id)
        self._pane.set_timer(LINGER_SECONDS, lambda: self._stop(action_id))

    def cursor_came_to(self, row_id: str | None) -> None:
        """Let go of the rows that the cursor has left behind."""
        here = self._rows.line_of(row_id or "")
        for key in [key for key in self.ids if self._is_left(key, here)]:
            self._stop(key)

    def _is_left(self, key: str, here: int | None) -> bool:
        line = self._rows.line_of(key)
        return line is None or (here is not None and abs(here - line) >= 2)

    def _stop(self, action_id: str) -> None:
        if action_id in self.ids:
            self.ids.discard(action_id)
            self._reshow()
