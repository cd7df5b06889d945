"""From the structure of a run to its picture for a pane: fold, lay out, fit; pure functions of values.

Owns when something is laid out anew: only when the structure or the user's wishes change, never because of a
state. What was there before keeps its place.
"""

from dataclasses import field, replace
from typing import Literal

from workbench.graph.fit import fit
from workbench.graph.fold import Folded, fold
from workbench.graph.layout import Layout, arrange
from workbench.graph.model import Step, build
from workbench.graph.picture import Picture
from workbench.graph.walk import neighbourhood
from workbench.records import dataclass

Kind = Literal["auto", "band", "wrapped", "list", "cards"]
KINDS: tuple[Kind, ...] = ("auto", "band", "wrapped", "list", "cards")

LARGE = 200
"""Steps above which a layout takes longer than a frame: it is made in a thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """What a layout depends on."""

    run: str = ""
    steps: tuple[Step, ...] = ()
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What a picture is fitted to."""

    width: int
    height: int
    wanted: Kind = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A picture with what it was made from."""

    structure: Structure
    room: Room
    folded: Folded
    layout: Layout
    picture: Picture
    index: dict[str, int] = field(default_factory=dict[str, int])
    """By id of a drawn step: its place in the layout."""


def draw(structure: Structure, room: Room, before: Drawing | None = None) -> Drawing:
    """Return the picture of a structure.

    Args:
        structure: what to draw.
        room: the pane.
        before: the drawing until now; its steps keep their layers and their order.
    """
    if before is not None and before.structure == structure:
        return before if before.room == room else _fitted(replace(before, room=room))
    folded = fold(structure.steps, opened=structure.opened, alike=structure.alike)
    graph = build(folded.steps)
    is_near = structure.focus is not None and any(step.id == structure.focus for step in graph.steps)
    if is_near:
        graph = build(neighbourhood(graph, graph.index(structure.focus or ""), structure.hops))
    layout = arrange(
        graph, show_implied=structure.implied, apart=structure.is_ascii,
        before=None if is_near else _seed(structure, before),
    )  # fmt: skip
    index = {step.id: at for at, step in enumerate(graph.steps)}
    return _drawn(structure, room, folded, layout, index)


def _seed(structure: Structure, before: Drawing | None) -> Layout | None:
    """Return the layout whose steps keep their places; another run, view or alphabet begins anew.

    So does a run that had no steps: it was queued, and nothing of it stood anywhere.
    """
    if before is None or not before.index:
        return None
    was = before.structure
    now = (structure.run, structure.implied, structure.focus, structure.is_ascii)
    return before.layout if (was.run, was.implied, was.focus, was.is_ascii) == now else None


def _fitted(old: Drawing) -> Drawing:
    return _drawn(old.structure, old.room, old.folded, old.layout, old.index)


def _drawn(
    structure: Structure, room: Room, folded: Folded, layout: Layout, index: dict[str, int]
) -> Drawing:
    picture = fit(
        layout, max(1, room.width), wanted=room.wanted, height=room.height, is_ascii=structure.is_ascii
    )
    return Drawing(structure=structure, room=room, folded=folded, layout=layout, picture=picture, index=index)
