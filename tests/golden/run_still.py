"""A coordinator of pipeline runs that does the same thing twice.

Owns what `still` does not: steps that run side by side come to a turnstile before anything of them executes,
and one passes when nothing else moves. The journal shows them running together; their ends have an order.
"""

import asyncio
import contextlib
import functools
import threading
import uuid
from collections import defaultdict, deque
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

from msgspec.structs import replace

from tests.golden.still import StillLines, own_parameters, stopped_clock
from workbench.effects.command_execution import Command, prepare_command
from workbench.effects.owned_command import Jobs
from workbench.host import command_output
from workbench.host.command_output import CommandOutput
from workbench.host.steps import pipeline_tool, run_driver, step_program
from workbench.pipelines.coordinator import Coordinator

COMMAND = 2.4
"""Seconds that a command takes before it prints."""


class Turnstile:
    """Lets one attempt execute at a time, in the order in which they came, when nothing else moves."""

    def __init__(self):
        self._queue = deque()
        self._moving = 0
        self.resting = {}
        """Of each coordinator at work: whether it waits and was not rung."""

    def begin(self):
        self._moving += 1

    def end(self):
        self._moving -= 1
        self.turn()

    async def passed(self):
        """Wait for the turn."""
        ticket = asyncio.get_running_loop().create_future()
        self._queue.append(ticket)
        self.end()
        await ticket

    def turn(self):
        is_still = all(is_resting() for is_resting in self.resting.values())
        if self._queue and is_still and not self._moving:
            self.begin()
            self._queue.popleft().set_result(None)


class StillRung:
    """Tells the turnstile when its coordinator waits."""

    def __init__(self, turnstile, rung, has_read_all):
        self._turnstile, self._rung, self._has_read_all = turnstile, rung, has_read_all
        self.set, self.clear = rung.set, rung.clear

    async def wait(self):
        # A ring may still be on its way from the thread that wrote: what is not read yet counts as one.
        self._turnstile.resting[self] = lambda: not self._rung.is_set() and self._has_read_all()
        self._turnstile.turn()
        try:
            await self._rung.wait()
        finally:
            self._turnstile.resting[self] = lambda: False


class StillExecutor:
    """Runs every step but commands through the turnstile; commands go through it themselves."""

    def __init__(self, turnstile, real):
        self._turnstile, self._real = turnstile, real

    def __getattr__(self, name):
        return getattr(self._real, name)

    async def run(self, spec, on_event):
        if spec.kind != "command":
            await self._turnstile.passed()
        return await self._real.run(spec, on_event)


class StillCoordinator(Coordinator):
    """Sends every attempt through the turnstile."""

    def __init__(self, turnstile, context, slots):
        self.turnstile = turnstile
        executor = StillExecutor(turnstile, context.executor)
        rung = StillRung(turnstile, context.wake, self._has_read_all)
        super().__init__(replace(context, executor=executor, wake=rung), slots)

    async def run(self, until):
        rung, is_below = self.context.wake, bool(self.turnstile.resting)
        self.turnstile.resting[rung] = lambda: False
        if is_below:  # the attempt that started it stands still meanwhile
            self.turnstile.end()
        try:
            await super().run(until)
        finally:
            del self.turnstile.resting[rung]
            if is_below:
                self.turnstile.begin()

    def _has_read_all(self):
        return not self.context.journal.events(self.state.cursor)

    def _start_ready_steps(self):
        before = set(self._tasks)
        super()._start_ready_steps()
        for _ in set(self._tasks) - before:
            self.turnstile.begin()

    async def _perform(self, step, found):
        try:
            await super()._perform(step, found)
        finally:
            self.turnstile.end()


class StillOutput(CommandOutput):
    """Streams an output when it is whole, however it came through the pipe."""

    def __init__(self, write, monotonic, **offsets):
        super().__init__(write, monotonic, **offsets)
        self._whole = b""

    def feed(self, data):
        self._whole += data

    def close(self):
        super().feed(self._whole)
        super().close()


class StillCommand:
    """A command that waits for its turn; a child of this process, which no owner continues."""

    def __init__(self, clock, turnstile, real):
        self._clock, self._turnstile, self._real = clock, turnstile, real
        self.identity, self.abandon = real.identity, real.abandon

    async def go(self, on_output, *words, on_stdout=None, is_left=None, **more):
        del is_left
        await self._turnstile.passed()
        self._clock.advance(COMMAND)
        if on_stdout is None:
            return await self._real.go(on_output, *words, **more)
        # Of two pipes one is read first by chance: standard error follows here.
        errors = []
        end = await self._real.go(errors.append, *words, on_stdout=on_stdout, **more)
        for data in errors:
            on_output(data)
        return end


async def _inline(work, *words, **more):
    return work(*words, **more)


def _run_apart(coroutine, *, run=asyncio.run):
    """Drive a loop below another one in a thread, for which the other one waits."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run(coroutine)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run, coroutine).result()


@contextlib.contextmanager
def run_stillness(clock):
    """Within it runs of this process go on without chance."""
    turnstiles = defaultdict(Turnstile)

    def turnstile():
        return turnstiles[threading.get_ident()]

    async def prepared(_jobs, _session, argv, cwd, env, mark, **more):
        real = prepare_command(argv, cwd, env, f"{mark}.{uuid.uuid4()}", **own_parameters(more))
        assert isinstance(real, Command)
        return StillCommand(clock, turnstile(), real)

    with contextlib.ExitStack() as stack:
        for owner, name, still in (
            (asyncio, "to_thread", _inline),
            (asyncio, "run", _run_apart),
            (run_driver, "running_clock", stopped_clock),
            # It looks at the clock whenever something rang, and a look takes time here.
            (pipeline_tool._RunWatch, "ends", lambda watch, coordinator: False),
            (run_driver, "Coordinator", lambda *parts: StillCoordinator(turnstile(), *parts)),
            (Jobs, "prepare", prepared),
            (step_program, "CommandOutput", StillOutput),
            (command_output, "DeltaWriter", functools.partial(StillLines, clock)),
        ):
            stack.enter_context(mock.patch.object(owner, name, still))
        yield
