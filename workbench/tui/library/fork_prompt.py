"""Asks where a fork of a session goes, and has it made from its end or from a moment of it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.text.human import clock_time
from workbench.tui import transcript_window
from workbench.tui.backend import BackendError, ForkRequest
from workbench.tui.pane import LineWanted
from workbench.views.conversation_search import last_block_id, last_event_of_block
from workbench.views.sessions import session_title

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.main.tasks import BackgroundTasks
    from workbench.views.conversation_blocks import Block
    from workbench.views.data_source import DataSource

_WORKTREE_PREFIX = "git "


class ForkPrompt:
    """Asks for the folder of a fork and has it made; a line hears of what is typed as a pane does."""

    def __init__(
        self,
        tasks: "BackgroundTasks",
        session_id: str,
        position: Callable[[], int],
    ) -> None:
        """Keep what is forked.

        Args:
            tasks: those of the screen where it is asked; their backend makes the fork.
            session_id: whose conversation goes on.
            position: returns the moment, as a position of the journal; called in a thread.
        """
        self._tasks, self._session_id, self._position = tasks, session_id, position

    def ask(self, title: str) -> None:
        """Ask for a folder."""
        right, does = "FOLDER for a copy, git FOLDER for a worktree", "fork; without a folder the talk only"
        self._tasks.post(LineWanted(self, "fork", title, right, does))

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        del purpose
        if not is_final:
            return
        words = text.strip()
        is_worktree = words.startswith(_WORKTREE_PREFIX)
        folder = words.removeprefix(_WORKTREE_PREFIX).strip() if is_worktree else words

        def fork() -> str:
            wanted = ForkRequest(
                session_id=self._session_id, position=self._position(), is_worktree=is_worktree, folder=folder
            )
            return self._tasks.backend.fork(wanted)

        self._tasks.tell(fork, "Forking.", "fork a session")

    def line_dropped(self, purpose: str) -> None:
        del purpose


def ask_fork(context: "MainContext", session_id: str | None, block: "Block | None") -> None:
    """Ask for a fork of a session (None: the one on show), from its end or from a block of it."""
    session = context.state.sessions.get(session_id) if session_id else context.state.current
    if session is None:
        context.say("There is no session here to fork.")
        return
    source = context.state.source
    title = f"Fork “{session_title(session)}”"
    if block is None:
        ForkPrompt(context.tasks, session.id, source.position).ask(f"{title} as it is now")
        return
    asked = ForkPrompt(context.tasks, session.id, lambda: fork_position(source, session.id, block))
    asked.ask(f"{title} as it was at {clock_time(block.at)}")


def fork_position(source: "DataSource", session_id: str, block: "Block") -> int:
    """Return the position up to which a session is as it was when a block of it was done.

    Raises:
        NotDone: It is not done yet, or not there any more.
    """
    last_event = None
    if isinstance(source, transcript_window.EventArchive):
        last_event = last_event_of_block(
            transcript_window.event_batches(source, session_id), last_block_id(block)
        )
    if last_event is None:
        raise BackendError("No session was forked: this is not done yet, or it is gone. G goes to the end.")
    return last_event.position
