"""The driver of an agent that executes its own calls, with an agent that keeps its own log."""

import asyncio
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.agent_tools import run_tool
from tests.support.fake_agent import FakeAgent, settled_calls, supervise, waiting_row
from tests.support.stage import USER, recording
from tests.support.waits import PATIENCE, until_true
from workbench.bridge.own_rules import opencode_rules
from workbench.domain.events import (
    ActionApproved,
    ActionCancelled,
    ActionOpened,
    AgentConnected,
    AgentGone,
    CallExecuting,
    CallFinished,
    CallProposed,
    FileChanged,
    TurnEnded,
)
from workbench.effects.fault_points import arm_fault
from workbench.host import supervised_answers
from workbench.host.agent_link import AgentLink
from workbench.host.supervised_calls import UNNAMED
from workbench.host.supervised_driver import drive_supervised
from workbench.journal.agent_hold import hold_agents
from workbench.journal.errors import GuardFailed, LeaseLost
from workbench.journal.proposals import proposal_of
from workbench.supervised import machine
from workbench.supervised.messages import OwnRule
from workbench.views.action_detail import action_detail
from workbench.views.approvals import queue_rows
from workbench.views.detail_pages import call_detail

TWELVE = "".join(f"line {number}\n" for number in range(1, 13))
FAR = TWELVE.replace("line 2\n", "line two\n").replace("line 11\n", "line eleven\n")
EDIT = {"file_path": "a.txt", "old_string": "line 2\n", "new_string": "line two\n"}


def stage_of(staged, **files):
    return staged(recording(), files={"a.txt": TWELVE, "b.txt": "b\n", **files})


def allow(stage, *patterns):
    config = {"config_version": 1, "approvals": {"allow": list(patterns)}}
    (stage.root / "home" / "config.json").write_text(json.dumps(config))


# --- the life of a call ------------------------------------------------------------------------------


def test_an_edit_is_asked_approved_run_by_the_agent_and_compared(staged):
    stage = stage_of(staged)

    async def scenario(agent):
        asking = asyncio.create_task(agent.call("n1", "Edit", EDIT, "c1"))
        action = await waiting_row(stage)
        assert (action.tool, action.target) == ("Edit", "a.txt")
        assert stage.read("a.txt").decode() == TWELVE
        assert stage.approve(action).ok
        answer = await asking
        assert (answer.outcome, answer.input) == ("allow", None)
        await settled_calls(stage)
        assert agent.log == [("Edit", EDIT)]

    supervise(stage, scenario)
    (finished,) = stage.bodies(CallFinished)
    assert (finished.metadata["grade"], finished.files_affected) == ("bound", ("a.txt",))
    assert [body.path for body in stage.bodies(FileChanged)] == ["a.txt"]


def test_a_call_that_its_agent_asks_about_too_says_so_on_its_row_and_in_its_record(staged):
    stage = stage_of(staged)
    rules = (OwnRule(pattern="Edit", asks=True),)

    def shown():
        (call,), (action,) = (
            stage.journal.calls(stage.session_id),
            stage.journal.actions(session_id=stage.session_id),
        )
        (row,) = queue_rows([action], {}, stage.journal.now(), calls={call.id: call})
        detail = action_detail(action, proposal_of(stage.journal, action), (), stage.journal.now(), call=call)
        page = call_detail(call, action, stage.journal.events(stage.session_id))
        gate = next(section.lines for section in page.sections if section.name == "Gate")
        return row.state_word, row.can_batch, " ".join(detail.bar), gate[-1]

    async def scenario(agent):
        agent.ask("n1", "Edit", EDIT, "c1", own_rules=rules)
        action = await waiting_row(stage)
        word, can_batch, bar, gate = shown()
        assert (word, can_batch) == ("agent asks too", True)
        assert "does not answer that question" in bar and bar.endswith(gate)
        assert stage.approve(action).ok
        assert (await agent.answer("n1")).outcome == "allow"
        assert shown()[0] == "agent asks too"
        agent.run("Edit", EDIT, "c1")
        await settled_calls(stage)
        word, _, bar, gate = shown()
        assert word == "approved" and "Allowed here, the agent asks itself." in bar and bar.endswith(gate)

    supervise(stage, scenario)
    (proposed,) = stage.bodies(CallProposed)
    assert proposed.asks_itself


