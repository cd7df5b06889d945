"""The drawn graph of a run in one scrolling view: laid out in a thread, redrawn line by line.

A layout is made anew only when the structure or the user's choices change, never because of a state.
"""

# A graph of over 200 steps is laid out in a thread when its structure changes, and the old picture stays
# until then; a state never lays anything out. A gate under the graph's cursor is the queue's row: `a` goes
# there, and only there it is answered, so that what is approved is what stands on the screen.
#
# A graph does not count seconds for a gate. Its time goes by in steps of 10 s, so that a run that only
# waits is drawn six times a minute; the queue's row has the seconds.

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace
from rich.segment import Segment
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.style import Style

from workbench.graph.canvas import Picture, StyledSpan, TracedCells
from workbench.graph.fit import fit_picture
from workbench.graph.layout import Layout, compute_layout
from workbench.graph.model import PENDING_FACTS, GraphStep, StepFacts, build_graph
from workbench.graph.navigation import (
    MOST_OPEN_ITEMS,
    CursorTrail,
    FoldedGraph,
    back_edge_lines,
    fold_steps,
    longest_path,
    member_lines,
    neighbourhood,
    urgent_steps,
)
from workbench.graph.run_graph import RunFacts, expected_seconds, graph_steps
from workbench.render.theme import ColorName, Glyphs, Ink
from workbench.tui import render_context
from workbench.tui.widgets.line_view import LineView
from workbench.views.pipeline import PipelineRun, PipelineStep
from workbench.views.status_icons import ICONS, STEP_STATUSES, StatusName, StepStatus

GraphKind = Literal["auto", "band", "wrapped", "list", "cards"]
GRAPH_KINDS: tuple[GraphKind, ...] = ("auto", "band", "wrapped", "list", "cards")
LARGE_GRAPH_STEPS = 200
"""Steps above which a layout takes longer than a frame: it is made in a thread."""


class GraphStructure(Struct, frozen=True, kw_only=True):
    """What a layout depends on."""

    run: str = ""
    steps: tuple[GraphStep, ...] = ()
    opened: frozenset[str] = frozenset()
    """Folds that are open."""
    alike: bool | None = None
    """Whether steps that are alike are folded; None decides by their number."""
    implied: bool = False
    """Edges that others imply are drawn."""
    focus: str | None = None
    """Only what this step needs and feeds is drawn."""
    hops: int | None = None
    """So many edges away at most."""
    is_ascii: bool = False


class GraphSize(Struct, frozen=True, kw_only=True):
    """What a picture is fitted to."""

    width: int
    height: int
    wanted: GraphKind = "auto"


class GraphDrawing(Struct, frozen=True, kw_only=True):
    """A picture with what it was made from."""

    structure: GraphStructure
    room: GraphSize
    folded: FoldedGraph
    layout: Layout
    picture: Picture
    index: dict[str, int] = field(default_factory=dict[str, int])
    """By id of a drawn step: its place in the layout."""


def draw_graph(
    structure: GraphStructure, room: GraphSize, before: GraphDrawing | None = None
) -> GraphDrawing:
    """Return the picture of a structure.

    Args:
        structure: what to draw.
        room: the pane.
        before: the drawing until now; its steps keep their layers and their order.
    """
    if before is not None and before.structure == structure:
        return before if before.room == room else _fitted(replace(before, room=room))
    folded = fold_steps(structure.steps, opened=structure.opened, alike=structure.alike)
    graph = build_graph(folded.steps)
    is_near = structure.focus is not None and any(step.id == structure.focus for step in graph.steps)
    if is_near:
        graph = build_graph(neighbourhood(graph, graph.index(structure.focus or ""), structure.hops))
    layout = compute_layout(
        graph, show_implied=structure.implied, apart=structure.is_ascii,
        before=None if is_near else _previous_layout(structure, before),
    )  # fmt: skip
    index = {step.id: position for position, step in enumerate(graph.steps)}
    return _make_drawing(structure, room, folded, layout, index)


def _previous_layout(structure: GraphStructure, before: GraphDrawing | None) -> Layout | None:
    """Return the layout whose steps keep their places; another run, view or alphabet begins anew.

    So does a run that had no steps: it was queued, and nothing of it stood anywhere.
    """
    if before is None or not before.index:
        return None
    was = before.structure
    now = (structure.run, structure.implied, structure.focus, structure.is_ascii)
    return before.layout if (was.run, was.implied, was.focus, was.is_ascii) == now else None


def _fitted(old: GraphDrawing) -> GraphDrawing:
    return _make_drawing(old.structure, old.room, old.folded, old.layout, old.index)


def _make_drawing(
    structure: GraphStructure, room: GraphSize, folded: FoldedGraph, layout: Layout, index: dict[str, int]
) -> GraphDrawing:
    picture = fit_picture(
        layout, max(1, room.width), wanted=room.wanted, height=room.height, is_ascii=structure.is_ascii
    )
    return GraphDrawing(
        structure=structure, room=room, folded=folded, layout=layout, picture=picture, index=index
    )


