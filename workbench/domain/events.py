"""Every kind of event, one class each, and the envelope they travel in.

The stored name of a kind is dotted and in past tense (`action.approved`), its class is CamelCase
(`ActionApproved`). Bodies hold scrubbed text only; exact bytes are behind `*_ref` fields. Events of a
pipeline run name the step in the envelope.
"""

# Records are `msgspec.Struct`s. Five hundred classes are made in milliseconds where dataclasses take
# seconds, and bodies of events are validated while they are decoded. A body with unknown members keeps its
# text in `raw`, so nothing is lost. Canonical JSON, which digests and rules are made of, never goes through
# msgspec: its floats differ.
#
# `file.changed` may carry hunks: of an imported edit that no human was asked about there is no action to
# show them.

from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta, Struct, field

from workbench.domain.incidents import (
    IncidentChecked,
    IncidentDismissed,
    IncidentEnded,
    IncidentsCancelRequested,
    IncidentsListed,
    IncidentsRequested,
    IncidentStarted,
)
from workbench.domain.incidents import IncidentEvent as IncidentEvent
from workbench.domain.machines import CallState, PauseReason, SessionStatus
from workbench.domain.run_events import (
    ArtifactStored,
    ContractChecked,
    RunCancelRequested,
    RunChanged,
    RunRequested,
    RunStarted,
    StepChanged,
    StepRetryRequested,
)
from workbench.domain.run_events import RunEvent as RunEvent
from workbench.domain.values import (
    ActionKind,
    Actor,
    BlobRef,
    Body,
    Choice,
    Count,
    FilePlan,
    GateVerdict,
    Guards,
    Hunk,
    Json,
    JsonObject,
    Micros,
    Milliseconds,
    PatternKind,
    Place,
    PlannedWrite,
    ReplyCall,
    RuleEffect,
    RuleOrigin,
    RuleScope,
    SandboxBackend,
    SandboxLevel,
    SandboxRefusal,
    SandboxUse,
    SeenExtent,
    SelectedHunk,
    SessionKind,
    Usage,
)


class SessionEvent(Body, frozen=True, kw_only=True):
    """What happens to a session and to who drives it."""


class RequestEvent(Body, frozen=True, kw_only=True):
    """What a human asks for."""


class TurnEvent(Body, frozen=True, kw_only=True):
    """What happens in a turn of an agent."""


class CallEvent(Body, frozen=True, kw_only=True):
    """What happens to a tool call."""


class ActionEvent(Body, frozen=True, kw_only=True):
    """What happens to a row of the queue."""


class RuleEvent(Body, frozen=True, kw_only=True):
    """What happens to rules, to trust, and what was refused."""


# --- sessions ---------------------------------------------------------------------------------


class SessionCreated(SessionEvent, frozen=True, kw_only=True):
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


class SessionStatusChanged(SessionEvent, frozen=True, kw_only=True):
    """The session moved to another status; `reason` is set when it paused, or its last turn failed."""

    KIND: ClassVar[str] = "session.status_changed"
    status: SessionStatus
    reason: PauseReason | None = None
    detail: str = ""


class SessionChanged(SessionEvent, frozen=True, kw_only=True):
    """A human changed how a session is filed, or how it goes on; None leaves a field as it was."""

    KIND: ClassVar[str] = "session.changed"
    title: str | None = None
    tags: tuple[str, ...] | None = None
    archived: bool | None = None
    provider: str | None = None
    model: str | None = None
    """Whom the session asks from its next call of a model on."""
    active_tools: tuple[str, ...] | None = None
    """Ids of the tools that the session has from its next turn on; empty means all of the settings."""
    configuration: JsonObject | None = None
    """Members that replace those of the session's configuration; null takes one away."""


class SessionDeleted(SessionEvent, frozen=True, kw_only=True):
    """The tombstone of a deleted session, kept in the session `system`."""

    KIND: ClassVar[str] = "session.deleted"
    deleted_id: str


