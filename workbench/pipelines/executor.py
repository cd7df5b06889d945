"""Protocols below the coordinator: what runs steps (`StepExecutor`) and what records a run (`RunJournal`).

Nothing above may assume that a step runs on this machine.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

from workbench.domain.events import ArtifactStored, Event
from workbench.domain.messages import StepEvent, StepId, StepOutcome, StepSpec
from workbench.domain.rows import Action
from workbench.domain.values import BlobRef, Body, Decision

EVENT_PAGE_SIZE: Final = 2_000
"""Events that a journal returns at once; fewer are the last there are."""
OnStepEvent = Callable[[StepEvent], Awaitable[None]]


class AttemptNotReady(Exception):
    """An attempt cannot begin; says why. It is not tried again."""


class StepExecutor(Protocol):
    """Runs attempts at steps (DESIGN section 10)."""

    async def run(self, spec: StepSpec, on_event: OnStepEvent) -> StepOutcome:
        """Start an attempt, or go on with it if it was started before."""
        ...

    async def answer(self, step: StepId, action_id: str, decision: Decision) -> None:
        """Pass on a human's decision; idempotent."""
        ...

    async def cancel(self, step: StepId) -> None:
        """End the whole process group, or the child session, of an attempt."""
        ...

    def opening(self, spec: StepSpec) -> Sequence[Event]:
        """Return what belongs into the transaction that moves the step to running: its child session."""
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

    def now(self) -> int: ...

    def monotonic(self) -> float:
        """Return steady seconds."""
        ...

    def new_id(self) -> str: ...

    def seal(self, data: bytes) -> BlobRef:
        """Store exact bytes."""
        ...

    def unseal(self, ref: BlobRef) -> bytes | None:
        """Return exact bytes; None when they are gone."""
        ...

    def keyed(self, data: bytes) -> str: ...

    def scrubbed(self, text: str, longest: int = 4_000) -> str:
        """Return a text as it may be recorded."""
        ...
