"""Approvals: the queue with its countdowns, below it exactly what the action under the cursor would do.

Owns what is shown of the queue, the detail that belongs to the cursor, and when an answering key counts. The
keys themselves are in `tui.actions.approvals`; it answers nothing itself, it sends messages.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from textual import on
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from workbench.draw import detail as words
from workbench.draw import rows
from workbench.draw.diff import Layout, heads_strip
from workbench.records import dataclass
from workbench.tui import keymap
from workbench.tui.messages import Decide, Decided, DetailWanted, HunksShown, KeysChanged, LineAsked, Said
from workbench.tui.panes import answers, captions, waiting
from workbench.tui.panes.base import Pane
from workbench.tui.panes.choosing import Choosing
from workbench.tui.panes.detail import DetailLook, DetailView
from workbench.tui.panes.files import FileColumn
from workbench.tui.panes.lingering import Lingering
from workbench.tui.panes.queue import QueueList
from workbench.tui.panes.shown import QueueShown
from workbench.tui.panes.standing import Standing
from workbench.tui.theme import glyphs, ink
from workbench.tui.widgets.divider import Divider
from workbench.tui.widgets.heads import Heads
from workbench.tui.widgets.lines import RowList
from workbench.tui.widgets.title import PaneTitle
from workbench.views import queue
from workbench.views.detail import ActionDetail
from workbench.views.queue import Order, QueueRow

_ORDERS: Final[tuple[Order, ...]] = ("time", "new", "session")


class ApprovalsPane(Pane):
    """The queue and its detail."""

    @dataclass
    class FullChanged(Message):
        """The full-screen diff began or ended."""

        is_full: bool

    PLACE = 2
    NAME = "Approvals"
    SCOPES = ("lines", "diff", "trust", "answer", "approvals", "list")
    MOVING = frozenset({"diff.scroll-down", "diff.scroll-up", "approvals.diff-down", "approvals.diff-up"})
    BINDINGS = keymap.bindings(*SCOPES)

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.queue = QueueList(key="queue")
        self.heads = Heads(lambda width: rows.queue_heads(width, ink(self), glyphs(self)), key="queue-heads")
        self.detail_title = PaneTitle("", key="detail-title")
        self.detail_view = DetailView(key="detail")
        self.sides = Heads(lambda width: heads_strip(width, ink(self), glyphs(self)), key="detail-sides")
        self.files = FileColumn(key="files")
        self.choosing, self.standing = Choosing(), Standing(self)
        self.detail: ActionDetail | None = None
        self.order: Order = "time"
        self.text_filter, self.find = "", ""
        self.shows_decided = True
        self.layout_wish: Layout = "unified"
        self.context = 3
        self.is_full, self.is_zoomed = False, False
        self._shown: QueueShown | None = None
        self._lingering = Lingering(self, self.queue, self.reshow)
        self._must_sort = True
        self.deciding: set[str] = set()
        self.line_about: ActionDetail | None = None
        """What the line at the bottom is about: what was drawn when it was asked for."""
        self.reasons: list[str] = []
        """Reasons given before, the newest first."""

    def compose_body(self) -> Iterable[Widget]:
        """Yield heads, list, title of the detail, detail."""
        yield self.heads
        yield self.queue
        yield self.detail_title
        with Horizontal(id="detail-body"):
            yield self.files
            yield Divider(id="files-divider")
            with Vertical(id="detail-column"):
                yield self.sides
                yield self.detail_view

    @property
    def focus_view(self) -> Widget:
        """Return the list: approving works only with the focus in the queue."""
        return self.queue

    @property
    def rows(self) -> Sequence[QueueRow]:
        """Return the rows as they are shown."""
        return self.queue.shown

    # --- views in -------------------------------------------------------------------------------

    def show(self, view: QueueShown) -> None:
        """Show the queue as it stands; the row under the cursor stays where it is."""
        before, self._shown = self._shown, view
        moved = waiting.successors(view.actions, self.queue.order)
        self._inherit(moved)
        shown = self._arranged(self._rows_of(view), [moved.get(key, key) for key in self.queue.order])
        if self.queue.cursor in moved:
            self.queue.cursor = moved[self.queue.cursor]
            self.post_message(DetailWanted(self.queue.cursor))
        self.queue.idle = waiting.idle_lines(
            view.actions, ink(self), glyphs(self), is_filtered=self.text_filter, is_past=self.is_past
        )
        self.set_class(not shown, "-idle")
        self.heads.display = self.is_zoomed and bool(shown)
        self.queue.show_rows(shown, view.now, is_zoomed=self.is_zoomed)
        if before is not None and view.changed:
            self.queue.flash(view.changed & set(self.queue.order))
        self._show_titles()
        if self.queue.cursor in view.changed:
            self.post_message(DetailWanted(self.queue.cursor))
        self.choosing.forget({action.id for action in view.actions} | set(moved.values()))

    def tick(self, now: int) -> None:
        """Move the countdowns."""
        if self._shown is not None:
            self.show(replace(self._shown, now=now, changed=frozenset()))

    def reshow(self, *, is_sorted: bool = False) -> None:
        """Show the same again after order, filter or marks changed."""
        self._must_sort = self._must_sort or is_sorted
        if self._shown is not None:
            self.show(replace(self._shown, changed=frozenset()))

    def _rows_of(self, view: QueueShown) -> tuple[QueueRow, ...]:
        return queue.rows(
            view.actions,
            view.sessions,
            view.now,
            order=self.order,
            text_filter=self.text_filter,
            shows_decided=self.shows_decided,
            marks=self.choosing.marks,
            calls=view.calls,
            hunk_sizes=view.hunk_sizes,
            lingering=self._lingering.ids | self.deciding,
            ruled=view.ruled,
            undone=view.undone,
        )

    def _arranged(self, found: Sequence[QueueRow], before: Sequence[str]) -> Sequence[QueueRow]:
        """Keep the order that is shown; what is new stands above the cursor only if the list can scroll."""
        if self._must_sort or not before:
            self._must_sort = False
            return found
        held = queue.hold(found, before)
        return waiting.below_cursor(held, set(before), self.queue.cursor, self.queue.can_hold_above)

    def _inherit(self, moved: dict[str, str]) -> None:
        """Let what stands in for an action with the same bytes keep what was chosen of it."""
        shown = self._shown
        digests = {action.id: action.digest for action in shown.actions} if shown else {}
        for old, new in moved.items():
            if self.detail is not None and self.detail.id == old and digests.get(new) == self.detail.digest:
                self.choosing.inherit(old, new)

    def show_detail(self, detail: ActionDetail | None) -> None:
        """Show the action under the cursor in full."""
        was, self.detail = self.detail, detail
        if was is not None and (detail is None or detail.id != was.id):
            self.choosing.line = None
        self.draw_detail()

    def draw_detail(self, *, has_moved: bool = False) -> None:
        """Draw the detail with what is chosen now; with `has_moved` scroll to the hunk under the cursor."""
        self.detail_view.show(self.detail, self._look())
        self.sides.display = self.detail_view.is_split
        if has_moved:
            self.detail_view.reveal_hunk()
        self.files.show(self.detail, self.choosing)
        self._show_titles()
        self.standing.after_frame()
        self.post_message(KeysChanged())

    def _look(self) -> DetailLook:
        detail, choosing = self.detail, self.choosing
        if detail is None:
            return self.detail_view.look
        return DetailLook(
            taken=choosing.taken_of(detail),
            hunk=choosing.hunk_of(detail),
            line=choosing.line,
            choice=choosing.choice_of(detail),
            layout=self.layout_wish,
            context=self.context,
            find=self.find,
            has_focus=self.has_pane_focus,
        )

    # --- titles ---------------------------------------------------------------------------------

    def _show_titles(self) -> None:
        view = self._shown
        if view is None:
            return
        colours, signs = ink(self), glyphs(self)
        by = f"filter “{self.text_filter}”" if self.text_filter else queue.ORDER_WORDS[self.order]
        self.set_title(
            captions.waiting_facts(
                queue.summary(view.actions, view.now),
                colours,
                signs,
                is_zoomed=self.is_zoomed,
                has_rows=bool(self.queue.rows),
            ),
            captions.arranged_by(by, colours, signs, is_zoomed=self.is_zoomed),
        )
        if self.detail is not None:
            left = words.title_left(self.detail, colours, signs)
            where = Content.styled(captions.place(self.detail, self.choosing), colours.of("muted"))
            if self.is_full:
                left = captions.full_title(self.detail, left, colours)
                where += captions.time_left(self.queue.current, colours, signs)
            self.detail_title.show(left, where)
        else:
            self.detail_title.show(Content(" "), Content(" "))

    # --- when a key counts ----------------------------------------------------------------------

    @property
    def subject(self) -> tuple[object, ...]:
        """Return what an answering key is about: any change of it starts the wait anew."""
        detail = self.detail
        if detail is None or detail.id != self.queue.cursor:
            return ()
        mode = (self.choosing.line is not None, self.is_full, bool(self.choosing.marks))
        return (detail.id, detail.digest, detail.is_pending, detail.is_stale, mode)

    @property
    def stands(self) -> bool:
        """Return whether people can see it with the focus on it: no dialog is over it."""
        return self.has_pane_focus and self.screen.is_current and self.detail_view.display

    def armed_for(self, key: str) -> ActionDetail | None:
        """Return the action that a key which just arrived answers; None, and words, if it was too early."""
        return self.detail if self.standing.take(key) else None

    def disarm(self) -> None:
        """Let nothing count until it was drawn anew: focus, size or mode changed."""
        self.standing.forget()

    def on_resize(self) -> None:
        """Begin to count anew in another size."""
        self.disarm()

    def on_descendant_focus(self) -> None:
        """Begin to count when the keys come here."""
        super().on_descendant_focus()
        self.draw_detail()
        self.disarm()

    def on_descendant_blur(self) -> None:
        """Let nothing count elsewhere; what is new may take its place now."""
        super().on_descendant_blur()
        self._must_sort = True
        self.standing.arming.disarm()
        self.draw_detail()

    # --- after an answer ------------------------------------------------------------------------

    def decided(self, message: Decided) -> None:
        """Go on to the next that waits, unless the user has moved on already; or say why it did not count."""
        self.deciding.discard(message.action_id)
        sentence = message.error or (answers.result_sentence(message.result) if message.result else "")
        if sentence:
            self.post_message(Said(sentence, is_error=True))
            return
        self.choosing.marks.discard(message.action_id)
        self._lingering.add(message.action_id)
        if message.verdict in ("approve", "reject") and self.queue.cursor == message.action_id:
            following = queue.next_waiting(self.rows, message.action_id)
            if following and following not in self.deciding:
                self.queue.put_cursor(following)

    # --- messages of its own widgets ------------------------------------------------------------

    @on(RowList.Moved)
    def _moved(self, message: RowList.Moved) -> None:
        message.stop()
        self.standing.arming.disarm()
        self._lingering.cursor_came_to(message.row_id)
        self.post_message(DetailWanted(message.row_id))

    @on(RowList.Opened)
    def _opened(self, message: RowList.Opened) -> None:
        message.stop()
        self.open_row()

    @on(HunksShown)
    def _hunks_shown(self, message: HunksShown) -> None:
        message.stop()
        if self.screen.is_current:
            self.choosing.seen = self.choosing.seen.mark(message.action_id, message.hunks)
            self.post_message(KeysChanged())

    @on(DetailView.HunkClicked)
    def _hunk_clicked(self, message: DetailView.HunkClicked) -> None:
        message.stop()
        if self.detail is not None:
            self.choosing.hunks[self.detail.id] = message.hunk
            if message.is_box and self.detail.is_pending:
                self.choosing.toggle_hunk(self.detail)
            self.draw_detail()

    # --- keys -----------------------------------------------------------------------------------

    def scopes(self) -> tuple[str, ...]:
        """Return the scopes in force: lines while chosen, diff in full screen, answer with choices."""
        found: tuple[str, ...] = ("approvals", "list")
        if self.detail is not None and self.detail.choices:
            found = ("answer", *found)
            if self.detail.kind == "trust":
                found = ("trust", *found)
        if self.is_full:
            found = ("diff", *found)
        return ("lines", *found) if self.choosing.line is not None else found

    def label_of(self, key_id: str) -> str:
        """Return what a key does to the action under the cursor."""
        is_split, width = self.layout_wish == "split", self.screen.size.width
        found = captions.label(key_id, self.detail, self.choosing, is_split=is_split, width=width)
        return found if found is not None else super().label_of(key_id)

    def why_off(self, key_id: str) -> str:
        """Return why a key does nothing for the action under the cursor."""
        if key_id in ("approvals.mark", "approvals.mark-all") and not any(
            row.is_pending for row in self.rows
        ):
            return "Nothing waits that could be marked."
        return answers.why_off(key_id, self.detail, self.choosing)

    def scroll_half(self, direction: int) -> None:
        """Scroll half a page of the detail."""
        self.detail_view.scroll_lines(direction * max(1, self.detail_view.size.height // 2))

    def move_to_problem(self, step: int) -> None:
        """Go to the next that waits."""
        if self.is_full and self.find:
            self.detail_view.find(self.find, step)
            return
        found = queue.next_waiting(self.rows, self.queue.cursor, step=step)
        if found is not None:
            self.queue.put_cursor(found)

    def next_order(self) -> None:
        """Order by time left, newest first, by session."""
        self.order = _ORDERS[(_ORDERS.index(self.order) + 1) % len(_ORDERS)]
        self.reshow(is_sorted=True)
        self.post_message(Said(f"Ordered {queue.ORDER_WORDS[self.order]}."))

    def open_row(self) -> None:
        """Give the diff the whole screen."""
        if self.detail is not None:
            self.set_full(is_full=True)

    def set_full(self, *, is_full: bool) -> None:
        """Begin or end the full-screen diff."""
        self.is_full = is_full
        self._show_titles()
        self.post_message(self.FullChanged(is_full))
        self.disarm()

    def copy_text(self) -> str:
        """Return path or command."""
        detail = self.detail
        return "" if detail is None else (detail.command or detail.prompt or detail.target)

    def ask_filter(self) -> None:
        """Ask for the words that rows must have."""
        self.post_message(
            LineAsked(self, "filter", "Filter approvals", text=self.text_filter, does="keep it")
        )

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        """Filter or find as it is typed; send reason or answer when it is sent."""
        if purpose == "filter":
            self.text_filter = text
            self.reshow(is_sorted=True)
        elif purpose == "find":
            self.find = text
            if text and not self.detail_view.find(text, 0) and is_final:
                self.post_message(Said(f"“{text}” is not in this diff."))
        elif is_final and self.line_about is not None:
            self._answered_by_line(purpose, text, self.line_about)

    def line_dropped(self, purpose: str) -> None:
        """Clear the filter; of anything else nothing is done."""
        if purpose == "filter":
            self.text_filter = ""
            self.reshow(is_sorted=True)
        self.line_about = None

    def _answered_by_line(self, purpose: str, text: str, about: ActionDetail) -> None:
        self.line_about = None
        if purpose == "answer":
            self.post_message(Decide(about.id, "approve", about.digest, text=text))
            return
        if text:
            self.reasons = [text, *(reason for reason in self.reasons if reason != text)]
        keys = [choice.key for choice in about.choices]
        choice = next((key for key in keys if key in answers.REJECTING), None)
        self.post_message(Decide(about.id, "reject", about.digest, reason=text or None, choice=choice))

    def marks_changed(self) -> None:
        """Show the marks; the answering keys mean the batch while there are any."""
        self.reshow()
        self.disarm()