def test_the_last_own_rule_that_matches_a_call_says_whether_its_agent_asks(staged):
    stage = stage_of(staged)
    allow(stage, "Bash(git status)", "Bash(git log)", "Bash(true)")
    rules = opencode_rules({"*": "allow", "bash": {"*": "ask", "git *": "allow", "git log": "ask"}})
    cases = {"git status": False, "true": True, "git status && true": True, "git log": True}

    async def scenario(agent):
        for number, command in enumerate(cases):
            await agent.call(f"n{number}", "Bash", {"command": command}, f"c{number}", own_rules=rules)
        assert (
            await agent.call("m", "Read", {"file_path": "a.txt"}, "m", own_rules=rules)
        ).outcome == "allow"

    (stage.workspace / ".git").mkdir()
    stage.trust(read=True)
    supervise(stage, scenario)
    *commands, read = stage.journal.calls(stage.session_id)
    assert {call.parameters["command"]: call.asks_itself for call in commands} == cases
    assert not read.asks_itself


def test_a_patch_with_a_return_inside_a_line_says_why_it_has_no_hunks(staged):
    stage = stage_of(staged)
    line = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: n\n+on\re\n*** End Patch\nEOF"

    async def scenario(agent):
        asking = asyncio.create_task(agent.call("n1", "Bash", {"command": line}, "c1"))
        stage.reject(await waiting_row(stage))
        await asking

    supervise(stage, scenario)
    (proposed,) = stage.bodies(CallProposed)
    assert "its patch is not shown as hunks" in proposed.verdict.reason


def test_a_rejection_reaches_the_agent_with_its_reason(staged):
    stage = stage_of(staged)

    async def scenario(agent):
        asking = asyncio.create_task(agent.call("n1", "Write", {"file_path": "new.txt", "content": "x"}))
        stage.reject(await waiting_row(stage), "not there")
        answer = await asking
        assert (answer.outcome, "not there" in answer.reason, agent.log) == ("deny", True, [])

    supervise(stage, scenario)
    assert not (stage.workspace / "new.txt").exists()


def test_an_allowed_command_is_announced_and_handed_over_in_one_transaction_unless_agents_are_held_by_then(
    staged, monkeypatch
):
    stage = stage_of(staged)
    allow(stage, "Bash(true)")
    judged = supervised_answers.judge_and_propose

    async def held_a_moment_later(writer, *about):
        found = await judged(writer, *about)
        hold_agents(writer.journal, USER)
        return found

    async def scenario(agent):
        assert (await agent.call("n1", "Bash", {"command": "true"})).outcome == "allow"
        (event,) = [e for e in stage.journal.events(stage.session_id) if isinstance(e.body, CallExecuting)]
        (proposed,) = [e for e in stage.journal.events(stage.session_id) if isinstance(e.body, CallProposed)]
        assert event.position == proposed.position + 1
        monkeypatch.setattr(supervised_answers, "judge_and_propose", held_a_moment_later)
        asking = asyncio.create_task(agent.call("n2", "Bash", {"command": "true"}))
        stage.reject(await waiting_row(stage), "held")
        assert (await asking).outcome == "deny"

    supervise(stage, scenario)
    assert len(stage.bodies(CallExecuting)) == 1


@pytest.mark.parametrize("tool", ["Write", "Edit", "apply_patch"])
def test_chosen_hunks_become_the_input_of_the_agents_tool(staged, tool):
    stage = stage_of(staged)
    start, end = "line 2\n", "line 11\n"
    middle = TWELVE[TWELVE.index(start) : TWELVE.index(end) + len(end)]
    given = {
        "Write": {"file_path": "a.txt", "content": FAR},
        "Edit": {
            "file_path": "a.txt", "old_string": middle,
            "new_string": middle.replace(start, "line two\n").replace(end, "line eleven\n"),
        },
        "apply_patch": {"patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n-line 2\n+line two\n@@\n"
                        "-line 11\n+line eleven\n*** End Patch"},
    }[tool]  # fmt: skip

    async def scenario(agent):
        asking = asyncio.create_task(agent.call("n1", tool, given, "c1"))
        stage.approve(await waiting_row(stage), hunks=[2])
        answer = await asking
        assert answer.outcome == "allow" and answer.input is not None
        await settled_calls(stage)

    supervise(stage, scenario)
    assert stage.read("a.txt").decode() == TWELVE.replace("line 11\n", "line eleven\n")
    (finished,) = stage.bodies(CallFinished)
    assert (finished.detail, finished.metadata["grade"]) == ("partial", "bound")


