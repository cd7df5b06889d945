"""Reader of Gemini CLI: chats as one document or as lines, checkpoints, and the prompt log."""

import hashlib
from collections.abc import Iterable, Iterator

import orjson

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import records
from workbench.formats.input import JsonLine
from workbench.formats.records import (
    CallResult,
    FileEdit,
    FileProblem,
    Prompt,
    Record,
    Reply,
    SessionHead,
    ToolCall,
    UnmappedRecord,
    as_count,
    as_object,
    as_objects,
    as_text,
    as_texts,
    as_time,
    content_text,
    first_text,
    typed_prompts,
)


def is_chat(value: Json) -> bool:
    document = as_object(value)
    return "sessionId" in document and isinstance(document.get("messages"), list) and (
        "projectHash" in document or "startTime" in document
    )  # fmt: skip


def is_lines(sample: list[JsonObject]) -> bool:
    """Tell whether lines are a chat: a header, then messages."""
    return bool(sample) and {"sessionId", "projectHash"} <= sample[0].keys() and "messages" not in sample[0]


def is_log(value: Json) -> bool:
    rows = as_objects(value)
    return bool(rows) and {"sessionId", "messageId", "message"} <= rows[0].keys()


def read(value: Json, name: str) -> Iterator[Record]:
    document = as_object(value)
    yield _session_head(document, name)
    for number, message in enumerate(as_objects(document.get("messages")), 1):
        yield from _read_message(message, number)


def is_checkpoint(value: Json) -> bool:
    """Tell whether a document is a saved or shared conversation in the words of the interface."""
    rows = as_objects(_checkpoint_messages(value))
    return bool(rows) and all("parts" in row and row.get("role") in ("user", "model") for row in rows[:5])


def _checkpoint_messages(value: Json) -> Json:
    document = as_object(value)
    return value if not document else document.get("history") or document.get("clientHistory")


def read_lines(lines: Iterable[JsonLine | FileProblem], name: str) -> Iterator[Record]:
    """Yield a session from its lines, once all of them were played: a later one may change an earlier one."""
    chat = _ChatReplay()
    for line in lines:
        if isinstance(line, FileProblem):
            chat.problems.append(line)
        elif row := as_object(line.value):
            chat.play(row, line.number)
        else:
            chat.problems.append(FileProblem(line=line.number, why="it is no object"))
    yield _session_head({**chat.facts, "messages": [message for message, _ in chat.messages.values()]}, name)
    yield from chat.problems
    for message, number in chat.messages.values():
        yield from _read_message(message, number)
    yield from chat.rest


class _ChatReplay:
    def __init__(self) -> None:
        self.facts: dict[str, Json] = {}
        self.messages: dict[str, tuple[JsonObject, int]] = {}
        self.problems: list[FileProblem] = []
        self.rest: list[Record] = []

    def play(self, found: JsonObject, number: int) -> None:
        update = as_object(found.get("$set"))
        if update:
            self._set(update, number)
        elif "$rewindTo" in found:
            self._rewind(as_text(found.get("$rewindTo")), number)
        elif "type" in found:
            self._put(found, number)
        elif "sessionId" in found:
            self.facts.update(found)
        elif "$set" not in found:
            kept = UnmappedRecord(kind="record", content=found, line=number, is_understood=False)
            self.rest.append(kept)

    def _put(self, message: JsonObject, number: int) -> None:
        key = as_text(message.get("id")) or f"line {number}"
        self.messages[key] = (message, self.messages.get(key, ({}, number))[1])

    def _set(self, update: JsonObject, number: int) -> None:
        if isinstance(update.get("messages"), list):
            self.messages = {}
            for at, message in enumerate(as_objects(update.get("messages"))):
                self._put({"id": f"{number}.{at}", **message}, number)
        self.facts.update({key: value for key, value in update.items() if key != "messages"})

    def _rewind(self, target: str, number: int) -> None:
        keys = list(self.messages)
        gone = keys[keys.index(target) :] if target in self.messages else []
        taken: list[Json] = [self.messages.pop(key)[0] for key in gone]
        self.rest.append(
            UnmappedRecord(kind="rewind", content={"to": target, "messages": taken}, line=number)
        )


def read_checkpoint(value: Json, name: str) -> Iterator[Record]:
    """Yield a session from a saved conversation; it has no id, no times and no model."""
    del name
    rows = as_objects(_checkpoint_messages(value))
    key = hashlib.sha256(orjson.dumps(rows[:2], option=orjson.OPT_NON_STR_KEYS)).hexdigest()
    yield SessionHead(key=f"checkpoint:{key}", provider="google")
    waiting: list[tuple[str, str]] = []
    for number, row in enumerate(rows, 1):
        parts = as_objects(row.get("parts"))
        if row.get("role") == "model":
            yield _model_turn(parts, number, waiting)
        else:
            yield from _user_turn(parts, number, waiting)


def _model_turn(parts: list[JsonObject], number: int, waiting: list[tuple[str, str]]) -> Reply:
    calls: list[ToolCall] = []
    for at, part in enumerate(parts):
        if fields := as_object(part.get("functionCall")):
            key, tool = as_text(fields.get("id")) or f"call-{number}.{at}", as_text(fields.get("name"))
            calls.append(ToolCall(id=key, tool=tool, arguments=as_object(fields.get("args"))))
            waiting.append((key, tool))
    words = [as_text(part.get("text")) for part in parts if part.get("thought") is not True]
    thoughts = [as_text(part.get("text")) for part in parts if part.get("thought") is True]
    said = "\n".join(filter(None, words))
    return Reply(text=said, thinking="\n\n".join(thoughts), calls=tuple(calls), line=number)


