"""Where values come from: those of agents and artifacts are refused inside of interpreters, others are asked."""

import io
import json

import pytest

from tests.support.runs import USER
from tests.support.tables import each_row
from tests.unit.pipelines.projects import MANIFEST, project
from tests.unit.pipelines.test_agents_pipelines import GO, OPEN, says, the_call, waiting
from workbench.backend.runs import LocalRuns
from workbench.cli.console import Console
from workbench.cli.dispatch import dispatch
from workbench.domain.values import Decision
from workbench.host.steps import run_requests, run_start
from workbench.host.steps.run_requests import RunRefused, RunRequest
from workbench.journal.decisions import decide_action
from workbench.pipelines.load import load_pipeline
from workbench.pipelines.model import Step
from workbench.pipelines.value_origins import value_origin
from workbench.tui.backend import BackendError
from workbench.views.pipeline import LaunchRequest

PROJECT = MANIFEST + "project: {name: shop, test_command: 'go test ./...'}\n"
AGENT = """
- {id: plan, persona: builder, exec: {type: prompt, source: plan}, output_artifacts: [{name: o, path: o.json}]}
"""
READS = "bash -c 'echo {{ input }} >> ran'"


def inner(source, name="a", more=""):
    return f"- id: {name}\n  exec: {{type: command, source: {json.dumps(source)}}}\n{more}"


def problems(root, steps, **more):
    report = load_pipeline(project(root, steps, manifest=PROJECT, **more), missing_adapters=False).report
    return [(p.severity, p.message) for p in report.ordered() if p.code == "inner_code"]


@pytest.mark.parametrize(
    ("steps", "wanted"),
    [
        (AGENT + inner("sh -c 'echo {{ plan.output.title }}'", more="  dependencies: [plan]\n"), "plan.output.title"),
        (AGENT + inner("sh -c 'echo {{ plan/o }}'", more="  dependencies: [plan]\n"), "plan/o"),
        (AGENT + inner("awk '{{ why }}'", more="  dependencies: [plan]\n"
                       "  memory: {inject_artifacts: [{step: plan, artifact: o, as: why}]}\n"), "why"),
        (inner("eval {{ item }}", more="  strategy: {type: matrix, items: [x, y]}\n"), "item"),
        (inner("v={{ item.n }}; eval \"$v\"", more="  iterate: {over: '{{ input }}'}\n"), "item.n"),
        (inner("sh -c 'echo {{ branch_name }}'"), "branch_name"),
        (inner("sh -c 'echo {{ forge.owner }}'"), "forge.owner"),
        (inner("true", more="  handover: {contract: {type: test_suite, command: 'sh -c \"{{ forge.repo }}\"'}}\n"),
         "forge.repo"),
        (inner("true", more="  validation: [{type: command, target: 'sh -c \"{{ forge.repo }}\"'}]\n"), "forge.repo"),
        ("- {id: g, gate: {type: approval, prompt: why, freeform: true}}\n"
         + inner("sh -c 'echo {{ gate.g.text }}'", more="  dependencies: [g]\n"), "gate.g.text"),
    ],
    ids=lambda row: row if len(row) < 20 else "",
)  # fmt: skip
def test_a_foreign_value_within_an_interpreter_is_an_error_with_the_safe_form(tmp_path, steps, wanted):
    ((severity, message),) = problems(tmp_path, steps)
    assert severity == "error" and message.startswith(f"{{{{ {wanted} }}}} ("), message
    assert "is read as code by" in message and "; pass it as data: " in message


