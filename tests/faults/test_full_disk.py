"""A disk that is full or broken at any write of a session: a named error, no halves, and on when there is space.

The errors are raised at the fault points of journal, blobs and files, at the system calls of SQLite, and by
the kernel itself at a limit of file size.
"""

import errno
import functools
import itertools
import os
import resource

import pytest

from tests.support.campaign import wanted
from tests.support.crashes import passages, reap
from tests.support.invariants import ENDINGS, check_disk
from tests.support.scenarios import CREATE, WINDOW, Scenario, asked, call
from tests.unit.journal.disk import failing_disk
from workbench.domain import events
from workbench.effects import fault_points
from workbench.effects.file_primitives import FileRefused
from workbench.journal.errors import JournalError, JournalFailed, JournalFull
from workbench.journal.index_tables import database_problems, index_table_differences

pytestmark = pytest.mark.faults

NAMED = (JournalError, FileRefused, OSError)
WRITES = (
    "journal.before_commit",
    "journal.blob_written",
    "journal.blob_renamed",
    "apply.staged",
    "apply.renaming",
    "apply.renamed",
    "apply.done",
    "decide.before_commit",
)
STEP = 1 if wanted() >= 2000 else 6


@pytest.fixture(autouse=True)
def healed():
    yield
    fault_points.disarm_all_faults()


def drives(stage, begin=lambda: None):
    """Drive with the disk as it is from `begin` on; return the error that ended it, None at its end."""
    with stage.at_work():
        begin()
        try:
            stage.perform(is_takeover=False)
        except NAMED as error:
            # A bare error of the system is what a fault point raises in a place where only it can fail.
            assert isinstance(error, OSError) or (error.why and error.remedy)
            return error
    return None


def sound(stage):
    with stage.at_work():
        assert index_table_differences(stage.journal) == []
        assert database_problems(stage.journal) == []


def goes_on(stage, monkeypatch):
    """Let the session go on with space on the disk, to its end, with everything checked."""
    sound(stage)
    monkeypatch.setitem(ENDINGS, "failed", {"not written"})
    stage.take_over()
    reap()


def every_write(stage):
    counts = passages(stage)
    return [(point, nth) for point in WRITES for nth in range(1, counts[point] + 1)]


@pytest.mark.spec(72)
@pytest.mark.parametrize(("action", "error"), [("enospc", JournalFull), ("eio", JournalFailed)])
@pytest.mark.parametrize("scenario", ["modify-create-delete", "several", "undo"])
def test_a_disk_that_fails_at_any_write_of_a_session(on_stage, monkeypatch, scenario, action, error):
    stage = on_stage(scenario)
    failed = 0
    for point, nth in every_write(stage)[::STEP]:
        stage.reset()
        with fault_points.arm_fault(point, action, nth):
            found = drives(stage)
        assert found is None or isinstance(found, error), f"{point} #{nth}: {found!r}"
        failed += found is not None
        if point.startswith("apply."):
            assert found is None, (
                "what could not be written is an outcome of the call, not the end of the background process"
            )
        goes_on(stage, monkeypatch)
    assert failed


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
def test_sqlite_that_cannot_write_fails_by_name_and_the_session_goes_on(
    on_stage, monkeypatch, number, lasting
):
    stage = on_stage("one-file")
    failed = 0
    for nth in itertools.count(1, 23 if STEP > 1 else 3):
        stage.reset()
        with failing_disk() as disk:
            error = drives(stage, lambda nth=nth, disk=disk: disk.fail(nth, 10**9 if lasting else 1, number))
            is_beyond = disk.writes < nth
            disk.heal()
        assert error is None or isinstance(error, JournalFull if number == errno.ENOSPC else JournalFailed)
        failed += error is not None
        goes_on(stage, monkeypatch)
        if is_beyond:
            break
    assert failed


# --- the rows -------------------------------------------------------------------------------------------


def full_until_the_reserve_is_freed(stage):
    if stage.home.reserve.exists():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def full():
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def at(point, action):
    """Let commits fail from the moment that a point is passed."""

    def begin():
        for _ in range(30):  # Each of them fires once: the one that fires keeps the others for later.
            fault_points.arm_fault("journal.before_commit", action)

    fault_points.arm_fault(point, begin)


