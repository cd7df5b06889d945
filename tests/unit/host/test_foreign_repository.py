"""What this program does by itself in a repository of somebody else, and what agents' commands find there."""

import os
import subprocess
from types import SimpleNamespace

import pytest

from tests.support.hostile_git import Hostile, plain
from tests.support.stage import call, exchange, recording, text
from workbench.backend.local_backend import LocalBackend
from workbench.host.steps import run_start
from workbench.host.workspace_copy import restore_workspace
from workbench.pipelines.workspaces import Workspaces


@pytest.fixture
def hostile(tmp_path):
    return Hostile(tmp_path / "repo")


def test_the_files_that_the_composer_offers_are_listed_without_a_program_of_the_repository(hostile, tmp_path):
    listed = LocalBackend(SimpleNamespace(path=tmp_path), None, str(hostile.folder)).list_files()
    assert (sorted(listed)[-1], hostile.ran) == ("sub/c.txt", [])


def test_a_folder_without_git_is_walked(tmp_path):
    (tmp_path / "a.txt").touch()
    assert LocalBackend(SimpleNamespace(path=tmp_path), None, str(tmp_path)).list_files() == ["a.txt"]


def test_a_fork_with_a_worktree_runs_no_program_of_the_repository(hostile, staged, tmp_path):
    stage = staged(recording(exchange(text("done"))))
    made = restore_workspace(stage.journal, str(hostile.folder), 1, str(tmp_path / "fork"), "worktree")
    assert hostile.ran == []
    assert (tmp_path / "fork/a.txt").read_text() == "a.txt as it is stored\n"
    assert made.workspace == str(tmp_path / "fork")


def test_the_worktree_of_a_step_runs_no_program_of_the_repository(hostile, tmp_path):
    places = Workspaces(project=str(hostile.folder), base=str(tmp_path), environment=os.environ)
    for branch in ("topic", "main2"):
        places._worktree(str(tmp_path / branch), branch, "")
    assert hostile.ran == []
    assert (tmp_path / "topic/sub/c.txt").exists()


def test_a_run_reads_branch_and_address_without_a_program_of_the_repository(hostile):
    here = SimpleNamespace(workspace=str(hostile.folder), environment=os.environ)
    assert run_start._git_output(here, "branch", "--show-current") == "main"
    assert run_start._git_output(here, "remote", "get-url", "origin").startswith("ext::")
    assert run_start._git_output(here, "remote", "get-url", "nobody") == ""
    assert hostile.ran == []


def test_a_command_of_an_agent_finds_no_repository_in_a_folder_that_looks_like_one(hostile, staged):
    stage = staged(recording(exchange(text("done"))))
    plain(stage.workspace, "init", "-q", "--bare", ".")
    monitor = hostile.program("monitor")
    with (stage.workspace / "config").open("a") as file:
        file.write(f"[core]\n\tbare = false\n\tworktree = {stage.workspace}\n\tfsmonitor = {monitor}\n")
    environment = stage.context().environment
    done = subprocess.run(
        ["git", "status"], cwd=stage.workspace, env=environment, capture_output=True, check=False
    )
    assert (done.returncode, hostile.ran) == (128, [])
    assert b"safe.bareRepository" in done.stderr
    plain(stage.workspace, "status")
    assert hostile.ran == ["monitor"]


def test_a_command_of_an_agent_starts_no_monitor_that_the_repository_names(hostile, staged):
    environment = staged(recording(exchange(text("done")))).context().environment
    os.utime(hostile.folder / "a.txt", (1, 1))  # git has to look into it, however late it is asked
    subprocess.run(["git", "status"], cwd=hostile.folder, env=environment, capture_output=True, check=False)
    assert "fsmonitor" not in hostile.ran
    assert "process" in hostile.ran, "filters are the user's own below commands"


@pytest.mark.parametrize("is_one_turn", [True, False])
def test_granted_writes_of_one_turn_or_several_make_no_repository(staged, is_one_turn):
    parts = {"config": "[core]\n", "objects/a": "", "refs/heads/.k": "", "HEAD": "ref: refs/heads/main\n"}
    calls = [
        call(f"c{n}", "create_file", path=path, content=content)
        for n, (path, content) in enumerate(parts.items())
    ]
    turns = [exchange(*calls)] if is_one_turn else [exchange(one) for one in calls]
    stage = staged(recording(*turns, exchange(text("done"))), config={"approvals": {"allow": ["Write(**)"]}})
    stage.begin().drive()
    assert not (stage.workspace / "HEAD").exists()
    assert (stage.workspace / "objects/a").exists()
