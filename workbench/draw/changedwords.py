"""Which words changed between the removed and the added lines of a hunk.

Owns pairing of lines and comparing of words. Lines that have little in common are no pair: marking nearly all
of a line says nothing.
"""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import Final

Marks = Sequence[tuple[int, int]]
"""From character, to character."""

LIKENESS: Final = 0.4
"""How much of two lines must be the same before their words are compared."""
LONGEST: Final = 500
"""Characters of a line that is compared."""
BLOCK: Final = 40
"""Lines of a block that are compared each with each; of longer ones the first with the first."""


def changed_words(
    removed: Sequence[str], added: Sequence[str]
) -> tuple[Mapping[int, Marks], Mapping[int, Marks]]:
    """Return the marks of removed and of added lines, by their place in the block."""
    old: dict[int, Marks] = {}
    new: dict[int, Marks] = {}
    for left, right in _pairs(removed, added):
        old[left], new[right] = _compared(removed[left], added[right])
    return old, new


def _pairs(removed: Sequence[str], added: Sequence[str]) -> list[tuple[int, int]]:
    if len(removed) > BLOCK or len(added) > BLOCK:
        both = range(min(len(removed), len(added)))
        return [(n, n) for n in both if likeness(removed[n], added[n]) >= LIKENESS]
    pairs: list[tuple[int, int]] = []
    first = 0
    for left, text in enumerate(removed):
        likes = [(likeness(text, added[right]), -right) for right in range(first, len(added))]
        best, right = max(likes, default=(0.0, 0))
        if best >= LIKENESS:
            pairs.append((left, -right))
            first = 1 - right
    return pairs


@cache
def _word() -> re.Pattern[str]:
    return re.compile(r"\w+|\s+|.", re.DOTALL)


def words(text: str) -> list[str]:
    """Return a line as words, runs of blanks and single other characters."""
    return _word().findall(text)


def likeness(one: str, other: str) -> float:
    """Return how much two lines have in common, 0 to 1, blanks at their beginnings apart."""
    one, other = one.strip(), other.strip()
    if not one or not other or max(len(one), len(other)) > LONGEST:
        return 0.0
    if one == other:
        return 1.0
    before = words(one)
    blocks = SequenceMatcher(None, before, words(other), autojunk=False).get_matching_blocks()
    same = sum(len("".join(before[block.a : block.a + block.size])) for block in blocks)
    return 2 * same / (len(one) + len(other))


def _compared(old: str, new: str) -> tuple[Marks, Marks]:
    before, after = words(old), words(new)
    left: list[tuple[int, int]] = []
    right: list[tuple[int, int]] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    ends_old, ends_new = _ends(before), _ends(after)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            _mark(left, ends_old[i1], ends_old[i2])
            _mark(right, ends_new[j1], ends_new[j2])
    return left, right


def _ends(parts: Sequence[str]) -> list[int]:
    found = [0]
    for part in parts:
        found.append(found[-1] + len(part))
    return found


def _mark(marks: list[tuple[int, int]], start: int, end: int) -> None:
    if start == end:
        return
    if marks and marks[-1][1] == start:
        marks[-1] = (marks[-1][0], end)
    else:
        marks.append((start, end))
