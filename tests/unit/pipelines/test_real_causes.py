"""What kept real pipelines from running, each in a few lines: what they say runs, or is refused in words.

The first table is of what was wrongly refused, the second of what stopped runs, the third of what nothing here may
take.
"""

import pytest

from tests.support.tables import each_row
from tests.unit.pipelines.projects import MANIFEST, command, project
from tests.unit.pipelines.test_runs_engine import artifact
from workbench.pipelines.load import load_pipeline

PROJECT = MANIFEST + "project: {test_command: test -f a.txt, name: shop}\n"
SAID = "output_artifacts: [{name: said, source: stdout}]"
LISTED = "output_artifacts: [{name: list, path: list.json}]"


def says(step, line, more=""):
    return f"\n  - id: {step}\n    exec: {{type: command, source: {line!r}}}\n    {SAID}\n    {more}\n"


BELOW = {
    ".wave/pipelines/one.yaml": f"kind: WavePipeline\nmetadata: {{name: one}}\nsteps:{says('s', 'echo {{ env.profile }} {{ env.level }} of {{ input }}')}",
    ".wave/pipelines/other.yaml": f"kind: WavePipeline\nmetadata: {{name: other}}\nsteps:{says('s', 'echo from another')}",
}
EACH = "\n  - {id: each, pipeline: one, input: '{{ item }}', iterate: {over: '[1, 2]', mode: sequential}}\n"

MADE_TWO = (
    "\n  - {id: a, exec: {type: command, source: 'echo y > y'}, output_artifacts: [{name: y, path: y}]}\n"
)
REFUSED = [
    ("an unset project.* falls back", says("z", "{{ project.contract_test_command }} || echo no file"), "no file\n"),
    ("an unset project.* is empty", says("z", "echo [{{ project.lint_command }}]"), "[]\n"),
    ("run.name", says("z", "echo {{ run.name }} {{ run.id }} | cut -c1-3"), "p 0\n"),
    ("STEP.out.NAME", says("a", "echo hi") + says("z", "printf %s {{ a.out.said }}", "dependencies: [a]"), "hi\n"),
    ("collected-output", EACH + says("z", "echo {{ each.out.collected-output }} | tr -d ' [:cntrl:]'", "dependencies: [each]"), '["of1","of2"]'),
    ("env.X of config.env", "\n  - {id: b, pipeline: one, input: y, config: {env: {profile: strict, level: 3}}}\n"
     + says("z", "printf %s {{ b.output }}", "dependencies: [b]"), "strict 3 of y\n"),
    ("collected-output as an artifact", EACH + says("z", "cat artifacts/g | tr -d ' [:cntrl:]'", "dependencies: [each]\n    memory: {inject_artifacts: [{step: each, artifact: collected-output, as: g}]}"), '["of1\\n","of2\\n"]'),
    ("env.X of nobody", says("z", "echo [{{ env.HOME }}]"), "[]\n"),
    ("a contract without a source", says("z", "mkdir .agents; echo 1 > .agents/artifact.json; echo x",
     "handover: {contract: {type: json_schema, schema: {type: integer}, source: .agents/artifact.json}}"), "x\n"),
    ("what no step declares is what it prints", "\n  - {id: a, exec: {type: command, source: echo printed}}\n"
     + says("z", "cat artifacts/given", "dependencies: [a]\n    memory: {inject_artifacts: [{step: a, artifact: any, as: given}]}"), "printed\n"),
]  # fmt: skip


REFUSED += [
    ("an optional artifact that is not declared", MADE_TWO + says("z", "ls artifacts 2> /dev/null || echo none",
     "dependencies: [a]\n    memory: {inject_artifacts: [{step: a, artifact: x, as: x, optional: true}]}"), "none\n"),
]  # fmt: skip


def completed(here, steps):
    row = here.run(steps)
    assert (row.status, row.error_message) == ("completed", "")
    return artifact(here, row.pipeline_id, "z", "said").decode()


@pytest.fixture
def real(runs):
    here = runs(manifest=PROJECT, files=BELOW)
    assert here.drive(here.request("other")).status == "completed"
    return here


@each_row("cause, steps, said", REFUSED)
def test_what_was_wrongly_refused_runs(real, cause, steps, said):
    if cause == "run.name":  # its id is another one each time
        assert completed(real, steps)[:2] == said[:2]
    else:
        assert completed(real, steps) == said


MADE = "\n  - {id: a, exec: {type: command, source: 'mkdir -p out; echo made > out/r.md'}, output_artifacts: [{name: r, path: out/r.md}]}\n"
STOPPED = [
    ("project.* in a command is a part of it", says("z", "touch a.txt; {{ project.test_command }} && echo tested"), "tested\n"),
    ("merge_arrays keeps what is no list", f"\n  - {{id: a, exec: {{type: command, source: 'echo [[1],2,[3]] > list.json'}}, {LISTED}}}\n"
     "  - {id: m, dependencies: [a], aggregate: {from: '{{ a.output.list }}', into: m.json, strategy: merge_arrays}}\n"
     + says("z", "echo {{ m.output }} | tr -d ' [:cntrl:]'", "dependencies: [m]"), "[1,2,3]"),
    ("an artifact where its step left it", MADE + says("z", "cat out/r.md", "dependencies: [a]"), "made\n"),
    ("an artifact in .agents/artifacts/STEP", MADE + says("z", "cat .agents/artifacts/a/r", "dependencies: [a]"), "made\n"),
    ("an artifact in .wave/artifacts", MADE + says("z", "cat .wave/artifacts/g", "dependencies: [a]\n    memory: {inject_artifacts: [{step: a, artifact: r, as: g}]}"), "made\n"),
    ("an artifact of another pipeline", says("z", "cat artifacts/said", "memory: {inject_artifacts: [{pipeline: other, artifact: said}]}"), "from another\n"),
    ("a gate with auto", "\n  - {id: g, gate: {type: approval, auto: true}}\n" + says("z", "echo on", "dependencies: [g]"), "on\n"),
    ("a contract that nobody checks and that need not pass", says("z", "echo x", "handover: {contract: {type: source_diff, on_failure: warn, glob: x}}"), "x\n"),
    ("markdown_spec", says("z", "(echo '# A'; echo b) > s.md; echo x", "handover: {contract: {type: markdown_spec, source: s.md}}"), "x\n"),
    ("workspace.type basic", says("z", "echo x", "workspace: {type: basic}"), "x\n"),
    ("a command with the project mounted begins in it", says("z", "ls wave.yaml", "workspace: {mount: [{source: ./, target: /project}]}"), "wave.yaml\n"),
]  # fmt: skip


