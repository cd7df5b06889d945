"""`workbench [DIR]`: the screen on a folder and its sessions."""

import gc
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.cli.console import Console
from workbench.cli.errors import DONE, Misuse
from workbench.cli.place import opened, workspace_of
from workbench.cli.screen.showing import require_terminal, settings, show
from workbench.cli.screen.terminal import takes_lines_only
from workbench.host import trusting
from workbench.host.ancestry import refuse_inside_agents
from workbench.policy.trust import TrustRefused
from workbench.tui.services import LEFT_FOR_DEMO

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """workbench screen
workbench ~/src/shop
workbench --continue"""


def configure(parser: "ArgumentParser") -> None:
    """Add the folder."""
    parser.add_argument(
        "folder", nargs="?", metavar="DIR", help="the workspace; if not given the current folder"
    )
    parser.add_argument(
        "--plain", action="store_true", help="the queue line by line; so it is where TERM is dumb"
    )
    parser.add_argument(
        "--continue", dest="goes_on", action="store_true",
        help="on the newest session that can go on; sessions resume takes any",
    )  # fmt: skip


def simple(words: Sequence[str]) -> Mapping[str, object] | None:
    """Return the options of `workbench` and `workbench DIR`, which need no parser; None for others."""
    if len(words) > 1 or any(word.startswith("-") for word in words):
        return None
    return {"folder": next(iter(words), None), "plain": False, "goes_on": False}


def execute(options: "Namespace", console: Console) -> int:
    """Show the screen, or the queue by line where there is only room for lines."""
    if options.plain or takes_lines_only():
        if options.goes_on:
            why = "line by line the whole queue is followed, and no session is on show"
            raise Misuse("nothing was resumed", why, "use workbench run --continue -p TEXT")
        return _by_line(options, console)
    place = options.folder or options.directory
    return open_screen(console, workspace_of(place), _newest(place) if options.goes_on else None)


def _newest(place: str | None) -> str:
    """Return the session that goes on; where there is none that is said before a screen opens."""
    from workbench.cli.sessions.resume import to_resume

    with opened() as (_, journal):
        return to_resume(journal, None, place).id


def open_screen(console: Console, workspace: str, session_id: str | None = None) -> int:
    """Show the screen on a workspace until the person leaves it.

    Args:
        console: Where remarks go.
        workspace: Its real path.
        session_id: The session that is on show first; None is the newest.

    Raises:
        Refusal: It cannot be drawn here.
    """
    gc.disable()  # the app lets it go on after its first frame
    require_terminal()
    with opened() as (home, journal):
        refuse_inside_agents(journal, home, "answer on a screen")
        config = settings(home, journal, workspace)
        try:
            trusting.ask(journal, workspace)
        except TrustRefused as error:
            console.note(f"Not trusted: {error}")
        from workbench.cli.screen.services import services

        shown = services(home, journal, workspace)
        left_for = show(home, journal, workspace, shown, config, session_id)
    return _demo(console) if left_for == LEFT_FOR_DEMO else DONE


def _by_line(options: "Namespace", console: Console) -> int:
    """Follow the workspace's queue in words, as `approvals watch` does."""
    from argparse import Namespace

    from workbench.cli.approvals.watch import execute as watch

    folder = str(workspace_of(options.folder or options.directory))
    return watch(Namespace(here=True, directory=folder, json=False), console)


def _demo(console: Console) -> int:
    """Go on with the demo, as the first page offered."""
    from argparse import Namespace

    from workbench.cli.demo.command import execute as demo

    return demo(Namespace(at=None, plain=False), console)
