"""Messages between components that are never recorded as they are.

They pass between agent and model provider, and between coordinator and step executor. They are independent of
any provider's wire format, and their texts may hold what the journal scrubs.
"""

from collections.abc import Iterable
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, field

from workbench.domain.events import ArtifactStored, CallProposed, Event, ReplyCompleted, TurnStarted
from workbench.domain.values import BlobRef, Count, Json, JsonObject, RunLink, StepKind, ToolDescriptor, Usage

Role = Literal["system", "user", "assistant", "tool"]
ResultOutcome = Literal[
    "succeeded", "failed", "rejected", "partial", "expired", "denied", "refused", "cancelled", "interrupted"
]


class MessageCall(Struct, frozen=True, kw_only=True):
    """A tool call inside an assistant message."""

    id: str
    """The provider's own id of the call."""
    tool: str
    """The wire name of the tool."""
    arguments: JsonObject = field(default_factory=dict[str, Json])


class Message(Struct, frozen=True, kw_only=True):
    """One message of a conversation; S0 Message."""

    role: Role
    content: str = ""
    calls: tuple[MessageCall, ...] = ()
    tool_call_id: str | None = None
    outcome: ResultOutcome | None = None
    """How the call of a tool message ended."""
    opaque: str = ""
    """What only providers of the kind `opaque_kind` understand and get back unchanged."""
    opaque_kind: str = ""


class ModelRequest(Struct, frozen=True, kw_only=True):
    """Everything a provider needs for one reply."""

    session_id: str
    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolDescriptor, ...] = ()
    fresh: tuple[Message, ...] = ()
    """What was added since the last reply: prompts and tool results."""
    used_exchanges: frozenset[int] = frozenset()
    answer_schema: JsonObject | None = None
    """The JSON Schema that the reply is asked to satisfy, where the server can be asked that; None: words."""


class TextPart(Struct, frozen=True, kw_only=True):
    """More text of the reply."""

    text: str


class ThinkingPart(Struct, frozen=True, kw_only=True):
    """More of the model's thinking."""

    text: str


class ToolCallPart(Struct, frozen=True, kw_only=True):
    """A whole tool call. `arguments` is the text as the model wrote it."""

    id: str
    name: str
    arguments: str


LOADING: Final = "loads the model"
"""What `progress.reported` says of a server that was asked and has to do that first."""


class ProgressPart(Struct, frozen=True, kw_only=True):
    """The request goes out, or a piece of a call came; the call itself follows when it is whole."""

    sent: int = 0
    """Bytes of the request."""
    received: int = 0
    """Characters of the piece."""
    is_loading: bool = False
    """Whether the server has to load the model first, as it says itself."""


class OpaquePart(Struct, frozen=True, kw_only=True):
    """What only the kind of provider that gave it understands and gets back unchanged: signed thinking."""

    content: str
    """JSON text."""


class UsagePart(Struct, frozen=True, kw_only=True):
    """Tokens of this reply."""

    usage: Usage


class ExchangePart(Struct, frozen=True, kw_only=True):
    """Which exchange of a recording answers; comes first."""

    exchange: int


class StopPart(Struct, frozen=True, kw_only=True):
    """The reply was cut short: by a limit of tokens, a filter of the provider, or a bound of this program.

    `input`: it is whole, but the server read only a part of what it was sent.
    """

    reason: Literal["length", "filtered", "calls", "size", "time", "input"]


class FailurePart(Struct, frozen=True, kw_only=True):
    """The provider failed; nothing follows."""

    code: str
    message: str
    remedy: str = ""
    status: int | None = None
    retry_after_s: float | None = None
    recoverable: bool = True


ReplyPart = (
    TextPart
    | ThinkingPart
    | ToolCallPart
    | OpaquePart
    | ProgressPart
    | UsagePart
    | StopPart
    | ExchangePart
    | FailurePart
)


# --- the four types of the executor's protocol (DESIGN section 10) -----------------------------------


