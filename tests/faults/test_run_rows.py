"""A coordinator killed at every step of a run (JOURNAL section 3): resume runs only what is not completed."""

import os

import pytest

from tests.support.fork_server import run_forked
from tests.support.runs import USER, Runs
from tests.support.sizes import rarely
from workbench.effects.fault_points import FAULT_POINTS
from workbench.host.steps.run_requests import resume_run
from workbench.host.steps.run_start import interrupted_command_steps
from workbench.pipelines.lost_steps import AGAIN, DONE
from workbench.pipelines.state import fold_run

pytestmark = pytest.mark.faults


STEPS = """
  - id: a
    workspace: {root: ./}
    exec: {type: command, source: "echo a >> count; echo made > a.txt"}
    output_artifacts: [{name: x, path: a.txt}]
  - id: b
    workspace: {root: ./}
    dependencies: [a]
    exec: {type: command, source: "echo b >> count; echo {{ a/x }}"}
    handover: {contract: {type: test_suite, command: "test -f a.txt"}}
  - id: c
    workspace: {root: ./}
    dependencies: [b]
    exec: {type: command, source: "echo c >> count"}
"""

POINTS = [
    (point, nth)
    for point in (
        "lease.taken", "run.started", "place.taken", "step.before_running", "step.running", "step.ended",
        "step.before_completed", "step.completed", "run.before_end", "journal.before_commit",
        "journal.after_commit", "journal.blob_renamed",
    )
    for nth in ((1,) if point in ("lease.taken", "run.started", "run.before_end") else (1, 2))
]  # fmt: skip
SECOND_TIMES = [row for row in POINTS if row[1] > 1]


@pytest.fixture
def here(tmp_path):
    found = Runs(tmp_path)
    yield found
    found.close()


def driven(here, run, faults=""):
    environment = {**os.environ, "WORKBENCH_FAULTS": faults}
    return run_forked("tests.support.drive_a_run", str(here.home.path), str(here.root), run, env=environment)


def driven_on(here, run):
    """Drive a run to its end; what was lost is run again, as a person says."""
    end = driven(here, run)
    while here.journal.pipeline_state(run).status == "waiting" and end.returncode == 0:
        here.answer(run, choice=AGAIN)
        end = driven(here, run)
    return end


@pytest.mark.spec(123)
@pytest.mark.parametrize(("point", "nth"), [rarely(*row) if row in SECOND_TIMES else row for row in POINTS])
def test_killed_at_any_point_resume_runs_only_what_is_not_completed(here, point, nth):
    run = here.request(here.pipeline(STEPS))
    killed = driven(here, run, f"{point}:kill:{nth}")
    assert killed.returncode == -9, killed.stderr
    here.check()
    done = {step for step, state in here.states(run).items() if state == "completed"}
    cut_off = interrupted_command_steps(fold_run(here.journal.events(run)))
    row = here.journal.pipeline_state(run)
    if row.status not in ("completed", "queued"):
        resume_run(here.journal, run, USER)
    end = driven_on(here, run)
    assert end.returncode == 0, end.stderr
    row = here.journal.pipeline_state(run)
    assert row.status == "completed"
    assert set(here.states(run).values()) == {"completed"}
    assert (here.root / "count").read_text().split() == ["a", "b", "c"], "a command outlives its driver"
    assert set(cut_off) <= {"a", "b", "c"} - done


OWNER_POINTS = [name for name in FAULT_POINTS if name.startswith("job.")]
OF_A, OF_B, OF_CONTRACT = 1, 2, 3
"""Commands of `STEPS` in run order; their owner is killed during one of them."""


def answered_as_it_was(here, run):
    """Answer about a lost step what a person finds: it is done where its command ran."""
    (action,) = here.waiting(run)
    step = action.subject["step"]
    count = here.root / "count"
    ran = count.exists() and step in count.read_text().split()
    here.answer(run, choice=DONE if ran else AGAIN)
    return step


