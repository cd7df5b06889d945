"""Tidying: what is over goes, at most once an hour and by one process; what lives is not touched."""

import os
import time

import pytest

from tests.support.stage import USER, call, exchange, recording, text
from workbench.domain.events import SessionStatusChanged
from workbench.effects.file_locks import FileLock
from workbench.host.data_folder_cleanup import (
    MAX_KEPT_DAYS,
    tidy_data_folder,
    tidy_data_folder_if_due,
    tidy_data_folder_later,
)
from workbench.text.human import DAY_MICROS


@pytest.fixture
def stage(staged):
    return staged(
        recording(exchange(call("c1", "create_file", path="n.txt", content="new\n")), exchange(text("ok")))
    )


def aged(path, seconds):
    path.touch(exist_ok=True)
    when = time.time() - seconds
    os.utime(path, (when, when))
    return path


def test_it_is_done_once_an_hour_by_one_process(stage):
    path = stage.home.run / "upkeep.lock"
    with FileLock(path) as lock:
        assert lock.try_acquire()
        aged(path, 7200)
        assert not tidy_data_folder_if_due(stage.home, stage.journal, 30)
    aged(path, 7200)
    assert tidy_data_folder_if_due(stage.home, stage.journal, 30)
    assert not tidy_data_folder_if_due(stage.home, stage.journal, 30)
    assert tidy_data_folder_if_due(stage.home, stage.journal, 30, every=0)


def test_exact_bytes_of_an_ended_session_go_with_their_days(stage):
    stage.begin().drive()
    sealed = stage.home.blobs / "sealed"
    for path in sealed.iterdir():
        aged(path, 7200)
    kept = len(list(sealed.iterdir()))
    tidy_data_folder(stage.home, stage.journal, 0)
    assert len(list(sealed.iterdir())) == kept > 0
    ended = SessionStatusChanged(status="terminated")
    stage.journal.append([stage.journal.event(ended, stage.session_id, USER)])
    tidy_data_folder(stage.home, stage.journal, 1)
    assert len(list(sealed.iterdir())) == kept
    tidy_data_folder(stage.home, stage.journal, 0)
    assert list(sealed.iterdir()) == []


def test_locks_logs_and_rows_of_the_dead_go_and_those_of_the_living_stay(stage):
    home, old = stage.home, (MAX_KEPT_DAYS + 1) * 86_400
    dead_lock = aged(home.driver_lock("dead"), 7200)
    dead_log, young_log = aged(home.logs / "host-dead.log", old), aged(home.logs / "host-young.log", 60)
    driver = stage.driver()
    living_log = aged(home.logs / f"host-{driver.host_id}.log", old)
    (row,) = stage.journal.hosts()
    from msgspec.structs import replace

    past = row.started_at - (MAX_KEPT_DAYS + 1) * DAY_MICROS
    for key in ("dead", driver.host_id):
        stage.journal.change(lambda live, key=key: live.put(replace(row, id=key, started_at=past)))
    tidy_data_folder(home, stage.journal, 30)
    assert [path.exists() for path in (dead_lock, dead_log, young_log, living_log)] == [
        False,
        False,
        True,
        True,
    ]
    assert [host.id for host in stage.journal.hosts()] == [driver.host_id]
    stage.lock.close()


def test_a_screen_that_closes_early_tidies_nothing(stage):
    call_off = tidy_data_folder_later(stage.home, stage.journal, 30, delay=60)
    call_off()
    assert not (stage.home.run / "upkeep.lock").exists()