class StepId(Struct, frozen=True, kw_only=True):
    """Names one attempt at a step; running the same id again goes on where it was."""

    run: str
    step: str
    attempt: Annotated[int, Meta(ge=1)] = 1

    def __str__(self) -> str:
        return f"{self.run}/{self.step}/{self.attempt}"


class StepSpec(Struct, frozen=True, kw_only=True):
    """All that an executor needs to run one attempt, wherever it runs."""

    id: StepId
    kind: StepKind
    title: str = ""
    """`nightly #41 · tests`: what queue and telemetry show beside its calls."""
    source: str = ""
    """The prompt, the shell command, or the name of the pipeline, with nothing left to fill in."""
    workspace: str = ""
    """Real path of the folder that it works in."""
    session_id: str | None = None
    """The child session of an agent step; made together with the step's move to running."""
    adapter: JsonObject = field(default_factory=dict[str, Json])
    """Empty for the built-in agent; else how to start the command line of another one."""
    persona: JsonObject = field(default_factory=dict[str, Json])
    """Name, prompt, provider, model, temperature, permissions and hooks."""
    grants: tuple[str, ...] = ()
    environment: JsonObject = field(default_factory=dict[str, Json])
    """Variables added to the scrubbed ones."""
    keeps_output: bool = False
    """Whether the exact output is wanted as an artifact."""
    timeout_seconds: float | None = None
    """Working time that is left of this attempt."""
    relay_percent: int = 0
    """Of the context that an agent may use before its conversation is full; 0 is no limit."""
    context_window: int = 0
    """Tokens of that context; 0 takes what is known of the model."""
    thread: str = ""
    """The conversation that it belongs to: what its agent says is kept for the steps after it."""
    part: str = ""
    """Which conversation of the attempt it is, where there are several: `checkpoint`, `relay-1`."""


class StepEvent(Struct, frozen=True, kw_only=True):
    """Something of a running step that the coordinator records."""

    kind: Literal["process", "output", "progress"]
    """`process`: it runs on this machine, as that process; `progress`: it runs elsewhere."""
    text: str = ""
    offset: Count = 0
    pid: int = 0
    group: int = 0
    start_time: str = ""
    mark: str = ""


class StepOutcome(Struct, frozen=True, kw_only=True):
    """How a call of `run` ended: completed, failed, parked (it asks and holds no slot) or cancelled."""

    state: Literal["completed", "failed", "parked", "cancelled"]
    reason: str = ""
    is_retryable: bool = True
    action_ids: tuple[str, ...] = ()
    exit_code: int | None = None
    usage: Usage = Usage()
    output: str = ""
    output_ref: BlobRef | None = None
    stdout_ref: BlobRef | None = None
    """The exact bytes of its standard output, sealed; None if they were too many."""
    stdout_bytes: Count = 0
    """How many it printed there."""
    output_bytes: Count = 0
    reply: str = ""
    """The last words of an agent, scrubbed."""
    artifacts: tuple[ArtifactStored, ...] = ()
    """What a run below hands on."""
    links: tuple[RunLink, ...] = ()
    """What came of a run below, for a reader."""
    is_full: bool = False
    """Parked, because the conversation is full: somebody has to go on from a checkpoint."""
    transcript_ref: BlobRef | None = None
    """That conversation as text, sealed; of a step in a thread, what its agent said and did."""


def asked_models(events: Iterable[Event]) -> dict[str, tuple[str, str]]:
    """Return provider and model that were asked then, by the id of each reply's event and of each call in it.

    `/model` changes whom a session asks: what its row says counts for what comes, not for what was.
    """
    models: dict[str, tuple[str, str]] = {}
    current = ("", "")
    for event in events:
        body = event.body
        if isinstance(body, TurnStarted):
            current = (body.provider, body.model)
        elif isinstance(body, ReplyCompleted):
            model = (current[0], body.model or current[1])
            models[event.id] = model
            models.update((call.call_id, model) for call in body.calls)
        elif isinstance(body, CallProposed) and body.replaces in models and event.call_id:
            models[event.call_id] = models[body.replaces]
    return models
