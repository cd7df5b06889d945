from typing import get_args

import pytest
from rich.color import Color as Cell
from rich.color import ColorSystem
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from workbench.draw.depth import IN_256, theme_for, tokens_at
from workbench.draw.tokens import HOUSE, Ink, TokenName, contrast, house_theme

ROWS = ("background", "panel", "cursor_row", "cursor_blur")
TEXTS = ("foreground", "muted", "info", "added", "removed", "waiting")
CODE = ("foreground", "keyword", "string", "function", "number", "comment")


def shown(color):
    """What a terminal of 256 colours makes of a colour, by the rule of what draws on it."""
    return Color(*Cell.parse(color).downgrade(ColorSystem.EIGHT_BIT).get_truecolor())


def all_shown(tokens):
    return {name: shown(getattr(tokens, name)) for name in get_args(TokenName)}


@pytest.mark.parametrize("tokens", IN_256.values(), ids=list(IN_256))
def test_rows_and_changed_lines_stay_apart_in_256_colours(tokens):
    found = all_shown(tokens)
    tints = [*ROWS, "added_bg", "removed_bg"]
    assert len({found[name].hex for name in tints}) == len(tints)


@pytest.mark.parametrize("tokens", IN_256.values(), ids=list(IN_256))
def test_everything_can_be_read_in_256_colours(tokens):
    found = all_shown(tokens)
    weak = {
        (text, row): round(contrast(found[text], found[row]), 1)
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
        if contrast(found[text], found[row]) < least
    }
    assert weak == {}


def test_our_dark_tints_would_be_lost_without_it():
    found = all_shown(HOUSE["workbench-dark"])
    assert found["added_bg"] == found["removed_bg"] == found["background"]


def test_a_changed_word_is_underlined_where_it_has_the_tint_of_its_line():
    assert Ink(tokens=IN_256["workbench-dark"]).word("+").underline
    assert not Ink(tokens=IN_256["workbench-light"]).word("-").underline


@pytest.mark.parametrize("name", ["nord", "gruvbox", "solarized-light", "textual-light"])
def test_foreign_themes_have_our_tints_in_256_colours(name):
    theme = BUILTIN_THEMES[name]
    found = all_shown(tokens_at(theme, "256"))
    assert len({found[row].hex for row in ("background", "cursor_row", "added_bg", "removed_bg")}) == 4
    assert tokens_at(theme, "full").added_bg != tokens_at(theme, "256").added_bg


def test_sixteen_colours_take_the_themes_of_the_terminal():
    dark, light = house_theme("workbench-dark"), house_theme("workbench-light")
    assert (theme_for(dark, "16"), theme_for(light, "16")) == ("ansi-dark", "ansi-light")
    assert theme_for(BUILTIN_THEMES["ansi-light"], "16") == "ansi-light"
    assert theme_for(dark, "256") == theme_for(dark, "full") == "workbench-dark"
    assert tokens_at(BUILTIN_THEMES["ansi-dark"], "256").is_ansi
