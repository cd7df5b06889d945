"""What the terminal shows at present, and updates that write only the cells that are others.

A countdown costs its digits and not its row; rows that only moved up or down are scrolled by the terminal
itself.
"""

# What the terminal shows is remembered by pieces of rows, at the last place before it is written. Comparing
# in widgets was tried first and left stale cells behind: a line that was drawn need not have been sent.
#
# A row is written cell by cell and colour by colour. The framework sends each piece of a row with all of
# its codes and ends them behind it. What is kept of the row before says which letters are the same, and a
# pen that stays down from piece to piece and from row to row says only which code is another. Letters of
# more than ASCII are compared by whole pieces, as one may take two cells or none; blanks are never erased
# (`EL`, `ECH`), as not every terminal erases in the background.
#
# The terminal moves rows that only moved (a region, lines deleted or inserted in it). It moves whole rows:
# what stands beside moves along and is put back, so it is done only where that is little. 1 KB is written
# for a row of a long diff where 8 KB were. A frame of the whole screen is always written whole, so that it
# mends whatever else wrote there.

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from rich.color import ColorSystem
from rich.console import COLOR_SYSTEMS, Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.strip import Strip

_MIN_SCROLL_ROWS: Final = 6
"""With fewer rows it is not checked whether they moved."""


class RowPiece(NamedTuple):
    """A piece of text in some cells of a row."""

    y: int
    start: int
    stop: int
    """The cell behind the last."""
    strip: Strip


class TerminalContents:
    """What the terminal shows, as pieces of rows that were written last and not written over."""

    def __init__(self) -> None:
        self._rows: dict[int, dict[tuple[int, int], Strip]] = {}

    def forget(self) -> None:
        """Know nothing any more: the next piece of every row is written whole."""
        self._rows.clear()

    def roll(self, pieces: Sequence[RowPiece], width: int) -> tuple[str, Sequence[RowPiece]]:
        """Have the terminal move rows that only moved.

        Args:
            pieces: What is to be shown.
            width: Cells of a row.

        Returns:
            Escape sequences, empty if nothing moved; and what is to be written then, which is in place for
            the most part: what stood beside is in it.
        """
        if len(pieces) < _MIN_SCROLL_ROWS:
            return "", pieces
        fresh: dict[int, dict[tuple[int, int], Strip]] = {}
        for y, start, stop, strip in pieces:
            fresh.setdefault(y, {})[start, stop] = strip
        scroll = best_scroll(self._rows, fresh, width)
        if scroll is None:
            return "", pieces
        roll, after = scroll
        moved = {y: roll.source(y) for y in range(roll.top, roll.bottom + 1)}
        before = {y: self._rows.pop(y, {}) for y in moved}
        self._rows |= {y: before[source] for y, source in moved.items() if source is not None}
        wanted = [
            RowPiece(y, *place, strip)
            for y, row in {**fresh, **after}.items()
            for place, strip in row.items()
        ]
        return roll.sequence(), wanted

    def note(self, rows: Iterable[Iterable[Strip]]) -> None:
        """Note that all of the screen was written."""
        self._rows.clear()
        for y, strips in enumerate(rows):
            row, start = self._rows.setdefault(y, {}), 0
            for strip in strips:
                row[start, start + strip.cell_length] = strip
                start += strip.cell_length

    def put(self, y: int, start: int, stop: int, piece: Strip) -> tuple[int, int]:
        """Note a piece in cells of a row; return which of its cells must be written."""
        row = self._rows.setdefault(y, {})
        before = row.get((start, stop))
        if before is piece:
            return 0, 0
        if before is None:
            for first, last in [key for key in row if key[0] < stop and start < key[1]]:
                del row[first, last]
        row[start, stop] = piece
        return (0, piece.cell_length) if before is None else changed_cells(before, piece)


class SgrWriter:
    """Text in colours, one piece after another: only what differs from the colours before is said."""

    def __init__(self, system: ColorSystem) -> None:
        self._system = system
        self._codes = _PLAIN_CODES

    def write(self, piece: Strip) -> Iterator[str]:
        """Yield a piece as escape sequences and text."""
        for text, style, _ in piece:
            yield self._turn(_sgr_codes(style, self._system), is_blank=not text.strip(" "))
            link = style.link if style is not None else None
            yield f"\x1b]8;;{link}\x1b\\{text}\x1b]8;;\x1b\\" if link else text

    def lift(self) -> str:
        """Return what ends all colours, nothing if there are none."""
        return "" if self._codes == _PLAIN_CODES else "\x1b[0m"

    def _turn(self, codes: "_SgrCodes", *, is_blank: bool) -> str:
        before = self._codes
        if codes == before:
            return ""
        if is_blank and not codes.flags and not before.flags:
            # The colour of letters is not visible on spaces.
            codes = codes._replace(front=before.front)
        self._codes = codes
        return _sgr_change(before, codes)


class _SgrCodes(NamedTuple):
    """What a style is made of: the numbers of bold and the like, of the colour and of the background."""

    flags: tuple[str, ...]
    front: str
    back: str


_PLAIN_CODES: Final = _SgrCodes((), "", "")
_SGR_ENDS: Final = {"1": "22", "3": "23", "4": "24", "7": "27", "9": "29"}
"""The codes that end bold, italic, underlined, reversed and struck; other styles are reset as a whole."""


