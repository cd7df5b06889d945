"""`workbench sessions resume`, and `workbench --continue`: the screen on a session that can go on.

Owns which session that is and the words where there is none. It runs nothing: the session stands on the
screen with its composer, and goes on when its human says so.
"""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import Misuse, Refusal
from workbench.cli.lookup import session_named, short
from workbench.cli.place import opened, workspace_of
from workbench.cli.sessions.naming import SESSION_HELP, named
from workbench.domain.machines import TERMINAL_SESSIONS
from workbench.domain.rows import Session
from workbench.domain.values import SYSTEM_SESSION
from workbench.host import sessions
from workbench.journal.importing import is_imported
from workbench.journal.journal import Journal

EXAMPLE = """workbench sessions resume
workbench sessions resume 3f2a
workbench --continue ~/src/shop"""


def configure(parser: ArgumentParser) -> None:
    """Add the id."""
    parser.add_argument(
        "id", nargs="?", metavar="ID", help=f"{SESSION_HELP}; if not given the newest of this workspace"
    )


def execute(options: Namespace, console: Console) -> int:
    """Open the screen on it."""
    from workbench.cli.screen.command import open_screen

    if options.id is not None and options.directory is not None:
        raise Misuse("nothing was resumed", "a session works where it was begun", "leave -C out, or the id")
    with opened() as (_, journal):
        session = to_resume(journal, options.id, options.directory)
    return open_screen(console, workspace_of(session.workspace), session.id)


def to_resume(journal: Journal, given: str | None, directory: str | None) -> Session:
    """Return the session that a screen is to open on.

    Args:
        journal: Where.
        given: Its id or a beginning of it; None is the newest that can go on.
        directory: Where the newest is looked for; None is the current folder.

    Raises:
        Refusal: There is none, or it cannot go on.
    """
    if given is not None:
        session = session_named(journal, given)
        _require_going_on(journal, session)
        return session
    workspace = workspace_of(directory)
    found = sessions.newest(journal, workspace)
    if found is None:
        others = sum(one.id != SYSTEM_SESSION for one in journal.sessions())
        where = f"; workbench sessions list --all shows all {others:,}" if others else ""
        why = f"no session of {workspace} can go on"
        raise Refusal("nothing was resumed", why, f"workbench {workspace} begins one{where}")
    return found


def _require_going_on(journal: Journal, session: Session) -> None:
    what, key = f"{named(journal, session)} was not resumed", short(journal, session.id)
    fork = f"workbench sessions fork {key} begins one from its end"
    if session.kind == "pipeline":
        raise Refusal(what, "it is the run of a pipeline", f"workbench pipeline resume {key} goes on with it")
    if session.kind == "step":
        raise Refusal(what, "it is a step of a run", f"workbench sessions show {key} shows it")
    if is_imported(journal, session.id):
        raise Refusal(what, "it was imported, so nothing drives it", fork)
    if session.status in TERMINAL_SESSIONS:
        raise Refusal(what, f"it is {session.status}", fork)
