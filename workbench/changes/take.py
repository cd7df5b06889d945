r"""Take a part of a change: exact bytes from the bytes of both sides, never from the text of hunks.

Laws: every hunk taken = after, none = before; neither the order of a selection nor repetition matters;
every line of a hunk taken = the hunk taken.

Order: in each changed block the removed lines that were left stay first, then follow the added lines that
were taken, as shown. A line without a line end that comes to stand before another line gets the file's
line end (`lines.line_end` of before, else of after), so that no two lines are ever glued together; no line
end is ever taken away.
"""

from collections.abc import Mapping, Sequence
from itertools import count

from workbench.changes.lines import ended, line_end, split_lines
from workbench.changes.matching import Block, changed_blocks
from workbench.changes.model import FileChange
from workbench.domain.values import Hunk, Taken

Picked = Mapping[int, frozenset[int]]
"""Hunk number -> the numbers of its changed lines that are taken."""


def take(change: FileChange, hunks: Sequence[Hunk], selection: Sequence[Taken] | None) -> bytes | None:
    """Return the bytes of a file after the selected part of its change; None = there is no file.

    A file that has no hunks (binary, empty) is taken whole by None and not at all by any selection.

    Args:
        change: one file of an action.
        hunks: the hunks of the whole action, as `hunks.hunks` made them.
        selection: what is taken; None takes all.

    Raises:
        ValueError: the selection names a hunk or a line that is not there, or a part is to be taken of hunks
            that were not made from these bytes.
    """
    if selection is None:
        return change.after
    picked = picked_lines(hunks, selection)
    own = sorted((hunk for hunk in hunks if hunk.path == change.path), key=lambda hunk: hunk.index)
    if not any(picked[hunk.index] for hunk in own):
        return change.before
    if all(len(picked[hunk.index]) == changed_line_count(hunk) for hunk in own):
        return change.after
    return _rebuilt(change, own, picked)


def picked_lines(hunks: Sequence[Hunk], selection: Sequence[Taken]) -> Picked:
    """Return for every hunk the set of its changed lines that a selection takes.

    Raises:
        ValueError: names the hunk or line number that is not there.
    """
    sizes = {hunk.index: changed_line_count(hunk) for hunk in hunks}
    picked: dict[int, set[int]] = {index: set() for index in sizes}
    for taken in selection:
        if taken.hunk not in sizes:
            raise ValueError(f"there is no hunk {taken.hunk}: this action has {_extent(len(sizes), 'hunk')}")
        size = sizes[taken.hunk]
        lines = range(1, size + 1) if taken.lines is None else taken.lines
        unknown = [line for line in lines if not 1 <= line <= size]
        if unknown:
            raise ValueError(
                f"there is no line {unknown[0]} in hunk {taken.hunk}: it has {_extent(size, 'changed line')}"
            )
        picked[taken.hunk].update(lines)
    return {index: frozenset(lines) for index, lines in picked.items()}


def changed_line_count(hunk: Hunk) -> int:
    """Return how many lines a selection can name in a hunk: its `-` and `+` lines."""
    return sum(sign in "-+" for sign, _ in hunk.lines)


def _extent(count: int, noun: str) -> str:
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"


def _rebuilt(change: FileChange, own: Sequence[Hunk], picked: Picked) -> bytes:
    old, new = split_lines(change.before), split_lines(change.after)
    kept: list[bytes] = []
    position = 0
    for hunk, group in zip(own, _by_hunk(change.path, own, changed_blocks(old, new)), strict=True):
        numbers = count(1)
        for block in group:
            kept += old[position : block.old_from]
            removed, added = old[block.old_from : block.old_to], new[block.new_from : block.new_to]
            kept += [line for line in removed if next(numbers) not in picked[hunk.index]]
            kept += [line for line in added if next(numbers) in picked[hunk.index]]
            position = block.old_to
    kept += old[position:]
    end = line_end(change.before, change.after)
    return b"".join([*(ended(line, end) for line in kept[:-1]), *kept[-1:]])


def _by_hunk(path: str, own: Sequence[Hunk], blocks: Sequence[Block]) -> list[list[Block]]:
    """Return the changed blocks of each hunk; refuses hunks that were made from other bytes."""
    groups: list[list[Block]] = []
    rest = list(reversed(blocks))
    for hunk in own:
        end = hunk.old_start + hunk.old_count - (1 if hunk.old_count else 0)
        group: list[Block] = []
        while rest and rest[-1].old_to <= end:
            group.append(rest.pop())
        groups.append(group)
        if _signs(hunk, group) != [sign for sign, _ in hunk.lines if sign != "\\"]:
            raise ValueError(f"hunk {hunk.index} was not made from these bytes of {path}")
    if rest:
        raise ValueError(f"the hunks of {path} are not complete")
    return groups


def _signs(hunk: Hunk, group: Sequence[Block]) -> list[str]:
    position = hunk.old_start - (1 if hunk.old_count else 0)
    start, signs = position, ""
    for block in group:
        signs += " " * (block.old_from - position)
        signs += "-" * (block.old_to - block.old_from) + "+" * (block.new_to - block.new_from)
        position = block.old_to
    return list(signs + " " * (start + hunk.old_count - position))
