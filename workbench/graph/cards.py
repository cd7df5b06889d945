"""Few steps on a large pane: the band with a card around each step.

Owns the borders. Places, gaps and lines are those of the band; the rows are only taller.
"""

from collections.abc import Sequence
from dataclasses import replace

from workbench.graph import band
from workbench.graph.band import Frame, Label
from workbench.graph.columns import Gap
from workbench.graph.glyphs import ACROSS, CARD, DOWNWARD, D, L, R, U
from workbench.graph.layout import Layout
from workbench.graph.picture import Picture, Place
from workbench.text.width import cells as width_of


def cards(
    layout: Layout, labels: Sequence[Label], *, has_facts: bool = False, is_ascii: bool = False
) -> Picture:
    """Draw a layout with a card around each step.

    Args:
        layout: What to draw.
        labels: By step.
        has_facts: Give what is known of a step a line of its own below the name.
        is_ascii: Draw in ASCII.
    """
    shown = [_stacked(label) for label in labels] if has_facts else labels
    at = band.frame(layout, shown, around=2 if has_facts else 1)
    grid = band.cells(at)
    found = [_place(at, v, place) for v, place in enumerate(band.places(at))]
    if has_facts:
        found = [_below(place, label) for place, label in zip(found, labels, strict=True)]
    for v, place in enumerate(found):
        _border(at, v, place, grid)
    return band.picture(at, "cards", grid, found, is_ascii=is_ascii)


def _stacked(label: Label) -> Label:
    """Return a label as wide as its name or its badges, whichever is wider."""
    return replace(label, slot=0, mark="", least=max(label.least, 2 + _facts(label)))


def _facts(label: Label) -> int:
    mark = width_of(label.mark)
    return label.line + (mark + 1 if mark else 0)


def _below(place: Place, label: Label) -> Place:
    return replace(
        place,
        badge_x=place.name_x,
        fact_y=place.y + 1,
        aligned=False,
        mark=label.mark,
        room=place.end - 2 - place.name_x - _facts(label) + label.line,
    )


def _place(at: Frame, v: int, place: Place) -> Place:
    layer = at.layout.net.layer[v]
    end = at.gap_x[layer] if layer < len(at.gap_x) else at.width
    return replace(place, end=end, badge_x=end - 2, aligned=True, below_room=end - 2 - place.sign_x)


def _border(at: Frame, v: int, place: Place, grid: list[bytearray]) -> None:
    left, right = place.sign_x - 2, place.end - 1
    bottom = (place.fact_y or place.y) + place.below + 1
    for y, corner in ((place.y - 1, D), (bottom, U)):
        grid[y][left : right + 1] = bytes([ACROSS | CARD]) * (right + 1 - left)
        grid[y][left], grid[y][right] = R | corner | CARD, L | corner | CARD
    for y in range(place.y, bottom):
        grid[y][left] = grid[y][right] = DOWNWARD | CARD
    layer = at.layout.net.layer[v]
    if layer and _meets(at.layout.gaps[layer - 1], at.layout.row[v], 2):
        grid[place.y][left] |= L
    if layer < len(at.layout.gaps) and _meets(at.layout.gaps[layer], at.layout.row[v], 1):
        grid[place.y][right] |= R


def _meets(gap: Gap, row: int, end: int) -> bool:
    """Say whether a piece of the gap reaches the step: its first (1) or last (2) end is at the edge."""
    return any(piece[0] == row and piece[end] < 0 for piece in gap.pieces)
