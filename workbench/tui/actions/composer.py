"""Keys of the composer."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.tui.panes.composer import Composer


def send(composer: "Composer") -> None:
    """Send what is written, or take the candidate under the cursor."""
    composer.send()


def newline(composer: "Composer") -> None:
    """Begin a new line."""
    composer.newline()


def history_previous(composer: "Composer") -> None:
    """Go up, from the first line to what was said before."""
    composer.up()


def history_next(composer: "Composer") -> None:
    """Go down, from the last line to what was said after."""
    composer.down()


def complete(composer: "Composer") -> None:
    """Take the candidate under the cursor, or go on to the next pane from an empty field."""
    composer.complete()


def editor(composer: "Composer") -> None:
    """Write in the user's editor."""
    composer.edit()


def leave(composer: "Composer") -> None:
    """Close the list, or go back to the pane."""
    composer.leave()
