"""Reader of OpenCode: exported sessions, its folder of JSON files, and its SQLite database."""

# A stranger's database is read from a copy in memory, with its write-ahead log laid over it by us: opening
# it where it lies would make files beside it, and would miss the log where it may not.

from collections.abc import Iterable, Iterator
from typing import Final

import orjson

from workbench.domain.values import Json, JsonObject
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.chat_messages import texts_of, usage_apart
from workbench.formats.input import JsonLines
from workbench.formats.record_streams import read_rows
from workbench.journal.database import Database

_IGNORED_PARTS = ("step-start", "step-finish", "patch", "snapshot", "agent", "subtask", "compaction", "retry")


def is_export(value: Json) -> bool:
    document = j.as_object(value)
    messages = j.objects_of(document, "messages")
    is_named = j.text_of(document, "info", "id").startswith("ses_") and "messages" in document
    return is_named or (bool(messages) and "info" in messages[0] and "parts" in messages[0])


def read_export(value: Json, name: str) -> Iterator[r.Record]:
    document = j.as_object(value)
    info = j.object_of(document, "info")
    messages = j.objects_of(document, "messages")
    models = [j.object_of(message, "info") for message in messages if j.text_of(message, "info", "modelID")]
    facts = {key: info[key] for key in ("version", "projectID", "parentID", "slug") if key in info}
    yield r.SessionHead(
        key=j.text_of(info, "id") or name, title=j.text_of(info, "title"),
        workspace=j.text_of(info, "directory"),
        provider=j.as_text(models[0].get("providerID")) if models else "",
        model=j.as_text(models[0].get("modelID")) if models else "",
        at=j.time_of(info, "time", "created"), facts=facts,
        parent=j.text_of(info, "parentID"),
    )  # fmt: skip
    for number, message in enumerate(messages, 1):
        yield from _read_message(message, number)


def _read_message(message: JsonObject, number: int) -> Iterator[r.Record]:
    info, parts = j.object_of(message, "info"), j.objects_of(message, "parts")
    time_us = j.time_of(info, "time", "created")
    if info.get("role") == "user":
        yield r.Prompt("\n".join(filter(None, map(_part_text, parts))), time_us, number)
        return
    tools = [part for part in parts if part.get("type") == "tool"]
    counts: JsonObject = {**j.object_of(info, "tokens", "cache"), **j.object_of(info, "tokens")}
    yield r.Reply(
        text=texts_of(parts, "text"), thinking=texts_of(parts, "reasoning"),
        may_be_empty=bool(info.get("error") or info.get("finish")),
        calls=tuple(_tool_call_of(part) for part in tools), model=j.text_of(info, "modelID"), at=time_us,
        line=number,
        usage=usage_apart(
            counts, "input", ("output", "reasoning"), "read", "write", info.get("cost")
        ),
    )  # fmt: skip
    yield from _call_lives(tools, number)
    yield from _unmapped_parts(parts, info, time_us, number)


def _part_text(part: JsonObject) -> str:
    if part.get("type") == "file":
        return j.image_note({**part, "mime": j.text_of(part, "mime") or "file"})
    return "" if part.get("synthetic") is True else j.text_of(part, "text")


def _tool_call_of(part: JsonObject) -> r.ToolCall:
    state = j.object_of(part, "state")
    return r.ToolCall(
        j.first_text(part, "callID", "id"),
        j.text_of(part, "tool"),
        j.object_of(state, "input"),
        starts_later=_start_of(part) is not None,
    )


def _start_of(part: JsonObject) -> int | None:
    return j.time_of(part, "state", "time", "start")


def _call_lives(parts: list[JsonObject], number: int) -> Iterator[r.Record]:
    """Yield starts and results of the calls of a message as they came; what has no times keeps its place."""
    lives: list[tuple[int, r.Record]] = []
    latest = 0
    for part in parts:
        start, result = _start_of(part), _read_result(part, number)
        if start is not None:
            lives.append((start, r.CallStart(result.call, start)))
        latest = max(latest, result.at or start or 0)
        lives.append((result.at if result.at is not None else latest, result))
    for _, record in sorted(lives, key=lambda life: life[0]):
        yield record