PATCHES = {
    "edits": ("*** Update File: a.txt\n@@\n-line 2\n+line two\n", "allow"),
    "creates": ("*** Add File: n.txt\n+new\n", "asks"),
    "deletes": ("*** Delete File: a.txt\n", "asks"),
    "moves": ("*** Update File: a.txt\n*** Move to: c.txt\n@@\n-line 2\n+line two\n", "asks"),
    "edits another": ("*** Update File: d.md\n@@\n-x\n+y\n", "asks"),
    "edits two": ("*** Update File: a.txt\n@@\n-line 2\n+line two\n*** Update File: d.md\n@@\n-x\n+y\n", "asks"),
    "runs by itself": ("*** Update File: .envrc\n@@\n-x\n+y\n", "asks"),
}  # fmt: skip


@pytest.mark.parametrize("case", PATCHES)
def test_a_rule_for_edits_allows_a_patch_that_only_edits_files_it_names(staged, case):
    stage = stage_of(staged)
    allow(stage, "Edit(*.txt)", "Edit(.envrc)")
    for name in ("d.md", ".envrc"):
        (stage.workspace / name).write_text("x\n")
    body, expected = PATCHES[case]

    async def scenario(agent):
        given = {"patch": f"*** Begin Patch\n{body}*** End Patch"}
        asking = asyncio.create_task(agent.call("n1", "apply_patch", given, "c1"))
        if expected == "asks":
            stage.reject(await waiting_row(stage))
        assert (await asking).outcome == ("allow" if expected == "allow" else "deny")
        await settled_calls(stage)

    supervise(stage, scenario)
    assert bool(stage.bodies(ActionOpened)) == (expected == "asks")


@pytest.mark.parametrize("hunks", [None, [2]])
def test_what_a_human_says_with_an_approval_reaches_the_agent(staged, hunks):
    stage = stage_of(staged)

    async def scenario(agent):
        asking = asyncio.create_task(agent.call("n1", "Write", {"file_path": "a.txt", "content": FAR}, "c1"))
        stage.approve(await waiting_row(stage), hunks=hunks, reason="keep line 2 short")
        note = (await asking).note
        assert note.endswith("The user says: keep line 2 short")
        assert ("only a part" in note) == (hunks is not None)
        await settled_calls(stage)

    supervise(stage, scenario)


def test_a_version_that_the_agents_tool_cannot_write_is_not_handed_over(staged):
    stage = stage_of(staged)

    async def scenario(agent):
        asking = asyncio.create_task(agent.call("n1", "Edit", EDIT, "c1"))
        stage.approve(await waiting_row(stage), edited={"a.txt": b"\xff\xfe no text\n"})
        answer = await asking
        assert (answer.outcome, "UTF-8" in answer.reason, agent.log) == ("deny", True, [])

    supervise(stage, scenario)
    assert stage.read("a.txt").decode() == TWELVE


def test_an_agent_that_takes_no_other_input_is_told_which_call_to_make_instead(staged):
    """As Qwen Code, whose hook before a call ignores an input; a secret is not said."""
    stage = stage_of(staged)
    first = TWELVE.replace("line 2\n", "line two\n")
    versions = {"n1": {"hunks": [1]}, "n2": {"edited": {"a.txt": b"key = AKIA" + b"ABCD2345" * 2 + b"\n"}}}
    reasons = []

    async def scenario(agent):
        for nonce, version in versions.items():
            asking = asyncio.create_task(
                agent.call(nonce, "Write", {"file_path": "a.txt", "content": FAR}, nonce, takes_input=False)
            )
            stage.approve(await waiting_row(stage), **version)
            reasons.append((await asking).reason)
        asking = asyncio.create_task(
            agent.call("n3", "Write", {"file_path": "a.txt", "content": first}, "n3", takes_input=False)
        )
        stage.approve(await waiting_row(stage))
        assert (await asking).input is None

    supervise(stage, scenario)
    exact, cut = reasons
    assert json.loads(exact[exact.index("{") :]) == {"content": first, "file_path": "a.txt"}
    assert "Ask the user" in cut and "AKIA" not in cut
    assert stage.read("a.txt").decode() == first


