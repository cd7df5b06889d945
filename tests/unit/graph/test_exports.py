"""Mermaid and svg, the overview, heavy lines and the dashed way back."""

import functools
import itertools
import re
import unicodedata
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.tables import each_row
from tests.unit.graph.shapes import BAR, REAL, dags, graph_of, steps_of, wide
from workbench.graph.canvas import ASCII_GLYPHS, UNICODE_GLYPHS, heavy_glyph
from workbench.graph.export import mermaid_text, svg_document
from workbench.graph.fit import fit_picture, no_badge_width, step_labels
from workbench.graph.layout import compute_layout
from workbench.graph.model import GraphStep, StepFacts, build_graph
from workbench.graph.navigation import (
    back_edge_lines,
    needs_and_feeds_text,
    overview_lines,
    overview_viewport,
)
from workbench.graph.step_text import badge_width

NASTY = '"]; click s0 "javascript:x" <b>&#x41;\u202e'


def test_mermaid():
    layout = compute_layout(
        build_graph(
            [
                GraphStep(id="a"),
                GraphStep(id="b", needs=("a",), asks=True, returns=("a",)),
                GraphStep(id="c", many=3),
            ]
        )
    )
    assert mermaid_text(layout, {0: StepFacts(state="completed", duration="8s")}) == (
        "flowchart LR\n"
        '  s0["a<br/>8s"]:::completed\n'
        '  s1{{"b"}}\n'
        '  s2[["c (3)"]]\n'
        "  s0 --> s1\n"
        "  s1 -. back .-> s0\n"
        "  classDef completed stroke:#2e7d32\n"
    )


def test_a_name_cannot_leave_its_quotes_in_mermaid():
    line = mermaid_text(compute_layout(build_graph([GraphStep(id=NASTY)]))).splitlines()[1]
    assert line.count('"') == 2
    assert not re.search(r"[<>&\u202e]", line)


@given(st.text(alphabet='%{}:;#&"`init secuyLvl', max_size=30))
def test_a_name_is_no_directive_and_no_style_in_mermaid(name):
    text = mermaid_text(compute_layout(build_graph([GraphStep(id="a", name=name)])))
    label = text.splitlines()[1].removeprefix('  s0["').removesuffix('"]')
    assert not re.search(r'[%{}:;#&"`]', re.sub(r"#\w+;", "", label))
    assert len(text.splitlines()) == 2


@given(st.text(max_size=30))
def test_any_name_makes_a_well_formed_svg(name):
    layout = compute_layout(
        build_graph([GraphStep(id="a", name=name), GraphStep(id="b", name=NASTY, needs=("a",))])
    )
    root = ET.fromstring(svg_document(layout, step_labels(layout.graph, 24, badge_width)))
    assert root.tag.endswith("svg")


@each_row("name", REAL)
def test_svg_has_a_path_for_each_edge_and_a_title_for_each_step(name):
    layout = compute_layout(graph_of(REAL[name]))
    root = ET.fromstring(
        svg_document(layout, step_labels(layout.graph, 24, badge_width), path=layout.drawn[:1])
    )
    space = "{http://www.w3.org/2000/svg}"
    paths = root.findall(f"{space}path")
    assert [path.get("class") for path in paths] == ["long", *["edge"] * (len(layout.drawn) - 1)]
    assert len(root.findall(f"{space}g")) == len(layout.graph.steps)
    assert all(re.fullmatch(r"M\d+ \d+([HV]\d+)*", path.get("d")) for path in paths)
    boxes = [rect.attrib for rect in root.iter(f"{space}rect")]
    ends = [path.get("d").rpartition("H")[2] for path in paths]
    assert ends == [boxes[v]["x"] for _, v in layout.drawn]
    starts = [int(path.get("d")[1:].split()[0]) for path in paths]
    assert starts == [int(boxes[u]["x"]) + int(boxes[u]["width"]) for u, _ in layout.drawn]


LONG_BUS = "w | v | x: w v | y: w | z: y | k: y | l: k | m: l | a: x z | b: x z m"


def arms(glyph):
    words = set(unicodedata.name(glyph).split())
    sides = {"LEFT": 1, "RIGHT": 2, "UP": 4, "DOWN": 8, "HORIZONTAL": 3, "VERTICAL": 12}
    return functools.reduce(lambda found, word: found | sides.get(word, 0), words, 0)


MIXES = [
    chr(code)
    for code in range(0x2500, 0x2580)
    if not {"DOUBLE", "ARC", "DASH", "DIAGONAL"} & set(unicodedata.name(chr(code)).split())
]
LIGHT = {ord(glyph): " ╴╶─╵┘└┴╷┐┌┬│┤├┼"[arms(glyph)] for glyph in MIXES}
LIGHTER = str.maketrans("╮╭╯╰", "┐┌┘└")


