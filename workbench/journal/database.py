"""The SQLite database: connections, schema and migrations, WAL checkpoints, and the word list of the search.

Holds every call of `apsw`; its types are not used elsewhere. The text of a migration never changes once
released, and neither does the output of `with_word_parts`, which the search index was built with.
"""

import contextlib
import itertools
import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, cast

import apsw
from msgspec import Struct

from workbench.effects.file_locks import FileLock, is_lock_held, lock_holder
from workbench.effects.path_files import write_atomic
from workbench.journal.errors import (
    HomeRefused,
    JournalBusy,
    JournalCorrupt,
    JournalNewer,
    MigrationBlocked,
    as_journal_error,
)
from workbench.journal.home import Home, create_file_once
from workbench.journal.token_use_table import OnMigration, create_token_use

CHECKPOINT_PAGES: Final = 1000
"""Pages in the WAL (4 MB) after which a checkpoint is tried."""
_MAGIC: Final = b"SQLite format 3\0"
_LOCK_RETRY_SECONDS: Final = 0.005


class WriteConnections:
    """The two writing connections, and the checkpoints that follow their commits."""

    def __init__(self, home: Home) -> None:
        self._lock = FileLock(home.run / "checkpoint.lock")
        self._pages = 0
        self._due = CHECKPOINT_PAGES
        self.fast = connect(home.database)
        """Its commits survive the death of the process."""
        self.durable = connect(home.database, synchronous="FULL")
        """Its commits, and everything before them, survive a power loss."""
        for database in (self.fast, self.durable):
            watch_wal_size(database, self._count)

    def _count(self, pages: int) -> None:
        self._pages = pages

    def checkpoint_if_due(self) -> None:
        """Copy the WAL into the database if it has grown and no other process does so."""
        if self._pages < CHECKPOINT_PAGES:
            self._due = CHECKPOINT_PAGES
        if self._pages < self._due:
            return
        # Nothing is lost when it fails: the pages stay in the WAL and it is tried again later.
        with contextlib.suppress(apsw.Error, OSError), self._lock:
            if self._lock.try_acquire():
                checkpoint_wal(self.durable)
        self._due = self._pages + CHECKPOINT_PAGES

    def close(self) -> None:
        """Close both connections; the last one of all processes leaves no WAL behind."""
        self.fast.close()
        self.durable.close()


SqlValue = str | int | float | None
SqlRow = tuple[Any, ...]


class Cursor(Protocol):
    """The answer to a statement."""

    @property
    def get(self) -> Any: ...

    def fetchall(self) -> list[SqlRow]: ...

    def fetchone(self) -> SqlRow | None: ...

    def __iter__(self) -> Iterator[SqlRow]: ...


class Database(Protocol):
    """A connection, used by one thread at a time."""

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, statements: str, bindings: Sequence[SqlValue] = ...) -> Cursor: ...

    def executemany(self, statements: str, bindings: Iterable[Sequence[SqlValue]]) -> Cursor: ...

    def changes(self) -> int: ...

    def last_insert_rowid(self) -> int: ...

    def close(self) -> None:
        """Close it; twice is harmless."""
        ...


class Migration(Struct, frozen=True, kw_only=True):
    """One step; `change` is SQL, or a function of the database, run inside a transaction."""

    version: int
    """The schema version after it; it follows `version - 1`."""
    name: str
    change: str | Callable[..., None]
    tells_progress: bool = False
    """Whether its function takes an `OnMigration` too: it may need longer than people like to wait."""

    def run(self, database: Database, on_progress: OnMigration | None = None) -> None:
        if isinstance(self.change, str):
            database.execute(self.change)
        elif self.tells_progress:
            self.change(database, on_progress)
        else:
            self.change(database)
        database.execute(f"PRAGMA user_version = {self.version}")


