"""Git worktrees, the TypeScript contract with a compiler, limits of pipelines that start pipelines."""

import asyncio
import os
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import boxes
from tests.support.runs import USER
from tests.unit.pipelines.projects import MANIFEST
from workbench.domain.events import (
    ContinueRequested,
    Event,
    ProcessStarted,
    RunCancelRequested,
    RunRequested,
    RunStarted,
)
from workbench.host.steps.run_driver import _NestedRuns
from workbench.host.steps.run_requests import cancel_run, resume_run
from workbench.host.steps.run_start import run_continuation
from workbench.pipelines.state import RunState

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def git(root, *words):
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(root), "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }  # fmt: skip
    done = subprocess.run(
        ("git", *words), cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(runs):
    here = runs(files={"a.txt": "one\n"})
    git(here.root, "init", "-q", "-b", "main")
    git(here.root, "remote", "add", "origin", "git@github.com:me/shop.git")
    git(here.root, "add", "-A")
    git(here.root, "commit", "-qm", "begin")
    return here


# --- worktrees ----------------------------------------------------------------------------------

TREE = """
  - id: write
    workspace: {type: worktree, branch: "topic-{{ input }}", base: main}
    exec: {type: command, source: "cat a.txt; echo two > a.txt; git branch --show-current"}
    output_artifacts: [{name: said, source: stdout}]
  - id: look
    dependencies: [write]
    workspace: {type: worktree, branch: "topic-{{ input }}"}
    exec: {type: command, source: "cat a.txt"}
    output_artifacts: [{name: said, source: stdout}]
"""


def said(here, run, step):
    (stored,) = [b for s, b in here.bodies(run, "artifact.stored") if s == step and b.name == "said"]
    return here.journal.blobs.read(stored.content_ref).decode()


@needs_git
@pytest.mark.spec(106, 125)
def test_steps_of_one_branch_share_a_worktree_and_the_project_stays_as_it_is(repository):
    here = repository
    row = here.run(TREE, input="x")
    assert row.status == "completed", row.error_message
    assert said(here, row.pipeline_id, "write") == "one\ntopic-x\n"
    assert said(here, row.pipeline_id, "look") == "two\n"
    assert here.read("a.txt") == "one\n"
    assert git(here.root, "branch", "--list", "topic-x").endswith("topic-x")
    folder = here.step(row.pipeline_id, "write").workspace_path
    assert folder == here.step(row.pipeline_id, "look").workspace_path
    assert str(here.home.path) in folder


@needs_git
def test_a_branch_that_is_there_is_taken_and_a_base_that_is_not_is_named(repository):
    here = repository
    git(here.root, "branch", "topic-y")
    assert here.run(TREE, input="y").status == "completed"
    row = here.run(TREE.replace("base: main", "base: nowhere"), input="z")
    assert row.status == "failed"
    assert "git does not know nowhere, the base of the worktree" in row.error_message


@needs_git
@pytest.mark.parametrize("branch", ["--upload-pack=x", "-b"])
def test_a_branch_is_never_an_option(repository, branch):
    here = repository
    steps = '\n  - {id: a, workspace: {type: worktree, branch: "{{ input }}"}, exec: {type: command, source: "true"}}\n'
    row = here.run(steps, input=branch)
    assert "a branch cannot start with a dash" in row.error_message


def test_a_worktree_without_a_repository_says_so(runs):
    here = runs()
    row = here.run("\n  - {id: a, workspace: {type: worktree}, exec: {type: command, source: 'true'}}\n")
    assert row.status == "failed"
    assert "git made no worktree" in row.error_message


@needs_git
def test_the_code_host_of_a_project_is_known_to_its_steps(repository):
    here = repository
    row = here.run("""
  - id: a
    exec: {type: command, source: "echo {{ forge.type }} {{ forge.cli_tool }} {{ forge.owner }}/{{ forge.repo }}"}
    output_artifacts: [{name: said, source: stdout}]
""")
    assert said(here, row.pipeline_id, "a") == "github gh me/shop\n"


# --- TypeScript ---------------------------------------------------------------------------------

COMPILER = """\
#!/bin/sh
# Stands for tsc: a file that says `wrong` does not compile, one that says `broken` cannot even be read.
for last; do :; done
echo "$@" >> "$LOG"
case $(cat "$last") in
    *broken*) echo "$last(1,1): error TS1005: ';' expected."; exit 2 ;;
    *wrong*) echo "$last(1,7): error TS2322: Type 'string' is not assignable."; exit 2 ;;
esac
"""


@pytest.mark.spec(112, 225)
@pytest.mark.parametrize(
    ("text", "validate", "outcome", "status"),
    [
        ("interface A {}", "true", "passed", "completed"),
        ("wrong", "true", "failed", "failed"),
        ("broken", "true", "failed", "failed"),
        ("wrong", "false", "passed", "completed"),
        ("broken", "false", "failed", "failed"),
    ],
)
def test_a_compiler_checks_types_or_only_that_it_can_be_read(
    runs, tmp_path, monkeypatch, text, validate, outcome, status
):
    tools, log = tmp_path / "tools", tmp_path / "log"
    tools.mkdir()
    (tools / "tsc").write_text(COMPILER)
    (tools / "tsc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("LOG", str(log))
    here = runs()
    row = here.run(f"""
  - id: a
    exec: {{type: command, source: "echo '{text}' > a.ts"}}
    output_artifacts: [{{name: t, path: a.ts}}]
    handover: {{contract: {{type: typescript_interface, source: a.ts, validate: {validate}}}}}
""")
    (checked,) = [b for _, b in here.bodies(row.pipeline_id, "contract.checked")]
    assert (checked.outcome, row.status) == (outcome, status), checked
    assert "--noEmit" in log.read_text()
    assert any("error TS" in problem for problem in checked.problems) is (outcome == "failed")


OWN_COMPILER = """
  - id: a
    exec: {type: command, source: "mkdir -p node_modules/.bin; cp $PROGRAM node_modules/.bin/tsc; echo x > a.ts"}
    handover: {contract: {type: typescript_interface, source: a.ts, must_pass: true}}
"""


@pytest.mark.parametrize("is_boxed", [True, False])
def test_a_compiler_of_the_workspace_runs_inside_where_there_is_a_sandbox(
    runs, tmp_path, monkeypatch, is_boxed
):
    """A command inside can have put it there."""
    if is_boxed:
        boxes.sandbox()
        monkeypatch.delenv("WORKBENCH_SANDBOX_BACKEND")
    script(tmp_path / "tsc", f"touch {tmp_path}/outside; exit 0")
    monkeypatch.setenv("PROGRAM", str(tmp_path / "tsc"))
    here = runs()
    row = here.run(OWN_COMPILER)
    assert row.status == "completed", row.error_message
    (checked,) = [b for _, b in here.bodies(row.pipeline_id, "contract.checked")]
    assert checked.outcome == "passed", checked
    assert (tmp_path / "outside").exists() is not is_boxed


def test_programs_for_contracts_and_requirements_are_not_looked_for_in_the_project(
    runs, tmp_path, monkeypatch
):
    here = runs()
    (here.root / "bin").mkdir()
    for name in ("tsc", "planted"):
        script(here.root / f"bin/{name}", f"touch {tmp_path}/ran")
    monkeypatch.setenv("PATH", f"{here.root}/bin:{os.environ['PATH']}")
    monkeypatch.setattr("workbench.pipelines.contracts.shutil.which", found_in(here.root))
    row = here.run("""
  - id: a
    exec: {type: command, source: "echo x > a.ts"}
    handover: {contract: {type: typescript_interface, source: a.ts, must_pass: false}}
  - id: b
    needs: [a]
    validation: [{type: command, target: planted}]
    exec: {type: command, source: "true"}
""")
    (checked,) = [b for _, b in here.bodies(row.pipeline_id, "contract.checked")]
    assert checked.outcome == "not_checked", checked
    assert row.status == "failed" and "planted ended with 127" in row.error_message
    assert not (tmp_path / "ran").exists()


def found_in(folder):
    """Return a search that finds programs in a folder alone, whatever this machine has."""
    return lambda name, path: f"{folder}/bin/{name}" if str(folder) in path else None


def script(path, line):
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def test_without_its_file_a_typescript_contract_fails_also_without_a_compiler(runs, monkeypatch):
    monkeypatch.setattr("workbench.pipelines.contracts._typescript_compiler", lambda own, path: None)
    here = runs()
    row = here.run("""
  - id: a
    exec: {type: command, source: "true"}
    handover: {contract: {type: typescript_interface, source: a.ts}}
""")
    assert (row.status, "a.ts is not there" in row.error_message) == ("failed", True)


# --- pipelines below pipelines --------------------------------------------------------------------

META = "  meta_pipeline: {max_depth: 2, max_total_steps: %d, max_total_tokens: %d, timeout_minutes: 1}\n"
UP = """
  - {id: one, pipeline: below.yaml}
  - {id: two, dependencies: [one], pipeline: below.yaml}
"""


def below(here, tokens=0):
    for step in ("x", "y"):
        usage = {"usage": {"input_tokens": tokens, "output_tokens": 0}}
        here.record(step, {"reply": [{"text": "done"}, usage]})
    steps = "".join(
        f"\n  - {{id: {name}, persona: builder, exec: {{type: prompt, source: go}}{needs}}}"
        for name, needs in (("x", ""), ("y", ", dependencies: [x]"))
    )
    here.pipeline(steps, name="below")


@pytest.mark.spec(97)
def test_steps_below_are_counted_over_all_runs(runs):
    here = runs(manifest=MANIFEST + META % (3, 10_000))
    below(here)
    row = here.run(UP)
    assert here.states(row.pipeline_id) == {"one": "completed", "two": "failed"}
    assert "it would come to 4 steps; meta_pipeline.max_total_steps is 3" in row.error_message


@pytest.mark.spec(97)
def test_items_of_a_list_count_their_pipeline_once_and_deeper_ones_count_too(runs):
    here = runs(manifest=MANIFEST + META % (4, 10_000))
    below(here)
    here.pipeline("\n  - {id: down, pipeline: below.yaml}", name="middle")
    each = (
        '\n  - {id: each, pipeline: %s, iterate: {over: [1, 2, 3, 4], mode: parallel}, input: "{{ item }}"}\n'
    )
    assert here.run(each % "below.yaml").status == "completed"
    row = here.run(each % "middle.yaml" + "  - {id: one, dependencies: [each], pipeline: below.yaml}\n")
    assert here.states(row.pipeline_id)["each"] == "completed"
    assert here.states(row.pipeline_id)["one"] == "failed"
    assert "it would come to 5 steps; meta_pipeline.max_total_steps is 4" in row.error_message


@pytest.mark.spec(97)
def test_tokens_below_count_over_all_runs(runs):
    here = runs(manifest=MANIFEST + META % (20, 3_000))
    below(here, tokens=1_200)
    row = here.run(UP)
    assert here.states(row.pipeline_id) == {"one": "completed", "two": "failed"}
    assert "more than meta_pipeline.max_total_tokens, 3000" in row.error_message
    resumed = here.resume(row.pipeline_id)
    assert "more than meta_pipeline.max_total_tokens, 3000" in resumed.error_message


@pytest.mark.spec(97)
def test_tokens_below_end_the_run_that_uses_them(runs):
    here = runs(manifest=MANIFEST + META % (20, 1_000))
    below(here, tokens=1_200)
    row = here.run(UP)
    assert here.states(row.pipeline_id) == {"one": "failed", "two": "skipped"}
    assert "more than meta_pipeline.max_total_tokens, 1000" in row.error_message
    child = here.journal.pipeline_state(here.step(row.pipeline_id, "one").session_id)
    assert child.status == "cancelled"
    assert here.states(child.pipeline_id) == {"x": "completed", "y": "cancelled"}
    assert row.usage.total_tokens == 1_200


@pytest.mark.spec(97)
@pytest.mark.parametrize("when", ["before it starts", "while it works"])
def test_time_below_ends_the_run_that_takes_it(runs, monkeypatch, when):
    # Minutes are whole in a manifest; here they are over at once, or when the step below has begun.
    real, limits = asyncio.timeout, []

    def timeout(seconds):
        if seconds != 60:
            return real(seconds)
        limits.append(real(0 if when == "before it starts" else None))
        return limits[-1]

    def see(events):
        if any(isinstance(event.body, ProcessStarted) for event in events):
            limits[-1].reschedule(asyncio.get_running_loop().time())

    monkeypatch.setattr("workbench.host.steps.run_driver.asyncio.timeout", timeout)
    here = runs(manifest=MANIFEST + META % (20, 1_000))
    here.pipeline("\n  - {id: x, exec: {type: command, source: 'touch ../begun; sleep 30'}}", name="below")
    row = here.drive(here.request(here.pipeline("\n  - {id: one, pipeline: below.yaml}\n")), see=see)
    assert row.status == "failed"
    assert "longer than meta_pipeline.timeout_minutes, 1 min" in row.error_message
    child = here.step(row.pipeline_id, "one").session_id
    assert here.journal.pipeline_state(child).status == "cancelled"
    started = [body for _, body in here.bodies(child, "process.started")]
    assert bool(started) == (when == "while it works")


def test_tokens_that_are_spent_before_a_run_below_starts_end_it(runs, monkeypatch):
    monkeypatch.setattr(_NestedRuns, "_is_spent", lambda self: bool(self._tokens))
    here = runs(manifest=MANIFEST + META % (20, 1_000))
    here.pipeline("\n  - {id: x, exec: {type: command, source: 'true'}}", name="below")
    steps = (
        "\n  - {id: one, pipeline: below.yaml}\n  - {id: two, dependencies: [one], pipeline: below.yaml}\n"
    )
    row = here.run(steps)
    assert row.status == "failed" and "meta_pipeline.max_total_tokens" in row.error_message
    below = [child for child in here.journal.pipeline_states() if child.pipeline_name == "below"]
    assert {child.status for child in below} <= {"cancelled", "completed"}


@pytest.mark.parametrize("again", [False, True])
def test_a_run_that_is_cancelled_before_a_driver_has_it_never_starts(runs, again):
    here = runs()
    run = here.request(here.pipeline("\n  - {id: a, workspace: {root: ./}, exec: {type: command, source: 'echo a >> log; false'}}\n"))  # fmt: skip
    if again:
        assert here.drive(run).status == "failed"
        resume_run(here.journal, run, USER)
        cancel_again(here, run)
    else:
        cancel_run(here.journal, run, USER, "not today")
    row = here.drive(run)
    assert row.status == ("failed" if again else "cancelled")
    assert "not today" in row.error_message or again
    assert (here.root / "log").exists() == again and (not again or here.read("log") == "a\n")
    # A later word to go on counts again.
    assert here.resume(run).status == "failed" and here.read("log") == "a\n" * (1 + again)


def cancel_again(here, run):
    """Cancel a run between a word to go on and its driver, as another process may."""
    here.journal.append([here.journal.event(RunCancelRequested(reason="not today"), run, USER)])


WORDS = st.lists(st.sampled_from(["cancel", "continue", "drive"]), max_size=5)


@given(words=WORDS)
def test_the_last_word_about_a_run_counts_wherever_a_round_starts(words):
    state = RunState(request=RunRequested(pipeline="p"), status="queued")
    last = ""
    for position, word in enumerate(words):
        body = {
            "cancel": RunCancelRequested(),
            "continue": ContinueRequested(),
            "drive": RunStarted(pipeline="p", steps=(), round=state.round + 1),
        }[word]
        event = Event(id="e", session_id="r", at=position, actor=USER, body=body, position=position)
        state.take(event)
        last = word if word != "drive" else last
        if last == "cancel":
            assert state.is_cancelled
            assert run_continuation(state, 0) != "again"
        elif last == "continue" and word == "drive":
            assert not state.is_cancelled
