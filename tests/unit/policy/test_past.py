"""Calls of other agents, as they were imported, count as calls of the tools that do the same here."""

import pytest

from tests.support.tables import each_row
from workbench.domain.rows import Call, Session
from workbench.policy.rule_suggestions import as_own_call, is_copied_by_fork


@pytest.mark.spec(56)
@each_row(
    ("tool", "given", "expected"),
    [
        ("Bash", {"command": "ls -la", "description": "x"}, ("run_in_terminal", {"command": "ls -la"})),
        ("shell", {"command": ["bash", "-lc", "ls | wc"]}, ("run_in_terminal", {"command": "ls | wc"})),
        (
            "shell",
            {"command": ["/usr/local/bin/dash", "-c", "ls | wc"]},
            ("run_in_terminal", {"command": "ls | wc"}),
        ),
        ("shell", {"command": ["git", "log", "a b"]}, ("run_in_terminal", {"command": "git log 'a b'"})),
        ("shell", {"command": ["bash", "-lc", 3]}, ("run_in_terminal", {"command": "bash -lc"})),
        ("exec_command", {"cmd": "ls"}, ("run_in_terminal", {"command": "ls"})),
        ("run_shell_command", {}, ("run_in_terminal", {})),
        ("Read", {"file_path": "/a", "limit": 3}, ("read_file", {"path": "/a", "limit": 3})),
        ("read_file", {"absolute_path": "/a"}, ("read_file", {"path": "/a"})),
        ("read_file", {"path": "a", "file_path": "b"}, ("read_file", {"path": "a", "file_path": "b"})),
        (
            "replace",
            {"file_path": "a", "old_string": "x"},
            ("replace_string_in_file", {"path": "a", "old_string": "x"}),
        ),
        ("Write", {"file_path": "a", "content": "x"}, ("create_file", {"path": "a", "content": "x"})),
        ("Glob", {"pattern": "*.py"}, ("file_search", {"pattern": "*.py"})),
        ("run_in_terminal", {"command": "ls"}, ("run_in_terminal", {"command": "ls"})),
        ("TodoWrite", {"todos": []}, ("TodoWrite", {"todos": []})),
        ("mcp__a__bash", {"command": "ls"}, ("mcp__a__bash", {"command": "ls"})),
    ],
)
def test_a_call_of_another_agent_is_read_as_one_of_ours(tool, given, expected):
    assert as_own_call(tool, given) == expected


@pytest.mark.parametrize(
    ("configuration", "requested_at", "expected"),
    [({"forked_from": "a"}, 9, True), ({"forked_from": "a"}, 10, False), ({}, 9, False)],
)
def test_a_fork_holds_copies_of_calls_that_were_made_before_it_began(configuration, requested_at, expected):
    session = Session(
        id="s", kind="chat", status="ready", created_at=10, updated_at=10, configuration=configuration
    )
    call = Call(
        id="c", session_id="s", turn_id=None, ordinal=1, provider_call_id="p", tool="read_file",
        state="succeeded", requested_at=requested_at,
    )  # fmt: skip
    assert is_copied_by_fork(session, call) is expected