class LeaseTaken(SessionEvent, frozen=True, kw_only=True):
    """A driver owns the session from here on; its epoch fences everyone before it."""

    KIND: ClassVar[str] = "lease.taken"
    host_id: str
    epoch: Annotated[int, Meta(ge=1)]
    pid: int
    driver: Literal["host", "run"] = "host"


class LeaseReleased(SessionEvent, frozen=True, kw_only=True):
    """The driver gave the session back in order."""

    KIND: ClassVar[str] = "lease.released"
    host_id: str
    epoch: Annotated[int, Meta(ge=1)]


class AgentConnected(SessionEvent, frozen=True, kw_only=True):
    """The agent of a supervised session, which was gone, is connected again."""

    KIND: ClassVar[str] = "agent.connected"


class AgentGone(SessionEvent, frozen=True, kw_only=True):
    """The agent of a supervised session has ended, or lost its connection and did not come back."""

    KIND: ClassVar[str] = "agent.gone"


# --- what a human asks for -----------------------------------------------------------------------


class PromptSubmitted(RequestEvent, frozen=True, kw_only=True):
    """A human said something to the agent."""

    KIND: ClassVar[str] = "prompt.submitted"
    text: str
    text_ref: BlobRef | None = None
    asks_again: tuple[str, ...] = ()
    """Expired actions that the agent is asked to propose again; each is asked for once."""
    incident: str = ""
    """The incident that it asks to be fixed (S2 IncidentPrompt)."""
    replaces_id: str = ""
    """The event id of the queued prompt whose place it takes; that one is never sent to a model."""


class PromptWithdrawn(RequestEvent, frozen=True, kw_only=True):
    """A human took back a queued prompt before a turn began with it; it is never sent to a model."""

    KIND: ClassVar[str] = "prompt.withdrawn"
    prompt_id: str
    """The event id of its `prompt.submitted`."""


class PromptsReordered(RequestEvent, frozen=True, kw_only=True):
    """A human changed the order of the queued prompts."""

    KIND: ClassVar[str] = "prompts.reordered"
    prompt_ids: tuple[str, ...]
    """The event ids of all queued prompts, the first to be sent first."""


class InterruptRequested(RequestEvent, frozen=True, kw_only=True):
    """A human wants the running turn to stop, or its driver does because its time is over."""

    KIND: ClassVar[str] = "interrupt.requested"

    why: str = ""
    """Empty for a human's wish; else what limit was reached, in words."""


class ContinueRequested(RequestEvent, frozen=True, kw_only=True):
    """A human lets a paused session go on."""

    KIND: ClassVar[str] = "continue.requested"
    reads_files: bool = False
    """A run goes on with its files as they are now; else with what it was started with."""


class CompactionRequested(RequestEvent, frozen=True, kw_only=True):
    """A human wants the conversation to be compacted into a summary."""

    KIND: ClassVar[str] = "compaction.requested"
    words: str = ""
    """What the summary is to keep; scrubbed."""


class RefreshRequested(RequestEvent, frozen=True, kw_only=True):
    """A human wants a stale or an approved action proposed again (`action_id` of the envelope)."""

    KIND: ClassVar[str] = "refresh.requested"
    is_approved: bool = False
    """Whether it was approved: what its files lack of it is proposed by a call of its own."""


class UndoRequested(RequestEvent, frozen=True, kw_only=True):
    """A human wants applied changes taken back: that of `action_id` of the envelope, or those of `calls`."""

    KIND: ClassVar[str] = "undo.requested"
    calls: tuple[str, ...] = ()
    """Calls whose changes to `files` are taken back; empty where the envelope names an action."""
    whole: tuple[str, ...] = ()
    """Those of them of which nothing is left after it."""
    files: tuple[FilePlan, ...] = ()
    """What was shown: the bytes that are there, and the ones that will be."""
    is_redo: bool = False
    """Whether changes that were taken back are made again."""


class PatchRequested(RequestEvent, frozen=True, kw_only=True):
    """A human wants the changes of a patch proposed, as a call whose id is that of this event."""

    KIND: ClassVar[str] = "patch.requested"
    name: str = ""
    """The file that the patch came from; empty for standard input."""
    parameters: JsonObject = field(default_factory=dict[str, Json])
    """Of the call; scrubbed and cut."""
    parameters_ref: BlobRef | None = None
    """The exact ones, where they differ."""


