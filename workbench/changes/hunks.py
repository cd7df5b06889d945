r"""Hunks: what a person is shown of a change, and what a selection counts.

Owns numbering, context, the signs, and how bytes become text. The text in a hunk is for people only (it may
be scrubbed or Latin-1): nothing may rebuild a file from it, see `take`.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from workbench.changes.lines import split_lines
from workbench.changes.matching import Block, changed_blocks
from workbench.changes.model import FileChange, refuse_repeated
from workbench.domain.values import Hunk

BINARY_HEAD: Final = 8 * 1024
"""Bytes from the start of a file that tell whether it is binary."""

_CONTROLS: Final = bytes({*range(0x20), 0x7F} - set(b"\t\n\f\r\x1b"))


def hunks(changes: Sequence[FileChange], context: int = 3) -> tuple[Hunk, ...]:
    """Return the hunks of all files, numbered through from 1.

    Binary files, and files whose lines do not differ (empty new files, mode changes), have none.

    Args:
        changes: the files of one action, each path once.
        context: equal lines shown around a change; hunks whose context would touch are one.
    """
    refuse_repeated(change.path for change in changes)
    found: list[Hunk] = []
    for change in changes:
        found.extend(_file_hunks(change, context, len(found) + 1))
    return tuple(found)


def counts(hunks: Sequence[Hunk]) -> tuple[int, int]:
    """Return how many lines the hunks add and remove."""
    signs = [sign for hunk in hunks for sign, _ in hunk.lines]
    return signs.count("+"), signs.count("-")


def is_binary(data: bytes | None) -> bool:
    """Tell whether bytes are no text: NUL in the first 8 KB, or no UTF-8 and over 5 % control bytes there."""
    if not data:
        return False
    head = data[:BINARY_HEAD]
    if 0 in head:
        return True
    if _is_utf8(data):
        return False
    return (len(head) - len(head.translate(None, _CONTROLS))) * 20 > len(head)


def decode(data: bytes) -> tuple[str, bool]:
    """Return the text of bytes and whether they had to be read as Latin-1, being no UTF-8."""
    if _is_utf8(data):
        return data.decode("utf-8"), False
    return data.decode("latin-1"), True


def is_latin1(change: FileChange) -> bool:
    """Tell whether both sides of a change are shown as Latin-1, because one of them is no UTF-8.

    One alphabet for both sides: otherwise a change of encoding alone would look like equal lines.
    """
    return not (_is_utf8(change.before or b"") and _is_utf8(change.after or b""))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _file_hunks(change: FileChange, context: int, first: int) -> Iterator[Hunk]:
    if is_binary(change.before) or is_binary(change.after):
        return
    old, new = split_lines(change.before), split_lines(change.after)
    encoding = "latin-1" if is_latin1(change) else "utf-8"
    for index, group in enumerate(_grouped(changed_blocks(old, new), context), first):
        before, after = min(context, group[0].old_from), min(context, len(old) - group[-1].old_to)
        old_from, old_to = group[0].old_from - before, group[-1].old_to + after
        new_from, new_to = group[0].new_from - before, group[-1].new_to + after
        yield Hunk(
            index=index,
            path=change.path,
            old_start=_start(old_from, old_to),
            old_count=old_to - old_from,
            new_start=_start(new_from, new_to),
            new_count=new_to - new_from,
            lines=tuple(_shown(_signed(old, new, group, old_from, old_to), encoding)),
        )


def _grouped(blocks: list[Block], context: int) -> list[list[Block]]:
    groups: list[list[Block]] = []
    for block in blocks:
        if groups and block.old_from - groups[-1][-1].old_to <= 2 * context:
            groups[-1].append(block)
        else:
            groups.append([block])
    return groups


def _start(first: int, end: int) -> int:
    """Return the line number of a unified diff: an empty range is named by the line before it."""
    return first + 1 if end > first else first


def _signed(
    old: list[bytes], new: list[bytes], group: list[Block], first: int, end: int
) -> Iterator[tuple[str, bytes]]:
    position = first
    for block in group:
        yield from ((" ", line) for line in old[position : block.old_from])
        yield from (("-", line) for line in old[block.old_from : block.old_to])
        yield from (("+", line) for line in new[block.new_from : block.new_to])
        position = block.old_to
    yield from ((" ", line) for line in old[position:end])


def _shown(signed: Iterator[tuple[str, bytes]], encoding: str) -> Iterator[tuple[str, str]]:
    for sign, line in signed:
        yield sign, line.removesuffix(b"\n").decode(encoding)
        if not line.endswith(b"\n"):
            yield "\\", ""
