"""The house colours (UX section 3): for our two themes, derived for foreign ones, and as styles to draw with.

Owns what a colour is called and that it can be read: derived text colours are pushed until they have contrast.
Nothing else in the program names a colour.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Final, Literal

from textual.color import Color
from textual.style import Style
from textual.theme import Theme

from workbench.views.signs import Meaning

TokenName = Literal[
    "background", "surface", "panel", "cursor_row", "cursor_blur", "rule", "foreground", "muted", "faint",
    "info", "added", "removed", "waiting", "failed", "added_bg", "added_word", "removed_bg", "removed_word",
    "keyword", "string", "function", "number", "comment",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Every colour of the screen as a CSS colour; `transparent` draws nothing."""

    background: str
    surface: str
    panel: str
    cursor_row: str
    cursor_blur: str
    rule: str
    foreground: str
    muted: str
    faint: str
    info: str
    added: str
    removed: str
    waiting: str
    failed: str
    added_bg: str
    added_word: str
    removed_bg: str
    removed_word: str
    keyword: str
    string: str
    function: str
    number: str
    comment: str
    is_dark: bool = True
    is_ansi: bool = False
    """Only the 16 colours: no tints, changed words are underlined."""


DARK: Final = Tokens(
    background="#0f1217", surface="#0f1217", panel="#181d25", cursor_row="#1c2b3f", cursor_blur="#1a2029",
    rule="#323b48", foreground="#d8dee7", muted="#98a3b3", faint="#76818f", info="#74b4ff", added="#7fd18e",
    removed="#f29191", waiting="#f0b952", failed="#ff6470", added_bg="#12261a", added_word="#215234",
    removed_bg="#2c1719", removed_word="#632a2f", keyword="#c0a9ec", string="#b4cf94", function="#9ccaf5",
    number="#dfb285", comment="#8a96a5",
)  # fmt: skip
LIGHT: Final = Tokens(
    background="#fbfbfa", surface="#fbfbfa", panel="#eceef1", cursor_row="#dbe9f8", cursor_blur="#e9edf1",
    rule="#c3c9d1", foreground="#1c2128", muted="#56606d", faint="#6c7581", info="#0a5cb0", added="#11682d",
    removed="#a3282f", waiting="#855000", failed="#b50d28", added_bg="#e3f4e6", added_word="#b4e2be",
    removed_bg="#fbe7e6", removed_word="#f5c0be", keyword="#6639a6", string="#3c6414", function="#0a5a9c",
    number="#8a4b00", comment="#5d6672", is_dark=False,
)  # fmt: skip
HOUSE: Final[Mapping[str, Tokens]] = {"workbench-dark": DARK, "workbench-light": LIGHT}
"""Theme name to tokens."""


def variables(tokens: Tokens) -> dict[str, str]:
    """Return the tokens as variables of a theme or of `get_theme_variable_defaults`: `$cursor-row` and so on."""
    names = [field.name for field in fields(tokens) if field.type == "str" or field.type is str]
    return {name.replace("_", "-"): getattr(tokens, name) for name in names}


def house_theme(name: Literal["workbench-dark", "workbench-light"]) -> Theme:
    """Return one of our two themes for `App.register_theme`."""
    raise NotImplementedError(name)


def derive(generated: Mapping[str, str], *, is_dark: bool, is_ansi: bool) -> Tokens:
    """Return tokens for a foreign theme from the variables that Textual generates for it.

    Args:
        generated: `theme.to_color_system().generate()`.
        is_dark: whether the theme is dark.
        is_ansi: whether it has only the 16 colours of the terminal.
    """
    raise NotImplementedError(generated, is_dark, is_ansi, Color)


def theme_tokens(theme: Theme) -> Tokens:
    """Return the tokens of any theme: our own as they are, others derived."""
    raise NotImplementedError(theme)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ink:
    """Tokens as styles to draw with. `no_colour` adds underlines where only a tint told a thing."""

    tokens: Tokens
    no_colour: bool = False

    def of(self, name: TokenName, *, bold: bool = False, italic: bool = False) -> Style:
        """Return the style of text in a colour."""
        raise NotImplementedError(name, bold, italic)

    def on(self, background: TokenName) -> Style:
        """Return the style of a row on a background; `transparent` gives none."""
        raise NotImplementedError(background)

    def reverse(self, name: TokenName) -> Style:
        """Return text in the background's colour on a colour: focused title, REPLAY, hidden characters."""
        raise NotImplementedError(name)

    def sign(self, meaning: Meaning) -> Style:
        """Return the style of a sign and its word."""
        raise NotImplementedError(meaning)

    def cursor(self, *, has_focus: bool) -> Style:
        """Return the background of the row under the cursor."""
        raise NotImplementedError(has_focus)

    def word(self, sign: Literal["+", "-"]) -> Style:
        """Return the style of a changed word; underlined where tints cannot be seen."""
        raise NotImplementedError(sign)

    def hit(self) -> Style:
        """Return the style of a search hit."""
        return Style(underline=True)


@cache
def house_ink(name: Literal["workbench-dark", "workbench-light"]) -> Ink:
    """Return the ink of one of our themes; for tests and screenshots."""
    return Ink(tokens=HOUSE[name])
