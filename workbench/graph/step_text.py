"""What is said of a step beside its name: signs, badges of one line, and the two lines of a box.

A text never grows wider than the cells that the layout reserved for it. Each part of it has a tone, which the
screen turns into a colour.
"""

from collections.abc import Iterable
from typing import Literal

from workbench.graph.model import GraphStep, StatusCounts, StepFacts
from workbench.text.failures import exit_code_text
from workbench.text.human import ordinal, try_text
from workbench.text.width import cell_width, cut_to_width
from workbench.views.status_icons import ICONS, STEP_STATUSES, StepStatus

Tone = Literal["plain", "state", "rest"]
"""`plain` is quiet, `state` has the colour of the step's state, `rest` is the part of a bar to come."""
Phrase = tuple[str, Tone]

FAILED_GOES_ON = STEP_STATUSES["warned"][1]
ASKS_YOU = "asks you"
HEAD_WIDTH = _DURATION_WIDTH = len("999 ms")
"""Cells for what stands at the right of a name: a time, or why it failed."""
_COUNTS_WIDTH = len("99 ok 99 run 99 failed")
_LEAST_BAR = 4
"""Cells of a bar that say anything."""
_LEAST_ASKED = 8
"""Cells of what is asked that say anything."""
_BADGE_WORDS: dict[StepStatus, str] = {
    "completed_empty": "empty",
    **{name: STEP_STATUSES[name][1] for name in ("skipped", "cancelled")},
}
"""Words of statuses that their icon and their time do not say."""
FAILED_STATES: frozenset[StepStatus] = frozenset(("failed", "warned"))
RUNNING_STATES: frozenset[StepStatus] = frozenset(("running", "retrying"))


def badge_width(step: GraphStep) -> int:
    """Return the cells that the badges of a step may take at most while it lives."""
    if step.many is not None:
        return _COUNTS_WIDTH
    if step.asks:
        return len(ASKS_YOU)
    retry = 1 + len(f"{ordinal(step.attempts)} try") if step.attempts > 1 else 0
    return _DURATION_WIDTH + retry


def static_badge_width(step: GraphStep, facts: StepFacts) -> int:
    """Return the cells of a picture that does not live: what is said of a step is known and has room."""
    if facts.counts is not None:
        return badge_width(step)
    return max(cell_width(_joined(phrases)) for phrases in _badge_choices(facts)[:1])


def status_sign(facts: StepFacts, *, is_ascii: bool = False) -> str:
    """Return the icon of a status, one cell wide."""
    icon = ICONS[STEP_STATUSES[facts.state][0]]
    return icon.ascii if is_ascii else icon.unicode


def badge_text(facts: StepFacts, room: int, *, is_ascii: bool = False) -> str:
    """Write what fits of duration, attempt, contract, counts, reason, or the time left to answer."""
    return _joined(badge_phrases(facts, room, is_ascii=is_ascii))


def badge_phrases(facts: StepFacts, room: int, *, is_ascii: bool = False) -> tuple[Phrase, ...]:
    """Return the parts of a badge; a blank stands between two of them."""
    if facts.counts is not None:
        text = counts_text(facts.counts, room)
        return ((text, "plain"),) if text else ()
    return _first_that_fits(_badge_choices(facts), room, is_ascii=is_ascii)


def head_phrases(facts: StepFacts, room: int, *, is_ascii: bool = False) -> tuple[Phrase, ...]:
    """Return what stands at the right of a box's name: a time, why it failed, or a word."""
    if facts.counts is not None and facts.state not in ("waiting", "failed", "warned"):
        return _first_that_fits([_time(facts)], room, is_ascii=is_ascii)
    word = _badge_word(facts)
    choices: list[tuple[Phrase, ...]] = [_time(facts)]
    if facts.state == "waiting":
        choices = [((facts.left or ASKS_YOU, "state"),), (("asks", "state"),)]
    elif facts.state in FAILED_STATES:
        choices = [((exit_code_text(facts.reason), "state"),), _time(facts)]
    elif word and not facts.duration:
        choices = [((word, "plain"),)]
    return _first_that_fits(choices, room, is_ascii=is_ascii)


