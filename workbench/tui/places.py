"""The table of places: the key that leads to each, its number, and the module that makes it.

A place is a row here and a module with `open_place`; all else that names a place asks this table.
"""

# Modules of places are imported at the first visit. The five panes without one are always there.

import importlib
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from msgspec import Struct

if TYPE_CHECKING:
    from textual.screen import Screen

    from workbench.tui.main.context import MainContext
    from workbench.tui.pane import Pane


class PlaceModule(Protocol):
    """The module of a place that is made at its first visit."""

    def open_place(self, context: "MainContext") -> "Pane | Screen[Any]":
        """Return its pane, which is kept, or its screen, which lies over the main one."""
        ...


class Place(Struct, frozen=True, kw_only=True):
    """A place of the main screen."""

    key: str
    name: str
    """In lower case; its label in footer, help and palette."""
    tooltip: str = ""
    """In help and palette, where it is not the name."""
    aliases: str = ""
    """Other words by which people look for it in the palette."""
    scopes: tuple[str, ...] = ()
    """Scopes of keys that count there: the palette finds them from other places."""
    module: str = ""
    """Its `PlaceModule`; empty for the five panes that are always there."""

    @property
    def key_id(self) -> str:
        """Return the row of the key table that leads there."""
        return f"app.place-{self.key}"

    def open(self, context: "MainContext") -> "Pane | Screen[Any]":
        """Make its pane or screen."""
        return cast("PlaceModule", importlib.import_module(self.module)).open_place(context)


PLACES: Final = (
    Place(key="0", name="sessions", aliases="chats tabs list", scopes=("rail",)),
    Place(key="1", name="conversation", aliases="chat transcript", scopes=("conversation",)),
    Place(key="2", name="approvals", aliases="queue permissions review changes",
          scopes=("approvals", "diff")),
    Place(key="3", name="tools", tooltip="tool invocations", aliases="tools calls", scopes=("tools",)),
    Place(key="4", name="pipeline", aliases="graph runs workflow steps", scopes=("pipeline",)),
    Place(key="5", name="library", aliases="history search imported", scopes=("library",),
          module="workbench.tui.library.library_pane"),
    Place(key="6", name="rules", aliases="permissions allow deny policy always", scopes=("rules",),
          module="workbench.tui.rules.rules_screen"),
    Place(key="7", name="statistics", aliases="usage cost tokens price stats money", scopes=("statistics",),
          module="workbench.tui.library.statistics_pane"),
    Place(key="8", name="findings", scopes=("incidents",), module="workbench.tui.incidents.incidents_pane",
          aliases="incidents lint linter analyzer warnings issues problems sarif konveyor ruff pyright fix"),
    Place(key="9", name="providers", tooltip="models and providers", scopes=("providers",),
          aliases="models servers llm api key setup", module="workbench.tui.providers.provider_list"),
)  # fmt: skip
PLACE_OF_KEY: Final = {place.key: number for number, place in enumerate(PLACES)}
"""The number of a place is its index in `PLACES`; titles and tabs show it, and its key goes there."""
PANE_PLACES: Final = tuple(number for number, place in enumerate(PLACES) if not place.module)
"""Numbers of the places whose panes are always there."""
_NUMBERS: Final = {place.name: number for number, place in enumerate(PLACES)}


def place_number(name: str) -> int:
    """Return the number of a place."""
    return _NUMBERS[name]


def place_key(name: str) -> str:
    """Return the key that leads to a place."""
    return PLACES[_NUMBERS[name]].key


def place_key_id(name: str) -> str:
    """Return the row of the key table that leads to a place."""
    return PLACES[_NUMBERS[name]].key_id
