"""The rows of a very long line that is shown in part, the same number for its two versions.

A row is a piece of the text that is shown, the count of characters that are not, or empty where the other
version takes more rows.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate, chain, pairwise
from typing import Final

from msgspec import Struct

from workbench.render.cells import code_breaks, hanging_indent
from workbench.views.long_lines import ShortLine

Spans = Sequence[tuple[int, int]]
NO_PART: Final = -1


class LineRow(Struct, frozen=True, kw_only=True):
    """One row of a line."""

    start: int = 0
    end: int = 0
    """From where to where in the text that is shown of the line."""
    hang: int = 0
    is_start: bool = False
    """Whether sign and number of the line stand on it."""
    part: int = NO_PART
    """The shown part of the line that it belongs to, from 0."""
    left_out: int = 0
    """How many characters of the line are not shown here; the row says only that."""

    @property
    def is_empty(self) -> bool:
        """Return whether only the other version of the line has something on this row."""
        return not (self.is_start or self.left_out or self.end > self.start)


class ShortRows(Struct, frozen=True, kw_only=True):
    """A line that is shown in part."""

    line: ShortLine
    text: str
    """What is shown of it, part after part."""
    rows: Sequence[LineRow]
    starts: Sequence[int]
    """Where in the text each part begins."""
    changed: Sequence[Spans]
    """What differs in each part, as places in the text."""

    def part_text(self, part: int) -> str:
        """Return the text of one part."""
        ends = [*self.starts[1:], len(self.text)]
        return self.text[self.starts[part] : ends[part]]


def short_line_rows(
    versions: Sequence[tuple[str, ShortLine]], room: int, drawn: Callable[[str], str]
) -> list[ShortRows]:
    """Return the rows of the versions of a line, `room` cells wide; `drawn` makes its text safe to show."""
    pieces = [[drawn(raw[start:end]) for start, end in line.shown] for raw, line in versions]
    starts = [[0, *accumulate(map(len, texts))][: len(texts)] for texts in pieces]
    blocks = [
        [_part_rows(text, begins[part], part, room) for part, text in enumerate(texts)]
        for texts, begins in zip(pieces, starts, strict=True)
    ]
    return [
        ShortRows(
            line=line, text="".join(texts), rows=_aligned_rows(line, own, blocks), starts=begins,
            changed=_changed_spans(raw, line, begins, texts, drawn),
        )
        for (raw, line), texts, begins, own in zip(versions, pieces, starts, blocks, strict=True)
    ]  # fmt: skip


def _part_rows(text: str, begin: int, part: int, room: int) -> list[LineRow]:
    hang = hanging_indent(text, room)
    return [
        LineRow(
            start=begin + start, end=begin + end, hang=hang if number else 0, is_start=not number, part=part
        )
        for number, (start, end) in enumerate(code_breaks(text, room, hang))
    ]


def _aligned_rows(
    line: ShortLine, own: Sequence[Sequence[LineRow]], blocks: Sequence[Sequence[Sequence[LineRow]]]
) -> list[LineRow]:
    rows: list[LineRow] = []
    for part, count in enumerate(line.left_out):
        if count:
            rows.append(LineRow(left_out=count))
        if part < len(own):
            height = max(len(version[part]) for version in blocks)
            rows += [*own[part], *([LineRow(part=part)] * (height - len(own[part])))]
    return rows


def _changed_spans(
    raw: str, line: ShortLine, begins: Sequence[int], texts: Sequence[str], drawn: Callable[[str], str]
) -> list[Spans]:
    spans: list[Spans] = []
    for shown, changes, begin, text in zip(line.shown, line.changes, begins, texts, strict=True):
        places = [shown[0], *chain.from_iterable(changes)]
        if text != raw[shown[0] : shown[1]]:
            lengths = (len(drawn(raw[low:high])) for low, high in pairwise(places))
            places = [0, *accumulate(lengths)]
        else:
            places = [place - shown[0] for place in places]
        limits = [begin + min(place, len(text)) for place in places[1:]]
        spans.append(list(zip(limits[::2], limits[1::2], strict=True)))
    return spans


def unified_order(old: ShortRows, new: ShortRows) -> list[tuple[bool, int]]:
    """Return the rows of both versions in the order in which one reads them, as (is new, row).

    Each part as it is, then as it will be; what is not shown is counted once.
    """
    order: list[tuple[bool, int]] = []
    block: tuple[list[int], list[int]] = ([], [])
    for number, (before, after) in enumerate(zip(old.rows, new.rows, strict=True)):
        if before.left_out:
            order += [*((False, row) for row in block[0]), *((True, row) for row in block[1])]
            order.append((False, number))
            block = ([], [])
            continue
        for rows, row in zip(block, (before, after), strict=True):
            if not row.is_empty:
                rows.append(number)
    return [*order, *((False, row) for row in block[0]), *((True, row) for row in block[1])]
