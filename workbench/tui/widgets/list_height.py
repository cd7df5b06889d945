"""How many rows a list has above a detail: the detail takes what it needs, the list takes the rest."""

from typing import Final

LEAST_ROWS: Final = 4
"""Rows of a list whose detail needs more than there is room for, if it has so many."""
_TITLE_ROWS: Final = 1
"""The row between list and detail."""
_LOW_BODY: Final = 24
"""Rows of a body below which a long detail takes more than two thirds of it."""


def list_height(count: int, body: int, detail: int, *, keeps: int = 0, up_to_cursor: int = 0) -> int:
    """Return the rows of a list above a detail.

    Args:
        count: Rows of the list.
        body: Rows of list and detail together, with the title between them.
        detail: Rows that the detail needs.
        keeps: Rows that the list has however long the detail is, as far as a third of the body goes,
            a quarter of a low one.
        up_to_cursor: Rows from the top of the list on the screen to its cursor. They keep their place, as far
            as half of the body goes: a longer detail does not move the row under the cursor.
    """
    share = body // (4 if body < _LOW_BODY else 3)
    least = max(min(LEAST_ROWS, body // 4), min(keeps, share), min(up_to_cursor, body // 2))
    return max(0, min(count, max(least, body - detail - _TITLE_ROWS)))
