"""What an action would do, under the queue: bars, then a diff, or command, prompt and choices.

Owns scrolling, which hunk and line are under the cursor's bar, and what of it was on the screen
(`tui.panes.receipts`). It decides nothing.
"""

from collections.abc import Collection, Sequence
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
from workbench.tui.panes.receipts import Drawing, Receipts, RowsToSee
from workbench.tui.theme import drawing, glyphs, ink, painter
from workbench.tui.widgets.lines import LineView
from workbench.views.detail import ActionDetail
from workbench.views.selection import TakenState

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


@dataclass(frozen=True, slots=True, kw_only=True)
class NextShown:
    """What was scrolled to, and what of an action is below it."""

    hunk: int | None = None
    hunks: int = 0
    lines: int = 0
    last: str = ""
    """The last of these lines."""


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
        self._painted: set[int] = set()
        """Rows that were drawn in this layout."""
        self._receipts = Receipts()
        self._drawing: Drawing | None = None
        self._left = 0
        self._is_telling = False

    # --- what is shown --------------------------------------------------------------------------

    def show(self, detail: ActionDetail | None, look: DetailLook) -> None:
        """Show an action, or nothing; another action begins at its top."""
        before, was = self.detail, self.look
        self.detail, self.look = detail, look
        is_other = (detail and (detail.id, detail.digest)) != (before and (before.id, before.digest))
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
        detail, width, before = self.detail, self.width, self._drawing
        self._strips.clear()
        self._painted = set()
        if detail is None or not self.size.width:
            self._above, self._body, self._diff, self._drawing = [], [], None, None
        else:
            self._above = words.bar_lines(detail, width, ink(self), glyphs(self))
            self._diff = self._diff_of(detail, width) if detail.files else None
            self._body, table = ([], range(0)) if self._diff else self._body_of(detail, width)
            body = [row for row in range(len(self._body)) if row not in table]
            rows = RowsToSee(self._diff, body, has_hunks=bool(detail.hunks))
            layout = (width, self.look.layout, self.look.context, len(self._diff or self._body))
            self._drawing = self._receipts.of(detail.id, (detail.digest, detail.hunks), layout, rows)
        if before is not self._drawing:
            if before is not None:
                self._note(before, ())
            self._tell_again()
        self.set_line_count(len(self._above) + (len(self._diff) if self._diff else len(self._body)))

    def _diff_of(self, detail: ActionDetail, width: int) -> Diff:
        layout = self.look.layout if self.can_split else "unified"
        return Diff(detail.files, width, layout=layout, context=self.look.context)

    def _body_of(self, detail: ActionDetail, width: int) -> tuple[list[Content], range]:
        return words.body(detail, width, ink(self), glyphs(self), choice=self.look.choice)

    # --- drawing and receipts -------------------------------------------------------------------

    def draw_line(self, line: int, width: int) -> Strip:
        """Draw a line of a bar, of the diff or of the body, and take the receipt for it."""
        above = len(self._above)
        if line < above:
            return cells.strip(self._above[line], width)
        row = line - above
        if row not in self._painted:
            self._painted.add(row)
            self.tell()
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

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Note that rows have left the screen, and others once they are on it."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.tell()

    def on_hide(self) -> None:
        """Count nothing that is drawn where nobody sees it."""
        self._look_again()

    def on_resize(self, event: events.Resize) -> None:
        """Note what is on the screen in another size."""
        super().on_resize(event)
        self.tell()

    def tell(self) -> None:
        """Send receipts once the next frame is out."""
        if not self._is_telling:
            self._is_telling = True
            self.call_after_refresh(self._look_again)

    def uncovered(self) -> None:
        """Begin to count anew: what was over it is gone."""
        if self._drawing is not None:
            self._drawing.begin_again(drawing(self).monotonic())
        self.tell()

    def _look_again(self) -> None:
        """Note which rows are on the screen, with nothing over them."""
        self._is_telling = False
        if self._drawing is not None:
            self._note(self._drawing, self._rows_on_screen())

    def _rows_on_screen(self) -> frozenset[int]:
        if not self.screen.is_active or not self.is_on_screen:
            return frozenset()
        above = len(self._above)
        rows = (line - above for line in self.visible_lines)
        return frozenset(row for row in rows if row in self._painted)

    def _note(self, drawn: Drawing, rows: Collection[int]) -> None:
        at = drawing(self).monotonic() if self.screen.is_active else None
        come, gone = drawn.put_on_screen(rows, at)
        left = drawn.lines_left() if drawn is self._drawing else 0
        if come or gone or left != self._left:
            self._left = left
            self.post_message(HunksShown(drawn.action_id, come, gone, left))

    def _tell_again(self) -> None:
        """Say what was seen of an action that is shown again: others may have forgotten it."""
        drawn = self._drawing
        if drawn is not None:
            self._left = drawn.lines_left()
            self.post_message(HunksShown(drawn.action_id, frozenset(drawn.told), left=self._left))

    def is_settled(self, at: float) -> bool:
        """Return whether all that counts as seen has stood on the screen long enough at a moment."""
        return self._drawing is None or self._drawing.is_settled(at)

    def show_next(self, parts: Collection[int]) -> "NextShown":
        """Scroll to what of some parts was not on the screen yet; says what is left then."""
        drawn = self._drawing
        unseen = [] if drawn is None else drawn.unseen_rows(parts)
        if drawn is None or not unseen:
            self._tell_again()
            return NextShown()
        first, height = unseen[0], max(1, self.size.height)
        part = drawn.rows.part_at(first)
        rows, top = drawn.rows.of(part), first
        if self._diff is not None and part:
            head = self._diff.hunk_top(part)
            is_begun = first > min(rows) and max(rows) - head >= height
            top = first if is_begun else head
        line = len(self._above) + top
        self.scroll_to_line(line)
        end = max(0, min(line, self.line_count - height)) + height - len(self._above)
        below = [row for row in unseen if row >= end]
        hunks = len({drawn.rows.part_at(row) for row in below})
        last = self._words_of(below) if below else ""
        return NextShown(hunk=part or None, hunks=hunks, lines=len(below), last=last)

    def _words_of(self, below: Sequence[int]) -> str:
        """Return the last of some rows of a diff, or the end of a command among them; else nothing."""
        if self._diff is not None:
            return self._diff.words(below[-1])
        detail = self.detail
        if detail is not None and detail.command is not None:
            end = words.command_height(detail, self.width, ink(self))
            if below[0] <= end:
                return detail.command.rstrip().rpartition("\n")[2]
        return ""

    # --- moving ---------------------------------------------------------------------------------

    def reveal_hunk(self) -> None:
        """Scroll so that the hunk under the cursor, or its line, is on the screen."""
        look, diff = self.look, self._diff
        if diff is None or look.hunk is None:
            return
        above = len(self._above)
        if look.line is not None:
            self.reveal(above + diff.line_top(look.hunk, look.line))
        else:
            top = above + diff.hunk_top(look.hunk)
            self.reveal(top, max(top, above + max(diff.rows_to_see(look.hunk), default=0)))

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
