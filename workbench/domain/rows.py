"""Rows of the index tables, one class a table, and the facts and counts that are read from them.

Rows hold nothing that the events do not (`fold.apply_event` makes them) and can be rebuilt at any time.
Leases and hosts are the exception: they describe processes.
"""

from typing import Final, Literal, get_args

from msgspec import Struct, field

from workbench.domain.machines import (
    ActionState,
    CallState,
    ListedRunStatus,
    ListedSessionStatus,
    PauseReason,
    StepStateName,
)
from workbench.domain.values import (
    RELEASED_PREFIX,
    ActionKind,
    ApprovalMethod,
    BlobRef,
    ContractOutcome,
    FilePlan,
    Grade,
    Json,
    JsonObject,
    PatternKind,
    Place,
    RuleEffect,
    RuleOrigin,
    RuleScope,
    SandboxLevel,
    SandboxRefusal,
    SeenExtent,
    SelectedHunk,
    SessionKind,
    StepKind,
    Usage,
)
from workbench.text.safe import one_line

LogStatus = Literal["accepted", "rejected", "quit"]
"""What a human made of a command that was made of words (S3 FinalStatus)."""


class SessionWorktree(Struct, frozen=True, kw_only=True):
    """The git worktree that was made for a session, as its configuration records it."""

    origin: str
    """The workspace of whose repository it is a worktree."""
    folder: str
    branch: str


WORKTREE_SETTING: Final = "worktree"
"""The member of a session's configuration that holds its worktree."""
WORKTREES_SUFFIX: Final = "-worktrees"
"""What the name of a repository's folder has behind it in the name of the folder of its worktrees."""


class Session(Struct, frozen=True, kw_only=True):
    """A session as it stands; S0 Session, S2 AgentSession and S4 Assistant Session in one."""

    id: str
    kind: SessionKind
    status: ListedSessionStatus
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
    """What the program that it came from says of it; of a command (kind `ask`) what a human made of it."""
    number: int | None = None
    tags: tuple[str, ...] = ()
    archived: bool = False
    open_turn: str | None = None
    last_prompt_at: int | None = None
    is_agent_gone: bool = False
    """Whether the agent of a supervised session is not connected."""

    @property
    def is_supervised(self) -> bool:
        """Return whether its agent executes its own calls, which are only judged and compared here."""
        return self.kind == "supervised"

    @property
    def takes_prompts(self) -> bool:
        """Return whether its agent is driven here and reads what a human writes."""
        return self.kind == "chat"

    @property
    def is_conversation(self) -> bool:
        """Return whether it is the session of one agent, wherever that is driven; not a step, run or list."""
        return self.takes_prompts or self.is_supervised

    @property
    def agent(self) -> str:
        """Return the program whose session it is: of an import, of a supervised session, else this one."""
        return self.provider if self.is_supervised else self.origin or OWN_AGENT

    @property
    def reads(self) -> "Literal['every', 'reads'] | None":
        """Return what a human said that it asks about: every call, or all except reads; None is as set."""
        setting = self.configuration.get("reads")
        return "every" if setting == "every" else "reads" if setting == "reads" else None

    @property
    def sandbox_level(self) -> SandboxLevel | None:
        """Return the level that a human chose for this session; None is as set."""
        setting = self.configuration.get("sandbox")
        return next((level for level in get_args(SandboxLevel) if level == setting), None)

    @property
    def sandboxed(self) -> "Literal['ask', 'auto'] | None":
        """Return what a human said of commands inside the sandbox in this session; None is as set."""
        setting = self.configuration.get("sandboxed")
        return "ask" if setting == "ask" else "auto" if setting == "auto" else None

    @property
    def worktree(self) -> SessionWorktree | None:
        """Return the git worktree that was made for the session, if one was."""
        match self.configuration.get(WORKTREE_SETTING):
            case {"origin": str(origin), "folder": str(folder), "branch": str(branch)}:
                return SessionWorktree(origin=origin, folder=folder, branch=branch)
            case _:
                return None

    @property
    def listed_in(self) -> str:
        """Return the workspace whose screen lists the session: that from which its worktree was made."""
        worktree = self.worktree
        return worktree.origin if worktree is not None else self.workspace

    @property
    def log_status(self) -> "LogStatus":
        """Return what a human made of a command; of one whose session ended halfway that is `quit`."""
        status = self.origin_status
        return status if status == "accepted" or status == "rejected" else "quit"


