"""Drivers that die at fault points on a small stage, whoever takes over, and what must hold afterwards.

One place a process, put back between two runs, so that a run costs a few forks and no set-up. The journal
of this process is closed whenever it forks.
"""

import asyncio
import contextlib
import ctypes
import gc
import os
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.support.invariants import check_end, check_rest, check_told
from tests.support.scenarios import TOOLS, Scenario
from tests.support.stage import USER, Stage, no_wait, provider_maker_with_sleep
from tests.support.waits import PATIENCE
from workbench.domain import events
from workbench.effects import fault_points
from workbench.effects.clock import SystemClock
from workbench.host import session_driver, session_requests
from workbench.host.driver_context import open_driver_context
from workbench.host.session_driver import drive_session
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.journal.errors import JournalError
from workbench.journal.journal import Journal

MOST_WORDS = 8


class ShiftedClock(SystemClock):
    """The real clock, moved forward when told to."""

    def __init__(self):
        self.offset = 0

    def now(self):
        return super().now() + self.offset

    def advance(self, seconds):
        self.offset += round(seconds * 1_000_000)


class TellingJournal(Journal):
    """Writes to a pipe what it acknowledged, at the moment that a producer is told."""

    pipe: int | None = None

    def submit(self, events, *, guard=None, strict=True):
        future = super().submit(events, guard=guard, strict=strict)
        ids = [event.id for event in events]
        future.add_done_callback(
            lambda done: done.exception() or self._tell(zip(done.result(), ids, strict=True))
        )
        return future

    def transact(self, work, durable=True):
        stored = super().transact(work, durable)
        self._tell((event.position, event.id) for event in stored)
        return stored

    def _tell(self, pairs):
        if self.pipe is not None:
            os.write(self.pipe, "".join(f"{position} {key}\n" for position, key in pairs).encode())


