"""Hooks and key commands of the user's own configuration lie beside it, never in the folder of an agent."""

import json

import pytest

from tests.support.stage import call, exchange, recording, text
from workbench.config.layers import load_config
from workbench.host import session_provider

WRITES = '{"kind": "openai-compatible", "base_url": "http://127.0.0.1:9/v1", "key_command": "./key.sh"}'
OWN = {
    "hooks": {"PreToolUse": [{"matcher": "Bash(*)", "command": "./check.sh"}]},
    "approvals": {"allow": ["Bash(echo *)", "Write(**)"]},
}


def script(place, line):
    place.write_text(f"#!/bin/sh\n{line}\n")
    place.chmod(0o755)


def outcomes(stage):
    return [(row.state, row.error) for row in stage.journal.calls(stage.session_id)]


ECHO = recording(exchange(call("c1", "run_in_terminal", command="echo hi")), exchange(text("done")))


def test_a_hook_of_the_users_own_file_is_not_looked_for_in_the_workspace(staged):
    stage = staged(ECHO, config=OWN)
    script(stage.workspace / "check.sh", f"touch {stage.root}/acted")
    stage.begin().drive()
    assert not (stage.root / "acted").exists()
    ((state, error),) = outcomes(stage)
    assert state == "rejected"
    assert f"the hook names {stage.home.path}/check.sh, which is not there" in error


def test_it_runs_from_the_data_folder_in_the_workspace(staged):
    stage = staged(ECHO, config=OWN)
    script(stage.workspace / "check.sh", "exit 1")
    script(stage.home.path / "check.sh", f"pwd > {stage.root}/acted")
    stage.begin().drive()
    assert (stage.root / "acted").read_text().strip() == str(stage.workspace)
    assert [state for state, _ in outcomes(stage)] == ["succeeded"]


def test_a_relative_entry_of_the_path_leads_a_hook_nowhere(staged, monkeypatch):
    import os

    monkeypatch.setenv("PATH", f".:bin:{os.environ['PATH']}")
    stage = staged(
        ECHO, config={**OWN, "hooks": {"PreToolUse": [{"matcher": "*", "command": "own-check; true"}]}}
    )
    script(stage.workspace / "own-check", f"touch {stage.root}/acted")
    stage.begin().drive()
    assert not (stage.root / "acted").exists()


@pytest.mark.parametrize(
    "command", ["sh {workspace}/tools/check.sh", "cd tools && exec {workspace}/tools/check.sh"]
)
def test_an_agent_cannot_write_what_a_hook_of_the_user_names_in_the_workspace(staged, command):
    writing = call("c1", "create_file", path="tools/check.sh", content="exit 0")
    stage = staged(
        recording(exchange(writing), exchange(text("done"))), files={"tools/check.sh": "#!/bin/sh\nexit 0\n"}
    )
    command = command.format(workspace=stage.workspace)
    hooked = {**OWN, "hooks": {"PreToolUse": [{"matcher": "Bash", "command": command}]}}
    (stage.home.path / "config.json").write_text(json.dumps({"config_version": 1, **hooked}))
    stage.begin().drive()
    ((state, error),) = outcomes(stage)
    assert (state, "named by a hook" in error) == ("rejected", True)


def test_an_agent_cannot_write_what_the_command_for_notices_names(staged):
    writing = call("c1", "create_file", path="tools/notify.sh", content="exit 0")
    stage = staged(
        recording(exchange(writing), exchange(text("done"))), files={"tools/notify.sh": "#!/bin/sh\nexit 0\n"}
    )
    config = {**OWN, "notify": {"command": f"sh {stage.workspace}/tools/notify.sh"}}
    (stage.home.path / "config.json").write_text(json.dumps({"config_version": 1, **config}))
    stage.begin().drive()
    ((state, error),) = outcomes(stage)
    assert (state, "named by a hook" in error) == ("rejected", True)


def test_a_workspaces_own_hooks_lie_in_the_workspace(staged):
    hook = {"hooks": {"PreToolUse": [{"matcher": "Bash", "command": "sh check.sh"}]}}
    stage = staged(
        ECHO, config={"approvals": OWN["approvals"]},
        files={".workbench.json": json.dumps(hook), "check.sh": "touch acted\n"},
    ).trust()  # fmt: skip
    stage.begin().drive()
    assert (stage.workspace / "acted").exists()


def test_a_key_command_runs_in_the_folder_of_the_file_that_names_it(tmp_path):
    home, work = tmp_path / "home", tmp_path / "work"
    for folder, key in ((home, "of-the-home"), (work, "of-the-workspace")):
        folder.mkdir()
        script(folder / "key.sh", f"echo {key}-{tmp_path.name[:4]}")
    (home / "config.json").write_text(
        json.dumps({"config_version": 1, "providers": {"p": json.loads(WRITES)}})
    )
    config = load_config(home, work, trusted=True, env={}, options={}).config
    endpoint = session_provider.endpoint_of(config, "p")
    assert endpoint.key().startswith("of-the-home")
