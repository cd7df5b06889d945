"""A drawing of a graph as lines of text: cells with box characters, and the steps placed on them.

Cells and positions belong to the structure and never change; a change of state redraws one line.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from typing import Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from workbench.graph.layout import GraphLayout
from workbench.graph.model import PENDING_FACTS, STATUS_BY_SEVERITY, GraphStep, StepFacts
from workbench.graph.step_text import (
    Phrase,
    Tone,
    as_ascii,
    badge_phrases,
    detail_phrases,
    head_phrases,
    only_line_phrases,
    status_sign,
)
from workbench.text.width import cell_width, cut_to_width
from workbench.views.status_icons import ICONS

DrawingKind = Literal["boxes", "band", "wrapped", "list", "strip", "signs"]
SpanRole = Literal["wire", "heavy", "frame", "mark", "sign", "name", "badge", "reference", "item"]
Cell = tuple[int, int, int]
"""x, y and the arms that a line uses there."""


class EdgeTracer(Protocol):
    """Knows which cells the line of an edge runs through."""

    def cells(self, edge: tuple[int, int]) -> Iterable[Cell]: ...


class StepPosition(Struct, frozen=True, kw_only=True):
    """Where a step is drawn."""

    y: int
    sign_x: int
    name_x: int
    name: str
    """Cut to its column."""
    badge_x: int
    """Where badges start; where they end if they are aligned to the right."""
    room: int
    """Cells reserved for badges."""
    mark: str = ""
    """Drawn after the badges: where a back edge leads."""
    end: int
    """The first cell that does not belong to the step; the one before is kept blank."""
    aligned: bool = False
    """Badges end at `badge_x`."""
    is_boxed: bool = False
    """A frame is drawn around it, two cells left of its sign and in the last cell before `end`."""
    detail_y: int | None = None
    """The second line of a box that has room for one."""
    notes: int = 0
    """Lines below that one that are reserved for what came of the step."""
    references: tuple[str, ...] = ()
    """Lines below the step that name what it feeds, in place of a line to it."""
    below: int = 0
    """Lines below the step that are reserved for these and for its items."""
    below_x: int = 0
    """Where those lines start."""
    below_room: int = 0
    """Cells of such a line."""

    @property
    def start(self) -> int:
        """Return the first cell that belongs to the step."""
        return self.sign_x - 2 if self.is_boxed else self.sign_x

    @property
    def lines(self) -> range:
        """Return the lines that belong to the step, its frame among them."""
        last = (self.y if self.detail_y is None else self.detail_y) + self.notes + self.below
        return range(self.y - self.is_boxed, last + 1 + self.is_boxed)

    def moved(self, x: int, lines: Mapping[int, int]) -> "StepPosition":
        return replace(
            self,
            sign_x=self.sign_x + x,
            name_x=self.name_x + x,
            badge_x=self.badge_x + x,
            below_x=self.below_x + x,
            end=self.end + x,
            y=lines[self.y],
            detail_y=None if self.detail_y is None else lines[self.detail_y],
        )


class StyledSpan(Struct, frozen=True, kw_only=True):
    """A part of a line that is drawn in one style."""

    x: int
    text: str
    role: SpanRole
    step: int | None = None
    tone: Tone = "plain"
    """Of a badge."""


TracedCells = Mapping[int, Mapping[int, int]]
"""Heavy arms by y and x."""


class Picture(Struct, frozen=True, kw_only=True):
    """A drawing without states."""

    kind: DrawingKind
    layout: GraphLayout
    width: int
    cells: tuple[bytes, ...]
    """One code a cell, see `glyphs`."""
    places: tuple[StepPosition, ...]
    """By step."""
    is_ascii: bool
    tracer: EdgeTracer
    on_line: Mapping[int, tuple[int, ...]]
    """By y: the steps drawn there from left to right."""

    @property
    def height(self) -> int:
        return len(self.cells)

    def steps(self) -> Sequence[GraphStep]:
        return self.layout.graph.steps

    def line(
        self,
        y: int,
        facts: Mapping[int, StepFacts] | None = None,
        trace: TracedCells | None = None,
        items: Mapping[int, Sequence[str]] | None = None,
    ) -> str:
        return "".join(run.text for run in self.runs(y, facts, trace, items)).rstrip()

    def lines(
        self,
        facts: Mapping[int, StepFacts] | None = None,
        trace: TracedCells | None = None,
        items: Mapping[int, Sequence[str]] | None = None,
    ) -> list[str]:
        return [self.line(y, facts, trace, items) for y in range(self.height)]

    def runs(
        self,
        y: int,
        facts: Mapping[int, StepFacts] | None = None,
        trace: TracedCells | None = None,
        items: Mapping[int, Sequence[str]] | None = None,
        span: tuple[int, int] | None = None,
    ) -> Iterator[StyledSpan]:
        """Yield the parts of one line from left to right, without gaps."""
        x, end = span or (0, len(self.cells[y]))
        bold = (trace or {}).get(y, {})
        visible = self.seen(y, x, end)
        for step in self._worst_of_each_cell(visible, facts or {}) if self.kind == "signs" else visible:
            for run in self._texts(
                step, y, (facts or {}).get(step, PENDING_FACTS), (items or {}).get(step, ())
            ):
                yield from self._wire(bold, x, run.x, y)
                yield run
                x = run.x + cell_width(run.text)
        yield from self._wire(bold, x, end, y)

    def seen(self, y: int, x: int, end: int) -> Sequence[int]:
        """Return the steps of a line that lie at least partly between two cells."""
        row = self.on_line.get(y, ())
        first = bisect_right(row, x, key=lambda v: self.places[v].end)
        last = bisect_left(row, end, key=lambda v: self.places[v].start)
        return row[first:last]

    def _worst_of_each_cell(self, steps: Iterable[int], facts: Mapping[int, StepFacts]) -> Iterable[int]:
        """Return the steps that are seen where several share a cell."""

        def severity(v: int) -> int:
            return STATUS_BY_SEVERITY.index(facts.get(v, PENDING_FACTS).state)

        cells = groupby(steps, key=lambda v: self.places[v].sign_x)
        return [min(group, key=severity) for _, group in cells]

    def trace(self, edges: Iterable[tuple[int, int]]) -> TracedCells:
        """Collect the cells of some edges, to draw them heavy or in another colour."""
        traced: dict[int, dict[int, int]] = {}
        for edge in edges:
            for x, y, arms in self.tracer.cells(edge):
                row = traced.setdefault(y, {})
                row[x] = row.get(x, 0) | arms
        return traced

    def _wire(self, bold: Mapping[int, int], x: int, end: int, y: int) -> Iterator[StyledSpan]:
        codes = self.cells[y]
        if not bold:
            if x < end:
                yield StyledSpan(x=x, text=cells_to_text(codes[x:end], is_ascii=self.is_ascii), role="wire")
            return
        for is_bold, group in groupby(range(x, end), key=bold.__contains__):
            cells = list(group)
            text = cells_to_text(codes[cells[0] : cells[-1] + 1], is_ascii=self.is_ascii)
            if is_bold:
                text = "".join(
                    heavy_glyph(codes[column], bold[column], is_ascii=self.is_ascii) for column in cells
                )
            yield StyledSpan(x=cells[0], text=text, role="heavy" if is_bold else "wire")

    def _texts(self, v: int, y: int, facts: StepFacts, items: Sequence[str]) -> Iterator[StyledSpan]:
        place = self.places[v]
        if place.is_boxed:
            yield from self._box_line(v, place, y, facts, items)
            return
        if y == place.y:
            blank = " " if place.name and place.name_x == place.sign_x + 2 else ""
            yield StyledSpan(x=place.sign_x, text=self._sign(v, facts) + blank, role="sign", step=v)
            if place.name:
                yield StyledSpan(x=place.name_x, text=place.name + " ", role="name", step=v)
            yield from self._badge(v, place, facts)
        yield from self._below(v, place, y - place.y - 1, items)

    def _sign(self, v: int, facts: StepFacts) -> str:
        if self.steps()[v].is_open:
            return FOLD_SIGN[self.is_ascii]
        return status_sign(facts, is_ascii=self.is_ascii)

    def _below(self, v: int, place: StepPosition, number: int, items: Sequence[str]) -> Iterator[StyledSpan]:
        """Yield a line below a step: what it feeds, or one of its items."""
        if 0 <= number < len(place.references):
            yield StyledSpan(x=place.below_x, text=place.references[number], role="reference", step=v)
        number -= len(place.references)
        if 0 <= number < min(place.below, len(items)):
            text = cut_to_width(items[number], place.below_room)
            yield StyledSpan(x=place.below_x, text=text, role="item", step=v)

    def _badge(self, v: int, place: StepPosition, facts: StepFacts) -> Iterator[StyledSpan]:
        phrases = badge_phrases(facts, place.room, is_ascii=self.is_ascii)
        marked: Phrase = (place.mark, "plain")
        x = place.badge_x
        if place.aligned:
            # The blank before it belongs to the step: the cursor has no hole.
            start = place.name_x + cell_width(place.name) + 1
            phrases = tuple(phrase for phrase in (*phrases, marked) if phrase[0])
            yield from _padded(v, start, phrases, x - start, is_right=True)
            return
        for text, tone in (*phrases, marked):
            if text:
                yield StyledSpan(x=x, text=text + " ", role="badge", step=v, tone=tone)
                x += cell_width(text) + 1

    def _box_line(
        self, v: int, place: StepPosition, y: int, facts: StepFacts, items: Sequence[str]
    ) -> Iterator[StyledSpan]:
        left, right = place.start, place.end - 1
        room = right - 1 - place.name_x
        detail = self._detail(place, facts, room)
        said = [detail] if detail else []
        notes: list[tuple[Phrase, ...]] = [((note, "plain"),) for note in self._notes(place, facts, room)]
        said += notes
        content = 1 + len(said) + place.below
        frame = frame_glyphs(facts, is_ascii=self.is_ascii)
        number = y - place.y
        if number in (-1, content):
            start, line, end = frame.top if number < 0 else frame.bottom
            text = start + line * (right - left - 1) + end
            yield StyledSpan(x=left, text=text, role="frame", step=v)
            return
        if not 0 <= number < content:
            return
        codes = self.cells[y]
        yield StyledSpan(x=left, text=frame.left[bool(codes[left] & L)] + " ", role="frame", step=v)
        if number == 0:
            yield from self._box_head(v, place, facts)
        elif number <= len(said):
            yield StyledSpan(x=place.sign_x, text="  ", role="badge", step=v)
            yield from _padded(v, place.name_x, said[number - 1], room, is_right=False)
        else:
            below = list(self._below(v, place, number - 1 - len(said), items))
            yield from below
            x = below[-1].x + cell_width(below[-1].text) if below else place.sign_x
            yield StyledSpan(x=x, text=" " * (right - 1 - x), role="badge", step=v)
        yield StyledSpan(x=right - 1, text=" " + frame.right[bool(codes[right] & R)], role="frame", step=v)

    def _notes(self, place: StepPosition, facts: StepFacts, room: int) -> Iterable[str]:
        cut = [cut_to_width(note, room) for note in facts.notes[: place.notes]]
        return map(as_ascii, cut) if self.is_ascii else cut

    def _detail(self, place: StepPosition, facts: StepFacts, room: int) -> tuple[Phrase, ...]:
        if place.detail_y is None:
            return ()
        write = detail_phrases if place.room else only_line_phrases
        return write(facts, room, is_ascii=self.is_ascii)

    def _box_head(self, v: int, place: StepPosition, facts: StepFacts) -> Iterator[StyledSpan]:
        """Yield the first line of a box: sign, name, and head phrases at the right."""
        x = place.name_x + cell_width(place.name)
        room = place.end - 2 - x
        yield StyledSpan(x=place.sign_x, text=self._sign(v, facts) + " ", role="sign", step=v)
        yield StyledSpan(x=place.name_x, text=place.name, role="name", step=v)
        mark = f" {place.mark}" if place.mark else ""
        remaining = room - cell_width(mark) - 1
        phrases: tuple[Phrase, ...] = ()
        if place.detail_y is None:
            phrases = badge_phrases(facts, remaining, is_ascii=self.is_ascii)
        elif place.room:
            phrases = head_phrases(facts, remaining, is_ascii=self.is_ascii)
        marked: tuple[Phrase, ...] = ((place.mark, "plain"),) if mark else ()
        yield from _padded(v, x, (*phrases, *marked), room, is_right=True)


def _padded(v: int, x: int, phrases: Sequence[Phrase], room: int, *, is_right: bool) -> Iterator[StyledSpan]:
    """Yield phrases padded to `room` cells; no blank stands between the parts of a bar."""
    filled = [phrase for phrase in phrases if phrase[0]]
    spans: list[Phrase] = [
        (f"{text} ", tone) if after and after[1] != "rest" else (text, tone)
        for (text, tone), after in zip_longest(filled, filled[1:])
    ]
    blank: Phrase = (" " * (room - sum(cell_width(text) for text, _ in spans)), "plain")
    for text, tone in [blank, *spans] if is_right else [*spans, blank]:
        if text:
            yield StyledSpan(x=x, text=text, role="badge", step=v, tone=tone)
            x += cell_width(text)


class FrameGlyphs(Struct, frozen=True):
    """The characters of a box's frame; a side is `left[True]` where a line reaches it."""

    top: str
    bottom: str
    left: str
    right: str


