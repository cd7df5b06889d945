"""Signs, lines and punctuation as a terminal shows them: Unicode, or ASCII for our own text."""

import os
from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from workbench.text.safe import ASCII_LINE_END_SYMBOL, LINE_END_SYMBOL
from workbench.views.status_icons import ASCII_EQUIVALENTS, COUNTDOWN_BARS, ICONS, IconName

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
    """Return whether an encoding has every character; False for an unknown encoding."""
    return (encoding or "").lower().replace("-", "").startswith("utf")


def glyphs_for(setting: GlyphSetting, encoding: str | None, env: Mapping[str, str] = os.environ) -> Glyphs:
    """Return the glyphs for a setting; `auto` is ASCII without UTF or where ambiguous characters are wide."""
    if setting != "auto":
        return ASCII_GLYPHS if setting == "ascii" else UNICODE_GLYPHS
    is_wide = any(env.get(name) in ("1", "wide") for name in ("VTE_CJK_WIDTH", "WORKBENCH_CJK_WIDTH"))
    return UNICODE_GLYPHS if is_unicode_encoding(encoding) and not is_wide else ASCII_GLYPHS
