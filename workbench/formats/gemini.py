"""Reader of Gemini CLI: chats as one document or as lines, checkpoints, and the prompt log."""

import hashlib
from collections.abc import Iterator

import orjson

from workbench.domain.values import Json, JsonObject
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.chat_messages import end_state, usage_within
from workbench.formats.input import JsonLine, JsonLines
from workbench.formats.record_streams import object_lines, typed_prompts
from workbench.text.problems import Problem


def is_chat(value: Json) -> bool:
    document = j.as_object(value)
    return "sessionId" in document and isinstance(document.get("messages"), list) and (
        "projectHash" in document or "startTime" in document
    )  # fmt: skip


def is_lines(sample: list[JsonObject]) -> bool:
    """Tell whether lines are a chat: a header, then messages."""
    return bool(sample) and {"sessionId", "projectHash"} <= sample[0].keys() and "messages" not in sample[0]


def is_log(value: Json) -> bool:
    rows = j.as_objects(value)
    return bool(rows) and {"sessionId", "messageId", "message"} <= rows[0].keys()


def read(value: Json, name: str) -> Iterator[r.Record]:
    document = j.as_object(value)
    yield _session_head(document, name)
    for number, message in enumerate(j.objects_of(document, "messages"), 1):
        yield from _read_message(message, number)


def is_checkpoint(value: Json) -> bool:
    """Tell whether a document is a saved or shared conversation in the words of the interface."""
    rows = j.as_objects(_checkpoint_messages(value))
    return bool(rows) and all("parts" in row and row.get("role") in ("user", "model") for row in rows[:5])


def _checkpoint_messages(value: Json) -> Json:
    document = j.as_object(value)
    return value if not document else document.get("history") or document.get("clientHistory")


def interruption_time(line: Json) -> int | None:
    """Return when a line of a chat says that its user cancelled the request; None for any other line."""
    message = j.as_object(line)
    return j.time_of(message, "timestamp") if _is_interruption(message) else None


def _is_interruption(message: JsonObject) -> bool:
    is_notice = j.text_of(message, "type") in ("info", "warning")
    return is_notice and "cancelled" in j.content_of(message, "content").casefold()


def read_lines(lines: JsonLines, name: str) -> Iterator[r.Record]:
    """Yield a session from its lines, once all of them were played: a later one may change an earlier one.

    A head of another id behind it begins another session.
    """
    chat = _ChatReplay()
    for line in object_lines(lines):
        if isinstance(line, Problem):
            chat.problems.append(line)
            continue
        if chat.is_another(line[0]):
            yield from _played(chat, name)
            chat = _ChatReplay()
        chat.play(*line)
    yield from _played(chat, name)


def _played(chat: "_ChatReplay", name: str) -> Iterator[r.Record]:
    yield _session_head({**chat.facts, "messages": [message for message, _ in chat.messages.values()]}, name)
    yield from chat.problems
    for message, number in chat.messages.values():
        yield from _read_message(message, number)
    yield from chat.rest


class _ChatReplay:
    def __init__(self) -> None:
        self.facts: dict[str, Json] = {}
        self.messages: dict[str, tuple[JsonObject, int]] = {}
        self.problems: list[Problem] = []
        self.rest: list[r.Record] = []

    def is_another(self, row: JsonObject) -> bool:
        """Return whether a line is the head of a session of another id than this one has."""
        is_head = is_lines([row]) and "type" not in row and "$set" not in row
        own = j.text_of(self.facts, "sessionId")
        return is_head and bool(own) and j.text_of(row, "sessionId") not in ("", own)

    def play(self, row: JsonObject, number: int) -> None:
        update = j.object_of(row, "$set")
        if update:
            self._set(update, number)
        elif "$rewindTo" in row:
            self._rewind(j.text_of(row, "$rewindTo"), number)
        elif "type" in row:
            self._put(row, number)
        elif "sessionId" in row:
            self.facts.update(row)
        elif "$set" not in row:
            record = r.UnmappedRecord("record", row, line=number, is_understood=False)
            self.rest.append(record)

    def _put(self, message: JsonObject, number: int) -> None:
        key = j.text_of(message, "id") or f"line {number}"
        self.messages[key] = (message, self.messages.get(key, ({}, number))[1])

    def _set(self, update: JsonObject, number: int) -> None:
        if isinstance(update.get("messages"), list):
            self.messages = {}
            for index, message in enumerate(j.objects_of(update, "messages")):
                self._put({"id": f"{number}.{index}", **message}, number)
        self.facts.update({key: value for key, value in update.items() if key != "messages"})

    def _rewind(self, target: str, number: int) -> None:
        keys = list(self.messages)
        dropped_keys = keys[keys.index(target) :] if target in self.messages else []
        dropped: list[Json] = [self.messages.pop(key)[0] for key in dropped_keys]
        self.rest.append(r.UnmappedRecord("rewind", {"to": target, "messages": dropped}, line=number))


