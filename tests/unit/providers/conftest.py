import asyncio

import pytest

from tests.support.chat_server import ChatServer
from tests.support.waits import PATIENCE
from workbench.domain.messages import Message, ModelRequest
from workbench.providers.base import Endpoint
from workbench.providers.openai_compatible import OpenAICompatible


@pytest.fixture
def serving():
    servers = []

    def start(*answers, **more):
        servers.append(ChatServer(*answers, **more))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def ask():
    """Ask an address for one reply and return its parts."""

    def run(base_url, request=None, **more):
        endpoint = Endpoint(name="local", base_url=base_url, **{"silence_seconds": PATIENCE, **more})
        hello = ModelRequest(session_id="s", model="m", messages=(Message(role="user", content="hi"),))
        provider = OpenAICompatible(endpoint)

        async def collect():
            return [part async for part in provider.reply(request or hello)]

        return asyncio.run(asyncio.wait_for(collect(), PATIENCE))

    return run
