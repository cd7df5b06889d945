"""Reader of kaiak's messages (seed S2), of others and of our own export."""

# Our own export tells in `System` messages what S2 has no kind for: prompts, decisions, ends of turns. A call
# is asked for in the reply before it, so a reply waits for the calls that follow it.

from collections.abc import Iterator
from typing import Final, TypeGuard

from msgspec.structs import replace

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import json_fields as j
from workbench.formats import patches
from workbench.formats import records as r
from workbench.formats.chat_messages import usage_within
from workbench.formats.input import JsonLine, JsonLines
from workbench.formats.kept_rows import RowBatches
from workbench.formats.usage_records import join_usage_before
from workbench.text.problems import Problem

ORIGIN: Final = "kaiak"
"""The name of the format, and the origin of sessions that were read from it."""
ROWS: Final = "rows"
_KINDS: Final = {
    kind.casefold(): kind
    for kind in ("Progress", "AiResponse", "ToolCall", "Thinking", "UserInteraction", "FileModification",
                 "Error", "System")
}  # fmt: skip
_SOURCES: Final = ("GooseAgent", "ToolExecution", "SystemMonitoring", "UserInteraction")
_CHANGES: Final = {"Create": "create", "Modify": "modify", "Delete": "delete", "Rename": "modify"}
_ENDED: Final[dict[str, r.ResultState]] = {
    "action.rejected": "rejected", "action.expired": "expired", "action.cancelled": "cancelled",
}  # fmt: skip


def is_lines(sample: list[JsonObject]) -> bool:
    return any(
        {"sequence_number", "content", "session_id"} <= line.keys()
        or "workspace_path" in j.object_of(line, "session")
        or "approval_status" in j.object_of(line, "tool_call")
        for line in sample
    )


def is_document(value: Json) -> bool:
    """Tell whether a document is a list of messages of S2, bare or under `messages`."""
    return is_lines(j.as_objects(value)[:5] or j.objects_of(j.as_object(value), "messages")[:5])


def read_document(value: Json, name: str) -> Iterator[r.Record]:
    """Yield a session from a list of messages."""
    document = j.as_object(value)
    rows: list[JsonLine | Problem] = (
        [JsonLine(1, {"session": document.get("session")})] if "session" in document else []
    )
    messages = j.as_array(value) or j.as_array(document.get("messages"))
    yield from read_lines([*rows, *(JsonLine(n, row) for n, row in enumerate(messages, 1))], name)


def read_lines(lines: JsonLines, name: str) -> Iterator[r.Record]:
    """Yield sessions from messages of S2, with what stands before them of the session and its calls.

    A stream of several sessions holds them mixed: the first is read as it comes, each other one after it.
    """
    others: dict[str, list[JsonLine | Problem]] = {}
    yield from join_usage_before(_read_session(_lines_of_first(lines, others), name))
    for rows in others.values():
        yield from join_usage_before(_read_session(rows, name))


def _lines_of_first(
    lines: JsonLines, others: dict[str, list[JsonLine | Problem]]
) -> Iterator[JsonLine | Problem]:
    first = ""
    for line in lines:
        key = "" if isinstance(line, Problem) else _session_id(j.as_object(line.value))
        first = first or key
        if key in ("", first):
            yield line
        else:
            others.setdefault(key, []).append(line)


def _session_id(row: JsonObject) -> str:
    if "session" in row:
        return j.text_of(row, "session", "id")
    return j.text_of(j.object_of(row, "tool_call") or row, "session_id")


def _read_session(lines: JsonLines, name: str) -> Iterator[r.Record]:
    reader = _MessageReader(name)
    for line in lines:
        if isinstance(line, Problem):
            yield line
        else:
            yield from reader.kept.add(line.value)
            yield from reader.line(j.as_object(line.value), line.number)
    yield from reader.ended()


