"""Pipeline runs as events: what a human asks for, what the coordinator says, and the plain values in them.

Sources: seed S1 (Pipeline, Step, PipelineState, StepState) and JOURNAL section 3. Bodies hold recorded
(scrubbed) text only; exact bytes stay behind `*_ref` fields. The step is named by the envelope's `step`.
"""

from dataclasses import field
from typing import Annotated, ClassVar, Literal

from workbench.domain.body import Body
from workbench.domain.bounds import AtLeast
from workbench.domain.machines import RunStatus, StepStateName
from workbench.domain.values import BlobRef, Count, Json, JsonObject, Milliseconds, Usage
from workbench.records import dataclass

StepKind = Literal["prompt", "command", "gate", "pipeline", "route", "aggregate"]
"""What runs: an agent, a shell command, nothing (a human answers), another pipeline; or nothing but a choice
of the way on, or files put together."""

ContractOutcome = Literal["passed", "failed", "warned", "not_checked"]
"""`warned` failed without blocking; `not_checked` had nothing to check with and is never a pass."""

ArtifactKind = Literal["file", "folder", "stdout"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPlan:
    """A step as the run was started with it: all that a picture of the run needs."""

    id: str
    kind: StepKind = "prompt"
    needs: tuple[str, ...] = ()
    """Ids of the steps that end before this one begins."""
    name: str = ""
    persona: str = ""
    attempts: Annotated[int, AtLeast(1)] = 1
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


# --- what a human asks for -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequested(Body):
    """A human wants a pipeline run; it stands in the session of that run, right after its creation."""

    KIND: ClassVar[str] = "run.requested"
    pipeline: str
    """`metadata.name` of the pipeline."""
    file: str = ""
    """Where it is, relative to the workspace."""
    manifest: str = ""
    input: str = ""
    input_ref: BlobRef | None = None
    """The exact input, when the recorded one differs from it."""
    grants: tuple[str, ...] = ()
    """Permission patterns that the human granted for this run, as they were listed to them."""
    from_step: str = ""
    """Begin with this step and what depends on it; everything else is taken from `from_run`."""
    from_run: str = ""
    recordings: str = ""
    """Folder with one recording a step (`STEP.json`); empty asks the personas' providers."""
    depth: Count = 0
    """How many runs stand above this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCancelRequested(Body):
    """A human wants the run to end; what runs is ended, what waits is withdrawn."""

    KIND: ClassVar[str] = "run.cancel_requested"
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRetryRequested(Body):
    """A human wants a step of an ended run done again, with everything that depends on it."""

    KIND: ClassVar[str] = "step.retry_requested"


# --- what the coordinator says ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Body):
    """The run begins (round 1) or goes on after it had ended or lost its coordinator (later rounds)."""

    KIND: ClassVar[str] = "run.started"
    pipeline: str
    steps: tuple[StepPlan, ...]
    round: Annotated[int, AtLeast(1)] = 1
    definition_digest: str = ""
    """Keyed digest of pipeline, manifest, prompts and schemas as they were read at round 1."""
    definition_ref: BlobRef | None = None
    """Those bytes, sealed: a file that changes later changes nothing of this run."""
    reset: tuple[str, ...] = ()
    """Steps that begin anew in this round; all others keep their state."""
    kept: tuple[str, ...] = ()
    """Steps of round 1 that count as completed because `from_run` completed them."""
    from_run: str = ""
    returned_by: str = ""
    """The gate or route that leads back and so begins this round; empty where a human did."""
    workers: Annotated[int, AtLeast(1)] = 1
    """How many steps may run at once."""
    workspace_root: str = ""
    trace: str = ""
    """Path of the audit trace; empty if none is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChanged(Body):
    """The run as a whole moved to another status."""

    KIND: ClassVar[str] = "run.changed"
    status: RunStatus
    detail: str = ""
    """Why: the failed step, the limit, who cancelled."""
    duration_ms: Milliseconds = 0
    """Working time since the run was first started."""
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class StepChanged(Body):
    """A step, or one item of a matrix, moved to another state (S1 StepState)."""

    KIND: ClassVar[str] = "step.changed"
    state: StepStateName
    attempt: Annotated[int, AtLeast(1)] = 1
    detail: str = ""
    """Why it failed, is tried again, waits, was skipped; scrubbed."""
    is_warned: bool = False
    """It counts as completed although it failed: `on_failure` was warn or continue."""
    has_failed: bool = False
    """It failed and counts as completed for the route that takes its failure, and for nothing else."""
    duration_ms: Milliseconds = 0
    """Working time of this attempt so far."""
    session_id: str | None = None
    """The child session of an agent step's attempt, or the child run of a pipeline step."""
    workspace: str = ""
    matrix: str = ""
    """The matrix step that this is an item of."""
    item: Json = None
    items: tuple[str, ...] | None = None
    """Ids of the items, once a matrix step knows them."""
    exit_code: int | None = None
    usage: Usage = Usage()
    output: str = ""
    """The end of what a command printed, at most 2 KB, scrubbed."""
    output_ref: BlobRef | None = None
    """All that was kept of it: the first and the last part."""
    output_bytes: Count = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractChecked(Body):
    """What a step hands over was checked against its contract (S1 HandoverConfig)."""

    KIND: ClassVar[str] = "contract.checked"
    contract: str
    """Its type: `json_schema`, `test_suite`, `typescript_interface` …"""
    outcome: ContractOutcome
    attempt: Annotated[int, AtLeast(1)] = 1
    source: str = ""
    """The file that was checked, or the command that checked."""
    problems: tuple[str, ...] = ()
    """Every failing path with what is wrong there, or the end of the command's output; scrubbed."""
    is_blocking: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactStored(Body):
    """A step produced an artifact; later steps get exactly these bytes."""

    KIND: ClassVar[str] = "artifact.stored"
    name: str
    artifact_kind: ArtifactKind
    digest: str
    """Keyed digest of the bytes; of a folder, over the paths and digests of its files."""
    path: str = ""
    """Where it was found, relative to the step's workspace."""
    type: str = ""
    """`json`, `markdown`, … as the pipeline declares it."""
    content_ref: BlobRef | None = None
    """The sealed bytes; of a folder, a sealed JSON object of path to sealed bytes."""
    member_refs: tuple[BlobRef, ...] = ()
    """Of a folder: the sealed bytes of its files."""
    size_bytes: Count = 0
    files: Count = 1
    attempt: Annotated[int, AtLeast(1)] = 1


# --- the four types of the executor's protocol (DESIGN section 10) -----------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class StepId:
    """Names one attempt at a step; running the same id again goes on where it was."""

    run: str
    step: str
    attempt: Annotated[int, AtLeast(1)] = 1

    def __str__(self) -> str:
        return f"{self.run}/{self.step}/{self.attempt}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSpec:
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
    part: str = ""
    """Which conversation of the attempt it is, where there are several: `checkpoint`, `relay-1`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEvent:
    """Something of a running step that the coordinator records."""

    kind: Literal["process", "output", "progress"]
    text: str = ""
    offset: Count = 0
    pid: int = 0
    group: int = 0
    start_time: str = ""
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutcome:
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
    is_full: bool = False
    """Parked, because the conversation is full: somebody has to go on from a checkpoint."""
    transcript_ref: BlobRef | None = None
    """That conversation as text, sealed."""
