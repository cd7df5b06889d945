"""Keys of the tools pane."""

from workbench.tui.panes.tools import ToolsPane


def failed_only(pane: ToolsPane) -> None:
    """Show only what failed, or all."""
    pane.toggle_failed()


def part_previous(pane: ToolsPane) -> None:
    """Show the part before."""
    pane.call.turn(-1)


def part_next(pane: ToolsPane) -> None:
    """Show the part after."""
    pane.call.turn(1)
