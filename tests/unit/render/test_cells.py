import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from tests.support.tables import each_row
from tests.unit.render.inks import ASCII, DARK, HOSTILE, UNICODE, is_safe, styles_at
from workbench.render import cells
from workbench.render.cells import (
    Column,
    safe_content,
    safe_lines,
    word_breaks,
    wrap_code,
    wrap_line,
    wrap_plain_text,
)
from workbench.text.width import cell_width

texts = st.text(max_size=30) | st.sampled_from(HOSTILE)


@each_row("text", HOSTILE)
def test_content_is_one_safe_line(text):
    found = safe_content(text, DARK.of("info"), DARK)
    assert is_safe(found.plain)
    assert "\n" not in found.plain


def test_markup_is_text():
    assert (
        safe_content("[bold red]x[/] [@click=app.quit()]y[/]").plain
        == "[bold red]x[/] [@click=app.quit()]y[/]"
    )


def test_hidden_characters_are_reversed():
    strip = cells.line_strip(safe_content("a\u202eb", DARK.of("muted"), DARK), 20, DARK.on("background"))
    marked, plain = styles_at(strip, "⟨U+202E⟩"), styles_at(strip, "b")
    assert marked.bgcolor.name == DARK.tokens.failed
    assert plain.bgcolor.name == DARK.tokens.background
    bare = cells.line_strip(safe_content("a\u202eb"), 20)
    assert styles_at(bare, "⟨").reverse


columns = st.lists(
    st.builds(
        Column,
        content=texts.map(safe_content),
        width=st.none() | st.integers(0, 12),
        grows=st.booleans(),
        align=st.sampled_from(["left", "right"]),
        cut=st.sampled_from(["end", "path"]),
        drop=st.integers(0, 3),
        least=st.integers(0, 9),
        gap=st.integers(0, 3),
    ),
    max_size=6,
)


@given(columns, st.integers(0, 60), st.sampled_from([UNICODE, ASCII]))
def test_a_row_is_exactly_as_wide_as_asked(found, width, glyphs):
    once = [
        column for n, column in enumerate(found) if not column.grows or not any(c.grows for c in found[:n])
    ]
    strip = cells.row_strip(once, width, DARK.on("background"), glyphs=glyphs)
    assert strip.cell_length == width
    assert is_safe(strip.text)


NAME = Column(content=Content("src/some/path/router.py"), grows=True, cut="path", least=9)
ROW = [
    Column(content=Content("◆"), gap=0), NAME, Column(content=Content("+6 −3"), drop=2),
    Column(content=Content("session"), width=9, drop=3), Column(content=Content("4:52"), align="right", width=5),
]  # fmt: skip


@pytest.mark.parametrize(
    ("width", "glyphs", "text"),
    [
        (48, UNICODE, "◆ src/some/path/router.py  +6 −3 session    4:52"),
        (40, UNICODE, "◆ src/…/router.py  +6 −3 session    4:52"),
        (32, UNICODE, "◆ src/…/router.py    +6 −3  4:52"),
        (32, ASCII, "◆ src/../router.py   +6 −3  4:52"),
        (20, UNICODE, "◆ …/router.py   4:52"),
        (12, UNICODE, "◆ ….py  4:52"),
    ],
)
def test_what_is_dropped_first(width, glyphs, text):
    assert cells.row_strip(ROW, width, glyphs=glyphs).text == text


@each_row(
    ("text", "room", "glyphs", "expected"),
    [
        ("abcdef", 6, UNICODE, "abcdef"), ("abcdef", 4, UNICODE, "abc…"), ("abcdef", 4, ASCII, "ab.."), ("abcdef", 1, UNICODE, "…"),
        ("abcdef", 1, ASCII, "."), ("abcdef", 0, UNICODE, ""), ("漢字漢字", 5, UNICODE, "漢字…"), ("漢字漢字", 4, UNICODE, "漢…"),
    ],
)  # fmt: skip
def test_shorten(text, room, glyphs, expected):
    assert cells.shorten_line(Content(text), room, glyphs).plain == expected


def test_a_cut_keeps_its_styles():
    line = cells.styled("abc", DARK.of("added")) + cells.styled("defgh", DARK.of("removed"))
    strip = cells.line_strip(cells.shorten_line(line, 6), 6, DARK.on("background"))
    assert styles_at(strip, "a").color.name == DARK.tokens.added
    assert styles_at(strip, "e").color.name == DARK.tokens.removed


