"""The life of an event: one test for each row of its crash table, named by the row's words.

Power loss is in `test_power_loss`, the full disk in `test_full_disk`.
"""

import os
import signal
import time

import pytest

from tests.support.crashes import TellingJournal, crash, fork
from tests.support.invariants import temporaries
from workbench.domain import events
from workbench.journal.index_tables import database_problems, index_table_differences
from workbench.journal.maintenance import SWEEP_AFTER_SECONDS, sweep_unused_blobs

pytestmark = pytest.mark.faults


def age(paths, seconds):
    """Make files look older; folders keep their time."""
    then = time.time() - seconds
    for path in paths:
        os.utime(path, (then, then))


def blobs(stage):
    return {path for path in stage.home.blobs.rglob("*") if path.is_file()}


def test_before_the_blobs_rename_a_temporary_file_is_swept_after_an_hour(on_stage):
    stage = on_stage("one-file")
    assert stage.die(("journal.blob_written", 1)).code == 137
    (left,) = temporaries(stage.home.blobs)
    assert left in blobs(stage)
    with stage.at_work():
        assert sweep_unused_blobs(stage.journal) == 0
        age([left], SWEEP_AFTER_SECONDS + 60)
        assert sweep_unused_blobs(stage.journal) == 1
    assert temporaries(stage.home.blobs) == []
    stage.take_over()


def test_blob_there_no_commit_it_is_swept_after_an_hour_and_made_again(on_stage):
    stage = on_stage("one-file")
    assert stage.die(("journal.blob_renamed", 1)).code == 137
    (left,) = blobs(stage)
    with stage.at_work():
        assert sweep_unused_blobs(stage.journal) == 0
        age([left], SWEEP_AFTER_SECONDS + 60)
        assert sweep_unused_blobs(stage.journal) == 1
    stage.take_over()
    # What an event refers to stays, however old it is.
    kept = blobs(stage)
    assert kept
    age(kept, SWEEP_AFTER_SECONDS + 60)
    with stage.at_work():
        assert sweep_unused_blobs(stage.journal) == 0
    assert blobs(stage) == kept


def test_blob_there_no_commit_the_next_one_may_find_it_there(on_stage):
    stage = on_stage("one-file")
    assert crash(stage, ("journal.blob_renamed", 1)) == 1


@pytest.mark.parametrize("nth", [1, 5, 9, 13])
def test_inside_the_transaction_it_is_as_if_never_made(on_stage, nth):
    stage = on_stage("one-file")
    end = stage.die(("journal.before_commit", nth))
    assert end.code == 137
    with stage.at_work():
        # The last one told is the last one there: what was in the transaction has left no trace.
        told = max((position for position, _ in end.told), default=stage.journal.last_position())
        assert stage.journal.last_position() == told
        assert index_table_differences(stage.journal) == []
        assert database_problems(stage.journal) == []
    stage.take_over()


@pytest.mark.parametrize("nth", [2, 5, 8, 11])
def test_committed_producer_not_told_the_next_one_reads_it_and_a_retry_is_a_no_op(on_stage, nth):
    stage = on_stage("one-file")
    end = stage.die(("journal.after_commit", nth))
    assert end.code == 137
    with stage.at_work():
        told = max((position for position, _ in end.told), default=0)
        untold = stage.journal.events(after=told)
        assert untold
        assert stage.journal.append(untold) == [event.position for event in untold]
        assert stage.journal.last_position() == untold[-1].position
        assert index_table_differences(stage.journal) == []
    stage.take_over()


def test_reader_at_any_point_nobody_else_notices_and_it_reads_on_from_its_cursor(on_stage):
    stage = on_stage("one-file")
    with stage.at_work():
        cursor = stage.journal.last_position()
    pid = fork()
    if pid == 0:
        with TellingJournal.open(stage.home) as journal, journal.snapshot() as database:
            database.execute("BEGIN")
            database.execute("SELECT count(*) FROM event").fetchall()
            os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    assert os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1])
    with stage.at_work():
        # It holds a transaction open and does not wake: the others write all the same.
        stage.drive(lambda progress: bool(progress.waiting))
        opened = stage.journal.last_position()
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        seen = stage.journal.events(after=cursor)
        assert [event.position for event in seen] == list(range(cursor + 1, seen[-1].position + 1))
        assert seen[-1].position >= opened
        assert any(isinstance(event.body, events.ActionOpened) for event in seen)
        assert stage.journal.session(stage.session_id).id == stage.session_id
    stage.take_over()
