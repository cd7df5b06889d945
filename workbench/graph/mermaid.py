"""A graph as a mermaid flowchart, for pages that draw such.

Owns the escaping: a name must never become markup or end its quotes.
"""

from collections.abc import Mapping

from workbench.graph.facts import GOES_ON, PENDING, Facts
from workbench.graph.layout import Layout
from workbench.graph.model import Step, shown

_ESCAPED = {
    "#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "\\": "#92;", "`": "#96;",
    "%": "#37;", "{": "#123;", "}": "#125;", ":": "#58;", ";": "#59;",
}  # fmt: skip
"""Besides markup: `%%{` begins a directive wherever it is, and words with `:` and `;` are cut as styles."""
_TABLE = str.maketrans(_ESCAPED)


def mermaid(layout: Layout, facts: Mapping[int, Facts] | None = None) -> str:
    """Write a graph as mermaid text, with states as classes where they are known.

    Args:
        layout: The graph; edges without a line are left out.
        facts: By step.
    """
    lines = ["flowchart LR"]
    for v, step in enumerate(layout.graph.steps):
        fact = (facts or {}).get(v, PENDING)
        label = shown(step).translate(_TABLE)
        if fact.duration:
            label += f"<br/>{fact.duration.translate(_TABLE)}"
        if fact.state == "warned":
            label += f"<br/>{GOES_ON}"
        state = f":::{fact.state}" if v in (facts or {}) else ""
        left, right = _shape(step)
        lines.append(f'  s{v}{left}"{label}"{right}{state}')
    lines += [f"  s{u} --> s{v}" for u, v in layout.drawn]
    lines += [f"  s{u} -. back .-> s{v}" for u, v in layout.graph.back]
    used = sorted({fact.state for fact in (facts or {}).values()})
    lines += [f"  classDef {state} {_STYLES[state]}" for state in used if state in _STYLES]
    return "\n".join(lines) + "\n"


def _shape(step: Step) -> tuple[str, str]:
    if step.many is not None:
        return "[[", "]]"
    return ("{", "}") if step.chooses else ("{{", "}}") if step.asks else ("[", "]")


_STYLES = {
    "running": "stroke-width:3px",
    "retrying": "stroke-width:3px",
    "waiting": "stroke-width:3px,stroke-dasharray:6 3",
    "completed": "stroke:#2e7d32",
    "completed_empty": "stroke:#2e7d32",
    "warned": "stroke:#c62828,stroke-width:3px,stroke-dasharray:2 2",
    "failed": "stroke:#c62828,stroke-width:3px",
    "skipped": "opacity:0.5",
    "cancelled": "opacity:0.5",
}
