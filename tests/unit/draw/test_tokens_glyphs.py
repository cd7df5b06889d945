import subprocess
import sys
from dataclasses import asdict

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from tests.unit.draw.inks import ASCII, DARK, UNICODE, ansi_ink
from workbench.draw.glyphs import glyphs_for
from workbench.draw.tokens import DARK as DARK_TOKENS
from workbench.draw.tokens import HOUSE, LIGHT, Ink, contrast, house_theme, theme_tokens, variables
from workbench.views.signs import SIGNS

TEXTS = [
    "foreground",
    "muted",
    "info",
    "added",
    "removed",
    "waiting",
    "failed",
    "keyword",
    "string",
    "function",
    "number",
    "comment",
]
TINTS = ["panel", "cursor_row", "cursor_blur", "added_bg", "added_word", "removed_bg", "removed_word"]
COLOURED = sorted(name for name, theme in BUILTIN_THEMES.items() if not theme.ansi)


def on(tokens, name, under="background"):
    return contrast(Color.parse(getattr(tokens, name)), Color.parse(getattr(tokens, under)))


@pytest.mark.parametrize("name", COLOURED)
def test_every_theme_can_be_read(name):
    tokens = theme_tokens(BUILTIN_THEMES[name])
    assert {text: on(tokens, text) >= 4.5 for text in TEXTS} == dict.fromkeys(TEXTS, True)
    assert {tint: on(tokens, "foreground", tint) >= 4.5 for tint in TINTS} == dict.fromkeys(TINTS, True)
    assert on(tokens, "faint") >= 3.6
    assert not tokens.is_ansi


@pytest.mark.parametrize("tokens", HOUSE.values(), ids=list(HOUSE))
def test_the_house_can_be_read_everywhere(tokens):
    for under in ("background", "panel", "cursor_row"):
        assert all(on(tokens, text, under) >= 4.5 for text in TEXTS)
        assert on(tokens, "faint", under) >= 3.6


@pytest.mark.parametrize("name", ["ansi-dark", "ansi-light"])
def test_sixteen_colours_have_no_tints(name):
    tokens = theme_tokens(BUILTIN_THEMES[name])
    assert {getattr(tokens, tint) for tint in TINTS} == {"transparent"}
    assert all(
        value.startswith("ansi_")
        for key, value in asdict(tokens).items()
        if isinstance(value, str) and key not in TINTS
    )


def test_variables_are_colours_that_a_stylesheet_takes():
    for theme in BUILTIN_THEMES.values():
        found = variables(theme_tokens(theme))
        assert all(Color.parse(value) for value in found.values())
        assert {"cursor-row", "added-bg", "info", "surface"} <= found.keys()


@pytest.mark.parametrize("name", list(HOUSE))
def test_our_themes_are_taken_as_they_are(name):
    theme = house_theme(name)
    assert theme_tokens(theme) == HOUSE[name]
    assert theme.variables == variables(HOUSE[name])
    assert theme.dark is HOUSE[name].is_dark


def test_reverse_text_can_be_read():
    for name in ("info", "waiting", "failed"):
        style = DARK.reverse(name)
        assert contrast(style.background, style.foreground) >= 4.5
    assert ansi_ink().reverse("info").reverse


def test_changed_words_are_underlined_where_no_tint_can_be_seen():
    assert not DARK.word("+").underline
    assert Ink(tokens=LIGHT, no_colour=True).word("+").underline
    assert ansi_ink().word("-").underline
    assert [ink.has_tints for ink in (DARK, ansi_ink(), Ink(tokens=LIGHT, no_colour=True))] == [
        True,
        False,
        False,
    ]


def test_a_transparent_row_has_the_background():
    assert ansi_ink().on("panel").background == Color.parse("ansi_default")
    assert DARK.on("panel").background == Color.parse(DARK_TOKENS.panel)


def test_every_meaning_has_a_colour():
    meanings = [
        "waiting",
        "running",
        "todo",
        "ok",
        "failed",
        "partly",
        "rejected",
        "expired",
        "stale",
        "rule",
        "cancelled",
        "unknown",
        "risk",
    ]
    assert all(DARK.sign(meaning).foreground for meaning in meanings)


@pytest.mark.parametrize(
    ("left", "fuse"),
    [
        (None, " "),
        (901, " "),
        (300, " "),
        (299, "▇"),
        (292, "▇"),
        (150, "▄"),
        (76, "▂"),
        (74, "▁"),
        (41, "▁"),
        (1, "▁"),
        (0, " "),
    ],
)
def test_the_fuse_burns_down(left, fuse):
    assert UNICODE.fuse(left) == fuse
    assert ASCII.fuse(left) == " "


def test_our_own_lines_in_ascii():
    assert ASCII.line("◆ 3 · 12 → 13 … −4 “x” § R3 ─╮") == '* 3 . 12 -> 13 .. -4 "x" S R3 -+'
    assert UNICODE.line("→") == "→"
    assert all(ASCII.of(name).isascii() and UNICODE.of(name) == sign.unicode for name, sign in SIGNS.items())


@pytest.mark.parametrize(
    ("setting", "encoding", "env", "is_ascii"),
    [
        ("auto", "UTF-8", {}, False), ("auto", "utf8", {}, False), ("auto", "ANSI_X3.4-1968", {}, True), ("auto", None, {}, True),
        ("auto", "utf-8", {"VTE_CJK_WIDTH": "1"}, True), ("unicode", None, {}, False), ("ascii", "utf-8", {}, True),
    ],
)  # fmt: skip
def test_which_glyphs(setting, encoding, env, is_ascii):
    assert glyphs_for(setting, encoding, env).is_ascii is is_ascii


def test_drawing_loads_no_lexer_and_no_markdown_before_it_needs_them():
    modules = ["cells", "rows", "diff", "markdown", "talk", "detail", "syntax", "waterfall", "tokens"]
    code = ";".join(f"import workbench.draw.{name}" for name in modules) + ";import sys;print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {name.split(".")[0] for name in loaded} & {
        "pygments",
        "markdown_it",
        "pydantic",
        "httpx",
        "yaml",
    }
