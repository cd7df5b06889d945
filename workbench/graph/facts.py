"""What a step is doing, as data, and the few characters that say it beside its name.

Owns states, their signs (those of the whole screen) and badges. It must never widen anything: what does
not fit the slot that the layout reserved is left to the status line.
"""

from dataclasses import dataclass
from typing import Literal

from workbench.graph.model import Step
from workbench.text.width import cells, cut

State = Literal[
    "pending",
    "ready",
    "running",
    "waiting",
    "retrying",
    "completed",
    "completed_empty",
    "warned",
    "failed",
    "skipped",
    "cancelled",
]

SIGNS: dict[State, tuple[str, str]] = {
    "pending": ("○", "."),
    "ready": ("○", "."),
    "running": ("●", "@"),
    "waiting": ("◆", "*"),
    "retrying": ("●", "@"),
    "completed": ("✓", "v"),
    "completed_empty": ("✓", "v"),
    "warned": ("✗", "x"),
    "failed": ("✗", "x"),
    "skipped": ("–", "_"),
    "cancelled": ("–", "_"),
}
"""Unicode and ASCII sign of each state, one cell wide."""

WORST: tuple[State, ...] = (
    "failed",
    "waiting",
    "warned",
    "retrying",
    "running",
    "ready",
    "pending",
    "cancelled",
    "skipped",
    "completed_empty",
    "completed",
)
"""From what must be seen first to what may be overlooked."""

