"""A graph as a pane shows it: what its layout depends on, what its picture is fitted to, its lit lines."""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from workbench.graph.canvas import Picture
from workbench.graph.fit import GraphKind, fit_pane
from workbench.graph.folding import FoldedGraph, fold_steps
from workbench.graph.layout import GraphLayout, compute_layout
from workbench.graph.model import GraphStep, StepFacts, build_graph
from workbench.graph.navigation import neighbourhood
from workbench.graph.strip import NamesRoom
from workbench.views.status_icons import StepStatus

MOST_LIT_STEPS = 200
"""Steps up to which the lines of what has ended are coloured."""


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
    may_scroll: bool = False
    """A graph may be larger than the pane."""
    is_tall: bool = False
    """Boxes may have lines for what came of their steps."""


class GraphDrawing(Struct, frozen=True, kw_only=True):
    """A picture with what it was made from."""

    structure: GraphStructure
    room: GraphSize
    folded: FoldedGraph
    layout: GraphLayout
    picture: Picture
    names: NamesRoom | None = None
    """Where the names of what needs a look stand, if the picture has none."""
    index: dict[str, int] = field(default_factory=dict[str, int])
    """By id of a drawn step: its place in the layout."""

    @property
    def has_notes(self) -> bool:
        """Return whether the boxes have lines for what came of their steps."""
        return any(place.notes for place in self.picture.places)

    @property
    def is_cut(self) -> bool:
        """Return whether the picture is larger than the pane."""
        return self.picture.width > self.room.width or self.picture.height > self.room.height


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
        if before.room == room:
            return before
        return _make_drawing(structure, room, before.folded, before.layout, before.index)
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


def _previous_layout(structure: GraphStructure, before: GraphDrawing | None) -> GraphLayout | None:
    """Return the layout whose steps keep their places; another run, view or alphabet starts again.

    So does a run that had no steps: it was queued, and nothing of it stood anywhere.
    """
    if before is None or not before.index:
        return None
    before_structure = before.structure
    key = (structure.run, structure.implied, structure.focus, structure.is_ascii)
    return (
        before.layout
        if (before_structure.run, before_structure.implied, before_structure.focus, before_structure.is_ascii)
        == key
        else None
    )


def _make_drawing(
    structure: GraphStructure,
    room: GraphSize,
    folded: FoldedGraph,
    layout: GraphLayout,
    index: dict[str, int],
) -> GraphDrawing:
    fitted = fit_pane(
        layout, max(1, room.width), room.height, wanted=room.wanted, may_scroll=room.may_scroll,
        is_tall=room.is_tall, is_ascii=structure.is_ascii,
    )  # fmt: skip
    return GraphDrawing(
        structure=structure, room=room, folded=folded, layout=layout, picture=fitted.picture,
        names=fitted.names, index=index,
    )  # fmt: skip


LitCells = Mapping[int, Mapping[int, StepStatus]]
"""The state of the step from which a line comes, by y and x, where that step has ended."""
_LIT_STATES: tuple[StepStatus, ...] = ("failed", "completed")


def lit_cells(drawing: GraphDrawing, facts: Mapping[int, StepFacts]) -> LitCells:
    """Find the lines of steps that have ended; in a cell that several share, a completed one is seen."""
    if len(drawing.index) > MOST_LIT_STEPS:
        return {}
    lit: dict[int, dict[int, StepStatus]] = {}
    for state in _LIT_STATES:
        edges = [edge for edge in drawing.layout.drawn if _ended_as(facts.get(edge[0])) == state]
        for y, row in drawing.picture.trace(edges).items():
            lit.setdefault(y, {}).update(dict.fromkeys(row, state))
    return lit


def _ended_as(facts: StepFacts | None) -> StepStatus | None:
    match facts.state if facts is not None else "pending":
        case "completed" | "completed_empty" | "refused":
            return "completed"
        case "failed" | "warned":
            return "failed"
        case _:
            return None


def hidden_steps(picture: Picture, steps: Iterable[int], x: range, y: range) -> list[int]:
    """Return those of some steps whose name is not, or not wholly, in the part of a picture that is seen."""
    places = picture.places
    return [
        v for v in steps if places[v].y not in y or places[v].start not in x or places[v].end - 1 > x.stop
    ]
