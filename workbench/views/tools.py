"""Tool calls as rows with their times, and their bars on one time axis.

Owns what ran, what waited, and how long. One call in full is `views.calls`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from workbench.domain.rows import Action, Call
from workbench.records import dataclass
from workbench.text.human import duration
from workbench.text.safe import one_line
from workbench.views.queue import TARGET_CELLS
from workbench.views.signs import Meaning, call_sign

FRESH_SECONDS: Final = 300
"""The age up to which the time that a question waits is counted by the second, then in steps of ten."""
_TROUBLE: Final[tuple[Meaning, ...]] = ("failed", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRow:
    """One call. Times are microseconds; durations are milliseconds, None where there is none (yet).

    Its words are made when they are asked for: of hundreds of rows those on the screen are.
    """

    call: Call
    sign: Meaning
    word: str
    """The word of the sign."""
    run_ms: int | None = None
    wait_ms: int | None = None
    waited_from: int | None = None
    waited_to: int | None = None
    """When its question was decided; None while it waits."""

    @property
    def id(self) -> str:
        """Return the id of the call."""
        return self.call.id

    @property
    def requested(self) -> int:
        """Return when it was asked for."""
        return self.call.requested_at

    @property
    def started(self) -> int | None:
        """Return when it began to run."""
        return self.call.started_at

    @property
    def finished(self) -> int | None:
        """Return when it was over."""
        return self.call.finished_at

    @property
    def turn_id(self) -> str | None:
        """Return the turn that asked for it."""
        return self.call.turn_id

    @property
    def is_failed(self) -> bool:
        """Return whether it failed, or nobody knows."""
        return self.sign in _TROUBLE

    @property
    def tool(self) -> str:
        """Return the name of the tool, one safe line."""
        return one_line(self.call.tool, 64)

    @property
    def target(self) -> str:
        """Return what it is about, one safe line."""
        return target_of(self.call)

    @property
    def by(self) -> str:
        """Return who let it pass: `§ R3`, `you`, `auto`, `asks`, `denied`."""
        return by_words(self.call)

    @property
    def right(self) -> str:
        """Return the one time a narrow pane shows: `12 ms`; of an open one how long until now."""
        return _right(self.call, self.run_ms, self.wait_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The bar of one row on an axis, from 0 to 1; None where it did not wait or run."""

    waited: tuple[float, float] | None = None
    ran: tuple[float, float] | None = None
    sign: Meaning = "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The time that a waterfall shows."""

    start: int = 0
    end: int = 0

    @property
    def seconds(self) -> float:
        """Return how long it is."""
        return max(0, self.end - self.start) / 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFacts:
    """What the pane's title says."""

    total: int = 0
    failed: int = 0
    waiting: int = 0
    running: int = 0
    seconds: float = 0
    run_seconds: float = 0
    wait_seconds: float = 0


def rows(
    calls: Iterable[Call],
    actions: Mapping[str, Action],
    now: int,
    *,
    only_failed: bool = False,
    text_filter: str = "",
    turn_id: str | None = None,
) -> tuple[ToolRow, ...]:
    """Return the calls as rows, in their order.

    Args:
        calls: of one session, as the journal orders them.
        actions: by id, those that the calls asked with.
        now: the moment, in microseconds; what runs or waits is measured up to it, in whole seconds.
        only_failed: leave out what did not fail.
        text_filter: words that tool, target or state must all have.
        turn_id: only this turn; None for all.
    """
    words = text_filter.casefold().split()
    found: list[ToolRow] = []
    for call in calls:
        row = _row(call, actions.get(call.action_id or ""), now)
        is_wanted = turn_id is None or call.turn_id == turn_id
        if is_wanted and (row.is_failed or not only_failed) and _has(row, words):
            found.append(row)
    return tuple(found)


def failures(calls: Iterable[Call]) -> int:
    """Return how many calls failed, as the pane's title counts them."""
    return sum(call_sign(call)[0] in _TROUBLE for call in calls)


def _has(row: ToolRow, words: Sequence[str]) -> bool:
    if not words:
        return True
    text = f"{row.tool} {row.target} {row.word}".casefold()
    return all(word in text for word in words)


