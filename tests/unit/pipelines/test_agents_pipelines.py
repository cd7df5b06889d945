"""Pipelines that an agent of a step starts: sealed, asked about with their graph, within their limits."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from tests.support.runs import USER
from tests.unit.pipelines.projects import MANIFEST
from tests.unit.pipelines.test_runs_engine import TWO, artifact
from workbench.domain.events import RuleAdded
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.journal.decisions import add_rule
from workbench.tools.base import ToolRefused

OPEN = MANIFEST.replace("allowed_tools: [Read, Write]", "allowed_tools: ['*']")
LIMITS = "  meta_pipeline: {max_depth: %d, max_total_steps: %d, max_total_tokens: %d, timeout_minutes: 60}\n"
GO = "\n  - {id: go, persona: builder, exec: {type: prompt, source: go}}\n"
OWN = """kind: WavePipeline
metadata: {name: own}
steps:
  - {id: one, exec: {type: command, source: "echo {{ input }} > said.txt"}, output_artifacts: [{name: said, path: said.txt}]}
  - {id: two, dependencies: [one], exec: {type: command, source: "echo two"}}
"""


def says(here, step, **arguments):
    start = {"tool_call": {"id": "c1", "name": "pipeline_run", "arguments": {"input": "x", **arguments}}}
    here.record(step, {"reply": [start]}, {"reply": [{"text": "done"}]})


def below(here, text=TWO):
    folder = here.root / ".wave/pipelines"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "below.yaml").write_text(f"kind: WavePipeline\nmetadata: {{name: below}}\nsteps:\n{text}")
    return folder / "below.yaml"


def the_call(here, run, step="go"):
    (call,) = here.journal.calls(here.step(run, step).session_id)
    return call


def named(here, name):
    return [row for row in here.journal.pipeline_states() if row.pipeline_name == name]


def waiting(here, run):
    here.journal.session(run)
    (action,) = here.waiting(run)
    (opened,) = [e.body for e in here.journal.events(action.session_id) if e.kind == "action.opened"]
    return action, opened


@pytest.mark.spec(197)
def test_a_step_with_a_folder_of_its_own_starts_a_pipeline_of_the_project(runs):
    here = runs(manifest=OPEN)
    below(here)
    says(here, "go", name="below")
    row = here.run(GO, grants=("pipeline.run",))
    call = the_call(here, row.pipeline_id)
    assert (call.state, call.summary) == ("succeeded", "completed, 2 steps"), call
    (child,) = named(here, "below")
    assert here.journal.session(child.pipeline_id).workspace == str(here.root)


def test_exactly_the_bytes_run_that_were_approved_whatever_the_file_says_later(runs):
    here = runs(manifest=OPEN)
    file = below(
        here,
        "\n  - {id: a, exec: {type: command, source: 'echo shown'}, output_artifacts: [{name: x, source: stdout}]}\n",
    )
    says(here, "go", name="below")
    run = here.run(GO).pipeline_id
    _, opened = waiting(here, run)
    assert "1  a: command  echo shown" in opened.prompt and opened.subject["digest"] in opened.prompt
    below(
        here,
        "\n  - {id: a, exec: {type: command, source: 'echo other'}, output_artifacts: [{name: x, source: stdout}]}\n",
    )
    here.trust()
    here.answer(run)
    assert here.drive(run).status == "completed"
    (child,) = named(here, "below")
    assert artifact(here, child.pipeline_id, "a", "x") == b"shown\n"
    assert "other" in file.read_text()


@pytest.mark.spec(197)
def test_a_pipeline_that_an_agent_wrote_is_asked_about_with_its_graph_and_runs_as_it_was_shown(runs):
    here = runs(manifest=OPEN)
    says(here, "go", name="own", definition=OWN)
    run = here.run(GO).pipeline_id
    action, opened = waiting(here, run)
    lines = opened.prompt.splitlines()
    assert lines[0] == "Run the pipeline own, which the agent wrote:"
    assert lines[1] == "  1  one: command  echo {{ input }} > said.txt"
    assert lines[2].startswith("  2  two after one: command")
    assert (action.tool, action.state) == ("pipeline.run", "pending")
    here.answer(run)
    assert here.drive(run).status == "completed"
    (child,) = named(here, "own")
    assert (child.status, artifact(here, child.pipeline_id, "one", "said")) == ("completed", b"x\n")
    assert here.journal.session(child.pipeline_id).parent_id == the_call(here, run).session_id


@pytest.mark.parametrize("grant", ["pipeline.run", "*"])
def test_no_grant_does_instead_of_a_humans_answer(runs, grant):
    here = runs(manifest=OPEN)
    says(here, "go", name="own", definition=OWN)
    row = here.run(GO, grants=(grant,))
    assert the_call(here, row.pipeline_id).state == "failed"
    assert "only a human's answer counts" in the_call(here, row.pipeline_id).error
    assert named(here, "own") == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("kind: WavePipeline\n", "needs"), ("steps: [", "expected"), (OWN.replace("[one]", "[three]"), "no step three"),
        (OWN.replace("said.txt}]", "../said.txt}]"), "leads out"),
        (OWN.replace("exec: {type: command, source: \"echo two\"}", "persona: nobody, exec: {type: prompt, source: x}"), "nobody"),
    ],
)  # fmt: skip
def test_a_pipeline_that_is_wrong_is_told_to_the_agent_and_asked_about_by_nobody(runs, text, why):
    here = runs(manifest=OPEN)
    says(here, "go", name="own", definition=text)
    row = here.run(GO)
    call = the_call(here, row.pipeline_id)
    assert (call.state, why in call.error) == ("rejected", True), call
    assert named(here, "own") == []


@pytest.mark.spec(97)
def test_a_pipeline_that_starts_itself_ends_at_the_depth_limit(runs):
    here = runs(manifest=OPEN + LIMITS % (2, 20, 10_000))
    below(here, GO)
    says(here, "go", name="below")
    here.trust()
    allowed = RuleAdded(
        rule="R0", effect="allow", origin="user", scope="always", tool="pipeline.run", pattern_kind="glob",
        pattern="pipeline.run", description="every pipeline",
    )  # fmt: skip
    add_rule(here.journal, allowed, USER)
    here.drive(here.request(here.pipeline(GO)))
    assert len(named(here, "below")) == 2
    told = [the_call(here, row.pipeline_id).error or "" for row in named(here, "below")]
    assert any("pipelines may start pipelines 2 deep (meta_pipeline.max_depth)" in error for error in told), (
        told
    )


@pytest.mark.spec(97)
def test_its_steps_and_tokens_are_limited(runs):
    here = runs(manifest=OPEN + LIMITS % (2, 1, 10_000))
    says(here, "go", name="own", definition=OWN)
    row = here.run(GO)
    assert (
        "it would come to 2 steps; meta_pipeline.max_total_steps is 1"
        in the_call(here, row.pipeline_id).error
    )
    below(here)
    says(here, "go", name="below")
    here.trust()
    assert (
        the_call(here, here.run(GO, grants=("pipeline.run",)).pipeline_id).state == "succeeded"
    )  # of the project


@pytest.mark.spec(97)
@pytest.mark.parametrize(("steps", "depth", "is_refused"), [(12, 2, False), (13, 2, True), (1, 3, True)])
def test_limits_of_what_an_agent_starts_include_themselves(steps, depth, is_refused):
    starter = SimpleNamespace(_depth=lambda: depth, _generated_steps=lambda: iter((3, 5)))
    pipeline = SimpleNamespace(steps=[None] * steps)
    with pytest.raises(ToolRefused) if is_refused else nullcontext():
        SessionPipelineStarter._require_within_limits(starter, pipeline, None, is_generated=True)


def test_what_is_denied_to_an_agent_is_denied_below_it(runs):
    here = runs(manifest=OPEN.replace('deny: ["Bash(rm *)"]', 'deny: ["Write(secret*)"]'))
    below(here, "\n  - {id: in, persona: free, workspace: {root: ./}, exec: {type: prompt, source: in}}\n")
    (here.root / "wave.yaml").write_text((here.root / "wave.yaml").read_text().replace(
        "  reader:", "  free: {adapter: other, system_prompt_file: prompts/reader.md}\n  reader:").replace(
        "personas:", "  other: {binary: workbench, mode: headless}\npersonas:"))  # fmt: skip
    says(here, "go", name="below")
    write = {
        "tool_call": {"id": "c1", "name": "create_file", "arguments": {"path": "secret.txt", "content": "x"}}
    }
    here.record("in", {"reply": [write]}, {"reply": [{"text": "done"}]})
    here.trust()
    here.run(GO, grants=("pipeline.run", "Write"))
    (child,) = named(here, "below")
    assert the_call(here, child.pipeline_id, "in").state == "rejected"
    assert not (here.root / "secret.txt").exists()


SELF = """kind: WavePipeline
metadata: {name: own}
steps:
  - {id: one, exec: {type: command, source: "echo x >> count"}, workspace: {root: ./}}
  - {id: again, dependencies: [one], pipeline: %s, input: x}
"""


@pytest.mark.parametrize("name", ["own", ".wave/pipelines/below.yaml"])
def test_a_pipeline_that_an_agent_writes_cannot_call_itself_for_ever(runs, name):
    here = runs(manifest=OPEN + LIMITS % (3, 50, 10_000))
    # Under its own name it is no pipeline of the project; a file of the project may well lead back to itself.
    below(
        here,
        "\n  - {id: a, exec: {type: command, source: 'echo x >> count'}, workspace: {root: ./}}\n"
        "  - {id: b, dependencies: [a], pipeline: below, input: x}\n",
    )
    says(here, "go", name="own", definition=SELF % name)
    here.trust()
    run = here.run(GO).pipeline_id
    if here.waiting(run):
        here.answer(run)
        here.drive(run)
    call = the_call(here, run)
    assert call.state in ("failed", "rejected")
    if name == "own":
        assert "own" in call.error and len(named(here, "own")) <= 1
    else:
        assert "3 deep (meta_pipeline.max_depth)" in call.error
        assert len((here.root / "count").read_text().splitlines()) == 3
