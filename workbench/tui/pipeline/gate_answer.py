"""A gate that is answered beside its graph: its question, its choices, and what the keys would do.

It follows the rules of the queue: a key counts only for what was on the screen for half a second, what was
not drawn is shown first, and the answer carries the digest of what was drawn.
"""

# Only gates are answered here. What changes a file or runs a command is approved where its diff is: in the
# queue. The choice and what was seen are the queue's own, so that both places say the same.

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from textual import on
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

from workbench.domain.rows import Action
from workbench.render import action_detail, cells
from workbench.render.cells import key_hint
from workbench.text.human import countdown_text
from workbench.tui.approvals import approval_selection
from workbench.tui.approvals.action_detail import DetailView, DetailViewState
from workbench.tui.approvals.approval_actions import AnswerActions
from workbench.tui.approvals.approval_selection import ApprovalSelection
from workbench.tui.approvals.choice_keys import shown_choice_keys
from workbench.tui.keyboard.arming import PaneArming
from workbench.tui.pane import AnswerEnded, KeysChanged, PartsSeen, StatusMessage
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.pane_frame import PaneTitle
from workbench.views.action_detail import ActionDetail
from workbench.views.approvals import seconds_left
from workbench.views.status_icons import action_status

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.pipeline.pipeline_pane import PipelinePane

_LEAST_GRAPH_ROWS: Final = 8
"""Rows that the graph keeps where the question would take them."""
_ALL_HINTS_FROM: Final = 100
"""Cells of a title that says all keys; the footer has them too."""