@given(graph=dags(16), kind=st.sampled_from(["band", "wrapped", "list"]), data=st.data())
def test_heavy_lines_change_weight_and_nothing_else(graph, kind, data):
    picture = fit_picture(compute_layout(graph), 60, wanted=kind)
    edges = (
        data.draw(st.lists(st.sampled_from(picture.layout.drawn), max_size=4)) if picture.layout.drawn else []
    )
    plain, strong = picture.lines(), picture.lines(trace=picture.trace(edges))
    assert [line.translate(LIGHT).translate(LIGHTER) for line in strong] == [
        line.translate(LIGHTER) for line in plain
    ]
    assert (plain != strong) == bool(edges) or kind == "list"


@each_row("text", [REAL["docs-to-impl"], REAL["monorepo"], REAL["impl-speckit"], LONG_BUS])
@each_row("kind", ["band", "wrapped", "list"])
def test_the_cells_of_an_edge_hang_together_from_step_to_step(text, kind):
    layout = compute_layout(graph_of(text), show_implied=True)
    picture = fit_picture(layout, 70, wanted=kind)
    for u, v in layout.drawn:
        cells = {(x, y) for x, y, _ in picture.tracer.cells((u, v))}
        for x, y, arms in picture.tracer.cells((u, v)):
            assert not arms & ~picture.cells[y][x] & 15
        start, end = picture.places[u], picture.places[v]
        seen, todo = (
            set(),
            [min(cells, key=lambda c: (abs(c[1] - start.y), abs(c[0] - start.sign_x)))] if cells else [],
        )
        while todo:
            x, y = todo.pop()
            if (x, y) in cells and (x, y) not in seen:
                seen.add((x, y))
                todo += [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
        assert seen == cells
        assert not cells or any(y == end.y or picture.kind == "list" for _, y in cells)


def test_every_mix_of_weights_has_a_glyph():
    for code in range(1, 16):
        for arms in range(16):
            glyph = heavy_glyph(code, arms & code, is_ascii=False)
            assert "\u2500" <= glyph <= "\u257f"
            assert (glyph == UNICODE_GLYPHS[code]) == (not arms & code)
            assert heavy_glyph(code, arms & code, is_ascii=True) in ASCII_GLYPHS + "=!"


def test_overview_shows_the_worst_of_each_part():
    layout = compute_layout(graph_of(BAR["demo"]))
    facts = {0: StepFacts(state="completed"), 1: StepFacts(state="completed"), 2: StepFacts(state="failed")}
    assert overview_lines(layout, facts) == ["✓ × ◯ ◯ ◯"]
    assert overview_lines(layout, facts, rows=1) == ["▪ ▪ · · ·", "  ×"]
    assert overview_lines(layout, facts, is_ascii=True) == ["v x . . ."]


def test_overview_and_viewport_of_a_large_graph():
    layout = compute_layout(wide(1000, 32, 2))
    lines = overview_lines(layout, {}, rows=4)
    assert len(lines) == -(-layout.height // 4)
    picture = fit_picture(layout, 100, wanted="band")
    left, right, top, bottom = overview_viewport(layout, picture, (0, 100), (0, 40), rows=4)
    assert (left, top) == (0, 0)
    assert right < 2 * layout.layers
    assert bottom < 10


def test_a_way_back_is_a_mark_and_a_dashed_line_below():
    steps = [
        GraphStep(id="plan"),
        GraphStep(id="work", needs=("plan",)),
        GraphStep(id="review", needs=("work",), returns=("work",)),
    ]
    picture = fit_picture(compute_layout(build_graph(steps)), 80, slots=no_badge_width)
    assert [*picture.lines(), *back_edge_lines(picture, 2)] == [
        " ◯ plan ── ◯ work ── ◯ review ← work",
        "           ╰◄╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╯",
    ]
    assert back_edge_lines(picture, 0) == []
    listed = fit_picture(compute_layout(build_graph(steps), apart=True), 40, wanted="list", is_ascii=True)
    assert back_edge_lines(listed, 1) == ["<. review -> work"]


def test_a_loop_is_drawn_as_a_way_back():
    steps = [
        GraphStep(id="a", needs=("c",)),
        GraphStep(id="b", needs=("a",)),
        GraphStep(id="c", needs=("b",)),
    ]
    layout = compute_layout(build_graph(steps))
    assert fit_picture(layout, 60, slots=no_badge_width).lines() == [" ◯ a ── ◯ b ── ◯ c ← a"]
    assert layout.graph.problems == ("loop: a → b → c → a",)
    assert all(edge not in layout.drawn for edge in itertools.product([2], [0]))


def test_a_choice_says_that_one_way_is_taken():
    steps = steps_of("a | way: a | b: way | c: way")
    steps[1] = replace(steps[1], chooses=True, returns=("a",))
    layout = compute_layout(build_graph(steps))
    assert fit_picture(layout, 80, slots=no_badge_width).lines() == [
        " ◯ a ── ◯ way 1 of 2 ← a ─┬─ ◯ b",
        "                          └─ ◯ c",
    ]
    assert needs_and_feeds_text(layout, 1) == "needs a · feeds b or c · may go back to a"
    assert '  s1{"way"}' in mermaid_text(layout)
