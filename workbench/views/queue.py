"""The queue as rows: what waits, in an order, and what was decided lately; and its summary.

Owns order, filter, words and urgency of rows. Never moves a cursor: `hold` keeps the order that is shown.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final, Literal

from workbench.domain.rows import Action, Call, Session
from workbench.text.safe import one_line
from workbench.views.signs import Meaning, action_sign

Order = Literal["time", "new", "session"]
Urgency = Literal["calm", "soon", "now"]

ORDER_WORDS: Final[Mapping[Order, str]] = {
    "time": "by time left",
    "new": "newest first",
    "session": "by session",
}
SOON_SECONDS: Final = 300
NOW_SECONDS: Final = 60
CALM_STEP: Final = 10
"""Above five minutes a countdown moves in steps of so many seconds."""

TARGET_CELLS: Final = 400
TITLE_CELLS: Final = 80
_MICROS = 1_000_000
_NONE: Mapping[str, Call] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRow:
    """One row of the queue; equal rows are drawn alike, so `left_seconds` has the steps of the screen."""

    id: str
    """Of the action; of the call where a rule decided (`is_action` is False)."""
    sign: Meaning
    verb: str
    """One of `edit write run fetch read gate ask`."""
    target: str
    """One safe line."""
    added: int = 0
    removed: int = 0
    more_files: int = 0
    """How many files it changes besides the target."""
    session_id: str = ""
    session_title: str = ""
    state_word: str = ""
    """`stale`, `! hidden`, `! 3`; of a decided one `2 of 3 hunks`, `approved`, `by rule R3`."""
    left_seconds: float | None = None
    clock: int | None = None
    """When it was decided."""
    is_pending: bool = True
    is_action: bool = True
    urgency: Urgency = "calm"
    warnings: tuple[str, ...] = ()
    """Without `stale`, which is the sign's."""
    mark: bool = False
    """Chosen for the batch."""
    can_batch: bool = True
    """Gates, questions, trust and what carries a warning are answered one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSummary:
    """The queue in three facts, for header, tab, title and bell."""

    waiting: int = 0
    first_left: float | None = None
    """Seconds that the first of them has left; None if none of them expires."""
    first_id: str | None = None
    """The one with the least time; without times the oldest."""
    urgency: Urgency = "calm"
    sessions: int = 0
    """How many sessions wait."""


def rows(
    actions: Iterable[Action],
    sessions: Mapping[str, Session],
    now: int,
    *,
    order: Order = "time",
    text_filter: str = "",
    shows_decided: bool = True,
    marks: Collection[str] = frozenset[str](),
    calls: Mapping[str, Call] = _NONE,
    hunk_totals: Mapping[str, int] | None = None,
    lingering: Collection[str] = frozenset[str](),
    ruled: Iterable[Call] = (),
) -> tuple[QueueRow, ...]:
    """Return the rows: pending ones in the order asked for, then decided ones, newest first.

    Args:
        actions: every pending action, and as many decided ones as the screen wants.
        sessions: by id; a session that is missing has no title.
        now: the moment, in microseconds.
        order: of the pending rows; decided ones are always newest first.
        text_filter: words that a row must all have in verb, target, state or session title.
        shows_decided: whether decided rows are there at all.
        marks: ids of rows marked for a batch.
        calls: by id, what came of approved actions.
        hunk_totals: by action id, how many hunks it has, where known; makes `2 of 3 hunks` of `partly`.
        lingering: ids of actions decided a moment ago, which stay among the pending for the hand's sake.
        ruled: calls that a rule let pass, shown among the decided.
    """
    del hunk_totals
    found = [
        _row(action, sessions.get(action.session_id), now, action.id in marks, calls)
        for action in actions
        if action.state != "superseded"
    ]
    found += [_ruled_row(call, sessions.get(call.session_id)) for call in ruled]
    wanted = [row for row in found if matches(row, text_filter)]
    waiting = [row for row in wanted if row.is_pending or row.id in lingering]
    decided = [row for row in wanted if not row.is_pending and row.id not in lingering]
    raise NotImplementedError(waiting, decided, order, shows_decided)


def hold(rows: Sequence[QueueRow], shown: Sequence[str]) -> tuple[QueueRow, ...]:
    """Return the rows with those already shown in the order they were shown; new ones stand at their place.

    While the pane has focus its order is frozen: a row never changes places with another one on screen.

    Args:
        rows: as `rows` orders them now.
        shown: ids in the order that is on screen.
    """
    raise NotImplementedError(rows, shown)


def summary(actions: Iterable[Action], now: int) -> QueueSummary:
    """Return how many actions wait and how long the first of them has."""
    raise NotImplementedError(actions, now)


def next_waiting(rows: Sequence[QueueRow], after: str | None, *, step: int = 1) -> str | None:
    """Return the id of the next row that waits, round the end; None if nothing waits.

    Args:
        rows: in shown order.
        after: the id under the cursor; None begins at the top.
        step: 1 for the next, -1 for the previous.
    """
    raise NotImplementedError(rows, after, step)


def matches(row: QueueRow, text_filter: str) -> bool:
    """Return whether a row holds every word of a filter, whatever the case."""
    text = f"{row.verb} {row.target} {row.state_word} {row.session_title}".casefold()
    return all(word in text for word in text_filter.casefold().split())


def urgency(left_seconds: float | None) -> Urgency:
    """Return how near the end is: `soon` below five minutes, `now` below one."""
    if left_seconds is None or left_seconds >= SOON_SECONDS:
        return "calm"
    return "soon" if left_seconds >= NOW_SECONDS else "now"


def seconds_left(action: Action, now: int) -> float | None:
    """Return the seconds a pending action has left in steps of the screen; None if it does not expire."""
    if action.state != "pending" or action.expires_at is None:
        return None
    left = ceil(max(0, action.expires_at - now) / _MICROS)
    return float(left if left < SOON_SECONDS else left - left % CALM_STEP)


def _row(
    action: Action, session: Session | None, now: int, is_marked: bool, calls: Mapping[str, Call]
) -> QueueRow:
    raise NotImplementedError(action, session, now, is_marked, calls, one_line, action_sign)


def _ruled_row(call: Call, session: Session | None) -> QueueRow:
    raise NotImplementedError(call, session)
