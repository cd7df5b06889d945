"""Keys of a step that has the whole pane."""

from workbench.tui.panes.pipeline import PipelinePane


def scroll_down(pane: PipelinePane) -> None:
    """Scroll a line down."""
    pane.move(1)


def scroll_up(pane: PipelinePane) -> None:
    """Scroll a line up."""
    pane.move(-1)


def close(pane: PipelinePane) -> None:
    """Go back to the graph."""
    pane.set_full(is_full=False)
