"""The page of messages: everything that this screen said, the newest last.

Owns nothing but the page; what was said is kept by `notices`. A sentence stands on the screen for four
seconds, and who looked away finds it here.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from workbench.draw import cells
from workbench.draw.words import clock
from workbench.tui.notices import Kept
from workbench.tui.theme import glyphs, ink

if TYPE_CHECKING:
    from workbench.tui.screens.main import MainScreen

_PAGE = 10


def open_messages(screen: "MainScreen") -> None:
    """Show what the screen said so far."""
    screen.textual.push_screen(MessagesScreen(tuple(screen.notices.kept)))


class MessagesScreen(ModalScreen[None], inherit_bindings=False):
    """One page of sentences."""

    def __init__(self, kept: Sequence[Kept]) -> None:
        super().__init__(id="messages-screen")
        self._kept = kept

    def compose(self) -> ComposeResult:
        """Yield the page."""
        with VerticalScroll(id="help-box", can_focus=False):
            yield Static(id="help-page")

    def on_mount(self) -> None:
        """Show the sentences, from the last one up."""
        box = self.query_one("#help-box", VerticalScroll)
        box.border_title = cells.content("Messages of this screen")  # type: ignore[assignment]
        box.border_subtitle = cells.content("esc back")  # type: ignore[assignment]
        lines = [self._line(one) for one in self._kept] or [Content("Nothing was said yet.")]
        self.query_one("#help-page", Static).update(Content("\n").join(lines))
        box.scroll_end(animate=False)

    def _line(self, one: Kept) -> Content:
        colours = ink(self)
        sign = f"{glyphs(self).of('failed')} " if one.is_error else "  "
        at = Content.styled(f"{clock(one.at)}  ", colours.of("faint"))
        return at + cells.content(f"{sign}{one.text}", colours.of("failed" if one.is_error else "foreground"))

    def on_key(self, event: events.Key) -> None:
        """Scroll, leave."""
        event.stop()
        box = self.query_one("#help-box", VerticalScroll)
        if event.key in ("escape", "q"):
            self.dismiss()
        elif event.key in ("down", "j", "up", "k"):
            box.scroll_relative(y=1 if event.key in ("down", "j") else -1, animate=False)
        elif event.key in ("pagedown", "pageup"):
            box.scroll_relative(y=_PAGE if event.key == "pagedown" else -_PAGE, animate=False)
