"""What a human takes and leaves of an action before answering, and what has been on their screen.

Both are values: every change returns a new one. Nothing here decides anything; `to_selection` is what a
Decision carries.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Literal

from workbench.domain.values import Hunk, Taken
from workbench.records import dataclass, replace

HunkState = Literal["taken", "left", "partly"]

WHOLE = 0
"""Stands for the body of an action without hunks in `Seen`: a command, a gate, a question."""


def hunk_sizes(hunks: Iterable[Hunk]) -> tuple[int, ...]:
    """Return how many changed lines each hunk has, by its index less 1."""
    return tuple(sum(sign in "+-" for sign, _ in hunk.lines) for hunk in hunks)


def taken_words(selection: Sequence[Taken], sizes: Sequence[int]) -> str:
    """Return what was taken of an action: `2 of 3`, `5 of 9 lines`; empty if its hunks are not known."""
    if not sizes:
        return ""
    if all(piece.lines is None for piece in selection):
        return f"{len(selection)} of {len(sizes)}"
    known = (piece for piece in selection if 1 <= piece.hunk <= len(sizes))
    taken = sum(sizes[piece.hunk - 1] if piece.lines is None else len(piece.lines) for piece in known)
    return f"{taken} of {sum(sizes)} lines"


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenState:
    """Which hunks and lines of one action are left; everything else is taken.

    Hunks count from 1 over all files of the action, lines from 1 over the `-` and `+` lines of a hunk.
    """

    sizes: tuple[int, ...]
    """How many changed lines each hunk has, by its index less 1."""
    left: Mapping[int, frozenset[int]] = field(default_factory=dict[int, frozenset[int]])
    """Hunk index to the lines left; a hunk that is not here is taken whole."""

    @classmethod
    def of(cls, hunks: Sequence[Hunk]) -> "TakenState":
        """Return the state of an action nobody chose anything of yet: all taken."""
        return cls(sizes=hunk_sizes(hunks))

    @classmethod
    def decided(cls, hunks: Sequence[Hunk], selection: Sequence[Taken]) -> "TakenState":
        """Return what a decision took and left."""
        sizes, taken = hunk_sizes(hunks), {piece.hunk: piece.lines for piece in selection}
        left: dict[int, frozenset[int]] = {}
        for hunk, size in enumerate(sizes, 1):
            lines = taken.get(hunk, ())
            gone = frozenset[int]() if lines is None else frozenset(range(1, size + 1)).difference(lines)
            if gone:
                left[hunk] = gone
        return cls(sizes=sizes, left=left)

    def state_of(self, hunk: int) -> HunkState:
        """Return whether a hunk is taken, left or partly taken."""
        left = self.left.get(hunk)
        if not left:
            return "taken"
        return "left" if len(left) == self._size(hunk) else "partly"

    def is_line_taken(self, hunk: int, line: int) -> bool:
        """Return whether one changed line is taken."""
        return line not in self.left.get(hunk, ())

    def toggle_hunk(self, hunk: int) -> "TakenState":
        """Leave a hunk that is taken whole, take one that is not."""
        if not self._size(hunk):
            return self
        everything = frozenset(range(1, self._size(hunk) + 1))
        return self._with(hunk, frozenset() if self.left.get(hunk) else everything)

    def toggle_line(self, hunk: int, line: int) -> "TakenState":
        """Leave a line that is taken, take one that is left."""
        if not 1 <= line <= self._size(hunk):
            return self
        return self._with(hunk, self.left.get(hunk, frozenset[int]()) ^ {line})

    def toggle_all(self) -> "TakenState":
        """Take everything, or leave everything if all is taken."""
        if self.left:
            return replace(self, left={})
        return replace(
            self, left={n: frozenset(range(1, size + 1)) for n, size in enumerate(self.sizes, 1) if size}
        )

    @property
    def is_all(self) -> bool:
        """Return whether everything is taken."""
        return not self.left

    @property
    def is_nothing(self) -> bool:
        """Return whether an action with hunks has none of them taken, not even in part."""
        return bool(self.sizes) and not self.taken_hunks

    @property
    def taken_hunks(self) -> tuple[int, ...]:
        """Return the hunks of which at least a line is taken."""
        every = range(1, len(self.sizes) + 1)
        return tuple(n for n in every if self.state_of(n) != "left") if self.left else tuple(every)

    def line_counts(self, hunk: int) -> tuple[int, int]:
        """Return how many changed lines of a hunk are taken, and how many it has."""
        size = self._size(hunk)
        return size - len(self.left.get(hunk, ())), size

    def to_selection(self) -> tuple[Taken, ...] | None:
        """Return what a Decision carries: None for everything, else each hunk taken."""
        if self.is_all:
            return None
        return tuple(Taken(hunk=n, lines=self._lines(n)) for n in self.taken_hunks)

    def words(self) -> str:
        """Return the choice for the answering key: empty for all, `2 of 3`, `5 of 9 lines`."""
        if self.is_all:
            return ""
        if any(self.state_of(n) == "partly" for n in self.left):
            taken = sum(self.sizes) - sum(map(len, self.left.values()))
            return f"{taken} of {sum(self.sizes)} lines"
        return f"{len(self.taken_hunks)} of {len(self.sizes)}"

    def title_words(self) -> str:
        """Return the choice for a title: `3 taken`, `2 taken, 1 left`."""
        taken = len(self.taken_hunks)
        left = len(self.sizes) - taken
        return f"{taken} taken, {left} left" if left else f"{taken} taken"

    def _size(self, hunk: int) -> int:
        return self.sizes[hunk - 1] if 1 <= hunk <= len(self.sizes) else 0

    def _lines(self, hunk: int) -> tuple[int, ...] | None:
        left = self.left.get(hunk)
        return tuple(n for n in range(1, self._size(hunk) + 1) if n not in left) if left else None

    def _with(self, hunk: int, lines: frozenset[int]) -> "TakenState":
        others = {n: left for n, left in self.left.items() if n != hunk}
        return replace(self, left={**others, hunk: lines} if lines else others)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Receipts: which hunks of which action were on this screen; marked when its last row was drawn."""

    shown: Mapping[str, frozenset[int]] = field(default_factory=dict[str, frozenset[int]])

    def mark(self, action_id: str, hunks: Iterable[int]) -> "Seen":
        """Return the receipts with these hunks added; `WHOLE` stands for an action that has none."""
        before = self.shown.get(action_id, frozenset[int]())
        after = before.union(hunks)
        return self if after == before else Seen(shown={**self.shown, action_id: after})

    def unmark(self, action_id: str, hunks: Iterable[int]) -> "Seen":
        """Return the receipts without those of some hunks."""
        before = self.shown.get(action_id, frozenset[int]())
        after = before.difference(hunks)
        return self if after == before else Seen(shown={**self.shown, action_id: after})

    def unseen(
        self, action_id: str, selection: TakenState, *, every: bool = False, has_rest: bool = False
    ) -> tuple[int, ...]:
        """Return the hunks that an approval takes and nobody saw, in order; `(WHOLE,)` without hunks.

        Args:
            action_id: the action as it was drawn: an id always means the same bytes.
            selection: what would be approved.
            every: count the hunks left as well; for deletions and actions with a warning.
            has_rest: whether there are files without hunks beside them: a deletion, another mode.
        """
        needed = tuple(range(1, len(selection.sizes) + 1)) if every else selection.taken_hunks
        if not selection.sizes or has_rest:
            needed = (*needed, WHOLE)
        shown = self.shown.get(action_id, frozenset[int]())
        return tuple(n for n in needed if n not in shown)

    def forget(self, action_ids: Iterable[str]) -> "Seen":
        """Return the receipts without those of actions that are gone."""
        gone = frozenset(action_ids)
        return Seen(shown={key: hunks for key, hunks in self.shown.items() if key not in gone})
