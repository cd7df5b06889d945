"""Readers of chats that agents keep in databases: Goose's sessions.db and Crush's crush.db."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct, field

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.chat_messages import call_result, end_state, parse_arguments, parse_json, usage_within
from workbench.formats.usage_records import join_usage_before
from workbench.journal.database import Database

_DECLINED: Final = (
    "declined to run",
    "user denied permission",
    "denied by the user",
    "permission denied by user",
)
_MOST_ROWS: Final = 1_000_000


def _rows(database: Database, table: str, order: str, session: str | None = None) -> Iterator[JsonObject]:
    """Yield rows of a table of our own choice as objects; raises apsw.Error where it is damaged."""
    names = [row[0] for row in database.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    where, values = ("WHERE session_id = ?", (session,)) if session is not None else ("", ())
    query = f"SELECT * FROM {table} {where} ORDER BY {order} LIMIT {_MOST_ROWS}"  # noqa: S608 words of our own
    for row in database.execute(query, values):
        yield {key: value for key, value in zip(names, row, strict=False) if not isinstance(value, bytes)} | {
            key: value.decode("utf-8", "replace")
            for key, value in zip(names, row, strict=False)
            if isinstance(value, bytes)
        }


def _is_declined(text: str) -> bool:
    lower = text[:400].casefold()
    return any(words in lower for words in _DECLINED)


# --- Goose ----------------------------------------------------------------------------------------------


def read_goose(database: Database, name: str) -> Iterator[r.Record]:
    """Yield the sessions of Goose; raises apsw.Error where the database is damaged."""
    del name
    for row in _rows(database, "sessions", "created_at, id"):
        yield from join_usage_before(_goose_session(database, row))


def _goose_session(database: Database, row: JsonObject) -> Iterator[r.Record]:
    key = j.text_of(row, "id")
    settings = j.as_object(parse_json(row.get("model_config_json")))
    facts = {name: row[name] for name in ("session_type", "schedule_id") if j.as_text(row.get(name))}
    model = j.text_of(settings, "model_name") or j.text_of(settings, "model")
    yield r.SessionHead(
        key=key, title=j.first_text(row, "name", "description"), workspace=j.text_of(row, "working_dir"),
        provider=j.text_of(row, "provider_name"), model=model, at=j.time_of(row, "created_at"), facts=facts,
        parent=j.text_of(row, "parent_session_id"),
    )  # fmt: skip
    for number, message in enumerate(_rows(database, "messages", "created_timestamp, id", key), 1):
        yield from _goose_message(message, number, model)
    counts: JsonObject = {
        name: j.count_of(row, f"accumulated_{name}") or j.count_of(row, name)
        for name in ("input_tokens", "output_tokens")
    }
    cached = {"cached": row.get("accumulated_cache_read_tokens")}
    cost = row.get("accumulated_cost")
    total = usage_within({**counts, **cached}, "input_tokens", "output_tokens", "cached", cost=cost)
    if total != Usage():
        yield r.UsageRecord(usage=total)


def _goose_message(row: JsonObject, number: int, model: str) -> Iterator[r.Record]:
    time_us, content = j.time_of(row, "created_timestamp"), parse_json(row.get("content_json"))
    if not isinstance(content, list):
        yield r.UnmappedRecord("message.damaged", row, time_us, number, is_understood=False)
        return
    parts = j.as_objects(content)
    results = [part for part in parts if part.get("type") == "toolResponse"]
    words: list[Json] = [part for part in parts if part.get("type") in ("text", "image")]
    text, calls = j.content_text(words), tuple(_goose_calls(parts))
    if row.get("role") == "assistant":
        thoughts = (j.first_text(part, "thinking", "text") for part in parts if part.get("type") in _THOUGHTS)
        reply = r.Reply(
            text=text, thinking="\n\n".join(filter(None, thoughts)), calls=calls, model=model, at=time_us,
            line=number, may_be_empty=any(part.get("type") == "redactedThinking" for part in parts),
        )  # fmt: skip
        # A question about a call is a message of its own, and nothing that the model said.
        if text or calls or reply.thinking or not any(part.get("type") in _NOTES for part in parts):
            yield reply
    elif _is_hidden(row):
        yield r.UnmappedRecord("context.user", text, time_us, number)
    elif text or not results:
        yield r.Prompt(text, time_us, number)
    for part in parts:
        yield from _goose_question(part, time_us, number)
    for part in results:
        yield _goose_result(part, time_us, number)


_THOUGHTS: Final = ("thinking", "reasoning")
_NOTES: Final = ("toolConfirmationRequest", "actionRequired", "systemNotification")


def _is_hidden(row: JsonObject) -> bool:
    return j.as_object(parse_json(row.get("metadata_json"))).get("userVisible") is False


def _goose_calls(parts: list[JsonObject]) -> Iterator[r.ToolCall]:
    for part in parts:
        if part.get("type") in ("toolRequest", "frontendToolRequest"):
            call = j.object_of(part, "toolCall")
            value = j.object_of(call, "value") or call
            arguments = parse_arguments(value.get("arguments"))
            tool = j.text_of(value, "name") or "unreadable call"
            yield r.ToolCall(j.text_of(part, "id"), tool, arguments)


def _goose_question(part: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
    kind = j.text_of(part, "type")
    request = j.object_of(part, "data") if kind == "actionRequired" else part
    if kind == "toolConfirmationRequest" or request.get("actionType") == "toolConfirmation":
        yield r.CallQuestion(call=j.text_of(request, "id"), at=time_us)
    elif kind in _NOTES:
        yield r.UnmappedRecord(kind, part, time_us, number)


def _goose_result(part: JsonObject, time_us: int | None, number: int) -> r.CallResult:
    result = j.object_of(part, "toolResult")
    value = result.get("value")
    fields = j.as_object(value)
    text = j.content_text(fields.get("content") if fields else value) or j.text_of(result, "error")
    is_bad = j.text_of(result, "status") == "error" or fields.get("isError") is True
    state = end_state(is_bad=is_bad, is_refused=_is_declined(text))
    return call_result(j.text_of(part, "id"), text, state, at=time_us, line=number)


# --- Crush ----------------------------------------------------------------------------------------------


class _CrushCalls(Struct):
    """What is known of calls apart from their results, by their ids."""

    sessions: dict[str, str] = field(default_factory=dict[str, str])
    """The sessions that agents led for them."""
    paths: dict[str, str] = field(default_factory=dict[str, str])
    """The files that they are about."""


def read_crush(database: Database, name: str) -> Iterator[r.Record]:
    """Yield the sessions of Crush; raises apsw.Error where the database is damaged."""
    del name
    sessions = list(_rows(database, "sessions", "created_at, id"))
    # What an agent below does has the id of the call that asked for it at the end of its own.
    below = _CrushCalls()
    for row in sessions:
        if j.text_of(row, "parent_session_id"):
            below.sessions[j.text_of(row, "id").rpartition("$")[2]] = j.text_of(row, "id")
    for row in sessions:
        yield from join_usage_before(_crush_session(database, row, below))


def _crush_session(database: Database, row: JsonObject, below: _CrushCalls) -> Iterator[r.Record]:
    key = j.text_of(row, "id")
    messages = list(_rows(database, "messages", "created_at, rowid", key))
    spoken = [message for message in messages if j.text_of(message, "model")]
    yield r.SessionHead(
        key=key, title=j.text_of(row, "title"), model=j.text_of(spoken[0], "model") if spoken else "",
        provider=j.text_of(spoken[0], "provider") if spoken else "",
        parent=j.text_of(row, "parent_session_id"), workspace=j.text_of(row, "workspace_cwd"),
        at=j.time_of(row, "created_at"),
    )  # fmt: skip
    for number, message in enumerate(messages, 1):
        yield from _crush_message(message, number, below)
    total = usage_within(row, "prompt_tokens", "completion_tokens", cost=row.get("cost"))
    if total != Usage():
        yield r.UsageRecord(usage=total)


def _crush_message(row: JsonObject, number: int, below: _CrushCalls) -> Iterator[r.Record]:
    time_us, content = j.time_of(row, "created_at"), parse_json(row.get("parts"))
    if not isinstance(content, list):
        yield r.UnmappedRecord("message.damaged", row, time_us, number, is_understood=False)
        return
    parts = [(j.text_of(part, "type"), j.object_of(part, "data")) for part in j.as_objects(content)]
    words = [_crush_words(kind, data) for kind, data in parts]
    text = "\n".join(filter(None, words))
    match j.text_of(row, "role"):
        case "assistant":
            reply = _crush_reply(row, parts, text, time_us, number)
            below.paths.update({call.id: j.text_of(call.arguments, "file_path") for call in reply.calls})
            yield reply
        case "user":
            if text or not any(kind == "shell_command" for kind, _ in parts):
                yield r.Prompt(text, time_us, number)
            for place, (kind, data) in enumerate(parts):
                if kind == "shell_command":
                    yield from _crush_shell(data, time_us, f"shell-{number}.{place}", number)
        case "tool":
            for kind, data in parts:
                if kind == "tool_result":
                    yield _crush_result(data, time_us, number, below)
        case role:
            yield r.UnmappedRecord(f"message.{role}", text, time_us, number, role == "system")
    yield from _crush_end(parts, time_us)


def _crush_words(kind: str, data: JsonObject) -> str:
    match kind:
        case "text":
            return j.text_of(data, "text")
        case "binary":
            about: JsonObject = {
                "type": "file", "mimeType": data.get("MIMEType"), "filename": data.get("Path"),
                "data": data.get("Data"),
            }  # fmt: skip
            return j.image_note(about)
        case "image_url":
            return j.image_note(data)
        case _:
            return ""


def _crush_reply(
    row: JsonObject, parts: list[tuple[str, JsonObject]], text: str, time_us: int | None, number: int
) -> r.Reply:
    calls = tuple(
        r.ToolCall(j.text_of(data, "id"), j.text_of(data, "name"), parse_arguments(data.get("input")))
        for kind, data in parts
        if kind == "tool_call"
    )
    thoughts = (j.text_of(data, "thinking") for kind, data in parts if kind == "reasoning")
    return r.Reply(
        text=text, thinking="\n\n".join(filter(None, thoughts)), calls=calls, model=j.text_of(row, "model"),
        at=time_us, line=number, may_be_empty=any(kind == "finish" for kind, _ in parts),
    )  # fmt: skip


def _crush_result(data: JsonObject, time_us: int | None, number: int, below: _CrushCalls) -> r.CallResult:
    key, text = j.text_of(data, "tool_call_id"), j.text_of(data, "content")
    about = j.as_object(parse_json(data.get("metadata")))
    is_bad = data.get("is_error") is True
    return call_result(
        key, text, end_state(is_bad=is_bad, is_refused=is_bad and _is_declined(text)), at=time_us,
        line=number, exit_code=j.integer_of(about, "exit_code"),
        changes=() if is_bad else _crush_edits(below.paths.get(key, ""), about),
        child=below.sessions.get(key, ""),
    )  # fmt: skip


def _crush_edits(path: str, about: JsonObject) -> tuple[r.FileEdit, ...]:
    old, new = about.get("old_content"), about.get("new_content")
    if not path or not isinstance(old, str) or not isinstance(new, str):
        return ()
    return (r.FileEdit(path=path, change="modify" if old else "create", old=old or None, new=new),)


def _crush_shell(data: JsonObject, time_us: int | None, key: str, number: int) -> Iterator[r.Record]:
    call = r.ToolCall(key, "bash", {"command": j.text_of(data, "command")})
    yield r.Reply(calls=(call,), at=time_us, line=number)
    code = j.integer_of(data, "exit_code")
    state = end_state(is_bad=bool(code))
    yield call_result(key, j.text_of(data, "output"), state, at=time_us, line=number, exit_code=code)


def _crush_end(parts: list[tuple[str, JsonObject]], time_us: int | None) -> Iterator[r.Record]:
    for kind, data in parts:
        reason, when = j.text_of(data, "reason"), j.time_of(data, "time") or time_us
        if kind == "finish" and reason in ("canceled", "permission_denied"):
            yield r.TurnStop(detail=j.text_of(data, "message") or reason, at=when)
        elif kind == "finish" and reason in ("error", "content_filter"):
            why = ": ".join(filter(None, (j.text_of(data, "message"), j.text_of(data, "details"))))
            yield r.ErrorRecord(reason, why or reason, when)
