"""Keys of the sessions: what is done with the one under the cursor."""

from workbench.tui.messages import BesideWanted, ForkAsked, ReplayWanted, Said
from workbench.tui.panes.rail import Rail

_NONE = "There is no session under the cursor."


def replay(pane: Rail) -> None:
    """See it again, from its beginning."""
    key = pane.list.cursor
    pane.post_message(ReplayWanted(key) if key else Said(_NONE))


def fork(pane: Rail) -> None:
    """Begin a session from its end."""
    key = pane.list.cursor
    pane.post_message(ForkAsked(key) if key else Said(_NONE))


def beside(pane: Rail) -> None:
    """See it beside the one on show."""
    key = pane.list.cursor
    pane.post_message(BesideWanted(key) if key else Said(_NONE))
