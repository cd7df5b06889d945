"""Keys of the statistics, place 7."""

from workbench.tui.panes.statistics import StatisticsPane


def period_shorter(pane: StatisticsPane) -> None:
    """Count a shorter period."""
    pane.choose_period(-1)


def period_longer(pane: StatisticsPane) -> None:
    """Count a longer period."""
    pane.choose_period(1)


def where(pane: StatisticsPane) -> None:
    """Count all, this workspace, or this session."""
    pane.next_where()
