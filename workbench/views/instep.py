"""Two recordings played in step: which moment of the second one belongs to a moment of the first.

Pure. Both go on by played time, from where they were set beside each other: their beginnings, or the prompts
of the same number, as runs of one task differ in how long they take.
"""

from typing import Final

from workbench.views.player import Player
from workbench.views.reel import Reel

_PROMPT: Final = "prompt"


class InStep:
    """A player, and a second recording that follows it."""

    def __init__(self, player: Player, other: Reel) -> None:
        """Set the beginnings beside each other."""
        self.player, self.other = player, other
        self._ahead = 0.0
        """Played microseconds that the second one is ahead."""

    @property
    def index(self) -> int:
        """Return the moment of the second recording."""
        if not len(self.other):
            return 0
        return max(1, self.other.index_played(self.played))

    @property
    def played(self) -> float:
        """Return the played time of the second recording, microseconds from its start."""
        return min(max(0.0, self.player.played + self._ahead), float(self.other.length))

    def to_prompt(self, step: int) -> bool:
        """Go to the next (1) or previous (-1) prompt, and set the same prompt of the other beside it.

        Returns:
            False where there is none; then nothing moved. Where the second has fewer, only the first goes.
        """
        mark = self.player.jump(_PROMPT, step)
        if mark is None:
            return False
        number = sum(one.jump == _PROMPT and one.index <= mark.index for one in self.player.reel.marks)
        there = [one for one in self.other.marks if one.jump == _PROMPT][number - 1 : number]
        if there:
            self._ahead = self.other.played(there[0].index) - self.player.played
        return True
