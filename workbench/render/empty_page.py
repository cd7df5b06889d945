"""What a pane says that has nothing to show: what it is for, and the keys that bring something in."""

from collections.abc import Sequence
from typing import Final

from textual.content import Content

from workbench.render.cells import styled, wrap_plain_text
from workbench.render.theme import Glyphs, Ink

_MARGIN: Final = 3
"""Cells left of the words."""
_MAX_WIDTH: Final = 72
"""Cells after which a sentence goes on in the next row."""


def empty_page_lines(
    heading: str, sentence: str, keys: Sequence[tuple[str, str]], width: int, ink: Ink, glyphs: Glyphs
) -> list[Content]:
    """Return the rows of the page.

    Args:
        heading: What is not there, in bold.
        sentence: What would be here; wrapped.
        keys: Keys that lead on, each with what it does.
        width: Cells of the pane.
        ink: The colours.
        glyphs: The signs of the terminal.
    """
    margin, room = Content(" " * _MARGIN), max(1, min(_MAX_WIDTH, width - _MARGIN))
    column = max((len(key) for key, _ in keys), default=0) + 3
    bold, muted = ink.of("foreground", bold=True), ink.of("muted")
    rows = [
        *(row.stylize(bold) for row in wrap_plain_text(glyphs.line(heading), room)),
        *(row.stylize(muted) for row in wrap_plain_text(glyphs.line(sentence), room)),
        *([Content("")] if keys else []),
        *(
            styled(key.ljust(column), ink.of("info", bold=True))
            + styled(glyphs.line(label), ink.of("foreground"))
            for key, label in keys
        ),
    ]
    return [Content(""), *(margin + row for row in rows)]
