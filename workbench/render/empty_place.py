"""A place that has nothing yet: what would be there in faint, a sentence and the keys, centred."""

from collections.abc import Sequence
from typing import Final

from textual.content import Content

from workbench.render.cells import shorten_line, styled
from workbench.render.glyphs import Glyphs
from workbench.render.list_rows import empty_page_lines
from workbench.render.theme import Ink

_LEAST_WIDTH: Final = 60
_LEAST_MARGIN: Final = 2
"""Hatched rows above and below."""
_PADDING: Final = 3
"""Cells and, above and below, rows between the hatch and the words."""


def empty_place_lines(
    ghost: Sequence[str], heading: str, sentence: str, keys: Sequence[tuple[str, str]],
    width: int, height: int, ink: Ink, glyphs: Glyphs,
) -> list[Content]:  # fmt: skip
    """Return the rows of an empty place; without room for the hatch or without a ghost only its words.

    Args:
        ghost: Rows as they would be, with characters that this function may replace by ASCII.
        heading: What is not there, in bold.
        sentence: What would be here; wrapped.
        keys: Keys that lead on, each with what it does.
        width: Cells of the place.
        height: Rows of the place.
        ink: The colours.
        glyphs: The signs of the terminal.
    """
    faint, margin = ink.of("faint"), " " * _PADDING
    drawn = [styled(glyphs.line(f"{margin}{line}"), faint) for line in ghost]
    words = [*drawn, *empty_page_lines(heading, sentence, keys, width - 3 * _PADDING, ink, glyphs)]
    room = min(max(line.cell_length for line in words) + _PADDING, width - 2 * _PADDING)
    above = (height - len(words) - 2) // 2
    if not ghost or width < _LEAST_WIDTH or above < _LEAST_MARGIN:
        return empty_page_lines(heading, sentence, keys, width, ink, glyphs)
    left = (width - room) // 2
    sign, rule = glyphs.of("gap"), ink.of("rule")

    def hatched(line: Content) -> Content:
        line = shorten_line(line, room, glyphs)
        margins = (styled(sign * left, rule), styled(sign * (width - left - room), rule))
        return margins[0] + line.pad_right(room - line.cell_length) + margins[1]

    whole = styled(sign * width, rule)
    box = [hatched(line) for line in (Content(""), *words, Content(""))]
    return [*[whole] * above, *box, *[whole] * (height - above - len(box))]
