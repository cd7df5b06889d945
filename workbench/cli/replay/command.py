"""`workbench replay`: a recorded session again, or a file of one, on the screen or as lines.

Owns which session is meant and where it begins. It reads, and never writes to the session it shows; of a file
nothing is left when it is over, unless it is to be kept.
"""

import gc
import math
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from workbench.cli.console import Console
from workbench.cli.errors import DONE, Misuse, Refusal
from workbench.cli.lookup import session_named
from workbench.cli.place import opened, workspace_of
from workbench.cli.replay.loan import STDIN, Loan, Wish, is_path, lent, taken
from workbench.cli.screen.showing import ended_by_signals, require_terminal, settings, settings_in
from workbench.cli.screen.terminal import colours, encoding
from workbench.config.values import Config
from workbench.domain.rows import Session
from workbench.host.ancestry import refuse_inside_agents
from workbench.journal.home import default_folder
from workbench.journal.journal import Journal
from workbench.text.safe import one_line
from workbench.tui.replay_source import ReplaySource
from workbench.views.player import SPEEDS, moment

EXAMPLE = """workbench replay
workbench replay 3f2a --at 12:01:31
workbench replay 3f2a --headless --json
workbench replay 3f2a --headless --at 35%
workbench replay 3f2a --beside 91bc
workbench replay before.jsonl --beside after.jsonl
workbench replay ~/.claude/projects/shop/session.jsonl"""

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from workbench.tui.services import Services

_SPEEDS: Final = {("max" if math.isinf(speed) else f"{speed:g}"): speed for speed in SPEEDS}


def configure(parser: "ArgumentParser") -> None:
    """Add the session, where to begin, and whether there is a screen."""
    parser.add_argument(
        "id",
        nargs="?",
        metavar="ID|FILE",
        help="the session, or the beginning of its id; the newest here if not given; or any file that"
        " sessions import reads, of which nothing is left afterwards",
    )
    parser.add_argument(
        "--at",
        metavar="T",
        help="begin there, paused: 12:01:31, 35%% or #412; with --headless: what was then",
    )
    known = ", ".join(_SPEEDS)
    parser.add_argument("--speed", choices=_SPEEDS, default="1", metavar="S", help=f"one of {known}")
    parser.add_argument("--beside", metavar="ID|FILE", help="another one beside it, in step")
    parser.add_argument("--headless", action="store_true", help="print it, open no screen")
    parser.add_argument("--json", action="store_true", help="with --headless: JSON, an event a line")
    file = parser.add_argument_group("a file")
    file.add_argument("--keep", action="store_true", help="import it into the library too")
    file.add_argument("--number", type=int, metavar="N", help="which of its sessions, from 1")
    file.add_argument("--format", type=_form, metavar="F", help="do not guess")


def simple(words: Sequence[str]) -> Mapping[str, object] | None:
    """Return the options of `replay` and `replay ID`, which need no parser; None for others."""
    if len(words) > 1 or any(word.startswith("-") for word in words):
        return None
    names = ("at", "beside", "number", "format")
    flags = ("headless", "json", "keep")
    return {
        "id": next(iter(words), None),
        "speed": "1",
        **dict.fromkeys(names),
        **dict.fromkeys(flags, False),
    }


def _form(text: str) -> str:
    from argparse import ArgumentTypeError

    from workbench.formats.recognising import names

    if text not in names():
        raise ArgumentTypeError(f"“{text}” is none of {', '.join(sorted(names()))}")
    return text


def execute(options: "Namespace", console: Console) -> int:
    """Replay a session."""
    if options.json and not options.headless:
        raise Misuse("nothing was replayed", "--json prints, and a screen is drawn", "add --headless")
    if options.id == STDIN and not options.headless:
        raise Misuse("nothing was replayed", "the screen needs stdin for its keys", "add --headless")
    if options.beside is not None and options.headless:
        raise Misuse("nothing was replayed", "--beside is for the screen", "leave --headless out")
    if options.beside == STDIN:
        raise Misuse("nothing was replayed", "the screen needs stdin for its keys", "name a file")
    if not options.headless:
        gc.disable()  # the app lets it go on after its first frame
        require_terminal()
    with _found(options, console) as found:
        if options.headless:
            if found.remark:
                console.note(found.remark)
            source = ReplaySource(found.journal, found.session)
            at = _moment(source, options.at)
            from workbench.cli.replay import telling

            telling.tell(source, found.session, at, console, is_json=options.json)
            return DONE
        with _beside(found, options, console) as other:
            return _show(found, other, options)


