from typing import get_args

import pytest
from msgspec.structs import replace
from rich.color import Color as Cell
from rich.color import ColorSystem
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from workbench.render.derived_colors import contrast_ratio
from workbench.render.theme import (
    OWN_THEMES,
    OWN_THEMES_256,
    ColorName,
    Ink,
    colors_at_depth,
    own_theme,
    theme_name_at_depth,
)

ROWS = ("background", "panel", "cursor_row", "cursor_blur")
TEXTS = ("foreground", "muted", "info", "added", "removed", "waiting")
CODE = ("foreground", "keyword", "string", "function", "number", "comment")


def shown(color):
    """What a terminal of 256 colours makes of a colour, by the rule of what draws on it."""
    return Color(*Cell.parse(color).downgrade(ColorSystem.EIGHT_BIT).get_truecolor())


def all_shown(tokens):
    return {name: shown(getattr(tokens, name)) for name in get_args(ColorName)}


@pytest.mark.parametrize("tokens", OWN_THEMES_256.values(), ids=list(OWN_THEMES_256))
def test_rows_and_changed_lines_stay_apart_in_256_colours(tokens):
    found = all_shown(tokens)
    tints = [*ROWS, "added_bg", "removed_bg"]
    assert len({found[name].hex for name in tints}) == len(tints)


@pytest.mark.parametrize("tokens", OWN_THEMES_256.values(), ids=list(OWN_THEMES_256))
def test_everything_can_be_read_in_256_colours(tokens):
    found = all_shown(tokens)
    weak = {
        (text, row): round(contrast_ratio(found[text], found[row]), 1)
        for text, rows, least in [
            *((text, ROWS, 4.5) for text in TEXTS),
            *((text, ("added_bg", "removed_bg"), 4.5) for text in CODE),
            *((text, ("background",), 4.5) for text in CODE),
            ("foreground", ("added_word", "removed_word"), 4.5),
            ("added", ("added_bg",), 4.5),
            ("removed", ("removed_bg",), 4.5),
            ("failed", ROWS[:3], 4.5),
            ("faint", ROWS, 3.6),
        ]
        for row in rows
        if contrast_ratio(found[text], found[row]) < least
    }
    assert weak == {}


def test_our_dark_tints_would_be_lost_without_it():
    found = all_shown(OWN_THEMES["workbench-dark"])
    assert found["added_bg"] == found["removed_bg"] == found["background"]


def test_a_changed_word_is_underlined_where_it_has_the_tint_of_its_line():
    dark = OWN_THEMES_256["workbench-dark"]
    assert not Ink(tokens=dark).word("+").underline
    assert Ink(tokens=replace(dark, tints_lines=True)).word("+").underline
    assert not Ink(tokens=replace(OWN_THEMES_256["workbench-light"], tints_lines=True)).word("-").underline


@pytest.mark.parametrize("name", ["nord", "gruvbox", "solarized-light", "textual-light"])
def test_foreign_themes_have_our_tints_in_256_colours(name):
    theme = BUILTIN_THEMES[name]
    found = all_shown(colors_at_depth(theme, "256"))
    assert len({found[row].hex for row in ("background", "cursor_row", "added_bg", "removed_bg")}) == 4
    assert colors_at_depth(theme, "full").added_bg != colors_at_depth(theme, "256").added_bg


def test_sixteen_colours_take_the_themes_of_the_terminal():
    dark, light = own_theme("workbench-dark"), own_theme("workbench-light")
    assert (theme_name_at_depth(dark, "16"), theme_name_at_depth(light, "16")) == ("ansi-dark", "ansi-light")
    assert theme_name_at_depth(BUILTIN_THEMES["ansi-light"], "16") == "ansi-light"
    assert theme_name_at_depth(dark, "256") == theme_name_at_depth(dark, "full") == "workbench-dark"
    assert colors_at_depth(BUILTIN_THEMES["ansi-dark"], "256").is_ansi
