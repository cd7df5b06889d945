"""Messages between agent and model provider, which are never recorded as they are.

They are independent of any provider's wire format, and their texts may hold what the journal scrubs.
"""

from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct, field

from workbench.domain.events import CallProposed, Event, ReplyCompleted, TurnStarted
from workbench.domain.values import Json, JsonObject, ToolDescriptor, Usage

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
