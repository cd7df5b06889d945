"""Themes and what the terminal can show: colours, colour depth, glyphs, encodings, syntax highlighting.

Colours derived for foreign themes are adjusted until they have contrast. Only our own lines and icons are
translated to ASCII, never untrusted text.
"""

# Fewer colours are chosen, not rounded. A terminal of 256 (any without `COLORTERM`: ssh, tmux) would round
# every dark tint to black, so our themes have tokens out of those 256; one of 16 gets the theme of its own
# colours. The command line asks the terminal and passes the answer in, so that tests draw the same
# everywhere.

import os
from codecs import lookup
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from msgspec import Struct
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter
from textual.style import Style
from textual.theme import Theme

from workbench.text.safe import ASCII_LINE_END_SYMBOL, LINE_END_SYMBOL, one_line
from workbench.text.width import cell_width
from workbench.views.status_icons import ASCII_EQUIVALENTS, COUNTDOWN_BARS, ICONS, IconName, StatusName

if TYPE_CHECKING:
    from pygments.lexer import Lexer

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
    from difflib import get_close_matches

    known = sorted({*OWN_THEMES, *BUILTIN_THEMES})
    near = get_close_matches(name, known, 1)
    remedy = f"Did you mean {near[0]}?" if near else f"Use one of {', '.join(known)}."
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


GlyphSetting = Literal["auto", "unicode", "ascii"]
COUNTDOWN_BAR_SECONDS: Final = 300


class Glyphs(Struct, frozen=True, kw_only=True):
    """The glyphs of one terminal."""

    is_ascii: bool = False

    def of(self, name: IconName) -> str:
        """Return a sign, one cell wide."""
        sign = ICONS[name]
        return sign.ascii if self.is_ascii else sign.unicode

    def line(self, text: str) -> str:
        """Return our own text with its signs, lines and punctuation as this terminal shows them."""
        if not self.is_ascii or text.isascii():
            return text
        return "".join(_ASCII_OF.get(character, character) for character in text)

    def target(self, text: str) -> str:
        """Return what a call acts on with the sign of a line end that this terminal shows."""
        return text.replace(LINE_END_SYMBOL, ASCII_LINE_END_SYMBOL) if self.is_ascii else text

    def countdown_bar(self, left_seconds: float | None) -> str:
        """Return the bar of the last five minutes, one cell; a blank before, and in ASCII."""
        if self.is_ascii or left_seconds is None or not 0 < left_seconds < COUNTDOWN_BAR_SECONDS:
            return " "
        return COUNTDOWN_BARS[
            max(0, int(left_seconds * (len(COUNTDOWN_BARS) + 1) / COUNTDOWN_BAR_SECONDS) - 1)
        ]


_ASCII_OF: Final = {**{sign.unicode: sign.ascii for sign in ICONS.values()}, **ASCII_EQUIVALENTS}
UNICODE_GLYPHS: Final = Glyphs()
ASCII_GLYPHS: Final = Glyphs(is_ascii=True)


def is_unicode_encoding(encoding: str | None) -> bool:
    """Return whether an encoding has every character; one that nobody knows has not."""
    return (encoding or "").lower().replace("-", "").startswith("utf")


def glyphs_for(setting: GlyphSetting, encoding: str | None, env: Mapping[str, str] = os.environ) -> Glyphs:
    """Return the glyphs for a setting; `auto` is ASCII without UTF or where ambiguous characters are wide."""
    if setting != "auto":
        return ASCII_GLYPHS if setting == "ascii" else UNICODE_GLYPHS
    is_wide = any(env.get(name) in ("1", "wide") for name in ("VTE_CJK_WIDTH", "WORKBENCH_CJK_WIDTH"))
    return UNICODE_GLYPHS if is_unicode_encoding(encoding) and not is_wide else ASCII_GLYPHS


MISSING_CHARACTER = "?"
"""Stands for a character that the terminal cannot show, once a cell."""
_REPLACEMENTS = {
    **{line: plain for line, plain in ASCII_EQUIVALENTS.items() if len(plain) == 1},
    **{sign.unicode: sign.ascii for sign in ICONS.values()},
    "…": ".", "═": "=", "║": "|", "▔": "-", "▁": "_",
    LINE_END_SYMBOL: "^",
}  # fmt: skip


