"""Syntax colours for code: Pygments, loaded when first needed, a hunk or a fence at a time.

Owns what counts as keyword, string, function, number, comment. Never holds up a frame: big or long-lined
texts have no colours, and what was painted is kept.
"""

from collections.abc import Sequence

from workbench.draw.tokens import TokenName

Paint = tuple[int, int, TokenName]
"""From character, to character, token."""


class Painter:
    """Paints lines of code; remembers what it painted."""

    def lines(self, path_or_language: str, lines: Sequence[str]) -> Sequence[Sequence[Paint]]:
        """Return the paints of each line; empty ones for a language nobody knows or a text too big.

        Args:
            path_or_language: a file's path, or the word behind the fence of markdown.
            lines: the text; the same tuple twice is painted once.
        """
        raise NotImplementedError(path_or_language, lines)
