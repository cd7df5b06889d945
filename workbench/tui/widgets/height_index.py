"""Where blocks of different heights begin, and which block has a line."""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate


class HeightIndex:
    """Heights of blocks from the top down, in lines."""

    def __init__(self) -> None:
        self._heights: list[int] = []
        self._tops: list[int] = [0]

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    @property
    def total(self) -> int:
        """Return the lines of all blocks together."""
        return self.top(len(self._heights))

    def put(self, index: int, height: int) -> None:
        """Change the height of one block."""
        if self._heights[index] != height:
            self._heights[index] = height
            del self._tops[index + 1 :]

    def replace_from(self, index: int, heights: Iterable[int]) -> None:
        """Replace all heights from one block on."""
        self._heights[index:] = heights
        del self._tops[index + 1 :]

    def top(self, index: int) -> int:
        """Return the first line of a block; of the index behind the last one the line behind everything."""
        self._sum_up()
        return self._tops[index]

    def at(self, line: int) -> tuple[int, int]:
        """Return the block that a line belongs to, and which of its lines it is.

        Raises:
            IndexError: There is no such line.
        """
        if not 0 <= line < self.total:
            raise IndexError(line)
        index = bisect_right(self._tops, line) - 1
        return index, line - self._tops[index]

    def _sum_up(self) -> None:
        known = len(self._tops) - 1
        if known < len(self._heights):
            sums = accumulate(self._heights[known:], initial=self._tops[known])
            next(sums)
            self._tops += sums
