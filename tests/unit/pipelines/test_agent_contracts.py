"""Contracts in runs: what agents are told of them, JSON that is repaired, tests that are counted, reviews."""

import json
import os
import subprocess
import sys

import pytest

from tests.unit.pipelines.projects import MANIFEST, command, project
from tests.unit.pipelines.test_relay import said
from workbench.pipelines.contracts import check_contract, run_own_program
from workbench.pipelines.documents import FrozenFiles
from workbench.pipelines.load import load_pipeline
from workbench.pipelines.model import Contract, TestCount
from workbench.views.event_text import event_line

WRITTEN = 'Here it is:\n```json\n{"a": 1, // first\n}\n```\n'


def writes(line, more="", contract="", name="o", path="o.json"):
    return (
        f"- id: w\n  exec: {{type: command, source: {line!r}}}\n"
        f"  output_artifacts: [{{name: {name}, path: {path}}}]\n"
        f"  handover: {{contract: {{type: json_schema, schema: {{type: object, required: [a]}}{contract}}}}}\n{more}"
    )


READ = """\
- id: r
  dependencies: [w]
  memory: {inject_artifacts: [{step: w, artifact: o, as: o.json}]}
  exec: {type: command, source: cat artifacts/o.json}
  output_artifacts: [{name: seen, source: stdout}]
"""


def artifact(here, run, name):
    (found,) = [b for _, b in here.bodies(run, "artifact.stored") if b.name == name]
    return found


@pytest.mark.spec(101, 104)
def test_mended_json_is_handed_on_and_what_was_written_stays(runs, tmp_path):
    (tmp_path / "written.txt").write_text(WRITTEN)
    here = runs()
    row = here.run(writes(f"cat {tmp_path / 'written.txt'} > o.json", READ))
    assert row.status == "completed", row.error_message
    body = artifact(here, row.pipeline_id, "o")
    assert body.repairs == ("code fence", "words around it", "comment", "trailing comma")
    assert here.journal.blobs.read(body.written_ref) == WRITTEN.encode()
    seen = artifact(here, row.pipeline_id, "seen")
    assert json.loads(here.journal.blobs.read(seen.content_ref)) == {"a": 1}
    assert (here.home.path / "workspaces" / row.pipeline_id / "w" / "o.json").read_text() == WRITTEN
    ((_, check),) = here.bodies(row.pipeline_id, "contract.checked")
    assert (check.outcome, check.repairs) == ("passed", body.repairs)
    (event,) = [e for e in here.journal.events(row.pipeline_id) if e.kind == "contract.checked"]
    assert "repaired: code fence" in event_line(event, None, None)
    here.check()


@pytest.mark.parametrize(
    ("contract", "written", "said"),
    [
        (", allow_recovery: false", WRITTEN, "o.json is not JSON"),
        ("", '{"a": NaN}', "NaN is not JSON"),
        ("", 'so {"b": 1,} it is', "'a' is a required property"),
    ],
)
def test_what_may_not_be_mended_or_is_wrong_all_the_same_fails(runs, tmp_path, contract, written, said):
    (tmp_path / "written.txt").write_text(written)
    here = runs()
    row = here.run(writes(f"cat {tmp_path / 'written.txt'} > o.json", contract=contract))
    assert row.status == "failed" and said in row.error_message
    assert not here.bodies(row.pipeline_id, "artifact.stored")


ASKED = """\
- id: a
  persona: %s
  exec: {type: prompt, source: Look.}
  output_artifacts: [{name: out, path: out.json}]
  handover: {contract: {type: json_schema, schema: {type: object, required: [verdict]}, max_retries: 1}}
"""


def prompts(here, run, step="a"):
    """Return the prompts of the sessions of a run's steps, in order."""
    sessions = sorted(here.journal.sessions(parent_id=run, kinds=("step",)), key=lambda one: one.created_at)
    return [
        "\n".join(e.body.text for e in here.journal.events(one.id) if e.kind == "prompt.submitted")
        for one in sessions
    ]


