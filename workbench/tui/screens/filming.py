"""A film, or a picture of a moment, that a replay is asked for: which file it goes to, and what came of it.

Owns the question. What writes it is a service, in a process of its own.
"""

from workbench.domain.rows import Session
from workbench.tui.messages import LineAsked, Said
from workbench.tui.screens.forking import Asking
from workbench.tui.services import FilmWanted, Services
from workbench.views.sessions import slug


class Filming:
    """Asks for the file and has it written; a line hears of what is typed as a pane does."""

    def __init__(
        self,
        screen: Asking,
        session: Session,
        index: int,
        size: tuple[int, int],
        theme: str,
        services: Services | None = None,
    ) -> None:
        """Keep what is filmed.

        Args:
            screen: where it is asked and answered.
            session: which.
            index: the moment of a picture: how many events have happened.
            size: cells across and down.
            theme: the name of the colours.
            services: what writes; None takes the screen's.
        """
        self._screen, self._session, self._index = screen, session, index
        self._size, self._theme = size, theme
        self._services = services or screen.services

    def ask(self) -> None:
        """Ask for the file."""
        title, right = "Write to", ".svg this moment, .html and .cast all of it"
        text = f"{slug(self._session)}.html"
        self._screen.post_message(LineAsked(self, "film", title, right, "write it", text=text))

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        """Have it written in a thread, and say what came of it."""
        del purpose
        if not is_final or not text.strip():
            return
        wanted = FilmWanted(
            session_id=self._session.id, path=text.strip(), index=self._index, theme=self._theme,
            size=self._size,
        )  # fmt: skip
        film = self._services.film
        self._screen.requests.tell(lambda: film(wanted, self._told), "Being filmed.", "film")

    def _told(self, words: str) -> None:
        if words:
            self._screen.post_message(Said(words, is_kept=False))

    def line_dropped(self, purpose: str) -> None:
        """Write nothing."""
        del purpose
