"""docs/hook-protocol.md: its examples are sent to a real socket, and the answers are those of the page."""

import asyncio
import json
import re
from pathlib import Path

from tests.support.agent_sockets import CLIENTS, Client
from tests.support.stage import recording
from tests.support.waits import PATIENCE, until_true
from workbench.bridge.hook_input import MAX_HOOK_BYTES, HookHeader
from workbench.host.agent_link import MOST_UNREAD
from workbench.host.agent_socket import MOST_CONNECTIONS, AgentSocket, agent_socket_name
from workbench.host.supervised_answers import MOST_OPEN_CALLS
from workbench.host.supervisor import Supervisor
from workbench.supervised import messages
from workbench.supervised.tools import FOREIGN_TOOLS

PAGE = (Path(__file__).parents[3] / "docs/hook-protocol.md").read_text("utf-8")
ANSWERS = ("answer", "note", "refused")
FOLDER = "/home/ana/shop"


def section(title):
    """Return the text below a heading of the page, up to the next one of its level or above."""
    level, _, _ = title.partition(" ")
    return re.split(rf"^#{{1,{len(level)}}} ", PAGE.split(f"\n{title}\n")[1], flags=re.M)[0]


def example_lines(text):
    """Return the lines of all JSON examples of a text."""
    return [line for fence in re.findall(r"```json\n(.*?)```", text, re.S) for line in fence.splitlines()]


def put_folder(line, workspace):
    return line.replace(FOLDER, workspace)


def with_socket(stage, scenario):
    """Run a scenario with a client of a socket that a real supervisor answers."""

    async def work():
        driver, stop = Supervisor(stage.context(), stage.driver(), lambda: True), asyncio.Event()
        running = asyncio.create_task(driver.run(stop))
        async with AgentSocket(stage.home, str(stage.workspace), driver.join_agent):
            try:
                await scenario(await Client.open(stage.home.run, agent_socket_name(str(stage.workspace))))
            finally:
                while CLIENTS:
                    await CLIENTS.pop().end()
                stop.set()
                await running

    try:
        asyncio.run(asyncio.wait_for(work(), PATIENCE))
    finally:
        stage.lock.close()


async def decide(stage, answer):
    """Answer the question that waits, so that `answer` of the page follows; do the call if it is allowed."""
    (action,) = await until_true(lambda: stage.journal.actions(states=("pending",)))
    stage.session_id = action.session_id
    if answer["outcome"] == "deny":
        assert stage.reject(action, answer["reason"].partition(": ")[2].removesuffix(".")).ok
    else:
        assert stage.approve(action, hunks=[1]).ok


def write_edits(stage, given):
    path = stage.workspace / given["file_path"]
    text = path.read_text()
    for edit in given["edits"]:
        text = text.replace(edit["old_string"], edit["new_string"])
    path.write_text(text)


def test_the_recorded_conversation_is_what_the_socket_says(staged):
    stage = staged(recording(), files={"list.txt": "".join(f"line {n}\n" for n in range(1, 31))})
    lines = example_lines(section("## A conversation, recorded"))

    async def scenario(client):
        for line in lines:
            message = json.loads(line)
            if message["type"] not in ANSWERS:
                client.say(put_folder(line, str(stage.workspace)).encode())
                continue
            if message["type"] == "answer":
                await decide(stage, message)
            assert await client.line() == message
            if message.get("outcome") == "allow":
                write_edits(stage, message["input"])

    with_socket(stage, scenario)
    assert {json.loads(line)["type"] for line in lines} > {
        *ANSWERS,
        "hello",
        "ask",
        "ack",
        "done",
        "turn_done",
    }
    assert b"second\n" in stage.read("list.txt")


def test_the_hook_of_the_page_is_answered_as_it_says(staged):
    stage = staged(recording())
    header_line, input_line, output_line = example_lines(section("## The hook form"))
    header, output = json.loads(header_line), json.loads(output_line)
    assert header["size"] == len(input_line)
    data = put_folder(input_line, str(stage.workspace)).encode()
    sent = json.dumps({**header, "size": len(data)}, separators=(",", ":")).encode()

    async def scenario(client):
        client.writer.write(sent + b"\n" + data)
        reason = output["hookSpecificOutput"]["permissionDecisionReason"]
        await decide(stage, {"outcome": "deny", "reason": reason})
        first = await client.reader.readline()
        assert f"`{first.decode().strip()}`" in PAGE
        assert json.loads(await client.reader.readexactly(int(first.split()[2]))) == output
        client.writer.write(b"ok\n")
        assert await client.reader.read() == b""

    with_socket(stage, scenario)


def test_the_page_names_every_member_tool_and_limit():
    headings = {
        "### hello": messages.Hello, "### ask": messages.Ask, "### ack": messages.Acknowledged,
        "### done": messages.Done, "### answer": messages.CallAnswer, "### note": messages.CallNote,
        "### refused": messages.ConnectionRefused, "## The hook form": HookHeader,
    }  # fmt: skip
    named = {title: re.findall(r"`([A-Za-z_]+)`", section(title)) for title in headings}
    missing = [
        (title, name)
        for title, each in headings.items()
        for name in set(each.__struct_fields__) - set(named[title])
    ]
    assert missing == []
    tools = section("## Tools")
    assert [tool.descriptor.id for tool in FOREIGN_TOOLS if f"`{tool.descriptor.id}`" not in tools] == []
    limits = (messages.MAX_LINE_BYTES, MAX_HOOK_BYTES, MOST_CONNECTIONS, MOST_OPEN_CALLS, MOST_UNREAD)
    assert [limit for limit in limits if f"{limit:,}" not in PAGE] == []
