"""Which panes are on the screen and how large, by screen size, place and zoom (UX section 2).

The computation is pure; `LayoutController` applies it to the main screen.
"""

from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct
from textual.widget import Widget

from workbench.tui.main.places import PANE_PLACES

if TYPE_CHECKING:
    from workbench.tui.main.screen import MainScreen

WidthClass = Literal["tiny", "narrow", "medium", "wide"]
NARROW, MEDIUM, WIDE = 60, 100, 140
SHORT, TALL = 18, 30
SIDEBAR_WIDTH: Final = 25
_CONVERSATION_WIDTH, _QUEUE_WIDTH = 58, 74
_MIN_PANE_WIDTH: Final = 48
"""Columns of the conversation on a medium screen, and the least it has on a wide one."""


class Layout(Struct, frozen=True, kw_only=True):
    """What is where."""

    width: WidthClass
    shown: frozenset[int]
    """Places whose panes are on the screen."""
    left: int = 0
    """Columns of conversation and tools; 0 is all of them."""
    tools: int = 0
    """Rows of the tools under the conversation; 0 is all of them."""
    pipeline: int = 0
    """Rows of the pipeline under the approvals; 0 is all of them."""
    is_alone: bool = False
    """One pane has the whole body."""

    @property
    def has_rail(self) -> bool:
        """Return whether the rail is beside the other panes."""
        return 0 in self.shown and not self.is_alone

    @property
    def has_strip(self) -> bool:
        """Return whether the one-line strip stands for the rail."""
        return self.width == "medium" and not self.is_alone

    @property
    def has_tabs(self) -> bool:
        """Return whether a tab row says which panes there are."""
        return self.width == "narrow"


def width_class(columns: int, rows: int) -> WidthClass:
    """Return the class of a size."""
    if columns < NARROW or rows < SHORT:
        return "tiny"
    if columns < MEDIUM:
        return "narrow"
    return "medium" if columns < WIDE else "wide"


def layout_for_size(columns: int, rows: int, place: int, *, is_zoomed: bool = False) -> Layout:
    """Return what is on a screen.

    Args:
        columns: of the terminal.
        rows: of the terminal.
        place: where the user is; a place that is none of the five panes has the whole body.
        is_zoomed: whether that pane has the whole body.
    """
    width = width_class(columns, rows)
    is_short = rows < TALL
    hidden_here = place == 0 and width == "medium"
    opened_over = is_short and place in (3, 4)
    if width in ("tiny", "narrow") or is_zoomed or hidden_here or opened_over or place not in PANE_PLACES:
        return Layout(width=width, shown=frozenset({place}), is_alone=True)
    small = 1 if is_short else None
    if width == "medium":
        return Layout(
            width=width,
            shown=frozenset(PANE_PLACES[1:]),
            left=_MIN_PANE_WIDTH,
            tools=small or 7,
            pipeline=small or 7,
        )
    room = columns - SIDEBAR_WIDTH - 2
    left = max(
        _MIN_PANE_WIDTH,
        min(_CONVERSATION_WIDTH, room - _QUEUE_WIDTH),
        round(room / 2.27) if room > 133 else 0,
    )
    return Layout(
        width=width, shown=frozenset(PANE_PLACES), left=left, tools=small or 12, pipeline=small or 10
    )


_LOW_ROWS: Final = 24
"""Rows up to which a narrow screen gives the list one row less, for the diff."""


class LayoutController:
    """Puts things in their places on behalf of a main screen."""

    def __init__(self, screen: "MainScreen") -> None:
        self._screen = screen
        self.arrangement: Layout | None = None
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

    def _arranged(self) -> Layout:
        screen = self._screen
        is_zoomed = screen.is_zoomed or screen.approvals.is_full
        return layout_for_size(screen.size.width, screen.size.height, screen.place, is_zoomed=is_zoomed)

    def _classify(self, found: Layout) -> bool:
        """Say in classes how things are arranged; return whether that is new."""
        screen = self._screen
        before = screen.classes
        for name in ("tiny", "narrow", "medium", "wide"):
            screen.set_class(found.width == name, f"-{name}", update=False)
        screen.set_class(found.is_alone, "-alone", update=False)
        screen.set_class(screen.approvals.is_full, "-full", update=False)
        screen.set_class(screen.size.height <= _LOW_ROWS, "-low", update=False)
        return screen.classes != before

    def put(self, found: Layout) -> None:
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
