"""One hunk laid out for a width: which line stands on which row, and which words of it changed.

Lines that have little in common are not paired: marking nearly all of a line says nothing. A very long line
is shown as its changed parts; the unified layout shows each part before and after the change.
"""

# Hunks keep their numbers when more of the file is shown. Wider context adds equal lines to what is drawn,
# taken from the sealed base, and never merges hunks: `--hunks 1,3`, the screen and the agent go on meaning
# the same.

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import zip_longest
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.values import Hunk
from workbench.render.cells import code_breaks, hanging_indent
from workbench.render.long_line_rows import LineRow, ShortRows, short_line_rows, unified_order
from workbench.render.syntax import SyntaxHighlighter, SyntaxSpan
from workbench.text.safe import one_line, safe_text
from workbench.views.long_lines import short_lines

DiffLayout = Literal["unified", "split"]
RowLines = tuple[int, int, int]
"""Index of the left line, index of the right line (-1 for none), which part of them."""
TAB_CELLS: Final = 4
NOTE_SIGN: Final = "\\"
MAX_HEADING_CELLS: Final = 60


class HunkLine(Struct, frozen=True, kw_only=True):
    """One line of a hunk as it is shown."""

    sign: Literal[" ", "+", "-"]
    change: int | None
    """Its number among the changed lines of the hunk, from 1."""


LineNumbers = tuple[int | None, int | None]
"""Of a line in the file as it is now and as it will be; None where it is not in that file."""
ChangedSpans = Sequence[tuple[int, int]]


