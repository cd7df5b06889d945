"""Diffs as rows: heads, lines and notes, unified or side by side; a row is made when it is looked at.

Long lines are wrapped. Of very long ones the changed parts are shown, and how many equal characters stand
between them; nothing else is ever cut. Left hunks have neither tint nor syntax colour and keep their sign.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct
from textual.content import Content, Span
from textual.strip import Strip
from textual.style import Style

from workbench.render.cells import (
    Column,
    compose_columns,
    line_strip,
    mark_hidden,
    safe_content,
    shorten_line,
    styled,
)
from workbench.render.diff_layout import (
    NOTE_SIGN,
    DiffLayout,
    HunkLayout,
    hunk_heading,
    hunk_range,
    left_out_shift,
    widened_hunks,
)
from workbench.render.glyphs import Glyphs
from workbench.render.list_rows import line_counts
from workbench.render.syntax import SyntaxHighlighter
from workbench.render.theme import Ink
from workbench.text.width import cell_width
from workbench.views.file_changes import FileDetail
from workbench.views.hunk_selection import HunkSelection, HunkState
from workbench.views.long_lines import left_out_text
from workbench.views.status_icons import IconName

HUNK_CONTEXT_LINES = 3
"""Equal lines that hunks hold around a change."""


class _DiffSection(Struct, frozen=True, kw_only=True):
    kind: Literal["file", "hunk", "note"]
    file: int
    rows: HunkLayout | None = None

    @property
    def length(self) -> int:
        return 1 + len(self.rows.places) if self.rows else 1


DiffRowKind = Literal["file", "head", "line", "left_out", "note"]


class DiffSide(Struct, frozen=True, kw_only=True):
    """What one half of a row shows: a line of the hunk, or the part of it that fits this row."""

    sign: Literal[" ", "+", "-"]
    index: int
    """Of the line in `Hunk.lines`, from 0."""
    change: int | None
    """Number of the line among the changed ones of its hunk, from 1; None if it is not changed."""
    part: int = 0
    """Which of the rows that the line takes; past its last one where the other half takes more."""
    is_start: bool = True
    """Whether number and sign of the line stand on this row."""


class DiffRow(Struct, frozen=True, kw_only=True):
    """One row of a diff, before it has colours."""

    kind: DiffRowKind
    file: int
    hunk: int | None = None
    left: DiffSide | None = None
    right: DiffSide | None = None
    text: str = ""
    about: str = " "
    """The sign of the line that a note is about: it stands on that side of the split layout."""
    stop: int | None = None
    """Which changed part of its hunk it belongs to, from 0, where the hunk has several."""
    is_last: bool = False
    """The last row of its hunk or file: when it was drawn, the hunk was seen."""

    @property
    def changes(self) -> tuple[int, ...]:
        sides = (self.left, self.right)
        return tuple(side.change for side in sides if side is not None and side.change is not None)


class DiffDisplay(Struct, frozen=True, kw_only=True):
    """How rows are drawn at the moment."""

    taken: HunkSelection
    hunk: int | None = None
    line: int | None = None
    """The changed line under the cursor while lines are chosen; None otherwise."""
    stop: int | None = None
    """The changed part under the cursor, of a hunk that has several; None otherwise."""
    has_focus: bool = False
    is_open: bool = True
    """False where nothing can be taken or left, and nothing was."""
    find: str = ""
    painter: SyntaxHighlighter | None = None
    """Syntax colours; None before the first frame."""


class Diff:
    """The rows of an action's files. Counts at once, makes a row when asked for it."""

    def __init__(
        self,
        files: Sequence[FileDetail],
        width: int,
        *,
        layout: DiffLayout = "unified",
        context: int = 3,
        taken: HunkSelection | None = None,
    ) -> None:
        """Lay out a diff.

        Args:
            files: the files.
            width: cells of a row.
            layout: `split` needs about 100 cells.
            context: equal lines around a change.
            taken: what is taken, where lines can be left out; all of it by default.
        """
        self.files = tuple(files)
        self.width = width
        self.layout: DiffLayout = layout
        self.context = context
        self._geometry = DiffColumns.of(self.files, width, layout)
        self._parts = self._laid_out(taken.left if taken else {})
        self._tops = [0]
        for part in self._parts:
            self._tops.append(self._tops[-1] + part.length)
        self._hunks = {part.rows.hunk.index: index for index, part in enumerate(self._parts) if part.rows}
        self._shifts: tuple[HunkSelection | None, Mapping[int, int]] = (None, {})

    def __len__(self) -> int:
        return self._tops[-1]

    @property
    def has_long_pairs(self) -> bool:
        """Return whether what is taken decides how much of a very long line is shown."""
        return any(part.rows.has_long_pairs for part in self._parts if part.rows)

    @property
    def whole_lines(self) -> frozenset[tuple[int, int]]:
        """Return hunk and number of the long lines that are shown whole because of what is taken."""
        laid_out = (part.rows for part in self._parts if part.rows)
        return frozenset((rows.hunk.index, line) for rows in laid_out for line in rows.whole_lines)

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
        stop = part.rows.stop_at(offset - 1) if len(part.rows.stops) > 1 else None
        if count := part.rows.left_out(offset - 1):
            return DiffRow(
                kind="left_out", file=part.file, hunk=hunk.index, text=left_out_text(count), is_last=is_last
            )
        if left >= 0 and hunk.lines[left][0] == NOTE_SIGN:
            return DiffRow(
                kind="note", file=part.file, hunk=hunk.index, text=_NO_NEWLINE,
                about=hunk.lines[left - 1][0] if left else " ", is_last=is_last,
            )  # fmt: skip
        return DiffRow(
            kind="line", file=part.file, hunk=hunk.index, left=_diff_side(part.rows, left, number),
            right=_diff_side(part.rows, right, number), stop=stop, is_last=is_last,
        )  # fmt: skip

    def strip(self, y: int, ink: Ink, glyphs: Glyphs, look: DiffDisplay) -> Strip:
        """Return a row as a strip of the pane's width; rows past the end are blank."""
        if not 0 <= y < len(self):
            return blank_strip(self.width, ink)
        part, _ = self._at(y)
        shift = self._shift(part.rows.hunk.index, look) if part.rows else 0
        renderer = DiffRowRenderer(geometry=self._geometry, ink=ink, glyphs=glyphs, look=look, shift=shift)
        return renderer.strip(self.row(y), self.files[part.file], part.rows)

    def _shift(self, hunk: int, look: DiffDisplay) -> int:
        """Return by how many lines what is left out of the hunks before moves a hunk of the new file."""
        if self._shifts[0] is not look.taken:
            shifts: dict[int, int] = {}
            for file in self.files if look.taken.left else ():
                shift = 0
                for earlier in file.hunks:
                    shifts[earlier.index] = shift
                    shift += left_out_shift(earlier, look.taken.left.get(earlier.index, ()))
            self._shifts = look.taken, shifts
        return self._shifts[1].get(hunk, 0) if look.is_open else 0

    def hunk_top(self, hunk: int) -> int:
        """Return the row of a hunk's head; 0 for one that is not there."""
        return self._tops[self._hunks[hunk]] if hunk in self._hunks else 0

    def hunk_at(self, y: int) -> int | None:
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
        """Return the rows of a hunk that say what would change, else its head; 0: files without hunks."""
        if not hunk:
            return frozenset(
                y
                for number, part in enumerate(self._parts)
                if part.kind == "note"
                for y in range(self._tops[number] - (len(self.files) > 1), self._tops[number] + 1)
            )
        rows = self._parts[self._hunks[hunk]].rows if hunk in self._hunks else None
        if rows is None:
            return frozenset()
        top, lines = self.hunk_top(hunk) + 1, rows.hunk.lines
        changed_rows = (
            top + offset
            for offset, (left, right, _) in enumerate(rows.places)
            if any(index >= 0 and lines[index][0] != " " for index in (left, right))
        )
        return frozenset(changed_rows) or frozenset([top - 1])

    def stops(self, hunk: int) -> Sequence[range]:
        """Return the rows of each changed part of a hunk: all of it, but for parts of very long lines."""
        rows = self._parts[self._hunks[hunk]].rows if hunk in self._hunks else None
        top = self.hunk_top(hunk) + 1
        stops = rows.stops if rows else ()
        if len(stops) < 2:
            return [range(top - 1, top + len(rows.places))] if rows else ()
        return [range(top + stop.start, top + stop.stop) for stop in stops]

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
        indices = {index for index in (left, right) if index >= 0}
        return any(wanted in part.rows.searched_text(index, number).casefold() for index in indices)

    def _laid_out(self, left: Mapping[int, Collection[int]]) -> list[_DiffSection]:
        parts: list[_DiffSection] = []
        for number, file in enumerate(self.files):
            if len(self.files) > 1:
                parts.append(_DiffSection(kind="file", file=number))
            if file.note and not file.hunks:
                parts.append(_DiffSection(kind="note", file=number))
            for hunk in widened_hunks(file.hunks, file.base, self.context - HUNK_CONTEXT_LINES):
                rows = HunkLayout(
                    hunk, self._geometry.room, self.layout, self.context, left.get(hunk.index, ())
                )
                parts.append(_DiffSection(kind="hunk", file=number, rows=rows))
        return parts

    def _at(self, y: int) -> tuple[_DiffSection, int]:
        if not 0 <= y < len(self):
            raise IndexError(y)
        index = bisect_right(self._tops, y) - 1
        return self._parts[index], y - self._tops[index]


