"""`workbench [DIR]`: open the screen on a workspace."""

import gc
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.cli.attached_screen import OpenedScreen, require_terminal, screen_config, show_screen
from workbench.cli.console import Console, is_dumb_terminal
from workbench.cli.errors import EXIT_OK, UsageError
from workbench.cli.journal_access import open_journal
from workbench.effects.files import workspace_path
from workbench.host import workspace_trust
from workbench.policy.trust import TrustRefused
from workbench.tui.backend import EXIT_FOR_DEMO

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


# Resuming runs nothing. `--continue` and `sessions resume` open the screen on a session with the composer
# under it; the model is asked when its human writes or presses `c`. Any beginning of a session's id names
# it that no other has; an action wants four characters, because its answer cannot be taken back.


EXAMPLE = """workbench screen
workbench ~/src/shop
workbench --continue
workbench --all"""


def configure(parser: "ArgumentParser") -> None:
    parser.add_argument(
        "folder", nargs="?", metavar="DIR", help="the workspace; if not given the current folder"
    )
    add_screen_options(parser)


def add_screen_options(parser: "ArgumentParser") -> None:
    parser.add_argument(
        "--plain", action="store_true", help="print the queue line by line; the default where TERM is dumb"
    )
    parser.add_argument(
        "--continue", dest="goes_on", action="store_true",
        help="open the newest session that can continue; sessions resume opens any",
    )  # fmt: skip
    parser.add_argument(
        "--all", action="store_true",
        help="show what waits in all folders, as w in the queue does,"
        " and approvals list and watch without --here",
    )  # fmt: skip


def simple(words: Sequence[str]) -> Mapping[str, object] | None:
    """Return the options of `workbench` and `workbench DIR`, which need no parser; None for others."""
    if len(words) > 1 or any(word.startswith("-") for word in words):
        return None
    return {"folder": next(iter(words), None), "plain": False, "goes_on": False, "all": False}


def execute(options: "Namespace", console: Console) -> int:
    if options.plain or is_dumb_terminal():
        if options.goes_on:
            why = "line by line the whole queue is followed, and no session is on show"
            raise UsageError("nothing was resumed", why, "use workbench run --continue -p TEXT")
        return _watch_by_line(options, console)
    place = options.folder or options.directory
    session_id = _newest_session_id(place) if options.goes_on else None
    return open_screen(console, workspace_path(place), session_id, is_wide=options.all)


def _newest_session_id(place: str | None) -> str:
    from workbench.cli.resumable_session import session_to_resume

    with open_journal() as journal:
        return session_to_resume(journal, None, place).id


def open_screen(
    console: Console, workspace: str, session_id: str | None = None, *, is_wide: bool = False,
    then: OpenedScreen | None = None,
) -> int:  # fmt: skip
    """Show the screen on a workspace until the person leaves it; `is_wide` with the queue of all folders."""
    gc.disable()  # the app lets it go on after its first frame
    require_terminal()
    with open_journal(human_only="answer on a screen") as journal:
        config = screen_config(journal, workspace)
        try:
            workspace_trust.open_trust_question(
                journal, workspace, offers_sandbox=lambda: workspace_trust.may_have_full_sandbox(config)
            )
        except TrustRefused as error:
            console.note(f"Not trusted: {error}")
        from workbench.backend.local_backend import LocalBackend
        from workbench.backend.screen_files import shown_at_start

        backend = LocalBackend(journal.home, journal, workspace)
        shown = shown_at_start(journal.home)
        backend.is_wide, backend.all_sessions = is_wide or shown.is_wide, shown.all_sessions
        left_for = show_screen(journal, workspace, backend, config, session_id, then)
    return _run_demo(console) if left_for == EXIT_FOR_DEMO else EXIT_OK


def _watch_by_line(options: "Namespace", console: Console) -> int:
    from argparse import Namespace

    from workbench.cli.approval_line_mode import execute_watch

    folder = None if options.all else str(workspace_path(options.folder or options.directory))
    return execute_watch(Namespace(here=not options.all, directory=folder, json=False), console)


def _run_demo(console: Console) -> int:
    from argparse import Namespace

    from workbench.cli.demo import execute

    return execute(Namespace(at=None, plain=False), console)