@pytest.mark.spec(101)
def test_the_agent_is_told_the_contract_and_on_a_retry_what_failed(runs):
    here = runs()
    here.record("a", said("done"))
    row = here.run(ASKED % "builder")
    assert row.status == "failed"
    first, second = prompts(here, row.pipeline_id)
    assert "Required: verdict." in first and '"verdict": "<value>"' in first
    assert "Required: verdict." in second and "it ended without writing out.json" in second
    assert "Attempt 2" not in first


def test_a_step_without_its_file_says_that_a_human_rejected_the_write(runs):
    here = runs()
    write = ("c1", "create_file", {"path": "out.json", "content": "{}"})
    again = ("c2", "create_file", {"path": "out.json", "content": "{ }"})
    here.record("a", said("", write), said("", again), said("Then not."))
    run = here.run(ASKED % "builder").pipeline_id
    for _ in range(4):  # two writes in each of two attempts
        here.answer(run, "reject")
        row = here.drive(run)
    assert row.error_message == "a failed: it ended without writing out.json: you rejected the write twice"
    *_, second = prompts(here, run)
    assert "it ended without writing out.json: the human rejected the write twice" in second


def test_a_step_without_its_file_says_that_its_persona_may_not_write_it(runs):
    here = runs()
    here.record(
        "a", said("", ("c1", "create_file", {"path": "./out.json", "content": "{}"})), said("Then not.")
    )
    row = here.run(ASKED % "reader")
    assert row.error_message == "a failed: it ended without writing out.json: the write was not allowed"


# --- reviews ------------------------------------------------------------------------------------------

REVIEWED = """\
- id: a
  persona: builder
  exec: {type: prompt, source: Plan.}
  output_artifacts: [{name: plan, source: stdout}]
  handover:
    contract:
      type: agent_review
      persona: reader
      criteria_path: .wave/contracts/criteria.md
      source: plan
      %s
"""
JUDGED = """\
- id: a
  persona: builder
  exec: {type: prompt, source: Plan.}
  output_artifacts: [{name: plan, source: stdout}]
  handover:
    contract: {type: llm_judge, source: plan, criteria: [It is short., It is true.], threshold: %s}
"""
CRITERIA = {".wave/contracts/criteria.md": "The plan names files.\n"}


def answer(**members):
    return said(f"Sure:\n```json\n{json.dumps(members)}\n```", tokens=40)


def reviewed(runs, steps, *replies, part="review", **more):
    here = runs(files=CRITERIA, **more)
    here.record("a", said("Edit one.md </data>", tokens=100))
    for number, reply in enumerate(replies, 1):
        here.record(f"a.{number}.{part}" if len(replies) > 1 else f"a.{part}", reply)
    row = here.run(steps)
    return here, row, [b for _, b in here.bodies(row.pipeline_id, "contract.checked")]


@pytest.mark.spec(101, 108)
def test_another_agent_reviews_and_its_words_stand_in_the_contract(runs):
    fine = answer(verdict="pass", summary="It names them.", confidence=0.9, issues=[])
    here, row, (check,) = reviewed(runs, REVIEWED % "model: cheapest", fine)
    assert row.status == "completed", row.error_message
    assert (check.outcome, check.summary) == ("passed", "pass (0.9): It names them.")
    assert (check.usage.total_tokens, row.usage.total_tokens) == (40, 140)
    session = here.journal.session(check.review_session)
    assert (session.status, session.title) == ("completed", "p #1 · a · review")
    question = prompts(here, row.pipeline_id)[1]
    assert "The plan names files." in question and "Edit one.md" in question and '"verdict"' in question
    assert here.step(row.pipeline_id, "a").session_id != check.review_session
    here.check()


@pytest.mark.spec(101)
def test_a_review_that_fails_is_told_to_the_next_attempt(runs):
    no = answer(verdict="fail", summary="No files.", issues=[{"severity": "major", "description": "one.md"}])
    yes = answer(verdict="PASS", summary="Now they are named.")
    here, row, (first, second) = reviewed(runs, REVIEWED % "on_failure: rework", no, yes)
    assert row.status == "completed", row.error_message
    assert (first.outcome, first.problems) == ("failed", ("fail: No files.", "major: one.md"))
    assert second.summary == "pass: Now they are named."
    assert (
        "Attempt 2. The attempt before failed:\ncontract agent_review: fail: No files."
        in prompts(here, row.pipeline_id)[2]
    )


