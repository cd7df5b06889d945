"""`--hunks` and `--file`: what they name, and what they refuse."""

import pytest

from workbench.cli.approvals.selecting import of_file, taken_of
from workbench.cli.errors import Misuse
from workbench.domain.values import Hunk, Taken


@pytest.mark.parametrize(
    "text, taken",
    [
        ("1", (Taken(hunk=1),)),
        ("1,3", (Taken(hunk=1), Taken(hunk=3))),
        (" 3 , 1 ", (Taken(hunk=3), Taken(hunk=1))),
        ("1:2-4", (Taken(hunk=1, lines=(2, 3, 4)),)),
        ("1:2+5-6,2", (Taken(hunk=1, lines=(2, 5, 6)), Taken(hunk=2))),
    ],
)
def test_what_a_list_of_hunks_names(text, taken):
    assert taken_of(text) == taken


@pytest.mark.parametrize(
    "text", ["", " ", "x", "1,", "1;2", "-1", "1:", "1:4-2", "1:0", "1:1-999999", "١", "1.5", "1" * 9]
)
def test_what_names_no_hunks(text):
    with pytest.raises(Misuse):
        taken_of(text)


def hunk(index, path):
    return Hunk(index=index, path=path, old_start=1, old_count=1, new_start=1, new_count=1, lines=())


def test_a_file_takes_all_its_hunks():
    hunks = (hunk(1, "a"), hunk(2, "b"), hunk(3, "b"))
    assert of_file(hunks, "b") == (Taken(hunk=2), Taken(hunk=3))
    with pytest.raises(Misuse, match="a, b"):
        of_file(hunks, "c")