class HunkLayout:
    """The rows of one hunk below its head."""

    def __init__(
        self, hunk: Hunk, room: int, layout: DiffLayout, context: int, left: Collection[int] = ()
    ) -> None:
        """Lay a hunk out.

        Args:
            hunk: the hunk.
            room: cells for the text of a line.
            layout: unified or split.
            context: equal lines around a change.
            left: the changed lines that are not taken. A long line of which one version is taken and the
                other is not is added or removed as a whole, and shown so.
        """
        self.hunk = hunk
        self.room = room
        self.is_crlf = _is_crlf(hunk)
        self.lines = list(_hunk_lines(hunk))
        self._texts: dict[int, str] = {}
        self._pieces: dict[int, list[tuple[int, int]]] = {}
        self._marks: dict[int, ChangedSpans] | None = None
        self._paints: dict[int, Sequence[SyntaxSpan]] | None = None
        self._numbers: tuple[tuple[Collection[int], int], Sequence[LineNumbers]] | None = None
        self._stops: Sequence[range] | None = None
        self.whole_lines: frozenset[int] = frozenset()
        """Changed lines that are shown whole because their other version is taken or left out alone."""
        self._short = self._shortened(left)
        kept = _lines_near_changes(hunk, context)
        self.places = list(self._split(kept) if layout == "split" else self._unified(kept))

    def text(self, index: int) -> str:
        """Return what is shown of a line as it is drawn: tabs expanded, made safe."""
        if index in self._short:
            return self._short[index].text
        known = self._texts.get(index)
        if known is None:
            known = self._texts[index] = _drawn_text(self._raw(index))
        return known

    def line_row(self, index: int, number: int) -> LineRow | None:
        """Return one row of a line; None where the other side takes more rows than it has."""
        if index in self._short:
            return self._short[index].rows[number]
        pieces = self._line_pieces(index)
        if number >= len(pieces):
            return None
        start, end = pieces[number]
        hang = hanging_indent(self.text(index), self.room) if number else 0
        return LineRow(start=start, end=end, hang=hang, is_start=not number)

    def left_out(self, row: int) -> int:
        """Return how many characters a row below the head leaves out; 0 if it shows its line."""
        index, _, number = self.places[row]
        short = self._short.get(index)
        return short.rows[number].left_out if short else 0

    def searched_text(self, index: int, number: int) -> str:
        """Return the text that begins on a row of a line: the line, or a part of it that is shown."""
        if index not in self._short:
            return self.text(index) if not number else ""
        row = self._short[index].rows[number]
        return self._short[index].part_text(row.part) if row.is_start else ""

    @property
    def stops(self) -> Sequence[range]:
        """Return the rows below the head of each changed part of its long lines, and of what is between.

        One without such lines has one.
        """
        if self._stops is None:
            self._stops = list(self._changed_stops()) or [range(len(self.places))]
        return self._stops

    def stop_at(self, row: int) -> int | None:
        """Return which of the stops a row below the head belongs to, from 0."""
        number = bisect_right(self.stops, row, key=lambda rows: rows.start) - 1
        return number if number >= 0 and row in self.stops[number] else None

    def _changed_stops(self) -> Iterator[range]:
        if not any(self._short[index].changed and self.lines[index].change for index in self._short):
            return
        first, last = 0, None
        for row in range(len(self.places) + 1):
            key = self._stop_key(row) if row < len(self.places) else None
            if key != last:
                if last is not None:
                    yield range(first, row)
                first, last = row, key

    def _stop_key(self, row: int) -> tuple[int, int] | None:
        """Return what the rows of one stop have in common; None for rows that change nothing."""
        left, right, number = self.places[row]
        changed = [index for index in (left, right) if index >= 0 and self.lines[index].change is not None]
        if not changed:
            return None
        short = self._short.get(changed[0])
        if short is None or short.line.counterpart is None:
            return -1, -1
        pair = min(changed[0], short.line.counterpart)
        return None if short.rows[number].left_out else (pair, short.rows[number].part)

    def _raw(self, index: int) -> str:
        text = self.hunk.lines[index][1]
        return text.removesuffix("\r") if self.is_crlf else text

    @property
    def has_long_pairs(self) -> bool:
        """Return whether what is taken decides how much is shown."""
        return bool(self.whole_lines) or any(row.line.counterpart is not None for row in self._short.values())

    def _shortened(self, left: Collection[int]) -> Mapping[int, ShortRows]:
        lines = self.hunk.lines
        if self.is_crlf:
            lines = [(sign, text.removesuffix("\r")) for sign, text in lines]
        found, short = short_lines(lines), dict[int, ShortRows]()
        for index, line in found.items():
            other = line.counterpart
            change, other_change = (self.lines[n].change for n in (index, index if other is None else other))
            if (change in left) != (other_change in left):
                self.whole_lines |= {number for number in (change, other_change) if number is not None}
            elif other is None:
                short[index] = short_line_rows([(lines[index][1], line)], self.room, _drawn_text)[0]
            elif index not in short:
                versions = [(lines[index][1], line), (lines[other][1], found[other])]
                short[index], short[other] = short_line_rows(versions, self.room, _drawn_text)
        return short

    def _line_pieces(self, index: int) -> list[tuple[int, int]]:
        known = self._pieces.get(index)
        if known is None:
            text = self.text(index)
            known = self._pieces[index] = code_breaks(text, self.room, hanging_indent(text, self.room))
        return known

    def numbers(self, left: Collection[int], shift: int) -> Sequence[LineNumbers]:
        """Return the numbers of all lines, where the changed lines `left` are not taken.

        `shift` is by how many lines what was left out of the hunks before moves this one.
        """
        if self._numbers is None or self._numbers[0] != (left, shift):
            self._numbers = (left, shift), list(_line_numbers(self.hunk, left, shift))
        return self._numbers[1]

    def marks(self, index: int) -> ChangedSpans:
        if self._marks is None:
            self._marks = self._compare()
        return self._marks.get(index, ())

    def paints(self, painter: SyntaxHighlighter, path: str, index: int) -> Sequence[SyntaxSpan]:
        """Return the syntax colours of a line; both sides are painted once, at first need."""
        if self._paints is None:
            self._paints = {}
            for signs in (" -", " +"):
                side = [line_index for line_index, (sign, _) in enumerate(self.hunk.lines) if sign in signs]
                painted = painter.lines(path, [self.text(line_index) for line_index in side])
                self._paints.update(zip(side, painted, strict=False))
        return self._paints.get(index, ())

    def top(self, change: int) -> int:
        """Return the row of a changed line below the head, which is 0; 0 if it is not there."""
        for row, (left, right, _) in enumerate(self.places):
            is_here = any(index >= 0 and self.lines[index].change == change for index in (left, right))
            if is_here and not self.left_out(row):
                return row + 1
        return 0

    def _parts(self, index: int) -> int:
        if index < 0:
            return 1
        if index in self._short:
            return len(self._short[index].rows)
        raw = self.hunk.lines[index][1]
        if len(raw) <= self.room and raw.isascii() and raw.isprintable():
            return 1
        return len(self._line_pieces(index))

    def _unified(self, kept: Sequence[int]) -> Iterator[RowLines]:
        for removed, added, after in _change_runs(self.hunk, kept):
            notes = [index for index in after if self.hunk.lines[index][0] == NOTE_SIGN]
            has_pair = any(index in self._short for index in removed)
            if has_pair and len(notes) != 1:
                # Neither version ends with the file, or both do, which is said once.
                yield from self._one_below_the_other(removed, added)
                after = [index for index in after if index not in notes[:-1]]
            else:
                after = sorted((*removed, *added, *after))
            for index in after:
                yield from self._line_alone(index)

    def _line_alone(self, index: int) -> Iterator[RowLines]:
        rows = self._short[index].rows if index in self._short else ()
        empty = {number for number, row in enumerate(rows) if row.is_empty}
        yield from ((index, -1, part) for part in range(self._parts(index)) if part not in empty)

    def _one_below_the_other(self, removed: Sequence[int], added: Sequence[int]) -> Iterator[RowLines]:
        """Return removed lines, then added ones, but of both versions of a long line part by part."""
        for olds, news in self._blocks(removed, added):
            old, new = (self._short.get(side[0]) if side else None for side in (olds, news))
            if old is not None and new is not None:
                for is_new, row in unified_order(old, new):
                    yield news[0] if is_new else olds[0], -1, row
            else:
                for index in (*olds, *news):
                    yield from self._line_alone(index)

    def _blocks(
        self, removed: Sequence[int], added: Sequence[int]
    ) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
        """Cut a change where versions of a long line face each other, which are a block of their own."""
        first = second = 0
        for place, index in enumerate(removed):
            if index in self._short and (other := self._short[index].line.counterpart) is not None:
                partner = added.index(other)
                yield removed[first:place], added[second:partner]
                yield [index], [other]
                first, second = place + 1, partner + 1
        yield removed[first:], added[second:]

    def _split(self, kept: Sequence[int]) -> Iterator[RowLines]:
        for removed, added, after in _change_runs(self.hunk, kept):
            for block in self._blocks(removed, added):
                for left, right in zip_longest(*block, fillvalue=-1):
                    for part in range(max(self._parts(left), self._parts(right))):
                        yield left, right, part
            for index in after:
                is_note = self.hunk.lines[index][0] == NOTE_SIGN
                for part in range(self._parts(index)):
                    yield index, -1 if is_note else index, part

    def _compare(self) -> dict[int, ChangedSpans]:
        spans: dict[int, ChangedSpans] = {}
        for index, short in self._short.items():
            spans[index] = [span for part in short.changed for span in part]
        for *run, _ in _change_runs(self.hunk, range(len(self.hunk.lines))):
            removed, added = ([index for index in side if index not in self._short] for side in run)
            if removed and added:
                old, new = changed_word_spans([self.text(n) for n in removed], [self.text(n) for n in added])
                spans |= {removed[n]: marks for n, marks in old.items()}
                spans |= {added[n]: marks for n, marks in new.items()}
        return spans


