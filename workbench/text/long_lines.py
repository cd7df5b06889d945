"""The changed parts of a very long line, each with some of the equal text around it.

What lies between two parts is the same on both sides: it is left out only after it was compared. The search
is bounded in time; where it gives up, the rest of the line is one part.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from workbench.text.width import cell_width

LONG_LINE: Final = 2_000
"""Characters from which only the changed parts of a line are shown."""
PART_CONTEXT: Final = 80
"""Equal characters that are shown on each side of a change."""
MIN_LEFT_OUT: Final = 40
"""Fewer equal characters than these are shown: the row that counts them takes as much room."""
_MAX_COMBINING: Final = 16
"""Characters by which a part grows so that it does not begin or end inside a combined character."""
_PROBE: Final = 64
"""Characters that have to be equal for the search to go on behind a change."""
_REACHES: Final = tuple(_PROBE * 8**power for power in range(7))
"""Distances behind a change in which its end is searched."""
_PROBES: Final = 64
"""Places that are tried in each distance."""
_SHIFTS: Final = tuple(range(1, 17)) + tuple(2**power for power in range(5, 13))
"""Lengths of a change that keeps the length of its line."""
_MAX_CHANGES: Final = 1_000
"""Changes of a line that are separated; the rest of the line is one change."""
_SEARCHED: Final = 24_000_000
"""Characters of the new line that the search reads, for one line."""
_COST_OF_FIND: Final = 400


class ChangedRange(NamedTuple):
    """Characters `old_from:old_to` of the old line become `new_from:new_to` of the new one (from 0)."""

    old_from: int
    old_to: int
    new_from: int
    new_to: int


class LinePart(NamedTuple):
    """A part that is shown: `shown` is some changes with the equal text around and between them."""

    shown: ChangedRange
    changes: tuple[ChangedRange, ...]


@lru_cache(maxsize=8)
def changed_parts(old: str, new: str) -> tuple[LinePart, ...]:
    """Return the parts of a line that differ, in order; nothing for two equal lines."""
    groups: list[list[ChangedRange]] = []
    for change in changed_ranges(old, new):
        if groups and change.old_from - groups[-1][-1].old_to <= 2 * PART_CONTEXT + MIN_LEFT_OUT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return tuple(LinePart(_with_context(old, group), tuple(group)) for group in groups)


def left_out_lengths(length: int, shown: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return how many characters of a line stand before each shown range, and behind the last."""
    ends = [(0, 0), *shown, (length, length)]
    return tuple(following[0] - before[1] for before, following in pairwise(ends))


def _with_context(old: str, group: Sequence[ChangedRange]) -> ChangedRange:
    first, last = group[0], group[-1]
    before = _context_size(old, first.old_from, -1)
    after = _context_size(old, last.old_to, 1)
    return ChangedRange(
        first.old_from - before, last.old_to + after, first.new_from - before, last.new_to + after
    )


def _context_size(text: str, at: int, step: int) -> int:
    """Return how many characters before (-1) or behind (1) a place are shown with it."""
    room = at if step < 0 else len(text) - at
    if room <= PART_CONTEXT + MIN_LEFT_OUT:
        return room
    size = PART_CONTEXT
    while size < PART_CONTEXT + _MAX_COMBINING:
        # The character that would be torn: the first one that is shown, or the first one that is not.
        edge = text[at - size] if step < 0 else text[at + size]
        if cell_width(edge):
            break
        size += 1
    return size


def changed_ranges(old: str, new: str) -> list[ChangedRange]:
    """Return what differs, in order; the text between two ranges, before and behind them is equal."""
    start = _equal_prefix(old, 0, len(old), new, 0, len(new))
    tail = _equal_suffix(old, start, len(old), new, start, len(new))
    search = _Search(old, len(old) - tail, new, len(new) - tail)
    ranges: list[ChangedRange] = []
    i = j = start
    while i < search.old_end or j < search.new_end:
        old_to, new_to = search.next_equal(i, j) if len(ranges) < _MAX_CHANGES else search.ends
        ranges.append(ChangedRange(i, old_to, j, new_to))
        run = _equal_prefix(old, old_to, search.old_end, new, new_to, search.new_end)
        i, j = old_to + run, new_to + run
    return ranges


class _Search:
    """Finds where two lines are equal again behind a change, near places first."""

    def __init__(self, old: str, old_end: int, new: str, new_end: int) -> None:
        self.old, self.old_end, self.new, self.new_end = old, old_end, new, new_end
        self._left = _SEARCHED

    @property
    def ends(self) -> tuple[int, int]:
        return self.old_end, self.new_end

    def next_equal(self, i: int, j: int) -> tuple[int, int]:
        """Return where the lines are equal again behind a difference at `i` and `j`; else their ends."""
        found = self._on_diagonal(i, j)
        for reach in _REACHES if found is None else ():
            if self._left <= 0 or (found := self._within(i, j, reach)) is not None:
                break
            if reach > max(self.old_end - i, self.new_end - j):
                break
        if found is None:
            return self.ends
        back = _equal_suffix(self.old, i, found[0], self.new, j, found[1])
        return found[0] - back, found[1] - back

    def _on_diagonal(self, i: int, j: int) -> tuple[int, int] | None:
        most = min(self.old_end - i, self.new_end - j) - _PROBE
        for shift in _SHIFTS:
            if shift > most:
                return None
            at = i + shift
            if self.new.startswith(self.old[at : at + _PROBE], j + shift):
                return at, j + shift
        return None

    def _within(self, i: int, j: int, reach: int) -> tuple[int, int] | None:
        best, found = 2 * reach, None
        for at in range(i, min(i + reach, self.old_end - _PROBE + 1), max(_PROBE, reach // _PROBES)):
            room = min(reach, best - (at - i))
            if room <= 0 or self._left <= 0:
                break
            end = min(j + room + _PROBE, self.new_end)
            place = self.new.find(self.old[at : at + _PROBE], j, end)
            self._left -= _COST_OF_FIND + (end if place < 0 else place) - j
            if place >= 0:
                best, found = (at - i) + (place - j), (at, place)
        return found


def _equal_prefix(old: str, i: int, old_end: int, new: str, j: int, new_end: int) -> int:
    """Return how many characters from two places on are equal."""
    return _equal_length(
        min(old_end - i, new_end - j),
        lambda done, more: old[i + done : i + done + more] == new[j + done : j + done + more],
    )


def _equal_suffix(old: str, i: int, old_end: int, new: str, j: int, new_end: int) -> int:
    """Return how many characters before two ends are equal, not further back than `i` and `j`."""
    return _equal_length(
        min(old_end - i, new_end - j),
        lambda done, more: (
            old[old_end - done - more : old_end - done] == new[new_end - done - more : new_end - done]
        ),
    )


def _equal_length(most: int, is_equal: Callable[[int, int], bool]) -> int:
    """Return the largest length up to `most`; `is_equal` compares some characters behind those compared."""
    size, step = 0, _PROBE
    while size < most:
        step = min(step, most - size)
        if not is_equal(size, step):
            break
        size, step = size + step, step * 2
    else:
        return most
    while step > 1:
        half = step // 2
        if is_equal(size, half):
            size, step = size + half, step - half
        else:
            step = half
    return size
