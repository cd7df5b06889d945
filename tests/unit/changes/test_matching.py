"""Blocks are a correct, deterministic and bounded description of what differs."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.growth import bounded_work
from tests.support.tables import each_row
from workbench.changes import diff
from workbench.changes.diff import ChangedBlock, changed_blocks

few_lines = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"}\n"]), max_size=40)


def rebuilt(old: list[bytes], new: list[bytes], blocks: list[ChangedBlock]) -> list[bytes]:
    lines: list[bytes] = []
    position = 0
    for block in blocks:
        lines += old[position : block.old_from] + new[block.new_from : block.new_to]
        position = block.old_to
    return lines + old[position:]


def assert_well_formed(old: list[bytes], new: list[bytes], blocks: list[ChangedBlock]) -> None:
    i = j = 0
    for number, block in enumerate(blocks):
        equal = block.old_from - i
        assert equal == block.new_from - j
        assert equal > 0 or number == 0
        assert old[i : block.old_from] == new[j : block.new_from]
        assert block.old_to > block.old_from or block.new_to > block.new_from
        i, j = block.old_to, block.new_to
    assert old[i:] == new[j:]


@given(few_lines, few_lines)
def test_blocks_turn_old_into_new(old: list[bytes], new: list[bytes]) -> None:
    blocks = changed_blocks(old, new)
    assert rebuilt(old, new, blocks) == new
    assert_well_formed(old, new, blocks)
    assert blocks == changed_blocks(old, new)


@given(few_lines, few_lines)
def test_the_search_for_the_shortest_edit_is_correct_and_shortest(old: list[bytes], new: list[bytes]) -> None:
    numbers = {line: n for n, line in enumerate(sorted({*old, *new}))}
    left, right = [numbers[line] for line in old], [numbers[line] for line in new]
    runs = diff._ShortestEdit(left, right, 10**9).runs()
    pairs = sorted((i + k, j + k) for i, j, length in runs for k in range(length))
    assert all(left[i] == right[j] for i, j in pairs)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(pairs))
    assert len(pairs) == longest_common(left, right)


def longest_common(left: list[int], right: list[int]) -> int:
    row = [0] * (len(right) + 1)
    for a in left:
        previous = 0
        for j, b in enumerate(right, 1):
            previous, row[j] = row[j], previous + 1 if a == b else max(row[j], row[j - 1])
    return row[-1]


@given(few_lines, few_lines)
def test_without_difflib_and_anchors_blocks_are_right_too(old: list[bytes], new: list[bytes]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diff, "MAX_DEPTH", 0)
        patch.setattr(diff, "DIFFLIB_STEPS", 0)
        assert_well_formed(old, new, changed_blocks(old, new))


@given(few_lines, few_lines)
def test_over_the_limit_a_gap_is_replaced_whole(old: list[bytes], new: list[bytes]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diff, "MAX_DEPTH", 0)
        patch.setattr(diff, "DIFFLIB_STEPS", 0)
        patch.setattr(diff, "SEARCH_STEPS", -2)
        blocks = changed_blocks(old, new)
    assert len(blocks) == (old != new)
    assert_well_formed(old, new, blocks)


def test_unique_lines_hold_a_moved_function_together() -> None:
    old = b"def a():\n    pass\n\ndef b():\n    pass\n".splitlines(keepends=True)
    new = b"def a():\n    pass\n\ndef new():\n    pass\n\ndef b():\n    pass\n".splitlines(keepends=True)
    [block] = changed_blocks(old, new)
    assert (block.old_to - block.old_from, block.new_to - block.new_from) == (0, 3)


def lines_of(*values: object) -> list[bytes]:
    return [f"{value}\n".encode() for value in values]


def edited(lines: list[bytes], edits: int) -> list[bytes]:
    """Remove, change and add lines in turn, evenly spread."""
    new = list(lines)
    step = len(lines) // edits
    for number in range(edits - 1, -1, -1):
        at = number * step + step // 2
        new[at : at + (1, 1, 0)[number % 3]] = lines_of(
            *(f"edit {number} {k}" for k in range((0, 1, 2)[number % 3]))
        )
    return new


def shuffled(lines: list[bytes]) -> list[bytes]:
    new = list(lines)
    random.Random(7).shuffle(new)
    return new


UNIQUE = lines_of(*(f"line {n}" for n in range(20_000)))
TWICE = UNIQUE[:10_000] * 2
BLANKS = lines_of(*("" if n % 3 else f"value {n % 40}" for n in range(20_000)))
PERIODIC = lines_of(*(n % 7 for n in range(20_000)))

GAPS = 800


def many_gaps(*values: str) -> list[bytes]:
    """Return unique lines with a run of repeated ones behind each."""
    return [line for n in range(GAPS) for line in lines_of(f"anchor {n}", *values * 6)]


HARD = {
    "many gaps of repeated lines": (many_gaps("a", "b", "c", "d"), many_gaps("b", "d", "a", "c"), None),
    "all equal against all other": (lines_of("a") * 20_000, lines_of("b") * 20_000, 1),
    "all equal, fewer": (lines_of("a") * 20_000, lines_of("a") * 15_000, 1),
    "shuffled": (UNIQUE, shuffled(UNIQUE), None),
    "every line twice, shuffled": (TWICE, shuffled(TWICE), None),
    "few values, shuffled": (BLANKS, shuffled(BLANKS), None),
    "periodic against another period": (PERIODIC, lines_of(*(n % 11 for n in range(20_000))), None),
    "reversed": (UNIQUE, UNIQUE[::-1], None),
    "every line twice, 400 edits": (TWICE, edited(TWICE, 400), 400),
    "few values, 400 edits": (BLANKS, edited(BLANKS, 400), 400),
    "4,000 edits": (UNIQUE, edited(UNIQUE, 4_000), 4_000),
    "400 edits": (UNIQUE, edited(UNIQUE, 400), 400),
}


@each_row("name", HARD)
def test_hard_input_is_answered_by_bounded_work(name: str) -> None:
    old, new, expected = HARD[name]
    with bounded_work():
        blocks = changed_blocks(old, new)
    assert_well_formed(old, new, blocks)
    assert expected is None or len(blocks) == expected


def test_one_file_has_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[diff._ShortestEdit] = []

    class Counted(diff._ShortestEdit):
        def __init__(self, old: list[int], new: list[int], budget: int) -> None:
            super().__init__(old, new, budget)
            searches.append(self)

    monkeypatch.setattr(diff, "_ShortestEdit", Counted)
    monkeypatch.setattr(diff, "SEARCH_STEPS", 20_000)
    repeated = lines_of(*(n % 50 for n in range(500)))
    old = [line for n in range(10) for line in lines_of(f"anchor {n}") + repeated]
    new = [line for n in range(10) for line in lines_of(f"anchor {n}") + shuffled(repeated)]
    assert_well_formed(old, new, changed_blocks(old, new))
    assert len(searches) == 10
    assert 10_000 <= sum(search.steps for search in searches) < 25_000


def test_a_search_that_is_given_up_still_says_what_changed(monkeypatch):
    from workbench.changes import diff

    monkeypatch.setattr(diff, "MAX_EDITS", 0)
    search = diff._ShortestEdit([1, 2, 3], [4, 5], 10_000)
    assert search.runs() == []
