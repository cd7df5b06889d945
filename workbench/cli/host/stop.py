"""`workbench host stop`: end the host of this workspace; what waits goes on waiting."""

from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE, Refusal
from workbench.cli.host.reaching import reached
from workbench.cli.place import workspace_of
from workbench.cli.render.facts import Facts
from workbench.host.ancestry import refuse_inside_agents
from workbench.host.control import PATIENCE, Stopped, stop_holder
from workbench.host.places import host_lock
from workbench.host.standing import hosted
from workbench.journal.home import Home

EXAMPLE = """workbench host stop
workbench host stop --all --force"""


def configure(parser: ArgumentParser) -> None:
    """Add which, and what is done about one that does not end."""
    parser.add_argument("--all", action="store_true", help="the hosts of every workspace")
    parser.add_argument(
        "--force", action="store_true", help=f"kill one that has not ended after {PATIENCE:.0f} s"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON array")


def execute(options: Namespace, console: Console) -> int:
    """Stop the host; 1 when one still runs."""
    workspace = None if options.all else workspace_of(options.directory)
    with reached() as (home, journal):
        refuse_inside_agents(journal, home, "stop the host")
        locks = [host_lock(home, workspace)] if workspace is not None else list(hosted(home, journal))
        ended = [stop_holder(lock, force=options.force) for lock in locks]
    if options.json:
        console.json([stopped_facts(one) for one in ended if one.pid is not None])
    else:
        for line in [one.words for one in ended if one.is_gone] or ([] if ended else ["No host runs."]):
            console.say(line)
    require_gone(home, ended)
    return DONE


def stopped_facts(found: Stopped) -> Facts:
    """Return what came of it as JSON."""
    return {"pid": found.pid, "is_gone": found.is_gone, "was_killed": found.was_killed}


def require_gone(home: Home, ended: list[Stopped]) -> None:
    """Raise unless every host has ended.

    Raises:
        Refusal: Names the pids that still run.
    """
    left = [str(one.pid) for one in ended if not one.is_gone]
    if left:
        why = f"pid {', '.join(left)} still runs after {PATIENCE:.0f} s"
        raise Refusal("the host was not stopped", why, f"look into {home.logs}, or add --force")
