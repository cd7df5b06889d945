"""The diff of a change: exact bytes before and after, the lines that differ, and their hunks."""

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from io import BytesIO
from itertools import pairwise
from typing import Final, NamedTuple

from msgspec import Struct

from workbench.domain.values import Hunk


class FileChange(Struct, frozen=True, kw_only=True):
    """Exact bytes of one file before and after; DESIGN section 6."""

    path: str
    """Relative to the workspace, with `/` between its parts."""
    before: bytes | None
    after: bytes | None
    mode: int
    """Permission bits after the change."""
    moved_from: str | None = None
    """The path from which these bytes come, which the same action deletes."""


def refuse_repeated_paths(paths: Iterable[str]) -> None:
    """Raise ValueError naming the first path that occurs twice: one action changes a file once."""
    earlier: set[str] = set()
    for path in paths:
        if path in earlier:
            raise ValueError(f"{path} is changed twice in one action")
        earlier.add(path)


def split_lines(data: bytes | None) -> list[bytes]:
    r"""Cut bytes behind every `\n` and nowhere else; joined again they are the same. None has no lines."""
    return BytesIO(data or b"").readlines()


def dominant_line_end(*images: bytes | None) -> bytes:
    r"""Return the line end of the first image that has any: CRLF if more than half of its lines do."""
    for image in images:
        total = image.count(b"\n") if image else 0
        if image and total:
            return b"\r\n" if image.count(b"\r\n") * 2 > total else b"\n"
    return b"\n"


def with_line_end(line: bytes, end: bytes) -> bytes:
    r"""Return a line that surely ends in `\n`, using `end` where it has none."""
    if line.endswith(b"\n"):
        return line
    return line + (b"\n" if line.endswith(b"\r") else end)


MAX_DEPTH: Final = 8
"""Levels of anchors inside a gap between anchors; each costs O(n log n)."""
DIFFLIB_STEPS: Final = 400
"""Steps for each line of a gap up to which difflib is used."""
SEARCH_STEPS: Final = 2_000_000
"""Steps of the shortest-edit search for one file; a gap may use half of what is left."""
MAX_EDITS: Final = 1_500
"""Lines removed and added in one gap that the search follows; its memory grows with the square."""


class ChangedBlock(NamedTuple):
    """Lines `old_from:old_to` of the old version become `new_from:new_to` of the new one (from 0)."""

    old_from: int
    old_to: int
    new_from: int
    new_to: int


def changed_blocks(old: Sequence[bytes], new: Sequence[bytes]) -> list[ChangedBlock]:
    """Return what differs, in order; between two blocks is at least one equal line."""
    numbers: dict[bytes, int] = {}
    coded_old = [numbers.setdefault(line, len(numbers)) for line in old]
    coded_new = [numbers.setdefault(line, len(numbers)) for line in new]
    return _blocks(_Matcher(coded_old, coded_new).run(), len(new))


def _blocks(partner: list[int], new_size: int) -> list[ChangedBlock]:
    blocks: list[ChangedBlock] = []
    start, new = 0, 0
    for position, match in enumerate([*partner, new_size]):
        if match < 0:
            continue
        if position > start or match > new:
            blocks.append(ChangedBlock(start, position, new, match))
        start, new = position + 1, match + 1
    return blocks


class _Matcher:
    """Fills `partner`: for each old line the new line that it is, or -1. Pairs never cross."""

    def __init__(self, old: list[int], new: list[int]) -> None:
        self.old, self.new = old, new
        self.partner = [-1] * len(old)
        self.budget = SEARCH_STEPS

    def run(self) -> list[int]:
        gaps = [(ChangedBlock(0, len(self.old), 0, len(self.new)), 0)]
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

    def _trim(self, gap: ChangedBlock) -> ChangedBlock:
        old, new, partner = self.old, self.new, self.partner
        i, i_end, j, j_end = gap
        while i < i_end and j < j_end and old[i] == new[j]:
            partner[i] = j
            i, j = i + 1, j + 1
        while i < i_end and j < j_end and old[i_end - 1] == new[j_end - 1]:
            i_end, j_end = i_end - 1, j_end - 1
            partner[i_end] = j_end
        return ChangedBlock(i, i_end, j, j_end)

    def _anchors(self, gap: ChangedBlock) -> list[tuple[int, int]]:
        old_once = _unique_positions(self.old, gap.old_from, gap.old_to)
        new_once = _unique_positions(self.new, gap.new_from, gap.new_to)
        pairs = [(i, new_once[value]) for value, i in old_once.items() if value in new_once]
        return _longest_increasing(pairs)

    def _between(self, gap: ChangedBlock, anchors: list[tuple[int, int]]) -> list[ChangedBlock]:
        gaps: list[ChangedBlock] = []
        i, j = gap.old_from, gap.new_from
        for old, new in anchors:
            self.partner[old] = new
            if old > i and new > j:
                gaps.append(ChangedBlock(i, old, j, new))
            i, j = old + 1, new + 1
        gaps.append(ChangedBlock(i, gap.old_to, j, gap.new_to))
        return gaps

    def _fill(self, gap: ChangedBlock) -> None:
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


