"""The watch of agents' folders: off until asked, in step while files grow, one at a time, quiet when closed."""

import errno
import json

import pytest

from tests.support import waits
from tests.unit.journal.disk import failing_disk
from workbench.effects import folder_changes
from workbench.effects.file_locks import FileLock
from workbench.host import import_watch
from workbench.host.import_choice import set_watch
from workbench.host.import_watch import WATCH_LOCK, ImportWatch
from workbench.journal.home import Home
from workbench.journal.index_tables import index_table_differences
from workbench.journal.journal import Journal


def line(session, number, text):
    return json.dumps(
        {"type": "user", "uuid": f"{session}{number}", "sessionId": session, "cwd": "/shop",
         "timestamp": f"2026-11-21T12:00:{number:02}Z", "message": {"role": "user", "content": text}}
    ) + "\n"  # fmt: skip


@pytest.fixture
def projects(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    for name in ("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(folder_changes, "_REST_STEP_MS", 50)
    monkeypatch.setattr(folder_changes, "_SETTLE_MS", 25)
    monkeypatch.setattr(folder_changes, "_CHECK_MS", 300)
    for name in ("_OFF_SECONDS", "_OTHER_SECONDS"):
        monkeypatch.setattr(import_watch, name, 0.05)
    place = tmp_path / "user/.claude/projects/-shop"
    place.mkdir(parents=True)
    (place / "s1.jsonl").write_text(line("s1", 0, "say one"))
    return place


@pytest.fixture
def journal(tmp_path):
    with Journal.open(Home.open(tmp_path / "home")) as opened:
        yield opened


def texts(journal):
    return sorted(
        event.body.text
        for session in journal.sessions()
        for event in journal.events(session.id)
        if event.kind == "prompt.submitted"
    )


@pytest.fixture
def steps(monkeypatch):
    """The passes of the watch over the due imports; all but the last have ended."""
    begun = []
    step = ImportWatch._step

    def counted(watch, lock):
        begun.append(lock.is_mine)
        return step(watch, lock)

    monkeypatch.setattr(ImportWatch, "_step", counted)
    return begun


def until(journal, expected):
    waits.until(lambda: texts(journal) == expected, lambda: texts(journal))


def test_it_is_off_until_it_is_turned_on_and_off_again(journal, projects, tmp_path, steps):
    watch = ImportWatch(journal.home, journal, str(tmp_path))
    try:
        waits.until(lambda: len(steps) > 3)
        assert texts(journal) == []
        set_watch(journal.home, is_on=True)
        until(journal, ["say one"])
    finally:
        watch.close()


def test_it_takes_new_files_and_what_grows_and_no_half_line(journal, projects, tmp_path):
    set_watch(journal.home, is_on=True)
    watch = ImportWatch(journal.home, journal, str(tmp_path))
    try:
        until(journal, ["say one"])
        half = line("s1", 1, "say two")
        with (projects / "s1.jsonl").open("a") as file:
            file.write(half[:50])
        (projects / "new").mkdir()
        (projects / "new" / "s2.jsonl").write_text(line("s2", 0, "say three"))
        until(journal, ["say one", "say three"])
        with (projects / "s1.jsonl").open("a") as file:
            file.write(half[50:])
        until(journal, ["say one", "say three", "say two"])
    finally:
        watch.close()
    assert index_table_differences(journal) == []


def test_of_two_only_one_watches_until_it_ends(journal, projects, tmp_path, steps):
    set_watch(journal.home, is_on=True)
    with FileLock(journal.home.run / WATCH_LOCK) as other:
        assert other.try_acquire()
        watch = ImportWatch(journal.home, journal, str(tmp_path))
        waits.until(lambda: len(steps) > 3)
        assert texts(journal) == []
        other.release()
        until(journal, ["say one"])
        watch.close()


def test_what_is_left_out_is_not_taken(journal, projects, tmp_path):
    config = {"config_version": 1, "sessions": {"watch": True, "leave_out": ["/private"]}}
    (journal.home.path / "config.json").write_text(json.dumps(config))
    (projects / "s2.jsonl").write_text(line("s2", 0, "say secret").replace('"/shop"', '"/private/x"'))
    watch = ImportWatch(journal.home, journal, str(tmp_path))
    try:
        until(journal, ["say one"])
        (projects / "s3.jsonl").write_text(line("s3", 0, "say three"))  # what came before it was looked at
        until(journal, ["say one", "say three"])
    finally:
        watch.close()


def test_a_full_disk_is_waited_out(journal, projects, tmp_path, steps):
    set_watch(journal.home, is_on=True)
    with failing_disk() as disk:
        disk.fail(1, 1_000_000, errno.ENOSPC)
        watch = ImportWatch(journal.home, journal, str(tmp_path))
        waits.until(lambda: len(steps) > 3 and disk.writes)
        assert texts(journal) == []
        disk.heal()
        try:
            until(journal, ["say one"])
        finally:
            watch.close()
    assert index_table_differences(journal) == []
    assert not list(journal.home.run.glob("import-[0-9]*.lock"))


def test_a_file_at_work_rests_between_two_readings(journal, projects, tmp_path, monkeypatch):
    monkeypatch.setattr(import_watch, "_REST_SHARE", 10_000)
    set_watch(journal.home, is_on=True)
    watch = ImportWatch(journal.home, journal, str(tmp_path))
    try:
        until(journal, ["say one"])
        with (projects / "s1.jsonl").open("a") as file:
            file.write(line("s1", 1, "say two"))
        (projects / "s2.jsonl").write_text(line("s2", 0, "say three"))
        until(journal, ["say one", "say three"])
        assert set(watch._due) == {str(projects / "s1.jsonl")}
    finally:
        watch.close()
