"""Runs whose steps work elsewhere: workspaces are never here, and what outlives a driver is gone on with."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support import elsewhere
from tests.support.elsewhere import Elsewhere
from tests.support.runs import USER
from tests.unit.pipelines.projects import MANIFEST
from workbench.domain.values import Decision
from workbench.host.steps.run_requests import cancel_run, resume_run
from workbench.host.steps.step_executor import EmbeddedExecutor
from workbench.journal.decisions import decide_action
from workbench.pipelines.lost_steps import AGAIN

DRIVE = Path(__file__).resolve().parents[2] / "support" / "drive_a_run.py"
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def there():
    """A folder that another user may enter."""
    path = Path(tempfile.mkdtemp(prefix="elsewhere-"))
    path.chmod(0o755)
    yield path
    for job in (path / "jobs").glob("*"):
        elsewhere.end(job)
    shutil.rmtree(path)


class Machines:
    """The machines that the drivers of a run were given."""

    def __init__(self, there):
        self.there, self.made = there, []

    def __call__(self, here):
        self.made.append(Elsewhere(here, self.there))
        return self.made[-1].machine

    @property
    def found(self):
        return [one for machine in self.made for one in machine.found]


AGENT = """#!/bin/sh
prompt=$(cat)
case "$prompt" in
*"Review by these criteria"*) echo '{"type": "result", "result": "{\\"verdict\\": \\"pass\\", \\"summary\\": \\"fine\\"}"}' ;;
*) echo '{"a": 1}' > made.json
   echo '{"type": "result", "result": "done", "usage": {"input_tokens": 3, "output_tokens": 2}}' ;;
esac
"""
OTHER = MANIFEST.replace("own:\n    binary: workbench", "own:\n    binary: {binary}\n    args: ['-p']")
SCHEMA = "{type: object, required: [a], properties: {a: {type: integer}}}"
LOW = """\
kind: WavePipeline
metadata: {name: low}
steps:
  - {id: a, exec: {type: command, source: "id -u > who"}, output_artifacts: [{name: low, path: who}]}
"""
STEPS = f"""
  - id: list
    exec: {{type: command, source: "id -u > who; printf '[1, 2]' > list.json"}}
    output_artifacts: [{{name: who, path: who}}, {{name: list, path: list.json}}]
  - id: each
    dependencies: [list]
    strategy: {{type: matrix, items_source: list/list.json}}
    workspace: {{mount: [{{source: src, target: /src, mode: readonly}}]}}
    memory: {{inject_artifacts: [{{step: list, artifact: who, as: who}}]}}
    exec: {{type: command, source: "cat src/a.txt artifacts/who; echo {{{{ item }}}} > n"}}
    output_artifacts: [{{name: n, path: n}}, {{name: said, source: stdout}}]
  - id: fix
    dependencies: [list]
    workspace: {{mount: [{{source: src, target: /src, mode: readwrite}}]}}
    exec: {{type: command, source: "echo new > src/a.txt; echo b > src/b.txt"}}
    handover: {{contract: {{type: test_suite, command: "grep -q new src/a.txt"}}}}
  - {{id: below, pipeline: low, input: x}}
  - id: make
    persona: builder
    exec: {{type: prompt, source: "Make it."}}
    output_artifacts: [{{name: made, path: made.json, type: json}}]
    handover:
      contracts:
        - {{type: json_schema, schema: {SCHEMA}}}
        - {{type: agent_review, persona: reader, criteria: it is there}}
"""


def test_a_run_whose_workspaces_are_elsewhere_comes_to_the_same(runs, there):
    agent = there / "agent"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    here = runs(
        manifest=OTHER.replace("{binary}", str(agent)),
        files={"src/a.txt": "old\n", ".wave/pipelines/low.yaml": LOW},
    )
    machines = Machines(there)
    row = here.run(STEPS, machine=machines)
    changes = here.bodies(row.pipeline_id, "step.changed")
    assert {step: body.detail for step, body in changes if body.state == "failed"} == {}
    assert (row.status, row.error_message) == ("completed", "")
    # Nothing of a workspace was here, and everything ran as somebody else where this one may choose.
    named = {body.workspace for _, body in changes} - {""}
    assert len(named) == 6 and not any(map(os.path.exists, named))
    stored = here.bodies(row.pipeline_id, "artifact.stored")
    left = {(step[:5], body.name): here.journal.blobs.read(body.content_ref) for step, body in stored}
    assert left["list", "who"] == f"{elsewhere.user()}\n".encode()
    assert left["below", "low"] == left["list", "who"]
    assert left["each[", "said"] == f"old\n{elsewhere.user()}\n".encode()
    assert (here.read("src/a.txt"), here.read("src/b.txt")) == ("new\n", "b\n")
    checks = [
        (step, body.contract, body.outcome) for step, body in here.bodies(row.pipeline_id, "contract.checked")
    ]
    assert sorted(checks) == [
        ("fix", "test_suite", "passed"),
        ("make", "agent_review", "passed"),
        ("make", "json_schema", "passed"),
    ]
    assert here.step(row.pipeline_id, "make").usage.output_tokens == 2


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ('validation: [{type: file_exists, target: no.txt}]\n    exec: {type: command, source: "true"}', "no.txt is not there"),
        ('exec: {type: command, source: "exit 3"}', "exit code 3"),
        ('exec: {type: command, source: "true"}\n    output_artifacts: [{name: x, path: x.txt}]', "it ended without writing x.txt"),
        ('exec: {type: command, source: "echo [] > x.json"}\n    output_artifacts: [{name: x, path: x.json}]\n    handover: {contract: {type: json_schema, schema: {type: object}}}', "$: [] is not of type 'object'"),
    ],
)  # fmt: skip
def test_what_fails_elsewhere_fails_here_in_the_same_words(runs, there, step, why):
    here = runs()
    rows = [here.run(f"\n  - id: a\n    {step}\n", machine=machine) for machine in (None, Machines(there))]
    assert [row.status for row in rows] == ["failed", "failed"]
    assert all(why in row.error_message for row in rows)


# --- a driver that dies while a step works elsewhere -------------------------------------------------------

WAITS = """
  - id: a
    exec: {{type: command, source: "echo begun >> {there}/count; read go < {there}/gate; echo $go > out"}}
    output_artifacts: [{{name: out, path: out}}]
  - id: b
    dependencies: [a]
    exec: {{type: command, source: "echo after >> {there}/count"}}
