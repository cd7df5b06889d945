"""Hooks at the socket of agents: what of them is heard, and that each is answered at most once."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.agent_sockets import Client, next_message, serve
from tests.support.waits import PATIENCE, until_true
from workbench.bridge.agents import AGENTS, hooked_agent
from workbench.host import agent_socket, hook_connection
from workbench.host.agent_settings_files import LARGEST_PROJECT_SETTINGS, own_rules
from workbench.host.supervised_session import SessionElsewhere, SessionNotTaken
from workbench.supervised.messages import (
    Acknowledged,
    AgentEnded,
    Ask,
    CallAnswer,
    CallNote,
    Done,
    Hello,
    TurnDone,
)

INPUT = {
    "session_id": "s-1",
    "cwd": "/w",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
    "tool_use_id": "c1",
}
ALLOW = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}


@pytest.fixture
def served(tmp_path, monkeypatch):
    return serve(tmp_path, monkeypatch)


def hook_bytes(event="PreToolUse", document=INPUT, agent="claude", **header):
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    facts = {"type": "hook", "agent": agent, "event": event, "nonce": "n1", "size": len(data), **header}
    return json.dumps(facts, separators=(",", ":")).encode() + b"\n" + data


async def hook(folder, *given, **more):
    """Connect as a hook's client does."""
    client = await Client.open(folder)
    client.writer.write(hook_bytes(*given, **more))
    return client


async def output(client):
    """Return exit code, stdout and stderr of an answer; None if there is none."""
    words = (await asyncio.wait_for(client.reader.readline(), PATIENCE)).split()
    if words[:1] != [b"hook"]:
        return None
    code, out, err = map(int, words[1:])
    return code, await client.reader.readexactly(out), await client.reader.readexactly(err)


async def asked(link, kind=Ask):
    """Return connection and message of the next message of a kind."""
    while not isinstance((found := await next_message(link))[1], kind):
        pass
    return found


def test_the_ask_rules_of_claude_come_with_its_calls_but_not_with_its_own_questions(served):
    async def scenario(folder, link):
        settings_file = Path.home() / ".claude/settings.json"
        settings_file.parent.mkdir()
        settings_file.write_text('{"permissions": {"ask": ["Bash(git push *)", 7, ""], "allow": ["Bash"]}}')
        for event, rules in (("PreToolUse", ["Bash(git push *)"]), ("PermissionRequest", [])):
            client = await hook(folder, event)
            connection, ask = await asked(link)
            assert [rule.pattern for rule in ask.own_rules] == rules
            connection.send(CallAnswer(nonce="n1", outcome="deny", reason="no"))
            assert await output(client)

    served(scenario)


def test_settings_of_a_folder_that_are_too_large_to_be_read_with_each_call_have_no_rules(tmp_path):
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    text = '{"permissions": {"ask": ["Bash(x)"]}}'
    env = {"HOME": str(tmp_path / "home")}
    for size, found in ((LARGEST_PROJECT_SETTINGS, ["Bash(x)"]), (LARGEST_PROJECT_SETTINGS + 1, [])):
        file.write_text(text.ljust(size))
        agent = hooked_agent("claude")
        assert agent is not None
        rules = own_rules(agent, str(tmp_path), env)
        assert [rule.pattern for rule in rules] == found


def test_a_hook_asks_and_is_answered_once_by_the_words_of_its_agent(served):
    async def scenario(folder, link):
        client = await hook(folder, waits=60, pid=7)
        _, hello = await next_message(link)
        assert hello == Hello(agent="claude-code", session="s-1", cwd="/w", pid=7, format="claude-code")
        connection, ask = await next_message(link)
        assert ask == Ask(nonce="n1", tool="Bash", input={"command": "ls"}, call="c1", cwd="/w", waits=60)
        assert connection.send(CallAnswer(nonce="n1", outcome="allow"))
        assert not connection.send(CallAnswer(nonce="n1", outcome="deny", reason="twice"))
        code, out, err = await output(client)
        assert (code, json.loads(out), err) == (0, ALLOW, b"")
        client.writer.write(b"ok\n")
        assert (await next_message(link))[1] == Acknowledged(nonce="n1")
        assert (await next_message(link))[1] is None
        assert await client.reader.read() == b"" and not link.connections
        assert not connection.send(CallAnswer(nonce="n1", outcome="allow"))

    served(scenario)


def test_a_client_that_is_gone_is_not_answered(served):
    async def scenario(folder, link):
        client = await hook(folder)
        connection, _ = await asked(link)
        client.close()
        assert (await next_message(link))[1] is None
        await until_true(lambda: not connection.send(CallAnswer(nonce="n1", outcome="allow")))

    served(scenario)


def test_a_connection_that_its_driver_closes_has_no_answer(served):
    async def scenario(folder, link):
        client = await hook(folder)
        connection, _ = await asked(link)
        connection.close()
        assert await client.reader.read() == b""

    served(scenario)


