"""Blocks in reading order: where a new one stands, which changed, and queued prompts always last.

Owns places and nothing of what blocks say.
"""

from workbench.records import replace
from workbench.views.blocks import Block, ErrorBlock, Notice, Prompt, Text, Thought


class BlockOrder:
    """An ordered set of blocks that remembers what changed."""

    def __init__(self) -> None:
        self._order: list[str] = []
        self._blocks: dict[str, Block] = {}
        self._changed: set[str] = set()
        self._open: set[str] = set()
        self._keyed: set[str] = set()
        self.queued = 0
        """How many prompts stand at the end, not yet begun."""

    def begin(self) -> None:
        """Forget what changed."""
        self._changed = set()

    def changed(self) -> set[str]:
        """Return the ids that came, changed or went since `begin`."""
        return set(self._changed)

    def all(self) -> tuple[Block, ...]:
        """Return the blocks in order."""
        return tuple(self._blocks[key] for key in self._order)

    def get(self, key: str) -> Block | None:
        """Return a block."""
        return self._blocks.get(key)

    def last(self) -> Block | None:
        """Return the last block that is no queued prompt."""
        end = len(self._order) - self.queued
        return self._blocks[self._order[end - 1]] if end else None

    def append(self, prompt: Prompt) -> None:
        """Add a prompt behind everything."""
        if prompt.id in self._blocks:
            return
        self._order.append(prompt.id)
        self._set(prompt)
        self.queued += prompt.is_queued

    def put(self, block: Block, *, behind: str | None = None, before: str | None = None) -> None:
        """Set a block; a new one stands behind or before another, else at the end but for queued prompts."""
        if block.id not in self._blocks:
            self._order.insert(self._place(behind, before), block.id)
        elif self._blocks[block.id] == block:
            return
        self._set(block)

    def remove(self, key: str) -> None:
        """Take a block out."""
        if self._blocks.pop(key, None) is not None:
            self._order.remove(key)
            self._changed.add(key)
            self._open.discard(key)
            self._keyed.discard(key)

    def take_queued(self) -> None:
        """The agent has begun on the prompts that waited."""
        for key in self._order[len(self._order) - self.queued :]:
            prompt = self._blocks[key]
            if isinstance(prompt, Prompt):
                self._set(replace(prompt, is_queued=False))
        self.queued = 0

    def open_texts(self) -> list[Text | Thought]:
        """Return the blocks that still stream."""
        found = [self._blocks[key] for key in sorted(self._open)]
        return [block for block in found if isinstance(block, Text | Thought)]

    def retire_keys(self) -> None:
        """Take the keys off errors and notices: something came after them."""
        for key in sorted(self._keyed):
            block = self._blocks[key]
            if isinstance(block, ErrorBlock | Notice):
                self._set(replace(block, keys=()))

    def _set(self, block: Block) -> None:
        self._blocks[block.id] = block
        self._changed.add(block.id)
        is_open = isinstance(block, Text | Thought) and block.is_open
        has_keys = isinstance(block, ErrorBlock | Notice) and bool(block.keys)
        for known, holds in ((self._open, is_open), (self._keyed, has_keys)):
            if holds:
                known.add(block.id)
            else:
                known.discard(block.id)

    def _place(self, behind: str | None, before: str | None) -> int:
        if behind is not None and behind in self._blocks:
            return self._order.index(behind) + 1
        if before is not None and before in self._blocks:
            return self._order.index(before)
        return len(self._order) - self.queued