class ForkRequested(RequestEvent, frozen=True, kw_only=True):
    """A human wants to go on from an earlier moment of this session, in a session of its own."""

    KIND: ClassVar[str] = "fork.requested"
    at_sequence: Annotated[int, Meta(ge=1)]
    """The last event of this session that the fork takes over."""
    folder: str = ""
    """Where the files of that moment are to be put; empty leaves them out."""


class ContextCollected(RequestEvent, frozen=True, kw_only=True):
    """What a model is told beside a human's words was collected; it goes out before the first prompt."""

    KIND: ClassVar[str] = "context.collected"
    text: str = ""
    """All of it, as it is sent; without secrets."""
    preferences: str = ""
    terminal: str = ""
    documentation: str = ""
    """The parts that S3 keeps beside a command (ContextSources)."""
    tmux: JsonObject = field(default_factory=dict[str, Json])
    """Where in tmux it was asked (S3 TmuxInfo)."""
    notes: tuple[str, ...] = ()
    """What was left out, and why."""


class MarkAdded(RequestEvent, frozen=True, kw_only=True):
    """A human marked a moment of the session."""

    KIND: ClassVar[str] = "mark.added"
    label: str = ""


# --- turns -------------------------------------------------------------------------------------


class TurnStarted(TurnEvent, frozen=True, kw_only=True):
    """The model is about to be called; one turn may hold several calls of it (`round`)."""

    KIND: ClassVar[str] = "turn.started"
    provider: str
    model: str
    round: Annotated[int, Meta(ge=1)] = 1


class TextStreamed(TurnEvent, frozen=True, kw_only=True):
    """A piece of the reply. `offset` counts characters from the start of its block."""

    KIND: ClassVar[str] = "text.streamed"
    DURABLE: ClassVar[bool] = False
    block: Count
    offset: Count
    text: str


class ThinkingStreamed(TurnEvent, frozen=True, kw_only=True):
    """A piece of the model's thinking. `offset` counts characters from the start of its block."""

    KIND: ClassVar[str] = "thinking.streamed"
    DURABLE: ClassVar[bool] = False
    block: Count
    offset: Count
    text: str