_FIRST_WAKES_DRIVER: Final = (
    "recorded_at IS NULL AND kind IN ('prompt.submitted', 'continue.requested', 'interrupt.requested',"
    " 'refresh.requested', 'undo.requested', 'action.approved', 'action.rejected', 'action.expired',"
    " 'lease.released')"
)
_EVENTS_AND_ROWS: Final = f"""
CREATE TABLE event (
    position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, session_id TEXT NOT NULL,
    sequence_number INTEGER NOT NULL, at INTEGER NOT NULL, recorded_at INTEGER, actor TEXT NOT NULL,
    turn_id TEXT, call_id TEXT, action_id TEXT, step TEXT, kind TEXT NOT NULL, body TEXT NOT NULL,
    UNIQUE (session_id, sequence_number)
);
CREATE INDEX event_wake ON event (session_id, position) WHERE {_FIRST_WAKES_DRIVER};
CREATE INDEX event_call ON event (call_id, position) WHERE call_id IS NOT NULL;
CREATE INDEX event_tombstone ON event (json_extract(body, '$.deleted_id')) WHERE kind = 'session.deleted';
CREATE TABLE session (
    id TEXT PRIMARY KEY, kind TEXT, status TEXT, created_at INTEGER, updated_at INTEGER, reason TEXT,
    parent_id TEXT, title TEXT, workspace TEXT, provider TEXT, model TEXT, system_prompt TEXT,
    system_prompt_ref TEXT, configuration TEXT, usage TEXT, active_tools TEXT, telemetry_id TEXT,
    origin TEXT, origin_status TEXT, number INTEGER, tags TEXT, archived INTEGER, open_turn TEXT,
    last_prompt_at INTEGER
);
CREATE INDEX session_workspace ON session (workspace, updated_at);
CREATE INDEX session_parent ON session (parent_id) WHERE parent_id IS NOT NULL;
CREATE TABLE call (
    id TEXT PRIMARY KEY, session_id TEXT, turn_id TEXT, ordinal INTEGER, provider_call_id TEXT, tool TEXT,
    state TEXT, requested_at INTEGER, parameters TEXT, parameters_ref TEXT, target TEXT, proposed INTEGER,
    approval_method TEXT, rule TEXT, verdict_by TEXT, action_id TEXT, approved_until INTEGER,
    started_at INTEGER, finished_at INTEGER, detail TEXT, summary TEXT, error TEXT, exit_code INTEGER,
    duration_ms INTEGER, output_bytes INTEGER, replaced_by TEXT
);
CREATE INDEX call_session ON call (session_id, state);
CREATE TABLE action (
    id TEXT PRIMARY KEY, session_id TEXT, kind TEXT, state TEXT, target TEXT, digest TEXT,
    created_at INTEGER, opened_at INTEGER, expires_at INTEGER, call_id TEXT, turn_id TEXT, tool TEXT,
    verb TEXT, added INTEGER, removed INTEGER, warnings TEXT, stale_paths TEXT, supersedes TEXT,
    successor TEXT, extensions INTEGER, decided_at INTEGER, decided_by TEXT, reason TEXT,
    approved_until INTEGER, result_digest TEXT, selection TEXT, edited TEXT, choice TEXT, text TEXT,
    files TEXT, choices TEXT, subject TEXT
);
CREATE INDEX action_state ON action (state, expires_at);
CREATE INDEX action_session ON action (session_id, opened_at);
CREATE TABLE rule (
    id TEXT PRIMARY KEY, effect TEXT, origin TEXT, scope TEXT, tool TEXT, pattern_kind TEXT, pattern TEXT,
    description TEXT, created_at INTEGER, scope_id TEXT, expires_at INTEGER, created_from TEXT,
    external_id TEXT, use_count INTEGER, last_used_at INTEGER, revoked_at INTEGER
);
CREATE TABLE trust (
    workspace TEXT PRIMARY KEY, content_hash TEXT, read_grant INTEGER, decided_at INTEGER,
    decided_by TEXT, revoked_at INTEGER
);
CREATE TABLE lease (
    session_id TEXT PRIMARY KEY, host_id TEXT, epoch INTEGER, pid INTEGER, driver TEXT, taken_at INTEGER,
    released INTEGER
);
CREATE TABLE host (
    id TEXT PRIMARY KEY, pid INTEGER, workspace TEXT, driver TEXT, started_at INTEGER, version TEXT,
    schema INTEGER, variables TEXT, ended_at INTEGER
);
CREATE TABLE blob_ref (ref TEXT, session_id TEXT, PRIMARY KEY (ref, session_id)) WITHOUT ROWID;
CREATE INDEX blob_ref_session ON blob_ref (session_id);
"""
_WAKE_KINDS_OF_RUNS: Final = (
    "prompt.submitted", "continue.requested", "interrupt.requested", "refresh.requested",
    "undo.requested", "action.approved", "action.rejected", "action.expired", "lease.released",
    "run.requested", "run.cancel_requested", "step.retry_requested",
)  # fmt: skip
DRIVER_WAKE_KINDS: Final = (*_WAKE_KINDS_OF_RUNS, "patch.requested")
"""What gives a driver something to do, and the one kind that says all before it was seen to."""
_WAKES_DRIVER_OF_RUNS: Final = (
    f"recorded_at IS NULL AND kind IN ({', '.join(map(repr, _WAKE_KINDS_OF_RUNS))})"
)
WAKES_DRIVER: Final = f"recorded_at IS NULL AND kind IN ({', '.join(map(repr, DRIVER_WAKE_KINDS))})"
_PATCHES: Final = f"""
DROP INDEX event_wake;
CREATE INDEX event_wake ON event (session_id, position) WHERE {WAKES_DRIVER};
"""
_PIPELINES: Final = f"""
DROP INDEX event_wake;
CREATE INDEX event_wake ON event (session_id, position) WHERE {_WAKES_DRIVER_OF_RUNS};
CREATE TABLE pipeline_state (
    pipeline_id TEXT PRIMARY KEY, pipeline_name TEXT, status TEXT, created_at INTEGER, updated_at INTEGER,
    input TEXT, file TEXT, number INTEGER, round INTEGER, started_at INTEGER, finished_at INTEGER,
    moved_at INTEGER, duration_ms INTEGER, error_message TEXT, usage TEXT
);
CREATE INDEX pipeline_state_name ON pipeline_state (pipeline_name, number);
CREATE TABLE step_state (
    key TEXT PRIMARY KEY, pipeline_id TEXT, step_id TEXT, state TEXT, ordinal INTEGER, kind TEXT,
    persona TEXT, matrix TEXT, attempt INTEGER, retry_count INTEGER, is_warned INTEGER, contract TEXT,
    started_at INTEGER, completed_at INTEGER, moved_at INTEGER, duration_ms INTEGER, workspace_path TEXT,
    session_id TEXT, action_id TEXT, exit_code INTEGER, error_message TEXT, usage TEXT,
    UNIQUE (pipeline_id, step_id)
);
"""
_EVENT_WORDS: Final = """CASE kind
    WHEN 'session.created' THEN json_extract(body, '$.title')
    WHEN 'session.changed' THEN concat_ws(' ', json_extract(body, '$.title'), json_extract(body, '$.tags'))
    WHEN 'call.proposed' THEN concat_ws(' ', json_extract(body, '$.target'),
        json_extract(body, '$.parameters.command'), json_extract(body, '$.parameters.path'))
    WHEN 'file.changed' THEN json_extract(body, '$.path')
    WHEN 'action.rejected' THEN json_extract(body, '$.reason')
    ELSE json_extract(body, '$.text') END"""
