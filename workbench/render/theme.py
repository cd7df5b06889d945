"""Themes: colours, contrast, and as many of them as the terminal shows.

Colours derived for foreign themes are adjusted until they have contrast.
"""

# Fewer colours are chosen, not rounded. A terminal of 256 (any without `COLORTERM`: ssh, tmux) would round
# every dark tint to black, so our themes have tokens out of those 256; one of 16 gets the theme of its own
# colours. The command line asks the terminal and passes the answer in, so that tests draw the same
# everywhere.

from collections.abc import Mapping
from functools import cache
from typing import Final, Literal, get_args

from msgspec import Struct
from textual.color import Color
from textual.style import Style
from textual.theme import Theme

from workbench.text.nearest import nearest_name
from workbench.text.safe import one_line
from workbench.views.status_icons import StatusName

ColorName = Literal[
    "background", "surface", "panel", "cursor_row", "cursor_blur", "rule", "foreground", "muted", "faint",
    "info", "added", "removed", "waiting", "failed", "added_bg", "added_word", "removed_bg", "removed_word",
    "keyword", "string", "function", "number", "comment",
]  # fmt: skip
OwnThemeName = Literal["workbench-dark", "workbench-light"]


class ThemeColors(Struct, frozen=True, kw_only=True):
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
    tints_lines: bool = True
    """Whether changed lines of a diff have a tint; else their numbers, signs and changed words have it."""


DARK_COLORS: Final = ThemeColors(
    background="#0f1217", surface="#0f1217", panel="#1c222c", cursor_row="#1c2b3f", cursor_blur="#1a2029",
    rule="#323b48", foreground="#d8dee7", muted="#98a3b3", faint="#76818f", info="#74b4ff", added="#7fd18e",
    removed="#f29191", waiting="#f0b952", failed="#ff6470", added_bg="#12261a", added_word="#215234",
    removed_bg="#2e181a", removed_word="#632a2f", keyword="#c0a9ec", string="#b4cf94", function="#9ccaf5",
    number="#dfb285", comment="#8a96a5",
)  # fmt: skip
LIGHT_COLORS: Final = ThemeColors(
    background="#fbfbfa", surface="#fbfbfa", panel="#e6e9ed", cursor_row="#dbe9f8", cursor_blur="#e9edf1",
    rule="#c3c9d1", foreground="#1c2128", muted="#56606d", faint="#6c7581", info="#0a5cb0", added="#11682d",
    removed="#a3282f", waiting="#855000", failed="#b50d28", added_bg="#dff3e3", added_word="#b4e2be",
    removed_bg="#fbe7e6", removed_word="#f5c0be", keyword="#6639a6", string="#3c6414", function="#0a5a9c",
    number="#8a4b00", comment="#5d6672", is_dark=False,
)  # fmt: skip
OWN_THEMES: Final[Mapping[str, ThemeColors]] = {
    "workbench-dark": DARK_COLORS,
    "workbench-light": LIGHT_COLORS,
}


def css_variables(tokens: ThemeColors) -> dict[str, str]:
    """Return the tokens as variables of a theme or as defaults for one: `cursor-row` and so on."""
    return {name.replace("_", "-"): getattr(tokens, name) for name in get_args(ColorName)}


def own_theme(name: OwnThemeName, tokens: ThemeColors | None = None) -> Theme:
    """Return one of our two themes for `App.register_theme`, if need be in other colours than its own."""
    tokens = tokens or OWN_THEMES[name]
    return Theme(
        name=name, primary=tokens.info, secondary=tokens.function, warning=tokens.waiting,
        error=tokens.failed,
        success=tokens.added, accent=tokens.info, foreground=tokens.foreground, background=tokens.background,
        surface=tokens.surface, panel=tokens.panel, dark=tokens.is_dark, variables=css_variables(tokens),
    )  # fmt: skip


def theme_colors(theme: Theme) -> ThemeColors:
    """Return the tokens of any theme: our own as they are, others derived."""
    if theme.name in OWN_THEMES:
        return OWN_THEMES[theme.name]
    generated = theme.to_color_system().generate()
    if theme.ansi:
        return _ansi_colors(generated, is_dark=theme.dark)
    from workbench.render.derived_colors import derive_colors

    return derive_colors(generated, is_dark=theme.dark)


def _ansi_colors(generated: Mapping[str, str], *, is_dark: bool) -> ThemeColors:
    """Return colours out of the 16; Textual's tints of them are percentages, which no terminal has."""
    grey, plain, none = "ansi_bright_black", "ansi_default", "transparent"
    info, added, removed = (generated[name] for name in ("primary", "success", "error"))
    waiting = generated["warning"]
    return ThemeColors(
        background=plain, surface=plain, panel=none, cursor_row=none, cursor_blur=none, rule=grey,
        foreground=plain, muted=plain, faint=grey, info=info, added=added, removed=removed, waiting=waiting,
        failed=removed, added_bg=none, added_word=none, removed_bg=none, removed_word=none, keyword=info,
        string=added, function=generated["secondary"], number=waiting, comment=grey, is_dark=is_dark,
        is_ansi=True,
    )  # fmt: skip


