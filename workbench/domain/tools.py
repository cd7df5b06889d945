"""The built-in tools: the id of each and the queue's word for what it does.

Descriptors in `workbench.tools` take both from here; the gate and the views need no descriptor to know them.
"""

from enum import Enum
from typing import Final


class BuiltInTool(Enum):
    """A tool that is always there; the second value is one of `edit write run fetch read`."""

    CREATE_FILE = "create_file", "write"
    READ_FILE = "read_file", "read"
    REPLACE_STRING = "replace_string_in_file", "edit"
    LIST_DIR = "list_dir", "read"
    FILE_SEARCH = "file_search", "read"
    GREP_SEARCH = "grep_search", "read"
    RUN_IN_TERMINAL = "run_in_terminal", "run"
    TERMINAL_LAST_COMMAND = "terminal_last_command", "read"
    CREATE_DIRECTORY = "create_directory", "write"
    FETCH_WEBPAGE = "fetch_webpage", "fetch"
    CONTEXT_READ = "context.read", "read"
    PREPARE_PR = "git.preparePr", "write"
    RUN_PIPELINE = "pipeline.run", "run"

    def __init__(self, tool_id: str, verb: str) -> None:
        self.id = tool_id
        self.verb = verb

    @property
    def wire_name(self) -> str:
        """Return the name that models call it by, which has no dots."""
        return self.id.replace(".", "_")


BUILT_IN_TOOLS: Final = frozenset(tool.id for tool in BuiltInTool)
_VERBS: Final = {tool.id: tool.verb for tool in BuiltInTool}


def tool_verb(tool_id: str) -> str:
    """Return the queue's word for what a tool does; of a tool that is not built in it is `run`."""
    return _VERBS.get(tool_id, "run")
