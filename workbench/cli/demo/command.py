"""`workbench demo`: a throw-away project, a recorded agent, and a person who answers by line.

Owns the course of a demo: lay it out, show it, say what came of it; how it goes line by line is `demo.plain`,
on the screen `cli.screen.demo`. It touches nothing outside its own folder, and loads what its way needs.
"""

import gc
import tempfile
from argparse import ArgumentParser, Namespace
from pathlib import Path

from workbench.cli.console import Console
from workbench.cli.demo.bundle import Place, laid_out
from workbench.cli.errors import DONE, INTERRUPTED
from workbench.cli.place import person
from workbench.cli.screen.terminal import is_drawable
from workbench.domain.rows import Session
from workbench.host.ancestry import refuse_inside_agents
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.records import dataclass

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
        return _played(demo, session)


def _played(demo: Demo, session: Session) -> int:
    """Run the demo line by line."""
    import asyncio

    from workbench.cli.demo.plain import played

    try:
        code = asyncio.run(played(demo, session, PROMPT))
    except KeyboardInterrupt:
        code = INTERRUPTED
    _tell_ending(demo)
    return code


def _shown(demo: Demo) -> int:
    """Run the demo on the screen."""
    gc.disable()  # the app lets it go on after its first frame
    from workbench.cli.screen.demo import show_demo

    show_demo(demo.home, demo.journal, demo.workspace, lambda: _session(demo))
    _tell_ending(demo)
    return DONE


def _session(demo: Demo) -> Session | None:
    """Return the demo's session, begun if there is none; None when it has come to its end."""
    from workbench.cli.run.begin import Plan, begun, playable
    from workbench.host import sessions

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


def _tell_ending(demo: Demo) -> None:
    from workbench.cli.demo.ending import ending_lines

    for line in ending_lines(demo.place, demo.journal, demo.workspace):
        demo.console.say(line)
