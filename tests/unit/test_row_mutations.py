"""Small changes of the code behind each row of the specification: the tests of the row have to notice each."""

import ast

import pytest

from tests.support import draw_mutations, mutate_rows
from tests.support.mutate_rows import Mutation, SourceCopy
from tests.support.sizes import size

ROWS = range(1, 232)
PARTS = 8
"""Tests that the campaign is cut into, so that workers share it."""
MOST = 400


def test_each_row_has_code_that_carries_it_and_a_change_of_that():
    assert set(draw_mutations.row_code()) == set(ROWS)
    assert set(ROWS) - {mutation.row for mutation in mutate_rows.mutations()} == set()


def test_no_change_is_in_the_list_twice_and_each_changes_something():
    listed = mutate_rows.mutations()
    keys = [(one.row, one.file, one.old, one.new) for one in listed]
    assert len(set(keys)) == len(keys)
    assert [one.title for one in listed if one.old == one.new] == []


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """Return a copy of a program of one file, whose tests pass as long as the number is 5."""
    (tmp_path / "workbench").mkdir()
    (tmp_path / "workbench/limits.py").write_text("MOST = 5\nLEAST = 1\n")
    monkeypatch.setattr(mutate_rows, "copy_source", lambda folder: None)
    monkeypatch.setattr(
        mutate_rows, "marked_files", lambda: {7: ["tests/unit/test_a.py", "tests/e2e/test_b.py"]}
    )
    source = SourceCopy(tmp_path)
    source.groups = []

    def run_tests(row, files):
        source.groups.append(files)
        is_same = "MOST = 5" in (tmp_path / "workbench/limits.py").read_text()
        return (0, "passed") if is_same else (1, "FAILED")

    monkeypatch.setattr(source, "run_tests", run_tests)
    return source


@pytest.mark.parametrize(
    ("old", "new", "outcome", "asked"),
    [
        ("MOST = 5", "MOST = 6", "killed", 1),
        ("LEAST = 1", "LEAST = 2", "survived", 2),
        ("GONE = 1", "GONE = 2", "not run", 0),
        (" = ", " == ", "not run", 0),
    ],
)
def test_a_change_is_noticed_or_not_and_always_taken_back(copy, old, new, outcome, asked):
    mutation = Mutation(row=7, file="limits.py", old=old, new=new)
    assert copy.outcome_of(mutation)[0] == outcome
    assert (copy.folder / "workbench/limits.py").read_text() == "MOST = 5\nLEAST = 1\n"
    assert copy.groups == [["tests/unit/test_a.py"], ["tests/e2e/test_b.py"]][:asked]


def test_the_table_counts_and_names_what_was_not_noticed():
    one = Mutation(row=1, file="a.py", old="1", new="2")
    two = Mutation(row=2, file="a.py", old="3", new="4", equivalent="nobody reads it")
    results = [(one, "killed", ""), (two, "survived", ""), (one, "survived", ""), (one, "not run", "")]
    assert mutate_rows.table(results) == [
        "rows 2, mutations 4: killed 1, survived 1, equivalent 1, not run 1",
        "survived: row 1: a.py: 1  ->  2",
        "not run: row 1: a.py: 1  ->  2",
    ]


def test_what_is_drawn_is_the_same_for_a_seed_and_still_python():
    code = {row: places for row, places in draw_mutations.row_code().items() if row % 40 == 1}
    drawn = list(draw_mutations.drawn(code, each=3))
    assert drawn == list(draw_mutations.drawn(code, each=3))
    assert drawn != list(draw_mutations.drawn(code, each=3, seed=1))
    for change in drawn:
        text = draw_mutations.module(change["file"]).text
        assert text.count(change["old"]) == 1
        ast.parse(text.replace(change["old"], change["new"]))


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(PARTS))
def test_every_change_of_the_code_behind_a_row_is_noticed(part):
    wanted = mutate_rows.drawn_order(mutate_rows.mutations())[: size("WORKBENCH_MUTATIONS", 0, MOST)]
    results = mutate_rows.run_all(wanted[part::PARTS])
    assert mutate_rows.table(results)[1:] == []
