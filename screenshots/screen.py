"""The screen as pictures show it: its settings, and a folder with the branch `main`."""

from typing import Final

from workbench.config.types import NotifySettings, UiSettings
from workbench.tui.backend import Backend

DARK: Final = "workbench-dark"
LIGHT: Final = "workbench-light"


class OnMain(Backend):
    """A screen that only shows, in a folder with git's branch `main`."""

    def branch(self) -> str:
        """Return the branch."""
        return "main"


def settings(theme: str) -> UiSettings:
    """Return the settings of a still screen in a theme."""
    notify = NotifySettings(bell=False, title=False, desktop="off")
    return UiSettings(
        theme=theme, density="normal", glyphs="unicode", motion="normal", keymap={}, notify=notify
    )