class CrashStage(Stage):
    """A stage that is used again and again, by one process after another."""

    def __init__(self, scenario: Scenario, place: Path):
        self.scenario = scenario
        self.clock = ShiftedClock()
        super().__init__(place, scenario.script, files=scenario.files, config=scenario.config)
        scenario.prepare(self)
        self.begin()
        self.journal.close()
        self._saved = {path: path.read_bytes() for path in self._changing() if path.is_file()}

    def _changing(self):
        for folder in (self.workspace, self.home.blobs / "sealed", self.home.blobs / "recorded"):
            yield from folder.rglob("*")
        yield from self.home.path.glob("journal.db*")
        yield from self.home.run.glob("driver-*")

    def reset(self):
        """Put everything back to where the session had just begun."""
        self.clock.offset = 0
        # From the inside out, so that folders are empty when it is their turn.
        for path in sorted(self._changing(), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        for path, data in self._saved.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self.home.restore_reserve()

    def touch(self, name):
        (self.workspace / name).write_text(self.scenario.outside[name])

    def row_of(self, action):
        return self.journal.call(action.call_id)

    # --- one driver's life ------------------------------------------------------------------------

    @contextlib.contextmanager
    def at_work(self, pipe=None):
        self.journal = TellingJournal.open(self.home, self.clock)
        self.journal.pipe = pipe
        try:
            yield self
        finally:
            self.journal.close()

    def context(self):
        return open_driver_context(
            self.home, self.journal, str(self.workspace), provider=provider_maker_with_sleep(no_wait), pipelines=SessionPipelineStarter, tools=TOOLS,
            sleep=no_wait, can_ask=self.can_ask,
        )  # fmt: skip

    def drive(self, until=lambda progress: progress.is_resting, seconds=PATIENCE):
        async def run():
            context = self.context()
            with context.root:
                driving = drive_session(context, self.driver(), self.session_id, until=until)
                return await asyncio.wait_for(driving, seconds)

        before, session_driver.CLOCK_TICK_SECONDS = session_driver.CLOCK_TICK_SECONDS, self.scenario.tick
        try:
            return asyncio.run(run())
        finally:
            session_driver.CLOCK_TICK_SECONDS = before
            self._leave()

    def _leave(self):
        lock, self.lock = self.lock, None
        try:
            if lock is not None:
                lock.close()
        except JournalError:
            # A process would end here, and the kernel free its lock.
            lock._lock.release()

    def perform(self, *, is_takeover):
        """Drive to the end, with a human at hand; a driver that takes over rests once before he comes."""
        human = Human(self, is_resting_first=is_takeover)
        try:
            return self.drive(human.looks)
        except TimeoutError:
            raise AssertionError(f"nothing happened any more: {self.story()}") from None

    def story(self):
        """Return the session in one paragraph, for messages of failed tests."""
        session = self.session()
        calls = [
            (row.provider_call_id, row.tool, row.state, row.detail)
            for row in self.journal.calls(self.session_id)
        ]
        return f"{session.status}({session.reason}) {calls} {' '.join(self.kinds())}"

    # --- drivers that die -------------------------------------------------------------------------

    def die(self, *deaths, is_takeover=False):
        """Perform in a fork that dies at fault points; see `arm`."""
        return self.forked(lambda: self.perform(is_takeover=is_takeover), *deaths)

    def forked(self, act, *deaths):
        """Do something in a fork with an open journal; return how it ended and what it was told."""
        reading, writing = os.pipe()
        if (pid := fork()) == 0:
            self._as_child(act, deaths, reading, writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            told = pipe.read().decode()
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return _death(code, told)

    def _as_child(self, act, deaths, reading, writing):
        code = 1
        try:
            gc.disable()
            os.close(reading)
            os.setsid()
            signal.alarm(60)
            for death in deaths:
                arm(*death)
            with self.at_work(writing):
                act()
            code = 0
        except BaseException:
            os.write(writing, f"! {traceback.format_exc()}".encode()[-60_000:])
        finally:
            os._exit(code)

    def take_over(self, *ends):
        """Take over in this process and go on to the end; check everything on the way.

        Args:
            ends: Those of the dead; nothing that they were told may be lost.
        """
        with self.at_work():
            try:
                progress = self.perform(is_takeover=True)
                check_end(self)
                check_told(self, [pair for end in ends for pair in end.told])
            except AssertionError as error:
                raise AssertionError(f"{error}\n{self.story()}") from error
        return progress


@dataclass(frozen=True, kw_only=True)
class End:
    """How a forked driver ended."""

    code: int
    """137: at a fault point. 0: it came to the end."""
    told: tuple[tuple[int, str], ...]
    """Positions and ids of the events that it was told are stored."""


def _death(code, text):
    told, bang, error = text.partition("! ")
    if code not in (0, 137, -signal.SIGKILL):
        raise AssertionError(f"a driver ended with {code}: {bang and error}")
    pairs = (line.split() for line in told.splitlines())
    return End(code=code, told=tuple((int(position), key) for position, key in pairs))


def fork():
    """Fork as `os.fork`, which newer versions of Python warn of wherever a test runner has threads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def arm(name, nth=1, then=None):
    """Arm a death at a point; with `then`, only another death is armed when that point is passed."""
    fault_points.arm_fault(name, "exit" if then is None else lambda: arm(*then), nth)


class Human:
    """Answers what waits, lets go on what was held, and says when it is over."""

    def __init__(self, stage, *, is_resting_first):
        self.stage = stage
        self.is_resting_first = is_resting_first
        self.words = 0

    @staticmethod
    def rest(stage):
        """Take over until the session rests, with no human there, and check it."""
        stage.drive(lambda progress: progress.is_resting)
        check_rest(stage)

    def looks(self, progress):
        if not progress.is_resting:
            return False
        if self.is_resting_first:
            self.is_resting_first = False
            check_rest(self.stage)
        return self._acts(progress)

    def _acts(self, progress):
        stage = self.stage
        if progress.waiting:
            (stage.scenario.answer or _answer)(stage, progress)
            return False
        if progress.session.status == "paused" or progress.open_turn is not None:
            self._continues()
            return False
        if stage.scenario.then(stage):
            return False
        return progress.is_idle and bool(stage.bodies(events.TurnEnded))

    def _continues(self):
        self.words += 1
        assert self.words <= MOST_WORDS, "a human said continue and it did not go on"
        session_requests.continue_session(self.stage.journal, self.stage.session_id, USER)


def _answer(stage, progress):
    for action in progress.waiting:
        word = stage.scenario.answers.get(stage.row_of(action).provider_call_id, {})
        if word == "reject":
            stage.reject(action)
        else:
            stage.approve(action, **word)


# --- places -------------------------------------------------------------------------------------------


def new_place() -> Path:
    """Return a new folder, in memory where there is such a file system."""
    memory = Path("/dev/shm")
    return Path(
        tempfile.mkdtemp(prefix="workbench-faults-", dir=memory if memory.is_dir() else None)
    ).resolve()


@contextlib.contextmanager
def theatre(*scenarios):
    """Give a stage for each scenario, and what every orphan of theirs is handed to."""
    place = new_place()
    _adopt_orphans()
    try:
        yield {one.name: CrashStage(one, place / one.name) for one in scenarios}
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _adopt_orphans():
    """Have what dead drivers leave behind handed to us: nobody else may be there to wait for it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


def reap():
    """Wait for orphans that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


class _Counting:
    def __init__(self, counts, name):
        self.counts, self.name = counts, name

    def passed(self):
        self.counts[self.name] += 1


def passages(stage) -> Counter:
    """Play a scenario with nobody dying; count how often each fault point is passed."""
    counts = Counter()
    stage.reset()
    for name in fault_points.FAULT_POINTS:
        fault_points._armed_faults.setdefault(name, []).append(_Counting(counts, name))
    try:
        with stage.at_work():
            stage.perform(is_takeover=False)
            fault_points.disarm_all_faults()
            check_end(stage)
            for name, content in stage.scenario.end.items():
                path = stage.workspace / name
                assert (path.read_text() if path.exists() else None) == content, stage.story()
    finally:
        fault_points.disarm_all_faults()
    return counts


def crash(stage, *deaths):
    """Let one driver after another die at (point, nth), take over, go on to the end, check everything.

    Returns:
        How many really died.
    """
    stage.reset()
    ends = []
    for number, death in enumerate(deaths):
        end = stage.die(death, is_takeover=number > 0)
        ends.append(end)
        if end.code == 0:
            break
    stage.take_over(*ends)
    reap()
    return sum(end.code == 137 for end in ends)