@pytest.mark.parametrize(
    ("width", "left", "right", "text"),
    [
        (30, "2 Approvals", "by time", "─ 2 Approvals ────── by time ─"),
        (30, "2 Approvals", "", "─ 2 Approvals ────────────────"),
        (20, "2 Approvals", "by time left", "─ 2 Approvals ──────"),
        (10, "2 Approvals", "x", "─ 2 App… ─"),
    ],
)
def test_titles(width, left, right, text):
    strip = cells.title_strip(Content(left), Content(right), width, DARK)
    assert (strip.text, strip.cell_length) == (text, width)


def test_focus_is_in_the_rule():
    rules = [
        styles_at(cells.title_strip(Content("x"), Content(""), 20, DARK, has_focus=focus), "─").color.name
        for focus in (True, False)
    ]
    assert rules == [DARK.tokens.info, DARK.tokens.rule]
    assert cells.title_strip(Content("x"), Content(""), 9, DARK, glyphs=ASCII).text == "- x -----"


@each_row(
    ("text", "width", "lines"),
    [
        ("one two three", 7, ["one two", "three"]), ("one two three", 8, ["one two", "three"]), ("  one two", 6, ["  one", "two"]),
        ("abcdefgh ij", 4, ["abcd", "efgh", "ij"]), ("", 4, [""]), ("      x", 3, ["", "x"]), ("漢字 漢字", 5, ["漢字", "漢字"]),
        ("a b", 1, ["a", "b"]),
    ],
)  # fmt: skip
def test_words_are_kept_whole_where_they_can(text, width, lines):
    assert [line.plain for line in wrap_line(Content(text), width)] == lines


@given(texts, st.integers(2, 20))
def test_wrapping_loses_no_letter(text, width):
    lines = wrap_plain_text(text, width, DARK)
    whole = "".join(safe_lines(text)).replace(" ", "")
    assert "".join(line.plain for line in lines).replace(" ", "") == whole
    assert all(is_safe(line.plain) for line in lines)


@given(st.text(alphabet="ab \u6f22", max_size=40), st.integers(2, 9))
def test_no_line_is_too_wide(text, width):
    for start, end in word_breaks(text, width):
        assert Content(text[start:end]).cell_length <= width
    assert all(line.cell_length <= width for line in wrap_code([Content(text)], width))


@given(st.text(alphabet="ab ,;(){}=é漢", max_size=80), st.integers(6, 40))
def test_long_code_is_broken_without_losing_anything(text, width):
    hang = cells.hanging_indent(text, width)
    pieces = cells.code_breaks(text, width, hang)
    assert "".join(text[start:end] for start, end in pieces) == text
    for at, (start, end) in enumerate(pieces):
        room = width - (hang if at else 0)
        assert cell_width(text[start:end]) <= max(room, 2)


@each_row("room", range(1, 24))
@each_row("keeps_end", [False, True])
def test_a_mark_of_a_hidden_character_is_shown_whole_or_not_at_all(room, keeps_end):
    line = cells.shorten_line(cells.safe_content("src/fix\u202egnp/it.exe"), room, keeps_end=keeps_end).plain
    assert len(line) <= room
    assert "⟨" not in line.replace("⟨U+202E⟩", "")
    assert "⟩" not in line.replace("⟨U+202E⟩", "")


@each_row("mark", ["⟨U+202E⟩", "⟨ESC[31m⟩"])
@each_row("width", range(18, 40))
def test_no_mark_is_broken_over_two_lines(mark, width):
    text = f"git commit -am fix{mark}gnp.exe and more words after it{mark}"
    for line in (*wrap_code([Content(text)], width), *wrap_line(Content(text), width)):
        assert line.plain.count("⟨") == line.plain.count("⟩")


@pytest.mark.parametrize("hidden", ["\u202e", "\x1b[31m", "a" + "\u0301" * 30])
def test_what_stands_for_hidden_characters_is_reversed(hidden):
    line = cells.safe_content(f"before {hidden} after")
    (mark,) = [span for span in line.spans if line.plain[span.start] == "⟨"]
    assert line.plain[mark.end - 1] == "⟩"
