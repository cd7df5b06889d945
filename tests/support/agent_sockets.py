"""A socket of agents in a running loop, and connections to it."""

import asyncio
import contextlib
import json
import os

from tests.support.waits import PATIENCE, until_true
from workbench.host import agent_socket
from workbench.host.agent_link import AgentLink
from workbench.host.agent_socket import AgentSocket

CLIENTS = []


class Client:
    """A connection to a socket of a running loop."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, folder, name="x.sock"):
        # By a descriptor, as the address of a deep folder is too long.
        directory = os.open(folder, os.O_RDONLY)
        try:
            CLIENTS.append(cls(*await asyncio.open_unix_connection(f"/proc/self/fd/{directory}/{name}")))
            return CLIENTS[-1]
        finally:
            os.close(directory)

    def say(self, *messages):
        for message in messages:
            self.writer.write(
                (message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n"
            )

    async def line(self):
        """Return the next answer; None at the end."""
        data = await asyncio.wait_for(self.reader.readline(), PATIENCE)
        return json.loads(data) if data else None

    def close(self):
        self.writer.close()

    async def end(self):
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


def serve(tmp_path, monkeypatch):
    """Return what runs a scenario with a socket whose agents join one link, or what `join` returns."""
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setattr(agent_socket, "agent_socket_name", lambda _: "x.sock")

    class Place:
        run = tmp_path / "run"

    def run(scenario, join=None):
        async def work():
            link = AgentLink()
            async with AgentSocket(Place, "/w", join or (lambda hello, peer: link)):
                try:
                    return await scenario(Place.run, link)
                finally:
                    while CLIENTS:
                        await CLIENTS.pop().end()

        return asyncio.run(asyncio.wait_for(work(), PATIENCE))

    return run


async def next_message(link):
    return await until_true(link.next_message)
