"""The conversation as a model gets it: system prompt, messages that fit, results of calls in words.

A result never claims that nothing happened where that is not known. Nothing outside the window is unsealed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, cast

from msgspec import Struct

from workbench.agents.state import (
    AppliedRest,
    ConversationHistory,
    ModelReply,
    PromptItem,
    ReplyNote,
    TurnCall,
    TurnState,
    UndoneChange,
    UserItem,
    UserMessage,
    repetition_digest,
    repetition_note,
)
from workbench.domain.events import CallFinished
from workbench.domain.messages import Message, MessageCall, ResultOutcome
from workbench.domain.values import BlobRef, Json, JsonObject, ReplyCall
from workbench.text import canonical
from workbench.text.safe import one_line

_SYSTEM_PROMPT: Final = """You are a coding agent in the folder {workspace}. You act through the tools \
you are given; paths are relative to that folder.

A human supervises you. They see every change and every command before it happens, and may refuse it, take \
a part of it, or change it. So read each result: build on what it says is there, not on what you asked for. \
When something was refused, do not ask for the same again; follow the reason, or ask what is wanted.

Where the tool for commands has the parameter outside, commands run in a sandbox: they write only in this \
folder and have no network, unless the user lets one run outside.

Read a file before you change it, and keep changes small enough to be read. When the work is done, say in a \
few sentences what you did and what is left to do."""


def system_prompt(workspace: str) -> str:
    """Return the system prompt of a new session in a workspace."""
    return _SYSTEM_PROMPT.format(workspace=workspace)


Messages = tuple[Message, ...]


def exact_system_prompt(state: TurnState, unseal: Callable[[BlobRef], bytes | None]) -> Messages:
    """Return the system prompt as a message; nothing where a session has none."""
    return _MessageWriter(unseal=unseal, wire_names=str).system(state)


def model_messages(
    state: TurnState, unseal: Callable[[BlobRef], bytes | None], limit: int, wire_names: Callable[[str], str]
) -> tuple[Messages, Messages]:
    """Return what a model call sends, and the part of it that is new.

    `limit` counts messages besides the system prompt (S0: 100); what is new is sent whole in any case.
    `unseal` returns None for bytes that are gone, `wire_names` an unknown tool's name as it came.
    """
    writer = _MessageWriter(unseal=unseal, wire_names=wire_names)
    user = writer.user(state.unsent)
    calls = writer.reply(state.reply) if state.reply and state.calls else ()
    history = ConversationHistory(state.reply, state.history) if state.reply and not calls else state.history
    earlier = _newest_that_fit(writer.earlier(history or ()), limit - len(calls) - len(user))
    return (*writer.system(state), *_merged_user_messages((*earlier, *calls, *user))), (*calls[1:], *user)


def _newest_that_fit(units: Iterable[Messages], limit: int) -> Messages:
    fitting: list[Messages] = []
    for unit in units:
        limit -= len(unit)
        if limit < 0:
            break
        fitting.append(unit)
    return tuple(message for unit in reversed(fitting) for message in unit)


def _merged_user_messages(conversation: Messages) -> Iterator[Message]:
    """Yield messages with neighbouring user messages made one (S4: two in a row are refused)."""
    last: Message | None = None
    for message in conversation:
        if last is not None and last.role == message.role == "user":
            last = Message(role="user", content=f"{last.content}\n\n{message.content}")
            continue
        if last is not None:
            yield last
        last = message
    if last is not None:
        yield last


_Item = PromptItem | ReplyNote | AppliedRest | tuple[UndoneChange, ...]


def group_undone_changes(items: Iterable[UserItem]) -> Iterator[_Item]:
    """Yield prompts one by one, and undone changes in a row as one group."""
    group: list[UndoneChange] = []
    for item in items:
        if isinstance(item, UndoneChange):
            group.append(item)
            continue
        if group:
            yield tuple(group)
            group.clear()
        yield item
    if group:
        yield tuple(group)


class _MessageWriter(Struct, frozen=True, kw_only=True):
    unseal: Callable[[BlobRef], bytes | None]
    wire_names: Callable[[str], str]

    def system(self, state: TurnState) -> Messages:
        created = state.created
        text = self.exact_text(created.system_prompt, created.system_prompt_ref) if created else ""
        return (Message(role="system", content=text),) if text else ()

    def earlier(self, history: Iterable[UserMessage | ModelReply]) -> Iterator[Messages]:
        for item in history:
            yield self.user(item.prompts) if isinstance(item, UserMessage) else self.reply(item)

    def user(self, items: tuple[UserItem, ...]) -> Messages:
        texts = map(self.item_text, group_undone_changes(items))
        content = "\n\n".join(text for text in texts if text)
        return (Message(role="user", content=content),) if content else ()

    def item_text(self, item: _Item) -> str:
        match item:
            case PromptItem(text=text, text_ref=ref):
                return self.exact_text(text, ref)
            case ReplyNote(text=text):
                return reply_note(text)
            case AppliedRest():
                return applied_note(item, self.wire_names)
            case _:
                return undo_note(item, self.wire_names)

    def reply(self, reply: ModelReply) -> Messages:
        text = self.exact_text(reply.body.text, reply.body.text_ref)
        if not text and not reply.calls:
            return ()
        calls = tuple(map(self.call, reply.body.calls))
        opaque = self.exact_text("", reply.body.opaque_ref)
        message = Message(
            role="assistant", content=text, calls=calls, opaque=opaque, opaque_kind=reply.body.opaque_kind
        )
        return (
            message,
            *(self.result(turn_reply, call.id) for turn_reply, call in zip(reply.calls, calls, strict=True)),
        )

    def call(self, call: ReplyCall) -> MessageCall:
        return MessageCall(
            id=call.provider_call_id or call.call_id,
            tool=self.wire_names(call.tool),
            arguments=self.arguments(call),
        )

    def arguments(self, call: ReplyCall) -> JsonObject:
        text = self.exact_text("", call.arguments_ref)
        try:
            value: Json = canonical.loads(text) if text else None
        except ValueError:
            value = None
        return cast("JsonObject", value) if isinstance(value, dict) else call.arguments

    def result(self, call: TurnCall, provider_call_id: str) -> Message:
        finished = call.finished
        output = self.exact_text(finished.preview, finished.result_ref) if finished else ""
        text, outcome = call_result(call, output)
        if call.repeats:
            text = _joined_lines(text, repetition_note(call.repeats))
        return Message(role="tool", content=text, tool_call_id=provider_call_id, outcome=outcome)

    def exact_text(self, recorded: str, ref: BlobRef | None) -> str:
        data = self.unseal(ref) if ref else None
        if data is None:
            return recorded
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return recorded


CallResult = tuple[str, ResultOutcome]
NOTHING_DONE = "Nothing was done."
_MAX_PATH = 4096
LOOK_FIRST = "Look at the present state before you do it again."
_CANCELLED_SENTENCES = {
    "stale": "Cancelled: what it was computed from changed in the meantime (stale).",
    "held": "Cancelled: it was allowed, but the user has held all agents; it asks now (held).",
    "sandbox gone": "Cancelled: it was to run inside the sandbox, which is gone; it asks now (sandbox gone).",
    "lapsed": "Cancelled: it was approved but could not begin in time (lapsed).",
}
_INTERRUPTED_SENTENCES = {
    "nothing written": "Interrupted: the program stopped before anything was written.",
    "rolled back": "Interrupted: the program stopped midway; what it had written was put back (rolled back).",
}


def call_result(call: TurnCall, output: str = "") -> CallResult:
    """Return the text for the model and how the call ended; an open call as its turn's end leaves it."""
    match call.state:
        case "succeeded":
            return _success_result(call, output)
        case "failed":
            return _joined_lines(_failure_text(call), output), "failed"
        case "rejected":
            return _rejection_result(call)
        case "expired":
            return "Expired: nobody answered in time; nothing was done.", "expired"
        case "cancelled":
            return _joined_lines(_cancellation_text(call), output), "cancelled"
        case "interrupted":
            return _joined_lines(_interruption_text(call), output), "interrupted"
        case "executing":
            return _unknown_outcome_text(), "interrupted"
        case "pending" | "approved":
            return f"Cancelled: the turn ended before it began. {NOTHING_DONE}", "cancelled"


