"""Runs from their request to their end: order, artifacts, contracts, retries, gates, matrix, resume."""

import json

import pytest

from tests.support.runs import USER
from tests.unit.pipelines.projects import MANIFEST
from workbench.domain.events import CallFinished, StepChanged
from workbench.domain.step_messages import StepOutcome
from workbench.host.executor import check_tool_result
from workbench.host.steps.run_requests import RunRefused, RunRequest, cancel_run, request_run
from workbench.host.steps.step_executor import EmbeddedExecutor
from workbench.pipelines.attempt import AttemptResult, _final_failure
from workbench.pipelines.contracts import schema_violations
from workbench.pipelines.model import Contract, FailurePolicy
from workbench.tools.execution import RunPipeline

TWO = """
  - id: a
    exec: {type: command, source: "echo one > a.txt"}
    output_artifacts: [{name: x, path: a.txt}]
  - id: b
    dependencies: [a]
    memory: {inject_artifacts: [{step: a, artifact: x, as: given}]}
    exec: {type: command, source: "cat artifacts/given; echo {{ a/x }}"}
    output_artifacts: [{name: said, source: stdout}]
"""


def artifact(runs, run, step, name):
    found = [b for s, b in runs.bodies(run, "artifact.stored") if (s, b.name) == (step, name)]
    return runs.journal.blobs.read(found[-1].content_ref)


@pytest.mark.spec(103, 105, 108, 120, 121, 122, 124)
def test_a_run_goes_through_its_steps_in_order_and_hands_artifacts_on(runs):
    here = runs()
    row = here.run(TWO, input="v2")
    assert (row.status, row.number, row.input, row.error_message) == ("completed", 1, "v2", "")
    assert here.states(row.pipeline_id) == {"a": "completed", "b": "completed"}
    assert artifact(here, row.pipeline_id, "b", "said") == b"one\none\n\n"
    assert here.journal.session(row.pipeline_id).status == "completed"
    moves = [(s, b.state) for s, b in here.bodies(row.pipeline_id, "step.changed")]
    assert moves == [("a", "running"), ("a", "completed"), ("b", "running"), ("b", "completed")]
    assert all(
        b.duration_ms > 0 for _, b in here.bodies(row.pipeline_id, "step.changed") if b.state == "completed"
    )


@pytest.mark.spec(108)
def test_an_injected_artifact_is_what_it_holds_and_its_path_is_asked_for_by_name(runs):
    here = runs()
    row = here.run(TWO.replace("{{ a/x }}", "{{ artifacts.given }} {{ artifacts.given.path }}"))
    assert artifact(here, row.pipeline_id, "b", "said") == b"one\none\n artifacts/given\n"


def test_runs_are_counted_per_pipeline_and_workspace(runs):
    here = runs()
    assert [here.run(TWO).number for _ in range(2)] == [1, 2]
    here.pipeline(TWO, name="other")
    assert here.journal.pipeline_state(here.request("other.yaml")).number == 1


@pytest.mark.spec(219)
@pytest.mark.parametrize(
    "text", ["$(touch owned)", "'; touch owned; '", '"; touch owned; "', "`touch owned`", "a'b\"c d"]
)
@pytest.mark.parametrize(
    "line",
    ["echo {{ input }}", 'echo "{{ input }}"', "echo '{{ input }}'", "echo x # don't\necho {{ input }}"],
)
def test_a_value_in_a_command_is_never_read_by_the_shell(runs, text, line):
    here = runs()
    steps = f"""
  - id: a
    exec: {{type: command, source: {json.dumps(line)}}}
    workspace: {{root: ./}}
    output_artifacts: [{{name: said, source: stdout}}]
"""
    row = here.run(steps, input=text)
    assert row.status == "completed"
    assert artifact(here, row.pipeline_id, "a", "said").decode().splitlines()[-1] == text
    assert not (here.root / "owned").exists()


CONTRACT = """
  - id: a
    exec: {type: command, source: %s}
    output_artifacts: [{name: r, path: r.json}]
    handover: {contract: {type: json_schema, schema: {type: object, required: [n, m], properties: {n: {type: integer}}}, %s}}
  - id: b
    dependencies: [a]
    exec: {type: command, source: "true"}
"""
BAD = """ "echo '{\\"n\\": \\"x\\"}' > r.json" """
MENDED = """ "test -n \\"$WORKBENCH_LAST_FAILURE\\" && echo '{\\"n\\": 1, \\"m\\": 2}' > r.json || echo '{}' > r.json" """


@pytest.mark.spec(113, 115, 116, 119)
def test_a_broken_contract_names_all_failing_paths_and_blocks(runs):
    here = runs()
    row = here.run(CONTRACT % (BAD, "must_pass: true"))
    (checked,) = [b for _, b in here.bodies(row.pipeline_id, "contract.checked")]
    assert checked.outcome == "failed"
    assert [p.partition(":")[0] for p in checked.problems] == ["$", "$.n"]
    assert (row.status, here.states(row.pipeline_id)) == ("failed", {"a": "failed", "b": "skipped"})
    assert "$.n" in row.error_message


@pytest.mark.spec(113)
def test_each_path_of_a_value_that_breaks_its_schema_is_named():
    schema = {
        "type": "object", "properties": {
            "items": {"type": "array", "items": {"type": "object", "required": ["name"], "properties": {"size": {"type": "integer"}}}},
        },
    }  # fmt: skip
    value = {"items": [{"name": "a", "size": 1}, {"size": "b"}]}
    assert [problem.partition(":")[0] for problem in schema_violations(schema, value)] == [
        "$.items[1]", "$.items[1].size",
    ]  # fmt: skip
    assert list(schema_violations(True, value)) == []
    assert list(schema_violations(False, value)) == ["$: nothing satisfies this schema"]


@pytest.mark.spec(116, 118, 119)
def test_a_retry_gets_the_failure_and_may_mend_it(runs):
    here = runs()
    row = here.run(CONTRACT % (MENDED, "on_failure: retry, max_retries: 2"))
    assert row.status == "completed"
    step = here.step(row.pipeline_id, "a")
    assert (step.attempt, step.retry_count, step.contract) == (2, 1, "passed")


@pytest.mark.spec(116, 119)
@pytest.mark.parametrize("words", ["on_failure: retry, max_retries: 2", "on_failure: retry"])
def test_after_the_last_retry_it_fails(runs, words):
    here = runs()
    row = here.run(CONTRACT % (BAD, words))
    step = here.step(row.pipeline_id, "a")
    assert (row.status, step.attempt, step.retry_count, step.state) == ("failed", 3, 2, "failed")


