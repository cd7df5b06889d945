"""A run goes on with what it was started with, unless a human says that its mended files count."""

import pytest

from tests.support.runs import USER
from tests.unit.pipelines.projects import write
from tests.unit.pipelines.test_runs_engine import artifact
from workbench.backend.runs import LocalRuns
from workbench.host import workspace_trust
from workbench.host.steps.run_requests import RunRefused, changed_files, resume_run
from workbench.host.steps.run_start import run_continuation
from workbench.pipelines.state import fold_run
from workbench.tui.backend import BackendError

STEPS = """
  - id: a
    exec: {type: command, source: "echo x >> %s/log; echo made > a.txt"}
    output_artifacts: [{name: x, path: a.txt}]
  - id: b
    dependencies: [a]
    exec: {type: command, source: "%s"}
    output_artifacts: [{name: said, source: stdout}]
"""
SCHEMA = """
    handover: {contract: {type: non_empty_file, source: said}}
"""


@pytest.fixture
def failed(runs):
    here = runs()
    row = here.run(STEPS % (here.root, "exit 3"))
    assert row.status == "failed" and changed_files(here.journal, row.pipeline_id) == ()
    return here, row.pipeline_id


def test_what_changed_is_said_and_nothing_goes_on_until_it_is_said_which_counts(failed):
    here, run = failed
    here.pipeline(STEPS % (here.root, "cat {{ missing }}"))
    (here.root / "p.yaml").write_text(
        (here.root / "p.yaml").read_text().replace("cat {{ missing }}", "echo mended")
    )
    with pytest.raises(RunRefused, match=r"p\.yaml changed since this run was started"):
        here.resume(run)
    with pytest.raises(RunRefused, match=r"p\.yaml changed"):
        here.resume(run, "b")
    assert here.journal.pipeline_state(run).round == 1


def test_as_it_was_goes_on_with_what_it_was_started_with(failed):
    here, run = failed
    here.pipeline(STEPS % (here.root, "echo mended"))
    row = here.resume(run, reads_files=False)
    assert (row.status, row.round) == ("failed", 2)
    assert "exit code 3" in row.error_message


@pytest.mark.spec(123)
def test_as_it_is_goes_on_with_the_mended_file_and_keeps_what_is_completed(failed):
    here, run = failed
    more = "  - {id: c, dependencies: [b], exec: {type: command, source: 'cat {{ a.output.x }}; true'}}\n"
    here.pipeline((STEPS % (here.root, "echo mended")).replace("echo made", "echo changed") + more)
    row = here.resume(run, reads_files=True)
    assert (row.status, row.round, row.error_message) == ("completed", 2, "")
    assert here.states(run) == {"a": "completed", "b": "completed", "c": "completed"}
    assert here.read("log") == "x\n"
    assert artifact(here, run, "b", "said") == b"mended\n"
    assert changed_files(here.journal, run) == ()
    here.check()


def test_as_it_is_asks_for_trust_and_for_a_file_that_can_be_run(failed):
    here, run = failed
    file = here.root / ".wave/pipelines/q.yaml"
    file.parent.mkdir(parents=True)
    (here.root / "p.yaml").write_text("kind: WavePipeline\nmetadata: {name: p}\nsteps: [{id: a}]\n")
    with pytest.raises(RunRefused, match=r"steps\[0\] needs"):
        here.resume(run, reads_files=True)
    file.write_text("kind: WavePipeline\n")
    with pytest.raises(RunRefused, match="changed since it was trusted"):
        here.resume(run, reads_files=True)
    assert here.journal.pipeline_state(run).round == 1


def test_a_step_that_the_file_has_no_more_waits_for_nothing(failed):
    here, run = failed
    here.pipeline(
        "\n  - {id: a, exec: {type: command, source: 'true'}}\n  - {id: z, exec: {type: command, source: 'true'}}\n"
    )
    row = here.resume(run, reads_files=True)
    assert row.status == "completed"
    gate = here.run(
        "\n  - {id: g, gate: {prompt: x}}\n  - {id: q, exec: {type: command, source: 'false'}}\n"
    ).pipeline_id
    here.pipeline("\n  - {id: q, exec: {type: command, source: 'true'}}\n")
    row = here.resume(gate, reads_files=True)
    assert row.status != "completed"
    assert len(here.waiting(gate)) == 1


def test_the_screen_asks_once_which_files_count(failed):
    here, run = failed
    here.pipeline(STEPS % (here.root, "echo mended"))
    screen = LocalRuns(here.home, here.journal, str(here.root))
    with pytest.raises(BackendError, match=r"p\.yaml changed since this run was started. F runs from here"):
        screen.retry_step(run, "b")
    screen.retry_step(run, "b")
    row = here.drive(run)
    assert (row.round, "exit code 3" in row.error_message) == (2, True)


def test_a_mended_pipeline_below_counts_too(runs):
    here = runs()
    below = "\n  - {id: x, exec: {type: command, source: '%s'}}"
    here.pipeline(below % "exit 4", name="below")
    run = here.run("\n  - {id: up, pipeline: below.yaml}\n").pipeline_id
    here.pipeline(below % "true", name="below")
    assert changed_files(here.journal, run) == ("below.yaml",)
    with pytest.raises(RunRefused, match=r"below\.yaml changed"):
        here.resume(run)
    assert here.resume(run, reads_files=False).status == "failed"
    assert here.resume(run, reads_files=True).status == "completed"


def test_a_process_that_refuses_to_continue_says_why_once_and_does_not_try_for_ever(failed):
    here, run = failed
    (here.root / "p.yaml").write_text((here.root / "p.yaml").read_text().replace("exit 3", "echo mended"))
    here.trust()
    resume_run(here.journal, run, USER, reads_files=True)
    workspace_trust.revoke_trust(here.journal, str(here.root), USER)
    assert here.drive(run).status == "failed"
    (said,) = [body.message for _, body in here.bodies(run, "error.raised")]
    assert "not trusted as it is now" in said
    assert run_continuation(fold_run(here.journal.events(run)), 0) == "over"


def test_a_file_of_the_same_name_where_the_process_works_is_not_read(runs, tmp_path, monkeypatch):
    here = runs()
    other = tmp_path / "other"
    write(
        other,
        {"p.yaml": "kind: WavePipeline\nmetadata: {name: other}\nsteps:\n  - {id: x, gate: {prompt: q}}\n"},
    )
    monkeypatch.chdir(other)
    row = here.run(STEPS % (here.root, "exit 3"))
    assert (row.pipeline_name, row.status) == ("p", "failed")
    assert changed_files(here.journal, row.pipeline_id) == ()
