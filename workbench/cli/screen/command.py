"""`workbench [DIR]`: the screen on a folder and its sessions."""

import gc
from argparse import ArgumentParser, Namespace

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.place import opened, workspace_of
from workbench.cli.screen.showing import require_terminal, settings, show
from workbench.cli.screen.terminal import takes_lines_only
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

    parser.add_argument(
        "--plain", action="store_true", help="the queue line by line; so it is where TERM is dumb"
    )


def execute(options: Namespace, console: Console) -> int:
    """Show the screen, or the queue by line where there is only room for lines."""
    if options.plain or takes_lines_only():
        return _by_line(options, console)
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


def _by_line(options: Namespace, console: Console) -> int:
    """Follow the workspace's queue in words, as `approvals watch` does."""
    from workbench.cli.approvals.watch import execute as watch

    folder = str(workspace_of(options.folder or options.directory))
    return watch(Namespace(here=True, directory=folder, json=False), console)


def _demo(console: Console) -> int:
    """Go on with the demo, as the first page offered."""
    from workbench.cli.demo.command import execute as demo

    return demo(Namespace(at=None, plain=False), console)
