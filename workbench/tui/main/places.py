"""The registry of places: which key leads to which pane or screen, and how it is made."""

# Places 5 and 7 are panes that are mounted when they are first opened. Header, footer, palette, help, the
# line at the bottom and the way back are the main screen's; nothing of a place is imported before.

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from textual.screen import Screen

from workbench.domain.events import Event, SessionDeleted
from workbench.views.approvals import queue_summary

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.pane import Pane


class Place(Struct, frozen=True, kw_only=True):
    """A place of the main screen."""

    key: str
    title: str
    tooltip: str = ""
    """In help and palette, where it is not the title."""
    aliases: str = ""
    """Other words by which people look for it in the palette."""
    factory: "Callable[[MainContext], Pane | None] | None" = None
    """Makes its pane at the first visit, or opens its screen and returns None.

    None: it is one of the five panes that are always there."""


def _library(context: "MainContext") -> "Pane":
    from workbench.tui.library.library_list import LibraryModel
    from workbench.tui.library.library_pane import LibraryPane
    from workbench.tui.library.session_actions import SessionActions

    app, backend, status = context.app, context.backend, context.status
    model = LibraryModel(app.journal, backend.price, status.home, app.monotonic)
    pane = LibraryPane(model, status.workspace, lambda: sorted(backend.rules.known_tools()))
    pane.actions = SessionActions(context, pane)
    return pane


def _rules(context: "MainContext") -> None:
    from workbench.tui.rules.rules_screen import RulesScreen

    context.app.push_screen(RulesScreen(context))


def _incidents(context: "MainContext") -> "Pane":
    from workbench.tui.incidents.incident_actions import IncidentActions
    from workbench.tui.incidents.incident_list import IncidentModel
    from workbench.tui.incidents.incidents_pane import IncidentsPane

    app, backend = context.app, context.backend
    pane = IncidentsPane(IncidentModel(app.journal, lambda: backend.incidents, context.status.workspace))
    pane.actions = IncidentActions(context, pane)
    return pane


def _providers(context: "MainContext") -> None:
    context.providers.open_list()


def _statistics(context: "MainContext") -> "Pane":
    from workbench.tui.library.statistics_pane import StatisticsPane

    return StatisticsPane(context.app.journal, context.backend.price, context.state, context.status.workspace)


INCIDENTS_KEY: Final = "8"
PROVIDERS_KEY: Final = "9"
PLACES: Final = (
    Place(key="0", title="sessions", aliases="chats tabs list"),
    Place(key="1", title="conversation", aliases="chat transcript"),
    Place(key="2", title="approvals", aliases="queue permissions review changes"),
    Place(key="3", title="tools", tooltip="tool invocations", aliases="tools calls"),
    Place(key="4", title="pipeline", aliases="graph runs workflow steps"),
    Place(key="5", title="library", aliases="history search imported", factory=_library),
    Place(key="6", title="rules", aliases="permissions allow deny policy always", factory=_rules),
    Place(key="7", title="statistics", aliases="usage cost tokens price stats money", factory=_statistics),
    Place(key=INCIDENTS_KEY, title="findings", factory=_incidents,
          aliases="incidents lint linter analyzer warnings issues problems sarif konveyor ruff pyright fix"),
    Place(key=PROVIDERS_KEY, title="providers", tooltip="models and providers",
          aliases="models keys servers llm api setup", factory=_providers),
)  # fmt: skip
PLACE_OF_KEY: Final = {place.key: number for number, place in enumerate(PLACES)}
"""A place's number is where it stands in `PLACES`; titles and tabs show the number, keys lead there."""
PANE_PLACES: Final = tuple(number for number, place in enumerate(PLACES) if place.factory is None)
"""Numbers of the places whose panes are always there."""
PLACES_UNAVAILABLE: Final = "This is a replay: other places are behind it. esc leaves it."


class PlaceStack:
    """Where the user is on a main screen, and the places beside its five panes that were opened."""

    def __init__(
        self, screen: Screen[Any], context: "MainContext", five: Sequence["Pane"], *, is_replay: bool
    ) -> None:
        self._screen, self._context, self._five = screen, context, five
        self._is_replay = is_replay
        self.is_zoomed = False
        """Whether the pane where the user is has the whole body."""
        self.current = 2
        self.before = 2
        """The place before one that has the whole body."""
        self.opened: list[Pane] = []

    @property
    def panes(self) -> Sequence["Pane"]:
        """Return the five panes, and places that were opened since."""
        return *self._five, *self.opened

    @property
    def filtered(self) -> "Pane | None":
        """Return a pane on the screen whose rows are filtered, that of the current place first."""
        shown = [pane for pane in self._five if pane.display and pane.text_filter]
        return min(shown, key=lambda pane: self.current != pane.PLACE, default=None)

    @property
    def is_away(self) -> bool:
        """Return whether a place has the body that is none of the five panes."""
        return self.current not in PANE_PLACES

    def enter(self, place: int) -> bool:
        """Go to a place, made if it is not there yet; False where there is none."""
        if place in PANE_PLACES:
            self.before = place
        else:
            if not self.is_away:
                self.before = self.current
            if not (any(place == pane.PLACE for pane in self.opened) or self._make(place)):
                return False
        self.current = place
        return True

    def point_at_first_waiting(self) -> None:
        """Put the queue's cursor on what waits first in the session on show: all panes say the same."""
        state, queue = self._context.state, self._context.widgets.approvals.queue
        shown = state.current
        waiting = [action for action in state.pending if shown and action.session_id == shown.id]
        first = queue_summary(waiting, state.source.now()).first_id
        if first is None or first == queue.cursor:
            return
        if queue.size.height:
            queue.put_cursor(first)
        else:
            queue.cursor = first
            # Its list scrolls once it knows its size.
            queue.call_after_refresh(queue.put_cursor, first)

    def _make(self, place: int) -> bool:
        if self._is_replay:
            self._context.say(PLACES_UNAVAILABLE)
            return False
        factory = PLACES[place].factory
        pane = factory(self._context) if factory is not None else None
        if pane is None:
            return False
        pane.main = self._context
        self.opened.append(pane)
        self._screen.query_one("#body").mount(pane)
        self._screen.mount(pane.hint, after="#rule")
        return True

    def show(self) -> None:
        """Show the place that the user is at, and what is said under it."""
        for pane in self.opened:
            pane.hint.display = pane.display = self.current == pane.PLACE

    def tell(self, events: Sequence[Event]) -> None:
        """Tell the places which sessions something happened to."""
        if self.opened and (changed := _changed_sessions(events)):
            for pane in self.opened:
                pane.show(changed)


def _changed_sessions(events: Sequence[Event]) -> set[str]:
    """Return the sessions whose rows may read otherwise now; pieces of streamed text change none."""
    changed = {event.session_id for event in events if event.body.DURABLE}
    return changed | {event.body.deleted_id for event in events if isinstance(event.body, SessionDeleted)}
