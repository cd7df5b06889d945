"""Statistics of sessions, what in them is worth a look, tokens by day, the preview of one session.

Time that a call ran and time that it waited are never added up; expired is never rejected.
"""

# A call without a result has not failed. Statistics count it as unfinished; the share that succeeded is of
# those that ended.

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from workbench.domain import events as e
from workbench.domain.rows import (
    ActionFact,
    ActivitySpans,
    CallFact,
    FileFact,
    Session,
    SessionFact,
    UsageFact,
)
from workbench.text import human
from workbench.text.human import SECOND_MICROS, home_as_tilde
from workbench.text.safe import one_line, safe_text
from workbench.views.library import SearchHit
from workbench.views.session_board import Activity, activity
from workbench.views.sessions import session_title
from workbench.views.status_icons import StatusName, session_status
from workbench.views.tools import shown_tool
from workbench.views.usage import NOTHING_USED, UsageSum, cost_text

Outcome = Literal[
    "approved", "partly", "rejected", "by rule", "by grant", "own mode", "not allowed", "expired",
    "withdrawn", "replaced",
]  # fmt: skip
OUTCOMES: Final[tuple[Outcome, ...]] = (
    "approved", "partly", "rejected", "by rule", "by grant", "own mode", "not allowed", "expired",
    "withdrawn", "replaced",
)  # fmt: skip
"""Each call decided without a question and each closed question is exactly one of them."""
UNASKED_OUTCOMES: Final[frozenset[Outcome]] = frozenset({
    "by rule", "by grant", "own mode", "not allowed",
})  # fmt: skip
_OUTCOME_OF_UNASKED: Final[dict[str, Outcome]] = {
    "rule": "by rule",
    "grant": "by grant",
    "agent": "own mode",
    "refused": "not allowed",
}
DECISION_BUCKETS: Final = (1, 2, 5, 10, 20, 60, 120, 300, 900)
"""Seconds at which a bar of the times to decide ends; the last bar has no end."""


class ToolCount(Struct, frozen=True, kw_only=True):
    """The calls of one tool."""

    tool: str
    calls: int
    ok: int
    failed: int
    unfinished: int
    """It began, and nothing says how it ended: cut off, or its file holds no result."""
    not_run: int
    """Rejected, expired, cancelled, denied, or waiting still."""
    p50_ms: int | None
    p95_ms: int | None
    run_ms: int
    waited_ms: int

    @property
    def success(self) -> float | None:
        """Return the share of those that ran which succeeded; None if none ran."""
        ran = self.ok + self.failed
        return self.ok / ran if ran else None


class DecisionTimes(Struct, frozen=True, kw_only=True):
    """How long people took to answer."""

    answers: int
    p50_ms: int | None
    p95_ms: int | None
    buckets: tuple[int, ...]
    """Answers that took at most as long as each of `DECISION_BUCKETS`, and those that took longer."""


class Statistics(Struct, frozen=True, kw_only=True):
    """Everything, for a screen or as JSON."""

    tools: tuple[ToolCount, ...]
    outcomes: tuple[tuple[Outcome, int], ...]
    deciding: DecisionTimes
    sessions: int
    statuses: tuple[tuple[str, int], ...]
    used: UsageSum
    files: tuple[FileFact, ...]


def session_statistics(
    calls: Sequence[CallFact],
    answers: Sequence[ActionFact],
    sessions: Sequence[SessionFact],
    files: Sequence[FileFact],
    used: UsageSum = NOTHING_USED,
) -> Statistics:
    return Statistics(
        tools=tool_counts(calls), outcomes=_count_outcomes(calls, answers), deciding=_decision_times(answers),
        sessions=len(sessions), statuses=tuple(Counter(session.status for session in sessions).most_common()),
        used=used, files=tuple(files),
    )  # fmt: skip


def tool_counts(calls: Iterable[CallFact]) -> tuple[ToolCount, ...]:
    """Return the calls by tool, the most used first."""
    grouped: dict[str, list[CallFact]] = {}
    for call in calls:
        grouped.setdefault(shown_tool(call.tool), []).append(call)
    counts = [_tool_count(name, group) for name, group in grouped.items()]
    return tuple(sorted(counts, key=lambda count: (-count.calls, count.tool)))


