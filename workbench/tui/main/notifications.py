"""Bell, toasts, and the log of what the screen said.

The bell rings once a burst. A toast reports trouble of a pane that is not on the screen; it never stands
over a diff or the composer.
"""

import os
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from textual.geometry import Region

from workbench.config.types import NotifySettings
from workbench.domain.events import Event
from workbench.domain.values import SYSTEM_SESSION
from workbench.views.approvals import QueueSummary
from workbench.views.event_text import (
    APPROVALS_PANE,
    CONVERSATION_PANE,
    Toast,
    answered_elsewhere_text,
    toast_of,
)

if TYPE_CHECKING:
    from workbench.tui.main.overlays import ToastBox
    from workbench.tui.main.screen import MainScreen

BELL_BURST_SECONDS: Final = 2.0
_MAX_LOGGED: Final = 100


class LoggedMessage(Struct, frozen=True):
    """One sentence that the screen said, and when, in microseconds."""

    at: int
    text: str
    is_error: bool = False


class Notifications(Struct):
    """What the user was told."""

    wishes: NotifySettings | None = None
    """What the user wants to be told of; None is bell and title."""
    kept: deque[LoggedMessage] = field(default_factory=lambda: deque[LoggedMessage](maxlen=_MAX_LOGGED))
    rings: bool = False
    """Whether the bell is to ring for what was looked at last."""
    begins: bool = False
    """Whether something waits where nothing waited before."""
    _waiting: int | None = None
    _urgency: str = "calm"
    _rang_at: float = -BELL_BURST_SECONDS

    def look(self, summary: QueueSummary, at: float) -> None:
        """Note what waits now."""
        self.begins = self._waiting == 0 and summary.waiting > 0
        presses = summary.urgency == "now" and self._urgency != "now"
        wants = self.wishes is None or self.wishes.bell
        self.rings = wants and (self.begins or presses) and at - self._rang_at >= BELL_BURST_SECONDS
        if self.rings:
            self._rang_at = at
        self._waiting, self._urgency = summary.waiting, summary.urgency

    @property
    def has_title(self) -> bool:
        """Return whether the terminal's title says what waits."""
        return self.wishes is None or self.wishes.title

    def goes_out(self, *, has_terminal_focus: bool) -> bool:
        """Return whether a notice leaves the terminal for what was looked at last."""
        wish = "off" if self.wishes is None else self.wishes.desktop
        return self.begins and (wish == "always" or (wish == "away" and not has_terminal_focus))


class ToastController:
    """Tells trouble on behalf of a main screen."""

    def __init__(self, screen: "MainScreen") -> None:
        self._screen = screen
        self._box: ToastBox | None = None

    @property
    def box(self) -> "ToastBox":
        """Return the toast, made for the first trouble."""
        if self._box is None:
            from workbench.tui.main.overlays import ToastBox

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
            LoggedMessage(screen.state.source.now(), toast.words, is_error=True) for toast in found
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
            if (
                words := answered_elsewhere_text(event, state.actions.get(event.action_id or ""), os.getpid())
            )
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
        if toast.place == CONVERSATION_PANE:
            return screen.is_shown(screen.conversation) and screen.state.window is None
        if (
            toast.place == APPROVALS_PANE
            and screen.is_shown(screen.approvals)
            and not screen.approvals.is_full
        ):
            queue = screen.approvals.queue
            return queue.line_of(toast.row_id) in queue.visible_lines
        return False

    def room(self) -> Region | None:
        """Return where a toast may stand now; None where everything is diff or composer."""
        from workbench.tui.main.overlays import MIN_TOAST_HEIGHT

        screen = self._screen
        found = screen.arrangement
        if found is None or found.width == "tiny" or screen.approvals.is_full:
            return None
        if found.is_alone:
            pane = next((one for one in screen.panes if screen.is_shown(one)), None)
            return None if pane is None or pane is screen.approvals else pane.region
        under = screen.pipeline.region
        if screen.is_shown(screen.pipeline) and under.height > MIN_TOAST_HEIGHT:
            return under.shrink((1, 0, 0, 0))
        return screen.query_one("#left").region
