"""Replacements for characters that the encoding of the terminal does not have."""

from codecs import lookup
from functools import lru_cache

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from workbench.text.safe import LINE_END_SYMBOL
from workbench.text.width import cell_width
from workbench.views.status_icons import ASCII_EQUIVALENTS, ICONS

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
