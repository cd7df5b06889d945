"""Approvals: the queue with its countdowns, below it exactly what the action under the cursor would do.

Owns what is shown of the queue, and when an answering key counts for the action under its cursor. The
keys themselves are in `tui.actions.approvals`; it answers nothing itself, it sends messages.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from textual import on
from textual.message import Message
from textual.widget import Widget

from workbench.draw import rows
from workbench.records import dataclass
from workbench.tui import keymap
from workbench.tui.messages import Decided, DetailWanted, LineAsked, Said
from workbench.tui.panes import answers, captions, waiting
from workbench.tui.panes.detailed import DetailedPane
from workbench.tui.panes.lingering import Lingering
from workbench.tui.panes.ordering import Ordering
from workbench.tui.panes.queue import QueueList
from workbench.tui.panes.shown import QueueShown
from workbench.tui.panes.standing import Standing
from workbench.tui.panes.written import Written
from workbench.tui.theme import glyphs, ink
from workbench.tui.widgets.heads import Heads
from workbench.tui.widgets.lines import RowList
from workbench.views import queue
from workbench.views.detail import ActionDetail
from workbench.views.queue import QueueRow

_SHOWING_FIRST = frozenset({"approvals.approve", "trust.answer"})
"""Keys that show part by part what nobody saw yet, before they answer."""


class ApprovalsPane(DetailedPane):
    """The queue and its detail."""

    @dataclass
    class FullChanged(Message):
        """The full-screen diff began or ended."""

        is_full: bool

    PLACE = 2
    NAME = "Approvals"
    SCOPES = ("lines", "diff", "trust", "answer", "approvals", "list")
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
        self.heads = Heads(lambda width: rows.queue_heads(width, ink(self), glyphs(self)), key="queue-heads")
        self.standing = Standing(self)
        self.ordering, self.written = Ordering(), Written()
        self.is_zoomed = False
        self._shown: QueueShown | None = None
        self._summary = queue.QueueSummary()
        self._lingering = Lingering(self, self.queue, self.reshow)
        self.deciding: set[str] = set()

    def compose_body(self) -> Iterable[Widget]:
        """Yield list, title of the detail, detail; heads come over the list when it is zoomed."""
        yield self.queue
        yield from self.compose_detail()

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
        self._summary = queue.summary(view.actions, view.now)
        moved = waiting.successors(view.actions, self.queue.order)
        self._inherit(moved | waiting.successors(view.actions, self.choosing.chosen))
        found = self.ordering.rows(view, self.choosing.marks, self._lingering.ids | self.deciding)
        shown = self.ordering.held(
            found, [moved.get(key, key) for key in self.queue.order],
            self.queue.cursor, self.queue.can_hold_above,
        )  # fmt: skip
        if self.queue.cursor in moved:
            self.queue.cursor = moved[self.queue.cursor]
            self.post_message(DetailWanted(self.queue.cursor))
        self.queue.idle = waiting.idle_lines(
            view.actions, ink(self), glyphs(self), is_filtered=self.ordering.text_filter, is_past=self.is_past
        )
        self.set_class(not shown, "-idle")
        self.put(self.heads, self.queue, is_shown=self.is_zoomed and bool(shown))
        self.queue.show_rows(shown, view.now, is_zoomed=self.is_zoomed)
        if before is not None and view.changed:
            self.queue.flash(view.changed & set(self.queue.order))
        self.show_titles()
        if self.queue.cursor in view.changed:
            self.post_message(DetailWanted(self.queue.cursor))
        self.choosing.forget({action.id for action in view.actions} | set(moved.values()))

    def tick(self, now: int) -> None:
        """Move the countdowns."""
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
        """Say what waits, how it is arranged, and what the detail is of."""
        view = self._shown
        if view is None:
            return
        colours, signs = ink(self), glyphs(self)
        self.set_title(
            captions.waiting_facts(
                self._summary,
                colours,
                signs,
                is_zoomed=self.is_zoomed,
                has_rows=bool(self.queue.rows),
            ),
            captions.arranged_by(self.ordering.words, colours, signs, is_zoomed=self.is_zoomed),
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
        return (detail.id, detail.digest, detail.is_pending, detail.is_stale, mode)

    @property
    def stands(self) -> bool:
        """Return whether people can see it with the focus on it: no dialog is over it."""
        return self.has_pane_focus and self.screen.is_active and self.detail_view.display

    def armed_for(self, key: str) -> ActionDetail | None:
        """Return the action that a key which just arrived answers; None, and words, if it was too early."""
        return self.detail if self.standing.take(key) else None

    def acts_at_once(self, key_id: str) -> bool:
        """Return whether a key decides nothing: it came too early, or first shows what nobody saw yet."""
        if key_id not in answers.ANSWERING or self.choosing.marks:
            return False
        if not self.standing.is_armed_for_key:
            return True
        detail = self.detail
        return key_id in _SHOWING_FIRST and detail is not None and self.choosing.insists(detail)

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
        self.ordering.sort_anew()
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
        if not self.rows and key_id in answers.OF_ROWS:
            return answers.NO_ROW
        why = answers.why_no_mark(key_id, self.queue.current, self.rows)
        why = why or answers.why_off(key_id, self.detail, self.choosing)
        is_past = self.detail is not None and not self.detail.is_pending and self.queue.has_waiting
        return f"{why}; n goes to the next that waits" if why and is_past and answers.decides(key_id) else why

    def move_to_problem(self, step: int) -> None:
        """Go to the next that waits."""
        if self.is_full and self.find:
            self.detail_view.find(self.find, step)
            return
        found = queue.next_waiting(self.rows, self.queue.cursor, step=step)
        if found is not None:
            self.queue.put_cursor(found)

    def move_to_end(self, *, is_last: bool) -> None:
        """Go to the first or last row, or to an end of the full-screen diff."""
        if self.is_full:
            self.detail_view.scroll_to_line(self.detail_view.line_count if is_last else 0)
        else:
            super().move_to_end(is_last=is_last)

    def next_order(self) -> None:
        """Order by time left, newest first, by session."""
        words = self.ordering.next()
        self.reshow(is_sorted=True)
        self.post_message(Said(f"Ordered {words}."))

    def open_row(self) -> None:
        """Give the diff the whole screen."""
        if self.detail is not None:
            self.set_full(is_full=True)

    def set_full(self, *, is_full: bool) -> None:
        """Begin or end the full-screen diff."""
        self.is_full = is_full
        self.show_titles()
        self.post_message(self.FullChanged(is_full))
        self.disarm()

    def copy_text(self) -> str:
        """Return path or command."""
        detail = self.detail
        return "" if detail is None else (detail.command or detail.prompt or detail.target)

    def ask_filter(self) -> None:
        """Ask for the words that rows must have."""
        self.post_message(
            LineAsked(self, "filter", "Filter approvals", text=self.ordering.text_filter, does="keep it")
        )

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        """Filter or find as it is typed; send reason or answer when it is sent."""
        if purpose == "filter":
            self.ordering.text_filter = text
            self.reshow(is_sorted=True)
        elif purpose == "find":
            self.find = text
            if text and not self.detail_view.find(text, 0) and is_final:
                self.post_message(Said(f"“{text}” is not in this diff."))
        elif is_final and (answer := self.written.send(purpose, text)) is not None:
            self.post_message(answer)

    def line_dropped(self, purpose: str) -> None:
        """Clear the filter; of anything else nothing is done."""
        if purpose == "filter":
            self.ordering.text_filter = ""
            self.reshow(is_sorted=True)
        self.written.about = None

    def marks_changed(self) -> None:
        """Show the marks; the answering keys mean the batch while there are any."""
        self.reshow()
        self.disarm()