def test_a_command_in_a_file_of_its_own_is_read_as_well(tmp_path):
    steps = AGENT + "- {id: a, dependencies: [plan], exec: {type: command, source_path: a.sh}}\n"
    ((severity, message),) = problems(tmp_path, steps, files={"a.sh": "echo {{ plan/o }} | sh\n"})
    assert severity == "error" and "sh, from its input" in message


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("sh -c 'echo {{ input }}'", "{{ input }} (typed by you) is read as code by sh -c; pass it as data: "
         "sh -c '… \"$1\" …' _ {{ input }}"),
        ("python3 -c 'print({{ input.n }})'", "python3 -c '… sys.argv[1] …' {{ input.n }}"),
        ("bash -c '{{ project.test_command }}'", "{{ project.test_command }} (from the manifest) is read as code"),
    ],
)  # fmt: skip
def test_a_value_of_a_person_or_the_manifest_is_a_warning(tmp_path, source, wanted):
    ((severity, message),) = problems(tmp_path, inner(source))
    assert severity == "warning" and wanted in message and "a run asks you before it starts" in message


@pytest.mark.parametrize(
    "source",
    [
        "sh -c 'echo \"$1\"' _ {{ input }}", "{{ project.test_command }} {{ input }}", "tool -c {{ input }}",
        "sh -c 'echo {{ run.id }} {{ step_id }} {{ timestamp }} {{ forge.cli_tool }}'", "{{ forge.cli_tool }} pr list",
    ],
)  # fmt: skip
def test_other_values_are_not_reported(tmp_path, source):
    assert problems(tmp_path, inner(source)) == []


@each_row(
    ("name", "wanted"),
    [
        ("input", "person"), ("input.a.b", "person"), ("pipeline_context.pipeline_id", "own"), ("env.A", "person"),
        ("env.B", "foreign"), ("project.x", "manifest"), ("ontology.telos", "manifest"), ("a.outcome", "own"),
        ("a.output.outcome", "foreign"), ("steps.a.artifacts.b", "foreign"), ("a/b", "foreign"), ("attempt", "own"),
        ("gate.g.key", "own"), ("gate.g.reason", "foreign"), ("workspace", "own"), ("unknown", "foreign"),
        ("forge.host", "foreign"), ("forge.type", "own"),
    ],
)  # fmt: skip
def test_each_name_has_an_origin(name, wanted):
    assert value_origin(name, Step(id="a", line=1), {"env.B"})[0] == wanted


CHILD = inner("bash -c 'echo {{ input }} >> ran'", more="  workspace: {root: ./}\n").replace("\n", "\n  ")


def below(here, name="below"):
    here.pipeline(f"  {CHILD.rstrip()}\n", name=f".workbench/pipelines/{name}")


def test_a_value_keeps_its_origin_in_a_pipeline_below(runs):
    here = runs()
    below(here)
    write = "\n  - {id: w, exec: {type: command, source: 'echo x'}, output_artifacts: [{name: o, source: stdout}]}"
    file = here.pipeline(write + "\n  - {id: go, dependencies: [w], pipeline: below, input: '{{ w/o }}'}\n")
    (error,) = load_pipeline(str(here.root / file)).report.errors
    assert error.line == 6 and error.message.startswith("below.yaml: {{ input }} (handed down by an agent")
    with pytest.raises(RunRefused, match="handed down"):
        here.request(file)


def test_a_value_handed_down_twice_is_still_foreign(runs):
    here = runs()
    below(here)
    here.pipeline("  - {id: mid, pipeline: below}\n", name=".workbench/pipelines/middle")
    file = here.pipeline("  - {id: go, pipeline: middle, iterate: {over: '[\"a\"]'}, input: '{{ item }}'}\n")
    (error,) = load_pipeline(str(here.root / file)).report.errors
    assert error.message.startswith("middle.yaml: below.yaml: {{ input }}")


def test_a_pipeline_that_starts_itself_is_read_once(runs):
    here = runs()
    steps = f"  {CHILD.rstrip()}\n  - {{id: go, pipeline: p, input: '{{{{ a.output }}}}'}}\n"
    report = load_pipeline(str(here.root / here.pipeline(steps, name=".workbench/pipelines/p"))).report
    assert [p.severity for p in report.ordered() if p.code == "inner_code"] == ["warning", "error"]


