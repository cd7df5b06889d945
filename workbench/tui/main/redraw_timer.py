"""Knows when something on the screen changes with time.

One timer wakes the screen at the moment at which something reads otherwise; while nothing counts down there
is none.
"""

# The screen asks when the next digit moves instead of ticking: above five minutes a countdown has steps of
# ten seconds, and a session that no living process drives counts nothing.
#
# The screen wakes twice a second at most for what counts down: each of hundreds of questions has its own
# second.

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from textual.timer import Timer

from workbench.domain.rows import Action, Call
from workbench.text.human import SECOND_MICROS
from workbench.tui.main.context import MainContext
from workbench.tui.state import ScreenState, StateChange, is_session_driven
from workbench.views.approvals import CALM_COUNTDOWN_STEP, SOON_SECONDS, seconds_left
from workbench.views.tools import FRESH_WAIT_SECONDS

if TYPE_CHECKING:
    from workbench.tui.main.screen import MainScreen

DRIVER_CHECK_SECONDS: Final = 4
"""While something is under way, the process that drives it is looked at so often."""
HOST_CHECK_SECONDS: Final = 10
"""While something works or waits, the background process is looked at so often."""


_MINUTE: Final = 60.0
_EARLY_SECONDS: Final = 0.005
"""Seconds: moments that are as close as this are one."""
_MIN_INTERVAL: Final = 0.5
"""Seconds from one moment to the next at least: each of hundreds of questions counts at its own."""


class RedrawTimer:
    """Wakes a main screen when something on it counts on."""

    def __init__(self, screen: "MainScreen", context: MainContext) -> None:
        self._screen, self._context = screen, context
        self.ticker: Timer | None = None
        self._due, self._host_seen_at, self._drivers_seen_at = 0.0, 0, 0
        self._counted_at = float("-inf")

    def begin(self) -> None:
        """Look each minute at what nothing tells of."""
        self._screen.set_interval(_MINUTE, self._minute)

    def keep(self) -> None:
        """Wake up when something on the screen counts on, and not at all while nothing does."""
        state = self._context.state
        wait = seconds_until_change(state, state.source.now())
        clock = self._context.app.monotonic()
        due = None if wait is None else max(clock + wait, self._counted_at + _MIN_INTERVAL)
        if self.ticker is not None and (due is None or abs(due - self._due) > _EARLY_SECONDS):
            self.ticker.stop()
            self.ticker = None
        if due is not None and self.ticker is None:
            self._due = due
            self.ticker = self._screen.set_timer(due - clock + _EARLY_SECONDS, self._count_on)

    def _count_on(self) -> None:
        self.ticker = None
        self._counted_at = self._context.app.monotonic()
        self.tick()
        self._screen.keep_time()

    def tick(self) -> None:
        """Show the moment: what counts, what has expired, how the host stands."""
        state, tasks = self._context.state, self._context.tasks
        now = state.source.now()
        if state.is_due(now):
            tasks.expire()
        if now - self._drivers_seen_at >= DRIVER_CHECK_SECONDS * SECOND_MICROS:
            self._drivers_seen_at = now
            self._look_at_drivers()
        if now - self._host_seen_at >= HOST_CHECK_SECONDS * SECOND_MICROS:
            self._host_seen_at = now
            tasks.read_trouble()
            self._context.folders.look()
        self._context.presenter.tick(now)
        self._context.presenter.head()
        self._screen.tell()

    def _look_at_drivers(self) -> None:
        state = self._context.state
        if lost := state.look_at_drivers():
            self._context.presenter.what_changed(
                StateChange(has_sessions=True, runs=lost & state.runs.rows.keys())
            )
            self._context.places.show_changed(lost)

    def _minute(self) -> None:
        self._screen.keep_time()
        self._context.tasks.read_standing()
        self._context.folders.look()
        if self._context.state.is_due(self._context.state.source.now()):
            self._context.tasks.expire()
        if not self._context.state.runs.rows:
            self._context.tasks.read_pipelines()
        self._context.presenter.head()


def seconds_until_change(state: ScreenState, now: int) -> float | None:
    """Return the seconds until something on the screen changes by itself; None if nothing does.

    Args:
        state: What the screen knows.
        now: Microseconds.
    """
    microseconds = min(_microseconds_until_changes(state, now), default=None)
    return None if microseconds is None else max(0, microseconds) / SECOND_MICROS


def _microseconds_until_changes(state: ScreenState, now: int) -> Iterator[int]:
    """Yield the microseconds until each thing that moves does so."""
    for action in state.pending:
        if action.expires_at is not None:
            yield _until_countdown_step(action, action.expires_at - now, now)
    yield from (_until_call(call, now) for call in state.listed_calls if _counts_time(state, call))
    if state.runs.is_moving:
        yield SECOND_MICROS
    current = state.current
    if current is not None and state.transcript.is_model_asked and is_session_driven(state, current.id):
        yield SECOND_MICROS - now % SECOND_MICROS
    if state.is_anything_driven:
        yield DRIVER_CHECK_SECONDS * SECOND_MICROS - now % (DRIVER_CHECK_SECONDS * SECOND_MICROS)


def _until_countdown_step(action: Action, left: int, now: int) -> int:
    shown = int(seconds_left(action, now) or 0)
    # What is shown is rounded up to seconds, and above five minutes down to ten of them.
    return left - (shown - 1) * SECOND_MICROS if shown >= SOON_SECONDS else (left - 1) % SECOND_MICROS + 1


def _until_call(call: Call, now: int) -> int:
    is_fresh = call.started_at is not None or now - call.requested_at <= FRESH_WAIT_SECONDS * SECOND_MICROS
    return SECOND_MICROS - now % SECOND_MICROS if is_fresh else _until_calm_step(now)


def _until_calm_step(now: int) -> int:
    return CALM_COUNTDOWN_STEP * SECOND_MICROS - now % (CALM_COUNTDOWN_STEP * SECOND_MICROS)


def _counts_time(state: ScreenState, call: Call) -> bool:
    if call.finished_at is not None:
        return False
    return call.started_at is None or is_session_driven(state, call.session_id)
