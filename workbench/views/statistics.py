"""Statistics of sessions: calls by tool, how asks ended, how long people took, what was used and changed.

Pure. Time that a call ran and time that it waited for a human are never added up; expired is never rejected.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from workbench.domain.counting import AnswerFact, CallFact, FileFact, SessionFact

Outcome = Literal[
    "approved", "partly", "rejected", "by rule", "by grant", "not allowed", "expired", "withdrawn", "replaced"
]

OUTCOMES: Final[tuple[Outcome, ...]] = (
    "approved", "partly", "rejected", "by rule", "by grant", "not allowed", "expired", "withdrawn",
    "replaced",
)  # fmt: skip
"""Every call that was decided without a question and every question that is over is one of them."""

UNASKED: Final[frozenset[Outcome]] = frozenset({"by rule", "by grant", "not allowed"})
"""Those of calls that asked nobody."""

_UNASKED: Final[dict[str, Outcome]] = {"rule": "by rule", "grant": "by grant", "refused": "not allowed"}

BUCKETS: Final = (1, 2, 5, 10, 20, 60, 120, 300, 900)
"""Seconds at which a bar of the times to decide ends; the last bar has no end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCount:
    """The calls of one tool."""

    tool: str
    calls: int
    ok: int
    failed: int
    """It ran and did not succeed."""
    unfinished: int
    """It began, and nothing says how it ended: cut off, or its file holds no result."""
    not_run: int
    """Rejected, expired, cancelled, denied, or waiting still."""
    p50_ms: int | None
    p95_ms: int | None
    run_ms: int
    """All of its calls together."""
    waited_ms: int
    """For a human, all of its calls together."""

    @property
    def success(self) -> float | None:
        """Return the share of those that ran which succeeded; None if none ran."""
        ran = self.ok + self.failed
        return self.ok / ran if ran else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """How long people took to answer."""

    answers: int
    p50_ms: int | None
    p95_ms: int | None
    buckets: tuple[int, ...]
    """Answers that took at most as long as each of `BUCKETS`, and those that took longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Everything, for a screen or as JSON."""

    tools: tuple[ToolCount, ...]
    """By number of calls."""
    outcomes: tuple[tuple[Outcome, int], ...]
    deciding: Deciding
    sessions: int
    statuses: tuple[tuple[str, int], ...]
    input_tokens: int
    output_tokens: int
    cost: float | None
    """In the user's currency; None where no price is known."""
    files: tuple[FileFact, ...]
    """By times changed."""


Price = Callable[[str, int, int], float | None]
"""What some tokens cost at a provider: name, input, output."""


def statistics(
    calls: Sequence[CallFact],
    answers: Sequence[AnswerFact],
    sessions: Sequence[SessionFact],
    files: Sequence[FileFact],
    price: Price = lambda _provider, _sent, _received: None,
) -> Statistics:
    """Count what there is."""
    return Statistics(
        tools=tools(calls), outcomes=_outcomes(calls, answers), deciding=_deciding(answers),
        sessions=len(sessions), statuses=tuple(Counter(one.status for one in sessions).most_common()),
        input_tokens=sum(one.input_tokens for one in sessions),
        output_tokens=sum(one.output_tokens for one in sessions), cost=_cost(sessions, price),
        files=tuple(files),
    )  # fmt: skip


def tools(calls: Iterable[CallFact]) -> tuple[ToolCount, ...]:
    """Return the calls by tool, the most used first."""
    grouped: dict[str, list[CallFact]] = {}
    for call in calls:
        grouped.setdefault(call.tool, []).append(call)
    found = [_tool(name, group) for name, group in grouped.items()]
    return tuple(sorted(found, key=lambda one: (-one.calls, one.tool)))


def _tool(name: str, calls: list[CallFact]) -> ToolCount:
    ok = sum(call.state == "succeeded" for call in calls)
    failed = sum(call.state == "failed" for call in calls)
    unfinished = sum(call.state == "interrupted" for call in calls)
    times = sorted(call.run_ms for call in calls if call.run_ms is not None)
    return ToolCount(
        tool=name, calls=len(calls), ok=ok, failed=failed, unfinished=unfinished,
        not_run=len(calls) - ok - failed - unfinished, p50_ms=percentile(times, 50),
        p95_ms=percentile(times, 95), run_ms=sum(times), waited_ms=sum(call.waited_ms or 0 for call in calls),
    )  # fmt: skip


def unfinished_words(found: Iterable[ToolCount]) -> str:
    """Return what is said of calls of which nobody knows how they ended; empty if there are none."""
    count = sum(one.unfinished for one in found)
    if not count:
        return ""
    return f"{count:,} {'call has' if count == 1 else 'calls have'} no result: cut off, or not in the file"


def percentile(ordered: Sequence[int], share: int) -> int | None:
    """Return the value that so many of a hundred do not exceed (nearest rank); None of nothing."""
    if not ordered:
        return None
    return ordered[max(0, math.ceil(len(ordered) * share / 100) - 1)]


def _outcomes(calls: Iterable[CallFact], answers: Iterable[AnswerFact]) -> tuple[tuple[Outcome, int], ...]:
    found: Counter[Outcome] = Counter(_outcome(answer) for answer in answers)
    found.update(_UNASKED[call.unasked] for call in calls if call.unasked)
    return tuple((outcome, found[outcome]) for outcome in OUTCOMES)


def _outcome(answer: AnswerFact) -> Outcome:
    if answer.state == "approved":
        return "partly" if answer.is_partly else "approved"
    return _ENDS.get(answer.state, "withdrawn")


_ENDS: Final[dict[str, Outcome]] = {
    "rejected": "rejected", "expired": "expired", "superseded": "replaced",
}  # fmt: skip


def _deciding(answers: Iterable[AnswerFact]) -> Deciding:
    times = sorted(answer.took_ms for answer in answers if answer.took_ms is not None)
    buckets = [0] * (len(BUCKETS) + 1)
    for took in times:
        at = next((n for n, limit in enumerate(BUCKETS) if took <= limit * 1000), len(BUCKETS))
        buckets[at] += 1
    return Deciding(
        answers=len(times), p50_ms=percentile(times, 50), p95_ms=percentile(times, 95), buckets=tuple(buckets)
    )


def _cost(sessions: Iterable[SessionFact], price: Price) -> float | None:
    known = [price(one.provider, one.input_tokens, one.output_tokens) for one in sessions]
    found = [cost for cost in known if cost is not None]
    return sum(found) if found else None