"""


@pytest.fixture
def left(runs, there):
    """A run whose driver died while its first step works elsewhere."""
    here = runs()
    os.mkfifo(there / "gate")
    (there / "count").touch()
    for name in ("gate", "count"):
        os.chown(there / name, elsewhere.user(), -1)
    run = here.request(here.pipeline(WAITS.format(there=there)))
    words = [sys.executable, str(DRIVE), str(here.home.path), str(here.root), run, str(there)]
    died = subprocess.run(
        words, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False
    )
    assert died.returncode == 137, died.stderr
    assert here.states(run)["a"] == "running"
    return here, run


@contextlib.contextmanager
def opened(there):
    """Let whatever waits at the gate go on, or comes to it."""
    gate = subprocess.Popen(["/bin/sh", "-c", f"trap '' PIPE; while :; do echo open > {there}/gate; done"])
    try:
        yield
    finally:
        gate.kill()
        gate.wait()


def test_an_attempt_that_outlived_its_driver_is_gone_on_with(left, there):
    here, run = left
    machines = Machines(there)
    assert here.drive(run, machine=machines).status != "completed"  # not without a human's word
    with opened(there):
        row = here.resume(run, machine=machines)
    assert (row.status, row.error_message) == ("completed", "")
    assert machines.found == [f"{run}/a/1"]
    assert (there / "count").read_text() == "begun\nafter\n"
    assert here.step(run, "a").attempt == 1
    (stored,) = [body for _, body in here.bodies(run, "artifact.stored")]
    assert here.journal.blobs.read(stored.content_ref) == b"open\n"


@pytest.mark.campaign
def test_one_that_was_lost_there_too_is_done_again_only_after_a_persons_word(left, there):
    here, run = left
    machines = Machines(there)
    for job in (there / "jobs").glob("*"):
        elsewhere.end(job)
    assert here.resume(run, machine=machines).status == "waiting"
    assert (there / "count").read_text() == "begun\n"
    here.answer(run, choice=AGAIN)
    with opened(there):
        row = here.drive(run, machine=machines)
    assert row.status == "completed"
    assert (there / "count").read_text() == "begun\nbegun\nafter\n"
    assert here.step(run, "a").attempt == 2


@pytest.mark.campaign
@pytest.mark.parametrize("said", ["cancel", "again", "files"])
def test_one_that_nobody_wants_any_more_is_ended_there(left, there, said):
    here, run = left
    (job,) = (there / "jobs").glob("*")
    machines = Machines(there)
    if said == "cancel":
        cancel_run(here.journal, run, USER)
        assert here.drive(run, machine=machines).status == "cancelled"
        assert not elsewhere.runs(job)
        return
    if said == "files":
        here.pipeline(WAITS.format(there=there).replace(f"read go < {there}/gate", "go=other"))
        resume_run(here.journal, run, USER, reads_files=True)
    else:
        resume_run(here.journal, run, USER, "a")
    with opened(there):
        row = here.drive(run, machine=machines)
    assert row.status == "completed" and not elsewhere.runs(job)
    assert here.step(run, "a").attempt == 2


# --- answers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_an_executor_is_told_what_a_human_decided_before_the_attempt_goes_on(
    runs, there, monkeypatch, verdict
):
    answers = []

    async def answer(_executor, step, action_id, decision):
        answers.append((str(step), action_id, decision.verdict, decision.reason))

    monkeypatch.setattr(EmbeddedExecutor, "answer", answer)
    here = runs()
    asks = {"id": "c1", "name": "create_file", "arguments": {"path": "plan.md", "content": "do it\n"}}
    here.record("a", {"reply": [{"tool_call": asks}]}, {"reply": [{"text": "done"}]})
    machines = Machines(there)
    run = here.request(here.pipeline("\n  - {id: a, persona: builder, exec: {type: prompt, source: go}}\n"))
    assert here.drive(run, machine=machines).status == "waiting"
    assert answers == []
    child = here.step(run, "a").session_id
    (action,) = here.journal.actions(child)
    said = Decision(action_id=action.id, verdict=verdict, reason="so it is")
    assert decide_action(here.journal, said, action.digest, USER).ok
    assert here.drive(run, machine=machines).status == "completed"
    assert answers == [(f"{run}/a/1", action.id, verdict, "so it is")]
