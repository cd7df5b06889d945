"""Reads that wait are released by a grant that comes later, and nothing else is."""

import asyncio

import pytest
from msgspec.structs import replace

from tests.support.stage import USER, call, exchange, recording, text
from workbench.domain import events
from workbench.domain.values import Decision
from workbench.host import session_requests, workspace_trust
from workbench.host.driver_context import SessionWriter, sync_config_rules
from workbench.host.gate_runner import WaitingReads
from workbench.host.session_driver import SessionRunner
from workbench.journal.decisions import add_rule, decide_action, revoke_rule
from workbench.journal.leases import lease_guard, release_lease, take_lease
from workbench.journal.session_queries import open_turns
from workbench.views.event_text import event_line
from workbench.views.rules import rule_rows

READ = call("c1", "read_file", path="a.txt")
WRITE = call("c2", "create_file", path="n.txt", content="x")
RUN = call("c3", "run_in_terminal", command="ls")


def asking(staged, *calls, **more):
    script = recording(exchange(*calls), exchange(text("done")))
    stage = staged(script, files={"a.txt": "b", "docs/b.txt": "c"}, **more).begin()
    stage.drive()
    return stage


def rule(pattern, tool, stage):
    return events.RuleAdded(
        rule="", effect="allow", origin="user", scope="workspace", tool=tool, pattern_kind="glob",
        pattern=pattern, description="is harmless", scope_id=str(stage.workspace),
    )  # fmt: skip


def trusts(stage):
    workspace_trust.grant_trust(stage.journal, str(stage.workspace), True, USER)


def adds_a_rule(stage):
    add_rule(stage.journal, rule("Read(a.txt)", "read_file", stage), USER)


def changes_the_mode(stage):
    session_requests.set_approval_mode(stage.journal, stage.session(), "reads", USER)


def judged(stage, times=2):
    """Have the reads that wait judged again, as each tick of a driver's clock does."""

    async def ticks(context, driver):
        lease = take_lease(stage.journal, stage.session_id, driver)
        runner = SessionRunner(SessionWriter(context, stage.session_id, lease_guard(lease)))
        reads = WaitingReads(runner.writer)
        for _ in range(times):
            runner.catch_up()
            await reads.release_allowed(is_active=runner.state.is_active)
        release_lease(stage.journal, lease)

    try:
        asyncio.run(ticks(stage.context(), stage.driver()))
    finally:
        stage.lock.close()


@pytest.fixture(autouse=True)
def _fast_clock(monkeypatch):
    monkeypatch.setattr("workbench.host.session_driver.CLOCK_TICK_SECONDS", 0.01)


@pytest.mark.parametrize(
    ("grant", "why", "by_rule"),
    [
        (trusts, "allowed: you let agents read here", False),
        (adds_a_rule, "allowed: rule R1 covers it now", True),
        (changes_the_mode, "allowed: this session may read without asking", False),
    ],
)
def test_a_grant_that_comes_later_releases_a_read(staged, grant, why, by_rule):
    stage = asking(staged, READ)
    (action,) = stage.waiting()
    grant(stage)
    assert stage.drive(lambda progress: progress.is_idle).last_outcome == "done"
    row = stage.journal.action(action.id)
    assert (row.state, row.reason) == ("cancelled", why)
    call_row = stage.calls()["c1"]
    assert (call_row.state, call_row.rule) == ("succeeded", "R1" if by_rule else None)
    kinds = stage.kinds()
    at = kinds.index("action.cancelled")
    assert (
        kinds[at : at + 3 - (not by_rule)]
        == ["action.cancelled", "call.proposed", "rule.used"][: 3 - (not by_rule)]
    )
    assert stage.bodies(events.ActionApproved) == []


def test_only_reads_are_released_and_all_else_waits_for_its_human(staged):
    stage = asking(staged, READ, WRITE, RUN)
    trusts(stage)
    for tool, pattern in (("create_file", "Write(n.txt)"), ("run_in_terminal", "Bash(ls)")):
        add_rule(stage.journal, rule(pattern, tool, stage), USER)
    judged(stage)
    assert {row.tool: row.state for row in stage.calls().values()} == {
        "read_file": "approved", "create_file": "pending", "run_in_terminal": "pending",
    }  # fmt: skip


def test_a_read_that_no_grant_covers_goes_on_waiting(staged):
    stage = asking(staged, READ, call("c4", "read_file", path="docs/b.txt"))
    adds_a_rule(stage)
    stage.drive(lambda progress: len(progress.waiting) == 1)
    assert [action.target for action in stage.waiting()] == ["docs/b.txt"]