def detail_phrases(facts: StepFacts, room: int, *, is_ascii: bool = False) -> tuple[Phrase, ...]:
    """Return the second line of a box; empty where the step has no more to say."""
    if facts.counts is not None:
        text = counts_text(facts.counts, room)
        return ((text, "state" if facts.state in FAILED_STATES else "plain"),) if text else ()
    if facts.state == "waiting":
        question = facts.asks or (ASKS_YOU if facts.left else "")
        return ((_ascii_if(cut_start(question, room), is_ascii=is_ascii), "plain"),) if question else ()
    if facts.state in RUNNING_STATES and facts.share is not None and facts.attempt < 2:
        return bar_phrases(facts.share, room, is_ascii=is_ascii)
    if facts.state in FAILED_STATES:
        return _failure_phrases(facts, room, is_ascii=is_ascii)
    word = _status_word(facts) if facts.duration else ""
    contract, retry = _contract_phrase(facts), _retry_phrase(facts)
    if facts.state in RUNNING_STATES and facts.share is not None:
        remaining = room - cell_width(retry[0]) - 1
        bar = bar_phrases(facts.share, remaining, is_ascii=is_ascii)
        return (*_first_that_fits([(retry,)], room, is_ascii=is_ascii), *bar)
    word_phrase: Phrase = (word, "plain")
    return _first_that_fits(
        [(word_phrase, retry, contract), (retry, contract), (word_phrase,), (contract,), (retry,)],
        room, is_ascii=is_ascii,
    )  # fmt: skip


def only_line_phrases(facts: StepFacts, room: int, *, is_ascii: bool = False) -> tuple[Phrase, ...]:
    """Return the second line of a box in which nothing stands beside the name."""
    phrases = badge_phrases(facts, room, is_ascii=is_ascii)
    remaining = room - cell_width(_joined(phrases)) - 1
    if facts.counts is None and facts.state in RUNNING_STATES and facts.share is not None:
        return (*phrases, *bar_phrases(facts.share, remaining, is_ascii=is_ascii))
    if facts.state == "waiting" and facts.asks and remaining >= _LEAST_ASKED:
        return (*phrases, (_ascii_if(cut_start(facts.asks, remaining), is_ascii=is_ascii), "plain"))
    return phrases


def bar_phrases(share: float, room: int, *, is_ascii: bool = False) -> tuple[Phrase, ...]:
    """Return a bar of how much of the usual time has gone by; what takes longer than usual is full."""
    if room < _LEAST_BAR:
        return ()
    ran, rest = (ICONS[name].ascii if is_ascii else ICONS[name].unicode for name in ("ran", "waited"))
    full = max(0, min(room, round(room * share)))
    return (ran * full, "state"), (rest * (room - full), "rest")


def attempt_text(step: GraphStep, facts: StepFacts) -> str:
    """Return `2nd try of 3`; `4th try` where a run went round more often; empty for a first one."""
    tried, _ = _retry_phrase(facts)
    return try_text(facts.attempt, step.attempts) if tried else ""


def counts_text(counts: StatusCounts, room: int) -> str:
    """Return how many items stand how; `3 of 4 done` where none runs, asks or failed."""
    all_done = f"{counts.ok} of {counts.ok + counts.todo} done"
    if counts.ok and not (counts.run or counts.asks or counts.failed) and len(all_done) <= room:
        return all_done
    named_counts = ((counts.ok, "ok"), (counts.run, "run"), (counts.asks, "ask"), (counts.failed, "failed"))
    parts = [f"{n} {word}" for n, word in named_counts if n]
    if parts and counts.todo:
        text = " ".join((*parts, f"{counts.todo} todo"))
        if len(text) <= room:
            return text
    while parts:
        text = " ".join(parts)
        if len(text) <= room:
            return text
        parts = parts[1:]  # what failed stands last and is cut last
    return ""


def _badge_word(facts: StepFacts) -> str:
    return "queued" if facts.is_queued else _status_word(facts)


def _status_word(facts: StepFacts) -> str:
    return f"{facts.refused} refused" if facts.refused else _BADGE_WORDS.get(facts.state, "")


def _time(facts: StepFacts) -> tuple[Phrase, ...]:
    """Return the duration; of a long one its first unit: `2 h`."""
    text = facts.duration
    if cell_width(text) > _DURATION_WIDTH:
        text = cut_to_width(" ".join(text.split()[:2]), _DURATION_WIDTH)
    return ((text, "state" if facts.state in RUNNING_STATES else "plain"),)


