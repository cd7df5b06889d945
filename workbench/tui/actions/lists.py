"""Keys of every list: they ask the pane that has the focus, which knows what its rows are."""

from workbench.tui.messages import Copy, PipeAsked, Said
from workbench.tui.panes.base import Pane

_NOTHING = "There is nothing to copy under the cursor."


def row_down(pane: Pane) -> None:
    """Move to the next row."""
    pane.move(1)


def row_up(pane: Pane) -> None:
    """Move to the row before."""
    pane.move(-1)


def problem_next(pane: Pane) -> None:
    """Move to the next row that waits or failed."""
    pane.move_to_problem(1)


def problem_previous(pane: Pane) -> None:
    """Move to the row before that waits or failed."""
    pane.move_to_problem(-1)


def row_first(pane: Pane) -> None:
    """Move to the first row."""
    pane.move_to_end(is_last=False)


def row_last(pane: Pane) -> None:
    """Move to the last row."""
    pane.move_to_end(is_last=True)


def half_down(pane: Pane) -> None:
    """Scroll half a page down."""
    pane.scroll_half(1)


def half_up(pane: Pane) -> None:
    """Scroll half a page up."""
    pane.scroll_half(-1)


def filter(pane: Pane) -> None:  # noqa: A001 named as the row of the key table
    """Open the filter line."""
    pane.ask_filter()


def order(pane: Pane) -> None:
    """Take the next order."""
    pane.next_order()


def open(pane: Pane) -> None:  # noqa: A001 named as the row of the key table
    """Go deeper."""
    pane.open_row()


def copy(pane: Pane) -> None:
    """Copy what is under the cursor."""
    text = pane.copy_text()
    pane.post_message(Copy(text, "") if text else Said(_NOTHING))


def pipe(pane: Pane) -> None:
    """Give what is under the cursor to a command."""
    text = pane.copy_text()
    pane.post_message(PipeAsked(text) if text else Said(_NOTHING))
