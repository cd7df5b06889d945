"""The words around the queue and its detail: both titles, and what keys are called for what is drawn.

Pure: made from the action that is drawn and what was chosen of it. What answers do is `tui.panes.answers`.
"""

from typing import Final

from textual.content import Content

from workbench.draw.glyphs import Glyphs
from workbench.draw.rows import URGENT
from workbench.draw.tokens import Ink
from workbench.draw.words import left
from workbench.tui.panes import answers
from workbench.tui.panes.choosing import Choosing
from workbench.views.detail import ActionDetail
from workbench.views.queue import QueueRow, QueueSummary

NARROW: Final = 100
"""Columns below which labels are short."""


def waiting_facts(
    summary: QueueSummary, colours: Ink, glyphs: Glyphs, *, is_zoomed: bool, has_rows: bool
) -> Content:
    """Return what stands beside the pane's name: `◆ 6  of 2 sessions`; over decided rows that none waits."""
    if not summary.waiting:
        ok = Content.styled(glyphs.of("ok"), colours.sign("ok"))
        return Content.assemble(ok, (" nothing waits", colours.of("muted"))) if has_rows else Content(" ")
    facts = Content.styled(f"{glyphs.of('waiting')} {summary.waiting}", colours.of("waiting", bold=True))
    if not is_zoomed:
        return facts
    plural = "s" if summary.sessions > 1 else ""
    return facts + Content.styled(f"  of {summary.sessions} session{plural}", colours.of("muted"))


def arranged_by(words: str, colours: Ink, glyphs: Glyphs, *, is_zoomed: bool) -> Content:
    """Return order or filter; zoomed with the keys that change them."""
    muted, key = colours.of("muted"), colours.of("info", bold=True)
    said = Content.styled(glyphs.line(words), muted)
    if not is_zoomed:
        return said
    return Content.assemble(said, "  ", ("o", key), (" order  ", muted), ("/", key), (" filter", muted))


def full_title(detail: ActionDetail, title: Content, colours: Ink) -> Content:
    """Return the title of a full-screen detail, where no row says what it is and who asks."""
    verb = Content.styled(f"{detail.verb}  ", colours.of("muted"))
    by = f"   {detail.session_title}" if detail.session_title and detail.hunks else ""
    return Content.assemble(verb, title, (by, colours.of("muted")))


def time_left(row: QueueRow | None, colours: Ink, glyphs: Glyphs) -> Content:
    """Return the countdown of a row for a title, with its fuse; empty for what does not expire."""
    if row is None or row.left_seconds is None:
        return Content("")
    style = colours.of(URGENT[row.urgency], bold=row.urgency != "calm")
    return Content.styled(f"    {glyphs.fuse(row.left_seconds)}  {left(row.left_seconds)}", style)


def place(detail: ActionDetail, choosing: Choosing) -> str:
    """Return where in its detail the user is: `hunk 2 of 3   2 taken`; without hunks who asks."""
    hunk, taken = choosing.hunk_of(detail), choosing.taken_of(detail)
    if hunk is None:
        return f"asked by {detail.session_title}" if detail.session_title else " "
    where = f"hunk {hunk} of {len(detail.hunks)}"
    if choosing.line is not None:
        return f"{where}   line {choosing.line}"
    has_choice = detail.is_pending or detail.was_taken is not None
    lost = gone(detail, choosing)
    return f"{where}   {taken.title_words()}{lost and f'   {lost}'}" if has_choice else where


def gone(detail: ActionDetail, choosing: Choosing) -> str:
    """Return what was chosen of an action and is not in the one that stands in for it; empty for nothing."""
    lines = choosing.lines_gone.get(detail.id, 0)
    if not detail.is_pending:
        return ""
    if detail.id in choosing.texts_gone:
        return "your text was for the old diff, this is the agent's again"
    plural, verb = ("s", "are") if lines > 1 else ("", "is")
    return f"{lines} left-out line{plural} {verb} gone from the new diff" if lines else ""


def label(
    key_id: str, detail: ActionDetail | None, choosing: Choosing, *, is_split: bool, width: int
) -> str | None:
    """Return what a key does to what is drawn; None where the table's word says it."""
    if key_id == "approvals.layout":
        return "unified" if is_split else "split"
    if key_id == "list.open":
        return "full diff" if detail is None or detail.files else "full screen"
    if detail is None:
        is_batch = key_id == "approvals.approve" and choosing.marks
        return "approve marked…" if is_batch else None
    if key_id in ("approvals.approve", "trust.answer"):
        return answers.approve_label(detail, choosing)
    if key_id == "approvals.hunk-toggle" and width < NARROW:
        hunk = choosing.hunk_of(detail)
        return "take" if hunk and choosing.taken_of(detail).state_of(hunk) == "left" else "leave"
    return None
