"""The prompt of a run from standard input: read whole, bounded, decoded, and refused when empty."""

import io
import sys

import pytest

from workbench.cli import run_session

SAY = {"reply": [{"text": "Hello."}]}


class Typed(io.TextIOWrapper):
    """Standard input with some bytes behind it; with a person there where asked for."""

    def __init__(self, data, *, is_terminal=False):
        super().__init__(io.BytesIO(data), encoding="utf-8")
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal


@pytest.fixture
def typed(monkeypatch):
    def put(data, **more):
        monkeypatch.setattr(sys, "stdin", Typed(data, **more))

    return put


def prompt_of_run(shell):
    (session,) = shell.json("sessions", "list", "--json")
    return shell.json("sessions", "show", session["id"], "--json")["messages"][0]["content"]


@pytest.mark.parametrize("words", [(), ("-p", "-")])
def test_a_pipe_gives_the_prompt(shell, typed, words):
    typed("Fix the rüde test\r\nand say why\n".encode())
    assert shell("run", *words, "--recording", shell.recording(SAY)) == 0
    assert shell.out == "Hello.\n"
    assert prompt_of_run(shell) == "Fix the rüde test\nand say why"


def test_words_behind_p_are_not_mixed_with_a_pipe(shell, typed):
    typed(b"left alone")
    assert shell("run", "-p", "Say hello", "--recording", shell.recording(SAY)) == 0
    assert prompt_of_run(shell) == "Say hello"
    assert sys.stdin.read() == "left alone"


def test_a_session_that_continues_reads_a_pipe_only_where_asked_to(shell, typed):
    typed(b"more")
    shell("run", "-p", "x", "--recording", shell.recording(SAY, SAY))
    key = shell.json("sessions", "list", "--json")[0]["id"]
    assert shell("run", "--session", key, "-p", "-") == 0
    messages = shell.json("sessions", "show", key, "--json")["messages"]
    assert [m["content"] for m in messages if m["role"] == "user"] == ["x", "more"]
    typed(b"again")
    shell("run", "--session", key)
    assert sys.stdin.read() == "again"


@pytest.mark.parametrize(
    "data, words, code, why",
    [
        (b"", (), 2, "There is no prompt."),
        (b" \n\n", (), 2, "There is no prompt."),
        (b"", ("-p", "-"), 2, "Standard input is empty."),
        (b"ok \xff\xfe", (), 1, "not UTF-8 text (byte 4)"),
        (b"a\0b", (), 1, "zero bytes"),
    ],
)
def test_what_is_no_prompt_starts_nothing(shell, typed, data, words, code, why):
    typed(data)
    assert shell("run", *words, "--recording", shell.recording(SAY)) == code
    assert why in shell.err and len(shell.err.splitlines()) == 3
    assert shell.json("sessions", "list", "--all", "--json") == []


def test_a_pipe_without_end_is_read_up_to_a_bound(shell, typed, monkeypatch):
    monkeypatch.setattr(run_session, "MAX_PROMPT_BYTES", 10)
    typed(b"0123456789")
    assert shell("run", "--recording", shell.recording(SAY)) == 0
    typed(b"01234567890" * 2)
    assert shell("run", "--recording", shell.recording(SAY)) == 1
    assert "longer than 10 bytes" in shell.err
    assert sys.stdin.buffer.tell() == 11, "no more is read than shows that it is too long"


def test_a_person_is_told_how_the_prompt_ends(shell, typed):
    typed(b"Say hello\n", is_terminal=True)
    assert shell("run", "-p", "-", "--recording", shell.recording(SAY)) == 0
    assert shell.err.startswith("Type the prompt; ctrl+d")
    typed(b"never read", is_terminal=True)
    assert shell("run", "--recording", shell.recording(SAY)) == 2
    assert "There is no prompt." in shell.err and sys.stdin.read() == "never read"
