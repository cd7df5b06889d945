"""Programs that run for the user are not taken from the workspace, where commands of agents can put them."""

import asyncio
import os
import shutil

import pytest
from msgspec.structs import replace

from tests.support.tables import each_row
from workbench.backend.agent_commands import program_path as resume_path
from workbench.config.layers import load_config
from workbench.config.types import Config
from workbench.effects import search_path
from workbench.effects.terminal_programs import (
    NOT_FOUND,
    EditorFailed,
    capture_output,
    edit_in_editor,
    run_in_terminal,
)
from workbench.formats.agent_folders import AgentCommand
from workbench.host.found_agents import program_path as agent_path
from workbench.host.incident_check import run_checker
from workbench.host.notify_command import NoticeNotDelivered, deliver_notice
from workbench.host.provider_keys import key_from_command
from workbench.providers.base import KeyMissing
from workbench.tools.base import ToolLimits
from workbench.tools.execution import RunInTerminal
from workbench.views.command_notices import sample_notice

NAME = "planted"


@pytest.fixture
def stage(staged, monkeypatch):
    """A session whose workspace has a program in a folder of PATH, as an active virtual environment does."""
    monkeypatch.setattr(search_path, "_NOTED", set())
    stage = staged([])
    folder = stage.workspace / ".venv/bin"
    folder.mkdir(parents=True)
    for name in (NAME, "bash"):
        (folder / name).write_text(f"#!/bin/sh\ntouch {stage.root}/ran\necho made-up-key\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    load_config(stage.home.path, stage.workspace, trusted=False, env={}, options={})
    return stage


def check(stage, program):
    context = stage.context()
    with context.root:
        return asyncio.run(run_checker(context, program)).exit_code == 0


def key(stage, program):
    try:
        return bool(key_from_command(program, str(stage.home.path)))
    except KeyMissing:
        return False


def notify(stage, program):
    try:
        deliver_notice(stage.home.path, Config(), program, replace(sample_notice("", 0), folder=""))
    except NoticeNotDelivered:
        return False
    return True


def captured(stage, program):
    return capture_output([program], str(stage.workspace), 10.0) is not None


def shown(stage, program):
    return run_in_terminal([program], cwd=str(stage.workspace)) != NOT_FOUND


def edited(stage, program):
    try:
        return edit_in_editor(program, stage.home.path, "x", b"") is not None
    except EditorFailed:
        return False


def agent(stage, program):
    return agent_path(program, os.environ) is not None


def resumed(stage, program):
    return resume_path(AgentCommand(argv=(program,), folder=str(stage.workspace))) is not None


WAYS = [check, key, notify, captured, shown, edited, agent, resumed]


@each_row("way", WAYS)
def test_a_name_is_not_looked_for_in_the_workspace(stage, way):
    assert shutil.which(NAME), "a shell would find it"
    assert way(stage, NAME) is False
    assert not (stage.root / "ran").exists()


@each_row("way", WAYS)
def test_a_path_that_is_configured_is_run(stage, way):
    assert way(stage, f"{stage.workspace}/.venv/bin/{NAME}") is True


def test_the_shell_of_a_command_is_not_taken_from_the_workspace(stage):
    shell = RunInTerminal().command({"command": "make"}, ToolLimits()).argv[0]
    assert not shell.startswith(str(stage.workspace)) and os.access(shell, os.X_OK)


def test_what_a_program_starts_is_not_looked_for_there_either(stage):
    (stage.root / "outer").write_text(f"#!/usr/bin/env {NAME}\n")
    (stage.root / "outer").chmod(0o755)
    assert not captured(stage, str(stage.root / "outer"))
    assert not (stage.root / "ran").exists()


def test_a_checker_that_was_only_in_the_workspace_is_explained(stage):
    context = stage.context()
    with context.root:
        found = asyncio.run(run_checker(context, NAME))
    assert found.exit_code == NOT_FOUND
    assert "a program in the workspace is only run where the command names its path" in found.problem


def test_a_workspace_that_holds_the_home_folder_hides_no_program(monkeypatch, tmp_path):
    monkeypatch.setattr(search_path, "_NOTED", set())
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    search_path.note_workspace(str(tmp_path))
    assert search_path.own_search_path(f"{tmp_path}/home/bin:/usr/bin") == f"{tmp_path}/home/bin:/usr/bin"
