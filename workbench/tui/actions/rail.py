"""Keys of the sessions: what is done with the one under the cursor."""

from workbench.tui.messages import ReplayWanted, Said
from workbench.tui.panes.rail import Rail


def replay(pane: Rail) -> None:
    """See it again, from its beginning."""
    key = pane.list.cursor
    pane.post_message(ReplayWanted(key) if key else Said("There is no session under the cursor."))
