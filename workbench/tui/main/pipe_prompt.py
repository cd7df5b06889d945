"""The prompt that pipes a text of the screen into a shell command."""

import contextlib
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from workbench.tui.pane import LineWanted

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext


class PipePrompt:
    """Asks for a shell command and gives it a text; a line hears of what is typed as a pane does."""

    def __init__(self, context: "MainContext", text: str) -> None:
        self._context, self._text = context, text

    def ask(self) -> None:
        """Ask for the command."""
        asked = LineWanted(self, "pipe", "Give it to a command", "it runs in this terminal", "run it")
        self._context.post(asked)

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        del purpose
        if is_final and text:
            with contextlib.suppress(SuspendNotSupported), self._context.app.suspend():
                self._context.say(self._context.backend.pipe_to(text, self._text))

    def line_dropped(self, purpose: str) -> None:
        del purpose
