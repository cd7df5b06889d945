"""Places that have the whole body: library, rules, statistics. Going there, coming back, what they ask for.

Owns that such a place is made when it is first opened, so that nothing of it is loaded with the screen.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from textual import on

from workbench.domain.events import Event, SessionDeleted
from workbench.tui import messages
from workbench.tui.arrangement import PLACES
from workbench.tui.panes.base import Pane
from workbench.tui.screens.routes import RoutedScreen

if TYPE_CHECKING:
    from workbench.tui.screens.places import Deeds

BEHIND: Final = "This is a replay: other places are behind it. esc leaves it."


class AwayScreen(RoutedScreen, inherit_bindings=False):
    """A screen with places beside its panes; `MainScreen` says how a place is gone to."""

    INNER: ClassVar[tuple[str, ...]] = ()
    panes: tuple[Pane, ...]
    _came_from: int = 2
    _deeds: "Deeds | None" = None

    @property
    def is_away(self) -> bool:
        """Return whether a place has the body that is none of the five panes."""
        return self.place not in PLACES

    @property
    def away_panes(self) -> tuple[Pane, ...]:
        """Return the places that were opened so far."""
        return self.panes[len(PLACES) :]

    def go_back(self) -> None:
        """Go back to where the user was before they went to a place with the whole body."""
        self.go_to(self._came_from)

    def leaves_for(self, place: int) -> bool:
        """Note where the user goes, and make the place if it is not there yet; False where there is none."""
        if place in PLACES:
            self._came_from = place
            return True
        if not self.is_away:
            self._came_from = self.place
        return self._has(place) or self._make(place)

    def _has(self, place: int) -> bool:
        return any(place == pane.PLACE for pane in self.panes)

    def _make(self, place: int) -> bool:
        if self.INNER:
            self.say(BEHIND)
            return False
        from workbench.tui.panes.library import LibraryPane
        from workbench.tui.screens.places import Deeds, made

        pane = made(cast("Any", self), place)
        self.panes = (*self.panes, pane)
        self.query_one("#body").mount(pane)
        self.mount(cast("Any", pane).hint, after="#rule")
        if isinstance(pane, LibraryPane):
            self._deeds = Deeds(cast("Any", self), pane)
        return True

    def show_away(self) -> None:
        """Show the place that the user is at, and what is said under it."""
        for pane in self.away_panes:
            cast("Any", pane).hint.display = pane.display = self.place == pane.PLACE

    def tell_away(self, fresh: Sequence[Event]) -> None:
        """Tell the places that were opened which sessions something happened to."""
        if self.away_panes and (changed := _touched(fresh)):
            for pane in self.away_panes:
                pane.show(changed)

    @on(messages.SessionWish)
    def _session_wish(self, message: messages.SessionWish) -> None:
        if self._deeds is not None:
            self._deeds.do(message)

    @on(messages.PlaceLeft)
    def _place_left(self) -> None:
        self.go_back()

    @on(messages.LibraryWanted)
    def _library_wanted(self, message: messages.LibraryWanted) -> None:
        from workbench.tui.panes.library import LibraryPane

        self.go_to(5)
        for pane in self.panes:  # a replay has none, and has said so
            if isinstance(pane, LibraryPane):
                self.call_after_refresh(pane.filter_by, message.text)


def _touched(fresh: Sequence[Event]) -> set[str]:
    """Return the sessions whose rows may read otherwise now; pieces of streamed text change none."""
    found = {event.session_id for event in fresh if event.body.DURABLE}
    return found | {event.body.deleted_id for event in fresh if isinstance(event.body, SessionDeleted)}