def test_a_command_is_judged_by_rules_in_its_folder_and_taken_on_its_word(staged):
    stage = stage_of(staged, **{"sub/x": "x"})
    allow(stage, "Bash(cat *)")

    async def scenario(agent):
        answer = await agent.call("n1", "Bash", {"command": "cat b.txt", "description": "look"}, "c1")
        assert answer.outcome == "allow"
        await settled_calls(stage)
        sub = str(stage.workspace / "sub")
        asking = asyncio.create_task(agent.call("n2", "Bash", {"command": "cat x"}, "c2", cwd=sub))
        action = await waiting_row(stage)
        assert stage.opened(action).cwd == sub
        stage.approve(action)
        assert (await asking).outcome == "allow"
        await settled_calls(stage)

    supervise(stage, scenario)
    assert {body.metadata["grade"] for body in stage.bodies(CallFinished)} == {"on its word"}
    here, there = stage.bodies(CallExecuting)
    assert here.digest != there.digest


def test_reads_are_judged_by_what_is_said_of_reading_and_a_denial_wins(staged):
    stage = stage_of(staged)
    config = {"approvals": {"read_only": "auto", "deny": ["Read(b.txt)"]}}
    (stage.root / "home" / "config.json").write_text(json.dumps({"config_version": 1, **config}))

    async def scenario(agent):
        assert (
            await agent.call("n1", "Read", {"file_path": str(stage.workspace / "a.txt")})
        ).outcome == "allow"
        denied = await agent.call("n2", "Read", {"file_path": "b.txt"})
        assert (denied.outcome, "Read(b.txt)" in denied.reason) == ("deny", True)
        agent.ask("n3", "Read", {"file_path": "/etc/hostname"})
        assert (await waiting_row(stage)).tool == "Read"

    supervise(stage, scenario)


@pytest.mark.parametrize("tool", ["Edit", "Bash", "mcp__files__write"])
def test_what_is_outside_the_workspace_asks_and_no_grant_covers_it(staged, tool):
    stage = stage_of(staged)
    allow(stage, "Bash(*)", "Edit", "Write", "mcp__files")
    outside = stage.root / "outside.txt"
    outside.write_text("x\n")
    given = {
        "Edit": {"file_path": str(outside), "old_string": "x", "new_string": "y"},
        "Bash": {"command": f"rm {outside}"},
        "mcp__files__write": {"path": str(outside)},
    }[tool]

    async def scenario(agent):
        agent.ask("n1", tool, given, cwd=str(stage.root) if tool == "mcp__files__write" else "")
        stage.reject(await waiting_row(stage))
        assert (await agent.answer("n1")).outcome == "deny"

    supervise(stage, scenario)


# --- what the agent does otherwise --------------------------------------------------------------------


def test_other_bytes_than_approved_are_a_row_that_can_be_put_back(staged):
    stage = stage_of(staged)
    change = {"file_path": "b.txt", "old_string": "b", "new_string": "c"}

    async def scenario(agent):
        agent.ask("n1", "Edit", change, "c1")
        stage.approve(await waiting_row(stage))
        await agent.answer("n1")
        (stage.workspace / "b.txt").write_text("evil\n")
        agent.done("Edit", change, "c1")
        found = await waiting_row(stage)
        assert "b.txt" in found.target and stage.calls()["c1"].detail == "differs"
        assert stage.read("b.txt") == b"evil\n"
        stage.reject(found)
        await until_true(lambda: stage.read("b.txt") == b"b\n")
        await settled_calls(stage)

    supervise(stage, scenario)
    assert stage.bodies(CallFinished)[0].metadata["grade"] == "checked"


