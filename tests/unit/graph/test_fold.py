"""Matrices, twins and chains that are alike fold by id; an open fold shows its members."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.graph.shapes import step_lists
from workbench.graph.facts import Counts, Facts
from workbench.graph.fit import fit, no_slots
from workbench.graph.fold import FEW, Folded, Item, fold, item_lines, stem, together
from workbench.graph.layout import arrange
from workbench.graph.model import Step, build, shown


def matrix(*items, known=True):
    return [
        Step(id="plan"),
        Step(id="tests", needs=("plan",), is_matrix=True, items=items if known else None),
        Step(id="merge", needs=("tests",)),
    ]


def names(folded):
    return [shown(step) for step in folded.steps]


@pytest.mark.parametrize(
    ("steps", "opened", "found"),
    [
        (matrix(known=False), (), ["plan", "tests ×?", "merge"]),
        (matrix("a", "b"), (), ["plan", "tests ×2", "merge"]),
        (matrix("a", "b"), ("tests",), ["plan", "tests[a]", "tests[b]", "merge"]),
        (matrix("a", "a"), ("tests",), ["plan", "tests ×2", "merge"]),
        (matrix(*"abcdefghi"), ("tests",), ["plan", "tests ×9", "merge"]),
        (matrix(*map(str, range(10_000))), (), ["plan", "tests ×10000", "merge"]),
    ],
)
def test_matrices(steps, opened, found):
    assert names(fold(steps, opened=opened)) == found


def test_the_items_of_an_open_matrix_take_its_place_among_the_edges():
    folded = fold(matrix("a", "b"), opened=("tests",))
    assert build(folded.steps).edges() == ((0, 1), (0, 2), (1, 3), (2, 3))


def test_a_long_matrix_opens_as_a_list_below_its_step():
    steps = fold(matrix(*"abcdefghi"), opened=("tests",)).steps
    items = [
        Item(name=one, facts=Facts(state="failed" if one == "i" else "completed")) for one in "abcdefghi"
    ]
    picture = fit(arrange(build(steps)), 80, slots=no_slots)
    lines = picture.lines(items={1: item_lines(items)})
    assert lines[0] == " ○ plan ── ▾ tests ×9 ────────────────────────── ○ merge"
    assert [line.strip() for line in lines[1:]] == ["✗ i", *(f"✓ {one}" for one in "abcdef"), "✓ 2 more"]


def packages(count):
    steps = [Step(id="start")]
    for at in range(count):
        steps += [
            Step(id=f"p{at}-lint", needs=("start",)),
            Step(id=f"p{at}-build", needs=(f"p{at}-lint",)),
            Step(id=f"p{at}-test", needs=(f"p{at}-build",)),
        ]
    return [*steps, Step(id="end", needs=tuple(f"p{at}-test" for at in range(count)))]


def test_chains_that_are_alike_fold_step_by_step():
    folded = fold(packages(30))
    assert names(folded) == ["start", "p-lint ×30", "p-build ×30", "p-test ×30", "end"]
    assert build(folded.steps).edges() == ((0, 1), (1, 2), (2, 3), (3, 4))
    assert folded.members[folded.steps[1].id] == tuple(f"p{at}-lint" for at in range(30))


def test_small_graphs_are_not_folded_and_large_ones_only_where_alike():
    assert len(fold(packages(10)).steps) == 32
    assert len(fold(packages(FEW - 1), alike=True).steps) == 3 * (FEW - 1) + 2


def test_twins_fold_by_the_stem_of_their_id():
    steps = [
        Step(id="src"),
        *(Step(id=f"test-{one}", needs=("src",)) for one in "abcdef"),
        Step(id="x", needs=("src",)),
    ]
    assert names(fold(steps, alike=True)) == ["src", "test ×6", "x"]
    renamed = [Step(id=s.id, needs=s.needs, name="same") for s in steps]
    assert [step.many for step in fold(renamed, alike=True).steps] == [None, 6, None]


def test_an_open_fold_shows_its_members():
    closed = fold(packages(30))
    opened = fold(packages(30), opened=(closed.steps[2].id,))
    assert len(opened.steps) == 4 + 30


def test_a_chain_through_the_group_is_not_folded():
    steps = [Step(id=f"s{at}", needs=(f"s{at - 1}",) if at else ()) for at in range(70)]
    assert len(fold(steps).steps) == 70


@given(step_lists(20))
def test_folding_loses_no_step_and_makes_no_loop(steps):
    folded = fold(steps, alike=True)
    graph = build(folded.steps)
    assert graph.problems == ()
    assert isinstance(folded, Folded)
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
    assert stem(step_id, short=short) == common


def test_together_is_the_worst_and_the_counts():
    members = [
        Facts(state="completed"),
        Facts(state="warned"),
        Facts(state="running"),
        Facts(state="waiting"),
    ]
    assert together(members) == Facts(state="waiting", counts=Counts(ok=1, run=1, failed=1, asks=1))
    assert together([]) == Facts(counts=Counts())


def test_item_lines_show_the_worst_first_and_scroll():
    items = [Item(name=f"i{at}", facts=Facts(state="completed", duration=f"{at}s")) for at in range(11)]
    items.append(Item(name="bad", facts=Facts(state="failed", duration="1m02", note="exit 1")))
    assert item_lines(items, 3) == ["✗ bad  1m02  exit 1", "✓ i0     0s", "✓ 10 more"]
    assert item_lines(items, 3, spread="1s…10s")[2] == "✓ 10 more 1s…10s"
    assert item_lines(items, 3, spread="1s…10s", is_ascii=True)[2] == "v 10 more 1s~10s"
    assert item_lines(items, 3, first=10) == ["✓ i9     9s", "✓ i10   10s"]


@given(st.integers(1, 12), st.integers(0, 20))
def test_item_lines_never_exceed_their_room(lines, count):
    assert len(item_lines([Item(name=str(at)) for at in range(count)], lines)) <= lines
