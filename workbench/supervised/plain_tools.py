"""Tools of agents whose changes cannot be computed: what they name, and which of our tools they are like."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from workbench.domain.tools import BuiltInTool
from workbench.domain.values import JsonObject, ToolDescriptor

TEXT: Final[JsonObject] = {"type": "string"}
PATH: Final[JsonObject] = {"type": "string", "minLength": 1}
FLAG: Final[JsonObject] = {"type": "boolean"}
_READ_PARAMETERS: Final = ("file_path", "absolute_path", "path", "dir_path")
"""Every name by which an agent's tool may take what it reads."""
_WILDCARD: Final = re.compile(r"[*?\[{]")


def open_schema(*required: str, **properties: JsonObject) -> JsonObject:
    """Return the schema of a foreign tool: members that are not known here are the agent's own business."""
    return {"type": "object", "properties": dict(properties), "required": list(required)}


class ReadingTool:
    """Reads files or lists their names, below the paths that it is given."""

    def __init__(
        self, tool_id: str, acts_as: BuiltInTool, target: str, patterns: tuple[str, ...] = ()
    ) -> None:
        """`patterns`: parameters with patterns of paths, which may lead elsewhere than its path."""
        self._patterns = patterns
        self.descriptor = ToolDescriptor(
            id=tool_id, wire_name=tool_id, description="Reads files.", capability="read",
            risk_level="read_only", verb="read", path_parameters=_READ_PARAMETERS, target_parameter=target,
            input_schema=open_schema(
                **dict.fromkeys(_READ_PARAMETERS, PATH), **dict.fromkeys(patterns, _PATTERN)
            ),
            acts_as=(acts_as.id,),
        )  # fmt: skip

    def named_files(self, given: JsonObject) -> tuple[str, ...]:
        """Return the folders of its patterns that lead elsewhere than its path."""
        found = (
            _pattern_folder(pattern) for name in self._patterns for pattern in _texts(given.get(name) or ())
        )
        return tuple(dict.fromkeys(folder for folder in found if folder))


_PATTERN: Final[JsonObject] = {"type": ["string", "array"], "items": {"type": "string"}}


def _texts(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(map(str, value))


def _pattern_folder(pattern: str) -> str:
    """Return what comes before the first wildcard of a pattern, by whole names; empty if it stays below."""
    if not pattern.startswith("/") and ".." not in pattern.split("/"):
        return ""
    wildcard = _WILDCARD.search(pattern)
    if wildcard is None:
        return pattern
    # A parent folder that comes behind a wildcard leads anywhere.
    is_open = ".." in pattern[wildcard.start() :].split("/")
    return "/" if is_open else pattern[: wildcard.start()].rpartition("/")[0] or "/"


class CommandTool:
    """Runs a shell line."""

    descriptor = ToolDescriptor(
        id="Bash", wire_name="Bash", description="Runs a shell line.", capability="execute",
        risk_level="dangerous", verb="run", command_parameter="command", target_parameter="command",
        input_schema=open_schema("command", command=TEXT), acts_as=(BuiltInTool.RUN_IN_TERMINAL.id,),
    )  # fmt: skip


class NotebookTool:
    """Edits a cell of a notebook; which bytes that makes of the file is not computed."""

    descriptor = ToolDescriptor(
        id="NotebookEdit", wire_name="NotebookEdit", description="Edits a cell of a notebook.",
        capability="write", risk_level="dangerous", verb="edit", path_parameters=("notebook_path",),
        target_parameter="notebook_path", input_schema=open_schema("notebook_path", notebook_path=PATH),
        acts_as=(BuiltInTool.REPLACE_STRING.id,),
    )  # fmt: skip


class FetchTool:
    """Fetches a page of the web."""

    descriptor = ToolDescriptor(
        id="WebFetch", wire_name="WebFetch", description="Fetches a page.", capability="network",
        risk_level="dangerous", verb="fetch", url_parameter="url", target_parameter="url",
        input_schema=open_schema("url", url=PATH), acts_as=(BuiltInTool.FETCH_WEBPAGE.id,),
    )  # fmt: skip


class OtherTool:
    """A tool of which only the name is known: what it does is not known, so it always asks."""

    def __init__(self, name: str) -> None:
        self.descriptor = ToolDescriptor(
            id=name, wire_name=name, description="A tool of the agent.", capability="execute",
            risk_level="dangerous", input_schema=open_schema(),
        )  # fmt: skip


READING_TOOLS: Final = (
    ReadingTool("Read", BuiltInTool.READ_FILE, "file_path"),
    ReadingTool("ReadMany", BuiltInTool.READ_FILE, "include", ("include", "paths")),
    ReadingTool("Glob", BuiltInTool.FILE_SEARCH, "pattern", ("pattern",)),
    ReadingTool("Grep", BuiltInTool.GREP_SEARCH, "pattern"),
    ReadingTool("LS", BuiltInTool.LIST_DIR, "path"),
)
PLAIN_TOOLS: Final = (*READING_TOOLS, CommandTool(), NotebookTool(), FetchTool())
_FILES_OF: Final[Mapping[str, ReadingTool]] = {tool.descriptor.id: tool for tool in READING_TOOLS}


def files_of_reading(tool: str, given: JsonObject) -> tuple[str, ...]:
    """Return the paths that a reading call names elsewhere than in its path parameters."""
    reading = _FILES_OF.get(tool)
    return () if reading is None else reading.named_files(given)
