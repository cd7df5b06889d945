"""How one row of a diff looks (UX section 6): tints, signs, boxes, changed words, syntax colours.

Owns the columns of a row: bar, box, one number column, a sign column that is always ASCII,
text. Left hunks have
neither tint nor syntax colour and keep their sign.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from textual.content import Content, Span
from textual.strip import Strip
from textual.style import Style

from workbench.draw.cells import Column, compose, content, mark_hidden, strip, styled
from workbench.draw.glyphs import Glyphs
from workbench.draw.hunkrows import HunkRows, Layout, heading
from workbench.draw.syntax import Painter
from workbench.draw.tokens import Ink
from workbench.records import dataclass
from workbench.views.detail import FileDetail
from workbench.views.selection import HunkState, TakenState
from workbench.views.signs import SignName

RowKind = Literal["file", "head", "line", "note"]

_BEFORE_NUMBER = 3
_AFTER_NUMBER = 3
_WORD_CELLS = 8


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
    part: int = 0
    """Which row of a wrapped line, from 0."""


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
    """Of file heads and notes; raw."""
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
    """False where nothing can be taken or left, and nothing was: heads say neither."""
    find: str = ""
    """Text whose hits are underlined."""
    painter: Painter | None = None
    """Syntax colours; None before the first frame."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """Where the columns of a diff stand."""

    width: int
    layout: Layout
    digits: int

    @classmethod
    def of(cls, files: Sequence[FileDetail], width: int, layout: Layout) -> "Geometry":
        """Return the columns for files: their largest line number makes the number column."""
        ends = (max(h.old_start + h.old_count, h.new_start + h.new_count) for f in files for h in f.hunks)
        return cls(width=width, layout=layout, digits=max(2, len(str(max(ends, default=0)))))

    @property
    def left(self) -> int:
        """Return the cells of the left half, or of the whole row if it is not split."""
        return (self.width - 1) // 2 if self.layout == "split" else self.width

    @property
    def right(self) -> int:
        """Return the cells of the right half."""
        return self.width - 1 - self.left

    @property
    def room(self) -> int:
        """Return the cells for the text of a line; the last column stays blank."""
        return max(1, self.left - _BEFORE_NUMBER - self.digits - _AFTER_NUMBER - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pen:
    """Draws rows with one look."""

    geometry: Geometry
    ink: Ink
    glyphs: Glyphs
    look: Look

    def strip(self, row: DiffRow, file: FileDetail, rows: HunkRows | None) -> Strip:
        """Return a row as a strip of the whole width."""
        if row.kind == "file":
            return self._file(file)
        if row.kind == "head" and rows is not None:
            return self._head(rows)
        if row.kind == "line" and rows is not None:
            return self._line(row, file, rows)
        text = content(row.text, self.ink.of("muted", italic=True), self.ink)
        bar = self._bar(row.hunk is not None and row.hunk == self.look.hunk)
        return self._whole(bar + Content("  ") + text, self.ink.on("background"))

    # --- heads --------------------------------------------------------------------------------------

    def _file(self, file: FileDetail) -> Strip:
        ink = self.ink
        words = {"create": "new file", "delete": "deleted"}.get(file.change, "")
        sizes = [styled(f"+{file.added}", ink.of("added"))] if file.added else []
        sizes += [styled(self.glyphs.line(f"−{file.removed}"), ink.of("removed"))] if file.removed else []
        columns = [
            Column(content=content(file.path, ink.of("foreground", bold=True), ink), grows=True, cut="path"),
            Column(content=Content(" ").join(sizes), drop=1),
            Column(content=styled(words, ink.of("muted")), gap=2, drop=2),
            Column(content=Content(""), width=0),
        ]
        return self._whole(compose(columns, self.geometry.width, self.glyphs), ink.on("background"))

    def _head(self, rows: HunkRows) -> Strip:
        ink, hunk = self.ink, rows.hunk
        is_cursor = hunk.index == self.look.hunk
        name = content(heading(hunk), ink.of("foreground", bold=True) if is_cursor else ink.of("muted"), ink)
        parts = [self._bar(is_cursor), Content(" ")]
        if self.look.is_open:
            parts += [self._state(self.look.taken.state_of(hunk.index)), name, self._counted(hunk.index)]
        else:
            parts.append(name)
        numbers = f"@@ {hunk.old_start},{hunk.old_count} → {hunk.new_start},{hunk.new_count}"
        ends = "CR LF  " if rows.is_crlf else ""
        where = styled(self.glyphs.line(ends + numbers), ink.of("muted"))
        style = ink.cursor(has_focus=self.look.has_focus) if is_cursor else ink.on("panel")
        left = Column(content=Content("").join(parts), grows=True, gap=0)
        right = Column(content=where, gap=1, drop=1)
        end = Column(content=Content(""), width=0)
        if self.geometry.layout == "unified":
            return self._whole(compose([left, right, end], self.geometry.width, self.glyphs), style)
        half = compose(
            [Column(content=Content(""), grows=True, gap=0), right, end], self.geometry.right, self.glyphs
        )
        return self._halves(compose([left], self.geometry.left, self.glyphs), half, style, style)

    def _state(self, state: HunkState) -> Content:
        signs: dict[HunkState, SignName] = {"taken": "taken", "left": "left", "partly": "partly"}
        style = self.ink.of("muted" if state == "left" else "added", bold=True)
        return styled(f"{self.glyphs.of(signs[state])} {state.ljust(_WORD_CELLS)}", style)

    def _counted(self, hunk: int) -> Content:
        if self.look.taken.state_of(hunk) != "partly":
            return Content("")
        taken, size = self.look.taken.line_counts(hunk)
        return styled(f"   {taken} of {size} lines", self.ink.of("muted"))

    # --- lines --------------------------------------------------------------------------------------

    def _line(self, row: DiffRow, file: FileDetail, rows: HunkRows) -> Strip:
        is_cursor = row.hunk == self.look.hunk
        bar = self._bar(is_cursor)
        left, style = self._side(row.left, file, rows, bar)
        if self.geometry.layout == "unified":
            return self._whole(left, style)
        right, right_style = self._side(row.right, file, rows, Content(" "))
        return self._halves(left, right, style, right_style)

    def _side(
        self, side: Side | None, file: FileDetail, rows: HunkRows, bar: Content
    ) -> tuple[Content, Style]:
        if side is None:
            return bar, self.ink.on("background")
        is_taken = self._is_taken(rows.hunk.index, side)
        number = "" if side.number is None else str(side.number)
        sign = side.sign if side.part == 0 else " "
        line = Content("").join(
            [
                bar, self._box(rows.hunk.index, side), Content(" "),
                styled(f"{number.rjust(self.geometry.digits)} ", self.ink.of("faint")),
                styled(f"{sign} ", self._sign_style(side, is_taken)),
                self._text(side, file, rows, is_taken),
            ]
        )  # fmt: skip
        return line, self._row_style(rows.hunk.index, side, is_taken)

    def _is_taken(self, hunk: int, side: Side) -> bool:
        taken = self.look.taken
        if side.change is None or not self.look.is_open:
            return taken.state_of(hunk) != "left" or not self.look.is_open
        return taken.is_line_taken(hunk, side.change)

    def _row_style(self, hunk: int, side: Side, is_taken: bool) -> Style:
        is_here = self.look.line is not None and self.look.hunk == hunk
        if is_here and side.change == self.look.line and side.change is not None:
            return self.ink.cursor(has_focus=self.look.has_focus)
        if not is_taken or side.sign == " ":
            return self.ink.on("background")
        return self.ink.on("added_bg" if side.sign == "+" else "removed_bg")

    def _sign_style(self, side: Side, is_taken: bool) -> Style:
        if not is_taken:
            return self.ink.of("muted")
        return self.ink.of("added" if side.sign == "+" else "removed", bold=True)

    def _box(self, hunk: int, side: Side) -> Content:
        is_choosing = self.look.line is not None and self.look.hunk == hunk
        is_partly = self.look.taken.state_of(hunk) == "partly"
        has_box = self.look.is_open and (is_choosing or is_partly) and side.change is not None
        if not has_box or side.part or side.change is None:
            return Content(" ")
        is_taken = self.look.taken.is_line_taken(hunk, side.change)
        name: SignName = "taken" if is_taken else "left"
        return styled(self.glyphs.of(name), self.ink.of("added" if is_taken else "muted"))

    def _text(self, side: Side, file: FileDetail, rows: HunkRows, is_taken: bool) -> Content:
        text = rows.text(side.index)
        start, end = rows.pieces(side.index)[side.part]
        found = [Span(0, len(text), self._text_style(side, is_taken))]
        if is_taken:
            found += self._paints(side, file, rows)
            style = self.ink.word("+" if side.sign == "+" else "-")
            found += [Span(low, high, style) for low, high in rows.marks(side.index)]
        found += self._hits(text)
        shown = [Span(max(s.start, start) - start, min(s.end, end) - start, s.style) for s in found]
        piece = Content(text[start:end], spans=[span for span in shown if span.end > span.start])
        return Content(" " * rows.hang(side.index, side.part)) + mark_hidden(piece, self.ink)

    def _text_style(self, side: Side, is_taken: bool) -> Style:
        if not is_taken:
            return self.ink.of("muted")
        if self.ink.tokens.is_ansi and side.sign != " ":
            return self.ink.of("added" if side.sign == "+" else "removed")
        return self.ink.of("foreground")

    def _paints(self, side: Side, file: FileDetail, rows: HunkRows) -> Iterator[Span]:
        if self.look.painter is None or (self.ink.tokens.is_ansi and side.sign != " "):
            return
        for start, end, token in rows.paints(self.look.painter, file.path, side.index):
            yield Span(start, end, self.ink.of(token))

    def _hits(self, text: str) -> list[Span]:
        if not self.look.find:
            return []
        found = re.finditer(re.escape(self.look.find), text, re.IGNORECASE)
        return [Span(*hit.span(), self.ink.hit()) for hit in found]

    # --- rows ---------------------------------------------------------------------------------------

    def _bar(self, is_cursor: bool) -> Content:
        glyph = self.glyphs.of("cursor") if is_cursor else " "
        return styled(glyph, self.ink.of("info" if self.look.has_focus else "muted"))

    def _whole(self, line: Content, style: Style) -> Strip:
        return strip(line, self.geometry.width, style)

    def _halves(self, left: Content, right: Content, style: Style, right_style: Style) -> Strip:
        rule = styled(self.glyphs.line("│"), self.ink.of("rule"))
        return Strip.join(
            [
                strip(left, self.geometry.left, style),
                strip(rule, 1, self.ink.on("background")),
                strip(right, self.geometry.right, right_style),
            ]
        )


def blank(width: int, ink: Ink) -> Strip:
    """Return a row past the end."""
    return strip(Content(""), width, ink.on("background"))


def heads_strip(width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return the column heads of the split layout: `now │ after approval`."""
    geometry = Geometry.of((), width, "split")
    style = ink.on("background")
    rule = strip(styled(glyphs.line("│"), ink.of("rule")), 1, style)
    left, right = (styled(f" {words}", ink.of("muted")) for words in ("now", "after approval"))
    return Strip.join([strip(left, geometry.left, style), rule, strip(right, geometry.right, style)])
