"""The command that continues an imported session in the program that wrote it."""

import os
import shutil
from pathlib import Path

from msgspec.structs import replace

from workbench.domain.rows import Session
from workbench.domain.values import Refused
from workbench.effects.search_path import own_search_path
from workbench.effects.terminal_programs import interrupts_ignored, run_in_terminal
from workbench.formats.agent_folders import AgentCommand, agent_command
from workbench.text.safe import one_line


def checked_agent_command(session: Session) -> AgentCommand:
    """Return the command that continues a session and what prevents it here; raises NotResumable."""
    command = agent_command(session)
    if not Path(command.folder).is_dir():
        return replace(command, problem=f"the folder {one_line(command.folder, 200)} is not there")
    if program_path(command) is None:
        return replace(command, problem=f"the program {command.argv[0]} is not on PATH")
    return command


def program_path(command: AgentCommand) -> str | None:
    """Return where a program is: the user's own, not one in a relative folder of PATH or in the workspace."""
    return shutil.which(command.argv[0], path=own_search_path(os.environ.get("PATH", "")))


def run_agent_command(command: AgentCommand) -> int:
    """Run a program in this terminal, in the session's folder and without a shell; return its exit code."""
    program = program_path(command)
    if program is None:
        why = f"the program {command.argv[0]} is not on PATH"
        raise Refused("nothing was resumed", why, "install it, or start it elsewhere")
    with interrupts_ignored():
        return run_in_terminal([program, *command.argv[1:]], cwd=command.folder)
