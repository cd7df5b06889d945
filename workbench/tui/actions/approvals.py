"""Keys of the approvals: each answers, chooses or looks at the action that is drawn under the cursor.

A deciding key counts only for what stood on the screen for 300 ms, and its message carries the digest of
what was drawn.
"""

from typing import Final

from workbench.domain.values import Approval
from workbench.tui.arming import TOO_QUICK
from workbench.tui.messages import (
    AlwaysAsked,
    BatchAsked,
    Decide,
    DetailWanted,
    EditAction,
    Extend,
    LineAsked,
    Refresh,
    Said,
    Undo,
)
from workbench.tui.panes import answers
from workbench.tui.panes.answers import REJECTING
from workbench.tui.panes.approvals import ApprovalsPane
from workbench.tui.theme import drawing
from workbench.views.detail import ActionDetail

_CONTEXTS: Final = (0, 1, 2, 3, 5, 10, 20, 50, 200)
"""Equal lines around a change, step by step."""


# --- answers --------------------------------------------------------------------------------------


def approve(pane: ApprovalsPane) -> None:
    """Approve what is taken; with marks open the table; first show, part by part, what nobody saw yet."""
    if pane.choosing.marks:
        pane.post_message(BatchAsked("approve"))
        return
    detail = pane.armed_for("a")
    if detail is None:
        return
    if detail.is_stale:
        pane.post_message(Refresh(detail.id))
    elif not _is_shown_first(pane, detail, "a") and not _asks_once_more(pane, detail):
        _answer(pane, detail)


def approve_unseen(pane: ApprovalsPane) -> None:
    """Approve what is taken though not all of it was on the screen; the record says so."""
    detail = pane.armed_for("ctrl+y")
    if detail is not None and not _asks_once_more(pane, detail):
        _answer(pane, detail)


def _asks_once_more(pane: ApprovalsPane, detail: ActionDetail) -> bool:
    """Point out once what cannot be seen, before it is approved."""
    if detail.digest in pane.choosing.confirmed or not any(risk.word == "hidden" for risk in detail.warnings):
        return False
    pane.choosing.confirmed.add(detail.digest)
    pane.disarm()
    pane.post_message(Said("It holds characters that cannot be seen: look, then press a once more."))
    return True


def _is_shown_first(pane: ApprovalsPane, detail: ActionDetail, key: str) -> bool:
    """Show the next part that nobody saw, and say what is left; False when there is none."""
    choosing = pane.choosing
    if not choosing.insists(detail):
        if choosing.unseen(detail) or pane.detail_view.is_settled(drawing(pane).key_time):
            return False
        pane.disarm()
        pane.post_message(Said(TOO_QUICK.format(key=key)))
        return True
    following = pane.detail_view.show_next(choosing.unseen(detail))
    if following.hunk is not None:
        choosing.hunks[detail.id] = following.hunk
        pane.draw_detail()
    pane.disarm()
    other = "" if pane.why_off("approvals.approve-unseen") else ", or ctrl+y unseen"
    pane.post_message(Said(answers.left_sentence(following, key, other)))
    return True


def _answer(pane: ApprovalsPane, detail: ActionDetail) -> None:
    choosing = pane.choosing
    if detail.choices:
        choice = choosing.choice_of(detail)
        verdict: Approval = "reject" if choice in REJECTING else "approve"
        seen = choosing.seen_by(detail) if verdict == "approve" else None
        _decide(pane, Decide(detail.id, verdict, detail.digest, choice=choice, seen=seen))
    elif detail.kind == "question":
        _ask(pane, detail, "answer", "send the answer", "the agent reads your answer")
    elif detail.id in choosing.edits:
        edited, seen = choosing.edits[detail.id], choosing.seen_by(detail)
        _decide(pane, Decide(detail.id, "approve", detail.digest, edited=edited, seen=seen))
    else:
        _decide(pane, choosing.approval(detail))


def _decide(pane: ApprovalsPane, message: Decide) -> None:
    if message.action_id not in pane.deciding:
        pane.deciding.add(message.action_id)
        pane.post_message(message)


