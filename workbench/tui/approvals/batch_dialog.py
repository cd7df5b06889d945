"""The dialog that decides several marked actions: each is seen here, and each gets its own decision."""

from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace
from rich.style import Style as RichStyle
from textual import on
from textual.content import Content
from textual.strip import Strip

from workbench.domain.values import Decision, DecisionVerdict
from workbench.render import cells
from workbench.render.approvals import folder_column_cells
from workbench.render.cells import Column
from workbench.render.glyphs import Glyphs
from workbench.render.list_rows import PLACE_CELLS, line_counts, place_content, reads_as_path
from workbench.render.theme import Ink
from workbench.text import human
from workbench.tui.approvals.approval_selection import ApprovalSelection
from workbench.tui.approvals.table_dialog import TableDialog
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.arming import TOO_QUICK
from workbench.tui.keyboard.rule import ARM_SECONDS
from workbench.tui.pane import DecisionMade, PartsSeen
from workbench.tui.render_context import context_of, glyphs, ink
from workbench.tui.widgets.line_view import RowList, RowPlacement
from workbench.views.action_detail import ActionDetail
from workbench.views.approvals import QueueRow

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext

_DECIDED_ALONE = {
    "gate": "gates are answered one by one", "ask": "questions are answered one by one",
    "found": "files that were found are answered one by one",
}  # fmt: skip
_MAX_LEFT_OUT = 3
_BOX_WIDTH = 118
"""The most cells of the box, as the stylesheet has it."""
_WIDE_BOX = 84
"""Cells of a line that holds all keys with what they do."""
_MIN_TARGET_CELLS = 12
_MIN_LEFT_CELLS = 6
_EFFECT_OF_APPROVAL = {"edit": "whole", "write": "new file", "move": "moves", "del": "deletes", "run": "runs"}


class BatchRow(Struct, frozen=True, kw_only=True):
    """One action of the table."""

    row: QueueRow
    detail: ActionDetail


def open_batch(context: "MainContext", verdict: DecisionVerdict) -> None:
    """Open the table of the marked actions of a main screen."""
    rows: list[BatchRow] = []
    for row in context.widgets.approvals.rows:
        if row.id in context.widgets.approvals.choosing.marks and row.is_pending:
            detail = context.presenter.detail_of(row.id)
            if detail is not None and not detail.is_stale:
                place = context.widgets.approvals.choosing.place_of(detail)
                rows.append(BatchRow(row=row, detail=replace(detail, place=place)))
    taken = {batch_row.row.id for batch_row in rows}
    left_out = [
        row
        for row in context.widgets.approvals.rows
        if row.is_pending and row.id not in taken and _why_decided_alone(row)
    ]
    if not rows:
        context.say("Nothing that is marked waits.")
        return
    context.app.push_screen(BatchDialog(context, rows, left_out, verdict))


def _why_decided_alone(row: QueueRow) -> str:
    """Return why a row is answered by itself; empty for one that can be answered with others."""
    if row.sign == "stale":
        return "stale, its new diff comes first"
    if row.verb in _DECIDED_ALONE:
        return _DECIDED_ALONE[row.verb]
    return "" if row.can_batch else "marked !, answered one by one"


_TALL_ROWS: Final = 24
"""Rows from which there are blank ones between the parts."""


class BatchList(RowList):
    """The rows of the table."""

    def __init__(self) -> None:
        super().__init__(key="batch-list")
        self.rows: dict[str, BatchRow] = {}
        self.choosing = ApprovalSelection()

    def show_rows(self, rows: list[BatchRow], choosing: ApprovalSelection) -> None:
        """Show rows with what was seen of them."""
        self.rows, self.choosing = {batch_row.row.id: batch_row for batch_row in rows}, choosing
        self.set_ids(list(self.rows))

    @property
    def left_cells(self) -> int:
        """Return the cells of the column that says how much time is left: none of them is cut."""
        return max([_MIN_LEFT_CELLS, *(len(_time_left(batch_row)) for batch_row in self.rows.values())])

    @property
    def folder_cells(self) -> int | None:
        """Return the cells of the column of folders; None where they are not told apart."""
        names = [batch_row.row.folder for batch_row in self.rows.values()]
        return folder_column_cells(names, self.size.width) or None

    @property
    def place_cells(self) -> int | None:
        """Return the cells of the column that says where commands run; None without commands."""
        return PLACE_CELLS if any(row.detail.place is not None for row in self.rows.values()) else None

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        """Draw a row: taken, seen, folder, what, target, place, lines, session, left, what approval does."""
        batch_row, colours, signs = self.rows[placed.row_id], ink(self), glyphs(self)
        is_seen = not self.choosing.unseen(batch_row.detail)
        words = self.choosing.taken_of(batch_row.detail).words()
        does = f"{words} hunks" if words else _EFFECT_OF_APPROVAL.get(batch_row.row.verb, "whole")
        bar = signs.of("cursor") if placed.is_cursor else " "
        left = _time_left(batch_row)
        seen = (f"{signs.of('ok')} yes", "added") if is_seen else (f"{signs.of('waiting')} no ", "waiting")
        columns = [
            Column(content=Content.styled(bar, colours.of("info")), gap=0),
            Column(content=Content.styled(signs.of("taken"), colours.of("added")), gap=0),
            Column(content=Content.styled(seen[0], colours.of(seen[1])), width=5),  # type: ignore[arg-type]
            Column(content=_folder_cell(batch_row, colours), width=self.folder_cells),
            Column(content=Content(batch_row.row.verb), width=5),
            Column(
                content=cells.safe_content(signs.target(batch_row.row.target)),
                grows=True,
                least=16,
                cut="path" if reads_as_path(batch_row.row.target) else "end",
            ),
            Column(
                content=place_content(batch_row.detail.place, colours, leaves=batch_row.row.can_move),
                width=self.place_cells,
            ),
            Column(
                content=line_counts(batch_row.row.added, batch_row.row.removed, colours, signs),
                width=9,
                align="right",
                drop=2,
            ),
            Column(
                content=cells.safe_content(batch_row.row.session_title, colours.of("muted")),
                width=16,
                drop=3,
                gap=2,
            ),
            Column(content=Content(left), width=self.left_cells, align="right"),
            Column(content=Content.styled(does, colours.of("muted")), width=16, gap=2, drop=1),
            Column(content=Content(" "), gap=0),
        ]
        style = colours.cursor(has_focus=placed.is_focused) if placed.is_cursor else None
        strip = cells.row_strip(columns, width, style, glyphs=signs)
        return strip.apply_style(RichStyle(reverse=True)) if placed.is_flashing else strip


