"""OpenCode's own storage: a folder of small JSON files in older versions, a SQLite database in newer ones.

Pure: over bytes that were read. Owns how both come to the document that `opencode export` writes. A database
is read from a copy in memory: nothing beside it is made or changed, and nothing in its schema is trusted.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import apsw
import orjson

from workbench.domain.values import Json, JsonObject
from workbench.formats import opencode
from workbench.formats.fields import obj, text
from workbench.formats.foreign import Item, Problem
from workbench.journal.sql import Database, in_memory

MAGIC: Final = b"SQLite format 3\0"
_LOG_MAGIC: Final = (0x377F0682, 0x377F0683)
_LOG_HEAD: Final = 32
_FRAME_HEAD: Final = 24
_TABLES: Final = ("session", "message", "part")


def merged(database: bytes, log: bytes) -> bytes:
    """Return a database with what is committed in its write-ahead log (sqlite.org/fileformat2, section 4)."""
    if len(log) < _LOG_HEAD or int.from_bytes(log[:4]) not in _LOG_MAGIC:
        return database
    size, salt = int.from_bytes(log[8:12]), log[16:24]
    if not 512 <= size <= 65_536:
        return database
    pages = bytearray(database)
    waiting: list[tuple[int, int]] = []
    for at in range(_LOG_HEAD, len(log) - size - _FRAME_HEAD + 1, size + _FRAME_HEAD):
        if log[at + 8 : at + 16] != salt:
            break
        waiting.append((int.from_bytes(log[at : at + 4]), at + _FRAME_HEAD))
        if count := int.from_bytes(log[at + 4 : at + 8]):
            _commit(pages, log, waiting, size, count)
            waiting = []
    return bytes(pages)


def _commit(pages: bytearray, log: bytes, frames: list[tuple[int, int]], size: int, count: int) -> None:
    if not 0 < count * size <= len(pages) + len(log):
        return
    pages.extend(bytes(max(0, count * size - len(pages))))
    for page, at in frames:
        if 0 < page <= count:
            pages[(page - 1) * size : page * size] = log[at : at + size]
    del pages[count * size :]


def read_database(data: bytes, name: str) -> Iterator[Item]:
    """Yield the sessions of a database.

    Raises:
        ValueError: It is damaged, or none of OpenCode.
    """
    try:
        database = in_memory(data)
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
    return _sessions(database, name)


def _sessions(database: Database, name: str) -> Iterator[Item]:
    read = 0
    try:
        for info in map(obj, _rows(database, "session", "true", ())):
            key = text(info.get("id"))
            messages: list[Json] = [
                {"info": one, "parts": _rows(database, "part", "message_id = ?", (text(one.get("id")),))}
                for one in map(obj, _rows(database, "message", "session_id = ?", (key,)))
            ]
            read += 1
            yield from opencode.read({"info": info, "messages": messages}, name)
    except apsw.Error as error:
        yield Problem(line=read, why=f"the database cannot be read behind session {read}: {error}")
    finally:
        database.close()


def _rows(database: Database, table: str, where: str, values: tuple[str, ...]) -> list[Json]:
    """Return rows as the objects that an export holds: the columns, and what `data` holds in JSON."""
    names = [row[0] for row in database.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    found = database.execute(f"SELECT * FROM {table} WHERE {where}", values)  # noqa: S608 words of our own
    rows = [_row(dict(zip(names, row, strict=False))) for row in found]
    # Ids rise with time; a message and a part carry the same order in their ids as in their times.
    return sorted(rows, key=lambda row: (_made(obj(row)), text(obj(row).get("id"))))


def _made(row: JsonObject) -> int:
    made = obj(row.get("time")).get("created")
    return made if isinstance(made, int) else 0


def _row(row: dict[str, Json]) -> Json:
    data = row.pop("data", None)
    try:
        held = obj(orjson.loads(data) if isinstance(data, str | bytes) else None)
    except ValueError:
        held = {"type": "damaged"}
    made = {"created": row.pop("time_created", None), "updated": row.pop("time_updated", None)}
    named = {
        _CAMEL.get(key, key): value for key, value in row.items() if isinstance(value, str | int | float)
    }
    return {"time": made, **named, **held}


_CAMEL: Final = {
    "project_id": "projectID", "parent_id": "parentID", "session_id": "sessionID", "message_id": "messageID",
}  # fmt: skip


def assembled(
    session: bytes, messages: Iterable[tuple[bytes, Iterable[bytes]]]
) -> bytes:  # fmt: skip
    """Return the document of a session whose parts lie in files.

    Args:
        session: The file of the session.
        messages: The file of each message in order, with the files of its parts in order.
    """
    found: list[Json] = [
        {"info": _parsed(message), "parts": [_parsed(part) for part in parts]} for message, parts in messages
    ]
    return orjson.dumps({"info": _parsed(session), "messages": found})


def _parsed(data: bytes) -> Json:
    try:
        return orjson.loads(data)
    except ValueError:
        return {"type": "damaged", "text": data[:2_000].decode("utf-8", "replace")}
