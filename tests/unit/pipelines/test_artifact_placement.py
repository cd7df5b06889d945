"""Artifacts of earlier steps lie where real prompts and commands look for them, and replace nothing."""

import pytest

from tests.unit.pipelines.test_runs_engine import artifact

MADE = """
  - id: plan
    exec: {type: command, source: "mkdir -p .agents/output; echo planned > .agents/output/plan.md"}
    output_artifacts: [{name: plan, path: .agents/output/plan.md}]
  - id: between
    dependencies: [plan]
    exec: {type: command, source: "true"}
"""
INJECT = "\n    memory: {inject_artifacts: [{step: plan, artifact: plan, as: given}]}"


@pytest.mark.parametrize(
    ("path", "needs", "injects"),
    [
        ("artifacts/given", "plan", True),
        (".wave/artifacts/given", "plan", True),
        (".agents/artifacts/given", "plan", True),
        (".agents/artifacts/plan/plan", "plan", False),
        (".wave/artifacts/plan/plan", "plan", False),
        (".agents/output/plan.md", "plan", False),
        (".agents/output/plan.md", "between", False),
        (".agents/artifacts/plan/plan", "between", True),
    ],
)
def test_a_command_finds_an_artifact_where_it_names_it(runs, path, needs, injects):
    here = runs()
    row = here.run(
        MADE
        + f"""  - id: look
    dependencies: [{needs}]{INJECT if injects else ""}
    exec: {{type: command, source: "cat {path}"}}
    output_artifacts: [{{name: said, source: stdout}}]
"""
    )
    assert row.error_message == ""
    assert artifact(here, row.pipeline_id, "look", "said") == b"planned\n"


def test_an_agent_finds_every_artifact_of_what_it_depends_on(runs):
    here = runs()
    here.record("look", {"reply": [{"text": "done"}]})
    row = here.run(
        MADE
        + f"""  - id: look
    persona: builder
    dependencies: [plan]{INJECT}
    exec: {{type: prompt, source: look}}
"""
    )
    folder = here.home.path / "workspaces" / row.pipeline_id / "look"
    there = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert there == [
        ".agents/artifacts/given", ".agents/artifacts/plan/plan", ".agents/output/plan.md",
        ".wave/artifacts/given", ".wave/artifacts/plan/plan", "artifacts/given",
    ]  # fmt: skip


@pytest.mark.spec(108)
def test_what_a_step_declares_itself_is_never_put_there_for_it(runs):
    here = runs()
    row = here.run(
        MADE
        + """  - id: again
    dependencies: [plan]
    exec: {type: command, source: "test ! -e .agents/output/plan.md"}
    output_artifacts: [{name: plan, path: .agents/output/plan.md}]
"""
    )
    assert "it ended without writing .agents/output/plan.md" in row.error_message


@pytest.mark.parametrize("path", [".wave/pipelines/p.yaml", "src/a.txt", ".git/hooks/x", "../out.txt"])
def test_an_artifact_replaces_nothing_of_the_project(runs, path):
    here = runs(files={"src/a.txt": "mine\n"})
    row = here.run(f"""
  - id: plan
    exec: {{type: command, source: "mkdir -p $(dirname {path}); echo other > {path}"}}
    output_artifacts: [{{name: plan, path: {path.removeprefix("../")}, required: false}}]
  - id: look
    dependencies: [plan]
    workspace: {{root: ./}}
    exec: {{type: command, source: "true {path}"}}
""")
    assert row.status == "completed"
    assert here.read("src/a.txt") == "mine\n"
    assert not (here.root / ".wave").exists() and not (here.root / ".git").exists()


def test_a_command_begins_in_the_project_that_it_has_mounted(runs):
    here = runs(files={"a.txt": "mine\n"})
    row = here.run("""
  - id: a
    workspace: {mount: [{source: ./, target: /project, mode: readwrite}]}
    exec: {type: command, source: "cat a.txt; echo {} > b.json"}
    output_artifacts: [{name: said, source: stdout}, {name: b, path: b.json}]
    handover: {contract: {type: json_schema, schema: {type: object}, source: b.json}}
  - id: c
    dependencies: [a]
    workspace: {mount: [{source: ./, target: /project}]}
    memory: {inject_artifacts: [{step: a, artifact: b, as: given}]}
    exec: {type: command, source: "cat artifacts/given project/a.txt"}
    output_artifacts: [{name: said, source: stdout}]
""")
    assert (row.status, row.error_message) == ("completed", "")
    assert artifact(here, row.pipeline_id, "a", "said") == b"mine\n"
    assert artifact(here, row.pipeline_id, "c", "said") == b"{}\nmine\n"
    assert here.read("b.json") == "{}\n"


