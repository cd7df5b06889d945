"""The socket of agents: what it lets in, what it refuses, and the supervisor behind it."""

import asyncio
import os
import socket
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.agent_sockets import CLIENTS, Client, next_message, serve
from tests.support.fake_agent import FakeConnection, supervise
from tests.support.stage import recording
from tests.support.supervised_place import SupervisedPlace
from tests.support.waits import PATIENCE, until, until_true
from workbench.domain.events import ActionApproved
from workbench.effects import unix_sockets
from workbench.effects.unix_sockets import Peer, listen_in_folder
from workbench.host import agent_link, agent_socket, supervised_answers, supervisor
from workbench.host.agent_socket import AgentSocket, agent_socket_name
from workbench.host.supervised_session import SessionNotTaken
from workbench.host.supervisor import Supervisor
from workbench.journal.errors import JournalFull
from workbench.supervised.messages import AgentEnded, Ask, CallAnswer, Hello

HELLO = {"type": "hello", "agent": "fake", "session": "s-1", "cwd": "/w"}
ASK = {"type": "ask", "nonce": "n1", "tool": "Bash", "input": {"command": "ls"}}


@pytest.fixture
def served(tmp_path, monkeypatch):
    """Run a scenario with a socket whose agents join one link, or what `join` returns."""
    return serve(tmp_path, monkeypatch)


def test_messages_reach_the_link_and_answers_only_who_asked(served):
    async def scenario(folder, link):
        first, second = await Client.open(folder), await Client.open(folder)
        first.say(HELLO, ASK)
        second.say(HELLO)
        heard = [await next_message(link) for _ in range(3)]
        asked = next(pair for pair in heard if isinstance(pair[1], Ask))
        assert asked[1].input == {"command": "ls"} and len(link.connections) == 2
        assert asked[0].send(CallAnswer(nonce="n1", outcome="deny", reason="no"))
        assert (await first.line())["reason"] == "no"
        first.close()
        assert (await next_message(link)) == (asked[0], None)
        assert not asked[0].send(CallAnswer(nonce="n1", outcome="allow"))
        asked[0].close()
        assert not second.reader.at_eof() and len(link.connections) == 1

    served(scenario)


@pytest.mark.parametrize("said", [ASK, b"no json", {"type": "approve"}, {**HELLO, "cwd": 3}, b"[" * 100_000])
def test_what_is_not_a_hello_is_refused_with_the_reason(served, said):
    async def scenario(folder, link):
        client = await Client.open(folder)
        client.say(said)
        answer = await client.line()
        assert answer["type"] == "refused" and answer["why"]
        assert await client.line() is None and not link.is_busy()

    served(scenario)


def test_a_message_that_is_too_long_ends_its_connection(served, monkeypatch):
    monkeypatch.setattr(agent_socket, "MAX_LINE_BYTES", 2_000)

    async def scenario(folder, link):
        client = await Client.open(folder)
        client.say(HELLO, b"x" * 10_000)
        assert "longer than 2,000 bytes" in (await client.line())["why"]
        await until_true(lambda: not link.connections)

    served(scenario)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SessionNotTaken("it was imported"), "it was imported"),
        (JournalFull("a", "b", "c"), "journal could not"),
    ],
)
def test_an_agent_whose_session_is_not_taken_is_refused(served, error, said):
    def join(hello, peer):
        raise error

    async def scenario(folder, link):
        client = await Client.open(folder)
        client.say(HELLO)
        assert said in (await client.line())["why"]

    served(scenario, join)


def test_another_user_is_refused(served, monkeypatch):
    monkeypatch.setattr(agent_socket, "connected_peer", lambda _: Peer(pid=1, uid=os.geteuid() + 1))

    async def scenario(folder, link):
        client = await Client.open(folder)
        assert "another user" in (await client.line())["why"]

    served(scenario)


def test_connections_are_limited_and_freed(served, monkeypatch):
    monkeypatch.setattr(agent_socket, "MOST_CONNECTIONS", 1)

    async def scenario(folder, link):
        first = await Client.open(folder)
        first.say(HELLO)
        await next_message(link)
        second = await Client.open(folder)
        assert "open already" in (await second.line())["why"]
        first.close()
        await until_true(lambda: not link.connections)
        third = await Client.open(folder)
        third.say(HELLO)
        await until_true(lambda: link.connections)

    served(scenario)


