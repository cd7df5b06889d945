"""Keys of the dialog that makes a rule."""

from workbench.tui.screens.always import AlwaysScreen


def save(screen: AlwaysScreen) -> None:
    """Save the rule."""
    screen.save()


def row_down(screen: AlwaysScreen) -> None:
    """Go to the wider rule."""
    screen.move(1)


def row_up(screen: AlwaysScreen) -> None:
    """Go to the narrower rule."""
    screen.move(-1)


def field_next(screen: AlwaysScreen) -> None:
    """Go to the next field."""
    screen.to_field(1)


def field_previous(screen: AlwaysScreen) -> None:
    """Go to the field before."""
    screen.to_field(-1)


def choose_previous(screen: AlwaysScreen) -> None:
    """Choose what stands before."""
    screen.choose(-1)


def choose_next(screen: AlwaysScreen) -> None:
    """Choose what stands after."""
    screen.choose(1)


def edit(screen: AlwaysScreen) -> None:
    """Write the pattern by hand."""
    screen.edit()


def scroll_down(screen: AlwaysScreen) -> None:
    """Scroll down."""
    screen.scroll_page(3)


def scroll_up(screen: AlwaysScreen) -> None:
    """Scroll up."""
    screen.scroll_page(-3)


def leave(screen: AlwaysScreen) -> None:
    """Go back; nothing is saved."""
    screen.leave()
