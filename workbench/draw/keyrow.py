"""The row of keys at the foot of a dialog: each with what it does, none cut in half.

Owns what is left out where the row is too narrow. Which keys there are is the dialog's.
"""

from collections.abc import Sequence

from textual.content import Content

from workbench.draw.cells import styled
from workbench.draw.tokens import Ink


def key_part(keys: str, words: str, ink: Ink) -> Content:
    """Return one key with what it does."""
    return Content.assemble((keys, ink.of("info", bold=True)), " ", styled(words, ink.of("foreground")))


def key_row(parts: Sequence[Content], width: int, *, keeps: int = 1, gap: int = 2) -> Content:
    """Return keys in one row; where it is too narrow whole ones go, the last but `keeps` first.

    Args:
        parts: keys with what they do, the important ones first, the way back last.
        width: cells of the row.
        keeps: how many at the end stay in any width.
        gap: blanks between two.
    """
    first, last = list(parts[: len(parts) - keeps]), list(parts[len(parts) - keeps :])
    while first and 1 + sum(part.cell_length + gap for part in [*first, *last]) - gap > width:
        first.pop()
    return Content.assemble(" ", Content(" " * gap).join([*first, *last]))
