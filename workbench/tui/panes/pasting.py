"""Long texts in the composer: a mark stands for each, `[paste 1: 1.0 MB, 25,000 lines]`, until it is sent.

Owns the texts behind the marks and when a text is long. A mark means its text only as a whole: one that was
changed is no mark any more, and nothing is sent in its place.
"""

import re
from typing import Final

from workbench.text import human

LONG_TEXT: Final = 6_000
"""Characters from which a text is folded: a text field lays all of its lines out anew at each key."""
LONG_LINES: Final = 100
MOST: Final = 8_000_000
"""Characters that are taken at once."""

_MARK: Final = re.compile(r"\[paste ([1-9][0-9]{0,5}): [0-9.,]+ [KMG]?B, [0-9,]+ lines?\]")


def is_long(text: str) -> bool:
    """Return whether a text is folded."""
    return len(text) > LONG_TEXT or text.count("\n") >= LONG_LINES


class Pastes:
    """The texts of one composer, kept as long as it is: what was said before may name them."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """Return the mark of a long text, a short text as it is."""
        if not is_long(text):
            return text
        text = self.expand(text)
        known = next((mark for mark, held in self._texts.items() if held == text), None)
        if known is not None:
            return known
        size = human.size(len(text.encode(errors="replace")))
        lines = text.count("\n") + (not text.endswith("\n"))
        mark = f"[paste {len(self._texts) + 1}: {size}, {lines:,} line{'s' if lines > 1 else ''}]"
        self._texts[mark] = text
        return mark

    def expand(self, text: str) -> str:
        """Return a text with what its marks stand for."""
        return _MARK.sub(lambda found: self._texts.get(found[0], found[0]), text)

    def broken(self, text: str) -> str | None:
        """Return a mark of which only a part is in a text; None when all of them are whole."""
        for mark in self._texts:
            head, _, _ = mark.partition(" ")
            number, _, _ = mark.removeprefix(head).partition(":")
            pieces = (f"{head}{number}:", mark.removeprefix(head))
            if any(text.count(piece) > text.count(mark) for piece in pieces):
                return mark
        return None

    def mark_before(self, text: str) -> int:
        """Return the length of the mark that a text ends with; 0 without one."""
        begin = text.rfind("[paste ")
        return len(text) - begin if begin >= 0 and text[begin:] in self._texts else 0
