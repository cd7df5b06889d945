"""Bring sessions of one workspace up when there is something to do in them, and let them go afterwards.

Owns which sessions are driven here. What happens inside one is its runner's business.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine

from workbench.agents.turn import TurnLimits, fold, todo
from workbench.domain.events import LeaseTaken
from workbench.domain.rows import Session
from workbench.host.drive import Progress, drive_session
from workbench.host.kit import Kit
from workbench.host.runner import ringer
from workbench.host.steps.drive import Driving, drive_run
from workbench.host.steps.waking import has_work, waiting_runs
from workbench.host.upkeep import EVERY, tidy_if_due
from workbench.journal.errors import Driven, JournalError
from workbench.journal.lease import DriverIdentity, unfinished

LINGER = 60.0
"""Seconds that a host stays when nothing is processing or pending and no screen is attached."""

RETRY = 5.0
"""Seconds until a session is looked at again whose journal could not be written."""

LOG = logging.getLogger("workbench.host")


class Supervisor:
    """Drives every session of a workspace that has unfinished work and no live driver."""

    def __init__(
        self, kit: Kit, driver: DriverIdentity, is_attached: Callable[[], bool], linger: float = LINGER
    ) -> None:
        self._kit, self._driver = kit, driver
        self._is_attached, self._linger = is_attached, linger
        self._driven: dict[str, asyncio.Task[None]] = {}
        self._looked_at: dict[str, int] = {}
        self._broken_at: dict[str, int] = {}
        self._runs_looked_at = 0.0
        self._rung = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Run until told to stop, or until there was nothing to do for a while."""
        loop = asyncio.get_running_loop()
        silence = self._kit.journal.on_ring(ringer(loop, self._rung))
        idle_since = self._kit.clock.monotonic()
        tidying = asyncio.create_task(self._tidy(), name="upkeep")
        try:
            while not stop.is_set():
                self._rung.clear()
                if self._is_homeless():
                    LOG.error("%s is gone; what waits there goes on waiting", self._kit.workspace)
                    return
                self._look()
                if self._driven or self._is_attached():
                    idle_since = self._kit.clock.monotonic()
                if self._kit.clock.monotonic() - idle_since >= self._linger:
                    LOG.info("nothing to do for %.0f s", self._linger)
                    return
                await self._wait(stop)
        finally:
            silence()
            tidying.cancel()
            await self._let_go()
            await asyncio.gather(tidying, return_exceptions=True)

    async def _tidy(self) -> None:
        while True:
            days = self._kit.loaded().config.retention.sealed_days
            await asyncio.to_thread(tidy_if_due, self._kit.home, self._kit.journal, days)
            await asyncio.sleep(EVERY)

    def _is_homeless(self) -> bool:
        """Return whether the workspace is another folder now, or none: nothing may be done in the old one."""
        return not self._kit.root.is_in_place()

    def _look(self) -> None:
        for session in unfinished(self._kit.journal, self._kit.workspace):
            is_known = self._looked_at.get(session.id) == session.updated_at
            if session.id in self._driven or is_known or session.kind == "step":
                continue  # a step is driven by the coordinator of its run
            self._looked_at[session.id] = session.updated_at
            if self._has_work(session):
                self._begin(session)
        self._look_at_runs()

    def _look_at_runs(self) -> None:
        """Take up runs whose questions were answered: the answer stands in the session of a step."""
        now = self._kit.clock.monotonic()
        if now - self._runs_looked_at < 1.0:
            return
        self._runs_looked_at = now
        for session in waiting_runs(self._kit):
            if session.id not in self._driven:
                self._begin(session)

    def _begin(self, session: Session) -> None:
        if self._broken_at.get(session.id) == session.updated_at:
            return
        driving = self._drive_run if session.kind == "pipeline" else self._drive
        task = asyncio.create_task(driving(session.id), name=f"session {session.id}")
        self._driven[session.id] = task

    def _has_work(self, session: Session) -> bool:
        journal = self._kit.journal
        if session.kind == "pipeline":
            return has_work(self._kit, session)
        if journal.actions(session_id=session.id, states=("pending",)):
            return True
        limits = TurnLimits(max_rounds=self._kit.loaded().config.limits.max_turns)
        taken = LeaseTaken(host_id=self._driver.host_id, epoch=1, pid=self._driver.pid, driver="host")
        # As it would be under our lease: a turn whose driver was killed looks busy until somebody takes it.
        state = fold((*journal.events(session.id), journal.event(taken, session.id, self._driver.actor)))
        return bool(todo(state, limits))

    async def _drive_run(self, run_id: str) -> None:
        driving = Driving(kit=self._kit, driver=self._driver)
        await self._guarded(run_id, drive_run(driving, run_id))

    async def _drive(self, session_id: str) -> None:
        found = drive_session(self._kit, self._driver, session_id, until=_has_nothing_left)
        await self._guarded(session_id, found)

    async def _guarded(self, session_id: str, driving: Coroutine[None, None, object]) -> None:
        try:
            await driving
        except Driven as error:
            LOG.info("%s", error)
        except JournalError as error:
            # A disk that was full may have room in a while, and nothing else would ring for that.
            LOG.error("session %s: %s", session_id, error)
            self._looked_at.pop(session_id, None)
            await asyncio.sleep(RETRY)
        except Exception:
            # Whatever it is, it would be met again: not before somebody has done something about the session.
            LOG.exception("session %s", session_id)
            session = self._kit.journal.session(session_id)
            self._broken_at[session_id] = session.updated_at if session is not None else 0
        finally:
            self._driven.pop(session_id, None)
            self._rung.set()

    async def _wait(self, stop: asyncio.Event) -> None:
        """Wait for the doorbell, for the stop, or a second: leases die without ringing."""
        waiters = [asyncio.create_task(event.wait()) for event in (self._rung, stop)]
        try:
            await asyncio.wait(waiters, timeout=1.0, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waiter in waiters:
                waiter.cancel()

    async def _let_go(self) -> None:
        tasks = list(self._driven.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _has_nothing_left(progress: Progress) -> bool:
    return progress.is_resting and not progress.waiting
