"""The drawings that are kept as text; run as a module it writes them anew."""

import itertools
from pathlib import Path

from msgspec.structs import replace

from tests.unit.graph.shapes import BAR, REAL, graph_of, steps_of, wide
from workbench.graph.fit import fit_picture, no_badge_width
from workbench.graph.folding import FoldMember, fold_steps, member_lines
from workbench.graph.layout import compute_layout
from workbench.graph.model import GraphStep, StatusCounts, StepFacts, build_graph
from workbench.graph.navigation import (
    back_edge_lines,
    combine_facts,
    hidden_edges_note,
    longest_path,
    needs_and_feeds_text,
    overview_lines,
    urgent_steps,
)
from workbench.graph.strip import fit_strip, name_rows
from workbench.text.human import duration_text

FOLDER = Path(__file__).parent / "samples"
WIDTHS = (60, 80, 100, 140)
SECONDS = (8, 52, 521, 17, 3, 447, 43, 53, 54, 12, 0.4, 7980)


def run_of(graph):
    """A run in its middle: done, failed, running, waiting, not started."""
    facts = {}
    for v in range(len(graph.steps) * 2 // 3):
        facts[v] = StepFacts(state="completed", duration=duration_text(SECONDS[v % 12]))
    if len(facts) > 3:
        last = len(facts) - 1
        facts[last] = StepFacts(state="running", duration="0:29")
        facts[last - 1] = StepFacts(state="failed", duration="1:02")
    return facts


def block(title, lines):
    return "\n".join([f"# {title}", *lines, ""])


def pipeline(name):
    graph = graph_of(REAL[name])
    layout, facts = compute_layout(graph), run_of(graph)
    exact = {step.id: len(facts[v].duration) if v in facts else 0 for v, step in enumerate(graph.steps)}
    parts = []
    for width in WIDTHS:
        picture = fit_picture(layout, width, slots=lambda step: exact[step.id])
        parts.append(block(f"{width} columns: {picture.kind}", picture.lines(facts)))
    live = fit_picture(layout, 100)
    parts.append(block(f"live, 100 columns: {live.kind}", live.lines(facts)))
    plain = fit_picture(compute_layout(graph, apart=True), 80, slots=no_badge_width, is_ascii=True)
    parts.append(block(f"ASCII, no run, 80 columns: {plain.kind}", plain.lines()))
    parts.append(block("list, 44 columns", fit_picture(layout, 44, wanted="list").lines(facts)))
    note = hidden_edges_note(layout)
    if note:
        shown = fit_picture(compute_layout(graph, show_implied=True), 140, slots=no_badge_width)
        parts.append(block(f"{note}; shown, 140 columns: {shown.kind}", shown.lines()))
    return "\n".join(parts)


def heavy():
    graph = graph_of(REAL["docs-to-impl"])
    layout = compute_layout(graph)
    path = longest_path(graph, [8, 52, 521, 17, 3, 447, 43, 53, 54, 1, 900, 1])
    parts = []
    for kind, width in (("band", 140), ("wrapped", 100), ("list", 60)):
        picture = fit_picture(layout, width, wanted=kind, slots=no_badge_width)
        parts.append(block(kind, picture.lines(trace=picture.trace(itertools.pairwise(path)))))
    plain = fit_picture(
        compute_layout(graph, apart=True), 140, wanted="band", slots=no_badge_width, is_ascii=True
    )
    parts.append(block("ASCII", plain.lines(trace=plain.trace(itertools.pairwise(path)))))
    return "\n".join(parts)


def folds():
    items = [
        FoldMember(name=f"py3.{at}-linux", facts=StepFacts(state="completed", duration="12 s"))
        for at in range(9)
    ]
    items += [
        FoldMember(name="py3.9-win", facts=StepFacts(state="failed", duration="1:02", reason="exit 1")),
        FoldMember(name="py3.12-mac", facts=StepFacts(state="running", duration="31 s")),
        FoldMember(name="py3.12-win", facts=StepFacts(state="running", duration="0:29")),
    ]
    tests = GraphStep(id="tests", needs=("plan",), is_matrix=True, items=tuple(item.name for item in items))
    steps = [GraphStep(id="plan"), tests, GraphStep(id="merge", needs=("tests",))]
    facts = {
        0: StepFacts(state="completed", duration="8.0 s"),
        1: combine_facts([item.facts for item in items]),
    }
    closed = compute_layout(build_graph(fold_steps(steps).steps))
    opened = compute_layout(build_graph(fold_steps(steps, opened=("tests",)).steps), before=closed)
    listed = {1: member_lines(items)}
    parts = [block("a matrix", fit_picture(closed, 80).lines(facts))]
    parts += [
        block(f"opened: {kind}", fit_picture(opened, 80, wanted=kind).lines(facts, items=listed))
        for kind in ("band", "list", "boxes")
    ]
    alike = [GraphStep(id="start")]
    for at in range(25):
        alike += [
            GraphStep(id=f"p{at}-lint", needs=("start",)),
            GraphStep(id=f"p{at}-build", needs=(f"p{at}-lint",)),
            GraphStep(id=f"p{at}-test", needs=(f"p{at}-build",)),
        ]
    alike.append(GraphStep(id="release", needs=tuple(step.id for step in alike if step.id.endswith("-test"))))
    parts.append(
        block(
            "77 steps: 25 chains that are alike",
            fit_picture(compute_layout(build_graph(fold_steps(alike).steps)), 100).lines(),
        )
    )
    return "\n".join(parts)


def boxes():
    graph = graph_of(REAL["demo"])
    facts = run_of(graph)
    parts = []
    for title, width in (("two lines", 140), ("one line beside the name", 100), ("all below the name", 80)):
        picture = fit_picture(compute_layout(graph), width, wanted="boxes")
        parts.append(block(f"boxes, {title}", picture.lines(facts, picture.trace([(0, 2), (2, 3), (3, 4)]))))
    plain = fit_picture(compute_layout(graph, apart=True), 140, wanted="boxes", is_ascii=True)
    return "\n".join([*parts, block("ASCII", plain.lines(facts)), release()])


def strips():
    graph = graph_of(REAL["monorepo"])
    parts = []
    for is_ascii in (False, True):
        layout, facts = compute_layout(graph, apart=is_ascii), run_of(graph)
        for width, height in ((90, 16), (50, 16), (60, 4), (30, 3), (16, 4)):
            strip = fit_strip(layout, width, height, is_ascii=is_ascii)
            order = urgent_steps(layout, facts)
            rows = name_rows(graph, order, facts, strip.names, is_ascii=is_ascii)
            parts.append(block(f"{width} x {height}", strip_lines(strip, rows, facts)))
    return "\n".join(parts)


def strip_lines(strip, rows, facts):
    """Write a strip with its names as text."""
    lines = strip.picture.lines(facts)
    for y, row in enumerate(rows, strip.names.y):
        lines += [""] * (y + 1 - len(lines))
        for span in row:
            lines[y] = lines[y].ljust(span.x) + span.text
    return [line.rstrip() for line in lines]


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
        0: StepFacts(state="completed", duration="4.0 s"),
        1: StepFacts(state="completed", duration="1:12", contract="kept"),
        2: StepFacts(state="completed", duration="48 s", attempt=2),
        3: StepFacts(state="warned", duration="31 s", contract="broken", attempt=2, reason="exit 3"),
        4: StepFacts(state="running", counts=StatusCounts(ok=9, run=2)),
        5: StepFacts(state="waiting", left="14:40", asks="deploy to staging?"),
    }
    picture = fit_picture(compute_layout(build_graph(steps)), 200, wanted="boxes")
    live = fit_picture(compute_layout(build_graph(steps)), 120)
    path = [(0, 1), (1, 4), (4, 5)]
    return "\n".join(block(shown.kind, shown.lines(facts, shown.trace(path))) for shown in (picture, live))


