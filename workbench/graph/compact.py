"""The compact list: one line a step, with lanes to its left, for any width.

Owns the order of the steps and the columns of the lanes. A lane belongs to the step that it starts at,
a horizontal to the step of its line; that is what makes the list readable by a program.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

from workbench.graph.band import Label
from workbench.graph.glyphs import ACROSS, CROSSING, DOWNWARD, D, L, R, U
from workbench.graph.layout import Layout
from workbench.graph.picture import Cell, Picture, Place, cut_names, lined_up
from workbench.graph.references import without_lane, written
from workbench.text.width import cells as width_of

_WIDEST = 60
"""Cells after which a line of a list is not made wider only because the pane is."""
_LEAST = 4
"""Cells of a name that are shown however narrow the pane is."""
_READABLE = 8
"""Cells of a name for which lanes are left out."""


@dataclass(slots=True, kw_only=True)
class Line:
    """One step in the list."""

    step: int
    column: int
    joined: dict[int, bool]
    """Columns of the lanes that lead to the step, and whether each ends here."""
    passing: tuple[int, ...]
    """Columns of all lanes that are in use on this line, but for the step's own."""
    after: tuple[int, ...]
    """Columns of all lanes that are in use below it."""
    refers: tuple[int, ...] = ()
    """The steps that it feeds, where it has no lane to lead there."""


@dataclass(slots=True, kw_only=True)
class _Lanes:
    """The columns while the list is built."""

    owner: list[int | None] = field(default_factory=list[int | None])
    column: dict[int, int] = field(default_factory=dict[int, int])
    closed: tuple[int, ...] = ()
    """Columns that end on the line above."""
    most: int
    """Columns that a step without a lane keeps within if it can."""

    def free(self, start: int) -> int:
        """Find a free column that does not continue the line above, in the first ones if it can."""
        at = self._free(start)
        if at >= self.most:
            at = min(at, self._free(0))
        self.owner.extend([None] * (at + 1 - len(self.owner)))
        return at

    def _free(self, at: int) -> int:
        while at in self.closed or (at < len(self.owner) and self.owner[at] is not None):
            at += 1
        return at


class _Ready:
    """The steps that may come next; the one that ends most lanes first, then what became ready last."""

    def __init__(self, needs: Sequence[Sequence[int]], feeds: Sequence[Sequence[int]]) -> None:
        self._needs = needs
        self._feeds = feeds
        self._waiting = [len(row) for row in needs]
        self._left = [len(row) for row in feeds]
        self._coming = [0] * len(needs)
        """The exclusive or of what is still to come after each step: its last one when one is left."""
        for u, row in enumerate(feeds):
            for v in row:
                self._coming[u] ^= v
        self._ends = [0] * len(needs)
        self._since = [-1] * len(needs)
        self._heap: list[tuple[int, int, int]] = []
        self.order: list[int] = []
        for v, count in enumerate(self._waiting):
            if not count:
                self._since[v] = 0
                heappush(self._heap, (0, 0, v))

    def take(self) -> bool:
        """Append the next step to the order; False when there is none."""
        while self._heap:
            ends, _, v = heappop(self._heap)
            if self._since[v] >= 0 and -ends == self._ends[v]:
                self._place(v)
                return True
        return False

    def _place(self, v: int) -> None:
        self._since[v] = -1
        self.order.append(v)
        for u in self._needs[v]:
            self._left[u] -= 1
            self._coming[u] ^= v
            if self._left[u] == 1:
                self._end(self._coming[u])
        for w in self._feeds[v]:
            self._waiting[w] -= 1
            if not self._waiting[w]:
                self._since[w] = len(self.order)
                heappush(self._heap, (-self._ends[w], -self._since[w], w))
        if self._left[v] == 1:
            self._end(self._feeds[v][0])

    def _end(self, v: int) -> None:
        self._ends[v] += 1
        if self._since[v] >= 0:
            heappush(self._heap, (-self._ends[v], -self._since[v], v))


def in_order(needs: Sequence[Sequence[int]], feeds: Sequence[Sequence[int]]) -> list[int]:
    """Order the steps so that lanes stay short."""
    ready = _Ready(needs, feeds)
    while ready.take():
        pass
    return ready.order