_DURATION = 4
_COUNTS = len("99 ok 99 run 99 failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How the members of a folded step stand."""

    ok: int = 0
    run: int = 0
    failed: int = 0
    asks: int = 0
    todo: int = 0
    """Not begun; said only where another one has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of one step of a run."""

    state: State = "pending"
    duration: str = ""
    """At most 4 cells: see `short_duration`."""
    attempt: int = 1
    contract: Literal["", "kept", "broken"] = ""
    note: str = ""
    """What a gate asks, or until when: `ask 14:22`."""
    counts: Counts | None = None
    """Of a folded step."""


PENDING = Facts()


def short_duration(seconds: float) -> str:
    """Write a duration in at most 4 cells: `0.4s` `12s` `8m41` `2h13` `3d4h` `412d`."""
    whole = int(max(0.0, seconds))
    if seconds < 9.95:
        tenths = f"{max(0.0, seconds):.1f}s"
        return tenths if not tenths.endswith(".0s") else tenths.replace(".0", "")
    for unit, sign, small, below in ((86400, "d", 3600, "h"), (3600, "h", 60, ""), (60, "m", 1, "")):
        if whole >= unit:
            return _two(whole // unit, sign, whole % unit // small, below)
    return f"{whole}s"


def _two(big: int, sign: str, rest: int, below: str) -> str:
    text = f"{big}{sign}{rest}{below}" if below else f"{big}{sign}{rest:02}"
    return text if len(text) <= _DURATION else f"{min(big, 999)}{sign}"


def slot(step: Step) -> int:
    """Return the cells that the badges of a step may take at most while it lives."""
    if step.many is not None:
        return _COUNTS
    if step.asks:
        return len("ask 14:22")
    retry = 1 + len(f"↺{step.attempts}/{step.attempts}") if step.attempts > 1 else 0
    return _DURATION + retry + (3 if step.contract else 0)


def standing_slot(step: Step, facts: Facts) -> int:
    """Return the cells of a picture that does not live: what is said of a step is known and has room."""
    words = len(GOES_ON) + 1 + _DURATION if facts.state == "warned" and facts.counts is None else 0
    return max(slot(step), words)


def line_slot(step: Step) -> int:
    """Return the cells that a step may take for its facts where they have a line of their own (cards)."""
    if step.many is not None:
        return _COUNTS
    if step.asks:
        return len("asks you 14:22")
    retry = len("  ↺ 2/3") if step.attempts > 1 else 0
    return _DURATION + retry + (len("  contract ✓") if step.contract else 0)


def sign(facts: Facts, *, is_ascii: bool = False) -> str:
    """Return the sign of a state."""
    return SIGNS[facts.state][is_ascii]


def fact_line(step: Step, facts: Facts, room: int, *, is_ascii: bool = False) -> str:
    """Write the same as a badge in words, where they fit: `1m12  ↺ 2/3  contract ✓`."""
    retry = _tried(step, facts)
    parts = (
        cut(facts.duration, _DURATION),
        _WORDS.get(facts.state, ""),
        facts.note if facts.state in ("waiting", "running") else "",
        f"↺ {retry}" if retry else "",
        {"kept": "contract ✓", "broken": "contract ✗"}.get(facts.contract, ""),
    )
    text = "  ".join(part for part in parts if part)
    text = as_ascii(text) if is_ascii else text
    if facts.counts is None and cells(text) <= room:
        return text
    return badge(step, facts, room, is_ascii=is_ascii)


def badge(step: Step, facts: Facts, room: int, *, is_ascii: bool = False) -> str:
    """Write what fits of duration, attempt, contract, counts or what a gate asks.

    Args:
        step: What is reserved for it.
        facts: How it stands.
        room: Cells that may be used.
        is_ascii: Write marks in ASCII.
    """
    if facts.counts is not None:
        return _counts(facts.counts, room)
    for parts in _candidates(step, facts):
        text = " ".join(part for part in parts if part)
        text = as_ascii(text) if is_ascii else text
        if text and cells(text) <= room:
            return text
    return ""


def _candidates(step: Step, facts: Facts) -> list[tuple[str, ...]]:
    """List what may be said, the fullest first."""
    time = cut(facts.duration, _DURATION)
    tried = _tried(step, facts)
    retry = f"↺{tried}" if tried else ""
    mark = {"kept": "§✓", "broken": "§✗"}.get(facts.contract, "")
    word = _WORDS.get(facts.state, "")
    note = facts.note if facts.state in ("waiting", "running") else ""
    brief = "skip" if facts.state == "skipped" else ""
    bang = f"{time}!" if facts.state == "warned" else time
    found = [(time, word, note, retry, mark), (word, note, retry, mark), (bang, note, retry, mark)]
    return [
        *found,
        (note, mark),
        (bang, retry),
        (bang, mark),
        (note,),
        (word,),
        (brief,),
        (retry,),
        (bang,),
        (time,),
        (mark,),
    ]


def _tried(step: Step, facts: Facts) -> str:
    """Return `2/3`: which attempt of how many; `4` where a run went round more often than a step is tried."""
    if facts.attempt < 2 and facts.state != "retrying":
        return ""
    return f"{facts.attempt}/{step.attempts}" if facts.attempt <= step.attempts else str(facts.attempt)


GOES_ON = "failed, goes on"
"""Of a step that failed and whose run may go on all the same."""

_WORDS: dict[State, str] = {
    "completed_empty": "empty",
    "warned": GOES_ON,
    "skipped": "skipped",
    "cancelled": "cancelled",
}


def _counts(counts: Counts, room: int) -> str:
    shown = ((counts.ok, "ok"), (counts.run, "run"), (counts.asks, "ask"), (counts.failed, "failed"))
    kept = [f"{n} {word}" for n, word in shown if n]
    if kept and counts.todo:
        text = " ".join((*kept, f"{counts.todo} todo"))
        if len(text) <= room:
            return text
    while kept:
        text = " ".join(kept)
        if len(text) <= room:
            return text
        kept = kept[1:]  # what failed stands last and is cut last
    return ""


def as_ascii(text: str) -> str:
    """Write a text in ASCII; what has no counterpart becomes `?`, one for each cell."""
    if text.isascii():
        return text
    return "".join(_PLAIN.get(c, c if c.isascii() else "?" * cells(c)) for c in text)


_PLAIN = {
    "…": "~", "×": "x", "↺": "r", "§": "S", "✓": "v", "✗": "x", "↩": "<", "▾": "-", "▸": "+", "·": ".",
    "⏎": "^", "→": ">", "–": "_", "●": "@", "○": ".", "◆": "*",
}  # fmt: skip