_NO_NEWLINE = "\\ no newline at the end of the file"


def _diff_side(rows: HunkLayout, index: int, part: int) -> DiffSide | None:
    if index < 0:
        return None
    line, row = rows.lines[index], rows.line_row(index, part)
    is_start = row is not None and row.is_start
    return DiffSide(sign=line.sign, index=index, change=line.change, part=part, is_start=is_start)


_CELLS_BEFORE_NUMBERS = 2
"""The bar of the cursor, and the box of a line."""
_CELLS_FROM_SIGN = 2
_CELLS_AT_END = 2
"""A blank, and the cell of the map at the right edge."""
_STATE_CELLS = 8
TWO_NUMBERS_FROM: Final = 90
"""Cells of a unified diff from which each line has its old and its new number."""


class DiffColumns(Struct, frozen=True, kw_only=True):
    """Where the columns of a diff stand."""

    width: int
    layout: DiffLayout
    digits: int

    @classmethod
    def of(cls, files: Sequence[FileDetail], width: int, layout: DiffLayout) -> "DiffColumns":
        """Return the columns for files: their largest line number makes the number columns."""
        ends = (max(h.old_start + h.old_count, h.new_start + h.new_count) for f in files for h in f.hunks)
        least = 3 if layout == "unified" and width >= TWO_NUMBERS_FROM else 2
        return cls(width=width, layout=layout, digits=max(least, len(str(max(ends, default=0)))))

    @property
    def has_two_numbers(self) -> bool:
        return self.layout == "unified" and self.width >= TWO_NUMBERS_FROM

    @property
    def left(self) -> int:
        return (self.width - 1) // 2 if self.layout == "split" else self.width

    @property
    def right(self) -> int:
        return self.width - 1 - self.left

    @property
    def room(self) -> int:
        """Return the cells for the text of a line; the last ones stay blank."""
        return max(1, self.left - self.cells_before_sign - _CELLS_FROM_SIGN - _CELLS_AT_END)

    @property
    def cells_before_sign(self) -> int:
        """Return the cells before the sign of a line: bar, box, numbers and the blank behind them."""
        return _CELLS_BEFORE_NUMBERS + (1 + self.digits) * (2 if self.has_two_numbers else 1) + 1


