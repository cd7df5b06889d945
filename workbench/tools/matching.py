"""Lines of one file that match, found in a stream: memory stays flat whatever the file holds.

Owns reading in blocks of whole lines, the lines around a match, and what happens to a line that is longer
than a block. It never searches what is binary.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from workbench.policy import regex

BLOCK: Final = 262_144
"""Bytes searched at once."""

_SHOWN: Final = 240
"""Characters of a line that are shown."""
_SNIFFED: Final = 8192
_OVERLAP: Final = 1024
"""Bytes of a line longer than a block that are searched again with the next one."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line to show."""

    number: int
    text: str
    is_match: bool
    is_first: bool = False
    """Whether lines are left out between the one before and this one."""


@dataclass(frozen=True, slots=True)
class _Block:
    data: bytes
    number: int
    """Of its first line."""


def is_binary(file: BinaryIO) -> bool:
    """Say whether a file holds something else than text, by its beginning, and go back there."""
    beginning = file.read(_SNIFFED)
    file.seek(0)
    return b"\0" in beginning


def lines(file: BinaryIO, wanted: regex.Finder, around: int) -> Iterator[Line | None]:
    """Yield the lines that match and those around them; None after each block, to be asked whether to go on.

    Args:
        file: At its beginning.
        wanted: What to look for.
        around: Lines shown before and after each match.
    """
    search = _Search(wanted, around)
    for block in _blocks(file, wanted.block(BLOCK)):
        yield from search.block(block)
        yield None


class _Search:
    """The state between two blocks: what may still have to be shown before or after a match."""

    def __init__(self, wanted: regex.Finder, around: int) -> None:
        self._wanted, self._around = wanted, around
        self._before: deque[tuple[int, str]] = deque(maxlen=around or None) if around else deque(maxlen=0)
        self._after = 0
        self._shown = 0
        """Number of the last line that was shown."""

    def block(self, block: _Block) -> Iterator[Line]:
        at, number = 0, block.number
        for start, end, column in _hits(block.data, self._wanted):
            hit = number + block.data.count(b"\n", at, start)
            yield from self._between(block.data, at, start, number)
            if hit > self._shown:
                yield from self._leading(hit)
                yield self._line(hit, _shown(block.data[start:end], column), is_match=True)
            self._after = self._around
            at, number = min(end + 1, len(block.data)), hit + 1
        yield from self._between(block.data, at, len(block.data), number)

    def _leading(self, hit: int) -> Iterator[Line]:
        for number, text in self._before:
            if self._shown < number < hit:
                yield self._line(number, text, is_match=False)
        self._before.clear()

    def _between(self, data: bytes, at: int, end: int, number: int) -> Iterator[Line]:
        """Show what follows a match, and keep what may come before the next."""
        if not self._around:
            return
        while self._after and at < end:
            cut = _line_end(data, at, end)
            if number > self._shown:
                yield self._line(number, _shown(data[at:cut]), is_match=False)
            at, number, self._after = cut + 1, number + 1, self._after - 1
        self._before.extend(_last_lines(data, at, end, number, self._around))

    def _line(self, number: int, text: str, *, is_match: bool) -> Line:
        is_first = number != self._shown + 1 and self._shown > 0
        self._shown = number
        return Line(number, text, is_match, is_first)


def _blocks(file: BinaryIO, size: int) -> Iterator[_Block]:
    """Yield whole lines, as many as fit; a line that does not fit comes in pieces that overlap."""
    kept, number = b"", 1
    while chunk := file.read(size):
        data = kept + chunk
        cut = data.rfind(b"\n") + 1
        if cut:
            yield _Block(data[:cut].replace(b"\r\n", b"\n"), number)
            number, kept = number + data.count(b"\n", 0, cut), data[cut:]
        elif len(data) >= size:
            yield _Block(data, number)
            kept = data[-_OVERLAP:]
        else:
            kept = data
    if kept:
        yield _Block(kept.removesuffix(b"\r"), number)


def _hits(data: bytes, wanted: regex.Finder) -> Iterator[tuple[int, int, int]]:
    """Yield begin and end of every line that matches, and where in it."""
    at = 0
    while at < len(data) and (found := wanted.find(data, at)) is not None:
        start = data.rfind(b"\n", at, found) + 1 or at
        end = _line_end(data, start, len(data))
        # What the search found may go over the end of the line; a line matches by itself or not at all.
        column = wanted.find(data[start:end], 0)
        if column is not None:
            yield start, end, column
        at = end + 1


def _line_end(data: bytes, at: int, end: int) -> int:
    cut = data.find(b"\n", at, end)
    return end if cut < 0 else cut


def _last_lines(data: bytes, at: int, end: int, number: int, most: int) -> list[tuple[int, str]]:
    """Return the last lines of a stretch with their numbers."""
    if at >= end:
        return []
    stop = end - 1 if data[end - 1 : end] == b"\n" else end
    last = number + data.count(b"\n", at, stop)
    found: list[tuple[int, str]] = []
    while stop >= at and len(found) < most:
        start = data.rfind(b"\n", at, stop) + 1 or at
        found.append((last - len(found), _shown(data[start:stop])))
        stop = start - 1
    return found[::-1]


def _shown(line: bytes, column: int = 0) -> str:
    """Return a line, of a long one the part around the match."""
    start = max(0, column - _SHOWN // 2) if len(line) > _SHOWN else 0
    part = line[start : start + 4 * _SHOWN].decode("utf-8", "replace").rstrip("\r\n")
    is_cut = len(part) > _SHOWN or start + 4 * _SHOWN < len(line)
    return f"{'…' if start else ''}{part[:_SHOWN]}{'…' if is_cut else ''}"
