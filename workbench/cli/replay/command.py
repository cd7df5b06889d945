"""`workbench replay`: a recorded session again, on the screen or as lines.

Owns which session is meant and where it begins. It reads, and never writes to the session it shows.
"""

import math
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from workbench.cli.console import Console
from workbench.cli.errors import DONE, Misuse, Refusal
from workbench.cli.lookup import session_named
from workbench.cli.place import opened, workspace_of
from workbench.cli.replay import telling
from workbench.cli.screen.showing import ended_by_signals, require_terminal, settings
from workbench.domain.rows import Session
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.replay_source import ReplaySource
from workbench.views.player import SPEEDS, moment

EXAMPLE = """workbench replay
workbench replay 3f2a --at 12:01:31
workbench replay 3f2a --headless --json
workbench replay 3f2a --headless --at 35%"""

_SPEEDS: Final = {("max" if math.isinf(speed) else f"{speed:g}"): speed for speed in SPEEDS}


def configure(parser: ArgumentParser) -> None:
    """Add the session, where to begin, and whether there is a screen."""
    parser.add_argument(
        "id",
        nargs="?",
        metavar="ID",
        help="the session, or the beginning of its id; the newest here if not given",
    )
    parser.add_argument(
        "--at",
        metavar="T",
        help="begin there, paused: 12:01:31, 35%% or #412; with --headless: what was then",
    )
    known = ", ".join(_SPEEDS)
    parser.add_argument("--speed", choices=_SPEEDS, default="1", metavar="S", help=f"one of {known}")
    parser.add_argument("--headless", action="store_true", help="print it, open no screen")
    parser.add_argument("--json", action="store_true", help="with --headless: JSON, an event a line")


def execute(options: Namespace, console: Console) -> int:
    """Replay a session."""
    if options.json and not options.headless:
        raise Misuse("nothing was replayed", "--json prints, and a screen is drawn", "add --headless")
    if not options.headless:
        require_terminal()
    with opened() as (home, journal):
        session = _session(journal, options)
        if options.headless:
            source = ReplaySource(journal, session)
            telling.tell(source, session, _moment(source, options.at), console, is_json=options.json)
            return DONE
        return _show(home, journal, session, options)


def _show(home: Home, journal: Journal, session: Session, options: Namespace) -> int:
    from workbench.tui.replay_app import ReplayApp

    # Only where the session worked are there settings of its workspace.
    folder = session.workspace if Path(session.workspace).is_dir() else workspace_of(None)
    config = settings(home, journal, folder)
    at = _moment(ReplaySource(journal, session), options.at) if options.at is not None else None
    app = ReplayApp(
        journal, session, ui=config.ui, home=str(Path.home()), at=at, speed=_SPEEDS[options.speed]
    )
    with ended_by_signals(app.end_soon):
        app.run()
    if app.failure is not None:
        raise app.failure
    return DONE


def _session(journal: Journal, options: Namespace) -> Session:
    if options.id is not None:
        return session_named(journal, options.id)
    workspace = workspace_of(options.directory)
    found = next(iter(journal.sessions(workspace, limit=1)), None)
    if found is None:
        why = f"no session was recorded in {workspace}"
        raise Refusal("nothing was replayed", why, "workbench sessions list --all shows others")
    return found


def _moment(source: ReplaySource, given: str | None) -> int | None:
    if given is None:
        return None
    index = moment(given, source.reel)
    if index is None:
        count = len(source.reel)
        remedy = f"name one as 12:01:31, 35% or #1 to #{count}" if count else "it has no events"
        raise Misuse("nothing was replayed", f"“{given}” is no moment of this recording", remedy)
    return index
