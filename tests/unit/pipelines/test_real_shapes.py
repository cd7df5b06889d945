"""What real files say beyond the seed: it loads, is run where it can be, and is named where it cannot."""

import json

import pytest

from tests.unit.pipelines.projects import MANIFEST, command, project
from workbench.pipelines.load import load_pipeline
from workbench.pipelines.parse_step_blocks import duration_seconds


def problems(tmp_path, steps, **more):
    loaded = load_pipeline(project(tmp_path, steps, **more))
    found = [(p.severity, p.code) for p in loaded.report.ordered()]
    return loaded, [one for one in found if one[1] != "missing_pipeline"]


def bodies(runs, run, kind, step):
    return [body for name, body in runs.bodies(run, kind) if name == step]


# --- loading ------------------------------------------------------------------------------------

AGENT = "- id: {0}\n  persona: builder\n  exec: {{type: prompt, source: {1!r}}}\n"

FINE = {
    "output of a pipeline": "- {id: a, pipeline: below, input: x}\n"
    "- {id: b, pipeline: below, dependencies: [a], input: '{{ a.output.pr_url }}'}\n",
    "output without spaces": command("a", output_artifacts="[{name: n, path: n.json}]")
    + "- {id: b, pipeline: x, dependencies: [a], input: '{{a.output.n.items}}'}\n",
    "answer of a gate": "- {id: g, gate: {prompt: x}}\n"
    + command("a", "echo {{ gate.g.text }} {{ gate.g.choice }}", dependencies="[g]"),
    "code host": AGENT.format("a", "use {{ forge.cli_tool }} {{ forge.pr_command }}"),
    "timer": "- {id: g, gate: {type: timer, timeout: 5s, message: wait}}\n",
    "short contract names": command("a", handover="{contract: {type: testsuite, command: 'true'}}")
    + command("b", handover="{contract: {type: jsonschema, schema: '{}', source: x.json}}")
    + command("c", handover="{contract: {type: typescript, source: x.ts}}"),
    "validation with a message": command(
        "a", validation="[{type: schema, target: x, schema: '{}', message: no x}]"
    ),
    "expressions of other programs": AGENT.format("a", "run: ${{ matrix.os }} and {{.Names}} and {{#each}}"),
    "iterate": "- {id: a, pipeline: '{{ item }}', input: '{{item.owner}}', iterate: {over: '[1]', mode: parallel}}\n",
    "aggregate": "- {id: x, pipeline: below, iterate: {over: [1], mode: sequential}}\n"
    "- {id: a, dependencies: [x], aggregate: {from: '{{ x.output }}', into: d/m.json, strategy: merge_arrays}}\n"
    + command("z", dependencies="[a]", memory="{inject_artifacts: [{step: a, artifact: m, as: m}]}"),
    "branch": "- {id: x, pipeline: below}\n"
    "- {id: a, dependencies: [x], branch: {on: '{{ x.output.y }}', cases: {one: impl, default: skip}}}\n",
    "loop": "- {id: a, pipeline: x, loop: {max_iterations: 3, until: \"{{ a.output.v == 'OK' }}\"}}\n"
    "- {id: b, pipeline: x, dependencies: [a], input: '{{ a.output.v }}'}\n",
    "loop that reads its last round": "- {id: l, loop: {max_iterations: 2, steps: ["
    "{id: a, pipeline: x, input: '{{ b.output.v }}'}, {id: b, pipeline: x}]}}\n",
    "a pipeline an item": "- {id: a, persona: builder, strategy: "
    "{type: matrix, items: [1], child_pipeline: impl, input_template: '{{ .repo }}'}}\n",
    "conditional": command("x")
    + "- {id: a, type: conditional, dependencies: [x], edges: [{target: _complete, condition: outcome=success}, "
    "{target: x}]}\n",
    "edges": command("x", edges="[{target: y, condition: outcome=success}, {target: x}]", max_visits="3")
    + command("y"),
    "artifact of a pipeline": "- {id: a, pipeline: below}\n"
    + command("b", dependencies="[a]", memory="{inject_artifacts: [{step: a, artifact: x, as: x}]}"),
}


@pytest.mark.parametrize("name", FINE)
def test_what_is_run_is_no_problem(tmp_path, name):
    loaded, found = problems(tmp_path, FINE[name])
    assert loaded.report.for_running().is_ok, list(map(str, loaded.report.ordered()))
    assert found == []