@pytest.mark.parametrize("nth", [OF_A, rarely(OF_B), OF_CONTRACT])
@pytest.mark.parametrize("point", OWNER_POINTS)
def test_an_owner_killed_at_any_point_loses_its_command_or_its_end_is_read(here, point, nth):
    run = here.request(here.pipeline(STEPS))
    end = driven(here, run, f"{point}:kill:{nth}")
    assert end.returncode == 0, end.stderr
    here.check()
    lost = []
    while here.journal.pipeline_state(run).status == "waiting":
        lost.append(answered_as_it_was(here, run))
        end = driven(here, run)
    if here.journal.pipeline_state(run).status == "failed":
        resume_run(here.journal, run, USER)
        end = driven(here, run)
    assert end.returncode == 0, end.stderr
    assert here.journal.pipeline_state(run).status == "completed"
    assert (here.root / "count").read_text().split() == ["a", "b", "c"], "nothing is done twice"
    is_lost = point in ("job.released", "job.before_end") and nth != OF_CONTRACT
    assert lost == ([{OF_A: "a", OF_B: "b"}[nth]] if is_lost else [])


ROUND = """
  - id: refine
    loop:
      max_iterations: 9
      until: "{{ check.outcome == 'success' }}"
      steps:
        - {id: improve, workspace: {root: ./}, exec: {type: command, source: "echo x >> tries"}}
        - {id: check, workspace: {root: ./}, exec: {type: command, source: "test $(wc -l < tries) -ge 3"}}
  - {id: each, dependencies: [refine], pipeline: below.yaml, input: "{{ item }}", iterate: {over: [a, b], mode: sequential}}
  - {id: end, dependencies: [each], workspace: {root: ./}, exec: {type: command, source: "echo end >> seen"}}
"""


@pytest.mark.spec(123)
@pytest.mark.parametrize(
    ("point", "nth"),
    [rarely("journal.after_commit", nth) for nth in (9, 13, 27)]
    + [("journal.after_commit", 22), rarely("step.completed", 9), ("run.started", 2)],
)
def test_killed_while_it_goes_round_or_below_resume_goes_on_there(here, point, nth):
    here.pipeline("""
  - {id: x, workspace: {root: ./}, exec: {type: command, source: "echo x{{ input }} >> seen"}}
  - {id: y, dependencies: [x], workspace: {root: ./}, exec: {type: command, source: "echo y{{ input }} >> seen"}}
""", name="below")  # fmt: skip
    run = here.request(here.pipeline(ROUND))
    killed = driven(here, run, f"{point}:kill:{nth}")
    assert killed.returncode == -9, killed.stderr
    here.check()
    if here.journal.pipeline_state(run).status != "queued":
        resume_run(here.journal, run, USER)
    end = driven_on(here, run)
    assert end.stdout.strip() == "completed", end.stderr
    assert len((here.root / "tries").read_text().split()) == 3
    seen = (here.root / "seen").read_text().split()
    assert list(dict.fromkeys(seen)) == ["xa", "ya", "xb", "yb", "end"]
    assert len(seen) == 5
    below = [one.status for one in here.journal.pipeline_states() if one.pipeline_name == "below"]
    assert below == ["completed", "completed"]


def test_without_a_word_of_a_human_a_lost_run_stays_lost(here):
    run = here.request(here.pipeline(STEPS))
    assert driven(here, run, "step.running:kill:2").returncode == -9
    before = (here.root / "count").read_text()
    assert driven(here, run).stdout.strip() == "running"
    assert (here.root / "count").read_text() == before
    session = here.journal.session(run)
    assert (session.status, session.reason) == ("paused", "host lost")


def test_a_gate_that_was_answered_while_nobody_drove_counts(here):
    run = here.request(
        here.pipeline("""
  - {id: g, gate: {prompt: "go?"}}
  - {id: z, workspace: {root: ./}, dependencies: [g], exec: {type: command, source: "echo z >> count"}}
""")
    )
    here.drive(run)
    here.answer(run)
    assert driven(here, run, "step.running:kill:1").returncode == -9
    resume_run(here.journal, run, USER)
    assert driven_on(here, run).stdout.strip() == "completed"
    assert [b.state for s, b in here.bodies(run, "step.changed") if s == "g"].count("completed") == 1


def test_a_full_disk_leaves_the_state_true(here):
    run = here.request(here.pipeline(STEPS))
    driven(here, run, "journal.before_commit:enospc:4,journal.before_commit:enospc:5")
    here.check()
    row = here.journal.pipeline_state(run)
    if row.status != "completed":
        resume_run(here.journal, run, USER) if row.status != "queued" else None
        assert driven_on(here, run).stdout.strip() == "completed"
    assert (here.root / "count").read_text().split().count("c") == 1
