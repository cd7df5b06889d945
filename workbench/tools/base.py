"""The protocols of tools: those that read, propose changes, act, commit, or run a command.

Path parameters arrive as the gate resolved them; a tool never resolves a path itself.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol, runtime_checkable

from msgspec import Struct, field

from workbench.changes.diff import FileChange
from workbench.domain.values import BlobRef, Json, JsonObject, ToolDescriptor
from workbench.effects.files import FileImage, Root
from workbench.effects.web_fetch import FetchDeadline, resolve_host
from workbench.policy.urls import UrlRules

NEW_FILE_MODE: Final = 0o644


class ToolRefused(Exception):
    """A tool cannot do what it was asked, in words for model and human; `code` is one word or empty."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class ToolLimits(Struct, frozen=True, kw_only=True):
    """How much a tool may read, run and give back; the `limits` section of the configuration."""

    tool_output_bytes: int = 10_240
    context_file_bytes: int = 102_400
    command_seconds: float = 60.0
    output_blob_bytes: int = 104_857_600


class ToolOutput(Struct, frozen=True, kw_only=True):
    """What a reading tool found."""

    text: str
    metadata: dict[str, Json] = field(default_factory=dict[str, Json])
    error: str = ""
    is_fragment: bool = False
    """Whether something came before it: a key block may have started there."""
    is_content: bool = False
    """Whether it is the content of a file or page: `context_file_bytes` holds, not `tool_output_bytes`."""
    summary: str = ""
    """What was done or found in a few words; else the beginning of the text."""
    affected: tuple[str, ...] = ()
    """Paths that were made, relative to the workspace."""


class LastCommand(Struct, frozen=True, kw_only=True):
    """The command that a session ran last, as its agent was told of it."""

    command: str
    state: str
    """`succeeded`, `failed`, `cancelled` or `interrupted`."""
    exit_code: int | None
    detail: str
    output: str
    duration_ms: int


class SessionFacts(Struct, frozen=True, kw_only=True):
    """What the journal knows of a session, scrubbed but for the images of files."""

    id: str = ""
    title: str = ""
    prompts: tuple[str, ...] = ()
    changes: tuple[FileChange, ...] = ()
    """Every file that its tools wrote, in order; one path may come several times."""


class CommitDraft(Struct, frozen=True, kw_only=True):
    """A commit, or the run of a pipeline, as it would be."""

    changes: tuple[FileChange, ...]
    """From HEAD to the commit, not of the working tree."""
    subject: JsonObject
    """Branch, base, title and body."""
    words: str
    """The same for a human; an answer's digest covers it."""
    target: str
    subject_ref: BlobRef | None = None
    """Exact bytes that the subject names by their digest."""
    needs_answer: bool = False
    """Whether no rule and no grant does instead of a human's answer."""


class SealedPipeline(Struct, frozen=True, kw_only=True):
    """A pipeline as it would be run: exactly these bytes, whatever its file says later."""

    name: str
    digest: str
    """Keyed, of everything the run is made of: pipeline, manifest, prompts, schemas and input."""
    ref: BlobRef
    """Those bytes, sealed."""
    steps: tuple[str, ...]
    """Its graph, a line for each step: when it runs, what it is, what it does."""
    is_generated: bool = False
    """Whether an agent wrote it."""


class PipelineStarter(Protocol):
    """Starts pipelines for a tool; a host fills it."""

    def seal(self, name: str, definition: str, input_text: str) -> SealedPipeline:
        """Check and seal a pipeline of the project by its name, or one that an agent wrote by its text.

        Raises ToolRefused.
        """
        ...

    def run(self, digest: str, ref: BlobRef, is_stopped: Callable[[], bool]) -> "ToolOutput":
        """Run sealed bytes to their end; blocking, so call it from a thread. Raises ToolRefused."""
        ...


class _NoPipelineStarter:
    def seal(self, name: str, definition: str, input_text: str) -> SealedPipeline:
        del definition, input_text
        raise ToolRefused(f"{name}: no pipeline can be run here")

    def run(self, digest: str, ref: BlobRef, is_stopped: Callable[[], bool]) -> "ToolOutput":
        del digest, ref, is_stopped
        raise ToolRefused("no pipeline can be run here")


def _never_stopped() -> bool:
    return False


def _always_none(*_: object) -> None:
    return None


def _nothing_closed(_path: str) -> bool:
    return False