def test_a_call_that_was_made_without_waiting_is_withdrawn_and_shown(staged):
    stage = stage_of(staged)
    change = {"file_path": "b.txt", "content": "c\n"}

    async def scenario(agent):
        agent.ask("n1", "Write", change, "c1")
        action = await waiting_row(stage)
        agent.run("Write", change, "c1")
        assert (await agent.answer("n1")).outcome == "deny"
        found = await waiting_row(stage)
        assert "without an answer" in found.target
        assert not stage.approve(action).ok
        assert stage.approve(found).ok

    supervise(stage, scenario)
    assert stage.read("b.txt") == b"c\n"
    assert [row.state for row in stage.journal.calls(stage.session_id)] == ["cancelled"]


def test_a_call_that_its_own_mode_allowed_is_shown_and_not_asked(staged):
    stage = stage_of(staged)

    async def scenario(agent):
        agent.run("Bash", {"command": "ls"}, "c1")
        await settled_calls(stage)
        assert stage.waiting() == []

    supervise(stage, scenario)
    assert stage.calls()["c1"].verdict_by == "its own mode"


def test_a_question_that_nobody_waits_for_is_withdrawn(staged, monkeypatch):
    monkeypatch.setattr(machine, "WITHDRAWAL_SECONDS", 0.0)
    stage = stage_of(staged)

    async def scenario(agent):
        agent.ask("n1", "Edit", EDIT, "c1")
        action = await waiting_row(stage)
        agent.connection.is_open = False
        agent.link.put(agent.connection, None)
        await until_true(lambda: stage.calls()["c1"].state == "cancelled")
        assert stage.approve(action).why == "cancelled"

    supervise(stage, scenario)


def presence(stage):
    names = (AgentConnected, AgentGone, TurnEnded)
    return [type(e.body) for e in stage.journal.events(stage.session_id) if isinstance(e.body, names)]


def test_an_agent_that_disconnects_is_recorded_as_gone_and_ends_its_turn(staged, monkeypatch):
    monkeypatch.setattr(machine, "WITHDRAWAL_SECONDS", 0.0)
    stage = stage_of(staged)

    async def scenario(agent):
        agent.run("Bash", {"command": "ls"}, "c1")
        await settled_calls(stage)
        assert (stage.session().status, stage.session().is_agent_gone) == ("processing", False)
        agent.disconnect()
        await until_true(lambda: stage.session().is_agent_gone)
        assert stage.session().status == "ready"
        agent.connect(agent.link)
        await until_true(lambda: not stage.session().is_agent_gone)
        agent.disconnect()
        await until_true(lambda: stage.session().is_agent_gone)

    supervise(stage, scenario)
    assert presence(stage) == [TurnEnded, AgentGone, AgentConnected, AgentGone]


def test_a_driver_that_finds_no_agent_waits_for_it_and_records_that_it_is_gone(staged, monkeypatch):
    """The driver before it was killed, and recorded nothing."""
    stage = stage_of(staged)

    async def connected(agent):
        agent.run("Bash", {"command": "ls"}, "c1")
        await settled_calls(stage)

    supervise(stage, connected)
    assert presence(stage) == []
    assert [one.id for one in stage.journal.awaiting(str(stage.workspace))] == [stage.session_id]
    drive = drive_supervised(stage.context(), stage.driver(), stage.session_id, AgentLink())
    monkeypatch.setattr(machine, "RETURN_SECONDS", 0.5)
    asyncio.run(asyncio.wait_for(drive, PATIENCE))
    stage.lock.close()
    assert presence(stage) == [TurnEnded, AgentGone]
    assert stage.journal.awaiting(str(stage.workspace)) == []


def test_the_row_ends_before_the_agent_stops_waiting_however_often_it_is_extended(staged):
    from workbench.journal.decisions import extend_action

    stage = stage_of(staged)

    async def scenario(agent):
        agent.ask("n1", "Edit", EDIT, "c1", waits=600)
        action = await waiting_row(stage)
        last = action.created_at + 540 * 1_000_000
        assert action.expires_at == last
        assert extend_action(stage.journal, action.id, supervised_user()).why == "limit"

    supervise(stage, scenario)