def test_a_review_that_need_not_pass_warns(runs):
    no = answer(verdict="fail", summary="No files.")
    here, row, (check,) = reviewed(runs, REVIEWED % "must_pass: false", no)
    assert (row.status, check.outcome) == ("completed", "warned")
    assert here.step(row.pipeline_id, "a").is_warned
    here, row, (check,) = reviewed(runs, REVIEWED % "on_failure: warn", no)
    assert (row.status, check.outcome) == ("completed", "warned")


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (said("I like it."), "its answer has no verdict: I like it."),
        (answer(verdict="maybe"), "its verdict is maybe, not pass, fail or warn"),
        (said(""), "the reviewer said nothing"),
        (said("", ("c", "create_file", {"path": "x", "content": "y"})), "not reviewed"),
    ],
)
def test_a_review_that_does_not_come_about_is_none_that_passed(runs, reply, why):
    here, row, (check,) = reviewed(runs, REVIEWED % "max_retries: 0", reply)
    assert row.status == "failed" and why in row.error_message
    assert check.outcome == "failed" and not here.waiting(row.pipeline_id)
    assert {s.status for s in here.journal.sessions(parent_id=row.pipeline_id, kinds=("step",))} <= {
        "completed",
        "terminated",
    }
    here.check()


def test_a_budget_that_is_passed_over_is_said(runs):
    *_, (check,) = reviewed(runs, REVIEWED % "token_budget: 10", answer(verdict="warn", summary="Thin."))
    assert (check.outcome, check.summary) == ("passed", "warn: Thin.; 40 tokens, budget 10")


JUDGEMENTS = [
    ([True, True], "1.0", "completed", "2 of 2 criteria are met: Good."),
    ([True, False], "1.0", "failed", "1 of 2 criteria are met: Good."),
    ([True, False], "0.5", "completed", "1 of 2 criteria are met: Good."),
    ([True], "1.0", "failed", "1 of 2 criteria are met: Good."),
]


@pytest.mark.spec(101)
@pytest.mark.parametrize(("results", "threshold", "status", "words"), JUDGEMENTS)
def test_a_judge_counts_the_criteria_that_are_met(runs, results, threshold, status, words):
    listed = [{"criterion": f"c{n}", "pass": ok, "reasoning": "because"} for n, ok in enumerate(results)]
    reply = answer(criteria_results=listed, overall_pass=True, summary="Good.")
    here, row, (check,) = reviewed(runs, JUDGED % threshold, reply, part="judge")
    assert (row.status, check.summary) == (status, words)
    if False in results and status == "failed":
        assert check.problems[1] == "c1: because"
    judge = here.journal.session(check.review_session)
    assert "objective judge" in here.journal.events(judge.id)[0].body.system_prompt


PROBLEMS = [
    ("persona: builder\n      criteria: x", "self_review"),
    ("persona: nobody\n      criteria: x", "unknown_persona"),
    ("persona: reader\n      criteria: x\n      adapter: gone", "unknown_adapter"),
    ("persona: reader\n      criteria_path: gone.md", "missing_file"),
    ("persona: reader\n      criteria_path: ../../gone.md", "path_outside"),
    ("persona: reader", "missing_field"),
    ("persona: reader\n      criteria: x\n      timeout: soon", "wrong_value"),
    ("persona: reader\n      criteria: x\n      context: [{source: everything}]", "wrong_value"),
]


@pytest.mark.parametrize(("more", "code"), PROBLEMS)
def test_what_is_wrong_with_a_review_is_found_before_the_run(tmp_path, more, code):
    steps = f"- id: a\n  persona: builder\n  exec: {{type: prompt, source: x}}\n  handover:\n    contract:\n      type: agent_review\n      {more}\n"
    loaded = load_pipeline(project(tmp_path, steps))
    assert code in [problem.code for problem in loaded.report.found]


REVIEWER = f"""#!{sys.executable}
import json, sys
words = sys.argv[1:]
json.dump(words, open("asked.json", "w"))
reply = json.dumps({{"verdict": "fail", "summary": "seen by " + words[words.index("--model") + 1]}})
print(json.dumps({{"type": "result", "result": reply, "usage": {{"input_tokens": 7, "output_tokens": 3}}}}))
"""


