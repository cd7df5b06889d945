"""`workbench sessions end`: end a session for good; what it asks is withdrawn, what it did stays."""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.lookup import session_named
from workbench.cli.place import opened, person
from workbench.cli.sessions.naming import SESSION_HELP, named
from workbench.host.ancestry import refuse_inside_agents
from workbench.host.filing import end

EXAMPLE = "workbench sessions end 3f2a"


def configure(parser: ArgumentParser) -> None:
    """Add the id."""
    parser.add_argument("id", metavar="ID", help=SESSION_HELP)
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """End it; an agent that works is asked to stop first."""
    with opened() as (home, journal):
        refuse_inside_agents(journal, home, "end a session")
        session = session_named(journal, options.id)
        status, name = end(journal, session, person()), named(journal, session)
    if options.json:
        console.json({"id": session.id, "status": status})
    else:
        console.say(f"Ended: {name} is {status}.")
    return DONE