def read_checkpoint(value: Json, name: str) -> Iterator[r.Record]:
    """Yield a session from a saved conversation; it has no id, no times and no model."""
    del name
    rows = j.as_objects(_checkpoint_messages(value))
    key = hashlib.sha256(orjson.dumps(rows[:2], option=orjson.OPT_NON_STR_KEYS)).hexdigest()
    yield r.SessionHead(key=f"checkpoint:{key}", provider="google")
    waiting: list[tuple[str, str]] = []
    for number, row in enumerate(rows, 1):
        parts = j.objects_of(row, "parts")
        if row.get("role") == "model":
            yield _model_turn(parts, number, waiting)
        else:
            yield from _user_turn(parts, number, waiting)


def calls_of_parts(parts: list[JsonObject], number: int) -> tuple[r.ToolCall, ...]:
    """Return the calls among the parts of a message; one without an id gets one of its place."""
    return tuple(
        r.ToolCall(
            j.text_of(fields, "id") or f"call-{number}.{place}", j.text_of(fields, "name"),
            j.object_of(fields, "args"),
        )
        for place, part in enumerate(parts)
        if (fields := j.object_of(part, "functionCall"))
    )  # fmt: skip


def _model_turn(parts: list[JsonObject], number: int, waiting: list[tuple[str, str]]) -> r.Reply:
    calls = calls_of_parts(parts, number)
    waiting += [(call.id, call.tool) for call in calls]
    words = [j.text_of(part, "text") for part in parts if part.get("thought") is not True]
    thoughts = [j.text_of(part, "text") for part in parts if part.get("thought") is True]
    text = "\n".join(filter(None, words))
    return r.Reply(text=text, thinking="\n\n".join(thoughts), calls=calls, line=number)


def _user_turn(parts: list[JsonObject], number: int, waiting: list[tuple[str, str]]) -> Iterator[r.Record]:
    for part in parts:
        if fields := j.object_of(part, "functionResponse"):
            key, tool = j.text_of(fields, "id"), j.text_of(fields, "name")
            call = next((action for action in waiting if action[0] == key), None) or next(
                (action for action in waiting if action[1] == tool), (key, tool)
            )
            waiting[:] = [action for action in waiting if action != call]
            response = j.object_of(fields, "response")
            error = j.text_of(response, "error")
            yield r.CallResult(
                call=call[0], text=j.first_text(response, "output", "error", "content"), error=error,
                line=number,
                state="failed" if error else "succeeded",
            )  # fmt: skip
    text = "\n".join(j.text_of(part, "text") for part in parts if j.text_of(part, "text"))
    if text:
        yield r.Prompt(text, line=number)


def read_log(value: Json, name: str) -> Iterator[r.Record]:
    """Yield one session for each id, with what was typed."""
    del name
    rows = (JsonLine(number, row) for number, row in enumerate(j.as_objects(value), 1))
    yield from typed_prompts(
        rows, "sessionId", "message", "timestamp",
        lambda key, time_us: r.SessionHead(key=f"log:{key}", at=time_us, provider="google"),
    )  # fmt: skip


