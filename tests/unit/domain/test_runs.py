"""Rows of pipeline runs and steps, folded from their events."""

import pytest
from msgspec.structs import replace

from tests.support.tables import each_row
from workbench.domain import events
from workbench.domain.events import ContractChecked, RunChanged, RunRequested, RunStarted, StepChanged
from workbench.domain.fold import MemoryTables
from workbench.domain.machines import RUN_MOVES, STEP_MOVES, RunStatus, StepStateName
from workbench.domain.rows import PipelineState, StepState
from workbench.domain.step_messages import StepId
from workbench.domain.values import Actor, StepPlan, Usage

HOST = Actor(kind="host", pid=7)
PLANS = (StepPlan(id="plan"), StepPlan(id="tests", kind="command", needs=("plan",), is_matrix=True))


class Run:
    """Folds bodies of one run, one second apart."""

    def __init__(self, *, is_started=True):
        self.tables, self.count = MemoryTables(), 0
        self(events.SessionCreated(session_kind="pipeline", title="nightly #41", workspace="/w", number=41))
        self(RunRequested(pipeline="nightly", file="n.yaml", input="all"))
        if is_started:
            self(RunStarted(pipeline="nightly", steps=PLANS))

    def __call__(self, body, step=None, action_id=None):
        self.count += 1
        event = events.Event(
            id=f"e{self.count}", session_id="r", at=self.count * 1_000_000, actor=HOST, body=body,
            position=self.count, sequence_number=self.count, step=step, action_id=action_id,
        )  # fmt: skip
        self.tables.fold([event])

    def row(self, step):
        return self.tables.step_states[f"r/{step}"]

    @property
    def run(self):
        return self.tables.pipeline_states["r"]


@pytest.mark.spec(120, 121)
def test_a_requested_run_is_queued_with_its_number_and_input():
    assert Run(is_started=False).run == PipelineState(
        pipeline_id="r", pipeline_name="nightly", status="queued", created_at=2_000_000, updated_at=2_000_000,
        moved_at=2_000_000, input="all", file="n.yaml", number=41,
    )  # fmt: skip


@pytest.mark.spec(122)
def test_a_started_run_has_a_row_a_step():
    run = Run()
    assert run.run.status == "running"
    assert run.row("tests") == StepState(
        key="r/tests", pipeline_id="r", step_id="tests", ordinal=1, kind="command", state="pending",
        moved_at=3_000_000,
    )  # fmt: skip


@pytest.mark.spec(122)
def test_a_step_has_its_times_its_place_and_why_it_failed():
    run = Run()
    run(StepChanged(state="running", workspace="/w/plan", session_id="c1"), step="plan")
    run(StepChanged(state="retrying", detail="$.a is missing", usage=Usage(input_tokens=3)), step="plan")
    assert (run.row("plan").error_message, run.row("plan").completed_at) == ("$.a is missing", None)
    run(StepChanged(state="running", attempt=2), step="plan")
    expected = StepState(
        key="r/plan", pipeline_id="r", step_id="plan", ordinal=0, kind="prompt", state="running", attempt=2,
        retry_count=1, moved_at=6_000_000, started_at=6_000_000, workspace_path="/w/plan", session_id="c1",
        usage=Usage(input_tokens=3),
    )  # fmt: skip
    assert run.row("plan") == expected
    run(StepChanged(state="waiting", attempt=2), step="plan", action_id="a1")
    run(StepChanged(state="running", attempt=2), step="plan")
    assert (run.row("plan").started_at, run.row("plan").action_id) == (6_000_000, "a1")
    run(
        StepChanged(
            state="failed", attempt=2, detail="exit code 2", exit_code=2, usage=Usage(input_tokens=4)
        ),
        step="plan",
    )
    assert run.row("plan") == replace(
        expected, state="failed", moved_at=9_000_000, completed_at=9_000_000, error_message="exit code 2",
        exit_code=2, usage=Usage(input_tokens=7), action_id="a1",
    )  # fmt: skip
    run(StepChanged(state="skipped", detail="plan failed"), step="tests")
    row = run.row("tests")
    assert (row.state, row.error_message, row.completed_at) == ("skipped", "plan failed", 10_000_000)
    assert row.started_at is None


@pytest.mark.parametrize("end", ["skipped", "cancelled"])
def test_a_step_that_worked_in_an_earlier_round_has_not_started_in_one_that_ended_before_it(end):
    run = Run()
    run(StepChanged(state="running"), step="tests")
    run(StepChanged(state="failed", duration_ms=900), step="tests")
    assert run.row("tests").started_at == 4_000_000
    run(RunChanged(status="failed"))
    run(RunStarted(pipeline="nightly", steps=PLANS, round=2, reset=("tests",)))
    run(StepChanged(state=end), step="tests")
    assert (run.row("tests").started_at, run.row("tests").duration_ms) == (None, 0)


@pytest.mark.spec(121)
def test_a_later_round_counts_the_time_that_the_run_worked_and_none_while_it_rested():
    run = Run()
    run(RunStarted(pipeline="nightly", steps=PLANS, round=2, returned_by="tests"))
    assert (run.run.round, run.run.duration_ms, run.run.started_at) == (2, 1000, 3_000_000)
    run(RunChanged(status="failed", detail="tests failed", duration_ms=1500))
    assert (run.run.finished_at, run.run.error_message) == (5_000_000, "tests failed")
    run(RunStarted(pipeline="nightly", steps=PLANS, round=3))
    assert (run.run.status, run.run.duration_ms, run.run.finished_at, run.run.error_message) == (
        "running", 1500, None, "",
    )  # fmt: skip