_SEARCH_INDEX: Final = f"""
CREATE TABLE search_session (number INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL UNIQUE);
CREATE VIEW search_text AS SELECT number * {1 << 24} + sequence_number AS id,
    substr(coalesce({_EVENT_WORDS}, ''), 1, 65536) AS words, event.session_id AS session_id, sequence_number
    FROM event JOIN search_session ON search_session.session_id = event.session_id
    WHERE kind IN ('session.created', 'session.changed', 'prompt.submitted', 'reply.completed',
    'call.proposed', 'file.changed', 'action.rejected');
CREATE VIRTUAL TABLE search USING fts5 (words, content = 'search_text', content_rowid = 'id',
    columnsize = 0, tokenize = "unicode61 remove_diacritics 2");
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
INSERT INTO search_session (session_id)
    SELECT session_id FROM event GROUP BY session_id ORDER BY min(position);
INSERT INTO search (search) VALUES ('rebuild');
"""  # noqa: S608 words of our own
_SEARCH_WORD_PARTS: Final = f"""
DROP TABLE search;
DROP VIEW search_text;
CREATE VIEW search_text AS SELECT number * {1 << 24} + sequence_number AS id,
    with_parts(substr(coalesce({_EVENT_WORDS}, ''), 1, 65536)) AS words, event.session_id AS session_id,
    sequence_number
    FROM event JOIN search_session ON search_session.session_id = event.session_id
    WHERE kind IN ('session.created', 'session.changed', 'prompt.submitted', 'reply.completed',
    'call.proposed', 'file.changed', 'action.rejected');
CREATE VIRTUAL TABLE search USING fts5 (words, content = 'search_text', content_rowid = 'id',
    columnsize = 0, tokenize = "unicode61 remove_diacritics 2");
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
INSERT OR IGNORE INTO search_session (session_id)
    SELECT session_id FROM event GROUP BY session_id ORDER BY min(position);
INSERT INTO search (search) VALUES ('rebuild');
"""  # noqa: S608 words of our own
"""`with_parts` is `with_word_parts`, which every connection knows."""
_COUNTED_EVENTS_INDEX: Final = """
CREATE INDEX event_counted ON event (session_id, kind)
    WHERE kind = 'file.changed' OR kind = 'turn.started' OR kind = 'turn.ended';
"""
"""What lists and statistics count: without it they would read every event, streamed text included."""


