"""Pipelines out of pipelines: iterate, branch, loop, aggregate, edges; and what going round leaves behind."""

import json

import pytest

from tests.support.tables import each_row
from workbench.pipelines import conditions
from workbench.pipelines.load import load_pipeline
from workbench.pipelines.state import fold_run


def say(text, name="f", path="f.json"):
    """Return the YAML of a step's exec and output that leaves a text as a file."""
    line = f"printf %s {json.dumps(text)} > {path}" if "'" in text else f"printf %s '{text}' > {path}"
    return (
        f"exec: {{type: command, source: {json.dumps(line)}}}\n"
        f"    output_artifacts: [{{name: {name}, path: {path}, type: json}}]"
    )


AUDIT = """
  - id: audit
    exec: {type: command, source: "echo '[{\\"of\\": \\"'{{ input }}'\\"}]' > o.json"}
    output_artifacts: [{name: findings, path: o.json, type: json}]
"""


def test_an_iteration_runs_a_pipeline_an_item_and_its_results_are_merged(runs):
    here = runs()
    for name in ("audit-a", "audit-b"):
        here.pipeline(
            AUDIT,
            name=f".workbench/pipelines/{name}",
            head="pipeline_outputs: {found: {step: audit, artifact: findings}}\n",
        )
    row = here.run("""
  - {id: all, pipeline: "{{ item }}", input: "x{{ item }}", iterate: {over: '["audit-b", "audit-a"]', mode: parallel}}
  - {id: merged, dependencies: [all], aggregate: {from: "{{ all.output }}", into: out/m.json, strategy: merge_arrays}}
  - id: show
    dependencies: [merged]
    workspace: {root: ./}
    memory: {inject_artifacts: [{step: merged, artifact: m, as: m.json}]}
    exec: {type: command, source: "cat artifacts/m.json; echo {{ steps.all.results }} > raw"}
""")
    assert row.status == "completed", row.error_message
    wanted = [{"of": "xaudit-b"}, {"of": "xaudit-a"}]
    assert json.loads(here.read("artifacts/m.json")) == wanted
    assert json.loads(here.read("raw")) == [[one] for one in wanted]


def test_a_pipeline_whose_name_was_computed_has_to_lie_where_trust_covers_it(runs):
    here = runs()
    here.pipeline(AUDIT, name="elsewhere")
    row = here.run("\n  - {id: a, pipeline: '{{ input }}'}\n", input="elsewhere.yaml")
    assert "does not lie where trust covers it" in row.error_message
    assert here.run("\n  - {id: a, pipeline: elsewhere.yaml}\n", input="x").status == "completed"


def test_a_sequential_iteration_stops_at_the_first_failure_and_goes_on_from_it(runs):
    here = runs()
    here.pipeline("""
  - {id: x, workspace: {root: ./}, exec: {type: command, source: "echo {{ input }} >> seen; test {{ input }} != b || test -e mended"}}
""", name="below")  # fmt: skip
    row = here.run("""
  - {id: list, exec: {type: command, source: "echo '{\\"n\\": [\\"a\\", \\"b\\", \\"c\\"]}' > l.json"}, output_artifacts: [{name: l, path: l.json}]}
  - {id: each, dependencies: [list], pipeline: below.yaml, input: "{{ item }}", iterate: {over: "{{ list.output.n }}", mode: sequential}}
""")
    assert row.status == "failed"
    assert "1 were not started" in row.error_message
    assert here.items(row.pipeline_id, "each")["each[c]"] == "skipped"
    (here.root / "mended").touch()
    assert here.resume(row.pipeline_id).status == "completed"
    assert here.read("seen").split() == ["a", "b", "b", "c"]


@pytest.mark.parametrize(
    ("kind", "status", "ran"),
    [("bug", "completed", "fix"), ("docs", "completed", None), ("odd", "failed", None), ("", "failed", None)],
)
def test_a_branch_runs_the_pipeline_of_its_case(runs, kind, status, ran):
    here = runs()
    here.pipeline("\n  - {id: x, workspace: {root: ./}, exec: {type: command, source: 'echo {{ input }} > fix'}}", name="fix")  # fmt: skip
    row = here.run(f"""
  - id: sort
    {say(json.dumps({"kind": kind}))}
  - {{id: route, dependencies: [sort], branch: {{on: "{{{{ sort.output.kind }}}}", cases: {{bug: fix.yaml, docs: skip}}}}}}
  - {{id: after, dependencies: [route], exec: {{type: command, source: "true"}}}}
""", input="the input")  # fmt: skip
    assert row.status == status, row.error_message
    assert (here.root / "fix").exists() == bool(ran)
    if status == "failed":
        assert "no case for" in row.error_message
        assert "bug, docs" in row.error_message
    if ran:
        assert here.read("fix") == "the input\n"