def _session_head(document: JsonObject, name: str) -> r.SessionHead:
    messages = j.objects_of(document, "messages")
    model = next((model for message in messages if (model := j.text_of(message, "model"))), "")
    facts = {key: document[key] for key in ("projectHash", "kind") if key in document}
    folder = next(j.as_texts(document.get("directories")), "")
    return r.SessionHead(
        key=j.text_of(document, "sessionId") or name, provider="google", model=model, facts=facts,
        title=j.text_of(document, "summary"), workspace=folder, at=j.time_of(document, "startTime"),
    )  # fmt: skip


def _read_message(message: JsonObject, number: int) -> Iterator[r.Record]:
    kind, time_us = j.text_of(message, "type"), j.time_of(message, "timestamp")
    text = j.content_of(message, "content")
    match kind:
        case "user":
            yield r.Prompt(text, time_us, number)
        case "gemini" | "model":
            yield from _read_reply(message, text, time_us, number)
        case "error":
            yield r.ErrorRecord("error", text, time_us)
        case "info" | "warning":
            yield r.UnmappedRecord(kind, text, time_us, number)
            if _is_interruption(message):
                yield r.TurnStop(detail=text, at=time_us)
        case _:
            yield r.UnmappedRecord(kind or "message", message, time_us, number, is_understood=False)


def _read_reply(message: JsonObject, text: str, time_us: int | None, number: int) -> Iterator[r.Record]:
    thoughts = [
        f"{j.text_of(thought, 'subject')}: {j.text_of(thought, 'description')}"
        for thought in j.objects_of(message, "thoughts")
    ]
    calls = j.objects_of(message, "toolCalls")
    tokens = j.object_of(message, "tokens")
    used = usage_within(tokens, ("input", "tool"), ("output", "thoughts"), "cached")
    yield r.Reply(
        text=text, thinking="\n\n".join(thoughts), usage=used, model=j.text_of(message, "model"), at=time_us,
        line=number, calls=tuple(
            r.ToolCall(j.text_of(call, "id"), j.text_of(call, "name"), j.object_of(call, "args"))
            for call in calls
        ),
    )  # fmt: skip
    for call in calls:
        yield read_result(call, number)


def read_result(call: JsonObject, number: int) -> r.CallResult:
    """Return how a call of Gemini CLI ended: its status, its responses, and what was shown of them."""
    responses = [j.object_of(item, "functionResponse", "response") for item in j.objects_of(call, "result")]
    text = "\n".join(j.first_text(response, "output", "error") for response in responses)
    status = j.text_of(call, "status")
    error = next((j.text_of(response, "error") for response in responses if response.get("error")), "")
    error = error or j.text_of(call, "error") or j.text_of(call, "error", "message")
    text = text or j.text_of(call, "resultDisplay") or error
    is_refused = status == "cancelled" and "did not" in f"{text} {error}".casefold()
    is_stopped = status == "cancelled"
    state = end_state(is_bad=status == "error", is_refused=is_refused, is_stopped=is_stopped)
    return r.CallResult(
        call=j.text_of(call, "id"), text=text, state=state, error=error, at=j.time_of(call, "timestamp"),
        line=number, changes=_edits_of_call(call),
    )  # fmt: skip


def _edits_of_call(call: JsonObject) -> tuple[r.FileEdit, ...]:
    display, arguments = j.object_of(call, "resultDisplay"), j.object_of(call, "args")
    path = j.first_text(arguments, "file_path", "absolute_path") or j.text_of(display, "fileName")
    if patch := j.text_of(display, "fileDiff"):
        before = display.get("originalContent")
        is_new = before is None and "originalContent" in display
        return (r.FileEdit(path=path, change="create" if is_new else "modify", patch=patch),)
    if j.text_of(call, "name") == "replace":
        return (
            r.FileEdit(
                path=path,
                old=j.text_of(arguments, "old_string"),
                new=j.text_of(arguments, "new_string"),
            ),
        )
    if j.text_of(call, "name") == "write_file":
        return (r.FileEdit(path=path, new=j.text_of(arguments, "content")),)
    return ()