@pytest.mark.spec(115)
@pytest.mark.parametrize(
    ("words", "status", "a", "b", "warned", "checked"),
    [
        ("must_pass: false", "completed", "completed", "completed", True, ("warned", False)),
        ("on_failure: warn", "completed", "completed", "completed", True, ("warned", False)),
        ("on_failure: continue", "completed", "completed", "completed", True, ("warned", False)),
        ("on_failure: skip", "failed", "failed", "skipped", True, ("failed", True)),
        ("on_failure: halt", "failed", "failed", "skipped", False, ("failed", True)),
        ("on_failure: fail", "failed", "failed", "skipped", False, ("failed", True)),
    ],
)
def test_every_word_of_on_failure(runs, words, status, a, b, warned, checked):
    here = runs()
    row = here.run(CONTRACT % (BAD, words))
    states = here.states(row.pipeline_id)
    expected = "completed" if "skip" in words else status
    assert (row.status, states["a"], states["b"]) == (expected, a, b)
    assert here.step(row.pipeline_id, "a").is_warned is warned
    (check,) = [body for _, body in here.bodies(row.pipeline_id, "contract.checked")]
    assert (check.outcome, check.is_blocking) == checked


@pytest.mark.spec(115)
@pytest.mark.parametrize(
    ("then", "must_pass", "state", "is_warned"),
    [
        ("fail", None, "failed", False), ("skip", None, "failed", True), ("warn", None, "completed", True),
        ("continue", None, "completed", True), ("fail", True, "failed", False), ("fail", False, "completed", True),
    ],
)  # fmt: skip
def test_what_the_last_failure_of_a_step_means(then, must_pass, state, is_warned):
    contract = (
        None if must_pass is None else Contract(type="format", written_type="format", must_pass=must_pass)
    )
    result = AttemptResult(outcome=StepOutcome(state="failed"), failed_contract=contract)
    policy, running = FailurePolicy(then=then), StepChanged(state="running")
    ended = _final_failure(running, result, policy, "why", is_taken=False)
    assert (ended.state, ended.is_warned, ended.detail, ended.has_failed) == (state, is_warned, "why", False)
    taken = _final_failure(running, result, policy, "why", is_taken=True)
    assert (taken.state, taken.has_failed) == ("completed", state == "failed")


REWORK = """
  - id: a
    exec: {type: command, source: "echo tried >> %s/log; echo no such number >&2; exit 3"}
    output_artifacts: [{name: plan, path: plan.md}]
    retry: {max_attempts: 2, on_failure: rework, rework_step: mend}
  - id: mend
    rework_only: true
    exec: {type: command, source: %s}
    output_artifacts: [{name: %s, path: mended.md, required: false}]
  - id: b
    dependencies: [a]
    memory: {inject_artifacts: [{step: a, artifact: plan, as: given}]}
    exec: {type: command, source: "cat artifacts/given; echo {{ a/plan }} {{ a.output }}"}
    output_artifacts: [{name: said, source: stdout}]
"""
MEND = """ 'echo "$WORKBENCH_LAST_FAILURE" | grep -q "no such number" && echo mended > mended.md' """


@pytest.mark.parametrize("name", ["plan", "other"])
def test_a_rework_step_stands_for_the_failed_one_which_counts_as_completed(runs, name):
    here = runs()
    row = here.run(REWORK % (here.root, MEND, name))
    assert (row.status, row.error_message) == ("completed", "")
    assert here.states(row.pipeline_id) == {"a": "completed", "mend": "completed", "b": "completed"}
    assert artifact(here, row.pipeline_id, "b", "said") == b"mended\nmended\n mended\n\n"
    assert here.read("log") == "tried\n" * 2
    step = here.step(row.pipeline_id, "a")
    assert (step.attempt, step.is_warned) == (2, False)
    (said,) = {
        b.detail
        for s, b in here.bodies(row.pipeline_id, "step.changed")
        if (s, b.state) == ("a", "completed")
    }
    assert said.startswith("mend did it instead after: it ended with exit code 3")


def test_a_rework_step_that_fails_fails_the_step_it_stands_for_and_both_begin_anew(runs):
    here = runs()
    row = here.run(REWORK % (here.root, f" 'test -f {here.root}/mended && echo x > mended.md' ", "plan"))
    assert here.states(row.pipeline_id) == {"a": "failed", "mend": "failed", "b": "skipped"}
    assert "mend, its rework step, failed: it ended with exit code 1" in row.error_message
    (here.root / "mended").touch()
    again = here.resume(row.pipeline_id)
    assert (again.status, here.read("log")) == ("completed", "tried\n" * 4)


def test_a_contract_without_a_rework_step_runs_its_own_step_again(runs):
    here = runs()
    row = here.run("""
  - id: a
    workspace: {root: ./}
    exec: {type: command, source: "echo tried >> log"}
    handover: {contract: {type: test_suite, on_failure: rework, command: "test $(wc -l < log) -ge 3", dir: project_root}}
""")
    assert (row.status, here.step(row.pipeline_id, "a").attempt) == ("completed", 3)


SHARED = """
  - id: a
    workspace: {root: ./}
    exec: {type: command, source: "true"}
    handover: {contract: {type: non_empty_file, source: gone-a, on_failure: rework, rework_step: mend}}
  - id: b
    dependencies: [%s]
    workspace: {root: ./}
    exec: {type: command, source: "%s"}
    handover: {contract: {type: non_empty_file, source: gone-b, on_failure: rework, rework_step: mend}}
  - id: mend
    rework_only: true
    workspace: {root: ./}
    exec: {type: command, source: 'echo "$WORKBENCH_LAST_FAILURE" | grep -o "gone-." >> mended%s'}
"""


def test_a_rework_step_that_two_steps_share_runs_for_each_of_them(runs):
    """The second failure comes after it ended, or while it works."""
    here = runs()
    row = here.run(SHARED % ("a", "true", ""))
    assert (row.status, here.read("mended")) == ("completed", "gone-a\ngone-b\n")
    assert here.step(row.pipeline_id, "mend").attempt == 2
    (here.root / "mended").unlink()
    until_mending = "until test -s mended; do sleep 0.01; done"
    until_failed = "; until test -e done-b; do sleep 0.01; done; touch done-b"
    row = here.run(SHARED % ("", f"{until_mending}; touch done-b", until_failed))
    assert (row.status, here.read("mended")) == ("completed", "gone-a\ngone-b\n")
    here.check()


def test_a_shared_rework_step_fails_only_the_step_that_it_could_not_mend(runs):
    here = runs()
    row = here.run(SHARED.replace("%s'}", "; ! grep -q b mended'}") % ("a", "true"))
    assert here.states(row.pipeline_id) == {"a": "completed", "b": "failed", "mend": "failed"}


