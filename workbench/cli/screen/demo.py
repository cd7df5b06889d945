"""The demo on the screen: its agent begins when the trust question is answered, its host ends with it.

Owns the order of a demo. The screen is the same as on any folder.
"""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from workbench.cli.screen.services import services
from workbench.cli.screen.showing import settings, show
from workbench.domain.rows import Session
from workbench.host import control, trusting
from workbench.journal.home import Home
from workbench.journal.journal import Journal

OPENING: Final = (
    "A recorded agent begins as soon as you",
    "have answered the question about trust.",
    "No network, no key, no model.",
)


class Opening(threading.Thread):
    """Waits until the trust question is answered, then begins the demo's session."""

    def __init__(self, journal: Journal, action_id: str, begin: Callable[[], object]) -> None:
        super().__init__(name="demo opening", daemon=True)
        self._journal, self._action_id, self._begin = journal, action_id, begin
        self._is_over = threading.Event()

    def run(self) -> None:
        """Wait and begin."""
        while not self._is_over.is_set():
            cursor = self._journal.last_position()
            action = self._journal.action(self._action_id)
            if action is None or action.state != "pending":
                self._begin()
                return
            self._journal.wait(cursor, 1.0)

    def stop(self) -> None:
        """End without beginning anything."""
        self._is_over.set()
        if self.is_alive():
            self.join(5)


def show_demo(home: Home, journal: Journal, workspace: str, begin: Callable[[], Session | None]) -> None:
    """Show the demo until the person leaves it; then its host ends, for nobody would answer it.

    Args:
        home: of the demo.
        journal: of the demo.
        workspace: the project's real path.
        begin: begins the demo's session, or lets it go on.
    """
    config = settings(home, journal, workspace)
    reaching = replace(services(home, journal, workspace), has_model=lambda: True, opening=OPENING)

    def start() -> None:
        if begin() is not None:
            reaching.ensure_host(workspace)

    question = trusting.ask(journal, workspace)
    opening = Opening(journal, question, start) if question else None
    if opening is None:
        start()
    try:
        # To wait for the journal loads a watcher, which no first frame may wait for.
        show(home, journal, workspace, reaching, config, then=opening.start if opening else None)
    finally:
        if opening is not None:
            opening.stop()
        control.stop(home, workspace)
