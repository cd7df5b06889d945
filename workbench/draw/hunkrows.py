"""One hunk laid out for a width: which line, or which part of a long one, stands on which row.

Owns line numbers, wrapping, pairing side by side, and the name of the place a hunk is in. Knows no colours.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Final, Literal

from workbench.domain.values import Hunk
from workbench.draw.changedwords import Marks, changed_words
from workbench.draw.syntax import Paint, Painter
from workbench.draw.wrapping import code_breaks, hanging
from workbench.records import dataclass
from workbench.text.safe import one_line, safe

Layout = Literal["unified", "split"]
Place = tuple[int, int, int]
"""Index of the left line, index of the right line (-1 for none), which part of them."""

TAB: Final = 4
NOTE: Final = "\\"
HEADING_CELLS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a hunk as it is shown."""

    sign: Literal[" ", "+", "-"]
    number: int
    """Old number of a removed line, new number of all others."""
    change: int | None
    """Its number among the changed lines of the hunk, from 1."""


class HunkRows:
    """The rows of one hunk below its head."""

    def __init__(self, hunk: Hunk, room: int, layout: Layout, context: int) -> None:
        """Lay a hunk out.

        Args:
            hunk: the hunk.
            room: cells for the text of a line.
            layout: one column or two.
            context: equal lines to keep around a change.
        """
        self.hunk = hunk
        self.room = room
        self.is_crlf = _is_crlf(hunk)
        self.lines = list(_numbered(hunk))
        self._texts: dict[int, str] = {}
        self._pieces: dict[int, list[tuple[int, int]]] = {}
        self._marks: dict[int, Marks] | None = None
        self._paints: dict[int, Sequence[Paint]] | None = None
        kept = _near_changes(hunk, context)
        self.places = list(self._split(kept) if layout == "split" else self._unified(kept))

    def text(self, index: int) -> str:
        """Return a line as it is drawn: tabs expanded, made safe."""
        found = self._texts.get(index)
        if found is None:
            raw = self.hunk.lines[index][1]
            found = safe(
                (raw.removesuffix("\r") if self.is_crlf else raw).expandtabs(TAB), keep_newlines=False
            )
            self._texts[index] = found
        return found

    def pieces(self, index: int) -> list[tuple[int, int]]:
        """Return where a line is broken into rows."""
        found = self._pieces.get(index)
        if found is None:
            text = self.text(index)
            found = self._pieces[index] = code_breaks(text, self.room, hanging(text, self.room))
        return found

    def hang(self, index: int, part: int) -> int:
        """Return how far a row of a broken line is indented."""
        return hanging(self.text(index), self.room) if part else 0

    def marks(self, index: int) -> Marks:
        """Return which words of a line changed."""
        if self._marks is None:
            self._marks = self._compare()
        return self._marks.get(index, ())

    def paints(self, painter: Painter, path: str, index: int) -> Sequence[Paint]:
        """Return the syntax colours of a line; both sides of the hunk are painted once, at first need."""
        if self._paints is None:
            self._paints = {}
            for signs in (" -", " +"):
                side = [at for at, (sign, _) in enumerate(self.hunk.lines) if sign in signs]
                painted = painter.lines(path, [self.text(at) for at in side])
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

    def _unified(self, kept: Sequence[int]) -> Iterator[Place]:
        for index in kept:
            for part in range(self._parts(index)):
                yield index, -1, part

    def _split(self, kept: Sequence[int]) -> Iterator[Place]:
        for removed, added, after in _runs(self.hunk, kept):
            for number in range(max(len(removed), len(added))):
                left = removed[number] if number < len(removed) else -1
                right = added[number] if number < len(added) else -1
                for part in range(max(self._parts(left), self._parts(right))):
                    yield left, right, part
            for index in after:
                is_note = self.hunk.lines[index][0] == NOTE
                for part in range(self._parts(index)):
                    yield index, -1 if is_note else index, part

    def _compare(self) -> dict[int, Marks]:
        found: dict[int, Marks] = {}
        for removed, added, _ in _runs(self.hunk, range(len(self.hunk.lines))):
            if removed and added:
                old, new = changed_words([self.text(n) for n in removed], [self.text(n) for n in added])
                found |= {removed[n]: marks for n, marks in old.items()}
                found |= {added[n]: marks for n, marks in new.items()}
        return found


