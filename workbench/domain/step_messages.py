"""Messages between the coordinator of a run and the executor of its steps; never recorded as they are."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from workbench.domain.events import ArtifactStored
from workbench.domain.values import BlobRef, Count, Json, JsonObject, RunLink, SandboxLevel, StepKind, Usage


class StepId(Struct, frozen=True, kw_only=True):
    """The id of one attempt at a step, or of a part of it; running the same id again resumes it."""

    run: str
    step: str
    attempt: Annotated[int, Meta(ge=1)] = 1
    part: str = ""
    """A further conversation or command of the attempt: `checkpoint`, `relay-1`, `contract-1`."""

    def __str__(self) -> str:
        whole = f"{self.run}/{self.step}/{self.attempt}"
        return f"{whole}/{self.part}" if self.part else whole

    def with_part(self, part: str) -> "StepId":
        return StepId(run=self.run, step=self.step, attempt=self.attempt, part=part)


class StepSpec(Struct, frozen=True, kw_only=True):
    """All that an executor needs to run one attempt, wherever it runs."""

    id: StepId
    kind: StepKind
    title: str = ""
    """The name of the step in queue and telemetry, for example `nightly #41 · tests`."""
    source: str = ""
    """The prompt, the shell command, or the name of the pipeline, with nothing left to fill in."""
    workspace: str = ""
    """Real path of the folder that it works in."""
    in_project: bool = False
    """Whether that is a folder of the project itself."""
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
    stall_seconds: float = 0.0
    """Seconds without an event after which an agent is ended; 0 sets no limit."""
    relay_percent: int = 0
    """Tokens of context that an agent may use before its conversation is full; 0 for no limit."""
    context_window: int = 0
    """Tokens of that context; 0 takes what is known of the model."""
    thread: str = ""
    """The conversation that it belongs to: what its agent says is kept for the steps after it."""
    sandbox: SandboxLevel | None = None
    """What its program may touch; None runs it as the user."""


class StepEvent(Struct, frozen=True, kw_only=True):
    """Something of a running step that the coordinator records."""

    kind: Literal["process", "output", "progress"]
    """`process`: it runs on this machine, as that process; `progress`: it runs elsewhere."""
    text: str = ""
    offset: Count = 0
    pid: int = 0
    group: int = 0
    start_time: str = ""
    mark: str = ""
    part: str = ""
    """The part of the attempt that it belongs to."""


class StepOutcome(Struct, frozen=True, kw_only=True):
    """How a call of `run` ended: completed, failed, cancelled, parked (it asks and holds no slot) or lost.

    Of one that is lost it is not known how it ended: only a human says what becomes of it.
    """

    state: Literal["completed", "failed", "parked", "cancelled", "lost"]
    reason: str = ""
    is_retryable: bool = True
    is_unanswered: bool = False
    """Whether it failed because a question expired or no human could be asked."""
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
    rejected: tuple[str, ...] = ()
    """The files that a human did not let it write, one for each rejected call."""
    denied: tuple[str, ...] = ()
    """The files that a policy or its persona did not let it write, one for each refused call."""
    unanswered: tuple[str, ...] = ()
    """The files of calls that nobody answered in time."""
    artifacts: tuple[ArtifactStored, ...] = ()
    """What a run below hands on."""
    links: tuple[RunLink, ...] = ()
    """What came of a run below, for a reader."""
    is_full: bool = False
    """Parked, because the conversation is full: somebody has to go on from a checkpoint."""
    transcript_ref: BlobRef | None = None
    """That conversation as text, sealed; of a step in a thread, what its agent said and did."""
