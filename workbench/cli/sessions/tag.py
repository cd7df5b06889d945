"""`workbench sessions tag`: show, add and remove the tags of a session."""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.lookup import session_named
from workbench.cli.place import opened, person
from workbench.cli.sessions.naming import SESSION_HELP, named
from workbench.host.ancestry import refuse_inside_agents
from workbench.host.filing import tag

EXAMPLE = """workbench sessions tag 3f2a release refactor
workbench sessions tag 3f2a --remove draft"""


def configure(parser: ArgumentParser) -> None:
    """Add the id and the tags."""
    parser.add_argument("id", metavar="ID", help=SESSION_HELP)
    parser.add_argument("add", nargs="*", metavar="TAG", help="tags to add")
    parser.add_argument("--remove", action="append", default=[], metavar="TAG", help="a tag to take away")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """Change the tags, or only show them."""
    with opened() as (home, journal):
        session = session_named(journal, options.id)
        tags, name = session.tags, named(journal, session)
        if options.add or options.remove:
            refuse_inside_agents(journal, home, "tag a session")
            tags = tag(journal, session, options.add, options.remove, person())
    if options.json:
        console.json({"id": session.id, "tags": list(tags)})
    else:
        console.say(f"{name}: {', '.join(tags) or 'no tags'}")
    return DONE
