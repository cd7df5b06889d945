"""Steps that name a level of the sandbox run inside; without a sandbox they fail before they run."""

import json
import shlex
import textwrap

import pytest

from tests.support.boxes import limit_names
from tests.support.stage import exchange, text
from tests.unit.pipelines.projects import MANIFEST, command, project
from workbench.domain.rows import PipelineState
from workbench.effects.sandbox_proof import prove_sandbox
from workbench.pipelines.load import load_pipeline
from workbench.pipelines.step_notes import step_notes
from workbench.pipelines.step_order import step_plans
from workbench.views.pipeline import pipeline_run

QUEUED = PipelineState(pipeline_id="p", pipeline_name="p", status="queued", created_at=0, updated_at=0)
LEVELS = ("read-only", "workspace")
SYSTEM_PYTHON = "/usr/bin/env python3"
NAMESPACE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000):
    raise SystemExit(os.strerror(ctypes.get_errno()).lower())
"""


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
@pytest.mark.parametrize(
    ("level", "line", "is_left", "state", "message"),
    [
        ("outside", "touch {elsewhere}", True, "completed", ""),
        ("workspace", "touch {elsewhere}; touch made.txt", False, "completed", ""),
        ("workspace", "touch .envrc", False, "failed", ".envrc"),
        ("read-only", "touch made.txt", False, "failed", "ended with 1"),
    ],
)
def test_a_requirement_runs_at_the_level_of_its_step(runs, tmp_path, level, line, is_left, state, message):
    here, elsewhere = runs(), tmp_path / "elsewhere.txt"
    requirement = {"type": "command", "target": line.format(elsewhere=elsewhere)}
    run = here.request(here.pipeline(command("a", "true", sandbox=level, validation=[requirement])))
    here.drive(run)
    step = here.step(run, "a")
    assert (elsewhere.exists(), step.state) == (is_left, state)
    assert message in (step.error_message or "")


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
    assert f"It is to run at the level {level}, and the sandbox is switched off" in step.error_message


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
    assert "It is to run at the level workspace" in here.step(run, "a").error_message


@pytest.mark.usefixtures("sandbox")
def test_the_session_of_an_agent_has_the_level_of_its_step(runs):
    here = runs()
    here.record("a", exchange(text("done")))
    run = here.request(here.pipeline(AGENT.replace("workspace", "read-only")))
    here.drive(run)
    assert here.journal.session(here.step(run, "a").session_id).sandbox_level == "read-only"


# --- other agents


OTHER_AGENT = """
  - id: a
    persona: outside
    exec: {{type: prompt, source: do it}}
    output_artifacts: [{{name: said, source: stdout}}]
{more}"""
ANSWER = """echo '{"type": "result", "result": "done"}'"""


def other_manifest(line, *, level="", hooks=""):
    """Return a manifest with another agent: a shell that runs a line and answers as an agent does."""
    adapter = f"""  other:
    binary: sh
    mode: headless
    args: ["-c", {json.dumps(f"{line}; {ANSWER}")}]
{level and f"    sandbox: {level}"}
personas:
  outside: {{adapter: other, system_prompt_file: prompts/builder.md{hooks}}}
"""
    return MANIFEST.replace("personas:\n", adapter)


def ran_agent(runs, line, *, level="", step=""):
    """Run a step of another agent; return its row and the run's."""
    here = runs(manifest=other_manifest(line, level=level))
    row = here.run(OTHER_AGENT.format(more=step and f"    sandbox: {step}\n"))
    return here.step(row.pipeline_id, "a"), row


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize(
    ("level", "step", "is_left", "status"),
    [
        ("", "", True, "completed"),
        ("outside", "", True, "completed"),
        ("workspace", "", False, "completed"),
        ("workspace", "outside", False, "completed"),
        ("outside", "workspace", False, "completed"),
        ("read-only", "workspace", False, "failed"),
    ],
)
def test_another_agent_runs_at_the_stricter_level_of_its_adapter_and_its_step(
    runs, tmp_path, level, step, is_left, status
):
    elsewhere = tmp_path / "elsewhere.txt"
    line = f"touch {elsewhere}; touch /tmp/note; touch made.txt || exit 3"
    assert ran_agent(runs, line, level=level, step=step)[1].status == status
    assert elsewhere.exists() == is_left


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize(("member", "status"), [("", "failed"), ("\n    nested_sandbox: true", "completed")])
def test_another_agent_makes_a_namespace_only_if_its_adapter_says_so(runs, member, status):
    line = f"{SYSTEM_PYTHON} -c {shlex.quote(NAMESPACE)} || exit 3"
    assert ran_agent(runs, line, level=f"workspace{member}")[1].status == status


@pytest.mark.usefixtures("sandbox")
def test_a_command_makes_no_namespace(runs):
    here = runs()
    line = f"{SYSTEM_PYTHON} -c {shlex.quote(NAMESPACE)}"
    row = here.run(textwrap.indent(command("a", line, sandbox="workspace"), "  "))
    assert "not permitted" in here.step(row.pipeline_id, "a").error_message