LOOP = """
  - {id: begin, exec: {type: command, source: "true"}}
  - id: refine
    dependencies: [begin]
    loop:
      max_iterations: %s
      until: "{{ steps.check.outcome == 'success' }}"
      steps:
        - {id: improve, workspace: {root: ./}, exec: {type: command, source: "echo \\"$WORKBENCH_LAST_FAILURE\\" | head -c 40 >> why; echo x >> tries"}}
        - {id: check, workspace: {root: ./}, exec: {type: command, source: "test $(wc -l < tries) -ge 3 || { echo try $(wc -l < tries); exit 1; }"}}
  - {id: end, dependencies: [refine], workspace: {root: ./}, exec: {type: command, source: "touch ended"}}
"""


HIDDEN = """
  - id: s
    exec: {type: command, source: "echo ok > a; echo '{\\"status\\": \\"late\\", \\"n\\": \\"2\\"}' > status.json"}
    output_artifacts: [{name: %s, path: status.json}, {name: %s, path: a}]
  - {id: r, type: conditional, dependencies: [s], edges: [{target: good, condition: "{{ %s }}"}, {target: _complete}]}
  - {id: good, dependencies: [r], exec: {type: command, source: "true"}}
"""


@pytest.mark.parametrize(
    ("names", "condition", "holds", "warns"),
    [
        (("report", "status"), "s.output.status == 'ok'", True, False),
        (("report", "status"), "s.output.report.status == 'late'", True, False),
        (("report", "other"), "s.output.status == 'late'", True, False),
        (("status", "other"), "s.output.status == 'late'", False, True),
        (("status", "other"), "s.output.status.status == 'late'", True, False),
        (("status", "other"), "s.output.n == '2'", True, False),
    ],
)
def test_in_a_condition_the_name_of_an_artifact_comes_before_a_field(runs, names, condition, holds, warns):
    here = runs()
    path = here.pipeline(HIDDEN % (*names, condition))
    found = {problem.code for problem in load_pipeline(str(here.root / path)).report.warnings}
    assert ("hidden_field" in found) is warns
    row = here.drive(here.request(path))
    assert row.status == "completed", row.error_message
    assert here.states(row.pipeline_id)["good"] == ("completed" if holds else "skipped")


@pytest.mark.parametrize(("most", "tries"), [(5, 3), (2, 2)])
def test_a_loop_goes_round_until_its_condition_holds_or_its_rounds_are_over(runs, most, tries):
    here = runs()
    row = here.run(LOOP % most)
    assert row.status == "completed", row.error_message
    assert here.read("tries").split() == ["x"] * tries
    assert "check: it ended with exit code 1" in here.read("why")
    assert (here.root / "ended").exists()


def test_a_run_that_is_cut_off_within_a_loop_goes_on_with_its_round(runs):
    here = runs()
    run = here.request(here.pipeline(LOOP % 5))
    seen = []

    def until(coordinator):
        seen.append(coordinator.state.round)
        return coordinator.state.round == 2

    here.drive(run, until=until)
    row = here.resume(run)
    assert row.status == "completed", row.error_message
    assert len(here.read("tries").split()) in (3, 4)


EDGES = """
  - {id: implement, workspace: {root: ./}, exec: {type: command, source: "echo x >> tries"}}
  - {id: tests, dependencies: [implement], workspace: {root: ./}, exec: {type: command, source: "%s"}}
  - id: gate
    type: conditional
    dependencies: [tests]
    edges: [{target: finish, condition: outcome=success}, {target: implement}]
  - {id: finish, dependencies: [gate], workspace: {root: ./}, exec: {type: command, source: "touch finished"}}
  - {id: deploy, dependencies: [tests], workspace: {root: ./}, exec: {type: command, source: "echo $(wc -l < tries) >> deployed"}}
"""


def test_a_conditional_step_leads_back_and_nothing_else_begins_after_the_failure(runs):
    here = runs()
    row = here.run(EDGES % "test $(wc -l < tries) -ge 3 || { echo $(wc -l < tries); exit 1; }")
    assert row.status == "completed", row.error_message
    assert here.read("tries").split() == ["x"] * 3
    assert here.read("deployed") == "3\n"
    assert (here.root / "finished").exists()


