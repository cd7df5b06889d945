"""`workbench sessions resume`: open the screen on a session, or the program that an imported one is from."""

from argparse import ArgumentParser, Namespace
from typing import Final

from workbench.backend.agent_commands import checked_agent_command, run_agent_command
from workbench.cli.arguments import confirm
from workbench.cli.console import Console
from workbench.cli.context import SESSION_ID_HELP, find_session
from workbench.cli.errors import EXIT_FAILED, EXIT_OK, Refusal, UsageError
from workbench.cli.journal_access import open_journal
from workbench.cli.resumable_session import session_to_resume
from workbench.domain.rows import Session
from workbench.effects.files import workspace_path
from workbench.formats.agent_folders import RESUMABLE_ORIGINS, NotResumable
from workbench.host.host_locks import refuse_inside_agents
from workbench.journal.imports import is_imported_session
from workbench.journal.journal import Journal
from workbench.text.safe import safe_text

_NOT_RESUMED: Final = "nothing was resumed"


def resume_in_agent(session: Session, console: Console, *, is_printed: bool, is_confirmed: bool) -> int:
    """Show the command of an imported session, ask, and run it; or only print it."""
    try:
        command = checked_agent_command(session)
    except NotResumable as error:
        remedy = f"workbench sessions fork {session.id} starts one from its end"
        raise Refusal(_NOT_RESUMED, str(error), remedy) from None
    if is_printed:
        console.say(command.shell_line)
        return EXIT_OK
    if command.problem:
        raise Refusal(_NOT_RESUMED, command.problem, f"its command: “{safe_text(command.shell_line)}”")
    console.say(f"{command.words}   in {command.folder}")
    remedy = "use --yes, or --print"
    if not is_confirmed and not confirm(console, "Run it here?", "yes", what=_NOT_RESUMED, remedy=remedy):
        console.say("Nothing was run.")
        return EXIT_FAILED
    return run_agent_command(command)


RESUME_EXAMPLE = """workbench sessions resume
workbench sessions resume 3f2a
workbench sessions resume 3f2a --print
workbench --continue ~/src/shop"""


def configure_resume(parser: ArgumentParser) -> None:
    parser.add_argument(
        "id", nargs="?", metavar="ID", help=f"{SESSION_ID_HELP}; if not given the newest of this workspace"
    )
    printed = "of an imported session: print the command that continues it, and run nothing"
    parser.add_argument("--print", action="store_true", dest="is_printed", help=printed)
    confirmed = "of an imported session: do not ask before the agent that wrote it is started"
    parser.add_argument("--yes", action="store_true", help=confirmed)


def execute_resume(options: Namespace, console: Console) -> int:
    from workbench.cli.screen import open_screen

    if options.id is not None and options.directory is not None:
        raise UsageError(
            "nothing was resumed", "a session works where it was started", "leave -C out, or the id"
        )
    with open_journal() as journal:
        foreign = _foreign_session(journal, options.id)
        session = foreign or session_to_resume(journal, options.id, options.directory)
        if foreign is not None:
            refuse_inside_agents(journal, journal.home, "resume a session")
    if foreign is not None:
        return resume_in_agent(foreign, console, is_printed=options.is_printed, is_confirmed=options.yes)
    if options.is_printed:
        why = "it is a session of this program"
        raise UsageError("nothing was printed", why, f"workbench sessions resume {session.id}")
    return open_screen(console, workspace_path(session.workspace), session.id)


def _foreign_session(journal: Journal, word: str | None) -> Session | None:
    """Return the session that is named if another program continues it."""
    if word is None:
        return None
    session = find_session(journal, word)
    is_foreign = session.origin in RESUMABLE_ORIGINS and is_imported_session(journal, session.id)
    return session if is_foreign else None