def _drawn_text(text: str) -> str:
    return safe_text(text.expandtabs(TAB_CELLS), keep_newlines=False)


def widened_hunks(hunks: Sequence[Hunk], base: Sequence[str], more: int) -> list[Hunk]:
    """Return the hunks of a file with more equal lines around them, never the same line twice."""
    if more <= 0 or not base:
        return list(hunks)
    widened: list[Hunk] = []
    firsts = [_first_index(hunk.old_start, hunk.old_count) for hunk in hunks]
    shown = 0
    for hunk, first, limit in zip(hunks, firsts, [*firsts[1:], len(base)], strict=True):
        before = base[max(shown, first - more) : first]
        end = first + hunk.old_count
        after = base[end : min(end + more, limit)]
        shown = end + len(after)
        widened.append(_with_context(hunk, first, before, after))
    return widened


def _first_index(start: int, count: int) -> int:
    """Return the index of a hunk's first line; a side without lines names the line before it."""
    return start - 1 if count else start


def _with_context(hunk: Hunk, first: int, before: Sequence[str], after: Sequence[str]) -> Hunk:
    extra = len(before) + len(after)
    lines = (*((" ", text) for text in before), *hunk.lines, *((" ", text) for text in after))
    return replace(
        hunk, old_start=first + 1 - len(before), old_count=hunk.old_count + extra,
        new_start=_first_index(hunk.new_start, hunk.new_count) + 1 - len(before),
        new_count=hunk.new_count + extra, lines=lines,
    )  # fmt: skip


