"""The protocols below the coordinator: what runs steps (`StepExecutor`), what has workspaces (`StepMachine`).

Nothing above may assume that a step runs on this machine, or that its workspace lies on this machine's disk.
"""

# DESIGN section 10 has `run`, `answer` and `cancel`; `reattach` is needed too: `run` alone cannot tell
# "continue" from "start again", and running a step twice is the worse mistake. There is one executor. It runs
# programs on a machine, which also has the workspaces (`StepWorkspaces`): above that nobody opens a file of
# them. What machines are given is data with nothing left to fill in, so that it can be sent; bytes are passed
# as references to sealed blobs.

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec import Struct, field

from workbench.domain.events import ArtifactStored, ContractChecked, Event, ProcessStarted
from workbench.domain.step_messages import StepEvent, StepId, StepOutcome, StepSpec
from workbench.domain.values import Decision, Json, JsonObject, RunLink, SandboxLevel, StepKind
from workbench.pipelines.model import (
    ArtifactSpec,
    Contract,
    OutcomeSpec,
    ValidationRule,
    WorkspaceSpec,
)
from workbench.pipelines.step_process import StepProcesses

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
    part: str = ""
    """The part of the attempt that a command is: an id with it is not the step's own."""
    source: str = ""
    """Of a command: what a shell runs."""
    variables: JsonObject = field(default_factory=dict[str, Json])
    """Of a command: the values in it."""
    sandbox: SandboxLevel | None = None
    """Of a command: what it may touch, as the programs of its step; None is outside."""


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
    in_project: bool = False
    """Whether it is a folder of the project itself, which is not made, shipped or removed."""
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


class StepWorkspaces(Protocol):
    """Makes and reads the workspaces of a run on the machine that has them."""

    async def prepare(self, plan: WorkspacePlan) -> tuple[str, ...]:
        """Make a workspace ready; what is there already stays. Return what is to be said of its mounts.

        Raises AttemptNotReady.
        """
        ...

    def local_folder(self, spec: StepSpec) -> str | None:
        """Return where a step works on this machine's disk; None where only another machine has it."""
        ...

    async def write_aggregate(self, spec: StepSpec) -> StepOutcome:
        """Write what several steps left, put together, into the workspace of an aggregate."""
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


class StepMachine(Struct, frozen=True, kw_only=True):
    """A machine that runs programs of steps, and has the workspaces in which they work."""

    workspaces: StepWorkspaces
    processes: StepProcesses


class StepExecutor(Protocol):
    """Runs attempts at steps."""

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
        """End the processes, or the child session, of a part of an attempt; without a part, of all of it."""
        ...

    def leave(self) -> None:
        """Let what outlives this driver continue when its attempts are cancelled: the next one follows it."""
        ...
