"""Reader of OpenCode: exported sessions, its folder of JSON files, and its SQLite database."""

from collections.abc import Iterable, Iterator
from typing import Final

import apsw
import orjson

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import records
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
    as_integer,
    as_object,
    as_objects,
    as_text,
    as_time,
    first_text,
    image_note,
)
from workbench.journal.database import Database, open_in_memory

_IGNORED_PARTS = ("step-start", "step-finish", "patch", "snapshot", "agent", "subtask", "compaction", "retry")


def is_export(value: Json) -> bool:
    document = as_object(value)
    messages = as_objects(document.get("messages"))
    is_named = (
        as_text(as_object(document.get("info")).get("id")).startswith("ses_") and "messages" in document
    )
    return is_named or (bool(messages) and "info" in messages[0] and "parts" in messages[0])


def read_export(value: Json, name: str) -> Iterator[Record]:
    document = as_object(value)
    info = as_object(document.get("info"))
    messages = as_objects(document.get("messages"))
    models = [
        as_object(one.get("info")) for one in messages if as_text(as_object(one.get("info")).get("modelID"))
    ]
    facts = {key: info[key] for key in ("version", "projectID", "parentID", "slug") if key in info}
    yield SessionHead(
        key=as_text(info.get("id")) or name, title=as_text(info.get("title")),
        workspace=as_text(info.get("directory")),
        provider=as_text(models[0].get("providerID")) if models else "",
        model=as_text(models[0].get("modelID")) if models else "",
        at=as_time(as_object(info.get("time")).get("created")), facts=facts,
        parent=as_text(info.get("parentID")),
    )  # fmt: skip
    for number, message in enumerate(messages, 1):
        yield from _read_message(message, number)


def _read_message(message: JsonObject, number: int) -> Iterator[Record]:
    info, parts = as_object(message.get("info")), as_objects(message.get("parts"))
    at = as_time(as_object(info.get("time")).get("created"))
    if info.get("role") == "user":
        yield Prompt(text="\n".join(filter(None, map(_part_text, parts))), at=at, line=number)
        return
    tools = [part for part in parts if part.get("type") == "tool"]
    tokens = as_object(info.get("tokens"))
    cache = as_object(tokens.get("cache"))
    yield Reply(
        text="\n".join(as_text(part.get("text")) for part in parts if part.get("type") == "text"),
        thinking="\n".join(as_text(part.get("text")) for part in parts if part.get("type") == "reasoning"),
        calls=tuple(_tool_call_of(part) for part in tools), model=as_text(info.get("modelID")), at=at,
        line=number,
        usage=Usage(
            input_tokens=as_count(tokens.get("input")) + as_count(cache.get("read"))
            + as_count(cache.get("write")),
            output_tokens=as_count(tokens.get("output")) + as_count(tokens.get("reasoning")),
        ),
    )  # fmt: skip
    for part in tools:
        yield _read_result(part, number)
    yield from _unmapped_parts(parts, info, at, number)


def _part_text(part: JsonObject) -> str:
    if part.get("type") == "file":
        return image_note({**part, "mime": as_text(part.get("mime")) or "file"})
    return "" if part.get("synthetic") is True else as_text(part.get("text"))


def _tool_call_of(part: JsonObject) -> ToolCall:
    state = as_object(part.get("state"))
    return ToolCall(
        id=first_text(part, "callID", "id"),
        tool=as_text(part.get("tool")),
        arguments=as_object(state.get("input")),
    )


def _read_result(part: JsonObject, number: int) -> CallResult:
    state, key = as_object(part.get("state")), first_text(part, "callID", "id")
    meta, times, status = (
        as_object(state.get("metadata")),
        as_object(state.get("time")),
        as_text(state.get("status")),
    )
    begun, ended = as_time(times.get("start")), as_time(times.get("end"))
    error = as_text(state.get("error"))
    return CallResult(
        call=key, text=as_text(state.get("output")) or error, state=_result_state(status, error), error=error,
        exit_code=as_integer(meta.get("exit")), at=ended or begun, line=number,
        duration_ms=(ended - begun) // 1000 if begun and ended else None,
        reason=error.partition("with the following feedback:")[2].strip(),
        changes=_edits_of_result(as_text(part.get("tool")), as_object(state.get("input")), meta),
    )  # fmt: skip


def _result_state(status: str, error: str) -> records.ResultState:
    if status == "error":
        lower = error.casefold()
        if "rejected permission" in lower or "user rejected" in lower or "user has specified a rule" in lower:
            return "rejected"
        return "cancelled" if "abort" in lower else "failed"
    return "succeeded" if status == "completed" else "interrupted"


def _edits_of_result(tool: str, given: JsonObject, meta: JsonObject) -> tuple[FileEdit, ...]:
    path = first_text(given, "filePath", "path")
    if tool == "write":
        return (FileEdit(path=path, change="modify" if meta.get("exists") is True else "create",
                       new=as_text(given.get("content"))),)  # fmt: skip
    if tool in ("edit", "multiedit"):
        if patch := as_text(meta.get("diff")):
            return (FileEdit(path=path, patch=patch),)
        return (
            FileEdit(path=path, old=as_text(given.get("oldString")), new=as_text(given.get("newString"))),
        )
    return ()