@pytest.mark.parametrize(("step", "state"), [("b", "retrying"), ("mend", "pending"), ("mend", "running")])
def test_a_driver_that_ends_before_the_second_rework_loses_nothing_of_it(runs, step, state):
    here = runs()
    run = here.request(here.pipeline(SHARED % ("a", "true", "")))
    here.drive(
        run, until=lambda c: c.state.steps["b"].failures == 1 and c.state.steps[step].state == state
    )  # fmt: skip
    row = here.resume(run)
    assert (row.status, here.read("mended")[:13]) == ("completed", "gone-a\ngone-b")


TWO_REWORKS = """
  - id: a
    workspace: {root: ./}
    exec: {type: command, source: "%s"}
    retry: {on_failure: rework, rework_step: mend, max_attempts: 1}
    handover:
      contracts:
        - {type: non_empty_file, source: one, on_failure: rework, rework_step: write_one}
        - {type: non_empty_file, source: two, on_failure: rework, rework_step: write_two}
        - {type: non_empty_file, source: three, on_failure: skip}
  - {id: mend, rework_only: true, exec: {type: command, source: "true"}}
  - {id: write_one, rework_only: true, exec: {type: command, source: "true"}}
  - {id: write_two, rework_only: true, exec: {type: command, source: "true"}}
"""


@pytest.mark.parametrize(
    ("command", "expected"),
    [("exit 3", "mend"), ("true", "write_one"), ("echo x > one", "write_two")],
)
def test_a_failure_is_reworked_by_the_step_that_is_named_for_it(runs, command, expected):
    """That of the contract that failed, and that of `retry` where its command failed."""
    here = runs()
    row = here.run(TWO_REWORKS % command)
    states = here.states(row.pipeline_id)
    assert [name for name, state in states.items() if state == "completed"] == ["a", expected]
    assert row.status == "completed"


def test_a_way_back_reworks_anew(runs):
    """What stood for a step in the round before says nothing of this round."""
    here = runs()
    row = here.run("""
  - id: a
    exec: {type: command, source: "exit 1"}
    retry: {on_failure: rework, rework_step: mend, max_attempts: 1}
  - id: mend
    rework_only: true
    workspace: {root: ./}
    exec: {type: command, source: "echo x >> mended"}
  - id: look
    dependencies: [a]
    workspace: {root: ./}
    exec: {type: command, source: "test $(wc -l < mended) -ge 2"}
    edges: [{target: _complete, condition: outcome=success}, {target: a}]
""")
    assert (row.status, here.read("mended")) == ("completed", "x\nx\n")


@pytest.mark.parametrize(("step", "state"), [("a", "retrying"), ("mend", "running"), ("mend", "completed")])
def test_a_driver_that_ends_in_the_middle_loses_nothing_of_a_rework(runs, step, state):
    here = runs()
    run = here.request(here.pipeline(REWORK % (here.root, MEND, "plan")))
    here.drive(run, until=lambda c: c.state.steps["a"].failures == 2 and c.state.steps[step].state == state)
    row = here.resume(run)
    assert (row.status, row.error_message) == ("completed", "")
    assert here.journal.pipeline_state(run).status == "completed"


def test_a_run_in_which_nothing_can_go_on_says_so_and_fails(runs, monkeypatch):
    """A file is refused where that could happen; what is left is a fault of the program."""
    monkeypatch.setattr("workbench.pipelines.checks._check_rework", lambda *_: None)
    here = runs()
    row = here.run("""
  - {id: a, exec: {type: command, source: "exit 1"}, retry: {on_failure: rework, rework_step: a, max_attempts: 2}}
""")
    assert row.status == "failed"
    assert "nothing of this run is running, waiting or ready" in here.step(row.pipeline_id, "a").error_message


@pytest.mark.parametrize("code", [126, 127])
def test_a_program_that_is_not_there_is_not_tried_again(runs, code):
    here = runs()
    row = here.run(f"""
  - {{id: a, exec: {{type: command, source: "exit {code}"}}, retry: {{max_attempts: 3}}}}
""")
    assert (row.status, here.step(row.pipeline_id, "a").attempt) == ("failed", 1)


PROJECT = """project:
  test_command: "test -f out.json"
  words: "one   two"
  quoted: "it's \\"so\\""
"""


def test_what_the_manifest_says_of_the_project_is_a_part_of_the_command(runs):
    here = runs(manifest=MANIFEST + PROJECT)
    row = here.run(
        """
  - id: a
    exec: {type: command, source: "touch out.json; {{ project.test_command }} && {{ project.contract_test_command }}; echo {{ project.words }} [{{ project.unset }}] {{ input }}"}
    output_artifacts: [{name: said, source: stdout}]
    handover: {contract: {type: test_suite, command: "{{ project.test_command }}"}}
""",
        input="$(touch owned); `x` ' \"",
    )
    assert row.status == "completed", row.error_message
    assert artifact(here, row.pipeline_id, "a", "said") == b"one two [] $(touch owned); `x` ' \"\n"


def test_an_input_that_looks_like_a_template_of_the_project_stays_text(runs):
    here = runs(manifest=MANIFEST + 'project: {test_command: "touch owned"}\n')
    row = here.run(
        """
  - id: a
    exec: {type: command, source: "echo {{ input }} {{ run.id }}"}
    output_artifacts: [{name: said, source: stdout}]
""",
        input="{{ project.test_command }}",
    )
    said = artifact(here, row.pipeline_id, "a", "said").decode()
    assert said == f"{{{{ project.test_command }}}} {row.pipeline_id}\n"


def test_a_mender_that_nobody_needs_is_skipped(runs):
    here = runs()
    row = here.run("""
  - {id: a, exec: {type: command, source: "true"}, retry: {on_failure: rework, rework_step: m}}
  - {id: m, rework_only: true, exec: {type: command, source: "true"}}
""")
    assert (row.status, here.states(row.pipeline_id)) == ("completed", {"a": "completed", "m": "skipped"})


@pytest.mark.spec(114)
@pytest.mark.parametrize(("command", "status"), [("test -f out", "completed"), ("exit 3", "failed")])
def test_a_test_suite_decides_by_its_exit_code(runs, command, status):
    here = runs()
    row = here.run(f"""
  - id: a
    exec: {{type: command, source: "touch out"}}
    handover: {{contract: {{type: test_suite, command: "{command}"}}}}
""")
    assert row.status == status
    (check,) = [body for _, body in here.bodies(row.pipeline_id, "contract.checked")]
    told = [] if status == "completed" else ["it ended with exit code 3"]
    assert (check.outcome, list(check.problems[:1])) == (
        "passed" if status == "completed" else "failed",
        told,
    )


@pytest.mark.spec(225)
def test_typescript_without_a_compiler_is_not_checked(runs, monkeypatch):
    monkeypatch.setattr("workbench.pipelines.contracts._typescript_compiler", lambda *_: None)
    here = runs()
    row = here.run("""
  - id: a
    exec: {type: command, source: "echo 'interface A {}' > a.ts"}
    output_artifacts: [{name: t, path: a.ts}]
    handover: {contract: {type: typescript_interface, source: a.ts}}
""")
    (checked,) = [b for _, b in here.bodies(row.pipeline_id, "contract.checked")]
    assert (checked.outcome, row.status) == ("not_checked", "completed")


