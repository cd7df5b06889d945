"""A command that asks for a run drives it: the background process looks in between and finds nothing to take."""

import asyncio
import json
import os
import signal

import pytest
from msgspec.structs import replace

from tests.support.waits import PATIENCE
from tests.unit.pipelines.projects import command, project, said
from workbench.cli import pipeline_run
from workbench.domain.values import Actor
from workbench.effects.fault_points import arm_fault
from workbench.effects.file_locks import FileLock
from workbench.host.driver_context import open_driver_context
from workbench.host.host_locks import driver_identity
from workbench.host.session_provider import provider_of
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.host.steps.run_requests import RunRequest, request_run
from workbench.host.supervisor import Supervisor
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverLock

USER = Actor(kind="user", pid=1, via="cli")
GATE = "- {id: g, gate: {prompt: go?}}\n"
HERE = "{root: ./}"
STEPS = command("a", "echo a >> ran.log", workspace=HERE)
WAITS_FOR_FILE = command("a", "test -e now", workspace=HERE)


@pytest.fixture
def place(tmp_path):
    root = tmp_path / "p"
    root.mkdir()
    project(root, STEPS)
    assert said(root, "trust", "--yes")[0] == 0
    return root


def rewritten(root, steps):
    project(root, steps)
    said(root, "trust", "--yes")


async def supervise(root, journal, *, count=1):
    """Let background processes look at everything of a workspace, and drive what they find to its end."""
    with DriverLock(journal, driver_identity(journal, str(root), "host")) as lock:
        supervisors = []
        for number in range(count):
            context = open_driver_context(
                journal.home, journal, str(root), provider=provider_of, pipelines=SessionPipelineStarter
            )
            driver = replace(lock.driver, host_id=lock.driver.host_id + ("-two" if number else ""))
            supervisors.append(Supervisor(context, driver, lambda: False, linger=0))
        with FileLock(journal.home.driver_lock(f"{lock.driver.host_id}-two")) as second:
            assert second.try_acquire()
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*(supervisor.run(asyncio.Event()) for supervisor in supervisors))


def look_of_background(root):
    with Journal.open(Home.open()) as journal:
        asyncio.run(supervise(root, journal))


def said_with_a_look(root, *words):
    """Have the background process look as soon as something is asked for, before it is driven."""
    with arm_fault("run.requested", lambda: look_of_background(root)):
        return said(root, *words)


def owner(run_id):
    with Journal.open(Home.open()) as journal:
        return [(e.body.driver, e.body.epoch) for e in journal.events(run_id) if e.kind == "lease.taken"]


def test_a_run_belongs_to_the_command_that_began_it(place):
    code, out, err = said_with_a_look(place, "pipeline", "run", "p.yaml", "--json")
    found = json.loads(out)
    assert (code, found["status"], found["exit"], err) == (0, "completed", 0, "")
    assert owner(found["run_id"]) == [("run", 1)]


@pytest.mark.parametrize(("mode", "code"), [("deny", 4), ("park", 3)])
def test_how_a_command_meets_questions_counts(place, mode, code):
    rewritten(place, GATE)
    assert said_with_a_look(place, "pipeline", "run", "p.yaml", "--on-approval", mode)[0] == code


@pytest.mark.parametrize("more", [(), ("--from-step", "a")])
def test_a_run_that_is_resumed_belongs_to_the_command_that_resumed_it(place, more):
    rewritten(place, WAITS_FOR_FILE)
    assert said(place, "pipeline", "run", "p.yaml")[0] == 1
    (place / "now").touch()
    code, out, _ = said_with_a_look(place, "pipeline", "resume", *more, "--json")
    found = json.loads(out)
    assert (code, found["status"]) == (0, "completed")
    assert owner(found["run_id"]) == [("run", 1), ("run", 2)]


def test_what_is_detached_is_left_to_the_background_process(place, monkeypatch):
    rewritten(place, WAITS_FOR_FILE)
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: look_of_background(place))
    code, out, _ = said(place, "pipeline", "run", "p.yaml", "--detach", "--json")
    run_id = json.loads(out)["run_id"]
    assert (code, owner(run_id)) == (0, [("host", 1)])
    (place / "now").touch()
    code, out, _ = said(place, "pipeline", "resume", "--detach", "--json")
    found = json.loads(out)
    assert (code, found["run_id"], found["status"]) == (0, run_id, "completed")
    assert owner(run_id) == [("host", 1), ("host", 2)]


def test_a_run_that_completed_meanwhile_is_no_error(place, monkeypatch):
    said(place, "pipeline", "run", "p.yaml")
    real = pipeline_run.find_run
    assert said(place, "pipeline", "resume")[0] == 1
    monkeypatch.setattr(pipeline_run, "find_run", lambda *words: replace(real(*words), status="running"))
    code, out, _ = said(place, "pipeline", "resume", "--json")
    assert (code, json.loads(out)["status"]) == (0, "completed")


def test_a_signal_before_the_run_is_driven_stops_it(place):
    with arm_fault("run.requested", lambda: os.kill(os.getpid(), signal.SIGTERM)):
        code, out, err = said(place, "pipeline", "run", "p.yaml", "--json")
    look_of_background(place)
    assert (code, json.loads(out)["exit"]) == (130, 130) and "Interrupted." in err
    assert not (place / "ran.log").exists(), "nothing of it was started, and the background process leaves it"
    assert said(place, "pipeline", "resume")[0] == 0


def test_two_background_processes_drive_a_run_once(place, caplog):
    with Journal.open(Home.open()) as journal:
        run_id = request_run(journal, str(place), RunRequest(name="p.yaml"), USER)
        asyncio.run(supervise(place, journal, count=2))
        assert journal.pipeline_state(run_id).status == "completed"
        taken = [e.body.host_id for e in journal.events(run_id) if e.kind == "lease.taken"]
    assert len(taken) == 1
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
