"""All agents are held: what was allowed asks, what a human answers runs, and only a human releases."""

import asyncio

import pytest

from tests.support.stage import USER, Stage, call, exchange, recording, text
from tests.unit.host.test_waiting_reads import judged, trusts
from workbench.domain import events
from workbench.domain.values import Actor
from workbench.host import executor, session_requests
from workbench.host.driver_context import SessionWriter
from workbench.host.gate_runner import WaitingReads
from workbench.host.session_driver import SessionRunner
from workbench.journal.agent_hold import hold_agents, release_agents
from workbench.journal.journal import Journal
from workbench.journal.leases import lease_guard, release_lease, take_lease

READ = call("c1", "read_file", path="a.txt")
WRITE = call("c2", "create_file", path="n.txt", content="x")
RUN = call("c3", "run_in_terminal", command="ls")
SCRIPT = recording(exchange(READ), exchange(text("done")))


def begun(staged, *calls, **more):
    script = recording(exchange(*calls), exchange(text("done")))
    return staged(script, files={"a.txt": "b"}, **more).trust().begin()


def test_what_trust_allows_asks_until_a_human_releases(staged):
    stage = begun(staged, READ)
    hold_agents(stage.journal, USER)
    stage.drive()
    assert [action.target for action in stage.waiting()] == ["a.txt"]
    judged(stage)
    assert [action.state for action in stage.waiting()] == ["pending"]
    release_agents(stage.journal, USER)
    assert stage.drive(lambda progress: progress.is_idle).last_outcome == "done"
    assert stage.calls()["c1"].state == "succeeded"
    assert stage.bodies(events.ActionApproved) == []


def test_a_human_answers_while_agents_are_held(staged):
    stage = begun(staged, READ)
    hold_agents(stage.journal, USER)
    stage.drive()
    assert stage.approve(stage.waiting()[0]).ok
    assert stage.drive(lambda progress: progress.is_idle).last_outcome == "done"
    assert stage.calls()["c1"].state == "succeeded"
    assert stage.journal.are_agents_held


def test_a_later_grant_releases_no_read_while_agents_are_held(staged):
    stage = staged(SCRIPT, files={"a.txt": "b"}).begin()
    stage.drive()
    hold_agents(stage.journal, USER)
    trusts(stage)
    judged(stage)
    assert [action.state for action in stage.waiting()] == ["pending"]


def held_before_execution(stage, monkeypatch, name):
    """Hold all agents from another process when an allowed call comes to a point of its execution."""
    once = []

    def at(point):
        if point == name and not once:
            once.append(point)
            with Journal.open(stage.home) as other:
                hold_agents(other, Actor(kind="user", pid=2, via="cli"))

    monkeypatch.setattr(executor, "fault_point", at)


def hold_after_the_recheck(stage, monkeypatch):
    checked = executor.recheck_call

    def then_hold(writer, *about):
        found = checked(writer, *about)
        hold_agents(writer.journal, USER)
        return found

    monkeypatch.setattr(executor, "recheck_call", then_hold)


@pytest.mark.parametrize(
    "hold",
    [
        lambda stage, patch: held_before_execution(stage, patch, "call.before_executing"),
        hold_after_the_recheck,
    ],
    ids=["before the recheck", "after the recheck"],
)
def test_an_allowed_call_that_has_not_started_is_proposed_again_and_asks(staged, monkeypatch, hold):
    stage = begun(staged, READ)
    hold(stage, monkeypatch)
    stage.drive()
    assert stage.bodies(events.CallExecuting) == []
    first, second = stage.journal.calls(stage.session_id)
    assert (first.state, first.detail, first.replaced_by) == ("cancelled", "held", second.id)
    assert second.state == "pending"
    assert stage.approve(stage.waiting()[0]).ok
    monkeypatch.undo()
    assert stage.drive(lambda progress: progress.is_idle).last_outcome == "done"
    assert stage.journal.call(second.id).state == "succeeded"


def test_without_anyone_to_ask_a_held_call_is_denied(staged):
    stage = begun(staged, READ, can_ask=False)
    hold_agents(stage.journal, USER)
    stage.drive(lambda progress: progress.is_idle)
    row = stage.calls()["c1"]
    assert (row.state, row.detail) == ("rejected", "denied")
    assert "held" in row.error


def test_a_humans_undo_runs_while_agents_are_held(staged):
    stage = begun(staged, WRITE)
    stage.drive()
    (action,) = stage.waiting()
    assert stage.approve(action).ok
    stage.drive(lambda progress: progress.is_idle)
    assert stage.read("n.txt") == b"x"
    hold_agents(stage.journal, USER)
    session_requests.request_undo(stage.journal, action.id, USER)
    stage.drive(lambda progress: progress.is_idle)
    assert not (stage.workspace / "n.txt").exists()


def test_every_driver_and_a_later_start_sees_the_hold(tmp_path):
    first = Stage(tmp_path, SCRIPT, files={"a.txt": "b"}).trust().begin()
    other = Stage(tmp_path, SCRIPT).begin()
    try:
        assert hold_agents(first.journal, USER)
        assert other.journal.are_agents_held
        for stage in (first, other):
            stage.drive()
            assert [action.state for action in stage.waiting()] == ["pending"]
    finally:
        first.close()
        other.close()
    with Journal.open(first.home) as again:
        assert again.are_agents_held
        assert again.agent_hold().held_by == "user (cli, pid 1)"


def test_the_driver_that_held_a_read_back_releases_it_after_the_hold(staged):
    stage = staged(SCRIPT, files={"a.txt": "b"}).begin()
    stage.drive()
    hold_agents(stage.journal, USER)
    trusts(stage)
    states = []

    async def ticks(context, driver):
        lease = take_lease(stage.journal, stage.session_id, driver)
        runner = SessionRunner(SessionWriter(context, stage.session_id, lease_guard(lease)))
        reads = WaitingReads(runner.writer)
        for then in (lambda: None, lambda: release_agents(stage.journal, USER)):
            runner.catch_up()
            await reads.release_allowed(is_active=runner.state.is_active)
            states.append(len(stage.waiting()))
            then()
        runner.catch_up()
        await reads.release_allowed(is_active=runner.state.is_active)
        states.append(len(stage.waiting()))
        release_lease(stage.journal, lease)

    try:
        asyncio.run(ticks(stage.context(), stage.driver()))
    finally:
        stage.lock.close()
    assert states == [1, 1, 0]
