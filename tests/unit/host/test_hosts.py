"""The host as a process of its own: started, found, driving, stopped, ending by itself."""

import os
import signal
import subprocess
import sys

import pytest

from tests.support.stage import USER, call, exchange, recording, result, text
from tests.support.waits import PATIENCE, until
from workbench.effects.file_locks import FileLock, is_lock_held
from workbench.host import host_stop, session_requests
from workbench.host.host_locks import host_lock_path, live_host, workspace_hash
from workbench.journal.database import MIGRATIONS, SCHEMA_VERSION, Migration, live_drivers, prepare_database
from workbench.journal.errors import MigrationBlocked
from workbench.journal.leases import take_lease

SERVE = """
import sys, time
from pathlib import Path
from workbench.host import supervisor
from workbench.host.supervisor import serve_workspace
from workbench.journal.home import Home

has_screen, began, linger = supervisor.has_screen, time.monotonic(), float(sys.argv[3])

def looked_for_a_screen(home, workspace):
    if time.monotonic() - began > 3 * linger:
        with (Path(sys.argv[1]) / "late-looks").open("a") as file:
            file.write("x")
    return has_screen(home, workspace)

def looked_for_a_newer_version(home, since):
    is_wanted = look_for_it(home, since)
    if is_wanted:
        with (Path(sys.argv[1]) / "wanted-looks").open("a") as file:
            file.write("x")
    return is_wanted

look_for_it, supervisor.is_newer_schema_wanted = supervisor.is_newer_schema_wanted, looked_for_a_newer_version
supervisor.has_screen = looked_for_a_screen
sys.exit(serve_workspace(Home.open(Path(sys.argv[1])), sys.argv[2], linger=float(sys.argv[3])))
"""


@pytest.fixture
def hosted():
    """Start host processes; whatever still runs at the end is ended."""
    started = []

    def start(stage, linger=30.0, env=None):
        argv = [sys.executable, "-c", SERVE, str(stage.home.path), str(stage.workspace), str(linger)]
        started.append(
            subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})},
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


CREATE = call("c1", "create_file", path="n.txt", content="new\n")


def test_a_host_drives_what_a_second_process_asks_and_answers(staged, hosted):
    stage = staged(recording(exchange(CREATE), exchange(text("ok"), expect=result("c1", "succeeded"))))
    stage.begin()
    hosted(stage)
    (action,) = until(stage.waiting)
    assert stage.approve(action).ok
    until(lambda: stage.session().status == "ready")
    assert stage.read("n.txt") == b"new\n"
    assert live_host(stage.home, stage.journal, str(stage.workspace)) is not None


def test_a_second_host_of_a_workspace_ends_at_once(staged, hosted):
    stage = staged(recording(exchange(text("ok")))).begin()
    hosted(stage)
    until(lambda: live_host(stage.home, stage.journal, str(stage.workspace)))
    second = hosted(stage)
    assert second.wait(PATIENCE) == 0
    assert b"another background process serves" in second.stdout.read()


def test_a_host_ends_when_it_is_told_and_what_waits_goes_on_waiting(staged, hosted):
    stage = staged(
        recording(exchange(CREATE), exchange(text("ok"), expect=result("c1", "succeeded")))
    ).begin()
    first = hosted(stage)
    (action,) = until(stage.waiting)
    ended = host_stop.stop_host(stage.home, str(stage.workspace))
    assert (ended.is_gone, "Questions stay open" in ended.words, first.wait(PATIENCE)) == (True, True, 0)
    assert stage.session().reason == "parked"
    assert stage.approve(action).ok
    hosted(stage)
    until(lambda: stage.session().status == "ready")
    assert stage.read("n.txt") == b"new\n"


def test_a_host_ends_by_itself_unless_a_screen_is_attached(staged, hosted):
    stage = staged(recording(exchange(text("ok"))))
    screen = FileLock(stage.home.run / f"{workspace_hash(str(stage.workspace))}.screen-1.lock")
    assert screen.try_acquire()
    process = hosted(stage, linger=0.2)
    until(lambda: live_host(stage.home, stage.journal, str(stage.workspace)))
    late_looks = stage.home.path / "late-looks"
    until(lambda: process.poll() is not None or (late_looks.exists() and late_looks.stat().st_size >= 2))
    assert process.poll() is None, "its time was over, it has looked for a screen, and gone on"
    screen.release()
    assert process.wait(PATIENCE) == 0


