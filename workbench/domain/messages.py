"""What goes to a model and what comes back, in no provider's own words.

A `ModelRequest` is made by the turn machine from events; a provider turns it into its wire format and
yields `ReplyPart`s. Nothing here is recorded as it stands: texts may hold what the record scrubs.
"""

from dataclasses import dataclass, field
from typing import Literal

from workbench.domain.values import Json, JsonObject, ToolDescriptor, Usage

Role = Literal["system", "user", "assistant", "tool"]

ResultOutcome = Literal[
    "succeeded", "failed", "rejected", "partial", "expired", "denied", "refused", "cancelled", "interrupted"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCall:
    """A tool call inside an assistant message."""

    id: str
    """The provider's own id of the call."""
    tool: str
    """The wire name of the tool."""
    arguments: JsonObject = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation; S0 Message."""

    role: Role
    content: str = ""
    calls: tuple[MessageCall, ...] = ()
    tool_call_id: str | None = None
    outcome: ResultOutcome | None = None
    """How the call of a tool message ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """Everything a provider needs for one reply."""

    session_id: str
    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolDescriptor, ...] = ()
    fresh: tuple[Message, ...] = ()
    """What was added since the last reply: prompts and tool results."""
    used_exchanges: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """More text of the reply."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingPart:
    """More of the model's thinking."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallPart:
    """A whole tool call. `arguments` is the text as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UsagePart:
    """Tokens of this reply."""

    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangePart:
    """Which exchange of a recording answers; comes first."""

    exchange: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StopPart:
    """The reply was cut short: by a limit of tokens, a filter of the provider, or a bound of this program."""

    reason: Literal["length", "filtered", "calls", "size", "time"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailurePart:
    """The provider failed; nothing follows."""

    code: str
    message: str
    remedy: str = ""
    status: int | None = None
    retry_after_s: float | None = None
    recoverable: bool = True


ReplyPart = TextPart | ThinkingPart | ToolCallPart | UsagePart | StopPart | ExchangePart | FailurePart
