"""What the keys of the approvals pane do to the action under the cursor, and why a key does nothing now.

A deciding key counts only for what was on the screen for half a second; its message carries the digest of
what was drawn.
"""

from typing import TYPE_CHECKING, Final, Protocol

from textual.message import Message

from workbench.domain.values import SYSTEM_SESSION, Decision, DecisionVerdict
from workbench.render.diff import HUNK_CONTEXT_LINES
from workbench.tui.approvals import approval_selection
from workbench.tui.approvals.action_detail import SPLIT_FROM
from workbench.tui.approvals.approval_selection import REJECTING_CHOICES, ApprovalSelection
from workbench.tui.keyboard.arming import TOO_QUICK
from workbench.tui.pane import (
    DecisionMade,
    DecisionReported,
    DetailWanted,
    LineWanted,
    SessionChosen,
    StatusMessage,
)
from workbench.tui.render_context import context_of
from workbench.views.action_detail import ActionDetail
from workbench.views.approvals import next_waiting_id

if TYPE_CHECKING:
    from workbench.tui.approvals.action_detail import DetailView
    from workbench.tui.approvals.approvals_pane import ApprovalsPane
    from workbench.tui.main.context import MainContext

_CONTEXT_SIZES: Final = (0, 1, 2, 3, 5, 10, 20, 50, 200)
"""Equal lines around a change, step by step."""
_REOPENED: Final = "What is left of it is being proposed, as a row of its own."


class AnsweringPane(Protocol):
    """What shows one action in full and takes its answer."""

    @property
    def main(self) -> "MainContext":
        """Return what it shares with its screen."""
        ...

    @property
    def deciding(self) -> set[str]:
        """Return the ids of actions whose answer is on its way."""
        ...

    @property
    def choosing(self) -> ApprovalSelection:
        """Return what is chosen of actions, and what of them was seen."""
        ...

    @property
    def detail_view(self) -> "DetailView":
        """Return where the action is drawn."""
        ...

    def armed_for(self, key: str) -> ActionDetail | None:
        """Return the action that a key which just arrived answers; None, and words, if it was too early."""
        ...

    def draw_detail(self) -> None:
        """Draw the action with what is chosen now."""
        ...

    def disarm(self) -> None:
        """Let nothing count until it was drawn anew."""
        ...

    def post_message(self, message: Message) -> bool:
        """Send a message to the screen."""
        ...


