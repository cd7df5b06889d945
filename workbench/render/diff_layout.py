"""One hunk laid out for a width: which line stands on which row, and which words of it changed.

Lines that have little in common are no pair: marking nearly all of a line says nothing.
"""

# Hunks keep their numbers when more of the file is shown. Wider context adds equal lines to what is drawn,
# taken from the sealed base, and never merges hunks: `--hunks 1,3`, the screen and the agent go on meaning
# the same.

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.values import Hunk
from workbench.render.cells import code_breaks, hanging_indent
from workbench.render.syntax import SyntaxHighlighter, SyntaxSpan
from workbench.text.safe import one_line, safe_text

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

    def __init__(self, hunk: Hunk, room: int, layout: DiffLayout, context: int) -> None:
        """Lay a hunk out with `room` cells for the text and `context` equal lines around a change."""
        self.hunk = hunk
        self.room = room
        self.is_crlf = _is_crlf(hunk)
        self.lines = list(_hunk_lines(hunk))
        self._texts: dict[int, str] = {}
        self._pieces: dict[int, list[tuple[int, int]]] = {}
        self._marks: dict[int, ChangedSpans] | None = None
        self._paints: dict[int, Sequence[SyntaxSpan]] | None = None
        self._numbers: tuple[tuple[Collection[int], int], Sequence[LineNumbers]] | None = None
        kept = _lines_near_changes(hunk, context)
        self.places = list(self._split(kept) if layout == "split" else self._unified(kept))

    def text(self, index: int) -> str:
        """Return a line as it is drawn: tabs expanded, made safe."""
        known = self._texts.get(index)
        if known is None:
            raw = self.hunk.lines[index][1]
            known = safe_text(
                (raw.removesuffix("\r") if self.is_crlf else raw).expandtabs(TAB_CELLS), keep_newlines=False
            )
            self._texts[index] = known
        return known

    def pieces(self, index: int) -> list[tuple[int, int]]:
        known = self._pieces.get(index)
        if known is None:
            text = self.text(index)
            known = self._pieces[index] = code_breaks(text, self.room, hanging_indent(text, self.room))
        return known

    def hang(self, index: int, part: int) -> int:
        return hanging_indent(self.text(index), self.room) if part else 0

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
            if any(index >= 0 and self.lines[index].change == change for index in (left, right)):
                return row + 1
        return 0

    def _parts(self, index: int) -> int:
        if index < 0:
            return 1
        raw = self.hunk.lines[index][1]
        if len(raw) <= self.room and raw.isascii() and raw.isprintable():
            return 1
        return len(self.pieces(index))

    def _unified(self, kept: Sequence[int]) -> Iterator[RowLines]:
        for index in kept:
            for part in range(self._parts(index)):
                yield index, -1, part

    def _split(self, kept: Sequence[int]) -> Iterator[RowLines]:
        for removed, added, after in _change_runs(self.hunk, kept):
            for number in range(max(len(removed), len(added))):
                left = removed[number] if number < len(removed) else -1
                right = added[number] if number < len(added) else -1
                for part in range(max(self._parts(left), self._parts(right))):
                    yield left, right, part
            for index in after:
                is_note = self.hunk.lines[index][0] == NOTE_SIGN
                for part in range(self._parts(index)):
                    yield index, -1 if is_note else index, part

    def _compare(self) -> dict[int, ChangedSpans]:
        spans: dict[int, ChangedSpans] = {}
        for removed, added, _ in _change_runs(self.hunk, range(len(self.hunk.lines))):
            if removed and added:
                old, new = changed_word_spans([self.text(n) for n in removed], [self.text(n) for n in added])
                spans |= {removed[n]: marks for n, marks in old.items()}
                spans |= {added[n]: marks for n, marks in new.items()}
        return spans


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
