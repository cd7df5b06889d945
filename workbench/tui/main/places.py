"""The registry of places: which key leads to which pane or screen, and how it is made."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from workbench.tui.main.screen import MainScreen
    from workbench.tui.pane import Pane


class Place(Struct, frozen=True, kw_only=True):
    """A place of the main screen."""

    key: str
    title: str
    tooltip: str = ""
    """In help and palette, where it is not the title."""
    factory: "Callable[[MainScreen], Pane | None] | None" = None
    """Makes its pane at the first visit, or opens its screen and returns None.

    None: it is one of the five panes that are always there."""


def _library(screen: "MainScreen") -> "Pane":
    from workbench.tui.library.library_list import LibraryModel
    from workbench.tui.library.library_pane import LibraryPane

    journal, clock = screen.textual.journal, screen.textual.monotonic
    model = LibraryModel(journal, screen.backend.price, screen.home, clock)
    return LibraryPane(model, screen.workspace, lambda: sorted(screen.backend.rules.known_tools()))


def _rules(screen: "MainScreen") -> None:
    from workbench.tui.rules.rules_screen import open_rules

    open_rules(screen)


def _statistics(screen: "MainScreen") -> "Pane":
    from workbench.tui.library.statistics_pane import StatisticsPane

    return StatisticsPane(screen.textual.journal, screen.backend.price, screen.state, screen.workspace)


PLACES: Final = (
    Place(key="0", title="sessions"),
    Place(key="1", title="conversation"),
    Place(key="2", title="approvals"),
    Place(key="3", title="tools", tooltip="tool invocations"),
    Place(key="4", title="pipeline"),
    Place(key="5", title="library", factory=_library),
    Place(key="6", title="rules", factory=_rules),
    Place(key="7", title="statistics", factory=_statistics),
)
PANE_PLACES: Final = tuple(int(place.key) for place in PLACES if place.factory is None)
"""Numbers of the places whose panes are always there."""
NO_SUCH_PLACE: Final = f"There is no such place: they are {PLACES[0].key} to {PLACES[-1].key}."