class DiffRowRenderer(Struct, frozen=True, kw_only=True):
    """Draws rows with one look."""

    geometry: DiffColumns
    ink: Ink
    glyphs: Glyphs
    look: DiffDisplay
    shift: int
    """By how many lines what is left out of earlier hunks moves this one in the file after the approval."""

    def strip(self, row: DiffRow, file: FileDetail, rows: HunkLayout | None) -> Strip:
        if row.kind == "file":
            return self._file(file)
        if row.kind == "head" and rows is not None:
            return self._head(rows)
        if row.kind == "line" and rows is not None:
            return self._line(row, file, rows)
        if row.kind == "left_out":
            return self._left_out_row(row)
        return self._note(row)

    # --- heads --------------------------------------------------------------------------------------

    def _file(self, file: FileDetail) -> Strip:
        ink = self.ink
        words = {"create": "new file", "delete": "deleted", "rename": "moved"}.get(file.change, "")
        columns = [
            Column(
                content=safe_content(file.path, ink.of("foreground", bold=True), ink), grows=True, cut="path"
            ),
            Column(content=line_counts(file.added, file.removed, ink, self.glyphs), drop=1),
            Column(content=styled(words, ink.of("muted")), gap=2, drop=2),
            Column(content=Content(""), width=_CELLS_AT_END, gap=0),
        ]
        return self._whole(compose_columns(columns, self.geometry.width, self.glyphs), ink.on("background"))

    def _head(self, rows: HunkLayout) -> Strip:
        ink, hunk = self.ink, rows.hunk
        is_cursor = hunk.index == self.look.hunk
        name = safe_content(
            hunk_heading(hunk), ink.of("foreground", bold=True) if is_cursor else ink.of("muted"), ink
        )
        parts = [self._bar(is_cursor), Content(" ")]
        if self.look.is_open:
            parts += [self._state(self.look.taken.state_of(hunk.index)), name, self._counted(hunk.index)]
        else:
            parts.append(name)
        ends = "CR LF  " if rows.is_crlf else ""
        place = hunk_range(hunk, self._left_out(hunk.index), self.shift)
        where = styled(self.glyphs.line(ends + place), ink.of("muted"))
        style = ink.cursor(has_focus=self.look.has_focus) if is_cursor else ink.on("panel")
        left = Column(content=Content("").join(parts), grows=True, gap=0)
        right = Column(content=where, gap=1, drop=1)
        end = Column(content=Content(""), width=_CELLS_AT_END, gap=0)
        if self.geometry.layout == "unified":
            return self._whole(compose_columns([left, right, end], self.geometry.width, self.glyphs), style)
        half = compose_columns(
            [Column(content=Content(""), grows=True, gap=0), right, end], self.geometry.right, self.glyphs
        )
        return self._halves(compose_columns([left], self.geometry.left, self.glyphs), half, style, style)

    def _state(self, state: HunkState) -> Content:
        style = self.ink.of("muted" if state == "left" else "added", bold=True)
        return styled(f"{self.glyphs.of(state)} {state.ljust(_STATE_CELLS)}", style)

    def _counted(self, hunk: int) -> Content:
        if self.look.taken.state_of(hunk) != "partly":
            return Content("")
        taken, size = self.look.taken.line_counts(hunk)
        return styled(f"   {taken} of {size} lines", self.ink.of("muted"))

    def _note(self, row: DiffRow) -> Strip:
        text = Content("  ") + safe_content(row.text, self.ink.of("muted", italic=True), self.ink)
        bar = self._bar(row.hunk is not None and row.hunk == self.look.hunk)
        style = self.ink.on("background")
        if self.geometry.layout == "unified" or row.hunk is None:
            return self._whole(bar + text, style)
        left, right = (text if row.about in signs else Content("") for signs in (" -", " +"))
        return self._halves(bar + left, Content(" ") + right, style, style)

    def _left_out_row(self, row: DiffRow) -> Strip:
        """Draw how much is not shown, beginning in the cell of the sign: no text of a line begins there."""
        cells = self.geometry.cells_before_sign
        bar = self._bar(row.hunk == self.look.hunk and self.look.stop is None)
        whole = [row.text, row.text.removesuffix(" not shown")]
        style = self.ink.on("background")

        def half(width: int, lead: Content) -> Content:
            room = width - cells - _CELLS_AT_END
            lines = [self.glyphs.line(text) for text in whole]
            words = next((line for line in lines if cell_width(line) <= room), lines[-1])
            text = styled(words, self.ink.of("muted", italic=True))
            return lead + Content(" " * (cells - 1)) + shorten_line(text, room, self.glyphs)

        if self.geometry.layout == "unified":
            return self._whole(half(self.geometry.width, bar), style)
        left, right = half(self.geometry.left, bar), half(self.geometry.right, Content(" "))
        return self._halves(left, right, style, style)

    # --- lines --------------------------------------------------------------------------------------

    def _line(self, row: DiffRow, file: FileDetail, rows: HunkLayout) -> Strip:
        is_cursor = row.hunk == self.look.hunk and self.look.stop in (None, row.stop)
        bar = self._bar(is_cursor)
        geometry, background = self.geometry, self.ink.on("background")
        if row.left is None:
            left, style = bar + self._filler(geometry.left), background
        else:
            left, style = self._side(row.left, file, rows, bar, is_old=geometry.layout == "split")
        if geometry.layout == "unified":
            return self._whole(left, style)
        if row.right is None:
            right, right_style = Content(" ") + self._filler(geometry.right), background
        else:
            right, right_style = self._side(row.right, file, rows, Content(" "))
        return self._halves(left, right, style, right_style)

    def _filler(self, width: int) -> Content:
        """Return what stands where this side of the split has no line."""
        return styled(" " + self.glyphs.of("gap") * max(0, width - 3), self.ink.of("rule"))

    def _side(
        self, side: DiffSide, file: FileDetail, rows: HunkLayout, bar: Content, *, is_old: bool = False
    ) -> tuple[Content, Style]:
        is_taken = self._is_taken(rows.hunk.index, side)
        row_style = self._row_style(rows.hunk.index, side, is_taken)
        line = Content("").join(
            [
                bar, self._box(rows.hunk.index, side),
                self._numbers_and_sign(side, rows, is_taken, is_old=is_old),
                Content(" "), self._text(side, file, rows, is_taken),
            ]
        )  # fmt: skip
        return line, row_style

    def _numbers_and_sign(self, side: DiffSide, rows: HunkLayout, is_taken: bool, *, is_old: bool) -> Content:
        old, new = rows.numbers(self._left_out(rows.hunk.index), self.shift)[side.index]
        shown = (old, new) if self.geometry.has_two_numbers else (old if is_old else new,)
        sign_style = self._sign_style(side, is_taken)
        is_changed = is_taken and side.sign != " "
        number_style = sign_style if is_changed else self.ink.of("faint")
        texts = (number if side.is_start and number is not None else "" for number in shown)
        words = "".join(f" {text:>{self.geometry.digits}}" for text in texts)
        sign = side.sign if side.is_start else " "
        tint = self._tint(side) if is_changed and not self.ink.tokens.tints_lines else Style.null()
        return styled(f"{words} ", tint + number_style) + styled(sign, tint + sign_style)

    def _left_out(self, hunk: int) -> Collection[int]:
        return self.look.taken.left.get(hunk, ()) if self.look.is_open else ()

    def _is_taken(self, hunk: int, side: DiffSide) -> bool:
        taken = self.look.taken
        if side.change is None or not self.look.is_open:
            return taken.state_of(hunk) != "left" or not self.look.is_open
        return taken.is_line_taken(hunk, side.change)

    def _row_style(self, hunk: int, side: DiffSide, is_taken: bool) -> Style:
        is_here = self.look.line is not None and self.look.hunk == hunk
        if is_here and side.change == self.look.line and side.change is not None:
            return self.ink.cursor(has_focus=self.look.has_focus)
        if not is_taken or side.sign == " " or not self.ink.tokens.tints_lines:
            return self.ink.on("background")
        return self._tint(side)

    def _tint(self, side: DiffSide) -> Style:
        return self.ink.on("added_bg" if side.sign == "+" else "removed_bg")

    def _sign_style(self, side: DiffSide, is_taken: bool) -> Style:
        if not is_taken:
            return self.ink.of("muted")
        return self.ink.of("added" if side.sign == "+" else "removed", bold=True)

    def _box(self, hunk: int, side: DiffSide) -> Content:
        is_choosing = self.look.line is not None and self.look.hunk == hunk
        is_partly = self.look.taken.state_of(hunk) == "partly"
        has_box = self.look.is_open and (is_choosing or is_partly) and side.change is not None
        if not has_box or not side.is_start or side.change is None:
            return Content(" ")
        is_taken = self.look.taken.is_line_taken(hunk, side.change)
        name: IconName = "taken" if is_taken else "left"
        return styled(self.glyphs.of(name), self.ink.of("added" if is_taken else "muted"))

    def _text(self, side: DiffSide, file: FileDetail, rows: HunkLayout, is_taken: bool) -> Content:
        text, row = rows.text(side.index), rows.line_row(side.index, side.part)
        if row is None:
            return Content("")
        start, end = row.start, row.end
        spans = [Span(0, len(text), self._text_style(side, is_taken))]
        if is_taken:
            spans += self._paints(side, file, rows)
            style = self.ink.word("+" if side.sign == "+" else "-")
            spans += [Span(low, high, style) for low, high in rows.marks(side.index)]
        spans += self._hits(text)
        shown = [Span(max(s.start, start) - start, min(s.end, end) - start, s.style) for s in spans]
        piece = Content(text[start:end], spans=[span for span in shown if span.end > span.start])
        return Content(" " * row.hang) + mark_hidden(piece, self.ink)

    def _text_style(self, side: DiffSide, is_taken: bool) -> Style:
        if not is_taken:
            return self.ink.of("muted")
        if self.ink.tokens.is_ansi and side.sign != " ":
            return self.ink.of("added" if side.sign == "+" else "removed")
        return self.ink.of("foreground")

    def _paints(self, side: DiffSide, file: FileDetail, rows: HunkLayout) -> Iterator[Span]:
        if self.look.painter is None or (self.ink.tokens.is_ansi and side.sign != " "):
            return
        for start, end, token in rows.paints(self.look.painter, file.path, side.index):
            yield Span(start, end, self.ink.of(token))

    def _hits(self, text: str) -> list[Span]:
        if not self.look.find:
            return []
        matches = re.finditer(re.escape(self.look.find), text, re.IGNORECASE)
        return [Span(*hit.span(), self.ink.hit()) for hit in matches]

    # --- rows ---------------------------------------------------------------------------------------

    def _bar(self, is_cursor: bool) -> Content:
        glyph = self.glyphs.of("cursor") if is_cursor else " "
        return styled(glyph, self.ink.of("info" if self.look.has_focus else "muted"))

    def _whole(self, line: Content, style: Style) -> Strip:
        return line_strip(line, self.geometry.width, style)

    def _halves(self, left: Content, right: Content, style: Style, right_style: Style) -> Strip:
        rule = styled(self.glyphs.line("│"), self.ink.of("rule"))
        return Strip.join(
            [
                line_strip(left, self.geometry.left, style),
                line_strip(rule, 1, self.ink.on("background")),
                line_strip(right, self.geometry.right, right_style),
            ]
        )


def fitting_context(
    files: Sequence[FileDetail], width: int, layout: DiffLayout, least: int, height: int
) -> int:
    """Return how many equal lines around a change fill `height` rows: `least` if no more fit.

    Fewer than hunks hold are wanted exactly.
    """
    if least < HUNK_CONTEXT_LINES or not any(file.base for file in files):
        return least

    def rows(context: int) -> int:
        return len(Diff(files, width, layout=layout, context=context))

    spare = height - rows(least)
    choices = range(least, least + 1 + spare)
    return choices[bisect_right(choices, height, key=rows) - 1] if spare > 0 else least


def blank_strip(width: int, ink: Ink) -> Strip:
    return line_strip(Content(""), width, ink.on("background"))


def split_heads_strip(width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return the column heads of the split layout: `now │ after approval`."""
    geometry = DiffColumns.of((), width, "split")
    style = ink.on("background")
    rule = line_strip(styled(glyphs.line("│"), ink.of("rule")), 1, style)
    left, right = (styled(f" {words}", ink.of("muted")) for words in ("now", "after approval"))
    return Strip.join(
        [line_strip(left, geometry.left, style), rule, line_strip(right, geometry.right, style)]
    )