def lines(layout: Layout, most: int | None = None) -> list[Line]:
    """Give every step its line and the lanes that run there.

    Args:
        layout: What to draw.
        most: Lanes beside each other; steps beyond have no lane, and `refers` instead. None is no limit.
    """
    needs: list[list[int]] = [[] for _ in layout.graph.steps]
    feeds: list[list[int]] = [[] for _ in layout.graph.steps]
    for u, v in layout.drawn:
        needs[v].append(u)
        feeds[u].append(v)
    order = in_order(needs, feeds)
    gone: frozenset[int] = frozenset() if most is None else without_lane(order, feeds, most)
    left = [0 if u in gone else len(row) for u, row in enumerate(feeds)]
    lanes = _Lanes(most=len(order) if most is None else most)
    found: list[Line] = []
    for v in order:
        led = [u for u in needs[v] if u not in gone]
        for u in led:
            left[u] -= 1
        found.append(_line(v, led, left, lanes, tuple(feeds[v]) if v in gone else ()))
    return found


def _line(v: int, needs: Sequence[int], left: Sequence[int], lanes: _Lanes, refers: tuple[int, ...]) -> Line:
    joined = {lanes.column[u]: not left[u] for u in needs}
    ending = sorted(column for column, ends in joined.items() if ends)
    column = ending[0] if ending else lanes.free(max(joined, default=-1) + 1)
    passing = tuple(at for at, owner in enumerate(lanes.owner) if owner is not None and at != column)
    for at in ending:
        lanes.owner[at] = None
    lanes.owner[column] = v if left[v] else None
    lanes.column[v] = column
    lanes.closed = tuple(at for at in (*ending, column) if lanes.owner[at] is None)
    while lanes.owner and lanes.owner[-1] is None:
        lanes.owner.pop()
    after = tuple(at for at, owner in enumerate(lanes.owner) if owner is not None)
    return Line(step=v, column=column, joined=joined, passing=passing, after=after, refers=refers)


def _codes(line: Line) -> bytearray:
    """Draw the lanes of one line, two cells a column."""
    used = [*line.passing, *line.joined, line.column]
    low, high = min([*line.joined, line.column]), max([*line.joined, line.column])
    codes = bytearray(2 * max(used) + 1)
    for column in line.passing:
        codes[2 * column] = DOWNWARD
    for x in range(2 * low, 2 * high + 1):
        codes[x] = CROSSING if codes[x] else ACROSS
    for column, ends in line.joined.items():
        across = (L if column > low else 0) | (R if column < high else 0)
        codes[2 * column] = U | across | (0 if ends else D)
    codes[2 * line.column] = 0
    return codes


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTracer:
    """Follows an edge down its lane and along the line of the step that it leads to."""

    spot: dict[int, tuple[int, int]]
    """By step: x of its sign and y."""
    without: frozenset[int] = frozenset()
    """Steps that have references instead of a lane."""

    def cells(self, edge: tuple[int, int]) -> Iterable[Cell]:
        """Yield every cell of the line of an edge with the arms that it uses."""
        if edge[0] in self.without:
            return
        (x, y), (end_x, end_y) = self.spot[edge[0]], self.spot[edge[1]]
        for line in range(y + 1, end_y):
            yield x, line, DOWNWARD
        if x != end_x:
            yield x, end_y, U | (R if end_x > x else L)
        for column in range(min(x, end_x) + 1, max(x, end_x)):
            yield column, end_y, ACROSS


def listed(layout: Layout, labels: Sequence[Label], width: int, *, is_ascii: bool = False) -> Picture:
    """Draw a layout as a list; names are cut to the width, and lanes that do not fit become references."""
    rows = _fitting(layout, labels, width)
    codes = [_codes(row) for row in rows]
    wide = _width(rows, codes, labels, width)
    references = _references(rows, labels, wide, is_ascii=is_ascii)
    grid: list[bytes] = []
    places: dict[int, Place] = {}
    names = _names(rows, codes, labels, wide, is_ascii=is_ascii)
    for row, cells, name in zip(rows, codes, names, strict=True):
        label = labels[row.step]
        place = _place(row, len(cells), label, name, wide, len(grid))
        place = places[row.step] = _referring(place, label, references.get(row.step, ()))
        grid.append(bytes(cells.ljust(wide, b"\0")))
        lanes = bytearray(wide)
        for column in row.after:
            lanes[2 * column] = DOWNWARD
        grid += [bytes(lanes)] * place.below
    found = [places[v] for v in range(len(labels))]
    return Picture(
        kind="list",
        layout=layout,
        width=wide,
        cells=tuple(grid),
        places=tuple(found),
        is_ascii=is_ascii,
        tracer=ListTracer(
            spot={v: (place.sign_x, place.y) for v, place in enumerate(found)},
            without=frozenset(row.step for row in rows if row.refers),
        ),
        on_line=lined_up(found),
    )


