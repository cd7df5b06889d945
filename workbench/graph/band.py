"""Drawing from left to right: one wide band, the band with a box around each step, and the band wrapped.

Gives every layer, row and trunk its cells. A band that is too wide is cut only where exactly one line
crosses, never through a step, and continues below. Every box has room for its lines from the beginning, so
that no state moves anything: where a step has no more to say than its name, the frame closes a line earlier.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from workbench.graph.canvas import (
    ASCII_GLYPHS,
    BOX_SIDE,
    CROSSING,
    HORIZONTAL,
    ROUNDED,
    VERTICAL,
    Cell,
    D,
    DrawingKind,
    L,
    Picture,
    R,
    StepPosition,
    U,
    make_picture,
)
from workbench.graph.edge_routes import LEFT, RIGHT, Gap
from workbench.graph.layers import edge_path
from workbench.graph.layout import GraphLayout
from workbench.text.width import cell_width


class StepLabel(Struct, frozen=True, kw_only=True):
    """What a step shows at most."""

    name: str
    slot: int = 0
    """Cells reserved for badges."""
    mark: str = ""
    below: int = 0
    """Lines below the step that are reserved for its items."""
    least: int = 0
    """Cells that it takes even with a short name."""

    @property
    def tail(self) -> int:
        mark = cell_width(self.mark)
        return (self.slot + 1 if self.slot else 0) + (mark + 1 if mark else 0)

    @property
    def cells(self) -> int:
        """Cells of sign, name, slot and mark."""
        return max(self.least, 2 + cell_width(self.name) + self.tail)


class BandFrame(Struct, frozen=True, kw_only=True):
    """Coordinates of a band."""

    layout: GraphLayout
    labels: Sequence[StepLabel]
    layer_x: tuple[int, ...]
    """The first cell of each layer."""
    gap_x: tuple[int, ...]
    """The first cell of each gap."""
    width: int
    y: tuple[int, ...]
    """The line of each row."""
    height: int
    least_gap: int = 0
    """Cells of a gap at least."""
    inset: int = 1
    """Cells before a label: one, two where a box is drawn around it, none for a sign alone."""

    def port(self, v: int) -> int:
        layer = self.layout.net.layer[v]
        if v >= self.layout.net.steps:
            return self.layer_x[layer]
        if self.inset != 1:
            return self.gap_x[layer]
        return self.layer_x[layer] + 4 + cell_width(self.labels[v].name)

    def gap_cells(self, gap: int) -> int:
        return max(self.least_gap, gap_width(self.layout.gaps[gap]))

    def trunk_x(self, gap: int, trunk: int) -> int:
        """Return the column of a trunk; a gap that is wider than needed has its trunks in the middle."""
        spare = self.gap_cells(gap) - gap_width(self.layout.gaps[gap])
        return self.gap_x[gap] + spare // 2 + 1 + 2 * self.layout.gaps[gap].trunks[trunk].column

    def corners(self, edge: tuple[int, int]) -> list[tuple[int, int]]:
        """List the points at which the line of an edge starts, turns and ends."""
        layout = self.layout
        vertices, bus = edge_path(layout.net, edge)
        points = [(self.port(edge[0]), self.y[layout.row[edge[0]]])]
        for u, v in pairwise(vertices):
            gap = layout.net.layer[u]
            via = bus if bus is not None and layout.net.buses[bus].gap == gap else None
            for trunk, row in layout.gaps[gap].way(u, v, via):
                x = self.trunk_x(gap, trunk)
                points += [(x, points[-1][1]), (x, self.y[layout.row[v] if row is None else row])]
        points.append((self.layer_x[layout.net.layer[edge[1]]] - 1, points[-1][1]))
        return points

    def cells(self, edge: tuple[int, int]) -> Iterable[Cell]:
        """Yield every cell of the line of an edge with the arms that it uses."""
        points = self.corners(edge)
        arms_by_cell = {points[0]: L, points[-1]: R}
        for (x, y), (end_x, end_y) in pairwise(points):
            while (x, y) != (end_x, end_y):
                step_x, step_y = (end_x > x) - (end_x < x), (end_y > y) - (end_y < y)
                away, back = (R, L) if step_x > 0 else (D, U) if step_y > 0 else (U, D)
                arms_by_cell[x, y] = arms_by_cell.get((x, y), 0) | away
                x, y = x + step_x, y + step_y
                arms_by_cell[x, y] = arms_by_cell.get((x, y), 0) | back
        return [(x, y, arms) for (x, y), arms in arms_by_cell.items()]


def band_frame(
    layout: GraphLayout, labels: Sequence[StepLabel], *, around: int = 0, least_gap: int = 0
) -> BandFrame:
    widths = [0] * layout.layers
    inset = 2 if around else 1
    for v, label in enumerate(labels):
        layer_number = layout.net.layer[v]
        widths[layer_number] = max(widths[layer_number], label.cells + 2 * inset)
    layer_x: list[int] = []
    gap_x: list[int] = []
    x = 0
    for layer_number, width in enumerate(widths):
        layer_x.append(x)
        x += width
        if layer_number < len(layout.gaps):
            gap_x.append(x)
            x += max(least_gap, gap_width(layout.gaps[layer_number]))
    y, height = _row_lines(layout, labels, around)
    return BandFrame(
        layout=layout,
        labels=labels,
        layer_x=tuple(layer_x),
        gap_x=tuple(gap_x),
        width=x if around else max(0, x - 1),
        y=tuple(y),
        height=height,
        least_gap=least_gap,
        inset=inset,
    )


def _row_lines(layout: GraphLayout, labels: Sequence[StepLabel], around: int) -> tuple[list[int], int]:
    above, below = [0] * layout.height, [0] * layout.height
    for v, label in enumerate(labels):
        row = layout.row[v]
        above[row] = min(around, 1)
        below[row] = max(below[row], around + label.below)
    y: list[int] = []
    line = 0
    for over, under in zip(above, below, strict=True):
        y.append(line + over)
        line += over + 1 + under
    return y, line


def gap_width(gap: Gap) -> int:
    """Return the cells of a gap: every second one may hold a trunk, so that crossings stay readable."""
    return 2 * gap.columns + 1 if gap.columns else 2


def draw_lines(frame: BandFrame) -> list[bytearray]:
    """Draw the lines of a band: pieces first, then trunks over them."""
    grid = [bytearray(frame.width) for _ in range(frame.height)]
    _draw_leads(frame, grid)
    for number, gap in enumerate(frame.layout.gaps):
        _draw_pieces(frame, number, gap, grid)
    for number, gap in enumerate(frame.layout.gaps):
        for position, trunk in enumerate(gap.trunks):
            x = frame.trunk_x(number, position)
            attached = {frame.y[row] for row in trunk.rows}
            _draw_trunk(grid, x, frame.y[trunk.top], frame.y[trunk.bottom], attached)
    return grid


def _draw_leads(frame: BandFrame, grid: list[bytearray]) -> None:
    net = frame.layout.net
    leads = {u for hops in net.hops for u, _ in hops} | {u for bus in net.buses for u in bus.entries}
    for v in sorted(leads):
        start, end = frame.port(v), frame.gap_x[net.layer[v]]
        grid[frame.y[frame.layout.row[v]]][start:end] = bytes([HORIZONTAL]) * (end - start)


def _draw_pieces(frame: BandFrame, number: int, gap: Gap, grid: list[bytearray]) -> None:
    gap_start = frame.gap_x[number]
    gap_end = gap_start + frame.gap_cells(number)
    for row, a, b in gap.pieces:
        cells = grid[frame.y[row]]
        start, end = gap_start, gap_end
        if a != LEFT:
            start = frame.trunk_x(number, a)
            cells[start] |= R
            start += 1
        if b != RIGHT:
            end = frame.trunk_x(number, b)
            cells[end] |= L
        cells[start:end] = bytes([HORIZONTAL]) * (end - start)


def _draw_trunk(grid: list[bytearray], x: int, top: int, bottom: int, attached: set[int]) -> None:
    for y in range(top, bottom + 1):
        if y in attached:
            grid[y][x] |= (U if y > top else 0) | (D if y < bottom else 0)
        else:
            grid[y][x] = CROSSING if grid[y][x] else VERTICAL


def position_steps(frame: BandFrame) -> list[StepPosition]:
    positions: list[StepPosition] = []
    for v, label in enumerate(frame.labels):
        x = frame.layer_x[frame.layout.net.layer[v]] + frame.inset
        positions.append(
            StepPosition(
                y=frame.y[frame.layout.row[v]], sign_x=x, name_x=x + 2, name=label.name,
                badge_x=x + 3 + cell_width(label.name), room=label.slot, mark=label.mark,
                end=min(x + label.cells + 1, frame.width), below=label.below, below_x=x,
                below_room=label.cells,
            )
        )  # fmt: skip
    return positions


def draw_band(layout: GraphLayout, labels: Sequence[StepLabel], *, is_ascii: bool = False) -> Picture:
    frame = band_frame(layout, labels)
    return build_picture(frame, "band", draw_lines(frame), position_steps(frame), is_ascii=is_ascii)


def build_picture(
    frame: BandFrame,
    kind: DrawingKind,
    grid: Sequence[bytearray],
    positions: Sequence[StepPosition],
    *,
    is_ascii: bool,
) -> Picture:
    return make_picture(kind, frame.layout, grid, positions, frame, width=frame.width, is_ascii=is_ascii)


BOX_EDGES = 2
"""Cells of a box on either side of what stands in it: the frame and a blank."""


def box_frame(
    layout: GraphLayout, labels: Sequence[StepLabel], *, lines: int, least_gap: int = 0
) -> BandFrame:
    """Return the frame of boxes with so many lines below the name."""
    return band_frame(layout, labels, around=1 + lines, least_gap=least_gap)


def draw_boxes(frame: BandFrame, *, lines: int, is_ascii: bool = False) -> Picture:
    """Draw a layout with a box around each step: with its name alone, a second line, or notes below that."""
    grid = draw_lines(frame)
    positions = [_box_position(frame, v, place, lines=lines) for v, place in enumerate(position_steps(frame))]
    for v, place in enumerate(positions):
        _mark_sides(frame, v, place, grid)
    return build_picture(frame, "boxes", grid, positions, is_ascii=is_ascii)


def _box_position(frame: BandFrame, v: int, place: StepPosition, *, lines: int) -> StepPosition:
    layer = frame.layout.net.layer[v]
    end = frame.gap_x[layer] if layer < len(frame.gap_x) else frame.width
    return replace(
        place, end=end, is_boxed=True, below_room=end - BOX_EDGES - place.sign_x,
        detail_y=place.y + 1 if lines else None, notes=max(0, lines - 1),
    )  # fmt: skip


def _mark_sides(frame: BandFrame, v: int, place: StepPosition, grid: list[bytearray]) -> None:
    layer, row, cells = frame.layout.net.layer[v], frame.layout.row[v], grid[place.y]
    is_entered = layer > 0 and _is_reached(frame.layout.gaps[layer - 1], row, 2)
    is_left = layer < len(frame.layout.gaps) and _is_reached(frame.layout.gaps[layer], row, 1)
    cells[place.start] = VERTICAL | BOX_SIDE | (L if is_entered else 0)
    cells[place.end - 1] = VERTICAL | BOX_SIDE | (R if is_left else 0)


def _is_reached(gap: Gap, row: int, end: int) -> bool:
    """Say whether a piece of the gap reaches the step: its first (1) or last (2) end is at the edge."""
    return any(piece[0] == row and piece[end] < 0 for piece in gap.pieces)


_PASSING_CELLS = frozenset((0, VERTICAL))
"""Cells of a row that holds nothing but lines on their way down."""


class BandCut(Struct, frozen=True, kw_only=True):
    """A place where a band may be cut."""

    gap: int
    row: int
    """The row of the only line there."""
    end: int
    """The first cell that is left out before the cut."""
    start: int
    """The first cell that is drawn after it."""


class BandSlice(Struct, frozen=True, kw_only=True):
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


class WrapTracer(Struct, frozen=True, kw_only=True):
    """Follows lines through the cuts."""

    frame: BandFrame
    slices: tuple[BandSlice, ...]

    def cells(self, edge: tuple[int, int]) -> Iterable[Cell]:
        cells = list(self.frame.cells(edge))
        first, last = min(x for x, _, _ in cells), max(x for x, _, _ in cells)
        for part in self.slices:
            for x, y, arms in cells:
                if part.start <= x < part.end and y in part.lines:
                    yield x + part.shift, part.lines[y], arms
        for part, after in pairwise(self.slices):
            if first < part.end and last >= after.start:
                yield from return_wire(part, after)


def draw_wrapped_band(
    layout: GraphLayout, labels: Sequence[StepLabel], width: int, *, is_ascii: bool = False
) -> Picture | None:
    """Draw a layout in bands of at most `width` cells; None where it cannot be cut so."""
    frame = band_frame(layout, labels)
    chosen = choose_cuts(frame, possible_cuts(frame), width)
    if chosen is None:
        return None
    grid = draw_lines(frame)
    positions = position_steps(frame)
    slices = _slice_band(frame, chosen, grid, positions, is_ascii=is_ascii)
    return _joined_picture(frame, slices, grid, positions, is_ascii=is_ascii)


def possible_cuts(frame: BandFrame) -> list[BandCut]:
    """Find every place that exactly one line crosses."""
    cuts: list[BandCut] = []
    for number, gap in enumerate(frame.layout.gaps):
        gap_start, gap_end = frame.gap_x[number], frame.gap_x[number] + gap_width(gap)
        starts = [row for row, a, _ in gap.pieces if a == LEFT]
        ends = [row for row, _, b in gap.pieces if b == RIGHT]
        if len(starts) == 1:
            cuts.append(BandCut(gap=number, row=starts[0], end=gap_start + 1, start=gap_start + 1))
        if len(ends) == 1 and gap.columns:
            cuts.append(BandCut(gap=number, row=ends[0], end=gap_end, start=gap_end - 1))
    return cuts


def choose_cuts(frame: BandFrame, possible: Sequence[BandCut], width: int) -> list[BandCut] | None:
    """Choose as few cuts as can be, and among those the ones that leave the widest band narrowest."""
    chosen = _as_late_as_fits(frame, possible, width)
    if not chosen:
        return chosen
    low, high = frame.width // (len(chosen) + 1), width
    while low < high:
        middle = (low + high) // 2
        cuts = _as_late_as_fits(frame, possible, middle)
        if cuts is not None and len(cuts) == len(chosen):
            chosen, high = cuts, middle
        else:
            low = middle + 1
    return chosen


def _as_late_as_fits(frame: BandFrame, possible: Sequence[BandCut], width: int) -> list[BandCut] | None:
    chosen: list[BandCut] = []
    while True:
        start, indent = (chosen[-1].start, 2) if chosen else (0, 0)
        if frame.width - start + indent <= width:
            return chosen
        after = chosen[-1].gap if chosen else -1
        fitting = [cut for cut in possible if cut.gap > after and cut.end - start + indent + 1 <= width]
        if not fitting:
            return None
        chosen.append(fitting[-1])


def _slice_band(
    frame: BandFrame,
    chosen: Sequence[BandCut],
    grid: Sequence[bytearray],
    positions: Sequence[StepPosition],
    *,
    is_ascii: bool,
) -> list[BandSlice]:
    slices: list[BandSlice] = []
    top = 0
    for number, cut_in in enumerate([None, *chosen]):
        cut_out = chosen[number] if number < len(chosen) else None
        start = cut_in.start if cut_in else 0
        end = cut_out.end if cut_out else frame.width
        shift = (2 if number else 0) - start
        lines_kept = _lines_to_keep(frame, grid, positions, start, end)
        if is_ascii:
            lines_kept = _with_blank_lines(grid, lines_kept, start, end)
        if slices and is_ascii and _seems_joined(slices[-1], grid[lines_kept[0]], shift, end):
            top += 1
        lines = {y: top + offset for offset, y in enumerate(lines_kept)}
        top += len(lines_kept)
        slices.append(
            BandSlice(
                start=start,
                end=end,
                shift=shift,
                lines=lines,
                row_in=lines[frame.y[cut_in.row]] if cut_in else None,
                row_out=lines[frame.y[cut_out.row]] if cut_out else None,
                bottom=top,
            )
        )
        top += 1
    return slices


def _lines_to_keep(
    frame: BandFrame, grid: Sequence[bytearray], positions: Sequence[StepPosition], start: int, end: int
) -> list[int]:
    """List the lines between two cells that say something: a step, or more than lines on their way down.

    Where a step of another band is tall, lines only pass by; those rows would be empty room here.
    """
    step_lines = {
        y
        for place in positions
        if start <= place.sign_x < end
        for y in range(place.y, place.y + place.below + 1)
    }
    return [
        y for y in range(frame.height) if y in step_lines or not _PASSING_CELLS.issuperset(grid[y][start:end])
    ]


def _with_blank_lines(
    grid: Sequence[bytearray], lines_kept: Sequence[int], start: int, end: int
) -> list[int]:
    """Keep a blank line where lines of ASCII would seem to be joined without it."""
    lines = list(lines_kept[:1])
    for above, below in pairwise(lines_kept):
        seems_joined = any(
            ASCII_GLYPHS[a] in "|+." and ASCII_GLYPHS[b] in "|+'"
            for a, b in zip(grid[above][start:end], grid[below][start:end], strict=True)
        )
        lines += [above + 1, below] if below - above > 1 and seems_joined else [below]
    return lines


def _seems_joined(above: BandSlice, line: bytearray, shift: int, end: int) -> bool:
    """Say whether the corner of a wire would stand on what looks like an arm upwards in ASCII."""
    x = above.end + above.shift - shift
    return x < min(end, len(line)) and ASCII_GLYPHS[line[x]] in "|+'"


def return_wire(part: BandSlice, after: BandSlice) -> Iterable[Cell]:
    """Yield the cells of the wire from one band to the next."""
    x = part.end + part.shift
    for y in range(part.row_out or 0, part.bottom + 1):
        yield x, y, L | D if y == part.row_out else L | U if y == part.bottom else VERTICAL
    for column in range(1, x):
        yield column, part.bottom, HORIZONTAL
    for y in range(part.bottom, (after.row_in or 0) + 1):
        yield 0, y, D | R if y == part.bottom else U | R if y == after.row_in else VERTICAL
    yield 1, after.row_in or 0, HORIZONTAL


def _joined_picture(
    frame: BandFrame,
    slices: list[BandSlice],
    grid: Sequence[bytearray],
    positions: list[StepPosition],
    *,
    is_ascii: bool,
) -> Picture:
    wide = max(part.end + part.shift + (part.row_out is not None) for part in slices)
    sheet = [bytearray(wide) for _ in range(slices[-1].bottom)]
    places = list(positions)
    for part in slices:
        for y, line in part.lines.items():
            sheet[line][part.start + part.shift : part.end + part.shift] = grid[y][part.start : part.end]
        for step, place in enumerate(positions):
            if part.start <= place.sign_x < part.end:
                places[step] = place.moved(part.shift, part.lines)
    for part, after in pairwise(slices):
        for x, y, arms in return_wire(part, after):
            sheet[y][x] = arms | ROUNDED
    tracer = WrapTracer(frame=frame, slices=tuple(slices))
    return make_picture("wrapped", frame.layout, sheet, places, tracer, width=wide, is_ascii=is_ascii)
