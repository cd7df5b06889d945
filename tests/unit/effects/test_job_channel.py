"""The connection between a driver and the owner of a command."""

import asyncio
import socket

from tests.support.waits import PATIENCE
from workbench.effects.job_channel import OUTPUT, JobChannel


def test_a_channel_that_gets_the_number_of_a_closed_one_is_still_watched():
    async def received():
        first, first_far = socket.socketpair()
        closed = JobChannel(first)
        listening = asyncio.create_task(closed.receive())
        await asyncio.sleep(0)
        number = first.fileno()
        listening.cancel()
        closed.close()
        second, far = socket.socketpair()
        assert second.fileno() == number
        with first_far, far:
            channel = JobChannel(second)
            listening.add_done_callback(lambda _: JobChannel(far).send(OUTPUT, b"seen"))
            async with asyncio.timeout(PATIENCE):
                found = await channel.receive()
            channel.close()
            return found

    assert asyncio.run(received()) == (OUTPUT, b"seen")


def test_closing_ends_who_waits_for_a_frame():
    async def received():
        near, far = socket.socketpair()
        channel = JobChannel(near)
        with far:
            waiting = asyncio.create_task(channel.receive())
            await asyncio.sleep(0)
            channel.close()
            async with asyncio.timeout(PATIENCE):
                return await waiting

    assert asyncio.run(received()) is None