def supervised_user():
    from tests.support.stage import USER

    return USER


@pytest.mark.parametrize("tool", ["create_file", "undo"])
def test_a_tool_with_the_name_of_a_built_in_one_is_not_judged_as_it(staged, tool):
    stage = stage_of(staged)

    async def scenario(agent):
        agent.ask("n1", tool, {"path": "c.txt", "content": "c"})
        assert (await agent.answer("n1")).outcome == "deny"

    supervise(stage, scenario)
    assert stage.journal.calls(stage.session_id) == []


# --- what must hold whatever the agent does ----------------------------------------------------------


def test_edits_of_one_file_stack_and_the_second_waits_for_the_first(staged):
    stage = stage_of(staged)
    second = {"file_path": "a.txt", "old_string": "line two\n", "new_string": "LINE TWO\n"}

    async def scenario(agent):
        first = asyncio.create_task(agent.call("n1", "Edit", EDIT, "c1"))
        await waiting_row(stage)
        later = asyncio.create_task(agent.call("n2", "Edit", second, "c2"))
        await until_true(lambda: len(stage.waiting()) == 2)
        by_call = {stage.journal.call(a.call_id).provider_call_id: a for a in stage.waiting()}
        stage.approve(by_call["c2"])
        assert "n2" not in agent.connection.answers
        stage.approve(by_call["c1"])
        assert [(await first).outcome, (await later).outcome] == ["allow", "allow"]
        await settled_calls(stage)

    supervise(stage, scenario)
    assert stage.read("a.txt").decode() == TWELVE.replace("line 2\n", "LINE TWO\n")


def test_a_second_edit_is_asked_again_where_the_first_was_rejected(staged):
    stage = stage_of(staged)
    whole = {"file_path": "a.txt", "content": FAR}

    async def scenario(agent):
        agent.ask("n1", "Edit", EDIT, "c1")
        first = await waiting_row(stage)
        agent.ask("n2", "Write", whole, "c2")
        (second,) = await until_true(lambda: [a for a in stage.waiting() if a.id != first.id])
        stage.reject(first)
        (again,) = await until_true(
            lambda: [a for a in stage.waiting() if a.id != second.id and a.id != first.id]
        )
        before = {plan.path: plan.base for plan in stage.opened(again).files}
        assert before == {plan.path: plan.base for plan in stage.opened(first).files}

    supervise(stage, scenario)


POINTS = ("supervised.asked", "supervised.before_executing", "supervised.executing", "supervised.answered",
          "supervised.observed")  # fmt: skip


class Died(BaseException):
    """Stands for the death of the driver."""


@pytest.mark.parametrize("point", POINTS)
def test_a_driver_that_dies_anywhere_hands_an_approval_over_at_most_once(staged, point):
    """The agent asks again with the same nonce, as a client that lost its connection does."""
    stage, agent = stage_of(staged), FakeAgent(None)
    agent.folder = stage.workspace
    change = {"file_path": "b.txt", "content": "approved\n"}

    async def scenario(agent):
        if agent.log:
            agent.done("Write", change, "c1")
        else:
            asking = asyncio.create_task(agent.call("n1", "Write", change, "c1"))
            await until_true(lambda: approve_all(stage) or asking.done())
        await settled_calls(stage)

    with arm_fault(point, Died()), pytest.raises(Died):
        supervise(stage, scenario, agent)
    supervise(stage, scenario, agent)
    assert stage.read("b.txt") == b"approved\n"
    handed, approved = len(stage.bodies(CallExecuting)), len(stage.bodies(ActionApproved))
    assert 1 == len(agent.log) <= handed <= approved


def approve_all(stage):
    for action in stage.waiting():
        stage.approve(action)