@pytest.mark.parametrize(
    ("line", "why", "tries"),
    [("echo always; exit 1", "failed 3 times in the same way", 3),
     ("cat tries; exit 1", "tests was done 10 times; max_visits is 10", 10)],
)  # fmt: skip
def test_a_way_back_has_limits(runs, line, why, tries):
    here = runs()
    row = here.run(EDGES % line)
    assert row.status == "failed"
    assert why.partition(" ")[2] in row.error_message
    assert len(here.read("tries").split()) == tries
    assert not (here.root / "finished").exists()
    assert not (here.root / "deployed").exists()


def test_edges_of_a_step_that_does_something_choose_what_comes_after_it(runs):
    here = runs()
    steps = """
  - {id: build, workspace: {root: ./}, exec: {type: command, source: "echo x >> built"}}
  - id: tests
    dependencies: [build]
    workspace: {root: ./}
    exec: {type: command, source: "test -e mended"}
    edges: [{target: ship, condition: outcome=success}, {target: mend}]
  - {id: mend, workspace: {root: ./}, exec: {type: command, source: "touch mended"}, edges: [{target: tests}]}
  - {id: ship, workspace: {root: ./}, exec: {type: command, source: "touch shipped"}}
"""
    row = here.run(steps)
    assert row.status == "completed", row.error_message
    assert (here.read("built"), (here.root / "shipped").exists()) == ("x\n", True)
    states = here.states(row.pipeline_id)
    assert (states["mend"], states["ship"], states["tests"]) == ("skipped", "completed", "completed")


def test_a_condition_may_ask_for_what_a_step_left(runs):
    here = runs()
    row = here.run(f"""
  - id: look
    {say('{"risk": "high"}')}
  - id: which
    type: conditional
    dependencies: [look]
    edges: [{{target: stop, condition: context.risk=high}}, {{target: _complete}}]
  - {{id: stop, dependencies: [which], workspace: {{root: ./}}, exec: {{type: command, source: "touch stopped"}}}}
""")
    assert (row.status, (here.root / "stopped").exists()) == ("completed", True)


@pytest.mark.parametrize(
    ("strategy", "key", "text", "found"),
    [
        ("merge_arrays", "", "[[1], [2, 3], null]", [1, 2, 3]),
        ("merge_arrays", "n", '[{"n": [1]}, {"n": []}, {"m": 1}]', [1]),
        ("merge_arrays", "", '[{"n": [1]}, [2], "three"]', [{"n": [1]}, 2, "three"]),
        ("merge_arrays", "", "{}", "no JSON list"),
        ("concat", "", '["a", "b"]', "a\nb"),
        ("reduce", "", "anything", "anything"),
    ],
)
def test_an_aggregate_puts_together_or_says_why_it_cannot(runs, strategy, key, text, found):
    here = runs()
    row = here.run(f"""
  - id: a
    {say(text)}
  - {{id: m, dependencies: [a], aggregate: {{from: "{{{{ a.output }}}}", into: m.json, strategy: {strategy}, key: "{key}"}}}}
  - {{id: z, dependencies: [m], workspace: {{root: ./}}, memory: {{inject_artifacts: [{{step: m, artifact: m, as: z}}]}}, exec: {{type: command, source: "true"}}}}
""")
    if isinstance(found, str) and found.startswith("no"):
        assert row.status == "failed"
        assert found in row.error_message
        return
    assert row.status == "completed", row.error_message
    left = here.read("artifacts/z")
    assert (json.loads(left) if isinstance(found, list) else left) == found


def test_a_matrix_may_run_a_pipeline_an_item(runs):
    here = runs()
    here.pipeline("\n  - {id: x, workspace: {root: ./}, exec: {type: command, source: 'echo {{ input }} >> seen'}}", name="below")  # fmt: skip
    row = here.run("""
  - id: each
    strategy: {type: matrix, items: [{repo: a}, {repo: b}], item_id_key: repo, child_pipeline: below.yaml, input_template: "{{ .repo }}!", max_concurrency: 1}
""")
    assert row.status == "completed", row.error_message
    assert here.read("seen") == "a!\nb!\n"


def test_a_run_from_a_step_on_takes_what_was_skipped_as_skipped(runs):
    here = runs()
    here.run(EDGES.replace("{target: implement}", "{target: deploy}") % "false")
    run = here.request("p.yaml", from_step="deploy")
    row = here.drive(run)
    states = here.states(run)
    assert (row.status, states["finish"], states["deploy"]) == ("completed", "skipped", "completed")


