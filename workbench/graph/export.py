"""A graph as an SVG document or as a Mermaid flowchart."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise

from workbench.graph import band
from workbench.graph.band import BandFrame, StepLabel
from workbench.graph.canvas import D, L, R, U
from workbench.graph.layout import GraphLayout
from workbench.graph.model import PENDING_FACTS, GraphStep, StepFacts, display_name
from workbench.graph.navigation import needs_and_feeds_text
from workbench.graph.step_text import FAILED_GOES_ON, badge_text, status_sign

_CELL_WIDTH, _LINE_HEIGHT, _HALF_LINE = 8, 32, 12
_SVG_STYLE = (
    "text{font:13px ui-monospace,monospace;fill:#1f2328}"
    "rect{fill:#fff;stroke:#59636e;rx:4}"
    "path{fill:none;stroke:#59636e;stroke-width:1.5}"
    "path.long{stroke-width:3.5}path.back{stroke-dasharray:4 3}"
    "circle{fill:#59636e}"
    ".failed rect,.warned rect{stroke:#c62828;stroke-width:2.5}"
    ".waiting rect,.refused rect{stroke:#9a6700;stroke-width:2.5}"
    ".running rect,.retrying rect{stroke:#0969da;stroke-width:2.5}"
    ".completed rect,.completed_empty rect{stroke:#1a7f37}"
    ".skipped,.cancelled{opacity:.6}"
    "@media(prefers-color-scheme:dark){text{fill:#f0f6fc}rect{fill:#0d1117}}"
)


def svg_document(
    layout: GraphLayout,
    labels: Sequence[StepLabel],
    facts: Mapping[int, StepFacts] | None = None,
    *,
    path: Iterable[tuple[int, int]] = (),
) -> str:
    frame = band.band_frame(layout, labels)
    strong = frozenset(path)
    width, height = (frame.width + 2) * _CELL_WIDTH, max(1, frame.height) * _LINE_HEIGHT + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f"<title>Pipeline of {len(labels)} steps</title>",
        f"<style>{_SVG_STYLE}</style>",
    ]
    parts += [_svg_edge(frame, edge, "long" if edge in strong else "edge") for edge in layout.drawn]
    parts += _junction_dots(frame)
    parts += [_svg_back_edge(frame, u, v) for u, v in layout.graph.back]
    parts += [
        _svg_step(frame, v, label, (facts or {}).get(v, PENDING_FACTS)) for v, label in enumerate(labels)
    ]
    return "\n".join([*parts, "</svg>\n"])


def _pixel_x(x: float) -> int:
    return round(x * _CELL_WIDTH + _CELL_WIDTH / 2)


def _pixel_y(y: int) -> int:
    return y * _LINE_HEIGHT + _LINE_HEIGHT // 2 + 8


def _svg_edge(frame: BandFrame, edge: tuple[int, int], kind: str) -> str:
    points = frame.corners(edge)
    start = frame.layer_x[frame.layout.net.layer[edge[0]]] + 2 + frame.labels[edge[0]].cells
    path = f"M{_pixel_x(start)} {_pixel_y(points[0][1])}"
    for (x, y), (end_x, end_y) in pairwise(points):
        path += (
            f"H{_pixel_x(end_x)}"
            if y == end_y and x != end_x
            else f"V{_pixel_y(end_y)}"
            if y != end_y
            else ""
        )
    end = _pixel_x(frame.layer_x[frame.layout.net.layer[edge[1]]])
    return f'<path class="{kind}" d="{path}H{end}"/>'


def _junction_dots(frame: BandFrame) -> list[str]:
    """Return a dot for each junction: lines that meet without one cross."""
    dots: list[str] = []
    for y, row in enumerate(band.draw_lines(frame)):
        for x, code in enumerate(row):
            if code < 16 and sum(bool(code & arm) for arm in (L, R, U, D)) > 2:
                dots.append(f'<circle cx="{_pixel_x(x)}" cy="{_pixel_y(y)}" r="2.5"/>')
    return dots


def _svg_back_edge(frame: BandFrame, u: int, v: int) -> str:
    layer, row = frame.layout.net.layer, frame.layout.row
    start, end = frame.layer_x[layer[u]] + 3, frame.layer_x[layer[v]] + 3
    low = _pixel_y(max(frame.y[row[u]], frame.y[row[v]])) + _HALF_LINE + 4
    return (
        f'<path class="back" d="M{_pixel_x(start)} {_pixel_y(frame.y[row[u]]) + _HALF_LINE}V{low}'
        f'H{_pixel_x(end)}V{_pixel_y(frame.y[row[v]]) + _HALF_LINE}"/>'
    )


def _svg_step(frame: BandFrame, v: int, label: StepLabel, facts: StepFacts) -> str:
    x, y = frame.layer_x[frame.layout.net.layer[v]], _pixel_y(frame.y[frame.layout.row[v]])
    words = f"{status_sign(facts)} {label.name} {badge_text(facts, label.slot)} {label.mark}"
    state = f"{FAILED_GOES_ON}; " if facts.state == "warned" else ""
    return (
        f'<g class="{facts.state}"><title>{escape(state + needs_and_feeds_text(frame.layout, v))}</title>'
        f'<rect x="{_pixel_x(x)}" y="{y - _HALF_LINE}"'
        f' width="{(label.cells + 2) * _CELL_WIDTH}" height="{2 * _HALF_LINE}"/>'
        f'<text x="{_pixel_x(x + 1)}" y="{y + 4}" xml:space="preserve">'
        f"{escape(' '.join(words.split()))}</text></g>"
    )


_ESCAPES = {
    "#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "\\": "#92;", "`": "#96;",
    "%": "#37;", "{": "#123;", "}": "#125;", ":": "#58;", ";": "#59;",
}  # fmt: skip
"""Besides markup: `%%{` starts a directive wherever it is, and words with `:` and `;` are cut as styles."""
_ESCAPE_TABLE = str.maketrans(_ESCAPES)


def mermaid_text(layout: GraphLayout, facts: Mapping[int, StepFacts] | None = None) -> str:
    """Write a graph as mermaid text, with states as classes where they are known."""
    lines = ["flowchart LR"]
    for v, step in enumerate(layout.graph.steps):
        fact = (facts or {}).get(v, PENDING_FACTS)
        label = display_name(step).translate(_ESCAPE_TABLE)
        if fact.duration:
            label += f"<br/>{fact.duration.translate(_ESCAPE_TABLE)}"
        if fact.state == "warned":
            label += f"<br/>{FAILED_GOES_ON}"
        state = f":::{fact.state}" if v in (facts or {}) else ""
        left, right = _mermaid_shape(step)
        lines.append(f'  s{v}{left}"{label}"{right}{state}')
    lines += [f"  s{u} --> s{v}" for u, v in layout.drawn]
    lines += [f"  s{u} -. back .-> s{v}" for u, v in layout.graph.back]
    used = sorted({fact.state for fact in (facts or {}).values()})
    lines += [f"  classDef {state} {_STATUS_STYLES[state]}" for state in used if state in _STATUS_STYLES]
    return "\n".join(lines) + "\n"


def _mermaid_shape(step: GraphStep) -> tuple[str, str]:
    if step.many is not None:
        return "[[", "]]"
    return ("{", "}") if step.chooses else ("{{", "}}") if step.asks else ("[", "]")


_STATUS_STYLES = {
    "running": "stroke-width:3px",
    "retrying": "stroke-width:3px",
    "waiting": "stroke-width:3px,stroke-dasharray:6 3",
    "completed": "stroke:#2e7d32",
    "completed_empty": "stroke:#2e7d32",
    "refused": "stroke:#9a6700,stroke-width:3px",
    "warned": "stroke:#c62828,stroke-width:3px,stroke-dasharray:2 2",
    "failed": "stroke:#c62828,stroke-width:3px",
    "skipped": "opacity:0.5",
    "cancelled": "opacity:0.5",
}
