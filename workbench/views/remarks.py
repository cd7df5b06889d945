"""What in the statistics is worth a look, and tokens by day.

Pure. Owns when something is worth a sentence; every sentence says what can be done.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from workbench.domain.counting import AnswerFact, SessionFact
from workbench.records import dataclass
from workbench.text.safe import one_line
from workbench.views.signs import Meaning
from workbench.views.statistics import ToolCount

DAY: Final = 86_400_000_000
_MANY: Final = 10
_EVENING: Final = 18
_POOR: Final = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One thing that is worth a look."""

    sign: Meaning
    words: str


def remarks(
    answers: Sequence[AnswerFact], tools: Iterable[ToolCount], hour_of: Callable[[int], int]
) -> tuple[Remark, ...]:
    """Return what is worth a look.

    Args:
        answers: How questions ended.
        tools: The calls by tool.
        hour_of: Returns the local hour of a moment, 0 to 23.
    """
    found = [*_expired(answers, hour_of), *_always_approved(answers)]
    found += [
        Remark(
            sign="failed",
            words=f"{one_line(one.tool, 30)} failed in {one.failed:,} of {one.ok + one.failed:,} runs.",
        )
        for one in tools
        if one.success is not None and one.ok + one.failed >= _MANY and one.success < _POOR
    ]
    return tuple(found)


def _expired(answers: Iterable[AnswerFact], hour_of: Callable[[int], int]) -> list[Remark]:
    expired = [one for one in answers if one.state == "expired"]
    if not expired:
        return []
    late = sum(hour_of(one.asked_at) >= _EVENING for one in expired)
    words = "1 ask expired" if len(expired) == 1 else f"{len(expired)} asks expired"
    words += f", {late} after {_EVENING}:00." if late * 2 > len(expired) else "."
    return [Remark(sign="expired", words=f"{words} ui.notify says how you are told.")]


def _always_approved(answers: Iterable[AnswerFact]) -> list[Remark]:
    asked: Counter[str] = Counter()
    not_plainly: set[str] = set()
    for one in answers:
        if one.tool and one.state != "superseded":
            asked[one.tool] += 1
            if one.state != "approved" or one.is_partly:
                not_plainly.add(one.tool)
    return [
        Remark(sign="rule", words=f"{one_line(tool, 30)} asked {count} times, all approved. A rule fits: 6")
        for tool, count in asked.most_common(3)
        if count >= _MANY and tool not in not_plainly
    ]


def by_day(sessions: Iterable[SessionFact], first: int, days: int, day_of: Callable[[int], int]) -> list[int]:
    """Return the tokens of sessions by the day they were used.

    Args:
        sessions: What they used.
        first: The first day, as `day_of` numbers it.
        days: How many.
        day_of: Returns the number of the local day of a moment.
    """
    found = [0] * days
    for one in sessions:
        for moment, used in one.spent or ((one.updated_at, one.input_tokens + one.output_tokens),):
            at = day_of(moment) - first
            if 0 <= at < days:
                found[at] += used
    return found
