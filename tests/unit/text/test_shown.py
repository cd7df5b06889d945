"""Text as it is shown where somebody decides: nothing out of sight, nothing lost, and a warning where due."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.growth import assert_grows_with_length
from tests.support.tables import each_row
from workbench.text.display import DISPLAY_PLACES, displayed_text, text_warnings
from workbench.text.safe import has_hidden_characters

HARMLESS = [
    ("approval_command", "git commit -m 'one\n\ntwo'\n\tls  -l"),
    ("approval_command", "python3 - <<'E'\n                        deep()\nE"),
    ("approval_command", "echo \u00e9 \u65e5\u672c \U0001f389 e\u0301"),
    ("tool_output", "\u001f"[:0] + "total 4\n-rw-r--r--" + " " * 60 + "x\r\ny\n" + "\n" * 10 + "z" * 3000),
    ("diff_preview", " " * 40 + "return 1\n+\tx"),
    ("file_name", "src/a file.py"),
    ("tool_title", "read src/a.py"),
    ("log_line", "2026-01-01 ok   done"),
]

ODD = [
    ("approval_command", "ls\u202e", "ls⟨U+202E⟩"),
    ("approval_command", "ls\x1b[2K", "ls⟨ESC[2K⟩"),
    ("approval_command", "ls" + " " * 40 + "; rm x", "ls ⟨40 blanks⟩ ; rm x"),
    ("approval_command", "ls" + "\u3000" * 40 + "x", "ls ⟨40 blanks⟩ x"),
    ("approval_command", "ls" + "\n" * 30 + "rm x", "ls\n⟨29 empty lines⟩\nrm x"),
    ("approval_command", "ls" + "\n \t" * 30 + "\nrm x", "ls\n⟨30 empty lines⟩\nrm x"),
    ("approval_command", "x" * 5000, "x" * 5000),
    ("approval_command", " " * 200 + "rm x", " ⟨200 blanks⟩ rm x"),
    ("diff_preview", "+x" + " " * 300 + "y", "+x ⟨300 blanks⟩ y"),
    ("file_name", "a\nb", "a⟨U+000A⟩b"),
    ("file_name", "invoice.pdf" + " " * 30 + ".exe", "invoice.pdf ⟨30 blanks⟩ .exe"),
    ("file_name", "x" * 400, "x" * 255 + "…⟨145 more characters⟩"),
    ("tool_title", "a\tb", "a⟨U+0009⟩b"),
    ("log_line", "ok\nFAKE", "ok⟨U+000A⟩FAKE"),
    ("tool_output", "half\ud800", "half⟨U+D800⟩"),
    ("tool_output", "a\rb", "a⟨U+000D⟩b"),
]


@each_row(("where", "text"), HARMLESS)
def test_ordinary_text_is_shown_as_it_is(where, text):
    shown = displayed_text(text, where)
    assert shown.text == text.replace("\r\n", "\n")
    assert not shown.warn


@each_row(("where", "text", "expected"), ODD)
def test_what_cannot_be_seen_is_shown_and_warned_of(where, text, expected):
    shown = displayed_text(text, where)
    assert shown.text == expected
    assert shown.warn


def test_a_long_line_of_output_is_cut_without_a_warning():
    shown = displayed_text("x" * 9000, "tool_output")
    assert shown.text == "x" * 4000 + "…⟨5000 more characters⟩"
    assert not shown.warn


ANY = st.text(
    st.one_of(st.characters(), st.sampled_from(" \t\n\r\u3000\u0301\x1b[]m;\x07\u202e⟨⟩")), max_size=200
)


@given(ANY, st.integers(1, 60), st.sampled_from(DISPLAY_PLACES))
def test_showing_twice_changes_nothing(text, times, where):
    for some in (text, text * times, text.replace("a", " " * 50)):
        once = displayed_text(some, where).text
        assert displayed_text(once, where).text == once
        assert not has_hidden_characters(once)
        once.encode()


@pytest.mark.parametrize("piece", [" ", "\n ", "\u0301", "\x1b]", "1;", "a ", "\x9d"])
def test_showing_takes_linear_time(piece):
    def show(hostile):
        for where in DISPLAY_PLACES:
            displayed_text(hostile, where)

    assert_grows_with_length(show, "\x1b[" + piece * 5_000, "\x1b[" + piece * 40_000)


@each_row(
    ("text", "expected"),
    [
        ("a\r\n", ()), ("a\r\nb\r\n", ()), ("a\r\nb", ()), ("a\nb\n", ()), ("a", ()),
        ("a\r\nb\n", ("hidden",)), ("a\nb\r\n", ("hidden",)), ("a\rb", ("hidden",)), ("a\r", ("hidden",)),
        ("a\r\n\r", ("hidden",)), ("a\r\r\n", ("hidden",)), ("a\r\nb\u202e\r\n", ("hidden",)),
        ("a\r\n" + "\r\n" * 60 + "b", ("padding",)),
    ],
)  # fmt: skip
def test_lines_of_a_file_that_all_end_in_crlf_hide_nothing(text, expected):
    assert text_warnings(text, "diff_preview") == expected
    assert displayed_text(text, "diff_preview").oddities == expected
    assert not expected or expected == ("padding",) or "⟨U+" in displayed_text(text, "diff_preview").text


@pytest.mark.parametrize(
    "where", [place for place in DISPLAY_PLACES if place not in ("diff_preview", "tool_output")]
)
def test_elsewhere_a_carriage_return_is_hidden(where):
    assert "hidden" in text_warnings("a\r\nb\r\n", where)
