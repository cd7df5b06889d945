"""The approvals pane: the queue with its countdowns, its order and filter, above the action in full.

New rows never push the row under the cursor away; decided rows stay in place for a moment. It decides nothing
itself: it sends messages.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace
from rich.style import Style as RichStyle
from textual import on
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.domain.rows import Action
from workbench.domain.values import Place
from workbench.render import approvals, cells
from workbench.render.list_rows import PLACE_CELLS
from workbench.tui.approvals import approval_selection
from workbench.tui.approvals.action_detail import ActionDetailPane
from workbench.tui.approvals.answer_row import AnswerRow, answers_of
from workbench.tui.approvals.approval_selection import ReasonInput
from workbench.tui.approvals.choice_keys import choice_of_letters, label_of_letter, letter_of
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.arming import TOO_QUICK, PaneArming
from workbench.tui.pane import (
    AnswerEnded,
    DecisionReported,
    DetailWanted,
    KeysChanged,
    LineWanted,
    QueueModel,
    StatusMessage,
)
from workbench.tui.places import place_number
from workbench.tui.render_context import glyphs, has_motion, ink
from workbench.tui.widgets.line_view import LineView, RowList, RowPlacement
from workbench.tui.widgets.list_height import list_height
from workbench.tui.widgets.pane_frame import ColumnHeader
from workbench.views import approvals as views_approvals
from workbench.views.action_detail import ActionDetail
from workbench.views.approvals import QueueOrder as approvals_QueueOrder
from workbench.views.approvals import QueueRow
from workbench.views.sessions import awaited_text

if TYPE_CHECKING:
    from workbench.tui.approvals.approval_actions import ApprovalActions


def queue_successors(actions: Iterable[Action], shown: Collection[str]) -> dict[str, str]:
    """Return which action stands in for one that is shown: it was extended, refreshed or stacked anew."""
    standing = {action.supersedes: action.id for action in actions if action.supersedes}
    ids = {action.id for action in actions if action.state != "superseded"}
    moved: dict[str, str] = {}
    for key in shown:
        heir = key
        while heir in standing and heir not in ids:
            heir = standing[heir]
        if heir != key:
            moved[key] = heir
    return moved


def with_new_rows_below_cursor(
    rows: Sequence[QueueRow],
    before: Collection[str],
    cursor: str | None,
    can_hold_above: Callable[[int], bool],
) -> list[QueueRow]:
    """Return the rows with new ones below the row under the cursor, unless the list can scroll instead.

    Decided rows always follow those that wait: on a decided row the cursor holds nothing above it.

    Args:
        rows: in the order they would have.
        before: ids that were shown.
        cursor: the id under the cursor.
        can_hold_above: whether so many rows above the cursor leave it on its line.
    """
    cursor_index = next((n for n, row in enumerate(rows) if row.id == cursor), None)
    if cursor_index is None or rows[cursor_index].in_decided:
        return list(rows)
    fresh = [row for row in rows[:cursor_index] if row.id not in before]
    if not fresh or can_hold_above(len(fresh)):
        return list(rows)
    old = [row for row in rows[: cursor_index + 1] if row.id in before]
    return [*old, *fresh, *rows[cursor_index + 1 :]]


_QUEUE_ORDERS: Final[tuple[approvals_QueueOrder, ...]] = ("time", "new", "session")


class QueueOrder:
    """Order, filter and what is left out of one queue."""

    def __init__(self) -> None:
        self.order: approvals_QueueOrder = "time"
        self.text_filter = ""
        self.shows_decided = True
        self._must_sort = True
        self._made: views_approvals.QueueRowCache = {}

    @property
    def words(self) -> str:
        """Return what the title says of it: the filter, else the order."""
        if self.text_filter:
            return f"filter “{self.text_filter}”"
        return views_approvals.QUEUE_ORDER_WORDS[self.order]

    def next(self) -> str:
        """Take the next order, by time left, newest first, by session; return what it is called."""
        self.order = _QUEUE_ORDERS[(_QUEUE_ORDERS.index(self.order) + 1) % len(_QUEUE_ORDERS)]
        return views_approvals.QUEUE_ORDER_WORDS[self.order]

    def sort_anew(self) -> None:
        """Let the next rows take their places by order, wherever they stood."""
        self._must_sort = True

    def rows(
        self,
        view: QueueModel,
        marks: Collection[str],
        lingering: Collection[str],
        places: Mapping[str, Place],
    ) -> Sequence[QueueRow]:
        """Return the rows of a view, in the order they would have.

        Args:
            view: the queue as it stands.
            marks: ids that are marked for a batch.
            lingering: ids of decided rows that are not hidden yet.
            places: where commands run that were asked about with another place, by id.
        """
        return views_approvals.queue_rows(
            view.actions, view.sessions, view.now, order=self.order, text_filter=self.text_filter,
            shows_decided=self.shows_decided, marks=marks, calls=view.calls, hunk_sizes=view.hunk_sizes,
            lingering=lingering, ruled=view.ruled, undone=view.undone, folders=view.folders, places=places,
            cache=self._made, has_times=view.has_times, blocked=view.blocked,
        )  # fmt: skip

    def held(
        self,
        found: Sequence[QueueRow],
        before: Sequence[str],
        cursor: str | None,
        can_hold_above: Callable[[int], bool],
    ) -> Sequence[QueueRow]:
        """Keep the order that is shown; what is new stands above the cursor only if the list can scroll."""
        if self._must_sort or not before:
            self._must_sort = False
            return found
        return with_new_rows_below_cursor(
            views_approvals.keep_shown_order(found, before), set(before), cursor, can_hold_above
        )


"""The place of the conversation."""
DECIDED_CAPTION: Final = "-decided"
_REVERSED: Final = RichStyle(reverse=True)
_MIN_ROWS: Final = 6
"""Rows of the queue above a long detail, however few of them wait."""


class QueueList(RowList):
    """What waits, and what was decided."""

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.rows: dict[str, QueueRow] = {}
        self.order: Sequence[str] = ()
        """The ids of rows as they are shown."""
        self._waiting = 0
        self._titles: frozenset[str] = frozenset()
        self._names_agent = False
        self._folders: frozenset[str] = frozenset()
        self._has_places = False
        self._now = 0
        self.is_zoomed = False
        self.idle: Sequence[Content] = ()
        """What is said without rows."""
        self._rows_allowed: int | None = None
        self._waiting_words = ""

    def show_waiting(self, words: str) -> None:
        """Show at the end of the row under the cursor which key has to be pressed again."""
        self._waiting_words = words
        self.invalidate()

    def show_rows(
        self, shown: Sequence[QueueRow], now: int, *, is_zoomed: bool, is_wide: bool = False
    ) -> None:
        """Show rows in this order.

        Args:
            shown: pending first, as `views.queue.rows` has them.
            now: the moment, in microseconds.
            is_zoomed: with marks and the caption of the decided.
            is_wide: each with its folder.
        """
        if not has_motion(self):
            shown = [views_approvals.with_countdown_in_minutes(row) for row in shown]
        before, self.rows = self.rows, {row.id: row for row in shown}
        changed = {row.id for row in shown if before.get(row.id) is not row and before.get(row.id) != row}
        named = [row for row in shown if is_zoomed or row.is_pending]
        titles = frozenset(row.session_title for row in named)
        self._names_agent = any(row.names_agent for row in named)
        folders = frozenset(row.folder for row in shown if is_wide)
        has_places = any(row.place is not None for row in shown)
        waiting = sum(row.is_pending for row in shown)
        if (waiting, is_zoomed) != (self._waiting, self.is_zoomed):
            self.refresh(layout=True)
        columns = (titles, folders, has_places, is_zoomed)
        if columns != (self._titles, self._folders, self._has_places, self.is_zoomed):
            self.invalidate()
        self._waiting, self._titles, self._folders = waiting, titles, folders
        self._has_places = has_places
        self.is_zoomed, self._now = is_zoomed, now
        if not shown:
            self.refresh()
        self.order = [row.id for row in shown]
        self.set_ids(self._captioned(shown) if is_zoomed else self.order, changed | {DECIDED_CAPTION})

    def _captioned(self, shown: Sequence[QueueRow]) -> list[str]:
        ids = [row.id for row in shown]
        first = next((line for line, row in enumerate(shown) if not row.is_pending), len(ids))
        return [*ids[:first], DECIDED_CAPTION, *ids[first:]] if first < len(ids) else ids

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Take what the detail leaves; without a detail the rows of what waits and one more."""
        rows = super().get_content_height(container, viewport, width)
        return min(rows, self.rows_kept if self._rows_allowed is None else self._rows_allowed)

    @property
    def rows_kept(self) -> int:
        """Return the rows that a detail leaves to the list: those of what waits, and one more."""
        return max(_MIN_ROWS, self._waiting + 1)

    def allow_rows(self, rows: int | None) -> None:
        """Take at most so many rows; None while no detail is shown."""
        if rows != self._rows_allowed:
            self._rows_allowed = rows
            self.refresh(layout=True)

    @property
    def has_waiting(self) -> bool:
        """Return whether any row that is shown waits."""
        return self._waiting > 0

    @property
    def shown(self) -> list[QueueRow]:
        """Return the rows as they are shown."""
        return [self.rows[key] for key in self.order]

    @property
    def current(self) -> QueueRow | None:
        """Return the row under the cursor."""
        return self.rows.get(self.cursor or "")

    def can_hold_above(self, count: int) -> bool:
        """Return whether so many rows above the cursor leave it on its line: the list scrolls by them."""
        is_scrolling = self.line_count > self.size.height > 0
        return is_scrolling and self.first_line + count <= self.line_count + count - self.size.height

    def fixed_line(self, y: int, width: int) -> Strip | None:
        if self.rows or y >= len(self.idle):
            return None
        return cells.line_strip(self.idle[y], width, ink(self).on("background"))

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        if placed.row_id == DECIDED_CAPTION:
            return self._caption(width)
        strip = approvals.queue_strip(
            self.rows[placed.row_id],
            width,
            ink(self),
            glyphs(self),
            self._now,
            is_cursor=placed.is_cursor,
            has_focus=placed.is_focused,
            shows_marks=self.is_zoomed,
            in_minutes=not has_motion(self),
            column_cells=self.column_cells(width),
        )
        if placed.is_cursor and self._waiting_words:
            return self._with_waiting_words(strip, width)
        return strip.apply_style(_REVERSED) if placed.is_flashing else strip

    def _with_waiting_words(self, strip: Strip, width: int) -> Strip:
        colours = ink(self)
        words = cells.safe_content(f" {self._waiting_words} ", colours.reverse("info"))
        words = cells.shorten_line(words, max(1, width - 2), glyphs(self))
        end = cells.line_strip(words, words.cell_length)
        return Strip.join([strip.crop(0, width - end.cell_length), end])

    def column_cells(self, width: int) -> approvals.ColumnCells:
        """Return the width of the columns that tell rows apart."""
        return {
            "session": approvals.session_column_cells(self._titles, width, is_needed=self._names_agent),
            "folder": approvals.folder_column_cells(self._folders, width) if self._folders else 0,
            "runs": PLACE_CELLS if self._has_places else 0,
        }

    def _caption(self, width: int) -> Strip:
        colours, line = ink(self), glyphs(self).line("─")
        left, right = f" decided {len(self.rows) - self._waiting}  ", "   d hide decided "
        fill = line * max(0, width - len(left) - len(right))
        return cells.line_strip(
            Content.assemble(
                (left, colours.of("faint")), (fill, colours.of("rule")), (right, colours.of("faint"))
            ),
            width,
        )