def test_a_host_finishes_its_call_and_ends_when_a_newer_version_waits_to_migrate_the_journal(staged, hosted):
    newer = (*MIGRATIONS, Migration(version=SCHEMA_VERSION + 1, name="more", change="CREATE TABLE more (x)"))
    run = call("c1", "run_in_terminal", command="cat go")
    stage = staged(recording(exchange(run), exchange(text("ok")))).begin()
    os.mkfifo(stage.workspace / "go")
    screen = FileLock(stage.home.run / f"{workspace_hash(str(stage.workspace))}.screen-1.lock")
    assert screen.try_acquire()
    process = hosted(stage)
    stage.approve(until(stage.waiting)[0])
    until(lambda: stage.calls()["c1"].state == "executing")
    with pytest.raises(MigrationBlocked, match="asked to finish their calls"):
        prepare_database(stage.home, newer)
    looks = stage.home.path / "wanted-looks"
    until(lambda: process.poll() is not None or (looks.exists() and looks.stat().st_size >= 2))
    assert (process.poll(), stage.calls()["c1"].state) == (None, "executing")
    with (stage.workspace / "go").open("w") as pipe:
        pipe.write("on")
    assert process.wait(PATIENCE) == 0
    assert stage.calls()["c1"].state == "succeeded"
    assert live_drivers(stage.home) == []
    screen.release()


def test_a_host_survives_the_hangup_of_its_terminal(staged, hosted):
    stage = staged(recording(exchange(CREATE))).begin()
    process = hosted(stage)
    until(stage.waiting)
    process.send_signal(signal.SIGHUP)
    assert stage.approve(stage.waiting()[0]).ok
    until(lambda: (stage.workspace / "n.txt").exists() or process.poll() is not None)
    assert process.poll() is None


def test_a_killed_host_is_taken_over_and_calls_no_model(staged, hosted):
    stage = staged(recording(exchange(CREATE), exchange(text("ok")))).begin()
    process = hosted(stage)
    (action,) = until(stage.waiting)
    process.kill()
    process.wait()
    assert not is_lock_held(host_lock_path(stage.home, str(stage.workspace)))
    assert stage.approve(action).ok
    hosted(stage)
    until(lambda: stage.calls()["c1"].state == "succeeded" and stage.session().reason == "host lost")
    assert stage.kinds().count("reply.completed") == 1
    session_requests.continue_session(stage.journal, stage.session_id, USER)
    until(lambda: stage.session().status == "ready")
    assert stage.kinds().count("reply.completed") == 2


def test_a_fenced_host_ends_its_work_at_its_first_append(staged, hosted):
    """A host that slept through a take-over may not write another event (JOURNAL: old H wakes up)."""
    from msgspec.structs import replace

    from workbench.journal.leases import DriverLock

    stage = staged(recording(exchange(CREATE), exchange(text("never")))).begin()
    hosted(stage)
    (action,) = until(stage.waiting)
    lease = stage.journal.lease(stage.session_id)
    stage.journal.change(lambda live: live.put(replace(lease, released=True)))
    driver = stage.driver()
    assert isinstance(stage.lock, DriverLock)
    taken = take_lease(stage.journal, stage.session_id, driver)
    assert taken.epoch == lease.epoch + 1
    assert stage.approve(action).ok
    stage.journal.wait(stage.journal.last_position(), 1.0)
    assert "call.executing" not in stage.kinds()
    stage.lock.close()


@pytest.mark.parametrize("comes_back", [False, True])
def test_a_host_ends_when_its_workspace_is_gone_or_another_folder(staged, hosted, comes_back):
    stage = staged(recording(exchange(CREATE), exchange(text("ok")))).begin()
    process = hosted(stage)
    (action,) = until(stage.waiting)
    stage.workspace.rename(stage.root / "elsewhere")
    if comes_back:
        stage.workspace.mkdir()
    assert process.wait(PATIENCE) == 0
    assert b"is gone; its questions stay open" in process.stdout.read()
    assert stage.journal.action(action.id).state == "pending"
    assert not is_lock_held(host_lock_path(stage.home, str(stage.workspace)))
    if comes_back:
        stage.workspace.rmdir()
    (stage.root / "elsewhere").rename(stage.workspace)
    assert stage.approve(action).ok
    hosted(stage)
    until(lambda: stage.session().status == "ready")
    assert stage.read("n.txt") == b"new\n"