def facts(rows: Sequence[ToolRow], now: int) -> ToolFacts:
    """Return counts and sums for the title."""
    between = axis(rows, now)
    waited = [(row.waited_from, _waited_to(row, now)) for row in rows if row.waited_from is not None]
    return ToolFacts(
        total=len(rows), failed=sum(row.is_failed for row in rows),
        waiting=sum(row.sign in ("waiting", "stale") for row in rows),
        running=sum(row.sign == "running" for row in rows), seconds=between.seconds,
        run_seconds=sum(row.run_ms or 0 for row in rows) / 1000, wait_seconds=_covered(waited),
    )  # fmt: skip


def axis(rows: Sequence[ToolRow], now: int) -> Axis:
    """Return the time from the first call's request to the last end, or to now while something is open."""
    if not rows:
        return Axis()
    ends = [row.finished if row.finished is not None else now for row in rows]
    start = min(row.requested for row in rows)
    return Axis(start=start, end=max(start, *ends))


def spans(rows: Sequence[ToolRow], axis: Axis, now: int) -> tuple[Span, ...]:
    """Return a bar for every row."""
    length = max(1, axis.end - axis.start)

    def share(start: int | None, end: int) -> tuple[float, float] | None:
        if start is None or end < axis.start or start > axis.end:
            return None
        low = min(1.0, max(0.0, (start - axis.start) / length))
        return low, min(1.0, max(low, (end - axis.start) / length))

    return tuple(
        Span(
            waited=share(row.waited_from, _waited_to(row, now)),
            ran=share(row.started, row.finished if row.finished is not None else now),
            sign=row.sign,
        )
        for row in rows
    )


def ticking(milliseconds: int) -> str:
    """Return how long something open has lasted, in whole seconds: it moves once a second."""
    seconds = milliseconds // 1000
    return f"{seconds} s" if seconds < 60 else duration(seconds)


def by_words(call: Call) -> str:
    """Return who let a call pass or did not: `§ R3`, `you`, `auto`, `asks`, `the gate`."""
    if call.rule is not None:
        return f"§ {call.rule}"
    if call.action_id is not None:
        return {"pending": "asks", "expired": "nobody", "cancelled": ""}.get(call.state, "you")
    return {"rejected": "the gate", "pending": "", "cancelled": ""}.get(call.state, "auto")


def _row(call: Call, action: Action | None, now: int) -> ToolRow:
    sign, word = call_sign(call, action)
    run_ms = call.duration_ms
    if call.state == "executing":
        run_ms = max(0, now - (call.started_at or now)) // 1000
    waited_from = action.created_at if action is not None else None
    waited_to = None
    if action is not None and action.state != "pending":
        waited_to = action.decided_at
    wait_ms = None if waited_from is None else max(0, (waited_to or now) - waited_from) // 1000
    return ToolRow(
        call=call, sign=sign, word=word, run_ms=run_ms, wait_ms=wait_ms, waited_from=waited_from,
        waited_to=waited_to,
    )  # fmt: skip


def _right(call: Call, run_ms: int | None, wait_ms: int | None) -> str:
    if call.state == "pending" and wait_ms is not None:
        return ticking(wait_ms)
    if call.state == "executing":
        return ticking(run_ms or 0)
    if call.state == "approved":
        return "approved"
    return duration(run_ms / 1000) if run_ms is not None else ""


def target_of(call: Call) -> str:
    """Return what a call is about as one safe line; the gate names it, but not for what it turned down."""
    texts = (value for value in call.parameters.values() if isinstance(value, str))
    return one_line(call.target or next(texts, ""), TARGET_CELLS)


def _waited_to(row: ToolRow, now: int) -> int:
    if row.waited_to is not None:
        return row.waited_to
    return row.finished if row.finished is not None else now


def _covered(pieces: Iterable[tuple[int, int]]) -> float:
    """Return how many seconds lie in at least one of the pieces."""
    total = end = 0
    for low, high in sorted(pieces):
        total += max(0, high - max(low, end))
        end = max(end, high)
    return total / 1_000_000