def _fitting(layout: Layout, labels: Sequence[Label], width: int) -> list[Line]:
    """Return the lines, with as many lanes as leave room for names that can be read."""
    rows, most = lines(layout), width // 2 - _READABLE // 2
    longest = max((width_of(label.name) for label in labels), default=0)
    named = min(longest + 3, max(_READABLE, width * 2 // 3))
    while most >= 0 and any(_needed(row, labels[row.step], named) > width for row in rows):
        rows = lines(layout, most)
        most = most * 3 // 4 if most else -1
    return rows


def _needed(row: Line, label: Label, named: int) -> int:
    """Return the cells of a line with a name that is cut as far as it may be, or with a reference."""
    columns = max([*row.passing, *row.joined, *row.after, row.column]) + 1
    return 2 * columns + (named if row.refers else min(_READABLE, width_of(label.name)))


def _references(
    rows: Sequence[Line], labels: Sequence[Label], width: int, *, is_ascii: bool
) -> dict[int, tuple[str, ...]]:
    """Write what the steps without a lane feed."""
    without = [row for row in rows if row.refers]
    if not without:
        return {}
    room = max(_LEAST + 3, width - max(len(_codes(row)) for row in without) - 1)
    names = cut_names([label.name for label in labels], [room - 3] * len(labels), is_ascii=is_ascii)
    return {row.step: written([names[v] for v in row.refers], room, is_ascii=is_ascii) for row in without}


def _width(rows: Sequence[Line], codes: Sequence[bytearray], labels: Sequence[Label], width: int) -> int:
    natural = least = 0
    for row, cells in zip(rows, codes, strict=True):
        label = labels[row.step]
        natural = max(natural, len(cells) + 1 + width_of(label.name) + label.tail)
        least = max(least, len(cells) + 1 + min(_LEAST, width_of(label.name)))
    return max(least, min(width, max(natural, _WIDEST)))


def _referring(place: Place, label: Label, references: tuple[str, ...]) -> Place:
    """Put a reference at the end of the line of its step if it fits there, else below."""
    if len(references) == 1 and not place.mark:
        taken = width_of(label.name) + 1 + (label.slot + 1 if label.slot else 0)
        if place.name_x + taken + width_of(references[0]) <= place.end:
            return replace(place, mark=references[0], room=label.slot)
    return replace(place, references=references, below=place.below + len(references))


def _tail(lanes: int, label: Label, width: int) -> int:
    """Return the cells that badges and mark get on a line: none where the name would have too few."""
    room = width - lanes - 1
    return label.tail if room - label.tail >= min(width_of(label.name), 2 * _LEAST) else 0


def _names(
    rows: Sequence[Line], codes: Sequence[bytearray], labels: Sequence[Label], width: int, *, is_ascii: bool
) -> list[str]:
    """Cut the name of each line to its room."""
    rooms = [
        width - len(cells) - 1 - _tail(len(cells), labels[row.step], width)
        for row, cells in zip(rows, codes, strict=True)
    ]
    return cut_names([labels[row.step].name for row in rows], rooms, is_ascii=is_ascii)


def _place(row: Line, lanes: int, label: Label, name: str, width: int, y: int) -> Place:
    tail = _tail(lanes, label, width)
    return Place(
        y=y,
        sign_x=2 * row.column,
        name_x=lanes + 1,
        name=name,
        badge_x=width,
        room=label.slot if tail else 0,
        mark=label.mark if tail else "",
        end=width,
        aligned=True,
        below=label.below,
        below_x=lanes + 1,
        below_room=width - lanes - 1,
    )
