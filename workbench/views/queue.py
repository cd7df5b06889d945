"""The queue as rows: what waits, in an order, and what was decided lately; and its summary.

Owns order, filter, words and urgency of rows. Never moves a cursor: `hold` keeps the order that is shown.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import ceil
from typing import Final, Literal, NamedTuple

from workbench.domain.rows import Action, Call, Session
from workbench.records import dataclass, replace
from workbench.text.safe import one_line
from workbench.views.selection import taken_words
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
    in_decided: bool = False
    """Stands below the line; a row decided a moment ago still stands among the waiting ones."""


class _Of(NamedTuple):
    """All that a row is made of."""

    action: Action
    session: Session | None
    call: Call | None
    sizes: Sequence[int]
    left: float | None
    is_marked: bool
    is_undone: bool


Made = dict[str, tuple[_Of, QueueRow]]
"""Rows of actions by their ids, with what they were made of."""


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
    hunk_sizes: Mapping[str, Sequence[int]] | None = None,
    lingering: Collection[str] = frozenset[str](),
    ruled: Iterable[Call] = (),
    verbs: Mapping[str, str] | None = None,
    undone: Collection[str] = frozenset[str](),
    made: Made | None = None,
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
        hunk_sizes: by action id, the changed lines of each of its hunks; makes `2 of 3 hunks` of `partly`.
        lingering: ids of actions decided a moment ago, which stay among the pending for the hand's sake.
        ruled: calls that a rule let pass, shown among the decided.
        verbs: by tool id, the queue's word for it; for `ruled`.
        undone: ids of actions whose changes were taken back.
        made: what the last rows were made of: of what did not change they are taken from it. Filled anew.
    """
    sizes = hunk_sizes or {}
    before = {} if made is None else dict(made)
    after: Made = {} if made is None else made
    after.clear()
    for action in actions:
        if action.state != "superseded":
            of = _Of(
                action=action,
                session=sessions.get(action.session_id),
                call=calls.get(action.call_id or ""),
                sizes=sizes.get(action.id, ()),
                left=seconds_left(action, now),
                is_marked=action.id in marks,
                is_undone=action.id in undone,
            )
            was = before.get(action.id)
            after[action.id] = was if was is not None and was[0] == of else (of, _row(of))
    found = [(of.action, row) for of, row in after.values()]
    waiting = [(a, row) for a, row in found if (row.is_pending or a.id in lingering)]
    waiting.sort(key=lambda pair: _place(*pair, order))
    below = [row for a, row in found if not (row.is_pending or a.id in lingering)]
    below += [_ruled_row(call, sessions.get(call.session_id), verbs or {}) for call in ruled]
    below.sort(key=lambda row: (-(row.clock or 0), row.id))
    shown = [row for _, row in waiting]
    shown += [replace(row, in_decided=True) for row in below] if shows_decided else []
    return tuple(row for row in shown if matches(row, text_filter))


def hold(rows: Sequence[QueueRow], shown: Sequence[str]) -> tuple[QueueRow, ...]:
    """Return the rows with those already shown in the order they were shown; new ones stand at their place.

    While the pane has focus its order is frozen: a row never changes places with another one on screen.

    Args:
        rows: as `rows` orders them now.
        shown: ids in the order that is on screen.
    """
    places = {key: place for place, key in enumerate(shown)}
    held = [row for row in rows if row.id in places and not row.in_decided]
    held.sort(key=lambda row: places[row.id])
    behind: dict[str | None, list[QueueRow]] = {}
    before: str | None = None
    for row in rows:
        if row.in_decided:
            break
        if row.id in places:
            before = row.id
        else:
            behind.setdefault(before, []).append(row)
    ordered = list(behind.get(None, ()))
    for row in held:
        ordered += [row, *behind.get(row.id, ())]
    return (*ordered, *(row for row in rows if row.in_decided))


def summary(actions: Iterable[Action], now: int) -> QueueSummary:
    """Return how many actions wait and how long the first of them has."""
    waiting = [action for action in actions if action.state == "pending"]
    if not waiting:
        return QueueSummary()
    first = min(waiting, key=_by_time)
    left = seconds_left(first, now)
    return QueueSummary(
        waiting=len(waiting), first_left=left, first_id=first.id, urgency=urgency(left),
        sessions=len({action.session_id for action in waiting}),
    )  # fmt: skip


def next_waiting(rows: Sequence[QueueRow], after: str | None, *, step: int = 1) -> str | None:
    """Return the id of the next row that waits, round the end; None if nothing waits.

    Args:
        rows: in shown order.
        after: the id under the cursor; None begins at the top.
        step: 1 for the next, -1 for the previous.
    """
    at = next((n for n, row in enumerate(rows) if row.id == after), None)
    if at is None:
        at = -1 if step > 0 else 0
    for distance in range(1, len(rows) + 1):
        row = rows[(at + step * distance) % len(rows)]
        if row.is_pending:
            return row.id
    return None


def in_minutes(row: QueueRow) -> QueueRow:
    """Return a row whose countdown moves once a minute, for screens without motion."""
    if row.left_seconds is None:
        return row
    return replace(row, left_seconds=max(float(NOW_SECONDS - 1), row.left_seconds // 60 * 60))


def matches(row: QueueRow, text_filter: str) -> bool:
    """Return whether a row holds every word of a filter, whatever the case."""
    if not text_filter:
        return True
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


def _row(of: _Of) -> QueueRow:
    action, left = of.action, of.left
    sign, word = action_sign(action, of.call, is_undone=of.is_undone)
    is_pending = action.state == "pending"
    risks = tuple(one_line(warning, 40) for warning in action.warnings if warning != "stale")
    if sign == "partly" and (taken := taken_words(action.selection or (), of.sizes)):
        word = taken if taken.endswith("lines") else f"{taken} hunks"
    return QueueRow(
        id=action.id, sign=sign, verb=one_line(action.verb, 5), target=one_line(action.target, TARGET_CELLS),
        added=action.added, removed=action.removed, more_files=max(0, len(action.files) - 1),
        session_id=action.session_id, session_title=_title(of.session),
        state_word=_risk_word(risks, word) if is_pending else word, left_seconds=left,
        clock=action.decided_at, is_pending=is_pending, urgency=urgency(left),
        warnings=risks, mark=of.is_marked,
        can_batch=is_pending and action.kind == "tool" and not action.warnings,
    )  # fmt: skip


def _risk_word(risks: Sequence[str], word: str) -> str:
    if word == "stale":
        return word
    if not risks:
        return ""
    return f"! {risks[0]}" if len(risks) == 1 else f"! {len(risks)}"


def _ruled_row(call: Call, session: Session | None, verbs: Mapping[str, str]) -> QueueRow:
    return QueueRow(
        id=call.id, sign="rule", verb=verbs.get(call.tool, "run"), target=one_line(call.target, TARGET_CELLS),
        session_id=call.session_id, session_title=_title(session),
        clock=call.finished_at or call.requested_at,
        state_word=f"by rule {call.rule}" if call.rule else "by the settings", is_pending=False,
        is_action=False,
        can_batch=False,
    )  # fmt: skip


def _title(session: Session | None) -> str:
    return one_line(session.title, TITLE_CELLS) if session else ""


def _by_time(action: Action) -> tuple[bool, int, int, str]:
    return action.expires_at is None, action.expires_at or 0, action.created_at, action.id


def _place(action: Action, row: QueueRow, order: Order) -> tuple[object, ...]:
    if order == "new":
        return (-action.created_at, action.id)
    if order == "session":
        return (row.session_title.casefold(), row.session_id, *_by_time(action))
    return _by_time(action)
