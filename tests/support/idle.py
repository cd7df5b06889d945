"""Waits until an app has nothing left to do; Textual's own tests wait until the processor seems to rest.

Nothing left to do: no callback of the loop is ready, none is due within a frame of the screen, and no thread that
the loop started is at work. A thread that only waits for something (a test holds it back) is not at work.

Time is what the processor gave this process and what was slept on purpose: beside other work a second on the clock
may be no time at all.
"""

import asyncio
import os
import threading
from asyncio.base_events import BaseEventLoop
from time import process_time
from weakref import WeakKeyDictionary

from tests.support.waits import is_at_work

FRAME_SECONDS = 0.04
"""A little more than the longest pause between two frames of the screen: a redraw that was put off is waited for."""
PATIENCE_SECONDS = 1.0
"""What always has something due, such as a replay that plays, counts as idle after this time."""
QUIET_ROUNDS = 2
_LOOK_SECONDS = 0.02
_AT_REST_SECONDS = 0.001

_threads: WeakKeyDictionary[asyncio.AbstractEventLoop, set[asyncio.Future]] = WeakKeyDictionary()
_run_in_executor = BaseEventLoop.run_in_executor


def _run_and_note(loop, executor, function, *arguments):
    future = _run_in_executor(loop, executor, function, *arguments)
    running = _threads.setdefault(loop, set())
    running.add(future)
    future.add_done_callback(running.discard)
    return future


def _next_due(loop):
    """Return when the next callback is due, without clocks: what ticks for ever is never done."""
    soon = sorted(timer.when() for timer in loop._scheduled if not timer.cancelled())
    if not soon or soon[0] - loop.time() > FRAME_SECONDS:
        return soon[0] if soon else float("inf")
    clocks = {
        id(task._fut_waiter)
        for task in asyncio.all_tasks(loop)
        if task.get_name().startswith("set_interval#")
    }
    return min(
        (
            timer.when()
            for timer in loop._scheduled
            if not timer.cancelled() and not (timer._args and id(timer._args[0]) in clocks)
        ),
        default=float("inf"),
    )


async def until_idle(min_sleep=0.0, max_sleep=PATIENCE_SECONDS):
    """Return when the running loop has nothing left to do."""
    loop = asyncio.get_running_loop()
    began, slept, quiet = process_time(), 0.0, 0
    while quiet < QUIET_ROUNDS and process_time() - began + slept < max_sleep:
        await asyncio.sleep(0)
        if loop._ready:
            quiet = 0
        elif running := _threads.get(loop):
            used = process_time()
            done, _ = await asyncio.wait(
                tuple(running), timeout=_LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            slept += 0.0 if done else _LOOK_SECONDS
            is_resting = not done and process_time() - used <= _AT_REST_SECONDS
            if is_resting and not is_at_work(os.getpid(), threading.get_native_id()):
                return
            quiet = 0
        else:
            wait = _next_due(loop) - loop.time()
            quiet = quiet + 1 if wait > FRAME_SECONDS else 0
            if quiet < QUIET_ROUNDS:
                pause = 0.001 if quiet else max(wait, 0.0)
                slept += pause
                await asyncio.sleep(pause)


async def until_handled(pilot, timeout=PATIENCE_SECONDS):
    """Return when every message that was sent is handled.

    Textual sends one more to each widget to know that, before and after each key: half of all work of a test.
    """
    loop = asyncio.get_running_loop()
    began = process_time()
    while process_time() - began < timeout:
        await asyncio.sleep(0)
        if not loop._ready:
            break
    return True


def install(monkeypatch):
    """Let apps under test wait this way."""
    monkeypatch.setattr(BaseEventLoop, "run_in_executor", _run_and_note)
    monkeypatch.setattr("textual.app.wait_for_idle", until_idle)
    monkeypatch.setattr("textual.pilot.wait_for_idle", until_idle)
    monkeypatch.setattr("textual.pilot.Pilot._wait_for_screen", until_handled)
