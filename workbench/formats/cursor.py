"""Reader of Cursor: its agent's JSON lines, the database of a chat, the editor's `state.vscdb`.

Of the editor's keys only those of chats are looked at: beside them it keeps tokens of its accounts.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Final
from urllib.parse import unquote

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.chat_messages import (
    call_result,
    calls_of_blocks,
    end_state,
    json_text,
    parse_arguments,
    parse_json,
    result_blocks,
    said_text,
    thought_text,
    usage_within,
)
from workbench.formats.input import JsonLines
from workbench.formats.record_streams import read_rows
from workbench.journal.database import Database

# A transcript holds neither times nor results; of a call in it nothing is known but that it was asked for.
# The database holds results too: messages are blobs, named by their digests, in the order of a root that
# lists them.


_QUERY: Final = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_CONTEXT: Final = ("<user_info>", "<system_reminder>", "<project_layout>", "<rules>", "<attached_files>")
"""How a user's message begins that no human typed."""
_DIGEST_BYTES: Final = 32
_MOST_BLOBS: Final = 100_000
_SUBAGENTS: Final = "subagents"


def is_transcript(sample: list[JsonObject]) -> bool:
    return any(
        line.get("role") in ("user", "assistant")
        and "content" in j.object_of(line, "message")
        and "role" not in j.object_of(line, "message")
        and not {"uuid", "sessionId", "timestamp"} & line.keys()
        for line in sample
    )


def read_transcript(lines: JsonLines, name: str) -> Iterator[r.Record]:
    """Yield a session; its id and its parent are the names of its file and folders."""
    path = PurePath(name)
    parent = path.parent.parent.name if path.parent.name == _SUBAGENTS else ""
    yield r.SessionHead(key=path.stem or name, provider="cursor", parent=parent)
    yield from read_rows(lines, _read_row)


def _read_row(row: JsonObject, number: int) -> Iterator[r.Record]:
    role, kind = j.text_of(row, "role"), j.text_of(row, "type")
    if kind == "turn_ended":
        yield r.UnmappedRecord(kind, row, None, number)
        status = j.text_of(row, "status")
        if status not in ("success", "completed", ""):
            yield r.TurnStop(detail=status)
    elif role:
        yield from _message(role, j.value_of(row, "message", "content"), number)
    else:
        yield r.UnmappedRecord(kind or "record", row, None, number, is_understood=False)


def _message(role: str, content: Json, number: int, time_us: int | None = None) -> Iterator[r.Record]:
    for block in result_blocks(content):
        yield _result(block, number, time_us)
    text = said_text(content)
    if role == "assistant":
        calls = calls_of_blocks(content, f"{number}.")
        yield r.Reply(text=text, thinking=thought_text(content), calls=calls, at=time_us, line=number)
    elif role == "user":
        query = _QUERY.search(text)
        if query is None and text.lstrip().startswith(_CONTEXT):
            yield r.UnmappedRecord("context.user", text, time_us, number)
        elif text or not result_blocks(content):
            yield r.Prompt(query[1] if query else text, time_us, number)
    elif role != "tool" or not result_blocks(content):
        yield r.UnmappedRecord(f"message.{role}", content, time_us, number, role == "system")


def _result(block: JsonObject, number: int, time_us: int | None) -> r.CallResult:
    value = block.get("result", block.get("content"))
    text = j.content_text(value) or j.content_text(block.get("experimental_content"))
    if not text and isinstance(value, dict):
        text = json_text(value)
    start = text[:400].casefold()
    state = end_state(
        is_bad=block.get("isError") is True or block.get("is_error") is True,
        is_refused="rejected by the user" in start or "user rejected" in start,
    )
    return call_result(j.first_text(block, "toolCallId", "tool_use_id"), text, state, at=time_us, line=number)


def read_database(database: Database, name: str) -> Iterator[r.Record]:
    """Yield the chat of a database; raises apsw.Error where it is damaged."""
    meta = _meta(database)
    time_us = j.time_of(meta, "createdAt")
    facts = {key: meta[key] for key in ("mode",) if j.as_text(meta.get(key))}
    yield r.SessionHead(
        key=j.text_of(meta, "agentId") or PurePath(name).parent.name or name, title=j.text_of(meta, "name"),
        model=j.text_of(meta, "lastUsedModel"), provider="cursor", at=time_us, facts=facts,
    )  # fmt: skip
    for number, (key, data) in enumerate(_blobs(database, j.text_of(meta, "latestRootBlobId")), 1):
        message = j.as_object(parse_json(data))
        if not message:
            why = f"the blob {key[:12]} is none of the messages that are known; it was left out"
            yield r.file_problem(number, why)
        else:
            yield from _message(j.text_of(message, "role"), message.get("content"), number)


