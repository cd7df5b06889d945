"""Keys of the rules, place 6."""

from workbench.tui.screens.rules import RulesScreen


def row_down(screen: RulesScreen) -> None:
    """Go to the next rule."""
    screen.move(1)


def row_up(screen: RulesScreen) -> None:
    """Go to the rule before."""
    screen.move(-1)


def row_first(screen: RulesScreen) -> None:
    """Go to the first rule."""
    screen.move(-100_000)


def row_last(screen: RulesScreen) -> None:
    """Go to the last rule."""
    screen.move(100_000)


def revoke(screen: RulesScreen) -> None:
    """Ask whether the rule is to be taken back."""
    screen.ask_to_revoke()


def backtest(screen: RulesScreen) -> None:
    """Count what the rule would have done in the past."""
    screen.backtest()


def past(screen: RulesScreen) -> None:
    """Show or hide what was revoked or has expired."""
    screen.toggle_past()


def filter(screen: RulesScreen) -> None:  # noqa: A001 named as the row of the key table
    """Ask for words that a rule has to hold."""
    screen.ask_filter()


def help(screen: RulesScreen) -> None:  # noqa: A001 named as the row of the key table
    """Show the keys."""
    screen.help()


def palette(screen: RulesScreen) -> None:
    """Go back, and open the palette."""
    screen.open_palette()


def leave(screen: RulesScreen) -> None:
    """Go back."""
    screen.leave()


def undo(screen: RulesScreen) -> None:
    """Put the rule back that was just revoked."""
    screen.undo()


def add(screen: RulesScreen) -> None:
    """Ask for a rule."""
    screen.ask_to_add()


def edit(screen: RulesScreen) -> None:
    """Ask for the rule under the cursor, written anew."""
    screen.ask_to_edit()