def _tool_count(name: str, calls: list[CallFact]) -> ToolCount:
    ok = sum(call.state == "succeeded" for call in calls)
    failed = sum(call.state == "failed" for call in calls)
    unfinished = sum(call.state == "interrupted" for call in calls)
    times = sorted(call.run_ms for call in calls if call.run_ms is not None)
    return ToolCount(
        tool=name, calls=len(calls), ok=ok, failed=failed, unfinished=unfinished,
        not_run=len(calls) - ok - failed - unfinished, p50_ms=percentile(times, 50),
        p95_ms=percentile(times, 95), run_ms=sum(times), waited_ms=sum(call.waited_ms or 0 for call in calls),
    )  # fmt: skip


def unfinished_text(tools: Iterable[ToolCount]) -> str:
    """Return what is said of calls of which nobody knows how they ended; empty if there are none."""
    count = sum(tool.unfinished for tool in tools)
    if not count:
        return ""
    return f"{count:,} {'call has' if count == 1 else 'calls have'} no result: cut off, or not in the file"


def percentile(ordered: Sequence[int], share: int) -> int | None:
    """Return the value that so many of a hundred do not exceed (nearest rank); None of nothing."""
    if not ordered:
        return None
    return ordered[max(0, math.ceil(len(ordered) * share / 100) - 1)]


def _count_outcomes(
    calls: Iterable[CallFact], answers: Iterable[ActionFact]
) -> tuple[tuple[Outcome, int], ...]:
    outcomes: Counter[Outcome] = Counter(_outcome_of_answer(answer) for answer in answers)
    outcomes.update(_OUTCOME_OF_UNASKED[call.unasked] for call in calls if call.unasked)
    return tuple((outcome, outcomes[outcome]) for outcome in OUTCOMES)


def _outcome_of_answer(answer: ActionFact) -> Outcome:
    if answer.state == "approved":
        return "partly" if answer.is_partly else "approved"
    return _OUTCOME_OF_STATE.get(answer.state, "withdrawn")


_OUTCOME_OF_STATE: Final[dict[str, Outcome]] = {
    "rejected": "rejected", "expired": "expired", "superseded": "replaced",
}  # fmt: skip


def _decision_times(answers: Iterable[ActionFact]) -> DecisionTimes:
    times = sorted(answer.took_ms for answer in answers if answer.took_ms is not None)
    buckets = [0] * (len(DECISION_BUCKETS) + 1)
    for took in times:
        buckets[bisect_left(DECISION_BUCKETS, took / 1000)] += 1
    return DecisionTimes(
        answers=len(times), p50_ms=percentile(times, 50), p95_ms=percentile(times, 95), buckets=tuple(buckets)
    )


_MIN_SAMPLES: Final = 10
_EVENING_HOUR: Final = 18
_POOR_SUCCESS: Final = 0.8


class Insight(Struct, frozen=True, kw_only=True):
    """One thing that is worth a look."""

    sign: StatusName
    words: str


def insights(
    answers: Sequence[ActionFact], tools: Iterable[ToolCount], hour_of: Callable[[int], int]
) -> tuple[Insight, ...]:
    """Return what is worth a look; `hour_of` returns the local hour of a moment, 0 to 23."""
    noticed = [*_expired_insights(answers, hour_of), *_always_approved_insights(answers)]
    noticed += [
        Insight(
            sign="failed",
            words=f"{one_line(tool.tool, 30)} failed in {tool.failed:,} of {tool.ok + tool.failed:,} runs.",
        )
        for tool in tools
        if tool.success is not None and tool.ok + tool.failed >= _MIN_SAMPLES and tool.success < _POOR_SUCCESS
    ]
    return tuple(noticed)