def back():
    steps = steps_of("plan | implement: plan | review: implement | pr: review")
    steps[2] = GraphStep(id="review", needs=("implement",), returns=("implement",))
    picture = fit_picture(compute_layout(build_graph(steps)), 80, slots=no_badge_width)
    loop = compute_layout(build_graph(steps_of("plan: review | implement: plan | review: implement")))
    looped = fit_picture(loop, 80, slots=no_badge_width)
    return "\n".join(
        [
            block(
                "rework",
                [*picture.lines(), *back_edge_lines(picture, 2), needs_and_feeds_text(picture.layout, 2)],
            ),
            block("a loop", [*looped.lines(), *back_edge_lines(looped, 2), *loop.graph.problems]),
        ]
    )


def large():
    graph = wide(200, 20, 2)
    layout = compute_layout(graph)
    facts = {v: StepFacts(state="completed" if v % 37 else "failed", duration="8.0 s") for v in range(120)}
    picture = fit_picture(layout, 120, wanted="band")
    window = [line[:120].rstrip() for line in picture.lines(facts)][:30]
    small = fit_picture(compute_layout(graph_of(BAR["monorepo"])), 20, wanted="list", slots=no_badge_width)
    return "\n".join(
        [
            block(f"200 steps, the upper left of {picture.width}×{picture.height}", window),
            block("overview", overview_lines(layout, facts, rows=4)),
            block("overview on one line", overview_lines(layout, facts)),
            block("20 columns", small.lines()),
        ]
    )


SPECIAL = {"heavy": heavy, "folds": folds, "boxes": boxes, "strips": strips, "back": back, "large": large}


def drawing(name):
    return SPECIAL[name]() if name in SPECIAL else pipeline(name)


def main():
    FOLDER.mkdir(exist_ok=True)
    for name in (*REAL, *(f"{special}" for special in SPECIAL)):
        (FOLDER / f"{name}.txt").write_text(drawing(name), encoding="utf-8")


if __name__ == "__main__":
    main()
