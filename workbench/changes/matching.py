r"""Which lines of two versions are the same lines: the opcodes under every hunk.

Unique-line anchors (patience), then difflib within small gaps, then a search for the shortest edit with a
budget of steps; what is left over is replaced whole. Deterministic, and bounded for any input: no clock,
no order of sets. `hunks` and `take` both rely on getting the same answer from the same bytes.
"""

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final, NamedTuple

MAX_DEPTH: Final = 8
"""How often anchors are looked for again inside a gap between anchors; each level costs O(n log n)."""

DIFFLIB_STEPS: Final = 400
"""difflib is used where its worst case stays under this many steps for each line of the gap."""

SEARCH_STEPS: Final = 2_000_000
"""Steps of the shortest-edit search for one file; a gap may use half of what is left."""

MAX_EDITS: Final = 1_500
"""Lines removed and added in one gap that the search follows; its memory grows with the square."""


class Block(NamedTuple):
    """Lines `old_from:old_to` of the old version become `new_from:new_to` of the new one (from 0)."""

    old_from: int
    old_to: int
    new_from: int
    new_to: int


def changed_blocks(old: Sequence[bytes], new: Sequence[bytes]) -> list[Block]:
    """Return what differs, in order; between two blocks is at least one equal line."""
    numbers: dict[bytes, int] = {}
    coded_old = [numbers.setdefault(line, len(numbers)) for line in old]
    coded_new = [numbers.setdefault(line, len(numbers)) for line in new]
    return _blocks(_Matcher(coded_old, coded_new).run(), len(new))


def _blocks(partner: list[int], new_size: int) -> list[Block]:
    blocks: list[Block] = []
    start, new = 0, 0
    for position, match in enumerate([*partner, new_size]):
        if match < 0:
            continue
        if position > start or match > new:
            blocks.append(Block(start, position, new, match))
        start, new = position + 1, match + 1
    return blocks