def _meta(database: Database) -> JsonObject:
    for (value,) in database.execute("SELECT value FROM meta"):
        written = value.encode() if isinstance(value, str) else value
        try:
            data = bytes.fromhex(written.decode("ascii")) if isinstance(written, bytes) else b""
        except (ValueError, UnicodeDecodeError):
            data = written
        if meta := j.as_object(parse_json(data)):
            return meta
    return {}


def _blobs(database: Database, root: str) -> Iterator[tuple[str, bytes]]:
    """Yield the blobs that the root lists, in its order; without a root all that are JSON, in theirs."""
    roots = list(database.execute("SELECT data FROM blobs WHERE id = ?", (root,)))
    listed = _digests(roots[0][0]) if roots and isinstance(roots[0][0], bytes) else []
    if not listed:
        rows = database.execute("SELECT id, data FROM blobs ORDER BY rowid LIMIT ?", (_MOST_BLOBS,))
        yield from ((str(key), data) for key, data in rows if isinstance(data, bytes) and data[:1] == b"{")
        return
    for key in listed:
        rows = list(database.execute("SELECT data FROM blobs WHERE id = ?", (key,)))
        yield key, rows[0][0] if rows and isinstance(rows[0][0], bytes) else b""


def _digests(data: bytes) -> list[str]:
    """Return the digests in the first field of a root (protobuf.dev, encoding: tag 10, length 32)."""
    digests: list[str] = []
    place = 0
    while data[place : place + 2] == bytes([0x0A, _DIGEST_BYTES]) and len(digests) < _MOST_BLOBS:
        digests.append(data[place + 2 : place + 2 + _DIGEST_BYTES].hex())
        place += 2 + _DIGEST_BYTES
    return digests


# `composerData:CHAT` says what a chat is called and which messages it has, in order; `bubbleId:CHAT:MESSAGE`
# holds one of them. Older versions keep the messages in the chat itself. No description of the layout was
# published; this follows what others found (`_v` 10 of a chat, 3 of a message).


_CHAT: Final = "composerData:"
_MESSAGE: Final = "bubbleId:"
_MOST_CHATS: Final = 100_000
_STATES: Final[Mapping[str, r.ResultState]] = {
    "completed": "succeeded", "success": "succeeded", "error": "failed", "cancelled": "cancelled",
    "canceled": "cancelled", "rejected": "rejected",
}  # fmt: skip
"""By the status of a call; with any other one it has no end yet."""
_RESULT_TEXTS: Final = ("output", "contents", "content", "result", "error", "errorMessage")
_NO_MODELS: Final = ("default", "auto")


def read_state(database: Database, name: str) -> Iterator[r.Record]:
    """Yield the chats; raises apsw.Error where the database is damaged."""
    del name
    # Not through the index: one that breaks off would hide chats without a word.
    keys = "SELECT key FROM cursorDiskKV NOT INDEXED WHERE key >= ? AND key < ? ORDER BY rowid LIMIT ?"
    chats = [str(row[0]) for row in database.execute(keys, (_CHAT, f"{_CHAT[:-1]};", _MOST_CHATS))]
    parents: dict[str, str] = {}
    for key in chats:
        for child in j.as_texts(_value(database, key).get("subComposerIds")):
            parents.setdefault(child, key.removeprefix(_CHAT))
    for number, key in enumerate(chats, 1):
        chat = _value(database, key)
        messages = list(_messages(database, key.removeprefix(_CHAT), chat))
        if not chat:
            yield r.file_problem(number, f"the chat {key.removeprefix(_CHAT)[:40]} cannot be read")
        if messages:
            yield _head(key.removeprefix(_CHAT), chat, messages, parents)
            yield from _chat_records(chat, messages, number)


def _value(database: Database, key: str) -> JsonObject:
    rows = database.execute("SELECT value FROM cursorDiskKV WHERE key = ?", (key,))
    return j.as_object(next((parse_json(value) for (value,) in rows), None))