def test_a_rule_that_is_gone_before_releases_nothing(staged):
    stage = asking(staged, READ)
    adds_a_rule(stage)
    revoke_rule(stage.journal, "R1", USER)
    judged(stage)
    assert [action.state for action in stage.waiting()] == ["pending"]


def test_an_answer_that_came_first_counts(staged):
    stage = asking(staged, READ)
    (action,) = stage.waiting()
    stage.reject(action, "not now")
    trusts(stage)
    stage.drive(lambda progress: progress.is_idle)
    assert stage.calls()["c1"].state == "rejected"
    assert stage.bodies(events.ActionCancelled) == []


def test_an_answer_that_comes_after_is_refused_and_named(staged):
    stage = asking(staged, READ)
    (action,) = stage.waiting()
    trusts(stage)
    stage.drive(lambda progress: progress.is_idle)
    late = Decision(action_id=action.id, verdict="reject")
    assert decide_action(stage.journal, late, action.digest, USER).why == "cancelled"


def test_hooks_of_a_workspace_that_is_trusted_now_are_asked_first(staged):
    stage = asking(staged, READ)
    (stage.workspace / ".workbench.json").write_text(
        '{"config_version": 1, "hooks": {"PreToolUse": [{"matcher": "*", "command": "exit 2"}]}}'
    )
    trusts(stage)
    judged(stage)
    changes_the_mode(stage)
    judged(stage)
    assert [action.state for action in stage.waiting()] == ["pending"]
    assert [hook.blocked for hook in stage.bodies(events.HookRan)] == [True]


def test_a_setting_that_lets_agents_read_releases_them(staged):
    stage = asking(staged, READ)
    (stage.root / "home" / "config.json").write_text(
        '{"config_version": 1, "approvals": {"read_only": "auto"}}'
    )
    sync_config_rules(
        stage.journal,
        stage.context().read_settings().loaded,
        stage.context().tools.descriptors(),
        str(stage.workspace),
    )
    stage.drive(lambda progress: progress.is_idle)
    assert stage.calls()["c1"].state == "succeeded"


def adds_a_rule_for_the_turn(stage):
    turn = stage.session().open_turn
    assert turn is not None
    body = replace(rule("Read(a.txt)", "read_file", stage), scope="turn", scope_id=turn)
    return add_rule(stage.journal, body, USER)


def test_a_rule_for_a_turn_ends_with_the_turn_that_asked(staged):
    again = call("c9", "read_file", path="a.txt")
    script = recording(exchange(READ), exchange(text("done")), exchange(again), exchange(text("done")))
    stage = staged(script, files={"a.txt": "b"}).begin()
    stage.drive()
    added = adds_a_rule_for_the_turn(stage)
    stage.drive(lambda progress: progress.is_idle)
    assert (stage.calls()["c1"].state, stage.calls()["c1"].rule) == ("succeeded", added.id)
    assert added.scope_id not in open_turns(stage.journal)
    stage.say("read it again")
    stage.drive()
    assert stage.calls()["c9"].state == "pending"
    assert len(stage.waiting()) == 1
    # No event ended it: the gate knows the turns from the journal, and so does who lists the rules.
    assert stage.bodies(events.RuleRevoked) == []
    (kept,) = stage.journal.rules()
    assert (kept.scope, kept.use_count) == ("turn", 1)
    listed = rule_rows(
        [kept], stage.journal.now(), workspace="/", session_id=stage.session_id, titles={}, has_past=True,
        ended={added.scope_id} - open_turns(stage.journal), open_turn=stage.session().open_turn,
    )  # fmt: skip
    assert [(row.state, row.where, row.until) for row in listed] == [("ended", "one turn", "its turn ended")]


def test_a_rule_for_a_turn_is_in_force_while_the_turn_is_open(staged):
    stage = asking(staged, WRITE)
    added = adds_a_rule_for_the_turn(stage)
    assert added.scope_id in open_turns(stage.journal)
    (row,) = rule_rows(
        [added], stage.journal.now(), workspace="/", session_id=stage.session_id, titles={},
        ended={added.scope_id} - open_turns(stage.journal), open_turn=stage.session().open_turn,
    )  # fmt: skip
    assert (row.state, row.until) == ("in force", "the turn ends")
    (event,) = [one for one in stage.journal.events("system") if isinstance(one.body, events.RuleAdded)]
    assert event_line(event, None, None).endswith("Read(a.txt) until the turn ends")