def _folder_cell(batch_row: BatchRow, colours: Ink) -> Content:
    return cells.safe_content(batch_row.row.folder, colours.of("foreground"))


def _time_left(batch_row: BatchRow) -> str:
    left = batch_row.row.left_seconds
    return "" if left is None else human.countdown_text(left)


def _column_header(
    width: int,
    left_cells: int,
    folder_cells: int | None,
    place_cells: int | None,
    colours: Ink,
    signs: Glyphs,
) -> Strip:
    """Return the column heads over the rows."""
    faint = colours.of("faint")
    columns = [
        Column(content=Content(""), width=2, gap=0),
        Column(content=Content.styled("seen", faint), width=5),
        Column(content=Content.styled("folder" if folder_cells else "", faint), width=folder_cells),
        Column(content=Content.styled("what", faint), width=5),
        Column(content=Content.styled("target", faint), grows=True, least=16),
        Column(content=Content.styled("runs" if place_cells else "", faint), width=place_cells),
        Column(content=Content.styled("lines", faint), width=9, align="right", drop=2),
        Column(content=Content.styled("session", faint), width=16, drop=3, gap=2),
        Column(content=Content.styled("left", faint), width=left_cells, align="right"),
        Column(content=Content.styled("on approval", faint), width=16, gap=2, drop=1),
        Column(content=Content(" "), gap=0),
    ]
    return cells.row_strip(columns, width, colours.on("background"), glyphs=signs)


