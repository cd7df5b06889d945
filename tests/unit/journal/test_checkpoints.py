"""Stored checkpoints: the same rows as without them, thrown away when they are not of this recording."""

import pytest

from tests.support import golden
from workbench.domain.fold import MemoryTables
from workbench.domain.values import SYSTEM_SESSION, Actor
from workbench.journal import replay
from workbench.journal.maintenance import delete_session
from workbench.tui.replay import replay_source
from workbench.tui.replay.replay_source import ReplaySource

USER = Actor(kind="user")


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr("workbench.views.row_snapshots.SNAPSHOT_EVENTS", 7)
    monkeypatch.setattr(replay_source, "CHECKPOINTS_FROM_EVENTS", 1)


@pytest.fixture
def journal(tmp_path):
    with golden.load("rename-handler", tmp_path / "home") as found:
        yield found


def session(journal):
    return next(one for one in journal.sessions() if one.id != SYSTEM_SESSION and one.parent_id is None)


def built(journal):
    source = ReplaySource(journal, session(journal))
    source.store()
    while source.rewind.build():
        pass
    source.close()
    return source


def stored(journal):
    return sorted((journal.home.path / replay.CHECKPOINT_FOLDER).iterdir())


def every(source):
    return [source.rewind.at(source.timeline.position(index)) for index in range(len(source.timeline) + 1)]


def test_what_was_stored_is_read_again_and_nothing_is_folded_twice(journal, monkeypatch):
    before = every(built(journal))
    (path,) = stored(journal)
    assert path.stat().st_mode & 0o777 == 0o600
    size = path.stat().st_size
    source = ReplaySource(journal, session(journal))
    assert source.rewind.built > source.timeline.position(len(source.timeline) // 2)
    monkeypatch.setattr("workbench.views.row_snapshots._fold_events", lambda *_: pytest.fail("folded again"))
    while source.rewind.build():
        pass
    assert every(source) == before
    source.close()
    assert path.stat().st_size == size


def test_rows_are_those_of_a_plain_fold(journal):
    built(journal)
    source = ReplaySource(journal, session(journal))
    events = journal.events()
    for index in (1, 30, 60, len(source.timeline)):
        told = MemoryTables().fold(
            event for event in events if event.position <= source.timeline.position(index)
        )
        found = source.rewind.at(source.timeline.position(index))
        assert (found.calls, found.actions) == (told.calls, told.actions)
    source.close()


def damaged(data):
    return data[: len(data) // 2] + b"?" + data[len(data) // 2 + 1 :]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"",
        lambda data: b"\x00" * 100,
        lambda data: data[:-40],
        damaged,
        lambda data: b"(" + data[1:],
        lambda data: data + data.split(b"\n", 1)[1],
        lambda data: data + b"9 9 9 9\n\n5 x\n",
    ],
    ids=["empty", "zeros", "cut", "damaged", "other head", "twice", "strange lines"],
)
def test_a_file_that_is_not_whole_changes_nothing(journal, change):
    before = every(built(journal))
    (path,) = stored(journal)
    path.write_bytes(change(path.read_bytes()))
    source = ReplaySource(journal, session(journal))
    assert every(source) == before
    source.close()
    assert every(built(journal)) == before


def test_checkpoints_of_other_events_are_not_taken(journal, monkeypatch):
    built(journal)
    monkeypatch.setattr(replay, "event_fingerprint", lambda event_id: f"other {event_id}"[:16])
    source = ReplaySource(journal, session(journal))
    assert source.rewind.built == source.timeline.position(0)
    source.close()


def test_rows_that_are_not_what_was_written_are_made_anew(journal, monkeypatch):
    before = every(built(journal))
    key = session(journal)
    shape = replay._format_fingerprint()
    monkeypatch.setattr(replay, "_CHECKPOINT_ROWS", ())
    monkeypatch.setattr(replay, "_format_fingerprint", lambda: shape)
    source = ReplaySource(journal, key)
    assert source.rewind.built > source.timeline.position(0)
    assert every(source) == before
    source.close()


def test_deleting_any_session_takes_every_checkpoint_and_what_is_being_written(journal):
    source = ReplaySource(journal, session(journal))
    source.store()
    assert source.rewind.build()
    assert stored(journal)
    delete_session(journal, source.session_id, USER)
    assert stored(journal) == []
    while source.rewind.build():
        pass
    source.close()
    assert stored(journal) == []


def test_a_disk_that_takes_no_more_is_no_trouble(journal, monkeypatch):
    def full(_):
        raise OSError(28, "no space left on device")

    before = every(built(journal))
    for path in stored(journal):
        path.unlink()
    monkeypatch.setattr(replay, "open_append", full)
    assert every(built(journal)) == before
    assert stored(journal) == []


def test_only_recordings_looked_at_last_are_kept(journal, monkeypatch):
    monkeypatch.setattr(replay, "MOST_CHECKPOINT_FILES", 2)
    folder = journal.home.path / replay.CHECKPOINT_FOLDER
    folder.mkdir(mode=0o700)
    for number in range(5):
        (folder / f"old-{number}").write_bytes(b"x")
    built(journal)
    assert len(stored(journal)) == 2


def test_short_recordings_store_nothing(journal, monkeypatch):
    monkeypatch.setattr(replay_source, "CHECKPOINTS_FROM_EVENTS", 10_000)
    built(journal)
    assert not (journal.home.path / replay.CHECKPOINT_FOLDER).exists()
