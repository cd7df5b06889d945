import re
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from tests.unit.render.inks import ASCII, DARK, HOSTILE, UNICODE, is_safe, styles_at
from workbench.render import markdown
from workbench.render.cells import line_strip
from workbench.render.syntax import SyntaxHighlighter


def shown(text, width=40, glyphs=UNICODE, painter=None):
    return [line.plain.rstrip() for line in markdown.markdown_lines(text, width, DARK, glyphs, painter)]


@each_row(
    ("text", "lines"),
    [
        ("", []),
        ("one\ntwo", ["one two"]),
        ("one  \ntwo", ["one", "two"]),
        ("one\n\n\n\ntwo", ["one", "", "two"]),
        ("# Head #\ntext", ["Head", "", "text"]),
        ("- a\n- b\n  - c", ["• a", "• b", "  • c"]),
        ("- a\n\n- b", ["• a", "", "• b"]),
        ("9. a\n10. b", [" 9. a", "10. b"]),
        ("- ", ["•"]),
        ("> a\n> b\n>\n> c", ["│ a b", "│", "│ c"]),
        ("```py\nx\n  y\n```", [" x", "   y"]),
        ("```", [""]),
        ("    code", [" code"]),
        ("a\n\n---\n\nb", ["a", "", "─" * 40, "", "b"]),
        ("[here](http://x.y) and <http://z>", ["here (http://x.y) and http://z"]),
        ("![alt](http://x/i.png)", ["alt (http://x/i.png)"]),
        ("<b onclick=x>hi</b>", ["<b onclick=x>hi</b>"]),
        ("<script>\nx\n</script>", ["<script> x </script>"]),
        ("[@click=app.bell()]x[/] [bold]y", ["[@click=app.bell()]x[/] [bold]y"]),
        ("&#x202e;&#8203; &amp;", ["⟨U+202E⟩⟨U+200B⟩ &"]),
        ("a\x1b[31mb", ["a⟨ESC[31m⟩b"]),
        ("a\\\nb", ["a", "b"]),
        ("| a | b |\n|---|---|\n| 1 | two |", ["a  b", "──────", "1  two"]),
        ("one two three four five six seven eight nine", ["one two three four five six seven eight", "nine"]),
    ],
)
def test_markdown(text, lines):
    assert shown(text) == lines


def test_tables_shrink_and_wrap():
    text = "| name | what it says |\n|---|---|\n| a | some words that are long |"
    assert shown(text, 20) == [
        "name  what it says",
        "────────────────────",
        "a     some words",
        "      that are long",
    ]
    assert shown(text, 8) == ["name", "what it", "says", "a", "some", "words", "that are", "long"]


def test_styles():
    (line,) = markdown.markdown_lines("**bold** *it* `code` [a](http://b)", 60, DARK, UNICODE)
    drawn = line_strip(line, 60, DARK.on("background"))
    assert styles_at(drawn, "bold").bold
    assert styles_at(drawn, "it ").italic
    assert styles_at(drawn, "code").color.name == DARK.tokens.info
    assert styles_at(drawn, "(http").color.name == DARK.tokens.muted
    assert not any(segment.style.meta or segment.style.link for segment in drawn)
    (head,) = markdown.markdown_lines("## x", 60, DARK, UNICODE)
    assert styles_at(line_strip(head, 9, DARK.on("background")), "x").bold


def test_code_lies_on_a_panel_with_its_colours():
    (line,) = markdown.markdown_lines("```python\nx = None\n```", 20, DARK, UNICODE, SyntaxHighlighter())
    drawn = line_strip(line, 20, DARK.on("background"))
    assert {segment.style.bgcolor.name for segment in drawn} == {DARK.tokens.panel}
    assert styles_at(drawn, "None").color.name == DARK.tokens.keyword
    (plain,) = markdown.markdown_lines("```python\nx = None\n```", 20, DARK, UNICODE)
    assert (
        styles_at(line_strip(plain, 20, DARK.on("background")), "None").color.name == DARK.tokens.foreground
    )


def test_ascii_glyphs():
    assert shown("- a\n> b\n\n---", 9, ASCII) == ["- a", "", "| b", "", "---------"]


documents = st.lists(
    st.sampled_from(
        [
            *HOSTILE,
            "- x",
            "> y",
            "```",
            "# h",
            "| a |\n|---|\n| b |",
            "1. n",
            "  - z",
            "**b**",
            "\n",
            "[l](u)",
            "漢字 漢字漢字",
        ]
    ),
    max_size=8,
).map("\n".join)


@given(documents | st.text(max_size=60), st.integers(4, 50))
def test_any_text_is_safe(text, width):
    for line in markdown.markdown_lines(text, width, DARK, UNICODE, SyntaxHighlighter()):
        assert is_safe(line.plain)
        assert "\n" not in line.plain


@given(
    st.lists(
        st.sampled_from(
            [
                "- x",
                "> yy",
                "```\ncode it\n```",
                "# head",
                "| a | b |\n|---|---|\n| c | d |",
                "word word",
                "1. n\n   - z",
            ]
        ),
        max_size=6,
    ),
    st.integers(6, 40),
)
def test_no_line_is_wider_than_asked(parts, width):
    for line in markdown.markdown_lines("\n\n".join(parts), width, DARK, UNICODE):
        assert line.cell_length <= width


def test_what_is_too_big_is_plain():
    found = markdown.markdown_lines("# x\n" * 60_000, 20, DARK, UNICODE)
    assert (len(found), found[0].plain) == (60_001, "# x")


@pytest.mark.parametrize(
    "text",
    [
        "> " * 500 + "word",
        "- " * 500 + "word",
        "*a " * 2000 + "word" + " a*" * 2000,
        "[" * 500 + "word" + "](u)" * 500,
        "> " * 29 + "word",
    ],
)
def test_nothing_is_lost_however_deep(text):
    assert any("word" in line for line in shown(text, 60))


@pytest.mark.parametrize(
    "text",
    [
        "[a]: http://b 'word'",
        '[a](http://b "word")',
        "```py word\nx\n```",
        "<!-- word -->",
        "![word](x)",
        "&#119;ord",
    ],
)
def test_nothing_is_hidden(text):
    assert "word" in " ".join(shown(text, 60))


@given(st.text(alphabet="ab Zé .,;:'\"()?/%$…“”’–1-*_`\n", min_size=1, max_size=60), st.integers(1, 40))
def test_a_line_of_plain_words_looks_as_the_reader_of_markdown_has_it(text, width):
    drawn = markdown.markdown_lines(text, width, DARK, UNICODE)
    with mock.patch.object(markdown, "_PLAIN_PARAGRAPH", re.compile(r"(?!)")):
        assert markdown.markdown_lines(text, width, DARK, UNICODE) == drawn
