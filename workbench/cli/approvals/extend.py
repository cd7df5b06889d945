"""`workbench approvals extend`: another window for what waits; the same bytes under a new id."""

from argparse import ArgumentParser, Namespace

from workbench.cli.approvals.deciding import each, ready, refused
from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.lookup import ID_HELP, action_named
from workbench.cli.place import opened, person
from workbench.cli.render.rows import left, target_of
from workbench.domain.rows import Action
from workbench.journal.decide import extend
from workbench.journal.journal import Journal
from workbench.text.human import spoken

EXAMPLE = "workbench approvals extend 3f2a"


def configure(parser: ArgumentParser) -> None:
    """Add the ids."""
    parser.add_argument("ids", nargs="+", metavar="ID", help=ID_HELP)


def execute(options: Namespace, console: Console) -> int:
    """Extend the named actions."""
    with opened() as (home, journal):
        ready(home, journal, "extend")

        def one(given: str) -> int:
            console.say(extended(journal, action_named(journal, given)))
            return DONE

        return each(options.ids, console, one)


def extended(journal: Journal, action: Action) -> str:
    """Extend an action and return what to say about it.

    Raises:
        NotAnswered: It does not wait any more, or was extended as often as it may be.
    """
    result = extend(journal, action.id, person())
    if not result.ok:
        raise refused(journal, action, result, f"not extended: {action.verb} {target_of(action)}")
    row = journal.action(result.successor or "")
    if row is None:
        return f"Extended: {action.verb} {target_of(action)}"
    seconds = left(row, journal.now())
    ask = f", {spoken(seconds)} left" if seconds is not None else ""
    return f"Extended: {action.verb} {target_of(action)}{ask}. It is {row.id} now."