@pytest.mark.usefixtures("sandbox")
def test_the_test_suite_of_another_agents_step_runs_at_the_level_of_the_adapter(runs, tmp_path):
    elsewhere = tmp_path / "elsewhere.txt"
    here = runs(manifest=other_manifest("true", level="workspace"))
    contract = f"{{type: test_suite, command: 'touch {elsewhere}; true'}}"
    row = here.run(OTHER_AGENT.format(more=f"    handover: {{contract: {contract}}}\n"))
    assert (row.status, elsewhere.exists()) == ("completed", False)


@pytest.mark.usefixtures("sandbox")
def test_another_agent_that_reviews_runs_at_the_level_of_the_step(runs, tmp_path):
    elsewhere = tmp_path / "elsewhere.txt"
    verdict = json.dumps({"type": "result", "result": '{"verdict": "pass", "summary": "fine"}'})
    here = runs(manifest=other_manifest(f"touch {elsewhere}; echo '{verdict}'; exit 0"))
    contract = "{type: agent_review, persona: outside, criteria: [it is short], source: made.txt}"
    steps = command("a", "echo x > made.txt", sandbox="workspace", handover=f"{{contract: {contract}}}")
    row = here.run(textwrap.indent(steps, "  "))
    assert (row.error_message, row.status, elsewhere.exists()) == ("", "completed", False)


def test_without_a_sandbox_another_agent_whose_adapter_names_a_level_does_not_run(runs, tmp_path):
    elsewhere = tmp_path / "elsewhere.txt"
    step, row = ran_agent(runs, f"touch {elsewhere}", level="workspace")
    assert (row.status, elsewhere.exists()) == ("failed", False)
    assert "It is to run at the level workspace, and the sandbox is switched off" in step.error_message


CREATE = {"tool_call": {"id": "c1", "name": "create_file", "arguments": {"path": "x.md", "content": "x"}}}


@pytest.mark.parametrize(
    ("level", "state", "is_left"),
    [("", "succeeded", True), ("outside", "succeeded", True), ("workspace", "rejected", False)],
)
def test_without_a_sandbox_a_hook_of_a_persona_that_names_a_level_denies(
    runs, tmp_path, level, state, is_left
):
    elsewhere = tmp_path / "elsewhere.txt"
    call = hooked_call(runs, elsewhere, level)
    assert (call.state, elsewhere.exists()) == (state, is_left)


@pytest.mark.usefixtures("sandbox")
def test_a_hook_of_a_persona_runs_at_its_level(runs, tmp_path):
    elsewhere = tmp_path / "elsewhere.txt"
    call = hooked_call(runs, elsewhere, "workspace")
    assert (call.state, elsewhere.exists()) == ("succeeded", False), call


def hooked_call(runs, elsewhere, level):
    """Run an agent whose only call a hook of its persona looks at; return that call."""
    line = f"grep -q create_file || exit 4; touch {elsewhere}; true"
    hook = f'{{matcher: "Write(*)", command: {json.dumps(line)}{level and f", sandbox: {level}"}}}'
    hooks = f"    temperature: 0.5\n    hooks: {{PreToolUse: [{hook}]}}\n"
    here = runs(manifest=MANIFEST.replace("    temperature: 0.5\n", hooks))
    here.record("a", {"reply": [CREATE]}, exchange(text("done")))
    steps = "\n  - {id: a, persona: builder, exec: {type: prompt, source: do it}}\n"
    row = here.run(steps, grants=("Write(*)",))
    (call,) = here.journal.calls(here.step(row.pipeline_id, "a").session_id)
    return call


# --- what is said of it before a run


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


@pytest.mark.parametrize(("level", "count"), [("workspace", 1), ("read-only", 1), ("outside", 0), ("", 0)])
def test_an_adapter_inside_is_warned_of_where_it_says_so(tmp_path, level, count):
    report = problems(tmp_path, command("a"), other_manifest("true", level=level))
    found = [problem for problem in report.warnings if problem.code == "no_network"]
    assert len(found) == count
    assert all("sh runs inside the sandbox" in f.message and f.file.endswith("wave.yaml") for f in found)


def test_a_level_of_an_adapter_or_a_hook_that_is_none_is_a_wrong_value(tmp_path):
    hooks = ", hooks: {PreToolUse: [{matcher: '*', command: 'true', sandbox: none}]}"
    found = problems(tmp_path, command("a"), other_manifest("true", level="all", hooks=hooks)).errors
    assert [(f.code, "read-only" in f.message) for f in found] == [("wrong_value", True)] * 2


def test_a_plan_says_the_level_of_each_step_and_of_hooks(tmp_path):
    steps = command("a", sandbox="workspace") + command("b")
    steps += "- {id: c, persona: outside, exec: {type: prompt, source: x}, sandbox: outside}\n"
    hooks = ", hooks: {PreToolUse: [{matcher: '*', command: 'true', sandbox: read-only}]}"
    loaded = load_pipeline(
        project(tmp_path, steps, manifest=other_manifest("true", level="workspace", hooks=hooks))
    )
    assert [step_notes(step, loaded.manifest) for step in loaded.pipeline.steps] == [
        ["sandbox workspace", "30 min"],
        ["30 min"],
        ["sandbox workspace", "hooks sandbox read-only", "30 min"],
    ]
    plans = step_plans(loaded.pipeline, loaded.manifest)
    assert [step.sandbox for step in pipeline_run(QUEUED, plans, (), (), 0).steps] == [
        "workspace", None, "workspace",
    ]  # fmt: skip
