"""Finds rows that only moved up or down, so that the terminal scrolls them itself."""

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

from textual.strip import Strip

RowStrips = Mapping[tuple[int, int], Strip]
"""A row of the screen as its pieces, by the cells at which each begins and ends."""
_MIN_CELLS_SAVED: Final = 160
"""Cells that must not be written for it."""


class ScrollRegion(NamedTuple):
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

    def holds(self, y: int) -> bool:
        """Return whether a row is one of those."""
        return self.top <= y <= self.bottom

    def source(self, y: int) -> int | None:
        """Return the row that comes to stand at `y`; None for one that was outside."""
        return y + self.up if self.holds(y + self.up) else None


def best_scroll(
    before: Mapping[int, RowStrips], fresh: Mapping[int, RowStrips], width: int
) -> tuple[ScrollRegion, Mapping[int, RowStrips]] | None:
    """Return the move that saves most of the writing; None if none saves enough.

    Pieces are the same if they are the same strip: views keep those of their lines.

    Args:
        before: What the terminal shows.
        fresh: What is drawn.
        width: Cells of a row.

    Returns:
        The move, and all that its rows are to show: what stands beside with what is drawn.
    """
    up, ends = _likeliest_move(before, fresh)
    if not up:
        return None
    roll = ScrollRegion(min(ends), max(ends), up)
    after = {
        y: {**_uncovered_pieces(before.get(y, {}), row), **row} for y, row in fresh.items() if roll.holds(y)
    }
    is_whole = all(sum(stop - start for start, stop in row) == width for row in after.values())
    if not is_whole or len(after) < roll.bottom - roll.top + 1:
        return None
    return (roll, after) if _cells_saved(roll, before, after) >= _MIN_CELLS_SAVED else None


def _likeliest_move(before: Mapping[int, RowStrips], fresh: Mapping[int, RowStrips]) -> tuple[int, list[int]]:
    """Return the move of most cells, 0 if they are too few, and the rows between which they move."""
    places = {
        (place, id(strip)): y
        for y in fresh
        for place, strip in before.get(y, {}).items()
        if place in fresh[y]
    }
    moved = [
        (y, places[place, id(strip)] - y, place[1] - place[0])
        for y, row in fresh.items()
        for place, strip in row.items()
        if (place, id(strip)) in places
    ]
    counts: Counter[int] = Counter()
    for _, up, cells in moved:
        counts[up] += cells * (up != 0)
    up = max(counts, key=counts.__getitem__, default=0)
    if counts[up] < _MIN_CELLS_SAVED:
        return 0, []
    return up, [end for y, by, _ in moved if by == up for end in (y, y + up)]


def _uncovered_pieces(before: RowStrips, row: RowStrips) -> RowStrips:
    """Return the pieces of a row that others do not write over."""
    return {
        (start, stop): strip
        for (start, stop), strip in before.items()
        if not any(first < stop and start < last for first, last in row)
    }


def _cells_saved(roll: ScrollRegion, before: Mapping[int, RowStrips], after: Mapping[int, RowStrips]) -> int:
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
