"""Keys of the sessions: what is done with the one under the cursor; without one they are off."""

from workbench.tui.messages import BesideWanted, ForkAsked, ReplayWanted
from workbench.tui.panes.rail import Rail


def replay(pane: Rail) -> None:
    """See it again, from its beginning."""
    pane.post_message(ReplayWanted(pane.list.cursor or ""))


def fork(pane: Rail) -> None:
    """Begin a session from its end."""
    pane.post_message(ForkAsked(pane.list.cursor or ""))


def beside(pane: Rail) -> None:
    """See it beside the one on show."""
    pane.post_message(BesideWanted(pane.list.cursor or ""))
