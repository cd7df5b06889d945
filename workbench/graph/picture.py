"""A drawing of a graph as lines of text: cells that never change, and names, signs and badges upon them.

Owns how a line is put together. A change of state is a change of one line; places and cells belong to
the structure and are shared by all lines ever drawn of it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, Protocol

from workbench.graph.facts import PENDING, Facts, badge, fact_line, sign
from workbench.graph.glyphs import FOLDED, draw, heavy
from workbench.graph.layout import Layout
from workbench.graph.model import Step
from workbench.text.width import cells as width_of
from workbench.text.width import cut

Kind = Literal["band", "wrapped", "list", "cards"]
Role = Literal["wire", "heavy", "sign", "name", "badge", "reference", "item"]
Cell = tuple[int, int, int]
"""x, y and the arms that a line uses there."""


class Tracer(Protocol):
    """Knows which cells the line of an edge runs through."""

    def cells(self, edge: tuple[int, int]) -> Iterable[Cell]:
        """Yield every cell of the line with the arms that it uses."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
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
    fact_y: int | None = None
    """The line of the badges where they have one of their own (cards)."""
    references: tuple[str, ...] = ()
    """Lines below the step that name what it feeds, in place of a line to it."""
    below: int = 0
    """Lines below the step that are reserved for these and for its items."""
    below_x: int = 0
    """Where those lines start."""
    below_room: int = 0
    """Cells of such a line."""

    def moved(self, x: int, lines: Mapping[int, int]) -> "Place":
        """Return the same place, `x` cells to the right and on other lines."""
        return replace(
            self,
            sign_x=self.sign_x + x,
            name_x=self.name_x + x,
            badge_x=self.badge_x + x,
            below_x=self.below_x + x,
            end=self.end + x,
            y=lines[self.y],
            fact_y=None if self.fact_y is None else lines[self.fact_y],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A part of a line that is drawn in one style."""

    x: int
    text: str
    role: Role
    step: int | None = None


Trace = Mapping[int, Mapping[int, int]]
"""Heavy arms by y and x."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A drawing without states."""

    kind: Kind
    layout: Layout
    width: int
    cells: tuple[bytes, ...]
    """One code a cell, see `glyphs`."""
    places: tuple[Place, ...]
    """By step."""
    is_ascii: bool
    tracer: Tracer
    on_line: Mapping[int, tuple[int, ...]]
    """By y: the steps drawn there from left to right."""

    @property
    def height(self) -> int:
        """The number of lines."""
        return len(self.cells)

    def steps(self) -> Sequence[Step]:
        """Return the steps, by index."""
        return self.layout.graph.steps

    def line(
        self,
        y: int,
        facts: Mapping[int, Facts] | None = None,
        trace: Trace | None = None,
        items: Mapping[int, Sequence[str]] | None = None,
    ) -> str:
        """Draw one line.

        Args:
            y: 0 is the topmost.
            facts: By step; a step without any has not started.
            trace: Lines to draw heavy.
            items: By step: the lines that are listed below it.
        """
        return "".join(run.text for run in self.runs(y, facts, trace, items)).rstrip()

    def lines(
        self,
        facts: Mapping[int, Facts] | None = None,
        trace: Trace | None = None,
        items: Mapping[int, Sequence[str]] | None = None,
    ) -> list[str]:
        """Draw all lines."""
        return [self.line(y, facts, trace, items) for y in range(self.height)]

    def runs(
        self,
        y: int,
        facts: Mapping[int, Facts] | None = None,
        trace: Trace | None = None,
        items: Mapping[int, Sequence[str]] | None = None,
        span: tuple[int, int] | None = None,
    ) -> Iterator[Run]:
        """Yield the parts of one line from left to right, without gaps.

        Args:
            y: 0 is the topmost.
            facts: By step; a step without any has not started.
            trace: Lines to draw heavy.
            items: By step: the lines that are listed below it.
            span: The cells that are seen; steps are not cut, so that a run may begin before or end after.
        """
        x, end = span or (0, len(self.cells[y]))
        bold = (trace or {}).get(y, {})
        for step in self.seen(y, x, end):
            for run in self._texts(step, y, (facts or {}).get(step, PENDING), (items or {}).get(step, ())):
                yield from self._wire(bold, x, run.x, y)
                yield run
                x = run.x + width_of(run.text)
        yield from self._wire(bold, x, end, y)

    def seen(self, y: int, x: int, end: int) -> Sequence[int]:
        """Return the steps of a line that lie at least partly between two cells."""
        row = self.on_line.get(y, ())
        first = bisect_right(row, x, key=lambda at: self.places[at].end)
        last = bisect_left(row, end, key=lambda at: self.places[at].sign_x)
        return row[first:last]

    def trace(self, edges: Iterable[tuple[int, int]]) -> Trace:
        """Collect the cells of some edges, to draw them heavy or in another colour."""
        found: dict[int, dict[int, int]] = {}
        for edge in edges:
            for x, y, arms in self.tracer.cells(edge):
                row = found.setdefault(y, {})
                row[x] = row.get(x, 0) | arms
        return found

    def _wire(self, bold: Mapping[int, int], x: int, end: int, y: int) -> Iterator[Run]:
        codes = self.cells[y]
        if not bold:
            if x < end:
                yield Run(x=x, text=draw(codes[x:end], is_ascii=self.is_ascii), role="wire")
            return
        for is_bold, group in groupby(range(x, end), key=bold.__contains__):
            cells = list(group)
            text = draw(codes[cells[0] : cells[-1] + 1], is_ascii=self.is_ascii)
            if is_bold:
                text = "".join(heavy(codes[at], bold[at], is_ascii=self.is_ascii) for at in cells)
            yield Run(x=cells[0], text=text, role="heavy" if is_bold else "wire")

    def _texts(self, at: int, y: int, facts: Facts, items: Sequence[str]) -> Iterator[Run]:
        place = self.places[at]
        step = self.steps()[at]
        if y == place.y:
            mark = FOLDED[self.is_ascii] if step.is_open else sign(facts, is_ascii=self.is_ascii)
            yield Run(x=place.sign_x, text=mark, role="sign", step=at)
            yield Run(x=place.name_x, text=place.name + " ", role="name", step=at)
        if y == (place.y if place.fact_y is None else place.fact_y):
            yield from self._badge(at, place, facts)
        number = y - (place.fact_y or place.y) - 1
        if 0 <= number < len(place.references):
            yield Run(x=place.below_x, text=place.references[number], role="reference", step=at)
        number -= len(place.references)
        if 0 <= number < min(place.below, len(items)):
            text = cut(items[number], place.below_room)
            yield Run(x=place.below_x, text=text, role="item", step=at)

    def _badge(self, at: int, place: Place, facts: Facts) -> Iterator[Run]:
        write = badge if place.fact_y is None else fact_line
        text = write(self.steps()[at], facts, place.room, is_ascii=self.is_ascii)
        text = f"{text} {place.mark}".strip()
        if text and place.aligned:
            yield Run(x=place.badge_x - width_of(text), text=text, role="badge", step=at)
        elif text:
            yield Run(x=place.badge_x, text=text + " ", role="badge", step=at)


def lined_up(places: Sequence[Place]) -> dict[int, tuple[int, ...]]:
    """Collect the steps of each line from left to right."""
    found: dict[int, list[int]] = {}
    for at, place in enumerate(places):
        last = (place.y if place.fact_y is None else place.fact_y) + place.below
        for y in range(place.y, last + 1):
            found.setdefault(y, []).append(at)
    return {y: tuple(sorted(row, key=lambda at: places[at].sign_x)) for y, row in found.items()}


def cut_names(names: Sequence[str], rooms: Sequence[int], *, is_ascii: bool = False) -> list[str]:
    """Shorten names, each to its room, so that different ones look different wherever that can be.

    Args:
        names: In full.
        rooms: Cells of each.
        is_ascii: Shorten with dots instead of an ellipsis.
    """
    found = [cut_name(name, room, is_ascii=is_ascii) for name, room in zip(names, rooms, strict=True)]
    for ways in range(_WAYS):
        alike = _alike(names, found)
        if not alike:
            return found
        for at in alike:
            found[at] = _another_way(names[at], rooms[at], ways, is_ascii=is_ascii)
    for number, at in enumerate(_alike(names, found), 1):
        mark = f"~{number}"[: rooms[at]]
        found[at] = cut_name(names[at], max(0, rooms[at] - len(mark)), is_ascii=is_ascii) + mark
    return found


_WAYS = 40
"""Other places to cut names at that are tried before they are numbered."""


def _alike(names: Sequence[str], found: Sequence[str]) -> list[int]:
    """List the places of different names that are cut to the same."""
    full: dict[str, set[str]] = {}
    for name, short in zip(names, found, strict=True):
        full.setdefault(short, set()).add(name)
    return [at for at, short in enumerate(found) if len(full[short]) > 1]


def _another_way(name: str, room: int, way: int, *, is_ascii: bool) -> str:
    """Cut a name elsewhere: first with more of its end, then by showing a part farther and farther within."""
    dots = ".." if is_ascii else "…"
    kept = max(0, room - len(dots))
    tail = kept // 2 + 1 + way
    if tail <= kept:
        return cut_name(name, room, tail=tail, is_ascii=is_ascii)
    start = 1 + (tail - kept) * max(1, kept - len(dots))
    return dots + cut(name[start:], kept).removesuffix("…") if start < len(name) else cut(name, room)


def cut_name(name: str, room: int, *, tail: int | None = None, is_ascii: bool = False) -> str:
    """Shorten a name in its middle: what tells steps apart stands at either end.

    Args:
        name: In full.
        room: Cells.
        tail: Cells of its end that are kept; else half of the room.
        is_ascii: Shorten with dots instead of an ellipsis.
    """
    if width_of(name) <= room:
        return name
    dots = ".." if is_ascii else "…"
    kept = max(0, room - len(dots))
    end = _tail(name, kept // 2 if tail is None else tail)
    head = cut(name, kept - width_of(end) + 1).removesuffix("…")
    return cut(head + dots + end, room)


def _tail(text: str, room: int) -> str:
    at = len(text)
    while at and width_of(text[at - 1 :]) <= room:
        at -= 1
    while at < len(text) and not width_of(text[at]):
        at += 1  # a combining mark must not lose its letter
    return text[at:]
