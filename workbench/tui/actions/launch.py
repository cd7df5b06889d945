"""Keys of the launch form."""

from workbench.tui.screens.launch import LaunchScreen


def start(screen: LaunchScreen) -> None:
    """Begin the run."""
    screen.start()


def grant(screen: LaunchScreen) -> None:
    """Grant what is under the cursor, or leave it."""
    screen.toggle()


def grants(screen: LaunchScreen) -> None:
    """Grant everything, or nothing."""
    screen.toggle_all()


def write(screen: LaunchScreen) -> None:
    """Go to the input."""
    screen.write()


def edit(screen: LaunchScreen) -> None:
    """Write the input in an editor."""
    screen.edit()


def field_next(screen: LaunchScreen) -> None:
    """Go to the next field."""
    screen.to_field(1)


def field_previous(screen: LaunchScreen) -> None:
    """Go to the field before."""
    screen.to_field(-1)


def row_down(screen: LaunchScreen) -> None:
    """Go a row down."""
    screen.move(1)


def row_up(screen: LaunchScreen) -> None:
    """Go a row up."""
    screen.move(-1)


def row_first(screen: LaunchScreen) -> None:
    """Go to the first row."""
    screen.move_to_end(is_last=False)


def row_last(screen: LaunchScreen) -> None:
    """Go to the last row."""
    screen.move_to_end(is_last=True)


def scroll_down(screen: LaunchScreen) -> None:
    """Scroll the dry run down."""
    screen.scroll_plan(3)


def scroll_up(screen: LaunchScreen) -> None:
    """Scroll it up."""
    screen.scroll_plan(-3)


def leave(screen: LaunchScreen) -> None:
    """Go back; nothing is run."""
    screen.leave()
