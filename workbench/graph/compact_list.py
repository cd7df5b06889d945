"""Drawing as a list: one line a step with lanes to its left, for any width.

Orders the steps so that lanes stay short. Where there is no room for a lane, the step names what it feeds.
"""

# A list that is too narrow for its lanes names what they would lead to: `→ name` at the step that feeds it,
# so that a list fits any width and still reads back exactly. Lanes to few steps go first, and all that lead
# to the same steps go together: 998 steps that feed one are 998 short lines.

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.graph.band import StepLabel
from workbench.graph.canvas import (
    CROSSING,
    HORIZONTAL,
    VERTICAL,
    Cell,
    D,
    L,
    Picture,
    R,
    StepPosition,
    U,
    make_picture,
)
from workbench.graph.layout import GraphLayout
from workbench.graph.short_names import shorten_names
from workbench.text.width import cell_width

_MOST_WIDTH = 60
"""Cells after which a line of a list is not made wider only because the pane is."""
_LEAST_NAME = 4
"""Cells of a name that are shown however narrow the pane is."""
_READABLE_NAME = 8
"""Cells of a name for which lanes are left out."""


class ListLine(Struct, kw_only=True):
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


class _Lanes(Struct, kw_only=True):
    """The columns while the list is built."""

    owner: list[int | None] = field(default_factory=list[int | None])
    column: dict[int, int] = field(default_factory=dict[int, int])
    closed: tuple[int, ...] = ()
    """Columns that end on the line above."""
    most: int
    """Columns that a step without a lane keeps within if it can."""

    def free(self, start: int) -> int:
        column = self._free(start)
        if column >= self.most:
            column = min(column, self._free(0))
        self.owner.extend([None] * (column + 1 - len(self.owner)))
        return column

    def _free(self, column: int) -> int:
        while column in self.closed or (column < len(self.owner) and self.owner[column] is not None):
            column += 1
        return column


class _ReadySteps:
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


def order_steps(needs: Sequence[Sequence[int]], feeds: Sequence[Sequence[int]]) -> list[int]:
    """Order the steps so that lanes stay short."""
    ready = _ReadySteps(needs, feeds)
    while ready.take():
        pass
    return ready.order


def list_lines(layout: GraphLayout, most: int | None = None) -> list[ListLine]:
    """Give every step its line and the lanes that run there."""
    needs: list[list[int]] = [[] for _ in layout.graph.steps]
    feeds: list[list[int]] = [[] for _ in layout.graph.steps]
    for u, v in layout.drawn:
        needs[v].append(u)
        feeds[u].append(v)
    order = order_steps(needs, feeds)
    without_lane: frozenset[int] = frozenset() if most is None else steps_without_lane(order, feeds, most)
    remaining = [0 if u in without_lane else len(row) for u, row in enumerate(feeds)]
    lanes = _Lanes(most=len(order) if most is None else most)
    lines: list[ListLine] = []
    for v in order:
        with_lane = [u for u in needs[v] if u not in without_lane]
        for u in with_lane:
            remaining[u] -= 1
        lines.append(_list_line(v, with_lane, remaining, lanes, tuple(feeds[v]) if v in without_lane else ()))
    return lines


def _list_line(
    v: int, needs: Sequence[int], remaining: Sequence[int], lanes: _Lanes, refers: tuple[int, ...]
) -> ListLine:
    joined = {lanes.column[u]: not remaining[u] for u in needs}
    ending = sorted(column for column, ends in joined.items() if ends)
    column = ending[0] if ending else lanes.free(max(joined, default=-1) + 1)
    passing = tuple(lane for lane, owner in enumerate(lanes.owner) if owner is not None and lane != column)
    for lane in ending:
        lanes.owner[lane] = None
    lanes.owner[column] = v if remaining[v] else None
    lanes.column[v] = column
    lanes.closed = tuple(lane for lane in (*ending, column) if lanes.owner[lane] is None)
    while lanes.owner and lanes.owner[-1] is None:
        lanes.owner.pop()
    after = tuple(lane for lane, owner in enumerate(lanes.owner) if owner is not None)
    return ListLine(step=v, column=column, joined=joined, passing=passing, after=after, refers=refers)


