"""Keys of the first page: what to do while no model is set up."""

from workbench.tui.screens.main import MainScreen
from workbench.tui.services import LEFT_FOR_DEMO


def demo(screen: MainScreen) -> None:
    """Leave; who started the screen begins the demo."""
    screen.textual.exit(LEFT_FOR_DEMO)


def providers(screen: MainScreen) -> None:
    """Say how an agent is begun here."""
    screen.say("Begin one in a shell: workbench run -p TEXT --provider recorded --recording FILE.")
