"""Diffs as rows: hunk heads, lines with changed words,
notes; unified or side by side; made only when looked at.

Owns what a line of a diff looks like (UX section 6): one number column, the sign column always ASCII, left
hunks without tint and syntax colour. Long lines are wrapped, never cut: what is approved can be read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from textual.strip import Strip

from workbench.draw.glyphs import Glyphs
from workbench.draw.syntax import Painter
from workbench.draw.tokens import Ink
from workbench.views.detail import FileDetail
from workbench.views.selection import TakenState

Layout = Literal["unified", "split"]
RowKind = Literal["file", "head", "line", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one half of a row shows: a line of the hunk, or the part of it that fits this row."""

    number: int | None
    """None on the further rows of a wrapped line."""
    sign: Literal[" ", "+", "-"]
    index: int
    """Of the line in `Hunk.lines`, from 0."""
    change: int | None
    """Number of the line among the changed ones of its hunk, from 1; None if it is not changed."""
    start: int = 0
    """Cells of the line that stand on rows before this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRow:
    """One row of a diff, before it has colours."""

    kind: RowKind
    file: int
    """Which file of the action, from 0."""
    hunk: int | None = None
    """Index of the hunk in its action, from 1."""
    left: Side | None = None
    """The line of a unified row; the old side of a split one."""
    right: Side | None = None
    """The new side of a split row."""
    text: str = ""
    """Of heads and notes; raw."""
    is_last: bool = False
    """The last row of its hunk (of its file, if it has none): when it was drawn, the hunk was seen."""

    @property
    def changes(self) -> tuple[int, ...]:
        """Return the numbers of the changed lines on this row."""
        sides = (self.left, self.right)
        return tuple(side.change for side in sides if side is not None and side.change is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How rows are drawn at the moment; everything that changes without the diff changing."""

    taken: TakenState
    hunk: int | None = None
    """The hunk under the cursor."""
    line: int | None = None
    """The changed line under the cursor while lines are chosen; None otherwise."""
    has_focus: bool = False
    is_open: bool = True
    """False once it cannot be answered any more: heads say neither taken nor left."""
    find: str = ""
    """Text whose hits are underlined."""
    painter: Painter | None = None
    """Syntax colours; None before the first frame."""


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
            context: equal lines shown around a change, at most those the hunks have.
        """
        self.files = tuple(files)
        self.width = width
        self.layout: Layout = layout
        self.context = context

    def __len__(self) -> int:
        raise NotImplementedError

    def row(self, y: int) -> DiffRow:
        """Return a row; raises IndexError outside."""
        raise NotImplementedError(y)

    def strip(self, y: int, ink: Ink, glyphs: Glyphs, look: Look) -> Strip:
        """Return a row as a strip of the pane's width; rows past the end are blank."""
        raise NotImplementedError(y, ink, glyphs, look)

    def hunk_top(self, hunk: int) -> int:
        """Return the row of a hunk's head; 0 for one that is not there."""
        raise NotImplementedError(hunk)

    def hunk_at(self, y: int) -> int | None:
        """Return the hunk that a row belongs to."""
        raise NotImplementedError(y)

    def line_top(self, hunk: int, change: int) -> int:
        """Return the first row of a changed line."""
        raise NotImplementedError(hunk, change)

    def file_top(self, file: int) -> int:
        """Return the first row of a file."""
        raise NotImplementedError(file)

    def find(self, text: str, after: int, *, step: int = 1) -> int | None:
        """Return the next row from `after` on whose lines hold the text,
        whatever the case; None if none does."""
        raise NotImplementedError(text, after, step)


def heads_strip(width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return the column heads of the split layout: `now │ after approval`."""
    raise NotImplementedError(width, ink, glyphs)