def test_a_connection_that_says_nothing_ends(served, monkeypatch):
    monkeypatch.setattr(agent_socket, "HELLO_SECONDS", 0.01)

    async def scenario(folder, link):
        silent, gone = await Client.open(folder), await Client.open(folder)
        gone.close()
        assert await silent.line() is None and not link.is_busy()

    served(scenario)


def test_a_flood_waits_until_its_driver_has_read(served, monkeypatch):
    monkeypatch.setattr(agent_link, "MOST_UNREAD", 3)

    async def scenario(folder, link):
        client = await Client.open(folder)
        client.say(HELLO, *[{**ASK, "nonce": f"n{n}"} for n in range(9)])
        await until_true(lambda: len(link._messages) == 3)
        nonces = []
        while len(nonces) < 9:
            _, message = await next_message(link)
            nonces += [message.nonce] if isinstance(message, Ask) else []
            assert len(link._messages) <= 3
        assert nonces == [f"n{n}" for n in range(9)]

    served(scenario)


def test_a_socket_that_was_left_is_replaced_and_removed_at_the_end(served):
    async def scenario(folder, link):
        assert oct((folder / "x.sock").stat().st_mode)[-3:] == "600"
        return folder

    folder = served(scenario)
    assert not (folder / "x.sock").exists()
    (folder / "x.sock").write_text("left by a process that was killed")
    assert served(scenario) == folder


def test_a_deep_folder_is_no_obstacle(tmp_path):
    folder = tmp_path / ("d" * 120)
    folder.mkdir()
    with listen_in_folder(folder, "x.sock"), socket.socket(socket.AF_UNIX) as client:
        directory = os.open(folder, os.O_RDONLY)
        client.connect(f"/proc/self/fd/{directory}/x.sock")
        os.close(directory)


def test_without_a_socket_the_block_runs_and_the_log_says_so(served, monkeypatch, caplog):
    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(agent_socket, "listen_in_folder", refused)

    async def scenario(folder, link):
        assert not (folder / "x.sock").exists()

    served(scenario)
    assert "other agents cannot connect" in caplog.text


def test_a_folder_that_cannot_be_bound_in_leaves_nothing_open(tmp_path):
    (tmp_path / "x.sock").mkdir()
    with pytest.raises(OSError, match=r"directory|permitted"):
        listen_in_folder(tmp_path, "x.sock")


def test_the_other_end_is_known_where_the_system_says_it(monkeypatch):
    here, there = socket.socketpair()
    with here, there:
        assert unix_sockets.connected_peer(here) == Peer(pid=os.getpid(), uid=os.geteuid())
        monkeypatch.setattr(unix_sockets, "_PEER_OPTION", None)
        assert unix_sockets.connected_peer(here) is None


# --- the supervisor behind it ------------------------------------------------------------------------


class Supervised:
    """A supervisor in this process that ends as soon as it has nothing to do."""

    def __init__(self, stage):
        self.stage = stage
        self.supervisor = Supervisor(stage.context(), stage.driver(), lambda: False, linger=0.0)
        self.connection = FakeConnection()

    def join(self, pid=0, peer=None):
        hello = Hello(cwd=str(self.stage.workspace), agent="fake", session="s-1", pid=pid)
        self.link = self.supervisor.join_agent(hello, peer or Peer(pid=os.getpid(), uid=os.geteuid()))
        return self.link

    async def ask(self, nonce):
        """Ask what is denied without a question, and wait for the answer."""
        self.link.put(self.connection, Ask(nonce=nonce, tool="create_file", input={}))
        await until_true(lambda: nonce in self.connection.answers)

    def run(self, scenario):
        async def work():
            running = None

            def start():
                nonlocal running
                running = asyncio.create_task(self.supervisor.run(asyncio.Event()))
                return running

            try:
                return await scenario(self, start)
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)

        try:
            return asyncio.run(asyncio.wait_for(work(), PATIENCE))
        finally:
            self.stage.lock.close()