def _expired_insights(answers: Iterable[ActionFact], hour_of: Callable[[int], int]) -> list[Insight]:
    expired = [answer for answer in answers if answer.state == "expired"]
    if not expired:
        return []
    late = sum(hour_of(answer.asked_at) >= _EVENING_HOUR for answer in expired)
    words = "1 ask expired" if len(expired) == 1 else f"{len(expired)} asks expired"
    words += f", {late} after {_EVENING_HOUR}:00." if late * 2 > len(expired) else "."
    return [Insight(sign="expired", words=f"{words} ui.notify says how you are told.")]


def _always_approved_insights(answers: Iterable[ActionFact]) -> list[Insight]:
    asked: Counter[str] = Counter()
    not_plainly: set[str] = set()
    for answer in answers:
        if answer.tool and answer.state != "superseded":
            asked[answer.tool] += 1
            if answer.state != "approved" or answer.is_partly:
                not_plainly.add(answer.tool)
    return [
        Insight(sign="rule", words=f"{one_line(tool, 30)} asked {count} times, all approved. A rule fits: 6")
        for tool, count in asked.most_common(3)
        if count >= _MIN_SAMPLES and tool not in not_plainly
    ]


def tokens_by_day(
    facts: Iterable[UsageFact], first: int, days: int, day_of: Callable[[int], int]
) -> list[int]:
    """Return the tokens used on each of `days` days from `first`, numbered by `day_of` in local time."""
    tokens = [0] * days
    for fact in facts:
        day = day_of(fact.at) - first
        if 0 <= day < days:
            tokens[day] += fact.usage.total_tokens
    return tokens


_MOST_COMMAND_CELLS: Final = 200


# --- the preview ------------------------------------------------------------------------------------


class PreviewFile(Struct, frozen=True, kw_only=True):
    """A file that a session changed."""

    path: str
    added: int
    removed: int


class SessionPreview(Struct, frozen=True, kw_only=True):
    """What is said of the session under the cursor."""

    id: str
    title: str
    sign: StatusName
    word: str
    facts: tuple[tuple[str, str], ...]
    asked: int
    unasked: int
    waiting: int
    outcomes: tuple[tuple[Outcome, int], ...]
    """Those that occur: everything that was asked and does not wait, and what was not asked."""
    calls: int
    failed_calls: int
    changed: int
    files: tuple[PreviewFile, ...]
    places: tuple[SearchHit, ...] = ()
    place_count: int = 0
    answers: tuple[StatusName, ...] = ()
    """The signs of its questions, in order."""
    activity: Activity = Activity()
    begun: int = 0
    ended: int = 1
    """Moments in microseconds, between which its last events are shown on an axis."""
    talk: tuple[tuple[str, str], ...] = ()
    """Who said what last, `you` or `agent`."""


OUTCOME_ICONS: Final[Mapping[Outcome, StatusName]] = {
    "by rule": "rule", "by grant": "ok", "own mode": "ok", "approved": "ok", "partly": "partly",
    "rejected": "rejected", "expired": "expired", "withdrawn": "cancelled", "replaced": "cancelled",
    "not allowed": "failed",
}  # fmt: skip
_MOST_TALK: Final = 6
_MOST_TALK_CHARACTERS: Final = 600


def last_talk(events: Iterable[e.Event]) -> tuple[tuple[str, str], ...]:
    """Return the last messages and replies among events."""
    found: list[tuple[str, str]] = []
    for event in events:
        body = event.body
        if isinstance(body, e.PromptSubmitted | e.ReplyCompleted) and body.text.strip():
            who = "you" if isinstance(body, e.PromptSubmitted) else "agent"
            found.append((who, safe_text(body.text.strip()[:_MOST_TALK_CHARACTERS])))
    return tuple(found[-_MOST_TALK:])


def answers_in_order(answers: Iterable[ActionFact]) -> tuple[StatusName, ...]:
    """Return the signs of questions in the order in which they were asked."""
    ordered = sorted(answers, key=lambda answer: answer.asked_at)
    outcomes: list[Outcome] = [_outcome_of_answer(answer) for answer in ordered]
    return tuple(OUTCOME_ICONS[outcome] for outcome in outcomes if outcome != "replaced")