class EncodingFilter(LineFilter):
    """Puts signs of the encoding where characters are that it does not have."""

    def __init__(self, encoding: str) -> None:
        """Take the encoding as Python names it; an unknown one is taken for ASCII."""
        super().__init__()
        self._encoding = _known_encoding(encoding)
        self._shown = lru_cache(4096)(self._translated)

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with texts that can be encoded, each as wide as before."""
        del background
        return [
            segment if segment.text.isascii() else Segment(self.text(segment.text), *segment[1:])
            for segment in segments
        ]

    def text(self, text: str) -> str:
        return text if text.isascii() else self._shown(text)

    def _translated(self, text: str) -> str:
        return "".join(self._character(character) for character in text)

    def _character(self, character: str) -> str:
        try:
            character.encode(self._encoding)
        except UnicodeEncodeError:
            return _REPLACEMENTS.get(character) or MISSING_CHARACTER * cell_width(character)
        return character


def _known_encoding(encoding: str) -> str:
    try:
        return lookup(encoding).name
    except LookupError:
        return "ascii"


SyntaxSpan = tuple[int, int, ColorName]
MAX_HIGHLIGHTED_CHARS: Final = 64_000
MAX_HIGHLIGHTED_LINE: Final = 1_000
_MAX_REMEMBERED: Final = 200
_NO_SPANS: Sequence[Sequence[SyntaxSpan]] = ()


@lru_cache(maxsize=256)
def lexer_for(name: str) -> "Lexer | None":
    """Return the lexer of a file name, else of a language as fences name it; None for neither.

    The first call compiles Pygments' patterns of names, 0.4 s: the screen makes it in a thread.
    """
    from pygments.util import ClassNotFound

    lexers: Any = import_module("pygments.lexers")
    for find_lexer in (lexers.get_lexer_for_filename, lexers.get_lexer_by_name):
        with suppress(ClassNotFound):
            return find_lexer(name, stripnl=False, ensurenl=False)
    return None


class SyntaxHighlighter:
    """Paints lines of code; remembers what it painted."""

    def __init__(self) -> None:
        self._painted: dict[tuple[str, tuple[str, ...]], Sequence[Sequence[SyntaxSpan]]] = {}

    def lines(self, path_or_language: str, lines: Sequence[str]) -> Sequence[Sequence[SyntaxSpan]]:
        """Return the colours of each line; none for a language nobody knows or a text too big."""
        if sum(map(len, lines)) > MAX_HIGHLIGHTED_CHARS or any(
            len(line) > MAX_HIGHLIGHTED_LINE for line in lines
        ):
            return _NO_SPANS
        key = (path_or_language, tuple(lines))
        if key not in self._painted:
            if len(self._painted) >= _MAX_REMEMBERED:
                self._painted.pop(next(iter(self._painted)))
            self._painted[key] = _highlight(path_or_language, lines)
        return self._painted[key]


def _highlight(path_or_language: str, lines: Sequence[str]) -> Sequence[Sequence[SyntaxSpan]]:
    lexer = lexer_for(path_or_language.rpartition("/")[2])
    if lexer is None:
        return _NO_SPANS
    spans: list[list[SyntaxSpan]] = [[] for _ in lines]
    line, start = 0, 0
    for offset, kind, value in lexer.get_tokens_unprocessed("\n".join(lines)):
        token = _color_of_token(kind)
        for number, piece in enumerate(value.split("\n")):
            if number:
                line, start = line + 1, offset
            if piece and token and line < len(spans):
                spans[line].append((offset - start, offset - start + len(piece), token))
            offset += len(piece) + 1
    return spans


@cache
def _color_of_token(kind: object) -> ColorName | None:
    name = str(kind)
    return next(
        (token for prefix, token in _COLOR_OF_TOKEN.items() if name.startswith("Token." + prefix)), None
    )


_COLOR_OF_TOKEN: Final[Mapping[str, ColorName]] = {
    "Keyword": "keyword",
    "Operator.Word": "keyword",
    "Literal.String": "string",
    "Literal.Number": "number",
    "Comment": "comment",
    "Name.Function": "function",
    "Name.Class": "function",
    "Name.Builtin": "function",
    "Name.Decorator": "function",
    "Name.Tag": "keyword",
    "Name.Attribute": "function",
}
