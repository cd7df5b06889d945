"""Protocols below the coordinator: what runs steps (`StepExecutor`) and what records a run (`RunJournal`).

Nothing above may assume that a step runs on this machine, or that its workspace lies on this machine's disk.
"""

# DESIGN section 10 has `run`, `answer` and `cancel`. Beside them stand those that touch a step's workspace
# (`prepare`, `collect`, `check`, `read_reviewed`), for above them nobody opens a file of it, and `reattach`:
# `run` alone cannot tell "continue" from "start again", and running a step twice is the worse mistake. What
# they are given is data with nothing left to fill in, so that it can be sent; bytes are passed as references
# to sealed blobs.

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

from msgspec import Struct, field

from workbench.domain.events import ArtifactStored, ContractChecked, Event, ProcessStarted
from workbench.domain.messages import StepEvent, StepId, StepOutcome, StepSpec
from workbench.domain.rows import Action
from workbench.domain.values import BlobRef, Body, Decision, Json, JsonObject, RunLink, StepKind
from workbench.pipelines.model import (
    ArtifactSpec,
    Contract,
    OutcomeSpec,
    ValidationRule,
    WorkspaceSpec,
)

EVENT_PAGE_SIZE: Final = 2_000
"""Events that a journal returns at once; fewer are the last there are."""
OnStepEvent = Callable[[StepEvent], Awaitable[None]]


class AttemptNotReady(Exception):
    """An attempt cannot start; says why. It is not tried again."""


class PlacedFile(Struct, frozen=True, kw_only=True):
    """A copy of an artifact of an earlier step in the workspace of a later one."""

    path: str
    """Relative to the workspace."""
    artifact: ArtifactStored
    is_optional: bool = False
    """It goes only where nothing is, and the step runs without it."""


class Requirement(Struct, frozen=True, kw_only=True):
    """A rule that has to hold before a step runs."""

    rule: ValidationRule
    source: str = ""
    """Of a command: what a shell runs."""
    variables: JsonObject = field(default_factory=dict[str, Json])
    """Of a command: the values in it."""


class MountSubset(Struct, frozen=True, kw_only=True):
    """The files that a mount is narrowed to."""

    names: tuple[str, ...]
    """Relative to what is mounted, none of them leading out of it."""
    outside: tuple[str, ...] = ()
    """Named paths that lead out of it."""


class WorkspacePlan(Struct, frozen=True, kw_only=True):
    """The workspace of one attempt: what is put there before it runs, and what is looked for afterwards."""

    id: StepId
    kind: StepKind
    path: str
    """Names the workspace: its folder on this machine, or what another one knows it by."""
    folder: str
    """The folder of it that a command starts in."""
    spec: WorkspaceSpec
    subsets: tuple[MountSubset | None, ...] = ()
    """What its mounts are narrowed to, in their order."""
    project_files: tuple[str, ...] = ()
    placed: tuple[PlacedFile, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    outputs: tuple[ArtifactSpec, ...] = ()
    outcomes: tuple[OutcomeSpec, ...] = ()
    is_checked: bool = False
    """Whether contracts look at what it left."""


class StepResults(Struct, frozen=True, kw_only=True):
    """What was found in a workspace after an attempt."""

    stored: tuple[ArtifactStored, ...] = ()
    missing: tuple[str, ...] = ()
    """Why the attempt failed although its program did not, in words: a required artifact is not there."""
    left_out: tuple[str, ...] = ()
    """Others that are there and were not taken, and links that were not found, in words."""
    links: tuple[RunLink, ...] = ()


class CheckedContract(Struct, frozen=True, kw_only=True):
    """What a check came to."""

    event: ContractChecked
    repaired: str | None = None
    """The JSON that is handed on instead of what was written; None where nothing was repaired."""


class ReviewedFiles(Struct, frozen=True, kw_only=True):
    """What a reviewer is shown of a workspace."""

    source: str = ""
    """The file that is reviewed; empty where none is."""
    text: str = ""
    problem: str = ""
    """Why it cannot be reviewed."""
    changes: tuple[str, ...] = ()
    """What changed since the last commit, once for each context that asks for it."""


class StepExecutor(Protocol):
    """Runs attempts at steps, and is alone in touching their workspaces."""

    async def prepare(self, plan: WorkspacePlan) -> tuple[str, ...]:
        """Make a workspace ready; what is there already stays. Return what is to be said of its mounts.

        Raises AttemptNotReady.
        """
        ...

    def opening(self, spec: StepSpec) -> Sequence[Event]:
        """Return what belongs into the transaction that moves the step to running: its child session."""
        ...

    async def run(self, spec: StepSpec, on_event: OnStepEvent) -> StepOutcome:
        """Start an attempt, or continue with it if it was started before."""
        ...

    async def reattach(self, step: StepId, process: ProcessStarted | None, session_id: str | None) -> bool:
        """Return whether `run` continues with an attempt that an earlier driver started and did not see end.

        Where it does not, nothing of that attempt runs any more once this returns: a new one may start.
        """
        ...

    async def answer(self, step: StepId, action_id: str, decision: Decision) -> None:
        """Pass on a human's decision to an attempt that is parked, before it continues; idempotent."""
        ...

    async def cancel(self, step: StepId) -> None:
        """End the whole process group, or the child session, of an attempt."""
        ...

    async def collect(self, plan: WorkspacePlan, outcome: StepOutcome) -> StepResults:
        """Give back what a completed attempt changed in the project, and seal what it left."""
        ...

    async def check(self, plan: WorkspacePlan, contract: Contract) -> CheckedContract:
        """Check a contract that looks at a file."""
        ...

    async def read_reviewed(self, plan: WorkspacePlan, contract: Contract) -> ReviewedFiles:
        """Return what a reviewer is shown of the workspace."""
        ...


class RunJournal(Protocol):
    """The run's session in the journal, under its lease."""

    @property
    def run_id(self) -> str: ...

    def event(self, body: Body, *, step: str | None = None, action_id: str | None = None) -> Event:
        """Make an event of the run, stamped now."""
        ...

    async def append(self, *events: Event) -> None: ...

    def stream(self, *events: Event) -> object: ...

    def events(self, after: int) -> list[Event]:
        """Return the next events of the run after a position, at most `EVENT_PAGE_SIZE`."""
        ...

    def action(self, action_id: str) -> Action | None: ...

    def artifact_of_pipeline(self, pipeline: str, step: str, name: str) -> tuple[str, ArtifactStored] | None:
        """Return a run of another pipeline, by its title, and the artifact that it left.

        Of the runs that are completed the last one counts, one below the same topmost run before all others.
        Without a step the last of its steps with such an artifact counts.
        """
        ...

    def pending(self, session_id: str) -> tuple[str, ...]:
        """Return the ids of the actions of a session that wait for a human."""
        ...

    def decisions(self, session_id: str) -> list[Decision]:
        """Return what was decided about the actions of a session, in the order they were opened."""
        ...

    def now(self) -> int: ...

    def monotonic(self) -> float:
        """Return steady seconds."""
        ...

    def new_id(self) -> str: ...

    def seal(self, data: bytes) -> BlobRef:
        """Store exact bytes."""
        ...

    def record(self, data: bytes) -> BlobRef:
        """Store bytes that may be shown: scrubbed before."""
        ...

    def unseal(self, ref: BlobRef) -> bytes | None:
        """Return exact bytes; None when they are gone."""
        ...

    def keyed(self, data: bytes) -> str: ...

    def scrubbed(self, text: str, longest: int = 4_000) -> str:
        """Return a text as it may be recorded."""
        ...
