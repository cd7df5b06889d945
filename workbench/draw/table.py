"""Tables as lines: columns as wide as they need, shrunk from the widest on, cells wrapped and never cut."""

from collections.abc import Sequence
from itertools import zip_longest

from textual.content import Content
from textual.style import Style

from workbench.draw.cells import styled
from workbench.draw.glyphs import Glyphs
from workbench.draw.tokens import Ink
from workbench.draw.wrapping import wrap

GAP = 2
LEAST = 4


def table_lines(rows: Sequence[Sequence[Content]], width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    """Return a table as lines of at most `width` cells.

    Too narrow for columns, its cells stand one below another.

    Args:
        rows: cells on one line each; the first row is the head.
        width: cells of the whole table.
        ink: colours.
        glyphs: for the rule below the head.
    """
    if not rows:
        return []
    columns = max(len(row) for row in rows)
    if width < columns * (LEAST + GAP):
        return [line for row in rows for cell in row for line in wrap(cell, width)]
    widths = _widths(rows, columns, width)
    head, *body = rows
    lines = _row([cell.stylize(Style(bold=True)) if cell.plain else cell for cell in head], widths)
    lines.append(styled(glyphs.line("─") * (sum(widths) + GAP * (columns - 1)), ink.of("rule")))
    return [*lines, *(line for row in body for line in _row(row, widths))]


def _widths(rows: Sequence[Sequence[Content]], columns: int, width: int) -> list[int]:
    found = [max((row[n].cell_length for row in rows if n < len(row)), default=0) for n in range(columns)]
    found = [max(1, one) for one in found]
    room = width - GAP * (columns - 1)
    while sum(found) > room:
        widest = found.index(max(found))
        second = max([one for n, one in enumerate(found) if n != widest], default=0)
        found[widest] -= max(1, min(sum(found) - room, found[widest] - second))
    return found


def _row(row: Sequence[Content], widths: Sequence[int]) -> list[Content]:
    wrapped = [wrap(cell, width) for cell, width in zip(row, widths, strict=False)]
    gap = Content(" " * GAP)
    lines: list[Content] = []
    for parts in zip_longest(*wrapped):
        cells = [part or Content("") for part in parts]
        padded = [cell + " " * (width - cell.cell_length) for cell, width in zip(cells, widths, strict=False)]
        lines.append(gap.join(padded).rstrip())
    return lines
