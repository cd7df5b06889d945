"""Lines of a file that is still being written, given to a reader piece by piece."""

# Readers pull their lines. To be fed while a file still grows they are given a line that says "nothing yet":
# every reader passes problems on at once, so it comes out behind all that was read.

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from workbench.formats import records as r
from workbench.formats.input import JsonLine, JsonLines
from workbench.text.problems import Problem

LineReader = Callable[[JsonLines, str], Iterator[r.Record]]
"""The reader of a format of lines, which also takes a name."""


class LiveLines:
    """A reader that is fed in pieces and yields what it has read so far."""

    def __init__(self, read: LineReader, name: str, pause: Problem = r.NOTHING_YET) -> None:
        """Begin with no line; `pause` is the line that says that there are no more yet."""
        self.number = 0
        """Of the line that the reader took last: what it yields was not known before."""
        self._pause = pause
        self._lines: deque[JsonLine | Problem] = deque()
        self._records = iter(read(self._fed(), name))

    def read(self, lines: Iterable[JsonLine | Problem]) -> Iterator[r.Record]:
        """Yield what is known with some more lines."""
        self._lines.extend(lines)
        while (record := next(self._records, self._pause)) is not self._pause:
            yield record

    def _fed(self) -> Iterator[JsonLine | Problem]:
        while True:
            if self._lines:
                line = self._lines.popleft()
                self.number = line.number if isinstance(line, JsonLine) else line.line
                yield line
            else:
                yield self._pause
