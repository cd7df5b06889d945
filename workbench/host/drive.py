"""Drive one session in this process, under a driver's lock and a lease.

Owns the life around a Runner: take the lease, run, hand back in order. `workbench run`, tests and the
host's supervisor all come through here.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.domain.events import Event, TurnEnded
from workbench.domain.rows import Action, Call, Lease, Session
from workbench.host import watch
from workbench.host.desk import Desk
from workbench.host.kit import Kit
from workbench.host.runner import Runner
from workbench.journal.errors import JournalError
from workbench.journal.lease import DriverIdentity, guard, release, take

LOG = logging.getLogger("workbench.host")

OnEvents = Callable[[Sequence[Event]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a driven session stands, for whoever decides how long to drive it."""

    session: Session
    waiting: tuple[Action, ...]
    calls: tuple[Call, ...]
    is_idle: bool
    """Nothing runs, nothing is due and no turn is open."""
    is_resting: bool
    """Nothing runs and nothing is due; a turn may be open and wait for its human."""
    open_turn: str | None
    last_outcome: str | None
    """Of the newest `turn.ended` that this driver has read."""


async def drive_session(
    kit: Kit,
    driver: DriverIdentity,
    session_id: str,
    *,
    until: Callable[[Progress], bool],
    on_events: OnEvents | None = None,
) -> Progress:
    """Drive a session until `until` says so and return where it stands then.

    Raises:
        Driven: another process drives it; names the pid.
        LeaseLost: another driver took it over meanwhile.
    """
    lease = take(kit.journal, session_id, driver)
    outcome = _Outcome(on_events)
    runner = Runner(Desk(kit, session_id, guard(lease)), outcome.see)
    ticking = asyncio.create_task(_tick(runner))
    try:
        watch.expire(kit.journal)
        await _run(runner, lease, lambda found: until(_progress(found, outcome.last)))
    finally:
        ticking.cancel()
        await asyncio.gather(ticking, return_exceptions=True)
        release(kit.journal, lease)
    return _progress(runner, outcome.last)


async def _run(runner: Runner, lease: Lease, until: Callable[[Runner], bool]) -> None:
    """Run until the session can be given back with everything seen to that was asked of it."""
    is_given_back = False
    while not is_given_back:
        try:
            await runner.run(until)
        finally:
            await _rest(runner)
        runner.catch_up()
        is_given_back = until(runner) and release(runner.desk.kit.journal, lease, runner.cursor)


class _Outcome:
    """Remembers how the newest turn ended while events pass by."""

    def __init__(self, on_events: OnEvents | None) -> None:
        self.last: str | None = None
        self._on_events = on_events

    def see(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event.body, TurnEnded):
                self.last = event.body.outcome
        if self._on_events is not None:
            self._on_events(events)


async def _tick(runner: Runner) -> None:
    while True:
        try:
            watch.expire(runner.desk.kit.journal)
            await watch.mark_stale(runner.desk, runner.state)
            await watch.time_out(runner.desk, runner.state)
        except JournalError as error:
            # A disk that is full for a moment must not stop the clock for the life of the driver.
            LOG.warning("session %s: %s", runner.desk.session_id, error)
        await asyncio.sleep(watch.TICK)


async def _rest(runner: Runner) -> None:
    """Say why an open turn stands still: it waits for its human, or it lost its driver."""
    if runner.failure is not None:
        return
    runner.catch_up()
    session = runner.desk.session()
    if runner.state.turn is None or session.status != "processing":
        return
    is_waiting = any(not call.is_settled for call in runner.state.calls)
    await runner.pause("parked" if is_waiting else "host lost")


def _progress(runner: Runner, outcome: str | None) -> Progress:
    journal, session_id = runner.desk.kit.journal, runner.desk.session_id
    turn = runner.state.turn
    return Progress(
        session=runner.desk.session(),
        waiting=tuple(journal.actions(session_id=session_id, states=("pending",))),
        calls=tuple(journal.calls(session_id)),
        is_idle=turn is None and not runner.is_busy,
        is_resting=not runner.is_busy,
        open_turn=turn.id if turn else None,
        last_outcome=outcome,
    )