def widened(hunks: Sequence[Hunk], base: Sequence[str], more: int) -> list[Hunk]:
    """Return the hunks of a file with more equal lines around them, never the same line twice.

    Args:
        hunks: of one file, in order.
        base: the lines of the file as it is now.
        more: lines to add at each side, as far as there are any.
    """
    if more <= 0 or not base:
        return list(hunks)
    found: list[Hunk] = []
    firsts = [_first(hunk.old_start, hunk.old_count) for hunk in hunks]
    shown = 0
    for hunk, first, limit in zip(hunks, firsts, [*firsts[1:], len(base)], strict=True):
        before = base[max(shown, first - more) : first]
        end = first + hunk.old_count
        after = base[end : min(end + more, limit)]
        shown = end + len(after)
        found.append(_with_lines(hunk, first, before, after))
    return found


def _first(start: int, count: int) -> int:
    """Return the index of a hunk's first line; a side without lines names the line before it."""
    return start - 1 if count else start


def _with_lines(hunk: Hunk, first: int, before: Sequence[str], after: Sequence[str]) -> Hunk:
    extra = len(before) + len(after)
    lines = (*((" ", text) for text in before), *hunk.lines, *((" ", text) for text in after))
    return replace(
        hunk, old_start=first + 1 - len(before), old_count=hunk.old_count + extra,
        new_start=_first(hunk.new_start, hunk.new_count) + 1 - len(before),
        new_count=hunk.new_count + extra, lines=lines,
    )  # fmt: skip


def _runs(hunk: Hunk, kept: Sequence[int]) -> Iterator[tuple[list[int], list[int], list[int]]]:
    """Yield runs of removed and added lines with the notes and equal lines behind them."""
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


def _numbered(hunk: Hunk) -> Iterator[Line]:
    old, new, change = max(1, hunk.old_start), max(1, hunk.new_start), 0
    for sign, _ in hunk.lines:
        match sign:
            case "-":
                change += 1
                yield Line(sign="-", number=old, change=change)
                old += 1
            case "+":
                change += 1
                yield Line(sign="+", number=new, change=change)
                new += 1
            case _:
                yield Line(sign=" ", number=new, change=None)
                if sign != NOTE:
                    old, new = old + 1, new + 1


def _near_changes(hunk: Hunk, context: int) -> list[int]:
    changed = [index for index, (sign, _) in enumerate(hunk.lines) if sign in "+-"]
    every = len(hunk.lines)
    if context >= 3 or not changed:
        return list(range(every))
    near = {at for index in changed for at in range(index - context, index + context + 1)}
    return [index for index in range(every) if index in near or hunk.lines[index][0] == NOTE]


def _is_crlf(hunk: Hunk) -> bool:
    return bool(hunk.lines) and all(text.endswith("\r") for sign, text in hunk.lines if sign != NOTE)


@cache
def _definition() -> re.Pattern[str]:
    words = "def|class|function|fn|func|interface|struct|enum|impl|trait|module|namespace|type"
    before = "export|default|pub|async|static|public|private|protected|abstract|final"
    return re.compile(rf"\s*(?:(?:{before})\s+)*(?:{words})\s+[\w$<].*|#{{1,6}} \S.*")


def heading(hunk: Hunk) -> str:
    """Return the place a hunk is in, as its leading lines name it: `def match`; empty if they do not."""
    found = ""
    for sign, text in hunk.lines:
        if sign in "+-":
            break
        if len(text) < 500 and _definition().fullmatch(text.rstrip("\r")):
            found = text
    name = found if found.startswith("#") else re.split(r"[(:{]", found, maxsplit=1)[0]
    return one_line(name.strip(), HEADING_CELLS)
