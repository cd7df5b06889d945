"""The drawing of a layout from left to right: one band, however wide.

Owns coordinates: which cell a layer, a row and a trunk have, given the widths of names and slots.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from workbench.graph.channel import LEFT, RIGHT
from workbench.graph.columns import Gap
from workbench.graph.glyphs import ACROSS, CROSSING, DOWNWARD, D, L, R, U
from workbench.graph.layout import Layout
from workbench.graph.levels import chain
from workbench.graph.picture import Cell, Kind, Picture, Place, lined_up
from workbench.text.width import cells as width_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What a step shows at most."""

    name: str
    slot: int = 0
    """Cells reserved for badges."""
    mark: str = ""
    line: int = 0
    """Cells reserved for facts on a line of their own."""
    below: int = 0
    """Lines below the step that are reserved for its items."""
    least: int = 0
    """Cells that it takes even with a short name."""

    @property
    def tail(self) -> int:
        """Cells after the name: slot and mark, each with a space before it."""
        mark = width_of(self.mark)
        return (self.slot + 1 if self.slot else 0) + (mark + 1 if mark else 0)

    @property
    def cells(self) -> int:
        """Cells of sign, name, slot and mark."""
        return max(self.least, 2 + width_of(self.name) + self.tail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Coordinates of a band."""

    layout: Layout
    labels: Sequence[Label]
    layer_x: tuple[int, ...]
    """The first cell of each layer."""
    gap_x: tuple[int, ...]
    """The first cell of each gap."""
    width: int
    y: tuple[int, ...]
    """The line of each row."""
    height: int
    inset: int = 1
    """Cells on either side of a label: one, or two where a card is drawn around it."""

    def port(self, v: int) -> int:
        """Return the first cell of the line that leaves a vertex."""
        layer = self.layout.net.layer[v]
        if v >= self.layout.net.steps:
            return self.layer_x[layer]
        if self.inset > 1:
            return self.gap_x[layer]
        return self.layer_x[layer] + 4 + width_of(self.labels[v].name)

    def trunk_x(self, gap: int, trunk: int) -> int:
        """Return the column of a trunk."""
        return self.gap_x[gap] + 1 + 2 * self.layout.gaps[gap].trunks[trunk].column

    def corners(self, edge: tuple[int, int]) -> list[tuple[int, int]]:
        """List the points at which the line of an edge starts, turns and ends."""
        layout = self.layout
        vertices, bus = chain(layout.net, edge)
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
        found = {points[0]: L, points[-1]: R}
        for (x, y), (end_x, end_y) in pairwise(points):
            while (x, y) != (end_x, end_y):
                step_x, step_y = (end_x > x) - (end_x < x), (end_y > y) - (end_y < y)
                away, back = (R, L) if step_x > 0 else (D, U) if step_y > 0 else (U, D)
                found[x, y] = found.get((x, y), 0) | away
                x, y = x + step_x, y + step_y
                found[x, y] = found.get((x, y), 0) | back
        return [(x, y, arms) for (x, y), arms in found.items()]


def frame(layout: Layout, labels: Sequence[Label], *, around: int = 0) -> Frame:
    """Give every layer, gap and row its cells.

    Args:
        layout: What to draw.
        labels: By step.
        around: Lines of a card above and below its name (0 = no cards).
    """
    widths = [0] * layout.layers
    inset = 2 if around else 1
    for v, label in enumerate(labels):
        at = layout.net.layer[v]
        widths[at] = max(widths[at], label.cells + 2 * inset)
    layer_x: list[int] = []
    gap_x: list[int] = []
    x = 0
    for at, width in enumerate(widths):
        layer_x.append(x)
        x += width
        if at < len(layout.gaps):
            gap_x.append(x)
            x += gap_width(layout.gaps[at])
    y, height = _lines(layout, labels, around)
    return Frame(
        layout=layout,
        labels=labels,
        layer_x=tuple(layer_x),
        gap_x=tuple(gap_x),
        width=x if around else max(0, x - 1),
        y=tuple(y),
        height=height,
        inset=inset,
    )


def _lines(layout: Layout, labels: Sequence[Label], around: int) -> tuple[list[int], int]:
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


def cells(at: Frame) -> list[bytearray]:
    """Draw the lines of a band: pieces first, then trunks over them."""
    grid = [bytearray(at.width) for _ in range(at.height)]
    _leads(at, grid)
    for number, gap in enumerate(at.layout.gaps):
        _pieces(at, number, gap, grid)
    for number, gap in enumerate(at.layout.gaps):
        for trunk in gap.trunks:
            x = at.gap_x[number] + 1 + 2 * trunk.column
            attached = {at.y[row] for row in trunk.rows}
            _trunk(grid, x, at.y[trunk.top], at.y[trunk.bottom], attached)
    return grid


def _leads(at: Frame, grid: list[bytearray]) -> None:
    """Draw the lines within the layers: behind steps that feed others, and lanes."""
    net = at.layout.net
    leads = {u for hops in net.hops for u, _ in hops} | {u for bus in net.buses for u in bus.entries}
    for v in sorted(leads):
        start, end = at.port(v), at.gap_x[net.layer[v]]
        grid[at.y[at.layout.row[v]]][start:end] = bytes([ACROSS]) * (end - start)


def _pieces(at: Frame, number: int, gap: Gap, grid: list[bytearray]) -> None:
    left = at.gap_x[number]
    right = left + gap_width(gap)
    for row, a, b in gap.pieces:
        cells = grid[at.y[row]]
        start, end = left, right
        if a != LEFT:
            start = left + 1 + 2 * gap.trunks[a].column
            cells[start] |= R
            start += 1
        if b != RIGHT:
            end = left + 1 + 2 * gap.trunks[b].column
            cells[end] |= L
        cells[start:end] = bytes([ACROSS]) * (end - start)


def _trunk(grid: list[bytearray], x: int, top: int, bottom: int, attached: set[int]) -> None:
    for y in range(top, bottom + 1):
        if y in attached:
            grid[y][x] |= (U if y > top else 0) | (D if y < bottom else 0)
        else:
            grid[y][x] = CROSSING if grid[y][x] else DOWNWARD


def places(at: Frame) -> list[Place]:
    """Place names, slots and marks."""
    found: list[Place] = []
    for v, label in enumerate(at.labels):
        x = at.layer_x[at.layout.net.layer[v]] + at.inset
        found.append(
            Place(
                y=at.y[at.layout.row[v]],
                sign_x=x,
                name_x=x + 2,
                name=label.name,
                badge_x=x + 3 + width_of(label.name),
                room=label.slot,
                mark=label.mark,
                end=min(x + label.cells + 1, at.width),
                below=label.below,
                below_x=x,
                below_room=label.cells,
            )
        )
    return found


def band(layout: Layout, labels: Sequence[Label], *, is_ascii: bool = False) -> Picture:
    """Draw a layout as one band."""
    at = frame(layout, labels)
    return picture(at, "band", cells(at), places(at), is_ascii=is_ascii)


def picture(
    at: Frame, kind: Kind, grid: Sequence[bytearray], found: Sequence[Place], *, is_ascii: bool
) -> Picture:
    """Make a picture of what was drawn."""
    return Picture(
        kind=kind,
        layout=at.layout,
        width=at.width,
        cells=tuple(bytes(row) for row in grid),
        places=tuple(found),
        is_ascii=is_ascii,
        tracer=at,
        on_line=lined_up(found),
    )
