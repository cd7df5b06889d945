"""Tool calls as rows with their times, their bars on one time axis, and one call in full.

Owns what ran, what waited, and what is said of it. Never reads a blob: whole outputs are handed in.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.domain.events import Event
from workbench.domain.rows import Action, Call
from workbench.views.signs import Meaning

SectionName = Literal["Output", "Parameters", "Gate", "Changes", "Raw"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRow:
    """One call. Times are microseconds; durations are milliseconds, None where there is none (yet)."""

    id: str
    sign: Meaning
    word: str
    """The word of the sign."""
    tool: str
    target: str
    by: str = ""
    """Who let it pass: `§ R3`, `you`, `auto`, `asks`, `denied`."""
    run_ms: int | None = None
    wait_ms: int | None = None
    right: str = ""
    """The one time a narrow pane shows: `12 ms`, `4.1 s`; of a running or waiting one how long until now."""
    requested: int = 0
    waited_from: int | None = None
    started: int | None = None
    finished: int | None = None
    state: str = ""
    is_failed: bool = False
    session_id: str = ""
    turn_id: str | None = None
    action_id: str | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of a call in full."""

    name: SectionName
    lines: tuple[str, ...] = ()
    """Raw lines."""
    is_empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDetail:
    """One call in full."""

    id: str
    sign: Meaning
    title: str
    """`run_in_terminal ✗ exit 1` without the sign: tool and how it ended."""
    facts: str = ""
    """`call c5   1.1 KB   stdout and stderr, in order`."""
    sections: tuple[Section, ...] = ()
    """Output, Parameters, Gate, Changes, Raw, in this order."""
    moments: tuple[tuple[int, Meaning | None, str], ...] = ()
    """(when, sign, words): asked, approved by you after 1.9 s, started, exit 1."""
    told: str = ""
    """What the agent was told, as a sentence."""


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
    raise NotImplementedError(calls, actions, now, only_failed, text_filter, turn_id)


def facts(rows: Sequence[ToolRow], now: int) -> ToolFacts:
    """Return counts and sums for the title."""
    raise NotImplementedError(rows, now)


def axis(rows: Sequence[ToolRow], now: int) -> Axis:
    """Return the time from the first call's request to the last end, or to now while something is open."""
    raise NotImplementedError(rows, now)


def spans(rows: Sequence[ToolRow], axis: Axis, now: int) -> tuple[Span, ...]:
    """Return a bar for every row."""
    raise NotImplementedError(rows, axis, now)


def detail(
    call: Call, action: Action | None, events: Iterable[Event], *, output: str | None = None
) -> ToolDetail:
    """Return one call in full.

    Args:
        call: its row.
        action: the question it asked, if it asked.
        events: of its session; those of other calls are skipped.
        output: its whole output where the caller has read it; None shows what was streamed or the preview.
    """
    raise NotImplementedError(call, action, events, output)
