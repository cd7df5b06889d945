"""Steps that name a level of the sandbox run inside; without a sandbox they fail before they run."""

import pytest

from tests.support.boxes import limit_names
from tests.support.stage import exchange, text
from tests.unit.pipelines.projects import MANIFEST, command, project
from workbench.effects.sandbox_proof import prove_sandbox
from workbench.pipelines.load import load_pipeline
from workbench.pipelines.step_notes import step_notes

LEVELS = ("read-only", "workspace")


@pytest.fixture
def sandbox(monkeypatch):
    """Let runs use the sandbox of this machine."""
    monkeypatch.delenv("WORKBENCH_SANDBOX_BACKEND")
    found = prove_sandbox("auto")
    if found.strength != "full":
        pytest.skip(f"no full sandbox: {found.problem}")


def ran(runs, tmp_path, head="", **more):
    """Run a step that writes here and elsewhere; return what it could write, and the row of its run."""
    here, elsewhere = runs(), tmp_path / "elsewhere.txt"
    steps = command("a", f"touch made.txt; touch {elsewhere}; test -e made.txt", **more)
    run = here.request(here.pipeline(steps, head=head))
    row = here.drive(run)
    return elsewhere.exists(), row, here.step(run, "a")


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize(
    ("more", "is_left", "status"),
    [
        ({}, True, "completed"),
        ({"sandbox": "outside"}, True, "completed"),
        ({"sandbox": "workspace"}, False, "completed"),
        ({"sandbox": "read-only"}, False, "failed"),
    ],
)
def test_a_command_runs_at_the_level_of_its_step(runs, tmp_path, more, is_left, status):
    was_left, row, _ = ran(runs, tmp_path, **more)
    assert (was_left, row.status) == (is_left, status)


@pytest.mark.usefixtures("sandbox")
def test_a_level_of_the_pipeline_holds_for_steps_that_name_none(runs, tmp_path):
    assert ran(runs, tmp_path, head="sandbox: workspace\n")[0] is False
    assert ran(runs, tmp_path, head="sandbox: workspace\n", sandbox="outside")[0] is True


@pytest.mark.usefixtures("sandbox")
def test_a_file_that_controls_the_workspace_fails_the_step_that_left_it(runs):
    here = runs()
    run = here.request(here.pipeline(command("a", "touch .envrc", sandbox="workspace")))
    here.drive(run)
    step = here.step(run, "a")
    assert step.state == "failed"
    assert ".envrc" in step.error_message


@pytest.mark.usefixtures("sandbox")
def test_a_step_that_fills_the_workspace_fails_and_its_run_goes_on(runs, monkeypatch):
    limit_names(monkeypatch, 200)
    here = runs()
    line = "touch .envrc $(seq 300)"
    run = here.request(here.pipeline(command("a", line, sandbox="workspace")))
    here.drive(run)
    step = here.step(run, "a")
    assert step.state == "failed"
    assert "the workspace, which could not be looked through" in step.error_message


@pytest.mark.parametrize("level", LEVELS)
def test_without_a_sandbox_a_step_that_names_a_level_fails_before_it_runs(runs, tmp_path, level):
    was_left, row, step = ran(runs, tmp_path, sandbox=level)
    assert (was_left, row.status, step.state) == (False, "failed", "failed")
    assert f"It names the level {level}, and the sandbox is switched off" in step.error_message


AGENT = """
- id: a
  persona: builder
  exec: {type: prompt, source: do it}
  sandbox: workspace
"""


def test_without_a_sandbox_an_agent_that_is_promised_one_is_not_asked(runs):
    here = runs()
    here.record("a", exchange(text("done")))
    run = here.request(here.pipeline(AGENT))
    here.drive(run)
    assert "It names the level workspace" in here.step(run, "a").error_message


@pytest.mark.usefixtures("sandbox")
def test_the_session_of_an_agent_has_the_level_of_its_step(runs):
    here = runs()
    here.record("a", exchange(text("done")))
    run = here.request(here.pipeline(AGENT.replace("workspace", "read-only")))
    here.drive(run)
    assert here.journal.session(here.step(run, "a").session_id).sandbox_level == "read-only"


def problems(tmp_path, steps, manifest=MANIFEST):
    return load_pipeline(project(tmp_path, steps, manifest=manifest)).report


def test_another_word_is_a_wrong_value(tmp_path):
    (found,) = problems(tmp_path, command("a", sandbox="all")).errors
    assert "read-only" in found.message


def test_another_agent_inside_is_warned_of(tmp_path):
    manifest = MANIFEST.replace("binary: workbench", "binary: other-agent")
    found = [problem.message for problem in problems(tmp_path, AGENT, manifest).warnings]
    assert any("other-agent runs inside the sandbox, which has no network" in message for message in found)
    assert not any("no network" in p.message for p in problems(tmp_path, AGENT).warnings)


def test_a_plan_says_the_level_of_each_step(tmp_path):
    steps = command("a", sandbox="workspace") + command("b")
    pipeline = load_pipeline(project(tmp_path, steps)).pipeline
    assert [step_notes(step, None) for step in pipeline.steps] == [
        ["sandbox workspace", "30 min"],
        ["30 min"],
    ]
