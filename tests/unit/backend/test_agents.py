"""Connections of other agents as the screen gets them: rows, a change that is shown, and its writing."""

import os
from pathlib import Path

import pytest

from workbench.backend.agents import LocalAgents
from workbench.host.agent_settings_files import SettingsRefused
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.backend import BackendError
from workbench.views.agent_connections import ConnectionAnswers, agents_text, connectable_names

ALL = ConnectionAnswers(scope="all")
ASKED = ConnectionAnswers(scope="asked")


@pytest.fixture
def user(tmp_path, monkeypatch):
    path = tmp_path / "bin/claude"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o700)
    monkeypatch.setenv("PATH", str(path.parent))
    return Path(os.environ["HOME"])


@pytest.fixture
def agents(tmp_path, user):
    home = Home.open()
    workspace = tmp_path / "project"
    workspace.mkdir()
    with Journal.open(home) as journal:
        yield LocalAgents(home, journal, str(workspace))


def test_an_agent_is_shown_connected_and_taken_back(agents, user):
    (row,) = agents.agent_rows()
    assert (row.name, row.sign, row.state, row.is_connected) == (
        "Claude Code",
        "todo",
        "not connected",
        False,
    )
    assert list(row.scopes) == ["all", "asked"] and connectable_names((row,)) == ("Claude Code",)
    change = agents.connection_change("claude", ASKED, is_removal=False)
    assert (change.answers.scope, change.why_not, change.is_removal) == ("asked", "", False)
    assert any("PermissionRequest" in line for line in change.lines)
    text = agents.write_connection(change)
    assert text.startswith(f"Connected Claude Code in {user}/.claude/settings.json. Sessions of Claude Code")
    (row,) = agents.agent_rows()
    assert row.sign == "ok" and row.details[0].endswith("settings.json: what it would ask about itself.")
    assert not connectable_names((row,)) and agents_text((row,)) == "Claude Code (connected)"
    assert "already" in agents.connection_change("claude", ASKED, is_removal=False).why_not
    removal = agents.connection_change("claude", ALL, is_removal=True)
    assert agents.write_connection(removal) == f"Removed workbench from {user}/.claude/settings.json."
    assert not (user / ".claude").exists()
    with pytest.raises(BackendError, match="Claude Code is not connected"):
        agents.connection_change("claude", ALL, is_removal=True)


def test_a_connection_may_be_of_the_folder_and_deny_without_workbench(agents, user, tmp_path):
    (tmp_path / "project/.claude").mkdir()
    answers = ConnectionAnswers(scope="all", is_project=True, otherwise="deny")
    change = agents.connection_change("claude", answers, is_removal=False)
    assert change.path == f"{tmp_path}/project/.claude/settings.local.json" and change.answers == answers
    agents.write_connection(change)
    (row,) = agents.agent_rows()
    assert row.answers == answers, "the page shows the answers of the connection next time"
    assert " deny " in (tmp_path / "project/.claude/settings.local.json").read_text()
    assert not (user / ".claude").exists()


def test_what_cannot_be_written_is_only_shown(agents, user):
    (user / ".codex").mkdir()
    (user / ".codex/config.toml").write_text("[hooks]\nStop = []\n")
    change = agents.connection_change("codex", ASKED, is_removal=False)
    assert change.answers.scope == "all" and "TOML is not written" in change.why_not
    assert "[[hooks.PreToolUse]]" in change.lines
    with pytest.raises(BackendError):
        agents.connection_change("emacs", ALL, is_removal=False)


def test_problems_are_signs_of_their_row(agents, user):
    agents.write_connection(agents.connection_change("claude", ALL, is_removal=False))
    path = user / ".claude/settings.json"
    path.write_text(path.read_text().replace("hook_client.py", "gone/hook_client.py"))
    (row,) = agents.agent_rows()
    assert (row.sign, row.state) == ("failed", "connected, see below")
    assert "is not supervised" in row.details[1]


def test_no_agent_writes_a_change_and_none_is_written_over_another_one(agents, user, monkeypatch):
    change = agents.connection_change("claude", ALL, is_removal=False)
    (user / ".claude").mkdir()
    (user / ".claude/settings.json").write_text("{}")
    with pytest.raises(SettingsRefused, match="at the same moment"):
        agents.write_connection(change)
    change = agents.connection_change("claude", ALL, is_removal=False)
    monkeypatch.setenv("WORKBENCH_AGENT", "1")
    with pytest.raises(Exception, match="started by an agent"):
        agents.write_connection(change)
    assert (user / ".claude/settings.json").read_text() == "{}"
