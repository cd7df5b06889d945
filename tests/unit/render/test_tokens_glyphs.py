import subprocess
import sys

import pytest
from msgspec.structs import asdict
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from tests.support.tables import each_row
from tests.unit.render.inks import ASCII, DARK, UNICODE, ansi_ink
from workbench.render.theme import (
    DARK_COLORS,
    LIGHT_COLORS,
    OWN_THEMES,
    Ink,
    contrast_ratio,
    css_variables,
    glyphs_for,
    own_theme,
    theme_colors,
)
from workbench.views.status_icons import ICONS

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
    return contrast_ratio(Color.parse(getattr(tokens, name)), Color.parse(getattr(tokens, under)))


@each_row("name", COLOURED)
def test_every_theme_can_be_read(name):
    tokens = theme_colors(BUILTIN_THEMES[name])
    assert {text: on(tokens, text) >= 4.5 for text in TEXTS} == dict.fromkeys(TEXTS, True)
    assert {tint: on(tokens, "foreground", tint) >= 4.5 for tint in TINTS} == dict.fromkeys(TINTS, True)
    assert on(tokens, "faint") >= 3.6
    assert not tokens.is_ansi


@pytest.mark.parametrize("tokens", OWN_THEMES.values(), ids=list(OWN_THEMES))
def test_the_house_can_be_read_everywhere(tokens):
    for under in ("background", "panel", "cursor_row"):
        assert all(on(tokens, text, under) >= 4.5 for text in TEXTS)
        assert on(tokens, "faint", under) >= 3.6


@pytest.mark.parametrize("name", ["ansi-dark", "ansi-light"])
def test_sixteen_colours_have_no_tints(name):
    tokens = theme_colors(BUILTIN_THEMES[name])
    assert {getattr(tokens, tint) for tint in TINTS} == {"transparent"}
    assert all(
        value.startswith("ansi_")
        for key, value in asdict(tokens).items()
        if isinstance(value, str) and key not in TINTS
    )


def test_variables_are_colours_that_a_stylesheet_takes():
    for theme in BUILTIN_THEMES.values():
        found = css_variables(theme_colors(theme))
        assert all(Color.parse(value) for value in found.values())
        assert {"cursor-row", "added-bg", "info", "surface"} <= found.keys()


@pytest.mark.parametrize("name", list(OWN_THEMES))
def test_our_themes_are_taken_as_they_are(name):
    theme = own_theme(name)
    assert theme_colors(theme) == OWN_THEMES[name]
    assert theme.variables == css_variables(OWN_THEMES[name])
    assert theme.dark is OWN_THEMES[name].is_dark


def test_reverse_text_can_be_read():
    for name in ("info", "waiting", "failed"):
        style = DARK.reverse(name)
        assert contrast_ratio(style.background, style.foreground) >= 4.5
    assert ansi_ink().reverse("info").reverse


def test_changed_words_are_underlined_where_no_tint_can_be_seen():
    assert not DARK.word("+").underline
    assert Ink(tokens=LIGHT_COLORS, no_colour=True).word("+").underline
    assert ansi_ink().word("-").underline
    assert [ink.has_tints for ink in (DARK, ansi_ink(), Ink(tokens=LIGHT_COLORS, no_colour=True))] == [
        True,
        False,
        False,
    ]


def test_a_transparent_row_has_the_background():
    assert ansi_ink().on("panel").background == Color.parse("ansi_default")
    assert DARK.on("panel").background == Color.parse(DARK_COLORS.panel)


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


@each_row(
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
    assert UNICODE.countdown_bar(left) == fuse
    assert ASCII.countdown_bar(left) == " "


def test_our_own_lines_in_ascii():
    assert ASCII.line("◆ 3 · 12 → 13 … −4 “x” § R3 ─╮") == '* 3 . 12 -> 13 .. -4 "x" S R3 -+'
    assert UNICODE.line("→") == "→"
    assert all(ASCII.of(name).isascii() and UNICODE.of(name) == sign.unicode for name, sign in ICONS.items())


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
    modules = ["cells", "list_rows", "diff", "conversation", "approvals", "theme"]
    code = ";".join(f"import workbench.render.{name}" for name in modules) + ";import sys;print(*sys.modules)"
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
