"""The house colours (UX section 3): for our two themes, derived for foreign ones, and as styles to draw with.

Owns what a colour is called and that it can be read: derived colours are pushed until they have contrast.
Nothing else in the program names a colour.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final, Literal, get_args

from textual.color import Color
from textual.style import Style
from textual.theme import Theme

from workbench.records import dataclass
from workbench.views.signs import Meaning

TokenName = Literal[
    "background", "surface", "panel", "cursor_row", "cursor_blur", "rule", "foreground", "muted", "faint",
    "info", "added", "removed", "waiting", "failed", "added_bg", "added_word", "removed_bg", "removed_word",
    "keyword", "string", "function", "number", "comment",
]  # fmt: skip

HouseName = Literal["workbench-dark", "workbench-light"]


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
    """Return the tokens as variables of a theme or as defaults for one: `cursor-row` and so on."""
    return {name.replace("_", "-"): getattr(tokens, name) for name in get_args(TokenName)}


def house_theme(name: HouseName, tokens: Tokens | None = None) -> Theme:
    """Return one of our two themes for `App.register_theme`, if need be in other colours than its own."""
    tokens = tokens or HOUSE[name]
    return Theme(
        name=name, primary=tokens.info, secondary=tokens.function, warning=tokens.waiting,
        error=tokens.failed,
        success=tokens.added, accent=tokens.info, foreground=tokens.foreground, background=tokens.background,
        surface=tokens.surface, panel=tokens.panel, dark=tokens.is_dark, variables=variables(tokens),
    )  # fmt: skip


def theme_tokens(theme: Theme) -> Tokens:
    """Return the tokens of any theme: our own as they are, others derived."""
    if theme.name in HOUSE:
        return HOUSE[theme.name]
    return derive(theme.to_color_system().generate(), is_dark=theme.dark, is_ansi=theme.ansi)


def derive(generated: Mapping[str, str], *, is_dark: bool, is_ansi: bool) -> Tokens:
    """Return tokens for a foreign theme from the variables that Textual generates for it.

    Args:
        generated: `theme.to_color_system().generate()`.
        is_dark: whether the theme is dark.
        is_ansi: whether it has only the 16 colours of the terminal.
    """
    if is_ansi:
        return _ansi(generated, is_dark=is_dark)
    background = Color.parse(generated["background"])
    push = _Push(background=background, end=_WHITE if is_dark else _BLACK)
    foreground = push.text(generated["foreground"])
    success, error = (Color.parse(generated[name]) for name in ("success", "error"))
    added, removed = (push.tint(generated[f"{name}-muted"], foreground) for name in ("success", "error"))
    return Tokens(
        background=background.hex, surface=background.hex, foreground=foreground.hex,
        panel=push.tint(generated["panel"], foreground).hex,
        cursor_row=push.tint(generated["primary-muted"], foreground).hex,
        cursor_blur=push.tint(generated["surface-active"], foreground).hex,
        rule=background.blend(foreground, 0.2).hex, muted=push.text(background.blend(foreground, 0.7)).hex,
        faint=push.text(background.blend(foreground, 0.5), FAINT_CONTRAST).hex,
        info=push.text(generated["text-primary"]).hex, added=push.text(generated["text-success"]).hex,
        removed=push.text(generated["text-error"]).hex, waiting=push.text(generated["text-warning"]).hex,
        failed=push.text(error).hex, added_bg=added.hex, removed_bg=removed.hex,
        added_word=push.tint(added.blend(success, 0.4), foreground).hex,
        removed_word=push.tint(removed.blend(error, 0.4), foreground).hex,
        keyword=push.text(generated["text-accent"]).hex, string=push.text(generated["text-success"]).hex,
        function=push.text(generated["text-primary"]).hex, number=push.text(generated["text-warning"]).hex,
        comment=push.text(background.blend(foreground, 0.6)).hex, is_dark=is_dark,
    )  # fmt: skip


TEXT_CONTRAST: Final = 4.5
FAINT_CONTRAST: Final = 3.6
_STEP: Final = 0.08
_WHITE, _BLACK = Color(255, 255, 255), Color(0, 0, 0)


def contrast(one: Color, other: Color) -> float:
    """Return the contrast of two opaque colours, 1 to 21, as WCAG 2 defines it."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: Color) -> float:
    parts = [value / 255 for value in color.rgb]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Push:
    """Moves a colour until it can be read; text away from the background, a tint towards it."""

    background: Color
    end: Color

    def text(self, color: Color | str, least: float = TEXT_CONTRAST) -> Color:
        start = self._opaque(color)
        steps = (start.blend(self.end, step * _STEP, alpha=1.0) for step in range(13))
        return next((found for found in steps if contrast(found, self.background) >= least), self.end)

    def tint(self, color: Color | str, foreground: Color) -> Color:
        start = self._opaque(color)
        steps = (start.blend(self.background, step * _STEP, alpha=1.0) for step in range(13))
        readable = (found for found in steps if contrast(foreground, found) >= TEXT_CONTRAST)
        return next(readable, self.background)

    def _opaque(self, color: Color | str) -> Color:
        found = Color.parse(color)
        return self.background.blend(found, found.a, alpha=1.0)


