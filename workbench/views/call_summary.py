"""What the gate, a human or a tool made of a call, as one sentence."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.rows import Action, Call
from workbench.domain.values import SelectedHunk
from workbench.text.human import duration_text
from workbench.text.safe import one_line
from workbench.views.hunk_selection import taken_text
from workbench.views.status_icons import CALL_STATUSES, StatusName, answer_in_verdict
from workbench.views.supervised import ASKS_ITSELF, ASKS_TOO, call_judgement

MAX_QUOTE_CELLS = 400
_NOT_DONE_IN_TIME = "expired, not done"


class CallSummary(Struct, frozen=True, kw_only=True):
    """The words of one call line."""

    right: str = ""
    meaning: StatusName | None = None
    note: str = ""
    quote: str = ""


def call_summary(call: Call, action: Action | None, sizes: Sequence[int]) -> CallSummary:
    """Return the words for a call; `sizes` are the changed lines of each hunk of its action, if known."""
    summary = _summary_by_state(call, action, sizes)
    if not call.repeats:
        return summary
    note = "; ".join(words for words in (repeated_text(call.repeats), summary.note) if words)
    return replace(summary, note=note, meaning=summary.meaning or "risk")


def _summary_by_state(call: Call, action: Action | None, sizes: Sequence[int]) -> CallSummary:
    match call.state:
        case "pending":
            return _pending_summary(call, action)
        case "succeeded":
            return _succeeded_summary(call, action, sizes)
        case "failed":
            return _failed_summary(call)
        case "rejected":
            return _rejected_summary(call, action)
        case "executing" if call.asks_itself:
            return CallSummary(right=ASKS_TOO, meaning="running", note=ASKS_ITSELF)
        case _:
            meaning, word = CALL_STATUSES[call.state]
            return CallSummary(
                right=_NOT_DONE_IN_TIME if call.state == "expired" else word,
                meaning=meaning if meaning in ("running", "unknown") else None,
            )


def left_text(selection: Sequence[SelectedHunk] | None, total: int) -> str:
    """Return what of an action was left: `hunk 2`, `hunks 2, 5`, `lines of hunk 3`; empty if nothing was."""
    if selection is None:
        return ""
    taken = {piece.hunk: piece for piece in selection}
    whole = [str(n) for n in range(1, total + 1) if n not in taken]
    partly = [str(piece.hunk) for piece in selection if piece.lines is not None]
    parts = [_numbered_list("hunk", whole)] if whole else []
    parts += ["lines of " + _numbered_list("hunk", partly)] if partly else []
    return " and ".join(parts)


def _numbered_list(word: str, numbers: Sequence[str]) -> str:
    if len(numbers) > 6:
        return f"{len(numbers)} {word}s"
    return f"{word} {numbers[0]}" if len(numbers) == 1 else f"{word}s {', '.join(numbers)}"


def _pending_summary(call: Call, action: Action | None) -> CallSummary:
    if call.action_id is None:
        return CallSummary()
    if action is not None and action.stale_paths:
        return CallSummary(right="stale, asks you", meaning="stale")
    return CallSummary(right="asks you", meaning="waiting")


def _succeeded_summary(call: Call, action: Action | None, sizes: Sequence[int]) -> CallSummary:
    took = duration_text(call.duration_ms / 1000) if call.duration_ms is not None else ""
    took = call_judgement(call) or took
    if call.grade == "checked":
        return CallSummary(right="differs", meaning="risk", note=one_line(call.summary, MAX_QUOTE_CELLS))
    if action is None and call.detail == "partial":
        return CallSummary(right="partly", meaning="partly")
    if action is None or action.selection is None:
        return CallSummary(right=took)
    right = taken_text(action.selection, sizes) or "partly"
    left = left_text(action.selection, len(sizes))
    return CallSummary(
        right=right,
        meaning="partly",
        note=f"you left {left}" if left else "",
        quote=_reason_quote(action.reason),
    )


def _failed_summary(call: Call) -> CallSummary:
    if call.exit_code:
        return CallSummary(right=f"exit {call.exit_code}", meaning="failed")
    right = one_line(call.detail, 24) or "failed"
    note = one_line(call.error, MAX_QUOTE_CELLS) or call_judgement(call)
    return CallSummary(right=right, meaning="failed", note=note)


def _rejected_summary(call: Call, action: Action | None) -> CallSummary:
    answer = answer_in_verdict(call)
    if answer == "expired":
        return CallSummary(right=_NOT_DONE_IN_TIME)
    if call.action_id is None and answer is None:
        return CallSummary(right="not allowed", meaning="failed", note=one_line(call.error, MAX_QUOTE_CELLS))
    quote = _reason_quote(action.reason if action is not None else call.error)
    return CallSummary(right="rejected", meaning="rejected", note="you said no" if quote else "", quote=quote)


def _reason_quote(reason: str | None) -> str:
    return one_line(reason, MAX_QUOTE_CELLS) if reason else ""


def repeated_text(times: int) -> str:
    """Return what is shown of a call that ended once more as it had ended before."""
    return f"same call, same result, {times} times"