class GateAnswer(Vertical):
    """The question of one gate, below the graph."""

    def __init__(self, pane: "PipelinePane") -> None:
        super().__init__(id="gate-answer")
        self._pane = pane
        self._title = PaneTitle("", key="gate-title")
        self.detail_view = DetailView(key="gate-detail")
        self.standing = PaneArming(
            self,
            on_change=lambda: self.post_message(KeysChanged()),
            refuse=lambda why: self.post_message(StatusMessage(why)),
        )
        self.actions = AnswerActions(self)
        self.detail: ActionDetail | None = None
        self._action: Action | None = None
        self._step: str | None = None
        self._waiting_words = ""
        self._is_zoom_own = False
        """Whether the pane has the whole body only because the question needs it."""

    def compose(self) -> Iterable[Widget]:
        yield self._title
        yield self.detail_view

    # --- what is shown --------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.watch(self.screen, "focused", self._focus_moved, init=False)

    def _focus_moved(self) -> None:
        if self.detail is not None and self.main.places.current != self._pane.PLACE:
            self.leave()
        else:
            self.disarm()

    def open(self) -> None:
        """Show the gate under the cursor; its keys count once it has stood."""
        self._step, self._action = self._pane.graph.cursor, None
        self._pane.graph.hold_cursor(is_held=True)
        self.update_gate()
        size, places = self._pane.size, self.main.places
        if not places.is_zoomed and self.rows_wanted(size.width) > size.height // 2:
            places.is_zoomed = self._is_zoom_own = True
            self.main.go_to(self._pane.PLACE)
        self._rearrange()
        self._pane.focus_view.focus()
        self.disarm()

    def update_gate(self) -> None:
        """Show the gate as it stands; go back where the cursor went on, or where it was answered here."""
        before, actions = self._action, self.main.state.actions
        shown = actions.get(self._pane.gate or "") or (actions.get(before.id) if before is not None else None)
        is_answered = shown is not None and shown.state != "pending" and shown.id in self.deciding
        if shown is None or is_answered or self._pane.graph.cursor != self._step:
            self.leave()
        elif shown is before:
            self.show_title()
        else:
            self._action, self.detail = shown, self.main.presenter.detail_of(shown.id)
            self._pane.fit()
            self.draw_detail()

    def leave(self) -> None:
        """Go back to the graph, and let nothing count; nothing is answered."""
        self._action = self.detail = None
        self.post_message(AnswerEnded())
        self.standing.arming.disarm()
        if self._is_zoom_own:
            self.main.places.is_zoomed = self._is_zoom_own = False
            self.main.layout.rearrange()
        self._rearrange()
        self._pane.graph.hold_cursor(is_held=False)

    def _rearrange(self) -> None:
        self._pane.fit()
        self.post_message(KeysChanged())

    def fit(self, width: int, height: int) -> None:
        """Take the rows that the question needs; the graph keeps some, but never more than half."""
        self.display = self.detail is not None
        self.styles.height = min(self.rows_wanted(width), max(height // 2, height - _LEAST_GRAPH_ROWS))

    def draw_detail(self) -> None:
        detail = self.detail
        if detail is None:
            return
        chosen = self.choosing.choice_of(detail)
        state = DetailViewState(
            taken=self.choosing.taken_of(detail), choice=chosen, has_focus=True,
            choice_keys=shown_choice_keys(detail, chosen, self._pane.choice_of_letters()),
        )  # fmt: skip
        self.detail_view.show(detail, state)
        self.show_title()
        self.standing.after_frame()
        self.post_message(KeysChanged())

    def show_title(self) -> None:
        """Say how the gate stands, with its time, and which keys answer."""
        action = self._action
        if action is None:
            return
        colours, signs = ink(self), glyphs(self)
        sign, word = action_status(action)
        left = seconds_left(action, self.main.state.source.now()) if action.state == "pending" else None
        words = "asks you" if action.state == "pending" else word
        words += f", {countdown_text(left)} left" if left is not None else ""
        name = cells.safe_content(self._step or "", colours.of("foreground", bold=True), colours)
        facts = Content.assemble(name, " ", (f"{signs.of(sign)} {words}", colours.sign(sign)))
        hints = [("a", self._pane.label_of("gate.answer"))] if action.state == "pending" else []
        pairs = [*hints, ("h l", "choice"), ("enter", "its row"), ("esc", "graph")]
        pairs = pairs if self._pane.size.width >= _ALL_HINTS_FROM else pairs[:2]
        if self._waiting_words:
            waiting = cells.safe_content(f" {self._waiting_words} ", colours.reverse("info"))
            self._title.show(facts, Content.assemble(waiting, " "))
            return
        self._title.show(facts, Content("  ").join(key_hint(keys, words, colours) for keys, words in pairs))

    def rows_wanted(self, width: int) -> int:
        """Return the rows of title and question in a width."""
        if self.detail is None:
            return 0
        colours, signs = ink(self), glyphs(self)
        above = action_detail.status_bar_lines(self.detail, width, colours, signs)
        return 2 + len(above) + len(action_detail.body_lines(self.detail, width, colours, signs))

    # --- when a key counts ----------------------------------------------------------------------

    @property
    def main(self) -> "MainContext":
        return self._pane.main

    @property
    def choosing(self) -> ApprovalSelection:
        return self.main.widgets.approvals.choosing

    @property
    def deciding(self) -> set[str]:
        return self.main.widgets.approvals.deciding

    @property
    def subject(self) -> tuple[object, ...]:
        """Return what an answering key is about: any change of it starts the wait anew."""
        detail = self.detail
        return () if detail is None else (detail.id, detail.digest, detail.is_pending, self._step)

    @property
    def is_answerable(self) -> bool:
        """Return whether people can see it with the focus on its pane: no dialog is over it."""
        is_drawn = self.display and self.detail_view.size.area > 0
        return is_drawn and self._pane.has_pane_focus and self.screen.is_active

    def armed_for(self, key: str) -> ActionDetail | None:
        return self.detail if self.standing.confirm(key) else None

    def shows_part(self) -> bool:
        """Return whether an answer first shows a part that was not seen."""
        return self.detail is not None and self.choosing.insists(self.detail)

    def show_waiting(self, words: str) -> None:
        """Show in the title which key has to be pressed again."""
        self._waiting_words = words
        self.show_title()

    def disarm(self) -> None:
        self.standing.forget()

    def uncovered(self) -> None:
        """Begin to count: a dialog that was over it is gone."""
        self.detail_view.uncovered()
        self.disarm()

    def on_resize(self) -> None:
        """Begin to count anew in another size."""
        self.disarm()

    @on(PartsSeen)
    def _parts_seen(self, message: PartsSeen) -> None:
        message.stop()
        self.choosing.was_shown(message.action_id, message.hunks, message.gone, message.left)
        self.show_title()
        self.post_message(KeysChanged())

    # --- what keys ask for ----------------------------------------------------------------------

    def label(self) -> str:
        """Return what `a` does: the chosen answer, or the rest that nobody saw."""
        detail = self.detail
        return "answer" if detail is None else approval_selection.gate_label(detail, self.choosing)

    def why_not(self) -> str:
        """Return why it takes no answer; empty when it does."""
        return approval_selection.why_not_answerable(self.detail, "approve")

    def move_choice(self, step: int) -> None:
        """Choose the next (1) or previous (-1) answer."""
        if self.detail is not None:
            self.actions.choose(self.detail, step)
