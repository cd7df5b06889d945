"""Hooks that name a level of the sandbox run inside; without a sandbox they do not run, which denies."""

import os

import pytest

from tests.support.boxes import limit_names
from tests.support.stage import call, exchange, recording, text
from workbench.domain import events as e
from workbench.effects.sandbox_proof import prove_sandbox


@pytest.fixture
def sandbox(monkeypatch):
    """Let sessions use the sandbox of this machine."""
    monkeypatch.delenv("WORKBENCH_SANDBOX_BACKEND")
    found = prove_sandbox("auto")
    if found.strength != "full":
        pytest.skip(f"no full sandbox: {found.problem}")


def hooked(staged, command, approvals=(), files=(), **more):
    """Drive a session whose only call a hook looks at first."""
    config = {
        "approvals": {"allow": ["Write(*)"], **dict(approvals)},
        "hooks": {"PreToolUse": [{"matcher": "*", "command": command, **more}]},
    }
    made = call("c1", "create_file", path="new.txt", content="x")
    stage = staged(
        recording(exchange(made), exchange(text("done"))), files=dict(files), config=config
    ).begin()
    stage.drive()
    return stage


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize(
    ("more", "is_left"), [({}, True), ({"sandbox": "outside"}, True), ({"sandbox": "workspace"}, False)]
)
def test_a_hook_runs_at_its_level(staged, tmp_path, more, is_left):
    elsewhere = tmp_path / "elsewhere.txt"
    stage = hooked(staged, f"cat > seen.json; touch {elsewhere}; true", **more)
    assert elsewhere.exists() == is_left
    assert b"new.txt" in stage.read("seen.json"), "it is given the call"
    assert stage.calls()["c1"].state == "succeeded"


@pytest.mark.usefixtures("sandbox")
def test_a_hook_inside_still_denies(staged):
    assert hooked(staged, "exit 3", sandbox="read-only").calls()["c1"].state == "rejected"


@pytest.mark.usefixtures("sandbox")
def test_what_a_hook_leaves_is_moved_out_of_a_workspace_that_it_filled(staged, monkeypatch):
    limit_names(monkeypatch, 200)
    stage = hooked(staged, "touch .envrc $(seq 300)", sandbox="workspace")
    assert not (stage.workspace / ".envrc").exists()
    assert (stage.workspace / "300").exists()
    assert stage.calls()["c1"].state == "succeeded"
    (ran,) = stage.bodies(e.HookRan)
    assert "The sandbox refused to change the workspace, which could not be looked through: " in ran.output
    assert "to create .envrc, which controls the workspace." in ran.output


@pytest.mark.usefixtures("sandbox")
def test_what_a_hook_left_is_named_in_its_record(staged):
    stage = hooked(staged, "touch .envrc", sandbox="workspace")
    (ran,) = stage.bodies(e.HookRan)
    assert ran.output == "The sandbox refused to create .envrc, which controls the workspace."


@pytest.mark.usefixtures("sandbox")
def test_denials_of_files_hold_for_a_hook_inside(staged):
    kept = {".env": "KEY=fabricated", "check.sh": "true\n"}
    line = "cat .env; echo x > check.sh; echo x > generated; sh check.sh"
    stage = hooked(staged, line, {"deny": ["Read(.env)", "Edit(generated)"]}, kept, sandbox="workspace")
    (ran,) = stage.bodies(e.HookRan)
    assert "fabricated" not in ran.output
    assert stage.read("check.sh") == b"true\n", "the hook names it"


def test_without_a_sandbox_a_hook_that_names_a_level_denies(staged, tmp_path):
    elsewhere = tmp_path / "elsewhere.txt"
    stage = hooked(staged, f"touch {elsewhere}", sandbox="workspace")
    assert not elsewhere.exists()
    assert stage.calls()["c1"].state == "rejected"
    (ran,) = stage.bodies(e.HookRan)
    assert "the sandbox is switched off" in ran.output


def test_a_hook_outside_looks_for_no_program_in_the_workspace(staged, tmp_path, monkeypatch):
    tools = tmp_path / "stage0/project/.venv/bin"
    tools.mkdir(parents=True)
    (tools / "checker").write_text("#!/bin/sh\nexit 0\n")
    (tools / "checker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    assert hooked(staged, "checker").calls()["c1"].state == "rejected"
