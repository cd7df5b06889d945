"""The protocol of the processes that run programs of steps (`StepProcesses`), on this machine or another.

Everything that a process prints comes up exact. What is above the protocol scrubs, bounds and counts it.
"""

# An implementation starts a process, follows it, stops it and finds it again; it knows nothing of agents,
# prices, limits, retries or the journal. A process is known by its `StepId`: with its `part` no two jobs of a
# run have the same one.

import asyncio
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct, field

from workbench.domain.events import ProcessStarted
from workbench.domain.step_messages import StepEvent, StepId
from workbench.domain.values import SandboxLevel, SandboxRefusal

OnBytes = Callable[[bytes], None]


class StepJob(Struct, frozen=True, kw_only=True):
    """A program to run, with nothing left to fill in."""

    id: StepId
    argv: tuple[str, ...]
    folder: str
    """Where it starts, by the name that a workspace has in its plan."""
    in_project: bool = False
    """Whether that is a folder of the project itself."""
    environment: dict[str, str] = field(default_factory=dict[str, str])
    """Variables added to those that its machine gives it."""
    stdin: bytes = b""
    is_apart: bool = False
    """Whether standard output is a result: it has a pipe of its own and is kept whole, up to MOST_STDOUT."""
    sandbox: SandboxLevel | None = None
    """What it may touch; None runs it as the user."""
    can_nest: bool = False
    """Whether it may make sandboxes of its own in its sandbox."""
    timeout_seconds: float | None = None
    """How long it may run, also while no driver follows it."""
    stall_seconds: float = 0.0
    """How long it may print nothing, also while no driver follows it; 0 sets no limit."""
    outlives: bool = False
    """Whether it continues when its driver dies or ends, instead of being ended."""


class ProcessEnd(Struct, frozen=True, kw_only=True):
    """How a process ended, once nothing of it runs any more."""

    code: int | None = None
    """Its exit code; None where a signal ended it, or it never ran."""
    signal: int | None = None
    timed_out: bool = False
    stalled: bool = False
    """Whether it was ended because it printed nothing for too long."""
    stopped: bool = False
    boxed_folder: str = ""
    """Real path of the folder that its sandbox was made for; empty without a sandbox."""
    refusals: tuple[SandboxRefusal, ...] = ()
    """What it left and might not leave in that folder."""


class ProcessLost(Exception):
    """How a process ended is not known; says why. Nothing of it runs any more."""


class StepProcess(Protocol):
    """A process of a step."""

    @property
    def started(self) -> StepEvent:
        """Return what is recorded of its start: `process`, or `progress` where it runs elsewhere."""
        ...

    async def follow(self, on_output: OnBytes, on_stdout: OnBytes | None, stop: asyncio.Event) -> ProcessEnd:
        """Let the process go if it waits, and follow it from its first byte to its end.

        `on_output` is given standard output and error, in order; with `on_stdout`, for a job that `is_apart`,
        it is given standard error alone. `stop`: ends the process when set; if it is set before the start,
        nothing runs. If this is cancelled, the process is ended, unless it was left (`StepProcesses.leave`).
        Raises ProcessLost, and AttemptNotReady where it could not start after all.
        """
        ...

    def abandon(self) -> None:
        """Give up a process that was not followed yet: it never runs. Twice is harmless."""
        ...


class StepProcesses(Protocol):
    """Starts processes on one machine and finds those again that an earlier driver started."""

    async def start(self, job: StepJob) -> StepProcess:
        """Prepare a process: nothing runs before it is followed. Raises AttemptNotReady."""
        ...

    async def find(self, step: StepId, started: ProcessStarted | None) -> StepProcess | None:
        """Return a process that runs or whose end is kept; None for one that never ran.

        `started`: what the journal has of it. One that is neither running nor kept is returned as well: its
        `follow` raises ProcessLost. Where None is returned, nothing of it runs any more.
        """
        ...

    def leave(self) -> None:
        """Leave the processes that outlive their driver running when the driver stops following them."""
        ...
