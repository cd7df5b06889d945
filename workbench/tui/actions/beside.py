"""Keys of two sessions side by side: which part of them is compared, and which of the two has the keys."""

from workbench.tui.screens.beside import BesideScreen


def conversation(screen: BesideScreen) -> None:
    """Compare conversations, with the calls below."""
    screen.look("conversation")


def approvals(screen: BesideScreen) -> None:
    """Compare queues, with the action under each cursor."""
    screen.look("approvals")


def tools(screen: BesideScreen) -> None:
    """Compare calls."""
    screen.look("tools")


def pipeline(screen: BesideScreen) -> None:
    """Compare graphs."""
    screen.look("pipeline")


def other(screen: BesideScreen) -> None:
    """Give the keys to the other side."""
    screen.to_other()


def help(screen: BesideScreen) -> None:  # noqa: A001 the table names it
    """Show the keys."""
    screen.open_help()
