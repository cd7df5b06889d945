"""Every drawing reads back to exactly its graph, and no arm of it is loose."""

import functools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.tables import each_row
from tests.unit.graph.reading import list_successors, loose_arms, successors
from tests.unit.graph.shapes import REAL, dags, graph_of, monorepo, steps_of, wide
from workbench.graph.fit import fit_pane, fit_picture
from workbench.graph.folding import FoldMember, fold_steps, member_lines
from workbench.graph.layout import compute_layout
from workbench.graph.model import build_graph
from workbench.graph.strip import fit_strip

KINDS = ["band", "wrapped", "list", "boxes"]


def drawn(layout):
    found = [set() for _ in layout.graph.steps]
    for u, v in layout.drawn:
        found[u].add(v)
    return found


def read(picture, lines):
    return (list_successors if picture.kind == "list" else successors)(picture, lines)


@functools.cache
def arranged(name, is_ascii, show_implied):
    return compute_layout(graph_of(REAL[name]), show_implied=show_implied, apart=is_ascii)


def check(graph, width, kind, is_ascii, show_implied=False):
    check_layout(compute_layout(graph, show_implied=show_implied, apart=is_ascii), width, kind, is_ascii)


def check_layout(layout, width, kind, is_ascii):
    picture = fit_picture(layout, width, wanted=kind, is_ascii=is_ascii)
    lines = picture.lines()
    assert read(picture, lines) == drawn(layout), "\n".join(lines)
    assert loose_arms(picture, lines) == [], "\n".join(lines)


@each_row("is_ascii", [False, True])
@each_row("kind", ["auto", *KINDS])
@each_row("name", REAL)
def test_real_pipelines_read_back(name, kind, is_ascii):
    for width in (20, 60, 100) if kind == "auto" else (60,):
        for show_implied in (False, True):
            check_layout(arranged(name, is_ascii, show_implied), width, kind, is_ascii)


@settings(max_examples=40)
@given(
    graph=dags(), width=st.sampled_from([20, 40, 80, 140]), kind=st.sampled_from(KINDS), show=st.booleans()
)
def test_any_graph_reads_back(graph, width, kind, show):
    check(graph, width, kind, False, show)


@settings(max_examples=40)
@given(graph=dags(12), width=st.integers(40, 400))
def test_tall_boxes_with_wide_gaps_read_back(graph, width):
    layout = compute_layout(graph)
    picture = fit_pane(layout, width, 200, is_tall=True).picture
    if picture.kind == "boxes":
        lines = picture.lines()
        assert picture.width <= width
        assert read(picture, lines) == drawn(layout), "\n".join(lines)
        assert loose_arms(picture, lines) == [], "\n".join(lines)


@settings(max_examples=40)
@given(
    graph=dags(), width=st.sampled_from([20, 40, 80, 140]), kind=st.sampled_from(["band", "wrapped", "list"])
)
def test_any_graph_reads_back_in_ascii(graph, width, kind):
    check(graph, width, kind, True)


@settings(max_examples=40)
@given(graph=dags(), show=st.booleans())
def test_any_strip_reads_back(graph, show):
    layout = compute_layout(graph, show_implied=show)
    picture = fit_strip(layout, 10_000, 10_000).picture
    lines = picture.lines()
    assert picture.kind == "strip"
    assert read(picture, lines) == drawn(layout), "\n".join(lines)
    assert loose_arms(picture, lines) == [], "\n".join(lines)


STACKED = (
    "b14: s12 | l11: s7 l8 l10 | s17: b14 | l13: s12 | s16: l13 b15 | b1: l0 | b15 | s7: s5 b6 | s5: l3 s4"
    " | b18: b14 b15 | l8 | b6: l3 | s4 | l3: l0 | s12 | l9 | l2: l0 b1 | l0 | l10: s7"
)


@each_row("width", range(24, 110, 6))
def test_bands_in_ascii_keep_blank_lines_between_what_is_not_joined(width):
    check(graph_of(STACKED), width, "auto", True, True)


@pytest.mark.parametrize("kind", ["band", "list"])
@pytest.mark.parametrize(
    "graph", [wide(200, 20, 2), wide(120, 60, 4), monorepo(20)], ids=["wide", "dense", "monorepo"]
)
def test_large_graphs_read_back(graph, kind):
    check(graph, 200, kind, False)


@pytest.mark.parametrize("is_ascii", [False, True])
@pytest.mark.parametrize("width", [20, 40])
def test_lanes_that_do_not_fit_become_names_that_read_back(width, is_ascii):
    fan = "first | " + " | ".join(f"m{n}: first" for n in range(30))
    fan += " | last: first " + " ".join(f"m{n}" for n in range(30))
    for graph in (graph_of(fan), wide(120, 60, 4), monorepo(20)):
        layout = compute_layout(graph, show_implied=True, apart=is_ascii)
        check_layout(layout, width, "list", is_ascii)
        assert fit_picture(layout, width, wanted="list", is_ascii=is_ascii).width <= width


@settings(max_examples=40)
@given(graph=dags(), width=st.sampled_from([30, 60, 200]))
def test_no_two_steps_share_a_cell_and_all_are_inside(graph, width):
    picture = fit_picture(compute_layout(graph), width)
    taken = [(place.y, x) for place in picture.places for x in range(place.sign_x, place.end)]
    assert len(taken) == len(set(taken))
    assert all(0 <= y < picture.height and 0 <= x < picture.width for y, x in taken)


@each_row("is_ascii", [False, True])
@each_row("kind", KINDS)
def test_an_open_matrix_leaves_the_lines_readable(kind, is_ascii):
    steps = steps_of(
        "plan | tests: plan | docs: plan | lint: plan | pack: tests docs | merge: pack lint plan"
    )
    steps[1] = replace(steps[1], is_matrix=True, items=tuple("abcdefghi"))
    layout = compute_layout(
        build_graph(fold_steps(steps, opened=("tests",)).steps), apart=is_ascii, show_implied=True
    )
    picture = fit_picture(layout, 80, wanted=kind, is_ascii=is_ascii)
    lines = picture.lines(items={1: member_lines([FoldMember(name="item") for _ in range(9)])})
    assert sum("item" in line for line in lines) == 7
    assert read(picture, lines) == drawn(layout), "\n".join(lines)
    assert loose_arms(picture, lines) == [], "\n".join(lines)


def mutations(picture, lines, glyphs, count, seed):
    picked = random.Random(seed)
    cells = [
        (y, x)
        for y, line in enumerate(lines)
        for x, glyph in enumerate(line)
        if glyph in glyphs and not any(p.y == y and p.sign_x <= x < p.end for p in picture.places)
    ]
    for y, x in picked.sample(cells, min(count, len(cells))):
        other = picked.choice([glyph for glyph in glyphs + " " if glyph != lines[y][x]])
        yield [*lines[:y], lines[y][:x] + other + lines[y][x + 1 :], *lines[y + 1 :]]


@pytest.mark.parametrize("name", ["docs-to-impl", "stages", "monorepo", "impl-speckit"])
def test_one_wrong_glyph_is_caught(name):
    layout = compute_layout(graph_of(REAL[name]), show_implied=True)
    picture = fit_picture(layout, 400, wanted="band")
    lines = picture.lines()
    missed = []
    for changed in mutations(picture, lines, "─│┌┐└┘├┤┬┴┼", 120, 7):
        try:
            is_same = read(picture, changed) == drawn(layout) and not loose_arms(picture, changed)
        except AssertionError:
            is_same = False
        if is_same:
            missed.append(changed)
    assert missed == []
