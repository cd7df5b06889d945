"""The drawn graph of a run in one scrolling view: laid out in a thread, redrawn line by line.

A layout is made anew only when the structure or the user's choices change, never because of a state.
"""

# A graph of over 200 steps is laid out in a thread when its structure changes, and the old picture stays
# until then; a state never lays anything out. A gate under the graph's cursor is answered below the graph:
# `a` opens it there. What changes a file or runs a command is answered in its row of the queue.
#
# The time left for a gate is counted in the steps of the queue, and the run is drawn again with each.

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from msgspec.structs import replace
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.strip import Strip

from workbench.graph.canvas import Picture, StyledSpan, TracedCells
from workbench.graph.fit import GraphKind
from workbench.graph.folding import MOST_OPEN_ITEMS, member_lines
from workbench.graph.model import StepFacts
from workbench.graph.navigation import CursorTrail, back_edge_lines, longest_path, urgent_steps
from workbench.graph.pane_picture import (
    GraphDrawing,
    GraphSize,
    GraphStructure,
    LitCells,
    draw_graph,
    hidden_steps,
    lit_cells,
)
from workbench.graph.run_graph import RunFacts, expected_seconds, graph_steps
from workbench.graph.strip import NameRow, NamesRoom, name_rows
from workbench.tui import render_context
from workbench.tui.pipeline.graph_painter import GraphPainter, LineState
from workbench.tui.widgets.line_view import LineView
from workbench.views.pipeline import PipelineRun, PipelineStep

LARGE_GRAPH_STEPS = 200
"""Steps above which a layout takes longer than a frame: it is made in a thread."""
_NO_FACTS: Final = StepFacts()
_ASCII_WAYS: Final = {"←": "<", "→": ">", "↑": "^", "↓": "v"}
_BACK_ROWS: Final = 2
"""Rows kept below a picture for the line of a step that leads back."""
_MARGIN: Final = Offset(2, 1)
"""Columns and rows of the next wire that stay on the screen beside the cursor's step."""