def _messages(database: Database, chat: str, about: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Yield the messages of a chat by their ids; one that is not there is empty."""
    inline = {j.text_of(message, "bubbleId"): message for message in j.objects_of(about, "conversation")}
    inline |= {key: j.as_object(message) for key, message in j.object_of(about, "conversationMap").items()}
    listed = [
        j.text_of(message, "bubbleId") for message in j.objects_of(about, "fullConversationHeadersOnly")
    ]
    for key in filter(None, listed or inline):
        yield key, inline.get(key) or _value(database, f"{_MESSAGE}{chat}:{key}")


def _head(
    key: str, chat: JsonObject, messages: list[tuple[str, JsonObject]], parents: Mapping[str, str]
) -> r.SessionHead:
    settings = j.text_of(chat, "modelConfig", "modelName")
    models = (settings, *(_model(message) for _, message in messages))
    facts = {name: chat[name] for name in ("unifiedMode", "createdOnBranch") if j.as_text(chat.get(name))}
    return r.SessionHead(
        key=key, title=j.first_text(chat, "name", "subtitle"), provider="cursor",
        workspace=_workspace(chat, messages), at=j.time_of(chat, "createdAt"), facts=facts,
        model=next((model for model in models if model and model not in _NO_MODELS), ""),
        parent=parents.get(key, ""),
    )  # fmt: skip


def _workspace(chat: JsonObject, messages: list[tuple[str, JsonObject]]) -> str:
    uri = j.object_of(chat, "workspaceIdentifier", "uri")
    uris = (place for _, message in messages for place in j.as_texts(message.get("workspaceUris")))
    place = j.text_of(uri, "fsPath") or next(filter(None, uris), "")
    return unquote(place.removeprefix("file://")) if place.startswith("file://") else place


def _model(message: JsonObject) -> str:
    model = j.text_of(message, "modelInfo", "modelName")
    return "" if model in _NO_MODELS else model


def _chat_records(
    chat: JsonObject, messages: list[tuple[str, JsonObject]], number: int
) -> Iterator[r.Record]:
    for key, message in messages:
        time_us = j.time_of(message, "createdAt")
        match message.get("type"):
            case 1:
                yield r.Prompt(j.text_of(message, "text"), time_us, number)
            case 2:
                yield from _reply(key, message, time_us, number)
            case _:
                why = f"the message {key[:40]} of this chat is not there, or none that is known"
                yield r.file_problem(number, why)
    if j.text_of(chat, "status") in ("aborted", "error"):
        yield r.TurnStop(detail=j.text_of(chat, "status"), at=j.time_of(chat, "lastUpdatedAt"))


def _reply(key: str, message: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
    tool, tokens = j.object_of(message, "toolFormerData"), j.object_of(message, "tokenCount")
    usage = usage_within(tokens, "inputTokens", "outputTokens")
    name = j.text_of(tool, "name")
    call = r.ToolCall(
        j.text_of(tool, "toolCallId") or key, name, parse_arguments(tool.get("rawArgs") or tool.get("params"))
    )
    text, thought = j.text_of(message, "text"), j.text_of(message, "thinking", "text")
    if text or thought or name or usage != Usage():  # many hold nothing but what the editor needs
        yield r.Reply(
            text=text, thinking=thought, calls=(call,) if name else (), usage=usage, model=_model(message),
            at=time_us, line=number,
        )  # fmt: skip
    decision = j.text_of(tool, "userDecision")
    state = "rejected" if decision == "rejected" else _STATES.get(j.text_of(tool, "status"))
    if not name:
        return
    if decision == "accepted":
        yield r.CallDecision(call=call.id, is_approved=True, at=time_us)
    if state:
        text, exit_code, changes = _outcome(tool, call)
        yield call_result(call.id, text, state, at=time_us, line=number, exit_code=exit_code, changes=changes)


def _outcome(tool: JsonObject, call: r.ToolCall) -> tuple[str, int | None, tuple[r.FileEdit, ...]]:
    """Return what a call said, its exit code and what it changed."""
    written: Json = tool.get("result")
    result: JsonObject = parse_arguments(written)
    text = j.first_text(result, *_RESULT_TEXTS) or j.first_text(tool, "error")
    code = result.get("exitCodeV2", result.get("exitCode"))
    path = j.first_text(call.arguments, "target_file", "file_path", "relativeWorkspacePath", "path")
    chunks = j.objects_of(result, "diff", "chunks")
    patch = "\n".join(map(_hunk, chunks))
    changes = (r.FileEdit(path=path, patch=patch),) if path and patch else ()
    return text or (j.as_text(written) if "input" not in result else ""), j.as_integer(code), changes


def _hunk(chunk: JsonObject) -> str:
    old, new = j.count_of(chunk, "oldStart"), j.count_of(chunk, "newStart")
    lines = j.text_of(chunk, "diffString").rstrip("\n")
    return f"@@ -{old},{j.count_of(chunk, 'oldLines')} +{new},{j.count_of(chunk, 'newLines')} @@\n{lines}"
