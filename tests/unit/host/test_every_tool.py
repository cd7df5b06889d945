"""One session in which every tool is used, every question answered, and every step is to be seen afterwards."""

import json
import os
import subprocess
import sys

import pytest

from tests.support.stage import call, exchange, recording, text
from tests.support.waits import PATIENCE
from tests.support.web import Web
from workbench.tools.registry import tool_registry

PLAN = (
    ("list_dir", {"path": "."}),
    ("file_search", {"pattern": "*.py"}),
    ("grep_search", {"pattern": "one"}),
    ("read_file", {"path": "a.py"}),
    ("context_read", {"path": "a.py"}),
    ("replace_string_in_file", {"path": "a.py", "old_string": "one", "new_string": "two"}),
    ("create_file", {"path": "b.py", "content": "new\n"}),
    ("move_file", {"path": "b.py", "new_path": "c.py"}),
    ("delete_file", {"path": "c.py"}),
    ("create_directory", {"path": "empty"}),
    ("run_in_terminal", {"command": "cat a.py"}),
    ("terminal_last_command", {}),
    ("git_preparePr", {"branch": "work"}),
)


@pytest.fixture
def web():
    server = Web()
    server.page("/x", "<p>needle</p>")
    yield server
    server.close()


def program(stage, *arguments):
    environment = {**os.environ, "WORKBENCH_HOME": str(stage.home.path)}
    done = subprocess.run(
        [sys.executable, "-m", "workbench", *arguments], env=environment, cwd=stage.workspace,
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.spec(62, 196, 210)
def test_every_tool_asks_runs_and_is_seen_afterwards(staged, web):
    plan = (*PLAN, ("fetch_webpage", {"url": web.url("/x")}))
    turns = [exchange(call(f"c{n}", name, **given)) for n, (name, given) in enumerate(plan)]
    stage = staged(
        recording(*turns, exchange(text("all done"))), files={"a.py": "one\n"},
        config={"fetch": {"allow_loopback": True}},
    )  # fmt: skip
    git = ["git", "-c", "user.name=Test", "-c", "user.email=test@example.org"]
    for arguments in (
        ("init", "-q", "-b", "main"), ("config", "user.name", "Test"), ("config", "user.email", "t@example.org"),
        ("add", "-A"), ("commit", "-qm", "first"),
    ):  # fmt: skip
        subprocess.run([*git, *arguments], cwd=stage.workspace, check=True)
    stage.begin("use everything")
    for _ in plan:
        stage.drive()
        (action,) = stage.waiting()
        stage.approve(action)
    stage.drive()
    assert {row.state for row in stage.calls().values()} == {"succeeded"}
    used = {tool_registry().get(name).descriptor.id for name, _ in plan}
    # pipeline.run has a project of its own: tests/unit/pipelines/test_runs_engine.py
    assert used | {"pipeline.run"} == {descriptor.id for descriptor in tool_registry().visible("recorded")}
    shown = program(stage, "sessions", "show", stage.session_id)
    assert [name for name in sorted(used) if name not in shown] == []
    assert "all done" in shown
    facts = json.loads(program(stage, "sessions", "show", stage.session_id, "--json"))
    assert json.dumps(facts).count('"succeeded"') >= len(plan)


@pytest.mark.spec(57, 222)
def test_the_catalogue_is_complete_as_data(staged):
    stage = staged(recording(exchange(text("x"))))
    found = json.loads(program(stage, "tools", "schema", "--json"))
    assert len(found) == 15
    for tool in found:
        assert tool["input_schema"]["type"] == tool["output_schema"]["type"] == "object"
        assert tool["examples"] and tool["allowed_providers"] and tool["risk_level"] and tool["capability"]
    listed = program(stage, "tools", "list")
    assert all(tool["id"] in listed for tool in found)


def test_what_a_command_left_running_is_told_to_the_agent(staged):
    script = recording(
        exchange(call("c1", "run_in_terminal", command="sleep 60 & echo started")), exchange(text("done"))
    )
    stage = staged(script, config={"approvals": {"allow": ["Bash(*)"]}}).begin()
    stage.drive()
    for action in stage.waiting():
        stage.approve(action)
    stage.drive()
    (row,) = stage.calls().values()
    (event,) = [e for e in stage.journal.call_events(row.id) if e.kind == "call.finished"]
    assert event.body.preview == "started\n\n[1 process that it left running was ended with it]\n"
