"""The map at the right edge of a diff.

A cell of it is one row of the screen and an equal share of all lines: where it changes, what was not
seen yet; where not all lines fit, those that are shown are marked.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Literal

from msgspec import Struct
from textual.strip import Strip

from workbench.render.cells import line_strip, styled
from workbench.render.glyphs import Glyphs
from workbench.render.theme import Ink
from workbench.tui.keyboard.receipts import LayoutReceipts


class MapMark(Struct, frozen=True):
    """One cell of a map."""

    kind: Literal["none", "seen", "unseen"]
    """Whether its lines change anything, and whether all of that was on the screen."""
    is_cursor: bool = False
    is_shown: bool = False
    """Whether its lines are on the screen, where not all lines are."""


class MapSubject(Struct, frozen=True):
    """What a map is of."""

    receipts: LayoutReceipts
    height: int
    above: int
    """Lines above the diff."""
    line_count: int
    shown: range
    """The lines on the screen."""
    hunk: int | None
    """The one under the cursor."""
    shows_unseen: bool = True
    """Whether what was not on the screen yet has a sign of its own."""


class ChangeMap:
    """Makes the cells when they are first asked for; forgets them when they may be others."""

    def __init__(self) -> None:
        self._shares: Sequence[Mapping[int, Collection[int]]] = ()
        self.marks: Sequence[MapMark] = ()
        """One for each row of the screen; none until they are made."""

    def begin(self) -> None:
        """Forget everything: the lines are others."""
        self._shares, self.marks = (), ()

    def look_anew(self) -> None:
        """Forget the cells: the view has scrolled, or the cursor has moved."""
        self.marks = ()

    @property
    def is_made(self) -> bool:
        """Return whether the cells are as they were last asked for."""
        return bool(self.marks)

    def make(self, subject: MapSubject) -> None:
        """Make a mark for each row of the screen."""
        if len(self._shares) != subject.height:
            self._shares = _shares(subject)
        self.marks = [_mark(y, parts, subject) for y, parts in enumerate(self._shares)]

    def rows_changed(self, subject: MapSubject) -> list[int]:
        """Make drawn marks again; return the rows that show something else since more was seen."""
        before = self.marks
        if before:
            self.make(subject)
        return [y for y, (mark, was) in enumerate(zip(self.marks, before, strict=False)) if mark != was]


def _shares(subject: MapSubject) -> Sequence[Mapping[int, Collection[int]]]:
    """Return the rows of the diff that have to be seen, by share and part."""
    shares: list[dict[int, list[int]]] = [{} for _ in range(subject.height)]
    count, rows = max(subject.height, subject.line_count), subject.receipts.rows
    for part in rows.parts:
        for row in rows.of(part):
            share = shares[(subject.above + row) * subject.height // count]
            share.setdefault(part, []).append(row)
    return shares


def _mark(y: int, parts: Mapping[int, Collection[int]], subject: MapSubject) -> MapMark:
    count, height = subject.line_count, subject.height
    is_shown = count > height and y * count // height in subject.shown
    if not parts:
        return MapMark("none", is_shown=is_shown)
    is_unseen = subject.shows_unseen and any(
        subject.receipts.is_unseen(part, rows) for part, rows in parts.items()
    )
    return MapMark("unseen" if is_unseen else "seen", subject.hunk in parts, is_shown)


@cache
def mark_strip(mark: MapMark, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return a cell; the same mark is the same strip."""
    ground = ink.on("cursor_blur" if mark.is_shown else "background")
    style = ink.of("info", bold=True) if mark.is_cursor else ink.of("faint")
    match mark.kind:
        case "none":
            sign = glyphs.line("│") if mark.is_shown else " "
        case "seen":
            sign = glyphs.of("change")
        case "unseen":
            sign = glyphs.of("unseen")
    return line_strip(styled(sign, style), 1, ground)
