"""`workbench approvals reject`: no, with a reason that the agent reads."""

from argparse import ArgumentParser, Namespace

from workbench.cli.approvals.deciding import answer_all, ready
from workbench.cli.console import Console
from workbench.cli.lookup import ID_HELP
from workbench.cli.place import opened
from workbench.domain.rows import Action
from workbench.domain.values import Decision

EXAMPLE = 'workbench approvals reject 3f2a --reason "keep handle(), plugins call it"'


def configure(parser: ArgumentParser) -> None:
    """Add the ids and the reason."""
    parser.add_argument("ids", nargs="+", metavar="ID", help=ID_HELP)
    parser.add_argument("--reason", metavar="T", help="what the agent is told with it")


def execute(options: Namespace, console: Console) -> int:
    """Reject the named actions."""

    def make(action: Action) -> Decision:
        return Decision(action_id=action.id, verdict="reject", reason=options.reason)

    with opened() as (home, journal):
        ready(home, journal, "reject")
        return answer_all(home, journal, console, options.ids, make, "rejected")
