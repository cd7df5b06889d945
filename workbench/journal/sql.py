"""SQLite as the journal uses it: one typed view of an `apsw` connection, and how it is opened.

Owns every call of `apsw` but its errors (`errors.translate`). The stubs of `apsw` are half typed on
Python 3.11, so nothing else may see its types.
"""

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, cast

import apsw

from workbench.text.compounds import with_parts

Value = str | int | float | None
Values = tuple[Any, ...]

PATIENCE: Final = 10.0
"""Seconds that a connection waits for another process's transaction."""

_MOST_STEPS: Final = 2_000_000
"""Thousands of SQLite's steps in all: minutes. What a stranger's schema computes might never end."""

_FIRST_PAUSE: Final = 0.001
_LONGEST_PAUSE: Final = 0.005


class Cursor(Protocol):
    """The answer to a statement."""

    @property
    def get(self) -> Any:
        """Return the only value, the only row as a tuple, or None if there is none."""
        ...

    def fetchall(self) -> list[Values]:
        """Return all rows."""
        ...

    def fetchone(self) -> Values | None:
        """Return the next row."""
        ...

    def __iter__(self) -> Iterator[Values]:
        """Yield the rows."""
        ...


class Database(Protocol):
    """A connection, used by one thread at a time."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        ...

    def execute(self, statements: str, bindings: Sequence[Value] = ...) -> Cursor:
        """Run statements; the answer is that of the last one."""
        ...

    def changes(self) -> int:
        """Return how many rows the last statement wrote."""
        ...

    def last_insert_rowid(self) -> int:
        """Return the number of the row that was inserted last."""
        ...

    def close(self) -> None:
        """Close it; twice is harmless."""
        ...


def connect(path: Path, *, synchronous: str = "NORMAL", query_only: bool = False) -> Database:
    """Open a connection to a database file, which exists.

    Args:
        path: The file.
        synchronous: `NORMAL`, or `FULL` for one whose commits survive a power loss.
        query_only: Whether it must never write.
    """
    connection: Any = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_handler(_wait_turn)
    # Innocuous, or the view of what is searched could not use it: no schema is trusted here.
    connection.create_scalar_function(
        "with_parts", with_parts, 1, deterministic=True, flags=apsw.SQLITE_INNOCUOUS
    )
    database = cast("Database", connection)
    database.execute(f"PRAGMA synchronous = {synchronous}; PRAGMA wal_autocheckpoint = 0")
    database.execute("PRAGMA temp_store = memory; PRAGMA cache_size = -8000; PRAGMA trusted_schema = off")
    if not query_only:
        # What was deleted is overwritten with zeros: a deleted session must not be found in a file.
        database.execute("PRAGMA secure_delete = on")
    if synchronous == "FULL":
        # Only macOS knows the difference; there fsync alone does not reach the disk.
        database.execute("PRAGMA fullfsync = on; PRAGMA checkpoint_fullfsync = on")
    if query_only:
        database.execute("PRAGMA query_only = on")
    return database


def in_memory(data: bytes) -> Database:
    """Open a copy of a stranger's database in memory, to be read and given up.

    Raises:
        apsw.Error: It is no database. Reading raises it too: for damage, and after `_MOST_STEPS`.
    """
    connection: Any = apsw.Connection(":memory:")
    # A database in WAL mode cannot be opened in memory; these two bytes say which mode it is in.
    connection.deserialize("main", data[:18] + b"\1\1" + data[20:])
    database: Database = connection
    database.execute("PRAGMA trusted_schema = off; PRAGMA cell_size_check = on; PRAGMA query_only = on")
    steps = itertools.count()
    connection.set_progress_handler(lambda: next(steps) > _MOST_STEPS, 1000)
    return database


def on_commit(database: Database, note: Callable[[int], None]) -> None:
    """Tell `note` the number of pages in the WAL after every commit of a connection."""

    def hook(_connection: apsw.Connection, _name: str, pages: int) -> int:
        note(pages)
        return apsw.SQLITE_OK

    cast("apsw.Connection", database).set_wal_hook(hook)


def checkpoint(database: Database) -> None:
    """Copy as much of the WAL into the database as no reader still needs."""
    cast("apsw.Connection", database).wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)


def truncate(database: Database) -> bool:
    """Copy the whole WAL into the database and empty its file; False while a reader still needs it."""
    try:
        cast("apsw.Connection", database).wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False
    return True


def vacuum(database: Database) -> None:
    """Write the whole database anew, so that no page holds a remnant of what was deleted."""
    # The copy would otherwise be made in memory, all of it.
    database.execute("PRAGMA temp_store = file; VACUUM")


def back_up(database: Database, target: Path) -> None:
    """Copy the whole database into an empty file."""
    with contextlib.closing(apsw.Connection(str(target))) as copy:
        source = cast("apsw.Connection", database)
        with copy.backup("main", source, "main") as backup:
            backup.step()


def _wait_turn(attempt: int) -> bool:
    # SQLite's own handler backs off to 100 ms, longer than any transaction here may take.
    time.sleep(min(_LONGEST_PAUSE, _FIRST_PAUSE * (attempt + 1)))
    return attempt * _LONGEST_PAUSE < PATIENCE