def session_preview(
    session: Session,
    waiting: int,
    counts: Statistics,
    spans: ActivitySpans,
    *,
    home: str = "",
    when: Callable[[int, int], str],
    places: Sequence[SearchHit] = (),
    place_count: int = 0,
    family: UsageSum = NOTHING_USED,
    agents: int = 0,
    forks: int = 0,
    command: str = "",
    answers: tuple[StatusName, ...] = (),
    events: Sequence[e.Event] = (),
) -> SessionPreview:
    """Return the preview; `events` are the last ones of the session.

    `when` writes two moments (microseconds); `places` are the newest of the hits; `family` is what the
    session used together with all below it, `agents` how many those are, and `forks` how many of them
    followed where a human went back. `command` is the last one that was made of words.
    """
    sign, word = session_status(session, waiting)
    worked, waited = worked_and_waited(spans)
    theirs = f", {_used_text(family)} with theirs"
    facts = (
        ("command", one_line(command, _MOST_COMMAND_CELLS)),
        ("outcome", session.log_status if session.kind == "ask" else ""),
        ("workspace", home_as_tilde(session.workspace, home)),
        ("model", ", ".join(part for part in (session.model, session.provider) if part)),
        ("when", when(session.created_at, session.updated_at)),
        ("worked", _worked_text(worked, waited)),
        ("tokens", _used_text(counts.used)),
        ("agents", f"{agents - forks}{theirs}" if agents > forks else ""),
        ("forks", f"{forks}{theirs if agents == forks else ''}" if forks else ""),
        ("tags", ", ".join(session.tags)),
        ("from", session.origin or ""),
        ("kept as", "archived" if session.archived else ""),
    )
    # A question that another one replaced is the same question.
    outcomes: tuple[tuple[Outcome, int], ...] = tuple(
        pair for pair in counts.outcomes if pair[1] and pair[0] != "replaced"
    )
    return SessionPreview(
        id=session.id, title=session_title(session), sign=sign, word=_preview_status_word(session, word),
        facts=tuple((name, words) for name, words in facts if words),
        asked=sum(count for name, count in outcomes if name not in UNASKED_OUTCOMES) + waiting,
        waiting=waiting,
        unasked=sum(count for name, count in outcomes if name in UNASKED_OUTCOMES), outcomes=outcomes,
        answers=answers, activity=activity(events),
        begun=max(session.created_at, events[0].at if events else 0),
        ended=max(session.updated_at, session.created_at + SECOND_MICROS), talk=last_talk(events),
        calls=sum(tool.calls for tool in counts.tools),
        failed_calls=sum(tool.failed for tool in counts.tools),
        changed=len(counts.files),
        files=tuple(
            PreviewFile(path=file.path, added=file.added, removed=file.removed) for file in counts.files
        ),
        places=tuple(places), place_count=place_count,
    )  # fmt: skip


def _used_text(used: UsageSum) -> str:
    tokens, cost = used.usage.total_tokens, cost_text(used)
    return "" if not tokens else f"{human.token_text(tokens)}   {cost}" if cost else human.token_text(tokens)


def _preview_status_word(session: Session, word: str) -> str:
    return f"{word}, {session.reason}" if word == "paused" and session.reason else word


def _worked_text(worked: int, waited: int) -> str:
    if worked < SECOND_MICROS / 1000 and not waited:
        return ""
    words = human.duration_text(worked / SECOND_MICROS)
    return f"{words}   waited for you {human.duration_text(waited / SECOND_MICROS)}" if waited else words


def worked_and_waited(spans: ActivitySpans) -> tuple[int, int]:
    """Return the microseconds that a session worked, and those that it only waited for its human."""
    waits = _merged_spans(spans.waits)
    turns = _merged_spans(spans.turns)
    both = sum(max(0, min(end, last) - max(begin, first)) for begin, end in turns for first, last in waits)
    return sum(end - begin for begin, end in turns) - both, sum(last - first for first, last in waits)


def _merged_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif end > begin:
            merged.append((begin, end))
    return merged
