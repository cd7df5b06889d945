"""`workbench approvals list`: what waits for an answer, least time first."""

from argparse import ArgumentParser, Namespace

from workbench.cli import queue
from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.place import opened, workspace_of
from workbench.cli.render.facts import action_facts
from workbench.cli.render.rows import action_row, table
from workbench.journal.decide import expire_due

EXAMPLE = "workbench approvals list --json"


def configure(parser: ArgumentParser) -> None:
    """Add what narrows or widens the list."""
    parser.add_argument("--here", action="store_true", help="only of this workspace")
    parser.add_argument("--decided", action="store_true", help="what was decided too, newest first")
    parser.add_argument("--json", action="store_true", help="print a JSON array")


def execute(options: Namespace, console: Console) -> int:
    """List actions."""
    workspace = workspace_of(options.directory) if options.here or options.directory else None
    with opened() as (_, journal):
        expire_due(journal)
        actions = queue.waiting(journal, workspace)
        if options.decided:
            actions += queue.decided(journal, workspace)
        if options.json:
            console.json([action_facts(action) for action in actions])
            return DONE
        now = journal.now()
        rows = [action_row(queue.asked(journal, action), console.signs, now) for action in actions]
        console.say(table(rows, "Nothing waits."))
    return DONE
