"""A recorded session as a strip of moments: when each event was, which are marks, where nothing happened.

Pure: made from entries (position, time, kind, one fact), it knows no event's body. Two times run through it:
*recorded* time as the clocks said, and *played* time, in which long idle gaps are short.
"""

import itertools
import operator
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from workbench.records import dataclass
from workbench.views.signs import SignName

Jump = Literal["approval", "edit", "error", "expiry", "prompt", "step", "note"]
"""What a mark is, and what there are keys for."""

IDLE: Final = 30_000_000
"""Microseconds without an event from which on a gap is shortened."""
SHORT: Final = 2_000_000
"""What a shortened gap takes in played time."""
LATEST: Final = 253_000_000_000_000_000
"""The latest time that is taken for one, microseconds: in the year 9987, which every calendar has."""
STEADY: Final = 1_000_000
"""Microseconds between events where the recording has no times of its own."""

Entry = tuple[int, int, str, object]
"""Position, time in microseconds, kind, and a fact: see `FACTS`."""

FACTS: Final = {
    "call.finished": "state",
    "action.approved": "selection",
    "step.changed": "state",
}
"""Kinds whose mark needs a field of their body, and which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """An event worth a place on the bar."""

    index: int
    """How many events are shown when it has just happened."""
    jump: Jump
    sign: SignName


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A time without events that is played short."""

    index: int
    """How many events are before it."""
    begins: int
    """In played time, microseconds from the start."""
    saved: int
    """Recorded less played microseconds."""


RANK: Final[tuple[SignName, ...]] = (
    "failed", "waiting", "expired", "rejected", "partly", "ok", "prompt", "running", "todo", "cancelled",
)  # fmt: skip
"""Signs by importance: of several marks on one cell the first is drawn (UX section 6)."""