def _change_runs(hunk: Hunk, kept: Sequence[int]) -> Iterator[tuple[list[int], list[int], list[int]]]:
    removed: list[int] = []
    added: list[int] = []
    after: list[int] = []
    for index in kept:
        sign = hunk.lines[index][0]
        is_equal_behind = any(hunk.lines[n][0] == " " for n in after)
        if sign in "+-" and (is_equal_behind or (sign == "-" and added)):
            yield removed, added, after
            removed, added, after = [], [], []
        {"-": removed, "+": added}.get(sign, after).append(index)
    yield removed, added, after


def _hunk_lines(hunk: Hunk) -> Iterator[HunkLine]:
    change = 0
    for sign, _ in hunk.lines:
        change += sign in "+-"
        match sign:
            case "-" | "+":
                yield HunkLine(sign=sign, change=change)
            case _:
                yield HunkLine(sign=" ", change=None)


# The numbers of the new side are those that somebody finds who opens the file after the approval: what is
# left out does not move the lines below it. So an added line that is left out has no number, and a removed
# one that is left out has two, as it stays.


def _line_numbers(hunk: Hunk, left: Collection[int], shift: int) -> Iterator[LineNumbers]:
    old = _first_index(hunk.old_start, hunk.old_count) + 1
    new = _first_index(hunk.new_start, hunk.new_count) + 1 + shift
    change = 0
    for sign, _ in hunk.lines:
        change += sign in "+-"
        is_left = sign in "+-" and change in left
        is_old = sign in " -"
        is_new = sign == " " or (sign == "+" and not is_left) or (sign == "-" and is_left)
        yield old if is_old else None, new if is_new else None
        old, new = old + is_old, new + is_new


def left_out_shift(hunk: Hunk, left: Collection[int]) -> int:
    """Return by how many lines everything below moves when some changed lines of a hunk are not taken."""
    signs = [sign for sign, _ in hunk.lines if sign in "+-"] if left else []
    return sum(1 if signs[change - 1] == "-" else -1 for change in left if change <= len(signs))


def hunk_range(hunk: Hunk, left: Collection[int], shift: int) -> str:
    """Return where a hunk is: `@@ 10,6 → 10,7`, as `left` of its changed lines are not taken."""
    count = hunk.new_count + left_out_shift(hunk, left)
    first = _first_index(hunk.new_start, hunk.new_count) + shift
    return f"@@ {hunk.old_start},{hunk.old_count} → {first + 1 if count else first},{count}"


def _lines_near_changes(hunk: Hunk, context: int) -> list[int]:
    changed = [index for index, (sign, _) in enumerate(hunk.lines) if sign in "+-"]
    every = len(hunk.lines)
    if context >= 3 or not changed:
        return list(range(every))
    near = {neighbour for index in changed for neighbour in range(index - context, index + context + 1)}
    return [index for index in range(every) if index in near or hunk.lines[index][0] == NOTE_SIGN]


def _is_crlf(hunk: Hunk) -> bool:
    return bool(hunk.lines) and all(text.endswith("\r") for sign, text in hunk.lines if sign != NOTE_SIGN)


