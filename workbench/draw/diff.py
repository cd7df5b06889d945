"""Diffs as rows: hunk heads, lines, notes; unified or side by side; each made only when it is looked at.

Owns which row of a diff is what, and finding in it; how a row looks is `draw.diffrow`. Long lines are
wrapped, never cut: what is approved can be read.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal

from textual.strip import Strip

from workbench.draw import diffrow
from workbench.draw.diffrow import DiffRow, Geometry, Look, RowKind, Side, heads_strip
from workbench.draw.glyphs import Glyphs
from workbench.draw.hunkrows import NOTE, HunkRows, Layout, widened
from workbench.draw.tokens import Ink
from workbench.records import dataclass
from workbench.views.detail import FileDetail

HELD = 3
"""Equal lines that hunks hold around a change."""

__all__ = ["Diff", "DiffRow", "Layout", "Look", "RowKind", "Side", "heads_strip"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A stretch of rows: one head (a file's or a hunk's) and what stands below it."""

    kind: Literal["file", "hunk", "note"]
    file: int
    rows: HunkRows | None = None

    @property
    def length(self) -> int:
        return 1 + len(self.rows.places) if self.rows else 1


class Diff:
    """The rows of an action's files. Counts at once, makes a row when asked for it."""

    def __init__(
        self, files: Sequence[FileDetail], width: int, *, layout: Layout = "unified", context: int = 3
    ) -> None:
        """Lay out a diff.

        Args:
            files: of the action, or one of them.
            width: cells of the pane.
            layout: `split` needs about 100 cells to be of use.
            context: equal lines shown around a change; more than hunks hold where files have their base.
        """
        self.files = tuple(files)
        self.width = width
        self.layout: Layout = layout
        self.context = context
        self._geometry = Geometry.of(self.files, width, layout)
        self._parts = self._laid_out()
        self._tops = [0]
        for part in self._parts:
            self._tops.append(self._tops[-1] + part.length)
        self._hunks = {part.rows.hunk.index: at for at, part in enumerate(self._parts) if part.rows}

    def __len__(self) -> int:
        return self._tops[-1]

    def row(self, y: int) -> DiffRow:
        """Return a row; raises IndexError outside."""
        part, offset = self._at(y)
        file = self.files[part.file]
        if part.rows is None:
            is_last = part.kind == "note"
            text = file.note if is_last else file.path
            return DiffRow(kind="note" if is_last else "file", file=part.file, text=text, is_last=is_last)
        hunk, is_last = part.rows.hunk, offset == part.length - 1
        if offset == 0:
            return DiffRow(kind="head", file=part.file, hunk=hunk.index, is_last=is_last)
        left, right, number = part.rows.places[offset - 1]
        if left >= 0 and hunk.lines[left][0] == NOTE:
            return DiffRow(kind="note", file=part.file, hunk=hunk.index, text=_NO_NEWLINE, is_last=is_last)
        return DiffRow(
            kind="line", file=part.file, hunk=hunk.index, left=_side(part.rows, left, number),
            right=_side(part.rows, right, number), is_last=is_last,
        )  # fmt: skip

    def strip(self, y: int, ink: Ink, glyphs: Glyphs, look: Look) -> Strip:
        """Return a row as a strip of the pane's width; rows past the end are blank."""
        if not 0 <= y < len(self):
            return diffrow.blank(self.width, ink)
        part, _ = self._at(y)
        pen = diffrow.Pen(geometry=self._geometry, ink=ink, glyphs=glyphs, look=look)
        return pen.strip(self.row(y), self.files[part.file], part.rows)

    def hunk_top(self, hunk: int) -> int:
        """Return the row of a hunk's head; 0 for one that is not there."""
        return self._tops[self._hunks[hunk]] if hunk in self._hunks else 0

    def hunk_at(self, y: int) -> int | None:
        """Return the hunk that a row belongs to."""
        if not 0 <= y < len(self):
            return None
        rows = self._at(y)[0].rows
        return rows.hunk.index if rows else None

    def words(self, y: int) -> str:
        """Return what a row says, on one line; of a changed line with its sign."""
        row = self.row(y)
        sides = [side for side in (row.right, row.left) if side is not None]
        rows = self._at(y)[0].rows
        if not sides or rows is None:
            return row.text.strip()
        return f"{sides[0].sign} {rows.text(sides[0].index).strip()}".strip()

    def rows_to_see(self, hunk: int) -> frozenset[int]:
        """Return the rows of a hunk that say what would change, without equal lines; its head if none does.

        Hunk 0 stands for the files that have no hunks: their heads and what is said of them.
        """
        if not hunk:
            return frozenset(
                y
                for at, part in enumerate(self._parts)
                if part.kind == "note"
                for y in range(self._tops[at] - (len(self.files) > 1), self._tops[at] + 1)
            )
        rows = self._parts[self._hunks[hunk]].rows if hunk in self._hunks else None
        if rows is None:
            return frozenset()
        top, lines = self.hunk_top(hunk) + 1, rows.hunk.lines
        found = (
            top + offset
            for offset, (left, right, _) in enumerate(rows.places)
            if any(index >= 0 and lines[index][0] != " " for index in (left, right))
        )
        return frozenset(found) or frozenset([top - 1])

    def line_top(self, hunk: int, change: int) -> int:
        """Return the first row of a changed line; the hunk's head if it has no such line."""
        rows = self._parts[self._hunks[hunk]].rows if hunk in self._hunks else None
        return self.hunk_top(hunk) + (rows.top(change) if rows else 0)

    def find(self, text: str, after: int, *, step: int = 1) -> int | None:
        """Return the next row from `after` on that holds the text, whatever the case; None if none does."""
        wanted = text.casefold()
        end = len(self) if step > 0 else -1
        rows = range(after + step, end, step) if wanted else range(0)
        return next((y for y in rows if self._holds(y, wanted)), None)

    def _holds(self, y: int, wanted: str) -> bool:
        part, offset = self._at(y)
        if part.rows is None or offset == 0:
            return False
        left, right, number = part.rows.places[offset - 1]
        found = {index for index in (left, right) if index >= 0}
        return number == 0 and any(wanted in part.rows.text(index).casefold() for index in found)

    def _laid_out(self) -> list[_Part]:
        parts: list[_Part] = []
        for number, file in enumerate(self.files):
            if len(self.files) > 1:
                parts.append(_Part(kind="file", file=number))
            if file.note and not file.hunks:
                parts.append(_Part(kind="note", file=number))
            for hunk in widened(file.hunks, file.base, self.context - HELD):
                rows = HunkRows(hunk, self._geometry.room, self.layout, self.context)
                parts.append(_Part(kind="hunk", file=number, rows=rows))
        return parts

    def _at(self, y: int) -> tuple[_Part, int]:
        if not 0 <= y < len(self):
            raise IndexError(y)
        at = bisect_right(self._tops, y) - 1
        return self._parts[at], y - self._tops[at]


_NO_NEWLINE = "\\ no newline at the end of the file"


def _side(rows: HunkRows, index: int, part: int) -> Side | None:
    if index < 0:
        return None
    line = rows.lines[index]
    is_there = part == 0 or part < len(rows.pieces(index))
    if not is_there:
        return None
    return Side(
        number=line.number if part == 0 else None, sign=line.sign, index=index, change=line.change, part=part
    )  # fmt: skip