def _lane_cells(line: ListLine) -> bytearray:
    used = [*line.passing, *line.joined, line.column]
    low, high = min([*line.joined, line.column]), max([*line.joined, line.column])
    codes = bytearray(2 * max(used) + 1)
    for column in line.passing:
        codes[2 * column] = VERTICAL
    for x in range(2 * low, 2 * high + 1):
        codes[x] = CROSSING if codes[x] else HORIZONTAL
    for column, ends in line.joined.items():
        across = (L if column > low else 0) | (R if column < high else 0)
        codes[2 * column] = U | across | (0 if ends else D)
    codes[2 * line.column] = 0
    return codes


class ListTracer(Struct, frozen=True, kw_only=True):
    """Follows an edge down its lane and along the line of the step that it leads to."""

    spot: dict[int, tuple[int, int]]
    """By step: x of its sign and y."""
    without: frozenset[int] = frozenset()
    """Steps that have references instead of a lane."""

    def cells(self, edge: tuple[int, int]) -> Iterable[Cell]:
        if edge[0] in self.without:
            return
        (x, y), (end_x, end_y) = self.spot[edge[0]], self.spot[edge[1]]
        for line in range(y + 1, end_y):
            yield x, line, VERTICAL
        if x != end_x:
            yield x, end_y, U | (R if end_x > x else L)
        for column in range(min(x, end_x) + 1, max(x, end_x)):
            yield column, end_y, HORIZONTAL


def draw_list(
    layout: GraphLayout, labels: Sequence[StepLabel], width: int, *, is_ascii: bool = False
) -> Picture:
    """Draw a layout as a list; names are cut to the width, and lanes that do not fit become references."""
    rows = _fitting_lines(layout, labels, width)
    codes = [_lane_cells(row) for row in rows]
    wide = _list_width(rows, codes, labels, width)
    references = _reference_texts(rows, labels, wide, is_ascii=is_ascii)
    grid: list[bytes] = []
    places: dict[int, StepPosition] = {}
    names = _shortened_names(rows, codes, labels, wide, is_ascii=is_ascii)
    for row, cells, name in zip(rows, codes, names, strict=True):
        label = labels[row.step]
        place = _line_position(row, len(cells), label, name, wide, len(grid))
        place = places[row.step] = _with_references(place, label, references.get(row.step, ()))
        grid.append(bytes(cells.ljust(wide, b"\0")))
        lanes = bytearray(wide)
        for column in row.after:
            lanes[2 * column] = VERTICAL
        grid += [bytes(lanes)] * place.below
    positions = [places[v] for v in range(len(labels))]
    tracer = ListTracer(
        spot={v: (place.sign_x, place.y) for v, place in enumerate(positions)},
        without=frozenset(row.step for row in rows if row.refers),
    )
    return make_picture("list", layout, grid, positions, tracer, width=wide, is_ascii=is_ascii)


