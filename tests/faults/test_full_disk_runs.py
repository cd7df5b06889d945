"""A disk that gets full in the middle of a run: what is stored is whole, and a resume does only the rest.

The kernel's own refusals are put in at the system calls of SQLite and at the fault points of journal and blobs.
"""

import pytest

from tests.support.runs import USER, Runs
from tests.unit.journal.disk import FULL, failing_disk
from workbench.effects import fault_points
from workbench.host.steps.run_requests import resume_run
from workbench.journal.errors import JournalError

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
    output_artifacts: [{name: said, source: stdout}]
  - id: c
    workspace: {root: ./}
    dependencies: [b]
    exec: {type: command, source: "echo c >> count; echo {{ b/said }} > c.txt"}
"""


@pytest.fixture
def project(tmp_path):
    made = []

    def make():
        (tmp_path / f"n{len(made)}").mkdir()
        made.append(Runs(tmp_path / f"n{len(made)}"))
        return made[-1]

    yield make
    fault_points.disarm_all_faults()
    for one in made:
        one.close()


def driven(here, run):
    """Drive as far as the disk lets it; return the error that ended it, None if none did."""
    try:
        here.drive(run)
    except (JournalError, OSError) as error:
        return error
    return None


def counted(here):
    path = here.root / "count"
    return path.read_text().split() if path.exists() else []


def goes_on(here, run):
    """Free the disk, resume, and require the run's end with every step's work done, none done again in vain."""
    here.check()
    before, done = counted(here), {s for s, state in here.states(run).items() if state == "completed"}
    status = here.journal.pipeline_state(run).status
    if status not in ("completed", "queued"):
        resume_run(here.journal, run, USER)
    if status != "completed":
        here.drive(run)
    assert here.journal.pipeline_state(run).status == "completed"
    assert set(here.states(run).values()) == {"completed"}
    assert (here.root / "c.txt").read_text().strip() == "made"
    again = [step for step in "abc" if counted(here).count(step) > before.count(step)]
    assert not done & set(again)
    here.check()


@pytest.mark.spec(72, 123)
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
def test_a_disk_that_gets_full_under_a_run_lets_it_go_on_once_there_is_space(project, lasting):
    here = project()
    run = here.request(here.pipeline(STEPS))
    with failing_disk() as disk:
        here.drive(run)
        every = disk.writes
    stopped = 0
    for part in range(5):
        here = project()
        run = here.request(here.pipeline(STEPS))
        with failing_disk() as disk:
            disk.fail(1 + every * part // 5, 10**9 if lasting else 1, FULL)
            error = driven(here, run)
            disk.heal()
        stopped += error is not None or here.journal.pipeline_state(run).status != "completed"
        goes_on(here, run)
    assert stopped or not lasting


@pytest.mark.spec(72, 123)
@pytest.mark.parametrize("point", ["journal.blob_written", "journal.before_commit", "step.before_completed"])
def test_a_write_that_fails_once_under_a_run_costs_no_step_that_was_done(project, point):
    for nth in (1, 2, 3):
        here = project()
        run = here.request(here.pipeline(STEPS))
        with fault_points.arm_fault(point, "enospc", nth):
            driven(here, run)
        goes_on(here, run)
