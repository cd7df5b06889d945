"""Every kind of event, as one frozen dataclass each, and the envelope they travel in.

The storage name of a kind is past tense and dotted (`action.approved`), its class CamelCase
(`ActionApproved`). The table of who appends what is JOURNAL section 1, with this project's additions
in ARCHITECTURE.md. Bodies hold recorded (scrubbed) text only; exact bytes stay behind `*_ref` fields.
"""

from dataclasses import field
from typing import Annotated, ClassVar, Literal

from workbench.domain.body import Body
from workbench.domain.bounds import AtLeast, AtMost
from workbench.domain.machines import CallState, PauseReason, SessionStatus
from workbench.domain.runs import (
    ArtifactStored,
    ContractChecked,
    RunCancelRequested,
    RunChanged,
    RunRequested,
    RunStarted,
    StepChanged,
    StepRetryRequested,
)
from workbench.domain.values import (
    ActionKind,
    Actor,
    BlobRef,
    Choice,
    Count,
    FilePlan,
    Guards,
    Hunk,
    Json,
    JsonObject,
    Micros,
    Milliseconds,
    PatternKind,
    PlanStep,
    ReplyCall,
    RuleEffect,
    RuleOrigin,
    RuleScope,
    SeenBy,
    SessionKind,
    Taken,
    Usage,
    Verdict,
)
from workbench.records import dataclass

