"""What a terminal gets whose encoding lacks characters: signs instead, a cell each, so that nothing moves.

Owns the last step before the terminal and nothing before it: everything is drawn as if all could be shown.
"""

from codecs import lookup
from functools import lru_cache

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from workbench.text.safe import LINE_END
from workbench.text.width import cells
from workbench.views.signs import LINES, SIGNS

MISSING = "?"
"""Stands for a character that the terminal cannot show, once a cell."""

_OURS = {
    **{line: plain for line, plain in LINES.items() if len(plain) == 1},
    **{sign.unicode: sign.ascii for sign in SIGNS.values()},
    "…": ".", "═": "=", "▔": "-", "▁": "_",
    LINE_END: "^",
}  # fmt: skip


class Encodable(LineFilter):
    """Puts signs of the encoding where characters are that it does not have."""

    def __init__(self, encoding: str) -> None:
        """Take the name of the encoding.

        Args:
            encoding: as Python names it; an unknown one is taken for ASCII.
        """
        super().__init__()
        self._encoding = _known(encoding)
        self._shown = lru_cache(4096)(self._translated)

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with texts that can be encoded, each as wide as before."""
        del background
        return [
            segment if segment.text.isascii() else Segment(self.text(segment.text), *segment[1:])
            for segment in segments
        ]

    def text(self, text: str) -> str:
        """Return a text as it can be encoded."""
        return text if text.isascii() else self._shown(text)

    def _translated(self, text: str) -> str:
        return "".join(self._character(character) for character in text)

    def _character(self, character: str) -> str:
        try:
            character.encode(self._encoding)
        except UnicodeEncodeError:
            return _OURS.get(character) or MISSING * cells(character)
        return character


def _known(encoding: str) -> str:
    try:
        return lookup(encoding).name
    except LookupError:
        return "ascii"