@lru_cache(maxsize=4096)
def _sgr_change(before: _SgrCodes, after: _SgrCodes) -> str:
    """Return what makes one style out of another on the terminal."""
    off = [flag for flag in before.flags if flag not in after.flags]
    if off and not all(flag in _SGR_ENDS for flag in (*before.flags, *after.flags)):
        parameters = ["0", *after.flags, after.front, after.back]
    else:
        on = [flag for flag in after.flags if flag not in before.flags]
        colour = (after.front or "39") if before.front != after.front else ""
        back = (after.back or "49") if before.back != after.back else ""
        parameters = [*(_SGR_ENDS[flag] for flag in off), *on, colour, back]
    codes = ";".join(code for code in parameters if code)
    return f"\x1b[{codes}m" if codes else ""


@lru_cache(maxsize=4096)
def _sgr_codes(style: Style | None, system: ColorSystem) -> _SgrCodes:
    if style is None:
        return _PLAIN_CODES
    front, back = (
        "" if color is None else ";".join(color.downgrade(system).get_ansi_codes(foreground))
        for color, foreground in ((style.color, True), (style.bgcolor, False))
    )
    flags = Strip.render_ansi(style.without_color, system)
    return _SgrCodes(tuple(flags.split(";")) if flags else (), front, back)


class ChangedCellsUpdate(ChopsUpdate):
    """A partial update that writes what the terminal does not show yet."""

    def __init__(self, update: ChopsUpdate, shown: TerminalContents) -> None:
        super().__init__(update.chops, update.spans, update.chop_ends)
        self._shown = shown

    def render_segments(self, console: Console) -> str:
        """Return the escape sequences of the update; what they write is noted as shown."""
        move, pieces = self._shown.roll(list(self._pieces()), max(ends[-1] for ends in self.chop_ends))
        sequences, pen = [move], SgrWriter(COLOR_SYSTEMS[console.color_system or "truecolor"])
        for y, start, stop, strip in pieces:
            begin, until = self._shown.put(y, start, stop, strip)
            if begin < until:
                sequences.append(f"\x1b[{y + 1};{start + begin + 1}H")
                sequences += pen.write(strip.crop(begin, until))
        return "".join((*sequences, pen.lift()))

    def _pieces(self) -> Iterator[RowPiece]:
        """Yield what is drawn."""
        for y, first, last in self.spans:
            for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                start, stop = max(x, first), min(end, last)
                if strip is not None and start < stop:
                    yield RowPiece(y, start, stop, strip.crop(start - x, stop - x))


class FullUpdate(LayoutUpdate):
    """An update of all of the screen; all of it is written, whatever the terminal shows."""

    def __init__(self, update: LayoutUpdate, shown: TerminalContents) -> None:
        super().__init__(update.strips, update.region)
        self._shown = shown

    def render_segments(self, console: Console) -> str:
        """Return the escape sequences of the update; what they write is noted as shown."""
        self._shown.note(self.strips)
        pen = SgrWriter(COLOR_SYSTEMS[console.color_system or "truecolor"])
        sequences: list[str] = []
        for y, strips in enumerate(self.strips):
            sequences.append(f"\x1b[{y + 1};1H")
            for strip in strips:
                sequences += pen.write(strip)
        return "".join((*sequences, pen.lift()))


def changed_cells(before: Strip, after: Strip) -> tuple[int, int]:
    """Return the first cell that differs and the one behind the last; equal if none does.

    Within a piece of one style it is exact for ASCII; other letters may take two cells or none, so that a
    piece with any is taken whole.
    """
    if before is after:
        return 0, 0
    if before.cell_length != after.cell_length:
        return 0, after.cell_length
    old, new = list(before), list(after)
    start = _equal_cells(old, new, 1)
    return (
        (start, start)
        if start == after.cell_length
        else (start, after.cell_length - _equal_cells(old, new, -1))
    )


def _equal_cells(old: Sequence[Segment], new: Sequence[Segment], step: int) -> int:
    """Return how many cells are the same from the beginning on (1), or from the end on (-1)."""
    cells = 0
    for segment, other in zip(old[::step], new[::step], strict=False):
        if segment == other:
            cells += segment.cell_length
            continue
        if segment.style == other.style and segment.text.isascii() and other.text.isascii():
            cells += (
                _common_prefix_length(segment.text, other.text)
                if step > 0
                else _common_prefix_length(segment.text[::-1], other.text[::-1])
            )
        break
    return cells


def _common_prefix_length(one: str, other: str) -> int:
    """Return how many letters are the same at the beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


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
        """Return the row that is drawn at `y` now; None if it was outside."""
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
    saved, nothing = 0, dict[tuple[int, int], Strip]()
    for y in range(roll.top, roll.bottom + 1):
        stays, source = before.get(y, nothing), roll.source(y)
        comes = nothing if source is None else before.get(source, nothing)
        for place, strip in after[y].items():
            gain = (comes.get(place) is strip) - (stays.get(place) is strip)
            saved += (place[1] - place[0]) * (gain if gain > 0 else 3 * gain)
    return saved
