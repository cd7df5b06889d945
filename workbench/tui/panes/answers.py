"""What the answering keys would do now, in words: labels, reasons why a key is off, sentences of results.

Pure: made from the action that is drawn and what was chosen of it.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from workbench.text.safe import one_line
from workbench.tui.panes.choosing import Choosing
from workbench.tui.panes.detail import NextShown
from workbench.views import detail as details
from workbench.views.detail import ActionDetail
from workbench.views.queue import QueueRow

if TYPE_CHECKING:
    from workbench.journal.decide import DecisionResult

LAST_CELLS: Final = 40
"""Of the last line of what is not on the screen yet."""
NO_ROW: Final = "nothing is under the cursor"
OF_ROWS: Final = frozenset(
    {"list.open", "list.copy", "list.pipe", "list.order", "list.problem-next", "list.problem-previous"}
)
"""Keys of lists that need a row."""
REJECTING: Final = frozenset({"reject", "not_now"})
"""Choices that say no."""

_VERDICTS: Final = {
    "approvals.approve": "approve",
    "approvals.approve-unseen": "approve",
    "approvals.reject": "reject",
    "approvals.reject-reason": "reject",
    "approvals.extend": "extend",
    "approvals.edit": "edit",
}
_TRUST_KEYS: Final = frozenset({"trust.answer"})
ANSWERING: Final = frozenset(
    {
        "approvals.approve",
        "approvals.approve-unseen",
        "approvals.reject",
        "approvals.extend",
        "approvals.undo",
        "trust.answer",
    }
)
"""Keys that count only for what has stood on the screen."""
_NOT_OF_TRUST: Final = frozenset({
    "approvals.approve", "approvals.approve-unseen", "approvals.reject", "approvals.reject-reason",
})  # fmt: skip
BY_CTRL_T: Final = "h l choose, ctrl+t answers"
"""Why no letter answers whether a workspace is trusted."""
_CHOICE_KEYS: Final = frozenset({"answer.choose-next", "answer.choose-previous"})
_HUNK_KEYS: Final = frozenset({"hunk-toggle", "hunks-toggle", "hunk-next", "hunk-previous", "lines"})
_DIFF_KEYS: Final = frozenset({"layout", "context-less", "context-more", "file-next", "file-previous"})


def approve_label(detail: ActionDetail, choosing: Choosing) -> str:
    """Return what `a` does: `approve 2 of 3`, `see 2 more hunks`, `run once`, the chosen answer."""
    if choosing.marks:
        return f"approve {len(choosing.marks)} marked…"
    if detail.is_stale:
        return "new diff"
    if detail.kind == "question" and not detail.choices:
        return "answer…"
    if detail.choices:
        return _choice_label(detail, choosing)
    if detail.id in choosing.edits:
        return "approve your text"
    unseen, words = unseen_words(detail, choosing), choosing.taken_of(detail).words()
    if unseen and choosing.insists(detail):
        return f"see {unseen}, then {words}" if words else f"see {unseen}"
    base = f"approve {words}" if words else ("run once" if detail.command is not None else "approve")
    return f"{base}, {unseen} unseen" if unseen else base


def unseen_words(detail: ActionDetail, choosing: Choosing) -> str:
    """Return how much of an action was not on the screen yet: `2 more hunks`; empty if all of it was."""
    unseen, lines = choosing.unseen(detail), choosing.lines_left.get(detail.id, 0)
    if not unseen:
        return ""
    if len(unseen) > 1 or (not lines and detail.hunks):
        return f"{len(unseen)} more hunk{'s' if len(unseen) > 1 else ''}"
    return f"{lines} more line{'s' if lines != 1 else ''}" if lines else "the rest"


def left_sentence(following: NextShown, key: str, other: str = "") -> str:
    """Return what is said of what is left after the next part of an action was shown.

    Args:
        following: the part, and what is below it.
        key: that goes on.
        other: what else can be done, as words that go on from there.
    """
    again = f"Look, then {key} again{other}."
    if following.hunks > 1:
        return f"{following.hunks} more hunks. {again}"
    if not following.lines:
        return f"This is the rest. {again}"
    lines = f"{following.lines} more line{'s' if following.lines > 1 else ''}"
    last = f", last: {one_line(following.last, LAST_CELLS)}" if following.last else ""
    return f"{lines}{last}. {again}"


_TRUST: Final = {"trust": "trust", "trust_and_read": "trust, agents may read", "not_now": "not now"}


def _choice_label(detail: ActionDetail, choosing: Choosing) -> str:
    key = choosing.choice_of(detail)
    if detail.kind == "trust":
        return _TRUST.get(key or "", "answer")
    return next((choice.label for choice in detail.choices if choice.key == key), "answer").lower()


def why_off(key_id: str, detail: ActionDetail | None, choosing: Choosing) -> str:
    """Return why a key of the approvals does nothing now; empty when it is on."""
    name = key_id.partition(".")[2]
    if key_id == "approvals.always":
        return NO_ROW if detail is None else _why_no_rule(detail)
    if key_id in _NOT_OF_TRUST and detail is not None and detail.kind == "trust" and not choosing.marks:
        return details.why_not(detail, "approve") or BY_CTRL_T
    if key_id in _TRUST_KEYS and detail is not None:
        return details.why_not(detail, "approve")
    if key_id in _CHOICE_KEYS:
        return details.why_not(detail, "approve") if detail is not None else NO_ROW
    if key_id in _VERDICTS or name == "undo" or name in _HUNK_KEYS | _DIFF_KEYS:
        if choosing.marks and name in ("approve", "reject"):
            return ""
        return NO_ROW if detail is None else _why_off(key_id, name, detail, choosing)
    return ""


def decides(key_id: str) -> bool:
    """Return whether a key answers what is under the cursor."""
    return key_id in _TRUST_KEYS or key_id in (
        "approvals.approve",
        "approvals.approve-unseen",
        "approvals.reject",
    )


def why_no_mark(key_id: str, row: QueueRow | None, rows: Iterable[QueueRow]) -> str:
    """Return why a key marks nothing for a batch; empty when it does, and for every other key.

    Args:
        key_id: of the table.
        row: under the cursor.
        rows: all that are shown.
    """
    if key_id == "approvals.mark-all":
        return "" if any(one.can_batch for one in rows) else "nothing here can be answered together"
    if key_id != "approvals.mark" or (row is not None and row.can_batch):
        return ""
    if row is None or not row.is_pending:
        return "only what waits can be marked"
    return f"{_ARTICLES.get(row.verb, 'a')} {row.verb} like this one is answered by itself"


_ARTICLES: Final = {"ask": "an", "edit": "an"}


def _why_off(key_id: str, name: str, detail: ActionDetail, choosing: Choosing) -> str:
    if name == "undo":
        return _why_no_undo(detail)
    if name in _HUNK_KEYS:
        return _why_no_hunks(name, detail, choosing)
    if name in _DIFF_KEYS:
        return _why_no_diff(name, detail)
    if name == "approve-unseen" and (why := _why_not_unseen(detail, choosing)):
        return why
    if name == "approve" and detail.is_stale and detail.is_pending:
        return ""
    if name in ("approve", "approve-unseen") and choosing.taken_of(detail).is_nothing:
        return "nothing is taken: space takes a hunk, r rejects all"
    verdict = _VERDICTS[key_id]
    return details.why_not(detail, verdict)  # type: ignore[arg-type]  # the table above holds its four words


def _why_not_unseen(detail: ActionDetail, choosing: Choosing) -> str:
    """Return why nothing is approved unseen; empty where it can be."""
    if not detail.is_pending:
        return f"it is {detail.state_word}"
    if detail.is_stale:
        return "the file changed; a makes the new diff"
    if choosing.marks:
        return "of several each is looked at; a opens the table"
    if not choosing.unseen(detail):
        return "all of it was on the screen; a approves it"
    return "it deletes or carries a warning: a shows all of it first" if detail.must_see_all else ""


def _why_no_rule(detail: ActionDetail) -> str:
    """Return why no rule can be made of an action; what the gate said of it is believed."""
    if detail.kind != "tool" or not detail.tool:
        return "only calls of tools can be covered by a rule"
    if not detail.is_pending:
        return f"it is {detail.state_word}"
    if detail.is_stale:
        return "the file changed; make the new diff first"
    return detail.why_no_rule


def _why_no_undo(detail: ActionDetail) -> str:
    if detail.is_pending:
        return "nothing was applied yet"
    if not detail.files:
        return "it changed no file"
    if detail.is_undone:
        return "it is undone already"
    return "" if detail.outcome == "ok" or detail.sign in ("ok", "partly") else "it was not applied"


def _why_no_hunks(name: str, detail: ActionDetail, choosing: Choosing) -> str:
    if not detail.hunks:
        return "there are no hunks here"
    if name in ("hunk-next", "hunk-previous"):
        return ""
    if not detail.is_pending:
        return "it is decided"
    return "your text is taken whole" if detail.id in choosing.edits else ""


def _why_no_diff(name: str, detail: ActionDetail) -> str:
    if not detail.files:
        return "there is no diff here"
    is_alone = len(detail.files) == 1 and name in ("file-next", "file-previous")
    return "it has one file" if is_alone else ""


_RESULTS: Final = {
    "decided": "It was decided already, {by}.",
    "expired": "It expired before the answer. Nothing was done; the agent can ask again.",
    "superseded": "Another one stands in for it now. Nothing was done.",
    "cancelled": "It was withdrawn. Nothing was done.",
    "stale": "The file changed. Nothing was written; a makes the new diff.",
    "digest": "It is not what was shown. Nothing was done; look again.",
    "limit": "It was extended as often as it may be.",
    "choice": "It does not offer that answer.",
    "unknown": "It is not there any more.",
}


def result_sentence(result: "DecisionResult") -> str:
    """Return why an answer did not count, in words; empty when it did."""
    if result.ok or result.why is None:
        return ""
    return _RESULTS[result.why].format(by=f"by {result.by}" if result.by else "elsewhere")
