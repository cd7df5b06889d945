"""The three shapes of a tool: one that reads, one that proposes changes, one that runs a command.

Owns the protocols and what goes in and out. Path parameters arrive as the gate resolved them: real and
relative to the workspace (`policy.gate.Passed.grounded`); a tool never resolves a path itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol, runtime_checkable

from workbench.changes.model import FileChange
from workbench.domain.values import Json, JsonObject, ToolDescriptor
from workbench.effects.files import FileImage, Root

NEW_FILE_MODE: Final = 0o644


class ToolRefused(Exception):
    """A tool cannot do what it was asked; the message is for the model and the human."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a tool may read, run and give back; the `limits` section of the configuration."""

    tool_output_bytes: int = 10_240
    context_file_bytes: int = 102_400
    command_seconds: float = 60.0
    output_blob_bytes: int = 104_857_600


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a reading tool found."""

    text: str
    metadata: dict[str, Json] = field(default_factory=dict[str, Json])
    error: str = ""
    is_fragment: bool = False
    """Whether something came before it: a key block may have begun there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSpec:
    """A command as it will be run."""

    argv: tuple[str, ...]
    command: str
    """What was asked for, for people."""
    timeout_seconds: float


Base = Callable[[str], FileImage | None]
"""Returns a file of the workspace as it is, or None where there is none."""


class Tool(Protocol):
    """Anything with a descriptor."""

    @property
    def descriptor(self) -> ToolDescriptor:
        """What the tool is."""
        ...


@runtime_checkable
class ReadTool(Tool, Protocol):
    """A tool that only looks."""

    def read(self, parameters: JsonObject, root: Root, limits: Limits) -> Output:
        """Look; blocking, so call it from a thread.

        Raises:
            ToolRefused: With words for the model and the human.
        """
        ...


@runtime_checkable
class WriteTool(Tool, Protocol):
    """A tool that proposes changes and does nothing."""

    def propose(self, parameters: JsonObject, base: Base) -> tuple[FileChange, ...]:
        """Return the change; the same for the same parameters and files.

        Raises:
            ToolRefused: With words for the model and the human.
        """
        ...


@runtime_checkable
class RunTool(Tool, Protocol):
    """A tool that runs a command."""

    def command(self, parameters: JsonObject, limits: Limits) -> CommandSpec:
        """Return what to run.

        Raises:
            ToolRefused: With words for the model and the human.
        """
        ...


AnyTool = ReadTool | WriteTool | RunTool