class AnswerActions:
    """The answers to an action that is shown in full; each is for what was drawn."""

    def __init__(self, pane: AnsweringPane) -> None:
        self._answering = pane

    def answer(self, key: str) -> None:
        """Give the chosen answer; first show what nobody has seen yet."""
        detail = self._answering.armed_for(key)
        if detail is None or self._shows_unseen_part(detail, key) or self._warns_of_hidden(detail):
            return
        self._approve_selection(detail)

    def answer_with(self, letter: str, choice: str) -> None:
        """Choose the gate's answer that has this key in its file; show unseen parts first."""
        detail = self._answering.armed_for(letter)
        if detail is None or self._shows_unseen_part(detail, letter) or self._warns_of_hidden(detail):
            return
        self._answering.choosing.choose_key(detail, choice)
        self._approve_selection(detail)

    def reject(self) -> None:
        """Reject the action."""
        detail = self._answering.armed_for("r")
        if detail is not None:
            choice = next((option.key for option in detail.choices if option.key in REJECTING_CHOICES), None)
            decision = Decision(action_id=detail.id, verdict="reject", choice=choice)
            self._post_decision(DecisionMade(decision, detail.digest))

    def choose(self, detail: ActionDetail, step: int) -> None:
        """Choose the next (1) or previous (-1) answer."""
        pane = self._answering
        pane.choosing.choose(detail, step, pane.main.app.monotonic())
        pane.draw_detail()
        pane.detail_view.scroll_lines(2 * step)

    def _warns_of_hidden(self, detail: ActionDetail) -> bool:
        """Point out once the characters that cannot be seen, before they are approved."""
        pane = self._answering
        has_hidden = any(risk.word == "hidden" for risk in detail.warnings)
        if detail.digest in pane.choosing.confirmed or not has_hidden:
            return False
        pane.choosing.confirmed.add(detail.digest)
        pane.disarm()
        pane.post_message(
            StatusMessage(
                "It holds characters that cannot be seen: look, then press a once more.", about=detail.id
            )
        )
        return True

    def _shows_unseen_part(self, detail: ActionDetail, key: str) -> bool:
        """Show the next part that nobody saw, and say what is left; False when there is none."""
        pane, choosing = self._answering, self._answering.choosing
        if not choosing.insists(detail):
            if choosing.unseen(detail) or pane.detail_view.is_settled(context_of(pane.detail_view).key_time):
                return False
            pane.disarm()
            pane.post_message(StatusMessage(TOO_QUICK.format(key=key)))
            return True
        following = pane.detail_view.show_next(choosing.unseen(detail))
        if following.hunk is not None:
            choosing.go_to_hunk(detail.id, following.hunk, following.stop)
            pane.draw_detail()
        pane.disarm()
        words = approval_selection.remaining_sentence(following, key, self._other_way())
        pane.post_message(StatusMessage(words, about=detail.id))
        return True

    def _other_way(self) -> str:
        """Return what else than looking on can be done, as words that go on from there."""
        return ""

    def _approve_selection(self, detail: ActionDetail) -> None:
        choosing = self._answering.choosing
        if detail.choices:
            choice = choosing.choice_of(detail)
            verdict: DecisionVerdict = "reject" if choice in REJECTING_CHOICES else "approve"
            seen = choosing.seen_by(detail) if verdict == "approve" else None
            decision = Decision(action_id=detail.id, verdict=verdict, choice=choice, seen=seen)
            self._post_decision(DecisionMade(decision, detail.digest))
        elif detail.id in choosing.edits:
            decision = Decision(action_id=detail.id, verdict="approve", seen=choosing.seen_by(detail))
            self._post_decision(DecisionMade(decision, detail.digest, choosing.edits[detail.id]))
        else:
            self._post_decision(choosing.approval(detail))

    def _post_decision(self, message: DecisionMade) -> None:
        action_id = message.decision.action_id
        if action_id not in self._answering.deciding:
            self._answering.deciding.add(action_id)
            self._answering.main.tasks.decide(message)


