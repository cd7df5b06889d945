"""Real agents of other makers whose hooks ask here, with a scripted model on loopback.

WORKBENCH_AGENTS names a folder with their programs, such as `node_modules/.bin`.
"""

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.support.hook_inputs import NOTE
from tests.support.hook_place import HookPlace
from tests.support.scripted_model import ScriptedModel
from tests.support.stage import Stage, recording
from tests.support.waits import PATIENCE, until
from workbench.bridge.agents import hooked_agent
from workbench.bridge.hook_command import hook_arguments, hook_seconds

pytestmark = pytest.mark.campaign


@pytest.fixture
def staged(tmp_path):
    made = []

    def make(script, **more):
        made.append(Stage(tmp_path / "stage", script, **more))
        return made[-1]

    yield make
    for stage in made:
        stage.close()


PROGRAMS = Path(os.environ.get("WORKBENCH_AGENTS", "/nowhere"))
CHANGED = NOTE.replace("line 3\n", "line three\n").replace("line 27\n", "line twenty-seven\n")
ONE_HUNK = NOTE.replace("line 3\n", "line three\n")
PATCH = """apply_patch <<'EOF'
*** Begin Patch
*** Update File: note.txt
@@
 line 2
-line 3
+line three
 line 4
@@
 line 26
-line 27
+line twenty-seven
 line 28
*** End Patch
EOF"""


def shell_hooks(place, agent, in_seconds):
    """Return the hooks of an agent's settings."""
    hooks = {}
    for event in agent.events_of("all"):
        command = "exec " + shlex.join(hook_arguments(agent, event, place.setup))
        timeout = hook_seconds(event, place.setup) * (1 if in_seconds else 1000)
        entry = {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}
        hooks[event.name] = [{"matcher": "*", **entry} if event.has_matcher else entry]
    return {"hooks": hooks}


def codex(place, model, home):
    (home / "hooks.json").write_text(json.dumps(shell_hooks(place, hooked_agent("codex"), in_seconds=True)))
    (home / "config.toml").write_text(
        'model = "scripted"\nmodel_provider = "loop"\nsandbox_mode = "danger-full-access"\n'
        f'[model_providers.loop]\nname = "loop"\nbase_url = "{model.url}"\nwire_api = "responses"\n'
    )
    argv = ["exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check", "edit it"]
    return argv, {"CODEX_HOME": str(home)}


def qwen(place, model, home):
    (home / "settings.json").write_text(
        json.dumps(shell_hooks(place, hooked_agent("qwen"), in_seconds=False))
    )
    argv = ["--auth-type", "openai", "--approval-mode", "yolo", "-p", "edit it"]
    variables = {"OPENAI_API_KEY": "fabricated", "OPENAI_BASE_URL": model.url, "OPENAI_MODEL": "scripted"}
    return argv, {"QWEN_HOME": str(home), "HOME": str(home), **variables}


def opencode(place, model, home):
    from workbench.bridge.opencode_plugin import plugin_text

    plugin = home / "opencode/plugins/workbench.js"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(plugin_text(hooked_agent("opencode"), place.setup))
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": model.url, "apiKey": "fabricated"},
        "models": {"scripted": {"name": "scripted"}},
    }
    config = {
        "provider": {"loop": provider},
        "permission": {"edit": "allow", "bash": "allow"},
        "model": "loop/scripted",
        "small_model": "loop/scripted",
    }
    (home / "opencode/opencode.json").write_text(json.dumps(config))
    variables = {
        name: str(home)
        for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
    }
    return ["run", "edit it"], {**variables, "OPENCODE_DISABLE_AUTOUPDATE": "1"}


AGENTS = {
    "opencode": (opencode, lambda folder: [
        ("read", {"filePath": f"{folder}/note.txt"}),
        ("write", {"filePath": f"{folder}/note.txt", "content": CHANGED}),
        ("bash", {"command": "touch ran.txt", "description": "make a file"}),
        ("bash", {"command": "true", "description": "nothing"}),
    ]),
    "codex": (codex, lambda folder: [
        ("exec_command", {"cmd": PATCH}), ("exec_command", {"cmd": "touch ran.txt"}), ("exec_command", {"cmd": "true"}),
    ]),
    "qwen": (qwen, lambda folder: [
        ("read_file", {"file_path": f"{folder}/note.txt"}),
        ("write_file", {"file_path": f"{folder}/note.txt", "content": CHANGED}),
        ("write_file", {"file_path": f"{folder}/note.txt", "content": ONE_HUNK}),
        ("run_shell_command", {"command": "touch ran.txt", "is_background": False}),
        ("run_shell_command", {"command": "true", "is_background": False}),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in AGENTS if (PROGRAMS / name).exists()])
def test_a_real_agent_writes_what_was_chosen_and_reads_why_not(staged, name):
    set_up, calls = AGENTS[name]
    stage = staged(
        recording(), files={"note.txt": NOTE}, config={"approvals": {"allow": ["Bash(true)"]}}
    ).trust()
    place = HookPlace(stage, seconds=600)
    model = ScriptedModel(calls(stage.workspace))
    # Codex keeps nothing in a temporary folder of the system.
    home = Path(tempfile.mkdtemp(dir=Path.home(), prefix="workbench-agent-"))
    said = stage.root / "agent.txt"
    try:
        place.start_host()
        until(place.socket.exists, place.words)
        argv, variables = set_up(place, model, home)
        with said.open("wb") as output:
            agent = subprocess.Popen(
                [str(PROGRAMS / name), *argv], cwd=stage.workspace, env={**os.environ, **variables},
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            )  # fmt: skip
        try:
            edit = place.row()
            stage.approve(edit, hunks=[1])
            if not hooked_agent(name).takes_new_input:
                # It was denied with what to leave out, and the model asks for just that.
                edit = until(lambda: [row for row in place.waiting() if row.id != edit.id], said.read_text)[0]
                stage.approve(edit)
            until(lambda: stage.read("note.txt").decode() != NOTE, said.read_text)
            command = until(lambda: [row for row in place.waiting() if row.id != edit.id], said.read_text)[0]
            stage.reject(command, "no new files, please")
            assert agent.wait(PATIENCE) == 0, said.read_text()
        finally:
            agent.kill()
            agent.wait()
        assert stage.read("note.txt").decode() == ONE_HUNK
        assert not (stage.workspace / "ran.txt").exists()
        assert "no new files, please" in json.dumps(model.asked[-1]), said.read_text()
        until(lambda: all(row.finished_at for row in stage.journal.calls(stage.session_id)), place.words)
        states = [
            (row.tool, row.state) for row in stage.journal.calls(stage.session_id) if row.tool != "Read"
        ]
        edits = [("apply_patch", "succeeded")]
        if name == "opencode":
            edits = [("Write", "succeeded")]
        if name != "qwen":
            assert "left out: note.txt line 27" in json.dumps(model.asked[-1])
        if name == "qwen":
            assert "without this: note.txt line 27" in json.dumps(model.asked[-1])
            edits = [("Write", "cancelled"), ("Write", "succeeded")]
        assert states == [*edits, ("Bash", "rejected"), ("Bash", "succeeded")]
    finally:
        place.close()
        model.close()
        shutil.rmtree(home, ignore_errors=True)