_IMPORTED_FILES: Final = """
CREATE TABLE imported_file (
    key TEXT PRIMARY KEY, path TEXT NOT NULL, agent TEXT NOT NULL, format TEXT NOT NULL,
    size INTEGER NOT NULL, modified_ns INTEGER NOT NULL, inode INTEGER NOT NULL, read_by TEXT NOT NULL,
    sessions TEXT NOT NULL
) WITHOUT ROWID;
"""


_PAID_REQUESTS: Final = """
CREATE TABLE paid_request (key TEXT PRIMARY KEY, session_id TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX paid_request_session ON paid_request (session_id);
"""
"""In which imported session a request counts: a history that was copied into another one is paid once."""


def _create_word_list(database: Database) -> None:
    database.execute("CREATE TABLE search_word (word TEXT PRIMARY KEY) WITHOUT ROWID")
    rebuild_word_list(database)


MIGRATIONS: Final = (
    Migration(version=1, name="events and index tables", change=_EVENTS_AND_ROWS),
    Migration(version=2, name="pipeline runs", change=_PIPELINES),
    Migration(version=3, name="full text search", change=_SEARCH_INDEX),
    Migration(version=4, name="search within words of code", change=_SEARCH_WORD_PARTS),
    Migration(version=5, name="events that are counted", change=_COUNTED_EVENTS_INDEX),
    Migration(version=6, name="search within all words", change=_create_word_list),
    Migration(version=7, name="how much was seen", change="ALTER TABLE action ADD COLUMN seen TEXT"),
    Migration(
        version=8,
        name="repeated calls",
        change="ALTER TABLE call ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0",
    ),
    Migration(version=9, name="tokens and cost", change=create_token_use, tells_progress=True),
    Migration(version=10, name="imported files", change=_IMPORTED_FILES),
    Migration(
        version=11,
        name="growing files",
        change="ALTER TABLE imported_file ADD COLUMN point TEXT NOT NULL DEFAULT ''",
    ),
    Migration(version=12, name="requests that were paid", change=_PAID_REQUESTS),
    Migration(
        version=13,
        name="folder and files of a call",
        change="ALTER TABLE call ADD COLUMN cwd TEXT NOT NULL DEFAULT '';"
        "ALTER TABLE call ADD COLUMN paths TEXT NOT NULL DEFAULT '[]'",
    ),
    Migration(version=14, name="requests for patches", change=_PATCHES),
    Migration(
        version=15,
        name="hold of all agents",
        change="CREATE TABLE agent_hold"
        " (id TEXT PRIMARY KEY, held_at INTEGER, held_by TEXT, released_at INTEGER)",
    ),
    Migration(
        version=16,
        name="agents that are gone, and how their calls were compared",
        change="ALTER TABLE session ADD COLUMN is_agent_gone INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE call ADD COLUMN grade TEXT",
    ),
    Migration(
        version=17,
        name="calls that their agents ask about too",
        change="ALTER TABLE call ADD COLUMN asks_itself INTEGER NOT NULL DEFAULT 0",
    ),
    Migration(
        version=18,
        name="where commands run",
        change="ALTER TABLE call ADD COLUMN place TEXT; ALTER TABLE action ADD COLUMN place TEXT;"
        "ALTER TABLE call ADD COLUMN refusals TEXT NOT NULL DEFAULT '[]';"
        "ALTER TABLE action ADD COLUMN level TEXT; ALTER TABLE rule ADD COLUMN place TEXT;"
        "ALTER TABLE trust ADD COLUMN sandbox_grant INTEGER NOT NULL DEFAULT 0",
    ),
)


