"""ctrl+g in real shells: a sentence becomes a command on the line, is refined once, and is never run."""

import json
import os
import shutil
import sys

import pytest

from tests.support.chat_server import ChatServer, said
from tests.support.keys import decide_in_lines
from tests.support.terminal import Terminal, controlled

SENTENCE = 'make the files "a b" and it\'s $HOME'
FIRST = "touch ran-one; echo one"
LAST = "touch ran-two `touch ran-three` \"$(touch ran-four)\" 'it'\\''s' \\\n  && echo 'two  words'"
THIRD = "touch ran-five"
SHELLS = {
    "bash": (
        ["bash", "--norc", "--noprofile", "-i"],
        "shopt -u checkwinsize; bind -x '\"\\C-x\\C-d\": printf %s \"$READLINE_LINE\" >line.tmp && mv line.tmp line'\n",
    ),
    "zsh": (
        ["zsh", "-f", "-i"],
        "dump() { printf %s \"$BUFFER\" >line.tmp && command mv line.tmp line }; zle -N dump; bindkey '^X^D' dump\n",
    ),
    "fish": (
        ["fish", "--no-config", "-i"],
        "function dump; commandline | string collect >line.tmp; command mv line.tmp line; end; bind \\cx\\cd dump\n",
    ),
}  # fmt: skip


def answer(command, explanation="It does that."):
    return said(json.dumps({"command": command, "explanation": explanation}))


class Prompt:
    """One real shell with the snippet in it, in a terminal."""

    def __init__(self, shop, shell, server):
        self.shop = shop
        programs = shop.root / "bin"
        programs.mkdir()
        program = programs / "workbench"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m workbench "$@"\n')
        program.chmod(0o755)
        argv, setup = SHELLS[shell]
        snippet = shop.root / "snippet"
        snippet.write_text(shop.call("ask", "--shell-integration", shell).stdout + setup)
        shop.call("providers", "add", "local", "--base-url", server.base_url, "--model", "m", "--no-test")
        env = shop.env(PATH=f"{programs}:{os.environ['PATH']}", PS1="> ", SHELL=shutil.which(shell))
        self.terminal = Terminal(controlled(argv), cwd=shop.project, env=env, columns=100, rows=40)
        self.terminal.press(f". {snippet}; echo re''ady\r")
        self.terminal.until("ready")
        self.terminal.rest()

    def type(self, keys):
        self.terminal.press(keys)
        self.terminal.rest()

    def line(self):
        """Return what stands in the shell's line, as the shell itself has it."""
        self.terminal.press("\x18\x04")
        self.terminal.until_true((self.shop.project / "line").exists)
        text = (self.shop.project / "line").read_text()
        (self.shop.project / "line").unlink()
        return text


@pytest.fixture(params=SHELLS)
def prompt(shop, request):
    if shutil.which(request.param) is None:
        missing = f"{request.param} is needed: .ci/run installs it"
        pytest.fail(missing) if os.environ.get("NEED_SHELLS") else pytest.skip(missing)
    with ChatServer(answer(FIRST), answer(LAST), answer(THIRD)) as server:
        made = Prompt(shop, request.param, server)
        made.server = server
        yield made
        made.terminal.close()


@pytest.mark.spec(166, 169, 171, 173, 186)
def test_a_sentence_becomes_a_command_on_the_line_and_nothing_is_run(prompt):
    prompt.type(SENTENCE)
    prompt.terminal.press("\x07")
    prompt.terminal.until(FIRST, "a accept")
    prompt.terminal.rest()
    decide_in_lines(prompt.terminal, "r")
    prompt.terminal.until("What is wrong with it?")
    prompt.type("two words\r")
    prompt.terminal.until("echo 'two  words'", "2 of 2")
    prompt.terminal.rest()
    decide_in_lines(prompt.terminal, "a")
    prompt.terminal.rest()
    assert prompt.line().rstrip("\n") == LAST
    ran = [path.name for path in prompt.shop.project.iterdir() if path.name.startswith("ran")]
    assert ran == [], "what stands in the line was run"
    (log,) = (prompt.shop.home / "ask" / "logs").iterdir()
    document = json.loads(log.read_text())
    assert document["id"] == log.stem and log.stat().st_mode & 0o777 == 0o600
    assert document["user_query"] == SENTENCE
    assert [one["feedback"] for one in document["iterations"]] == ["", "two words"]
    assert [one["model_output"]["command"] for one in document["iterations"]] == [FIRST, LAST]
    assert document["metadata"]["final_status"] == "accepted"
    # Left as it is where nothing is accepted.
    prompt.terminal.press("\x07")
    prompt.terminal.until(THIRD, "q quit")
    prompt.terminal.rest()
    assert prompt.server.asked[-1].json["messages"][-1]["content"].endswith(LAST), "the line is asked whole"
    decide_in_lines(prompt.terminal, "q")
    prompt.terminal.rest()
    assert prompt.line().rstrip("\n") == LAST
    left = [json.loads(path.read_text()) for path in log.parent.iterdir() if path != log]
    assert [(one["user_query"], one["metadata"]["final_status"]) for one in left] == [(LAST, "quit")]


def test_the_command_that_failed_last_is_known_to_fix_and_to_nobody_else(prompt):
    prompt.type("no-such-program --flag\r")
    prompt.terminal.press("env | grep -c WORKBENCH_LAST; workbench ask --fix\r")
    prompt.terminal.until(FIRST, "q quit")
    prompt.terminal.rest()
    prompt.type("q")
    asked = prompt.server.asked[-1].json["messages"][-1]["content"]
    assert "Fix this command, which ended with exit code 127:\n\nno-such-program --flag" in asked
    assert "\n0\n" in "\n".join(line.rstrip() for line in prompt.terminal.screen.display)