def _user_turn(parts: list[JsonObject], number: int, waiting: list[tuple[str, str]]) -> Iterator[Record]:
    for part in parts:
        if fields := as_object(part.get("functionResponse")):
            key, tool = as_text(fields.get("id")), as_text(fields.get("name"))
            asked = next((action for action in waiting if action[0] == key), None) or next(
                (action for action in waiting if action[1] == tool), (key, tool)
            )
            waiting[:] = [action for action in waiting if action != asked]
            response = as_object(fields.get("response"))
            error = as_text(response.get("error"))
            yield CallResult(
                call=asked[0], text=first_text(response, "output", "error", "content"), error=error,
                line=number,
                state="failed" if error else "succeeded",
            )  # fmt: skip
    said = "\n".join(as_text(part.get("text")) for part in parts if as_text(part.get("text")))
    if said:
        yield Prompt(text=said, line=number)


def read_log(value: Json, name: str) -> Iterator[Record]:
    """Yield one session for each id, with what was typed."""
    del name
    yield from typed_prompts(
        enumerate(as_objects(value), 1), "sessionId", "message", "timestamp",
        lambda key, at: SessionHead(key=f"log:{key}", at=at, provider="google"),
    )  # fmt: skip


def _session_head(found: JsonObject, name: str) -> SessionHead:
    messages = as_objects(found.get("messages"))
    model = next((model for message in messages if (model := as_text(message.get("model")))), "")
    facts = {key: found[key] for key in ("projectHash", "kind") if key in found}
    folder = next(as_texts(found.get("directories")), "")
    return SessionHead(
        key=as_text(found.get("sessionId")) or name, provider="google", model=model, facts=facts,
        title=as_text(found.get("summary")), workspace=folder, at=as_time(found.get("startTime")),
    )  # fmt: skip


def _read_message(message: JsonObject, number: int) -> Iterator[Record]:
    kind, at = as_text(message.get("type")), as_time(message.get("timestamp"))
    said = content_text(message.get("content"))
    match kind:
        case "user":
            yield Prompt(text=said, at=at, line=number)
        case "gemini" | "model":
            yield from _read_reply(message, said, at, number)
        case "error":
            yield records.ErrorRecord(code="error", message=said, at=at)
        case "info" | "warning":
            is_stop = "cancelled" in said.casefold()
            yield UnmappedRecord(kind=kind, content=said, at=at, line=number)
            if is_stop:
                yield records.TurnStop(detail=said, at=at)
        case _:
            yield UnmappedRecord(
                kind=kind or "message", content=message, at=at, line=number, is_understood=False
            )


def _read_reply(message: JsonObject, said: str, at: int | None, number: int) -> Iterator[Record]:
    thoughts = [
        f"{as_text(thought.get('subject'))}: {as_text(thought.get('description'))}"
        for thought in as_objects(message.get("thoughts"))
    ]
    calls = as_objects(message.get("toolCalls"))
    tokens = as_object(message.get("tokens"))
    used = Usage(
        input_tokens=as_count(tokens.get("input")),
        output_tokens=as_count(tokens.get("output")) + as_count(tokens.get("thoughts")),
    )
    yield Reply(
        text=said, thinking="\n\n".join(thoughts), usage=used, model=as_text(message.get("model")), at=at,
        line=number, calls=tuple(
            ToolCall(id=as_text(call.get("id")), tool=as_text(call.get("name")),
                     arguments=as_object(call.get("args")))
            for call in calls
        ),
    )  # fmt: skip
    for call in calls:
        yield _read_result(call, number)


def _read_result(call: JsonObject, number: int) -> CallResult:
    responses = [
        as_object(as_object(item.get("functionResponse")).get("response"))
        for item in as_objects(call.get("result"))
    ]
    said = "\n".join(first_text(response, "output", "error") for response in responses)
    status = as_text(call.get("status"))
    error = next((as_text(response.get("error")) for response in responses if response.get("error")), "")
    error = error or as_text(call.get("error")) or as_text(as_object(call.get("error")).get("message"))
    said = said or as_text(call.get("resultDisplay")) or error
    is_refused = status == "cancelled" and "did not" in f"{said} {error}".casefold()
    state: records.ResultState = (
        "rejected" if is_refused else "cancelled" if status == "cancelled" else "failed" if status == "error"
        else "succeeded"
    )  # fmt: skip
    return CallResult(
        call=as_text(call.get("id")), text=said, state=state, error=error, at=as_time(call.get("timestamp")),
        line=number, changes=_edits_of_call(call),
    )  # fmt: skip


def _edits_of_call(call: JsonObject) -> tuple[FileEdit, ...]:
    shown, arguments = as_object(call.get("resultDisplay")), as_object(call.get("args"))
    path = first_text(arguments, "file_path", "absolute_path") or as_text(shown.get("fileName"))
    if patch := as_text(shown.get("fileDiff")):
        before = shown.get("originalContent")
        is_new = before is None and "originalContent" in shown
        return (FileEdit(path=path, change="create" if is_new else "modify", patch=patch),)
    if as_text(call.get("name")) == "replace":
        return (
            FileEdit(
                path=path, old=as_text(arguments.get("old_string")), new=as_text(arguments.get("new_string"))
            ),
        )
    if as_text(call.get("name")) == "write_file":
        return (FileEdit(path=path, new=as_text(arguments.get("content"))),)
    return ()