def test_what_is_no_question_is_answered_with_nothing(served):
    async def scenario(folder, link):
        for event, heard in (
            ("SessionStart", []),
            ("Stop", [TurnDone()]),
            ("SessionEnd", [TurnDone(), AgentEnded()]),
        ):
            client = await hook(folder, event)
            assert await output(client) == (0, b"", b"")
            messages = [(await next_message(link))[1] for _ in range(len(heard) + 2)]
            assert messages[1:] == [*heard, None]
        client = await hook(folder, document={**INPUT, "tool_name": "TodoWrite"})
        assert await output(client) == (0, b"", b"") and not link.is_busy()

    served(scenario)


def test_the_model_is_told_what_its_driver_says_after_a_call(served):
    async def scenario(folder, link):
        client = await hook(folder, "PostToolUse", {**INPUT, "tool_response": {"stdout": "a"}})
        connection, done = await asked(link, Done)
        assert (done.output, done.nonce) == ("a", "n1")
        assert connection.send(CallNote(nonce="n1", note="left out"))
        assert b"left out" in (await output(client))[1]

    served(scenario)


def test_what_cannot_be_handed_over_is_denied(served):
    command = "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF"

    async def scenario(folder, link):
        client = await hook(folder, agent="codex", document={**INPUT, "tool_input": {"command": command}})
        connection, _ = await asked(link)
        assert connection.send(CallAnswer(nonce="n1", outcome="allow", input={"patch": "EOF\n"}))
        said = json.loads((await output(client))[1])["hookSpecificOutput"]
        assert said["permissionDecision"] == "deny" and "handed over" in said["permissionDecisionReason"]

    served(scenario)


@pytest.mark.parametrize("document", [b"\xff", b"[]", {"session_id": "s"}])
def test_a_question_that_cannot_be_read_is_denied_and_the_rest_left(served, document):
    async def scenario(folder, link):
        code, out, err = await output(await hook(folder, document=document))
        assert (code, out) == (2, b"") and b"cannot judge" in err
        client = await hook(folder, "PostToolUse", document)
        assert await output(client) == (0, b"", b"")
        assert not link.is_busy()

    served(scenario)


@pytest.mark.parametrize(
    "header", [{"agent": "none"}, {"event": "Else"}, {"size": 64_000_001}, {"nonce": ""}]
)
def test_a_header_that_names_nothing_known_is_refused(served, header):
    async def scenario(folder, link):
        client = await hook(folder, **header)
        assert (await client.line())["type"] == "refused" and not link.is_busy()

    served(scenario)


def test_a_session_of_another_folder_is_named_and_others_are_refused(served):
    def elsewhere(hello, peer):
        raise SessionElsewhere("/other")

    def refused(hello, peer):
        raise SessionNotTaken("it was imported")

    async def named(folder, link):
        client = await hook(folder)
        assert await client.reader.read() == b"elsewhere 6\n/other"

    async def no(folder, link):
        assert "imported" in (await (await hook(folder)).line())["why"]

    served(named, elsewhere)
    served(no, refused)


def test_inputs_that_are_large_are_read_in_turn(served, monkeypatch):
    monkeypatch.setattr(hook_connection, "LARGE_BYTES", 10)
    monkeypatch.setattr(agent_socket, "MOST_LARGE_INPUTS", 1)

    async def scenario(folder, link):
        slow = await Client.open(folder)
        whole = hook_bytes(nonce="slow")
        slow.writer.write(whole[:-1])
        await until_true(lambda: slow.writer.transport.get_write_buffer_size() == 0)
        await hook(folder, nonce="next")
        slow.writer.write(whole[-1:])
        nonces = [(await asked(link))[1].nonce for _ in range(2)]
        assert sorted(nonces) == ["next", "slow"]

    served(scenario)


def test_an_input_that_ends_early_or_never_comes_is_given_up(served, monkeypatch):
    monkeypatch.setattr(hook_connection, "INPUT_SECONDS", 0.01)

    async def scenario(folder, link):
        client, silent = await Client.open(folder), await Client.open(folder)
        client.writer.write(hook_bytes()[:-1])
        client.writer.write_eof()
        silent.writer.write(hook_bytes()[:-1])
        assert (await client.reader.read(), await silent.reader.read()) == (b"", b"")
        assert not link.is_busy()

    served(scenario)


EVENTS = [(agent.id, event.name) for agent in AGENTS for event in agent.events]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(
    said=st.lists(
        st.binary(max_size=60)
        | st.tuples(st.sampled_from(EVENTS), st.binary(max_size=60)).map(
            lambda pair: hook_bytes(pair[0][1], pair[1], pair[0][0])
        ),
        max_size=6,
    )
)
def test_no_bytes_approve_anything_or_keep_others_from_being_heard(served, said):
    async def scenario(folder, link):
        for data in said:
            client = await Client.open(folder)
            client.writer.write(data)
            client.writer.write_eof()
            answer = await asyncio.wait_for(client.reader.read(), PATIENCE)
            assert b"allow" not in answer
        await hook(folder)
        assert (await asked(link))[1].nonce == "n1"

    served(scenario)