_COUNTED_STATES: Final = frozenset({"succeeded", "failed", "rejected"})


def result_digest(call: TurnCall) -> str | None:
    """Return a digest of what a model is told of a settled call; None for one that does not count."""
    if not call.key or call.state not in _COUNTED_STATES:
        return None
    finished = call.finished
    result_text, _ = call_result(call, finished.preview if finished else "")
    return repetition_digest(call.state, result_text, finished.result_ref if finished else None)


def undo_note(undone: Sequence[UndoneChange], wire_names: Callable[[str], str] = str) -> str:
    """Return what a model is told of its changes that the user took back since."""
    lines = [line for change in undone for line in _undone_lines(change, wire_names)]
    head = "Note of the workbench: the user took back what you had changed."
    if any(change.extent == "redo" for change in undone):
        head = "Note of the workbench: of what you had changed the user took back or restored, in this order:"
    return "\n".join((head, *lines, "Read a file again before you build on it."))


def reply_note(why: str) -> str:
    """Return what a model is told of a reply of its own that was cut."""
    return f"Note of the workbench: of your last reply not all was taken: {_sentence(why)}"


def applied_note(applied: AppliedRest, wire_names: Callable[[str], str] = str) -> str:
    """Return what a model is told of a change of its own that the user applied later."""
    tool = f" ({wire_names(applied.tool)})" if applied.tool else ""
    call = f"your call {applied.provider_call_id}{tool}" if applied.provider_call_id else "an earlier call"
    extent = "all of it is in the file now" if applied.is_whole else "a part of it is still left out"
    return "\n".join((
        "Note of the workbench: the user applied what had been left out of your change, or had been undone.",
        *(f"- {one_line(path, _MAX_PATH)}: the change of {call}; {extent}." for path in applied.paths),
        "Read a file again before you build on it.",
    ))  # fmt: skip


