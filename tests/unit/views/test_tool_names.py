"""Tools of other agents under one word."""

from tests.support.tables import each_row
from workbench.views.tools import shown_tool, tools_called


@each_row("name", ["Bash", "bash", "shell", "exec_command", "run_shell_command", "run_command"])
def test_a_shell_is_a_shell_whatever_its_agent_calls_it(name):
    assert shown_tool(name) == "shell"


@each_row("name", ["run_in_terminal", "read_file", "mcp__x__bash", "AskUserQuestion", ""])
def test_what_is_known_by_one_name_keeps_it(name):
    assert shown_tool(name) == name


@each_row(
    "word, name",
    [
        ("shell", "bash"), ("shell", "run_in_terminal"), ("read", "view_file"), ("read", "read_file"),
        ("search", "find_file"), ("search", "search_web"), ("edit", "replace_string_in_file"), ("SHE", "bash"),
    ],
)  # fmt: skip
def test_a_tool_is_found_by_the_word_for_what_it_does(word, name):
    assert name in tools_called(word)
    assert tools_called("nothing") == ()