def _unmapped_parts(
    parts: list[JsonObject], info: JsonObject, at: int | None, number: int
) -> Iterator[Record]:
    for part in parts:
        kind = as_text(part.get("type"))
        if kind not in ("text", "reasoning", "tool", "file", "step-start", "step-finish"):
            yield UnmappedRecord(
                kind=f"part.{kind}", content=part, at=at, line=number, is_understood=kind in _IGNORED_PARTS
            )
    error = as_object(info.get("error"))
    if error:
        why = as_text(as_object(error.get("data")).get("message")) or as_text(error.get("name"))
        if "Abort" in as_text(error.get("name")):
            yield records.TurnStop(detail=why, at=at)
        else:
            yield records.ErrorRecord(code=as_text(error.get("name")) or "error", message=why, at=at)


SQLITE_MAGIC: Final = b"SQLite format 3\0"
_WAL_MAGIC: Final = (0x377F0682, 0x377F0683)
_WAL_HEADER_SIZE: Final = 32
_WAL_FRAME_HEADER_SIZE: Final = 24
_TABLES: Final = ("session", "message", "part")


def apply_write_ahead_log(database: bytes, log: bytes) -> bytes:
    """Return a database with what is committed in its write-ahead log (sqlite.org/fileformat2, section 4)."""
    if len(log) < _WAL_HEADER_SIZE or int.from_bytes(log[:4]) not in _WAL_MAGIC:
        return database
    size, salt = int.from_bytes(log[8:12]), log[16:24]
    if not 512 <= size <= 65_536:
        return database
    pages = bytearray(database)
    waiting: list[tuple[int, int]] = []
    for at in range(
        _WAL_HEADER_SIZE, len(log) - size - _WAL_FRAME_HEADER_SIZE + 1, size + _WAL_FRAME_HEADER_SIZE
    ):
        if log[at + 8 : at + 16] != salt:
            break
        waiting.append((int.from_bytes(log[at : at + 4]), at + _WAL_FRAME_HEADER_SIZE))
        if count := int.from_bytes(log[at + 4 : at + 8]):
            _apply_commit(pages, log, waiting, size, count)
            waiting = []
    return bytes(pages)


def _apply_commit(pages: bytearray, log: bytes, frames: list[tuple[int, int]], size: int, count: int) -> None:
    if not 0 < count * size <= len(pages) + len(log):
        return
    pages.extend(bytes(max(0, count * size - len(pages))))
    for page, at in frames:
        if 0 < page <= count:
            pages[(page - 1) * size : page * size] = log[at : at + size]
    del pages[count * size :]


def read_database(data: bytes, name: str) -> Iterator[Record]:
    """Yield the sessions of a database.

    Raises:
        ValueError: It is damaged, or none of OpenCode.
    """
    try:
        database = open_in_memory(data)
    except (apsw.Error, MemoryError) as error:
        raise ValueError(f"it begins like a database and cannot be read: {error}") from None
    try:
        tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
        found = {row[0] for row in database.execute(tables)}
    except apsw.Error as error:
        database.close()
        raise ValueError(f"it begins like a database and cannot be read: {error}") from None
    if not found >= set(_TABLES):
        database.close()
        raise ValueError("it is a database, but none of OpenCode: it has no tables session, message and part")
    return _read_sessions(database, name)


def _read_sessions(database: Database, name: str) -> Iterator[Record]:
    read = 0
    try:
        for info in map(as_object, _table_rows(database, "session", "true", ())):
            key = as_text(info.get("id"))
            messages: list[Json] = [
                {
                    "info": one,
                    "parts": _table_rows(database, "part", "message_id = ?", (as_text(one.get("id")),)),
                }
                for one in map(as_object, _table_rows(database, "message", "session_id = ?", (key,)))
            ]
            read += 1
            yield from read_export({"info": info, "messages": messages}, name)
    except apsw.Error as error:
        yield FileProblem(line=read, why=f"the database cannot be read behind session {read}: {error}")
    finally:
        database.close()


def _table_rows(database: Database, table: str, where: str, values: tuple[str, ...]) -> list[Json]:
    names = [row[0] for row in database.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    found = database.execute(f"SELECT * FROM {table} WHERE {where}", values)  # noqa: S608 words of our own
    rows = [_row_object(dict(zip(names, row, strict=False))) for row in found]
    # Ids rise with time; a message and a part carry the same order in their ids as in their times.
    return sorted(rows, key=lambda row: (_creation_time(as_object(row)), as_text(as_object(row).get("id"))))


def _creation_time(row: JsonObject) -> int:
    made = as_object(row.get("time")).get("created")
    return made if isinstance(made, int) else 0


def _row_object(row: dict[str, Json]) -> Json:
    data = row.pop("data", None)
    try:
        held = as_object(orjson.loads(data) if isinstance(data, str | bytes) else None)
    except ValueError:
        held = {"type": "damaged"}
    made = {"created": row.pop("time_created", None), "updated": row.pop("time_updated", None)}
    named = {
        _CAMEL_CASE_COLUMNS.get(key, key): value
        for key, value in row.items()
        if isinstance(value, str | int | float)
    }
    return {"time": made, **named, **held}


_CAMEL_CASE_COLUMNS: Final = {
    "project_id": "projectID", "parent_id": "parentID", "session_id": "sessionID", "message_id": "messageID",
}  # fmt: skip


def session_document(
    session: bytes, messages: Iterable[tuple[bytes, Iterable[bytes]]]
) -> bytes:  # fmt: skip
    """Return the document of a session whose parts lie in files."""
    found: list[Json] = [
        {"info": _parse_json(message), "parts": [_parse_json(part) for part in parts]}
        for message, parts in messages
    ]
    return orjson.dumps({"info": _parse_json(session), "messages": found})


def _parse_json(data: bytes) -> Json:
    try:
        return orjson.loads(data)
    except ValueError:
        return {"type": "damaged", "text": data[:2_000].decode("utf-8", "replace")}
