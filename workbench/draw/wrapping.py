"""Breaking text into lines of at most so many cells, between words where there is a blank.

Owns where lines end. Takes Content that is safe already; words longer than a line are broken, nothing is cut.
"""

from collections.abc import Sequence

from textual.content import Content

from workbench.draw.cells import mark_hidden, whole_marks
from workbench.draw.tokens import Ink
from workbench.text.safe import safe
from workbench.text.width import cells

TAB = 4
HANG = 2
"""Cells that a line of code which goes on is deeper than its beginning."""

_BREAKS = frozenset(" ,;:)]}|&=+/")
"""Characters behind which a long line of code is broken."""


def wrap(line: Content, width: int) -> list[Content]:
    """Return one line as lines of at most `width` cells; leading blanks stay, blanks at breaks go."""
    if line.cell_length <= width:
        return [line]
    return [line[start:end] for start, end in breaks(line.plain, width)]


def breaks(text: str, width: int) -> list[tuple[int, int]]:
    """Return where a text is broken, as (from, to) characters, without the blanks at the breaks."""
    width = max(1, width)
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = _fits(text, start, width)
        if end < len(text) and text[end] != " ":
            blank = text.rfind(" ", start, end)
            if blank > start and text[start:blank].strip():
                end = blank
        found.append((start, start + len(text[start:end].rstrip(" "))))
        start = end
        while start < len(text) and text[start] == " ":
            start += 1
    return found or [(0, 0)]


def _fits(text: str, start: int, width: int) -> int:
    piece = text[start : start + width + 1]
    if piece.isascii():
        return min(len(text), start + width)
    used = 0
    for at in range(start, len(text)):
        used += cells(text[at])
        if used > width and at > start:
            whole = len(whole_marks(text[start:at]))
            return start + whole if whole else at
    return len(text)


def safe_lines(text: str) -> list[str]:
    """Return raw text as safe lines, tabs expanded."""
    clean = safe(text.replace("\r\n", "\n"))
    return [line.expandtabs(TAB) for line in clean.split("\n")]


def plain_wrap(text: str, width: int, ink: Ink | None = None) -> list[Content]:
    """Return raw text as safe lines of at most `width` cells, broken between words where possible."""
    return [
        mark_hidden(Content(line[start:end]), ink)
        for line in safe_lines(text)
        for start, end in breaks(line, width)
    ]


def hard_wrap(lines: Sequence[Content], width: int) -> list[Content]:
    """Return lines of code broken to `width` cells: every blank stays, what goes on is indented."""
    return [row for line in lines for row in _hung(line, width)]


def _hung(line: Content, width: int) -> list[Content]:
    hang = hanging(line.plain, width)
    pieces = code_breaks(line.plain, width, hang)
    return [Content(" " * (hang if at else 0)) + line[start:end] for at, (start, end) in enumerate(pieces)]


def hanging(text: str, width: int) -> int:
    """Return how far the further rows of a broken line of code are indented: two deeper than it."""
    indent = len(text) - len(text.lstrip(" "))
    return min(indent + HANG, width // 3)


def code_breaks(text: str, width: int, hang: int = 0) -> list[tuple[int, int]]:
    """Return where a line of code is broken, as (from, to) characters; nothing of it is left out.

    Breaks behind a blank or a mark of punctuation where one is in the last third of a row, so that names
    stay whole.

    Args:
        text: one safe line.
        width: cells of a row.
        hang: cells that every row but the first is indented.
    """
    pieces: list[tuple[int, int]] = []
    start, room = 0, max(1, width)
    while start < len(text):
        end = _row_end(text, start, room)
        pieces.append((start, end))
        start, room = end, max(1, width - hang)
    return pieces or [(0, 0)]


def _row_end(text: str, start: int, room: int) -> int:
    end = _fits(text, start, room)
    if end >= len(text):
        return len(text)
    least = end - max(1, (end - start) // 3)
    ends = (at for at in range(end, least, -1) if text[at - 1] in _BREAKS)
    return next((at for at in ends if whole_marks(text[start:at]) == text[start:at]), end)
