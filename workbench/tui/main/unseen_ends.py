"""Tells of runs and turns that ended while nobody looked, in one line when the user comes back."""

# Somebody looks at a session that is on show while the terminal has the focus and a key came in the last
# two minutes. A terminal that reports no focus has it always: there the keys alone say it.

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from workbench.domain.events import Event, RunChanged, TurnEnded
from workbench.domain.rows import Session
from workbench.text.safe import one_line

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.main.notifications import Notifications

AWAY_SECONDS: Final = 120.0
"""Seconds without a key after which nobody is taken to look."""
_BURST_SECONDS: Final = 2.0
"""Seconds within which the terminal rings once for what ends."""
EndState = Literal["ended", "paused", "failed"]
_STATE_OF_OUTCOME: Final[dict[str, EndState]] = {
    "done": "ended", "error": "failed", "limit": "paused", "unattended": "paused",
    "completed": "ended", "failed": "failed",
}  # fmt: skip
"""Of turns and runs. What a user stopped is no news to them."""
_STATES: Final[tuple[EndState, ...]] = ("ended", "paused", "failed")
_MAX_TITLE_CELLS: Final = 40


class UnseenEnd(Struct, frozen=True, kw_only=True):
    """A turn or a run that came to its end."""

    session_id: str
    what: Literal["turn", "run"]
    state: EndState
    title: str
    at: int
    """Microseconds."""


def session_end(event: Event, session: Session | None) -> UnseenEnd | None:
    """Return the end that an event is of a session; None for other events, steps of a run and commands.

    Whoever asks for a command waits for it, here or in a shell.
    """
    if session is None or session.kind in ("step", "ask"):
        return None
    body = event.body
    if not isinstance(body, TurnEnded | RunChanged):
        return None
    word = body.outcome if isinstance(body, TurnEnded) else body.status
    what: Literal["turn", "run"] = "turn" if isinstance(body, TurnEnded) else "run"
    state = _STATE_OF_OUTCOME.get(word)
    if state is None:
        return None
    title = one_line(session.title, _MAX_TITLE_CELLS)
    return UnseenEnd(session_id=event.session_id, what=what, state=state, title=title, at=event.at)


def ends_sentence(ends: Sequence[UnseenEnd]) -> str:
    """Return one sentence for all: `3 runs ended, 1 run failed: “x”.`; the last of the worst is named."""
    counts = Counter((end.state, end.what) for end in ends)
    parts = [
        f"{count} {what}{'s' if count > 1 else ''} {state}"
        for state in _STATES
        for what in ("run", "turn")
        if (count := counts[state, what])
    ]
    worst = max(ends, key=lambda end: (_STATES.index(end.state), end.at))
    title = f": “{worst.title}”" if worst.title else ""
    return f"{', '.join(parts)}{title}."


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
