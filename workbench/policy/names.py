"""What tools are called in permission patterns: our ids, and the names that the field uses.

Owns the table and the words for a name that is not known. Never looks at a tool's code.
"""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

_EDIT: Final = frozenset({"replace_string_in_file"})

FIELD_NAMES: Final[dict[str, frozenset[str]]] = {
    "Read": frozenset({"read_file", "context.read"}),
    "Grep": frozenset({"grep_search"}),
    "Glob": frozenset({"file_search"}),
    "LS": frozenset({"list_dir"}),
    "Edit": _EDIT,
    "MultiEdit": _EDIT,
    "NotebookEdit": _EDIT,
    "Write": frozenset({"create_file", "create_directory"}) | _EDIT,
    "Bash": frozenset({"run_in_terminal"}),
    "WebFetch": frozenset({"fetch_webpage"}),
}
"""DESIGN section 5: a name of the field and the tools of ours that it covers."""

LOOKING: Final = FIELD_NAMES["Grep"] | FIELD_NAMES["Glob"] | FIELD_NAMES["LS"]
"""What a bare `Read` in a deny list covers besides reading."""

OWN_IDS: Final = frozenset({
    "create_file", "read_file", "replace_string_in_file", "list_dir", "file_search", "grep_search",
    "run_in_terminal", "terminal_last_command", "create_directory", "fetch_webpage", "context.read",
    "pipeline.run", "git.preparePr",
})  # fmt: skip

FOREIGN: Final = frozenset({
    "Agent", "AskUserQuestion", "BashOutput", "EnterPlanMode", "ExitPlanMode", "KillBash", "KillShell",
    "ListMcpResourcesTool", "NotebookRead", "ReadMcpResourceTool", "Skill", "SlashCommand", "Task",
    "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TodoRead", "TodoWrite",
    "ToolSearch", "WebSearch",
})  # fmt: skip
"""Tools of other agents that have no counterpart here."""

MCP: Final = "mcp__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something to say about a pattern when it is loaded."""

    level: Literal["note", "warning", "error"]
    text: str


def note(name: str, known: Iterable[str]) -> Note | None:
    """Return what is to be said about a tool's name in a pattern, if anything."""
    ids = OWN_IDS | frozenset(known)
    if name in ids or name in FIELD_NAMES or name.startswith(MCP) or "*" in name:
        return None
    if name in FOREIGN:
        return Note(level="note", text=f"{name}: there is no such tool here, so this matches nothing")
    near = difflib.get_close_matches(name, sorted(ids | FIELD_NAMES.keys()), n=1, cutoff=0.6)
    hint = f"; did you mean {near[0]}" if near else ""
    return Note(level="warning", text=f"{name}: no tool is called that, so this matches nothing{hint}")