def test_a_pipeline_below_whose_name_is_computed_does_not_begin(runs):
    here = runs()
    below(here)
    steps = """
  - {id: w, exec: {type: command, source: 'echo x'}, output_artifacts: [{name: o, source: stdout}]}
  - {id: go, dependencies: [w], pipeline: "{{ input }}", input: '{{ w/o }}'}
"""
    row = here.run(steps, input="below")
    assert row.status == "failed" and "handed down by an agent or a step" in row.error_message
    assert not (here.root / "ran").exists()
    assert [r.pipeline_name for r in here.journal.pipeline_states()] == ["p"]


def accepted(here, file, **wish):
    request = RunRequest(name=file, **wish)
    loaded = run_requests.load_requested_pipeline(str(here.root), request)
    commands = run_requests.commands_of_request(loaded, request)
    return commands, run_requests.digests_of_commands(here.journal, commands)


def mine(here, source=READS, name="p"):
    return here.pipeline(
        f"  {inner(source, more='  workspace: {root: ./}').replace(chr(10), chr(10) + '  ')}\n", name=name
    )


def test_a_run_starts_only_with_the_commands_that_were_accepted(runs):
    here = runs()
    file = mine(here)
    (command,), digests = accepted(here, file, input="one; echo two")
    assert command.command == "bash -c 'echo one; echo two >> ran'"
    with pytest.raises(RunRefused, match=r'bash -c \'… "\$1" …\' _ {{ input }}'):
        here.request(file, input="one; echo two")
    with pytest.raises(RunRefused, match="is read as code"):
        here.request(file, input="one; echo three", accepted=digests)
    row = here.drive(here.request(file, input="one; echo two", accepted=digests))
    assert row.status == "completed" and here.read("ran") == "two\n"


def test_commands_of_a_pipeline_below_are_accepted_with_the_run(runs):
    here = runs()
    below(here)
    file = here.pipeline("  - {id: go, pipeline: below, input: 'a {{ input }}'}\n")
    (command,), digests = accepted(here, file, input="b")
    assert (command.step, command.command) == ("go › a", "bash -c 'echo a b >> ran'")
    row = here.drive(here.request(file, input="b", accepted=digests))
    assert row.status == "completed" and here.read("ran") == "a b\n"


def test_a_command_that_changed_since_it_was_accepted_is_not_started(runs):
    here = runs()
    file = mine(here, READS + " && false")
    run = here.request(file, input="x", accepted=accepted(here, file, input="x")[1])
    assert here.drive(run).status == "failed" and here.read("ran") == "x\n"
    mine(here, READS + " && true")
    row = here.resume(run, reads_files=True)
    assert row.status == "failed" and "nobody accepted this command" in row.error_message
    assert here.read("ran") == "x\n"


@pytest.mark.parametrize("where", ["source", "contract", "validation"])
def test_a_step_with_a_foreign_value_does_not_start(runs, monkeypatch, where):
    for module in (run_requests, run_start):
        monkeypatch.setattr(module, "require_runnable_pipeline", lambda loaded: None)
    here, reads = runs(), 'sh -c "echo {{ branch_name }}"'
    more = {
        "source": f"exec: {{type: command, source: {json.dumps('touch ran; ' + reads)}}}",
        "contract": "exec: {type: command, source: touch ran}\n"
        f"    handover: {{contract: {{type: test_suite, command: {json.dumps(reads)}}}}}",
        "validation": "exec: {type: command, source: touch ran}\n"
        f"    validation: [{{type: command, target: {json.dumps(reads)}}}]",
    }
    row = here.run(f"\n  - id: a\n    workspace: {{root: ./}}\n    {more[where]}\n")
    assert (
        row.status == "failed" and "(read from the repository) is read as code by sh -c" in row.error_message
    )
    assert not (here.root / "ran").exists()


def test_an_agent_cannot_start_a_pipeline_that_reads_its_input_as_code(runs):
    here = runs(manifest=OPEN)
    below(here)
    says(here, "go", name="below")
    here.run(GO, grants=("pipeline.run",))
    call = the_call(here, here.journal.pipeline_states()[0].pipeline_id)
    assert call.state != "succeeded" and not (here.root / "ran").exists()
    assert [row.pipeline_name for row in here.journal.pipeline_states()] == ["p"]