def prepare_database(
    home: Home, migrations: Sequence[Migration] = MIGRATIONS, on_progress: OnMigration | None = None
) -> None:
    """Check the database, create its tables or bring them to this version; `on_progress` hears of long work.

    Raises JournalCorrupt: it is damaged or no database; JournalNewer: a newer version of the program wrote
    it; MigrationBlocked: it is older, and somebody drives sessions in it.
    """
    _refuse_other_files(home)
    with _translate_open_errors(home), contextlib.closing(connect(home.database)) as database:
        if _is_current(database, home, migrations[-1].version):
            return
        with hold_lock(home.run / "setup.lock"):
            database.execute("PRAGMA journal_mode = wal")
            _migrate(database, home, migrations, on_progress)


def live_drivers(home: Home) -> list[str]:
    """Name the processes that drive sessions now."""
    locks = sorted(path for path in home.run.glob("driver-*.lock") if is_lock_held(path))
    return [f"{path.stem.removeprefix('driver-')} (pid {lock_holder(path) or 'unknown'})" for path in locks]


BUSY_TIMEOUT_SECONDS: Final = 10.0
"""Seconds that a connection waits for another process's transaction."""


@contextlib.contextmanager
def hold_lock(path: Path, patience: float = BUSY_TIMEOUT_SECONDS) -> Generator[None, None, None]:
    """Hold a lock for the block, waiting for whoever holds it.

    Raises JournalBusy: it stayed held for `patience` seconds.
    """
    with FileLock(path) as lock:
        for _ in range(int(patience / _LOCK_RETRY_SECONDS)):
            if lock.try_acquire():
                yield
                return
            time.sleep(_LOCK_RETRY_SECONDS)
        raise JournalBusy(
            "the journal was not opened", f"pid {lock_holder(path)} sets it up", "do it again later"
        )


def _refuse_other_files(home: Home) -> None:
    with home.database.open("rb") as file:
        start = file.read(len(_MAGIC))
    if start and start != _MAGIC:
        raise _corrupt_database(home, "it does not start like a database")


def _corrupt_database(home: Home, why: str) -> JournalCorrupt:
    return JournalCorrupt(
        f"the journal {home.database} was not opened",
        why,
        "restore it from a backup beside it, or move it and its -wal file away",
    )


@contextlib.contextmanager
def _translate_open_errors(home: Home) -> Generator[None, None, None]:
    failure = f"the journal {home.database} was not opened"
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise _corrupt_database(home, str(error)) from None
    except (apsw.ReadOnlyError, apsw.CantOpenError) as error:
        raise HomeRefused(failure, str(error), "check the permissions of the data folder") from None
    except (apsw.Error, OSError) as error:
        translated = as_journal_error(error)
        raise type(translated)(failure, translated.why, translated.remedy) if translated else error from None


def _is_current(database: Database, home: Home, newest: int) -> bool:
    version = database.execute("PRAGMA user_version").get
    if version > newest:
        raise JournalNewer(
            f"the journal {home.database} was not opened",
            f"it has schema {version}, this version of the program knows {newest}",
            "use the newer version that wrote it",
        )
    # A damaged schema shows at its first use.
    tables = database.execute("SELECT count(*) FROM sqlite_schema").get
    return version == newest and tables > 0 and database.execute("PRAGMA journal_mode").get == "wal"


def _migrate(
    database: Database, home: Home, migrations: Sequence[Migration], on_progress: OnMigration | None
) -> None:
    version = database.execute("PRAGMA user_version").get
    if 0 < version < migrations[-1].version:
        _refuse_while_driven(home, migrations[-1].version)
        _write_backup(database, home.path / f"journal.db.schema-{version}.backup")
    database.execute("BEGIN IMMEDIATE")
    try:
        for migration in migrations:
            if migration.version > version:
                migration.run(database, on_progress)
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def _refuse_while_driven(home: Home, version: int) -> None:
    """Refuse to migrate under processes that drive sessions; ask them to end when they can."""
    if drivers := live_drivers(home):
        write_atomic(_wanted_schema_file(home), f"{version}\n".encode())
        raise MigrationBlocked(
            f"the journal {home.database} was not migrated",
            f"sessions are run by {', '.join(drivers)}; they were asked to finish their calls and to end",
            "do it again in a while, or stop the background processes with workbench host stop --all",
        )