def test_disk_full_at_t3_it_is_not_decided_and_said_so(on_stage, monkeypatch):
    stage = on_stage("one-file")
    with stage.at_work():
        stage.drive(lambda progress: bool(progress.waiting))
        (action,) = stage.waiting()
        with fault_points.arm_fault("journal.before_commit", "enospc"), pytest.raises(JournalFull) as told:
            stage.approve(action)
        assert (told.value.why, told.value.remedy) == ("the disk is full", "free some space and do it again")
        assert [found.id for found in stage.waiting()] == [action.id]
        assert stage.bodies(events.ActionApproved) == []
        assert stage.home.reserve.exists()
        assert stage.approve(action).ok
    goes_on(stage, monkeypatch)


def test_disk_full_at_t4_it_is_not_executed(on_stage, monkeypatch):
    stage = on_stage("one-file")
    at("call.before_executing", "enospc")
    assert isinstance(drives(stage), JournalFull)
    fault_points.disarm_all_faults()
    with stage.at_work():
        assert stage.calls()["c1"].state == "approved"
        assert stage.bodies(events.CallExecuting) == []
    assert not (stage.workspace / "n.txt").exists()
    goes_on(stage, monkeypatch)
    assert (stage.workspace / "n.txt").read_text() == "new\n"


@pytest.mark.parametrize("scenario", ["three-files", "command"])
def test_disk_full_at_t6_the_reserve_is_freed_and_the_outcome_written(on_stage, monkeypatch, scenario):
    stage = on_stage(scenario)
    at("call.finished_effect", functools.partial(full_until_the_reserve_is_freed, stage))
    drives(stage)
    fault_points.disarm_all_faults()
    assert not stage.home.reserve.exists()
    with stage.at_work():
        assert (stage.calls()["c1"].state, stage.calls()["c1"].detail) == ("succeeded", "")
    stage.home.restore_reserve()
    goes_on(stage, monkeypatch)


@pytest.mark.parametrize(
    ("scenario", "state", "detail"),
    [("three-files", "succeeded", "recovered"), ("command", "succeeded", "recovered")],
)
def test_disk_full_at_t6_with_the_reserve_gone_the_next_one_decides(
    on_stage, monkeypatch, scenario, state, detail
):
    stage = on_stage(scenario)
    at("call.finished_effect", "enospc")
    assert isinstance(drives(stage), JournalFull)
    fault_points.disarm_all_faults()
    with stage.at_work():
        assert stage.calls()["c1"].state == "executing"
    goes_on(stage, monkeypatch)
    with stage.at_work():
        assert (stage.calls()["c1"].state, stage.calls()["c1"].detail) == (state, detail)


def test_disk_full_at_commit_of_a_reply_nothing_of_it_is_there(on_stage, monkeypatch):
    stage = on_stage("several")
    at("turn.model_called", "enospc")
    assert isinstance(drives(stage), JournalFull)
    fault_points.disarm_all_faults()
    with stage.at_work():
        assert stage.bodies(events.ReplyCompleted) == []
        assert stage.calls() == {}
    goes_on(stage, monkeypatch)


BIG = "line\n" * 40_000


def test_a_file_that_the_kernel_does_not_let_grow_is_not_written(on_stage, monkeypatch):
    """The limit is met in the middle of the temporary file: what is left of it would be half a file."""
    stage = on_stage(
        Scenario(
            name="big",
            script=asked(call("c1", "change_files", files={"a.txt": BIG, "b.txt": "B\n"})),
            files={"a.txt": "a\n", "b.txt": "b\n"},
        )
    )

    def limited():
        # The sealed image has been stored by now, so it is the workspace where the limit is met.
        fault_points.arm_fault(
            "call.executing", lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (len(BIG) // 2, hard))
        )
        soft_end = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))  # noqa: E731
        fault_points.arm_fault("call.finished_effect", soft_end)
        stage.perform(is_takeover=False)

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    assert stage.forked(limited).code == 0
    with stage.at_work():
        row = stage.calls()["c1"]
        assert (row.state, row.detail) == ("failed", "not written")
        assert "no file was changed" in row.error
        monkeypatch.setitem(ENDINGS, "failed", {"not written"})
        check_disk(stage)
    assert (stage.workspace / "a.txt").read_text() == "a\n"


def test_a_disk_that_was_full_for_a_moment_does_not_stop_the_clock(on_stage, monkeypatch):
    stage = on_stage(Scenario(name="ticking", script=asked(CREATE), tick=0.01))

    def until(progress):
        if progress.waiting and stage.clock.offset == 0:
            # The next look at the clock finds the window closed, and the disk full.
            stage.clock.advance(WINDOW)
            fault_points.arm_fault("journal.before_commit", "enospc")
        return progress.is_resting and bool(stage.bodies(events.ActionExpired))

    with stage.at_work():
        stage.drive(until)
        assert stage.calls()["c1"].state == "expired"
    goes_on(stage, monkeypatch)
