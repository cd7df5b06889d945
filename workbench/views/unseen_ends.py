"""Ends of runs and turns, and the sentence about those that were not seen on the screen."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from workbench.domain.events import Event, RunChanged, TurnEnded
from workbench.domain.rows import Session
from workbench.text.safe import one_line
from workbench.views.supervised import agent_title

EndState = Literal["ended", "paused", "failed"]
_STATE_OF_OUTCOME: Final[dict[str, EndState]] = {
    "done": "ended", "error": "failed", "limit": "paused", "unattended": "paused",
    "completed": "ended", "failed": "failed",
}  # fmt: skip
"""Kinds of ends of turns and runs. An end that the user caused is not reported."""
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
    title = agent_title(session, one_line(session.title, _MAX_TITLE_CELLS))
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
    title = f": “{worst.title.rstrip('.')}”" if worst.title else ""
    return f"{', '.join(parts)}{title}."
