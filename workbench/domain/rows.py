"""Rows of the index tables: what the journal knows at a moment, one frozen dataclass a table.

They hold nothing that the events do not (`fold.apply` makes them), so they can be thrown away and
rebuilt at any time. Leases and hosts are the exception: they are about processes, not history.
"""

from dataclasses import field
from typing import Literal

from workbench.domain.machines import (
    ActionState,
    CallState,
    PauseReason,
    RunStatus,
    SessionStatus,
    StepStateName,
)
from workbench.domain.runs import ContractOutcome, StepKind
from workbench.domain.values import (
    ActionKind,
    ApprovalMethod,
    BlobRef,
    FilePlan,
    Json,
    JsonObject,
    PatternKind,
    RuleEffect,
    RuleOrigin,
    RuleScope,
    SeenBy,
    SessionKind,
    Taken,
    Usage,
)
from workbench.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session as it stands; S0 Session, S2 AgentSession and S4 Assistant Session in one."""

    id: str
    kind: SessionKind
    status: SessionStatus
    created_at: int
    updated_at: int
    reason: PauseReason | None = None
    parent_id: str | None = None
    title: str = ""
    workspace: str = ""
    provider: str = ""
    model: str = ""
    system_prompt: str = ""
    system_prompt_ref: BlobRef | None = None
    configuration: JsonObject = field(default_factory=dict[str, Json])
    usage: Usage = Usage()
    active_tools: tuple[str, ...] = ()
    telemetry_id: str = ""
    origin: str | None = None
    origin_status: str | None = None
    number: int | None = None
    tags: tuple[str, ...] = ()
    archived: bool = False
    open_turn: str | None = None
    last_prompt_at: int | None = None

    @property
    def reads(self) -> "Literal['every', 'reads'] | None":
        """Return what a human said that it asks about: every tool, or all but reads; None is as set."""
        found = self.configuration.get("reads")
        return "every" if found == "every" else "reads" if found == "reads" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call as it stands; S0 ToolCall with ToolResult, S4 ToolInvocationRecord."""

    id: str
    session_id: str
    turn_id: str | None
    ordinal: int
    """Order within the turn; a call that replaces a stale one keeps its place."""
    provider_call_id: str
    tool: str
    state: CallState
    requested_at: int
    parameters: JsonObject = field(default_factory=dict[str, Json])
    parameters_ref: BlobRef | None = None
    target: str = ""
    proposed: bool = False
    approval_method: ApprovalMethod | None = None
    rule: str | None = None
    verdict_by: str = ""
    action_id: str | None = None
    approved_until: int | None = None
    started_at: int | None = None
    finished_at: int | None = None
    detail: str = ""
    summary: str = ""
    error: str = ""
    exit_code: int | None = None
    duration_ms: int | None = None
    output_bytes: int = 0
    replaced_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A row of the queue as it stands; S4 PendingAction with its decision."""

    id: str
    session_id: str
    kind: ActionKind
    state: ActionState
    target: str
    digest: str
    created_at: int
    opened_at: int
    """Position of the `action.opened` event, where the proposal is."""
    expires_at: int | None = None
    call_id: str | None = None
    turn_id: str | None = None
    tool: str | None = None
    verb: str = "run"
    added: int = 0
    removed: int = 0
    warnings: tuple[str, ...] = ()
    stale_paths: tuple[str, ...] = ()
    supersedes: str | None = None
    successor: str | None = None
    extensions: int = 0
    decided_at: int | None = None
    decided_by: str = ""
    """`user (cli, pid 41)` and the like."""
    reason: str | None = None
    approved_until: int | None = None
    result_digest: str | None = None
    selection: tuple[Taken, ...] | None = None
    edited: JsonObject | None = None
    choice: str | None = None
    text: str | None = None
    files: tuple[FilePlan, ...] = ()
    choices: tuple[str, ...] = ()
    subject: JsonObject = field(default_factory=dict[str, Json])
    seen: SeenBy | None = None
    """How much of an approved one was drawn before; None where nobody noted it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule or grant as it stands; S0 ApprovalRule."""

    id: str
    effect: RuleEffect
    origin: RuleOrigin
    scope: RuleScope
    tool: str
    pattern_kind: PatternKind
    pattern: str
    description: str
    created_at: int
    scope_id: str | None = None
    expires_at: int | None = None
    created_from: str | None = None
    external_id: str | None = None
    use_count: int = 0
    last_used_at: int | None = None
    revoked_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """What a human last said about a workspace."""

    workspace: str
    content_hash: str
    read_grant: bool
    decided_at: int
    decided_by: str
    revoked_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineState:
    """A pipeline run as it stands; S1 PipelineState. Its id is that of the run's session."""

    pipeline_id: str
    pipeline_name: str
    status: RunStatus
    created_at: int
    updated_at: int
    input: str = ""
    file: str = ""
    number: int | None = None
    """Counted per pipeline name and workspace: `nightly #41`."""
    round: int = 0
    """How often it was started; 0 while it is queued."""
    started_at: int | None = None
    finished_at: int | None = None
    moved_at: int | None = None
    """When it came to its present status."""
    duration_ms: int = 0
    """Working time when it last changed its status."""
    error_message: str = ""
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class StepState:
    """A step of a run, or one item of a matrix, as it stands; S1 StepState."""

    key: str
    """`RUN/STEP`: two runs of one pipeline never share a row."""
    pipeline_id: str
    step_id: str
    state: StepStateName
    ordinal: int
    """Place in the file; items of a matrix share that of their step."""
    kind: StepKind = "prompt"
    persona: str = ""
    matrix: str = ""
    """The matrix step that this is an item of; empty for a step of the file."""
    attempt: int = 0
    """0 before the first."""
    retry_count: int = 0
    is_warned: bool = False
    contract: ContractOutcome | None = None
    started_at: int | None = None
    completed_at: int | None = None
    moved_at: int | None = None
    """When it came to its present state."""
    duration_ms: int = 0
    """Working time of its attempt when it last moved."""
    workspace_path: str = ""
    session_id: str | None = None
    action_id: str | None = None
    """The row of the queue that a gate is."""
    exit_code: int | None = None
    error_message: str = ""
    usage: Usage = Usage()


def step_key(run: str, step: str) -> str:
    """Return the key of a step's row."""
    return f"{run}/{step}"


Row = Session | Call | Action | Rule | Trust | PipelineState | StepState


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Who drives a session. A lease is live while its driver's lock is held."""

    session_id: str
    host_id: str
    epoch: int
    pid: int
    driver: str
    taken_at: int
    released: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A process that drives sessions, with the names of the provider variables it was started with."""

    id: str
    pid: int
    workspace: str
    driver: str
    started_at: int
    version: str
    schema: int
    variables: tuple[str, ...] = ()
    ended_at: int | None = None
