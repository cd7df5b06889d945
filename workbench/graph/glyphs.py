"""Cells of a drawing as numbers, and the characters that show them.

Owns the code of a cell (which of its four arms lead on, whether two lines cross) and the tables for
Unicode and ASCII. `┼` always joins; a crossing is a gap in the horizontal line.
"""

L, R, U, D = 1, 2, 4, 8
ACROSS = L | R
DOWNWARD = U | D
CROSSING = 16 | ACROSS | DOWNWARD
"""A vertical line with a horizontal one passing under it."""
ROUND = 32
"""Added to the corners of the wires between bands, which are no junctions."""
CARD = 48
"""Added to the borders of cards."""
FOLDED = ("▾", "-")
"""The sign of a step whose items are listed."""

_UNICODE = " ╴╶─╵┘└┴╷┐┌┬│┤├┼"
_ASCII = " --- ''+ ..+|+++"
_ROUND_UNICODE = _UNICODE.translate(str.maketrans("┘└┐┌", "╯╰╮╭"))
_ROUND_ASCII = " ---|+'+|.++|+++"
"""Only the lower right and the upper left corner are `+`: stacked wires would seem to touch otherwise."""
_WEIGHTS = " ╷╻╵│╽╹╿┃╶┌┎└├┟┖┞┠╺┍┏┕┝┢┗┡┣╴┐┒┘┤┧┚┦┨─┬┰┴┼╁┸╀╂╼┮┲┶┾╆┺╄╊╸┑┓┙┥┪┛┩┫╾┭┱┵┽╅┹╃╉━┯┳┷┿╈┻╇╋"
"""Every mix of weights: 27 left + 9 right + 3 up + down, each 0 none, 1 light, 2 heavy."""


UNICODE = _UNICODE + "│" * 16 + _ROUND_UNICODE + _ROUND_UNICODE
ASCII = _ASCII + "|" * 16 + _ROUND_ASCII + _ASCII
"""The character of each code: plain, crossing, wire, card."""


def draw(cells: bytes, *, is_ascii: bool) -> str:
    """Turn cells to characters, one each."""
    return cells.decode("latin-1").translate(_MAPS[is_ascii])


_MAPS = (
    dict(enumerate(UNICODE)),
    dict(enumerate(ASCII)),
)


def heavy(code: int, arms: int, *, is_ascii: bool) -> str:
    """Return the character of a cell of which some arms are drawn heavy.

    Args:
        code: The cell.
        arms: The heavy ones among its arms.
        is_ascii: Use `=` and `!`, on straight cells only.
    """
    if code == CROSSING:
        if not arms & DOWNWARD:
            return (ASCII if is_ascii else UNICODE)[code]
        return "!" if is_ascii else "┃"
    if is_ascii:
        straight = {ACROSS: "=", DOWNWARD: "!"}.get(code & 15)
        return straight if straight and arms else ASCII[code]
    weight = [0 if not code & arm else 2 if arms & arm else 1 for arm in (L, R, U, D)]
    return _WEIGHTS[27 * weight[0] + 9 * weight[1] + 3 * weight[2] + weight[3]]