@cache
def _definition_pattern() -> re.Pattern[str]:
    words = "def|class|function|fn|func|interface|struct|enum|impl|trait|module|namespace|type"
    before = "export|default|pub|async|static|public|private|protected|abstract|final"
    return re.compile(rf"\s*(?:(?:{before})\s+)*(?:{words})\s+[\w$<].*|#{{1,6}} \S.*")


def hunk_heading(hunk: Hunk) -> str:
    """Return the place a hunk is in, as its leading lines name it: `def match`; empty if they do not."""
    heading = ""
    for sign, text in hunk.lines:
        if sign in "+-":
            break
        if len(text) < 500 and _definition_pattern().fullmatch(text.rstrip("\r")):
            heading = text
    name = heading if heading.startswith("#") else re.split(r"[(:{]", heading, maxsplit=1)[0]
    return one_line(name.strip(), MAX_HEADING_CELLS)


MIN_SIMILARITY: Final = 0.4
MAX_COMPARED_CHARS: Final = 500
MAX_PAIRED_LINES: Final = 40
"""Lines of a block that are compared each with each; of longer ones the first with the first."""


def changed_word_spans(
    removed: Sequence[str], added: Sequence[str]
) -> tuple[Mapping[int, ChangedSpans], Mapping[int, ChangedSpans]]:
    """Return the marks of removed and of added lines, by their place in the block."""
    old: dict[int, ChangedSpans] = {}
    new: dict[int, ChangedSpans] = {}
    for left, right in _line_pairs(removed, added):
        old[left], new[right] = _compare_words(removed[left], added[right])
    return old, new


def _line_pairs(removed: Sequence[str], added: Sequence[str]) -> list[tuple[int, int]]:
    if len(removed) > MAX_PAIRED_LINES or len(added) > MAX_PAIRED_LINES:
        both = range(min(len(removed), len(added)))
        return [(n, n) for n in both if similarity(removed[n], added[n]) >= MIN_SIMILARITY]
    pairs: list[tuple[int, int]] = []
    first = 0
    for left, text in enumerate(removed):
        likes = [(similarity(text, added[right]), -right) for right in range(first, len(added))]
        best, right = max(likes, default=(0.0, 0))
        if best >= MIN_SIMILARITY:
            pairs.append((left, -right))
            first = 1 - right
    return pairs


@cache
def _word_pattern() -> re.Pattern[str]:
    return re.compile(r"\w+|\s+|.", re.DOTALL)


def split_words(text: str) -> list[str]:
    """Return a line as words, runs of blanks and single other characters."""
    return _word_pattern().findall(text)


def similarity(first: str, second: str) -> float:
    """Return how much two lines have in common, 0 to 1, blanks at their beginnings apart."""
    first, second = first.strip(), second.strip()
    if not first or not second or max(len(first), len(second)) > MAX_COMPARED_CHARS:
        return 0.0
    if first == second:
        return 1.0
    before = split_words(first)
    blocks = SequenceMatcher(None, before, split_words(second), autojunk=False).get_matching_blocks()
    same = sum(len("".join(before[block.a : block.a + block.size])) for block in blocks)
    return 2 * same / (len(first) + len(second))


def _compare_words(old: str, new: str) -> tuple[ChangedSpans, ChangedSpans]:
    before, after = split_words(old), split_words(new)
    left: list[tuple[int, int]] = []
    right: list[tuple[int, int]] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    ends_old, ends_new = _word_ends(before), _word_ends(after)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            _add_span(left, ends_old[i1], ends_old[i2])
            _add_span(right, ends_new[j1], ends_new[j2])
    return left, right


def _word_ends(parts: Sequence[str]) -> list[int]:
    ends = [0]
    for part in parts:
        ends.append(ends[-1] + len(part))
    return ends


def _add_span(marks: list[tuple[int, int]], start: int, end: int) -> None:
    if start == end:
        return
    if marks and marks[-1][1] == start:
        marks[-1] = (marks[-1][0], end)
    else:
        marks.append((start, end))
