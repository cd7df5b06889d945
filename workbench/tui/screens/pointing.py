"""Where the cursors of a replay stand: on what waits at its moment, and on what a mark is about.

Owns that choice only. A row that its user chose while it plays is left alone; nothing is answered here.
"""

from typing import TYPE_CHECKING

from workbench.domain.events import Event

if TYPE_CHECKING:
    from workbench.tui.screens.replay import ReplayScreen


class Pointing:
    """Moves the cursors of the queue and of the calls as those did who answered then."""

    def __init__(self, screen: "ReplayScreen") -> None:
        """Point nowhere yet."""
        self._screen = screen
        self._put: str | None = None

    def take_over(self) -> None:
        """Be told that a moment was chosen: the row that its user chose before counts no more."""
        self._put = self._screen.approvals.queue.cursor

    def at_waiting(self) -> None:
        """Go on to the first that waits when the row under the cursor does not, unless its user chose it."""
        queue = self._screen.approvals.queue
        if self._put is not None and queue.cursor != self._put:
            return
        if queue.current is not None and not queue.current.is_pending:
            first = next((row.id for row in queue.shown if row.is_pending), None)
            if first is not None:
                queue.put_cursor(first)
        self._put = queue.cursor

    def at_event(self, event: Event | None) -> None:
        """Go to the question and to the call that an event is about, where they are shown."""
        if event is None:
            return
        screen, call = self._screen, event.call_id
        asked = screen.state.actions.values()
        action = event.action_id or next((one.id for one in asked if call and one.call_id == call), None)
        if action in {row.id for row in screen.approvals.queue.shown}:
            screen.approvals.queue.put_cursor(action)
            self._put = action
        if call in screen.tools.list.rows:
            screen.tools.list.put_cursor(call)
