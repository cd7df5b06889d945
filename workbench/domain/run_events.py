"""Events of pipeline runs: what a human asks of one, and what its coordinator says."""

from typing import Annotated, ClassVar

from msgspec import Meta

from workbench.domain.machines import RunStatus, StepStateName
from workbench.domain.values import (
    ArtifactKind,
    BlobRef,
    Body,
    ContractOutcome,
    Count,
    Json,
    Milliseconds,
    RunLink,
    StepPlan,
    Usage,
)


class RunEvent(Body, frozen=True, kw_only=True):
    """What happens to a pipeline run."""


# --- what a human asks for -----------------------------------------------------------------------


class RunRequested(RunEvent, frozen=True, kw_only=True):
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
    definition_ref: BlobRef | None = None
    """Exactly what is run, sealed before a human was asked; absent where its files are read at the start."""
    is_generated: bool = False
    """Whether an agent wrote it."""
    values_ref: BlobRef | None = None
    """JSON object of what its templates are given by the step that started it."""
    mounted_ref: BlobRef | None = None
    """The only files of the project that its mounts hold, as a sealed JSON list; absent for all."""
    handed: tuple[str, ...] = ()
    """Names of its templates (`input`, `env.NAME`) whose values come from an agent, an artifact or a list."""
    accepted: tuple[str, ...] = ()
    """Keyed digests of the commands that a human accepted although another program reads values in them."""


class RunCancelRequested(RunEvent, frozen=True, kw_only=True):
    """A human wants the run to end; what runs is ended, what waits is withdrawn."""

    KIND: ClassVar[str] = "run.cancel_requested"
    reason: str = ""


class StepRetryRequested(RunEvent, frozen=True, kw_only=True):
    """A human wants a step of an ended run done again, with everything that depends on it."""

    KIND: ClassVar[str] = "step.retry_requested"
    reads_files: bool = False
    """With the files of the run as they are now; else with what it was started with."""


# --- what the coordinator says ---------------------------------------------------------------------


class RunStarted(RunEvent, frozen=True, kw_only=True):
    """The run begins (round 1) or goes on after it had ended or lost its coordinator (later rounds)."""

    KIND: ClassVar[str] = "run.started"
    pipeline: str
    steps: tuple[StepPlan, ...]
    round: Annotated[int, Meta(ge=1)] = 1
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
    workers: Annotated[int, Meta(ge=1)] = 1
    """How many steps may run at once."""
    workspace_root: str = ""
    trace: str = ""
    """Path of the audit trace; empty if none is kept."""


class RunChanged(RunEvent, frozen=True, kw_only=True):
    """The run as a whole moved to another status."""

    KIND: ClassVar[str] = "run.changed"
    status: RunStatus
    detail: str = ""
    """Why: the failed step, the limit, who cancelled."""
    duration_ms: Milliseconds = 0
    """Working time since the run was first started."""
    usage: Usage = Usage()


class StepChanged(RunEvent, frozen=True, kw_only=True):
    """A step, or one item of a matrix, moved to another state (S1 StepState)."""

    KIND: ClassVar[str] = "step.changed"
    state: StepStateName
    attempt: Annotated[int, Meta(ge=1)] = 1
    detail: str = ""
    """Why it failed, is tried again, waits, was skipped; scrubbed."""
    is_warned: bool = False
    """It counts as completed although it failed: `on_failure` was warn or continue."""
    has_failed: bool = False
    """It failed and counts as completed for the route that takes its failure, and for nothing else."""
    is_unanswered: bool = False
    """It failed because a question expired or no human could be asked; absent in older journals."""
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
    items_ref: BlobRef | None = None
    """Where they stand as a recorded JSON list, if they are many."""
    item_count: Count = 0
    """How many stand there."""
    exit_code: int | None = None
    usage: Usage = Usage()
    output: str = ""
    """The end of what a command printed, at most 2 KB, scrubbed."""
    output_ref: BlobRef | None = None
    """All that was kept of it: the first and the last part."""
    output_bytes: Count = 0
    links: tuple[RunLink, ...] = ()
    """What came of it for a reader: pull requests, issues, files."""
    said_ref: BlobRef | None = None
    """What its agent said and did, for the steps of its thread; sealed."""
    rework_step: str = ""
    """With `retrying`: the step that runs in its place; absent in older journals."""


class ContractChecked(RunEvent, frozen=True, kw_only=True):
    """What a step hands over was checked against its contract (S1 HandoverConfig)."""

    KIND: ClassVar[str] = "contract.checked"
    contract: str
    """Its type: `json_schema`, `test_suite`, `typescript_interface` …"""
    outcome: ContractOutcome
    attempt: Annotated[int, Meta(ge=1)] = 1
    source: str = ""
    """The file that was checked, or the command that checked."""
    problems: tuple[str, ...] = ()
    """Every failing path with what is wrong there, or the end of the command's output; scrubbed."""
    is_blocking: bool = True
    repairs: tuple[str, ...] = ()
    """What was repaired of JSON before it was checked: `trailing comma`, `words around it` …"""
    summary: str = ""
    """What a reviewer or a judge said; scrubbed."""
    usage: Usage = Usage()
    """What the reviewer's or judge's own call used; a part of its step's."""
    review_session: str | None = None
    """The session of that call, where it has one."""


class ArtifactStored(RunEvent, frozen=True, kw_only=True):
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
    attempt: Annotated[int, Meta(ge=1)] = 1
    repairs: tuple[str, ...] = ()
    """What was repaired of it: these bytes are handed on, those in `written_ref` are what the step wrote."""
    written_ref: BlobRef | None = None
