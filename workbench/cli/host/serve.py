"""`workbench host serve DIR`: the host process itself; started by other commands, not listed in help."""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.place import workspace_of
from workbench.host.serve import serve
from workbench.journal.home import Home

EXAMPLE = "workbench host serve ~/src/shop"


def configure(parser: ArgumentParser) -> None:
    """Add the workspace and the id that the log is named after."""
    parser.add_argument("workspace", metavar="DIR", help="the workspace to act for")
    parser.add_argument("--id", metavar="ID", help="the id of this host; a new one if not given")


def execute(options: Namespace, console: Console) -> int:
    """Be the host until nothing is left to do."""
    del console
    return serve(Home.open(), workspace_of(options.workspace), options.id)