def test_a_gate_waits_for_hours_unless_somebody_says_otherwise(runs):
    here = runs()
    for timeout, minutes in (("", 24 * 60), (", timeout: 90s", 1.5)):
        run = here.run(f"\n  - {{id: g, gate: {{prompt: go on?{timeout}}}}}\n").pipeline_id
        (action,) = here.waiting(run)
        assert (action.expires_at - action.created_at) / 60_000_000 == minutes


@pytest.mark.parametrize("folder", [".wave", ".agents"])
def test_a_contract_of_a_step_that_declares_nothing_checks_the_usual_file(runs, folder):
    here = runs()
    contract = "handover: {contract: {type: json_schema, schema: {type: object, required: [n]}}}"
    steps = f"""
  - id: a
    exec:
      type: command
      source: |
        mkdir {folder}; echo '%s' > {folder}/artifact.json
    {contract}
"""
    assert here.run(steps % '{"n": 1}').status == "completed"
    assert "$: 'n' is a required property" in here.run(steps % "{}").error_message


PRINTED = """
  - {id: a, exec: {type: command, source: "echo one; echo two >&2"}}
  - id: b
    dependencies: [a]
    memory: {inject_artifacts: [{step: a, artifact: report, as: given}]}
    exec: {type: command, source: "cat artifacts/given"}
    output_artifacts: [{name: said, source: stdout}]
"""


def test_what_a_step_prints_is_its_artifact_where_it_declares_none(runs):
    here = runs()
    row = here.run(PRINTED)
    assert artifact(here, row.pipeline_id, "b", "said") == b"one\n"
    silent = here.run(PRINTED.replace("echo one; echo two >&2", "true"))
    assert here.states(silent.pipeline_id)["a"] == "completed"
    assert artifact(here, silent.pipeline_id, "b", "said") == b""


OTHER = """
  - id: make
    exec: {type: command, source: "echo {{ input }} > plan.md"}
    output_artifacts: [{name: plan, path: plan.md}]
"""
READS = """
  - id: read
    memory: {inject_artifacts: [{pipeline: other, artifact: plan, as: given%s}]}
    exec: {type: command, source: "cat .wave/artifacts/given || cat artifacts/given; echo {{ artifacts.given }}"}
    output_artifacts: [{name: said, source: stdout}]
"""


def test_an_artifact_of_another_pipeline_is_that_of_its_last_completed_run(runs):
    here = runs()
    other = here.pipeline(OTHER, name="other")
    without = here.run(READS % "")
    assert "no completed run of other left an artifact plan; run other first" in without.error_message
    assert (
        here.run(
            (READS % ", optional: true").replace("{{ artifacts.given }}", "").replace("cat", "true")
        ).status
        == "completed"
    )
    for text in ("one", "two"):
        assert here.drive(here.request(other, input=text)).status == "completed"
    row = here.run(READS % "")
    assert artifact(here, row.pipeline_id, "read", "said") == b"two\ntwo\n\n"


def test_a_run_below_the_same_run_comes_before_a_later_one(runs):
    here = runs()
    other = here.pipeline(OTHER, name="other")
    here.pipeline(READS % "", name="reader")
    both = "\n  - {id: one, pipeline: other.yaml, input: mine}\n  - {id: g, dependencies: [one], gate: {prompt: x}}\n"
    run = here.run(both + "  - {id: two, dependencies: [g], pipeline: reader.yaml}\n").pipeline_id
    here.drive(here.request(other, input="later"))
    here.answer(run)
    row = here.drive(run)
    assert (row.status, row.error_message) == ("completed", "")
    child = here.step(run, "two").session_id
    assert artifact(here, child, "read", "said") == b"mine\nmine\n\n"


def test_an_artifact_of_a_run_that_was_cleaned_says_so(runs):
    here = runs()
    other = here.pipeline(OTHER, name="other")
    left = here.drive(here.request(other, input="one"))
    (stored,) = [body for _, body in here.bodies(left.pipeline_id, "artifact.stored")]
    for path in here.home.path.rglob(f"*{str(stored.content_ref).rpartition(':')[2][4:]}*"):
        path.unlink()
    row = here.run(READS % "")
    assert (
        "other #1 was cleaned up, and its artifact plan is no longer kept; run other again"
        in row.error_message
    )
