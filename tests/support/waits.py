"""Waits for what must come: as long as the busiest machine takes, and not a moment longer than it takes here."""

import asyncio
import contextlib
import inspect
import os
import select
import time
from pathlib import Path

PATIENCE = 120.0
"""Seconds after which what must come is taken as lost: only a test that fails waits so long."""
_LOOK_SECONDS = 0.02


def is_readable(file, seconds=0.0):
    """Wait until a file is readable or closed, for a limited time; its descriptor may have any number."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(seconds * 1_000))


def until(holds, said=lambda: "it did not come"):
    """Wait until a function returns something true, and return that; `said` tells what there is instead."""
    end = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < end, said()
        time.sleep(_LOOK_SECONDS)
    return found


def until_file_clock_moves(path):
    """Wait until a change of a file gets a later time than its last one: that clock moves in steps."""
    before = path.stat().st_ctime_ns
    until(lambda: os.utime(path) or path.stat().st_ctime_ns > before)


async def until_true(holds, pause=None, said=lambda: "it did not come"):
    """Wait as `until`, beside the work of a loop.

    `holds` may be a coroutine function. `pause` lets the loop work between two looks; without it that is a sleep.
    """
    end = time.monotonic() + PATIENCE
    while True:
        found = holds()
        if inspect.isawaitable(found):
            found = await found
        if found:
            return found
        assert time.monotonic() < end, said()
        await (pause() if pause else asyncio.sleep(_LOOK_SECONDS))
        # A pause that has nothing to wait for would keep the loop from all that is looked for.
        await asyncio.sleep(0)


def is_at_work(pid, but_thread=0):
    """Return whether a thread of a process, but for one, has or wants a processor."""
    for path in Path(f"/proc/{pid}/task").glob("*/stat"):
        with contextlib.suppress(OSError):
            state = path.read_text().rpartition(")")[2].split()[0]
            if state == "R" and path.parent.name != str(but_thread):
                return True
    return False