def _fitting_lines(layout: GraphLayout, labels: Sequence[StepLabel], width: int) -> list[ListLine]:
    rows, most = list_lines(layout), width // 2 - _READABLE_NAME // 2
    longest = max((cell_width(label.name) for label in labels), default=0)
    named = min(longest + 3, max(_READABLE_NAME, width * 2 // 3))
    while most >= 0 and any(_needed_width(row, labels[row.step], named) > width for row in rows):
        rows = list_lines(layout, most)
        most = most * 3 // 4 if most else -1
    return rows


def _needed_width(row: ListLine, label: StepLabel, named: int) -> int:
    columns = max([*row.passing, *row.joined, *row.after, row.column]) + 1
    return 2 * columns + (named if row.refers else min(_READABLE_NAME, cell_width(label.name)))


def _reference_texts(
    rows: Sequence[ListLine], labels: Sequence[StepLabel], width: int, *, is_ascii: bool
) -> dict[int, tuple[str, ...]]:
    without = [row for row in rows if row.refers]
    if not without:
        return {}
    room = max(_LEAST_NAME + 3, width - max(len(_lane_cells(row)) for row in without) - 1)
    names = shorten_names([label.name for label in labels], [room - 3] * len(labels), is_ascii=is_ascii)
    return {
        row.step: reference_lines([names[v] for v in row.refers], room, is_ascii=is_ascii) for row in without
    }


def _list_width(
    rows: Sequence[ListLine], codes: Sequence[bytearray], labels: Sequence[StepLabel], width: int
) -> int:
    natural = least = 0
    for row, cells in zip(rows, codes, strict=True):
        label = labels[row.step]
        natural = max(natural, len(cells) + 1 + cell_width(label.name) + label.tail)
        least = max(least, len(cells) + 1 + min(_LEAST_NAME, cell_width(label.name)))
    return max(least, min(width, max(natural, _MOST_WIDTH)))


def _with_references(place: StepPosition, label: StepLabel, references: tuple[str, ...]) -> StepPosition:
    if len(references) == 1 and not place.mark:
        used_cells = cell_width(label.name) + 1 + (label.slot + 1 if label.slot else 0)
        if place.name_x + used_cells + cell_width(references[0]) <= place.end:
            return replace(place, mark=references[0], room=label.slot)
    return replace(place, references=references, below=place.below + len(references))


def _tail_width(lanes: int, label: StepLabel, width: int) -> int:
    """Return the cells that badges and mark get on a line: none where the name would have too few."""
    room = width - lanes - 1
    return label.tail if room - label.tail >= min(cell_width(label.name), 2 * _LEAST_NAME) else 0


def _shortened_names(
    rows: Sequence[ListLine],
    codes: Sequence[bytearray],
    labels: Sequence[StepLabel],
    width: int,
    *,
    is_ascii: bool,
) -> list[str]:
    rooms = [
        width - len(cells) - 1 - _tail_width(len(cells), labels[row.step], width)
        for row, cells in zip(rows, codes, strict=True)
    ]
    return shorten_names([labels[row.step].name for row in rows], rooms, is_ascii=is_ascii)


def _line_position(
    row: ListLine, lanes: int, label: StepLabel, name: str, width: int, y: int
) -> StepPosition:
    tail = _tail_width(lanes, label, width)
    return StepPosition(
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


def steps_without_lane(order: Sequence[int], feeds: Sequence[Sequence[int]], most: int) -> frozenset[int]:
    """Choose the steps whose lanes are left out, so that at most so many run beside each other.

    A lane that leads to few steps is left out first, of those the one that is longest, and with a lane all
    that lead to the same steps: the others would only make the list wide.
    """
    line = {v: index for index, v in enumerate(order)}
    ends = [max((line[w] for w in row), default=-1) for row in feeds]
    active: list[int] = []
    without_lane: list[int] = []
    crowded: set[tuple[int, ...]] = set()
    for index, v in enumerate(order):
        active = [u for u in active if ends[u] > index]
        if ends[v] > index + 1:
            active.append(v)
            if tuple(feeds[v]) in crowded:
                active.pop()
                without_lane.append(v)
        while len(active) > most:
            worst = min((len(feeds[u]), -ends[u], -line[u], u) for u in active)[-1]
            same = [u for u in active if feeds[u] == feeds[worst]]
            active = [u for u in active if feeds[u] != feeds[worst]]
            without_lane += same
            crowded.add(tuple(feeds[worst]))
    return frozenset(without_lane)


def reference_lines(names: Sequence[str], room: int, *, is_ascii: bool) -> tuple[str, ...]:
    """Write a reference to some steps on as few lines as it takes."""
    lines: list[str] = []
    line = ">" if is_ascii else "→"
    for index, name in enumerate(names):
        part = name if index == len(names) - 1 else f"{name},"
        if line.strip() not in ("", ">", "→") and cell_width(line) + 1 + cell_width(part) > room:
            lines.append(line)
            line = " "
        line = f"{line} {part}"
    return (*lines, line)
