"""The action under the cursor in full: diff or command, its files, and whether it was visible long enough.

Owns scrolling, the current hunk and line, and the arming of the pane. It decides nothing; what was seen is
kept by `receipts`.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace
from textual import events, on
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Offset, Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.domain.values import Hunk, Place
from workbench.render import action_detail, approvals, cells
from workbench.render.diff import HUNK_CONTEXT_LINES, Diff, DiffDisplay, fitting_context, split_heads_strip
from workbench.render.diff_layout import DiffLayout
from workbench.text.human import sentence
from workbench.tui.approvals import approval_selection
from workbench.tui.approvals.approval_selection import ApprovalSelection, NextPart
from workbench.tui.approvals.change_map import ChangeMap, MapSubject, mark_strip
from workbench.tui.approvals.choice_keys import shown_choice_keys
from workbench.tui.approvals.context_fit import ContextFit
from workbench.tui.approvals.file_column import FileColumn
from workbench.tui.keyboard.arming import PaneArming
from workbench.tui.keyboard.receipts import LayoutReceipts, Receipts, RequiredRows
from workbench.tui.pane import KeysChanged, Pane, PartsSeen, StatusMessage
from workbench.tui.render_context import context_of, glyphs, ink, painter
from workbench.tui.widgets.line_view import JumpTarget, LineView
from workbench.tui.widgets.pane_frame import ColumnHeader, Divider, PaneTitle
from workbench.views.action_detail import ActionDetail
from workbench.views.approvals import QueueRow
from workbench.views.hunk_selection import HunkSelection

_TITLE_SECONDS: Final = 0.1
"""After which the title says where a view has scrolled to: drawing it costs as much as the key."""
_TITLE_CELLS: Final = 9
"""Cells of a title between and around what it says."""
SPLIT_FROM: Final = 100
"""Cells that the split layout needs."""
SPLIT_BY_ITSELF_FROM: Final = 140
"""Columns of a screen on which a diff is split unless the user chose otherwise."""


class DetailViewState(Struct, frozen=True, kw_only=True):
    """Everything about a detail that changes without the action changing."""

    taken: HunkSelection
    hunk: int | None = None
    stop: int = 0
    """The changed part of the hunk under the cursor, from 0, where it has several."""
    line: int | None = None
    choice: str | None = None
    choice_keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """The keys that give each answer now, by the answer's key."""
    place: Place | None = None
    """Where the command runs if it is approved now."""
    layout: DiffLayout | None = None
    """As the user chose; None goes by the width."""
    context: int = HUNK_CONTEXT_LINES
    """Equal lines around a change: fewer than hunks hold exactly, else at least so many."""
    is_full: bool = False
    """Whether the diff has the whole screen."""
    find: str = ""
    has_focus: bool = False
    is_past: bool = False
    """Whether it is replayed: nobody has to see all of it before an answer."""


