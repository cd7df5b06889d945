"""What the main screen tells unasked: trouble of panes that are not on the screen, by a toast.

Owns where a toast may stand: never over a diff or the composer, and never where its own pane is to be seen.
Where there is no such room the sentence stands on the status row. All of it is kept among the messages.
"""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.geometry import Region

from workbench.domain.events import Event
from workbench.domain.values import SYSTEM_SESSION
from workbench.tui.notices import Kept
from workbench.views.toasts import APPROVALS, CONVERSATION, Toast, answered_elsewhere, toast_of

if TYPE_CHECKING:
    from workbench.tui.screens.main import MainScreen
    from workbench.tui.widgets.toast import ToastBox


class Telling:
    """Tells trouble on behalf of a main screen."""

    def __init__(self, screen: "MainScreen") -> None:
        self._screen = screen
        self._box: ToastBox | None = None

    @property
    def box(self) -> "ToastBox":
        """Return the toast, made for the first trouble."""
        if self._box is None:
            from workbench.tui.widgets.toast import ToastBox

            self._box = ToastBox(self.room)
            self._screen.mount(self._box)
        return self._box

    def tell(self, events: Iterable[Event]) -> None:
        """Tell of events whose pane is not to be seen: the last one in words, the others as a number."""
        found = [toast for event in events if (toast := self._toast(event)) is not None]
        found = [toast for toast in found if not self._is_seen(toast)]
        if not found:
            return
        screen = self._screen
        screen.notices.kept.extend(
            Kept(screen.state.source.now(), toast.words, is_error=True) for toast in found
        )
        room = self.room()
        if room is None:
            screen.rule.say(found[-1].words, is_error=True)
        else:
            self.box.show(found[-1], room, more=len(found) - 1)

    def answers(self, events: Iterable[Event]) -> None:
        """Say what was answered elsewhere: a row that changes by itself must not look like one's own."""
        state = self._screen.state
        if not state.source.is_live:
            return
        found = [
            words
            for event in events
            if (words := answered_elsewhere(event, state.actions.get(event.action_id or ""), os.getpid()))
        ]
        if found:
            more = f" {len(found) - 1} more were answered there." if found[1:] else ""
            self._screen.say(found[-1] + more)

    def _toast(self, event: Event) -> Toast | None:
        state = self._screen.state
        session = state.sessions.get(event.session_id)
        if session is None and event.session_id != SYSTEM_SESSION:
            return None
        answered = (one for one in state.actions.values() if event.call_id and one.call_id == event.call_id)
        action = next((one for one in answered if one.state == "approved"), None)
        is_current = state.current is not None and event.session_id == state.current.id
        return toast_of(event, session, action, is_current=is_current)

    def _is_seen(self, toast: Toast) -> bool:
        screen = self._screen
        if toast.place == CONVERSATION:
            return screen.is_shown(screen.conversation) and screen.state.window is None
        if toast.place == APPROVALS and screen.is_shown(screen.approvals) and not screen.approvals.is_full:
            queue = screen.approvals.queue
            return queue.line_of(toast.row_id) in queue.visible_lines
        return False

    def room(self) -> Region | None:
        """Return where a toast may stand now; None where everything is diff or composer."""
        from workbench.tui.widgets.toast import LEAST_HEIGHT

        screen = self._screen
        found = screen.arrangement
        if found is None or found.width == "tiny" or screen.approvals.is_full:
            return None
        if found.is_alone:
            pane = next((one for one in screen.panes if screen.is_shown(one)), None)
            return None if pane is None or pane is screen.approvals else pane.region
        under = screen.pipeline.region
        if screen.is_shown(screen.pipeline) and under.height > LEAST_HEIGHT:
            return under.shrink((1, 0, 0, 0))
        return screen.query_one("#left").region
