"""Keys of the first page: what to do while no model is set up."""

from workbench.tui.screens.main import MainScreen
from workbench.tui.services import LEFT_FOR_DEMO


def demo(screen: MainScreen) -> None:
    """Leave; who started the screen begins the demo."""
    screen.textual.exit(LEFT_FOR_DEMO)


def providers(screen: MainScreen) -> None:
    """Say how a model is set up."""
    from workbench.tui.screens.setup import open_setup

    open_setup(screen)
