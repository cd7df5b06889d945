"""Plain values shared by events and rows: actors, hunks, plans, choices, verdicts, usage.

Nothing here has behaviour beyond deriving one value from another. Times are microseconds since the
epoch in UTC; durations are milliseconds unless a name says otherwise.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, Literal

from workbench.domain.bounds import AtLeast
from workbench.records import dataclass

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict of these."""

JsonObject = Mapping[str, Json]
Micros = Annotated[int, AtLeast(0)]
Count = Annotated[int, AtLeast(0)]
Milliseconds = Annotated[int, AtLeast(0)]
BlobRef = str
"""Names stored bytes: `sealed:<hex>` or `recorded:<hex>`, the hex being their keyed digest."""

SYSTEM_SESSION = "system"
"""Owns what belongs to no session: rules, trust, hosts, tombstones."""

UNDO_TOOL = "undo"
"""The internal tool that no model sees; its calls are allowed by the request that asked for them."""

DEFAULT_WINDOW_MINUTES = 15
"""S4 PendingAction: how long an action waits for its human."""

MAX_EXTENSIONS = 4

ActorKind = Literal["user", "agent", "host", "tool", "system"]
SessionKind = Literal["chat", "pipeline", "step", "incidents", "ask", "import"]
ActionKind = Literal["tool", "gate", "question", "trust", "finding"]
Approval = Literal["approve", "reject"]
RuleEffect = Literal["allow", "ask", "deny"]
Guards = Literal["hooks", "denials", "none"]
"""What the files of a workspace put in the way of calls: hooks, deny patterns only, or nothing."""
RuleOrigin = Literal["user", "config", "import", "trust"]
RuleScope = Literal["session", "workspace", "run", "always"]
PatternKind = Literal["glob", "regex"]
Capability = Literal["read", "write", "execute", "git", "network"]
Risk = Literal["read_only", "safe_write", "dangerous"]
GateOutcome = Literal["allowed", "ask", "denied", "refused"]
GateStep = Literal["schema", "paths", "deny", "ceiling", "hooks", "grants", "ask", "request"]
ApprovalMethod = Literal["manual", "auto", "config_rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who made an event; for users `via` says from where (`screen` or `cli`)."""

    kind: ActorKind
    pid: int | None = None
    via: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One numbered piece of a change, counted from 1 over all files of an action."""

    index: Annotated[int, AtLeast(1)]
    path: str
    old_start: Count
    old_count: Count
    new_start: Count
    new_count: Count
    lines: tuple[tuple[str, str], ...]
    """(sign, text) with sign one of space, `-`, `+`, and `\\` for a missing newline at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A hunk that was taken; `lines` counts its changed lines from 1, None takes all of them."""

    hunk: Annotated[int, AtLeast(1)]
    lines: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlan:
    """What an action would do to one file; base and after are keyed digests, None means no file."""

    path: str
    base: str | None
    after: str | None
    mode: Count
    base_ref: BlobRef | None = None
    after_ref: BlobRef | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One answer that a gate, a question or a trust row offers."""

    key: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the gate said of a call, at which step, and who spoke."""

    outcome: GateOutcome
    step: GateStep
    by: str
    """The rule (`R3`), the file and line of a pattern, a hook's command, or `default`."""
    reason: str = ""
    pattern: str | None = None
    rule: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one reply or the sum of a session; S2 TokenUsage, so it never falls."""

    input_tokens: Count = 0
    output_tokens: Count = 0

    @property
    def total_tokens(self) -> int:
        """Return input plus output."""
        return self.input_tokens + self.output_tokens

    def plus(self, other: "Usage") -> "Usage":
        """Return the sum of both."""
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


SeenBy = Literal["all", "part", "by_id"]
"""What was drawn of an approved action: all that is approved, not all of it, or it was named by its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A human's answer to an action; S4 PendingAction, DESIGN section 4."""

    action_id: str
    verdict: Approval
    reason: str | None = None
    selection: tuple[Taken, ...] | None = None
    """None takes every hunk."""
    edited: Mapping[str, BlobRef] | None = None
    """Path to the sealed bytes of a proposal that the user changed."""
    choice: str | None = None
    text: str | None = None
    result_digest: str | None = None
    """Digest of the action with the after bytes of the selection; None means as shown."""
    seen: SeenBy | None = None
    """How much of it was in front of whoever approved; None where nobody noted it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyCall:
    """A tool call in a model's reply. `arguments` is scrubbed and cut for the record."""

    call_id: str
    provider_call_id: str
    tool: str
    arguments: JsonObject = field(default_factory=dict[str, Json])
    arguments_ref: BlobRef | None = None
    """The exact arguments, when the recorded ones differ from them."""
    malformed: str | None = None
    """Why the arguments could not be read as a JSON object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """One file of an execution as committed before the first byte is written."""

    path: str
    base: str | None
    after: str | None
    mode: Count
    base_ref: BlobRef | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An example invocation shown by `tools schema`; its parameters satisfy the schema."""

    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDescriptor:
    """Describe a tool to models, humans and the gate; S0 Tool and S4 ToolDescriptor in one."""

    id: str
    wire_name: str
    description: str
    capability: Capability
    risk_level: Risk
    input_schema: JsonObject
    output_schema: JsonObject = field(default_factory=dict[str, Json])
    requires_approval: bool = True
    allowed_providers: tuple[str, ...] = ("*",)
    """Provider names that may see the tool; `*` is every provider. Never empty."""
    verb: str = "run"
    """One of `edit write run fetch read gate ask`: the queue's word for it."""
    path_parameters: tuple[str, ...] = ()
    command_parameter: str | None = None
    url_parameter: str | None = None
    target_parameter: str | None = None
    """The parameter that names what is acted on, shown in lists."""
    examples: tuple[Example, ...] = ()
