"""What was read of which file of others, so that an unchanged one is not opened again.

A memory and no record: without it every file is read once more, which changes nothing. It holds digests of
paths under the home's key; the path beside one is scrubbed and only to be shown.
"""

import json
import os
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import astuple

from workbench.journal.database import SqlRow
from workbench.journal.journal import Journal
from workbench.journal.storage import placeholders
from workbench.journal.transaction import TransactionTables


class ImportedFile(Struct, frozen=True, kw_only=True):
    """A file as it was when it was read last."""

    key: str
    """Digest of its path, see `file_key`."""
    path: str
    """Scrubbed; only to be shown."""
    agent: str
    """In whose folder it was found; empty where its path was named."""
    format: str
    """Empty where no session was found in it."""
    size: int
    modified_ns: int
    inode: int
    read_by: str
    """Which reader read it: one of another version reads it again."""
    sessions: tuple[str, ...] = ()
    point: str = ""
    """Where to go on when it has grown, as its reader wrote it; empty: all of it is read again."""


_COLUMNS: Final = "key, path, agent, format, size, modified_ns, inode, read_by, sessions, point"
_SELECT: Final = f"SELECT {_COLUMNS} FROM imported_file"  # noqa: S608 ours
_STORE: Final = f"INSERT OR REPLACE INTO imported_file ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 ours


def file_key(journal: Journal, path: str) -> str:
    """Return the key of a full path: a digest that says nothing without the home's key."""
    return journal.blobs.keyed(path.encode("utf-8", "surrogateescape"))[:32]


def imported_files(journal: Journal, keys: Sequence[str] | None = None) -> dict[str, ImportedFile]:
    """Return what is known of some files, or of all, by key."""
    where = "" if keys is None else f" WHERE key IN ({placeholders(keys)})"
    with journal.snapshot() as database:
        rows = database.execute(f"{_SELECT}{where}", keys or ()).fetchall()
    return {row[0]: _file_of_row(row) for row in rows}


def _file_of_row(row: SqlRow) -> ImportedFile:
    return ImportedFile(
        key=row[0], path=row[1], agent=row[2], format=row[3], size=row[4], modified_ns=row[5],
        inode=row[6], read_by=row[7], sessions=tuple(json.loads(row[8])), point=row[9],
    )  # fmt: skip


def files_of_session(journal: Journal, session_id: str) -> list[ImportedFile]:
    """Return the files that a session was read from."""
    where = " WHERE instr(sessions, ?) > 0"
    with journal.snapshot() as database:
        rows = database.execute(f"{_SELECT}{where}", (json.dumps(session_id),)).fetchall()
    return [_file_of_row(row) for row in rows]


def store_imported_files(journal: Journal, files: Iterable[ImportedFile]) -> None:
    """Remember files as they were read; what was known of them before is replaced."""
    rows = [(*astuple(file)[:-2], json.dumps(file.sessions), file.point) for file in files]

    def work(live: TransactionTables) -> None:
        for row in rows:
            live.database.execute(_STORE, row)

    if rows:
        journal.change_later(work, 200 * len(rows)).result()


def forget_missing_files(journal: Journal) -> int:
    """Forget files that no longer exist; their sessions stay. Returns how many."""
    missing_keys = [key for key, file in imported_files(journal).items() if not os.path.lexists(file.path)]

    def work(live: TransactionTables) -> None:
        for key in missing_keys:
            live.database.execute("DELETE FROM imported_file WHERE key = ?", (key,))

    if missing_keys:
        journal.change(work)
    return len(missing_keys)
