"""What is drawn holds nothing that steers a terminal or hides in a text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.text.safe import has_hidden_characters, one_line, safe_text
from workbench.text.width import cell_width

hostile = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=("Cc", "Cf", "Cs", "Zl", "Zp")),
        st.sampled_from("\u202e\u200b\ufe0f\ufe00\U000e0041\U000e0100\u2028\x1b\x9b☃⚠1\u20e3⟨⟩"),
    )
)


@each_row(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb", "a⟨U+000D⟩\nb"),
        ("\x1b[31mred\x1b[0m", "⟨ESC[31m⟩red⟨ESC[0m⟩"),
        ("\x9b31m", "⟨ESC[31m⟩"),
        ("\x1b]52;c;QUJD\x07x", "⟨ESC]52;c;QUJD⟩x"),
        ("\x1b]8;;https://a\x1b\\x\x1b]8;;\x1b\\", "⟨ESC]8;;https://a⟩x⟨ESC]8;;⟩"),
        ("\x1bPq\x9cx", "⟨ESCPq⟩x"),
        ("\x1b]0;" + "t" * 100 + "\x07", "⟨ESC]0;" + "t" * 77 + "…⟩"),
        ("\x1b(B\x1b7\x1bc", "⟨ESC(B⟩⟨ESC7⟩⟨ESCc⟩"),
        ("\x1b]0;never ends", "⟨U+001B⟩]0;never ends"),
        ("\x1b]0;a\u202eb\x07", "⟨ESC]0;a⟨U+202E⟩b⟩"),
        ("e" + "\u0301" * 9 + "x", "e" + "\u0301" * 4 + "⟨5 more marks⟩x"),
        ("a\u2800b", "a⟨U+2800⟩b"),
        ("del\x7f nul\x00", "del⟨U+007F⟩ nul⟨U+0000⟩"),
        ("fix\u202egnp.exe", "fix⟨U+202E⟩gnp.exe"),
        ("zero\u200bwidth\u2060\ufeff", "zero⟨U+200B⟩width⟨U+2060⟩⟨U+FEFF⟩"),
        ("line\u2028para\u2029", "line⟨U+2028⟩para⟨U+2029⟩"),
        ("tag\U000e0041", "tag⟨U+E0041⟩"),
        ("half\ud800", "half⟨U+D800⟩"),
        ("a\ufe01b\U000e0100", "a⟨U+FE01⟩b⟨U+E0100⟩"),
        ("filler\u3164\u115f", "filler⟨U+3164⟩⟨U+115F⟩"),
        ("⚠\ufe0f ☃\ufe0e 1\ufe0f\u20e3", "⚠\ufe0f ☃\ufe0e 1\ufe0f\u20e3"),
        ("⚠\ufe0f\ufe0f", "⚠\ufe0f⟨U+FE0F⟩"),
        ("a\ufe0f 1\ufe0f \ufe0f", "a⟨U+FE0F⟩ 1⟨U+FE0F⟩ ⟨U+FE0F⟩"),
        ("äöü 日本 🎉", "äöü 日本 🎉"),
    ],
)
def test_hidden_characters_become_marks(text: str, expected: str):
    assert safe_text(text) == expected


def test_every_format_and_control_character_is_hidden():
    left = {
        character
        for character in map(chr, range(0x110000))
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        and safe_text(character) == character
    }
    assert left == set("\t\n")


def test_without_newlines_even_tabs_are_marked():
    assert safe_text("a\nb\tc", keep_newlines=False) == "a⟨U+000A⟩b⟨U+0009⟩c"


@given(hostile, st.booleans())
def test_safe_again_changes_nothing(text: str, keep: bool):
    once = safe_text(text, keep_newlines=keep)
    assert safe_text(once, keep_newlines=keep) == once
    assert not has_hidden_characters(once)
    assert once.encode().decode() == once


@pytest.mark.parametrize(
    ("text", "hidden"), [("a\n\tb", False), ("a\rb", True), ("\u200d", True), ("⚠\ufe0f", False)]
)
def test_has_hidden_leaves_out_newlines_and_tabs(text: str, hidden: bool):
    assert has_hidden_characters(text) is hidden


@each_row(
    ("text", "limit", "expected"),
    [
        ("short", 10, "short"),
        ("two\nlines\r\nthree", 20, "two⏎lines⏎three"),
        ("a\tb", 5, "a b"),
        ("too long", 4, "too…"),
        ("日本語", 4, "日…"),
        ("x\u202ey", 20, "x⟨U+202E⟩y"),
        ("anything", 0, ""),
        ("e" + "\u0301" * 100, 3, "e" + "\u0301" * 4 + "⟨…"),
    ],
)
def test_one_line_fits(text: str, limit: int, expected: str):
    assert one_line(text, limit) == expected


@given(hostile, st.integers(0, 30))
def test_one_line_is_one_safe_line_within_its_limit(text: str, limit: int):
    line = one_line(text, limit)
    assert cell_width(line) <= limit
    assert "\n" not in line
    assert "\t" not in line
    assert not has_hidden_characters(line)
