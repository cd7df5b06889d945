"""`workbench host stop`: end the host of this workspace; what waits goes on waiting."""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE, Refusal
from workbench.cli.place import opened, workspace_of
from workbench.host.ancestry import refuse_inside_agents
from workbench.host.control import stop

EXAMPLE = "workbench host stop"


def configure(parser: ArgumentParser) -> None:
    """Add nothing: the workspace is all there is to say."""
    del parser


def execute(options: Namespace, console: Console) -> int:
    """Stop the host."""
    workspace = workspace_of(options.directory)
    with opened() as (home, journal):
        refuse_inside_agents(journal, home, "stop the host")
        is_gone, said = stop(home, journal, workspace)
        if not is_gone:
            raise Refusal("the host was not stopped", said, f"look into {home.logs}")
        console.say(said)
    return DONE