def test_another_program_reviews_as_well(runs, tmp_path):
    program = tmp_path / "critic"
    program.write_text(REVIEWER)
    program.chmod(0o755)
    other = f"  other: {{binary: {program}, mode: headless, tier_models: {{cheapest: small}}}}\npersonas:\n  critic: {{adapter: other, system_prompt_file: prompts/reader.md}}\n"
    manifest = MANIFEST.replace("personas:\n", other)
    here = runs(manifest=manifest)
    row = here.run("""\
- id: a
  exec: {type: command, source: "echo text > out.md"}
  output_artifacts: [{name: out, path: out.md}]
  handover: {contract: {type: agent_review, persona: critic, criteria: Be kind., model: cheapest}}
""")
    ((_, check),) = here.bodies(row.pipeline_id, "contract.checked")
    assert (row.status, check.problems) == ("failed", ("fail: seen by small",))
    assert row.usage.total_tokens == check.usage.total_tokens == 10
    asked = (here.home.path / "workspaces" / row.pipeline_id / "a" / "asked.json").read_text()
    assert "Be kind." in asked and "text" in asked


# --- tests that are counted ---------------------------------------------------------------------------

PLAIN = {
    **os.environ,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
}
TWO = "package x\nfunc TestA(t *testing.T) {}\nfunc TestB(t *testing.T) {}\n"


def git(folder, *words):
    subprocess.run(["git", *words], cwd=folder, env=PLAIN, check=True, capture_output=True)


def commit(folder, text, path="x_test.go"):
    (folder / path).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x", "--allow-empty")


def counted(folder, kind, **tests):
    one = Contract(type=kind, written_type=kind, tests=TestCount(**tests))
    return check_contract(one, str(folder), "", FrozenFiles({}), 1, PLAIN, run_own_program).event


COUNTED = [
    (TWO, {}, "passed"),
    (TWO.replace("TestB", "TestC"), {}, "passed"),
    ("package x\n", {}, "failed"),
    ("package x\n", {"most_deletions": 2}, "passed"),
    (TWO.replace("TestB", "helper"), {}, "failed"),
    ("package x\n", {"files": ("test_*.py",)}, "passed"),
    ("package x\n", {"files": ("*_test.go",), "pattern": "^package"}, "passed"),
]


@pytest.mark.parametrize(("text", "tests", "outcome"), COUNTED, ids=range(len(COUNTED)))
@pytest.mark.parametrize("kind", ["test_diff", "test_count_baseline"])
def test_tests_may_be_replaced_and_not_removed(tmp_path, kind, text, tests, outcome):
    git(tmp_path, "init", "-q")
    commit(tmp_path, TWO)
    (tmp_path / "x_test.go").write_text(text)
    if kind == "test_count_baseline":
        commit(tmp_path, text)
    event = counted(tmp_path, kind, **tests)
    assert event.outcome == outcome, event.problems
    if outcome == "failed":
        assert "gone" in event.problems[0] and "at most 0 may be" in event.problems[0]


@pytest.mark.parametrize("kind", ["test_diff", "test_count_baseline"])
def test_without_a_commit_of_its_own_nothing_is_counted(tmp_path, kind):
    assert counted(tmp_path, kind).outcome == "not_checked"
    git(tmp_path, "init", "-q")
    commit(tmp_path, TWO)
    (tmp_path / "x_test.go").write_text("package x\n")
    (tmp_path / ".wave" / "workspaces").mkdir(parents=True)
    assert counted(tmp_path / ".wave" / "workspaces", kind).outcome == "not_checked"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# A\n\nText.\n", None),
        ("Text only.\n", "s.md has no heading (a line that starts with #)"),
        ("```\n# A\n```\nText\n", "s.md has no heading (a line that starts with #)"),
        ("# A\n## B\n", "s.md has nothing but headings"),
        (None, "s.md is not there"),
    ],
)
def test_a_specification_has_headings_with_text(tmp_path, text, problem):
    if text is not None:
        (tmp_path / "s.md").write_text(text)
    one = Contract(type="markdown_spec", written_type="markdown_spec", source="s.md")
    event = check_contract(one, str(tmp_path), "s.md", FrozenFiles({}), 1, {}, run_own_program).event
    assert event.problems == ((problem,) if problem else ())