@pytest.mark.spec(118, 119)
def test_a_retry_counts_and_keeps_what_went_wrong_until_it_runs_again():
    run = Run()
    run(StepChanged(state="running", workspace="/w/plan", session_id="c1"), step="plan")
    run(ContractChecked(contract="json_schema", outcome="failed"), step="plan")
    run(
        StepChanged(state="retrying", detail="$.a is missing", duration_ms=900, usage=Usage(input_tokens=3)),
        step="plan",
    )
    row = run.row("plan")
    assert (row.state, row.retry_count, row.error_message, row.contract) == (
        "retrying", 1, "$.a is missing", "failed",
    )  # fmt: skip
    run(StepChanged(state="running", attempt=2, session_id="c2"), step="plan")
    row = run.row("plan")
    assert (row.attempt, row.error_message, row.contract, row.session_id) == (2, "", None, "c2")
    run(StepChanged(state="completed", attempt=2, usage=Usage(input_tokens=4)), step="plan")
    assert (run.row("plan").completed_at, run.row("plan").usage) == (8_000_000, Usage(input_tokens=7))


LEGAL_STEP_MOVES = {
    ("pending", "running"), ("running", "completed"), ("running", "failed"), ("running", "retrying"), ("retrying", "running"),
    # Added by workbench: waiting gates, empty results, and steps that are skipped or cancelled.
    ("running", "waiting"), ("waiting", "running"), ("waiting", "failed"), ("running", "completed_empty"),
    ("pending", "skipped"), ("pending", "cancelled"), ("running", "cancelled"), ("waiting", "cancelled"), ("retrying", "cancelled"),
}  # fmt: skip
"""The moves of S1 and those that came with gates, skips and cancelling, written by hand."""
LEGAL_RUN_MOVES = {
    ("queued", "running"), ("running", "completed"), ("running", "failed"), ("queued", "failed"), ("running", "waiting"),
    ("waiting", "running"), ("waiting", "failed"), ("queued", "cancelled"), ("running", "cancelled"), ("waiting", "cancelled"),
}  # fmt: skip
RUN_STATES = RunStatus.__args__


@pytest.mark.spec(118)
def test_the_moves_of_a_step_are_those_written_here():
    assert {(old, new) for old, after in STEP_MOVES.items() for new in after} == LEGAL_STEP_MOVES
    assert set(STEP_MOVES) == set(StepStateName.__args__)


@pytest.mark.spec(120)
def test_the_moves_of_a_run_are_those_written_here():
    assert {(old, new) for old, after in RUN_MOVES.items() for new in after} == LEGAL_RUN_MOVES
    assert set(RUN_MOVES) == set(RUN_STATES)


@pytest.mark.spec(118)
@each_row("old", StepStateName.__args__)
@each_row("new", StepStateName.__args__)
def test_only_legal_moves_change_a_step(old, new):
    run = Run()
    run.tables.put(replace(run.row("plan"), state=old))
    run(StepChanged(state=new), step="plan")
    assert run.row("plan").state == (new if (old, new) in LEGAL_STEP_MOVES else old)


@pytest.mark.spec(120)
@each_row("old", RUN_STATES)
@each_row("new", ["running", "waiting", "completed", "failed", "cancelled"])
def test_only_legal_moves_change_a_run(old, new):
    run = Run()
    run.tables.put(replace(run.run, status=old))
    run(RunChanged(status=new))
    assert run.run.status == (new if (old, new) in LEGAL_RUN_MOVES else old)


def test_a_matrix_item_gets_a_row_of_its_own_beside_its_step():
    run = Run()
    run(StepChanged(state="running", items=("tests[a]", "tests[b]")), step="tests")
    run(StepChanged(state="running", matrix="tests", item="a"), step="tests[a]")
    run(StepChanged(state="running"), step="nobody")
    assert (run.row("tests[a]").matrix, run.row("tests[a]").ordinal, run.row("tests[a]").kind) == (
        "tests", 1, "command",
    )  # fmt: skip
    assert "r/nobody" not in run.tables.step_states


@pytest.mark.spec(123)
def test_a_later_round_begins_anew_only_what_it_names():
    run = Run()
    run(StepChanged(state="running"), step="plan")
    run(StepChanged(state="completed"), step="plan")
    run(StepChanged(state="running"), step="tests")
    run(StepChanged(state="running", matrix="tests", item="a"), step="tests[a]")
    run(StepChanged(state="failed", detail="exit 1"), step="tests")
    run(RunChanged(status="failed", detail="tests failed", duration_ms=1200))
    assert (run.run.status, run.run.error_message, run.run.finished_at) == (
        "failed",
        "tests failed",
        9_000_000,
    )
    before = run.row("plan")
    run(RunStarted(pipeline="nightly", steps=PLANS, round=2, reset=("tests", "tests[a]")))
    assert run.row("plan") == before
    assert [run.row(step).state for step in ("tests", "tests[a]")] == ["pending", "pending"]
    assert (run.run.status, run.run.round, run.run.error_message, run.run.finished_at) == (
        "running", 2, "", None,
    )  # fmt: skip


def test_steps_that_were_kept_from_another_run_begin_completed():
    run = Run(is_started=False)
    run(RunStarted(pipeline="nightly", steps=PLANS, kept=("plan",), from_run="q"))
    assert [run.row(step).state for step in ("plan", "tests")] == ["completed", "pending"]


def test_a_gate_names_its_row_of_the_queue_while_it_waits():
    run = Run()
    run(StepChanged(state="running"), step="plan")
    run(StepChanged(state="waiting"), step="plan", action_id="a1")
    assert run.row("plan").action_id == "a1"


def test_a_step_id_names_run_step_and_attempt():
    assert str(StepId(run="r", step="tests[a]", attempt=2)) == "r/tests[a]/2"
