"""Small changes of the code behind each row of the specification: the tests of the row have to notice each."""

import ast
from types import SimpleNamespace

import pytest

from tests.support import draw_mutations, mutate_rows
from tests.support.mutate_rows import Mutation, SourceCopy
from tests.support.sizes import size

ROWS = range(1, 232)
PARTS = 8
"""Tests that the campaign is cut into, so that workers share it."""
CHANGES = size("WORKBENCH_MUTATIONS", 0, 600)
"""Read here, as a test has none of the variables of who started it."""


def test_each_row_has_code_that_carries_it_and_a_change_of_that():
    code = draw_mutations.row_code()
    assert set(code) == set(ROWS)
    assert [
        place for places in code.values() for place in places if not draw_mutations.is_there(*place)
    ] == []
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
    ("old", "new", "named", "outcome", "asked"),
    [
        ("MOST = 5", "MOST = 6", {}, "killed", 1),
        ("MOST = 5", "MOST = 6", {"survives": "of another row"}, "noticed", 1),
        ("LEAST = 1", "LEAST = 2", {}, "survived", 2),
        ("LEAST = 1", "LEAST = 2", {"survives": "of another row"}, "known", 1),
        ("LEAST = 1", "LEAST = 2", {"equivalent": "nothing reads it"}, "equivalent", 1),
        ("GONE = 1", "GONE = 2", {}, "error", 0),
        (" = ", " == ", {"equivalent": "nothing reads it"}, "error", 0),
    ],
)
def test_a_change_is_noticed_or_not_and_always_taken_back(copy, old, new, named, outcome, asked):
    mutation = Mutation(row=7, file="limits.py", old=old, new=new, **named)
    assert copy.outcome_of(mutation)[0] == outcome
    assert (copy.folder / "workbench/limits.py").read_text() == "MOST = 5\nLEAST = 1\n"
    assert copy.groups == [["tests/unit/test_a.py"], ["tests/e2e/test_b.py"]][:asked]


@pytest.mark.parametrize(
    ("codes", "outcome"),
    [((0, 0), "survived"), ((0, 1), "killed"), ((2,), "killed"), ((-1,), "hung"), ((4,), "error"), ((5, 5), "error"),
     ((5, 0), "survived"), ((5, 1), "killed")],
)  # fmt: skip
def test_exit_codes_of_pytest_tell_what_became_of_a_change(copy, monkeypatch, codes, outcome):
    left = iter(codes)
    monkeypatch.setattr(copy, "run_tests", lambda row, files: (next(left), "the last line"))
    mutation = Mutation(row=7, file="limits.py", old="LEAST = 1", new="LEAST = 2")
    assert copy.outcome_of(mutation)[0] == outcome
    assert list(left) == []


@pytest.mark.parametrize(
    ("codes", "outcome"), [((1, 0, 0), "killed"), ((1, 1), "error"), ((0, 0), "survived")]
)
def test_a_change_whose_tests_fail_without_it_was_not_noticed(copy, monkeypatch, codes, outcome):
    left = iter(codes)
    copy._has_control = True
    monkeypatch.setattr(copy, "run_tests", lambda row, files: (next(left), "the last line"))
    mutation = Mutation(row=7, file="limits.py", old="LEAST = 1", new="LEAST = 2")
    assert copy.outcome_of(mutation)[0] == outcome
    assert list(left) == []


def test_a_row_that_no_test_names_is_an_error(copy, monkeypatch):
    monkeypatch.setattr(mutate_rows, "marked_files", dict)
    mutation = Mutation(row=7, file="limits.py", old="MOST = 5", new="MOST = 6")
    assert copy.outcome_of(mutation) == ("error", "no test names the row")


def test_the_table_of_all_parts_counts_and_names_what_was_not_expected():
    one = Mutation(row=1, file="a.py", old="1", new="2")
    two = Mutation(row=2, file="a.py", old="3", new="4", equivalent="nothing reads it")
    parts = [
        [(one, "killed", ""), (two, "equivalent", ""), (one, "known", "")],
        [(one, "survived", "3 passed"), (one, "error", ""), (two, "noticed", ""), (one, "hung", "")],
    ]
    reports = [
        SimpleNamespace(
            when=when, user_properties=[("other", 1), (mutate_rows.TABLE_PROPERTY, mutate_rows.facts(part))]
        )
        for part in parts
        for when in ("call", "teardown")
    ]
    assert mutate_rows.summary([SimpleNamespace(), *reports]) == [
        "7 mutations of 2 rows",
        "  killed        1", "  hung          1", "  survived      1", "  known         1", "  equivalent    1",
        "  noticed       1", "  error         1",
        "survived: row 1: a.py: 1  ->  2  [3 passed]", "error: row 1: a.py: 1  ->  2  []",
        "noticed: row 2: a.py: 3  ->  4  []",
    ]  # fmt: skip
    assert mutate_rows.summary([SimpleNamespace(when="call", user_properties=[("other", 1)])]) == []


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
def test_every_change_of_the_code_behind_a_row_is_noticed_or_named(part, record_property):
    wanted = mutate_rows.drawn_order(mutate_rows.mutations())[:CHANGES]
    found = mutate_rows.facts(mutate_rows.run_all(wanted[part::PARTS]))
    record_property(mutate_rows.TABLE_PROPERTY, found)
    assert len(found) == len(wanted[part::PARTS])
    assert mutate_rows.unexpected(found) == []
