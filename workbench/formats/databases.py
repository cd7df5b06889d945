"""Databases of other programs: which program wrote one is told by its tables, and each is read from a copy.

A stranger's database is never opened where it lies: a copy in memory is read, and nothing is written.
"""

from collections.abc import Callable, Iterator
from typing import Final

import apsw
from msgspec import Struct

from workbench.formats import cursor, opencode, stored_chats
from workbench.formats import records as r
from workbench.journal.database import Database, open_in_memory

_DAMAGE: Final = (apsw.Error, UnicodeDecodeError)
"""What reading a damaged database raises; the second for a text that is none."""


class DatabaseFormat(Struct, frozen=True):
    """A program's database: what it is called, the columns that tell it, and its reader."""

    name: str
    program: str
    columns: tuple[str, ...]
    """`table.column`; all of them are there."""
    read: Callable[[Database, str], Iterator[r.Record]]
    """Raises apsw.Error where the database is damaged."""


DATABASE_FORMATS: Final = (
    DatabaseFormat(
        "opencode", "OpenCode", ("session.id", "message.data", "part.data"), opencode.read_sessions
    ),
    DatabaseFormat(
        "goose", "Goose", ("sessions.working_dir", "messages.content_json"), stored_chats.read_goose
    ),
    DatabaseFormat(
        "crush", "Crush", ("sessions.parent_session_id", "messages.parts"), stored_chats.read_crush
    ),
    DatabaseFormat("cursor", "Cursor", ("meta.value", "blobs.data"), cursor.read_database),
    DatabaseFormat("cursor", "Cursor", ("cursorDiskKV.key", "cursorDiskKV.value"), cursor.read_state),
)


def open_database(data: bytes, name: str, wanted_format: str | None) -> tuple[str, Iterator[r.Record]]:
    """Return the format of a database and its records. Raises ValueError if it is damaged or unknown."""
    try:
        database = open_in_memory(data)
    except (apsw.Error, MemoryError) as error:
        raise ValueError(f"it starts like a database and cannot be read: {error}") from None
    try:
        columns = set(_columns(database))
    except _DAMAGE as error:
        database.close()
        raise ValueError(f"it starts like a database and cannot be read: {error}") from None
    for database_format in DATABASE_FORMATS:
        if wanted_format in (None, database_format.name) and columns >= set(database_format.columns):
            return database_format.name, _read(database, database_format, name)
    database.close()
    raise ValueError(
        f"it is a database, but none of {' or '.join(_programs(wanted_format))}: its tables are others"
    )


def _programs(wanted_format: str | None) -> list[str]:
    programs = [
        database_format.program
        for database_format in DATABASE_FORMATS
        if wanted_format in (None, database_format.name)
    ]
    return programs or [wanted_format or ""]


def _columns(database: Database) -> Iterator[str]:
    # Views are left out: what one of a stranger's computes has no bound.
    tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
    for (table,) in list(database.execute(tables)):
        for (column,) in database.execute("SELECT name FROM pragma_table_info(?)", (table,)):
            yield f"{table}.{column}"


def _read(database: Database, database_format: DatabaseFormat, name: str) -> Iterator[r.Record]:
    try:
        yield from database_format.read(database, name)
    except _DAMAGE as error:
        yield r.file_problem(0, f"the database cannot be read behind what was read: {error}")
    finally:
        database.close()
