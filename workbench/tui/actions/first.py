"""Keys of the first page: what to do while no model is set up."""

from typing import Final

from workbench.tui.screens.main import MainScreen

LEFT_FOR_DEMO: Final = 10
"""What `WorkbenchApp.run` returns when the user wants the demo."""


def demo(screen: MainScreen) -> None:
    """Leave; who started the screen begins the demo."""
    screen.textual.exit(LEFT_FOR_DEMO)


def providers(screen: MainScreen) -> None:
    """Say how a model is named."""
    screen.say("Name a model: --provider and --model, or providers in config.json. workbench config show.")