class CallContext(Struct, frozen=True, kw_only=True):
    """What a call may see and what its tool is given: the workspace, and what the session allows there."""

    root: Root
    limits: ToolLimits = field(default_factory=ToolLimits)
    is_stopped: Callable[[], bool] = _never_stopped
    """Whether the call was told to stop; asked often, so that nothing is waited for in vain."""
    is_closed: Callable[[str], bool] = _nothing_closed
    """Whether no agent may read a file, by its path from the workspace: searches pass it over."""
    last_command: Callable[[], LastCommand | None] = _always_none
    urls: UrlRules = field(default_factory=UrlRules)
    lookup: Callable[[str, FetchDeadline], tuple[str, ...]] = resolve_host
    """Returns the internet addresses of a host name."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """For programs that a tool starts; already scrubbed."""
    session: Callable[[], SessionFacts] = SessionFacts
    """What the session was asked and has changed."""
    pipelines: PipelineStarter = field(default_factory=_NoPipelineStarter)
    may_follow: Callable[[str], str | None] = _always_none
    """Returns why a redirect to an address may not be followed although it leads to the public internet."""


class CommandSpec(Struct, frozen=True, kw_only=True):
    """A command as it will be run."""

    argv: tuple[str, ...]
    command: str
    """What was asked for, for people."""
    timeout_seconds: float


BaseImage = Callable[[str], FileImage | None]
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

    def read(self, parameters: JsonObject, context: CallContext) -> ToolOutput:
        """Look; blocking, so call it from a thread.

        Raises:
            ToolRefused: With words for the model and the human.
        """
        ...


@runtime_checkable
class WriteTool(Tool, Protocol):
    """A tool that proposes changes and does nothing."""

    def propose(self, parameters: JsonObject, base: BaseImage) -> tuple[FileChange, ...]:
        """Return the change; the same for the same parameters and files. Raises ToolRefused."""
        ...


@runtime_checkable
class ActTool(Tool, Protocol):
    """A tool with an effect of its own, which is neither bytes of a file nor a command of the agent."""

    def check(self, parameters: JsonObject, context: CallContext) -> None:
        """Say before anybody is asked whether it can be done.

        Raises:
            ToolRefused: With words for the model and the human.
        """
        ...

    def act(self, parameters: JsonObject, context: CallContext) -> ToolOutput:
        """Do it; blocking, so call it from a thread.

        Raises:
            ToolRefused: With words for the model and the human.
        """
        ...

    def settle(self, parameters: JsonObject, context: CallContext) -> ToolOutput | None:
        """Look whether it was done, after a death; None where that cannot be told."""
        ...


@runtime_checkable
class CommitTool(Tool, Protocol):
    """A tool that does what its draft says, such as a commit; no change of it is written to the workspace."""

    def draft(self, parameters: JsonObject, context: CallContext) -> CommitDraft:
        """Return the commit as it would be, without making anything.

        Raises:
            ToolRefused: With words for the model and the human.
        """
        ...

    def words(self, subject: JsonObject) -> str:
        """Return the words of a subject, the same as its draft had."""
        ...

    def commit(self, changes: Sequence[FileChange], subject: JsonObject, context: CallContext) -> ToolOutput:
        """Make the commit; blocking, so call it from a thread.

        Raises:
            ToolRefused: With words for the model and the human.
        """
        ...


@runtime_checkable
class RunTool(Tool, Protocol):
    """A tool that runs a command."""

    def command(self, parameters: JsonObject, limits: ToolLimits) -> CommandSpec:
        """Return what to run. Raises ToolRefused: with words for the model and the human."""
        ...


AnyTool = ReadTool | WriteTool | ActTool | CommitTool | RunTool


# The content of a file or page may take 100 KB, any other output 10 KB (S0 has both limits; before,
# `read_file` was cut to the smaller one).
#
# A list is cut at its end, an output in its middle. Searches say how much is missing and how to narrow.


_RESERVED_FOR_NOTICE: Final = 400
"""Bytes kept free for the lines that say what is missing."""


class OutputLines:
    """Lines up to a number of bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._room = max(0, most_bytes - _RESERVED_FOR_NOTICE)
        self._lines: list[str] = []
        self.missing = 0
        """How many did not fit."""

    def add(self, line: str) -> None:
        """Take a line, or count it."""
        self._room -= len(line.encode("utf-8", "replace")) + 1
        if self._room >= 0 and not self.missing:
            self._lines.append(line)
        else:
            self.missing += 1

    def text(self, *notices: str) -> str:
        """Return the lines, and below them what there is to say."""
        return "\n".join((*self._lines, *(f"[{word}]" for word in notices if word)))


def parameters_schema(*required: str, **properties: JsonObject) -> dict[str, Json]:
    """Return the schema of a tool's parameters; others than these are refused."""
    return {
        "type": "object", "properties": dict(properties),
        **({"required": list(required)} if required else {}), "additionalProperties": False,
    }  # fmt: skip


def result_schema(**properties: JsonObject) -> dict[str, Json]:
    """Return the schema of a result: `output` for the model, and facts beside it that are always there."""
    return {
        "type": "object",
        "properties": {"output": {"type": "string"}, **properties},
        "required": ["output", *properties],
    }


COUNT_SCHEMA: Final[JsonObject] = {"type": "integer", "minimum": 0}
FLAG_SCHEMA: Final[JsonObject] = {"type": "boolean"}
TEXT_SCHEMA: Final[JsonObject] = {"type": "string"}
FILLED_SCHEMA: Final[JsonObject] = {"type": "string", "minLength": 1}
PATH_SCHEMA: Final[JsonObject] = {
    "type": "string",
    "minLength": 1,
    "description": "Relative to the workspace.",
}