@each_row("cause, steps, said", STOPPED)
def test_what_stopped_runs_goes_on(real, cause, steps, said):
    del cause
    assert completed(real, steps) == said


HOSTILE = [
    '"; touch owned; "',
    "$(touch owned)",
    "`touch owned`",
    "a\nb; touch owned",
    "' ; touch owned '",
    "\\",
    "${HOME}",
    "%s%n",
    "*",
    "-rf",
]


@each_row("value", HOSTILE)
def test_only_the_manifests_own_text_is_a_command(real, value):
    line = 'printf "%s" "{{ input }}"; printf "%s" {{ input }}; printf %s \\"{{ input }}\\" > /dev/null'
    steps = f"\n  - id: z\n    workspace: {{root: ./}}\n    exec: {{type: command, source: {line!r}}}\n    {SAID}\n"
    row = real.drive(real.request(real.pipeline(steps), input=value))
    assert row.status == "completed"
    assert artifact(real, row.pipeline_id, "z", "said").decode() == value * 2
    assert not (real.root / "owned").exists()


PROMPT = "- id: a\n  persona: builder\n  exec: {type: prompt, source: x}\n"
DONE_BELOW = "- {id: a, pipeline: one, exec: {type: command, source: 'true'}}\n"
GIVEN_TWICE = "- id: b\n  dependencies: [a]\n  exec: {type: command, source: 'true'}\n  memory: {inject_artifacts: [{step: a, pipeline: one, artifact: said, as: said}]}\n"
TAKEN = [
    ("a reviewer of its own work", PROMPT + "  handover: {contract: {type: agent_review, persona: builder, criteria: x}}\n", "", "self_review"),
    ("an agent beside a pipeline", "- {id: a, pipeline: one, persona: builder}\n", "", "wrong_value"),
    ("a command beside a pipeline", DONE_BELOW, "", "wrong_value"),
    ("a script beside a pipeline", "- {id: a, pipeline: one, script: 'true'}\n", "", "wrong_value"),
    ("an artifact of a step and of a pipeline", command("a", output_artifacts="[{name: said, source: stdout}]") + GIVEN_TWICE, "", "wrong_value"),
    ("an unknown fidelity", PROMPT + "  fidelity: wild\n", "", "wrong_value"),
    ("an unknown fidelity of a thread", PROMPT + "  thread: t\n  fidelity: wild\n", "", "wrong_value"),
    ("a thread out of order", PROMPT + "  thread: t\n" + PROMPT.replace("id: a", "id: b") + "  thread: t\n", "", "unordered_thread"),
    ("an unknown type of the input", command("a"), "input: {type: wild}\n", "wrong_value"),
    ("an unknown type of an output", says("a", "echo x"), "pipeline_outputs: {o: {step: a, artifact: said, type: wild}}\n", "wrong_value"),
    ("an adapter that only the others have", PROMPT + "  adapter: browser\n", "", "not_run"),
    ("a missing prompt of a persona", "", "", "missing_file"),
    ("a rework step that runs anyway", command("a", retry="{on_failure: rework, rework_step: b}") + command("b"), "", "wrong_rework"),
    ("its own rework step", command("a", retry="{on_failure: rework, rework_step: a}"), "", "wrong_rework"),
]  # fmt: skip


@each_row("what, steps, head, code", TAKEN)
def test_what_the_others_refuse_is_refused(tmp_path, what, steps, head, code):
    path = project(tmp_path, steps or command("a"), head=head, files=BELOW)
    if not steps:
        (tmp_path / "prompts/reader.md").unlink()
    report = load_pipeline(path).report
    stopping = {problem.code for problem in (*report.errors, *report.stopping)}
    assert stopping == {code}, (what, list(map(str, report.found)))
    assert not report.is_runnable
    assert report.is_ok is (code == "not_run"), "what is only missing here is no fault of the file"


@each_row("steps, head", [
    (PROMPT + "  fidelity: compact\n", ""),
    (command("a"), "input: {type: issue_ref}\n"),
    (says("a", "echo x"), "pipeline_outputs: {o: {step: a, artifact: said, type: string}}\n"),
])  # fmt: skip
def test_words_that_the_others_know_are_named_and_stop_nothing(tmp_path, steps, head):
    report = load_pipeline(project(tmp_path, steps, head=head)).report
    assert [problem.code for problem in report.found] == ["not_run"], list(map(str, report.found))
    assert report.is_runnable