def _read_result(part: JsonObject, number: int) -> r.CallResult:
    state, key = j.object_of(part, "state"), j.first_text(part, "callID", "id")
    meta, times, status = (
        j.object_of(state, "metadata"),
        j.object_of(state, "time"),
        j.text_of(state, "status"),
    )
    start_us, end_us = j.time_of(times, "start"), j.time_of(times, "end")
    error = j.text_of(state, "error")
    return r.CallResult(
        call=key, text=j.text_of(state, "output") or error, state=_result_state(status, error), error=error,
        exit_code=j.integer_of(meta, "exit"), at=end_us or start_us, line=number,
        child=j.text_of(meta, "sessionId") if j.text_of(part, "tool") == "task" else "",
        duration_ms=(end_us - start_us) // 1000 if start_us and end_us else None,
        reason=error.partition("with the following feedback:")[2].strip(),
        changes=_edits_of_result(j.text_of(part, "tool"), j.object_of(state, "input"), meta),
    )  # fmt: skip


def _result_state(status: str, error: str) -> r.ResultState:
    if status == "error":
        lower = error.casefold()
        if "rejected permission" in lower or "user rejected" in lower or "user has specified a rule" in lower:
            return "rejected"
        return "cancelled" if "abort" in lower else "failed"
    return "succeeded" if status == "completed" else "interrupted"


def _edits_of_result(tool: str, arguments: JsonObject, meta: JsonObject) -> tuple[r.FileEdit, ...]:
    path = j.first_text(arguments, "filePath", "path")
    if tool == "write":
        return (
            r.FileEdit(
                path=path,
                change="modify" if meta.get("exists") is True else "create",
                new=j.text_of(arguments, "content"),
            ),
        )
    if tool in ("edit", "multiedit"):
        if patch := j.text_of(meta, "diff"):
            return (r.FileEdit(path=path, patch=patch),)
        return (
            r.FileEdit(
                path=path, old=j.text_of(arguments, "oldString"), new=j.text_of(arguments, "newString")
            ),
        )
    return ()


def _unmapped_parts(
    parts: list[JsonObject], info: JsonObject, time_us: int | None, number: int
) -> Iterator[r.Record]:
    for part in parts:
        kind = j.text_of(part, "type")
        if kind not in ("text", "reasoning", "tool", "file", "step-start", "step-finish"):
            yield r.UnmappedRecord(f"part.{kind}", part, time_us, number, kind in _IGNORED_PARTS)
    error = j.object_of(info, "error")
    if error:
        why = j.text_of(error, "data", "message") or j.text_of(error, "name")
        if "Abort" in j.text_of(error, "name"):
            yield r.TurnStop(detail=why, at=time_us)
        else:
            yield r.ErrorRecord(j.text_of(error, "name") or "error", why, time_us)


_RUN_TYPES: Final = ("step_start", "text", "reasoning", "tool_use", "step_finish", "error")


def is_run(sample: list[JsonObject]) -> bool:
    """Tell whether lines are what `opencode run --format json` prints."""
    return any(
        line.get("type") in _RUN_TYPES
        and j.text_of(line, "sessionID").startswith("ses_")
        and ("part" in line or "error" in line)
        for line in sample
    )


def read_run(lines: JsonLines, name: str) -> Iterator[r.Record]:
    """Yield a session from the parts that a run printed; what was typed is not among them."""
    parts: list[JsonObject] = []
    """Of the message that is not whole yet."""

    def read(row: JsonObject, number: int) -> Iterator[r.Record]:
        kind, part, time_us = j.text_of(row, "type"), j.object_of(row, "part"), j.time_of(row, "timestamp")
        if kind == "error":
            yield from _run_error(row)
        elif kind not in _RUN_TYPES:
            yield r.UnmappedRecord(kind or "record", row, time_us, number, is_understood=False)
        else:
            if parts and j.text_of(parts[0], "messageID") != j.text_of(part, "messageID"):
                yield from _run_message(parts, number)
                parts.clear()
            parts.append({"printed": row.get("timestamp"), **part})
            if kind == "step_finish":
                yield from _run_message(parts, number)
                parts.clear()

    yield from read_rows(
        lines, read,
        lambda row: r.SessionHead(key=j.text_of(row, "sessionID") or name, at=j.time_of(row, "timestamp")),
    )  # fmt: skip
    yield from _run_message(parts, 0)


def _run_message(parts: list[JsonObject], number: int) -> Iterator[r.Record]:
    """Yield the message that parts make; the last one says what it took."""
    if not parts:
        return
    end = parts[-1]
    info: JsonObject = {
        "role": "assistant", "time": {"created": parts[0].get("printed")}, "tokens": end.get("tokens"),
        "cost": end.get("cost"), "finish": end.get("reason"),
    }  # fmt: skip
    yield from _read_message({"info": info, "parts": list(parts)}, number)