_STATUS_OF_GLYPH: Final[Mapping[str, StatusName]] = {
    glyph: name for name, _ in STEP_STATUSES.values() for glyph in (ICONS[name].unicode, ICONS[name].ascii)
}
_HIGHLIGHTED_STATES: Final = ("running", "waiting", "failed", "warned", "retrying")
_BADGE_COLORS: Final[Mapping[StepStatus, ColorName]] = {"waiting": "waiting", "warned": "failed"}


class GraphLine:
    """Draws lines in the colours in force."""

    def __init__(self, ink: Ink, glyphs: Glyphs, *, has_focus: bool) -> None:
        self._ink, self._glyphs, self._has_focus = ink, glyphs, has_focus
        self._wire, self._heavy = ink.of("faint"), ink.of("foreground")
        self._near = ink.of("info", bold=True)

    def strip(
        self,
        runs: Iterable[StyledSpan],
        facts: Mapping[int, StepFacts],
        cursor: int | None,
        near: Mapping[int, int],
        mark: int | None,
        x: int,
        width: int,
    ) -> Strip:
        """Return what is seen of a line.

        Args:
            runs: its parts without gaps; the first may begin before `x`.
            facts: by step.
            cursor: the step under the cursor.
            near: cells of the cursor's edges.
            mark: the cell of the cursor's mark; None draws none.
            x: the first cell that is seen.
            width: how many are.
        """
        segments: list[Segment] = []
        start: int | None = None
        for run in runs:
            start = run.x if start is None else start
            for text, style in self._styled(run, facts, cursor, near, mark):
                segments.append(Segment(text, style.rich_style))
        strip = Strip(segments)
        first = x - (start if start is not None else x)
        base = self._ink.on("background").rich_style
        return strip.crop(first, first + width).extend_cell_length(width, base).apply_style(base)

    def below(self, text: str, x: int, width: int) -> Strip:
        """Return a line that leads back, below the picture."""
        base = self._ink.on("background").rich_style
        strip = Strip([Segment(text, self._near.rich_style)]).crop(x, x + width)
        return strip.extend_cell_length(width, base).apply_style(base)

    def _styled(
        self, run: StyledSpan, facts: Mapping[int, StepFacts], cursor: int | None, near: Mapping[int, int],
        mark: int | None,
    ) -> Iterator[tuple[str, Style]]:  # fmt: skip
        if run.role in ("wire", "heavy"):
            yield from self._line(run, near, mark)
            return
        state = facts.get(run.step if run.step is not None else -1, PENDING_FACTS).state
        is_cursor = run.step == cursor
        style = self._text(run, state)
        if run.role == "item":
            yield from self._item(run.text)
        elif is_cursor and run.role in ("sign", "name"):
            yield run.text, self._ink.cursor(has_focus=self._has_focus) + style + self._reversed(mark)
        else:
            yield run.text, style

    def _reversed(self, mark: int | None) -> Style:
        """Return what tells the cursor where it has no mark and backgrounds are not seen."""
        return Style(reverse=True) if mark is None and not self._ink.has_tints else Style.null()

    def _text(self, run: StyledSpan, state: StepStatus) -> Style:
        ink = self._ink
        if run.role == "sign":
            return ink.sign(STEP_STATUSES[state][0])
        if run.role == "name":
            return ink.of(
                "muted" if state in ("pending", "skipped") else "foreground",
                bold=state in _HIGHLIGHTED_STATES,
            )
        return ink.of(_BADGE_COLORS.get(state, "muted"))

    def _item(self, text: str) -> Iterator[tuple[str, Style]]:
        yield text[:1], self._ink.sign(_STATUS_OF_GLYPH.get(text[:1], "todo"))
        yield text[1:], self._ink.of("muted")

    def _line(
        self, run: StyledSpan, near: Mapping[int, int], mark: int | None
    ) -> Iterator[tuple[str, Style]]:
        plain = self._heavy if run.role == "heavy" else self._wire
        if not near and (mark is None or not run.x <= mark < run.x + len(run.text)):
            yield run.text, plain
            return
        cells = ((run.x + offset, character) for offset, character in enumerate(run.text))
        for kind, group in groupby(cells, key=lambda cell: 2 if cell[0] == mark else cell[0] in near):
            text = "".join(character for _, character in group)
            if kind == 2:
                cursor = self._ink.of("info" if self._has_focus else "faint")
                yield self._glyphs.of("cursor"), self._ink.cursor(has_focus=self._has_focus) + cursor
            else:
                yield text, self._near if kind else plain


_MARGIN: Final = Offset(2, 1)
"""Columns and rows of the next wire that stay on the screen beside the cursor's step."""