async def one_ask(stage, agent, nonce, key, change, answer):
    """Ask once, or three times for one call; answer each row that comes, and run what is allowed."""
    before = {action.id for action in stage.waiting()}
    nonces = dict.fromkeys([nonce, nonce, f"{nonce}-2"] if answer == "again" else [nonce])
    for each in [nonce, *nonces] if answer == "again" else nonces:
        agent.ask(each, "Write", change, key)
    if answer == "leave":
        await until_true(lambda: {action.id for action in stage.waiting()} - before)
        return
    decide, ran = stage.reject if answer == "reject" else stage.approve, set()

    def all_are_answered():
        for action in stage.waiting():
            if action.id not in before:
                decide(action)
        for each in nonces:
            answers = agent.connection.answers.get(each, ())
            if each not in ran and any(said.outcome == "allow" for said in answers):
                ran.add(each)
                agent.run("Write", change, key)
        return all(each in agent.connection.answers for each in nonces)

    await until_true(all_are_answered)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asks=st.lists(
    st.tuples(st.sampled_from(["", "call_0", "call_1"]), st.sampled_from(["x", "y", "z"]),
              st.sampled_from(["approve", "reject", "again", "leave"])),
    min_size=1, max_size=6,
))  # fmt: skip
def test_no_call_is_allowed_more_often_than_it_was_approved(staged, asks):
    """Ids are repeated, questions asked twice: each allowed call has its own approval of these very bytes."""
    stage = stage_of(staged)

    async def scenario(agent):
        for number, (key, text, answer) in enumerate(asks):
            await one_ask(
                stage,
                agent,
                f"n{number}",
                key,
                {"file_path": f"{text}{number}.txt", "content": f"{number}\n"},
                answer,
            )

    agent = FakeAgent(None)
    agent.folder = stage.workspace
    supervise(stage, scenario, agent)
    allowed = [a for each in agent.connection.answers.values() for a in each if a.outcome == "allow"]
    digests = [body.digest for body in stage.bodies(CallExecuting)]
    assert len(allowed) <= len(digests) <= len(stage.bodies(ActionApproved))
    assert len(set(digests)) == len(digests)
    assert len(stage.bodies(ActionOpened)) >= len(asks)


@pytest.mark.parametrize("first", [0, 1])
def test_two_equal_questions_without_an_id_are_two_decisions_that_end_in_their_order(staged, first):
    """An agent whose calls carry no id asks twice for the same command; only one of the two is approved at first."""
    stage, given = stage_of(staged), {"command": "make"}

    async def scenario(agent):
        agent.ask("n1", "Bash", given)
        agent.ask("n2", "Bash", given)
        await until_true(lambda: len(stage.waiting()) == 2)
        named = {action.id: stage.journal.call(action.call_id).provider_call_id for action in stage.waiting()}
        by_call = {named[action.id].removeprefix(UNNAMED): action for action in stage.waiting()}
        nonces = ["n1", "n2"] if first == 0 else ["n2", "n1"]
        stage.approve(by_call[nonces[0]])
        assert (await agent.answer(nonces[0])).outcome == "allow"
        assert nonces[1] not in agent.connection.answers and len(stage.waiting()) == 1
        stage.approve(by_call[nonces[1]])
        assert (await agent.answer(nonces[1])).outcome == "allow"
        agent.done("Bash", given, output="one")
        agent.done("Bash", given, output="two")
        await settled_calls(stage)
        rows = stage.calls()
        ended = [stage.journal.call_events(rows[UNNAMED + nonce].id)[-1].body.preview for nonce in nonces]
        assert ended == ["one", "two"]

    supervise(stage, scenario)
    assert len(stage.bodies(CallExecuting)) == len(stage.bodies(ActionApproved)) == 2


def test_one_approval_of_two_equal_questions_lets_the_agent_run_once(staged):
    stage, given = stage_of(staged), {"command": "make"}

    async def scenario(agent):
        agent.ask("n1", "Bash", given)
        agent.ask("n2", "Bash", given)
        one, other = await until_true(lambda: len(stage.waiting()) == 2 and stage.waiting())
        stage.approve(one)
        stage.reject(other)
        answers = [(await agent.answer(nonce)).outcome for nonce in ("n1", "n2")]
        assert sorted(answers) == ["allow", "deny"]
        agent.run("Bash", given)
        await settled_calls(stage)

    supervise(stage, scenario)
    assert sorted(row.state for row in stage.journal.calls(stage.session_id)) == ["rejected", "succeeded"]


