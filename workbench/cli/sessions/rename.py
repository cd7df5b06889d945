"""`workbench sessions rename`: give a session another title."""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.lookup import session_named, short
from workbench.cli.place import opened, person
from workbench.cli.sessions.naming import SESSION_HELP
from workbench.host.ancestry import refuse_inside_agents
from workbench.host.filing import retitle

EXAMPLE = "workbench sessions rename 3f2a 'rename handler to router'"


def configure(parser: ArgumentParser) -> None:
    """Add the id and the title."""
    parser.add_argument("id", metavar="ID", help=SESSION_HELP)
    parser.add_argument("title", metavar="TITLE", help="what to call it")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """Rename it."""
    with opened() as (home, journal):
        refuse_inside_agents(journal, home, "rename a session")
        session = session_named(journal, options.id)
        title = retitle(journal, session.id, options.title, person())
        key = short(journal, session.id)
    if options.json:
        console.json({"id": session.id, "title": title})
    else:
        console.say(f"Renamed {key}: {title}")
    return DONE