def test_items_that_had_not_begun_when_others_parked_begin_when_those_were_answered(runs):
    here = runs()
    here.pipeline("\n  - {id: g, gate: {prompt: 'ship {{ input }}?'}}\n", name="below")
    run = here.run("""
  - {id: each, pipeline: below.yaml, input: "{{ item }}", iterate: {over: [a, b, c], mode: parallel, max_concurrent: 2}}
""").pipeline_id
    assert {one.target for one in here.waiting(run)} == {"ship a?", "ship b?"}
    here.answer(run)
    assert here.drive(run).status == "waiting"
    assert "ship c?" in {one.target for one in here.waiting(run)}
    while here.waiting(run):
        here.answer(run)
    row = here.drive(run)
    assert (row.status, here.states(run)["each[c]"]) == ("completed", "completed")


BELOW = """
  - {id: x, workspace: {root: ./}, exec: {type: command, source: "echo x{{ input }} >> seen"}}
  - {id: y, dependencies: [x], workspace: {root: ./}, exec: {type: command, source: "echo y{{ input }} >> seen; test -e mended"}}
"""


def test_a_resume_goes_on_within_the_run_below(runs):
    here = runs()
    here.pipeline(BELOW, name="below")
    run = here.run("\n  - {id: up, pipeline: below.yaml, input: one}\n").pipeline_id
    assert here.resume(run).status == "failed"
    (here.root / "mended").touch()
    row = here.resume(run)
    assert (row.status, here.read("seen").split()) == ("completed", ["xone", "yone", "yone", "yone"])
    below = [one for one in here.journal.pipeline_states() if one.pipeline_name == "below"]
    assert [(one.status, one.round) for one in below] == [("completed", 3)]


def test_a_step_that_failed_after_its_run_below_begins_it_anew(runs):
    here = runs(files={"mended": ""})
    here.pipeline(BELOW, name="below")
    contract = "handover: {contract: {type: test_suite, command: 'test -e also', dir: project_root}}"
    run = here.run(f"\n  - {{id: up, pipeline: below.yaml, input: one, {contract}}}\n").pipeline_id
    (here.root / "also").touch()
    assert here.resume(run).status == "completed"
    assert here.read("seen").split() == ["xone", "yone", "xone", "yone"]


def test_a_retry_begins_the_run_below_anew(runs):
    here = runs()
    here.pipeline(BELOW, name="below")
    here.run("\n  - {id: up, pipeline: below.yaml, input: one, retry: {max_attempts: 2}}\n")
    assert here.read("seen").split() == ["xone", "yone", "xone", "yone"]


def test_a_run_below_with_a_wrong_input_fails_its_step_with_words(runs):
    here = runs()
    head = "input: {schema: {type: object, required: [repo]}}\n"
    here.pipeline("\n  - {id: a, exec: {type: command, source: 'true'}}", name="below", head=head)
    row = here.run("\n  - {id: up, pipeline: below.yaml, input: '{}'}\n")
    assert "'repo' is a required property" in row.error_message


# --- conditions ---------------------------------------------------------------------------------


@each_row(
    ("text", "holds"),
    [
        ("", True),
        ("outcome=success", True),
        ("outcome != success", False),
        ("context.a=1", True),
        ("{{ a.output.v == 'OK' }}", True),
        ('{{ a.output.v != "OK" }}', False),
        ("{{ a.output.v == 'NO' || outcome == 'success' }}", True),
        ("{{ a.output.v == 'OK' && ! flag }}", False),
        ("{{ a.output.v }} == OK", True),
        ("{{ a.output.v }} != 'OK'", False),
        ("{{ flag }}", True),
        ("{{ a.output.v }}", False),
        ("{{ true }}", True),
    ],
)
def test_conditions(text, holds):
    values = {"outcome": "success", "context.a": "1", "a.output.v": "OK", "flag": " yes\n"}
    assert conditions.parse_condition(text).holds(values.__getitem__) is holds


@each_row(
    "text",
    [
        "outcome=fine",
        "x > 3",
        "{{ a > 3 }}",
        "{{ a == }}",
        "{{ a }} ==",
        "{{ a }} == {{ b }}",
        "{{ }}",
        "{{ a b }}",
        "{{ && }}",
        "rm -rf",
        "{{ a = b }}",
    ],
)
def test_what_is_no_condition_is_refused_with_what_is_known(text):
    with pytest.raises(conditions.BadCondition, match=r"known are|success or failure"):
        conditions.parse_condition(text)


def test_the_state_after_rounds_is_the_fold_of_its_events(runs):
    here = runs()
    run = here.run(LOOP % 5).pipeline_id
    state = fold_run(here.journal.events(run))
    assert {name: one.visits for name, one in state.steps.items()} == {
        "begin": 0, "improve": 2, "check": 2, "refine": 2, "end": 0,
    }  # fmt: skip
    assert state.round == 3