class GraphPicture(LineView):
    """The drawing, with a cursor on one of its steps."""

    DEFAULT_CSS = "GraphPicture { overflow-x: auto; overflow-y: auto; scrollbar-size: 0 0; }"

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
        self.path: tuple[str, ...] = ()
        """Ids along the longest path, drawn heavy."""
        self._structure = GraphStructure()
        self._wanted: GraphKind = "auto"
        self._opened: dict[str, frozenset[str]] = {}
        self._trail = CursorTrail()
        self._facts: dict[int, StepFacts] = {}
        self._items: dict[int, Sequence[str]] = {}
        self._heavy: TracedCells = {}
        self._near: TracedCells = {}
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
        self.paint, self._before = RunFacts(run), before
        self._structure = replace(
            self._structure, run=run.id, steps=graph_steps(run),
            opened=self._opened.get(run.name, frozenset()),
            is_ascii=render_context.glyphs(self).is_ascii,
        )  # fmt: skip
        self._arrange()

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
        return GraphSize(width=self.size.width, height=self.size.height, wanted=self._wanted)

    def _take(self, drawing: GraphDrawing) -> None:
        was, self.drawing = self.drawing, drawing
        if drawing is was:
            self._repaint()
            return
        spot = self._spot(was)
        if self.cursor not in drawing.index:
            self.cursor = self._first(drawing)
        self._trail = CursorTrail()
        self._facts, self._items = {}, {}
        self._repaint(is_anew=True)
        self._keep(spot)
        self.post_message(self.Moved(self.cursor))

    def _first(self, drawing: GraphDrawing) -> str | None:
        """Return where the cursor begins: what asks, failed or runs, else the first step."""
        facts = self._facts_of(drawing)
        order = urgent_steps(drawing.layout, facts) or range(len(drawing.index))
        ids = list(drawing.index)
        return next((ids[index] for index in order), None)

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
    def _at(self) -> int | None:
        return self.drawing.index.get(self.cursor or "") if self.drawing is not None else None

    def _facts_of(self, drawing: GraphDrawing) -> dict[int, StepFacts]:
        paint = self.paint
        if paint is None:
            return {}
        return {index: paint.of(key, drawing.folded) for key, index in drawing.index.items()}

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
        if is_anew or traced:
            self._link()
            self.set_line_count(drawing.picture.height + len(self._back))
            self.invalidate()
            return
        changed = {index for index, step_facts in facts.items() if was.get(index) != step_facts}
        changed |= {index for index, lines in self._items.items() if items.get(index) != lines}
        self.invalidate(sorted({line for index in changed for line in self._lines_of(index)}))
        if changed:
            self.changed()

    def changed(self) -> None:
        """Be told that steps stand otherwise than they did."""

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
        if ids == self.path and self._heavy:
            return False
        is_new = ids != self.path
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
        self._near = drawing.picture.trace([edge for edge in drawing.layout.drawn if index in edge])
        self._back = back_edge_lines(drawing.picture, index) if graph.back else []

    def _traced(self, drawing: GraphDrawing) -> TracedCells:
        """Return the lines of the longest path; edges of it that are hidden have none."""
        drawn = set(drawing.layout.drawn)
        path = [drawing.index[key] for key in self.path if key in drawing.index]
        return drawing.picture.trace([edge for edge in pairwise(path) if edge in drawn])

    def _lines_of(self, index: int) -> range:
        picture = self.picture
        if picture is None or index >= len(picture.places):
            return range(0)
        place = picture.places[index]
        last = place.y if place.fact_y is None else place.fact_y
        return range(place.y, last + place.below + 1)

    def _grow(self, size: Size) -> None:
        self.virtual_size = Size(self.picture.width if self.picture is not None else 0, size.height)

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
        painter = GraphLine(render_context.ink(self), render_context.glyphs(self), has_focus=self.has_focus)
        x = self.scroll_offset.x
        if line >= picture.height:
            return painter.below(self._back[line - picture.height], x, width)
        span = (min(x, picture.width), min(x + width, picture.width))
        runs = picture.runs(line, self._facts, self._heavy, self._items, span=span)
        index = self._at
        place = picture.places[index] if index is not None else None
        mark = place.sign_x - 1 if place is not None and place.y == line else None
        near = self._near.get(line, {})
        return painter.strip(
            runs, self._facts, index, near, mark if _is_blank_before(picture, line, mark) else None, x, width
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
        index = self._at
        return set(self._near) | (set(self._lines_of(index)) if index is not None else set())

    def _reveal(self) -> None:
        index, picture = self._at, self.picture
        if index is None or picture is None or not self.size.area:
            return
        place, seen = picture.places[index], self.scroll_offset
        lines = self._lines_of(index)
        x = _least_scroll(seen.x, self.size.width, place.sign_x - 1 - _MARGIN.x, place.end + _MARGIN.x)
        y = _least_scroll(seen.y, self.size.height, lines.start - _MARGIN.y, lines.stop + _MARGIN.y)
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
