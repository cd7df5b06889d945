"""Reads that a later grant releases: one test for each row of the table in `host/gate_runner.py`.

R is the transaction that withdraws the question and allows the call. And what a death does to the count of
equal results.
"""

import pytest

from tests.support.crashes import Human
from tests.support.stage import USER
from workbench.domain import events
from workbench.host import workspace_trust

pytestmark = pytest.mark.faults


def found(stage):
    """Return the question's state, the call's, and how often it ran."""
    with stage.at_work():
        (action,) = stage.journal.actions(session_id=stage.session_id)
        return action.state, stage.calls()["c1"].state, len(stage.bodies(events.CallExecuting))


def ends(stage):
    stage.take_over()
    return found(stage)


@pytest.mark.parametrize(
    "death",
    [
        pytest.param(("read.before_release", 1), id="before R"),
        pytest.param(("read.before_release", 1, ("journal.before_commit", 1)), id="in R"),
    ],
)
def test_h_before_r_or_in_r_it_is_judged_anew(on_stage, death):
    stage = on_stage("released-read")
    assert stage.die(death).code == 137
    assert found(stage) == ("pending", "pending", 0)
    assert ends(stage) == ("cancelled", "succeeded", 1)


def test_h_before_r_and_the_grant_is_gone_it_waits_for_its_human(on_stage):
    stage = on_stage("released-read")
    assert stage.die(("read.before_release", 1)).code == 137
    with stage.at_work():
        workspace_trust.revoke_trust(stage.journal, str(stage.workspace), USER)
        Human.rest(stage)
    assert found(stage) == ("pending", "pending", 0)


@pytest.mark.parametrize(
    "death",
    [
        pytest.param(("read.before_release", 1, ("journal.after_commit", 1)), id="R committed"),
        pytest.param(("read.released", 1), id="after R"),
        pytest.param(("call.before_executing", 1), id="before it runs"),
    ],
)
def test_h_after_r_it_runs_once(on_stage, death):
    stage = on_stage("released-read")
    assert stage.die(death).code == 137
    assert found(stage) == ("cancelled", "approved", 0)
    assert ends(stage) == ("cancelled", "succeeded", 1)


def test_h_after_r_and_the_grant_is_gone_it_does_not_run(on_stage):
    stage = on_stage("released-read")
    assert stage.die(("read.released", 1)).code == 137
    with stage.at_work():
        workspace_trust.revoke_trust(stage.journal, str(stage.workspace), USER)
        stage.drive()
        row = stage.calls()["c1"]
    assert (row.state, row.detail) == ("cancelled", "grant gone")


@pytest.mark.spec(209)
def test_s_answers_before_r_and_the_answer_counts(on_stage):
    stage = on_stage("released-read")
    with stage.at_work():
        stage.drive(lambda progress: bool(progress.waiting))
        (action,) = stage.waiting()
        stage.trust(read=True)
        assert stage.reject(action, "no").ok
    assert ends(stage) == ("rejected", "rejected", 0)


def test_s_answers_after_r_and_is_told(on_stage):
    stage = on_stage("released-read")
    assert stage.die(("read.released", 1)).code == 137
    with stage.at_work():
        (action,) = stage.journal.actions(session_id=stage.session_id)
        assert stage.approve(action).why == "cancelled"
    assert ends(stage) == ("cancelled", "succeeded", 1)


@pytest.mark.parametrize(("point", "noted"), [("call.before_repeated", 0), ("call.repeated", 2)])
def test_a_repetition_is_noted_once_whoever_dies(on_stage, point, noted):
    stage = on_stage("repeated-read")
    assert stage.die((point, 1)).code == 137
    with stage.at_work():
        assert stage.calls()["c2"].repeats == noted
        Human.rest(stage)
        assert [body.times for body in stage.bodies(events.CallRepeated)] == [2]
        assert (stage.session().status, stage.session().reason) == ("paused", "host lost")
    stage.take_over()
