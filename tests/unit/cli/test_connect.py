"""`workbench connect`: what is listed, asked, written and taken back, with the settings in a home of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Screen, Stream
from workbench.cli.console import Console
from workbench.cli.dispatch import dispatch
from workbench.text.json_nodes import parse_commented_json

SETTINGS = '{\n  // mine\n  "permissions": {"defaultMode": "acceptEdits"},\n}\n'


@pytest.fixture
def user(monkeypatch, tmp_path):
    """The home of a user with Claude Code and Codex, whose settings have a comment."""
    for name in ("claude", "codex"):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\necho {name} 9.8.7\n")
        path.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    home = Path(os.environ["HOME"])
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text(SETTINGS)
    return home


class Typing:
    def __init__(self, *answers):
        self.answers = list(answers)

    def isatty(self):
        return True

    def readline(self):
        return self.answers.pop(0)


@pytest.fixture
def asked(shell, monkeypatch):
    """Return what runs a command at a terminal: its exit code and what it printed."""

    def run(words, *answers):
        monkeypatch.setattr(sys, "stdin", typing := Typing(*answers))
        console = Console(Screen(), Stream())
        code = dispatch(["connect", *words], console)
        assert not typing.answers
        return code, console.out.getvalue() + console.err.getvalue()

    return run


def test_the_real_command_connects_and_takes_back(user, tmp_path):
    def run(*words):
        command = [sys.executable, "-m", "workbench", "connect", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    ended = run("claude", "--yes")
    assert (ended.returncode, ended.stderr) == (0, "")
    settings = user / ".claude/settings.json"
    assert ended.stdout.splitlines()[0] == f"Connected Claude Code in {settings}."
    assert "// mine" in settings.read_text() and "hook_client.py claude PreToolUse" in settings.read_text()
    still = run("codex", "--yes").stdout.splitlines()[1]
    assert still.startswith("Still to do: start codex and trust the new hooks")
    ended = run("--remove", "--yes")
    assert ended.returncode == 0 and settings.read_text() == SETTINGS
    assert not (user / ".codex").exists()
    assert run("--remove", "--yes").stdout == "No agent is connected.\n"


def test_agents_are_listed_with_what_stands_in_the_way(shell, user):
    assert shell("connect") == 0
    assert shell.out.splitlines() == [
        "claude  Claude Code 9.8.7",
        "  not connected; workbench connect claude shows what that would change",
        "  Its mode now is acceptEdits: it asks about most commands, not about edits.",
        "  What its own ask rules name it asks about itself, also after an allow here.",
        "codex  Codex 9.8.7",
        "  not connected; workbench connect codex shows what that would change",
        "  Its mode now is on-request: it asks when its model wants to leave its sandbox.",
        "  What leaves its sandbox it may ask about itself, also after an allow here.",
    ]
    shell("connect", "claude", "--yes", "--scope", "asked", "--without-workbench", "deny")
    (user / ".codex").mkdir()
    (user / ".codex/hooks.json").symlink_to("nowhere")
    shell("connect")
    assert f"  connected in {user}/.claude/settings.json: what it would ask about itself" in shell.out
    assert "it is a symbolic link" in shell.out
    claude = shell.json("connect", "--json")["agents"][0]
    assert claude["connected"] == [
        {
            "file": f"{user}/.claude/settings.json", "scope": "asked", "without_workbench": "deny",
            "timeout_seconds": 960, "problems": [],
        }
    ]  # fmt: skip
    assert (claude["version"], claude["mode"], claude["obstacles"]) == ("9.8.7", "acceptEdits", [])


def test_without_agents_the_list_says_so(shell, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    shell("connect")
    assert shell.out.startswith("No agent was found whose calls can come here: Claude Code, Codex, ")


def test_a_connected_agent_whose_program_or_hook_is_gone_is_named(shell, user, tmp_path, monkeypatch):
    shell("connect", "claude", "--yes")
    settings = user / ".claude/settings.json"
    settings.write_text(settings.read_text().replace("hook_client.py", "gone/hook_client.py"))
    (tmp_path / "bin/claude").unlink()
    shell("connect")
    assert "claude  Claude Code  its program is not on PATH" in shell.out
    assert "so the agent is not supervised" in shell.out


def test_the_scope_and_the_change_are_asked_about(asked, user, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    code, said = asked(["claude"], "asked\n", "connect\n")
    assert code == 0
    assert (
        "  all    every edit and command, whatever Claude Code would ask about itself.\n"
        "  asked  only what Claude Code would ask about itself; its own dialog stays open next to the row. "
        "In its mode now (acceptEdits) it asks about most commands, not about edits.\n"
        "Type all or asked, or enter for all: "
    ) in said
    assert '+    "PermissionRequest": [\n' in said and '\n   "permissions"' in said
    assert f"Write this to {user}/.claude/settings.json? Type connect: Connected Claude Code" in said
    assert '"PreToolUse"' not in (user / ".claude/settings.json").read_text()
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "xterm-256color")
    code, said = asked(["claude"], "\n", "no\n")
    assert (code, said.splitlines()[-1]) == (
        1,
        "Write this to " + f"{user}/.claude/settings.json? Type connect: Nothing was connected.",
    )
    assert "\x1b[32m+" in said and "\x1b[31m-" in said


def test_nothing_is_connected_unasked(shell, asked, user):
    before = (user / ".claude/settings.json").read_text()
    assert shell("connect", "claude") == 2
    assert "Use --yes." in shell.err and '+    "PreToolUse": [\n' in shell.out
    assert shell("connect", "claude", "--json") == 2 and not shell.out
    code, said = asked(["claude"], "neither\n")
    assert code == 1 and "--scope all or --scope asked" in said
    assert asked(["claude"], "")[0] == 1
    assert asked(["codex"], "n\n")[0] == 1
    assert (user / ".claude/settings.json").read_text() == before
    assert not (user / ".codex").exists()


def test_rules_for_reading_come_with_a_connection_and_go_with_the_last_one(shell, user):
    rules = shell.json("connect", "claude", "--yes", "--json")["rules"]
    listed = shell.json("rules", "list", "--json")
    assert rules and [rule["id"] for rule in listed] == rules
    assert {"Read", "Bash(git status *)"} <= {rule["param_pattern"] for rule in listed}
    shell("connect", "codex", "--yes")
    shell("connect", "--remove", "claude", "--yes")
    assert len(shell.json("rules", "list", "--json")) == len(rules)
    assert shell("connect", "--remove", "codex", "--yes") == 0 and "Revoked the" in shell.out
    assert shell.json("rules", "list", "--json") == []


@pytest.mark.parametrize("words", [["--scope", "asked"], ["--ask-about-reads"]])
def test_no_rules_for_reading_where_they_are_not_wanted(shell, user, words):
    assert shell("connect", "claude", "--yes", *words) == 0
    assert shell.json("rules", "list", "--json") == []


def test_a_second_connect_changes_nothing(shell, user):
    shell("connect", "claude", "--yes")
    assert shell("connect", "claude", "--yes") == 0
    assert shell.out == f"Claude Code is connected in {user}/.claude/settings.json already.\n"
    told = shell.json("connect", "claude", "--yes", "--json", "--without-workbench", "deny")
    assert told["written"] and told["without_workbench"] == "deny" and "+++ b/" in told["diff"]


def test_a_removal_is_asked_about(shell, asked, user):
    assert shell("connect", "--remove", "claude", "--yes") == 0
    assert shell.out == "Claude Code is not connected.\n"
    shell("connect", "claude", "--yes")
    connected = (user / ".claude/settings.json").read_text()
    code, said = asked(["--remove"], "no\n")
    assert code == 1 and "Claude Code stays connected." in said
    assert (user / ".claude/settings.json").read_text() == connected
    assert shell("connect", "--remove") == 2 and "nothing was removed" in shell.err.lower()
    shell("connect", "codex", "--yes")
    code, said = asked(["--remove"], "remove\n", "remove\n")
    assert code == 0 and f"Delete {user}/.codex/hooks.json?" in said
    assert (user / ".claude/settings.json").read_text() == SETTINGS


def test_settings_of_a_folder_are_connected_alone(shell, user):
    assert shell("connect", "claude", "--project", "--yes") == 0
    path = shell.workspace / ".claude/settings.local.json"
    assert path.is_file() and (user / ".claude/settings.json").read_text() == SETTINGS
    shell("connect")
    assert f"connected in {path}" in shell.out
    shell("connect", "claude", "--yes")
    assert shell.json("connect", "--remove", "claude", "--project", "--yes", "--json") == {
        "removed": [str(path)]
    }
    assert not path.parent.exists()
    shell("connect", "claude", "--project", "--yes")
    shell("connect", "--remove", "--yes")
    assert not path.parent.exists() and (user / ".claude/settings.json").read_text() == SETTINGS


def test_what_an_agent_cannot_do_is_refused(shell, user):
    assert shell("connect", "codex", "--scope", "asked", "--yes") == 2
    assert "Leave --scope out" in shell.err
    assert shell("connect", "emacs") == 2
    assert "the agents are: claude, codex, gemini, qwen, opencode" in shell.err.lower()
    assert shell("connect", "gemini") == 2
    assert "The program gemini is not on PATH" in shell.err
    (user / ".claude/settings.json").write_text("{,}")
    assert shell("connect", "claude", "--yes") == 1
    assert "line 1, column 2" in shell.err


def test_what_keeps_hooks_from_running_is_said_before_the_question(shell, user):
    (user / ".claude/settings.json").write_text('{"disableAllHooks": true}')
    assert shell("connect", "claude", "--yes") == 0
    assert "disableAllHooks is true" in shell.err


def test_hooks_in_toml_are_shown_and_not_written(shell, user):
    (user / ".codex").mkdir()
    config = user / ".codex/config.toml"
    config.write_text('[[hooks.Stop]]\nhooks = [{type = "command", command = "mine"}]\n')
    assert shell("connect", "codex", "--yes") == 1
    assert "[[hooks.PreToolUse]]\n" in shell.out and "TOML is not written" in shell.err
    assert not (user / ".codex/hooks.json").exists()


def test_no_agent_connects_or_removes(shell, user, monkeypatch):
    shell("connect", "claude", "--yes")
    monkeypatch.setenv("WORKBENCH_AGENT", "1")
    for words in (["claude", "--yes"], ["--remove", "--yes"], ["codex", "--yes"]):
        assert shell("connect", *words) == 1
        assert "started by an agent" in shell.err
    assert shell("connect") == 0 and not (user / ".codex").exists()


def test_the_timeout_follows_the_longest_window_and_doctor_says_when_it_does_not(shell, user):
    config = Path(os.environ["WORKBENCH_HOME"]) / "config.json"
    window = {"minutes": 30, "kind": "command"}
    gate = {"minutes": 600, "kind": "gate"}
    shell("connect")
    config.write_text(json.dumps({"config_version": 1, "approvals": {"windows": [window, gate]}}))
    shell("connect", "claude", "--yes")
    settings = parse_commented_json((user / ".claude/settings.json").read_text()).value
    assert settings["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] == 1860
    assert connections(shell) == ("Claude Code in " + f"{user}/.claude/settings.json", [])
    window["minutes"] = 45
    config.write_text(json.dumps({"config_version": 1, "approvals": {"windows": [window, gate]}}))
    assert (
        "Questions wait up to 45 minutes, but Claude Code ends the hook after 1860 s."
        in connections(shell)[1][0]
    )
    shell("connect", "claude", "--yes")
    assert connections(shell)[1] == []
    (user / ".claude/settings.json").write_text(
        (user / ".claude/settings.json").read_text().replace("{", '{"disableAllHooks": true,', 1)
    )
    assert "disableAllHooks" in connections(shell)[1][0]
    shell("connect", "--remove", "--yes")
    assert connections(shell) == ("none", [])


def connections(shell):
    """Return what doctor says of connected agents."""
    checks = {check["name"]: check for check in shell.json("doctor", "--json")["checks"]}
    assert checks["connected agents"]["ok"] == (not checks["connected agents"]["problems"])
    return checks["connected agents"]["fact"], checks["connected agents"]["problems"]
