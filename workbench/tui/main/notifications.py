"""Bell, toasts, and the log of what the screen said.

The bell rings once a burst. A toast reports trouble of a pane that is not on the screen; it never stands
over a diff or the composer.
"""

import os
from collections import deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field
from textual.geometry import Region
from textual.screen import Screen

from workbench.config.sections import NotifySettings
from workbench.domain.events import Event
from workbench.domain.values import SYSTEM_SESSION
from workbench.tui.main.unseen_ends import UnseenEnds
from workbench.tui.pane import Pane
from workbench.views.approvals import QueueSummary
from workbench.views.sessions import leave_notice
from workbench.views.toasts import (
    APPROVALS_PANE,
    CONVERSATION_PANE,
    Toast,
    answered_elsewhere_text,
    toast_of,
)

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.main.toast_box import ToastBox

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

    def keep(self, at: int, text: str, *, is_error: bool = False) -> None:
        """Add a sentence to the messages; `at` in microseconds."""
        self.kept.append(LoggedMessage(at, text, is_error))

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


_WIDE_COLUMNS: Final = 100
"""Columns from which sentences are whole."""


def _left_behind(context: "MainContext") -> tuple[int, int]:
    """Return how many agents keep working without a screen, and how many asks wait.

    Questions about trust and rules are none of them where nothing else waits or works: no agent waits for
    these, and they stay.
    """
    working = sum(session.status == "processing" for session in context.state.sessions.values())
    waiting = context.state.pending
    has_agents = working or any(action.session_id != SYSTEM_SESSION for action in waiting)
    return working, len(waiting) if has_agents else 0


def ask_to_leave(context: "MainContext") -> bool:
    """Say what goes on without a screen; True when the user has said twice that they leave."""
    working, waiting = _left_behind(context)
    if context.is_leaving or context.layout.is_tiny or not (working or waiting):
        return True
    context.is_leaving = True
    show_leave_notice(context, is_shown=True)
    context.presenter.footer()
    return False


def show_leave_notice(context: "MainContext", *, is_shown: bool) -> None:
    """Say what goes on without a screen, if anything does, or take that back."""
    working, waiting = _left_behind(context)
    is_wide = context.app.size.width >= _WIDE_COLUMNS
    is_asked = (is_shown or context.is_leaving) and not context.layout.is_tiny and bool(working or waiting)
    context.widgets.rule.ask(leave_notice(working, waiting, is_wide=is_wide) if is_asked else "")


def stay(context: "MainContext") -> None:
    """Take the question back whether to leave."""
    context.is_leaving = False
    context.widgets.rule.ask("")
    context.presenter.footer()


class ToastController:
    """Tells trouble of panes that are not on the screen."""

    def __init__(self, screen: Screen[Any], context: "MainContext", notifications: Notifications) -> None:
        self._screen, self._context, self._notifications = screen, context, notifications
        self._box: ToastBox | None = None
        self.ends = UnseenEnds(context, notifications)

    @property
    def box(self) -> "ToastBox":
        """Return the toast, made for the first trouble."""
        if self._box is None:
            from workbench.tui.main.toast_box import ToastBox

            self._box = ToastBox(self.room)
            self._screen.mount(self._box)
        return self._box

    def tell(self, events: Iterable[Event]) -> None:
        """Tell of events whose pane is not to be seen: the last one in words, the others as a number."""
        toasts = [toast for event in events if (toast := self._toast(event)) is not None]
        toasts = [toast for toast in toasts if not self._is_seen(toast)]
        if not toasts:
            return
        now = self._context.state.source.now()
        self._notifications.kept.extend(LoggedMessage(now, toast.words, is_error=True) for toast in toasts)
        room = self.room()
        if room is None:
            self._context.widgets.rule.say(toasts[-1].words, is_error=True)
        else:
            self.box.show(toasts[-1], room, more=len(toasts) - 1)

    def ring(self) -> None:
        """Ring, and notify outside of the terminal, if something waits that did not."""
        notifications, context = self._notifications, self._context
        notifications.look(context.presenter.summary(), context.app.monotonic())
        if notifications.rings:
            context.app.bell()
        if notifications.has_title:
            context.app.set_terminal_title(context.presenter.title())
        if notifications.goes_out(has_terminal_focus=context.app.app_focus):
            context.tasks.notify()

    def take(self, events: Sequence[Event]) -> None:
        """Say what others answered, and what ended while nobody looked."""
        self.answers(events)
        self.ends.take(events)

    def answers(self, events: Iterable[Event]) -> None:
        """Say what was answered elsewhere: a row that changes by itself must not look like one's own."""
        state = self._context.state
        if not state.source.is_live:
            return
        texts = [
            text
            for event in events
            if (text := answered_elsewhere_text(event, state.actions.get(event.action_id or ""), os.getpid()))
        ]
        if texts:
            more = f" {len(texts) - 1} more were answered there." if texts[1:] else ""
            self._context.say(texts[-1] + more)

    def _toast(self, event: Event) -> Toast | None:
        state = self._context.state
        session = state.sessions.get(event.session_id)
        if session is None and event.session_id != SYSTEM_SESSION:
            return None
        answered = (
            candidate
            for candidate in state.actions.values()
            if event.call_id and candidate.call_id == event.call_id
        )
        action = next((candidate for candidate in answered if candidate.state == "approved"), None)
        is_current = state.current is not None and event.session_id == state.current.id
        return toast_of(event, session, action, is_current=is_current)

    def _is_seen(self, toast: Toast) -> bool:
        widgets, layout = self._context.widgets, self._context.layout
        if toast.place == CONVERSATION_PANE:
            return layout.is_shown(widgets.conversation) and self._context.state.window is None
        approvals = widgets.approvals
        if toast.place == APPROVALS_PANE and layout.is_shown(approvals) and not approvals.is_full:
            return approvals.queue.line_of(toast.row_id) in approvals.queue.visible_lines
        return False

    def room(self) -> Region | None:
        """Return where a toast may stand now; None where everything is diff or composer."""
        from workbench.tui.main.toast_box import MIN_TOAST_HEIGHT

        widgets, layout = self._context.widgets, self._context.layout
        if layout.arrangement is None or layout.is_tiny or widgets.approvals.is_full:
            return None
        if layout.is_alone:
            alone = next((pane for pane in self._screen.query(Pane) if layout.is_shown(pane)), None)
            return None if alone is None or alone is widgets.approvals else alone.region
        under = widgets.pipeline.region
        if layout.is_shown(widgets.pipeline) and under.height > MIN_TOAST_HEIGHT:
            return under.shrink((1, 0, 0, 0))
        return self._screen.query_one("#left").region
