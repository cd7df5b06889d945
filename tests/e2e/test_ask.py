"""`workbench ask` at a real terminal: every ending by keys, a kill after each try, secrets of the scrollback."""

import json
import os
import signal

import pytest

from tests.support.chat_server import Answer, ChatServer, Stall, said
from tests.support.keys import decide_in_lines
from tests.support.tables import each_row
from tests.support.terminal import Terminal, controlled
from tests.support.tmux import Tmux

SECRET = "ghp_" + "Zz9Yy8Xx" * 4 + "Ww7V"
COMMANDS = ("echo one", "echo two", "echo three")


def answer(command):
    return said(json.dumps({"command": command, "explanation": f"It says {command[5:]}, " + "word " * 30}))


@pytest.fixture
def server(shop):
    with ChatServer(*map(answer, COMMANDS), otherwise=answer("echo more")) as made:
        shop.call("providers", "add", "local", "--base-url", made.base_url, "--model", "m", "--no-test")
        yield made


@pytest.fixture
def asked(shop, server):
    opened = []

    def ask(*words):
        argv = controlled(shop.argv("ask", *words))
        opened.append(Terminal(argv, cwd=shop.project, env=shop.env(NO_COLOR="1"), columns=60, rows=50))
        return opened[-1]

    yield ask
    for terminal in opened:
        terminal.close()


def documents(shop):
    return [json.loads(path.read_text()) for path in sorted((shop.home / "ask" / "logs").iterdir())]


def after(terminal, text):
    terminal.until(text, "q quit")
    terminal.rest()


def counted(terminal, text, count):
    """Wait until a text is so often on the screen: one that stands there from before says nothing."""
    terminal.until_true(lambda: terminal.text().count(text) >= count)


@pytest.mark.spec(169, 171, 174, 186)
@pytest.mark.parametrize(
    ("keys", "code", "status"),
    [
        (("a",), 0, "accepted"),
        (("q",), 1, "quit"),
        (("\x03",), 130, "quit"),
        (("r", "\r"), 1, "rejected"),
        (("r", "\x03"), 130, "quit"),
    ],
)
def test_each_ending_by_keys(shop, asked, keys, code, status):
    terminal = asked("say", "one")
    after(terminal, "echo one")
    assert all(len(line.rstrip()) <= 60 for line in terminal.screen.display)
    for key in keys:
        if key in "aqr":
            decide_in_lines(terminal, key)
        else:
            terminal.press(key)
        terminal.rest()
    assert terminal.wait() == code
    (document,) = documents(shop)
    assert document["metadata"]["final_status"] == status
    (row,) = json.loads(shop.call("ask", "logs", "--json").stdout)
    assert (row["final_status"], row["command_preview"]) == (status, "echo one")


@pytest.mark.spec(169, 170, 171, 174)
def test_a_kill_after_each_try_leaves_a_whole_log_and_the_earlier_tries_untouched(shop, asked, server):
    before = []
    for tries in (1, 2, 3):
        server.answers[:] = [answer(command) for command in COMMANDS]
        terminal = asked("say", "it", str(tries))
        after(terminal, "echo one")
        for number in range(1, tries):
            said_before = terminal.text().count("What is wrong with it?")
            decide_in_lines(terminal, "r")
            counted(terminal, "What is wrong with it?", said_before + 1)
            terminal.press(f"not {number}\r")
            after(terminal, COMMANDS[number])
        os.kill(terminal.process.pid, signal.SIGKILL)
        terminal.process.wait()
        found = {document["id"]: document for document in documents(shop)}
        assert all(found[document["id"]] == document for document in before), "an earlier log was touched"
        (new,) = [document for key, document in found.items() if key not in {one["id"] for one in before}]
        assert [one["model_output"]["command"] for one in new["iterations"]] == list(COMMANDS[:tries])
        assert [one["feedback"] for one in new["iterations"]] == ["", "not 1", "not 2"][:tries]
        assert (new["metadata"]["final_status"], new["metadata"]["iteration_count"]) == ("quit", tries)
        before.append(new)
    rows = json.loads(shop.call("ask", "logs", "--json", "--status", "quit").stdout)
    assert [row["iteration_count"] for row in rows] == [3, 2, 1]


@each_row("key, code", [("\x03", 130), ("\r", 1)])
def test_leaving_the_first_question_asks_nothing_and_logs_nothing(shop, asked, server, key, code):
    terminal = asked()
    terminal.until("What should the command do?")
    terminal.rest()
    terminal.press(key)
    assert terminal.wait() == code
    assert server.asked == [] and json.loads(shop.call("ask", "logs", "--json").stdout) == []
    assert not (shop.home / "ask" / "logs").exists()


def test_ctrl_c_while_the_model_works_ends_it(shop, asked, server):
    server.answers[:] = [Answer([Stall()])]
    terminal = asked("wait")
    terminal.until_true(lambda: server.asked)
    terminal.rest()
    terminal.press("\x03")
    assert terminal.wait() == 130
    assert documents(shop)[0]["metadata"]["final_status"] == "quit"


def test_secrets_of_the_scrollback_reach_neither_the_wire_nor_the_log(shop, server):
    line = (
        f"echo export TOKEN={SECRET}; echo SEEN-$((40+2)); exec {' '.join(shop.argv('ask', '--print', 'x'))}"
    )
    window = Tmux(["sh", "-c", line], cwd=shop.project, env=shop.env())
    try:
        window.until("echo one")
    finally:
        window.close()
    (sent,) = server.asked
    assert "SEEN-42" in sent.body.decode(), "the scrollback was not sent at all"
    assert SECRET not in sent.body.decode()
    assert SECRET not in json.dumps(documents(shop)) and "SEEN-42" in json.dumps(documents(shop))
    assert not [
        path for path in shop.home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()
    ]
