"""The hunks of an action that are selected or seen, also after the action was replaced."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.domain.values import Hunk, SelectedHunk

HunkState = Literal["taken", "left", "partly"]
WHOLE_ACTION = 0
"""Stands for the body of an action without hunks in `SeenHunks`."""


def hunk_sizes(hunks: Iterable[Hunk]) -> tuple[int, ...]:
    """Return how many changed lines each hunk has, by its index less 1."""
    return tuple(sum(sign in "+-" for sign, _ in hunk.lines) for hunk in hunks)


def taken_text(selection: Sequence[SelectedHunk], sizes: Sequence[int]) -> str:
    """Return what was taken of an action: `2 of 3`, `5 of 9 lines`; empty if its hunks are not known."""
    if not sizes:
        return ""
    if all(piece.lines is None for piece in selection):
        return f"{len(selection)} of {len(sizes)}"
    known = (piece for piece in selection if 1 <= piece.hunk <= len(sizes))
    taken = sum(sizes[piece.hunk - 1] if piece.lines is None else len(piece.lines) for piece in known)
    return f"{taken} of {sum(sizes)} lines"


class HunkSelection(Struct, frozen=True, kw_only=True):
    """Which hunks and lines of an action are left; everything else is taken. All count from 1."""

    sizes: tuple[int, ...]
    """How many changed lines each hunk has, by its index less 1."""
    left: Mapping[int, frozenset[int]] = field(default_factory=dict[int, frozenset[int]])
    """Hunk index to the lines left; a hunk that is not here is taken whole."""

    @classmethod
    def of(cls, hunks: Sequence[Hunk]) -> "HunkSelection":
        """Return the state of an action nobody chose anything of yet: all taken."""
        return cls(sizes=hunk_sizes(hunks))

    @classmethod
    def decided(cls, hunks: Sequence[Hunk], selection: Sequence[SelectedHunk]) -> "HunkSelection":
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
        left = self.left.get(hunk)
        if not left:
            return "taken"
        return "left" if len(left) == self._size(hunk) else "partly"

    def is_line_taken(self, hunk: int, line: int) -> bool:
        return line not in self.left.get(hunk, ())

    def toggle_hunk(self, hunk: int) -> "HunkSelection":
        """Leave a hunk that is taken whole, take one that is not."""
        if not self._size(hunk):
            return self
        everything = frozenset(range(1, self._size(hunk) + 1))
        return self._with(hunk, frozenset() if self.left.get(hunk) else everything)

    def toggle_line(self, hunk: int, line: int) -> "HunkSelection":
        if not 1 <= line <= self._size(hunk):
            return self
        return self._with(hunk, self.left.get(hunk, frozenset[int]()) ^ {line})

    def toggle_all(self) -> "HunkSelection":
        if self.left:
            return replace(self, left={})
        return replace(
            self, left={n: frozenset(range(1, size + 1)) for n, size in enumerate(self.sizes, 1) if size}
        )

    @property
    def is_all(self) -> bool:
        return not self.left

    @property
    def is_nothing(self) -> bool:
        """Return whether an action with hunks has none of them taken, not even in part."""
        return bool(self.sizes) and not self.taken_hunks

    @property
    def taken_hunks(self) -> tuple[int, ...]:
        every = range(1, len(self.sizes) + 1)
        return tuple(n for n in every if self.state_of(n) != "left") if self.left else tuple(every)

    def line_counts(self, hunk: int) -> tuple[int, int]:
        """Return how many changed lines of a hunk are taken, and how many it has."""
        size = self._size(hunk)
        return size - len(self.left.get(hunk, ())), size

    def to_selection(self) -> tuple[SelectedHunk, ...] | None:
        """Return what a Decision carries: None for everything, else each hunk taken."""
        if self.is_all:
            return None
        return tuple(SelectedHunk(hunk=n, lines=self._lines(n)) for n in self.taken_hunks)

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

    def _with(self, hunk: int, lines: frozenset[int]) -> "HunkSelection":
        others = {n: left for n, left in self.left.items() if n != hunk}
        return replace(self, left={**others, hunk: lines} if lines else others)


class SeenHunks(Struct, frozen=True, kw_only=True):
    """Which hunks of which action were on the screen; marked when its last row was drawn."""

    shown: Mapping[str, frozenset[int]] = field(default_factory=dict[str, frozenset[int]])

    def mark(self, action_id: str, hunks: Iterable[int]) -> "SeenHunks":
        """Return the seen hunks with these added; `WHOLE_ACTION` stands for an action without hunks."""
        before = self.shown.get(action_id, frozenset[int]())
        after = before.union(hunks)
        return self if after == before else SeenHunks(shown={**self.shown, action_id: after})

    def unmark(self, action_id: str, hunks: Iterable[int]) -> "SeenHunks":
        """Return the seen hunks without these."""
        before = self.shown.get(action_id, frozenset[int]())
        after = before.difference(hunks)
        return self if after == before else SeenHunks(shown={**self.shown, action_id: after})

    def unseen(
        self, action_id: str, selection: HunkSelection, *, every: bool = False, has_rest: bool = False
    ) -> tuple[int, ...]:
        """Return the hunks that an approval takes and nobody saw; `(WHOLE_ACTION,)` without hunks.

        `every` counts the hunks left as well; `has_rest` says that there are files without hunks beside them.
        """
        needed = tuple(range(1, len(selection.sizes) + 1)) if every else selection.taken_hunks
        if not selection.sizes or has_rest:
            needed = (*needed, WHOLE_ACTION)
        shown = self.shown.get(action_id, frozenset[int]())
        return tuple(n for n in needed if n not in shown)

    def forget(self, action_ids: Iterable[str]) -> "SeenHunks":
        """Return the seen hunks without those of actions that are gone."""
        gone = frozenset(action_ids)
        return SeenHunks(shown={key: hunks for key, hunks in self.shown.items() if key not in gone})


_NEIGHBOUR_SETS: Final = ((-2, -1, 1, 2), (-1, 1), (-1,), (1,), ())
"""Which neighbours have to be the same, from the surest sign to none."""


class _ChangedLine(Struct, frozen=True, kw_only=True):
    hunk: int
    number: int
    run: int
    keys: tuple[Hashable, ...]


def carried_selection(
    old: Sequence[Hunk], state: HunkSelection, new: Sequence[Hunk]
) -> tuple[HunkSelection, int]:
    """Carry a selection over to a new diff; also return how many left lines are gone from it."""
    fresh = HunkSelection.of(new)
    if state.is_all:
        return fresh, 0
    if tuple(old) == tuple(new):
        return state, 0
    before, after = list(_changed_lines(old)), list(_changed_lines(new))
    pairs = _line_pairs(before, after)
    is_left = [not state.is_line_taken(line.hunk, line.number) for line in before]
    whole_runs = {line.run for line in before} - {
        line.run for line, left in zip(before, is_left, strict=True) if not left
    }
    left = {pairs[index] for index, was_left in enumerate(is_left) if was_left and index in pairs}
    taken = {pairs[index] for index, was_left in enumerate(is_left) if not was_left and index in pairs}
    lost = [index for index, was_left in enumerate(is_left) if was_left and index not in pairs]
    # Equal lines of which nobody knows which one was left: none of them is taken.
    same = {before[index].keys[-1] for index in lost}
    unsure = {
        index for index, line in enumerate(after) if index not in left | taken and line.keys[-1] in same
    }
    gone = sum(before[index].keys[-1] not in {after[n].keys[-1] for n in unsure} for index in lost)
    left |= unsure
    # A stretch that was left whole stays whole: half a replacement is no change that anybody chose.
    runs = {after[pairs[index]].run for index in pairs if is_left[index] and before[index].run in whole_runs}
    runs -= {after[index].run for index in taken}
    left |= {index for index, line in enumerate(after) if line.run in runs}
    carried: dict[int, frozenset[int]] = {}
    for index in left:
        line = after[index]
        carried[line.hunk] = carried.get(line.hunk, frozenset[int]()) | {line.number}
    return HunkSelection(sizes=fresh.sizes, left=carried), gone


def _changed_lines(hunks: Sequence[Hunk]) -> Iterator[_ChangedLine]:
    run = 0
    for hunk in hunks:
        texts = [(sign, text) for sign, text in hunk.lines if sign != "\\"]
        number, run = 0, run + 1
        for index, (sign, text) in enumerate(texts):
            if sign == " ":
                run += 1
                continue
            number += 1
            keys = tuple(
                (hunk.path, sign, text, *(_neighbour(texts, index + step) for step in steps))
                for steps in _NEIGHBOUR_SETS
            )
            yield _ChangedLine(hunk=hunk.index, number=number, run=run, keys=keys)


def _neighbour(texts: Sequence[tuple[str, str]], index: int) -> tuple[str, str] | None:
    return texts[index] if 0 <= index < len(texts) else None


def _line_pairs(before: Sequence[_ChangedLine], after: Sequence[_ChangedLine]) -> dict[int, int]:
    """Return which line of the new diff is which of the old one, by their places in the two lists."""
    pairs: dict[int, int] = {}
    used: set[int] = set()
    for level in range(len(_NEIGHBOUR_SETS)):
        olds, news = defaultdict[Hashable, list[int]](list), defaultdict[Hashable, list[int]](list)
        for index, line in enumerate(before):
            if index not in pairs:
                olds[line.keys[level]].append(index)
        for index, line in enumerate(after):
            if index not in used:
                news[line.keys[level]].append(index)
        for key, places in olds.items():
            if len(places) == len(news.get(key, ())):
                pairs |= zip(places, news[key], strict=True)
                used |= set(news[key])
    return pairs
