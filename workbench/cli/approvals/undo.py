"""`workbench approvals undo`: ask a host to take an applied change back, through the same checks."""

from argparse import ArgumentParser, Namespace

from workbench.cli.approvals.deciding import NotAnswered, each, ready, wake
from workbench.cli.console import Console
from workbench.cli.errors import DONE, FAILED
from workbench.cli.lookup import ID_HELP, action_named
from workbench.cli.place import opened, person
from workbench.cli.render.rows import target_of
from workbench.domain.rows import Action
from workbench.host.sessions import undo
from workbench.journal.journal import Journal

EXAMPLE = "workbench approvals undo 3f2a"


def configure(parser: ArgumentParser) -> None:
    """Add the ids."""
    parser.add_argument("ids", nargs="+", metavar="ID", help=ID_HELP)


def execute(options: Namespace, console: Console) -> int:
    """Ask for the named changes to be taken back."""
    sessions: list[str] = []
    with opened() as (home, journal):
        ready(home, journal, "undo")

        def one(given: str) -> int:
            action = action_named(journal, given)
            require_applied(journal, action)
            undo(journal, action.id, person())
            sessions.append(action.session_id)
            console.say(f"Asked to undo: {action.verb} {target_of(action)} ({action.id[:8]})")
            return DONE

        code = each(options.ids, console, one)
        wake(home, journal, console, sessions)
    return code


def require_applied(journal: Journal, action: Action) -> None:
    """Refuse what wrote nothing."""
    call = journal.call(action.call_id) if action.call_id else None
    what = f"not undone: {action.verb} {target_of(action)}"
    if not action.files:
        raise NotAnswered(what, "it changed no file", "undo is for edits and new files", FAILED)
    if call is None or call.state != "succeeded":
        state = call.state if call else action.state
        why, remedy = f"it was not applied, it is {state}", f"workbench approvals show {action.id} shows it"
        raise NotAnswered(what, why, remedy, FAILED)
