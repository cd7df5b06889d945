"""The whole of a large graph on a few lines, and the dashed line of an edge that leads back.

Owns drawings that stand beside the picture and never change its layout.
"""

from collections.abc import Mapping

from workbench.graph.facts import PENDING, WORST, Facts, State, as_ascii, sign
from workbench.graph.layout import Layout
from workbench.graph.model import shown
from workbench.graph.picture import Picture
from workbench.text.width import cells

_DOTS: dict[State, tuple[str, str]] = {
    "completed": ("▪", "v"),
    "completed_empty": ("▪", "v"),
    "pending": ("·", "."),
    "ready": ("·", "."),
}


def overview(
    layout: Layout, facts: Mapping[int, Facts], *, rows: int | None = None, is_ascii: bool = False
) -> list[str]:
    """Draw one cell for each layer and some rows; the worst state wins.

    Args:
        layout: What is drawn in full elsewhere.
        facts: By step.
        rows: Rows of the layout to one line; None puts all on one line, with the signs of the screen.
        is_ascii: Write signs in ASCII.
    """
    per_line = max(1, rows or layout.height)
    worst: dict[tuple[int, int], int] = {}
    for v in range(layout.net.steps):
        spot = layout.row[v] // per_line, layout.net.layer[v]
        rank = WORST.index(facts.get(v, PENDING).state)
        worst[spot] = min(rank, worst.get(spot, rank))
    lines = -(-layout.height // per_line)
    return [
        " ".join(
            _dot(worst.get((line, layer)), rows is None, is_ascii) for layer in range(layout.layers)
        ).rstrip()
        for line in range(lines)
    ]


def viewport(
    layout: Layout,
    picture: Picture,
    span: tuple[int, int],
    lines: tuple[int, int],
    *,
    rows: int | None = None,
) -> tuple[int, int, int, int]:
    """Return the part of the overview that a pane shows: first and last column, first and last line.

    Args:
        layout: The layout of both.
        picture: A band.
        span: The first cell that is seen and the one after the last.
        lines: The first line that is seen and the one after the last.
        rows: As for the overview.
    """
    per_line = max(1, rows or layout.height)
    seen = [
        v
        for v, place in enumerate(picture.places)
        if place.sign_x < span[1] and place.end > span[0] and lines[0] <= place.y < lines[1]
    ]
    columns = [2 * layout.net.layer[v] for v in seen] or [0]
    rows_seen = [layout.row[v] // per_line for v in seen] or [0]
    return min(columns), max(columns), min(rows_seen), max(rows_seen)


def _dot(rank: int | None, is_plain: bool, is_ascii: bool) -> str:
    if rank is None:
        return " "
    state = WORST[rank]
    small = None if is_plain else _DOTS.get(state)
    return small[is_ascii] if small else sign(Facts(state=state), is_ascii=is_ascii)


def back_lines(picture: Picture, at: int) -> list[str]:
    """Draw the edges that lead back from or to a step, one line each, to stand below the picture."""
    back = [edge for edge in picture.layout.graph.back if at in edge]
    return [_back(picture, start, to) for start, to in back]


def _back(picture: Picture, start: int, to: int) -> str:
    source, target = picture.places[start], picture.places[to]
    arrow, dash, left, right = "<.''" if picture.is_ascii else "◂╌╰╯"
    width = source.end - max(1, cells(source.mark) // 2) - target.sign_x
    if picture.kind in ("list", "wrapped") or width < 4:
        names = [shown(picture.steps()[v]) for v in (start, to)]
        words = " → ".join(names)
        return f"{arrow}{dash} {as_ascii(words.replace('→', '->')) if picture.is_ascii else words}"
    return " " * target.sign_x + left + arrow + dash * (width - 3) + right
