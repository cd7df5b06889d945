"""Earlier prompts, brought back into the composer."""

from collections.abc import Sequence


class PromptHistory:
    """What was said before, and the draft that was left for it."""

    def __init__(self) -> None:
        self._entries: list[str] = []
        self._own: list[str] = []
        self._at: int | None = None
        self._draft = ""

    def add(self, text: str) -> None:
        """Remember what was sent; the same words twice in a row count once."""
        if text and self._entries[-1:] != [text]:
            self._entries.append(text)
            self._own.append(text)
        self._at = None

    def grow(self, before: str, text: str) -> None:
        """Remember words that are still being typed, in the place of the first part of them."""
        if before and self._entries[-1:] == [before]:
            del self._entries[-1]
            self._own.remove(before)
        self.add(text)

    def put_before(self, said: Sequence[str]) -> None:
        """Add earlier prompts, oldest first; a prompt that is in both keeps its place."""
        self._own = [text for text in self._own if text not in said]
        self._entries = [*said, *self._own]
        self._at = None

    def earlier(self, current: str) -> str | None:
        """Return what was said before; None at the beginning."""
        if self._at is None:
            self._draft = current
        index = len(self._entries) if self._at is None else self._at
        if index == 0:
            return None
        self._at = index - 1
        return self._entries[self._at]

    def later(self) -> str | None:
        """Return what was said after, at last the draft; None when nothing was looked up."""
        if self._at is None:
            return None
        if self._at + 1 < len(self._entries):
            self._at += 1
            return self._entries[self._at]
        self._at = None
        return self._draft
