"""What connects the driver of an agent to the connections of that agent."""

import asyncio
from typing import Protocol

from workbench.supervised.messages import AgentMessage, CallAnswer


class AgentConnection(Protocol):
    """One connection of an agent."""

    def send(self, answer: CallAnswer) -> bool:
        """Send an answer; False if the connection is gone."""
        ...


class AgentLink:
    """What the connections of one agent's session say, in the order in which it arrives."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[tuple[AgentConnection, AgentMessage | None]] = asyncio.Queue()
        """A message, or None where the connection has ended."""
        self.connections: set[AgentConnection] = set()
        self.changed = asyncio.Event()

    def put(self, connection: AgentConnection, message: AgentMessage | None) -> None:
        if message is None:
            self.connections.discard(connection)
        else:
            self.connections.add(connection)
        self.messages.put_nowait((connection, message))
        self.changed.set()
