"""A graph as an svg picture: the band of the terminal with real lines.

Owns sizes and colours of that picture. Every name is escaped; the picture loads nothing and runs nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise

from workbench.graph import band
from workbench.graph.band import Frame, Label
from workbench.graph.facts import GOES_ON, PENDING, Facts, badge, sign
from workbench.graph.glyphs import D, L, R, U
from workbench.graph.layout import Layout
from workbench.graph.walk import sentence

_CELL, _LINE, _HALF = 8, 32, 12

_STYLE = (
    "text{font:13px ui-monospace,monospace;fill:#1f2328}"
    "rect{fill:#fff;stroke:#59636e;rx:4}"
    "path{fill:none;stroke:#59636e;stroke-width:1.5}"
    "path.long{stroke-width:3.5}path.back{stroke-dasharray:4 3}"
    "circle{fill:#59636e}"
    ".failed rect,.warned rect{stroke:#c62828;stroke-width:2.5}"
    ".waiting rect{stroke:#9a6700;stroke-width:2.5}"
    ".running rect,.retrying rect{stroke:#0969da;stroke-width:2.5}"
    ".completed rect,.completed_empty rect{stroke:#1a7f37}"
    ".skipped,.cancelled{opacity:.6}"
    "@media(prefers-color-scheme:dark){text{fill:#f0f6fc}rect{fill:#0d1117}}"
)


def svg(
    layout: Layout,
    labels: Sequence[Label],
    facts: Mapping[int, Facts] | None = None,
    *,
    path: Iterable[tuple[int, int]] = (),
) -> str:
    """Draw a layout as a complete svg document.

    Args:
        layout: What to draw.
        labels: By step.
        facts: By step.
        path: Edges to draw strong.
    """
    at = band.frame(layout, labels)
    strong = frozenset(path)
    width, height = (at.width + 2) * _CELL, max(1, at.height) * _LINE + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f"<title>Pipeline of {len(labels)} steps</title>",
        f"<style>{_STYLE}</style>",
    ]
    parts += [_edge(at, edge, "long" if edge in strong else "edge") for edge in layout.drawn]
    parts += _dots(at)
    parts += [_back(at, u, v) for u, v in layout.graph.back]
    parts += [_step(at, v, label, (facts or {}).get(v, PENDING)) for v, label in enumerate(labels)]
    return "\n".join([*parts, "</svg>\n"])


def _x(x: float) -> int:
    return round(x * _CELL + _CELL / 2)


def _y(y: int) -> int:
    return y * _LINE + _LINE // 2 + 8


def _edge(at: Frame, edge: tuple[int, int], kind: str) -> str:
    points = at.corners(edge)
    start = at.layer_x[at.layout.net.layer[edge[0]]] + 2 + at.labels[edge[0]].cells
    path = f"M{_x(start)} {_y(points[0][1])}"
    for (x, y), (end_x, end_y) in pairwise(points):
        path += f"H{_x(end_x)}" if y == end_y and x != end_x else f"V{_y(end_y)}" if y != end_y else ""
    end = _x(at.layer_x[at.layout.net.layer[edge[1]]])
    return f'<path class="{kind}" d="{path}H{end}"/>'


def _dots(at: Frame) -> list[str]:
    """Mark what joins: lines that meet without a dot cross."""
    found: list[str] = []
    for y, row in enumerate(band.cells(at)):
        for x, code in enumerate(row):
            if code < 16 and sum(bool(code & arm) for arm in (L, R, U, D)) > 2:
                found.append(f'<circle cx="{_x(x)}" cy="{_y(y)}" r="2.5"/>')
    return found


def _back(at: Frame, u: int, v: int) -> str:
    layer, row = at.layout.net.layer, at.layout.row
    start, end = at.layer_x[layer[u]] + 3, at.layer_x[layer[v]] + 3
    low = _y(max(at.y[row[u]], at.y[row[v]])) + _HALF + 4
    return (
        f'<path class="back" d="M{_x(start)} {_y(at.y[row[u]]) + _HALF}V{low}'
        f'H{_x(end)}V{_y(at.y[row[v]]) + _HALF}"/>'
    )


def _step(at: Frame, v: int, label: Label, facts: Facts) -> str:
    step = at.layout.graph.steps[v]
    x, y = at.layer_x[at.layout.net.layer[v]], _y(at.y[at.layout.row[v]])
    words = f"{sign(facts)} {label.name} {badge(step, facts, label.slot)} {label.mark}"
    state = f"{GOES_ON}; " if facts.state == "warned" else ""
    return (
        f'<g class="{facts.state}"><title>{escape(state + sentence(at.layout, v))}</title>'
        f'<rect x="{_x(x)}" y="{y - _HALF}" width="{(label.cells + 2) * _CELL}" height="{2 * _HALF}"/>'
        f'<text x="{_x(x + 1)}" y="{y + 4}" xml:space="preserve">{escape(" ".join(words.split()))}</text></g>'
    )
