"""The picture of a run in one scrolling view: a line is drawn again when a step on it changes, and no other.

Owns when it is laid out, how it is painted, and where the cursor stands on the screen. Where keys and mouse
lead is `panes.graph`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.strip import Strip

from workbench.draw.run_graph import RunPaint, expected_seconds, steps_of
from workbench.graph.facts import Facts
from workbench.graph.fold import NODES, item_lines
from workbench.graph.overview import back_lines
from workbench.graph.picture import Picture, Trace
from workbench.graph.walk import Trail, longest, urgent
from workbench.records import dataclass
from workbench.tui import theme
from workbench.tui.panes.drawing import LARGE, Drawing, Kind, Room, Structure, draw
from workbench.tui.panes.graphline import GraphLine
from workbench.tui.widgets.lines import LineView
from workbench.views.pipeline import PipelineRun, PipelineStep

_MARGIN: Final = Offset(2, 1)
"""Columns and rows of the next wire that stay on the screen beside the cursor's step."""


class GraphPicture(LineView):
    """The drawing, with a cursor on one of its steps."""

    DEFAULT_CSS = "GraphPicture { overflow-x: auto; overflow-y: auto; scrollbar-size: 0 0; }"

    @dataclass
    class Moved(Message):
        """The cursor came to another step, or its step is shown anew."""

        step: str | None

    @dataclass
    class Opened(Message):
        """A step was clicked twice."""

        step: str

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.paint: RunPaint | None = None
        self.drawing: Drawing | None = None
        self.cursor: str | None = None
        self.path: tuple[str, ...] = ()
        """Ids along the longest path, drawn heavy."""
        self._structure = Structure()
        self._wanted: Kind = "auto"
        self._opened: dict[str, frozenset[str]] = {}
        self._trail = Trail()
        self._facts: dict[int, Facts] = {}
        self._items: dict[int, Sequence[str]] = {}
        self._heavy: Trace = {}
        self._near: Trace = {}
        self._back: list[str] = []
        self._scrolled: dict[str, int] = {}
        self._before: Mapping[str, float] = {}
        self._drawn_from = 0

    # --- what is shown --------------------------------------------------------------------------

    def show(self, run: PipelineRun | None, before: Mapping[str, float]) -> None:
        """Show a run as it stands.

        Args:
            run: None shows nothing.
            before: seconds by step id of an earlier run, for the longest path.
        """
        if run is None:
            self.paint, self.drawing, self.cursor = None, None, None
            self.set_line_count(0)
            self.invalidate()
            return
        if self.paint is not None and self.paint.run.id != run.id:
            self.cursor, self._trail, self._scrolled = None, Trail(), {}
        self.paint, self._before = RunPaint(run), before
        self._structure = replace(
            self._structure, run=run.id, steps=steps_of(run), opened=self._opened.get(run.name, frozenset()),
            is_ascii=theme.glyphs(self).is_ascii,
        )  # fmt: skip
        self._arrange()

    def _arrange(self) -> None:
        """Lay out if the structure changed, in a thread if that takes longer than a frame; then paint."""
        if self.paint is None or not self.size.area:
            return
        was, structure = self.drawing, self._structure
        is_new = was is None or was.structure != structure
        if is_new and len(structure.steps) > LARGE and was is not None and was.structure.run == structure.run:
            self.run_worker(
                self._in_thread, thread=True, group="layout", exclusive=True, exit_on_error=False,
                description="lay out the graph",
            )  # fmt: skip
            if self._knows(was):
                self._repaint()
            return
        self._take(draw(structure, self._room, was))

    def _knows(self, drawing: Drawing) -> bool:
        return drawing.structure.run == self._structure.run

    def _in_thread(self) -> None:
        found = draw(self._structure, self._room, self.drawing)
        self.post_message(_LaidOut(found))

    def on__laid_out(self, message: "_LaidOut") -> None:
        """Show what was laid out in a thread, unless it is out of date already."""
        message.stop()
        if message.drawing.structure == self._structure:
            self._take(message.drawing)

    @property
    def _room(self) -> Room:
        return Room(width=self.size.width, height=self.size.height, wanted=self._wanted)

    def _take(self, drawing: Drawing) -> None:
        was, self.drawing = self.drawing, drawing
        if drawing is was:
            self._repaint()
            return
        spot = self._spot(was)
        if self.cursor not in drawing.index:
            self.cursor = self._first(drawing)
        self._trail = Trail()
        self._facts, self._items = {}, {}
        self._repaint(is_anew=True)
        self._keep(spot)
        self.post_message(self.Moved(self.cursor))

    def _first(self, drawing: Drawing) -> str | None:
        """Return where the cursor begins: what asks, failed or runs, else the first step."""
        facts = self._facts_of(drawing)
        order = urgent(drawing.layout, facts) or range(len(drawing.index))
        ids = list(drawing.index)
        return next((ids[at] for at in order), None)

    def _spot(self, was: Drawing | None) -> Offset | None:
        """Return the cell of the screen on which the cursor's step stands."""
        at = was.index.get(self.cursor or "") if was is not None else None
        if was is None or at is None:
            return None
        place = was.picture.places[at]
        return Offset(place.sign_x, place.y) - self.scroll_offset

    def _keep(self, spot: Offset | None) -> None:
        """Scroll so that the cursor's step stays on its cell of the screen."""
        at, picture = self._at, self.picture
        if picture is None or at is None:
            return
        if spot is not None:
            place = picture.places[at]
            self._scroll(Offset(place.sign_x, place.y) - spot)
        self._reveal()

    # --- paint ----------------------------------------------------------------------------------

    @property
    def picture(self) -> Picture | None:
        """Return the picture on show."""
        return self.drawing.picture if self.drawing is not None else None

    @property
    def _at(self) -> int | None:
        return self.drawing.index.get(self.cursor or "") if self.drawing is not None else None

    def _facts_of(self, drawing: Drawing) -> dict[int, Facts]:
        paint = self.paint
        if paint is None:
            return {}
        return {at: paint.of(key, drawing.folded) for key, at in drawing.index.items()}

    @property
    def facts(self) -> Mapping[int, Facts]:
        """Return how each drawn step stands."""
        return self._facts

    def _repaint(self, *, is_anew: bool = False) -> None:
        """Draw the lines of steps that stand otherwise than they did."""
        drawing, paint = self.drawing, self.paint
        if drawing is None or paint is None:
            return
        facts, was, items = self._facts_of(drawing), self._facts, self._items
        self._facts = facts
        self._items = self._listed(drawing, paint)
        traced = self._trace(drawing, paint)
        if is_anew or traced:
            self._link()
            self.set_line_count(drawing.picture.height + len(self._back))
            self.invalidate()
            return
        changed = {at for at, one in facts.items() if was.get(at) != one}
        changed |= {at for at, lines in self._items.items() if items.get(at) != lines}
        self.invalidate(sorted({line for at in changed for line in self._lines_of(at)}))
        if changed:
            self.changed()

    def changed(self) -> None:
        """Be told that steps stand otherwise than they did."""

    def _listed(self, drawing: Drawing, paint: RunPaint) -> dict[int, Sequence[str]]:
        found: dict[int, Sequence[str]] = {}
        for at, step in enumerate(drawing.layout.graph.steps):
            if step.is_open:
                first = self._scrolled.get(step.id, 0)
                members, spread = paint.members(step.id, drawing.folded, first, NODES)
                found[at] = item_lines(
                    members, NODES, first=first, is_ascii=drawing.structure.is_ascii, spread=spread
                )  # fmt: skip
        return found

    def _trace(self, drawing: Drawing, paint: RunPaint) -> bool:
        """Find the longest path; True when it is another one than before."""
        graph = drawing.layout.graph
        seconds = expected_seconds(paint, drawing.folded, graph.steps, self._before)
        path = longest(graph, seconds) if any(seconds) else []
        ids = tuple(graph.steps[at].id for at in path)
        if ids == self.path and self._heavy:
            return False
        is_new = ids != self.path
        self.path = ids
        self._heavy = self._traced(drawing)
        return is_new

    def _link(self) -> None:
        """Find the lines of the cursor's edges; those that lead back stand below the picture."""
        drawing, at = self.drawing, self._at
        if drawing is None or at is None:
            self._near, self._back = {}, []
            return
        graph = drawing.layout.graph
        self._heavy = self._traced(drawing)
        self._near = drawing.picture.trace([edge for edge in drawing.layout.drawn if at in edge])
        self._back = back_lines(drawing.picture, at) if graph.back else []

    def _traced(self, drawing: Drawing) -> Trace:
        """Return the lines of the longest path; edges of it that are hidden have none."""
        drawn = set(drawing.layout.drawn)
        path = [drawing.index[key] for key in self.path if key in drawing.index]
        return drawing.picture.trace([edge for edge in pairwise(path) if edge in drawn])

    def _lines_of(self, at: int) -> range:
        picture = self.picture
        if picture is None or at >= len(picture.places):
            return range(0)
        place = picture.places[at]
        last = place.y if place.fact_y is None else place.fact_y
        return range(place.y, last + place.below + 1)

    def _grow(self, size: Size) -> None:
        self.virtual_size = Size(self.picture.width if self.picture is not None else 0, size.height)

    # --- drawing --------------------------------------------------------------------------------

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return rows of the screen; another column to begin from draws all of them again."""
        if self._drawn_from != self.scroll_offset.x:
            self._drawn_from = self.scroll_offset.x
            self._strips.clear()
        return super().render_lines(crop)

    def draw_line(self, line: int, width: int) -> Strip:
        """Draw what is seen of a line."""
        picture = self.picture
        if picture is None:
            return Strip.blank(width, self.rich_style)
        painter = GraphLine(theme.ink(self), theme.glyphs(self), has_focus=self.has_focus)
        x = self.scroll_offset.x
        if line >= picture.height:
            return painter.below(self._back[line - picture.height], x, width)
        span = (min(x, picture.width), min(x + width, picture.width))
        runs = picture.runs(line, self._facts, self._heavy, self._items, span=span)
        at = self._at
        place = picture.places[at] if at is not None else None
        mark = place.sign_x - 1 if place is not None and place.y == line else None
        near = self._near.get(line, {})
        return painter.strip(
            runs, self._facts, at, near, mark if _is_free(picture, line, mark) else None, x, width
        )

    # --- the cursor -----------------------------------------------------------------------------

    def put_cursor(self, step: str | None) -> None:
        """Put the cursor on a drawn step and scroll as little as is needed to see it."""
        drawing = self.drawing
        if drawing is None or step not in drawing.index:
            return
        is_other = step != self.cursor
        touched = self._touched()
        self.cursor = step
        had_back = len(self._back)
        self._link()
        if len(self._back) != had_back:
            self.set_line_count(drawing.picture.height + len(self._back))
            touched |= set(range(drawing.picture.height, self.line_count))
        self.invalidate(sorted(touched | self._touched()))
        self._reveal()
        if is_other:
            self.post_message(self.Moved(step))

    def _touched(self) -> set[int]:
        """Return the lines on which the cursor and its edges are drawn."""
        at = self._at
        return set(self._near) | (set(self._lines_of(at)) if at is not None else set())

    def _reveal(self) -> None:
        at, picture = self._at, self.picture
        if at is None or picture is None or not self.size.area:
            return
        place, seen = picture.places[at], self.scroll_offset
        lines = self._lines_of(at)
        x = _least(seen.x, self.size.width, place.sign_x - 1 - _MARGIN.x, place.end + _MARGIN.x)
        y = _least(seen.y, self.size.height, lines.start - _MARGIN.y, lines.stop + _MARGIN.y)
        self._scroll(Offset(x, y))

    def _scroll(self, to: Offset) -> None:
        if to != self.scroll_offset:
            self.scroll_to(max(0, to.x), max(0, to.y), animate=False, force=True)

    def on_width(self, width: int) -> None:
        """Fit the picture to another size."""
        del width
        self._arrange()

    def step_under_cursor(self) -> PipelineStep | None:
        """Return the step of the run on which the cursor stands."""
        if self.drawing is None or self.paint is None or self.cursor is None:
            return None
        return self.paint.step_of(self.cursor, self.drawing.folded)


@dataclass
class _LaidOut(Message):
    drawing: Drawing


def _least(seen: int, size: int, first: int, end: int) -> int:
    """Return where to scroll so that cells first to end are seen, by the least amount; first wins."""
    if end > seen + size:
        seen = end - size
    return max(0, min(seen, first) if first < seen else seen)


def _is_free(picture: Picture, line: int, x: int | None) -> bool:
    """Return whether the cell before a step's sign is blank, so that the cursor's mark may stand there."""
    return x is not None and 0 <= x < len(picture.cells[line]) and not picture.cells[line][x]
