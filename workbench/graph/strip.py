"""The strip: a graph at one cell a step where it does not fit otherwise, with the names of what needs a look.

It has a column for each layer and the same lines as every drawing. Where even that has too many rows, it is
one line, layer after layer. Beside or below it stand the names of what waits, failed or runs, in this order.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from workbench.graph.band import BandFrame, StepLabel, build_picture, draw_lines, gap_width
from workbench.graph.canvas import VERTICAL, Picture, SpanRole, StepPosition, StyledSpan, make_picture
from workbench.graph.layout import GraphLayout
from workbench.graph.model import PENDING_FACTS, Graph, GraphStep, StepFacts, display_name
from workbench.graph.short_names import shorten_name
from workbench.graph.step_text import (
    ASKS_YOU,
    FAILED_STATES,
    RUNNING_STATES,
    Phrase,
    Tone,
    as_ascii,
    attempt_text,
    badge_phrases,
    bar_phrases,
    counts_text,
    cut_start,
    status_sign,
)
from workbench.text.failures import exit_code_text
from workbench.text.width import cell_width, cut_to_width

_LEAST_NAMES = 36
"""Cells for which names stand beside a strip."""
_LEAST_ROWS_BELOW = 3
_BESIDE = 3
"""Cells between a strip and the names beside it."""
_NAME_WIDTH = 24
_LEAST_NAME = 8
_BAR_WIDTH = 16
_MIDDLE_WIDTH = 34
_AROUND_ROW = 7
"""Cells of a row for mark, sign, and between its columns."""
_BETWEEN = 2
"""Cells between two names on one row."""
_LONGEST_PATH = "on the longest path"


class NamesRoom(Struct, frozen=True, kw_only=True):
    """Where the names of what needs a look stand."""

    x: int
    y: int
    width: int
    rows: int


class Strip(Struct, frozen=True, kw_only=True):
    """A strip with the room for its names."""

    picture: Picture
    names: NamesRoom
    is_crowded: bool = False
    """Several steps share a cell."""


def fit_strip(layout: GraphLayout, width: int, height: int, *, is_ascii: bool = False) -> Strip:
    """Draw a strip that fits, with the names beside it or below it: with its lines, else signs alone."""
    frame = strip_frame(layout)
    room = _room_for_names(frame.width + 1, layout.height, width, height)
    if room is not None and not is_ascii:
        return Strip(picture=draw_strip(frame), names=room)
    if is_ascii or len(layout.graph.steps) + layout.layers > width:
        wide, tall = _columns_size(layout)
        room = _room_for_names(wide, tall, width, height)
        if room is not None:
            return Strip(
                picture=_draw_signs(layout, wide, _column_cells(layout), is_ascii=is_ascii), names=room
            )
    room = NamesRoom(x=0, y=1, width=width, rows=max(0, height - 1))
    is_crowded = len(layout.graph.steps) + layout.layers > width
    picture = draw_strip_line(layout, width, is_ascii=is_ascii)
    return Strip(picture=picture, names=room, is_crowded=is_crowded)


def _room_for_names(wide: int, tall: int, width: int, height: int) -> NamesRoom | None:
    """Return the room beside or below a picture; None where there is too little."""
    if tall <= height and width - wide - _BESIDE >= _LEAST_NAMES:
        return NamesRoom(x=wide + _BESIDE, y=0, width=width - wide - _BESIDE, rows=height)
    if wide <= width and height - tall >= _LEAST_ROWS_BELOW:
        return NamesRoom(x=0, y=tall, width=width, rows=height - tall)
    return None


def strip_frame(layout: GraphLayout) -> BandFrame:
    """Return the coordinates: one cell for each layer, after a blank one for the cursor."""
    layer_x: list[int] = []
    gap_x: list[int] = []
    x = 1
    for layer in range(layout.layers):
        layer_x.append(x)
        x += 1
        if layer < len(layout.gaps):
            gap_x.append(x)
            x += gap_width(layout.gaps[layer])
    return BandFrame(
        layout=layout, labels=[StepLabel(name="") for _ in layout.graph.steps], layer_x=tuple(layer_x),
        gap_x=tuple(gap_x), width=x, y=tuple(range(layout.height)), height=layout.height, inset=0,
    )  # fmt: skip


def draw_strip(frame: BandFrame) -> Picture:
    """Draw a sign for each step, and the lines; in ASCII signs would look like corners."""
    layer, row = frame.layout.net.layer, frame.layout.row
    places = [_sign_position(frame.layer_x[layer[v]], frame.y[row[v]]) for v in range(len(frame.labels))]
    return build_picture(frame, "strip", draw_lines(frame), places, is_ascii=False)


def draw_strip_line(layout: GraphLayout, width: int, *, is_ascii: bool = False) -> Picture:
    """Draw all steps on one line, layer after layer; too many for it share cells, and the worst is seen."""
    layer, row, count = layout.net.layer, layout.row, len(layout.graph.steps)
    cells, separators = [(0, 0)] * count, list[int]()
    if count + layout.layers <= width:
        x = 1
        order = sorted(range(count), key=lambda v: (layer[v], row[v]))
        for index, v in enumerate(order):
            if index and layer[v] != layer[order[index - 1]]:
                separators.append(x)
                x += 1
            cells[v] = x, 0
            x += 1
    else:
        share = max(1, layout.layers / max(1, width - 1))
        cells = [(min(width - 1, 1 + int(layer[v] / share)), 0) for v in range(count)]
    return _draw_signs(layout, width, cells, separators, is_ascii=is_ascii)


def _columns_size(layout: GraphLayout) -> tuple[int, int]:
    layer = layout.net.layer[: len(layout.graph.steps)]
    return 2 * layout.layers + 1, max((layer.count(number) for number in set(layer)), default=0)


def _column_cells(layout: GraphLayout) -> list[tuple[int, int]]:
    layer, row, count = layout.net.layer, layout.row, len(layout.graph.steps)
    cells, used = [(0, 0)] * count, [0] * layout.layers
    for v in sorted(range(count), key=lambda v: row[v]):
        cells[v] = 1 + 2 * layer[v], used[layer[v]]
        used[layer[v]] += 1
    return cells


def _draw_signs(
    layout: GraphLayout,
    width: int,
    cells: Sequence[tuple[int, int]],
    separators: Iterable[int] = (),
    *,
    is_ascii: bool,
) -> Picture:
    codes = [bytearray(max(1, width)) for _ in range(1 + max((y for _, y in cells), default=0))]
    for x in separators:
        codes[0][x] = VERTICAL
    places = [_sign_position(x, y) for x, y in cells]
    return make_picture("signs", layout, codes, places, _NoLines(), width=width, is_ascii=is_ascii)


class _NoLines(Struct, frozen=True):
    """No edge has a line."""

    def cells(self, edge: tuple[int, int]) -> Iterable[tuple[int, int, int]]:
        del edge
        return ()


def _sign_position(x: int, y: int) -> StepPosition:
    return StepPosition(y=y, sign_x=x, name_x=x + 1, name="", badge_x=x + 1, room=0, end=x + 1)


def name_rows(
    graph: Graph,
    order: Sequence[int],
    facts: Mapping[int, StepFacts],
    room: NamesRoom,
    *,
    slowest: int | None = None,
    is_ascii: bool = False,
) -> "list[NameRow]":
    """Return the rows of names, each with what is said of it.

    Args:
        graph: the steps.
        order: what needs a look, the most urgent first.
        facts: by step.
        room: where they stand; what does not fit is counted on the last row.
        slowest: the step of the longest path that took longest, named where there is room.
        is_ascii: for a terminal without our signs.
    """
    if room.rows < 1 or room.width < 1:
        return []

    def entry(v: int) -> _Entry:
        name = display_name(graph.steps[v])
        name = shorten_name(as_ascii(name) if is_ascii else name, _NAME_WIDTH, is_ascii=is_ascii)
        fact = facts.get(v, PENDING_FACTS)
        return _Entry(v=v, step=graph.steps[v], facts=fact, name=name, is_ascii=is_ascii)

    entries = [entry(v) for v in order]
    if len(entries) <= room.rows:
        has_room = slowest is not None and slowest not in order and len(entries) < room.rows
        return _full_rows(entries, room, entry(slowest) if slowest is not None and has_room else None)
    rows: list[NameRow] = []
    unlisted = len(entries)
    for cells_each in (16, 8, 0):
        rows, unlisted = _packed_rows(entries, room, cells_each)
        if not unlisted:
            return rows
    return _with_count(rows, unlisted, room)


class _Entry(Struct, frozen=True, kw_only=True):
    """A step with what is said of it in a row of names."""

    v: int
    step: GraphStep
    facts: StepFacts
    name: str
    is_ascii: bool

    @property
    def sign(self) -> str:
        return status_sign(self.facts, is_ascii=self.is_ascii)


class _Row:
    """Puts the parts of a row beside each other as far as there is room."""

    def __init__(self, room: NamesRoom, *, is_ascii: bool) -> None:
        self.x, self._end, self._is_ascii = room.x, room.x + room.width, is_ascii
        self.spans: list[StyledSpan] = []

    def add(self, v: int, text: str, role: SpanRole, tone: Tone = "plain") -> None:
        cut_text = cut_to_width(text, max(0, self._end - self.x))
        cut_text = as_ascii(cut_text) if self._is_ascii else cut_text
        if cut_text:
            self.spans.append(StyledSpan(x=self.x, text=cut_text, role=role, step=v, tone=tone))
            self.x += cell_width(cut_text)

    def add_phrases(self, v: int, phrases: Iterable[Phrase]) -> None:
        for text, tone in phrases:
            self.add(v, text, "badge", tone)

    def has_room(self, phrases: Iterable[Phrase]) -> bool:
        return self.x + _width(phrases) <= self._end

    def pad(self, v: int, x: int) -> None:
        self.add(v, " " * (x - self.x), "badge")


NameRow = tuple[StyledSpan, ...]


def _full_rows(entries: Sequence[_Entry], room: NamesRoom, slowest: _Entry | None) -> list[NameRow]:
    """Return one row a step: name, its question or its failure or a bar, its time."""
    listed = [*entries, slowest] if slowest else entries
    wide = min(
        max((cell_width(entry.name) for entry in listed), default=0), max(_LEAST_NAME, room.width - 12)
    )
    phrases_of_rows = [_row_phrases(entry) for entry in entries]
    beside = max((_width(right[:1]) for _, right in phrases_of_rows), default=0)
    free = room.width - wide - beside - _AROUND_ROW
    middle = max(0, min(max((_width(left) for left, _ in phrases_of_rows), default=0), _MIDDLE_WIDTH, free))
    rows: list[NameRow] = []
    for entry, (left, right) in zip(entries, phrases_of_rows, strict=True):
        row = _named_row(entry, room, wide)
        end = row.x + middle
        row.add_phrases(entry.v, _cut(left, middle))
        if right:
            row.pad(entry.v, end + 2)
            row.add_phrases(entry.v, right if row.has_room(right) else right[:1])
        rows.append(tuple(row.spans))
    if slowest:
        row = _named_row(slowest, room, wide)
        row.add(slowest.v, f"{slowest.facts.duration} {_LONGEST_PATH}".strip(), "badge")
        rows.append(tuple(row.spans))
    return rows


def _named_row(entry: _Entry, room: NamesRoom, wide: int) -> _Row:
    row = _Row(room, is_ascii=entry.is_ascii)
    name = shorten_name(entry.name, wide, is_ascii=entry.is_ascii)
    row.add(entry.v, " ", "mark")
    row.add(entry.v, f"{entry.sign} ", "sign")
    row.add(entry.v, name + " " * (wide + 2 - cell_width(name)), "name")
    return row


def _row_phrases(entry: _Entry) -> tuple[tuple[Phrase, ...], tuple[Phrase, ...]]:
    """Return the phrases in the middle and at the right of a row."""
    facts = entry.facts
    left, right = _plain_row_phrases(entry.step, facts, is_ascii=entry.is_ascii)
    if not entry.is_ascii:
        return left, right
    return tuple((as_ascii(t), tone) for t, tone in left), tuple((as_ascii(t), tone) for t, tone in right)


def _plain_row_phrases(
    step: GraphStep, facts: StepFacts, *, is_ascii: bool
) -> tuple[tuple[Phrase, ...], tuple[Phrase, ...]]:
    if facts.counts is not None:
        return ((counts_text(facts.counts, _MIDDLE_WIDTH), "plain"),), ((facts.duration, "plain"),)
    if facts.state == "waiting":
        return ((facts.asks or ASKS_YOU, "plain"),), ((facts.left, "state"),)
    if facts.state in FAILED_STATES:
        why = exit_code_text(facts.reason) or facts.reason
        reason = ", ".join(part for part in (why, attempt_text(step, facts)) if part) or "failed"
        return ((reason, "plain"),), (("allowed", "plain"),) if facts.state == "warned" else ()
    if facts.state in RUNNING_STATES and facts.share is not None:
        attempt = attempt_text(step, facts)
        usual = f" of about {facts.usual}" + (f", {attempt}" if attempt else "")
        bar = bar_phrases(facts.share, _BAR_WIDTH, is_ascii=is_ascii)
        return bar, ((facts.duration, "state"), (usual, "plain"))
    attempt = attempt_text(step, facts)
    return ((facts.duration, "state"), (f"  {attempt}" if attempt else "", "plain")), ()


def _cut(phrases: Iterable[Phrase], room: int) -> list[Phrase]:
    cut_phrases: list[Phrase] = []
    for text, tone in phrases:
        cut_phrases.append((cut_start(text, room), tone))
        room -= cell_width(cut_phrases[-1][0])
    return cut_phrases


def _width(phrases: Iterable[Phrase]) -> int:
    return sum(cell_width(text) for text, _ in phrases)


def _packed_rows(entries: Sequence[_Entry], room: NamesRoom, cells_each: int) -> tuple[list[NameRow], int]:
    """Return rows of several steps, each with `cells_each` cells of badges, and how many steps remain."""
    rows: list[_Row] = []
    for index, entry in enumerate(entries):
        phrases = badge_phrases(entry.facts, cells_each, is_ascii=entry.is_ascii) if cells_each else ()
        name = shorten_name(entry.name, max(4, room.width - 4), is_ascii=entry.is_ascii)
        needed = 3 + cell_width(name) + sum(1 + cell_width(text) for text, _ in phrases)
        if not rows or rows[-1].x + needed > room.x + room.width:
            if len(rows) == room.rows:
                return [tuple(row.spans) for row in rows], len(entries) - index
            rows.append(_Row(room, is_ascii=entry.is_ascii))
        row = rows[-1]
        row.add(entry.v, " ", "mark")
        row.add(entry.v, f"{entry.sign} ", "sign")
        row.add(entry.v, name, "name")
        row.add_phrases(entry.v, [(f" {text}", tone) for text, tone in phrases])
        row.x += _BETWEEN
    return [tuple(row.spans) for row in rows], 0


def _with_count(rows: list[NameRow], count: int, room: NamesRoom) -> list[NameRow]:
    """Return the rows with the number of missing names at the end of the last one."""
    row, more = list(rows[-1]), f"+{count}"
    x = room.x + room.width - len(more)
    while row and row[-1].x + cell_width(row[-1].text) >= x:
        row.pop()
    return [*rows[:-1], (*row, StyledSpan(x=x, text=more, role="badge"))]
