"""The session file of an agent that executes its own calls: followed while it works, each thing once."""

import asyncio
import json
from functools import reduce

import pytest

from tests.support.fake_agent import FakeAgent, supervise
from tests.support.stage import USER, recording
from tests.support.waits import until_true
from tests.unit.formats.test_claude_code import answers, asks, line
from workbench.agents.reducer import apply_event
from workbench.agents.state import TurnState
from workbench.domain.events import (
    CallFinished,
    ErrorRaised,
    PromptSubmitted,
    ReplyCompleted,
    TurnEnded,
    TurnStarted,
)
from workbench.domain.values import Usage
from workbench.formats.assemble import imported_session_id
from workbench.host import session_driver, supervised_driver, transcript_follower
from workbench.journal.agent_hold import hold_agents
from workbench.journal.followed import request_key
from workbench.views.conversation import Transcript

SECRET = "ghp_" + "a1B2" * 9
"""Fabricated: it only looks like a token."""


class AgentFile:
    """A session file of Claude Code that grows, and the agent that writes it."""

    def __init__(self, stage, form="claude-code", name="session.jsonl"):
        self.path = stage.root / name
        self.agent = FakeAgent(
            stage.workspace, {"agent": "fake", "session": "s1", "format": form, "transcript": str(self.path)}
        )

    def write(self, *rows):
        with self.path.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def stage(staged, monkeypatch):
    monkeypatch.setattr(transcript_follower, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(session_driver, "CLOCK_TICK_SECONDS", 0.01)
    return staged(recording(), files={"a.txt": "line 1\nline 2\n"})


def said(stage):
    """Return prompts and replies in the order of the journal."""
    bodies = [event.body for event in stage.journal.events(stage.session_id)]
    return [
        body.text
        for body in bodies
        if isinstance(body, PromptSubmitted) or (isinstance(body, ReplyCompleted) and body.text)
    ]


async def said_in(stage, text):
    await until_true(lambda: text in said(stage))


def reply(number, text, message="m1", **usage):
    spent = {"id": message, "model": "big", "usage": {"input_tokens": 10, "output_tokens": number, **usage}}
    return line(number, "assistant", [{"type": "text", "text": text}], message=spent)


def test_words_and_tokens_come_from_the_file_and_calls_from_the_wire(stage):
    file = AgentFile(stage)
    edit = {
        "file_path": str(stage.workspace / "a.txt"),
        "old_string": "line 2",
        "new_string": f"line {SECRET}",
    }

    async def scenario(agent):
        file.write(line(0, "user", f"use {SECRET}"), reply(1, "I do."))
        await said_in(stage, "I do.")
        file.write(asks(2, "t1", "Edit", **edit))
        asking = asyncio.create_task(agent.call("n1", "Edit", edit, "t1"))
        (action,) = await until_true(stage.waiting)
        stage.approve(action)
        assert (await asking).outcome == "allow"
        file.write(answers(3, "t1", "done"), reply(4, "Done.", "m2"))
        agent.end_turn()
        await until_true(lambda: stage.bodies(TurnEnded))

    supervise(stage, scenario, file.agent)
    assert stage.session_id == imported_session_id("claude-code", "s1")
    assert said(stage) == ["use ⟨secret: github-token⟩", "I do.", "Done."]
    assert [row.provider_call_id for row in stage.journal.calls(stage.session_id)] == ["t1"]
    session = stage.session()
    assert (session.usage.input_tokens, session.usage.output_tokens) == (20 + 5, 2 + 4)
    assert (session.status, session.title) == ("ready", "use ⟨secret: github-token⟩")
    assert len(stage.bodies(TurnStarted)) == len(stage.bodies(TurnEnded)) == 1
    assert SECRET not in str([event.body for event in stage.journal.events(stage.session_id)])


def test_a_result_without_a_question_is_a_call_of_the_agents_own_mode(stage):
    file = AgentFile(stage)

    async def scenario(agent):
        file.write(
            line(0, "user", "look"),
            asks(1, "t1", "Bash", command="ls"),
            asks(2, "t2", "Bash", command="rm x"),
        )
        await said_in(stage, "look")
        assert stage.journal.calls(stage.session_id) == []
        file.write(answers(3, "t1", "a.txt"), answers(4, "t2", "User rejected tool use", is_error=True))
        await until_true(lambda: len(stage.journal.calls(stage.session_id)) == 2)

    supervise(stage, scenario, file.agent)
    calls = stage.calls()
    assert {key: (row.state, row.verdict_by) for key, row in calls.items()} == {
        "t1": ("succeeded", "its own mode"), "t2": ("rejected", "its own mode"),
    }  # fmt: skip
    assert [body.preview for body in stage.bodies(CallFinished)] == ["a.txt"]


def test_a_prompt_of_the_file_in_a_turn_that_the_wire_began_is_not_shown_as_waiting(stage):
    file = AgentFile(stage)

    async def scenario(agent):
        agent.ask("n1", "Bash", {"command": "rm x"}, "t1")
        (action,) = await until_true(stage.waiting)
        file.write(line(0, "user", "remove it"), reply(1, "I do."))
        await said_in(stage, "I do.")
        stage.reject(action)
        await agent.answer("n1")
        file.write(line(2, "user", "no, leave it"))
        await said_in(stage, "no, leave it")

    supervise(stage, scenario, file.agent)
    events = list(stage.journal.events(stage.session_id))
    view = Transcript(stage.session_id)
    for event in events:
        view.apply(event)
    assert view.facts.queue == ()
    assert [turn.title for turn in view.turns] == ["remove it"]
    state = reduce(apply_event, events, TurnState())
    assert [queued.prompt.text for queued in state.queued_prompts] == ["no, leave it"]
    first, second = [event for event in events if isinstance(event.body, TurnStarted | TurnEnded)]
    assert first.turn_id == second.turn_id


def test_a_driver_that_goes_on_reads_on(stage):
    file = AgentFile(stage)
    file.write(line(0, "user", "look"), asks(1, "t1", "Bash", command="ls"))

    async def first(agent):
        agent.ask("n1", "Bash", {"command": "ls"}, "t1")
        stage.approve((await until_true(stage.waiting))[0])
        await agent.answer("n1")

    async def second(agent):
        file.write(answers(2, "t1", "a.txt"))
        agent.done("Bash", {"command": "ls"}, "t1", output="a.txt")
        file.write(reply(3, "There is one.", "m2"))
        await said_in(stage, "There is one.")

    supervise(stage, first, file.agent)
    supervise(stage, second, file.agent)
    assert said(stage) == ["look", "There is one."]
    assert len(stage.journal.calls(stage.session_id)) == 1
    assert (stage.session().usage.output_tokens, len(stage.bodies(TurnStarted))) == (1 + 3, 1)


@pytest.mark.parametrize("is_file_first", [True, False])
def test_an_unasked_call_is_recorded_once_whoever_says_first_that_it_ended(stage, is_file_first):
    file, given = AgentFile(stage), {"command": "ls"}
    rows = (
        line(0, "user", "look"),
        asks(1, "t1", "Bash", **given),
        answers(2, "t1", "a.txt"),
        reply(3, "Yes.", "m2"),
    )

    async def scenario(agent):
        if is_file_first:
            file.write(*rows)
            await said_in(stage, "Yes.")
        agent.done("Bash", given, "t1", cwd=str(stage.workspace / "sub"), output="a.txt")
        await until_true(lambda: stage.journal.calls(stage.session_id))
        if not is_file_first:
            file.write(*rows)
        agent.end_turn()
        await until_true(lambda: stage.bodies(TurnEnded) and "Yes." in said(stage))

    supervise(stage, scenario, file.agent)
    (row,) = stage.journal.calls(stage.session_id)
    assert (row.state, row.verdict_by) == ("succeeded", "its own mode")


def test_an_unasked_write_that_the_file_told_first_is_asked_about_where_it_matters(stage):
    file, given = AgentFile(stage), {"file_path": ".envrc", "content": "export A=1\n"}

    async def scenario(agent):
        (stage.workspace / ".envrc").write_text(given["content"])
        file.write(line(0, "user", "set it"), asks(1, "t1", "Write", **given), answers(2, "t1", "written"))
        await until_true(lambda: stage.journal.calls(stage.session_id))
        agent.done("Write", given, "t1", output="written")
        (found,) = await until_true(stage.waiting)
        assert (found.kind, ".envrc" in stage.opened(found).prompt) == ("files", True)

    supervise(stage, scenario, file.agent)
    (row,) = stage.journal.calls(stage.session_id)
    assert (row.state, row.verdict_by) == ("succeeded", "its own mode")


def test_ids_that_repeat_are_matched_in_order_and_with_their_inputs(stage):
    """Two calls are `call_0`: the first one was asked about, the second was not."""
    file, second = AgentFile(stage), asks(3, "call_0", "Bash", command="pwd")

    async def scenario(agent):
        file.write(line(0, "user", "look"), asks(1, "call_0", "Bash", command="ls"))
        agent.ask("n1", "Bash", {"command": "ls"}, "call_0")
        stage.approve((await until_true(stage.waiting))[0])
        await agent.answer("n1")
        agent.done("Bash", {"command": "ls"}, "call_0")
        file.write(
            answers(2, "call_0", "a.txt"),
            {**second, "message": {**second["message"], "id": "m2"}},
            answers(4, "call_0", "/"),
        )
        await until_true(lambda: len(stage.journal.calls(stage.session_id)) == 2)

    supervise(stage, scenario, file.agent)
    made = {str(row.parameters["command"]): row.verdict_by for row in stage.journal.calls(stage.session_id)}
    assert {command: by == "its own mode" for command, by in made.items()} == {"ls": False, "pwd": True}


def test_a_question_without_an_id_is_found_by_its_input(stage):
    file = AgentFile(stage)

    async def scenario(agent):
        file.write(
            line(0, "user", "look"), asks(1, "t1", "Bash", command="ls"), asks(2, "t2", "Bash", command="ls")
        )
        agent.ask("n1", "Bash", {"command": "ls"})
        stage.approve((await until_true(stage.waiting))[0])
        await agent.answer("n1")
        agent.done("Bash", {"command": "ls"})
        file.write(answers(3, "t1", "a.txt"), answers(4, "t2", "a.txt"))
        await until_true(lambda: len(stage.journal.calls(stage.session_id)) == 2)

    supervise(stage, scenario, file.agent)
    calls = stage.calls()
    assert {key: row.verdict_by == "its own mode" for key, row in calls.items()} == {
        "unnamed n1": False,
        "t2": True,
    }


def test_inputs_of_codex_have_another_form_in_its_file_and_ids_alone_count(stage):
    file = AgentFile(stage, "codex")

    def item(kind, **payload):
        return {"timestamp": "2026-11-21T12:00:00Z", "type": kind, "payload": payload}

    async def scenario(agent):
        file.write(item("session_meta", id="s1"), item("turn_context", model="big"))
        agent.ask("n1", "Bash", {"command": "ls"}, "k1")
        stage.approve((await until_true(stage.waiting))[0])
        await agent.answer("n1")
        agent.done("Bash", {"command": "ls"}, "k1")
        for key in ("k1", "k2"):
            arguments = json.dumps({"command": ["bash", "-lc", "ls"]})
            file.write(
                item("response_item", type="function_call", name="shell", call_id=key, arguments=arguments),
                item("response_item", type="function_call_output", call_id=key, output="a.txt"),
                item("event_msg", type="token_count", info={
                    "total_token_usage": {"input_tokens": 5}, "last_token_usage": {"input_tokens": 5}}),
            )  # fmt: skip
        await until_true(lambda: "k2" in stage.calls())

    supervise(stage, scenario, file.agent)
    assert {key: row.tool for key, row in stage.calls().items()} == {"k1": "Bash", "k2": "shell"}


@pytest.mark.parametrize("more", [{"format": "gemini"}, {"transcript": "session.jsonl"}, {"format": ""}])
def test_a_file_that_cannot_be_followed_keeps_nothing_from_being_asked(stage, more):
    file = AgentFile(stage)
    file.agent.hello.update(more)
    file.write(line(0, "user", "look"))

    async def scenario(agent):
        agent.ask("n1", "Bash", {"command": "ls"}, "t1")
        await until_true(stage.waiting)
        agent.end_turn()
        await until_true(lambda: stage.bodies(TurnEnded))

    supervise(stage, scenario, file.agent)
    assert said(stage) == []


def test_a_file_that_is_not_there_yet_is_read_when_it_is(stage):
    file = AgentFile(stage)

    async def scenario(agent):
        agent.done("Bash", {"command": "pwd"}, "t0")
        await until_true(lambda: stage.journal.calls(stage.session_id))
        failure = {
            **line(1, "assistant", [{"type": "text", "text": "Overloaded"}]),
            "isApiErrorMessage": True,
        }
        file.write(line(0, "user", "look"), failure)
        await until_true(lambda: stage.bodies(ErrorRaised))

    supervise(stage, scenario, file.agent)
    (error,) = stage.bodies(ErrorRaised)
    assert (error.code, error.message, said(stage)) == ("api_error", "Overloaded", ["look"])


def test_a_call_that_ran_is_noted_while_all_agents_are_held(stage):
    file = AgentFile(stage)
    file.write(line(0, "user", "look"), asks(1, "t1", "Bash", command="ls"), answers(2, "t1", "a.txt"))

    async def scenario(agent):
        await until_true(lambda: "t1" in stage.calls())
        hold_agents(stage.journal, USER)
        agent.done("Bash", {"command": "pwd"}, "t2")
        file.write(asks(3, "t3", "Bash", command="id"), answers(4, "t3", "root"))
        await until_true(lambda: {"t2", "t3"} <= stage.calls().keys())

    supervise(stage, scenario, file.agent)
    assert {row.state for row in stage.journal.calls(stage.session_id)} == {"succeeded"}


def test_a_turn_ends_when_its_file_is_read_and_a_call_after_it_is_of_the_next_one(stage, monkeypatch):
    monkeypatch.setattr(transcript_follower, "LOOK_BYTES", 300)
    monkeypatch.setattr(supervised_driver, "_MOST_HISTORY_LOOKS", 1)
    file = AgentFile(stage)
    file.write(
        *(
            row
            for n in range(0, 40, 2)
            for row in (line(n, "user", f"do {n}"), reply(n + 1, f"did {n}", f"m{n}"))
        )
    )

    async def scenario(agent):
        agent.end_turn()
        agent.ask("n1", "Bash", {"command": "rm x"}, "t1")
        stage.reject((await until_true(stage.waiting))[0])
        assert (await agent.answer("n1")).outcome == "deny"
        await said_in(stage, "did 38")
        agent.end_turn()
        await until_true(lambda: stage.session().status == "ready")

    supervise(stage, scenario, file.agent)
    assert said(stage) == [f"{word} {n}" for n in range(0, 40, 2) for word in ("do", "did")]
    assert stage.calls()["t1"].state == "rejected"


def test_a_request_that_another_session_pays_meanwhile_is_not_counted_here(stage, monkeypatch):
    file = AgentFile(stage)
    rows = line(0, "user", "look"), {**reply(1, "Yes."), "requestId": "r1"}
    real = transcript_follower.store_followed_events

    def pay_first(journal, events, guard, paid):
        if paid:
            row = (request_key(journal, "m1\0r1"), "another")
            journal.change(lambda live: live.database.execute("INSERT INTO paid_request VALUES (?, ?)", row))
        return real(journal, events, guard, paid)

    monkeypatch.setattr(transcript_follower, "store_followed_events", pay_first)
    file.write(*rows)

    async def scenario(agent):
        await said_in(stage, "Yes.")

    supervise(stage, scenario, file.agent)
    assert (said(stage), stage.session().usage) == (["look", "Yes."], Usage())
