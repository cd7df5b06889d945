"""Keys of the table of marked actions."""

from workbench.tui.screens.batch import BatchScreen


def approve(screen: BatchScreen) -> None:
    """Approve all of them."""
    screen.answer("approve", "a")


def reject(screen: BatchScreen) -> None:
    """Reject all of them."""
    screen.answer("reject", "r")


def row_down(screen: BatchScreen) -> None:
    """Look at the next."""
    screen.move(1)


def row_up(screen: BatchScreen) -> None:
    """Look at the one before."""
    screen.move(-1)


def scroll_down(screen: BatchScreen) -> None:
    """Scroll the detail down."""
    screen.scroll_detail(3)


def scroll_up(screen: BatchScreen) -> None:
    """Scroll the detail up."""
    screen.scroll_detail(-3)


def unmark(screen: BatchScreen) -> None:
    """Take the row out."""
    screen.unmark()


def leave(screen: BatchScreen) -> None:
    """Go back; nothing is done."""
    screen.leave()