class ApprovalActions(AnswerActions):
    """The actions of an approvals pane: decide, select, look."""

    def __init__(self, pane: "ApprovalsPane") -> None:
        super().__init__(pane)
        self._pane = pane

    # --- decisions ------------------------------------------------------------------------------

    def approve(self) -> None:
        """Approve what is selected; open the batch with marks; first show what nobody has seen yet.

        On a row that was approved in part, or undone, have what is left of it proposed.
        """
        if self._pane.choosing.marks:
            self._open_batch("approve")
            return
        detail = self._pane.armed_for("a")
        if detail is None:
            return
        main = self._pane.main
        if detail.reopening is not None:
            main.tasks.ask(main.backend.reopen_action, detail.id, _REOPENED)
        elif detail.is_stale:
            main.tasks.ask(main.backend.refresh_action, detail.id, "The new diff is being made.")
        elif not self._shows_unseen_part(detail, "a") and not self._warns_of_hidden(detail):
            self._approve_selection(detail)

    def approve_unseen(self) -> None:
        """Approve what is selected though not all of it was on the screen; the record says so."""
        detail = self._pane.armed_for("ctrl+y")
        if detail is not None and not self._warns_of_hidden(detail):
            self._approve_selection(detail)

    def answer_trust(self) -> None:
        """Answer the question whether a workspace is trusted with the chosen answer."""
        detail = self._pane.armed_for("ctrl+t")
        if detail is None:
            return
        is_no = self._pane.choosing.choice_of(detail) in REJECTING_CHOICES
        if is_no or not self._shows_unseen_part(detail, "ctrl+t"):
            self._approve_selection(detail)

    def _other_way(self) -> str:
        return "" if self._pane.why_off("approvals.approve-unseen") else ", or ctrl+y unseen"

    def _approve_selection(self, detail: ActionDetail) -> None:
        if detail.kind == "question" and not detail.choices:
            self._ask(detail, "answer", "send the answer", "the agent reads your answer")
        else:
            super()._approve_selection(detail)

    def _open_batch(self, verdict: DecisionVerdict) -> None:
        from workbench.tui.approvals.batch_dialog import open_batch

        open_batch(self._pane.main, verdict)

    def reject(self) -> None:
        """Reject the action; with marks open the batch."""
        if self._pane.choosing.marks:
            self._open_batch("reject")
        else:
            super().reject()

    def ask_reason(self) -> None:
        """Ask for the reason that the agent reads, then reject."""
        if self._pane.detail is not None:
            self._ask(self._pane.detail, "reject", "reject", "the agent reads your reason")

    def _ask(self, detail: ActionDetail, purpose: str, does: str, right: str) -> None:
        pane = self._pane
        pane.written.about, pane.written.seen = detail, pane.choosing.seen_by(detail)
        title = f"{'Reject' if purpose == 'reject' else 'Answer'} {detail.target}"
        pane.post_message(
            LineWanted(pane, purpose, title, right, does, history=tuple(pane.written.reasons), is_armed=True)
        )

    def make_rule(self) -> None:
        """Open the dialog that makes a rule; that alone saves nothing."""
        if self._pane.detail is not None:
            from workbench.tui.rules.rule_dialog import open_rule_dialog

            open_rule_dialog(self._pane.main, self._pane.detail)

    def extend(self) -> None:
        """Begin the time to decide anew."""
        detail = self._pane.armed_for("x")
        if detail is not None:
            self._pane.main.tasks.extend(detail.id)

    def propose_again(self) -> None:
        """Ask the agent to propose an expired action again."""
        detail = self._pane.armed_for("p")
        if detail is not None:
            self._pane.main.tasks.propose_again((detail.id,))

    def propose_all_again(self) -> None:
        """Ask the agent for all that expired in the session of the action."""
        detail = self._pane.armed_for("P")
        if detail is not None and detail.again is not None:
            self._pane.main.tasks.propose_again(detail.again.ids)

    def edit(self) -> None:
        """Open the proposal in an editor; that decides nothing."""
        if self._pane.detail is not None:
            self._pane.main.tasks.edit(self._pane.detail.id)

    def undo(self) -> None:
        """Undo an applied change."""
        detail = self._pane.armed_for("u")
        if detail is not None:
            main = self._pane.main
            main.tasks.undo_change(detail.id)

    def go_on(self, message: DecisionReported) -> None:
        """Go on from an answered row to the next that waits: below, else from the top; say how to undo it.

        A key counts for the row that comes under the cursor only after it has stood there, as for any other.
        """
        pane = self._pane
        undecided = [row for row in pane.rows if row.id not in pane.deciding]
        following = next_waiting_id(undecided, message.action_id)
        if following:
            way = "below" if pane.ordering.shows_decided else "hidden"
            pane.queue.put_cursor(following)
        else:
            way = "here" if pane.is_full else "left"
        if words := approval_selection.answered_sentence(pane.detail, message, way):
            pane.post_message(StatusMessage(words, is_kept=False))

    def move_command(self) -> None:
        """Let the command run on the other side of the sandbox; that decides nothing."""
        pane = self._pane
        if pane.detail is not None:
            pane.choosing.move_command(pane.detail, pane.main.app.monotonic())
            pane.reshow()
            pane.draw_detail()

    # --- hunks, lines and choices -----------------------------------------------------------------

    def move_to_hunk(self, step: int) -> None:
        """Go to the next (1) or previous (-1) hunk, or changed part of a very long line in it."""
        pane = self._pane
        if pane.detail is None:
            return
        if pane.choosing.line is None:
            pane.choosing.to_stop(pane.detail, step, pane.detail_view.stop_count)
        else:
            pane.choosing.to_hunk(pane.detail, step)
            pane.choosing.line = 1
        pane.draw_detail(has_moved=True)

    def toggle_hunk(self) -> None:
        """Leave the hunk under the cursor out, or take it."""
        if self._pane.detail is not None:
            self._pane.choosing.toggle_hunk(self._pane.detail)
            self._pane.draw_detail()

    def toggle_hunks(self) -> None:
        """Take all hunks, or leave all out."""
        pane = self._pane
        if pane.detail is not None:
            pane.choosing.take(pane.detail, pane.choosing.taken_of(pane.detail).toggle_all())
            pane.draw_detail()

    def choose_lines(self) -> None:
        """Select single lines of the hunk under the cursor."""
        self._select_by(1)

    def choose_hunks(self) -> None:
        """Select whole hunks again; lines that were left out stay so."""
        self._select_by(None)

    def _select_by(self, line: int | None) -> None:
        self._pane.choosing.line = line
        self._pane.draw_detail(has_moved=True)
        self._pane.disarm()

    def move_to_line(self, step: int) -> None:
        """Go to the next (1) or previous (-1) changed line."""
        if self._pane.detail is not None:
            self._pane.choosing.to_line(self._pane.detail, step)
            self._pane.draw_detail(has_moved=True)

    def toggle_line(self) -> None:
        """Leave the line under the cursor out, or take it."""
        if self._pane.detail is not None:
            self._pane.choosing.toggle_line(self._pane.detail)
            self._pane.draw_detail()

    def move_choice(self, step: int) -> None:
        """Choose the next (1) or previous (-1) answer."""
        if self._pane.detail is not None:
            self.choose(self._pane.detail, step)

    # --- the drawing ------------------------------------------------------------------------------

    def move_to_file(self, step: int) -> None:
        """Go to the next (1) or previous (-1) file."""
        pane = self._pane
        hunk = pane.detail_view.to_file(step)
        if hunk is None:
            pane.post_message(StatusMessage("There is no other file that way."))
        elif pane.detail is not None:
            pane.choosing.go_to_hunk(pane.detail.id, hunk)
            pane.draw_detail(has_moved=True)

    def toggle_layout(self) -> None:
        """Change between split and unified."""
        pane, view = self._pane, self._pane.detail_view
        pane.layout_choice = "unified" if view.is_split else "split"
        pane.draw_detail(has_moved=True)
        if pane.layout_choice == "split" and not view.can_split:
            way = f"here are {view.width}" if pane.is_full else "enter gives the diff the whole screen"
            pane.post_message(StatusMessage(f"Split needs {SPLIT_FROM} columns: {way}."))

    def change_context(self, step: int) -> None:
        """Show more (1) or fewer (-1) equal lines around each change than there are now."""
        pane, shown = self._pane, self._pane.detail_view.context
        if step > 0:
            pane.context = next((size for size in _CONTEXT_SIZES if size > shown), _CONTEXT_SIZES[-1])
        elif shown > pane.context:
            # They fill the view by themselves; what is fewer than hunks hold is shown exactly.
            pane.context = HUNK_CONTEXT_LINES - 1
        else:
            pane.context = next((size for size in reversed(_CONTEXT_SIZES) if size < shown), 0)
        if pane.detail is not None:
            pane.post_message(DetailWanted(pane.detail.id))
        least = "At least " if pane.context >= HUNK_CONTEXT_LINES else ""
        pane.post_message(StatusMessage(f"{least}{pane.context} equal lines around a change."))

    def ask_find(self) -> None:
        """Ask for what to find in the diff."""
        pane = self._pane
        pane.post_message(LineWanted(pane, "find", "Find in the diff", does="find", text=pane.find))

    # --- rows ---------------------------------------------------------------------------------------

    def mark(self) -> None:
        """Mark the row for a batch, or take the mark away."""
        pane = self._pane
        row = pane.queue.current
        if row is not None:
            pane.choosing.marks ^= {row.id}
            pane.marks_changed()
        pane.move(1)

    def mark_all(self) -> None:
        """Mark all rows that are shown, or none if they are."""
        pane = self._pane
        markable = {row.id for row in pane.rows if row.is_pending and row.can_batch}
        pane.choosing.marks = set() if markable <= pane.choosing.marks else markable
        pane.marks_changed()

    def mark_rule(self) -> None:
        """Mark all shown edits for findings of the rule under the cursor, or unmark them if they are."""
        pane, rule_of = self._pane, self._pane.main.presenter.fixed_rule
        rule, marks = rule_of(pane.queue.cursor or ""), pane.choosing.marks
        same = {row.id for row in pane.rows if row.is_pending and row.can_batch and rule_of(row.id) == rule}
        pane.choosing.marks = marks - same if same <= marks else marks | same
        pane.marks_changed()
        words = approval_selection.rule_marked_sentence(rule, len(same), is_marked=not same <= marks)
        pane.post_message(StatusMessage(words))

    def show_session(self) -> None:
        """Show the session of the row under the cursor in the conversation, wherever it works."""
        pane, row = self._pane, self._pane.queue.current
        if row is None or pane.is_past or row.session_id == SYSTEM_SESSION:
            return
        current = pane.main.state.current
        if current is None or current.id != row.session_id:
            pane.post_message(SessionChosen(row.session_id))

    def toggle_decided(self) -> None:
        """Show or hide decided actions."""
        self._pane.ordering.shows_decided = not self._pane.ordering.shows_decided
        self._pane.reshow(is_sorted=True)

    # --- why a key does nothing now; empty when it does something --------------------------------

    def why_not_approve(self) -> str:
        """Return why `a` is off."""
        return self._point_to_waiting(
            approval_selection.why_not_approve(self._pane.detail, self._pane.choosing)
        )

    def why_not_approve_unseen(self) -> str:
        """Return why `ctrl+y` is off."""
        return self._point_to_waiting(
            approval_selection.why_not_approve_unseen(self._pane.detail, self._pane.choosing)
        )

    def why_not_reject(self) -> str:
        """Return why `r` is off."""
        return "" if self._pane.choosing.marks else self._point_to_waiting(self.why_not_reject_with_reason())

    def why_not_reject_with_reason(self) -> str:
        """Return why `R` is off."""
        return approval_selection.why_not_reject(self._pane.detail, self._pane.choosing)

    def why_not_answer_trust(self) -> str:
        """Return why `ctrl+t` is off."""
        return self._point_to_waiting(self.why_no_choice()) if self._pane.detail is not None else ""

    def _point_to_waiting(self, why: str) -> str:
        pane = self._pane
        is_past = pane.detail is not None and not pane.detail.is_pending and pane.queue.has_waiting
        return f"{why}; n goes to the next that waits" if why and is_past else why

    def why_no_choice(self) -> str:
        """Return why no answer can be chosen."""
        return approval_selection.why_not_answerable(self._pane.detail, "approve")

    def why_not_extend(self) -> str:
        """Return why `x` is off."""
        return approval_selection.why_not_answerable(self._pane.detail, "extend")

    def why_not_edit(self) -> str:
        """Return why `e` is off."""
        return approval_selection.why_not_answerable(self._pane.detail, "edit")

    def why_not_make_rule(self) -> str:
        """Return why `A` is off."""
        return approval_selection.why_no_rule(self._pane.detail)

    def why_not_move_command(self) -> str:
        """Return why `s` is off."""
        return approval_selection.why_not_move_command(self._pane.detail, self._pane.choosing)

    def why_not_undo(self) -> str:
        """Return why `u` is off."""
        return approval_selection.why_no_undo(self._pane.detail)

    def why_not_propose_again(self) -> str:
        """Return why `p` is off."""
        return approval_selection.why_not_propose_again(self._pane.detail)

    def why_not_propose_all_again(self) -> str:
        """Return why `P` is off."""
        return approval_selection.why_not_propose_again(self._pane.detail, is_all=True)

    def why_no_hunks(self) -> str:
        """Return why there is no hunk to go to."""
        return approval_selection.why_no_hunks(self._pane.detail)

    def why_not_select(self) -> str:
        """Return why nothing can be selected of the action."""
        return approval_selection.why_not_select(self._pane.detail, self._pane.choosing)

    def why_no_diff(self) -> str:
        """Return why there is no diff to draw another way."""
        return approval_selection.why_no_diff(self._pane.detail)

    def why_one_file(self) -> str:
        """Return why there is no other file."""
        return approval_selection.why_one_file(self._pane.detail)

    def why_not_mark(self) -> str:
        """Return why the row under the cursor cannot be marked."""
        return approval_selection.why_not_mark(self._pane.queue.current)

    def why_not_mark_rule(self) -> str:
        """Return why no edits for the same rule can be marked."""
        detail = self._pane.detail
        has_rule = detail is not None and detail.finding and detail.files
        return self.why_not_mark() if has_rule else "only an edit for a finding belongs to a rule"

    def why_not_mark_all(self) -> str:
        """Return why no row can be marked."""
        has_markable = any(row.can_batch for row in self._pane.rows)
        return "" if has_markable else "nothing here can be answered together"
