"""`workbench host restart`: end the host of this workspace and start one like this program.

What waits goes on waiting, a command that runs is ended and told as interrupted, and no model is called
because a host came back.
"""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE, Refusal
from workbench.cli.host.reaching import reached
from workbench.cli.host.stop import require_gone
from workbench.cli.place import opened, workspace_of
from workbench.host.ancestry import refuse_inside_agents
from workbench.host.control import PATIENCE, Stopped, stop
from workbench.host.ensure import ensure_host, why_not

EXAMPLE = """workbench host restart
workbench host restart --force --json"""


def configure(parser: ArgumentParser) -> None:
    """Add what is done about one that does not end, and how it prints."""
    parser.add_argument(
        "--force", action="store_true", help=f"kill one that has not ended after {PATIENCE:.0f} s"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """Stop the host if there is one, and start another; 1 when none could be started."""
    workspace = workspace_of(options.directory)
    ended = _end(workspace, force=options.force)
    with opened() as (home, journal):
        host = ensure_host(home, journal, workspace)
        if host is None:
            remedy = f"look into {home.logs}; workbench config validate"
            raise Refusal("no host was started", why_not(home), remedy)
    if options.json:
        console.json({"workspace": workspace, "ended": ended.pid, "pid": host.pid, "version": host.version})
        return DONE
    before = f"The host (pid {ended.pid}) has ended. " if ended.pid else ""
    console.say(f"{before}A host of {workspace} was started (pid {host.pid}, version {host.version}).")
    return DONE


def _end(workspace: str, *, force: bool) -> Stopped:
    with reached() as (home, journal):
        refuse_inside_agents(journal, home, "restart the host")
        ended = stop(home, workspace, force=force)
        require_gone(home, [ended])
    return ended
