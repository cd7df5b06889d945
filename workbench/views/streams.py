"""Streamed pieces put together: what came so far of a reply or an output, before the whole replaces it.

Owns offsets and gaps. A piece that comes twice changes nothing; one that is missing leaves a mark.
"""

from dataclasses import field
from typing import Final

from workbench.records import dataclass

GAP: Final = "…"
"""Stands where a piece never came."""

LONGEST: Final = 200_000
"""Characters of an output that are kept while it streams; the whole is in the journal."""


def joined(text: str, offset: int, piece: str) -> str:
    """Return a text with a piece put where it belongs."""
    if offset > len(text):
        return text + GAP + piece
    return text[:offset] + piece + text[offset + len(piece) :]


@dataclass(slots=True)
class Reply:
    """What was streamed of one round: blocks by number, text and thinking apart."""

    text: dict[int, str] = field(default_factory=dict[int, str])
    thinking: dict[int, str] = field(default_factory=dict[int, str])
    thought_from: int | None = None
    thought_to: int | None = None

    def add_text(self, block: int, offset: int, piece: str) -> str:
        """Add a piece of the reply and return all of it."""
        self.text[block] = joined(self.text.get(block, ""), offset, piece)
        return _whole(self.text)

    def add_thinking(self, block: int, offset: int, piece: str, at: int) -> str:
        """Add a piece of thinking and return all of it."""
        self.thought_from = at if self.thought_from is None else min(self.thought_from, at)
        self.thought_to = at
        self.thinking[block] = joined(self.thinking.get(block, ""), offset, piece)
        return _whole(self.thinking)

    def end_thought(self, at: int) -> None:
        """Note that something else began: the thought lasted until then."""
        if self.thought_to is not None and not self.text:
            self.thought_to = max(self.thought_to, at)

    @property
    def thought_seconds(self) -> float | None:
        """Return how long it thought, None if no delta told."""
        if self.thought_from is None or self.thought_to is None:
            return None
        return max(0, self.thought_to - self.thought_from) / 1_000_000


@dataclass(slots=True)
class Stream:
    """What a command wrote so far; only the last part of a long output is kept."""

    text: str = ""
    dropped: int = 0

    def add(self, offset: int, piece: str) -> str:
        """Add a piece and return what is kept."""
        self.text = joined(self.text, max(0, offset - self.dropped), piece)
        if len(self.text) > LONGEST:
            surplus = len(self.text) - LONGEST // 2
            self.dropped += surplus
            self.text = self.text[surplus:]
        return self.text


def _whole(blocks: dict[int, str]) -> str:
    return "".join(blocks[number] for number in sorted(blocks))
