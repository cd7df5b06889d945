"""One session's place at the host: it makes its events, appends them under the lease, reads its blobs.

Every append names the lease epoch, so a host that lost the session cannot write another event of it.
"""

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import cast

from workbench.domain.events import Body, Event
from workbench.domain.rows import Call, Session
from workbench.domain.values import Actor, BlobRef, JsonObject
from workbench.host.kit import Kit
from workbench.journal.lease import LeaseGuard
from workbench.text import canonical


class SealedGone(Exception):
    """Sealed bytes that a call needs are not there any more."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What every handler of an effect is given."""

    kit: Kit
    session_id: str
    guard: LeaseGuard

    def event(
        self,
        body: Body,
        *,
        turn_id: str | None = None,
        call_id: str | None = None,
        action_id: str | None = None,
        actor: Actor | None = None,
    ) -> Event:
        """Make an event of this session, stamped now."""
        return self.kit.journal.event(
            body, self.session_id, actor or Actor(kind="host", pid=os.getpid()),
            turn_id=turn_id, call_id=call_id, action_id=action_id, step=self.kit.charge.step or None,
        )  # fmt: skip

    def call_event(self, body: Body, call: Call, action_id: str | None = None) -> Event:
        """Make an event about a call, stamped now."""
        return self.event(body, turn_id=call.turn_id, call_id=call.id, action_id=action_id)

    async def append(self, *events: Event) -> None:
        """Append events in one transaction and wait until they are there."""
        await asyncio.wrap_future(self.kit.journal.submit(events, guard=self.guard))

    def stream(self, events: Sequence[Event]) -> Future[list[int]]:
        """Append events without waiting; a lost lease is noticed by the next append that is waited for."""
        return self.kit.journal.submit(events, guard=self.guard)

    def session(self) -> Session:
        """Return the session's row as it stands."""
        session = self.kit.journal.session(self.session_id)
        if session is None:
            raise LookupError(f"session {self.session_id} is gone")
        return session

    def unseal(self, ref: BlobRef) -> bytes | None:
        """Return sealed or recorded bytes, None when they are gone."""
        return self.kit.journal.blobs.read(ref)

    def exact(self, recorded: JsonObject, ref: BlobRef | None) -> JsonObject:
        """Return parameters as the agent wrote them.

        Raises:
            SealedGone: the sealed ones are missing; nothing may run on the recorded ones instead.
        """
        if ref is None:
            return recorded
        data = self.unseal(ref)
        if data is None:
            raise SealedGone("the exact parameters of this call are not there any more")
        return cast("JsonObject", canonical.loads(data))

    def new_id(self) -> str:
        """Return a new identifier."""
        return self.kit.clock.new_id()
