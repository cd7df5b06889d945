"""A dialog in which something is decided, and what it is on a screen that is too small to see what.

Owns that nothing is decided below 60 columns or 18 rows, in a dialog as on the main screen: what is asked
about cannot be read there. The dialog comes back as it was when the screen grows.
"""

from collections.abc import Iterable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from workbench.draw.wrapping import wrap
from workbench.tui import keymap
from workbench.tui.arrangement import NARROW, SHORT
from workbench.tui.theme import glyphs, ink


class RoomyScreen(ModalScreen[None], inherit_bindings=False):
    """A dialog that needs room; its own widgets are in one box."""

    LEAVES: ClassVar[str] = ""
    """Id of the key that goes back, the only one that counts on a small screen."""

    def __init__(self, key: str) -> None:
        super().__init__(id=key)
        self._too_small = Static(classes="too-small")

    def compose(self) -> ComposeResult:
        """Yield the dialog, and what stands for it on a small screen."""
        yield from self.compose_box()
        yield self._too_small

    def compose_box(self) -> Iterable[Widget]:
        """Yield the box with what the dialog shows."""
        raise NotImplementedError

    @property
    def fits(self) -> bool:
        """Return whether what is asked about can be read."""
        return self.size.width >= NARROW and self.size.height >= SHORT

    def on_resize(self, event: events.Resize) -> None:
        """Show the dialog, or why not."""
        del event
        self.query_one(f"#{(self.id or '').removesuffix('-screen')}-box").display = self.fits
        self._too_small.display = not self.fits
        self._too_small.update(self._sentences())
        self.resized()

    def resized(self) -> None:
        """Lay out in another size."""

    def _sentences(self) -> Content:
        colours, signs, size = ink(self), glyphs(self), self.size
        lines = [
            Content(signs.line(f"{size.width}×{size.height} is too small to decide here.")),
            Content(signs.line(f"Make it {NARROW}×{SHORT} or more; nothing was done.")),
            Content.assemble(("esc", colours.of("info", bold=True)), " back"),
        ]
        return Content("\n").join(
            Content(" ") + part for line in lines for part in wrap(line, max(1, size.width - 2))
        )

    def action_do(self, key_id: str) -> None:
        """Do what the table says; on a small screen only go back."""
        if self.fits or key_id == self.LEAVES:
            keymap.run(key_id, self)
