"""A run's place in the journal under its lease: what the coordinator is given of it.

Owns nothing that the desk of a session does not own; it names the step in what it appends.
"""

import asyncio
import os
from dataclasses import dataclass

from workbench.domain.body import Body
from workbench.domain.events import Event
from workbench.domain.rows import Action
from workbench.domain.values import Actor, BlobRef
from workbench.host import record
from workbench.host.kit import Kit
from workbench.journal.journal import Journal
from workbench.journal.lease import LeaseGuard
from workbench.pipelines.executor import PAGE


def pending_below(journal: Journal, session_id: str) -> tuple[str, ...]:
    """Return the ids of the actions that wait in a session and in those below it."""
    found = [action.id for action in journal.actions(session_id, states=("pending",))]
    for child in journal.sessions(parent_id=session_id):
        found += pending_below(journal, child.id)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class RunLedger:
    """The session of one run."""

    kit: Kit
    run_id: str
    guard: LeaseGuard

    def event(self, body: Body, *, step: str | None = None, action_id: str | None = None) -> Event:
        """Make an event of the run, stamped now."""
        actor = Actor(kind="host", pid=os.getpid())
        return self.kit.journal.event(body, self.run_id, actor, step=step, action_id=action_id)

    async def append(self, *events: Event) -> None:
        """Append events in one transaction and wait until they are there."""
        await asyncio.wrap_future(self.kit.journal.submit(events, guard=self.guard))

    def stream(self, *events: Event) -> None:
        """Append fast events without waiting."""
        self.kit.journal.submit(events, guard=self.guard)

    def events(self, after: int) -> list[Event]:
        """Return the events of the run after a position."""
        return self.kit.journal.events(self.run_id, after=after, limit=PAGE)

    def action(self, action_id: str) -> Action | None:
        """Return an action by id."""
        return self.kit.journal.action(action_id)

    def pending(self, session_id: str) -> tuple[str, ...]:
        """Return the actions that wait in a session and in those below it."""
        return pending_below(self.kit.journal, session_id)

    def now(self) -> int:
        """Return the journal's time in microseconds."""
        return self.kit.journal.now()

    def monotonic(self) -> float:
        """Return steady seconds."""
        return self.kit.clock.monotonic()

    def new_id(self) -> str:
        """Return a new identifier."""
        return self.kit.clock.new_id()

    def seal(self, data: bytes) -> BlobRef:
        """Store exact bytes."""
        return self.kit.journal.blobs.seal(data)

    def unseal(self, ref: BlobRef) -> bytes | None:
        """Return exact bytes; None when they are gone."""
        return self.kit.journal.blobs.read(ref)

    def keyed(self, data: bytes) -> str:
        """Return the keyed digest of bytes."""
        return self.kit.journal.blobs.keyed(data)

    def scrubbed(self, text: str, longest: int = 4_000) -> str:
        """Return a text as it may be recorded."""
        clean = record.scrubbed(text)
        return clean if len(clean) <= longest else f"{clean[:longest]}… ({len(clean):,} characters)"