def _undone_lines(change: UndoneChange, wire_names: Callable[[str], str]) -> Iterator[str]:
    if change.extent != "call":
        yield from _joint_undo_lines(change)
        return
    tool = f" ({wire_names(change.tool)})" if change.tool else ""
    call = f"your call {change.provider_call_id}{tool}" if change.provider_call_id else "an earlier call"
    for path in change.paths or ("the file",):
        is_removed = path in change.removed
        state = "removed again: it was not there before" if is_removed else "as it was before"
        yield f"- {one_line(path, _MAX_PATH)}: the change of {call} was undone; the file is {state}."


def _joint_undo_lines(change: UndoneChange) -> Iterator[str]:
    """Yield a line a file where the changes of several calls were undone, or made again, in one step."""
    for path in change.paths:
        name, is_removed = one_line(path, _MAX_PATH), path in change.removed
        if change.extent == "redo":
            state = "deleted again" if is_removed else "again as your calls had left it"
            yield f"- {name}: your changes that had been undone were restored; the file is {state}."
        else:
            state = "removed: it was not there before them" if is_removed else "as it was before them"
            yield f"- {name}: the changes of your calls to it were undone; the file is {state}."


def _success_result(call: TurnCall, output: str) -> CallResult:
    finished = call.finished or CallFinished(state="succeeded")
    text = (
        "The program had stopped; the files show that it was done." if finished.detail == "recovered" else ""
    )
    if call.is_altered:
        return _joined_lines(text, _alteration_text(call, finished), output), "partial"
    return _joined_lines(text, output) or finished.summary or "Done; there was no output.", "succeeded"


