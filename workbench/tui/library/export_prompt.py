"""Asks for the file that a recorded session, or a moment of it, is written to as a film or picture."""

from typing import TYPE_CHECKING

from workbench.domain.rows import Session
from workbench.tui.backend import ExportRequest
from workbench.tui.pane import LineWanted, StatusMessage
from workbench.views.sessions import session_slug

if TYPE_CHECKING:
    from workbench.tui.main.tasks import BackgroundTasks


class ExportPrompt:
    """Asks for the file and has it written; a line hears of what is typed as a pane does."""

    def __init__(
        self,
        tasks: "BackgroundTasks",
        session: Session,
        index: int,
        size: tuple[int, int],
        theme: str,
    ) -> None:
        """Keep what is filmed.

        Args:
            tasks: those of the screen where it is asked; their backend writes it.
            session: which.
            index: the moment of a picture: how many events have happened.
            size: cells across and down.
            theme: the name of the colours.
        """
        self._tasks, self._session, self._index = tasks, session, index
        self._size, self._theme = size, theme

    def ask(self) -> None:
        """Ask for the file."""
        title, right = "Write to", ".svg this moment, .html and .cast all of it"
        text = f"{session_slug(self._session)}.html"
        self._tasks.post(LineWanted(self, "film", title, right, "write it", text=text))

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        """Have it written in a thread, and say what came of it."""
        del purpose
        if not is_final or not text.strip():
            return
        wanted = ExportRequest(
            session_id=self._session.id, path=text.strip(), index=self._index, theme=self._theme,
            size=self._size,
        )  # fmt: skip
        film = self._tasks.backend.export_film
        self._tasks.tell(lambda: film(wanted, self._told), "Being filmed.", "film")

    def _told(self, words: str) -> None:
        if words:
            self._tasks.post(StatusMessage(words, is_kept=False))

    def line_dropped(self, purpose: str) -> None:
        """Write nothing."""
        del purpose