LINGER_SECONDS: Final = 4.0


class DecidedRows:
    """The ids of rows that linger in a list."""

    def __init__(self, pane: Widget, rows: QueueList, reshow: Callable[[], None]) -> None:
        self._pane, self._rows, self._reshow = pane, rows, reshow
        self.ids: set[str] = set()

    def add(self, action_id: str) -> None:
        """Let a row stay for a while."""
        self.ids.add(action_id)
        self._pane.set_timer(LINGER_SECONDS, lambda: self._stop(action_id))

    def cursor_came_to(self, row_id: str | None) -> None:
        """Let go of the rows that the cursor has left behind."""
        here = self._rows.line_of(row_id or "")
        for key in [key for key in self.ids if self._is_left(key, here)]:
            self._stop(key)

    def _is_left(self, key: str, here: int | None) -> bool:
        line = self._rows.line_of(key)
        return line is None or (here is not None and abs(here - line) >= 2)

    def _stop(self, action_id: str) -> None:
        if action_id in self.ids:
            self.ids.discard(action_id)
            self._reshow()


_ARMED_SCOPES = frozenset({"approvals", "choice", "trust"})
"""Scopes whose deciding keys are about the row under the cursor."""
_SHOWING_FIRST = frozenset({"approvals.approve", "trust.answer"})
"""Keys that show part by part what nobody saw yet, before they answer."""


