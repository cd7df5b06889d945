"""Plain values shared by events and rows: actors, hunks, plans, decisions, usage, tool descriptors.

Also the base class of event bodies and the number bounds used in annotations. Times are microseconds since
the epoch in UTC; durations are milliseconds unless the name says otherwise.
"""

# Times are integers (microseconds, UTC) inside and ISO 8601 in lines: they compare and subtract without
# zones, and decoding costs nothing.

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import Meta, Struct, field

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict of these."""
JsonObject = Mapping[str, Json]


Micros = Annotated[int, Meta(ge=0)]
Count = Annotated[int, Meta(ge=0)]
Milliseconds = Annotated[int, Meta(ge=0)]


class Refused(Exception):
    """Something was not done: `what`, `why`, and as `remedy` what the reader can do about it."""

    def __init__(self, what: str, why: str, remedy: str) -> None:
        super().__init__(" ".join(part for part in (what, why, remedy) if part))
        self.what, self.why, self.remedy = what, why, remedy


BlobRef = str
"""Names stored bytes: `sealed:<hex>` or `recorded:<hex>`, the hex being their keyed digest."""
SYSTEM_SESSION = "system"
"""Owns what belongs to no session: rules, trust, hosts, tombstones."""
UNDO_TOOL = "undo"
"""The internal tool that no model sees; its calls are allowed by the request that asked for them."""
HELD_BY: Final = "hold"
"""Who spoke in a verdict where a call asks only because all agents are held."""
SANDBOX_SPEAKER: Final = "sandbox"
"""Who allowed a command that runs inside because of `approvals.sandboxed`."""
OWN_MODE: Final = "its own mode"
"""Who spoke in a verdict of a call about which an agent that executes its own calls did not ask."""
Grade = Literal["bound", "checked", "on its word"]
"""Of a call that an agent executed: its files are what was approved; they are not; nothing was compared."""
RELEASED_PREFIX = "allowed: "
"""How the reason begins for which the question of a read was withdrawn because a later grant allows it."""
DEFAULT_APPROVAL_MINUTES = 15
"""S4 PendingAction: how long an action waits for its human."""
WORKSPACE_CONFIG_FILE = ".workbench.json"
PIPELINE_FOLDERS = (".workbench/pipelines", ".wave/pipelines", ".agents/pipelines", "pipelines")
"""Where the pipelines of a workspace are looked for."""
MAX_EXTENSIONS = 4
ActorKind = Literal["user", "agent", "host", "tool", "system"]
SessionKind = Literal["chat", "pipeline", "step", "incidents", "ask", "import", "supervised"]
ActionKind = Literal["tool", "gate", "question", "trust", "finding", "files"]
DecisionVerdict = Literal["approve", "reject"]
RuleEffect = Literal["allow", "ask", "deny"]
Guards = Literal["hooks", "denials", "none"]
"""What the files of a workspace put in the way of calls: hooks, deny patterns only, or nothing."""
RuleOrigin = Literal["user", "config", "import", "trust"]
RuleScope = Literal["turn", "session", "workspace", "run", "always"]
PatternKind = Literal["glob", "regex"]
Capability = Literal["read", "write", "execute", "git", "network"]
Risk = Literal["read_only", "safe_write", "dangerous"]
GateOutcome = Literal["allowed", "ask", "denied", "refused"]
GateStep = Literal["schema", "paths", "deny", "ceiling", "hooks", "grants", "ask", "request", "agent"]
ApprovalMethod = Literal["manual", "auto", "config_rule"]
SandboxLevel = Literal["read-only", "workspace", "outside"]
"""What a command may touch: nothing, its workspace without the network, or all that the user may."""
SandboxBackend = Literal["bubblewrap", "landlock", "none"]
Place = Literal["inside", "outside"]
"""Whether a command runs inside the sandbox or as the user."""


class Actor(Struct, frozen=True, kw_only=True):
    """Who made an event; for users `via` says from where (`screen` or `cli`)."""

    kind: ActorKind
    pid: int | None = None
    via: str | None = None


class Hunk(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One numbered piece of a change, counted from 1 over all files of an action."""

    index: Annotated[int, Meta(ge=1)]
    path: str
    old_start: Count
    old_count: Count
    new_start: Count
    new_count: Count
    lines: tuple[tuple[str, str], ...]
    """(sign, text) with sign one of space, `-`, `+`, and `\\` for a missing newline at the end."""