class Ink(Struct, frozen=True, kw_only=True):
    """Tokens as styles to draw with."""

    tokens: ThemeColors
    no_colour: bool = False
    """Colours will not be seen: changed words are underlined as well."""

    @property
    def has_tints(self) -> bool:
        """Return whether backgrounds can tell anything."""
        return not (self.no_colour or self.tokens.is_ansi)

    def of(self, name: ColorName, *, bold: bool = False, italic: bool = False) -> Style:
        return _text_style(getattr(self.tokens, name), bold, italic)

    def on(self, background: ColorName) -> Style:
        return _row_style(getattr(self.tokens, background), self.tokens.background, self.tokens.foreground)

    def reverse(self, name: ColorName) -> Style:
        """Return text in the background's colour on a colour: focused title, REPLAY, hidden characters."""
        if self.tokens.is_ansi:
            return _text_style(getattr(self.tokens, name), bold=False, italic=False) + Style(reverse=True)
        return _row_style(getattr(self.tokens, name), self.tokens.background, self.tokens.background)

    def sign(self, meaning: StatusName) -> Style:
        return self.of(_STATUS_COLORS[meaning])

    def cursor(self, *, has_focus: bool) -> Style:
        return self.on("cursor_row" if has_focus else "cursor_blur")

    def word(self, sign: Literal["+", "-"]) -> Style:
        """Return the style of a changed word; underlined where tints cannot be seen."""
        if self.tokens.is_ansi:
            return Style(bold=True, underline=True)
        tint = self.tokens.added_word if sign == "+" else self.tokens.removed_word
        marked = _row_style(tint, self.tokens.background, self.tokens.foreground) + Style(bold=True)
        is_in_tint = self.tokens.tints_lines and tint in (self.tokens.added_bg, self.tokens.removed_bg)
        is_lost = self.no_colour or is_in_tint
        return marked + Style(underline=True) if is_lost else marked

    def hit(self) -> Style:
        return Style(underline=True)


_STATUS_COLORS: Final[Mapping[StatusName, ColorName]] = {
    "waiting": "waiting", "running": "info", "todo": "faint", "ok": "added", "failed": "failed",
    "partly": "added", "rejected": "removed", "expired": "muted", "stale": "waiting", "rule": "info",
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
def theme_problem(name: str) -> tuple[str, str] | None:
    """Return what is wrong with the name of a theme, and what to do; None where there is one of that name."""
    from textual.theme import BUILTIN_THEMES

    if name in OWN_THEMES or name in BUILTIN_THEMES:
        return None
    known = sorted({*OWN_THEMES, *BUILTIN_THEMES})
    near = nearest_name(name, known)
    remedy = f"Did you mean {near}?" if near else f"Use one of {', '.join(known)}."
    return f'ui.theme: there is no theme "{one_line(name, 40)}"; workbench-dark is used instead.', remedy


def own_theme_ink(name: OwnThemeName) -> Ink:
    """Return the ink of one of our themes; for tests and screenshots."""
    return Ink(tokens=OWN_THEMES[name])


ColorDepth = Literal["full", "256", "16"]
"""How many colours a terminal shows; `full` is 24 bits."""
_DARK_256: Final = ThemeColors(
    background="#121212", surface="#121212", panel="#262626", cursor_row="#303030", cursor_blur="#1c1c1c",
    rule="#444444", foreground="#dadada", muted="#a8a8a8", faint="#8a8a8a", info="#5fafff", added="#87d787",
    removed="#ff8787", waiting="#ffaf5f", failed="#ff5f87", added_bg="#005f00", added_word="#005f00",
    removed_bg="#5f0000", removed_word="#5f0000", keyword="#d7d7ff", string="#d7d787", function="#afd7ff",
    number="#ffd7af", comment="#d0d0d0", tints_lines=False,
)  # fmt: skip
"""The 256 have one dark green, too loud for whole lines."""
_LIGHT_256: Final = ThemeColors(
    background="#ffffff", surface="#ffffff", panel="#eeeeee", cursor_row="#d7d7ff", cursor_blur="#e4e4e4",
    rule="#bcbcbc", foreground="#1c1c1c", muted="#4e4e4e", faint="#626262", info="#005faf", added="#005f00",
    removed="#af0000", waiting="#5f5f00", failed="#af0000", added_bg="#d7ffd7", added_word="#afd7af",
    removed_bg="#ffd7d7", removed_word="#ffafaf", keyword="#5f00af", string="#5f5f00", function="#005faf",
    number="#870000", comment="#585858", is_dark=False, tints_lines=False,
)  # fmt: skip
OWN_THEMES_256: Final[Mapping[str, ThemeColors]] = dict(zip(OWN_THEMES, (_DARK_256, _LIGHT_256), strict=True))
_ANSI_THEME_NAMES: Final = {True: "ansi-dark", False: "ansi-light"}


def colors_at_depth(theme: Theme, depth: ColorDepth) -> ThemeColors:
    """Return the colours of a theme at a depth; a foreign one has the nearest of the 256 that can be read."""
    colors = theme_colors(theme)
    if depth != "256" or colors.is_ansi:
        return colors
    if theme.name in OWN_THEMES_256:
        return OWN_THEMES_256[theme.name]
    from workbench.render.derived_colors import nearest_of_256

    return nearest_of_256(colors)


def css_variables_at_depth(theme: Theme, depth: ColorDepth) -> dict[str, str]:
    return css_variables(colors_at_depth(theme, depth))


def theme_name_at_depth(theme: Theme, depth: ColorDepth) -> str:
    """Return the name of the theme to take for one that is wanted: with 16 colours the terminal's own."""
    return _ANSI_THEME_NAMES[theme.dark] if depth == "16" and not theme.ansi else theme.name
