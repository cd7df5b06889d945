"""The built-in tools: the id of each, the queue's word for what it does, and its name in permissions.

Descriptors in `workbench.tools` take the first two from here; the gate and the views need no descriptor to
know them.
"""

from enum import Enum
from typing import Final


class BuiltInTool(Enum):
    """A tool that is always there.

    The second value is one of `edit write move del run fetch read`. The third is the name by which
    permissions of the field cover it, for example `Read` in `deny: Read(secrets/**)`; "" where only its own
    id names it. A fourth is a further name whose denials, and only those, cover it.
    """

    CREATE_FILE = "create_file", "write", "Write"
    READ_FILE = "read_file", "read", "Read"
    REPLACE_STRING = "replace_string_in_file", "edit", "Edit"
    LIST_DIR = "list_dir", "read", "LS"
    FILE_SEARCH = "file_search", "read", "Glob"
    GREP_SEARCH = "grep_search", "read", "Grep"
    RUN_IN_TERMINAL = "run_in_terminal", "run", "Bash"
    TERMINAL_LAST_COMMAND = "terminal_last_command", "read", ""
    CREATE_DIRECTORY = "create_directory", "write", "Write"
    FETCH_WEBPAGE = "fetch_webpage", "fetch", "WebFetch"
    CONTEXT_READ = "context.read", "read", "Read"
    PREPARE_PR = "git.preparePr", "write", ""
    RUN_PIPELINE = "pipeline.run", "run", ""
    MOVE_FILE = "move_file", "move", "Write", "Edit"
    DELETE_FILE = "delete_file", "del", "Write", "Edit"

    def __init__(self, tool_id: str, verb: str, pattern_name: str, denial_name: str = "") -> None:
        self.id = tool_id
        self.verb = verb
        self.pattern_name = pattern_name
        self.denial_name = denial_name

    @property
    def wire_name(self) -> str:
        """Return the name that models call it by, which has no dots."""
        return self.id.replace(".", "_")


BUILT_IN_TOOLS: Final = frozenset(tool.id for tool in BuiltInTool)
TOOL_GROUPS: Final = {"reads": frozenset(tool.id for tool in BuiltInTool if tool.verb == "read")}
"""A word for several tools, where the tools of a session are named."""
PATCH_TOOL: Final = "apply_patch"
"""The tool by which a human's patch is proposed; it is offered to no model."""
_VERBS: Final = {**{tool.id: tool.verb for tool in BuiltInTool}, PATCH_TOOL: "edit"}


def tool_verb(tool_id: str) -> str:
    """Return the queue's word for what a tool does; of a tool that is not built in it is `run`."""
    return _VERBS.get(tool_id, "run")


def tools_of_pattern(name: str) -> frozenset[str]:
    """Return the ids of the tools that a name in permissions covers."""
    ids = frozenset(tool.id for tool in BuiltInTool if tool.pattern_name == name)
    return ids | {PATCH_TOOL} if name == BuiltInTool.REPLACE_STRING.pattern_name else ids


def permission_name(tool_id: str) -> str:
    """Return the name by which rules and people call a tool: that of permissions where it covers no other."""
    names = {tool.pattern_name for tool in BuiltInTool if tool.id == tool_id and tool.pattern_name}
    return next((name for name in names if len(tools_of_pattern(name)) == 1), tool_id)


def tools_of_denial(name: str) -> frozenset[str]:
    """Return the ids of the tools that only a denial of that name covers, and no grant."""
    return frozenset(tool.id for tool in BuiltInTool if tool.denial_name == name)