@pytest.mark.spec(108)
@pytest.mark.parametrize(("required", "state"), [("true", "failed"), ("false", "completed_empty")])
def test_a_declared_artifact_has_to_be_there(runs, required, state):
    here = runs()
    row = here.run(f"""
  - id: a
    exec: {{type: command, source: "true"}}
    output_artifacts: [{{name: x, path: gone.txt, required: {required}}}]
""")
    step = here.step(row.pipeline_id, "a")
    assert step.state == state
    assert ("gone.txt" in step.error_message) is (state == "failed")


@pytest.mark.spec(93, 103)
def test_no_more_steps_run_at_once_than_may(runs):
    here = runs()
    steps = "".join(f"\n  - {{id: s{n}, exec: {{type: command, source: 'sleep 0.05'}}}}" for n in range(6))
    row = here.run(steps)
    running = most = 0
    for _, body in here.bodies(row.pipeline_id, "step.changed"):
        running += 1 if body.state == "running" else -1
        most = max(most, running)
    assert (row.status, most) == ("completed", 2)


@pytest.mark.spec(103)
def test_other_steps_go_on_when_one_fails(runs):
    here = runs()
    row = here.run("""
  - {id: a, exec: {type: command, source: "exit 1"}}
  - {id: b, exec: {type: command, source: "true"}}
  - {id: c, dependencies: [b], exec: {type: command, source: "true"}}
  - {id: d, dependencies: [a, c], exec: {type: command, source: "true"}}
  - {id: e, dependencies: [d], exec: {type: command, source: "true"}}
""")
    assert here.states(row.pipeline_id) == {
        "a": "failed", "b": "completed", "c": "completed", "d": "skipped", "e": "skipped",
    }  # fmt: skip
    assert row.error_message.startswith("a failed: it ended with exit code 1")
    assert (here.journal.session(row.pipeline_id).status, here.journal.session(row.pipeline_id).reason) == (
        "paused", "failed",
    )  # fmt: skip


NOISY = """
  - id: a
    exec: {type: command, source: "echo careful >&2; echo '[1]'; echo careful >&2"}
    output_artifacts: [{name: list, source: stdout, type: json}]
    handover: {contract: {type: json_schema, source: list, schema: '{"type": "array"}'}}
"""


@pytest.mark.spec(108, 224)
def test_what_is_handed_on_of_a_standard_output_has_no_warnings_in_it(runs):
    here = runs()
    row = here.run(NOISY)
    assert (row.status, artifact(here, row.pipeline_id, "a", "list")) == ("completed", b"[1]\n")
    (ended,) = [b for _, b in here.bodies(row.pipeline_id, "step.changed") if b.state == "completed"]
    assert sorted(ended.output.split()) == ["[1]", "careful", "careful"]


@pytest.mark.spec(108)
def test_a_standard_output_that_is_too_long_is_not_handed_on_in_part(runs, monkeypatch):
    for module in ("pipelines.artifacts", "host.steps.step_program"):
        monkeypatch.setattr(f"workbench.{module}.MOST_STDOUT", 1024)
    here = runs()
    assert here.run(NOISY.replace("echo '[1]'", "yes | head -c 1024")).error_message.endswith(
        "is not JSON: Expecting value: line 1 column 1 (char 0)"
    )
    row = here.run(NOISY.replace("echo '[1]'", "yes | head -c 1025"))
    words = "no more than 1 KB are kept of a standard output; write it to a file"
    assert words in row.error_message
    # One that nothing needs is left out, and said so.
    unchecked = NOISY.split("    handover:")[0].replace("stdout, type: json", "stdout, required: false")
    row = here.run(unchecked.replace("echo '[1]'", "yes | head -c 1025"))
    (ended,) = [b for _, b in here.bodies(row.pipeline_id, "step.changed") if b.attempt and b.detail]
    assert (row.status, ended.state, words in ended.detail) == ("completed", "completed_empty", True)


MATRIX = """
  - id: list
    exec: {type: command, source: "echo '{\\"jobs\\": [{\\"k\\": \\"x\\"}, {\\"k\\": \\"y\\"}, {\\"k\\": \\"z\\"}]}' > l.json"}
    output_artifacts: [{name: l, path: l.json}]
  - id: m
    dependencies: [list]
    strategy: {type: matrix, items_source: list/l, item_key: jobs, item_id_key: k, max_concurrency: 1}
    exec: {type: command, source: "echo {{ item.k }}; test {{ item.k }} != %s"}
    output_artifacts: [{name: said, source: stdout}]
  - id: after
    dependencies: [m]
    exec: {type: command, source: "printf %%s {{ m/said }}"}
    output_artifacts: [{name: all, source: stdout}]
"""


@pytest.mark.spec(110)
def test_a_matrix_runs_once_an_item_and_hands_on_a_result_an_item(runs):
    here = runs()
    row = here.run(MATRIX % "nobody")
    assert here.states(row.pipeline_id)["m[y]"] == "completed"
    found = json.loads(artifact(here, row.pipeline_id, "after", "all"))
    assert [(one["item"]["k"], one["value"]) for one in found] == [("x", "x\n"), ("y", "y\n"), ("z", "z\n")]
    order = [(s, b.state) for s, b in here.bodies(row.pipeline_id, "step.changed") if s and "[" in s]
    assert [state for _, state in order] == ["running", "completed"] * 3


@pytest.mark.spec(110, 123)
def test_a_failed_item_fails_its_matrix_and_only_it_is_run_again(runs):
    here = runs()
    row = here.run(MATRIX % "y")
    run = row.pipeline_id
    assert (row.status, here.states(run)["m"], here.states(run)["after"]) == ("failed", "failed", "skipped")
    row = here.resume(run)
    (again,) = [b.reset for _, b in here.bodies(run, "run.started") if b.round == 2]
    assert set(again) == {"m", "m[y]", "after"}
    assert here.step(run, "m[x]").attempt == 1
    assert here.step(run, "m[y]").attempt == 2


GATE = """
  - id: ask
    gate: {prompt: "Ship {{ input }}?", choices: [{key: y, label: "yes", target: ship}, {key: n, label: "no", target: notes}, {key: x, label: stop, target: _fail}]}
  - {id: ship, dependencies: [ask], exec: {type: command, source: "true"}}
  - {id: notes, dependencies: [ask], exec: {type: command, source: "true"}}
"""