def _alteration_text(call: TurnCall, finished: CallFinished) -> str:
    reason = _sentence((call.approval.reason if call.approval else None) or "")
    sentences = [_hunks_in_words(finished)] if finished.hunks_left else []
    sentences += [
        f"of hunk {taken.hunk} only {_counted_numbers('changed line', taken.lines)} applied"
        for taken in call.selection
        if taken.lines is not None
    ]
    if sentences:
        return f"Partly applied: {', '.join(sentences)}{f': {reason}' if reason else '.'}"
    changed = "Applied in part: the human changed the proposal before approving it"
    return f"{changed}{f': {reason}' if reason else '.'} Read what is there before you build on it."


def _hunks_in_words(finished: CallFinished) -> str:
    refused = _numbers_in_words(finished.hunks_left)
    if not finished.hunks_taken:
        return f"{_counted_numbers('hunk', finished.hunks_left)} refused"
    return f"{_counted_numbers('hunk', finished.hunks_taken)} applied, {refused} refused"


def _failure_text(call: TurnCall) -> str:
    finished = call.finished or CallFinished(state="failed")
    code = "" if finished.exit_code is None else f"exit code {finished.exit_code}"
    facts = [fact for fact in (finished.detail, code) if fact]
    head = f"Failed ({', '.join(facts)})" if facts else "Failed"
    return f"{head}: {_sentence(finished.error)}" if finished.error else f"{head}."


def _rejection_result(call: TurnCall) -> CallResult:
    verdict = call.verdict
    if call.rejection is None and verdict is not None and verdict.outcome in ("denied", "refused"):
        is_denied = verdict.outcome == "denied"
        word = "Denied" if is_denied else "Refused"
        who = f" by {verdict.by}" if verdict.by else ""
        sentence = f"{word}{who}: {_sentence(verdict.reason)}" if verdict.reason else f"{word}{who}."
        return f"{sentence} {NOTHING_DONE}", "denied" if is_denied else "refused"
    reason = call.rejection.reason if call.rejection else None
    sentence = (
        f"Rejected by the human: {_sentence(reason)}"
        if reason
        else "Rejected by the human, without a reason."
    )
    return f"{sentence} {NOTHING_DONE}", "rejected"


def _cancellation_text(call: TurnCall) -> str:
    finished = call.finished or CallFinished(state="cancelled")
    why = finished.detail or finished.error
    if call.has_begun:
        return f"Stopped while it ran{f' ({why})' if why else ''}: what it did until then stays. {LOOK_FIRST}"
    sentence = _CANCELLED_SENTENCES.get(finished.detail) or (
        f"Cancelled: {_sentence(why)}" if why else "Cancelled."
    )
    more = _sentence(finished.error) if finished.error and finished.error != why else ""
    return _joined_lines(f"{sentence} {NOTHING_DONE}", more)


def _interruption_text(call: TurnCall) -> str:
    finished = call.finished or CallFinished(state="interrupted")
    sentence = _INTERRUPTED_SENTENCES.get(finished.detail) or _unknown_outcome_text()
    more = _sentence(finished.error or finished.summary)
    return _joined_lines(sentence, more, "Its output so far:" if finished.preview else "")


def _unknown_outcome_text() -> str:
    return f"Interrupted: the program stopped while it ran, and its outcome is unknown. {LOOK_FIRST}"


def _counted_numbers(noun: str, numbers: tuple[int, ...]) -> str:
    return f"{noun}{'' if len(numbers) == 1 else 's'} {_numbers_in_words(numbers)}"


def _numbers_in_words(numbers: tuple[int, ...]) -> str:
    *first, last = [str(number) for number in numbers] or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text[-1] in ".!?…" else f"{text}."


def _joined_lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