_FRAME = FrameGlyphs("╭─╮", "╰─╯", "│┤", "│├")
_DOUBLE_FRAME = FrameGlyphs("╔═╗", "╚═╝", "║╢", "║╟")
_ASCII_FRAME = FrameGlyphs("+-+", "+-+", "|+", "|+")
_ASCII_DOUBLE_FRAME = FrameGlyphs("#=#", "#=#", "##", "##")


def frame_glyphs(facts: StepFacts, *, is_ascii: bool) -> FrameGlyphs:
    """Return the frame of a box: double around what waits for an answer."""
    if facts.state == "waiting":
        return _ASCII_DOUBLE_FRAME if is_ascii else _DOUBLE_FRAME
    return _ASCII_FRAME if is_ascii else _FRAME


def make_picture(
    kind: DrawingKind,
    layout: GraphLayout,
    grid: Sequence[bytes | bytearray],
    places: Sequence[StepPosition],
    tracer: EdgeTracer,
    *,
    width: int,
    is_ascii: bool,
) -> Picture:
    """Return a picture of cells with its steps on them."""
    return Picture(
        kind=kind, layout=layout, width=width, cells=tuple(map(bytes, grid)), places=tuple(places),
        is_ascii=is_ascii, tracer=tracer, on_line=_steps_by_line(places),
    )  # fmt: skip