def _ansi(generated: Mapping[str, str], *, is_dark: bool) -> Tokens:
    """Return tokens of the 16 colours; Textual's tints of them are percentages, which no terminal has."""
    grey, plain, none = "ansi_bright_black", "ansi_default", "transparent"
    info, added, removed = (generated[name] for name in ("primary", "success", "error"))
    waiting = generated["warning"]
    return Tokens(
        background=plain, surface=plain, panel=none, cursor_row=none, cursor_blur=none, rule=grey,
        foreground=plain, muted=plain, faint=grey, info=info, added=added, removed=removed, waiting=waiting,
        failed=removed, added_bg=none, added_word=none, removed_bg=none, removed_word=none, keyword=info,
        string=added, function=generated["secondary"], number=waiting, comment=grey, is_dark=is_dark,
        is_ansi=True,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Ink:
    """Tokens as styles to draw with."""

    tokens: Tokens
    no_colour: bool = False
    """Colours will not be seen: changed words are underlined as well."""

    @property
    def has_tints(self) -> bool:
        """Return whether backgrounds can tell anything."""
        return not (self.no_colour or self.tokens.is_ansi)

    def of(self, name: TokenName, *, bold: bool = False, italic: bool = False) -> Style:
        """Return the style of text in a colour."""
        return _text_style(getattr(self.tokens, name), bold, italic)

    def on(self, background: TokenName) -> Style:
        """Return the style of a row on a background, its text in `foreground`."""
        return _row_style(getattr(self.tokens, background), self.tokens.background, self.tokens.foreground)

    def reverse(self, name: TokenName) -> Style:
        """Return text in the background's colour on a colour: focused title, REPLAY, hidden characters."""
        if self.tokens.is_ansi:
            return _text_style(getattr(self.tokens, name), bold=False, italic=False) + Style(reverse=True)
        return _row_style(getattr(self.tokens, name), self.tokens.background, self.tokens.background)

    def sign(self, meaning: Meaning) -> Style:
        """Return the style of a sign and its word."""
        return self.of(_MEANINGS[meaning])

    def cursor(self, *, has_focus: bool) -> Style:
        """Return the style of the row under the cursor."""
        return self.on("cursor_row" if has_focus else "cursor_blur")

    def word(self, sign: Literal["+", "-"]) -> Style:
        """Return the style of a changed word; underlined where tints cannot be seen."""
        if self.tokens.is_ansi:
            return Style(bold=True, underline=True)
        tint = self.tokens.added_word if sign == "+" else self.tokens.removed_word
        marked = _row_style(tint, self.tokens.background, self.tokens.foreground) + Style(bold=True)
        is_lost = self.no_colour or tint in (self.tokens.added_bg, self.tokens.removed_bg)
        return marked + Style(underline=True) if is_lost else marked

    def hit(self) -> Style:
        """Return the style of a search hit."""
        return Style(underline=True)


_MEANINGS: Final[Mapping[Meaning, TokenName]] = {
    "waiting": "waiting", "running": "info", "todo": "faint", "ok": "added", "failed": "failed",
    "partly": "added", "rejected": "removed", "expired": "faint", "stale": "waiting", "rule": "info",
    "cancelled": "faint", "unknown": "failed", "risk": "failed",
}  # fmt: skip


@cache
def _text_style(color: str, bold: bool, italic: bool) -> Style:
    return Style(foreground=Color.parse(color), bold=bold or None, italic=italic or None)


@cache
def _row_style(background: str, under: str, foreground: str) -> Style:
    color = Color.parse(background)
    return Style(
        background=Color.parse(under) if color.is_transparent else color, foreground=Color.parse(foreground)
    )


@cache
def house_ink(name: HouseName) -> Ink:
    """Return the ink of one of our themes; for tests and screenshots."""
    return Ink(tokens=HOUSE[name])