def test_the_background_process_stays_while_a_connection_is_open(staged):
    async def scenario(place, start):
        place.join().put(place.connection, Hello(cwd="/w", agent="fake", session="s-1"))
        running = start()
        for number in range(3):
            await place.ask(f"n{number}")
        assert not running.done()
        place.link.put(place.connection, None)
        await running

    Supervised(staged(recording())).run(scenario)


@pytest.mark.parametrize("end", ["killed", "said"])
def test_it_stays_while_the_process_runs_that_connects_for_each_message(staged, end):
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)

    async def scenario(place, start):
        place.join(child.pid, Peer(pid=child.pid, uid=os.geteuid()))
        running = start()
        for number in range(2):
            await place.ask(f"n{number}")
            place.link.put(place.connection, None)
        assert place.link.processes and not running.done()
        if end == "killed":
            child.kill()
            child.wait()
        else:
            place.link.put(place.connection, AgentEnded())
            place.link.put(place.connection, None)
        await running

    try:
        Supervised(staged(recording())).run(scenario)
    finally:
        child.kill()
        child.communicate()


@pytest.mark.parametrize("pid", [0, 1, 999_999_999])
def test_a_process_that_did_not_connect_keeps_nothing_alive(staged, pid):
    async def scenario(place, start):
        link = place.join(pid)
        assert not link.processes
        await start()

    Supervised(staged(recording())).run(scenario)


def test_a_process_that_is_not_visible_keeps_nothing_alive(staged):
    async def scenario(place, start):
        link = place.join(4_000_000_000, Peer(pid=4_000_000_000, uid=os.geteuid()))
        assert not link.processes
        await start()

    Supervised(staged(recording())).run(scenario)


def test_a_driver_that_fails_ends_its_connections_and_the_next_hello_starts_another(staged, monkeypatch):
    async def broken(*_):
        raise RuntimeError("a defect")

    async def scenario(place, start):
        working = supervisor.drive_supervised
        monkeypatch.setattr(supervisor, "drive_supervised", broken)
        place.join().put(place.connection, Hello(cwd="/w", agent="fake", session="s-1"))
        running = start()
        await until_true(lambda: not place.connection.is_open)
        monkeypatch.setattr(supervisor, "drive_supervised", working)
        place.connection.is_open = True
        place.join()
        await place.ask("n1")
        place.link.put(place.connection, None)
        await running

    Supervised(staged(recording())).run(scenario)


def test_what_an_agent_says_while_its_driver_ends_is_heard_by_the_next(staged, monkeypatch):
    async def scenario(place, start):
        working = supervisor.drive_supervised

        async def says_at_the_end(*given):
            monkeypatch.setattr(supervisor, "drive_supervised", working)
            place.link.put(place.connection, Ask(nonce="late", tool="create_file", input={}))

        monkeypatch.setattr(supervisor, "drive_supervised", says_at_the_end)
        place.join()
        running = start()
        await until_true(lambda: "late" in place.connection.answers)
        place.link.put(place.connection, None)
        await running

    Supervised(staged(recording())).run(scenario)


def test_calls_that_are_open_at_once_are_limited(staged, monkeypatch):
    monkeypatch.setattr(supervised_answers, "MOST_OPEN_CALLS", 2)

    async def scenario(agent):
        for number in range(3):
            agent.ask(f"n{number}", "Write", {"file_path": f"{number}.txt", "content": ""})
        answer = await agent.answer("n2")
        assert (answer.outcome, "2 calls" in answer.reason) == ("deny", True)

    stage = staged(recording())
    supervise(stage, scenario)


# --- processes ----------------------------------------------------------------------------------------


