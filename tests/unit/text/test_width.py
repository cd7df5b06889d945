"""Widths as terminals draw them, and cuts that fit."""

from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.text.width import cell_width, cut_path_to_width, cut_to_width

printable = st.text(st.sampled_from("ab/e\u0301日本🎉⚠\ufe0fé한"), max_size=40)


@each_row(
    ("text", "expected"),
    [
        ("", 0),
        ("abc", 3),
        ("e\u0301", 1),
        ("日本", 4),
        ("ｱ", 1),
        ("Ａ", 2),
        ("🎉", 2),
        ("⚠", 1),
        ("⚠\ufe0f", 2),
        ("🎉\ufe0f", 2),
        ("\u1112\u1161\u11ab", 2),
        ("…⟨◆", 3),
    ],
)
def test_cells(text: str, expected: int):
    assert cell_width(text) == expected


@each_row(
    ("text", "room", "expected"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
        ("", 0, ""),
    ],
)
def test_cut(text: str, room: int, expected: str):
    assert cut_to_width(text, room) == expected


@each_row(
    ("path", "room", "expected"),
    [
        ("src/shop/router.py", 18, "src/shop/router.py"),
        ("src/shop/http/router.py", 20, "src/…/http/router.py"),
        ("src/shop/http/router.py", 15, "src/…/router.py"),
        ("src/shop/http/router.py", 12, "…/router.py"),
        ("src/shop/http/router.py", 6, "…er.py"),
        ("router.py", 4, "….py"),
        ("router.py", 0, ""),
        ("日本語.py", 6, "…語.py"),
    ],
)
def test_cut_middle_keeps_the_end(path: str, room: int, expected: str):
    assert cut_path_to_width(path, room) == expected


@given(printable, st.integers(0, 20))
def test_cuts_fit_and_leave_what_fits_alone(text: str, room: int):
    for shortened in (cut_to_width(text, room), cut_path_to_width(text, room)):
        assert cell_width(shortened) <= room
        assert (shortened == text) == (cell_width(text) <= room)
