"""The protocol by which a run is recorded: its session in the journal, under its lease."""

from typing import Final, Protocol

from workbench.domain.events import ArtifactStored, Event
from workbench.domain.rows import Action
from workbench.domain.values import BlobRef, Body, Decision

EVENT_PAGE_SIZE: Final = 2_000
"""Events that a journal returns at once; fewer are the last there are."""


class ExactBlobs(Protocol):
    """Exact bytes by reference, wherever they are kept: all that a machine without the journal is given."""

    def seal(self, data: bytes) -> BlobRef:
        """Store exact bytes."""
        ...

    def unseal(self, ref: BlobRef) -> bytes | None:
        """Return exact bytes; None when they are gone."""
        ...

    def keyed(self, data: bytes) -> str:
        """Return the digest of bytes under the key of the home."""
        ...


class RunJournal(ExactBlobs, Protocol):
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

    def record(self, data: bytes) -> BlobRef:
        """Store bytes that may be shown: scrubbed before."""
        ...

    def scrubbed(self, text: str, longest: int = 4_000) -> str:
        """Return a text as it may be recorded."""
        ...