@pytest.mark.parametrize(
    ("verdict", "more", "status", "states"),
    [
        ("approve", {"choice": "y"}, "completed", ("completed", "completed", "skipped")),
        ("approve", {"choice": "n"}, "completed", ("completed", "skipped", "completed")),
        ("approve", {"choice": "x"}, "failed", ("failed", "skipped", "skipped")),
        ("reject", {"reason": "not now"}, "failed", ("failed", "skipped", "skipped")),
    ],
)
def test_a_gate_is_a_row_of_the_queue_and_leads_on(runs, verdict, more, status, states):
    here = runs()
    row = here.run(GATE, input="v2")
    run = row.pipeline_id
    (action,) = here.waiting(run)
    assert (row.status, action.kind, action.target, action.subject["step"]) == (
        "waiting",
        "gate",
        "Ship v2?",
        "ask",
    )
    assert here.step(run, "ask").action_id == action.id
    here.answer(run, verdict, **more)
    row = here.drive(run)
    assert row.status == status
    assert tuple(here.states(run).values()) == states


ALLOWED = """
  - {id: checks, exec: {type: command, source: "exit %s"}, %s}
  - {id: other, exec: {type: command, source: "true"}}
  - {id: ask, dependencies: [checks, other], gate: {prompt: "Ship?", choices: [{key: y, label: "yes"}]}}
"""


@pytest.mark.parametrize(
    ("code", "words", "failed"),
    [
        (1, "retry: {on_failure: warn}", "checks failed: exit 1 (allowed by on_failure: warn)"),
        (3, "retry: {on_failure: continue}", "checks failed: exit 3 (allowed by on_failure: continue)"),
        (0, "retry: {on_failure: warn}", None),
    ],
)
def test_a_gate_names_the_steps_that_failed_and_let_the_run_go_on(runs, code, words, failed):
    here = runs()
    run = here.run(ALLOWED % (code, words)).pipeline_id
    (action,) = here.waiting(run)
    assert action.subject.get("failed") == failed
    assert action.warnings == (("failed step",) if failed else ())


def test_an_expired_gate_without_a_default_fails(runs):
    here = runs()
    steps = """
  - {id: g, gate: {prompt: "go?", timeout: 50ms, choices: [{key: y, label: go}]}}
"""
    row = here.drive(here.request(here.pipeline(steps)), until=lambda c: False)
    assert row.status == "failed"
    assert "expired" in here.step(row.pipeline_id, "g").error_message


def test_where_nobody_can_answer_a_gate_fails(runs):
    here = runs()
    row = here.drive(here.request(here.pipeline(GATE)), can_ask=False)
    assert (row.status, here.waiting(row.pipeline_id)) == ("failed", [])


AGENT = """
  - id: plan
    persona: builder
    exec: {type: prompt, source: "Plan {{ input }}."}
    output_artifacts: [{name: plan, path: plan.md}]
  - id: use
    dependencies: [plan]
    exec: {type: command, source: "echo {{ plan/plan }}"}
    output_artifacts: [{name: said, source: stdout}]
"""
CREATE = {
    "tool_call": {"id": "c1", "name": "create_file", "arguments": {"path": "plan.md", "content": "do it\n"}}
}
USAGE = {"usage": {"input_tokens": 7, "output_tokens": 3}}


@pytest.mark.spec(104, 105)
def test_an_agent_step_asks_parks_and_goes_on(runs):
    here = runs()
    here.record("plan", {"reply": [{"text": "I write."}, CREATE, USAGE]}, {"reply": [{"text": "Done."}]})
    row = here.run(AGENT, input="it")
    run = row.pipeline_id
    (action,) = here.waiting(run)
    child = here.journal.session(action.session_id)
    assert (row.status, child.kind, child.parent_id, child.title) == ("waiting", "step", run, "p #1 · plan")
    assert (child.system_prompt, child.configuration["temperature"]) == ("You build.\n", 0.5)
    assert {e.step for e in here.journal.events(child.id) if e.kind == "call.proposed"} == {"p #1 · plan"}
    here.answer(run)
    row = here.drive(run)
    assert row.status == "completed"
    assert artifact(here, run, "use", "said") == b"do it\n\n"
    assert here.step(run, "plan").usage.total_tokens == row.usage.total_tokens == 10
    assert here.journal.session(child.id).status == "completed"
    assert [b.state for s, b in here.bodies(run, "step.changed") if s == "plan"] == [
        "running", "waiting", "running", "completed",
    ]  # fmt: skip


@pytest.mark.spec(83, 84, 87)
def test_what_a_persona_denies_is_denied_whatever_is_granted(runs):
    here = runs()
    here.record("plan", {"reply": [CREATE]}, {"reply": [{"text": "I may not."}]})
    row = here.run(AGENT.replace("persona: builder", "persona: reader"), input="x", grants=("Write(*)",))
    run = row.pipeline_id
    child = here.step(run, "plan").session_id
    (call,) = here.journal.calls(child)
    assert (call.state, call.detail) == ("rejected", "denied")
    assert "persona reader" in call.verdict_by
    assert "it ended without writing" in here.step(run, "plan").error_message


@pytest.mark.spec(86)
def test_a_ceiling_denies_and_a_run_grant_lets_pass_for_this_run_only(runs):
    here = runs()
    shell = {"tool_call": {"id": "c0", "name": "run_in_terminal", "arguments": {"command": "ls"}}}
    here.record("plan", {"reply": [shell, CREATE]}, {"reply": [{"text": "done"}]})
    row = here.run(AGENT, input="x", grants=("Write(plan.md)",))
    calls = {call.tool: call for call in here.journal.calls(here.step(row.pipeline_id, "plan").session_id)}
    assert (calls["run_in_terminal"].state, calls["create_file"].state) == ("rejected", "succeeded")
    assert row.status == "completed"
    again = here.drive(here.request("p.yaml", input="y"))
    assert again.status == "waiting"


HOOKED = """
    hooks:
      PreToolUse: [{matcher: "Write(*)", command: "echo no writing; exit 1"}]
"""


@pytest.mark.spec(88, 90)
def test_a_pre_hook_of_the_persona_blocks_with_its_words(runs):
    from tests.unit.pipelines.projects import MANIFEST

    here = runs(manifest=MANIFEST.replace("    temperature: 0.5\n", "    temperature: 0.5" + HOOKED))
    here.record("plan", {"reply": [CREATE]}, {"reply": [{"text": "then not"}]})
    row = here.run(AGENT, input="x")
    (call,) = here.journal.calls(here.step(row.pipeline_id, "plan").session_id)
    assert call.state == "rejected"
    assert "no writing" in call.error