class Call(Struct, frozen=True, kw_only=True):
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
    repeats: int = 0
    """How often the same call ended so in its turn; 0 where nobody noted a repetition."""
    cwd: str = ""
    """Absolute path of the folder it runs in; empty is the workspace."""
    paths: tuple[str, ...] = ()
    """Files that it names elsewhere than in its path parameters, as it names them."""
    grade: Grade | None = None
    """Of a call that its agent executed: how far it is known to be what was approved."""
    asks_itself: bool = False
    """Whether its agent asks its own user about it also after an allow, by rules of its own."""
    place: Place | None = None
    """Where a command runs or ran, or would run if it is approved as shown; None of all other calls."""
    refusals: tuple[SandboxRefusal, ...] = ()
    """What the sandbox refused to it."""


class Action(Struct, frozen=True, kw_only=True):
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
    selection: tuple[SelectedHunk, ...] | None = None
    edited: JsonObject | None = None
    choice: str | None = None
    text: str | None = None
    files: tuple[FilePlan, ...] = ()
    choices: tuple[str, ...] = ()
    subject: JsonObject = field(default_factory=dict[str, Json])
    seen: SeenExtent | None = None
    """How much of an approved one was drawn before; None where nobody noted it."""
    place: Place | None = None
    """Where a command runs: as the row offers it, then as the human decided; None of all else."""
    level: SandboxLevel | None = None
    """The level of the sandbox that the command could run in; None where it cannot."""


def is_released(action: Action) -> bool:
    """Return whether a read's question was withdrawn because a later grant allows the read."""
    return action.state == "cancelled" and (action.reason or "").startswith(RELEASED_PREFIX)


class Rule(Struct, frozen=True, kw_only=True):
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
    place: Place | None = None
    """Where the commands that it allows run; None of a rule of an older version, which means inside."""


class Trust(Struct, frozen=True, kw_only=True):
    """What a human last said about a workspace."""

    workspace: str
    content_hash: str
    read_grant: bool
    decided_at: int
    decided_by: str
    revoked_at: int | None = None
    sandbox_grant: bool = False
    """Whether commands inside the sandbox run there without a question."""


ALL_AGENTS: Final = "all"
"""The key of the one row of a hold: it is about every agent of the data folder."""


class AgentHold(Struct, frozen=True, kw_only=True):
    """Whether every call of every agent asks, whatever rules, modes and trust allow."""

    id: str
    held_at: int
    held_by: str
    released_at: int | None = None

    @property
    def is_in_force(self) -> bool:
        return self.released_at is None


class PipelineState(Struct, frozen=True, kw_only=True):
    """A pipeline run as it stands; S1 PipelineState. Its id is that of the run's session."""

    pipeline_id: str
    pipeline_name: str
    status: ListedRunStatus
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


class StepState(Struct, frozen=True, kw_only=True):
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
    return f"{run}/{step}"


class TokenUse(Struct, frozen=True, kw_only=True):
    """What a session used of one model within a quarter of an hour: replies that are priced alike."""

    key: str
    session_id: str
    at: int
    """Where the quarter of an hour begins, in microseconds; days of all time zones are made of whole ones."""
    provider: str
    model: str
    context: int
    """The border of `CONTEXT_BORDERS` that the input of each reply exceeds; 0 where it exceeds none."""
    is_told: bool
    """Whether the service or the file said what each reply cost."""
    first_at: int
    last_at: int
    replies: int = 0
    uncounted: int = 0
    """Of the replies, those of which no tokens are known."""
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0
    cost_microdollars: int = 0

    @property
    def usage(self) -> Usage:
        """Return tokens and cost as one value."""
        return Usage(**{name: getattr(self, name) for name in Usage.__struct_fields__})