def test_who_is_asked_about_an_agents_pipeline_sees_what_is_read_as_code(runs):
    here = runs(manifest=OPEN + "project: {word: it}\n")
    here.pipeline("  - {id: a, exec: {type: command, source: \"sh -c 'echo {{ project.word }} > ran'\"}, "
                  "workspace: {root: ./}}\n", name=".workbench/pipelines/below")  # fmt: skip
    says(here, "go", name="below")
    run = here.run(GO).pipeline_id
    action, opened = waiting(here, run)
    assert opened.subject["steps"][0].startswith(
        "!  a: sh -c 'echo it > ran'  {{ project.word }} (from the manifest)"
    )
    decision = Decision(action_id=action.id, verdict="approve")
    assert decide_action(here.journal, decision, action.digest, USER).ok
    assert here.drive(run).status == "completed" and here.read("ran") == "it\n"


# --- asking --------------------------------------------------------------------------------------------


class Typed(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def place(tmp_path):
    root = tmp_path / "p"
    root.mkdir()
    project(root, inner(READS, more="  workspace: {root: ./}\n"))
    assert dispatch(["trust", "--yes", "-C", str(root)], Console(io.StringIO(), io.StringIO())) == 0
    return root


def said(root, *words, typed=None, monkeypatch=None):
    out, err = (io.StringIO() if typed is None else Typed()), io.StringIO()
    if typed is not None:
        monkeypatch.setattr("sys.stdin", Typed(typed))
    code = dispatch(
        ["pipeline", "run", "p.yaml", "--input", "one", *words, "-C", str(root)], Console(out, err)
    )
    return code, out.getvalue(), err.getvalue()


def test_without_a_terminal_the_option_is_named_and_nothing_runs(place):
    code, _, err = said(place)
    assert code == 2 and "--yes" in err and "bash -c '… \"$1\" …' _ {{ input }}" in err
    assert not (place / "ran").exists()
    assert said(place, "--yes")[0] == 0
    assert (place / "ran").read_text() == "one\n"


@pytest.mark.parametrize(("typed", "code"), [("yes\n", 0), ("no\n", 1), ("\n", 1)])
def test_at_a_terminal_the_expanded_command_is_shown_and_asked(place, monkeypatch, typed, code):
    found, out, _ = said(place, typed=typed, monkeypatch=monkeypatch)
    assert (found, (place / "ran").exists()) == (code, code == 0)
    assert "    bash -c 'echo one >> ran'\n" in out and out.count("Type yes") == 1


def test_a_run_whose_values_stay_data_is_not_asked_about(place):
    project(place, inner("sh -c 'echo \"$1\" >> ran' _ {{ input }}", more="  workspace: {root: ./}\n"))
    dispatch(["trust", "--yes", "-C", str(place)], Console(io.StringIO(), io.StringIO()))
    assert said(place)[0] == 0


def test_the_screen_shows_the_command_first_and_starts_it_the_second_time(runs):
    here = runs()
    file = mine(here)
    screen = LocalRuns(here.home, here.journal, str(here.root))
    one = LaunchRequest(file=str(here.root / file), input="one")
    with pytest.raises(
        BackendError, match=r"enter once more starts it as it is\. a runs bash -c 'echo one >> ran'"
    ):
        screen.launch(one)
    other = LaunchRequest(file=one.file, input="two")
    for wish in (other, one):
        with pytest.raises(BackendError, match="enter once more"):
            screen.launch(wish)
    run = screen.launch(one)
    assert here.drive(run).status == "completed" and here.read("ran") == "one\n"
    again = screen.run_from(run, "a")
    assert here.drive(again).status == "completed" and here.read("ran") == "one\none\n"


def test_what_is_kept_of_an_accepted_command_does_not_show_it(runs):
    here = runs()
    file = mine(here)
    run = here.request(file, input="hunter2", accepted=accepted(here, file, input="hunter2")[1])
    ((_, body),) = here.bodies(run, "run.requested")
    assert len(body.accepted) == 1 and len(body.accepted[0]) == 64 and "hunter2" not in body.accepted[0]