def _run_error(row: JsonObject) -> Iterator[r.Record]:
    error = j.object_of(row, "error")
    why = j.text_of(error, "data", "message") or j.text_of(error, "name") or "error"
    yield r.ErrorRecord(j.text_of(error, "name") or "error", why, j.time_of(row, "timestamp"))


SQLITE_MAGIC: Final = b"SQLite format 3\0"
_WAL_MAGIC: Final = (0x377F0682, 0x377F0683)
_WAL_HEADER_SIZE: Final = 32
_WAL_FRAME_HEADER_SIZE: Final = 24


def apply_write_ahead_log(database: bytes, log: bytes) -> bytes:
    """Return a database with what is committed in its write-ahead log (sqlite.org/fileformat2, section 4)."""
    if len(log) < _WAL_HEADER_SIZE or int.from_bytes(log[:4]) not in _WAL_MAGIC:
        return database
    size, salt = int.from_bytes(log[8:12]), log[16:24]
    if not 512 <= size <= 65_536:
        return database
    pages = bytearray(database)
    waiting: list[tuple[int, int]] = []
    for offset in range(
        _WAL_HEADER_SIZE, len(log) - size - _WAL_FRAME_HEADER_SIZE + 1, size + _WAL_FRAME_HEADER_SIZE
    ):
        if log[offset + 8 : offset + 16] != salt:
            break
        waiting.append((int.from_bytes(log[offset : offset + 4]), offset + _WAL_FRAME_HEADER_SIZE))
        if count := int.from_bytes(log[offset + 4 : offset + 8]):
            _apply_commit(pages, log, waiting, size, count)
            waiting = []
    return bytes(pages)


def _apply_commit(pages: bytearray, log: bytes, frames: list[tuple[int, int]], size: int, count: int) -> None:
    if not 0 < count * size <= len(pages) + len(log):
        return
    pages.extend(bytes(max(0, count * size - len(pages))))
    for page, offset in frames:
        if 0 < page <= count:
            pages[(page - 1) * size : page * size] = log[offset : offset + size]
    del pages[count * size :]


def read_sessions(database: Database, name: str) -> Iterator[r.Record]:
    """Yield the sessions of a database; raises apsw.Error where it is damaged."""
    for info in map(j.as_object, _table_rows(database, "session", "true", ())):
        key = j.text_of(info, "id")
        messages: list[Json] = [
            {
                "info": message,
                "parts": _table_rows(database, "part", "message_id = ?", (j.text_of(message, "id"),)),
            }
            for message in map(j.as_object, _table_rows(database, "message", "session_id = ?", (key,)))
        ]
        yield from read_export({"info": info, "messages": messages}, name)


def _table_rows(database: Database, table: str, where: str, values: tuple[str, ...]) -> list[Json]:
    names = [row[0] for row in database.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    cursor = database.execute(f"SELECT * FROM {table} WHERE {where}", values)  # noqa: S608 words of our own
    rows = [_row_object(dict(zip(names, row, strict=False))) for row in cursor]
    # Ids rise with time; a message and a part carry the same order in their ids as in their times.
    return sorted(rows, key=lambda row: (_creation_time(j.as_object(row)), j.text_of(j.as_object(row), "id")))


def _creation_time(row: JsonObject) -> int:
    created = j.object_of(row, "time").get("created")
    return created if isinstance(created, int) else 0


def _row_object(row: dict[str, Json]) -> Json:
    data = row.pop("data", None)
    try:
        document = j.as_object(orjson.loads(data) if isinstance(data, str | bytes) else None)
    except ValueError:
        document = {"type": "damaged"}
    times = {"created": row.pop("time_created", None), "updated": row.pop("time_updated", None)}
    named = {
        _CAMEL_CASE_COLUMNS.get(key, key): value
        for key, value in row.items()
        if isinstance(value, str | int | float)
    }
    return {"time": times, **named, **document}


_CAMEL_CASE_COLUMNS: Final = {
    "project_id": "projectID", "parent_id": "parentID", "session_id": "sessionID", "message_id": "messageID",
}  # fmt: skip


def session_document(session: bytes, messages: Iterable[tuple[bytes, Iterable[bytes]]]) -> bytes:
    """Return the document of a session whose parts lie in files."""
    messages_with_parts: list[Json] = [
        {"info": _parse_json(message), "parts": [_parse_json(part) for part in parts]}
        for message, parts in messages
    ]
    return orjson.dumps({"info": _parse_json(session), "messages": messages_with_parts})


def _parse_json(data: bytes) -> Json:
    try:
        return orjson.loads(data)
    except ValueError:
        return {"type": "damaged", "text": data[:2_000].decode("utf-8", "replace")}
