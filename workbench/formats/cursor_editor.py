"""Reader of Cursor's editor: `state.vscdb`, keys and JSON in which chats and their messages stand apart.

Only the keys of chats are looked at: beside them the program keeps tokens of its accounts.
"""

# `composerData:CHAT` says what a chat is called and which messages it has, in order; `bubbleId:CHAT:MESSAGE`
# holds one of them. Older versions keep the messages in the chat itself. No description of the layout was
# published; this follows what others found (`_v` 10 of a chat, 3 of a message).

from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import unquote

import orjson

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import records as r
from workbench.formats.chat_messages import call_result, parse_arguments
from workbench.journal.database import Database

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
        for child in r.as_texts(_value(database, key).get("subComposerIds")):
            parents.setdefault(child, key.removeprefix(_CHAT))
    for number, key in enumerate(chats, 1):
        chat = _value(database, key)
        messages = list(_messages(database, key.removeprefix(_CHAT), chat))
        if not chat:
            yield r.FileProblem(line=number, why=f"the chat {key.removeprefix(_CHAT)[:40]} cannot be read")
        if messages:
            yield _head(key.removeprefix(_CHAT), chat, messages, parents)
            yield from _chat_records(chat, messages, number)


def _value(database: Database, key: str) -> JsonObject:
    for (value,) in database.execute("SELECT value FROM cursorDiskKV WHERE key = ?", (key,)):
        try:
            return r.as_object(orjson.loads(value)) if isinstance(value, str | bytes) else {}
        except ValueError:
            return {}
    return {}


def _messages(database: Database, chat: str, about: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Yield the messages of a chat by their ids; one that is not there is empty."""
    inline = {r.text_of(one, "bubbleId"): one for one in r.objects_of(about, "conversation")}
    inline |= {key: r.as_object(one) for key, one in r.object_of(about, "conversationMap").items()}
    listed = [r.text_of(one, "bubbleId") for one in r.objects_of(about, "fullConversationHeadersOnly")]
    for key in filter(None, listed or inline):
        yield key, inline.get(key) or _value(database, f"{_MESSAGE}{chat}:{key}")


def _head(
    key: str, chat: JsonObject, messages: list[tuple[str, JsonObject]], parents: Mapping[str, str]
) -> r.SessionHead:
    settings = r.text_of(r.object_of(chat, "modelConfig"), "modelName")
    models = (settings, *(_model(message) for _, message in messages))
    facts = {name: chat[name] for name in ("unifiedMode", "createdOnBranch") if r.as_text(chat.get(name))}
    return r.SessionHead(
        key=key, title=r.first_text(chat, "name", "subtitle"), provider="cursor",
        workspace=_workspace(chat, messages), at=r.time_of(chat, "createdAt"), facts=facts,
        model=next((model for model in models if model and model not in _NO_MODELS), ""),
        parent=parents.get(key, ""),
    )  # fmt: skip


def _workspace(chat: JsonObject, messages: list[tuple[str, JsonObject]]) -> str:
    uri = r.object_of(r.object_of(chat, "workspaceIdentifier"), "uri")
    told = (place for _, message in messages for place in r.as_texts(message.get("workspaceUris")))
    place = r.text_of(uri, "fsPath") or next(filter(None, told), "")
    return unquote(place.removeprefix("file://")) if place.startswith("file://") else place


def _model(message: JsonObject) -> str:
    model = r.text_of(r.object_of(message, "modelInfo"), "modelName")
    return "" if model in _NO_MODELS else model


def _chat_records(
    chat: JsonObject, messages: list[tuple[str, JsonObject]], number: int
) -> Iterator[r.Record]:
    for key, message in messages:
        at = r.time_of(message, "createdAt")
        match message.get("type"):
            case 1:
                yield r.Prompt(text=r.text_of(message, "text"), at=at, line=number)
            case 2:
                yield from _reply(key, message, at, number)
            case _:
                why = f"the message {key[:40]} of this chat is not there, or none that is known"
                yield r.FileProblem(line=number, why=why)
    if r.text_of(chat, "status") in ("aborted", "error"):
        yield r.TurnStop(detail=r.text_of(chat, "status"), at=r.time_of(chat, "lastUpdatedAt"))


def _reply(key: str, message: JsonObject, at: int | None, number: int) -> Iterator[r.Record]:
    tool, tokens = r.object_of(message, "toolFormerData"), r.object_of(message, "tokenCount")
    usage = Usage(
        input_tokens=r.count_of(tokens, "inputTokens"), output_tokens=r.count_of(tokens, "outputTokens")
    )
    name = r.text_of(tool, "name")
    asked = r.ToolCall(
        id=r.text_of(tool, "toolCallId") or key, tool=name,
        arguments=parse_arguments(tool.get("rawArgs") or tool.get("params")),
    )  # fmt: skip
    said, thought = r.text_of(message, "text"), r.text_of(r.object_of(message, "thinking"), "text")
    if said or thought or name or usage != Usage():  # many hold nothing but what the editor needs
        yield r.Reply(
            text=said, thinking=thought, calls=(asked,) if name else (), usage=usage, model=_model(message),
            at=at, line=number,
        )  # fmt: skip
    decision = r.text_of(tool, "userDecision")
    state = "rejected" if decision == "rejected" else _STATES.get(r.text_of(tool, "status"))
    if not name:
        return
    if decision == "accepted":
        yield r.CallDecision(call=asked.id, is_approved=True, at=at)
    if state:
        said, exit_code, changes = _outcome(tool, asked)
        yield call_result(asked.id, said, state, at=at, line=number, exit_code=exit_code, changes=changes)


def _outcome(tool: JsonObject, asked: r.ToolCall) -> tuple[str, int | None, tuple[r.FileEdit, ...]]:
    """Return what a call said, its exit code and what it changed."""
    written: Json = tool.get("result")
    result: JsonObject = parse_arguments(written)
    said = r.first_text(result, *_RESULT_TEXTS) or r.first_text(tool, "error")
    code = result.get("exitCodeV2", result.get("exitCode"))
    path = r.first_text(asked.arguments, "target_file", "file_path", "relativeWorkspacePath", "path")
    chunks = r.objects_of(r.object_of(result, "diff"), "chunks")
    patch = "\n".join(map(_hunk, chunks))
    changes = (r.FileEdit(path=path, patch=patch),) if path and patch else ()
    return said or (r.as_text(written) if "input" not in result else ""), r.as_integer(code), changes


def _hunk(chunk: JsonObject) -> str:
    old, new = r.count_of(chunk, "oldStart"), r.count_of(chunk, "newStart")
    lines = r.text_of(chunk, "diffString").rstrip("\n")
    return f"@@ -{old},{r.count_of(chunk, 'oldLines')} +{new},{r.count_of(chunk, 'newLines')} @@\n{lines}"
