"""What is said of a call in one line of the conversation: the words at its right and the note under it.

Owns words only. A rule's decision is never called yours, an expired call never rejected.
"""

from collections.abc import Mapping, Sequence

from workbench.domain.rows import Action, Call
from workbench.domain.values import Taken
from workbench.records import dataclass
from workbench.text.human import duration
from workbench.text.safe import one_line
from workbench.views.selection import taken_words
from workbench.views.signs import Meaning

QUOTE_CELLS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class CallWords:
    """The words of one call line."""

    right: str = ""
    meaning: Meaning | None = None
    note: str = ""
    quote: str = ""


def call_words(call: Call, action: Action | None, sizes: Sequence[int]) -> CallWords:
    """Return the words for a call.

    Args:
        call: as it stands.
        action: the question it asked, if it asked.
        sizes: changed lines of each hunk of that question; empty if nobody knows.
    """
    match call.state:
        case "pending":
            return _pending(call, action)
        case "succeeded":
            return _succeeded(call, action, sizes)
        case "failed":
            return _failed(call)
        case "rejected":
            return _rejected(call, action)
        case _:
            return CallWords(right=_RIGHT[call.state], meaning=_MEANING.get(call.state))


_RIGHT: Mapping[str, str] = {
    "approved": "approved",
    "executing": "running",
    "expired": "expired, not done",
    "cancelled": "cancelled",
    "interrupted": "outcome unknown",
}
_MEANING: Mapping[str, Meaning] = {"executing": "running", "interrupted": "unknown"}


def left_words(selection: Sequence[Taken] | None, total: int) -> str:
    """Return what of an action was left: `hunk 2`, `hunks 2, 5`, `lines of hunk 3`; empty if nothing was."""
    if selection is None:
        return ""
    taken = {piece.hunk: piece for piece in selection}
    whole = [str(n) for n in range(1, total + 1) if n not in taken]
    partly = [str(piece.hunk) for piece in selection if piece.lines is not None]
    parts = [_listed("hunk", whole)] if whole else []
    parts += ["lines of " + _listed("hunk", partly)] if partly else []
    return " and ".join(parts)


def _listed(word: str, numbers: Sequence[str]) -> str:
    if len(numbers) > 6:
        return f"{len(numbers)} {word}s"
    return f"{word} {numbers[0]}" if len(numbers) == 1 else f"{word}s {', '.join(numbers)}"


def _pending(call: Call, action: Action | None) -> CallWords:
    if call.action_id is None:
        return CallWords()
    if action is not None and action.stale_paths:
        return CallWords(right="stale, asks you", meaning="stale")
    return CallWords(right="asks you", meaning="waiting")


def _succeeded(call: Call, action: Action | None, sizes: Sequence[int]) -> CallWords:
    took = duration(call.duration_ms / 1000) if call.duration_ms is not None else ""
    if action is None or action.selection is None:
        return CallWords(right=took)
    right = taken_words(action.selection, sizes) or "partly"
    left = left_words(action.selection, len(sizes))
    return CallWords(
        right=right, meaning="partly", note=f"you left {left}" if left else "", quote=_quote(action.reason)
    )


def _failed(call: Call) -> CallWords:
    if call.exit_code:
        return CallWords(right=f"exit {call.exit_code}", meaning="failed")
    right = one_line(call.detail, 24) or "failed"
    return CallWords(right=right, meaning="failed", note=one_line(call.error, QUOTE_CELLS))


def _rejected(call: Call, action: Action | None) -> CallWords:
    if call.action_id is None:
        return CallWords(right="not allowed", meaning="failed", note=one_line(call.error, QUOTE_CELLS))
    quote = _quote(action.reason if action is not None else call.error)
    return CallWords(right="rejected", meaning="rejected", note="you said no" if quote else "", quote=quote)


def _quote(reason: str | None) -> str:
    return one_line(reason, QUOTE_CELLS) if reason else ""
