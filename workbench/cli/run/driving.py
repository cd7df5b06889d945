"""Drive a session in this process until it rests, parks or is interrupted.

Owns when a run is over and what ctrl+c does: the turn is asked to stop and ends in order; a second one
ends everything at once.
"""

import asyncio
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Literal

from workbench.cli.place import person
from workbench.cli.run.result import Ending
from workbench.cli.run.witness import Witness
from workbench.effects.offspring import become_subreaper
from workbench.host import sessions
from workbench.host.config_following import following
from workbench.host.drive import Progress, drive_session
from workbench.host.kit import Kit
from workbench.host.places import identity
from workbench.journal.journal import Journal
from workbench.journal.lease import DriverIdentity, DriverLock

OnApproval = Literal["wait", "park", "deny"]
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """What ctrl+c asked for, and of which turn it was asked already."""

    def __init__(self, journal: Journal, session_id: str) -> None:
        self._journal, self._session_id = journal, session_id
        self._asked: str | None = None
        self.is_wanted = False

    def hear(self) -> bool:
        """Take a signal; False when it is not the first."""
        if self.is_wanted:
            return False
        self.is_wanted = True
        # Also without a turn: reading the event back is what makes the driver look again.
        sessions.interrupt(self._journal, self._session_id, person())
        return True

    def pass_on(self, open_turn: str | None) -> bool:
        """Ask the open turn to stop, once; True when there is none and all is over."""
        if open_turn is None:
            return True
        if open_turn != self._asked:
            self._asked = open_turn
            sessions.interrupt(self._journal, self._session_id, person())
        return False


def drive(kit: Kit, witness: Witness, on_approval: OnApproval) -> Ending:
    """Drive the session that a witness looks at, and say how that ended.

    Raises:
        Driven: Another process drives it.
    """
    become_subreaper()
    with DriverLock(kit.journal, driver := identity(kit.journal, kit.workspace, "run")):
        return asyncio.run(_drive(kit, witness, on_approval, driver))


async def _drive(kit: Kit, witness: Witness, on_approval: OnApproval, driver: DriverIdentity) -> Ending:
    interruption = Interruption(kit.journal, witness.session_id)

    def is_over(progress: Progress) -> bool:
        if witness.failure is not None:
            return True
        if interruption.is_wanted:
            return interruption.pass_on(progress.open_turn) and progress.is_idle
        return _is_over(progress, on_approval)

    with _listening(interruption), following(kit), suppress(asyncio.CancelledError):
        found = await drive_session(kit, driver, witness.session_id, until=is_over, on_events=witness.see)
        return "interrupted" if interruption.is_wanted else _ending(found)
    return "interrupted"


def _is_over(progress: Progress, on_approval: OnApproval) -> bool:
    if progress.is_idle:
        return True
    return progress.is_resting and (not progress.waiting or on_approval == "park")


def _ending(progress: Progress) -> Ending:
    return "parked" if progress.waiting and not progress.is_idle else "finished"


@contextmanager
def _listening(interruption: Interruption) -> Generator[None, None, None]:
    """Turn the first signal into a wish and the second into a cancellation."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def hear() -> None:
        if not interruption.hear() and task is not None:
            task.cancel()

    for number in _SIGNALS:
        loop.add_signal_handler(number, hear)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
