"""Asks whether the agent that wrote a session continues it, and runs or copies its command."""

from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from workbench.tui.backend import BackendError
from workbench.tui.pane import LineWanted

if TYPE_CHECKING:
    from workbench.formats.agent_folders import AgentCommand
    from workbench.tui.main.context import MainContext


class ResumePrompt:
    """Shows the command that continues a session elsewhere, and runs or copies it when that is confirmed."""

    def __init__(self, context: "MainContext", command: "AgentCommand") -> None:
        self._context, self._command = context, command

    def ask(self) -> None:
        """Ask what is to be done with it."""
        command = self._command
        if command.problem:
            title, right = f"{command.words}: {command.problem}", "nothing can be run here"
            does = "copy the command"
        else:
            title, right = f"Run {command.words} in {command.folder}", "c enter copies it instead"
            does = "run it in this terminal"
        self._context.post(LineWanted(self, "resume", title, right=right, does=does, is_armed=True))

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        del purpose
        if not is_final:
            return
        answer = text.strip().casefold()
        if self._command.problem or answer == "c":
            is_copied = self._context.backend.copy_to_clipboard(self._command.shell_line)
            self._context.say("Copied." if is_copied else f"Not copied: {self._command.shell_line}")
        elif answer in ("", "y", "yes"):
            self._run()
        else:
            self._context.say("Nothing was run.")

    def _run(self) -> None:
        said: list[str] = []
        try:
            with self._context.app.suspend():
                # The framework takes the terminal back only from what raises nothing.
                try:
                    said.append(self._context.backend.run_agent(self._command))
                except BackendError as error:
                    said.append(str(error))
        except SuspendNotSupported:
            said.append(f"It needs a terminal of its own: {self._command.shell_line}")
        self._context.say(said[0])

    def line_dropped(self, purpose: str) -> None:
        """Run nothing."""
        del purpose