def _unique_positions(values: list[int], start: int, end: int) -> dict[int, int]:
    counts = Counter(values[start:end])
    return {values[i]: i for i in range(start, end) if counts[values[i]] == 1}


def _longest_increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    if all(pair[1] < following[1] for pair, following in pairwise(pairs)):
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


BINARY_HEAD: Final = 8 * 1024
_CONTROLS: Final = bytes({*range(0x20), 0x7F} - set(b"\t\n\f\r\x1b"))


def make_hunks(changes: Sequence[FileChange], context: int = 3) -> tuple[Hunk, ...]:
    """Return the hunks of all files, numbered from 1; binary files and those without changed lines have none.

    Neither end of a move has one. `context` equal lines are shown around a change; hunks whose context would
    touch are one.
    """
    refuse_repeated_paths(change.path for change in changes)
    hunks: list[Hunk] = []
    left = {change.moved_from for change in changes}
    for change in changes:
        if change.moved_from is not None or change.path in left:
            continue
        hunks.extend(_file_hunks(change, context, len(hunks) + 1))
    return tuple(hunks)


def changed_line_totals(hunks: Sequence[Hunk]) -> tuple[int, int]:
    """Return how many lines the hunks add and remove."""
    signs = [sign for hunk in hunks for sign, _ in hunk.lines]
    return signs.count("+"), signs.count("-")


def is_binary_content(data: bytes | None) -> bool:
    """Say whether bytes are no text: NUL in the first 8 KB, or no UTF-8 and over 5 % control bytes there."""
    if not data:
        return False
    head = data[:BINARY_HEAD]
    if 0 in head:
        return True
    if _is_utf8(data):
        return False
    return (len(head) - len(head.translate(None, _CONTROLS))) * 20 > len(head)


def decode_content(data: bytes) -> tuple[str, bool]:
    """Return the text of bytes, and whether they were read as Latin-1, being no UTF-8."""
    if _is_utf8(data):
        return data.decode("utf-8"), False
    return data.decode("latin-1"), True


def is_shown_as_latin1(change: FileChange) -> bool:
    """Say whether both sides are shown as Latin-1, so that a change of encoding alone is visible."""
    return not (_is_utf8(change.before or b"") and _is_utf8(change.after or b""))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _file_hunks(change: FileChange, context: int, first: int) -> Iterator[Hunk]:
    if is_binary_content(change.before) or is_binary_content(change.after):
        return
    old, new = split_lines(change.before), split_lines(change.after)
    encoding = "latin-1" if is_shown_as_latin1(change) else "utf-8"
    for index, group in enumerate(_grouped(changed_blocks(old, new), context), first):
        before, after = min(context, group[0].old_from), min(context, len(old) - group[-1].old_to)
        old_from, old_to = group[0].old_from - before, group[-1].old_to + after
        new_from, new_to = group[0].new_from - before, group[-1].new_to + after
        yield Hunk(
            index=index,
            path=change.path,
            old_start=_unified_start(old_from, old_to),
            old_count=old_to - old_from,
            new_start=_unified_start(new_from, new_to),
            new_count=new_to - new_from,
            lines=tuple(_shown_lines(_signed_lines(old, new, group, old_from, old_to), encoding)),
        )


def _grouped(blocks: list[ChangedBlock], context: int) -> list[list[ChangedBlock]]:
    groups: list[list[ChangedBlock]] = []
    for block in blocks:
        if groups and block.old_from - groups[-1][-1].old_to <= 2 * context:
            groups[-1].append(block)
        else:
            groups.append([block])
    return groups


def _unified_start(first: int, end: int) -> int:
    return first + 1 if end > first else first


def _signed_lines(
    old: list[bytes], new: list[bytes], group: list[ChangedBlock], first: int, end: int
) -> Iterator[tuple[str, bytes]]:
    position = first
    for block in group:
        yield from ((" ", line) for line in old[position : block.old_from])
        yield from (("-", line) for line in old[block.old_from : block.old_to])
        yield from (("+", line) for line in new[block.new_from : block.new_to])
        position = block.old_to
    yield from ((" ", line) for line in old[position:end])


def _shown_lines(signed: Iterator[tuple[str, bytes]], encoding: str) -> Iterator[tuple[str, str]]:
    for sign, line in signed:
        yield sign, line.removesuffix(b"\n").decode(encoding)
        if not line.endswith(b"\n"):
            yield "\\", ""
