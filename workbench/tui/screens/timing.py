"""When the main screen wakes up by itself: countdowns, running times, and what is looked at once a minute.

Owns the one timer, set for the moment at which something that is shown reads otherwise; while nothing counts
there is none.
"""

from typing import TYPE_CHECKING, Final

from textual.timer import Timer

from workbench.tui.pace import LOOK_SECONDS, until_change

if TYPE_CHECKING:
    from workbench.tui.screens.main import MainScreen

_MINUTE: Final = 60.0
_CLOSE: Final = 0.005
"""Seconds: moments that are as close as this are one."""
_SELDOM: Final = 0.5
"""Seconds from one moment to the next at least: each of hundreds of questions counts at its own."""


class Timing:
    """Keeps the time on behalf of a main screen."""

    def __init__(self, screen: "MainScreen") -> None:
        self._screen = screen
        self.ticker: Timer | None = None
        self._due, self._host_seen_at = 0.0, 0
        self._counted_at = float("-inf")

    def begin(self) -> None:
        """Look each minute at what nothing tells of."""
        self._screen.set_interval(_MINUTE, self._minute)

    def keep(self) -> None:
        """Wake up when something on the screen counts on, and not at all while nothing does."""
        screen = self._screen
        wait = until_change(screen.state, screen.state.source.now())
        clock = screen.drawing.monotonic()
        due = None if wait is None else max(clock + wait, self._counted_at + _SELDOM)
        if self.ticker is not None and (due is None or abs(due - self._due) > _CLOSE):
            self.ticker.stop()
            self.ticker = None
        if due is not None and self.ticker is None:
            self._due = due
            self.ticker = screen.set_timer(due - clock + _CLOSE, self._count_on)

    def _count_on(self) -> None:
        self.ticker = None
        self._counted_at = self._screen.drawing.monotonic()
        self.tick()
        self._screen.keep_time()

    def tick(self) -> None:
        """Show the moment: what counts, what has expired, how the host stands."""
        screen = self._screen
        now = screen.state.source.now()
        if screen.state.is_due(now):
            screen.requests.expire()
        if now - self._host_seen_at >= LOOK_SECONDS * 1_000_000:
            self._host_seen_at = now
            screen.requests.read_trouble()
        screen.showing.head()
        for pane in screen.panes:
            if screen.is_shown(pane):
                pane.tick(now)
        if screen.is_shown(screen.pipeline) and screen.state.runs.looks_otherwise(now):
            screen.showing.pipeline()
        screen.tell()

    def _minute(self) -> None:
        screen = self._screen
        screen.keep_time()
        screen.requests.read_standing()
        if not screen.state.runs.rows:
            screen.requests.read_pipelines()
        screen.showing.head()