class Reel:
    """The moments of one recording. A moment is an index: how many of its events are shown, 0 to `len`."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._positions, self._times = array("q"), array("q")
        self._played = array("q")
        self.marks: list[Mark] = []
        self.gaps: list[Gap] = []
        self.is_steady = False
        """Whether the recording has no times, so that its events are played a second apart."""
        self.went_back = 0
        """How many events have a time before the one above them; they are shown at its time."""
        self._turn_ends: dict[str, array[int]] = {}
        found = list(entries)
        self.extend(_in_order(found) if _is_late(found) else found)
        if len(self) > 1 and self._times[-1] == self._times[0]:
            self._make_steady()

    def extend(self, entries: Iterable[Entry]) -> int:
        """Add events that came since; return how many. Times that go back stand still instead."""
        found = list(entries)
        if not found:
            return 0
        before = len(self)
        # A long recording is opened while somebody waits: whole columns instead of a step an event.
        positions, times, kinds, facts = zip(*found, strict=True)
        self._positions.extend(positions)
        self._add_times(times)
        for at, kind in enumerate(kinds):
            if kind in _TOLD:
                self._note(before + at + 1, kind, facts[at])
        return len(found)

    def _add_times(self, given: Sequence[int]) -> None:
        """Add recorded times, and the played ones, in which long gaps are short."""
        last = self._times[-1] if self._times else given[0]
        if self.is_steady:
            given = range(last + STEADY, last + STEADY * (len(given) + 1), STEADY)
        elif min(given) < 0 or max(given) > LATEST:
            given = [max(0, min(at, LATEST)) for at in given]
        last = max(0, min(last, LATEST))
        times = list(itertools.accumulate(given, max, initial=last))
        self.went_back += sum(map(operator.ne, times[1:], given))
        shift = (self._played[-1] if self._played else 0) - last
        begins, before = 1, len(self._times)
        for at, (one, other) in enumerate(itertools.pairwise(times)):
            if other - one > IDLE:
                self._played.extend([time + shift for time in times[begins : at + 1]])
                saved = other - one - SHORT
                self.gaps.append(Gap(index=before + at, begins=one + shift, saved=saved))
                shift, begins = shift - saved, at + 1
        self._played.extend([time + shift for time in times[begins:]])
        self._times.extend(times[1:])

    def _note(self, index: int, kind: str, fact: object) -> None:
        if kind == "turn.ended":
            number, _, session_id = str(fact).partition(" ")
            self._turn_ends.setdefault(session_id, array("q")).append(int(number or 0))
            return
        mark = mark_of(kind, fact)
        if mark is not None:
            self.marks.append(Mark(index=index, jump=mark[0], sign=mark[1]))

    def turns_before(self, session_id: str, number: int) -> int:
        """Return how many turns of a session of the recording ended before its event of a number."""
        return bisect_left(self._turn_ends.get(session_id, ()), number)

    def _make_steady(self) -> None:
        self.is_steady = True
        first = self._times[0]
        for index in range(len(self)):
            self._times[index] = first + index * STEADY
            self._played[index] = index * STEADY

    def __len__(self) -> int:
        """Return how many events there are."""
        return len(self._positions)

    # --- where a moment is ------------------------------------------------------------------------

    def position(self, index: int) -> int:
        """Return the position in the journal up to which events are shown at a moment."""
        if not self._positions:
            return 0
        return self._positions[index - 1] if index else self._positions[0] - 1

    def time(self, index: int) -> int:
        """Return when a moment was, in microseconds since the epoch; at 0 that of the first event."""
        return self._times[max(0, index - 1)] if self._times else 0

    def played(self, index: int) -> int:
        """Return when a moment comes in played time, microseconds from the start."""
        return self._played[max(0, index - 1)] if self._played else 0

    @property
    def length(self) -> int:
        """Return the whole in played time, microseconds."""
        return self._played[-1] if self._played else 0

    @property
    def recorded(self) -> int:
        """Return the whole in recorded time, microseconds."""
        return self._times[-1] - self._times[0] if self._times else 0

    @property
    def saved(self) -> int:
        """Return what shortened gaps save, microseconds."""
        return sum(gap.saved for gap in self.gaps)

    # --- which moment ---------------------------------------------------------------------------

    def index_played(self, played: float) -> int:
        """Return the moment at a played time: how many events were until then, at least the first."""
        return bisect_right(self._played, int(played))

    def index_at(self, at: int) -> int:
        """Return the moment at a recorded time: how many events were until then."""
        return bisect_right(self._times, at)

    def recorded_at(self, played: float) -> int:
        """Return the recorded time at a played one, microseconds since the epoch; straight between events."""
        if not self._times:
            return 0
        index = self.index_played(played)
        if index == 0 or index == len(self):
            return self.time(index)
        past, span = played - self._played[index - 1], self._played[index] - self._played[index - 1]
        passed = self._times[index] - self._times[index - 1]
        return self._times[index - 1] + int(passed * past / span)

    def jump(self, index: int, kind: Jump | None, step: int) -> Mark | None:
        """Return the next (1) or previous (-1) mark of a kind, or of any; None when there is none."""
        if step > 0:
            first = bisect_right(self.marks, index, key=lambda mark: mark.index)
            found = iter(self.marks[first:])
        else:
            last = bisect_left(self.marks, index, key=lambda mark: mark.index)
            found = reversed(self.marks[:last])
        return next((mark for mark in found if kind is None or mark.jump == kind), None)


def _is_late(entries: Sequence[Entry]) -> bool:
    """Return whether most times are before one above: then a few early ones are wrong, not all the rest."""
    times = [entry[1] for entry in entries]
    if times == sorted(times):
        return False
    newest = list(itertools.accumulate(times, max))
    return sum(map(operator.ne, times, newest)) * 2 > len(times)


def _in_order(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries none of which has a time after one that follows."""
    found: list[Entry] = []
    latest = entries[-1][1]
    for position, at, kind, fact in reversed(entries):
        latest = min(latest, at)
        found.append((position, latest, kind, fact))
    return found[::-1]


def mark_of(kind: str, fact: object) -> tuple[Jump, SignName] | None:
    """Return what an event is marked as; None for most."""
    match kind:
        case "call.finished":
            return ("error", "failed") if fact in ("failed", "interrupted") else None
        case "action.approved":
            return "approval", "partly" if fact else "ok"
        case "step.changed":
            return _STEPS.get(str(fact))
        case _:
            return _MARKS.get(kind)


_MARKS: Final[dict[str, tuple[Jump, SignName]]] = {
    "prompt.submitted": ("prompt", "prompt"),
    "action.opened": ("approval", "waiting"),
    "action.rejected": ("approval", "rejected"),
    "action.expired": ("expiry", "expired"),
    "action.cancelled": ("approval", "cancelled"),
    "file.changed": ("edit", "ok"),
    "error.raised": ("error", "failed"),
    "mark.added": ("note", "ok"),
}
_TOLD: Final = frozenset({*_MARKS, "call.finished", "action.approved", "step.changed", "turn.ended"})
"""Kinds that are more than a moment: all others are only counted."""
_STEPS: Final[dict[str, tuple[Jump, SignName]]] = {
    "running": ("step", "running"),
    "completed": ("step", "ok"),
    "failed": ("error", "failed"),
    "waiting": ("step", "waiting"),
}