def _wanted_schema_file(home: Home) -> Path:
    return home.run / "wanted-schema"


def is_newer_schema_wanted(home: Home, since: float) -> bool:
    """Return whether a newer version of the program waits to migrate the journal.

    `since`: when this process began, in seconds since the epoch; what was asked of earlier ones is over.
    """
    path = _wanted_schema_file(home)
    try:
        return path.stat().st_mtime >= since and int(path.read_text()) > SCHEMA_VERSION
    except (OSError, ValueError):
        return False


def copy_database(database: Database, target: Path) -> None:
    with contextlib.closing(apsw.Connection(str(target))) as copy:
        source = cast("apsw.Connection", database)
        with copy.backup("main", source, "main") as backup:
            backup.step()


def _write_backup(database: Database, target: Path) -> None:
    target.unlink(missing_ok=True)
    create_file_once(target, lambda: b"")
    copy_database(database, target)


_MOST_FOREIGN_STEPS: Final = 2_000_000
"""Thousands of SQLite's steps in all: minutes. What a stranger's schema computes might never end."""
_FIRST_PAUSE: Final = 0.001
_LONGEST_PAUSE: Final = 0.005


def connect(path: Path, *, synchronous: str = "NORMAL", query_only: bool = False) -> Database:
    """Open a connection to a database file, which exists.

    `synchronous`: `NORMAL`, or `FULL` for one whose commits survive a power loss. `query_only`: whether it
    must never write.
    """
    connection: Any = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_handler(_busy_handler)
    # Innocuous, or the view of what is searched could not use it: no schema is trusted here.
    connection.create_scalar_function(
        "with_parts", with_word_parts, 1, deterministic=True, flags=apsw.SQLITE_INNOCUOUS
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


def open_in_memory(data: bytes) -> Database:
    """Open a copy of a stranger's database in memory, to be read and given up.

    Raises apsw.Error: it is no database. Reading raises it too: for damage, and after `_MOST_FOREIGN_STEPS`.
    """
    connection: Any = apsw.Connection(":memory:")
    # A database in WAL mode cannot be opened in memory; these two bytes say which mode it is in.
    connection.deserialize("main", data[:18] + b"\1\1" + data[20:])
    database: Database = connection
    database.execute("PRAGMA trusted_schema = off; PRAGMA cell_size_check = on; PRAGMA query_only = on")
    steps = itertools.count()
    connection.set_progress_handler(lambda: next(steps) > _MOST_FOREIGN_STEPS, 1000)
    return database


def watch_wal_size(database: Database, note: Callable[[int], None]) -> None:
    """Tell `note` the number of pages in the WAL after every commit of a connection."""

    def hook(_connection: apsw.Connection, _name: str, pages: int) -> int:
        note(pages)
        return apsw.SQLITE_OK

    cast("apsw.Connection", database).set_wal_hook(hook)


def checkpoint_wal(database: Database) -> None:
    """Copy as much of the WAL into the database as no reader still needs."""
    cast("apsw.Connection", database).wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)


def truncate_wal(database: Database) -> bool:
    """Copy the whole WAL into the database and empty its file; False while a reader still needs it."""
    try:
        cast("apsw.Connection", database).wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False
    return True


def vacuum_database(database: Database) -> None:
    """Write the whole database anew, so that no page holds a remnant of what was deleted."""
    # The copy would otherwise be made in memory, all of it.
    database.execute("PRAGMA temp_store = file; VACUUM")


def _busy_handler(attempt: int) -> bool:
    # SQLite's own handler backs off to 100 ms, longer than any transaction here may take.
    time.sleep(min(_LONGEST_PAUSE, _FIRST_PAUSE * (attempt + 1)))
    return attempt * _LONGEST_PAUSE < BUSY_TIMEOUT_SECONDS


