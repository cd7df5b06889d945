"""Imports sessions of other agents into the library: once, or as they are written."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.tui.library.library_pane import LibraryPane

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.views.welcome import ImportOffer


class ImportActions:
    """The imports of one screen."""

    def __init__(self, context: "MainContext", pane: LibraryPane) -> None:
        self._context, self._pane = context, pane
        self._offer: ImportOffer | None = None

    @property
    def question(self) -> str:
        """Return what is asked before an import."""
        return self._offer.question if self._offer else "Import a file or folder"

    def look(self, then: Callable[[], None]) -> None:
        """Look in a thread at what other agents have here; `then` asks."""

        def ask(offer: "ImportOffer | None") -> None:
            self._pane.show_progress("")
            self._offer = offer
            then()

        def work() -> str:
            offer = None
            try:
                offer = self._context.backend.library.import_offer()
            finally:
                self._context.call_from_thread(ask, offer)
            return ""

        self._pane.show_progress("Looking for sessions of other agents.")
        self._context.tasks.file(work)

    def start(self, text: str) -> None:
        """Import a file or folder; without one what other agents have here."""
        if not text and not (self._offer and self._offer.files):
            return

        def work() -> str:
            library = self._context.backend.library
            try:
                goes_on = self._pane.goes_on
                return library.import_path(text, goes_on) if text else library.import_found(goes_on)
            finally:
                self._context.call_from_thread(self._pane.show_progress, "")

        self._pane.begin_work("Being read.")
        self._context.tasks.file(work)

    def read_watch(self) -> None:
        """Read in a thread whether what other agents write is imported automatically."""

        def read() -> str:
            is_on = self._context.backend.library.is_watching()
            self._context.call_from_thread(self._show_watch, is_on)
            return ""

        self._context.tasks.file(read)

    def _show_watch(self, is_on: bool) -> None:
        if self._pane.is_watching != is_on:
            self._pane.is_watching = is_on
            self._pane.say_title()

    def toggle_watch(self) -> None:
        """Import what other agents write automatically, or no longer."""

        def work() -> str:
            said = self._context.backend.library.toggle_watch()
            self.read_watch()
            return said

        self._context.tasks.file(work)