class DetailView(LineView):
    """The detail of one action; it never has the focus, the queue's keys move in it."""

    can_focus = False

    @dataclass(eq=False, repr=False)
    class HunkClicked(Message):
        """A hunk was clicked; on its box it is to be taken or left."""

        hunk: int
        is_box: bool

    def __init__(self, *, key: str | None = None, moved: Callable[[], None] = lambda: None) -> None:
        """Show nothing yet; `moved` is called when it scrolled, or became split or unified."""
        super().__init__(key=key)
        self._moved = moved
        self.detail: ActionDetail | None = None
        self.look = DetailViewState(taken=HunkSelection(sizes=()))
        self._above: list[Content] = []
        self._body: list[Content] = []
        self._diff: Diff | None = None
        self._has_long_pairs = False
        """Whether what is taken decides how much of a very long line is shown."""
        self._whole_lines: frozenset[tuple[int, int]] = frozenset()
        """Those that are shown whole because of what is taken."""
        self._painted: set[int] = set()
        """Rows that were drawn in this layout."""
        self.rows_needed = 0
        """Rows in which all of it is seen, with only the equal lines around changes that were asked for."""
        self._receipts = Receipts()
        self._drawing: LayoutReceipts | None = None
        self._left = 0
        self._is_telling = False
        self._is_scrolling = False
        self._position: Hashable = None
        """Of what `moved` was last told."""
        self._fit = ContextFit()
        self._map = ChangeMap()

    # --- what is shown --------------------------------------------------------------------------

    def show(self, detail: ActionDetail | None, look: DetailViewState) -> None:
        """Show an action, or nothing; another action begins at its top."""
        before, was = self.detail, self.look
        self.detail, self.look = detail, look
        is_other = (detail and (detail.id, detail.digest)) != (before and (before.id, before.digest))
        shape, was_shape = (
            (of.layout, of.context, of.is_full, of.choice, of.choice_keys, of.place) for of in (look, was)
        )
        is_taken_otherwise = self._has_long_pairs and look.taken.left != was.taken.left
        if is_other or detail != before or shape != was_shape or is_taken_otherwise:
            self._lay_out()
        self._map.look_anew()
        self.invalidate()
        if is_other:
            self.scroll_to_line(0)

    @property
    def can_split(self) -> bool:
        """Return whether there is room for both sides."""
        return self.width >= SPLIT_FROM

    @property
    def diff_layout(self) -> DiffLayout:
        """Return how a diff is shown: as the user chose, by itself split where two sides have room."""
        files = self.detail.files if self.detail else ()
        has_sides = any(file.change == "modify" for file in files)
        is_wide = self.screen.size.width >= SPLIT_BY_ITSELF_FROM
        wanted = self.look.layout or ("split" if is_wide and has_sides else "unified")
        return wanted if self.can_split else "unified"

    @property
    def is_split(self) -> bool:
        """Return whether both sides are shown."""
        return self._diff is not None and self._diff.layout == "split"

    @property
    def context(self) -> int:
        """Return how many equal lines around a change are shown."""
        return self.look.context if self._diff is None else self._diff.context

    @property
    def position_caption(self) -> str:
        """Return where the view is in what does not fit it: `line 40 of 210`; empty where all of it does."""
        last, height = self.visible_lines.stop, self.size.height
        return f"line {last} of {self.line_count}" if self.line_count > height > 0 else ""

    def on_width(self, width: int) -> None:
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
            self._above = action_detail.status_bar_lines(detail, width, ink(self), glyphs(self))
            self._diff = self._diff_of(detail, width) if detail.files else None
            self._body, table = ([], range(0)) if self._diff else self._body_of(detail, width)
            body = [row for row in range(len(self._body)) if row not in table]
            rows = RequiredRows(self._diff, body, has_hunks=bool(detail.hunks))
            arrangement = (self.diff_layout, self.context, len(self._diff or self._body))
            layout = (width, *arrangement)
            whole = self._diff.whole_lines if self._diff else frozenset[tuple[int, int]]()
            content = (detail.digest, detail.hunks, whole)
            self._drawing = self._receipts.of(detail.id, content, layout, rows)
        self._has_long_pairs = self._diff is not None and self._diff.has_long_pairs
        if before is not self._drawing:
            if before is not None:
                self._note(before, ())
            self._tell_again(self._unseen_of_whole_lines())
        self.set_line_count(len(self._above) + (len(self._diff) if self._diff else len(self._body)))
        self.rows_needed = self._rows_needed()
        self._map.begin()
        self._tell_position()

    def _rows_needed(self) -> int:
        diff = self._diff
        if diff is None:
            return self._line_count
        if diff.context > self.look.context:
            # It fits with more context than it needs, so it is short.
            diff = Diff(diff.files, diff.width, layout=diff.layout, context=self.look.context)
        heads = int(self.is_split)
        return len(self._above) + len(diff) + heads

    def _unseen_of_whole_lines(self) -> frozenset[int]:
        """Return the parts to be seen again: who saw the changed parts of a line did not see all of it."""
        whole = self._diff.whole_lines if self._diff is not None else frozenset[tuple[int, int]]()
        is_same, self._whole_lines = whole == self._whole_lines, whole
        if is_same or self._drawing is None:
            return frozenset()
        return frozenset(self._drawing.unseen_parts({hunk for hunk, _ in whole}))

    def _diff_of(self, detail: ActionDetail, width: int) -> Diff:
        layout, look = self.diff_layout, self.look
        has_base = any(file.base for file in detail.files)
        what = (detail.digest, has_base, width, layout, look.context, look.is_full, self.screen.size)
        now, height = context_of(self).monotonic(), self.size.height - len(self._above)
        if self._fit.is_open(what, now):
            self._fit.lines = fitting_context(detail.files, width, layout, look.context, height)
        return Diff(detail.files, width, layout=layout, context=self._fit.lines, taken=look.taken)

    def _scrolled(self) -> None:
        self._is_scrolling = False
        self._tell_position()

    def _tell_position(self) -> None:
        position = (self.is_split, self.position_caption, self.rows_needed)
        if position != self._position:
            self._position = position
            self._moved()

    def _body_of(self, detail: ActionDetail, width: int) -> tuple[list[Content], range]:
        return action_detail.body_and_parts_table(
            detail,
            width,
            ink(self),
            glyphs(self),
            choice=self.look.choice,
            place=self.look.place,
            choice_keys=self.look.choice_keys,
        )

    # --- drawing and receipts -------------------------------------------------------------------

    def draw_line(self, line: int, width: int) -> Strip:
        self.note_drawn(line)
        above = len(self._above)
        if line < above:
            return cells.line_strip(self._above[line], width)
        row = line - above
        if self._diff is None:
            return cells.line_strip(self._body[row], width)
        return self._diff.strip(row, ink(self), glyphs(self), self._diff_look())

    def note_drawn(self, line: int) -> None:
        """Note that a line is in the frame that is drawn; the status lines above the rows need no receipt."""
        row = line - len(self._above)
        if row >= 0 and row not in self._painted:
            self._painted.add(row)
            self.tell()

    def _diff_look(self) -> DiffDisplay:
        look, detail = self.look, self.detail
        return DiffDisplay(
            taken=look.taken,
            hunk=look.hunk,
            line=look.line,
            stop=self._stop() if look.line is None else None,
            has_focus=look.has_focus,
            is_open=detail is not None and (detail.is_pending or detail.was_taken is not None),
            find=look.find,
            painter=painter(self),
        )

    def stop_count(self, hunk: int) -> int:
        """Return how many changed parts a hunk has: one, but for very long lines."""
        return max(1, len(self._diff.stops(hunk))) if self._diff is not None else 1

    def _stop(self) -> int | None:
        """Return which changed part of its hunk is under the cursor; None of a hunk that has one."""
        count = self.stop_count(self.look.hunk or 0)
        return min(self.look.stop, count - 1) if count > 1 else None

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self._map.look_anew()
            self.tell()
            if not self._is_scrolling:
                self._is_scrolling = True
                self.set_timer(_TITLE_SECONDS, self._scrolled)

    def on_hide(self) -> None:
        """Count nothing that is drawn where nobody sees it."""
        self._look_again()

    def on_resize(self, event: events.Resize) -> None:
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
            self._drawing.begin_again(context_of(self).monotonic())
        self.tell()

    def _look_again(self) -> None:
        """Note which rows are on the screen, with nothing over them."""
        self._is_telling = False
        if self._drawing is not None:
            self._fit.was_drawn(context_of(self).monotonic())
            self._note(self._drawing, self._rows_on_screen())
            subject = self._map_subject()
            rows = self._map.rows_changed(subject) if subject else []
            if rows:
                self.refresh(*(Region(0, y, self.size.width, 1) for y in rows))

    def _rows_on_screen(self) -> frozenset[int]:
        if not self.screen.is_active or not self.is_on_screen:
            return frozenset()
        above = len(self._above)
        rows = (line - above for line in self.visible_lines)
        return frozenset(row for row in rows if row in self._painted)

    def _note(self, drawn: LayoutReceipts, rows: Collection[int]) -> None:
        moment = context_of(self).monotonic() if self.screen.is_active else None
        come, gone = drawn.put_on_screen(rows, moment)
        left = drawn.lines_left() if drawn is self._drawing else 0
        if come or gone or left != self._left:
            self._left = left
            self.post_message(PartsSeen(drawn.action_id, come, gone, left))

    def _tell_again(self, gone: frozenset[int] = frozenset()) -> None:
        """Say what was seen of an action that is shown again: others may have forgotten it.

        `gone` is what was seen of it before, of which more is to be seen now.
        """
        drawn = self._drawing
        if drawn is not None:
            self._left = drawn.lines_left()
            self.post_message(PartsSeen(drawn.action_id, frozenset(drawn.told), gone, self._left))

    def is_settled(self, at: float) -> bool:
        """Return whether all that counts as seen has stood on the screen long enough at a moment."""
        return self._drawing is None or self._drawing.is_settled(at)

    def show_next(self, parts: Collection[int]) -> "NextPart":
        """Scroll to what of some parts was not on the screen yet; says what is left then."""
        drawn = self._drawing
        unseen = [] if drawn is None else drawn.unseen_rows(parts)
        if drawn is None or not unseen:
            self._tell_again()
            return NextPart()
        first, height = unseen[0], max(1, self.size.height)
        part = drawn.rows.part_at(first)
        rows, top = drawn.rows.of(part), first
        if self._diff is not None and part:
            head = self._diff.hunk_top(part)
            is_begun = first > min(rows) and max(rows) - head >= height
            # From its head on where that brings the line onto the screen: of few rows context takes all.
            top = first if is_begun or first - head >= height else head
        line = len(self._above) + top
        self.scroll_to_line(line)
        end = max(0, min(line, self.line_count - height)) + height - len(self._above)
        below = [row for row in unseen if row >= end]
        hunks = len({drawn.rows.part_at(row) for row in below})
        last = self._words_of(below) if below else ""
        stop = self._stop_at(part, first)
        return NextPart(hunk=part or None, stop=stop, hunks=hunks, lines=len(below), last=last)

    def _stop_at(self, hunk: int, row: int) -> int:
        stops = self._diff.stops(hunk) if self._diff is not None else ()
        return next((number for number, rows in enumerate(stops) if row < rows.stop), 0)

    def _words_of(self, below: Sequence[int]) -> str:
        """Return the last of some rows of a diff, or the end of a command among them; else nothing."""
        if self._diff is not None:
            return self._diff.words(below[-1])
        detail = self.detail
        if detail is not None and detail.command is not None:
            end = action_detail.command_height(detail, self.width, ink(self))
            if below[0] <= end:
                return detail.command.rstrip().rpartition("\n")[2]
        return ""

    # --- the map at the right edge --------------------------------------------------------------

    def edge_strip(self, y: int) -> Strip | None:
        if not self._map.is_made:
            subject = self._map_subject()
            if subject is None:
                return None
            self._map.make(subject)
        marks = self._map.marks
        return mark_strip(marks[y], ink(self), glyphs(self)) if y < len(marks) else None

    def _map_subject(self) -> MapSubject | None:
        if self._diff is None or self._drawing is None or not self.size.height:
            return None
        return MapSubject(
            self._drawing, self.size.height, len(self._above), self.line_count, self.visible_lines,
            self.look.hunk, shows_unseen=not self.look.is_past,
        )  # fmt: skip

    # --- moving ---------------------------------------------------------------------------------

    def jump_targets(self) -> Iterator[JumpTarget]:
        for hunk in self.detail.hunks if self.detail is not None and self._diff is not None else ():
            line = len(self._above) + self._diff.hunk_top(hunk.index) if self._diff is not None else 0
            if line in self.visible_lines:
                message = self.HunkClicked(hunk.index, is_box=False)
                yield JumpTarget(Offset(0, line - self.first_line), partial(self.post_message, message))

    def reveal_hunk(self) -> None:
        """Scroll so that the hunk under the cursor, or its line, is on the screen."""
        look, diff = self.look, self._diff
        if diff is None or look.hunk is None:
            return
        above = len(self._above)
        if look.line is not None:
            self.reveal(above + diff.line_top(look.hunk, look.line))
        elif stop := self._stop():
            # With the rows before and behind it, which count what is not shown there.
            rows = diff.stops(look.hunk)[stop]
            self.reveal(above + rows.start - 1, min(above + rows.stop, self.line_count - 1))
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
        index = here + step
        return firsts[index] if 0 <= index < len(firsts) else None

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
        diff_row = self._diff.row(row)
        if diff_row.hunk is not None:
            self.post_message(self.HunkClicked(diff_row.hunk, diff_row.kind == "head" and event.x <= 10))


