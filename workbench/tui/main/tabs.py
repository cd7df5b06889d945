"""The row of panes on a screen that shows one of them at a time."""

from collections.abc import Sequence

from msgspec import Struct
from textual import events
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.render import cells
from workbench.tui.pane import PlaceWanted
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.line_view import LineView
from workbench.tui.widgets.pane_frame import overflow_text


class Tab(Struct, frozen=True, kw_only=True):
    """One pane in the tab row."""

    place: int
    name: str
    waiting: int = 0
    failed: int = 0
    is_here: bool = False


class Tabs(Widget):
    """The panes as a row, with their counts, for the narrow screen."""

    DEFAULT_CSS = "Tabs { height: 1; width: 1fr; background: $background; }"

    class Clicked(Message):
        """A tab was clicked."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self) -> None:
        super().__init__(id="tabs")
        self._tabs: Sequence[Tab] = ()
        self._places: list[tuple[int, int, int]] = []
        self._lists: dict[int, LineView] = {}

    def follow(self, place: int, view: LineView) -> None:
        """Say at the right end what of the list of a pane is not on the screen, while it is there."""
        self._lists[place] = view
        view.watch_extent(self.refresh)

    def show(self, tabs: Sequence[Tab]) -> None:
        """Show tabs."""
        if tabs != self._tabs:
            self._tabs = tabs
            self.refresh()

    def render_line(self, y: int) -> Strip:
        del y
        self._places = []
        line = Content(" ")
        here = self._lists.get(next((tab.place for tab in self._tabs if tab.is_here), -1))
        more, short = (
            "" if here is None else overflow_text(here, glyphs(self), is_short=is_short)
            for is_short in (False, True)
        )
        bare = self._without_name(self.size.width - 1)
        for tab in self._tabs:
            item = self._item(tab, has_name=tab not in bare)
            self._places.append((line.cell_length, line.cell_length + item.cell_length, tab.place))
            line = Content.assemble(line, item, "  " if tab.is_here else "   ")
        room = self.size.width - line.cell_length - 1
        more = next((words for words in (more, short) if len(words) < room), "")
        line = Content.assemble(line, " " * max(0, room - len(more)), (more, ink(self).of("muted")))
        return cells.line_strip(line, self.size.width, ink(self).on("background"))

    def _without_name(self, room: int) -> Sequence[Tab]:
        """Return the tabs that show their number alone: the first ones, never the current one."""
        bare: list[Tab] = []
        over = 1 + sum(self._item(tab).cell_length + 3 for tab in self._tabs) - 3 - room
        for tab in self._tabs:
            if over > 0 and not tab.is_here:
                bare.append(tab)
                over -= len(tab.name) + 1
        return bare

    def _item(self, tab: Tab, *, has_name: bool = True) -> Content:
        colours, signs = ink(self), glyphs(self)
        name = f"{tab.place} {tab.name}" if has_name else f"{tab.place}"
        parts: list[Content] = [
            Content.styled(f" {name} ", colours.reverse("info"))
            if tab.is_here
            else Content.styled(name, colours.of("muted"))
        ]
        if tab.waiting:
            parts.append(
                Content.styled(f" {signs.of('waiting')} {tab.waiting}", colours.of("waiting", bold=True))
            )
        if tab.failed:
            parts.append(Content.styled(f" {signs.of('failed')} {tab.failed}", colours.of("failed")))
        return Content("").join(parts)

    def on_click(self, event: events.Click) -> None:
        """Go to the clicked pane."""
        for first, last, place in self._places:
            if first <= event.x < last:
                self.post_message(PlaceWanted(place))
