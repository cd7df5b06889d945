"""Where things stand on the main screen: which panes are shown, how large, and what the rows below them hold.

Owns what follows from size, place and zoom (`tui.arrangement`), and that nothing has the focus on a screen
that is too small for a decision.
"""

from typing import TYPE_CHECKING, Final

from textual.widget import Widget

from workbench.tui.arrangement import Arrangement, arrange

if TYPE_CHECKING:
    from workbench.tui.screens.main import MainScreen

_LOW: Final = 24
"""Rows up to which a narrow screen gives the list one row less, for the diff."""


class Placing:
    """Puts things in their places on behalf of a main screen."""

    def __init__(self, screen: "MainScreen") -> None:
        self._screen = screen
        self.arrangement: Arrangement | None = None
        self._focused_before: Widget | None = None
        """What had the focus before the terminal became too small for anything."""

    def rearrange(self) -> None:
        """Put panes where size, place and zoom want them."""
        screen = self._screen
        if not screen.size.area:
            return
        had_strip = screen.strip.display
        self.arrangement = found = self._arranged()
        if self._classify(found):
            screen.update_node_styles()
        self.put(found)
        if found.has_strip and not had_strip:
            screen.showing.head()
        is_zoomed = found.is_alone and found.width in ("medium", "wide") and not screen.approvals.is_full
        if screen.approvals.is_zoomed != is_zoomed:
            screen.approvals.is_zoomed = is_zoomed
            screen.approvals.reshow(is_sorted=True)
        self._take_or_give_focus(is_tiny=found.width == "tiny")

    def classify(self) -> None:
        """Say in classes how things will be arranged, before any of them is there."""
        self._classify(self._arranged())

    def _arranged(self) -> Arrangement:
        screen = self._screen
        is_zoomed = screen.is_zoomed or screen.approvals.is_full
        return arrange(screen.size.width, screen.size.height, screen.place, is_zoomed=is_zoomed)

    def _classify(self, found: Arrangement) -> bool:
        """Say in classes how things are arranged; return whether that is new."""
        screen = self._screen
        before = screen.classes
        for name in ("tiny", "narrow", "medium", "wide"):
            screen.set_class(found.width == name, f"-{name}", update=False)
        screen.set_class(found.is_alone, "-alone", update=False)
        screen.set_class(screen.approvals.is_full, "-full", update=False)
        screen.set_class(screen.size.height <= _LOW, "-low", update=False)
        return screen.classes != before

    def put(self, found: Arrangement) -> None:
        """Show what an arrangement shows, in its sizes."""
        screen = self._screen
        for pane in screen.panes:
            pane.display = pane.PLACE in found.shown
        left, right = screen.query_one("#left"), screen.query_one("#right")
        left.display, right.display = bool(found.shown & {1, 3}), bool(found.shown & {2, 4})
        left.styles.width = found.left or "1fr"
        screen.tools.styles.height = found.tools or "1fr"
        screen.pipeline.styles.height = found.pipeline or "1fr"
        screen.query_one("#rail-divider").display = found.has_rail
        screen.query_one("#middle-divider").display = left.display and right.display
        screen.strip.display = found.has_strip
        screen.tabs.display = found.has_tabs and not screen.is_away
        screen.show_away()
        self.status()

    def status(self) -> None:
        """Give the rule its row; a narrow screen has none to spare, there a sentence takes the composer's."""
        screen, found = self._screen, self.arrangement
        is_narrow = found is not None and found.width == "narrow"
        is_said = bool(screen.rule.said)
        screen.rule.display = not is_narrow or is_said
        if not screen.is_line_asked:
            has_room = not (is_narrow and is_said) or screen.composer.has_focus_within
            screen.composer.display = has_room and not screen.is_away and screen.showing.has_model

    def _take_or_give_focus(self, *, is_tiny: bool) -> None:
        """Let nothing have the focus on a screen that is too small, and give it back when it grows."""
        screen = self._screen
        if is_tiny:
            self._focused_before = screen.focused or self._focused_before
            screen.set_focus(None)
            screen.small.show(screen.size, screen.showing.summary())
        elif self._focused_before is not None:
            self._focused_before.focus()
            self._focused_before = None
            screen.approvals.disarm()
