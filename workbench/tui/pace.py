"""When the screen has to count on: at the moment something on it changes with time, and not before.

Owns that a screen on which nothing counts does not wake up: a countdown above five minutes has steps of ten
seconds, and a session or call that no living driver works at counts nothing.
"""

from collections.abc import Iterator
from typing import Final

from workbench.domain.rows import Action, Call
from workbench.tui.live import JournalSource
from workbench.tui.state import State
from workbench.views.queue import CALM_STEP, SOON_SECONDS, seconds_left
from workbench.views.tools import FRESH_SECONDS

_SECOND: Final = 1_000_000
"""Microseconds."""

LOOK_SECONDS: Final = 10
"""While something works or waits, what drives it is looked at so often."""


def until_change(state: State, now: int) -> float | None:
    """Return the seconds until something on the screen changes by itself; None if nothing does.

    Args:
        state: What the screen knows.
        now: Microseconds.
    """
    found = min(_changes(state, now), default=None)
    return None if found is None else max(0, found) / _SECOND


def _changes(state: State, now: int) -> Iterator[int]:
    """Yield the microseconds until each thing that moves does so."""
    for action in state.pending:
        if action.expires_at is not None:
            yield _until_step(action, action.expires_at - now, now)
    yield from (_until_call(call, now) for call in state.calls if _counts(state, call))
    if state.runs.is_moving:
        yield _SECOND
    if any(one.status == "processing" and is_driven(state, one.id) for one in state.sessions.values()):
        yield _until_round(now)


def _until_step(action: Action, left: int, now: int) -> int:
    shown = int(seconds_left(action, now) or 0)
    # What is shown is rounded up to seconds, and above five minutes down to ten of them.
    return left - (shown - 1) * _SECOND if shown >= SOON_SECONDS else (left - 1) % _SECOND + 1


def _until_call(call: Call, now: int) -> int:
    is_fresh = call.started_at is not None or now - call.requested_at <= FRESH_SECONDS * _SECOND
    return _SECOND - now % _SECOND if is_fresh else _until_round(now)


def _until_round(now: int) -> int:
    return CALM_STEP * _SECOND - now % (CALM_STEP * _SECOND)


def _counts(state: State, call: Call) -> bool:
    if call.finished_at is not None:
        return False
    return call.started_at is None or is_driven(state, call.session_id)


def is_driven(state: State, session_id: str) -> bool:
    """Return whether a living process drives a session; one that died says nothing any more."""
    source = state.source
    return not isinstance(source, JournalSource) or source.is_driven(session_id)
