"""What an action would do, under the queue: bars, then a diff, or command, prompt and choices.

Owns scrolling, which hunk and line are under the cursor's bar, and receipts: a hunk counts as seen when every
row of it was drawn. It decides nothing.
"""

from dataclasses import replace

from textual import events
from textual.content import Content
from textual.message import Message
from textual.strip import Strip

from workbench.draw import cells
from workbench.draw import detail as words
from workbench.draw.diff import Diff, Layout, Look
from workbench.records import dataclass
from workbench.tui.messages import HunksShown
from workbench.tui.theme import glyphs, ink, painter
from workbench.tui.widgets.lines import LineView
from workbench.views.detail import ActionDetail
from workbench.views.selection import WHOLE, TakenState

SPLIT_FROM = 100
"""Cells that the split layout needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DetailLook:
    """Everything about a detail that changes without the action changing."""

    taken: TakenState
    hunk: int | None = None
    line: int | None = None
    choice: str | None = None
    layout: Layout = "unified"
    context: int = 3
    find: str = ""
    has_focus: bool = False


class DetailView(LineView):
    """The detail of one action; it never has the focus, the queue's keys move in it."""

    can_focus = False

    @dataclass
    class HunkClicked(Message):
        """A hunk was clicked; on its box it is to be taken or left."""

        hunk: int
        is_box: bool

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.detail: ActionDetail | None = None
        self.look = DetailLook(taken=TakenState(sizes=()))
        self._above: list[Content] = []
        self._body: list[Content] = []
        self._diff: Diff | None = None
        self._drawn: set[int] = set()
        self._fresh: set[int] = set()
        """Rows that were drawn since receipts were sent."""
        self._open: dict[int, range] = {}
        self._told: set[int] = set()
        self._is_telling = False

    # --- what is shown --------------------------------------------------------------------------

    def show(self, detail: ActionDetail | None, look: DetailLook) -> None:
        """Show an action, or nothing; another action begins at its top."""
        before, was = self.detail, self.look
        self.detail, self.look = detail, look
        is_other = (detail and (detail.id, detail.digest)) != (before and (before.id, before.digest))
        if is_other:
            self._told = set()
        shape, was_shape = (look.layout, look.context, look.choice), (was.layout, was.context, was.choice)
        if is_other or detail != before or shape != was_shape:
            self._lay_out()
        self.invalidate()
        if is_other:
            self.scroll_to_line(0)

    @property
    def can_split(self) -> bool:
        """Return whether there is room for both sides."""
        return self.width >= SPLIT_FROM

    @property
    def is_split(self) -> bool:
        """Return whether both sides are shown."""
        return self.can_split and self.look.layout == "split" and bool(self.detail and self.detail.files)

    def on_width(self, width: int) -> None:
        """Lay out in another width; what was drawn before does not count, so all of it is drawn again."""
        del width
        self._lay_out()
        self.invalidate()

    def _lay_out(self) -> None:
        detail, width = self.detail, self.width
        self._strips.clear()
        self._drawn, self._fresh, self._open = set(), set(), {}
        if detail is None or not self.size.width:
            self._above, self._body, self._diff = [], [], None
        else:
            self._above = words.bar_lines(detail, width, ink(self), glyphs(self))
            self._diff = self._diff_of(detail, width) if detail.files else None
            self._body = [] if self._diff else self._body_of(detail, width)
        self.set_line_count(len(self._above) + (len(self._diff) if self._diff else len(self._body)))

    def _diff_of(self, detail: ActionDetail, width: int) -> Diff:
        layout = self.look.layout if self.can_split else "unified"
        return Diff(detail.files, width, layout=layout, context=self.look.context)

    def _body_of(self, detail: ActionDetail, width: int) -> list[Content]:
        return words.body_lines(detail, width, ink(self), glyphs(self), choice=self.look.choice)

    # --- drawing and receipts -------------------------------------------------------------------

    def draw_line(self, line: int, width: int) -> Strip:
        """Draw a line of a bar, of the diff or of the body, and take the receipt for it."""
        above = len(self._above)
        if line < above:
            return cells.strip(self._above[line], width)
        row = line - above
        self._note(row)
        if self._diff is None:
            return cells.strip(self._body[row], width)
        return self._diff.strip(row, ink(self), glyphs(self), self._diff_look())

    def _diff_look(self) -> Look:
        look, detail = self.look, self.detail
        return Look(
            taken=look.taken,
            hunk=look.hunk,
            line=look.line,
            has_focus=look.has_focus,
            is_open=detail is not None and (detail.is_pending or detail.was_taken is not None),
            find=look.find,
            painter=painter(self),
        )

    def _note(self, row: int) -> None:
        if row in self._drawn:
            return
        self._drawn.add(row)
        self._fresh.add(row)
        if not self._is_telling:
            self.tell()

    def tell(self) -> None:
        """Send receipts once the next frame is out."""
        self._is_telling = True
        self.call_after_refresh(self._tell)

    def _tell(self) -> None:
        """Send receipts for what was drawn whole, after it is on the screen with nothing over it."""
        self._is_telling = False
        detail = self.detail
        if detail is None or not self.screen.is_active:
            return
        shown = frozenset(hunk for hunk in self._hunks_drawn() if hunk not in self._told)
        self._fresh = set()
        if shown:
            self._told |= shown
            self.post_message(HunksShown(detail.id, shown))

    def _hunks_drawn(self) -> list[int]:
        if self._diff is None or not (self.detail and self.detail.hunks):
            rows = len(self._body) if self._diff is None else len(self._diff)
            return [WHOLE] if self._drawn.issuperset(range(rows)) else []
        touched = {self._diff.hunk_at(row) for row in self._fresh} - self._told
        return [hunk for hunk in touched if hunk and self._drawn.issuperset(self._rows_of(hunk))]

    def _rows_of(self, hunk: int) -> range:
        diff = self._diff
        assert diff is not None
        found = self._open.get(hunk)
        if found is None:
            top = diff.hunk_top(hunk)
            end = top
            while end < len(diff) and diff.hunk_at(end) == hunk:
                end += 1
            found = self._open[hunk] = range(top, end)
        return found

    # --- moving ---------------------------------------------------------------------------------

    def reveal_hunk(self) -> None:
        """Scroll so that the hunk under the cursor, or its line, is on the screen."""
        look, diff = self.look, self._diff
        if diff is None or look.hunk is None:
            return
        above, rows = len(self._above), self._rows_of(look.hunk)
        if look.line is not None:
            self.reveal(above + diff.line_top(look.hunk, look.line))
        else:
            self.reveal(above + rows.start, above + max(rows.start, rows.stop - 1))

    def to_file(self, step: int) -> int | None:
        """Return the first hunk of the next (1) or previous (-1) file; None when there is none."""
        detail = self.detail
        if detail is None or self.look.hunk is None:
            return None
        firsts = [file.hunks[0].index for file in detail.files if file.hunks]
        here = max((n for n, first in enumerate(firsts) if first <= self.look.hunk), default=0)
        at = here + step
        return firsts[at] if 0 <= at < len(firsts) else None

    def scroll_lines(self, rows: int) -> None:
        """Scroll by rows."""
        self.scroll_to_line(self.first_line + rows)

    def find(self, text: str, step: int = 1) -> bool:
        """Scroll to the next row that holds a text; False if there is none."""
        self.look = replace(self.look, find=text)
        self.invalidate()
        above = len(self._above)
        row = (
            self._diff.find(text, self.first_line - above + step, step=step) if self._diff and text else None
        )
        if row is not None:
            self.scroll_to_line(above + row)
        return row is not None

    def on_click(self, event: events.Click) -> None:
        """Go to the clicked hunk; on its head's box take or leave it."""
        row = event.y + self.first_line - len(self._above)
        if self._diff is None or not 0 <= row < len(self._diff):
            return
        found = self._diff.row(row)
        if found.hunk is not None:
            self.post_message(self.HunkClicked(found.hunk, found.kind == "head" and event.x <= 10))
