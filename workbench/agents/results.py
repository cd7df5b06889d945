"""What a model is told about the end of a call, in words that say what was and was not done.

Owns every sentence of that kind. It never claims that nothing happened where that is not known.
"""

from collections.abc import Callable, Iterator, Sequence

from workbench.agents.state import TurnCall, UndoneChange
from workbench.domain.events import CallFinished
from workbench.domain.messages import ResultOutcome
from workbench.text.safe import one_line

Result = tuple[str, ResultOutcome]

NOTHING = "Nothing was done."
_LONGEST_PATH = 4096
LOOK = "Look at the present state before you do it again."

_CANCELLED = {
    "stale": "Cancelled: what it was computed from changed in the meantime (stale).",
    "lapsed": "Cancelled: it was approved but could not begin in time (lapsed).",
}

_INTERRUPTED = {
    "nothing written": "Interrupted: the program stopped before anything was written.",
    "rolled back": "Interrupted: the program stopped midway; what it had written was put back (rolled back).",
}


def result(call: TurnCall, output: str = "") -> Result:
    """Return the text for the model and how the call ended.

    Args:
        call: The call; one that is still open is told as its turn's end leaves it.
        output: What the tool said, exact where it may be read, else as recorded.
    """
    match call.state:
        case "succeeded":
            return _succeeded(call, output)
        case "failed":
            return _joined(_failure(call), output), "failed"
        case "rejected":
            return _rejected(call)
        case "expired":
            return "Expired: nobody answered in time; nothing was done.", "expired"
        case "cancelled":
            return _joined(_cancellation(call), output), "cancelled"
        case "interrupted":
            return _joined(_interruption(call), output), "interrupted"
        case "executing":
            return _unknown(), "interrupted"
        case "pending" | "approved":
            return f"Cancelled: the turn ended before it began. {NOTHING}", "cancelled"


def undo_note(undone: Sequence[UndoneChange], wire_names: Callable[[str], str] = str) -> str:
    """Return what a model is told of changes of its own that the user took back since.

    Args:
        undone: The changes, the oldest first.
        wire_names: The name of a tool on the wire.
    """
    lines = [line for change in undone for line in _undone_lines(change, wire_names)]
    head = "Note of the workbench: the user took back what you had changed."
    return "\n".join((head, *lines, "Read a file again before you build on it."))


def reply_note(why: str) -> str:
    """Return what a model is told of a reply of its own that was cut."""
    return f"Note of the workbench: of your last reply not all was taken: {_sentence(why)}"


def _undone_lines(change: UndoneChange, wire_names: Callable[[str], str]) -> Iterator[str]:
    tool = f" ({wire_names(change.tool)})" if change.tool else ""
    call = f"your call {change.provider_call_id}{tool}" if change.provider_call_id else "an earlier call"
    for path in change.paths or ("the file",):
        is_removed = path in change.removed
        state = "removed again: it was not there before" if is_removed else "as it was before"
        yield f"- {one_line(path, _LONGEST_PATH)}: the change of {call} was undone; the file is {state}."


def _succeeded(call: TurnCall, output: str) -> Result:
    finished = call.finished or CallFinished(state="succeeded")
    found = (
        "The program had stopped; the files show that it was done." if finished.detail == "recovered" else ""
    )
    if call.is_altered:
        return _joined(found, _alteration(call, finished), output), "partial"
    return _joined(found, output) or finished.summary or "Done; there was no output.", "succeeded"


def _alteration(call: TurnCall, finished: CallFinished) -> str:
    reason = _sentence((call.approval.reason if call.approval else None) or "")
    told = [_hunks(finished)] if finished.hunks_left else []
    told += [
        f"of hunk {taken.hunk} only {_counted('changed line', taken.lines)} applied"
        for taken in call.selection
        if taken.lines is not None
    ]
    if told:
        return f"Partly applied: {', '.join(told)}{f': {reason}' if reason else '.'}"
    changed = "Applied in part: the human changed the proposal before approving it"
    return f"{changed}{f': {reason}' if reason else '.'} Read what is there before you build on it."


def _hunks(finished: CallFinished) -> str:
    left = _numbers(finished.hunks_left)
    if not finished.hunks_taken:
        return f"{_counted('hunk', finished.hunks_left)} refused"
    return f"{_counted('hunk', finished.hunks_taken)} applied, {left} refused"


def _failure(call: TurnCall) -> str:
    finished = call.finished or CallFinished(state="failed")
    code = "" if finished.exit_code is None else f"exit code {finished.exit_code}"
    facts = [fact for fact in (finished.detail, code) if fact]
    head = f"Failed ({', '.join(facts)})" if facts else "Failed"
    return f"{head}: {_sentence(finished.error)}" if finished.error else f"{head}."


def _rejected(call: TurnCall) -> Result:
    verdict = call.verdict
    if call.rejection is None and verdict is not None and verdict.outcome in ("denied", "refused"):
        is_denied = verdict.outcome == "denied"
        word = "Denied" if is_denied else "Refused"
        who = f" by {verdict.by}" if verdict.by else ""
        said = f"{word}{who}: {_sentence(verdict.reason)}" if verdict.reason else f"{word}{who}."
        return f"{said} {NOTHING}", "denied" if is_denied else "refused"
    reason = call.rejection.reason if call.rejection else None
    said = (
        f"Rejected by the human: {_sentence(reason)}"
        if reason
        else "Rejected by the human, without a reason."
    )
    return f"{said} {NOTHING}", "rejected"


def _cancellation(call: TurnCall) -> str:
    finished = call.finished or CallFinished(state="cancelled")
    why = finished.detail or finished.error
    if call.has_begun:
        return f"Stopped while it ran{f' ({why})' if why else ''}: what it did until then stays. {LOOK}"
    said = _CANCELLED.get(finished.detail) or (f"Cancelled: {_sentence(why)}" if why else "Cancelled.")
    more = _sentence(finished.error) if finished.error and finished.error != why else ""
    return _joined(f"{said} {NOTHING}", more)


def _interruption(call: TurnCall) -> str:
    finished = call.finished or CallFinished(state="interrupted")
    said = _INTERRUPTED.get(finished.detail) or _unknown()
    more = _sentence(finished.error or finished.summary)
    return _joined(said, more)


def _unknown() -> str:
    return f"Interrupted: the program stopped while it ran, and its outcome is unknown. {LOOK}"


def _counted(noun: str, numbers: tuple[int, ...]) -> str:
    return f"{noun}{'' if len(numbers) == 1 else 's'} {_numbers(numbers)}"


def _numbers(numbers: tuple[int, ...]) -> str:
    *first, last = [str(number) for number in numbers] or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text[-1] in ".!?…" else f"{text}."


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
