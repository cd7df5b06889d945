"""Calls of other agents, as they were imported, count as calls of the tools that do the same here."""

import pytest

from workbench.policy.past import as_own


@pytest.mark.spec(56)
@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("Bash", {"command": "ls -la", "description": "x"}, ("run_in_terminal", {"command": "ls -la"})),
        ("shell", {"command": ["bash", "-lc", "ls | wc"]}, ("run_in_terminal", {"command": "ls | wc"})),
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
    assert as_own(tool, given) == expected
