"""`workbench demo`: a throw-away project, a recorded agent, and a person who answers by line.

Owns the course of a demo: lay it out, ask for trust, let the agent work in this process, say what came of
it. It touches nothing outside its own folder.
"""

import asyncio
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from pathlib import Path

from workbench.cli.approvals.linemode import LineMode
from workbench.cli.console import Console
from workbench.cli.demo.bundle import Place, laid_out
from workbench.cli.demo.conversation import Conversation, Lines
from workbench.cli.demo.ending import ending_lines
from workbench.cli.demo.trusting import settle_trust
from workbench.cli.errors import DONE, INTERRUPTED, PARKED
from workbench.cli.place import person
from workbench.cli.run.begin import Plan, begun, playable
from workbench.cli.run.command import rest
from workbench.cli.run.printing import HumanPrinter
from workbench.cli.run.witness import Witness
from workbench.cli.screen.terminal import is_drawable
from workbench.domain.rows import Session
from workbench.host import sessions
from workbench.host.ancestry import refuse_inside_agents
from workbench.host.drive import Progress, drive_session
from workbench.host.kit import open_kit
from workbench.host.models import provider_of
from workbench.host.places import identity
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.lease import DriverLock

EXAMPLE = """workbench demo
workbench demo --at ~/workbench-demo
printf 'a 1\\na 2\\na 3\\n' | workbench demo"""

PROMPT = "Mend the router so that the tests pass."


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """One demo as it runs."""

    place: Place
    home: Home
    journal: Journal
    console: Console

    @property
    def workspace(self) -> str:
        """The real path of its project."""
        return str(self.place.project.resolve())


def configure(parser: ArgumentParser) -> None:
    """Add where it is kept."""
    parser.add_argument("--at", metavar="DIR", help="keep it there, and go on with it when it is there")
    parser.add_argument("--plain", action="store_true", help="line by line instead of on the screen")


def execute(options: Namespace, console: Console) -> int:
    """Run the demo."""
    place = laid_out(Path(options.at or tempfile.mkdtemp(prefix="workbench-demo-")))
    home = Home.open(place.home)
    with Journal.open(home) as journal:
        refuse_inside_agents(journal, home, "answer in the demo")
        demo = Demo(place=place, home=home, journal=journal, console=console)
        if is_drawable() and not options.plain:
            return _shown(demo)
        session = _session(demo)
        if session is None:
            return _over(demo)
        try:
            return asyncio.run(_run(demo, session))
        except KeyboardInterrupt:
            _tell_ending(demo)
            return INTERRUPTED


def _shown(demo: Demo) -> int:
    """Run the demo on the screen."""
    from workbench.cli.screen.demo import show_demo

    show_demo(demo.home, demo.journal, demo.workspace, lambda: _session(demo))
    _tell_ending(demo)
    return DONE


def _session(demo: Demo) -> Session | None:
    """Return the demo's session, begun if there is none; None when it has come to its end."""
    found = next(iter(demo.journal.sessions(workspace=demo.workspace)), None)
    if found is None:
        recording = playable(str(demo.place.recording))
        configuration = {"recording": {"path": str(recording.path), "sha256": recording.sha256}}
        plan = Plan(provider="recorded", model=recording.model, configuration=configuration)
        key = begun(demo.journal, plan, demo.workspace, PROMPT)
        return demo.journal.session(key)
    if found.open_turn is None and found.reason == "run ended":
        return None
    if found.reason not in ("parked", None):
        sessions.continue_(demo.journal, found.id, person())
    return found


def _over(demo: Demo) -> int:
    _tell_ending(demo)
    demo.console.say("This demo has come to its end. workbench demo begins another.")
    return DONE


async def _run(demo: Demo, session: Session) -> int:
    console, journal = demo.console, demo.journal
    lines = Lines(sys.stdin.fileno())
    console.say(f"A throw-away project: {demo.workspace}. Its agent is recorded; no network, no model.")
    await settle_trust(journal, console, demo.workspace, lines, is_typed=sys.stdin.isatty())
    console.say(f"› {PROMPT}")
    await _drive(demo, session, lines)
    _tell_ending(demo)
    return _code(journal, session.id)


async def _drive(demo: Demo, session: Session, lines: Lines) -> None:
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


def _tell_ending(demo: Demo) -> None:
    for line in ending_lines(demo.place, demo.journal, demo.workspace):
        demo.console.say(line)


def _code(journal: Journal, session_id: str) -> int:
    return PARKED if journal.actions(session_id, states=("pending",)) else DONE