def reject(pane: ApprovalsPane) -> None:
    """Reject it; with marks open the table."""
    if pane.choosing.marks:
        pane.post_message(BatchAsked("reject"))
        return
    detail = pane.armed_for("r")
    if detail is not None:
        keys = [choice.key for choice in detail.choices]
        choice = next((key for key in keys if key in REJECTING), None)
        _decide(pane, Decide(detail.id, "reject", detail.digest, choice=choice))


def reject_reason(pane: ApprovalsPane) -> None:
    """Ask for the reason that the agent reads."""
    detail = pane.detail
    if detail is not None:
        _ask(pane, detail, "reject", "reject", "the agent reads your reason")


def _ask(pane: ApprovalsPane, detail: ActionDetail, purpose: str, does: str, right: str) -> None:
    pane.written.about, pane.written.seen = detail, pane.choosing.seen_by(detail)
    title = f"{'Reject' if purpose == 'reject' else 'Answer'} {detail.target}"
    pane.post_message(
        LineAsked(pane, purpose, title, right, does, history=tuple(pane.written.reasons), is_armed=True)
    )


def always(pane: ApprovalsPane) -> None:
    """Open the dialog that makes a rule; nothing is saved by that."""
    if pane.detail is not None:
        pane.post_message(AlwaysAsked(pane.detail))


def extend(pane: ApprovalsPane) -> None:
    """Give it 15 minutes more."""
    detail = pane.armed_for("x")
    if detail is not None:
        pane.post_message(Extend(detail.id))


def edit(pane: ApprovalsPane) -> None:
    """Change the proposal in an editor; nothing is decided by that."""
    if pane.detail is not None:
        pane.post_message(EditAction(pane.detail.id))


def undo(pane: ApprovalsPane) -> None:
    """Take an applied change back."""
    detail = pane.armed_for("u")
    if detail is not None:
        pane.post_message(Undo(detail.id))


# --- hunks and lines ------------------------------------------------------------------------------


def hunk_previous(pane: ApprovalsPane) -> None:
    """Go to the hunk before."""
    _to_hunk(pane, -1)


def hunk_next(pane: ApprovalsPane) -> None:
    """Go to the next hunk."""
    _to_hunk(pane, 1)


def _to_hunk(pane: ApprovalsPane, step: int) -> None:
    if pane.detail is not None:
        pane.choosing.to_hunk(pane.detail, step)
        if pane.choosing.line is not None:
            pane.choosing.line = 1
        pane.draw_detail(has_moved=True)


def hunk_toggle(pane: ApprovalsPane) -> None:
    """Leave the hunk under the cursor, or take it."""
    if pane.detail is not None:
        pane.choosing.toggle_hunk(pane.detail)
        pane.draw_detail()


def hunks_toggle(pane: ApprovalsPane) -> None:
    """Take everything, or leave everything."""
    if pane.detail is not None:
        pane.choosing.take(pane.detail, pane.choosing.taken_of(pane.detail).toggle_all())
        pane.draw_detail()


def lines(pane: ApprovalsPane) -> None:
    """Choose lines of the hunk under the cursor."""
    pane.choosing.line = 1
    pane.draw_detail(has_moved=True)
    pane.disarm()


def whole(pane: ApprovalsPane) -> None:
    """Go back to whole hunks; lines that were left stay left."""
    pane.choosing.line = None
    pane.draw_detail(has_moved=True)
    pane.disarm()


def line_down(pane: ApprovalsPane) -> None:
    """Go to the next changed line."""
    _to_line(pane, 1)


def line_up(pane: ApprovalsPane) -> None:
    """Go to the changed line before."""
    _to_line(pane, -1)


def _to_line(pane: ApprovalsPane, step: int) -> None:
    if pane.detail is not None:
        pane.choosing.to_line(pane.detail, step)
        pane.draw_detail(has_moved=True)


def line_toggle(pane: ApprovalsPane) -> None:
    """Leave the line under the cursor, or take it."""
    if pane.detail is not None:
        pane.choosing.toggle_line(pane.detail)
        pane.draw_detail()


# --- looking --------------------------------------------------------------------------------------


