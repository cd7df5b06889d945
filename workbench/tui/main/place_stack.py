"""Where the user is on a main screen, and the places that were opened there."""

# Header, footer, palette, help, the line at the bottom and the way back are the main screen's.

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

from textual.screen import Screen

from workbench.domain.events import Event, SessionDeleted
from workbench.tui.places import PANE_PLACES, PLACES, place_number

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.pane import Pane

PLACES_UNAVAILABLE: Final = "This is a replay: other places are behind it. esc leaves it."


class PlaceStack:
    """The current place of a main screen, and the places that were opened next to its five panes."""

    def __init__(
        self, screen: Screen[Any], context: "MainContext", five: Sequence["Pane"], *, is_replay: bool
    ) -> None:
        self._screen, self._context, self._five = screen, context, five
        self._is_replay = is_replay
        self.is_zoomed = False
        """Whether the pane where the user is has the whole body."""
        self.current = place_number("approvals")
        self.before = self.current
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
        first = state.first_waiting()
        if first is None or not state.is_own(first.session_id) or first.id == queue.cursor:
            return
        if queue.size.height:
            queue.put_cursor(first.id)
        else:
            queue.cursor = first.id
            # Its list scrolls once it knows its size.
            queue.call_after_refresh(queue.put_cursor, first.id)

    def _make(self, place: int) -> bool:
        if self._is_replay:
            self._context.say(PLACES_UNAVAILABLE)
            return False
        made = PLACES[place].open(self._context)
        if isinstance(made, Screen):
            self._context.app.push_screen(made)
            return False
        made.main = self._context
        self.opened.append(made)
        self._screen.query_one("#body").mount(made)
        self._screen.mount(made.hint, after="#rule")
        return True

    def show(self) -> None:
        """Show the place that the user is at, and what is said under it."""
        for pane in self.opened:
            pane.hint.display = pane.display = self.current == pane.PLACE

    def tell(self, events: Sequence[Event]) -> None:
        """Tell the places which sessions something happened to."""
        self.show_changed(_changed_sessions(events))

    def show_changed(self, session_ids: Collection[str]) -> None:
        """Have the opened places read sessions again."""
        if session_ids:
            for pane in self.opened:
                pane.show(session_ids)


def _changed_sessions(events: Sequence[Event]) -> set[str]:
    """Return the sessions whose rows may read otherwise now; pieces of streamed text change none."""
    changed = {event.session_id for event in events if event.body.DURABLE}
    return changed | {event.body.deleted_id for event in events if isinstance(event.body, SessionDeleted)}
