"""`workbench [DIR]`: the screen on a folder and its sessions."""

import gc
from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.place import opened, workspace_of
from workbench.cli.screen.showing import require_terminal, settings, show
from workbench.host import trusting
from workbench.host.ancestry import refuse_inside_agents
from workbench.policy.trust import TrustRefused
from workbench.tui.services import LEFT_FOR_DEMO

EXAMPLE = """workbench screen
workbench ~/src/shop"""


def configure(parser: ArgumentParser) -> None:
    """Add the folder."""
    parser.add_argument(
        "folder", nargs="?", metavar="DIR", help="the workspace; if not given the current folder"
    )


def execute(options: Namespace, console: Console) -> int:
    """Show the screen."""
    gc.disable()  # the app lets it go on after its first frame
    require_terminal()
    workspace = workspace_of(options.folder or options.directory)
    with opened() as (home, journal):
        refuse_inside_agents(journal, home, "answer on a screen")
        config = settings(home, journal, workspace)
        try:
            trusting.ask(journal, workspace)
        except TrustRefused as error:
            console.note(f"Not trusted: {error}")
        from workbench.cli.screen.services import services

        left_for = show(home, journal, workspace, services(home, journal, workspace), config)
    return _demo(console) if left_for == LEFT_FOR_DEMO else DONE


def _demo(console: Console) -> int:
    """Go on with the demo, as the first page offered."""
    from workbench.cli.demo.command import execute as demo

    return demo(Namespace(at=None, plain=False), console)
