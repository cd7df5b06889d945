"""`workbench approvals refresh`: have a stale action proposed anew by a host; nothing is written."""

from argparse import ArgumentParser, Namespace

from workbench.cli.approvals.deciding import NotAnswered, each, ready, wake
from workbench.cli.approvals.present import moved_now
from workbench.cli.console import Console
from workbench.cli.errors import DONE, FAILED, UNANSWERED
from workbench.cli.lookup import ID_HELP, action_named, short
from workbench.cli.place import opened, person
from workbench.cli.render.rows import target_of
from workbench.domain.rows import Action
from workbench.host.sessions import refresh
from workbench.journal.journal import Journal

EXAMPLE = "workbench approvals refresh 3f2a"


def configure(parser: ArgumentParser) -> None:
    """Add the ids."""
    parser.add_argument("ids", nargs="+", metavar="ID", help=ID_HELP)


def execute(options: Namespace, console: Console) -> int:
    """Ask for the named actions to be proposed anew."""
    sessions: list[str] = []
    with opened() as (home, journal):
        ready(home, journal, "refresh")

        def one(given: str) -> int:
            action = action_named(journal, given)
            require_stale(journal, action)
            refresh(journal, action.id, person())
            sessions.append(action.session_id)
            key = short(journal, action.id, "action")
            console.say(f"Asked anew: {action.verb} {target_of(action)}. Another id replaces {key}.")
            return DONE

        code = each(options.ids, console, one)
        wake(home, journal, console, sessions)
    return code


def require_stale(journal: Journal, action: Action) -> None:
    """Refuse what does not wait, or is not stale."""
    what = f"not refreshed: {action.verb} {target_of(action)}"
    if action.state != "pending":
        code = UNANSWERED if action.state == "expired" else FAILED
        successor = f"; {action.successor} stands in for it" if action.successor else ""
        why = f"it does not wait any more, it is {action.state}{successor}"
        raise NotAnswered(
            what, why, f"workbench approvals show {action.successor or action.id} shows it", code
        )
    if not action.stale_paths and not moved_now(journal, action):
        raise NotAnswered(what, "its files are as they were", "approve or reject it", FAILED)
