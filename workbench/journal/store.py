"""The database file: its writing connections, its versions, its backups and its checkpoints.

The two writing connections belong to the writer's thread; nobody else writes. Nothing here knows events.
"""

import contextlib
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Final

import apsw

from workbench.effects.locks import FileLock, holder, is_held
from workbench.journal import sql
from workbench.journal.errors import (
    HomeRefused,
    JournalBusy,
    JournalCorrupt,
    JournalNewer,
    MigrationBlocked,
    translate,
)
from workbench.journal.home import Home, create_once
from workbench.journal.schema import MIGRATIONS, Migration

CHECKPOINT_PAGES: Final = 1000
"""Pages in the WAL (4 MB) after which a checkpoint is tried."""

_MAGIC: Final = b"SQLite format 3\0"
_PAUSE: Final = 0.005


class Store:
    """The two writing connections, and the checkpoints that follow their commits."""

    def __init__(self, home: Home) -> None:
        self._lock = FileLock(home.run / "checkpoint.lock")
        self._pages = 0
        self._due = CHECKPOINT_PAGES
        self.fast = sql.connect(home.database)
        """Its commits survive the death of the process."""
        self.durable = sql.connect(home.database, synchronous="FULL")
        """Its commits, and everything before them, survive a power loss."""
        for database in (self.fast, self.durable):
            sql.on_commit(database, self._count)

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
                sql.checkpoint(self.durable)
        self._due = self._pages + CHECKPOINT_PAGES

    def close(self) -> None:
        """Close both connections; the last one of all processes leaves no WAL behind."""
        self.fast.close()
        self.durable.close()


def prepare(home: Home, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Check the database, create its tables or bring them to this version.

    Raises:
        JournalCorrupt: It is damaged or no database.
        JournalNewer: A newer version of the program wrote it.
        MigrationBlocked: It is older, and somebody drives sessions in it.
    """
    _refuse_foreign(home)
    with _opening(home), contextlib.closing(sql.connect(home.database)) as database:
        if _is_ready(database, home, migrations[-1].version):
            return
        with held(home.run / "setup.lock"):
            database.execute("PRAGMA journal_mode = wal")
            _migrate(database, home, migrations)


def live_drivers(home: Home) -> list[str]:
    """Name the processes that drive sessions now."""
    locks = sorted(path for path in home.run.glob("driver-*.lock") if is_held(path))
    return [f"{path.stem.removeprefix('driver-')} (pid {holder(path) or 'unknown'})" for path in locks]


@contextlib.contextmanager
def held(path: Path, patience: float = sql.PATIENCE) -> Generator[None, None, None]:
    """Hold a lock for the block, waiting for whoever holds it.

    Raises:
        JournalBusy: It stayed held for `patience` seconds.
    """
    with FileLock(path) as lock:
        for _ in range(int(patience / _PAUSE)):
            if lock.try_acquire():
                yield
                return
            time.sleep(_PAUSE)
        raise JournalBusy("the journal was not opened", f"pid {holder(path)} sets it up", "do it again later")


def _refuse_foreign(home: Home) -> None:
    with home.database.open("rb") as file:
        start = file.read(len(_MAGIC))
    if start and start != _MAGIC:
        raise _corrupt(home, "it does not begin like a database")


def _corrupt(home: Home, why: str) -> JournalCorrupt:
    return JournalCorrupt(
        f"the journal {home.database} was not opened",
        why,
        "restore it from a backup beside it, or move it and its -wal file away",
    )


@contextlib.contextmanager
def _opening(home: Home) -> Generator[None, None, None]:
    what = f"the journal {home.database} was not opened"
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise _corrupt(home, str(error)) from None
    except (apsw.ReadOnlyError, apsw.CantOpenError) as error:
        raise HomeRefused(what, str(error), "check the permissions of the data folder") from None
    except (apsw.Error, OSError) as error:
        found = translate(error)
        raise type(found)(what, found.why, found.remedy) if found else error from None


def _is_ready(database: sql.Database, home: Home, newest: int) -> bool:
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


def _migrate(database: sql.Database, home: Home, migrations: Sequence[Migration]) -> None:
    version = database.execute("PRAGMA user_version").get
    if 0 < version < migrations[-1].version:
        _refuse_while_driven(home)
        _back_up(database, home.path / f"journal.db.schema-{version}.backup")
    database.execute("BEGIN IMMEDIATE")
    try:
        for migration in migrations:
            if migration.version > version:
                migration.run(database)
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def _refuse_while_driven(home: Home) -> None:
    if drivers := live_drivers(home):
        raise MigrationBlocked(
            f"the journal {home.database} was not migrated",
            f"sessions are driven by {', '.join(drivers)}",
            "end the hosts with workbench host stop --all, or wait until they end",
        )


def _back_up(database: sql.Database, target: Path) -> None:
    target.unlink(missing_ok=True)
    create_once(target, lambda: b"")
    sql.back_up(database, target)
