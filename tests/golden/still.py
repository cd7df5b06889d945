"""A kernel that does the same thing twice: what makes a golden session come out byte for byte the same.

Owns every place where time, chance or the machine would show: the clock and identifiers, process numbers,
how a stream is cut, which of several due effects starts first, where the folders are. Everything else is
the kernel as it is.
"""

import asyncio
import contextlib
import functools
import hashlib
import os
import uuid
from unittest import mock

from msgspec.structs import replace

from workbench.agents.planner import CallModel, Execute, StopCall, StopModel
from workbench.domain.events import (
    CallFinished,
    HookRan,
    IncidentChecked,
    LeaseTaken,
    ProcessStarted,
    SecurityNoted,
)
from workbench.effects.clock import ManualClock
from workbench.effects.command_execution import prepare_command
from workbench.effects.owned_command import Jobs
from workbench.host import (
    command_output,
    incident_check,
    incident_driver,
    model_call,
    session_driver,
    session_provider,
)
from workbench.host.driver_context import ignore_events
from workbench.host.session_driver import SessionRunner
from workbench.host.stream_scrubber import DELTA_INTERVAL_SECONDS, DeltaWriter
from workbench.journal.home import BlobStore
from workbench.journal.journal import Journal
from workbench.providers.recording import load_recording

START = 1_795_262_400_000_000
"""2026-11-21T12:00:00Z in microseconds."""

TICK = 0.002
"""Seconds that making an event takes."""

LOOK = 0.004
"""Seconds that pass between two looks at the steady clock."""

LINE = 0.09
"""Seconds between two lines of a command's output."""

HOOK = 0.012

CHECK = 0.041
"""Seconds that the checker of a list takes."""

TIMEOUT = 1.0
"""Seconds that a command takes which runs out of time; scenarios give it that many."""

COMMAND_PID = 5120
AGENT_PID = 5190


class StillClock(ManualClock):
    """Moves by what happens, never by itself; its identifiers tell the session and the process."""

    def __init__(self, name, start=START, process=1):
        super().__init__(start)
        self._prefix = hashlib.sha256(name.encode()).hexdigest()[:8]
        self._process = process

    def new_id(self):
        number = super().new_id().rpartition("-")[2]
        return f"{self._prefix}-{self._process:04d}-4000-8000-{number}"

    def monotonic(self):
        self.advance(LOOK)
        return super().monotonic()


class PlacedBlobs(BlobStore):
    """Digests that do not depend on where the folders are: their names are replaced before the HMAC."""

    def __init__(self, home, places):
        super().__init__(home)
        self._places = places

    def keyed(self, data):
        return super().keyed(self._places.bytes(data))


class Places:
    """The real folders of a making, and the names that stand for them in what is kept."""

    def __init__(self, *pairs):
        self._pairs = tuple((str(real), named) for real, named in pairs)

    def text(self, text):
        for real, named in self._pairs:
            text = text.replace(real, named)
        return text

    def bytes(self, data):
        for real, named in self._pairs:
            data = data.replace(real.encode(), named.encode())
        return data


