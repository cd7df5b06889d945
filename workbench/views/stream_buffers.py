"""Buffers of streamed text: replies and outputs, whose pieces may be missing or come twice."""

from typing import Final

from msgspec import Struct, field

from workbench.text.human import SECOND_MICROS

MISSING_PIECE: Final = "…"
MAX_BUFFER_CHARS: Final = 200_000
"""Characters of an output that are kept while it streams; the whole is in the journal."""


def insert_piece(text: str, offset: int, piece: str) -> str:
    if offset > len(text):
        return text + MISSING_PIECE + piece
    return text[:offset] + piece + text[offset + len(piece) :]


class ReplyBuffer(Struct):
    """What was streamed of one round: blocks by number, text and thinking apart."""

    text: dict[int, str] = field(default_factory=dict[int, str])
    thinking: dict[int, str] = field(default_factory=dict[int, str])
    thought_from: int | None = None
    thought_to: int | None = None

    def add_text(self, block: int, offset: int, piece: str) -> str:
        self.text[block] = insert_piece(self.text.get(block, ""), offset, piece)
        return _in_block_order(self.text)

    def add_thinking(self, block: int, offset: int, piece: str, at: int) -> str:
        self.thought_from = at if self.thought_from is None else min(self.thought_from, at)
        self.thought_to = at
        self.thinking[block] = insert_piece(self.thinking.get(block, ""), offset, piece)
        return _in_block_order(self.thinking)

    def end_thought(self, at: int) -> None:
        """Note that something else began: the thought lasted until then."""
        if self.thought_to is not None and not self.text:
            self.thought_to = max(self.thought_to, at)

    @property
    def thought_seconds(self) -> float | None:
        """Return how long the model thought; None if no part of the stream says so."""
        if self.thought_from is None or self.thought_to is None:
            return None
        return max(0, self.thought_to - self.thought_from) / SECOND_MICROS


class OutputBuffer(Struct):
    """What a command wrote so far; only the last part of a long output is kept."""

    text: str = ""
    dropped: int = 0

    def add(self, offset: int, piece: str) -> str:
        self.text = insert_piece(self.text, max(0, offset - self.dropped), piece)
        if len(self.text) > MAX_BUFFER_CHARS:
            surplus = len(self.text) - MAX_BUFFER_CHARS // 2
            self.dropped += surplus
            self.text = self.text[surplus:]
        return self.text


def _in_block_order(blocks: dict[int, str]) -> str:
    return "".join(blocks[number] for number in sorted(blocks))
