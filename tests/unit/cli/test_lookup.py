"""Short ids: at least four characters, and only one action that begins so."""

import pytest

from workbench.cli.errors import Refusal
from workbench.cli.lookup import unique

IDS = ["3f2a1111", "3f2a2222", "3f2b3333", "77"]


@pytest.mark.parametrize(
    "given, found", [("3f2a1", "3f2a1111"), ("3f2b", "3f2b3333"), ("3f2a2222", "3f2a2222"), ("77", "77")]
)
def test_a_beginning_that_only_one_has(given, found):
    assert unique(given, IDS, "action", "list") == found


@pytest.mark.parametrize(
    "given, why",
    [
        ("3f2a", "2 begin so: 3f2a1111, 3f2a2222"),
        ("3f2", "at least 4"),
        ("", "at least 4"),
        ("ffff", "no id begins with that"),
        ("%", "at least 4"),
        ("3f2a_", "no id begins"),
    ],
)
def test_what_is_refused(given, why):
    with pytest.raises(Refusal, match=why):
        unique(given, IDS, "action", "list")


def test_many_are_not_all_listed():
    with pytest.raises(Refusal) as caught:
        unique("aaaa", [f"aaaa{n}" for n in range(50)], "action", "list")
    assert len(caught.value.why) < 80
