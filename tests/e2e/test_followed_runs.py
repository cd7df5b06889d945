"""Runs that another process drives, as commands and background processes share them: real processes."""

import io
import json
import os
import signal

import pytest

from tests.support.stage import USER
from tests.support.waits import PATIENCE, until
from tests.unit.pipelines.projects import command, project
from workbench.cli.console import Console
from workbench.cli.dispatch import dispatch
from workbench.domain.values import Decision
from workbench.effects.fault_points import arm_fault
from workbench.effects.file_locks import FileLock
from workbench.host.host_locks import screen_lock_path
from workbench.journal.decisions import decide_action
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.session_queries import pending_action_ids
from workbench.tui.journal_source import JournalSource
from workbench.tui.library.library_list import LibraryModel
from workbench.tui.main.redraw_timer import DRIVER_CHECK_SECONDS, seconds_until_change
from workbench.tui.state import ScreenState

STEPS = "- {id: g, gate: {prompt: go?}}\n" + command("z", "echo z", dependencies="[g]")


class Driven:
    """A run that waits at its gate, driven by `pipeline run` in a process of its own."""

    def __init__(self, shop, monkeypatch, output):
        project(shop.project, STEPS)
        shop.call("trust", "--yes")
        monkeypatch.setenv("WORKBENCH_HOME", str(shop.home))
        self.project = shop.project
        self.process = shop.start("pipeline", "run", "p.yaml", "--output-format", output)
        self.journal = Journal.open(Home.open(shop.home))
        self.run = until(self._waiting_run)

    def _waiting_run(self):
        runs = self.journal.pipeline_states()
        return next((run.pipeline_id for run in runs if run.status == "waiting"), None)

    def resume(self, output, then, *more):
        """Resume the run here, and do something as soon as that was asked for."""
        out, err = io.StringIO(), io.StringIO()
        words = ("pipeline", "resume", self.run, "--output-format", output, *more)
        with arm_fault("run.requested", then):
            code = dispatch([*words, "-C", str(self.project)], Console(out, err))
        return code, out.getvalue(), err.getvalue()

    def answer(self):
        (key,) = pending_action_ids(self.journal, self.run)
        said = Decision(action_id=key, verdict="approve")
        assert decide_action(self.journal, said, self.journal.action(key).digest, USER).ok

    def kill(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def driven(shop, monkeypatch):
    made = []
    yield lambda output="json": made.append(Driven(shop, monkeypatch, output)) or made[0]
    made[0].journal.close()


@pytest.mark.parametrize("output", ["json", "stream-json"])
def test_a_followed_run_is_printed_as_a_driven_one(driven, output):
    run = driven(output)
    code, out, err = run.resume(output, run.answer)
    driver_out, _ = run.process.communicate(timeout=PATIENCE)
    assert (code, run.process.returncode) == (0, 0), err
    assert f"pid {run.process.pid}" in err
    if output == "json":
        assert json.loads(out) == json.loads(driver_out)
    else:
        lines, driver_lines = out.splitlines(), driver_out.splitlines()
        assert lines and driver_lines[-len(lines) :] == lines


def test_a_signal_ends_the_following_and_not_the_run(driven):
    run = driven()
    code, out, err = run.resume("json", lambda: os.kill(os.getpid(), signal.SIGINT))
    assert (code, json.loads(out)["exit"]) == (130, 130)
    assert "The run continues in another process" in err
    assert run.process.poll() is None
    run.answer()
    assert run.process.wait(PATIENCE) == 0


def test_questions_of_a_followed_run_are_denied_where_that_was_said(driven):
    run = driven()
    code, _, _ = run.resume("json", lambda: None, "--on-approval", "deny")
    assert (code, run.process.wait(PATIENCE)) == (4, 4)


def test_a_run_whose_driver_is_killed_before_it_heard_is_driven_here(driven):
    run = driven()

    def die():
        run.kill()
        run.answer()

    code, out, err = run.resume("json", die)
    assert (code, json.loads(out)["status"]) == (0, "completed"), err
    leases = [event.body.pid for event in run.journal.events(run.run) if event.kind == "lease.taken"]
    assert leases == [run.process.pid, os.getpid()]


WORKS = command("w", "while [ -e busy ]; do sleep 0.1; done", workspace="{root: ./}")


def test_a_run_that_is_terminated_leaves_its_command_and_a_resumed_one_follows_it(shop):
    (shop.project / "busy").touch()
    work = "echo x >> n; while [ -e busy ]; do sleep 0.1; done; echo ended"
    project(shop.project, command("w", work, workspace="{root: ./}"))
    shop.call("trust", "--yes")
    process = shop.start("pipeline", "run", "p.yaml", "--output-format", "json")
    until((shop.project / "n").exists)
    process.terminate()
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and "Not ended: w. workbench pipeline cancel" in err
    (shop.project / "busy").unlink()
    assert shop.json("pipeline", "resume")["status"] == "completed"
    assert (shop.project / "n").read_text() == "x\n"


def test_a_run_whose_process_is_killed_is_lost_wherever_it_is_listed(shop):
    (shop.project / "busy").touch()
    project(shop.project, WORKS)
    shop.call("trust", "--yes")
    process = shop.start("pipeline", "run", "p.yaml")
    with Journal.open(Home.open(shop.home)) as journal:
        (run,) = until(lambda: [row for row in journal.pipeline_states() if row.status == "running"])
        state = ScreenState(JournalSource(journal, str(shop.project)))
        state.load()
        assert (state.look_at_drivers(), state.sessions[run.pipeline_id].status) == (set(), "processing")
        assert seconds_until_change(state, journal.now()) <= DRIVER_CHECK_SECONDS, "the screen looks again"
        process.kill()
        process.wait()
        assert state.look_at_drivers() == {run.pipeline_id}
        rows = (state.sessions[run.pipeline_id], state.runs.rows[run.pipeline_id])
        assert [row.status for row in rows] == ["lost", "lost"]
        assert seconds_until_change(state, journal.now()) is None, "nothing moves any more: it sleeps"
        library = LibraryModel(journal, lambda *_: None)
        library.read()
        assert library.sessions[run.pipeline_id].status == "lost"
    assert [row["status"] for row in shop.json("pipeline", "list", "--runs")] == ["lost"]
    assert [row["status"] for row in shop.json("sessions", "list", "--status", "lost")] == ["lost"]
    resume = f"workbench pipeline resume {run.pipeline_id[:8]} continues it."
    assert resume in shop.call("pipeline", "status").stdout
    assert resume in shop.call("sessions", "show", run.pipeline_id).stdout
    (shop.project / "busy").unlink()
    assert shop.json("pipeline", "resume", "--on-approval", "deny")["status"] == "completed"


@pytest.mark.campaign
def test_a_hundred_runs_beside_a_background_process_are_driven_by_their_commands(shop, record_property):
    project(shop.project, command("a", "true"))
    shop.call("trust", "--yes")
    host = shop.start("host", "serve", str(shop.project))
    until(lambda: shop.json("host", "status")["is_running"])
    screen = FileLock(screen_lock_path(Home.open(shop.home), str(shop.project)))
    assert screen.try_acquire(), "it stays as long as a screen is attached"
    for number in range(100):
        assert host.poll() is None
        gate = number % 10 == 9
        project(shop.project, STEPS if gate else command("a", "true"))
        shop.call("trust", "--yes")
        words = ("pipeline", "run", "p.yaml", "--output-format", "json", "--on-approval", "deny")
        process = shop.start(*words)
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, json.loads(out)["exit"]) == ((4, 4) if gate else (0, 0)), (number, err)
    with Journal.open(Home.open(shop.home)) as journal:
        runs = [run.pipeline_id for run in journal.pipeline_states()]
        drivers = [e.body.driver for run in runs for e in journal.events(run) if e.kind == "lease.taken"]
    assert drivers == ["run"] * 100
    screen.release()
    record_property("runs", len(runs))
