"""What tools of other agents are called here: agents have many names for the same few things.

Only for what is shown and counted: calls keep the name that their agent gave, and permissions have a table
of their own.
"""

from typing import Final

_SAME: Final = {
    "shell": (
        "bash", "shell", "exec_command", "run_shell_command", "local_shell", "local_shell_call",
        "shell_command", "container.exec", "run_terminal_cmd", "execute_command", "powershell", "execute",
    ),
    "read": ("read", "view", "read_many_files", "notebookread"),
    "edit": (
        "edit", "multiedit", "replace", "apply_patch", "str_replace_editor", "notebookedit", "search_replace",
    ),
    "write": ("write", "write_file", "write_to_file"),
    "search": ("grep", "glob", "search_file_content", "search_files", "codebase_search"),
    "fetch": ("fetch", "webfetch", "web_fetch"),
    "agent": ("task", "agent", "spawn_agent", "subagent"),
}  # fmt: skip
_KINDS: Final = {name: kind for kind, names in _SAME.items() for name in names}


def shown_tool(name: str) -> str:
    """Return the word for what a tool does if agents have several names for it, else its own name."""
    return _KINDS.get(name.casefold(), name)