def _steps_by_line(places: Sequence[StepPosition]) -> dict[int, tuple[int, ...]]:
    steps: dict[int, list[int]] = {}
    for index, place in enumerate(places):
        for y in place.lines:
            steps.setdefault(y, []).append(index)
    return {y: tuple(sorted(row, key=lambda index: places[index].sign_x)) for y, row in steps.items()}


L, R, U, D = 1, 2, 4, 8
HORIZONTAL = L | R
VERTICAL = U | D
CROSSING = 16 | HORIZONTAL | VERTICAL
"""A vertical line with a horizontal one passing under it."""
ROUNDED = 32
"""Added to the corners of the wires between bands, which are no junctions."""
BOX_SIDE = 48
"""Added to the sides of boxes, at which lines end; frames are drawn over them."""
FOLD_SIGN = (ICONS["open"].unicode, ICONS["open"].ascii)
"""The sign of a step whose items are listed."""
_UNICODE = " ╴╶─╵┘└┴╷┐┌┬│┤├┼"
_ASCII = " --- ''+ ..+|+++"
_ROUND_UNICODE = _UNICODE.translate(str.maketrans("┘└┐┌", "╯╰╮╭"))
_ROUND_ASCII = " ---|+'+|.++|+++"
"""Only the lower right and the upper left corner are `+`: stacked wires would seem to touch otherwise."""
_WEIGHTS = " ╷╻╵│╽╹╿┃╶┌┎└├┟┖┞┠╺┍┏┕┝┢┗┡┣╴┐┒┘┤┧┚┦┨─┬┰┴┼╁┸╀╂╼┮┲┶┾╆┺╄╊╸┑┓┙┥┪┛┩┫╾┭┱┵┽╅┹╃╉━┯┳┷┿╈┻╇╋"
"""Every mix of weights: 27 left + 9 right + 3 up + down, each 0 none, 1 light, 2 heavy."""
UNICODE_GLYPHS = _UNICODE + "│" * 16 + _ROUND_UNICODE + _ROUND_UNICODE
ASCII_GLYPHS = _ASCII + "|" * 16 + _ROUND_ASCII + _ASCII
"""The character of each code: plain, crossing, wire, side of a box."""


def cells_to_text(cells: bytes, *, is_ascii: bool) -> str:
    """Turn cells to characters, one each."""
    return cells.decode("latin-1").translate(_GLYPH_MAPS[is_ascii])


_GLYPH_MAPS = (
    dict(enumerate(UNICODE_GLYPHS)),
    dict(enumerate(ASCII_GLYPHS)),
)


def heavy_glyph(code: int, arms: int, *, is_ascii: bool) -> str:
    """Return the character of a cell of which some arms are drawn heavy."""
    if code == CROSSING:
        if not arms & VERTICAL:
            return (ASCII_GLYPHS if is_ascii else UNICODE_GLYPHS)[code]
        return "!" if is_ascii else "┃"
    if is_ascii:
        straight = {HORIZONTAL: "=", VERTICAL: "!"}.get(code & 15)
        return straight if straight and arms else ASCII_GLYPHS[code]
    weight = [0 if not code & arm else 2 if arms & arm else 1 for arm in (L, R, U, D)]
    return _WEIGHTS[27 * weight[0] + 9 * weight[1] + 3 * weight[2] + weight[3]]