class _MessageReader:
    def __init__(self, name: str) -> None:
        self.kept = RowBatches(ROWS)
        self._name = name
        self._session: JsonObject = {}
        self._calls: dict[str, JsonObject] = {}
        self._actions: dict[str, str] = {}
        """The call that a question is about, by the question's id."""
        self._asked: set[str] = set()
        self._ended: set[str] = set()
        self._thoughts: list[str] = []
        self._partial: list[str] = []
        self._reply: r.Reply | None = None
        """What was said last, which waits for its calls with what follows it."""
        self._behind: list[r.Record] = []
        self._last: int | None = None
        self._ids: set[str] = set()
        self._has_begun = False
        self._changes: list[tuple[str, r.FileEdit]] = []
        self._failed = False

    def line(self, row: JsonObject, number: int) -> Iterator[r.Record]:
        if "session" in row:
            self._session = j.object_of(row, "session")
        elif "tool_call" in row:
            call = j.object_of(row, "tool_call")
            if wrong := result_problem(j.object_of(call, "result")):
                yield r.file_problem(number, wrong)
            self._calls[j.text_of(call, "id")] = call
            if action := j.text_of(call, "interaction_id"):
                self._actions[action] = j.text_of(call, "id")
        elif "content" in row:
            yield from self._message(row, number)
        else:
            yield r.file_problem(number, "it is not a message of S2")

    def _message(self, row: JsonObject, number: int) -> Iterator[r.Record]:
        time_us = j.time_of(row, "timestamp")
        if not self._has_begun:
            self._has_begun = True
            yield self._head(row, time_us)
        kind, payload = tagged_union(row.get("content"))
        wrong = (self._order_problem(row), _source_problem(row), payload_problem(kind, payload))
        yield from (r.file_problem(number, why) for why in wrong if why)
        if kind not in ("AiResponse", "Thinking"):
            yield from self._close_partial()
        match kind:
            case "AiResponse":
                yield from self._response(payload, time_us, number)
            case "Thinking":
                yield from self._close_partial() if self._partial else ()
                self._thoughts.append(j.text_of(payload, "text"))
            case "ToolCall":
                yield from self._call(payload, time_us, number)
            case "System":
                yield from self._system(payload, time_us, number)
            case "UserInteraction":
                yield from self._interaction(payload, time_us, number)
            case _:
                yield from self._aside(kind, payload, time_us, number)

    def _aside(self, kind: str, payload: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        match kind:
            case "FileModification":
                for edit in _edits(payload):
                    self._change(j.text_of(payload, "proposal_id"), edit)
            case "Error":
                yield from self._flush()
                yield from self._error(payload, time_us)
            case "Progress":
                self._behind.append(r.UnmappedRecord(kind, payload, time_us, number))
            case _:
                yield r.UnmappedRecord(kind or "message", payload, time_us, number, is_understood=False)

    def _change(self, proposal: str, edit: r.FileEdit) -> None:
        """Note a change; what was made of a proposal stands for the proposal."""
        others = [change for change in self._changes if (change[0], change[1].path) != (proposal, edit.path)]
        self._changes = [*others, (proposal, edit)]

    def _head(self, row: JsonObject, time_us: int | None) -> r.SessionHead:
        settings = j.object_of(self._session, "configuration")
        return r.SessionHead(
            key=j.text_of(row, "session_id") or self._name,
            workspace=j.text_of(self._session, "workspace_path"),
            provider=j.text_of(settings, "provider"), model=j.text_of(settings, "model"), at=time_us,
            status=j.text_of(self._session, "status") or None, facts=self._facts(settings),
        )  # fmt: skip

    def _facts(self, settings: JsonObject) -> JsonObject:
        """Return what S2 says of a session and nothing here has a place for; an export says it again."""
        facts = {
            "goose_session_id": self._session.get("goose_session_id"), "timeout": settings.get("timeout"),
            "max_turns": settings.get("max_turns"), "incident_ids": self._session.get("incident_ids"),
        }  # fmt: skip
        return {name: value for name, value in facts.items() if value}

    def _order_problem(self, row: JsonObject) -> str:
        """Return what is wrong with the number or the id of a message; both are unique in a session."""
        number, key = j.integer_of(row, "sequence_number"), j.text_of(row, "id")
        last, is_repeated = self._last, key in self._ids
        self._ids |= {key} if key else set()
        if number is None:
            return f"the id {key[:80]} comes again" if is_repeated else ""
        self._last = number
        if last is None:
            return "" if number == 1 else f"the first sequence number is {number}, not 1"
        if number <= last:
            return f"sequence number {number} comes again after {last}"
        if number > last + 1:
            return f"sequence number {number} follows a gap after {last}"
        return f"the id {key[:80]} comes again" if is_repeated else ""

    def _response(self, payload: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        piece = j.first_text(payload, "text", "content")
        if payload.get("partial") is True:
            self._partial.append(piece)
            return
        before, self._partial = "".join(self._partial), []
        yield from self._flush()
        text = piece if piece.startswith(before) or not before else before + piece
        self._reply = self._new_reply(text, time_us, number)

    def _new_reply(self, text: str, time_us: int | None, number: int) -> r.Reply:
        thinking, self._thoughts = "".join(self._thoughts), []
        return r.Reply(text=text, thinking=thinking, at=time_us, line=number, may_be_empty=True)

    def _close_partial(self) -> Iterator[r.Record]:
        """Close words or thoughts that no whole message followed."""
        text, self._partial = "".join(self._partial), []
        if text or self._thoughts:
            yield from self._flush()
            self._reply = self._new_reply(text, None, 0)

    def _flush(self) -> Iterator[r.Record]:
        reply, self._reply = self._reply, None
        if reply is not None and (reply.text or reply.thinking or reply.calls):
            yield reply
        behind, self._behind = self._behind, []
        yield from behind

    def ended(self) -> Iterator[r.Record]:
        yield from self._close_partial()
        yield from self._flush()
        usage = usage_within(j.object_of(self._session, "token_usage"), "input_tokens", "output_tokens")
        if usage != Usage() and self._has_begun:
            yield r.UsageRecord(usage=usage)
        yield from self.kept.rest()
        if self._failed:
            yield r.SessionEnd(is_failed=True)

    # --- calls and questions ------------------------------------------------------------------------

    def _ask(self, key: str, payload: JsonObject, time_us: int | None, number: int) -> None:
        """Add a call to the reply that waits, or to one of its own."""
        self._asked.add(key)
        about = self._calls.get(key, payload)
        tool, arguments = j.first_text(about, "tool_name") or "tool", j.object_of(about, "parameters")
        call = r.ToolCall(key, tool, arguments)
        reply = self._reply or r.Reply(at=time_us, line=number)
        self._reply = replace(reply, calls=(*reply.calls, call))

    def _call(self, payload: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        key, operation = j.text_of(payload, "tool_call_id"), j.text_of(payload, "operation")
        if key not in self._asked:
            self._ask(key, payload, time_us, number)
            is_ours = key in self._actions.values()
            if j.text_of(self._calls.get(key, {}), "approval_status") == "Approved" and not is_ours:
                self._behind.append(r.CallDecision(call=key, is_approved=True, at=time_us))
        yield from self._flush()
        result = j.object_of(payload, "result")
        match operation:
            case "Start":
                yield r.CallStart(key, time_us)
            case "Progress":
                text = j.text_of(result, "data")
                yield r.CallProgress(
                    call=key, kind="output", text=text, content=payload, at=time_us, line=number
                )
            case "Complete" | "Error" if key not in self._ended:
                self._ended.add(key)
                yield self._result(key, operation, result, time_us, number)
            case _:
                return

    def _result(
        self, key: str, operation: str, result: JsonObject, time_us: int | None, number: int
    ) -> r.CallResult:
        data, status = result.get("data"), j.text_of(self._calls.get(key, {}), "status")
        state: r.ResultState = "succeeded" if operation == "Complete" else "failed"
        if state == "failed" and status == "Cancelled":
            state = "cancelled"
        return r.CallResult(
            call=key, text=data if isinstance(data, str) else j.content_text(data),
            error=j.text_of(result, "error"), state=state, at=time_us, line=number,
            duration_ms=j.integer_of(result, "execution_time_ms"), changes=self._changes_of_call(key),
        )  # fmt: skip

    def _changes_of_call(self, key: str) -> tuple[r.FileEdit, ...]:
        """Return what was told of files for a call, in the words of the call if they say more.

        What names no question of another call is what was told since the last result.
        """
        theirs = [change for change in self._changes if self._actions.get(change[0], key) != key]
        changes = tuple(edit for proposal, edit in self._changes if self._actions.get(proposal, key) == key)
        self._changes = theirs
        if any(edit.old is not None or edit.new is not None for edit in changes):
            return changes
        about = self._calls.get(key, {})
        call = r.ToolCall(key, j.text_of(about, "tool_name"), j.object_of(about, "parameters"))
        call_edits = patches.edits_of_call(call) if changes else ()
        paths = {edit.path for edit in changes}
        return call_edits if call_edits and {edit.path for edit in call_edits} <= paths else changes

    def _interaction(self, payload: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        action = j.text_of(payload, "interaction_id")
        call = self._actions.get(action) or j.text_of(payload, "tool_call_id")
        if action and call:
            self._actions[action] = call
        if not call:
            yield from self._flush()
            yield r.UnmappedRecord("UserInteraction", payload, time_us, number)
            return
        if call not in self._asked:
            self._ask(call, {}, time_us, number)
        options = tuple((option, option) for option in j.as_texts(payload.get("options")))
        is_question = j.text_of(payload, "interaction_type") in ("Choice", "Input")
        prompt = j.text_of(payload, "prompt") if is_question else ""
        self._behind.append(r.CallQuestion(call=call, prompt=prompt, choices=options, at=time_us))

    def _system(self, payload: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        event, about = j.text_of(payload, "event"), j.object_of(payload, "metadata")
        request = j.text_of(payload, "request_id")
        call = j.text_of(about, "tool_call_id") or self._actions.get(request, "")
        text = j.first_text(payload, "text") or j.text_of(about, "text")
        if event == "call.proposed" and call and j.text_of(about, "tool"):
            proposed = {"tool_name": j.text_of(about, "tool"), "parameters": j.object_of(about, "parameters")}
            self._calls.setdefault(call, proposed)
        match event:
            case "prompt.submitted" if text:
                yield from self._flush()
                yield r.Prompt(text, time_us, number)
            case "call.proposed" if call in self._calls and call not in self._asked:
                self._ask(call, {}, time_us, number)
            case "action.approved" if call in self._asked:
                self._behind.append(self._decision(call, about, time_us, is_approved=True))
            case "action.rejected" | "action.expired" | "action.cancelled" if call in self._asked:
                self._changes = [change for change in self._changes if change[0] != request]
                yield from self._flush()
                yield from self._refusal(event, call, about, time_us, number)
            case "turn.ended":
                yield from self._flush()
                if j.text_of(about, "outcome") in ("interrupted", "limit", "error"):
                    yield r.TurnStop(outcome=about["outcome"], at=time_us)
            case "session.changed" if title := j.text_of(about, "title"):
                yield from self._flush()
                yield r.TitleChange(title, time_us)
            case _:
                self._behind.append(r.UnmappedRecord("System", payload, time_us, number))

    def _decision(
        self, call: str, about: JsonObject, time_us: int | None, *, is_approved: bool
    ) -> r.CallDecision:
        return r.CallDecision(
            call=call, is_approved=is_approved, reason=j.text_of(about, "reason"),
            choice=j.text_of(about, "choice"), at=time_us,
        )  # fmt: skip

    def _refusal(
        self, event: str, call: str, about: JsonObject, time_us: int | None, number: int
    ) -> Iterator[r.Record]:
        if event == "action.rejected":
            yield self._decision(call, about, time_us, is_approved=False)
        if call not in self._ended:
            self._ended.add(call)
            reason = j.text_of(about, "reason")
            yield r.CallResult(call=call, state=_ENDED[event], reason=reason, at=time_us, line=number)

    def _error(self, payload: JsonObject, time_us: int | None) -> Iterator[r.Record]:
        code = j.first_text(payload, "error_code", "code") or "error"
        yield r.ErrorRecord(code, j.text_of(payload, "message"), time_us)
        self._failed = self._failed or payload.get("recoverable") is False


_MEMBERS: Final[dict[str, tuple[str, ...]]] = {
    "Progress": ("percentage",), "ToolCall": ("tool_call_id", "operation"), "Thinking": ("text",),
    "UserInteraction": ("interaction_id", "interaction_type"),
    "FileModification": ("file_path", "change_type"), "Error": ("message",), "System": ("event",),
}  # fmt: skip
"""What S2 messages of a kind cannot be without; an answer may be under two names."""
_WORDS: Final[dict[str, tuple[str, frozenset[str]]]] = {
    "ToolCall": ("operation", frozenset({"Start", "Progress", "Complete", "Error"})),
    "UserInteraction": ("interaction_type", frozenset({"Approval", "Choice", "Input"})),
    "FileModification": ("change_type", frozenset(_CHANGES)),
}


def payload_problem(kind: str, payload: JsonObject) -> str:
    """Return what of a message does not match its kind, as S2 has it; empty where it does."""
    missing = [name for name in _MEMBERS.get(kind, ()) if payload.get(name) is None]
    if missing:
        return f"{kind} without {missing[0]}"
    if kind in ("AiResponse", "FileModification", "ToolCall"):
        return _value_problem(kind, payload) or _word_problem(kind, payload)
    return _word_problem(kind, payload)


def _value_problem(kind: str, payload: JsonObject) -> str:
    match kind:
        case "AiResponse":
            share = payload.get("confidence")
            is_good = share is None or (_is_number(share) and 0 <= share <= 1)
            return "" if is_good else "AiResponse with a confidence that is not 0 to 1"
        case "FileModification":
            is_empty = not j.text_of(payload, "file_path").strip()
            return "FileModification with an empty file_path" if is_empty else ""
        case _:
            is_failed = j.text_of(payload, "operation") == "Error"
            return result_problem(j.object_of(payload, "result"), is_failed=is_failed)


def result_problem(result: JsonObject, *, is_failed: bool = False) -> str:
    """Return what a result of a call lacks: one that failed says why."""
    if (is_failed or result.get("success") is False) and not j.text_of(result, "error").strip():
        return "a failed result without an error"
    return ""


def _word_problem(kind: str, payload: JsonObject) -> str:
    name, text = _WORDS.get(kind, ("", frozenset[str]()))
    if name and (word := j.text_of(payload, name)) not in text:
        return f"{kind} with {name} “{word[:40]}”; there is {', '.join(sorted(text))}"
    if kind == "UserInteraction" and j.text_of(payload, name) == "Choice" and not payload.get("options"):
        return "a Choice without options"
    if kind == "Progress":
        share = payload["percentage"]
        is_good = _is_number(share) and 0 <= share <= 100
        return "" if is_good else "Progress with a percentage that is not 0 to 100"
    return ""


def _is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _source_problem(row: JsonObject) -> str:
    source = row.get("source")
    if source is None or source in _SOURCES:
        return ""
    return f"source “{str(source)[:40]}”; there is {', '.join(_SOURCES)}"


def tagged_union(value: Json) -> tuple[str, JsonObject]:
    """Return the kind of a message and its payload, in the three ways that a union is written."""
    document = j.as_object(value)
    if len(document) == 1:
        kind, payload = next(iter(document.items()))
        return _kind(kind), j.as_object(payload)
    kind = j.first_text(document, "type", "kind")
    return _kind(kind), j.object_of(document, "payload") or j.object_of(document, "data") or document


def _kind(word: str) -> str:
    return _KINDS.get(word.replace("_", "").casefold(), word)


def _edits(payload: JsonObject) -> tuple[r.FileEdit, ...]:
    """Return the change of a file; of one that was moved both ends."""
    edit, path = _edit(payload), j.text_of(payload, "original_path")
    if j.text_of(payload, "change_type") != "Rename" or not path:
        return (edit,)
    created = r.FileEdit(path=edit.path, change="create", new=edit.new, moved_from=path)
    return (r.FileEdit(path=path, change="delete", old=edit.old), created)


def _edit(payload: JsonObject) -> r.FileEdit:
    old, new = payload.get("original_content"), payload.get("proposed_content")
    kind = _CHANGES.get(j.text_of(payload, "change_type"), "modify")
    if j.text_of(payload, "change_type") == "Rename" and isinstance(old, str) != isinstance(new, str):
        kind = "delete" if isinstance(old, str) else "create"  # S2 tells one path: each end by itself
    return r.FileEdit(
        path=j.text_of(payload, "file_path"), change=kind,  # type: ignore[arg-type]
        old=j.text_or_none(old), new=j.text_or_none(new),
    )  # fmt: skip
