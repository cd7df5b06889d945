"""Keys of the line at the bottom."""

from workbench.tui.panes.linebar import LineBar


def ok(bar: LineBar) -> None:
    """Send the line."""
    bar.send()


def earlier(bar: LineBar) -> None:
    """Take an earlier line."""
    bar.recall(1)


def later(bar: LineBar) -> None:
    """Take a later line."""
    bar.recall(-1)


def leave(bar: LineBar) -> None:
    """Leave the line; nothing is done."""
    bar.leave()
