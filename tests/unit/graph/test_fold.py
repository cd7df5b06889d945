"""Matrices, twins and chains that are alike fold by id; an open fold shows its members."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.growth import assert_grows_with_length
from tests.unit.graph.shapes import step_lists
from workbench.graph.fit import fit_picture, no_badge_width
from workbench.graph.folding import FOLD_FROM, FoldedGraph, FoldMember, fold_steps, id_stem, member_lines
from workbench.graph.layout import compute_layout
from workbench.graph.model import GraphStep, StatusCounts, StepFacts, build_graph, display_name
from workbench.graph.navigation import combine_facts


def matrix(*items, known=True):
    return [
        GraphStep(id="plan"),
        GraphStep(id="tests", needs=("plan",), is_matrix=True, items=items if known else None),
        GraphStep(id="merge", needs=("tests",)),
    ]


def names(folded):
    return [display_name(step) for step in folded.steps]


@pytest.mark.parametrize(
    ("steps", "opened", "found"),
    [
        (matrix(known=False), (), ["plan", "tests (?)", "merge"]),
        (matrix("a", "b"), (), ["plan", "tests (2)", "merge"]),
        (matrix("a", "b"), ("tests",), ["plan", "tests[a]", "tests[b]", "merge"]),
        (matrix("a", "a"), ("tests",), ["plan", "tests (2)", "merge"]),
        (matrix(*"abcdefghi"), ("tests",), ["plan", "tests (9)", "merge"]),
        (matrix(*map(str, range(10_000))), (), ["plan", "tests (10000)", "merge"]),
    ],
)
def test_matrices(steps, opened, found):
    assert names(fold_steps(steps, opened=opened)) == found


def test_the_items_of_an_open_matrix_take_its_place_among_the_edges():
    folded = fold_steps(matrix("a", "b"), opened=("tests",))
    assert build_graph(folded.steps).edges() == ((0, 1), (0, 2), (1, 3), (2, 3))


def test_a_long_matrix_opens_as_a_list_below_its_step():
    steps = fold_steps(matrix(*"abcdefghi"), opened=("tests",)).steps
    items = [
        FoldMember(name=one, facts=StepFacts(state="failed" if one == "i" else "completed"))
        for one in "abcdefghi"
    ]
    picture = fit_picture(compute_layout(build_graph(steps)), 80, slots=no_badge_width)
    lines = picture.lines(items={1: member_lines(items)})
    assert lines[0] == " ◯ plan ── ▼ tests (9) ───────────────────────── ◯ merge"
    assert [line.strip() for line in lines[1:]] == ["× i", *(f"✓ {one}" for one in "abcdef"), "✓ 2 more"]


def packages(count):
    steps = [GraphStep(id="start")]
    for at in range(count):
        steps += [
            GraphStep(id=f"p{at}-lint", needs=("start",)),
            GraphStep(id=f"p{at}-build", needs=(f"p{at}-lint",)),
            GraphStep(id=f"p{at}-test", needs=(f"p{at}-build",)),
        ]
    return [*steps, GraphStep(id="end", needs=tuple(f"p{at}-test" for at in range(count)))]


def test_chains_that_are_alike_fold_step_by_step():
    folded = fold_steps(packages(30))
    assert names(folded) == ["start", "p-lint (30)", "p-build (30)", "p-test (30)", "end"]
    assert build_graph(folded.steps).edges() == ((0, 1), (1, 2), (2, 3), (3, 4))
    assert folded.members[folded.steps[1].id] == tuple(f"p{at}-lint" for at in range(30))


def test_small_graphs_are_not_folded_and_large_ones_only_where_alike():
    assert len(fold_steps(packages(10)).steps) == 32
    assert len(fold_steps(packages(FOLD_FROM - 1), alike=True).steps) == 3 * (FOLD_FROM - 1) + 2


def test_twins_fold_by_the_stem_of_their_id():
    steps = [
        GraphStep(id="src"),
        *(GraphStep(id=f"test-{one}", needs=("src",)) for one in "abcdef"),
        GraphStep(id="x", needs=("src",)),
    ]
    assert names(fold_steps(steps, alike=True)) == ["src", "test (6)", "x"]
    renamed = [GraphStep(id=s.id, needs=s.needs, name="same") for s in steps]
    assert [step.many for step in fold_steps(renamed, alike=True).steps] == [None, 6, None]


def test_an_open_fold_shows_its_members():
    closed = fold_steps(packages(30))
    opened = fold_steps(packages(30), opened=(closed.steps[2].id,))
    assert len(opened.steps) == 4 + 30


def test_a_chain_through_the_group_is_not_folded():
    steps = [GraphStep(id=f"s{at}", needs=(f"s{at - 1}",) if at else ()) for at in range(70)]
    assert len(fold_steps(steps).steps) == 70


@given(step_lists(20))
def test_folding_loses_no_step_and_makes_no_loop(steps):
    folded = fold_steps(steps, alike=True)
    graph = build_graph(folded.steps)
    assert graph.problems == ()
    assert isinstance(folded, FoldedGraph)
    stands_for = [folded.members.get(step.id, (step.id,)) for step in folded.steps]
    assert sorted(one for ids in stands_for for one in ids) == sorted(step.id for step in steps)


@pytest.mark.parametrize(
    ("step_id", "short", "common"),
    [
        ("pkg12-lint", False, "pkg-lint"),
        ("pkg12-lint", True, "pkg"),
        ("build-3", False, "build"),
        ("7", False, "7"),
    ],
)
def test_stem(step_id, short, common):
    assert id_stem(step_id, short=short) == common


def test_together_is_the_worst_and_the_counts():
    members = [
        StepFacts(state="completed"),
        StepFacts(state="warned"),
        StepFacts(state="running"),
        StepFacts(state="waiting"),
    ]
    assert combine_facts(members) == StepFacts(
        state="waiting", counts=StatusCounts(ok=1, run=1, failed=1, asks=1)
    )
    assert combine_facts([]) == StepFacts(counts=StatusCounts())


def test_item_lines_show_the_worst_first_and_scroll():
    items = [
        FoldMember(name=f"i{at}", facts=StepFacts(state="completed", duration=f"{at} s")) for at in range(11)
    ]
    items.append(FoldMember(name="bad", facts=StepFacts(state="failed", duration="1:02", reason="exit 1")))
    assert member_lines(items, 3) == ["× bad   1:02  exit 1", "✓ i0     0 s", "✓ 10 more"]
    assert member_lines(items, 3, spread="1 s…10 s")[2] == "✓ 10 more 1 s…10 s"
    assert member_lines(items, 3, spread="1 s…10 s", is_ascii=True)[2] == "v 10 more 1 s~10 s"
    assert member_lines(items, 3, first=10) == ["✓ i9     9 s", "✓ i10   10 s"]


@given(st.integers(1, 12), st.integers(0, 20))
def test_item_lines_never_exceed_their_room(lines, count):
    assert len(member_lines([FoldMember(name=str(at)) for at in range(count)], lines)) <= lines


def test_a_row_of_thousands_is_folded_where_it_is_straight_and_its_ends_stay_in_order():
    steps = [GraphStep(id="first")]
    steps += [GraphStep(id=f"s{n}", needs=(f"s{n - 1}" if n else "first",)) for n in range(3_000)]
    steps += [GraphStep(id="a", needs=("s2999",)), GraphStep(id="b", needs=("s2999",))]
    folded = fold_steps(steps)
    assert [(step.id, step.needs, step.many) for step in folded.steps] == [
        ("first", (), None), ("s xs0", ("first",), 3_000), ("a", ("s xs0",), None), ("b", ("s xs0",), None),
    ]  # fmt: skip
    assert folded.members["s xs0"] == tuple(f"s{n}" for n in range(3_000))
    opened = fold_steps(steps, opened=["s xs0"])
    assert len(opened.steps) == len(steps)


def test_a_row_that_forks_is_folded_on_both_sides_of_its_fork():
    steps = [GraphStep(id=f"a{n}", needs=(f"a{n - 1}",) if n else ()) for n in range(800)]
    steps += [GraphStep(id=f"b{n}", needs=(f"b{n - 1}" if n else "a399",)) for n in range(300)]
    names = {step.id: step.many for step in fold_steps(steps).steps}
    assert names == {"a xa0": 400, "a xa400": 400, "b xb0": 300}


def test_the_work_of_folding_grows_with_the_graph_and_not_faster():
    steps = [GraphStep(id=f"s{n}", needs=(f"s{n - 1}",) if n else ()) for n in range(8_000)]
    assert len(fold_steps(steps).steps) == 1
    assert_grows_with_length(fold_steps, steps[:1_000], steps)
