"""`--hunks` and `--file`: what they name, and what they refuse."""

import pytest

from tests.support.tables import each_row
from workbench.cli.approvals import hunks_of_file, parse_hunks
from workbench.cli.errors import UsageError
from workbench.domain.values import Hunk, SelectedHunk


@pytest.mark.parametrize(
    "text, taken",
    [
        ("1", (SelectedHunk(hunk=1),)),
        ("1,3", (SelectedHunk(hunk=1), SelectedHunk(hunk=3))),
        (" 3 , 1 ", (SelectedHunk(hunk=3), SelectedHunk(hunk=1))),
        ("1:2-4", (SelectedHunk(hunk=1, lines=(2, 3, 4)),)),
        ("1:2+5-6,2", (SelectedHunk(hunk=1, lines=(2, 5, 6)), SelectedHunk(hunk=2))),
    ],
)
def test_what_a_list_of_hunks_names(text, taken):
    assert parse_hunks(text) == taken


@each_row("text", ["", " ", "x", "1,", "1;2", "-1", "1:", "1:4-2", "1:0", "1:1-999999", "١", "1.5", "1" * 9])
def test_what_names_no_hunks(text):
    with pytest.raises(UsageError):
        parse_hunks(text)


def hunk(index, path):
    return Hunk(index=index, path=path, old_start=1, old_count=1, new_start=1, new_count=1, lines=())


def test_a_file_takes_all_its_hunks():
    hunks = (hunk(1, "a"), hunk(2, "b"), hunk(3, "b"))
    assert hunks_of_file(hunks, "b") == (SelectedHunk(hunk=2), SelectedHunk(hunk=3))
    with pytest.raises(UsageError, match="a, b"):
        hunks_of_file(hunks, "c")