def test_an_agent_gets_a_failed_contract_back(runs):
    here = runs()
    bad = {"tool_call": {"id": "c1", "name": "create_file", "arguments": {"path": "r.json", "content": "{}"}}}
    good = {
        "tool_call": {
            "id": "c2",
            "name": "replace_string_in_file",
            "arguments": {"path": "r.json", "old_string": "{}", "new_string": '{"n": 1}'},
        }
    }
    here.record("a", {"reply": [bad]}, {"reply": [{"text": "done"}]})
    here.record("a.2", {"reply": [good]}, {"reply": [{"text": "mended"}]})
    row = here.run(
        """
  - id: a
    persona: builder
    exec: {type: prompt, source: "Write r.json."}
    output_artifacts: [{name: r, path: r.json}]
    handover: {contract: {type: json_schema, schema: {type: object, required: [n]}, on_failure: retry}}
""",
        grants=("Write(*)",),
    )
    assert row.status == "completed"
    prompts = [
        e.body.text
        for e in here.journal.events(here.step(row.pipeline_id, "a").session_id)
        if e.kind == "prompt.submitted"
    ]
    assert "'n' is a required property" in prompts[0]


@pytest.mark.spec(94)
def test_a_step_that_works_too_long_is_ended(runs, monkeypatch):
    monkeypatch.setattr("workbench.pipelines.model.Step.timeout_seconds", lambda step, manifest: 1)
    here = runs()
    row = here.run("""
  - {id: a, exec: {type: command, source: "sleep 600"}, retry: {max_attempts: 2}}
""")
    assert (row.status, here.step(row.pipeline_id, "a").retry_count) == ("failed", 1)
    assert "longer" in row.error_message


@pytest.mark.spec(224)
@pytest.mark.parametrize(
    ("source", "status", "why"),
    [
        ("good.json", "completed", ""),
        ("deep/other.json", "failed", "$: 'a' is a required property"),
        ("gone.json", "failed", "gone.json is not there"),
        ("", "completed", ""),
    ],
)
def test_the_source_of_a_contract_is_the_file_that_is_checked(runs, source, status, why):
    here = runs()
    schema = '{"type": "object", "required": ["a"]}'
    row = here.run(f"""
  - id: x
    exec: {{type: command, source: "echo '{{\\"a\\": 1}}' > good.json; mkdir deep; echo '{{}}' > deep/other.json"}}
    output_artifacts: [{{name: good, path: good.json}}]
    handover: {{contract: {{type: json_schema, schema: '{schema}', source: "{source}"}}}}
""")
    (checked,) = [body for _, body in here.bodies(row.pipeline_id, "contract.checked")]
    assert (row.status, checked.source) == (status, source or "good.json")
    assert why in row.error_message


@pytest.mark.parametrize(("printed", "status"), [('{"a": 1}', "completed"), ("{}", "failed")])
def test_a_contract_checks_what_a_step_prints_where_that_is_its_artifact(runs, printed, status):
    here = runs()
    line = json.dumps(f"printf %s '{printed}'")
    row = here.run(f"""
  - id: x
    exec: {{type: command, source: {line}}}
    output_artifacts: [{{name: said, source: stdout, type: json}}]
    handover: {{contract: {{type: json_schema, schema: '{{"required": ["a"]}}'}}}}
""")
    assert row.status == status, row.error_message


@pytest.mark.parametrize(("schema", "status"), [("{}", "completed"), ('{"required": ["b"]}', "failed")])
def test_a_contract_of_a_pipeline_step_checks_what_the_run_below_handed_on(runs, schema, status):
    here = runs()
    here.pipeline("""
  - id: y
    exec: {type: command, source: "mkdir out; echo '{\\"a\\": 1}' > out/o.json"}
    output_artifacts: [{name: o, path: out/o.json}]
""", name="below")  # fmt: skip
    contract = f"handover: {{contract: {{type: json_schema, schema: '{schema}', source: out/o.json}}}}"
    row = here.run(f"\n  - {{id: up, pipeline: below.yaml, {contract}}}\n")
    assert row.status == status, row.error_message
    assert ("'b' is a required property" in row.error_message) == (status == "failed")


def test_a_defect_right_after_a_step_began_fails_the_step_and_not_the_run_for_ever(runs, monkeypatch):
    async def broken(self, spec, on_event):
        raise OSError("no more of something")

    monkeypatch.setattr(EmbeddedExecutor, "run", broken)
    row = runs().run("\n  - {id: g, pipeline: p.yaml}\n")
    assert row.status == "failed"
    assert "OSError: no more of something" in row.error_message


def test_a_run_that_is_cancelled_ends_what_runs_and_withdraws_what_waits(runs):
    here = runs()
    run = here.request(
        here.pipeline("""
  - {id: a, exec: {type: command, source: "sleep 30"}}
  - {id: g, gate: {prompt: "go?"}}
  - {id: m, strategy: {items: [1, 2, 3], max_concurrency: 1}, exec: {type: command, source: "sleep 30"}}
  - {id: z, dependencies: [a, g], exec: {type: command, source: "true"}}
""")
    )
    asked = []

    def until(coordinator):
        if here.waiting(run) and coordinator.state.steps["a"].state == "running" and not asked:
            asked.append(cancel_run(here.journal, run, USER, "enough"))
        return False

    row = here.drive(run, until=until)
    assert (row.status, row.error_message) == ("cancelled", "enough")
    assert set(here.states(run).values()) == {"cancelled"}
    assert here.waiting(run) == []


@pytest.mark.spec(123)
def test_resume_runs_only_what_is_not_completed(runs):
    here = runs()
    row = here.run("""
  - {id: a, workspace: {root: ./}, exec: {type: command, source: "echo a >> count"}}
  - {id: b, workspace: {root: ./}, dependencies: [a], exec: {type: command, source: "echo b >> count; test -f ok"}}
  - {id: c, workspace: {root: ./}, dependencies: [b], exec: {type: command, source: "echo c >> count"}}
""")
    assert (row.status, here.read("count")) == ("failed", "a\nb\n")
    (here.root / "ok").touch()
    row = here.resume(row.pipeline_id)
    assert (row.status, row.round, here.read("count")) == ("completed", 2, "a\nb\nb\nc\n")


def test_a_changed_file_changes_nothing_of_a_run_under_way(runs):
    here = runs()
    run = here.request(here.pipeline(GATE))
    here.drive(run)
    here.pipeline("\n  - {id: other, exec: {type: command, source: 'exit 9'}}")
    here.answer(run, choice="y")
    assert here.drive(run).status == "completed"
    assert set(here.states(run)) == {"ask", "ship", "notes"}


def test_from_step_takes_what_comes_before_from_the_last_run(runs):
    here = runs()
    here.run(TWO)
    row = here.drive(here.request("p.yaml", from_step="b"))
    run = row.pipeline_id
    assert (row.status, here.states(run)) == ("completed", {"a": "completed", "b": "completed"})
    assert [s for s, b in here.bodies(run, "step.changed")] == ["b", "b"]
    assert artifact(here, run, "b", "said") == b"one\none\n\n"