def test_a_call_whose_end_is_not_reported_is_settled_when_its_files_are_as_approved(staged):
    """As a patch of Codex, after which no hook comes."""
    stage = stage_of(staged)

    async def scenario(agent):
        agent.ask("n1", "Edit", EDIT, "c1")
        stage.approve(await waiting_row(stage), hunks=[1])
        await agent.answer("n1")
        (stage.workspace / "a.txt").write_text(TWELVE.replace("line 2\n", "line two\n"))
        await settled_calls(stage)

    supervise(stage, scenario)
    (finished,) = stage.bodies(CallFinished)
    assert stage.calls()["c1"].state == "succeeded"
    assert (finished.metadata["grade"], finished.files_affected) == ("bound", ("a.txt",))


@pytest.mark.parametrize("key", ["", "c1"])
def test_an_end_that_comes_after_its_files_were_seen_is_not_another_call(staged, key):
    stage = stage_of(staged)

    async def scenario(agent):
        agent.ask("n1", "Edit", EDIT, key)
        stage.approve(await waiting_row(stage))
        await agent.answer("n1")
        run_tool(stage.workspace, "Edit", EDIT)
        await settled_calls(stage)
        agent.done("Edit", EDIT, key)
        agent.run("Bash", {"command": "ls"}, "c2")
        await until_true(lambda: len(stage.journal.calls(stage.session_id)) == 2)
        await settled_calls(stage)

    supervise(stage, scenario)
    assert [row.tool for row in stage.journal.calls(stage.session_id)] == ["Edit", "Bash"]


@pytest.mark.parametrize("key", ["", "c1"])
@pytest.mark.parametrize("tool", ["Write", "Bash"])
def test_a_call_that_was_rejected_and_made_all_the_same_is_a_row(staged, key, tool):
    stage = stage_of(staged)
    given = {"Write": {"file_path": "b.txt", "content": "all the same\n"}, "Bash": {"command": "make"}}[tool]

    async def scenario(agent):
        agent.ask("n1", tool, given, key)
        stage.reject(await waiting_row(stage))
        await agent.answer("n1")
        agent.run(tool, given, key)
        (found,) = await until_true(stage.waiting)
        assert (found.kind, "rejected before" in stage.opened(found).prompt) == ("files", True)

    supervise(stage, scenario)
    assert [row.state for row in stage.journal.calls(stage.session_id)] == ["rejected", "succeeded"]


def intercepting(stage, monkeypatch, act):
    """Have something done once, just before the driver cancels a question."""
    real, done = stage.journal.submit, []

    def submit(events, **more):
        if not done and any(isinstance(event.body, ActionCancelled) for event in events):
            done.append(True)
            act()
        return real(events, **more)

    monkeypatch.setattr(stage.journal, "submit", submit)
    monkeypatch.setattr(machine, "WITHDRAWAL_SECONDS", 0.0)


def test_an_answer_that_comes_first_does_not_end_the_driver(staged, monkeypatch):
    stage = stage_of(staged)

    async def scenario(agent):
        agent.ask("n1", "Edit", EDIT, "c1")
        action = await waiting_row(stage)
        intercepting(stage, monkeypatch, lambda: stage.approve(action))
        agent.disconnect()
        await until_true(lambda: stage.calls()["c1"].state == "cancelled")
        assert stage.journal.action(action.id).state == "approved"

    supervise(stage, scenario)
    assert stage.bodies(CallExecuting) == []


@pytest.mark.parametrize("kind", [GuardFailed, LeaseLost])
def test_a_driver_whose_append_is_refused_without_any_news_ends(staged, monkeypatch, kind):
    stage = stage_of(staged)

    def refuse():
        raise kind("nothing was written", "it does not hold", "look")

    async def scenario(agent):
        agent.ask("n1", "Edit", EDIT, "c1")
        await waiting_row(stage)
        intercepting(stage, monkeypatch, refuse)
        agent.disconnect()
        await asyncio.Event().wait()

    with pytest.raises(kind):
        supervise(stage, scenario)
