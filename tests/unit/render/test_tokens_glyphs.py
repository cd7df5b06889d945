import subprocess
import sys

import pytest
from msgspec.structs import asdict
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from tests.support.tables import each_row
from tests.unit.render.inks import ASCII, DARK, UNICODE, ansi_ink
from workbench.render.derived_colors import (
    FAINT_CONTRAST,
    GROUND_NAMES,
    LEAST_LIFT,
    TEXT_CONTRAST,
    TEXT_NAMES,
    contrast_ratio,
)
from workbench.render.glyphs import glyphs_for
from workbench.render.theme import (
    DARK_COLORS,
    LIGHT_COLORS,
    OWN_THEMES,
    Ink,
    colors_at_depth,
    css_variables,
    own_theme,
    theme_colors,
)
from workbench.views.status_icons import ICONS

TINTS = ("panel", "cursor_row", "cursor_blur", "added_bg", "added_word", "removed_bg", "removed_word")
LEAST_LIFT_256 = 1.09
WORD_TINTS = ("added_word", "removed_word")
BARE = Theme(name="bare", primary="#ff00ff")
"""A theme of a user that says as little as one can."""
COLOURED = {
    theme.name: theme
    for theme in (*map(own_theme, OWN_THEMES), *BUILTIN_THEMES.values(), BARE)
    if not theme.ansi
}


def on(tokens, name, under="background"):
    return contrast_ratio(Color.parse(getattr(tokens, name)), Color.parse(getattr(tokens, under)))


def weak_texts(tokens, grounds):
    return {
        (text, ground): round(on(tokens, text, ground), 2)
        for text in TEXT_NAMES
        for ground in grounds
        if on(tokens, text, ground) < (FAINT_CONTRAST if text == "faint" else TEXT_CONTRAST)
    }


@each_row("name", COLOURED)
def test_every_text_can_be_read_on_every_ground(name):
    tokens = theme_colors(COLOURED[name])
    assert weak_texts(tokens, ("background", *GROUND_NAMES)) == {}
    assert all(on(tokens, "foreground", tint) >= TEXT_CONTRAST for tint in WORD_TINTS)
    assert on(tokens, "foreground") > on(tokens, "muted") > on(tokens, "faint")


@each_row("name", COLOURED)
def test_every_ground_is_seen(name):
    tokens = theme_colors(COLOURED[name])
    assert {ground: on(tokens, ground) for ground in GROUND_NAMES if on(tokens, ground) < LEAST_LIFT} == {}
    told_apart = [getattr(tokens, ground) for ground in GROUND_NAMES if ground != "cursor_blur"]
    assert len(set(told_apart)) == len(told_apart) or name == BARE.name


@each_row("name", COLOURED)
def test_every_row_can_be_read_in_256_colours(name):
    tokens = colors_at_depth(COLOURED[name], "256")
    rows = ("panel", "cursor_row", "cursor_blur")
    assert weak_texts(tokens, ("background", *rows)) == {}
    assert all(on(tokens, row) >= LEAST_LIFT_256 for row in rows)
    assert len({getattr(tokens, row) for row in ("background", *rows)}) == 4
    assert on(tokens, "added", "added_bg") >= TEXT_CONTRAST
    assert on(tokens, "removed", "removed_bg") >= TEXT_CONTRAST
    assert all(on(tokens, "foreground", tint) >= TEXT_CONTRAST for tint in WORD_TINTS)


def hue_distance(first, second):
    away = abs(Color.parse(first).hsl.h - Color.parse(second).hsl.h)
    return min(away, 1 - away)


@each_row("name", [name for name, theme in BUILTIN_THEMES.items() if not theme.ansi])
def test_what_waits_and_what_failed_have_the_hue_of_the_theme(name):
    theme = BUILTIN_THEMES[name]
    tokens, generated = theme_colors(theme), theme.to_color_system().generate()
    for mine, theirs in (
        ("waiting", "warning"),
        ("failed", "error"),
        ("added", "success"),
        ("info", "primary"),
    ):
        assert hue_distance(getattr(tokens, mine), generated[theirs]) < 0.03, mine


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