class ReplyCompleted(TurnEvent, frozen=True, kw_only=True):
    """The whole reply: it replaces every delta of its turn and round in every fold."""

    KIND: ClassVar[str] = "reply.completed"
    text: str = ""
    text_ref: BlobRef | None = None
    thinking: str = ""
    calls: tuple[ReplyCall, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    opaque_ref: BlobRef | None = None
    """Sealed bytes that only providers of the kind `opaque_kind` get back, unchanged: signed thinking."""
    opaque_kind: str = ""
    exchange: int | None = None
    """Which exchange of a recording this was; folds tell which are used."""
    round: Annotated[int, Meta(ge=1)] = 1


class CommandSuggested(TurnEvent, frozen=True, kw_only=True):
    """A model made a command of a human's words. Nothing here runs it."""

    KIND: ClassVar[str] = "command.suggested"
    command: str
    explanation: str = ""
    verdict: GateVerdict | None = None
    """What the gate would say to an agent that wanted to run it."""


class ConversationCompacted(TurnEvent, frozen=True, kw_only=True):
    """A model wrote a summary: from here on it is sent instead of what was said before."""

    KIND: ClassVar[str] = "conversation.compacted"
    summary: str
    summary_ref: BlobRef | None = None
    usage: Usage = Usage()
    """What the summary took."""
    provider: str = ""
    model: str = ""
    tokens: Count = 0
    """How many the newest reply had used before; 0 where nothing says it."""
    exchange: int | None = None
    is_asked: bool = False
    """Whether a human asked for it; otherwise the context was nearly full."""


class TurnEnded(TurnEvent, frozen=True, kw_only=True):
    """The turn is over; nothing of it will be called or run any more."""

    KIND: ClassVar[str] = "turn.ended"
    outcome: Literal["done", "interrupted", "limit", "error", "unattended"]
    detail: str = ""


class ProgressReported(TurnEvent, frozen=True, kw_only=True):
    """Something moved on; S2 Progress."""

    KIND: ClassVar[str] = "progress.reported"
    DURABLE: ClassVar[bool] = False
    message: str
    percentage: Annotated[float, Meta(ge=0, le=100)] | None = None
    sent: Count = 0
    """Bytes of the request that a model was just asked with."""
    received: Count = 0
    """Bytes of calls that came of a reply so far: calls are shown only when they are whole."""


class ErrorRaised(TurnEvent, frozen=True, kw_only=True):
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


class HookRan(TurnEvent, frozen=True, kw_only=True):
    """A hook of the configuration ran for a call; failure of a Pre hook blocks it."""

    KIND: ClassVar[str] = "hook.ran"
    event: Literal["PreToolUse", "PostToolUse"]
    command: str
    matcher: str
    exit_code: int | None
    output: str = ""
    blocked: bool = False
    duration_ms: Milliseconds = 0


class CallProposed(CallEvent, frozen=True, kw_only=True):
    """The gate has spoken about a call; `replaces` names a stale call it stands in for."""

    KIND: ClassVar[str] = "call.proposed"
    tool: str
    verdict: GateVerdict
    parameters: JsonObject = field(default_factory=dict[str, Json])
    parameters_ref: BlobRef | None = None
    provider_call_id: str = ""
    target: str = ""
    on_top_of: tuple[str, ...] = ()
    """Earlier open calls whose after-images this proposal was computed on."""
    replaces: str | None = None
    files: tuple[FilePlan, ...] = ()
    """The plan of an allowed call; an asked one carries it in its action."""
    cwd: str = ""
    """Absolute path of the folder it runs in; empty is the workspace."""
    paths: tuple[str, ...] = ()
    """Files that it names elsewhere than in its path parameters, as it names them."""
    asks_itself: bool = False
    """Whether its agent asks its own user about it also after an allow, by rules of its own."""


class CallExecuting(CallEvent, frozen=True, kw_only=True):
    """The call is consumed: from here it runs at most once, whatever dies."""

    KIND: ClassVar[str] = "call.executing"
    digest: str = ""
    plan: tuple[PlannedWrite, ...] = ()
    sandbox: SandboxUse | None = None
    """Of a command; None of other calls and in journals of older versions."""


class ProcessStarted(CallEvent, frozen=True, kw_only=True):
    """A command's process exists and waits for the byte that lets it run."""

    KIND: ClassVar[str] = "process.started"
    pid: int
    group: int
    start_time: str
    mark: str = ""
    limit_seconds: float | None = None
    """After how long it is ended; absent in journals of older versions."""
    files_ref: BlobRef | None = None
    """Recorded bytes: the keyed digest of each file before it ran; absent where files are not compared."""
    sandbox: SandboxUse | None = None
    """What the process may touch; absent in journals of older versions."""
    part: str = ""
    """The part of a step's attempt that it runs, such as `contract-1`; empty for the step itself."""


class SandboxRefused(CallEvent, frozen=True, kw_only=True):
    """What the sandbox refused to a command while it ran, as far as it is known."""

    KIND: ClassVar[str] = "sandbox.refused"
    refusals: tuple[SandboxRefusal, ...]


class OutputStreamed(CallEvent, frozen=True, kw_only=True):
    """A piece of a command's output. `offset` counts characters from its start."""

    KIND: ClassVar[str] = "output.streamed"
    DURABLE: ClassVar[bool] = False
    offset: Count
    text: str


class FileChanged(CallEvent, frozen=True, kw_only=True):
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
    moved_from: str | None = None
    """The path from which the bytes came, which the same call deleted."""


class CallFinished(CallEvent, frozen=True, kw_only=True):
    """How a call ended; S0 ToolResult. `preview` is what a model sees, scrubbed for the record."""

    KIND: ClassVar[str] = "call.finished"
    state: CallState
    detail: str = ""
    """`stale`, `held`, `sandbox gone`, `no sandbox`, `lapsed`, `recovered`, `nothing written` …"""
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
    files_ref: BlobRef | None = None
    """Recorded bytes: the keyed digest of each file when a command had ended, as of `process.started`."""
    files_changed: tuple[str, ...] = ()
    """The files that differ between the two: somebody changed them while the command ran."""
    metadata: JsonObject = field(default_factory=dict[str, Json])


class CallRepeated(CallEvent, frozen=True, kw_only=True):
    """A call ended as the same call had ended before in its turn, and nothing had changed in between."""

    KIND: ClassVar[str] = "call.repeated"
    times: Annotated[int, Meta(ge=1)]
    """How often it ended so, this time included."""


# --- actions -----------------------------------------------------------------------------------


class ActionOpened(ActionEvent, frozen=True, kw_only=True):
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
    subject_ref: BlobRef | None = None
    """Exact bytes that the subject names by their digest: the pipeline that would be run."""
    ends_at: Micros | None = None
    """When the question ends, however often its window is extended: the agent stops waiting after it."""
    place: Place | None = None
    """Where a command runs if it is approved as it is shown; None of all else."""
    level: SandboxLevel | None = None
    """The level of the session's sandbox, where a command could run inside; None where it cannot."""
    backend: SandboxBackend = "bubblewrap"
    """What held commands inside when the row was opened: an approval is for no less."""


class ActionApproved(ActionEvent, frozen=True, kw_only=True):
    """A human said yes to the bytes that `digest` names."""

    KIND: ClassVar[str] = "action.approved"
    digest: str
    approved_until: Micros
    result_digest: str
    selection: tuple[SelectedHunk, ...] | None = None
    edited: dict[str, BlobRef] | None = None
    reason: str | None = None
    choice: str | None = None
    text: str | None = None
    seen: SeenExtent | None = None
    """How much of it was drawn before; absent in journals of older versions."""
    place: Place | None = None
    """Where the human let a command run; absent of all else and in journals of older versions."""


class ActionRejected(ActionEvent, frozen=True, kw_only=True):
    """A human said no."""

    KIND: ClassVar[str] = "action.rejected"
    reason: str | None = None
    choice: str | None = None


class ActionExpired(ActionEvent, frozen=True, kw_only=True):
    """Nobody answered in time."""

    KIND: ClassVar[str] = "action.expired"


class ActionSuperseded(ActionEvent, frozen=True, kw_only=True):
    """Another action stands in for this one: other bytes, or another window."""

    KIND: ClassVar[str] = "action.superseded"
    successor: str
    why: Literal["extended", "refreshed", "restacked"]


class ActionCancelled(ActionEvent, frozen=True, kw_only=True):
    """The question was withdrawn."""

    KIND: ClassVar[str] = "action.cancelled"
    why: str = ""


class ActionBecameStale(ActionEvent, frozen=True, kw_only=True):
    """The base moved while the question waits; it can only be rejected or refreshed."""

    KIND: ClassVar[str] = "action.became_stale"
    paths: tuple[str, ...]


class AnswerRefused(ActionEvent, frozen=True, kw_only=True):
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


class RuleAdded(RuleEvent, frozen=True, kw_only=True):
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
    """Turn id, session id, workspace path or run id that the scope is about."""
    expires_at: Micros | None = None
    created_from: str | None = None
    external_id: str | None = None
    place: Place | None = None
    """Where the commands that it allows run; absent in journals of older versions, which means inside."""


class RulePlaced(RuleEvent, frozen=True, kw_only=True):
    """A human said where the commands run that a rule of an older version allows."""

    KIND: ClassVar[str] = "rule.placed"
    rule: str
    place: Place


class RuleUsed(RuleEvent, frozen=True, kw_only=True):
    """A rule let a call pass."""

    KIND: ClassVar[str] = "rule.used"
    rule: str


class RuleRevoked(RuleEvent, frozen=True, kw_only=True):
    """A human took a rule back."""

    KIND: ClassVar[str] = "rule.revoked"
    rule: str


class WorkspaceTrusted(RuleEvent, frozen=True, kw_only=True):
    """A human answered the trust question for these governing files."""

    KIND: ClassVar[str] = "workspace.trusted"
    workspace: str
    content_hash: str
    read_grant: bool = False
    sandbox_grant: bool = False
    """Whether commands inside the sandbox run there without a question."""
    guards: Guards | None = None
    """What of these files stood in the way of calls; None where it was not noted."""


class WorkspaceTrustRevoked(RuleEvent, frozen=True, kw_only=True):
    """A human took the trust in a workspace back."""

    KIND: ClassVar[str] = "workspace.trust_revoked"
    workspace: str


class AgentsHeld(RuleEvent, frozen=True, kw_only=True):
    """From here on no rule, mode or trust allows a call of any agent; each call asks."""

    KIND: ClassVar[str] = "agents.held"


class AgentsReleased(RuleEvent, frozen=True, kw_only=True):
    """A human ended the hold: rules, modes and trust count again."""

    KIND: ClassVar[str] = "agents.released"


class SecurityNoted(RuleEvent, frozen=True, kw_only=True):
    """Somebody tried what the program refuses: who, and from which processes."""

    KIND: ClassVar[str] = "security.noted"
    what: str
    detail: str = ""
    ancestry: tuple[int, ...] = ()


# --- every kind, and the envelope ------------------------------------------------------------------


NOT_UNDERSTOOD: Final = "unknown"
"""Stands in the kind of an imported record of which nothing was understood; all others are bookkeeping."""


class Unknown(Body, frozen=True, kw_only=True):
    """An event of a kind that this version does not know, kept verbatim."""

    KIND: ClassVar[str] = "unknown"
    original_kind: str
    content: Json = None


SessionBody = (
    SessionCreated | SessionStatusChanged | SessionChanged | SessionDeleted | LeaseTaken | LeaseReleased
    | AgentConnected | AgentGone
)  # fmt: skip
RequestBody = (
    PromptSubmitted | PromptWithdrawn | PromptsReordered | InterruptRequested | ContinueRequested
    | CompactionRequested | RefreshRequested | UndoRequested
    | PatchRequested | MarkAdded | ForkRequested | ContextCollected
)  # fmt: skip
TurnBody = (
    TurnStarted | TextStreamed | ThinkingStreamed | ReplyCompleted | ConversationCompacted | TurnEnded
    | ProgressReported | ErrorRaised | HookRan | CommandSuggested
)  # fmt: skip
CallBody = (
    CallProposed | CallExecuting | ProcessStarted | OutputStreamed | FileChanged | CallFinished | CallRepeated
    | SandboxRefused
)  # fmt: skip
ActionBody = (
    ActionOpened | ActionApproved | ActionRejected | ActionExpired | ActionSuperseded | ActionCancelled
    | ActionBecameStale | AnswerRefused
)  # fmt: skip
RuleBody = (
    RuleAdded | RulePlaced | RuleUsed | RuleRevoked | WorkspaceTrusted | WorkspaceTrustRevoked | AgentsHeld
    | AgentsReleased | SecurityNoted
)  # fmt: skip
RunBody = (
    RunRequested | RunCancelRequested | StepRetryRequested | RunStarted | RunChanged | StepChanged
    | ContractChecked | ArtifactStored
)  # fmt: skip
IncidentBody = (
    IncidentsListed | IncidentsRequested | IncidentsCancelRequested | IncidentDismissed | IncidentStarted
    | IncidentChecked | IncidentEnded
)  # fmt: skip
KnownBody = SessionBody | RequestBody | TurnBody | CallBody | ActionBody | RuleBody | RunBody | IncidentBody
"""Every kind but `unknown`; a consumer that must know all of them ends with `assert_never`."""
EventBody = KnownBody | Unknown


class Event(Struct, frozen=True, kw_only=True):
    """The envelope. `position` and `sequence_number` are 0 until the journal took the event."""

    id: str
    session_id: str
    at: Micros
    actor: Actor
    body: EventBody
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
        return self.body.original_kind if isinstance(self.body, Unknown) else self.body.KIND


def is_of_file(event: Event) -> bool:
    """Return whether an event says what a human did in the program that wrote a session file."""
    return event.actor.kind == "user" and event.actor.via == "import"
