"""Continue an imported session in the program that wrote it: shown, confirmed, run in this terminal."""

import os
import shutil
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from workbench.cli.arguments import confirm
from workbench.cli.console import Console
from workbench.cli.errors import EXIT_FAILED, EXIT_OK, Refusal
from workbench.domain.rows import Session
from workbench.effects.command_execution import interrupts_ignored, run_in_terminal
from workbench.formats.agent_folders import AgentCommand, NotResumable, agent_command
from workbench.text.safe import one_line, safe_text

_NOT_RESUMED: Final = "nothing was resumed"


def checked_agent_command(session: Session) -> AgentCommand:
    """Return what continues a session, with what stands in its way here. Raises NotResumable."""
    command = agent_command(session)
    if not Path(command.folder).is_dir():
        return replace(command, problem=f"the folder {one_line(command.folder, 200)} is not there")
    if program_path(command) is None:
        return replace(command, problem=f"the program {command.argv[0]} is not on PATH")
    return command


def program_path(command: AgentCommand) -> str | None:
    """Return where a program is, without looking in relative folders of PATH: they are not the user's own."""
    folders = [name for name in os.environ.get("PATH", "").split(os.pathsep) if name.startswith("/")]
    return shutil.which(command.argv[0], path=os.pathsep.join(folders))


def run_agent_command(command: AgentCommand) -> int:
    """Run a program in this terminal, in the session's folder and without a shell; return its exit code."""
    program = program_path(command)
    if program is None:
        raise Refusal(
            _NOT_RESUMED, f"the program {command.argv[0]} is not on PATH", "install it, or start it elsewhere"
        )
    with interrupts_ignored():
        return run_in_terminal([program, *command.argv[1:]], cwd=command.folder)


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
