"""A band that is too wide, cut where one line crosses and carried on below: `╮ ╭ ╯ ╰`.

Owns the choice of the cuts and the wires back to the left. It must never cut through a step or through
more than one line.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from workbench.graph import band
from workbench.graph.band import Frame, Label
from workbench.graph.channel import LEFT, RIGHT
from workbench.graph.glyphs import ACROSS, ASCII, DOWNWARD, ROUND, D, L, R, U
from workbench.graph.layout import Layout
from workbench.graph.picture import Cell, Picture, Place, lined_up

_PASSING = frozenset((0, DOWNWARD))
"""Cells of a row that holds nothing but lines on their way down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A place where a band may be cut."""

    gap: int
    row: int
    """The row of the only line there."""
    end: int
    """The first cell that is left out before the cut."""
    start: int
    """The first cell that is drawn after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """One of the bands that a wide one is cut into."""

    start: int
    end: int
    shift: int
    """What is added to an x of the wide band."""
    lines: dict[int, int]
    """Line of the wide band to line of the picture."""
    row_in: int | None
    """Line of the picture where the wire comes in."""
    row_out: int | None
    bottom: int
    """The line below the band, where the wire runs back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrapTracer:
    """Follows lines through the cuts."""

    frame: Frame
    slices: tuple[Slice, ...]

    def cells(self, edge: tuple[int, int]) -> Iterable[Cell]:
        """Yield every cell of the line of an edge with the arms that it uses."""
        found = list(self.frame.cells(edge))
        first, last = min(x for x, _, _ in found), max(x for x, _, _ in found)
        for part in self.slices:
            for x, y, arms in found:
                if part.start <= x < part.end and y in part.lines:
                    yield x + part.shift, part.lines[y], arms
        for part, after in pairwise(self.slices):
            if first < part.end and last >= after.start:
                yield from wire(part, after)


def wrapped(layout: Layout, labels: Sequence[Label], width: int, *, is_ascii: bool = False) -> Picture | None:
    """Draw a layout in bands of at most `width` cells; None where it cannot be cut so."""
    at = band.frame(layout, labels)
    chosen = choose(at, cuts(at), width)
    if chosen is None:
        return None
    grid = band.cells(at)
    found = band.places(at)
    slices = _slices(at, chosen, grid, found, is_ascii=is_ascii)
    return _drawn(at, slices, grid, found, is_ascii=is_ascii)


def cuts(at: Frame) -> list[Cut]:
    """Find every place that exactly one line crosses."""
    found: list[Cut] = []
    for number, gap in enumerate(at.layout.gaps):
        left, right = at.gap_x[number], at.gap_x[number] + band.gap_width(gap)
        starts = [row for row, a, _ in gap.pieces if a == LEFT]
        ends = [row for row, _, b in gap.pieces if b == RIGHT]
        if len(starts) == 1:
            found.append(Cut(gap=number, row=starts[0], end=left + 1, start=left + 1))
        if len(ends) == 1 and gap.columns:
            found.append(Cut(gap=number, row=ends[0], end=right, start=right - 1))
    return found


def choose(at: Frame, possible: Sequence[Cut], width: int) -> list[Cut] | None:
    """Choose as few cuts as can be, and among those the ones that leave the widest band narrowest."""
    chosen = _as_late_as_fits(at, possible, width)
    if not chosen:
        return chosen
    low, high = at.width // (len(chosen) + 1), width
    while low < high:
        middle = (low + high) // 2
        found = _as_late_as_fits(at, possible, middle)
        if found is not None and len(found) == len(chosen):
            chosen, high = found, middle
        else:
            low = middle + 1
    return chosen


def _as_late_as_fits(at: Frame, possible: Sequence[Cut], width: int) -> list[Cut] | None:
    chosen: list[Cut] = []
    while True:
        start, indent = (chosen[-1].start, 2) if chosen else (0, 0)
        if at.width - start + indent <= width:
            return chosen
        after = chosen[-1].gap if chosen else -1
        fitting = [cut for cut in possible if cut.gap > after and cut.end - start + indent + 1 <= width]
        if not fitting:
            return None
        chosen.append(fitting[-1])


def _slices(
    at: Frame, chosen: Sequence[Cut], grid: Sequence[bytearray], found: Sequence[Place], *, is_ascii: bool
) -> list[Slice]:
    slices: list[Slice] = []
    top = 0
    for number, cut_in in enumerate([None, *chosen]):
        cut_out = chosen[number] if number < len(chosen) else None
        start = cut_in.start if cut_in else 0
        end = cut_out.end if cut_out else at.width
        shift = (2 if number else 0) - start
        kept = _kept(at, grid, found, start, end)
        if is_ascii:
            kept = _apart(grid, kept, start, end)
        if slices and is_ascii and _seems_joined(slices[-1], grid[kept[0]], shift, end):
            top += 1
        lines = {y: top + offset for offset, y in enumerate(kept)}
        top += len(kept)
        slices.append(
            Slice(
                start=start,
                end=end,
                shift=shift,
                lines=lines,
                row_in=lines[at.y[cut_in.row]] if cut_in else None,
                row_out=lines[at.y[cut_out.row]] if cut_out else None,
                bottom=top,
            )
        )
        top += 1
    return slices


def _kept(at: Frame, grid: Sequence[bytearray], found: Sequence[Place], start: int, end: int) -> list[int]:
    """List the lines between two cells that say something: a step, or more than lines on their way down.

    Where a step of another band is tall, lines only pass by; those rows would be empty room here.
    """
    held = {
        y for place in found if start <= place.sign_x < end for y in range(place.y, place.y + place.below + 1)
    }
    return [y for y in range(at.height) if y in held or not _PASSING.issuperset(grid[y][start:end])]


def _apart(grid: Sequence[bytearray], kept: Sequence[int], start: int, end: int) -> list[int]:
    """Keep a blank line where lines of ASCII would seem to be joined without it."""
    found = list(kept[:1])
    for above, below in pairwise(kept):
        seems_joined = any(
            ASCII[a] in "|+." and ASCII[b] in "|+'"
            for a, b in zip(grid[above][start:end], grid[below][start:end], strict=True)
        )
        found += [above + 1, below] if below - above > 1 and seems_joined else [below]
    return found


def _seems_joined(above: Slice, line: bytearray, shift: int, end: int) -> bool:
    """Say whether the corner of a wire would stand on what looks like an arm upwards in ASCII."""
    x = above.end + above.shift - shift
    return x < min(end, len(line)) and ASCII[line[x]] in "|+'"


def wire(part: Slice, after: Slice) -> Iterable[Cell]:
    """Yield the cells of the wire from one band to the next."""
    x = part.end + part.shift
    for y in range(part.row_out or 0, part.bottom + 1):
        yield x, y, L | D if y == part.row_out else L | U if y == part.bottom else DOWNWARD
    for column in range(1, x):
        yield column, part.bottom, ACROSS
    for y in range(part.bottom, (after.row_in or 0) + 1):
        yield 0, y, D | R if y == part.bottom else U | R if y == after.row_in else DOWNWARD
    yield 1, after.row_in or 0, ACROSS


def _drawn(
    at: Frame, slices: list[Slice], grid: Sequence[bytearray], found: list[Place], *, is_ascii: bool
) -> Picture:
    wide = max(part.end + part.shift + (part.row_out is not None) for part in slices)
    sheet = [bytearray(wide) for _ in range(slices[-1].bottom)]
    places = list(found)
    for part in slices:
        for y, line in part.lines.items():
            sheet[line][part.start + part.shift : part.end + part.shift] = grid[y][part.start : part.end]
        for step, place in enumerate(found):
            if part.start <= place.sign_x < part.end:
                places[step] = place.moved(part.shift, part.lines)
    for part, after in pairwise(slices):
        for x, y, arms in wire(part, after):
            sheet[y][x] = arms | ROUND
    return Picture(
        kind="wrapped",
        layout=at.layout,
        width=wide,
        cells=tuple(bytes(row) for row in sheet),
        places=tuple(places),
        is_ascii=is_ascii,
        tracer=WrapTracer(frame=at, slices=tuple(slices)),
        on_line=lined_up(places),
    )
