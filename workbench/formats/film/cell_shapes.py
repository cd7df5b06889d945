"""Shapes of lines and blocks in their cells, for pictures and pages: letters leave gaps between rows."""

import unicodedata
from typing import Final

_DIRECTIONS: Final = {"UP": "u", "DOWN": "d", "LEFT": "l", "RIGHT": "r", "VERTICAL": "ud", "HORIZONTAL": "lr"}
_WEIGHTS: Final = {"LIGHT": "1", "SINGLE": "1", "HEAVY": "2", "DOUBLE": "3"}


def _arms(name: str) -> str:
    """Return what goes up, down, left and right in a line of a Unicode name: 1 light, 2 heavy, 3 double.

    The weight stands before its directions (`LIGHT DOWN AND RIGHT`) or, in other names, behind them.
    """
    words = name.removeprefix("BOX DRAWINGS ").split()
    if words[0] not in _WEIGHTS:
        words.reverse()
    arms, weight = dict.fromkeys("udlr", "0"), "0"
    for word in words:
        if word in _DIRECTIONS:
            arms |= dict.fromkeys(_DIRECTIONS[word], weight)
        elif word in _WEIGHTS:
            weight = _WEIGHTS[word]
        elif word != "AND":
            return ""
    return "".join(arms.values())


ARMS: Final = {
    character: arms
    for code in range(0x2500, 0x2580)
    if (arms := _arms(unicodedata.name(character := chr(code))))
}
ROUND_CORNERS: Final = {"╭": (1, 1), "╮": (-1, 1), "╰": (1, -1), "╯": (-1, -1)}
"""The sides to which a round corner leads: across and down."""
BLOCKS: Final = {
    # From which eighth to which, across and down.
    "█": (0, 8, 0, 8), "▌": (0, 4, 0, 8), "▐": (4, 8, 0, 8), "▀": (0, 8, 0, 4), "▄": (0, 8, 4, 8),
    "▏": (0, 1, 0, 8), "▎": (0, 2, 0, 8), "▍": (0, 3, 0, 8), "▕": (7, 8, 0, 8),
    **{character: (0, 8, 8 - eighths, 8) for eighths, character in enumerate("▁▂▃", 1)},
    **{character: (0, 8, 8 - eighths, 8) for eighths, character in enumerate("▅▆▇", 5)},
}  # fmt: skip
