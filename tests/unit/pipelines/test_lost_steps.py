"""Steps whose process was lost: nothing runs again before a person says so."""

import pytest

from tests.support.runs import USER
from workbench.domain.step_messages import StepEvent
from workbench.domain.values import Decision
from workbench.host.steps import run_driver
from workbench.host.steps.run_requests import cancel_run, resume_run
from workbench.journal.decisions import decide_action, expire_due_actions
from workbench.pipelines.executor import StepMachine
from workbench.pipelines.lost_steps import AGAIN, DONE, FAILED
from workbench.pipelines.step_process import ProcessLost


class Losing:
    """Loses the processes of some steps, after they ran; finds none again."""

    def __init__(self, *steps):
        self.steps, self.started = list(steps), []

    def __call__(self, here):
        self.real = here.processes
        return StepMachine(workspaces=here.workspaces, processes=self)

    async def start(self, job):
        self.started.append(str(job.id).partition("/")[2])
        process = await self.real.start(job)
        if job.id.step in self.steps and not job.id.part:
            self.steps.remove(job.id.step)
            return LostProcess(process)
        return process

    async def find(self, step, started):
        return await self.real.find(step, started)

    def leave(self): ...


class LostProcess:
    def __init__(self, real):
        self.real, self.started = real, StepEvent(kind="progress")
        self.abandon = real.abandon

    async def follow(self, on_output, on_stdout, stop):
        await self.real.follow(on_output, on_stdout, stop)
        raise ProcessLost("the machine went away")


STEPS = """
  - id: deploy
    workspace: {root: ./}
    retry: {max_attempts: 3}
    exec: {type: command, source: "echo went >> log; echo half way; echo 1 > out.txt"}
    output_artifacts: [{name: out, path: out.txt}]
    handover: {contract: {type: test_suite, command: "test -f out.txt && ! test -f wrong"}}
  - {id: after, dependencies: [deploy], exec: {type: command, source: "true"}}
"""


def asked(here, steps=STEPS, machine=None, **more):
    machine = machine or Losing("deploy")
    run = here.request(here.pipeline(steps))
    row = here.drive(run, machine=machine, **more)
    return run, row, machine


def test_a_lost_step_waits_for_a_person(runs):
    here = runs()
    run, row, machine = asked(here)
    assert (row.status, here.states(run)["deploy"]) == ("waiting", "waiting")
    (action,) = here.waiting(run)
    assert action.target == "deploy was running when its process was lost; how it ended is not known"
    (opened,) = [body for _, body in here.bodies(run, "action.opened")]
    assert "Its command:\necho went >> log; echo half way; echo 1 > out.txt" in opened.prompt
    assert list(action.choices) == [FAILED, DONE, AGAIN] and action.expires_at is not None
    assert here.step(run, "deploy").action_id == action.id
    assert machine.started == ["deploy/1"] and here.read("log") == "went\n"
    # Driven again without an answer it still waits, and a yes that names no choice is none.
    assert here.drive(run, machine=machine).status == "waiting" and machine.started == ["deploy/1"]
    plain = Decision(action_id=action.id, verdict="approve")
    assert not decide_action(here.journal, plain, action.digest, USER).ok


def test_run_it_again_starts_it_with_all_its_attempts(runs):
    here = runs()
    steps = STEPS.replace("echo 1 > out.txt", "test $(wc -l < log) -ge 4 && echo 1 > out.txt")
    run, _, machine = asked(here, steps)
    here.answer(run, choice=AGAIN)
    row = here.drive(run, machine=machine)
    assert row.status == "completed", row.error_message
    # One that was lost and three of its own: the lost one ate none of them.
    assert machine.started[:4] == ["deploy/1", "deploy/2", "deploy/3", "deploy/4"]
    assert here.read("log") == "went\n" * 4


def test_it_is_done_collects_and_checks_as_a_completed_step_does(runs):
    here = runs()
    run, _, machine = asked(here)
    here.answer(run, choice=DONE)
    row = here.drive(run, machine=machine)
    assert row.status == "completed", row.error_message
    assert [body.name for _, body in here.bodies(run, "artifact.stored")] == ["out"]
    assert [body.outcome for _, body in here.bodies(run, "contract.checked")] == ["passed"]
    assert here.read("log") == "went\n"
    (ended,) = [
        b for step, b in here.bodies(run, "step.changed") if (step, b.state) == ("deploy", "completed")
    ]
    assert (ended.output, ended.attempt) == ("half way\n", 1)