@pytest.mark.spec(223)
@pytest.mark.parametrize("given", ['{"x": 1}', ""])
def test_an_input_that_fails_its_schema_stops_the_run_before_the_first_step(runs, given):
    here = runs()
    head = "input: {source: cli, required: true, schema: {type: object, required: [repo]}}\n"
    here.pipeline("\n  - {id: a, exec: {type: command, source: 'true'}}", head=head)
    with pytest.raises(RunRefused, match="'repo' is a required property" if given else "needs an input"):
        here.request(input=given)
    assert here.journal.pipeline_states() == []


def test_a_run_is_refused_in_an_untrusted_workspace(runs):
    here = runs(trust=False)
    (here.root / "p.yaml").write_text(
        "kind: WavePipeline\nmetadata: {name: p}\nsteps: [{id: a, exec: {type: command, source: x}}]\n"
    )
    with pytest.raises(RunRefused, match="not trusted"):
        here.request()
    assert here.journal.pipeline_states() == []


@pytest.mark.spec(111)
def test_validation_stops_a_step_before_it_runs(runs):
    here = runs()
    row = here.run("""
  - {id: a, workspace: {root: ./}, exec: {type: command, source: "touch ran"}, validation: [{type: file_exists, target: gone.txt}]}
""")
    assert row.status == "failed"
    assert not (here.root / "ran").exists()
    assert "gone.txt is not there" in row.error_message


@pytest.mark.spec(111)
@pytest.mark.parametrize(
    ("rule", "status"),
    [
        ("{type: file_exists, target: here.json}", "completed"),
        ("{type: folder_exists, target: here.json}", "failed"),
        ("{type: folder_exists, target: src}", "completed"),
        ("{type: non_empty_file, target: empty.txt}", "failed"),
        ("{type: non_empty_file, target: here.json}", "completed"),
        ('{type: json_schema, target: here.json, schema: \'{"type": "array"}\'}', "failed"),
        ('{type: json_schema, target: here.json, schema: \'{"type": "object"}\'}', "completed"),
        ("{type: command, target: 'test -s here.json'}", "completed"),
        ("{type: command, target: 'test -s empty.txt'}", "failed"),
    ],
)
def test_every_kind_of_validation_decides_whether_a_step_runs(runs, rule, status):
    here = runs(files={"here.json": "{}\n", "empty.txt": "", "src/a.txt": "a\n"})
    row = here.run(
        f'\n  - {{id: a, workspace: {{root: ./}}, exec: {{type: command, source: "touch ran"}}, validation: [{rule}]}}\n'
    )
    assert (row.status, (here.root / "ran").exists()) == (status, status == "completed")


@pytest.mark.spec(106)
def test_mounts_are_copies_and_a_readwrite_one_is_given_back(runs):
    here = runs(files={"src/a.txt": "old\n", "ro/b.txt": "keep\n"})
    row = here.run("""
  - id: a
    workspace: {mount: [{source: src, target: /src, mode: readwrite}, {source: ro, target: /ro, mode: readonly}]}
    exec: {type: command, source: "echo new > src/a.txt; echo x > src/n.txt; (echo no > ro/b.txt) 2>/dev/null; ls -l ro/b.txt | cut -c1-10"}
    output_artifacts: [{name: mode, source: stdout}]
""")
    assert row.status == "completed"
    assert (here.read("src/a.txt"), here.read("src/n.txt"), here.read("ro/b.txt")) == (
        "new\n",
        "x\n",
        "keep\n",
    )
    assert artifact(here, row.pipeline_id, "a", "mode").strip() == b"-r--r--r--"


def test_a_file_that_moved_in_the_project_is_not_overwritten(runs):
    here = runs(files={"src/a.txt": "old\n"})
    row = here.run(f"""
  - id: a
    workspace: {{mount: [{{source: src, target: /src, mode: readwrite}}]}}
    exec: {{type: command, source: "echo mine > src/a.txt; echo theirs > {here.root}/src/a.txt"}}
""")
    assert (row.status, here.read("src/a.txt")) == ("failed", "theirs\n")
    assert "changed in the project meanwhile: a.txt" in row.error_message


@pytest.mark.spec(125)
def test_workspaces_stay_and_are_private(runs):
    here = runs()
    row = here.run(TWO)
    place = here.home.path / "workspaces" / row.pipeline_id
    assert (place / "a" / "a.txt").read_text() == "one\n"
    assert place.stat().st_mode & 0o777 == 0o700


def test_a_workspace_that_vanishes_fails_the_step_with_words(runs):
    here = runs()
    row = here.run("""
  - id: a
    exec: {type: command, source: "rm -rf $PWD"}
    output_artifacts: [{name: x, path: x}]
  - {id: b, exec: {type: command, source: "true"}}
""")
    assert here.states(row.pipeline_id) == {"a": "failed", "b": "completed"}
    assert "there is nothing" in here.step(row.pipeline_id, "a").error_message or "not" in row.error_message


def test_a_pipeline_step_runs_another_pipeline_within_limits(runs):
    here = runs()
    here.pipeline(
        "\n  - {id: x, exec: {type: command, source: 'echo {{ input }} > /dev/null'}}", name="below"
    )
    row = here.run(
        """
  - {id: up, pipeline: below.yaml, input: "for {{ input }}"}
""",
        input="v2",
    )
    child = here.step(row.pipeline_id, "up").session_id
    below = here.journal.pipeline_state(child)
    assert (row.status, below.status, below.input) == ("completed", "completed", "for v2")
    assert here.journal.session(child).parent_id == row.pipeline_id


@pytest.mark.spec(97)
def test_pipelines_start_pipelines_only_so_deep(runs):
    here = runs()
    row = here.run("\n  - {id: again, pipeline: p.yaml}")
    assert row.status == "failed"
    messages = " ".join(r.error_message for r in here.journal.pipeline_states())
    assert "max_depth" in messages


@pytest.mark.spec(96)
def test_a_trace_is_kept_when_it_is_asked_for(runs):
    from tests.unit.pipelines.projects import MANIFEST

    here = runs(manifest=MANIFEST + "  audit: {log_all_tool_calls: true, log_dir: .wave/traces/}\n")
    here.record("plan", {"reply": [CREATE]}, {"reply": [{"text": "done"}]})
    row = here.run(AGENT, input="api_key=sk-abcdefghijklmnopqrstuvwx", grants=("Write(*)",))
    (path,) = (here.root / ".wave/traces").iterdir()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    kinds = {line["kind"] for line in lines}
    assert {"call.executing", "call.finished", "step.changed", "run.changed"} <= kinds
    assert "file.changed" not in kinds
    assert "sk-abcdefghij" not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert row.status == "completed"