class ApprovalsPane(ActionDetailPane):
    """The queue and its detail."""

    class FullChanged(Message):
        """The full-screen diff began or ended."""

        def __init__(self, is_full: bool) -> None:
            super().__init__()
            self.is_full = is_full

    PLACE = place_number("approvals")
    NAME = "Approvals"
    SCOPES = ("lines", "diff", "trust", "choice", "answer", "approvals", "list")
    MOVING = frozenset(
        {
            "diff.scroll-down", "diff.scroll-up", "approvals.diff-down", "approvals.diff-up",
            # Of these the detail that follows tells.
            "list.row-down", "list.row-up",
        }
    )  # fmt: skip
    BINDINGS = keymap.bindings(*SCOPES)

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.queue = QueueList(key="queue")
        self.heads = ColumnHeader(
            lambda width: approvals.queue_head_strip(
                width, ink(self), glyphs(self), self.queue.column_cells(width)
            ),
            key="queue-heads",
        )
        self.answers = AnswerRow(key="answers")
        self.standing = PaneArming(
            self,
            on_change=lambda: self.post_message(KeysChanged()),
            refuse=lambda why: self.post_message(StatusMessage(why)),
        )
        self.ordering, self.written = QueueOrder(), ReasonInput()
        self.is_zoomed = False
        self._shown: QueueModel | None = None
        self._summary = views_approvals.QueueSummary()
        self._lingering = DecidedRows(self, self.queue, self.reshow)
        self.deciding: set[str] = set()

    @cached_property
    def actions(self) -> "ApprovalActions":
        """Return what its keys do, loaded for the first of them."""
        from workbench.tui.approvals.approval_actions import ApprovalActions

        return ApprovalActions(self)

    def compose_body(self) -> Iterable[Widget]:
        yield self.queue
        yield from self.compose_detail()
        yield self.answers

    @property
    def list_view(self) -> LineView | None:
        return self.queue

    @property
    def focus_view(self) -> Widget:
        """Return the list: approving works only with the focus in the queue."""
        return self.queue

    @property
    def rows(self) -> Sequence[QueueRow]:
        """Return the rows as they are shown."""
        return self.queue.shown

    # --- views in -------------------------------------------------------------------------------

    def show(self, view: QueueModel) -> None:
        before, self._shown = self._shown, view
        waited, self._summary = self._summary.waiting, views_approvals.queue_summary(view.actions, view.now)
        moved = queue_successors(view.actions, self.queue.order)
        self._inherit(moved | queue_successors(view.actions, self.choosing.chosen))
        lingering = self._lingering.ids | self.deciding
        rows = self.ordering.rows(view, self.choosing.marks, lingering, self.choosing.places)
        shown = self.ordering.held(
            rows, [moved.get(key, key) for key in self.queue.order],
            self.queue.cursor, self.queue.can_hold_above,
        )  # fmt: skip
        if self.queue.cursor in moved:
            self.queue.cursor = moved[self.queue.cursor]
            self.post_message(DetailWanted(self.queue.cursor))
        self.queue.idle = approvals.empty_queue_lines(
            view.actions, ink(self), glyphs(self), is_filtered=self.ordering.text_filter,
            is_past=self.is_past, elsewhere=view.elsewhere, awaited=self._awaited(view),
        )  # fmt: skip
        self.set_class(not shown, "-idle")
        self.set_class(self.is_past, "-past")
        self.put(self.heads, self.queue, is_shown=self.is_zoomed and bool(shown))
        has_others = view.is_wide or any(folder.is_other for folder in view.folders.values())
        self.queue.show_rows(shown, view.now, is_zoomed=self.is_zoomed, is_wide=has_others)
        self.fit_list()
        if before is not None and view.changed:
            self.queue.flash(view.changed & set(self.queue.order))
        self.show_titles()
        detail = self.detail
        can_return = detail is not None and (detail.again or detail.reopening) is not None
        is_blocked = self.queue.cursor in (
            view.blocked if before is None else {*view.blocked, *before.blocked}
        )
        if self.queue.cursor in view.changed or ((can_return or is_blocked) and view.changed):
            self.post_message(DetailWanted(self.queue.cursor))
        if before is not None and not waited:
            self._go_to_first_waiting()
        self.choosing.forget({action.id for action in view.actions} | set(moved.values()))

    def fit_list(self) -> None:
        queue, view = self.queue, self.detail_view
        if not self.size.height or self.detail is None or not view.display:
            queue.allow_rows(None)
            return
        around = (self.title_row, self.heads, self.answers)
        body = self.size.height - sum(widget.is_attached and bool(widget.display) for widget in around)
        line = queue.line_of(queue.cursor or "")
        queue.allow_rows(
            list_height(
                queue.line_count, body, view.rows_needed, keeps=queue.rows_kept,
                up_to_cursor=0 if line is None else line - queue.first_line + 1,
            )
        )  # fmt: skip

    def _awaited(self, view: QueueModel) -> str:
        """Return what the queue waits for, once an agent has been asked for anything."""
        return awaited_text(view.sessions.values()) if view.sessions else ""

    def _go_to_first_waiting(self) -> None:
        """Put the cursor on what waits after nothing did: it stood on something decided.

        A key counts for the new row only after it has stood on the screen, as for any other.
        """
        row = self.queue.current
        if self._summary.first_id and not (self.is_past or self.is_full or (row and row.is_pending)):
            self.queue.put_cursor(self._summary.first_id)

    def tick(self, now: int) -> None:
        if self._shown is not None:
            self.show(replace(self._shown, now=now, changed=frozenset()))

    def reshow(self, *, is_sorted: bool = False) -> None:
        """Show the same again after order, filter or marks changed."""
        if is_sorted:
            self.ordering.sort_anew()
        if self._shown is not None:
            self.show(replace(self._shown, changed=frozenset()))

    def _inherit(self, moved: dict[str, str]) -> None:
        """Let what stands in for an action keep what was chosen of it; of other bytes what was left out."""
        shown = self._shown
        digests = {action.id: action.digest for action in shown.actions} if shown else {}
        if self.detail is not None:
            digests.setdefault(self.detail.id, self.detail.digest)
        for old, new in moved.items():
            if digests.get(new) is not None and digests.get(new) == digests.get(old):
                self.choosing.inherit(old, new)
            else:
                self.choosing.succeed(old, new)

    # --- titles ---------------------------------------------------------------------------------

    def show_titles(self) -> None:
        view = self._shown
        if view is None:
            return
        colours, signs = ink(self), glyphs(self)
        self.set_title(
            approval_selection.waiting_caption(
                self._summary,
                colours,
                signs,
                is_zoomed=self.is_zoomed,
                has_rows=bool(self.queue.rows),
                is_wide=view.is_wide,
                whose=view.whose,
            ),
            approval_selection.order_caption(self.ordering.words, colours, signs, is_zoomed=self.is_zoomed),
        )
        self.show_detail_title(self.queue.current)

    # --- when a key counts ----------------------------------------------------------------------

    @property
    def subject(self) -> tuple[object, ...]:
        """Return what an answering key is about: any change of it starts the wait anew."""
        detail = self.detail
        if detail is None or detail.id != self.queue.cursor:
            return ()
        mode = (self.choosing.line is not None, self.is_full, bool(self.choosing.marks))
        returning = (detail.again, detail.reopening)
        place = self.choosing.place_of(detail)
        return (detail.id, detail.digest, detail.is_pending, detail.is_stale, returning, mode, place)

    @property
    def is_answerable(self) -> bool:
        """Return whether people can see it, with the focus where letters answer, and no dialog is over it."""
        has_keys = self.has_pane_focus or (self.asks_for_trust and self.detail_view.is_on_screen)
        return has_keys and self.screen.is_active and self.detail_view.display

    @property
    def asks_for_trust(self) -> bool:
        """Return whether the detail is an open question of trust: its control key counts from everywhere."""
        detail = self.detail
        return detail is not None and detail.kind == "trust" and detail.is_pending

    def armed_for(self, key: str) -> ActionDetail | None:
        """Return the action that a key which just arrived answers; None, and words, if it was too early."""
        return self.detail if self.standing.confirm(key) else None

    @property
    def is_armed(self) -> bool:
        return self.standing.is_armed

    def asked_label_of(self, key_id: str) -> str:
        label, detail = self.label_of(key_id), self.detail
        is_whole = key_id == "approvals.approve" and label == "approve" and detail is not None
        count = len(detail.hunks) if is_whole and detail is not None else 0
        return f"{label} {count} of {count}" if count else label

    def show_answers(self) -> None:
        """Show in the last row what the answering keys do now; nothing while they do not count here."""
        if self.is_past or not (self.has_pane_focus or self.asks_for_trust):
            self.answers.show(())
            return
        detail = self.detail
        is_open = detail is not None and (detail.is_pending or detail.again is not None)
        scopes = self.scopes() if self.has_pane_focus else ("trust",)
        is_armed = bool(self.choosing.marks) or self.standing.is_armed
        answers = answers_of(self, scopes, is_lit=is_open or bool(self.choosing.marks), is_armed=is_armed)
        self.answers.show(answers, self._words_beside_answers(is_open=is_open))

    def _words_beside_answers(self, *, is_open: bool) -> str:
        """Return what there is to say where nothing under the cursor can be answered."""
        view = self._shown
        if is_open or view is None or self.choosing.marks:
            return ""
        if self.queue.has_waiting:
            key = keymap.own_key(keymap.key_of("list.problem-next"), keymap.user_keymap(self))
            return f"{key} goes to the next that waits."
        return self._awaited(view)

    def why_early(self, key_id: str) -> str:
        key = keymap.key_of(key_id)
        if key.scope not in _ARMED_SCOPES or self.choosing.marks or self.standing.is_armed_for_key:
            return ""
        return TOO_QUICK.format(key=keymap.own_key(key, keymap.user_keymap(self)))

    def shows_part(self, key_id: str) -> bool:
        detail = self.detail
        is_first = (key_id in _SHOWING_FIRST or letter_of(key_id)) and not self.choosing.marks
        return bool(is_first) and detail is not None and self.choosing.insists(detail)

    def is_undoable(self, key_id: str) -> bool:
        is_single = key_id == "approvals.approve" and self.choosing.takes_single_press
        return is_single and not self.choosing.marks and approval_selection.is_undoable(self.detail)

    def was_early(self, key_id: str) -> None:
        del key_id
        self.standing.count_again()

    def show_waiting(self, key_id: str, words: str) -> None:
        del key_id
        self.queue.show_waiting(words)
        self.answers.show_waiting(words)

    def disarm(self) -> None:
        """Let nothing count until it was drawn anew: focus, size or mode changed."""
        self.standing.forget()

    def on_show(self) -> None:
        """Begin to count: nobody saw it where it was hidden."""
        self.disarm()

    def on_hide(self) -> None:
        """Let nothing count that is not on the screen."""
        self.standing.arming.disarm()

    def on_resize(self) -> None:
        """Begin to count anew in another size, which may have room for more of the files."""
        self.disarm()
        self.fit_list()
        if self.detail is not None:
            self.post_message(DetailWanted(self.detail.id))

    def on_descendant_focus(self) -> None:
        super().on_descendant_focus()
        self.draw_detail()
        self.disarm()

    def on_descendant_blur(self) -> None:
        super().on_descendant_blur()
        self.ordering.sort_anew()
        self.standing.arming.disarm()
        self.draw_detail()

    # --- after an answer ------------------------------------------------------------------------

    def decided(self, message: DecisionReported) -> None:
        """Go on to the next that waits, unless the user has moved on already; or say why it did not count."""
        self.deciding.discard(message.action_id)
        sentence = message.error or (
            approval_selection.decision_result_sentence(message.result) if message.result else ""
        )
        if sentence:
            self.post_message(StatusMessage(sentence, is_error=True))
            return
        self.post_message(AnswerEnded())
        self.choosing.marks.discard(message.action_id)
        self._lingering.add(message.action_id)
        if message.verdict in ("approve", "reject") and self.queue.cursor == message.action_id:
            self.actions.go_on(message)

    # --- messages of its own widgets ------------------------------------------------------------

    @on(RowList.Moved)
    def _moved(self, message: RowList.Moved) -> None:
        message.stop()
        self.standing.arming.disarm()
        self._lingering.cursor_came_to(message.row_id)
        self.post_message(AnswerEnded(message.row_id))
        self.post_message(DetailWanted(message.row_id))

    @on(RowList.Opened)
    def _opened(self, message: RowList.Opened) -> None:
        message.stop()
        self.open_row()

    # --- keys -----------------------------------------------------------------------------------

    def scopes(self) -> tuple[str, ...]:
        """Return the scopes in force: lines while chosen, diff in full screen, answer with choices."""
        scopes: tuple[str, ...] = ("approvals", "list")
        if self.detail is not None and self.detail.choices:
            scopes = ("answer", *scopes)
            if self.detail.kind == "trust":
                scopes = ("trust", *scopes)
        if self.is_full:
            scopes = ("diff", *scopes)
        return ("lines", *scopes) if self.choosing.line is not None else scopes

    def choice_of_letters(self) -> Mapping[str, str]:
        if self.is_past or self.choosing.marks:
            return {}
        return choice_of_letters(self.detail, self.scopes(), keymap.user_keymap(self))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        letter = letter_of(str(parameters[0])) if action == "do" else ""
        return letter in self.choice_of_letters() if letter else super().check_action(action, parameters)

    def answer_with(self, letter: str) -> None:
        """Give the answer that the gate under the cursor has for a letter."""
        self.actions.answer_with(letter, self.choice_of_letters()[letter])

    def label_of(self, key_id: str) -> str:
        if self.detail is not None and (letter := letter_of(key_id)):
            return label_of_letter(self.detail, letter)
        hunk = self.choosing.hunk_of(self.detail) if self.detail is not None else None
        label = approval_selection.approval_key_label(
            key_id, self.detail, self.choosing, is_split=self.detail_view.is_split,
            width=self.screen.size.width, stops=self.detail_view.stop_count(hunk or 0),
        )  # fmt: skip
        return label if label is not None else super().label_of(key_id)

    def why_one_folder(self) -> str:
        return "a replay shows one folder" if self.is_past else ""

    def why_no_row(self) -> str:
        return "" if self.rows else approval_selection.NO_ROW

    def why_not_open(self) -> str:
        has_screen = self.asks_for_trust and not self.is_past and self.main.layout.is_question_page
        return approval_selection.TRUST_HINT if has_screen else super().why_not_open()

    def move_to_problem(self, step: int) -> None:
        if self.is_full and self.find:
            self.detail_view.find(self.find, step)
            return
        row_id = views_approvals.next_waiting_id(self.rows, self.queue.cursor, step=step)
        if row_id is not None:
            self.queue.put_cursor(row_id)

    def move_to_end(self, *, is_last: bool) -> None:
        if self.is_full:
            self.detail_view.scroll_to_line(self.detail_view.line_count if is_last else 0)
        else:
            super().move_to_end(is_last=is_last)

    def next_order(self) -> None:
        words = self.ordering.next()
        self.reshow(is_sorted=True)
        self.post_message(StatusMessage(f"Ordered {words}."))

    def open_row(self) -> None:
        """Give the row the whole screen; the conversation behind it is that of its session."""
        if self.detail is not None:
            self.actions.show_session()
            self.set_full(is_full=True)

    def left_for(self, place: int) -> None:
        if place == place_number("conversation"):
            self.actions.show_session()

    def set_full(self, *, is_full: bool) -> None:
        """Begin or end the full-screen diff."""
        self.is_full = is_full
        self.draw_detail()
        self.post_message(self.FullChanged(is_full))
        self.disarm()

    def copy_text(self) -> str:
        detail = self.detail
        return "" if detail is None else (detail.command or detail.prompt or detail.target)

    def ask_filter(self) -> None:
        self.post_message(
            LineWanted(
                self,
                "filter",
                "Filter approvals",
                "words  agent:  folder:  risk:any",
                text=self.ordering.text_filter,
                does="keep it",
            )
        )

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        if purpose == "filter":
            self.text_filter = self.ordering.text_filter = text
            self.reshow(is_sorted=True)
        elif purpose == "find":
            self.find = text
            if text and not self.detail_view.find(text, 0) and is_final:
                self.post_message(StatusMessage(f"“{text}” is not in this diff."))
        elif is_final and (answer := self.written.send(purpose, text)) is not None:
            self.main.tasks.decide(answer)

    def line_dropped(self, purpose: str) -> None:
        if purpose == "filter":
            self.line_heard(purpose, "", is_final=True)
        self.written.about = None

    def marks_changed(self) -> None:
        """Show the marks; the answering keys mean the batch while there are any."""
        self.reshow()
        self.disarm()
