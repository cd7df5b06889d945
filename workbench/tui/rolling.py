"""Rows that only moved up or down: the terminal moves them itself, and only what came into view is written.

Owns how a move is found and said. It is said with the oldest words for it (a region, lines deleted or put
into it), which every terminal knows. They move whole rows: what stands beside moves along and is put back.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from textual.strip import Strip

Row = Mapping[tuple[int, int], Strip]
"""A row of the screen as its pieces, by the cells at which each begins and ends."""

_WORTH: Final = 160
"""Cells that must not be written for it."""


class Roll(NamedTuple):
    """Rows of the screen that move together; what leaves them is gone, what comes in is blank."""

    top: int
    bottom: int
    """The last row."""
    up: int
    """By how many rows; below 0 it is down."""

    def sequence(self) -> str:
        """Return what has the terminal do it; colours must be at their defaults."""
        how = f"{self.up}M" if self.up > 0 else f"{-self.up}L"
        return f"\x1b[{self.top + 1};{self.bottom + 1}r\x1b[{self.top + 1};1H\x1b[{how}\x1b[r"

    def source(self, y: int) -> int | None:
        """Return the row that comes to stand at `y`; None for one that was outside."""
        return y + self.up if self.top <= y + self.up <= self.bottom else None


def roll_between(before: Mapping[int, Row], after: Mapping[int, Row]) -> Roll | None:
    """Return the move that saves most of the writing; None if none saves enough.

    Pieces are the same if they are the same strip: views keep those of their lines.

    Args:
        before: What the terminal shows.
        after: What it is to show: all of some rows.
    """
    places = {one: y for y in after for one in _pieces(before.get(y, {}))}
    moved = [(y, places[one] - y, one) for y, row in after.items() for one in _pieces(row) if one in places]
    counts: Counter[int] = Counter()
    for _, up, (start, stop, _) in moved:
        counts[up] += (stop - start) * (up != 0)
    up = max(counts, key=counts.__getitem__, default=0)
    if counts[up] < _WORTH:
        return None
    ends = [end for y, by, _ in moved if by == up for end in (y, y + up)]
    roll = Roll(min(ends), max(ends), up)
    if not all(y in after for y in range(roll.top, roll.bottom + 1)):
        return None
    return roll if _saved(roll, before, after) >= _WORTH else None


def _saved(roll: Roll, before: Mapping[int, Row], after: Mapping[int, Row]) -> int:
    """Return the cells that a move saves, less three times those that it moves away and that are put back.

    They are seen to move on a terminal that shows half a frame.
    """
    found, nothing = 0, dict[tuple[int, int], Strip]()
    for y in range(roll.top, roll.bottom + 1):
        stays, source = before.get(y, nothing), roll.source(y)
        comes = nothing if source is None else before.get(source, nothing)
        for place, strip in after[y].items():
            gain = (comes.get(place) is strip) - (stays.get(place) is strip)
            found += (place[1] - place[0]) * (gain if gain > 0 else 3 * gain)
    return found


def _pieces(row: Row) -> Iterator[tuple[int, int, int]]:
    return ((start, stop, id(strip)) for (start, stop), strip in row.items())
