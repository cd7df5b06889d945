"""Which parts of the very long lines of a hunk are shown, and how many equal characters are left out.

A changed line is shortened only next to its counterpart; one that was added or removed whole is shown whole.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from workbench.text.long_lines import LONG_LINE, MIN_LEFT_OUT, PART_CONTEXT, changed_parts, left_out_lengths

_MIN_COUNTERPART: Final = LONG_LINE // 4
_MAX_COMPARED: Final = 8
"""Long lines of a block that are compared each with each; of more the first with the first."""
_MIN_EQUAL: Final = 0.4
"""Share of the shorter line that is left out at least where two lines are versions of one."""

_Range = tuple[int, int]


class ShortLine(Struct, frozen=True, kw_only=True):
    """A line of which not all is shown."""

    counterpart: int | None
    """The index of its other version in the hunk; None for a line that does not change."""
    shown: tuple[_Range, ...]
    """The characters that are shown."""
    changes: tuple[tuple[_Range, ...], ...]
    """The characters that differ, for each shown range."""
    left_out: tuple[int, ...]
    """How many characters are not shown before each range, and behind the last."""


def short_lines(lines: Sequence[tuple[str, str]]) -> Mapping[int, ShortLine]:
    """Return the lines of a hunk that are shown in part, by their index; the other lines are shown whole."""
    if not any(len(text) > LONG_LINE for _, text in lines):
        return {}
    short = {
        index: _equal_line(text, (0, PART_CONTEXT), None)
        for index, (sign, text) in enumerate(lines)
        if sign == " " and len(text) > LONG_LINE
    }
    for removed, added in _change_blocks(lines):
        for left, right in _line_pairs(lines, removed, added):
            short[left], short[right] = _both_sides(lines, left, right)
    return short


def left_out_text(count: int) -> str:
    """Return what is said in the place of characters that are not shown."""
    return f"… {count:,} unchanged character{'s' if count != 1 else ''} not shown"


def _equal_line(text: str, shown: _Range, counterpart: int | None) -> ShortLine:
    left_out = left_out_lengths(len(text), (shown,))
    return ShortLine(counterpart=counterpart, shown=(shown,), changes=((),), left_out=left_out)


def _both_sides(lines: Sequence[tuple[str, str]], left: int, right: int) -> tuple[ShortLine, ShortLine]:
    old, new = lines[left][1], lines[right][1]
    parts = changed_parts(old, new)
    if not parts:
        end = (len(old) - PART_CONTEXT, len(old))  # The line ends in another way.
        return _equal_line(old, end, right), _equal_line(new, end, left)
    sides = tuple(
        (tuple((part.shown[low], part.shown[low + 1]) for part in parts),
         tuple(tuple((change[low], change[low + 1]) for change in part.changes) for part in parts))
        for low in (0, 2)
    )  # fmt: skip
    (old_shown, old_changes), (new_shown, new_changes) = sides
    left_out = left_out_lengths(len(old), old_shown)
    return (
        ShortLine(counterpart=right, shown=old_shown, changes=old_changes, left_out=left_out),
        ShortLine(counterpart=left, shown=new_shown, changes=new_changes, left_out=left_out),
    )


def _change_blocks(lines: Sequence[tuple[str, str]]) -> Iterator[tuple[list[int], list[int]]]:
    removed: list[int] = []
    added: list[int] = []
    for index, (sign, _) in enumerate(lines):
        if sign == " " or (sign == "-" and added):
            yield removed, added
            removed, added = [], []
        if sign in "+-":
            (removed if sign == "-" else added).append(index)
    yield removed, added


def _line_pairs(
    lines: Sequence[tuple[str, str]], removed: Iterable[int], added: Iterable[int]
) -> Iterator[tuple[int, int]]:
    olds = [index for index in removed if len(lines[index][1]) >= _MIN_COUNTERPART]
    news = [index for index in added if len(lines[index][1]) >= _MIN_COUNTERPART]
    if max(len(olds), len(news)) > _MAX_COMPARED:
        yield from (pair for pair in zip(olds, news, strict=False) if _left_out(lines, *pair))
        return
    for old in olds:
        likes = [(_left_out(lines, old, new), -place) for place, new in enumerate(news)]
        most, place = max(likes, default=(0, 0))
        if most:
            yield old, news[-place]
            news = news[1 - place :]


def _left_out(lines: Sequence[tuple[str, str]], left: int, right: int) -> int:
    """Return how many characters of two lines need not be shown; 0 if they are not versions of one line."""
    old, new = lines[left][1], lines[right][1]
    if max(len(old), len(new)) <= LONG_LINE:
        return 0
    shown = tuple((part.shown.old_from, part.shown.old_to) for part in changed_parts(old, new))
    count = sum(left_out_lengths(len(old), shown))
    return count if count >= max(MIN_LEFT_OUT, _MIN_EQUAL * min(len(old), len(new))) else 0