class ActionDetailPane(Pane):
    """A pane that shows one action in full below its list."""

    standing: PaneArming

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.detail_title = PaneTitle("", key="detail-title")
        self.detail_view = DetailView(key="detail", moved=self._view_moved)
        self.sides = ColumnHeader(
            lambda width: split_heads_strip(width, ink(self), glyphs(self)), key="detail-sides"
        )
        self.files: FileColumn | None = None
        self.choosing = ApprovalSelection()
        self.detail: ActionDetail | None = None
        self.find = ""
        self.layout_choice: DiffLayout | None = None
        self.context = HUNK_CONTEXT_LINES
        self.is_full = False
        self.in_place: LineView | None = None
        """What stands where the detail would, and scrolls by its keys."""
        self._gone = ""
        self._tells_keys_after_frame = False
        self._row: QueueRow | None = None
        """The row that the title was last told of."""

    def compose_detail(self) -> Iterable[Widget]:
        """Yield title, files and the detail itself."""
        yield self.detail_title
        with Horizontal(id="detail-body"), Vertical(id="detail-column"):
            yield self.detail_view

    def show_detail(self, detail: ActionDetail | None) -> None:
        """Show the action under the cursor in full."""
        was, self.detail = self.detail, detail
        if was is not None and (detail is None or detail.id != was.id):
            self.choosing.line = None
        if detail is not None and (was is None or detail.id != was.id):
            self._tell_keys_after_frame()
        self.draw_detail()
        if (
            detail is not None
            and (gone := approval_selection.dropped_parts_caption(detail, self.choosing)) != self._gone
        ):
            self._gone = gone
            if gone:
                self.post_message(StatusMessage(sentence(gone)))

    def draw_detail(self, *, has_moved: bool = False) -> None:
        """Draw the detail with what is chosen now; with `has_moved` scroll to the hunk under the cursor."""
        self.detail_view.show(self.detail, self._look())
        if has_moved:
            self.detail_view.reveal_hunk()
        self._show_files()
        self.show_titles()
        self.standing.after_frame()
        self._keys_changed()

    def _keys_changed(self) -> None:
        if not self._tells_keys_after_frame:
            self.post_message(KeysChanged())

    def _tell_keys_after_frame(self) -> None:
        """Have the keys shown once for another action: its first frame says what of it was seen."""
        if not self._tells_keys_after_frame:
            self._tells_keys_after_frame = True
            self.call_after_refresh(self._first_frame_drawn)

    def _first_frame_drawn(self) -> None:
        self._tells_keys_after_frame = False
        self._keys_changed()

    def _show_files(self) -> None:
        """Show the files beside the detail; both are made for the first detail in full screen."""
        if self.files is None and self.is_full:
            self.files = FileColumn(key="files")
            body = self.query_one("#detail-body")
            body.mount(self.files, Divider(key="files-divider"), before="#detail-column")
        if self.files is not None:
            self.files.show(self.detail, self.choosing)

    def choice_of_letters(self) -> Mapping[str, str]:
        """Return the answers of a gate by the letters of its file that give them here."""
        return {}

    def _look(self) -> DetailViewState:
        detail, choosing = self.detail, self.choosing
        if detail is None:
            return self.detail_view.look
        return DetailViewState(
            taken=choosing.taken_of(detail),
            hunk=choosing.hunk_of(detail),
            stop=choosing.stops.get(detail.id, 0),
            line=choosing.line,
            choice=choosing.choice_of(detail),
            choice_keys=shown_choice_keys(detail, choosing.choice_of(detail), self.choice_of_letters()),
            place=choosing.place_of(detail),
            layout=self.layout_choice,
            context=self.context,
            is_full=self.is_full,
            find=self.find,
            has_focus=self.has_pane_focus,
            is_past=self.is_past,
        )

    def show_titles(self) -> None:
        """Say in the titles what is shown."""
        raise NotImplementedError

    def show_detail_title(self, row: QueueRow | None) -> None:
        """Say what the detail is of, and where in it the user is; full screen with the time of its row."""
        colours, signs, self._row = ink(self), glyphs(self), row
        if self.detail is None:
            self.detail_title.show(Content(" "), Content(" "), "")
            return
        left = approvals.detail_title(self.detail, colours, signs)
        stops = self.detail_view.stop_count(self.choosing.hunk_of(self.detail) or 0)
        position = approval_selection.position_caption(self.detail, self.choosing, stops)
        right = Content.styled(position, colours.of("muted"))
        if self.is_full:
            left = approval_selection.full_screen_title(self.detail, left, colours)
            right += approval_selection.time_left_caption(row, colours, signs)
        where = Content.styled(self.detail_view.position_caption, colours.of("muted"))
        used = left.cell_length + where.cell_length + right.cell_length
        if where and used + _TITLE_CELLS <= self.size.width:
            right = where + Content("   ") + right if position.strip() else where
        self.detail_title.show(left, right, self.detail.verb if self.is_full else "")
        self.detail_title.set_focused(self.is_full and self.has_pane_focus)

    def _view_moved(self) -> None:
        self.put(self.sides, self.detail_view, is_shown=self.detail_view.is_split)
        self.fit_list()
        self.show_detail_title(self._row)

    def fit_list(self) -> None:
        """Give the list what the detail leaves."""
        raise NotImplementedError

    def wants_base(self, hunks: Sequence[Hunk]) -> bool:
        """Return whether more of the files may be shown than the hunks hold."""
        rows = sum(1 + len(hunk.lines) for hunk in hunks)
        has_room = self.context == HUNK_CONTEXT_LINES and rows < self.screen.size.height
        return has_room or self.context > HUNK_CONTEXT_LINES

    @on(PartsSeen)
    def _hunks_shown(self, message: PartsSeen) -> None:
        message.stop()
        self.choosing.was_shown(message.action_id, message.hunks, message.gone, message.left)
        self._keys_changed()

    @on(DetailView.HunkClicked)
    def _hunk_clicked(self, message: DetailView.HunkClicked) -> None:
        message.stop()
        if self.detail is not None:
            self.choosing.go_to_hunk(self.detail.id, message.hunk)
            if message.is_box and self.detail.is_pending:
                self.choosing.toggle_hunk(self.detail)
            self.draw_detail()

    def uncovered(self) -> None:
        """Begin to count: a dialog that was over it is gone, and what came meanwhile is seen only now."""
        self.detail_view.uncovered()
        self.standing.forget()

    def scroll_half(self, direction: int) -> None:
        view = self.in_place or self.detail_view
        view.scroll_to_line(view.first_line + direction * max(1, view.size.height // 2))

    def move(self, rows: int) -> None:
        if self.in_place is not None and not (self.list_view and self.list_view.line_count):
            self.in_place.scroll_to_line(self.in_place.first_line + rows)
        else:
            super().move(rows)
