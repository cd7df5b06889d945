"""Which glyphs a terminal gets: the Unicode ones, or ASCII where it cannot show them.

Owns the choice and nothing of the meaning, which is `views.signs`. Untrusted text is never translated: only
our own lines and signs are.
"""

import os
from collections.abc import Mapping
from typing import Final, Literal

from workbench.records import dataclass
from workbench.text.safe import LINE_END, LINE_END_IN_ASCII
from workbench.views.signs import FUSE, LINES, SIGNS, SignName

GlyphSetting = Literal["auto", "unicode", "ascii"]

FUSE_SECONDS: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Glyphs:
    """The glyphs of one terminal."""

    is_ascii: bool = False

    def of(self, name: SignName) -> str:
        """Return a sign, one cell wide."""
        sign = SIGNS[name]
        return sign.ascii if self.is_ascii else sign.unicode

    def line(self, text: str) -> str:
        """Return our own text with its signs, lines and punctuation as this terminal shows them."""
        if not self.is_ascii or text.isascii():
            return text
        return "".join(_ASCII.get(character, character) for character in text)

    def target(self, text: str) -> str:
        """Return what a call acts on with the sign of a line end that this terminal shows."""
        return text.replace(LINE_END, LINE_END_IN_ASCII) if self.is_ascii else text

    def fuse(self, left_seconds: float | None) -> str:
        """Return the fuse of the last five minutes, one cell; a blank before, and in ASCII."""
        if self.is_ascii or left_seconds is None or not 0 < left_seconds < FUSE_SECONDS:
            return " "
        return FUSE[max(0, int(left_seconds * (len(FUSE) + 1) / FUSE_SECONDS) - 1)]


_ASCII: Final = {
    **LINES,
    **{sign.unicode: sign.ascii for sign in SIGNS.values() if sign.unicode not in LINES},
}

UNICODE: Final = Glyphs()
ASCII: Final = Glyphs(is_ascii=True)


def is_unicode(encoding: str | None) -> bool:
    """Return whether an encoding has every character; one that nobody knows has not."""
    return (encoding or "").lower().replace("-", "").startswith("utf")


def glyphs_for(setting: GlyphSetting, encoding: str | None, env: Mapping[str, str] = os.environ) -> Glyphs:
    """Return the glyphs for a setting.

    Args:
        setting: `auto` takes ASCII for every encoding but UTF, and where ambiguous-wide cells are set.
        encoding: of the terminal's stream.
        env: `VTE_CJK_WIDTH` and `WORKBENCH_CJK_WIDTH` say that ambiguous characters take two cells.
    """
    if setting != "auto":
        return ASCII if setting == "ascii" else UNICODE
    is_wide = any(env.get(name) in ("1", "wide") for name in ("VTE_CJK_WIDTH", "WORKBENCH_CJK_WIDTH"))
    return UNICODE if is_unicode(encoding) and not is_wide else ASCII
