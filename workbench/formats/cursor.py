"""Reader of Cursor's agent: transcripts as JSON lines, and the database that its program keeps of a chat."""

# A transcript holds neither times nor results; of a call in it nothing is known but that it was asked for.
# The database holds results too: messages are blobs, named by their digests, in the order of a root that
# lists them.

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Final

import orjson

from workbench.domain.values import Json, JsonObject
from workbench.formats import records as r
from workbench.formats.chat_messages import (
    call_result,
    calls_of_blocks,
    object_lines,
    result_blocks,
    said_text,
    thought_text,
)
from workbench.formats.input import JsonLine
from workbench.journal.database import Database

_QUERY: Final = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_CONTEXT: Final = ("<user_info>", "<system_reminder>", "<project_layout>", "<rules>", "<attached_files>")
"""How a user's message begins that no human typed."""
_DIGEST_BYTES: Final = 32
_MOST_BLOBS: Final = 100_000
_SUBAGENTS: Final = "subagents"


def is_transcript(sample: list[JsonObject]) -> bool:
    return any(
        line.get("role") in ("user", "assistant")
        and "content" in r.object_of(line, "message")
        and "role" not in r.object_of(line, "message")
        and not {"uuid", "sessionId", "timestamp"} & line.keys()
        for line in sample
    )


def read_transcript(lines: Iterable[JsonLine | r.FileProblem], name: str) -> Iterator[r.Record]:
    """Yield a session; its id and its parent are the names of its file and folders."""
    path = PurePath(name)
    parent = path.parent.parent.name if path.parent.name == _SUBAGENTS else ""
    yield r.SessionHead(key=path.stem or name, provider="cursor", parent=parent)
    for line in object_lines(lines):
        if isinstance(line, r.FileProblem):
            yield line
            continue
        row, number = line
        if row.get("type") == "turn_ended":
            status = r.text_of(row, "status")
            yield r.UnmappedRecord(kind="turn_ended", content=row, line=number)
            if status not in ("success", "completed", ""):
                yield r.TurnStop(detail=status)
            continue
        content = r.object_of(row, "message").get("content")
        if not r.text_of(row, "role"):
            yield r.UnmappedRecord(
                kind=r.text_of(row, "type") or "record", content=row, line=number, is_understood=False
            )
            continue
        yield from _message(r.text_of(row, "role"), content, number)


def _message(role: str, content: Json, number: int, at: int | None = None) -> Iterator[r.Record]:
    for block in result_blocks(content):
        yield _result(block, number, at)
    said = said_text(content)
    if role == "assistant":
        calls = calls_of_blocks(content, f"{number}.")
        yield r.Reply(text=said, thinking=thought_text(content), calls=calls, at=at, line=number)
    elif role == "user":
        query = _QUERY.search(said)
        if query is None and said.lstrip().startswith(_CONTEXT):
            yield r.UnmappedRecord(kind="context.user", content=said, at=at, line=number)
        elif said or not result_blocks(content):
            yield r.Prompt(text=query[1] if query else said, at=at, line=number)
    elif role != "tool" or not result_blocks(content):
        yield r.UnmappedRecord(
            kind=f"message.{role}", content=content, at=at, line=number, is_understood=role == "system"
        )


def _result(block: JsonObject, number: int, at: int | None) -> r.CallResult:
    value = block.get("result", block.get("content"))
    said = r.content_text(value) or r.content_text(block.get("experimental_content"))
    if not said and isinstance(value, dict):
        said = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    is_refused = "rejected by the user" in said[:400].casefold() or "user rejected" in said[:400].casefold()
    is_bad = block.get("isError") is True or block.get("is_error") is True
    state: r.ResultState = "rejected" if is_refused else "failed" if is_bad else "succeeded"
    return call_result(r.first_text(block, "toolCallId", "tool_use_id"), said, state, at=at, line=number)


def read_database(database: Database, name: str) -> Iterator[r.Record]:
    """Yield the chat of a database; raises apsw.Error where it is damaged."""
    meta = _meta(database)
    at = r.time_of(meta, "createdAt")
    facts = {key: meta[key] for key in ("mode",) if r.as_text(meta.get(key))}
    yield r.SessionHead(
        key=r.text_of(meta, "agentId") or PurePath(name).parent.name or name, title=r.text_of(meta, "name"),
        model=r.text_of(meta, "lastUsedModel"), provider="cursor", at=at, facts=facts,
    )  # fmt: skip
    for number, (key, data) in enumerate(_blobs(database, r.text_of(meta, "latestRootBlobId")), 1):
        message = _json_object(data)
        if message is None:
            why = f"the blob {key[:12]} is none of the messages that are known; it was left out"
            yield r.FileProblem(line=number, why=why)
        else:
            yield from _message(r.text_of(message, "role"), message.get("content"), number)


def _meta(database: Database) -> JsonObject:
    for (value,) in database.execute("SELECT value FROM meta"):
        written = value.encode() if isinstance(value, str) else value
        try:
            data = bytes.fromhex(written.decode("ascii")) if isinstance(written, bytes) else b""
        except (ValueError, UnicodeDecodeError):
            data = written
        if meta := _json_object(data):
            return meta
    return {}


def _blobs(database: Database, root: str) -> Iterator[tuple[str, bytes]]:
    """Yield the blobs that the root lists, in its order; without a root all that are JSON, in theirs."""
    found = list(database.execute("SELECT data FROM blobs WHERE id = ?", (root,)))
    listed = _digests(found[0][0]) if found and isinstance(found[0][0], bytes) else []
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


def _json_object(data: bytes) -> JsonObject | None:
    try:
        return r.as_object(orjson.loads(data)) or None
    except ValueError:
        return None