SCHEMA_VERSION: Final = MIGRATIONS[-1].version
MOST_MATCHING_WORDS: Final = 64
"""Words that one question stands for, the shortest first."""
MOST_CACHED_WORDS: Final = 50_000
"""Words that are remembered to be there, so that they are not stored again."""
_SEARCH_WORD: Final = re.compile(r"[^\W_]{4,}")
_LONGEST_SEARCH_WORD: Final = 64
_MOST_WORD_DIGITS: Final = 3
"""With more, it is a number, a digest or an id: found by its beginning only."""


def add_search_words(database: Database, text: str, cached_words: set[str]) -> None:
    """Add the words of a text that was just indexed.

    `cached_words`: words that are there; those of the text are added.
    """
    fresh = set(_SEARCH_WORD.findall(text.lower())) - cached_words
    if not fresh:
        return
    added = sorted(word for word in fresh if _is_search_word(word))
    for word in added:
        database.execute("INSERT OR IGNORE INTO search_word (word) VALUES (?)", (word,))
    if len(cached_words) > MOST_CACHED_WORDS:
        cached_words.clear()
    cached_words.update(added)


def remove_search_words(database: Database, texts: Iterable[str]) -> None:
    """Remove the words of texts that the index has just forgotten, but those that another text holds."""
    for word in sorted(search_words(texts)):
        if not _is_indexed(database, word):
            database.execute("DELETE FROM search_word WHERE word = ?", (word,))


def search_words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in _SEARCH_WORD.findall(text.lower()) if _is_search_word(word)}


def words_containing(database: Database, letters: str, *, is_end: bool = False) -> Sequence[str]:
    """Return words that hold some letters behind their first, the shortest first.

    `letters`: letters and digits only. `is_end`: only words that end with them.
    """
    where = "substr(word, -length(?1)) = ?1" if is_end else "instr(word, ?1) > 1"
    rows = database.execute(
        f"SELECT word FROM search_word WHERE {where} ORDER BY length(word), word LIMIT ?2",  # noqa: S608 ours
        (letters.lower(), MOST_MATCHING_WORDS),
    )
    return [row[0] for row in rows]


def rebuild_word_list(database: Database) -> None:
    database.execute("DELETE FROM search_word")
    cached_words: set[str] = set()
    for (text,) in database.execute("SELECT words FROM search_text").fetchall():
        add_search_words(database, text, cached_words)


def word_list_differences(database: Database) -> list[str]:
    """Compare the list with what is indexed; an empty list is the proof that they agree."""
    event_words = search_words(row[0] for row in database.execute("SELECT words FROM search_text"))
    listed_words = {row[0] for row in database.execute("SELECT word FROM search_word")}
    wrong: list[str] = []
    if listed_words - event_words:
        wrong.append(f"{len(listed_words - event_words)} words of the search are in no event")
    # A mark within a word, which the index passes over, makes words here that it does not know.
    if missing := sum(_is_indexed(database, word) for word in event_words - listed_words):
        wrong.append(f"{missing} words of events are not among those of the search")
    return wrong


def _is_search_word(word: str) -> bool:
    return len(word) <= _LONGEST_SEARCH_WORD and (
        word.isalpha() or sum(map(str.isdigit, word)) <= _MOST_WORD_DIGITS
    )


def _is_indexed(database: Database, word: str) -> bool:
    rows = database.execute("SELECT 1 FROM search WHERE search MATCH ? LIMIT 1", (f'"{word}"',))
    return rows.fetchone() is not None


_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9]{3,80}")
_IDENTIFIER_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_MOST_PARTS: Final = 12


def with_word_parts(text: str) -> str:
    """Return a text followed by the ends of its compound words, each from where a part begins.

    Ends and not parts, so that the beginning of any run of parts is the beginning of a word of the index.
    """
    ends: dict[str, None] = {}
    for word in dict.fromkeys(_IDENTIFIER.findall(text)):
        if not word[1:].islower() and not word.isupper() and not word.isdigit():
            ends.update(dict.fromkeys(_word_ends(word)))
    return f"{text} {' '.join(ends)}" if ends else text


def _word_ends(word: str) -> list[str]:
    starts = [part.start() for part in _IDENTIFIER_PART.finditer(word)][1:_MOST_PARTS]
    return [word[start:] for start in starts if len(word) - start > 1]