POLICIES = {
    "fail": STEPS,
    "continue": STEPS.replace("max_attempts: 3", "max_attempts: 3, on_failure: continue"),
    "rework": STEPS.replace("max_attempts: 3", "max_attempts: 1, on_failure: rework, rework_step: fix")
    + "  - {id: fix, rework_only: true, exec: {type: command, source: 'true'}}\n",
    "route": STEPS
    + "  - {id: end, dependencies: [deploy], type: conditional, edges: [{target: _complete, "
    + 'condition: "outcome=failure"}, {target: _complete}]}\n',
}


@pytest.mark.parametrize("policy", ["fail", "rework"])
def test_nothing_runs_again_where_a_check_disagrees_with_the_person(runs, policy):
    here = runs(files={"wrong": ""})
    run, _, machine = asked(here, POLICIES[policy])
    here.answer(run, choice=DONE)
    row = here.drive(run, machine=machine)
    assert row.status == "failed" and "contract test_suite" in row.error_message
    assert here.read("log") == "went\n"


FAILURES = {
    "failed": lambda here, run: here.answer(run, choice=FAILED),
    "reject": lambda here, run: here.answer(run, "reject", reason="no"),
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("said", FAILURES)
def test_it_failed_fails_it_whatever_the_file_says_of_failures(runs, said, policy):
    here = runs()
    run, _, machine = asked(here, POLICIES[policy])
    FAILURES[said](here, run)
    row = here.drive(run, machine=machine)
    assert row.status == "failed"
    assert "how it ended is not known" in here.step(run, "deploy").error_message
    assert "a person said that it failed" in here.step(run, "deploy").error_message
    assert here.states(run)["after"] == "skipped" and machine.started == ["deploy/1"]


def test_a_question_without_an_answer_expires_to_failed(runs, monkeypatch):
    monkeypatch.setattr(run_driver, "approval_window_minutes", lambda *_: 0.0)
    here = runs()
    run, _, machine = asked(here)
    expire_due_actions(here.journal)
    row = here.drive(run, machine=machine)
    assert row.status == "failed" and "nobody said in time how it ended" in row.error_message
    assert here.read("log") == "went\n"


def test_it_fails_at_once_where_nobody_can_answer(runs):
    here = runs()
    run, row, machine = asked(here, can_ask=False)
    assert row.status == "failed" and "nobody can answer here" in row.error_message
    assert here.waiting(run) == [] and machine.started == ["deploy/1"]
    other, _, machine = asked(here)
    assert here.drive(other, machine=machine, can_ask=False).status == "failed"
    assert here.waiting(other) == []


def test_cancelling_the_run_withdraws_the_question(runs):
    here = runs()
    run, _, machine = asked(here)
    cancel_run(here.journal, run, USER)
    assert here.drive(run, machine=machine).status == "cancelled"
    assert here.waiting(run) == [] and here.states(run)["deploy"] == "cancelled"


def test_asking_for_the_step_again_is_an_answer_too(runs):
    here = runs()
    run, _, machine = asked(here)
    resume_run(here.journal, run, USER, "deploy")
    row = here.drive(run, machine=machine)
    assert row.status == "completed" and here.waiting(run) == []
    assert here.read("log") == "went\nwent\n"


MATRIX = """
  - id: each
    strategy: {items: [x, y], max_concurrency: 1}
    exec: {type: command, source: "echo {{ item }}"}
"""


def test_an_item_of_a_list_asks_for_itself(runs):
    here = runs()
    run, row, machine = asked(here, MATRIX, Losing("each[x]"))
    assert row.status == "waiting" and here.states(run)["each[x]"] == "waiting"
    here.answer(run, choice=DONE)
    row = here.drive(run, machine=machine)
    assert (row.status, row.error_message) == ("completed", "")
    assert sorted(machine.started) == ["each[x]/1", "each[y]/1"]