class SelectedHunk(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A hunk that was taken; `lines` counts its changed lines from 1, None takes all of them."""

    hunk: Annotated[int, Meta(ge=1)]
    lines: tuple[int, ...] | None = None


UndoState = Literal["ready", "stale", "lost", "refused"]
"""Of a file to be undone. `stale`: changed since, or in between, by somebody else. `lost`: the bytes to put
there are not kept. `refused`: what is there now cannot be read."""


class FilePlan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an action would do to one file; base and after are keyed digests, None means no file."""

    path: str
    base: str | None
    after: str | None
    mode: Count
    base_ref: BlobRef | None = None
    after_ref: BlobRef | None = None
    moved_from: str | None = None
    """The path from which the bytes come, which the same action deletes."""

    LEFT_OUT_WHEN_EMPTY: ClassVar[frozenset[str]] = frozenset({"moved_from"})
    """Members that came later: what is stored without them stays as it is, byte for byte."""


class Choice(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One answer that a gate, a question or a trust row offers."""

    key: str
    label: str


class GateVerdict(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the gate said of a call, at which step, and who spoke."""

    outcome: GateOutcome
    step: GateStep
    by: str
    """The rule (`R3`), the file and line of a pattern, a hook's command, or `default`."""
    reason: str = ""
    pattern: str | None = None
    rule: str | None = None
    place: Place | None = None
    """Where the command runs, or is offered to run; None of other calls and of agents that run their own."""

    LEFT_OUT_WHEN_EMPTY: ClassVar[frozenset[str]] = frozenset({"place"})


class SandboxUse(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a process may touch, and what holds it to that."""

    level: SandboxLevel
    backend: SandboxBackend

    @property
    def place(self) -> Place:
        return "outside" if self.level == "outside" else "inside"


OUTSIDE: Final = SandboxUse(level="outside", backend="none")
"""Runs as the user."""
RefusalKind = Literal["write", "read", "network", "closed", "privilege"]


class SandboxRefusal(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that a command tried and the sandbox refused."""

    kind: RefusalKind
    """`closed`: a file that it made and that controls the workspace; it was moved out."""
    target: str
    """A path, a host with its port, or the name of a privilege; one line."""
    remark: str = ""
    """What became of a `closed` one that was not moved out, such as `could not be moved out`."""
    more: int = 0
    """Number of further refusals that it stands for; above 0 the target is the file that lists all."""
    LEFT_OUT_WHEN_EMPTY: ClassVar[frozenset[str]] = frozenset({"more"})

    @property
    def is_observed(self) -> bool:
        """Return whether workbench saw it; all others are read from what the command printed."""
        return self.kind == "closed"


SOME_FILE: Final = "a file"
SOME_NETWORK: Final = "the network"
WHOLE_WORKSPACE: Final = "the workspace"
_UNNAMED_TARGETS: Final = frozenset({SOME_FILE, SOME_NETWORK, WHOLE_WORKSPACE})
"""Targets of refusals that are words and no names."""
_PLAIN_TARGET: Final = re.compile(r"[\w./@:+~=,%#\[\]⟨⟩⏎…-]+")


def quoted_target(target: str) -> str:
    """Return the target of a refusal as a sentence names it: in quotes if it could be read as words of it."""
    if target in _UNNAMED_TARGETS or _PLAIN_TARGET.fullmatch(target):
        return target
    return '"' + target.replace('"', "'") + '"'


class Usage(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tokens and money of one reply or the sum of a session; S2 TokenUsage, so it never falls.

    What a service cached is part of what was sent: `input_tokens` counts all of it, as S2 and the
    OpenAI protocol do, and the two cache counts say how much of that was not sent as new.
    """

    input_tokens: Count = 0
    output_tokens: Count = 0
    cache_read_tokens: Count = 0
    """Of the input, what the service had kept from before."""
    cache_write_tokens: Count = 0
    """Of the input, what the service kept for later."""
    cache_write_1h_tokens: Count = 0
    """Of what was written to the cache, what is kept for an hour and not for five minutes: it costs more."""
    cost_microdollars: Count = 0
    """What the service or the file itself said it cost, in millionths of a US dollar; 0: it said nothing."""

    LEFT_OUT_WHEN_EMPTY: ClassVar[frozenset[str]] = frozenset(
        {"cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens", "cost_microdollars"}
    )
    """Members that came later: what is stored without them stays as it is, byte for byte."""

    @property
    def total_tokens(self) -> int:
        """Return input plus output."""
        return self.input_tokens + self.output_tokens

    @property
    def new_input_tokens(self) -> int:
        """Return the input that was neither read from a cache nor written to one."""
        return max(0, self.input_tokens - self.cache_read_tokens - self.cache_write_tokens)

    def plus(self, other: "Usage") -> "Usage":
        """Return the sum of both."""
        if other == _NO_USAGE:
            return self
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})

    def beyond(self, other: "Usage") -> "Usage":
        """Return what this counts more than the other, member by member, never below zero."""
        if _NO_USAGE in (self, other):
            return self
        names = self.__struct_fields__
        return Usage(**{name: max(0, getattr(self, name) - getattr(other, name)) for name in names})


_NO_USAGE: Final = Usage()

SeenExtent = Literal["all", "part", "by_id"]
"""What was drawn of an approved action: all that is approved, not all of it, or it was named by its id."""


PLACED_RULES: Final = "placed_rules"
"""In the subject of a question: rules of older versions, and where each is proposed to run its commands."""
REOPENS: Final = "reopens"
"""The member of an action's subject that names the approved action of which it proposes what files lack."""
SPEND_LIMIT: Final = "spend_limit"
"""The member of an action's subject that says it asks whether to go on beyond a limit of tokens or cost."""


NOBODY_ASKED: Final = "nobody could be asked (--on-approval deny)"
"""The reason of a rejection in a run without anyone to ask."""


class Decision(Struct, frozen=True, kw_only=True):
    """A human's answer to an action; S4 PendingAction, DESIGN section 4."""

    action_id: str
    verdict: DecisionVerdict
    reason: str | None = None
    selection: tuple[SelectedHunk, ...] | None = None
    """None takes every hunk."""
    edited: Mapping[str, BlobRef] | None = None
    """Path to the sealed bytes of a proposal that the user changed."""
    choice: str | None = None
    text: str | None = None
    result_digest: str | None = None
    """Digest of the action with the after bytes of the selection; None means as shown."""
    seen: SeenExtent | None = None
    """How much of it was in front of whoever approved; None where nobody noted it."""
    place: Place | None = None
    """Where an approved command runs; None runs it where its row says."""


class ReplyCall(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tool call in a model's reply. `arguments` is scrubbed and cut for the record."""

    call_id: str
    provider_call_id: str
    tool: str
    arguments: JsonObject = field(default_factory=dict[str, Json])
    arguments_ref: BlobRef | None = None
    """The exact arguments, when the recorded ones differ from them."""
    malformed: str | None = None
    """Why the arguments could not be read as a JSON object."""


class PlannedWrite(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of an execution as committed before the first byte is written."""

    path: str
    base: str | None
    after: str | None
    mode: Count
    base_ref: BlobRef | None = None


class ToolExample(Struct, frozen=True, kw_only=True):
    """An example invocation shown by `tools schema`; its parameters satisfy the schema."""

    description: str
    parameters: JsonObject


class ToolDescriptor(Struct, frozen=True, kw_only=True):
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
    """Providers that may see the tool, by name or by kind (S4 means kinds); `*` is every one. Never empty."""
    verb: str = "run"
    """One of `edit write run fetch read gate ask`: the queue's word for it."""
    path_parameters: tuple[str, ...] = ()
    command_parameter: str | None = None
    url_parameter: str | None = None
    target_parameter: str | None = None
    """The parameter that names what is acted on, shown in lists."""
    examples: tuple[ToolExample, ...] = ()
    acts_as: tuple[str, ...] = ()
    """Built-in tools that together do the same: denying one of them denies it, granting all grants it."""

    def is_offered_to(self, provider: str, kind: str = "") -> bool:
        """Return whether the models of a provider of that name and kind may see the tool."""
        return not {"*", provider, kind or provider}.isdisjoint(self.allowed_providers)


class PermissionPattern(Struct, frozen=True, kw_only=True):
    """A permission pattern as it was written."""

    text: str
    origin: str = ""
    """Where it was written, in words: `config.json:12`."""
    place: Place | None = None
    """Where the commands run that a grant allows; None means inside."""


HookEvent = Literal["PreToolUse", "PostToolUse"]


class HookRule(Struct, frozen=True, kw_only=True):
    """A hook as configured; S1 HookRule."""

    event: HookEvent
    matcher: str
    """A permission pattern, or several with `|` between them."""
    command: str
    origin: str = ""
    folder: str = ""
    """Of the file that names it: where its relative programs and scripts lie."""
    sandbox: SandboxLevel | None = None
    """What it may touch; None runs it as the user."""


class Body(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What happened. Subclasses name their kind and whether it must survive a power loss."""

    KIND: ClassVar[str] = ""
    DURABLE: ClassVar[bool] = True


StepKind = Literal["prompt", "command", "gate", "pipeline", "route", "aggregate"]
"""What runs: an agent, a shell command, nothing (a human answers), another pipeline; or nothing but a choice
of the way on, or files put together."""
ContractOutcome = Literal["passed", "failed", "warned", "not_checked"]
"""`warned` failed without blocking; `not_checked` had nothing to check with and is never a pass."""
ArtifactKind = Literal["file", "folder", "stdout"]


class RunLink(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that came of a step: an address, a file of its workspace, or a text."""

    type: str
    """`pr`, `issue`, `url`, `deployment`, `file`, `artifact`, or what the pipeline calls it."""
    label: str
    kind: Literal["address", "file", "text"]
    target: str


class StepPlan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A step as the run was started with it: all that a picture of the run needs."""

    id: str
    kind: StepKind = "prompt"
    needs: tuple[str, ...] = ()
    """Ids of the steps that end before this one begins."""
    name: str = ""
    persona: str = ""
    attempts: Annotated[int, Meta(ge=1)] = 1
    """How often it may be tried in all."""
    contract: str = ""
    """Type of its contract; empty without one."""
    is_matrix: bool = False
    """It runs once for each item of a list."""
    item_count: Count = 0
    """Items of a list that stands in the file; 0 where it is known only when the step begins."""
    returns: tuple[str, ...] = ()
    """Ids of earlier steps that its failure sends the run back to (rework)."""
    timeout_ms: Milliseconds = 0
    """Working time that one attempt may take; 0 is no limit."""
    has_links: bool = False
    """It may end with links (outcomes), or the pipeline below it may."""
    sandbox: SandboxLevel | None = None
    """What its program may touch; None runs a program as the user, and an agent as sessions run."""
    LEFT_OUT_WHEN_EMPTY: ClassVar[frozenset[str]] = frozenset({"sandbox"})