# --- sessions ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCreated(Body):
    """A session began to exist; its system prompt never changes after this (S4)."""

    KIND: ClassVar[str] = "session.created"
    session_kind: SessionKind = "chat"
    parent_id: str | None = None
    title: str = ""
    workspace: str = ""
    provider: str = ""
    model: str = ""
    system_prompt: str = ""
    system_prompt_ref: BlobRef | None = None
    configuration: JsonObject = field(default_factory=dict[str, Json])
    active_tools: tuple[str, ...] = ()
    telemetry_id: str = ""
    origin: str | None = None
    origin_status: str | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStatusChanged(Body):
    """The session moved to another status; `reason` is set when it paused."""

    KIND: ClassVar[str] = "session.status_changed"
    status: SessionStatus
    reason: PauseReason | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChanged(Body):
    """A human changed how a session is filed, or how it goes on; None leaves a field as it was."""

    KIND: ClassVar[str] = "session.changed"
    title: str | None = None
    tags: tuple[str, ...] | None = None
    archived: bool | None = None
    provider: str | None = None
    model: str | None = None
    """Whom the session asks from its next call of a model on."""
    configuration: JsonObject | None = None
    """Members that replace those of the session's configuration; null takes one away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDeleted(Body):
    """The tombstone of a deleted session, kept in the session `system`."""

    KIND: ClassVar[str] = "session.deleted"
    deleted_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTaken(Body):
    """A driver owns the session from here on; its epoch fences everyone before it."""

    KIND: ClassVar[str] = "lease.taken"
    host_id: str
    epoch: Annotated[int, AtLeast(1)]
    pid: int
    driver: Literal["host", "run"] = "host"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseReleased(Body):
    """The driver gave the session back in order."""

    KIND: ClassVar[str] = "lease.released"
    host_id: str
    epoch: Annotated[int, AtLeast(1)]


# --- what a human asks for -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSubmitted(Body):
    """A human said something to the agent."""

    KIND: ClassVar[str] = "prompt.submitted"
    text: str
    text_ref: BlobRef | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptRequested(Body):
    """A human wants the running turn to stop, or its driver does because its time is over."""

    KIND: ClassVar[str] = "interrupt.requested"

    why: str = ""
    """Empty for a human's wish; else what limit was reached, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinueRequested(Body):
    """A human lets a paused session go on."""

    KIND: ClassVar[str] = "continue.requested"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshRequested(Body):
    """A human wants a stale action proposed anew (`action_id` of the envelope)."""

    KIND: ClassVar[str] = "refresh.requested"


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoRequested(Body):
    """A human wants an applied change taken back (`action_id` of the envelope)."""

    KIND: ClassVar[str] = "undo.requested"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkRequested(Body):
    """A human wants to go on from an earlier moment of this session, in a session of its own."""

    KIND: ClassVar[str] = "fork.requested"
    at_sequence: Annotated[int, AtLeast(1)]
    """The last event of this session that the fork takes over."""
    folder: str = ""
    """Where the files of that moment are to be put; empty leaves them out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkAdded(Body):
    """A human marked a moment of the session."""

    KIND: ClassVar[str] = "mark.added"
    label: str = ""


# --- turns -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted(Body):
    """The model is about to be called; one turn may hold several calls of it (`round`)."""

    KIND: ClassVar[str] = "turn.started"
    provider: str
    model: str
    round: Annotated[int, AtLeast(1)] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TextStreamed(Body):
    """A piece of the reply. `offset` counts characters from the start of its block."""

    KIND: ClassVar[str] = "text.streamed"
    DURABLE: ClassVar[bool] = False
    block: Count
    offset: Count
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingStreamed(Body):
    """A piece of the model's thinking. `offset` counts characters from the start of its block."""

    KIND: ClassVar[str] = "thinking.streamed"
    DURABLE: ClassVar[bool] = False
    block: Count
    offset: Count
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyCompleted(Body):
    """The whole reply: it replaces every delta of its turn and round in every fold."""

    KIND: ClassVar[str] = "reply.completed"
    text: str = ""
    text_ref: BlobRef | None = None
    thinking: str = ""
    calls: tuple[ReplyCall, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    exchange: int | None = None
    """Which exchange of a recording this was; folds tell which are used."""
    round: Annotated[int, AtLeast(1)] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(Body):
    """The turn is over; nothing of it will be called or run any more."""

    KIND: ClassVar[str] = "turn.ended"
    outcome: Literal["done", "interrupted", "limit", "error", "unattended"]
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressReported(Body):
    """Something moved on; S2 Progress."""

    KIND: ClassVar[str] = "progress.reported"
    DURABLE: ClassVar[bool] = False
    message: str
    percentage: Annotated[float, AtLeast(0), AtMost(100)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRaised(Body):
    """Something did not happen: what, why and what to do about it."""

    KIND: ClassVar[str] = "error.raised"
    code: str
    message: str
    details: str = ""
    remedy: str = ""
    recoverable: bool = True
    exchange: int | None = None
    """The exchange of a recording that this error used up."""


# --- calls -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRan(Body):
    """A hook of the configuration ran for a call; failure of a Pre hook blocks it."""

    KIND: ClassVar[str] = "hook.ran"
    event: Literal["PreToolUse", "PostToolUse"]
    command: str
    matcher: str
    exit_code: int | None
    output: str = ""
    blocked: bool = False
    duration_ms: Milliseconds = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallProposed(Body):
    """The gate has spoken about a call; `replaces` names a stale call it stands in for."""

    KIND: ClassVar[str] = "call.proposed"
    tool: str
    verdict: Verdict
    parameters: JsonObject = field(default_factory=dict[str, Json])
    parameters_ref: BlobRef | None = None
    provider_call_id: str = ""
    target: str = ""
    on_top_of: tuple[str, ...] = ()
    """Earlier open calls whose after-images this proposal was computed on."""
    replaces: str | None = None
    files: tuple[FilePlan, ...] = ()
    """The plan of an allowed call; an asked one carries it in its action."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallExecuting(Body):
    """The call is consumed: from here it runs at most once, whatever dies."""

    KIND: ClassVar[str] = "call.executing"
    digest: str = ""
    plan: tuple[PlanStep, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessStarted(Body):
    """A command's process exists and waits for the byte that lets it run."""

    KIND: ClassVar[str] = "process.started"
    pid: int
    group: int
    start_time: str
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputStreamed(Body):
    """A piece of a command's output. `offset` counts characters from its start."""

    KIND: ClassVar[str] = "output.streamed"
    DURABLE: ClassVar[bool] = False
    offset: Count
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChanged(Body):
    """A file was written or removed. Digests are keyed; refs are sealed images."""

    KIND: ClassVar[str] = "file.changed"
    path: str
    change: Literal["create", "modify", "delete"]
    before: str | None
    after: str | None
    before_ref: BlobRef | None = None
    after_ref: BlobRef | None = None
    mode: Count = 0o644
    added: Count = 0
    removed: Count = 0
    hunks: tuple[Hunk, ...] = ()
    """What changed, where no action showed it: of imported sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFinished(Body):
    """How a call ended; S0 ToolResult. `preview` is what a model sees, scrubbed for the record."""

    KIND: ClassVar[str] = "call.finished"
    state: CallState
    detail: str = ""
    """`stale`, `lapsed`, `recovered`, `nothing written`, `rolled back`, `outcome unknown`, `timeout` …"""
    summary: str = ""
    error: str = ""
    preview: str = ""
    result_ref: BlobRef | None = None
    """The exact text for the model, when the recorded preview differs from it."""
    output_ref: BlobRef | None = None
    """The whole output, recorded."""
    output_bytes: Count = 0
    exit_code: int | None = None
    duration_ms: Milliseconds = 0
    hunks_taken: tuple[int, ...] = ()
    hunks_left: tuple[int, ...] = ()
    files_affected: tuple[str, ...] = ()
    metadata: JsonObject = field(default_factory=dict[str, Json])


# --- actions -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionOpened(Body):
    """A row of the queue: exactly what would be done, waiting for a human."""

    KIND: ClassVar[str] = "action.opened"
    action_kind: ActionKind
    tool: str | None
    target: str
    digest: str
    created_at: Micros
    expires_at: Micros | None
    verb: str = "run"
    cwd: str = ""
    parameters: JsonObject = field(default_factory=dict[str, Json])
    parameters_ref: BlobRef | None = None
    """The exact parameters, when the recorded ones differ from them; the digest is over these."""
    prompt: str | None = None
    choices: tuple[Choice, ...] = ()
    files: tuple[FilePlan, ...] = ()
    hunks: tuple[Hunk, ...] = ()
    hunks_ref: BlobRef | None = None
    """The hunks as a recorded blob, when they are over 256 KB."""
    added: Count = 0
    removed: Count = 0
    warnings: tuple[str, ...] = ()
    supersedes: str | None = None
    extensions: Count = 0
    subject: JsonObject = field(default_factory=dict[str, Json])
    """What a trust, gate or finding row is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionApproved(Body):
    """A human said yes to the bytes that `digest` names."""

    KIND: ClassVar[str] = "action.approved"
    digest: str
    approved_until: Micros
    result_digest: str
    selection: tuple[Taken, ...] | None = None
    edited: dict[str, BlobRef] | None = None
    reason: str | None = None
    choice: str | None = None
    text: str | None = None
    seen: SeenBy | None = None
    """How much of it was drawn before; absent in journals of older versions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRejected(Body):
    """A human said no."""

    KIND: ClassVar[str] = "action.rejected"
    reason: str | None = None
    choice: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionExpired(Body):
    """Nobody answered in time."""

    KIND: ClassVar[str] = "action.expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionSuperseded(Body):
    """Another action stands in for this one: other bytes, or another window."""

    KIND: ClassVar[str] = "action.superseded"
    successor: str
    why: Literal["extended", "refreshed", "restacked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionCancelled(Body):
    """The question was withdrawn."""

    KIND: ClassVar[str] = "action.cancelled"
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionBecameStale(Body):
    """The base moved while the question waits; it can only be rejected or refreshed."""

    KIND: ClassVar[str] = "action.became_stale"
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRefused(Body):
    """An answer came that could not count, and why."""

    KIND: ClassVar[str] = "answer.refused"
    verdict: str
    why: Literal[
        "unknown", "decided", "expired", "superseded", "cancelled", "stale", "digest", "limit", "choice"
    ]
    by: str = ""
    at: Micros | None = None
    successor: str | None = None
    paths: tuple[str, ...] = ()


# --- rules, trust, security ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleAdded(Body):
    """A rule or grant exists from here on; S0 ApprovalRule."""

    KIND: ClassVar[str] = "rule.added"
    rule: str
    """R1, R2 …, never reused."""
    effect: RuleEffect
    origin: RuleOrigin
    scope: RuleScope
    tool: str
    pattern_kind: PatternKind
    pattern: str
    description: str
    scope_id: str | None = None
    """Session id, workspace path or run id that the scope is about."""
    expires_at: Micros | None = None
    created_from: str | None = None
    external_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleUsed(Body):
    """A rule let a call pass."""

    KIND: ClassVar[str] = "rule.used"
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRevoked(Body):
    """A human took a rule back."""

    KIND: ClassVar[str] = "rule.revoked"
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceTrusted(Body):
    """A human answered the trust question for these governing files."""

    KIND: ClassVar[str] = "workspace.trusted"
    workspace: str
    content_hash: str
    read_grant: bool = False
    guards: Guards | None = None
    """What of these files stood in the way of calls; None where it was not noted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceTrustRevoked(Body):
    """A human took the trust in a workspace back."""

    KIND: ClassVar[str] = "workspace.trust_revoked"
    workspace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityNoted(Body):
    """Somebody tried what the program refuses: who, and from which processes."""

    KIND: ClassVar[str] = "security.noted"
    what: str
    detail: str = ""
    ancestry: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(Body):
    """An event of a kind that this version does not know, kept verbatim."""

    KIND: ClassVar[str] = "unknown"
    original_kind: str
    content: Json = None


BODIES: tuple[type[Body], ...] = (
    SessionCreated, SessionStatusChanged, SessionChanged, SessionDeleted, LeaseTaken, LeaseReleased,
    PromptSubmitted, InterruptRequested, ContinueRequested, RefreshRequested, UndoRequested, MarkAdded,
    TurnStarted, TextStreamed, ThinkingStreamed, ReplyCompleted, TurnEnded, ProgressReported, ErrorRaised,
    HookRan, CallProposed, CallExecuting, ProcessStarted, OutputStreamed, FileChanged, CallFinished,
    ActionOpened, ActionApproved, ActionRejected, ActionExpired, ActionSuperseded, ActionCancelled,
    ActionBecameStale, AnswerRefused, RuleAdded, RuleUsed, RuleRevoked, WorkspaceTrusted,
    WorkspaceTrustRevoked, SecurityNoted, ForkRequested, RunRequested, RunCancelRequested,
    StepRetryRequested, RunStarted, RunChanged, StepChanged, ContractChecked, ArtifactStored,
)  # fmt: skip
"""Every known kind but `unknown`."""

BY_KIND: dict[str, type[Body]] = {body.KIND: body for body in BODIES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """The envelope. `position` and `sequence_number` are 0 until the journal took the event."""

    id: str
    session_id: str
    at: Micros
    actor: Actor
    body: Body
    position: int = 0
    sequence_number: int = 0
    turn_id: str | None = None
    call_id: str | None = None
    action_id: str | None = None
    step: str | None = None
    recorded_at: Micros | None = None
    """When an imported event was stored; `at` is then the foreign time."""
    raw: str | None = None
    """The body as stored, when it holds more than this version knows."""

    @property
    def kind(self) -> str:
        """Return the storage name of the kind."""
        body = self.body
        return body.original_kind if isinstance(body, Unknown) else body.KIND
