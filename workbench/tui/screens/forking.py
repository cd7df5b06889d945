"""A fork that is asked for on the screen: where its files go, and what came of it.

Owns the question, and which moment a block of a conversation stands for. What makes the fork is a service; a
replay asks for the moment it shows, any other screen for a block or for the end of a session.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from textual.message import Message

from workbench.tui import history
from workbench.tui.messages import LineAsked
from workbench.tui.services import ForkWanted, NotDone, Services
from workbench.views.moments import block_name, last_of

if TYPE_CHECKING:
    from workbench.tui.screens.requests import Requests
    from workbench.views.blocks import Block
    from workbench.views.source import Source

_WORKTREE = "git "


class Asking(Protocol):
    """A screen that asks for a line and has things done in threads."""

    requests: "Requests"
    services: Services

    def post_message(self, message: Message) -> bool:
        """Send a message to the screen."""
        ...


class Forking:
    """Asks for the folder of a fork and has it made; a line hears of what is typed as a pane does."""

    def __init__(
        self, screen: Asking, session_id: str, position: Callable[[], int], services: Services | None = None
    ) -> None:
        """Keep what is forked.

        Args:
            screen: where it is asked and answered.
            session_id: whose conversation goes on.
            position: returns the moment, as a position of the journal; called in a thread.
            services: what makes the fork; None takes the screen's.
        """
        self._screen, self._session_id, self._position = screen, session_id, position
        self._services = services or screen.services

    def ask(self, title: str) -> None:
        """Ask for a folder."""
        right, does = "FOLDER for a copy, git FOLDER for a worktree", "fork; without a folder the talk only"
        self._screen.post_message(LineAsked(self, "fork", title, right, does))

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        """Have the session made in a thread, and say what came of it."""
        del purpose
        if not is_final:
            return
        words = text.strip()
        is_worktree = words.startswith(_WORKTREE)
        folder = words.removeprefix(_WORKTREE).strip() if is_worktree else words

        def fork() -> str:
            wanted = ForkWanted(
                session_id=self._session_id, position=self._position(), is_worktree=is_worktree, folder=folder
            )
            return self._services.fork(wanted)

        self._screen.requests.tell(fork, "Forking.", "fork a session")

    def line_dropped(self, purpose: str) -> None:
        """Make nothing."""
        del purpose


def position_of(source: "Source", session_id: str, block: "Block") -> int:
    """Return the position up to which a session is as it was when a block of it was done.

    Raises:
        NotDone: It is not done yet, or not there any more.
    """
    found = None
    if isinstance(source, history.Archive):
        found = last_of(history.pieces(source, session_id), block_name(block))
    if found is None:
        raise NotDone("No session was forked: this is not done yet, or it is gone. G goes to the end.")
    return found.position
