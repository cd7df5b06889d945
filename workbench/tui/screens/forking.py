"""A fork that is asked for on the screen: where its files go, and what came of it.

Owns the question. What makes the fork is a service; a replay asks for the moment it shows, any other screen
for the end of a session.
"""

from typing import TYPE_CHECKING

from workbench.tui.messages import LineAsked
from workbench.tui.services import ForkWanted

if TYPE_CHECKING:
    from workbench.tui.screens.main import MainScreen

_WORKTREE = "git "


class Forking:
    """Asks for the folder of a fork and has it made; a line hears of what is typed as a pane does."""

    def __init__(self, screen: "MainScreen", session_id: str, position: int) -> None:
        """Keep what is forked.

        Args:
            screen: where it is asked and answered.
            session_id: whose conversation goes on.
            position: the moment, as a position of the journal.
        """
        self._screen, self._session_id, self._position = screen, session_id, position

    def ask(self, title: str) -> None:
        """Ask for a folder."""
        right, does = "FOLDER for a copy, git FOLDER for a worktree", "fork; without a folder the talk only"
        self._screen.post_message(LineAsked(self, "fork", title, right, does))

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        """Have the session made in a thread, and say what came of it."""
        del purpose
        if not is_final:
            return
        words, screen = text.strip(), self._screen
        is_worktree = words.startswith(_WORKTREE)
        wanted = ForkWanted(
            session_id=self._session_id, position=self._position, is_worktree=is_worktree,
            folder=words.removeprefix(_WORKTREE).strip() if is_worktree else words,
        )  # fmt: skip
        screen.requests.tell(lambda: screen.services.fork(wanted), "Forking.", "fork a session")

    def line_dropped(self, purpose: str) -> None:
        """Make nothing."""
        del purpose