class StillJournal(Journal):
    """Stamps events with fixed process numbers and with durations that the still clock measured."""

    pid = 4100
    """The driver's; another one after a crash."""

    def __init__(self, home, clock):
        super().__init__(home, clock)
        self._begun = {}
        self._commands = 0

    def event(self, body, session_id, actor, **more):
        if isinstance(body, HookRan):
            self.clock.advance(HOOK)
        if isinstance(body, IncidentChecked):
            self.clock.advance(CHECK)
        if isinstance(body, CallFinished) and body.detail == "timeout":
            self.clock.advance(TIMEOUT)
        self.clock.advance(TICK)
        if actor.pid == os.getpid():
            actor = replace(actor, pid=AGENT_PID if actor.kind == "agent" else self.pid)
        made = super().event(body, session_id, actor, **more)
        return replace(made, body=self._still(body, made))

    def _still(self, body, made):
        match body:
            case ProcessStarted():
                self._begun[made.call_id] = made.at
                self._commands += 1
                pid = COMMAND_PID + 7 * self._commands
                return replace(body, pid=pid, group=pid, start_time=f"golden:{pid}")
            case CallFinished() if made.call_id in self._begun:
                return replace(body, duration_ms=(made.at - self._begun[made.call_id]) // 1000)
            case LeaseTaken() if body.pid == os.getpid():
                return replace(body, pid=self.pid)
            case IncidentChecked():
                return replace(body, duration_ms=round(CHECK * 1000))
            case HookRan():
                return replace(body, duration_ms=round(HOOK * 1000))
            case SecurityNoted():
                return replace(body, ancestry=(AGENT_PID, COMMAND_PID, self.pid, 1))
            case _:
                return body


class StillRunner(SessionRunner):
    """Starts one due effect at a time, the first one; only what stops another runs beside it."""

    def __init__(self, turns, writer, on_events=ignore_events):
        super().__init__(writer, on_events)
        self._turns = turns

    async def run(self, until):
        """Run as ever, and look for files that moved when the human's turn ended with that."""
        await super().run(lambda found: until(found) or self._turns.has_to_look)
        while self._turns.has_to_look:
            self._turns.has_to_look = False
            await session_driver.mark_stale_actions(self.writer, self.state.call)
            await super().run(lambda found: until(found) or self._turns.has_to_look)

    def _start_due(self):
        for effect in self.due_effects():
            if effect in self._running or self._idle.get(effect) == self.cursor:
                continue
            if self._may_start(effect):
                self._running[effect] = asyncio.create_task(self._perform(effect), name=type(effect).__name__)

    def _may_start(self, effect):
        beside = {StopModel: CallModel, StopCall: Execute}.get(type(effect), ())
        return all(isinstance(other, beside) for other in self._running)


class StillText(DeltaWriter):
    """Cuts a reply by the still clock instead of a timer."""

    def __init__(self, clock, write):
        super().__init__(write)
        self._clock, self._last = clock, clock.now()

    def feed(self, text):
        self._pieces.append(text)
        if self._clock.now() - self._last >= DELTA_INTERVAL_SECONDS * 1_000_000:
            self._emit(self._scrubbed_pieces())
            self._last = self._clock.now()


class StillLines(DeltaWriter):
    """Cuts a command's output into its lines, however it came through the pipe."""

    def __init__(self, clock, write, **offsets):
        super().__init__(write, **offsets)
        self._clock, self._raw = clock, ""

    def feed(self, text):
        *lines, self._raw = (self._raw + text).split("\n")
        for line in lines:
            self._clock.advance(LINE)
            self._pieces.append(line + "\n")
            self._emit(self._scrubbed_pieces())

    def close(self):
        self._pieces.append(self._raw)
        super().close()


@contextlib.asynccontextmanager
async def stopped_clock(*_):
    """Stand in for the clock of a driver: the still clock does not tick."""
    yield


def _marked(argv, cwd, env, mark, **more):
    # Identifiers repeat in every making, and a mark ends every process that carries it.
    return prepare_command(argv, cwd, env, f"{mark}.{uuid.uuid4()}", **more)


async def _prepared_here(_jobs, _session, argv, cwd, env, mark, **more):
    """Run a command as a child of this process, without an owner process."""
    return _marked(argv, cwd, env, mark, **own_parameters(more))


def own_parameters(more):
    """Return what `prepare_command` takes of the parameters of `Jobs.prepare`."""
    return {name: more[name] for name in ("is_apart", "stdin", "is_boxed") if name in more}


@contextlib.contextmanager
def stillness(clock, turns):
    """Within it a driver of this process goes on without chance."""
    with contextlib.ExitStack() as stack:
        for owner, name, still in (
            (session_driver, "SessionRunner", functools.partial(StillRunner, turns)),
            (session_driver, "running_clock", stopped_clock),
            (incident_driver, "running_clock", stopped_clock),
            (incident_check, "prepare_command", _marked),
            (model_call, "DeltaWriter", functools.partial(StillText, clock)),
            (command_output, "DeltaWriter", functools.partial(StillLines, clock)),
            (Jobs, "prepare", _prepared_here),
            # Read anew at every call of the model otherwise, which costs a long session most of its time.
            (session_provider, "load_recording", functools.cache(load_recording)),
        ):
            stack.enter_context(mock.patch.object(owner, name, still))
        yield
