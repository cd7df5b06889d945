"""Keys of two runs side by side."""

from workbench.tui.screens.compare import CompareScreen


def row_down(screen: CompareScreen) -> None:
    """Go a step down."""
    screen.move(1)


def row_up(screen: CompareScreen) -> None:
    """Go a step up."""
    screen.move(-1)


def row_first(screen: CompareScreen) -> None:
    """Go to the first step."""
    screen.move_to_end(is_last=False)


def row_last(screen: CompareScreen) -> None:
    """Go to the last step."""
    screen.move_to_end(is_last=True)


def page_down(screen: CompareScreen) -> None:
    """Go ten steps down."""
    screen.move(10)


def page_up(screen: CompareScreen) -> None:
    """Go ten steps up."""
    screen.move(-10)


def difference_next(screen: CompareScreen) -> None:
    """Go to the next that differs."""
    screen.move_to_difference(1)


def difference_previous(screen: CompareScreen) -> None:
    """Go to the one before that differs."""
    screen.move_to_difference(-1)


def run_older(screen: CompareScreen) -> None:
    """Compare with the next older run."""
    screen.other_run(1)


def run_newer(screen: CompareScreen) -> None:
    """Compare with the run before that."""
    screen.other_run(-1)


def order(screen: CompareScreen) -> None:
    """Order the rows another way."""
    screen.next_order()


def open(screen: CompareScreen) -> None:  # noqa: A001 named as the row of the key table
    """Go to the step."""
    screen.open_step()


def leave(screen: CompareScreen) -> None:
    """Go back."""
    screen.leave()
