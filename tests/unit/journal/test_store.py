"""The database file: tables, versions, backups, damage, checkpoints."""

import contextlib
import multiprocessing
from pathlib import Path

import apsw
import pytest

from tests.unit.journal.scenes import USER, open_journal, start, streamed
from workbench.domain.events import SessionCreated
from workbench.effects.file_locks import FileLock
from workbench.journal import database as journal_database
from workbench.journal import storage
from workbench.journal.database import (
    CHECKPOINT_PAGES,
    MIGRATIONS,
    SCHEMA_VERSION,
    Migration,
    is_newer_schema_wanted,
    prepare_database,
)
from workbench.journal.errors import JournalCorrupt, JournalNewer, MigrationBlocked
from workbench.journal.home import Home
from workbench.journal.journal import Journal

SECOND = Migration(version=SCHEMA_VERSION + 1, name="more", change="CREATE TABLE more (x)")


def _columns(journal: Journal, table: str) -> tuple[str, ...]:
    with journal.snapshot() as database:
        return tuple(row[1] for row in database.execute(f"PRAGMA table_info({table})"))


@pytest.mark.parametrize("row", storage.ROW_KEYS)
def test_a_table_has_one_column_for_each_field(journal: Journal, row: type) -> None:
    assert _columns(journal, storage.table_name(row)) == storage.column_names(row)


def test_the_connections_are_set_up_as_designed(journal: Journal) -> None:
    store = journal._open_queue()._writer._store
    with journal.snapshot() as reader:
        found = [
            tuple(
                database.execute(f"PRAGMA {name}").get
                for name in ("journal_mode", "synchronous", "query_only")
            )
            for database in (store.fast, store.durable, reader)
        ]
        version = reader.execute("PRAGMA user_version").get
        autocheckpoint = reader.execute("PRAGMA wal_autocheckpoint").get
    assert found == [("wal", 1, 0), ("wal", 2, 0), ("wal", 1, 1)]
    assert (version, autocheckpoint) == (SCHEMA_VERSION, 0)
    with journal.snapshot() as reader, pytest.raises(apsw.ReadOnlyError):
        reader.execute("DELETE FROM event")


def test_files_beside_the_database_are_private(journal: Journal) -> None:
    start(journal)
    modes = {path.name: path.stat().st_mode & 0o777 for path in journal.home.path.glob("journal.db*")}
    assert modes == dict.fromkeys(("journal.db", "journal.db-wal", "journal.db-shm"), 0o600)


def _damage_page(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[100:200] = b"\xff" * 100
    path.write_bytes(data)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"not a database at all, but long enough to look at"),
        lambda path: path.write_bytes(path.read_bytes()[:1000]),
        _damage_page,
    ],
)
def test_a_damaged_database_is_refused_by_name(tmp_path: Path, damage: object) -> None:
    open_journal(tmp_path).close()
    damage(tmp_path / "journal.db")  # type: ignore[operator]
    with pytest.raises(JournalCorrupt) as caught:
        open_journal(tmp_path)
    assert str(tmp_path / "journal.db") in caught.value.what
    assert "backup" in caught.value.remedy


def test_a_database_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    prepare_database(home, (*MIGRATIONS, SECOND))
    before = home.database.read_bytes()
    with pytest.raises(JournalNewer, match=f"schema {SECOND.version}"):
        Journal.open(home)
    assert home.database.read_bytes() == before


def test_a_running_process_stops_writing_when_the_schema_changed_under_it(journal: Journal) -> None:
    start(journal)
    prepare_database(journal.home, (*MIGRATIONS, SECOND))
    with pytest.raises(JournalNewer):
        journal.append([streamed(journal, "s", 0)])


def test_migrating_keeps_a_backup_and_everything_in_it(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        start(journal)
        before = journal.events()
        home = journal.home
    prepare_database(home, (*MIGRATIONS, SECOND))
    backup = home.path / f"journal.db.schema-{SCHEMA_VERSION}.backup"
    assert backup.stat().st_mode & 0o777 == 0o600
    with contextlib.closing(journal_database.connect(home.database)) as database:
        assert database.execute("SELECT count(*) FROM event").get == len(before)
        assert database.execute("SELECT count(*) FROM more").get == 0
    backup.rename(home.database)
    with open_journal(tmp_path) as journal:
        assert journal.events() == before


def test_migrating_waits_for_every_driver_to_be_gone_and_names_them(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    prepare_database(home)
    with FileLock(home.driver_lock("h7")) as lock:
        assert lock.try_acquire()
        with pytest.raises(MigrationBlocked, match=r"h7 \(pid \d+\)"):
            prepare_database(home, (*MIGRATIONS, SECOND))
    prepare_database(home, (*MIGRATIONS, SECOND))


def test_only_drivers_that_were_there_are_asked_to_make_way_for_a_newer_version(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    prepare_database(home)
    assert not is_newer_schema_wanted(home, since=0)
    with FileLock(home.driver_lock("h7")) as lock:
        assert lock.try_acquire()
        with pytest.raises(MigrationBlocked):
            prepare_database(home, (*MIGRATIONS, SECOND))
    asked_at = (home.run / "wanted-schema").stat().st_mtime
    # Whoever starts later is an older version that its human went back to.
    assert is_newer_schema_wanted(home, since=asked_at) and not is_newer_schema_wanted(home, asked_at + 1)
    for text in (str(SCHEMA_VERSION), "x"):
        (home.run / "wanted-schema").write_text(text)
        assert not is_newer_schema_wanted(home, since=0)


def test_a_step_that_fails_leaves_the_version_before_it(tmp_path: Path) -> None:
    home = Home.open(tmp_path)
    prepare_database(home)
    broken = Migration(version=SECOND.version, name="broken", change="CREATE TABLE more (x); SELECT nothing")
    with pytest.raises(Exception, match="nothing"):
        prepare_database(home, (*MIGRATIONS, broken))
    with contextlib.closing(journal_database.connect(home.database)) as database:
        assert database.execute("PRAGMA user_version").get == SCHEMA_VERSION
        assert database.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'more'").get == 0


def _open_and_append(path: str, number: int) -> list[int]:
    with open_journal(Path(path)) as journal:
        return journal.append([journal.event(SessionCreated(), f"s{number}", USER)])


def test_processes_that_race_for_a_new_database_all_get_it(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        found = pool.starmap(_open_and_append, [(str(tmp_path), number) for number in range(6)], chunksize=1)
    assert sorted(found) == [[number] for number in range(1, 7)]


def test_the_wal_is_checkpointed_only_under_the_lock(journal: Journal) -> None:
    start(journal)
    wal = journal.home.path / "journal.db-wal"
    before = journal.home.database.stat().st_size
    big = 1_000_000
    with FileLock(journal.home.run / "checkpoint.lock") as lock:
        assert lock.try_acquire()
        for number in range(8):
            journal.append([streamed(journal, "s", number * big, "x" * big)])
        # The writer looks after it has told the producer; a second append waits for the first's look.
        journal.append([streamed(journal, "s", 0)])
        held = wal.stat().st_size
    assert held > CHECKPOINT_PAGES * 4096
    assert journal.home.database.stat().st_size == before
    for number in range(16):
        journal.append([streamed(journal, "s", number * big, "x" * big)])
    assert wal.stat().st_size < held + 9 * big
    assert journal.home.database.stat().st_size > before + 8 * big
