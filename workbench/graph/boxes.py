"""Drawing with boxes: the frame of a step tells its state, a second line what it asks, why, or how far it is.

Every box has room for its lines from the beginning, so that no state moves anything: where a step has no more
to say than its name, the frame closes a line earlier.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from workbench.graph.band import (
    BandFrame,
    StepLabel,
    band_frame,
    build_picture,
    draw_lines,
    position_steps,
)
from workbench.graph.canvas import BOX_SIDE, VERTICAL, L, Picture, R, StepPosition
from workbench.graph.edge_routes import Gap
from workbench.graph.layout import Layout

BOX_EDGES = 2
"""Cells of a box on either side of what stands in it: the frame and a blank."""


def box_frame(layout: Layout, labels: Sequence[StepLabel], *, has_detail: bool) -> BandFrame:
    return band_frame(layout, labels, around=2 if has_detail else 1)


def draw_boxes(frame: BandFrame, *, has_detail: bool, is_ascii: bool = False) -> Picture:
    """Draw a layout with a box around each step, with a second line in it or without."""
    grid = draw_lines(frame)
    positions = [
        _box_position(frame, v, place, has_detail=has_detail) for v, place in enumerate(position_steps(frame))
    ]
    for v, place in enumerate(positions):
        _mark_sides(frame, v, place, grid)
    return build_picture(frame, "boxes", grid, positions, is_ascii=is_ascii)


def _box_position(at: BandFrame, v: int, place: StepPosition, *, has_detail: bool) -> StepPosition:
    layer = at.layout.net.layer[v]
    end = at.gap_x[layer] if layer < len(at.gap_x) else at.width
    return replace(
        place, end=end, is_boxed=True, below_room=end - BOX_EDGES - place.sign_x,
        detail_y=place.y + 1 if has_detail else None,
    )  # fmt: skip


def _mark_sides(at: BandFrame, v: int, place: StepPosition, grid: list[bytearray]) -> None:
    """Note at the sides of a box where a line reaches it."""
    layer, row, cells = at.layout.net.layer[v], at.layout.row[v], grid[place.y]
    is_entered = layer > 0 and _is_reached(at.layout.gaps[layer - 1], row, 2)
    is_left = layer < len(at.layout.gaps) and _is_reached(at.layout.gaps[layer], row, 1)
    cells[place.start] = VERTICAL | BOX_SIDE | (L if is_entered else 0)
    cells[place.end - 1] = VERTICAL | BOX_SIDE | (R if is_left else 0)


def _is_reached(gap: Gap, row: int, end: int) -> bool:
    """Say whether a piece of the gap reaches the step: its first (1) or last (2) end is at the edge."""
    return any(piece[0] == row and piece[end] < 0 for piece in gap.pieces)
