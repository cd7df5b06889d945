"""The demo line by line: its agent works in this process, and a person answers by typing.

Owns the course of such a demo, from the question of trust to how it ended. It begins no session.
"""

import asyncio
import sys
from typing import TYPE_CHECKING

from workbench.cli.approvals.linemode import LineMode
from workbench.cli.demo.conversation import Conversation, Lines
from workbench.cli.demo.trusting import settle_trust
from workbench.cli.errors import DONE, PARKED
from workbench.cli.run.command import rest
from workbench.cli.run.printing import HumanPrinter
from workbench.cli.run.witness import Witness
from workbench.domain.rows import Session
from workbench.host.drive import Progress, drive_session
from workbench.host.kit import open_kit
from workbench.host.models import provider_of
from workbench.host.places import identity
from workbench.journal.journal import Journal
from workbench.journal.lease import DriverLock

if TYPE_CHECKING:
    from workbench.cli.demo.command import Demo


async def played(demo: "Demo", session: Session, prompt: str) -> int:
    """Let the agent work until its turn ends or the person leaves; return the exit code."""
    console, journal = demo.console, demo.journal
    lines = Lines(sys.stdin.fileno())
    console.say(f"A throw-away project: {demo.workspace}. Its agent is recorded; no network, no model.")
    await settle_trust(journal, console, demo.workspace, lines, is_typed=sys.stdin.isatty())
    console.say(f"› {prompt}")
    await _drive(demo, session, lines)
    return _code(journal, session.id)


async def _drive(demo: "Demo", session: Session, lines: Lines) -> None:
    journal = demo.journal
    printer = HumanPrinter(journal, demo.console, says_how=False)
    start = journal.last_position() if session.status == "paused" else 0
    witness = Witness(journal, session.id, printer, start)
    # Its lines may come from a pipe, one an answer; the files are a throw-away copy.
    mode = LineMode(journal, demo.console, require_seen=False)
    conversation = Conversation(lines, mode, lambda: journal.actions(session.id, states=("pending",)))
    kit = open_kit(demo.home, journal, demo.workspace, provider=provider_of)
    with DriverLock(journal, driver := identity(journal, demo.workspace, "run")):
        driven = asyncio.ensure_future(
            drive_session(kit, driver, session.id, until=conversation.is_over, on_events=witness.see)
        )
        await _first(driven, asyncio.ensure_future(conversation.talk()))
    witness.require_listener()
    rest(journal, session.id, "finished")


async def _first(driven: "asyncio.Future[Progress]", talking: "asyncio.Future[None]") -> None:
    """Wait until the turn ends or the person leaves, and end the other side; what failed is raised."""
    both = (driven, talking)
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in both:
            task.cancel()
        results = await asyncio.gather(*both, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result


def _code(journal: Journal, session_id: str) -> int:
    return PARKED if journal.actions(session_id, states=("pending",)) else DONE