@pytest.mark.parametrize(
    ("contract", "code"),
    [
        ("{type: test_diff, test_func_pattern: '(', must_pass: true}", "wrong_value"),
        ("{type: test_diff, max_test_deletions: -1}", "wrong_value"),
        ("{type: markdown_spec}", "missing_field"),
        ("{type: markdown_spec, source: s.md, schema_path: s.json}", "not_run"),
    ],
)
def test_what_is_wrong_with_the_others_is_found_before_the_run(tmp_path, contract, code):
    loaded = load_pipeline(project(tmp_path, command("a", handover=f"{{contract: {contract}}}")))
    assert code in [problem.code for problem in loaded.report.found]


def test_real_contracts_that_count_tests_are_read_without_a_word(tmp_path):
    steps = command(
        "a",
        handover="{contracts: [{type: test_diff, max_test_deletions: 1, test_file_pattern: ['test_*.py'], "
        "test_func_pattern: '^def test_'}, {type: test_count_baseline, base_ref: main, on_failure: warn}]}",
    )
    loaded = load_pipeline(project(tmp_path, steps))
    assert not loaded.report.found
    first, second = loaded.pipeline.steps[0].contracts
    assert (first.tests.most_deletions, first.tests.files, second.tests.base) == (1, ("test_*.py",), "main")


CONTEXT = """\
- id: a
  exec: {type: command, source: "echo earlier"}
  output_artifacts: [{name: before, source: stdout}]
- id: b
  dependencies: [a]
  workspace: {root: ./}
  exec: {type: command, source: "echo changed > x_test.go"}
  handover:
    contract:
      type: agent_review
      persona: reader
      criteria: [Be strict., Be kind.]
      context: [{source: git_diff, max_size: 4000}, {source: artifact, artifact: before}, {source: artifact, artifact: none}]
"""


def test_a_reviewer_is_shown_the_diff_and_artifacts_that_are_named(runs):
    here = runs()
    git(here.root, "init", "-q")
    commit(here.root, TWO)
    here.record("b.review", answer(verdict="pass"))
    row = here.run(CONTEXT)
    assert row.status == "completed", row.error_message
    (question,) = prompts(here, row.pipeline_id)
    assert "-func TestA" in question and "+changed" in question and "earlier" in question
    assert "(there is no such artifact)" in question and "Be strict.\n\nBe kind." in question


def test_a_review_that_takes_too_long_is_ended(runs, tmp_path):
    program = tmp_path / "critic"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    other = f"  other: {{binary: {program}, mode: headless}}\npersonas:\n  critic: {{adapter: other, system_prompt_file: prompts/reader.md}}\n"
    here = runs(manifest=MANIFEST.replace("personas:\n", other))
    row = here.run("""\
- id: a
  exec: {type: command, source: "true"}
  handover: {contract: {type: agent_review, persona: critic, criteria: x, timeout: 300ms, must_pass: false}}
""")
    ((_, check),) = here.bodies(row.pipeline_id, "contract.checked")
    assert (row.status, check.outcome) == ("completed", "warned")
    assert "longer than" in check.problems[0]


def test_what_a_reviewer_left_open_when_its_driver_died_is_ended(runs):
    here = runs(files=CRITERIA)
    here.record("a", said("Plan."))
    here.record("a.review", answer(verdict="pass"))
    run = here.request(here.pipeline(REVIEWED % "must_pass: true"))

    def reviewers():
        found = here.journal.sessions(parent_id=run, kinds=("step",))
        return [session for session in found if session.title.endswith("review")]

    class Gone(BaseException):
        pass

    def dies(events):
        if reviewers():
            raise Gone

    with pytest.raises(Gone):
        here.drive(run, see=dies)
    assert [session.status in ("completed", "terminated") for session in reviewers()] == [False]
    assert here.resume(run).status == "completed"
    assert {session.status for session in reviewers()} == {"terminated", "completed"}
