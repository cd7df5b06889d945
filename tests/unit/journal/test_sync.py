"""A disk that takes bytes and will not promise to keep them: a failing sync at the commit, through SQLite's own door."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tests.unit.journal.scenes import USER, SettableClock, ask, assert_sound, open_journal, start, streamed
from workbench.domain.events import SessionChanged
from workbench.domain.values import Decision
from workbench.journal import database
from workbench.journal.decisions import decide_action
from workbench.journal.errors import JournalError
from workbench.journal.journal import Journal


class Disk:
    """How the syncs of every database file go from now on."""

    def __init__(self) -> None:
        self.is_failing = False
        self.syncs = 0


DISK = Disk()


class SyncedFile(apsw.VFSFile):
    def xSync(self, flags: int) -> None:
        DISK.syncs += 1
        if DISK.is_failing:
            raise apsw.IOError("the disk did not sync")
        super().xSync(flags)


class SyncedFiles(apsw.VFS):
    def __init__(self) -> None:
        super().__init__("counted syncs", "")

    def xOpen(self, name, flags):  # type: ignore[no-untyped-def]
        return SyncedFile("", name, flags)


@pytest.fixture
def synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    files, real = SyncedFiles(), apsw.Connection
    monkeypatch.setattr(
        database.apsw, "Connection", lambda path, **more: real(path, vfs="counted syncs", **more)
    )
    DISK.is_failing, DISK.syncs = False, 0
    with open_journal(tmp_path / "home", SettableClock()) as journal:
        yield journal
        DISK.is_failing = False
    del files


def titled(journal: Journal, title: str) -> None:
    journal.append([journal.event(SessionChanged(title=title), "s", USER)])


def test_a_durable_commit_syncs_and_a_fast_one_does_not(synced: Journal) -> None:
    start(synced)
    before = DISK.syncs
    synced.append([streamed(synced, "s", 0)])
    assert DISK.syncs == before
    titled(synced, "a")
    assert DISK.syncs > before


def test_what_was_not_synced_is_not_acknowledged_and_not_there(synced: Journal) -> None:
    start(synced)
    titled(synced, "before")
    last = synced.last_position()
    DISK.is_failing = True
    for _ in range(3):
        with pytest.raises(JournalError) as caught:
            titled(synced, "never")
        assert caught.value.remedy
    assert (synced.last_position(), synced.session("s").title) == (last, "before")
    synced.append([streamed(synced, "s", 1)])
    DISK.is_failing = False
    titled(synced, "after")
    assert synced.session("s").title == "after"
    assert "never" not in [getattr(event.body, "title", None) for event in synced.events("s")]
    assert_sound(synced)


def test_a_decision_that_the_disk_did_not_take_is_none(synced: Journal) -> None:
    start(synced)
    ask(synced, "s", "c1", "a1")
    action = synced.action("a1")
    DISK.is_failing = True
    with pytest.raises(JournalError):
        decide_action(synced, Decision(action_id="a1", verdict="approve"), action.digest, USER)
    assert (synced.action("a1").state, synced.call("c1").state) == ("pending", "pending")
    DISK.is_failing = False
    assert decide_action(synced, Decision(action_id="a1", verdict="approve"), action.digest, USER).ok
    assert_sound(synced)


def test_what_was_acknowledged_before_is_there_for_whoever_opens_it_next(
    synced: Journal, tmp_path: Path
) -> None:
    start(synced)
    titled(synced, "kept")
    DISK.is_failing = True
    with pytest.raises(JournalError):
        titled(synced, "never")
    DISK.is_failing = False
    with open_journal(tmp_path / "home") as other:
        assert other.session("s").title == "kept"
        assert_sound(other)