def _show(found: Loan, other: Loan | None, options: "Namespace") -> int:
    from workbench.tui.replay_app import ReplayApp

    journal, session = found.journal, found.session
    config = _config(found)
    at = None if options.at is None else _moment(ReplaySource(journal, session), options.at)
    app = ReplayApp(
        journal, session, ui=config.ui, home=str(Path.home()), at=at, speed=_SPEEDS[options.speed],
        remark=found.remark, beside=None if other is None else (other.journal, other.session),
        services=None if found.is_lent else _services(found), depth=colours(), encoding=encoding(),
    )  # fmt: skip
    with ended_by_signals(app.end_soon):
        app.run()
    if app.failure is not None:
        raise app.failure
    return DONE


@contextmanager
def _beside(found: Loan, options: "Namespace", console: Console) -> Generator[Loan | None, None, None]:
    """Find the other one, which may be a file where the first is a session, and the other way round."""
    given = options.beside
    if given is None:
        yield None
    elif is_path(given):
        with lent(Wish(file=given), console) as loan:
            yield loan
    elif found.is_lent:
        from argparse import Namespace

        with _found(Namespace(**{**vars(options), "id": given, "keep": False}), console) as loan:
            yield loan
    elif (session := _named(found.journal, given)) is not None:
        yield Loan(home=found.home, journal=found.journal, session=session, remark="")
    else:
        with lent(Wish(file=given), console) as loan:
            yield loan


def _services(found: Loan) -> "Services":
    from workbench.tui.services import FilmWanted, ForkWanted, Services

    home, journal, here = found.home, found.journal, str(Path.cwd())

    # What each needs is loaded when it is wanted, not before the first frame.
    def fork(wanted: ForkWanted) -> str:
        from workbench.cli.screen.forking import fork_wanted

        return fork_wanted(home, journal, wanted)

    def film(wanted: FilmWanted, told: Callable[[str], None]) -> str:
        from workbench.cli.screen import filming

        return filming.film(home, journal, here, wanted, told)

    return Services(fork=fork, film=film)


def _config(found: Loan) -> Config:
    if found.is_lent:
        # The user's own settings; a path that a file names is no workspace of theirs.
        return settings_in(default_folder(os.environ), workspace_of(None), trusted=False)
    # Only where the session worked are there settings of its workspace.
    place = found.session.workspace
    folder = place if Path(place).is_dir() else workspace_of(None)
    return settings(found.home, found.journal, folder)


# --- which session --------------------------------------------------------------------------------


@contextmanager
def _found(options: "Namespace", console: Console) -> Generator[Loan, None, None]:
    """Open the journal that the session is in: the user's own, or one that is gone afterwards."""
    wish = Wish(file=options.id or "", format=options.format, number=options.number)
    if options.id is not None and is_path(options.id) and not options.keep:
        with lent(wish, console) as loan:
            yield loan
        return
    with opened() as (home, journal):
        if options.keep:
            if options.id is None:
                raise Misuse("nothing was replayed", "--keep is about a file", "name one")
            refuse_inside_agents(journal, home, "import sessions")
            yield taken(home, journal, wish, console)
            return
        session = _session(journal, options)
        if session is not None:
            yield Loan(home=home, journal=journal, session=session, remark="")
            return
    with lent(wish, console) as loan:
        yield loan


def _session(journal: Journal, options: "Namespace") -> Session | None:
    """Return the session that is meant; None where a file of that name is."""
    if options.id is not None:
        return _named(journal, options.id)
    workspace = workspace_of(options.directory)
    found = next(iter(journal.sessions(workspace, limit=1)), None)
    if found is None:
        why = f"no session was recorded in {workspace}"
        raise Refusal("nothing was replayed", why, "workbench sessions list --all shows others")
    return found


def _named(journal: Journal, given: str) -> Session | None:
    try:
        return session_named(journal, given)
    except Refusal as refusal:
        named = Path(given)
        if named.exists():
            return None
        if named.suffix:
            what = f"there is no session “{one_line(given, 80)}”"
            why = "there is no file of that name here either"
            raise Refusal(what, why, "workbench sessions list --all shows ids") from refusal
        raise


def _moment(source: ReplaySource, given: str | None) -> int | None:
    if given is None:
        return None
    index = moment(given, source.reel)
    if index is None:
        count = len(source.reel)
        remedy = f"name one as 12:01:31, 35% or #1 to #{count}" if count else "it has no events"
        raise Misuse("nothing was replayed", f"“{given}” is no moment of this recording", remedy)
    return index