@pytest.mark.spec(96, 187)
@pytest.mark.parametrize("is_on", [True, False])
def test_the_trace_of_a_command_names_each_file_that_changed_while_it_ran(runs, is_on):
    from tests.unit.pipelines.projects import MANIFEST

    audit = f"  audit: {{log_all_file_operations: {str(is_on).lower()}, log_all_tool_calls: true}}\n"
    here = runs(manifest=MANIFEST + audit)
    for name in ("kept", "edited", "gone"):
        (here.root / f"{name}.txt").write_text(name)
    script = "echo made > made.txt; echo more >> edited.txt; rm gone.txt; touch kept.txt"
    row = here.run(f"\n  - {{id: w, exec: {{type: command, source: '{script}'}}, workspace: {{root: ./}}}}")
    assert row.status == "completed"
    (path,) = (here.root / ".wave/traces").iterdir()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    files = [(line["step"], line["body"]) for line in lines if line["kind"] == "file.changed"]
    assert {step for step, _ in files} == ({"w"} if is_on else set())
    assert [(body["path"], body["change"]) for _, body in files] == [
        ("edited.txt", "modify"), ("gone.txt", "delete"), ("made.txt", "create"),
    ] * is_on  # fmt: skip
    assert {body["detail"] for _, body in files} <= {"changed while the command ran"}
    telemetry_id = here.journal.session(row.pipeline_id).telemetry_id
    assert telemetry_id and {line["telemetry_id"] for line in lines} == {telemetry_id}


def test_no_move_of_any_run_is_illegal(runs):
    here = runs()
    row = here.run(MATRIX % "y")
    before, moves = {}, set()
    for step, body in here.bodies(row.pipeline_id, "step.changed"):
        moves.add((before.get(step, "pending"), body.state))
        before[step] = body.state
    assert moves == {
        ("pending", "running"), ("running", "completed"), ("running", "failed"), ("pending", "skipped"),
    }  # fmt: skip


def test_wishes_that_cannot_be_are_refused_before_a_run_exists(runs):
    here = runs()
    here.pipeline(TWO)
    for wish in (
        RunRequest(name="gone"),
        RunRequest(name="p.yaml", from_step="b"),
        RunRequest(name="p.yaml", from_step="q"),
    ):
        with pytest.raises(RunRefused):
            request_run(here.journal, str(here.root), wish, USER)
    assert here.journal.pipeline_states() == []


def agent_starts(here, name):
    start = {"tool_call": {"id": "c1", "name": "pipeline_run", "arguments": {"name": name, "input": "x"}}}
    here.record("go", {"reply": [start]}, {"reply": [{"text": "done"}]})
    steps = "\n  - {id: go, persona: builder, exec: {type: prompt, source: go}, workspace: {root: ./}}"
    open_manifest = (
        (here.root / "wave.yaml").read_text().replace("allowed_tools: [Read, Write]", "allowed_tools: ['*']")
    )
    (here.root / "wave.yaml").write_text(open_manifest)
    return here.run(steps, grants=("pipeline.run",))


@pytest.mark.spec(197)
def test_an_agent_cannot_run_a_pipeline_that_trust_does_not_cover(runs):
    here = runs()
    here.pipeline(TWO, name="below")
    row = agent_starts(here, "below.yaml")
    (call,) = here.journal.calls(here.step(row.pipeline_id, "go").session_id)
    assert (call.state, "trust covers" in str(call)) == ("rejected", True), call
    assert [one.pipeline_name for one in here.journal.pipeline_states()] == [row.pipeline_name]


@pytest.mark.spec(197)
def test_an_agent_may_run_a_pipeline_and_gets_status_artifacts_and_log(runs):
    here = runs()
    folder = here.root / ".wave" / "pipelines"
    folder.mkdir(parents=True)
    (here.root / here.pipeline(TWO, name="below")).rename(folder / "below.yaml")
    row = agent_starts(here, "below")
    (call,) = here.journal.calls(here.step(row.pipeline_id, "go").session_id)
    assert (call.state, call.summary) == ("succeeded", "completed, 2 steps"), (call, row)
    child = next(r for r in here.journal.pipeline_states() if r.pipeline_name == "below")
    assert (child.status, here.journal.session(child.pipeline_id).parent_id) == ("completed", call.session_id)
    (finished,) = [e.body for e in here.journal.events(call.session_id) if e.kind == "call.finished"]
    names = [row.step_id for row in here.journal.step_states(child.pipeline_id)]
    assert dict(finished.metadata) == {
        "run_id": child.pipeline_id, "status": "completed",
        "steps": [{"step": name, "state": "completed", "error": ""} for name in names],
        "artifacts": ["a/x", "b/said"], "left_out": 0, "log": f"workbench pipeline logs {child.pipeline_id}",
    }  # fmt: skip
    assert json.loads(finished.preview) == dict(finished.metadata)


@pytest.mark.spec(197, 204)
def test_the_result_of_a_run_is_held_to_its_schema():
    schema = RunPipeline.descriptor.output_schema
    facts = {
        "run_id": "r", "status": "completed", "artifacts": ["a/out"], "left_out": 0, "log": "x",
        "steps": [{"step": "a", "state": "completed", "error": ""}],
    }  # fmt: skip
    finished = CallFinished(state="succeeded", metadata=facts)
    assert check_tool_result(RunPipeline.descriptor, finished, "text") == finished
    failed = CallFinished(state="failed", error="no")
    assert check_tool_result(RunPipeline.descriptor, failed, "text") == failed, "it has an error already"
    for name, wrong in (("status", "gone"), ("steps", [{"step": "a"}]), ("artifacts", None), ("log", 1)):
        bad = check_tool_result(
            RunPipeline.descriptor, CallFinished(state="succeeded", metadata={**facts, name: wrong}), "text"
        )
        assert (bad.state, bad.detail) == ("failed", "bad result"), name
        assert "does not satisfy its output schema" in bad.error
    assert set(schema["required"]) == {"output", *facts}


def test_a_defect_before_a_step_has_begun_fails_the_step_once_and_the_others_go_on(runs, monkeypatch):
    here, asked = runs(), []
    run = EmbeddedExecutor.run

    async def broken(self, spec, on_event):
        asked.append(spec.id.step)
        if spec.id.step == "odd":
            raise KeyError("within")
        return await run(self, spec, on_event)

    monkeypatch.setattr(EmbeddedExecutor, "run", broken)
    row = here.run(
        "- {id: odd, type: command, script: 'true'}\n"
        "- {id: after, type: command, script: 'true', dependencies: [odd]}\n"
        "- {id: other, type: command, script: 'true'}\n"
    )
    assert (row.status, here.states(row.pipeline_id)) == (
        "failed", {"odd": "failed", "after": "skipped", "other": "completed"},
    )  # fmt: skip
    assert sorted(asked) == ["odd", "other"]
    assert here.step(row.pipeline_id, "odd").error_message == "KeyError: 'within'"
