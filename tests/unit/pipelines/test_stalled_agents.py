"""Agents that produce no event for too long (`runtime.stall_timeout`): their steps are ended, and tried again."""

import os

from hypothesis import given
from hypothesis import strategies as st

from tests.support.waits import until
from tests.unit.pipelines.projects import MANIFEST
from tests.unit.pipelines.test_adapter_session import working
from workbench.domain.step_messages import StepOutcome
from workbench.effects.process_table import ProcessIdentity, is_running
from workbench.host.steps.stall_watch import StallWatch


class Loop:
    """A clock that is moved by hand, with at most one timer."""

    def __init__(self):
        self.now, self.timer = 0, None

    def time(self):
        return self.now

    def call_at(self, when, call):
        self.timer = (when, call)
        return self

    def cancel(self):
        self.timer = None

    def move(self, seconds):
        until = self.now + seconds
        while self.timer is not None and self.timer[0] <= until:
            (self.now, call), self.timer = self.timer, None
            call()
        self.now = until


@given(st.lists(st.integers(1, 30), max_size=12), st.integers(1, 20))
def test_a_step_is_stopped_once_and_only_after_a_silence_of_that_length(pauses, seconds):
    loop, stopped = Loop(), []
    with StallWatch(seconds, lambda: stopped.append(loop.now), loop) as watch:
        quiet = loop.now
        for pause in pauses:
            loop.move(pause)
            if stopped:
                break
            watch.note()
            quiet = loop.now
    assert loop.timer is None
    assert stopped == ([quiet + seconds] if any(pause >= seconds for pause in pauses) else [])
    ended = watch.outcome(StepOutcome(state="cancelled", reason="it was stopped"))
    assert (ended.state, ended.is_retryable) == (("failed", True) if stopped else ("cancelled", True))
    done = StepOutcome(state="completed")
    assert watch.outcome(done) == done


def test_without_a_limit_nothing_is_watched():
    loop = Loop()
    with StallWatch(0, lambda: None, loop):
        assert loop.timer is None


def stalling(manifest, member="stall_timeout: 300ms"):
    return manifest.replace("runtime:\n", f"runtime:\n  {member}\n")


STEP = """
  - id: a
    persona: %s
    exec: {type: prompt, source: "do it"}
    retry: {max_attempts: 2}
"""


def test_the_program_of_an_agent_that_says_nothing_is_ended_and_tried_again(runs, tmp_path):
    waits = [{"type": "WAIT"}, {"result": "Done."}]
    here = working(runs, tmp_path, waits, "program")
    (here.root / "wave.yaml").write_text(stalling((here.root / "wave.yaml").read_text()))
    here.trust()
    row = here.run(STEP % "outside")
    assert (row.status, here.step(row.pipeline_id, "a").attempt) == ("failed", 2)
    assert "it produced nothing for 300 ms and was ended (runtime.stall_timeout)" in row.error_message
    sessions = here.journal.sessions(parent_id=row.pipeline_id, kinds=("step",))
    assert [session.status for session in sessions] == ["terminated"] * 2


def test_the_program_of_an_agent_that_its_driver_left_is_ended_too(runs, tmp_path):
    here = working(runs, tmp_path, [{"type": "WAIT"}], "program")
    (here.root / "wave.yaml").write_text(stalling((here.root / "wave.yaml").read_text()))
    here.trust()
    run = here.request(here.pipeline((STEP % "outside").replace("max_attempts: 2", "max_attempts: 1")))
    here.drive(run, until=lambda _: here.bodies(run, "process.started"), seconds=20)
    (body,) = [body for _, body in here.bodies(run, "process.started")]
    program = ProcessIdentity(pid=body.pid, group=body.group, start_time=body.start_time)
    until(lambda: not is_running(program))
    row = here.resume(run)
    assert row.status == "failed"
    assert "it produced nothing for 300 ms and was ended (runtime.stall_timeout)" in row.error_message
    here.check()


def test_the_agent_of_this_program_whose_command_hangs_is_ended(runs, tmp_path):
    os.mkfifo(tmp_path / "never")
    manifest = MANIFEST.replace("allowed_tools: [Read, Write]", "allowed_tools: ['*']")
    here = runs(manifest=stalling(manifest))
    reads = {"id": "c1", "name": "run_in_terminal", "arguments": {"command": f"cat {tmp_path}/never"}}
    here.record("a", {"reply": [{"tool_call": reads}]}, {"reply": [{"text": "done"}]})
    row = here.run(
        (STEP % "builder").replace("max_attempts: 2", "max_attempts: 1"), grants=("Bash(*)", "execute")
    )
    assert row.status == "failed", here.waiting(row.pipeline_id)
    assert "runtime.stall_timeout" in row.error_message
    here.check()