class _Matcher:
    """Fills `partner`: for each old line the new line that it is, or -1. Pairs never cross."""

    def __init__(self, old: list[int], new: list[int]) -> None:
        self.old, self.new = old, new
        self.partner = [-1] * len(old)
        self.budget = SEARCH_STEPS

    def run(self) -> list[int]:
        gaps = [(Block(0, len(self.old), 0, len(self.new)), 0)]
        while gaps:
            gap, depth = gaps.pop()
            gap = self._trim(gap)
            if gap.old_from == gap.old_to or gap.new_from == gap.new_to:
                continue
            anchors = self._anchors(gap) if depth < MAX_DEPTH else []
            if anchors:
                gaps.extend((inner, depth + 1) for inner in reversed(self._between(gap, anchors)))
            else:
                self._fill(gap)
        return self.partner

    def _trim(self, gap: Block) -> Block:
        """Pair what both sides begin and end with; return what is left between."""
        old, new, partner = self.old, self.new, self.partner
        i, i_end, j, j_end = gap
        while i < i_end and j < j_end and old[i] == new[j]:
            partner[i] = j
            i, j = i + 1, j + 1
        while i < i_end and j < j_end and old[i_end - 1] == new[j_end - 1]:
            i_end, j_end = i_end - 1, j_end - 1
            partner[i_end] = j_end
        return Block(i, i_end, j, j_end)

    def _anchors(self, gap: Block) -> list[tuple[int, int]]:
        """Return the longest rising run of pairs of lines that occur once on each side."""
        old_once = _once(self.old, gap.old_from, gap.old_to)
        new_once = _once(self.new, gap.new_from, gap.new_to)
        pairs = [(i, new_once[value]) for value, i in old_once.items() if value in new_once]
        return _longest_rising(pairs)

    def _between(self, gap: Block, anchors: list[tuple[int, int]]) -> list[Block]:
        gaps: list[Block] = []
        i, j = gap.old_from, gap.new_from
        for old, new in anchors:
            self.partner[old] = new
            if old > i and new > j:
                gaps.append(Block(i, old, j, new))
            i, j = old + 1, new + 1
        gaps.append(Block(i, gap.old_to, j, gap.new_to))
        return gaps

    def _fill(self, gap: Block) -> None:
        old = self.old[gap.old_from : gap.old_to]
        new = self.new[gap.new_from : gap.new_to]
        counts = Counter(new)
        candidates = sum(counts[value] for value in old)
        if not candidates:
            return
        size = len(old) + len(new)
        if (size + candidates) * (2 * min(len(old), len(new)) + 1) <= DIFFLIB_STEPS * size:
            runs = [
                tuple(run) for run in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
            ]
        else:
            search = _ShortestEdit(old, new, self.budget // 2)
            runs = search.runs()
            self.budget -= search.steps
        for i, j, length in runs:
            for offset in range(length):
                self.partner[gap.old_from + i + offset] = gap.new_from + j + offset


def _once(values: list[int], start: int, end: int) -> dict[int, int]:
    """Return the position of each value that occurs once in the range, in order of position."""
    counts = Counter(values[start:end])
    return {values[i]: i for i in range(start, end) if counts[values[i]] == 1}


def _longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return a longest subsequence whose second numbers rise (patience sorting, O(n log n))."""
    if all(one[1] < other[1] for one, other in pairwise(pairs)):
        return pairs
    tops: list[int] = []
    top_pairs: list[int] = []
    previous: list[int] = []
    for index, (_, new) in enumerate(pairs):
        pile = bisect_left(tops, new)
        previous.append(top_pairs[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(new)
            top_pairs.append(index)
        else:
            tops[pile], top_pairs[pile] = new, index
    run: list[tuple[int, int]] = []
    index = top_pairs[-1] if top_pairs else -1
    while index >= 0:
        run.append(pairs[index])
        index = previous[index]
    return run[::-1]


class _ShortestEdit:
    """Myers' greedy search (An O(ND) Difference Algorithm, 1986), given up when the budget is spent.

    Round d keeps, for the diagonals -d, -d+2 … d, how far d edits reach on the old side.
    """

    def __init__(self, old: list[int], new: list[int], budget: int) -> None:
        self.old, self.new, self.budget = old, new, budget
        self.steps = 0
        self.rounds: list[array[int]] = []

    def runs(self) -> list[tuple[int, ...]]:
        """Return (old, new, length) of equal runs in any order; empty when the search was given up."""
        goal = len(self.old) - len(self.new)
        for edits in range(min(len(self.old) + len(self.new), MAX_EDITS) + 1):
            if self.steps > self.budget:
                return []
            self.rounds.append(self._round(edits))
            slot, odd = divmod(goal + edits, 2)
            if not odd and 0 <= slot <= edits and self.rounds[-1][slot] >= len(self.old):
                return self._back(edits)
        return []

    def _round(self, edits: int) -> "array[int]":
        old, new, old_size, new_size = self.old, self.new, len(self.old), len(self.new)
        reached = array("l")
        for slot in range(edits + 1):
            i = start = self._entry(edits, slot)[0]
            j = i - (2 * slot - edits)
            while i < old_size and j < new_size and old[i] == new[j]:
                i, j = i + 1, j + 1
            reached.append(i)
            self.steps += 1 + i - start
        return reached

    def _entry(self, edits: int, slot: int) -> tuple[int, int]:
        """Return where on the old side a diagonal is entered, and from which slot of the round before."""
        if edits == 0:
            return 0, 0
        reached = self.rounds[edits - 1]
        if slot == 0 or (slot < edits and reached[slot - 1] < reached[slot]):
            return reached[slot], slot
        return reached[slot - 1] + 1, slot - 1

    def _back(self, edits: int) -> list[tuple[int, ...]]:
        runs: list[tuple[int, ...]] = []
        slot = (len(self.old) - len(self.new) + edits) // 2
        for edit in range(edits, -1, -1):
            start, came_from = self._entry(edit, slot)
            runs.append((start, start - (2 * slot - edit), self.rounds[edit][slot] - start))
            slot = came_from
        return runs
