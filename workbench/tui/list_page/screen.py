"""The base of places that are a screen over the main one: a list, and the keys of all places."""

from typing import TYPE_CHECKING, ClassVar

from textual import events

from workbench.tui.keyboard import keymap
from workbench.tui.list_page.place import ListPlace
from workbench.tui.places import PLACE_OF_KEY
from workbench.tui.widgets.dialog import ListDialog
from workbench.tui.widgets.line_view import RowList

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext


class ListScreen(ListPlace, ListDialog, inherit_bindings=False):
    """A list over the main screen, left by escape or by the number of another place."""

    PLACE: ClassVar[int]

    def __init__(self, name: str, context: "MainContext", rows: RowList) -> None:
        super().__init__(name, rows)
        self._main = context

    @property
    def is_typing(self) -> bool:
        """Return whether a text field has the keys."""
        return False

    def reads_key(self, key: str) -> bool:
        return key in PLACE_OF_KEY

    def on_key(self, event: events.Key) -> None:
        """Go to another place by its number."""
        number = PLACE_OF_KEY.get(event.key)
        if number is None or self.is_typing:
            return
        event.stop()
        self.dismiss()
        if number != self.PLACE:
            self._main.go_to(number)

    def why_not(self, key_id: str) -> str:
        return keymap.key_of(key_id).why_off(self)

    def leave(self) -> None:
        self.step_back()

    def leave_place(self) -> None:
        self.dismiss()