class BatchDialog(TableDialog, inherit_bindings=False):
    """The table over the main screen."""

    BINDINGS = keymap.bindings("batch")
    LEAVES = "batch.leave"
    DECIDES = True

    def __init__(
        self, context: "MainContext", rows: list[BatchRow], left_out: list[QueueRow], verdict: DecisionVerdict
    ) -> None:
        self._batch = BatchList()
        super().__init__("batch", self._batch, self._draw_heads)
        self._left_out = left_out
        self._main, self._rows, self._verdict = context, rows, verdict
        self._opened_at = context_of(context.widgets.approvals).monotonic()

    def _draw_heads(self, width: int) -> Strip:
        batch = self._batch
        cells = (batch.left_cells, batch.folder_cells, batch.place_cells)
        return _column_header(width, *cells, ink(self), glyphs(self))

    def opened(self) -> None:
        super().opened()
        self.fill()
        unseen = [batch_row for batch_row in self._rows if self.choosing.unseen(batch_row.detail)]
        self._list.put_cursor((unseen or self._rows)[0].row.id)
        self.set_interval(1.0, self._count_on)

    def _count_on(self) -> None:
        """Show how much time is left now, as the queue below says it."""
        queue = self._main.widgets.approvals.queue.rows
        rows = [replace(known, row=queue.get(known.row.id, known.row)) for known in self._rows]
        if rows != self._rows:
            self._rows = rows
            self._batch.show_rows(rows, self.choosing)

    @property
    def choosing(self) -> ApprovalSelection:
        """Return what was chosen and seen, the queue's own."""
        return self._main.widgets.approvals.choosing

    @property
    def subject(self) -> tuple[str, ...]:
        return tuple(batch_row.detail.digest for batch_row in self._rows)

    @property
    def decided(self) -> tuple[str, ...] | None:
        return None if self._unseen() else self.subject

    def _unseen(self) -> int:
        return sum(bool(self.choosing.unseen(batch_row.detail)) for batch_row in self._rows)

    def show_said(self) -> None:
        self.fill()

    def fill(self) -> None:
        count, unseen, colours, signs = len(self._rows), self._unseen(), ink(self), glyphs(self)
        verb = "Approve" if self._verdict == "approve" else "Reject"
        self.set_titles(f"{verb} {count} actions together", f"seen {count - unseen} of {count}")
        self._list.styles.height = min(count, max(2, self.size.height // 3 - 2), 10)
        self._batch.show_rows(self._rows, self.choosing)
        sign = Content.styled(
            signs.of("waiting" if unseen else "ok"), colours.of("waiting" if unseen else "added")
        )
        words = (
            f" {unseen} not on your screen yet. j k look at each."
            if unseen
            else " All of them were on your screen."
        )
        if self.said:
            sign, words = Content.styled(signs.of("waiting"), colours.of("waiting")), f" {self.said}"
        gap = "\n" if self.size.height >= _TALL_ROWS else ""
        self._note.update(Content.assemble(gap, self._left_out_lines(), " ", sign, words, gap))
        info, faint = colours.of("info", bold=True), colours.of("faint")
        approve = (f"a approve {count}", faint) if unseen else ("a", info)
        is_wide = self._room >= _WIDE_BOX
        others = (
            ("r", f"reject {count}"),
            ("j k", "look at each" if is_wide else "look"),
            ("J K", "scroll"),
            ("m", "unmark"),
            ("esc", "back, nothing is done" if is_wide else "back"),
        )
        first = Content.assemble(approve, "" if unseen else f" approve {count}")
        self._keys.update(Content.assemble(self.key_rows(first, others, self._room), gap))
        self.call_after_refresh(self.note_drawn)

    @property
    def _room(self) -> int:
        """Return the cells of a line in the box, whose width is a share of the screen's."""
        return min(self.size.width * 96 // 100, _BOX_WIDTH) - 8

    def _left_out_lines(self) -> Content:
        """Return what waits and is not in the table, and why."""
        muted, lines = ink(self).of("muted"), [Content("")]
        for row in self._left_out[:_MAX_LEFT_OUT]:
            head = " left out:  " if row is self._left_out[0] else " " * 12
            why = _why_decided_alone(row)
            room = max(_MIN_TARGET_CELLS, min(40, self._room - len(head) - 2 - len(why)))
            words = cells.safe_content(glyphs(self).target(f"{row.verb} {row.target}"))
            target = cells.shorten_line(words, room, glyphs(self)).pad_right(1)
            line = Content.assemble((head, muted), target, " ", (why, muted))
            lines.append(cells.shorten_line(line, self._room, glyphs(self)) + "\n")
        more = len(self._left_out) - _MAX_LEFT_OUT
        if more > 0:
            lines.append(Content.styled(f"{' ' * 12}and {more} more\n", muted))
        return Content("").join([*lines, "\n" if self._left_out else ""])

    def row_moved(self, message: RowList.Moved) -> None:
        batch_row = self._batch.rows.get(message.row_id or "")
        if batch_row is not None:
            detail, choosing = batch_row.detail, self.choosing
            self.show_diff(detail, choosing.taken_of(detail), choosing.hunk_of(detail))

    @on(PartsSeen)
    def _hunks_shown(self, message: PartsSeen) -> None:
        self.choosing.was_shown(message.action_id, message.hunks, message.gone, message.left)
        self.fill()

    # --- what keys ask for ----------------------------------------------------------------------

    def why_early(self, key_id: str) -> str:
        unseen, is_approval = self._unseen(), key_id == "batch.approve"
        if is_approval and unseen:
            return f"{unseen} of them {'was' if unseen == 1 else 'were'} not on the screen yet."
        since_opened = context_of(self).key_time - self._opened_at >= ARM_SECONDS
        is_armed = self.is_armed_for_key if is_approval else since_opened
        key = keymap.own_key(keymap.key_of(key_id), keymap.user_keymap(self))
        return "" if is_armed else TOO_QUICK.format(key=key)

    def label_of(self, key_id: str) -> str:
        count = len(self._rows)
        return {"batch.approve": f"approve {count}", "batch.reject": f"reject {count}"}[key_id]

    def answer(self, verdict: DecisionVerdict) -> None:
        """Answer every row, each for the digest that was drawn; approving needs all of them seen."""
        if why := self.why_early(f"batch.{verdict}"):
            self.say(why)
            return
        for batch_row in self._rows:
            rejection = DecisionMade(
                Decision(action_id=batch_row.row.id, verdict="reject"), batch_row.detail.digest
            )
            approval = self.choosing.approval(batch_row.detail) if verdict == "approve" else rejection
            self._main.tasks.decide(approval)
        self.choosing.marks.clear()
        self._main.widgets.approvals.marks_changed()
        self.dismiss()

    def unmark(self) -> None:
        """Take the row under the cursor out; the last one closes the table."""
        gone = self._list.cursor
        self.choosing.marks.discard(gone or "")
        self._rows = [batch_row for batch_row in self._rows if batch_row.row.id != gone]
        if not self._rows:
            self.leave()
            return
        self._arming.disarm()
        self.fill()

    def leave(self) -> None:
        self._main.widgets.approvals.marks_changed()
        self.dismiss()