def _badge_choices(facts: StepFacts) -> list[tuple[Phrase, ...]]:
    """Return the choices of badges for one line, the fullest first."""
    if facts.state == "waiting":
        return [((facts.left or ASKS_YOU, "state"),)]
    retry, contract = _retry_phrase(facts), _contract_phrase(facts)
    word: Phrase = (_badge_word(facts), "plain")
    brief: Phrase = ("skip" if facts.state == "skipped" else "", "plain")
    time = _time(facts)
    if facts.state in FAILED_STATES:
        code: Phrase = (exit_code_text(facts.reason), "state")
        failed: Phrase = (FAILED_GOES_ON if facts.state == "warned" else "", "state")
        on: Phrase = ("allowed" if failed[0] else "", "state")
        words = [(code, failed, retry, contract), (code, failed, retry), (code, failed), (code, on, retry)]
        words += [(code, on), (failed,), (code,), (on,)]
        return [(code, *time, failed, retry, contract), *words, (*time, retry), time]
    widest = [(*time, word, retry, contract), (*time, word, retry), (word, retry)]
    return [*widest, (*time, retry), (word,), (brief,), (retry,), time]


def _failure_phrases(facts: StepFacts, room: int, *, is_ascii: bool) -> tuple[Phrase, ...]:
    contract = _contract_phrase(facts)
    tries, _ = _retry_phrase(facts)
    allowed_word = "allowed" if tries or contract[0] else FAILED_GOES_ON
    goes_on = allowed_word if facts.state == "warned" else ""
    short = ", ".join(part for part in (tries, goes_on) if part)
    reason = "" if exit_code_text(facts.reason) or contract[0] else facts.reason
    full = ", ".join(part for part in (tries, goes_on, reason) if part)
    longer: Phrase = (cut_to_width(full, room), "plain")
    choices: list[tuple[Phrase, ...]] = [(contract, (short, "plain")), ((short, "plain"),), (contract,)]
    return _first_that_fits([(longer,), *choices] if reason else choices, room, is_ascii=is_ascii)


def _contract_phrase(facts: StepFacts) -> Phrase:
    if not facts.contract:
        return "", "plain"
    mark = ICONS["ok" if facts.contract == "kept" else "failed"].unicode
    tone: Tone = "plain" if facts.contract == "kept" else "state"
    return f"contract {mark}", tone


def _retry_phrase(facts: StepFacts) -> Phrase:
    """Return `2nd try`; empty for a first one that is not tried again."""
    is_again = facts.attempt > 1 or facts.state == "retrying"
    return (f"{ordinal(facts.attempt)} try", "plain") if is_again else ("", "plain")


def _first_that_fits(
    choices: Iterable[tuple[Phrase, ...]], room: int, *, is_ascii: bool
) -> tuple[Phrase, ...]:
    for phrases in choices:
        filled: tuple[Phrase, ...] = tuple(
            (_ascii_if(text, is_ascii=is_ascii), tone) for text, tone in phrases if text
        )
        if filled and cell_width(_joined(filled)) <= room:
            return filled
    return ()


def _joined(phrases: Iterable[Phrase]) -> str:
    return " ".join(text for text, _ in phrases if text)


def cut_start(text: str, room: int) -> str:
    """Cut a text at its left where its end says more: `…/review.md +2`."""
    if cell_width(text) <= room or "/" not in text:
        return cut_to_width(text, room)
    start = 0
    while start < len(text) and cell_width(text[start:]) >= room:
        start += 1
    return f"…{text[start:]}" if room > 0 else ""


def _ascii_if(text: str, *, is_ascii: bool) -> str:
    return as_ascii(text) if is_ascii else text


def as_ascii(text: str) -> str:
    """Write a text in ASCII; what has no counterpart becomes `?`, one for each cell."""
    if text.isascii():
        return text
    return "".join(_ASCII_FALLBACKS.get(c, c if c.isascii() else "?" * cell_width(c)) for c in text)


_ASCII_FALLBACKS = {
    **{icon.unicode: icon.ascii for icon in ICONS.values()},
    **{"…": "~", "←": "<", "·": ".", "⏎": "^", "→": ">", "−": "-", "│": "|"},
}