def file_previous(pane: ApprovalsPane) -> None:
    """Go to the file before."""
    _to_file(pane, -1)


def file_next(pane: ApprovalsPane) -> None:
    """Go to the next file."""
    _to_file(pane, 1)


def _to_file(pane: ApprovalsPane, step: int) -> None:
    hunk = pane.detail_view.to_file(step)
    if hunk is None:
        pane.post_message(Said("There is no other file that way."))
    elif pane.detail is not None:
        pane.choosing.hunks[pane.detail.id] = hunk
        pane.draw_detail(has_moved=True)


def layout(pane: ApprovalsPane) -> None:
    """Change between split and unified."""
    pane.layout_wish = "unified" if pane.layout_wish == "split" else "split"
    pane.draw_detail(has_moved=True)
    if pane.layout_wish == "split" and not pane.detail_view.can_split:
        pane.post_message(Said("Split needs 100 columns: enter gives the diff the whole screen."))


def context_less(pane: ApprovalsPane) -> None:
    """Show fewer equal lines."""
    _context(pane, -1)


def context_more(pane: ApprovalsPane) -> None:
    """Show more equal lines."""
    _context(pane, 1)


def _context(pane: ApprovalsPane, step: int) -> None:
    at = _CONTEXTS.index(pane.context) + step
    pane.context = _CONTEXTS[max(0, min(at, len(_CONTEXTS) - 1))]
    if pane.detail is not None:
        pane.post_message(DetailWanted(pane.detail.id))
    pane.post_message(Said(f"{pane.context} equal lines around a change."))


def diff_down(pane: ApprovalsPane) -> None:
    """Scroll the detail three lines down."""
    pane.detail_view.scroll_lines(3)


def diff_up(pane: ApprovalsPane) -> None:
    """Scroll the detail three lines up."""
    pane.detail_view.scroll_lines(-3)


def scroll_down(pane: ApprovalsPane) -> None:
    """Scroll the full-screen diff a line down."""
    pane.detail_view.scroll_lines(1)


def scroll_up(pane: ApprovalsPane) -> None:
    """Scroll the full-screen diff a line up."""
    pane.detail_view.scroll_lines(-1)


def find(pane: ApprovalsPane) -> None:
    """Ask for what to find in the diff."""
    pane.post_message(LineAsked(pane, "find", "Find in the diff", does="find", text=pane.find))


def close(pane: ApprovalsPane) -> None:
    """Go back from the full-screen diff to the list."""
    pane.set_full(is_full=False)


# --- choices and many -----------------------------------------------------------------------------


def choose_previous(pane: ApprovalsPane) -> None:
    """Choose the answer before."""
    _choose(pane, -1)


def choose_next(pane: ApprovalsPane) -> None:
    """Choose the next answer."""
    _choose(pane, 1)


def _choose(pane: ApprovalsPane, step: int) -> None:
    if pane.detail is not None:
        pane.choosing.choose(pane.detail, step)
        pane.draw_detail()
        pane.detail_view.scroll_lines(2 * step)


def answer(pane: ApprovalsPane) -> None:
    """Answer the question whether a workspace is trusted with what is chosen."""
    detail = pane.armed_for("ctrl+t")
    if detail is None:
        return
    if pane.choosing.choice_of(detail) in REJECTING or not _is_shown_first(pane, detail, "ctrl+t"):
        _answer(pane, detail)


def mark(pane: ApprovalsPane) -> None:
    """Mark the row for a batch, or take the mark away."""
    row = pane.queue.current
    if row is not None:
        pane.choosing.marks ^= {row.id}
        pane.marks_changed()
    pane.move(1)


def mark_all(pane: ApprovalsPane) -> None:
    """Mark all that are shown, or none if they are."""
    can = {row.id for row in pane.rows if row.is_pending and row.can_batch}
    pane.choosing.marks = set() if can <= pane.choosing.marks else can
    pane.marks_changed()


def decided(pane: ApprovalsPane) -> None:
    """Show or hide what is decided."""
    pane.ordering.shows_decided = not pane.ordering.shows_decided
    pane.reshow(is_sorted=True)
