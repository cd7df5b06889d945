"""Which moments of a recording a film is made of: each that changed something, so many a second, no more.

Pure. Owns the bound on frames and how a long recording is thinned. It draws nothing.
"""

from typing import Final

from workbench.records import dataclass
from workbench.views.reel import Reel

FINEST: Final = 100_000
"""Microseconds of played time between two frames, at least."""
TICK: Final = 1_000_000
"""Microseconds of played time between two frames while something counts down."""
MOST: Final = 2_000
"""Frames of a film, unless more are asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Moments in order, and how they were chosen."""

    indices: tuple[int, ...]
    apart: int
    """Microseconds of played time between two of them, at least; marks may come sooner."""
    has_marks: bool
    """Whether every mark is among them."""

    @property
    def is_thinned(self) -> bool:
        """Return whether moments were left out that a shorter recording would have shown."""
        return self.apart > FINEST or not self.has_marks


def plan(reel: Reel, first: int, most: int = MOST) -> Plan:
    """Choose the moments of a film.

    Args:
        reel: The recording.
        first: The moment that the film begins with.
        most: Moments, at most; 1 or more. The first and the last are always among them.
    """
    marks = {_whole(reel, mark.index) for mark in reel.marks if mark.index > first}
    if len(marks) > most // 2:
        marks = set[int]()
    apart = FINEST
    while True:
        found = _every(reel, first, apart) | marks
        if len(found) <= most or apart > reel.length:
            break
        apart = apart * 5 // 4
    found = {first, len(reel)} if len(found) > most else found
    has_marks = all(_whole(reel, mark.index) in found for mark in reel.marks if mark.index > first)
    return Plan(indices=tuple(sorted(found)), apart=apart, has_marks=has_marks)


def _every(reel: Reel, first: int, apart: int) -> set[int]:
    """Return the first moment, the last, and the last of each stretch of played time in which one came."""
    found = {first, len(reel)}
    index = first
    while index < len(reel):
        # What comes within a stretch is shown together, at its end.
        index = max(index + 1, reel.index_played(reel.played(index + 1) // apart * apart + apart - 1))
        found.add(index)
    return found


def _whole(reel: Reel, index: int) -> int:
    """Return the moment when all events of the same time have happened."""
    return reel.index_played(reel.played(index))


def ticks(begins: int, ends: int) -> range:
    """Return the played times between two moments at which countdowns are shown anew."""
    return range((begins // TICK + 1) * TICK, ends, TICK)
