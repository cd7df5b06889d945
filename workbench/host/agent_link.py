"""The connections of one agent's session, and the messages that its driver has not read yet."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from workbench.effects.process_table import ProcessIdentity, is_running
from workbench.effects.unix_sockets import Peer
from workbench.supervised.messages import AgentMessage, CallAnswer, CallNote, Hello

MOST_UNREAD: Final = 64
"""Messages of one session after which its connections are not read until the driver has read some."""


class AgentConnection(Protocol):
    """One connection of an agent."""

    def send(self, answer: CallAnswer | CallNote) -> bool:
        """Send an answer; False if the connection is gone."""
        ...

    def close(self) -> None:
        """End the connection: its agent may connect again."""
        ...


class AgentLink:
    """What the connections of one agent's session say, in the order in which it arrives."""

    def __init__(self) -> None:
        self._messages: deque[tuple[AgentConnection, AgentMessage | None]] = deque()
        self._has_room = asyncio.Event()
        self._has_room.set()
        self.connections: set[AgentConnection] = set()
        self.processes: set[ProcessIdentity] = set()
        """Agents that connect for each message."""
        self.changed = asyncio.Event()

    def put(self, connection: AgentConnection, message: AgentMessage | None) -> None:
        """Add a message; None is the end of the connection."""
        if message is None:
            self.connections.discard(connection)
        else:
            self.connections.add(connection)
        self._messages.append((connection, message))
        if len(self._messages) >= MOST_UNREAD:
            self._has_room.clear()
        self.changed.set()

    async def wait_for_room(self) -> None:
        """Wait until the driver has read so many messages that another one may be added."""
        await self._has_room.wait()

    def next_message(self) -> tuple[AgentConnection, AgentMessage | None] | None:
        """Return the next message and its connection, which has ended where the message is None."""
        if not self._messages:
            self._has_room.set()
            return None
        return self._messages.popleft()

    def has_unread(self) -> bool:
        return bool(self._messages)

    def is_agent_here(self) -> bool:
        """Return whether a connection is open, or a process runs that connects for each message."""
        self.processes = {process for process in self.processes if is_running(process)}
        return bool(self.connections or self.processes)

    def is_busy(self) -> bool:
        """Return whether the agent is here, or said something that was not read."""
        return self.has_unread() or self.is_agent_here()

    def close(self) -> None:
        """End every connection, because no driver reads what it says."""
        for connection in tuple(self.connections):
            connection.close()


JoinAgent = Callable[[Hello, Peer | None], AgentLink]
"""Returns the link of an agent's session. Raises SessionNotTaken."""