NAMED = {
    "order of items": "- {id: a, exec: {type: command, source: x}, strategy: {items: [1], dependency_key: d}}\n",
    "a slash command": "- {id: a, persona: builder, exec: {type: slash_command, command: /x, args: y}}\n",
    "gate that polls": "- {id: g, gate: {type: ci_pass, timeout: 2h}}\n",
}


@pytest.mark.parametrize("name", NAMED)
def test_what_is_not_run_is_a_warning_that_stops_a_run_and_nothing_else(tmp_path, name):
    after = command("z", dependencies=f"[{'g' if name.startswith('gate') else 'a'}]")
    loaded, found = problems(tmp_path, NAMED[name] + after)
    assert loaded.report.is_ok, list(map(str, loaded.report.errors))
    assert {code for _, code in found} == {"not_run"}
    assert not loaded.report.for_running().is_ok


WRONG = [
    ("- {id: g, gate: {type: timer}}\n", "missing_field"),
    (command("a", "echo {{ gate.g.text }}"), "unresolved_template"),
    ("- {id: g, gate: {prompt: x}}\n" + command("a", "echo {{ gate.g.text }}"), "unresolved_template"),
    (command("a", "echo {{ forge.password }}"), "unresolved_template"),
    (command("a", "echo {{ b.output.x }}") + command("b"), "unresolved_template"),
    (command("a", "echo {{ task }}"), "unresolved_template"),
    (command("a", handover="{contract: {type: testsuites, command: x}}"), "unknown_contract"),
    ("- {id: a, pipeline: x, iterate: {over: 'a b', mode: parallel}}\n", "wrong_value"),
    ("- {id: a, pipeline: x, iterate: {over: '{{ b.output }}', mode: parallel}}\n", "unresolved_template"),
    ("- {id: a, pipeline: x, iterate: {mode: parallel}}\n", "missing_field"),
    ("- {id: a, pipeline: x, iterate: {over: [1], mode: wild}}\n", "wrong_value"),
    ("- {id: a, pipeline: x, iterate: {over: [1]}, strategy: {items: [1]}}\n", "wrong_value"),
    ("- {id: a, iterate: {over: [1]}}\n", "missing_field"),
    ("- {id: a, branch: {on: '{{ input }}'}}\n", "missing_field"),
    ("- {id: a, branch: {on: '{{ input }}', cases: {}}}\n", "missing_field"),
    ("- {id: a, aggregate: {from: '{{ input }}', into: ../m, strategy: concat}}\n", "path_outside"),
    ("- {id: a, aggregate: {from: '{{ input }}', into: m, strategy: sum}}\n", "wrong_value"),
    ("- {id: a, aggregate: {from: '{{ input }}', into: m}}\n", "missing_field"),
    ("- {id: a, loop: {max_iterations: 3}}\n", "missing_field"),
    ("- {id: a, loop: {max_iterations: 0, steps: [{id: b, pipeline: x}]}}\n", "wrong_value"),
    ("- {id: a, loop: {steps: [{id: b, pipeline: x}]}}\n", "missing_field"),
    ("- {id: a, loop: {max_iterations: 2, until: x > 2, steps: [{id: b, pipeline: x}]}}\n", "bad_condition"),
    (
        "- {id: a, loop: {max_iterations: 2, until: '{{ c.output }}', steps: [{id: b, pipeline: x}]}}\n",
        "unresolved_template",
    ),
    ("- {id: a, loop: {max_iterations: 2, steps: [{id: a, pipeline: x}]}}\n", "duplicate_step"),
    ("- {id: a, type: conditional}\n", "missing_field"),
    ("- {id: a, type: conditional, edges: [{target: b}]}\n", "unknown_step"),
    (command("x", edges="[{target: x, condition: exit=1}]"), "bad_condition"),
    (command("x", edges="[{condition: outcome=success}]"), "missing_field"),
    ("- id: a\n  persona: '{{ input }}'\n  exec: {type: prompt, source: x}\n", "wrong_value"),
    ("- id: a\n  persona: '{{ forge.type }}-x'\n  exec: {type: prompt, source: x}\n", "unknown_persona"),
]


