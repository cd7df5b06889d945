"""The drawings that are kept as text; run as a module it writes them anew."""

import itertools
from dataclasses import replace
from pathlib import Path

from tests.unit.graph.shapes import BAR, REAL, graph_of, steps_of, wide
from workbench.graph.facts import Counts, Facts, short_duration
from workbench.graph.fit import fit, no_slots
from workbench.graph.fold import Item, fold, item_lines, together
from workbench.graph.layout import arrange
from workbench.graph.model import Step, build
from workbench.graph.overview import back_lines, overview
from workbench.graph.walk import hidden_note, longest, sentence

FOLDER = Path(__file__).parent / "samples"
WIDTHS = (60, 80, 100, 140)
SECONDS = (8, 52, 521, 17, 3, 447, 43, 53, 54, 12, 0.4, 7980)


def run_of(graph):
    """A run in its middle: done, failed, running, waiting, not started."""
    facts = {}
    for v in range(len(graph.steps) * 2 // 3):
        facts[v] = Facts(state="completed", duration=short_duration(SECONDS[v % 12]))
    if len(facts) > 3:
        last = len(facts) - 1
        facts[last] = Facts(state="running", duration="29s")
        facts[last - 1] = Facts(state="failed", duration="1m02")
    return facts


def block(title, lines):
    return "\n".join([f"# {title}", *lines, ""])


def pipeline(name):
    graph = graph_of(REAL[name])
    layout, facts = arrange(graph), run_of(graph)
    exact = {step.id: len(facts[v].duration) if v in facts else 0 for v, step in enumerate(graph.steps)}
    parts = []
    for width in WIDTHS:
        picture = fit(layout, width, slots=lambda step: exact[step.id])
        parts.append(block(f"{width} columns: {picture.kind}", picture.lines(facts)))
    live = fit(layout, 100)
    parts.append(block(f"live, 100 columns: {live.kind}", live.lines(facts)))
    plain = fit(arrange(graph, apart=True), 80, slots=no_slots, is_ascii=True)
    parts.append(block(f"ASCII, no run, 80 columns: {plain.kind}", plain.lines()))
    parts.append(block("list, 44 columns", fit(layout, 44, wanted="list").lines(facts)))
    note = hidden_note(layout)
    if note:
        shown = fit(arrange(graph, show_implied=True), 140, slots=no_slots)
        parts.append(block(f"{note}; shown, 140 columns: {shown.kind}", shown.lines()))
    return "\n".join(parts)


def heavy():
    graph = graph_of(REAL["docs-to-impl"])
    layout = arrange(graph)
    path = longest(graph, [8, 52, 521, 17, 3, 447, 43, 53, 54, 1, 900, 1])
    parts = []
    for kind, width in (("band", 140), ("wrapped", 100), ("list", 60)):
        picture = fit(layout, width, wanted=kind, slots=no_slots)
        parts.append(block(kind, picture.lines(trace=picture.trace(itertools.pairwise(path)))))
    plain = fit(arrange(graph, apart=True), 140, wanted="band", slots=no_slots, is_ascii=True)
    parts.append(block("ASCII", plain.lines(trace=plain.trace(itertools.pairwise(path)))))
    return "\n".join(parts)


def folds():
    items = [Item(name=f"py3.{at}-linux", facts=Facts(state="completed", duration="12s")) for at in range(9)]
    items += [
        Item(name="py3.9-win", facts=Facts(state="failed", duration="1m02", note="exit 1")),
        Item(name="py3.12-mac", facts=Facts(state="running", duration="31s")),
        Item(name="py3.12-win", facts=Facts(state="running", duration="29s")),
    ]
    tests = Step(id="tests", needs=("plan",), is_matrix=True, items=tuple(item.name for item in items))
    steps = [Step(id="plan"), tests, Step(id="merge", needs=("tests",))]
    facts = {0: Facts(state="completed", duration="8s"), 1: together([item.facts for item in items])}
    closed = arrange(build(fold(steps).steps))
    opened = arrange(build(fold(steps, opened=("tests",)).steps), before=closed)
    listed = {1: item_lines(items)}
    parts = [block("a matrix", fit(closed, 80).lines(facts))]
    parts += [
        block(f"opened: {kind}", fit(opened, 80, wanted=kind).lines(facts, items=listed))
        for kind in ("band", "list", "cards")
    ]
    alike = [Step(id="start")]
    for at in range(25):
        alike += [
            Step(id=f"p{at}-lint", needs=("start",)),
            Step(id=f"p{at}-build", needs=(f"p{at}-lint",)),
            Step(id=f"p{at}-test", needs=(f"p{at}-build",)),
        ]
    alike.append(Step(id="release", needs=tuple(step.id for step in alike if step.id.endswith("-test"))))
    parts.append(
        block("77 steps: 25 chains that are alike", fit(arrange(build(fold(alike).steps)), 100).lines())
    )
    return "\n".join(parts)


def cards():
    graph = graph_of(REAL["demo"])
    facts = run_of(graph)
    parts = []
    for title, height in (("a line of facts", 30), ("one line", 6)):
        picture = fit(arrange(graph), 100, height=height)
        parts.append(block(f"cards, {title}", picture.lines(facts, picture.trace([(0, 2), (2, 3), (3, 4)]))))
    plain = fit(arrange(graph, apart=True), 100, wanted="cards", is_ascii=True)
    return "\n".join([*parts, block("ASCII", plain.lines(facts)), release()])


def release():
    """The pipeline of the screen's picture, with everything a card can say."""
    steps = steps_of("plan | api: plan | web: plan | docs: plan | tests: api web docs | release?: tests")
    steps += steps_of("deploy: release? | notes: release? | summary: deploy notes")
    steps[1] = replace(steps[1], contract=True)
    steps[2] = replace(steps[2], attempts=3)
    steps[3] = replace(steps[3], contract=True)
    steps[4] = replace(steps[4], many=12)
    steps[5] = replace(steps[5], asks=True)
    facts = {
        0: Facts(state="completed", duration="4s"),
        1: Facts(state="completed", duration="1m12", contract="kept"),
        2: Facts(state="completed", duration="48s", attempt=2),
        3: Facts(state="failed", duration="31s", contract="broken"),
        4: Facts(state="running", counts=Counts(ok=9, run=2)),
        5: Facts(state="waiting", note="asks you 14:40"),
    }
    picture = fit(arrange(build(steps)), 160, height=40)
    live = fit(arrange(build(steps)), 120)
    path = [(0, 1), (1, 4), (4, 5)]
    return "\n".join(block(shown.kind, shown.lines(facts, shown.trace(path))) for shown in (picture, live))


def back():
    steps = steps_of("plan | implement: plan | review: implement | pr: review")
    steps[2] = Step(id="review", needs=("implement",), returns=("implement",))
    picture = fit(arrange(build(steps)), 80, slots=no_slots)
    loop = arrange(build(steps_of("plan: review | implement: plan | review: implement")))
    looped = fit(loop, 80, slots=no_slots)
    return "\n".join(
        [
            block("rework", [*picture.lines(), *back_lines(picture, 2), sentence(picture.layout, 2)]),
            block("a loop", [*looped.lines(), *back_lines(looped, 2), *loop.graph.problems]),
        ]
    )


def large():
    graph = wide(200, 20, 2)
    layout = arrange(graph)
    facts = {v: Facts(state="completed" if v % 37 else "failed", duration="8s") for v in range(120)}
    picture = fit(layout, 120, wanted="band")
    window = [line[:120].rstrip() for line in picture.lines(facts)][:30]
    small = fit(arrange(graph_of(BAR["monorepo"])), 20, wanted="list", slots=no_slots)
    return "\n".join(
        [
            block(f"200 steps, the upper left of {picture.width}×{picture.height}", window),
            block("overview", overview(layout, facts, rows=4)),
            block("overview on one line", overview(layout, facts)),
            block("20 columns", small.lines()),
        ]
    )


SPECIAL = {"heavy": heavy, "folds": folds, "cards": cards, "back": back, "large": large}


def drawing(name):
    return SPECIAL[name]() if name in SPECIAL else pipeline(name)


def main():
    FOLDER.mkdir(exist_ok=True)
    for name in (*REAL, *(f"{special}" for special in SPECIAL)):
        (FOLDER / f"{name}.txt").write_text(drawing(name), encoding="utf-8")


if __name__ == "__main__":
    main()
