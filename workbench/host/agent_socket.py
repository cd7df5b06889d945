"""The Unix socket on which agents of one workspace ask before they act; one JSON message each line.

The socket is in a private folder, and only processes of this user may connect. An answer goes only to the
connection that asked. Nothing that is said here can approve a call.
"""

import asyncio
import contextlib
import logging
import os
from typing import Final

from workbench.bridge.hook_input import is_hook_header
from workbench.effects.unix_sockets import Peer, connected_peer, listen_in_folder
from workbench.host.agent_link import JoinAgent
from workbench.host.hook_connection import HookConnection
from workbench.host.host_locks import workspace_hash
from workbench.host.supervised_session import SessionNotTaken
from workbench.journal.errors import JournalError
from workbench.journal.home import Home
from workbench.supervised.messages import (
    MAX_LINE_BYTES,
    AgentMessage,
    CallAnswer,
    CallNote,
    ConnectionRefused,
    Hello,
    MessageRefused,
    decode_message,
    encode_answer,
)

LOG = logging.getLogger("workbench.host")
MOST_CONNECTIONS: Final = 128
"""Connections that are open at once; further ones are refused."""
MOST_LARGE_INPUTS: Final = 4
"""Large inputs of hooks that are read at once; the others wait."""
HELLO_SECONDS: Final = 10.0
"""Seconds that a connection may take to say which agent it belongs to."""


def agent_socket_name(workspace: str) -> str:
    """Return the name of a workspace's socket in the `run` folder of the data folder."""
    return f"{workspace_hash(workspace)}.sock"


class AgentSocket:
    """Listens while its block runs; the caller holds the lock of the workspace's host."""

    def __init__(self, home: Home, workspace: str, join: JoinAgent) -> None:
        self._home, self._name, self._join = home, agent_socket_name(workspace), join
        self._workspace = workspace
        self._large_inputs = asyncio.Semaphore(MOST_LARGE_INPUTS)
        self._connections: dict[_SocketConnection, asyncio.Task[None]] = {}
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> "AgentSocket":
        """Begin to listen; without a socket no agent can connect, which is logged."""
        try:
            listener = listen_in_folder(self._home.run, self._name)
        except OSError as error:
            LOG.error("other agents cannot connect: %s was not opened: %s", self._name, error.strerror)
            return self
        self._server = await asyncio.start_unix_server(self._accept, sock=listener, limit=MAX_LINE_BYTES)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
            with contextlib.suppress(OSError):
                (self._home.run / self._name).unlink()
        tasks = list(self._connections.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = connected_peer(writer.get_extra_info("socket"))
        connection = _SocketConnection(reader, writer)
        task = asyncio.current_task()
        assert task is not None
        self._connections[connection] = task
        try:
            if peer is not None and peer.uid != os.geteuid():
                connection.refuse("it belongs to another user")
            elif len(self._connections) > MOST_CONNECTIONS:
                connection.refuse(f"{MOST_CONNECTIONS} connections are open already")
            else:
                await self._serve(connection, reader, writer, peer)
        except (MessageRefused, SessionNotTaken) as error:
            connection.refuse(str(error))
        except JournalError as error:
            LOG.error("an agent was not let in: %s", error)
            connection.refuse("the journal could not be written")
        except (TimeoutError, ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            await connection.end()
            del self._connections[connection]

    async def _serve(
        self, connection: "_SocketConnection", reader: asyncio.StreamReader, writer: asyncio.StreamWriter,
        peer: Peer | None,
    ) -> None:  # fmt: skip
        line = await asyncio.wait_for(connection.line(), HELLO_SECONDS)
        if line is not None and is_hook_header(line):
            hook = HookConnection(reader, writer, self._workspace, self._large_inputs)
            await hook.serve(line, self._join, peer)
        elif line is not None:
            await connection.serve(line, self._join, peer)


class _SocketConnection:
    """One connection of an agent."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    def send(self, answer: CallAnswer | CallNote) -> bool:
        if self._writer.is_closing():
            return False
        self._writer.write(encode_answer(answer))
        return True

    def refuse(self, why: str) -> None:
        self._writer.write(encode_answer(ConnectionRefused(why=why)))

    def close(self) -> None:
        self._writer.close()

    async def end(self) -> None:
        """Close the connection when what was written is sent."""
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def serve(self, line: bytes, join: JoinAgent, peer: Peer | None) -> None:
        """Pass what the agent says to the link of its session until the connection ends."""
        hello = decode_message(line)
        if not isinstance(hello, Hello):
            raise MessageRefused("the first message has to be a hello")
        link = join(hello, peer)
        link.put(self, hello)
        try:
            while (message := await self._message()) is not None:
                await link.wait_for_room()
                link.put(self, message)
        finally:
            link.put(self, None)

    async def _message(self) -> AgentMessage | None:
        """Return the next message, or None at the end. Raises MessageRefused."""
        line = await self.line()
        return None if line is None else decode_message(line)

    async def line(self) -> bytes | None:
        """Return the next line, or None at the end. Raises MessageRefused."""
        try:
            return await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError:
            return None
        except asyncio.LimitOverrunError:
            raise MessageRefused(f"a message is longer than {MAX_LINE_BYTES:,} bytes") from None