Row = Session | Call | Action | Rule | Trust | AgentHold | PipelineState | StepState


class Lease(Struct, frozen=True, kw_only=True):
    """Who drives a session. A lease is live while its driver's lock is held."""

    session_id: str
    host_id: str
    epoch: int
    pid: int
    driver: str
    taken_at: int
    released: bool = False


class Host(Struct, frozen=True, kw_only=True):
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


UnaskedReason = Literal["", "rule", "grant", "agent", "refused"]
"""A rule let a call pass; so did a pattern of the configuration, a trust or a tool that asks nobody; or the
gate did not allow it."""


class CallFact(Struct, frozen=True, kw_only=True):
    """A tool call that has ended, or waits."""

    tool: str
    state: CallState
    run_ms: int | None
    """How long it ran; None if it never did."""
    waited_ms: int | None
    """How long its questions waited for a human, all of them together; None if it asked nothing."""
    unasked: UnaskedReason = ""
    """Who decided it without a question; empty where one was asked, or nothing is decided or known."""


class AskedCommand(Struct, frozen=True, kw_only=True):
    """A command about which a human was asked."""

    tool: str
    parameters: JsonObject
    workspace: str
    folder: str
    """Where it ran or would have; empty is the workspace."""
    verdict_by: str
    """Who spoke in the gate's verdict; of an imported session its agent."""
    rule: str | None = None


class ActionFact(Struct, frozen=True, kw_only=True):
    """A question that was decided, expired, withdrawn or replaced by another one."""

    state: ActionState
    is_partly: bool
    took_ms: int | None
    """From the question to a human's answer; None where no human answered or the times are foreign."""
    tool: str | None = None
    """Whose call asked; None for gates and the like."""
    asked_at: int = 0
    """Microseconds."""


class SessionFact(Struct, frozen=True, kw_only=True):
    """A session that is counted."""

    status: ListedSessionStatus
    updated_at: int


class FileFact(Struct, frozen=True, kw_only=True):
    """A file of a workspace, over all sessions."""

    path: str
    times: int
    added: int
    removed: int


class SessionCounts(Struct, frozen=True):
    """What a list says of a session beside its title."""

    rejected: int = 0
    expired: int = 0
    failed: int = 0
    """Calls that ran and failed."""
    turns: int = 0
    """Those that have ended."""
    files: int = 0
    """Times that a file was changed."""
    added: int = 0
    removed: int = 0
    approved: int = 0


class DeletionExtent(Struct, frozen=True):
    """What goes when a session is deleted."""

    events: int
    calls: int
    actions: int
    kept: int
    """Outputs and images of files."""
    steps: int
    """Sessions of a pipeline run that go with it."""


class ActivitySpans(Struct, frozen=True, kw_only=True):
    """When a session worked and when its questions waited: beginnings and ends, in microseconds."""

    turns: tuple[tuple[int, int], ...]
    waits: tuple[tuple[int, int], ...]


def run_title(run: PipelineState) -> str:
    """Return `nightly #41`."""
    name = one_line(run.pipeline_name, 120)
    return name if run.number is None else f"{name} #{run.number}"


OWN_AGENT: Final = "workbench"
"""What stands for the origin of a session that came from no file."""
UsageGroup = Literal["time", "day", "model", "project", "agent", "session", "provider"]
"""What sums of token use may be told apart by: quarters of an hour, local days, and so on."""


class UsageFact(Struct, frozen=True, kw_only=True):
    """A sum of replies of one group that are priced alike."""

    group: str
    """The model, folder, agent or session; empty where they are told apart by time."""
    at: int
    """The quarter of an hour, or the first one of a day, in microseconds; 0 where neither."""
    provider: str
    model: str
    context: int
    first_at: int
    last_at: int
    replies: int
    uncounted: int
    usage: Usage