@pytest.mark.parametrize(("steps", "code"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_in_them_is_an_error(tmp_path, steps, code):
    _, found = problems(tmp_path, steps)
    assert ("error", code) in found


def test_a_contract_that_nobody_checks_stops_a_run_only_where_its_failure_would(tmp_path):
    steps = command("a", handover="{contracts: [{type: source_diff, on_failure: %s, glob: x, min_files: 1}]}")
    warned, found = problems(tmp_path / "1" if (tmp_path / "1").mkdir() is None else tmp_path, steps % "warn")
    assert (warned.report.for_running().is_ok, found) == (True, [("warning", "not_run")])
    (tmp_path / "2").mkdir()
    failed, _ = problems(tmp_path / "2", steps % "fail")
    assert (failed.report.is_ok, failed.report.for_running().is_ok) == (True, False)


def test_a_persona_may_name_the_code_host(tmp_path):
    manifest = MANIFEST.replace("  builder:", "  github-builder:")
    steps = "- id: a\n  persona: '{{ forge.type }}-builder'\n  exec: {type: prompt, source: x}\n"
    assert problems(tmp_path, steps, manifest=manifest)[1] == []


def test_a_pipeline_that_a_step_names_and_that_is_not_there_is_warned_of_where_it_stands(tmp_path):
    steps = """\
- {id: a, pipeline: p}
- {id: b, pipeline: gone}
- {id: c, branch: {on: "{{ input }}", cases: {x: p, y: lost, z: skip}}}
- {id: d, loop: {max_iterations: 2, steps: [{id: e, pipeline: far}]}}
- {id: f, pipeline: "{{ input }}"}
"""
    loaded = load_pipeline(project(tmp_path, steps))
    (tmp_path / ".workbench" / "pipelines").mkdir(parents=True)
    (tmp_path / ".workbench" / "pipelines" / "p.yaml").write_text((tmp_path / "p.yaml").read_text())
    loaded = load_pipeline(str(tmp_path / ".workbench" / "pipelines" / "p.yaml"))
    missing = [p for p in loaded.report.ordered() if p.code == "missing_pipeline"]
    assert [(p.line - 4, p.key, p.message.split()[4]) for p in missing] == [
        (2, "steps[1].pipeline", "gone"), (3, "steps[2].branch", "lost"), (4, "steps[3].loop.steps[0].pipeline", "far"),
    ]  # fmt: skip
    assert loaded.report.for_running().is_ok


def test_what_never_reaches_another_program_is_named_at_its_adapter(tmp_path):
    manifest = MANIFEST.replace("binary: workbench", "binary: sh").replace(
        "runtime:", "runtime:\n  relay: {token_threshold_percent: 70, summarizer_persona: nobody}"
    )
    loaded, found = problems(tmp_path, command("a"), manifest=manifest)
    (said,) = [p for p in loaded.report.ordered() if p.code == "adapter_by_itself"]
    assert (said.line, said.severity) == (7, "warning")
    assert "relay (it keeps its own conversation) and temperature of its personas" in said.message
    assert ("error", "unknown_persona") in found


def test_a_problem_stands_at_the_text_that_it_is_about(tmp_path):
    steps = """\
- id: a
  type: command
  script: "{{ one }}"
  output_artifacts: [{name: x, path: "{{ two }}"}]
  validation: [{type: file_exists, target: y}, {type: file_exists, target: "{{ three }}"}]
  memory: {inject_artifacts: [{pipeline: other, artifact: x}, {step: z, artifact: four}]}
  handover: {contracts: [{type: test_suite, command: "true"}, {type: test_suite, command: "{{ five }}"}]}
"""
    loaded, _ = problems(tmp_path, steps)
    assert [p.key for p in loaded.report.errors] == [
        "steps[0].script", "steps[0].output_artifacts[0].path", "steps[0].validation[1].target",
        "steps[0].memory.inject_artifacts[1]", "steps[0].handover.contracts[1].command",
    ]  # fmt: skip


@pytest.mark.spec(227)
def test_project_files_may_be_patterns_and_skills_may_lie_anywhere(tmp_path):
    manifest = MANIFEST.replace(
        "    mode: headless\n", "    mode: headless\n    project_files: ['docs/*.md', 'no/*.md']\n"
    ) + "skill_mounts: [{path: ~/skills}, {path: /opt/skills}, {path: here}]\n"  # fmt: skip
    loaded, _ = problems(tmp_path, command("a"), manifest=manifest, files={"docs/a.md": "a"})
    missing = [p.message for p in loaded.report.ordered() if p.code == "missing_file"]
    assert [next(w for w in ("no/*.md", "here") if w in message) for message in missing] == [
        "no/*.md",
        "here",
    ]
    assert loaded.report.is_ok
    assert not any(p.fatal for p in loaded.report.ordered() if "no/*.md" in p.message)


def test_durations():
    assert [duration_seconds(text) for text in ("5s", "1h30m", "500ms", "2", "x")] == [
        5,
        5400,
        0.5,
        None,
        None,
    ]


# --- running ------------------------------------------------------------------------------------


def test_a_timer_waits_and_asks_nobody(runs):
    here = runs()
    row = here.run("""
  - {id: before, exec: {type: command, source: "true"}}
  - {id: g, dependencies: [before], gate: {type: timer, timeout: 5s}}
  - {id: after, dependencies: [g], exec: {type: command, source: "true"}}
""")
    assert (row.status, here.waiting(row.pipeline_id)) == ("completed", [])
    (running, done) = bodies(here, row.pipeline_id, "step.changed", "g")
    assert (running.state, done.state, done.duration_ms) == ("running", "completed", 5000)


GATE = """
  - id: plan
    workspace: {root: ./}
    exec: {type: command, source: "echo x >> plans"}
  - id: ask
    dependencies: [plan]
    gate: {prompt: "go?", choices: [{key: y, label: go, target: build}, {key: r, label: revise, target: plan}]}
  - id: build
    dependencies: [ask]
    workspace: {root: ./}
    exec: {type: command, source: "echo {{ gate.ask.key }} {{ gate.ask.choice }}: {{ gate.ask.text }} > built"}
"""


def test_an_answer_may_lead_back_and_its_words_are_handed_on(runs):
    here = runs()
    run = here.run(GATE).pipeline_id
    here.answer(run, choice="r")
    assert here.drive(run).status == "waiting"
    assert here.read("plans") == "x\nx\n"
    here.answer(run, choice="y", reason="mind the $(cart)")
    row = here.drive(run)
    assert (row.status, row.round) == ("completed", 2)
    assert here.read("built") == "y go: mind the $(cart)\n"


def test_a_run_below_hands_on_what_it_names(runs):
    here = runs()
    head = "pipeline_outputs: {url: {step: x, artifact: found, field: .pr.url}, all: {step: x, artifact: found}}\n"
    source = """echo '{"pr": {"url": "u1"}, "n": [1, 2]}' > f.json"""
    here.pipeline(
        f"\n  - {{id: x, exec: {{type: command, source: {json.dumps(source)}}}, output_artifacts: [{{name: found, path: f.json}}]}}",
        name="below", head=head,
    )  # fmt: skip
    row = here.run("""
  - {id: up, pipeline: below.yaml}
  - id: say
    dependencies: [up]
    workspace: {root: ./}
    memory: {inject_artifacts: [{step: up, artifact: all, as: all.json}]}
    exec: {type: command, source: "echo {{ up.output.url }} {{ up.output.all.n }} {{ up/url }} > said; cat artifacts/all.json >> said"}
""")
    assert row.status == "completed", row.error_message
    assert here.read("said") == 'u1 [1, 2] u1\n{"pr": {"url": "u1"}, "n": [1, 2]}\n'


@pytest.mark.parametrize(
    ("first", "status", "warned"), [("warn", "failed", False), ("fail", "failed", False)]
)
def test_a_contract_that_only_warns_says_nothing_of_the_others(runs, first, status, warned):
    here = runs()
    row = here.run(f"""
  - id: a
    exec: {{type: command, source: "true"}}
    handover:
      contracts:
        - {{type: test_suite, command: "false", on_failure: {first}}}
        - {{type: test_suite, command: "exit 3", on_failure: fail}}
""")
    assert (row.status, here.step(row.pipeline_id, "a").is_warned) == (status, warned)
    checked = [body.outcome for body in bodies(here, row.pipeline_id, "contract.checked", "a")]
    assert checked == (["warned", "failed"] if first == "warn" else ["failed"])


def test_a_contract_that_nobody_checks_is_not_checked(runs):
    here = runs()
    row = here.run("""
  - id: a
    exec: {type: command, source: "true"}
    handover: {contracts: [{type: source_diff, on_failure: warn}]}
""")
    (checked,) = bodies(here, row.pipeline_id, "contract.checked", "a")
    assert (row.status, checked.outcome, checked.is_blocking) == ("completed", "not_checked", False)


def test_a_mount_without_a_mode_is_readonly(runs):
    here = runs(files={"src/a.txt": "one"})
    row = here.run("""
  - id: a
    workspace: {mount: [{source: ./src, target: /src}]}
    exec: {type: command, source: "echo two > src/a.txt || true; chmod u+w src/a.txt; echo two > src/a.txt"}
""")
    assert row.status == "completed"
    assert here.read("src/a.txt") == "one"


def test_a_validation_says_what_its_author_says(runs):
    here = runs()
    row = here.run("""
  - id: a
    exec: {type: command, source: "true"}
    validation: [{type: file_exists, target: gone.txt, message: "the model is required"}]
""")
    assert "validation: the model is required: gone.txt is not there" in row.error_message