def test_a_session_appears_and_its_commands_are_answered_by_a_background_process(staged):
    call = {"nonce": "n1", "tool": "Bash", "input": {"command": "true"}, "call": "c1"}
    place = SupervisedPlace(
        staged(recording(), config={"approvals": {"allow": ["Bash(true)"]}}), [[call]], "hook"
    )
    try:
        place.start_agent()
        place.start_host(linger=1.0)
        until(lambda: place.agent.poll() is not None, place.words)
        assert place.agent.returncode == 0, place.words()
        assert [line["ran"] for line in place.ran()] == [{"command": "true"}]
        until(lambda: place.host.poll() is not None, place.words)
        assert (place.host.returncode, place.socket.exists()) == (0, False)
        place.session()
        (row,) = place.stage.journal.calls(place.stage.session_id)
        assert (row.state, row.tool) == ("succeeded", "Bash")
    finally:
        place.close()


def test_a_socket_belongs_to_one_workspace():
    assert agent_socket_name("/a") != agent_socket_name("/b")


# --- what a process of this user may say -------------------------------------------------------------

NAMES = st.sampled_from(
    ["", "n1", "n2", "call_0", "s-1", "s-2", "Write", "Bash", "create_file", "\u202e\x1b[2J"]
)
GIVEN = st.dictionaries(
    st.sampled_from(["file_path", "content", "command", "patch", "old_string", "new_string"]),
    st.one_of(st.text(max_size=8), st.integers(), st.none(), st.lists(st.text(max_size=3), max_size=2)),
    max_size=3,
)
SAID = st.fixed_dictionaries(
    {"type": st.sampled_from(["hello", "ask", "ack", "done", "turn_done", "ended", "answer", "approve"])},
    optional={
        "agent": NAMES, "session": NAMES, "cwd": st.sampled_from(["WORKSPACE", "/", "", "x"]), "nonce": NAMES,
        "tool": NAMES, "input": GIVEN, "call": NAMES, "pid": st.integers(-1, 3), "outcome": st.just("allow"),
        "output": st.text(max_size=5), "is_error": st.booleans(), "waits": st.floats(0.1, 100),
    },
)  # fmt: skip
FRAGMENTS = st.one_of(SAID, st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"")))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(talks=st.lists(st.tuples(st.booleans(), st.lists(FRAGMENTS, max_size=6)), min_size=1, max_size=4))
def test_nothing_that_is_said_at_the_socket_approves_or_touches_another_session(staged, talks):
    stage = staged(recording(), files={"a.txt": "a\n"})
    workspace = str(stage.workspace)
    mine = {"type": "hello", "agent": "mine", "session": "own", "cwd": workspace}
    asked = {"type": "ask", "nonce": "q", "tool": "Write", "input": {"file_path": "a.txt", "content": "b\n"}}

    async def scenario():
        driver = Supervisor(stage.context(), stage.driver(), lambda: True)
        stop = asyncio.Event()
        running = asyncio.create_task(driver.run(stop))
        async with AgentSocket(stage.home, workspace, driver.join_agent):
            try:
                own = await Client.open(stage.home.run, agent_socket_name(workspace))
                own.say(mine, asked)
                (action,) = await until_true(lambda: stage.journal.actions(states=("pending",)))
                for is_let_in, talk in talks:
                    talk = [{**mine, "agent": "other"}, *talk] if is_let_in else talk
                    client = await Client.open(stage.home.run, agent_socket_name(workspace))
                    client.say(*[put_workspace(message, workspace) for message in talk])
                    client.writer.write_eof()
                    await asyncio.wait_for(client.reader.read(), PATIENCE)
                assert stage.journal.action(action.id).state == "pending"
                stage.session_id = action.session_id
                assert stage.approve(action).ok
                answer = await own.line()
                assert (answer["nonce"], answer["outcome"]) == ("q", "allow")
                assert not running.done()
            finally:
                while CLIENTS:
                    await CLIENTS.pop().end()
                stop.set()
                await running

    try:
        asyncio.run(asyncio.wait_for(scenario(), PATIENCE))
        approved = [e for e in stage.journal.events() if isinstance(e.body, ActionApproved)]
        assert len(approved) == 1 and stage.read("a.txt") == b"a\n"
    finally:
        stage.lock.close()


def put_workspace(message, workspace):
    if isinstance(message, bytes):
        return message
    return {key: workspace if value == "WORKSPACE" else value for key, value in message.items()}
