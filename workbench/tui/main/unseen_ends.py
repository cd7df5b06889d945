"""Tells of runs and turns that ended while nobody looked, in one line when the user comes back."""

# Somebody looks at a session that is on show while the terminal has the focus and a key came in the last
# two minutes. A terminal that reports no focus has it always: there the keys alone say it.

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from workbench.domain.events import Event
from workbench.views.unseen_ends import UnseenEnd, ends_sentence, session_end

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.main.notifications import Notifications

AWAY_SECONDS: Final = 120.0
"""Seconds without a key after which nobody is taken to look."""
_BURST_SECONDS: Final = 2.0
"""Seconds within which the terminal rings once for what ends."""


class UnseenEnds:
    """What ended on a main screen while nobody looked, until it was said."""

    def __init__(self, context: "MainContext", notifications: "Notifications") -> None:
        self._context, self._notifications = context, notifications
        self._ends: list[UnseenEnd] = []
        self._told_at = -_BURST_SECONDS

    @property
    def is_user_here(self) -> bool:
        """Return whether somebody sits at the screen, as far as keys and the terminal's focus say."""
        app = self._context.app
        return app.app_focus and app.monotonic() - app.key_time < AWAY_SECONDS

    def take(self, events: Iterable[Event]) -> None:
        """Note what ended; a user who is here is told at once of a session that is not on show."""
        state = self._context.state
        if not state.source.is_live:
            return
        found = (session_end(event, state.sessions.get(event.session_id)) for event in events)
        is_here = self.is_user_here
        ends = [end for end in found if end is not None and not (is_here and self._is_on_show(end))]
        if not ends:
            return
        self._keep(ends)
        if is_here:
            # A failure has its own notice, which says why.
            self._say([end for end in ends if end.state != "failed"], "")
        else:
            self._ends += ends
            self._context.app.when_user_comes = self.user_came
            self._tell_outside()

    def since_left(self, ends: Sequence[UnseenEnd]) -> None:
        """Tell of what ended while no screen was open here."""
        self._keep(ends)
        self._say(ends, "Since you left: ")

    def user_came(self) -> None:
        """Say in one line what ended meanwhile: a key came, or the terminal got the focus."""
        if self._context.is_on_screen:
            ends, self._ends = self._ends, []
            self._context.app.when_user_comes = None
            self._say(ends, "While you were away: ")

    def _say(self, ends: Sequence[UnseenEnd], before: str) -> None:
        if ends:
            is_error = any(end.state == "failed" for end in ends)
            words = f"{before}{ends_sentence(ends)}"
            self._context.app.call_later(self._context.say, words, is_error=is_error, is_kept=False)

    def _keep(self, ends: Iterable[UnseenEnd]) -> None:
        for end in ends:
            self._notifications.keep(end.at, ends_sentence((end,)), is_error=end.state == "failed")

    def _is_on_show(self, end: UnseenEnd) -> bool:
        context, widgets = self._context, self._context.widgets
        if not context.is_on_screen:
            return False
        run = widgets.pipeline.run
        if run is not None and run.id == end.session_id and context.layout.is_shown(widgets.pipeline):
            return True
        return context.state.current is not None and context.state.current.id == end.session_id

    def _tell_outside(self) -> None:
        """Ring and notify as the user wants it, once for what ends at about the same time."""
        app, wishes = self._context.app, self._notifications.wishes
        if app.monotonic() - self._told_at < _BURST_SECONDS:
            return
        self._told_at = app.monotonic()
        if wishes is None or wishes.bell:
            app.bell()
        desktop = "off" if wishes is None else wishes.desktop
        if desktop == "always" or (desktop == "away" and not app.app_focus):
            self._context.tasks.notify_words(ends_sentence(self._ends))
