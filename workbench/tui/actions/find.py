"""Keys of the library's filter while it is typed."""

from workbench.tui.panes.library import LibraryPane


def keep(pane: LibraryPane) -> None:
    """Go to the list; the filter stays."""
    pane.keep_filter()


def complete(pane: LibraryPane) -> None:
    """Write what is offered."""
    pane.complete()


def row_down(pane: LibraryPane) -> None:
    """Go to the next row; the cursor of the text stays."""
    pane.move(1)


def row_up(pane: LibraryPane) -> None:
    """Go to the row before."""
    pane.move(-1)


def clear(pane: LibraryPane) -> None:
    """Show everything again."""
    pane.clear_filter()
