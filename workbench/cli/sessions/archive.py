"""`workbench sessions archive`: put sessions out of the way, or back; nothing of them is lost."""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.lookup import session_named
from workbench.cli.place import opened, person
from workbench.cli.sessions.naming import SESSION_HELP, named
from workbench.host.ancestry import refuse_inside_agents
from workbench.host.filing import archive

EXAMPLE = """workbench sessions archive 3f2a 91bc
workbench sessions archive --undo 3f2a"""


def configure(parser: ArgumentParser) -> None:
    """Add the ids."""
    parser.add_argument("ids", nargs="+", metavar="ID", help=SESSION_HELP)
    parser.add_argument("--undo", action="store_true", help="put them back into the list")
    parser.add_argument("--json", action="store_true", help="print a JSON array")


def execute(options: Namespace, console: Console) -> int:
    """Archive them, or bring them back; all ids are looked up before anything is changed."""
    is_archived = not options.undo
    with opened() as (home, journal):
        refuse_inside_agents(journal, home, "archive a session")
        sessions = [session_named(journal, given) for given in options.ids]
        for session in sessions:
            archive(journal, session, is_archived, person())
        names = [named(journal, session) for session in sessions]
    if options.json:
        console.json([{"id": session.id, "archived": is_archived} for session in sessions])
        return DONE
    word = "Archived" if is_archived else "In the list again"
    for name in names:
        console.say(f"{word}: {name}")
    return DONE
