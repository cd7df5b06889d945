"""Frames of a screen: rows of styled text at a time, and what else a film says.

Pure. Owns the shape that the camera makes and the writers read, and the last look at text before it leaves:
no control character, no secret. It knows no session and no widget.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Final

from workbench.records import dataclass
from workbench.text.safe import safe
from workbench.text.scrub import scrub
from workbench.text.width import cells, cut

SECOND: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How text is drawn. Colours are `#rrggbb`; both are always there."""

    ink: str
    paper: str
    bold: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False


Run = tuple[str, Look]
Row = tuple[Run, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The screen at a moment."""

    at: int
    """When it is shown: microseconds from the beginning of the film."""
    recorded: int
    """When it was: microseconds since the epoch."""
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """An event worth going to."""

    at: int
    """Microseconds from the beginning of the film."""
    kind: str
    sign: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A time without events that the film makes short."""

    at: int
    """Where it begins: microseconds from the beginning of the film."""
    saved: int
    """Microseconds that are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Film:
    """Frames in the order of their times, and what is said of them."""

    title: str
    width: int
    height: int
    """Cells."""
    ink: str
    paper: str
    length: int
    """Microseconds; the last frame stands until then."""
    frames: tuple[Frame, ...] = ()
    """Those of a short film; a long one is written as it is made."""
    marks: tuple[Mark, ...] = ()
    gaps: tuple[Gap, ...] = ()


def row_of(runs: Sequence[Run], width: int) -> Row:
    """Return runs as a row of exactly `width` cells that is fit to leave: safe, scrubbed, joined."""
    joined = _joined(runs)
    text = "".join(part for part, _ in joined)
    clean = _clean(text)
    if clean != text:
        joined = _replaced(joined, text, clean)
    if sum(cells(part) for part, _ in joined) > width:
        joined = _cut(joined, width)
    left = width - sum(cells(part) for part, _ in joined)
    blank = joined[-1][1] if joined else Look(ink="#808080", paper="#000000")
    return _joined([*joined, (" " * left, blank)])


def _joined(runs: Sequence[Run]) -> Row:
    found: list[Run] = []
    for text, look in runs:
        if not text:
            continue
        if found and found[-1][1] == look:
            found[-1] = (found[-1][0] + text, look)
        else:
            found.append((text, look))
    return tuple(found)


@lru_cache(maxsize=8192)
def _clean(text: str) -> str:
    # Panes stand side by side: what is left of a rule has nothing to do with what is right of it.
    return "".join(
        part if index % 2 else scrub(safe(part, keep_newlines=False)).text
        for index, part in enumerate(_BETWEEN.split(text))
    )


_BETWEEN: Final = re.compile("([│┃|]+)")


def _replaced(runs: Row, text: str, clean: str) -> Row:
    """Return other text in the looks that stood there; behind the first difference in one look."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text, clean, strict=False)))
    kept: list[Run] = []
    begins = 0
    for part, look in runs:
        if begins + len(part) > same:
            kept.append((part[: same - begins], look))
            return _joined([*kept, (clean[same:], look)])
        kept.append((part, look))
        begins += len(part)
    return _joined([*kept, (clean[same:], runs[-1][1])])


def _cut(runs: Row, width: int) -> Row:
    found: list[Run] = []
    left = width
    for text, look in runs:
        if left <= 0:
            break
        shown = cut(text, left)
        found.append((shown, look))
        left -= cells(shown)
    return _joined(found)


_PLAIN: Final = re.compile("[\u0020-\u007e\u00a1-\u024f\u2500\u2501\u2504-\u257f]+")
"""Characters that every fixed-width font has, one cell wide; `│` and `┃` a picture draws as lines."""


def pieces(text: str) -> Iterator[tuple[str, int]]:
    """Yield text in pieces with their cells: plain ones long, every other character (with marks) alone.

    What a font lacks is drawn in another one, of another width: placed alone it moves nothing behind it.
    """
    at = 0
    while at < len(text):
        found = _PLAIN.match(text, at)
        end = found.end() if found else at + 1
        while end < len(text) and not _PLAIN.match(text, end) and _adds_nothing(text, at, end):
            end += 1
        yield text[at:end], cells(text[at:end])
        at = end


def _adds_nothing(text: str, begins: int, at: int) -> bool:
    return cells(text[begins : at + 1]) == cells(text[begins:at])
