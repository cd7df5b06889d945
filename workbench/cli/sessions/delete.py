"""`workbench sessions delete`: delete sessions with everything that belongs to them.

Owns the question before it. Nothing of a deleted session can be brought back, but by importing an export.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from workbench.cli.console import Console
from workbench.cli.errors import DONE, FAILED, Misuse
from workbench.cli.lookup import session_named
from workbench.cli.place import opened, person
from workbench.cli.sessions.naming import SESSION_HELP, named
from workbench.host.ancestry import refuse_inside_agents
from workbench.host.filing import delete
from workbench.journal.delete import compact, finish_deletes

EXAMPLE = """workbench sessions delete 3f2a
workbench sessions delete --yes 3f2a 91bc"""


def configure(parser: ArgumentParser) -> None:
    """Add the ids."""
    parser.add_argument("ids", nargs="+", metavar="ID", help=SESSION_HELP)
    parser.add_argument("--yes", action="store_true", help="do not ask; needed where no terminal is")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """Delete them, after asking; all ids are looked up before anything is deleted."""
    with opened() as (home, journal):
        refuse_inside_agents(journal, home, "delete a session")
        found = {session.id: session for session in (session_named(journal, one) for one in options.ids)}
        sessions = list(found.values())
        names = [named(journal, session) for session in sessions]
        if not options.yes and not _is_sure(names, console):
            console.say("Nothing was deleted.")
            return FAILED
        count = sum(delete(journal, session, person()) for session in sessions)
        finish_deletes(journal)
        is_compact = compact(journal)
    if options.json:
        console.json(
            {"deleted": [session.id for session in sessions], "sessions": count, "compacted": is_compact}
        )
        return DONE
    for name in names:
        console.say(f"Deleted: {name}")
    if not is_compact:
        console.note(
            "Remnants may stay in unused pages of the journal until workbench doctor --rebuild runs."
        )
    return DONE


def _is_sure(names: Sequence[str], console: Console) -> bool:
    if not (sys.stdin.isatty() and console.is_terminal):
        raise Misuse("nothing was deleted", "there is no terminal to ask at", "say so with --yes")
    for name in names:
        console.say(f"  {name}")
    things = "this session" if len(names) == 1 else f"these {len(names)} sessions"
    console.write(f"Delete {things} with everything in them? Type delete: ")
    return sys.stdin.readline().strip() == "delete"