class GraphPicture(LineView):
    """The drawing, with a cursor on one of its steps."""

    DEFAULT_CSS = "GraphPicture { overflow-x: auto; overflow-y: auto; scrollbar-size: 0 0; }"
    HAS_SCROLLBAR = False

    class Moved(Message):
        """The cursor came to another step, or its step is shown anew."""

        def __init__(self, step: str | None) -> None:
            super().__init__()
            self.step = step

    class Opened(Message):
        """A step was clicked twice."""

        def __init__(self, step: str) -> None:
            super().__init__()
            self.step = step

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.paint: RunFacts | None = None
        self.drawing: GraphDrawing | None = None
        self.cursor: str | None = None
        self.may_scroll = False
        """A graph may be larger than the pane; its longest path is drawn heavy."""
        self.follows_run = True
        """The cursor goes to what is most urgent until a key moves it; then its lines are drawn in colour."""
        self.path: tuple[str, ...] = ()
        """Ids along the longest path."""
        self._rows: int | None = None
        self._is_tall = False
        self.notes_of: Callable[[PipelineRun], Mapping[str, tuple[str, ...]]] | None = None
        """Returns what came of steps, by id; asked only where boxes have room for it."""
        self._structure = GraphStructure()
        self._wanted: GraphKind = "auto"
        self._opened: dict[str, frozenset[str]] = {}
        self._trail = CursorTrail()
        self._facts: dict[int, StepFacts] = {}
        self._items: dict[int, Sequence[str]] = {}
        self._heavy: TracedCells = {}
        self._near: TracedCells = {}
        self._lit: LitCells = {}
        self._names: list[NameRow] = []
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
            self.cursor, self._trail, self._scrolled = None, CursorTrail(), {}
        self.paint, self._before = RunFacts(run, before), before
        self._structure = replace(
            self._structure, run=run.id, steps=graph_steps(run),
            opened=self._opened.get(run.name, frozenset()),
            is_ascii=render_context.glyphs(self).is_ascii,
        )  # fmt: skip
        self._arrange()

    def set_may_scroll(self, *, may_scroll: bool) -> None:
        """Say whether a graph may be larger than the pane; else it becomes a strip."""
        if may_scroll != self.may_scroll:
            self.may_scroll = may_scroll
            self._arrange()

    def set_rows(self, rows: int | None, *, is_tall: bool = False) -> None:
        """Set the rows that a picture is fitted to where the view takes only those that it needs.

        Where `is_tall`, boxes may have lines for what came of their steps.
        """
        if (rows, is_tall) != (self._rows, self._is_tall):
            self._rows, self._is_tall = rows, is_tall
            self._arrange()

    @property
    def needed_rows(self) -> int:
        """Return the rows of the picture with what leads back below it; all before it is drawn."""
        drawing = self.drawing
        if drawing is None:
            return self._rows or self.size.height
        named = drawing.names.y + drawing.names.rows if drawing.names is not None else 0
        back = _BACK_ROWS if drawing.layout.graph.back and drawing.names is None else 0
        return max(drawing.picture.height + back, named)

    def _arrange(self) -> None:
        """Lay out if the structure changed, in a thread if that takes longer than a frame; then paint."""
        if self.paint is None or not self.size.area:
            return
        was, structure = self.drawing, self._structure
        is_new = was is None or was.structure != structure
        if (
            is_new
            and len(structure.steps) > LARGE_GRAPH_STEPS
            and was is not None
            and was.structure.run == structure.run
        ):
            self.run_worker(
                self._in_thread, thread=True, group="layout", exclusive=True, exit_on_error=False,
                description="lay out the graph",
            )  # fmt: skip
            if self._knows(was):
                self._repaint()
            return
        self._take(draw_graph(structure, self._room, was))

    def _knows(self, drawing: GraphDrawing) -> bool:
        return drawing.structure.run == self._structure.run

    def _in_thread(self) -> None:
        drawing = draw_graph(self._structure, self._room, self.drawing)
        self.post_message(_LaidOut(drawing))

    def on__laid_out(self, message: "_LaidOut") -> None:
        """Show what was laid out in a thread, unless it is out of date already."""
        message.stop()
        if message.drawing.structure == self._structure:
            self._take(message.drawing)

    @property
    def _room(self) -> GraphSize:
        return GraphSize(
            width=self.size.width, height=self._rows or self.size.height, wanted=self._wanted,
            may_scroll=self.may_scroll, is_tall=self._is_tall,
        )  # fmt: skip

    def _take(self, drawing: GraphDrawing) -> None:
        was, self.drawing = self.drawing, drawing
        if drawing is was:
            self._repaint()
            return
        spot = self._spot(was)
        if self.cursor not in drawing.index:
            self.cursor = self.most_urgent(drawing, self._facts_of(drawing))
        self._trail = CursorTrail()
        self._facts, self._items = {}, {}
        self._repaint(is_anew=True)
        self._keep(spot)
        self.post_message(self.Moved(self.cursor))
        self.changed()

    def most_urgent(self, drawing: GraphDrawing, facts: Mapping[int, StepFacts]) -> str | None:
        """Return what asks, else failed, else runs, else ended last, else the first step."""
        ids = list(drawing.index)
        urgent = urgent_steps(drawing.layout, facts)
        return ids[urgent[0]] if urgent else max(ids, key=lambda key: self._ended(key, drawing), default=None)

    def _ended(self, key: str, drawing: GraphDrawing) -> int:
        step = self.paint.step_of(key, drawing.folded) if self.paint is not None else None
        return (step.completed_at or 0) if step is not None else 0

    def _spot(self, was: GraphDrawing | None) -> Offset | None:
        """Return the cell of the screen on which the cursor's step stands."""
        index = was.index.get(self.cursor or "") if was is not None else None
        if was is None or index is None:
            return None
        place = was.picture.places[index]
        return Offset(place.sign_x, place.y) - self.scroll_offset

    def _keep(self, spot: Offset | None) -> None:
        """Scroll so that the cursor's step stays on its cell of the screen."""
        index, picture = self._at, self.picture
        if picture is None or index is None:
            return
        if spot is not None:
            place = picture.places[index]
            self._scroll(Offset(place.sign_x, place.y) - spot)
        self._reveal()

    # --- paint ----------------------------------------------------------------------------------

    @property
    def picture(self) -> Picture | None:
        """Return the picture on show."""
        return self.drawing.picture if self.drawing is not None else None

    @property
    def is_fitted(self) -> bool:
        """Return whether the picture on show is that of the present steps in the present room."""
        drawing = self.drawing
        return drawing is not None and drawing.structure == self._structure and drawing.room == self._room

    @property
    def _at(self) -> int | None:
        return self.drawing.index.get(self.cursor or "") if self.drawing is not None else None

    def _facts_of(self, drawing: GraphDrawing) -> dict[int, StepFacts]:
        paint = self.paint
        if paint is None:
            return {}
        facts = {index: paint.of(key, drawing.folded) for key, index in drawing.index.items()}
        if self.notes_of is None or not drawing.has_notes:
            return facts
        notes = self.notes_of(paint.run)
        named = {drawing.index[key]: lines for key, lines in notes.items() if key in drawing.index}
        return facts | {index: replace(facts[index], notes=lines) for index, lines in named.items()}

    @property
    def facts(self) -> Mapping[int, StepFacts]:
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
        lit, names = self._lit, self._names
        self._names = self._name_rows(drawing)
        if any(was.get(index, _NO_FACTS).state != step.state for index, step in facts.items()):
            self._lit = lit_cells(drawing, facts)
        if is_anew or traced:
            self._link()
            self._count_lines()
            self.invalidate()
            if not is_anew:
                self.changed()
        else:
            changed = {index for index, step_facts in facts.items() if was.get(index) != step_facts}
            changed |= {index for index, lines in self._items.items() if items.get(index) != lines}
            lines = {line for index in changed for line in self._lines_of(index)}
            lines |= {y for y in {*lit, *self._lit} if lit.get(y) != self._lit.get(y)}
            if drawing.names is not None and names != self._names:
                lines |= set(range(drawing.names.y, drawing.names.y + max(len(names), len(self._names))))
                self._count_lines()
            self.invalidate(sorted(lines))
            if changed:
                self._refresh_cue()
                self.changed()

    def changed(self) -> None:
        """Be told that steps stand otherwise than they did."""

    def _count_lines(self) -> None:
        """Count the lines: of the picture, of names, of what leads back, and one for the cue."""
        drawing = self.drawing
        if drawing is None:
            return
        names = drawing.names.y + len(self._names) if drawing.names is not None else 0
        self.set_line_count(max(drawing.picture.height + len(self._back), names) + self._has_cue)

    def _name_rows(self, drawing: GraphDrawing) -> list[NameRow]:
        """Return the rows of names beside a strip."""
        if drawing.names is None:
            return []
        graph = drawing.layout.graph
        steps = [drawing.index[key] for key in self.path if key in drawing.index]
        took = {v: self.paint.seconds_of(graph.steps[v].id) if self.paint else 0.0 for v in steps}
        return name_rows(
            graph, urgent_steps(drawing.layout, self._facts), self._facts, drawing.names,
            slowest=max(steps, key=lambda v: took[v]) if any(took.values()) else None,
            is_ascii=drawing.structure.is_ascii,
        )  # fmt: skip

    def _listed(self, drawing: GraphDrawing, paint: RunFacts) -> dict[int, Sequence[str]]:
        listed_lines: dict[int, Sequence[str]] = {}
        for index, step in enumerate(drawing.layout.graph.steps):
            if step.is_open:
                first = self._scrolled.get(step.id, 0)
                members, spread = paint.members(step.id, drawing.folded, first, MOST_OPEN_ITEMS)
                listed_lines[index] = member_lines(
                    members, MOST_OPEN_ITEMS, first=first, is_ascii=drawing.structure.is_ascii, spread=spread
                )  # fmt: skip
        return listed_lines

    def _trace(self, drawing: GraphDrawing, paint: RunFacts) -> bool:
        """Find the longest path; True when it is another one than before."""
        graph = drawing.layout.graph
        seconds = expected_seconds(paint, drawing.folded, graph.steps, self._before)
        path = longest_path(graph, seconds) if any(seconds) else []
        ids = tuple(graph.steps[index].id for index in path)
        is_new = ids != self.path
        if not is_new and (self._heavy or not self.may_scroll):
            return False
        self.path = ids
        self._heavy = self._traced(drawing)
        return is_new

    def _link(self) -> None:
        """Find the lines of the cursor's edges; those that lead back stand below the picture."""
        drawing, index = self.drawing, self._at
        if drawing is None or index is None:
            self._near, self._back = {}, []
            return
        graph = drawing.layout.graph
        self._heavy = self._traced(drawing)
        near = () if self.follows_run else drawing.layout.drawn
        self._near = drawing.picture.trace([edge for edge in near if index in edge])
        self._back = back_edge_lines(drawing.picture, index) if graph.back and drawing.names is None else []

    def _traced(self, drawing: GraphDrawing) -> TracedCells:
        """Return the lines of the longest path where it is drawn heavy; hidden edges have none."""
        if not self.may_scroll:
            return {}
        drawn = set(drawing.layout.drawn)
        path = [drawing.index[key] for key in self.path if key in drawing.index]
        return drawing.picture.trace([edge for edge in pairwise(path) if edge in drawn])

    def _lines_of(self, index: int) -> range:
        picture = self.picture
        if picture is None or index >= len(picture.places):
            return range(0)
        return picture.places[index].lines

    def _grow(self, size: Size) -> None:
        self.virtual_size = Size(self.picture.width if self.picture is not None else 0, size.height)

    # --- what is not in view --------------------------------------------------------------------

    @property
    def _has_cue(self) -> bool:
        """Return whether the last row says which way there is more."""
        return self.drawing is not None and self.drawing.is_cut and self.size.height > 1

    @property
    def _seen(self) -> tuple[range, range]:
        """Return the columns and lines of the picture that are on the screen."""
        offset, size = self.scroll_offset, self.size
        return (
            range(offset.x, offset.x + size.width),
            range(offset.y, offset.y + size.height - self._has_cue),
        )

    def fixed_line(self, y: int, width: int) -> Strip | None:
        if not self._has_cue or y != self.size.height - 1 or self.drawing is None:
            return None
        drawing, glyphs = self.drawing, render_context.glyphs(self)
        columns, lines = self._seen
        picture = drawing.picture
        ways = (
            ("←", columns.start > 0), ("↑", lines.start > 0), ("↓", lines.stop < picture.height),
            ("→", columns.stop < picture.width),
        )  # fmt: skip
        arrows = "".join(_ASCII_WAYS[way] if glyphs.is_ascii else way for way, is_open in ways if is_open)
        more = f" more {arrows} "
        hidden = hidden_steps(picture, urgent_steps(drawing.layout, self._facts), columns, lines)
        room = NamesRoom(x=0, y=y, width=max(0, width - len(more) - 1), rows=1)
        names = name_rows(
            drawing.layout.graph, hidden, self._facts, room, is_ascii=drawing.structure.is_ascii
        )  # fmt: skip
        spans = [*(names[0] if names else ()), StyledSpan(x=width - len(more), text=more, role="badge")]
        return self._painter().strip(spans, LineState(facts=self._facts, kind="signs"), 0, width)

    def _refresh_cue(self) -> None:
        if self._has_cue:
            self.refresh(Region(0, self.size.height - 1, self.size.width, 1))

    def _painter(self) -> GraphPainter:
        return GraphPainter(render_context.ink(self), render_context.glyphs(self), has_focus=self.has_focus)

    # --- drawing --------------------------------------------------------------------------------

    def render_lines(self, crop: Region) -> list[Strip]:
        if self._drawn_from != self.scroll_offset.x:
            self._drawn_from = self.scroll_offset.x
            self._strips.clear()
        return super().render_lines(crop)

    def draw_line(self, line: int, width: int) -> Strip:
        picture = self.picture
        if picture is None:
            return Strip.blank(width, self.rich_style)
        painter, x = self._painter(), self.scroll_offset.x
        names = self._names_on(line)
        if line >= picture.height and not names:
            below = self._back[line - picture.height : line - picture.height + 1]
            return painter.below(below[0] if below else "", x, width)
        spans: list[StyledSpan] = []
        if line < picture.height:
            span = (min(x, picture.width), min(x + width, picture.width))
            spans += picture.runs(line, self._facts, self._heavy, self._items, span=span)
        index = self._at
        place = picture.places[index] if index is not None else None
        mark = place.sign_x - 1 if place is not None and place.y == line else None
        if place is not None and mark is not None and not place.is_boxed:
            mark = mark if _is_blank_before(picture, line, mark) else None
        state = LineState(
            facts=self._facts, kind=picture.kind, cursor=index, near=self._near.get(line, {}),
            lit=self._lit.get(line, {}), mark=mark,
        )  # fmt: skip
        return painter.strip([*spans, *names], state, x, width)

    def _names_on(self, line: int) -> NameRow:
        room = self.drawing.names if self.drawing is not None else None
        if room is None or not 0 <= line - room.y < len(self._names):
            return ()
        return self._names[line - room.y]

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
            self._count_lines()
            touched |= set(range(drawing.picture.height, self.line_count))
        self.invalidate(sorted(touched | self._touched()))
        self._reveal()
        if is_other:
            self.post_message(self.Moved(step))

    def _touched(self) -> set[int]:
        """Return the lines on which the cursor and its edges are drawn."""
        index, drawing = self._at, self.drawing
        if index is None or drawing is None:
            return set(self._near)
        named = range(drawing.names.y, drawing.names.y + len(self._names)) if drawing.names else range(0)
        return {*self._near, *self._lines_of(index), *named}

    def _reveal(self) -> None:
        index, picture = self._at, self.picture
        if index is None or picture is None or not self.size.area:
            return
        place, seen = picture.places[index], self.scroll_offset
        lines = self._lines_of(index)
        x = _least_scroll(seen.x, self.size.width, place.start - 1 - _MARGIN.x, place.end + _MARGIN.x)
        height = self.size.height - self._has_cue
        y = _least_scroll(seen.y, height, lines.start - _MARGIN.y, lines.stop + _MARGIN.y)
        self._scroll(Offset(x, y))

    def _scroll(self, to: Offset) -> None:
        if to != self.scroll_offset:
            self.scroll_to(max(0, to.x), max(0, to.y), animate=False, force=True)

    def on_width(self, width: int) -> None:
        del width
        self._arrange()

    def step_under_cursor(self) -> PipelineStep | None:
        """Return the step of the run on which the cursor stands."""
        if self.drawing is None or self.paint is None or self.cursor is None:
            return None
        return self.paint.step_of(self.cursor, self.drawing.folded)


class _LaidOut(Message):
    def __init__(self, drawing: GraphDrawing) -> None:
        super().__init__()
        self.drawing = drawing


def _least_scroll(seen: int, size: int, first: int, end: int) -> int:
    """Return where to scroll so that cells first to end are seen, by the least amount; first wins."""
    if end > seen + size:
        seen = end - size
    return max(0, min(seen, first) if first < seen else seen)


def _is_blank_before(picture: Picture, line: int, x: int | None) -> bool:
    """Return whether the cell before a step's sign is blank, so that the cursor's mark may stand there."""
    return x is not None and 0 <= x < len(picture.cells[line]) and not picture.cells[line][x]
