"""Blocks of a conversation as lines: prompts, replies, thoughts, calls, output, errors, notices.

Owns indents, what a folded block shows and which lines are muted. Lines are Content of at most the width;
`cells.strip` makes strips of them.
"""

from textual.content import Content

from workbench.draw.glyphs import Glyphs
from workbench.draw.syntax import Painter
from workbench.draw.tokens import Ink
from workbench.views.transcript import Block


def block_lines(
    block: Block, width: int, ink: Ink, glyphs: Glyphs, painter: Painter | None = None
) -> list[Content]:
    """Return the lines of one block; none for folded output.

    Blank lines between blocks are `gap_before`'s. A prompt's lines lie on `$panel`: draw them with
    `row_style`.
    """
    raise NotImplementedError(block, width, ink, glyphs, painter)


def gap_before(block: Block, previous: Block | None, *, is_compact: bool = False) -> int:
    """Return how many blank rows stand before a block: 1 between different kinds, 0 between call lines."""
    raise NotImplementedError(block, previous, is_compact)
