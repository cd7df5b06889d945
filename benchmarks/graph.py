"""Times of layout, drawing and one change of state; run it: `python -m benchmarks.graph`."""

import statistics
import sys
import time
from collections.abc import Callable

from tests.unit.graph.shapes import REAL, graph_of, monorepo, wide
from workbench.graph.edge_routes import gap_crossings
from workbench.graph.fit import fit_picture
from workbench.graph.layout import compute_layout
from workbench.graph.model import Graph, GraphStep, StepFacts, build_graph

ROUNDS = 5
LIMIT_MS = 100.0


def measured(work: Callable[[], object]) -> float:
    """Return the median process time of some rounds in milliseconds."""
    times: list[float] = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times) * 1000


def count_up() -> int:
    """The yardstick: three million additions."""
    total = 0
    while total < 3_000_000:
        total += 1
    return total


def fan(width: int) -> Graph:
    """One step that feeds many, which feed one."""
    middle = [GraphStep(id=f"m{at}", needs=("first",)) for at in range(width)]
    return build_graph(
        [GraphStep(id="first"), *middle, GraphStep(id="last", needs=tuple(step.id for step in middle))]
    )


def report(name: str, graph: Graph) -> float:
    """Print one line and return the time of the layout."""
    layout = compute_layout(graph)
    band = fit_picture(layout, 10_000, wanted="band")
    listed = fit_picture(layout, 100, wanted="list")
    took = measured(lambda: compute_layout(graph))
    draw = measured(lambda: fit_picture(layout, 10_000, wanted="band"))
    compact = measured(lambda: fit_picture(layout, 100, wanted="list"))
    facts = {v: StepFacts(state="completed", duration="8s") for v in range(len(graph.steps))}
    before = band.lines(facts)
    step = len(graph.steps) // 2
    after = {**facts, step: StepFacts(state="failed", duration="9s")}
    changed = sum(a != b for a, b in zip(before, band.lines(after), strict=True))
    place = band.places[step]
    seen = (max(0, place.sign_x - 60), place.sign_x + 60)
    line = measured(lambda: list(band.runs(place.y, after, span=seen)))
    print(
        f"{name:<22}{len(graph.steps):>6}{len(graph.edges()):>7}"
        f"{len(layout.net.layer) - layout.net.steps:>7}{f'{band.width}x{band.height}':>12}"
        f"{sum(map(gap_crossings, layout.gaps)):>10}{took:>10.1f}{draw:>9.1f}{compact:>9.1f}"
        f"{changed:>9}{line * 1000:>10.0f}{listed.width:>7}"
    )
    return took


def main() -> int:
    """Print all numbers; fail when a layout of 1,000 steps takes too long."""
    print(f"3,000,000 additions: {measured(count_up):.0f} ms")
    print(
        f"{'graph':<22}{'steps':>6}{'edges':>7}{'lanes':>7}{'cells':>12}{'crossings':>10}"
        f"{'layout ms':>10}{'band ms':>9}{'list ms':>9}{'changed':>9}{'line µs':>10}{'list w':>7}"
    )
    report("docs-to-impl", graph_of(REAL["docs-to-impl"]))
    report("monorepo, 3 packages", graph_of(REAL["monorepo"]))
    report("random 100", wide(100, 12, 2))
    report("random 200", wide(200, 20, 2))
    report("chain 1000", wide(1000, 1, 1))
    report("fan 998", fan(998))
    report("monorepo, 249 packages", monorepo(249))
    took = [
        report("random 1000, reach 32", wide(1000, 32, 2)),
        report("random 1000, reach 20", wide(1000, 20, 2)),
        report("random 1000, dense", wide(1000, 32, 4)),
    ]
    is_slow = max(took) > LIMIT_MS
    verdict = "too slow" if is_slow else "ok"
    print(f"layout of 1,000 steps: {max(took):.0f} ms, at most {LIMIT_MS:.0f} ms: {verdict}")
    return int(is_slow)


if __name__ == "__main__":
    sys.exit(main())
