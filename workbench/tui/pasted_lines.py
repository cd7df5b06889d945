"""Recognizes lines that a terminal without bracketed paste sends at once, by when they arrive; pure.

Several lines within milliseconds are one paste. One line with a final enter is typed text and enter.
"""

# No hand presses enter within 20 ms of a letter and continues within 20 ms. So an enter that follows a letter
# so soon is held back for that long. If something follows, it is a line break, and all of it is pasted text.
# A recognized paste ends with a longer pause, because its sender may be slow.

import re
from typing import Final

from msgspec import Struct

LINE_SECONDS: Final = 0.02
"""Enter within this time after a letter is a line break if something follows within this time."""
PASTE_SECONDS: Final = 0.1
"""A pause this long ends pasted lines."""
REST_SECONDS: Final = 0.5
"""Several characters that arrive together within this time after pasted lines belong to them."""

_CONTROL = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_CONTROLS: Final = re.compile(f"([{_CONTROL}])")
_LETTER = rf"[^\r\n{_CONTROL}]"
_LINES: Final = re.compile(rf"{_LETTER}[\r\n][^{_CONTROL}]")
_LINE_END: Final = re.compile(rf"{_LETTER}[\r\n]\Z")
_LETTER_END: Final = re.compile(rf"{_LETTER}\Z")


class Burst(Struct, frozen=True):
    """Characters that arrived together."""

    text: str
    at: float
    is_paste: bool = False


class PastedLines:
    """Divides plain characters into keys and pasted lines."""

    def __init__(self, max_characters: int) -> None:
        """Begin with nothing.

        Args:
            max_characters: How much of a paste is kept.
        """
        self._max_characters = max_characters
        self._text = ""
        self._is_paste = self._follows_letter = False
        self._at = self._paste_at = float("-inf")
        self.due: float | None = None
        """When `elapse` has something to do; None for never."""

    @property
    def is_waiting(self) -> bool:
        """Return whether characters are held back."""
        return bool(self._text)

    def begin_read(self, at: float, pause: float, letters: int) -> list[Burst]:
        """Begin a read; return what its pause ends.

        Args:
            at: When it was read, in seconds.
            pause: Seconds without input before it.
            letters: How many plain characters it has.
        """
        bursts = self.elapse(at) if pause else []
        self._at = at
        self._follows_letter = self._follows_letter and pause <= LINE_SECONDS
        if letters > 1 and not self._text and at - self._paste_at <= REST_SECONDS:
            self._is_paste = True
        return bursts

    def add(self, text: str) -> list[Burst]:
        """Add plain characters of the read; return the keys that are known to be keys."""
        if not self._is_paste and _LINES.search(self._before + text):
            self._is_paste = True
        if self._is_paste:
            self._text = (self._text + text)[: self._max_characters]
            return []
        bursts: list[Burst] = []
        for piece in _CONTROLS.split(text):
            if _CONTROLS.match(piece):
                bursts += [*self.flush(), Burst(piece, self._at)]
            else:
                self._text += piece
        return bursts

    @property
    def _before(self) -> str:
        return ("x" if self._follows_letter else "") + self._text

    def end_read(self) -> list[Burst]:
        """End a read; return the keys that nothing can change."""
        if not self._text:
            return []
        if not self._is_paste and not _LINE_END.search(self._before):
            return self.flush()
        self.due = self._at + (PASTE_SECONDS if self._is_paste else LINE_SECONDS)
        return []

    def elapse(self, at: float) -> list[Burst]:
        """Return what the absence of input until a moment ends."""
        return self.flush() if self.due is not None and at >= self.due else []

    def divide(self) -> list[Burst]:
        """Return the characters that are held back: another key follows, or a paste."""
        bursts = self.flush()
        self._follows_letter = False
        return bursts

    def flush(self) -> list[Burst]:
        """Return the characters that are held back."""
        text, is_paste = self._text, self._is_paste
        self._text, self._is_paste, self.due = "", False, None
        self._follows_letter = not is_paste and bool(_LETTER_END.search(text))
        if not text:
            return []
        if is_paste:
            self._paste_at = self._at
        return [Burst(text, self._at, is_paste)]
