"""The box in a corner that says for some seconds what went wrong, and where; loaded for the first one."""

from collections.abc import Callable
from typing import Final

from textual import events
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.render import cells
from workbench.render.cells import wrap_line
from workbench.tui.places import place_number
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.pane_frame import call_after_layout
from workbench.views.toasts import Toast

MAX_TOAST_WIDTH = 64
MIN_TOAST_WIDTH, MIN_TOAST_HEIGHT = 30, 4
_WHAT_LINES = 2
_WHY_LINES = 2
_EDGES = 6
"""Cells of a row that are not words: both borders and the spaces next to them."""
_PADDED_FROM_ROWS: Final = 8
"""Rows of the screen from which there is an empty row above and below the words."""


class ToastBox(Widget, can_focus=False):
    """The toast on show; hidden while there is none."""

    DEFAULT_CSS = """
    ToastBox { layer: over; position: absolute; display: none; width: 10; height: 4; background: $panel; }
    """
    SECONDS = 4.0

    class Pressed(Message):
        """It was clicked: its pane is wanted."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self, room: Callable[[], Region | None]) -> None:
        """Take what says where there is room at the moment."""
        super().__init__(id="toast")
        self._room = room
        self._toast: Toast | None = None
        self._more = 0
        self._count = 0
        self._lines: list[Content] = []

    def on_mount(self) -> None:
        call_after_layout(self, lambda: self.put(self._room()))

    @property
    def toast(self) -> Toast | None:
        """Return the toast on show."""
        return self._toast

    def show(self, toast: Toast, room: Region, *, more: int = 0) -> None:
        """Tell something for four seconds, in the bottom right corner of a room.

        Args:
            toast: what.
            room: where it may stand, in cells of the screen.
            more: how many others were to be told at the same moment; the page of messages has them.
        """
        self._toast, self._more = toast, more
        self._count += 1
        count = self._count
        self.put(room)
        self.set_timer(self.SECONDS, lambda: self._end(count))

    def _end(self, count: int) -> None:
        if count == self._count:
            self.hide()

    def hide(self) -> None:
        """Tell nothing any more."""
        self._toast = None
        self.display = False

    def put(self, room: Region | None) -> None:
        """Stand in the corner of another room; without one vanish."""
        if self._toast is None:
            return
        if room is None or room.width < MIN_TOAST_WIDTH or room.height < MIN_TOAST_HEIGHT:
            self.hide()
            return
        width = min(MAX_TOAST_WIDTH, room.width - 1)
        lines = self._drawn(self._toast, width - _EDGES, room.height - 2)
        self._lines = [Content(""), *lines, Content("")] if room.height >= _PADDED_FROM_ROWS else lines
        height = len(self._lines) + 2
        self.styles.width, self.styles.height = width, height
        self.styles.offset = (room.right - width - 1, room.bottom - height)
        self.display = True
        self.refresh()

    # --- drawing --------------------------------------------------------------------------------

    def _drawn(self, toast: Toast, room: int, rows: int) -> list[Content]:
        colours, signs = ink(self), glyphs(self)
        sign = Content.assemble((signs.of("failed"), colours.of("failed")), " ")
        what = wrap_line(cells.safe_content(toast.what, colours.of("foreground", bold=True)), room - 2)
        last = min(_WHAT_LINES, rows - 1) - 1
        if what[last + 1 :]:
            what = [*what[:last], cells.shorten_line(Content(" ").join(what[last:]), room - 2, signs)]
        where = self._where(toast)
        why = wrap_line(cells.safe_content(toast.why, colours.of("muted")), room - 2) if toast.why else []
        shown = why[: min(_WHY_LINES, rows - len(what))]
        if len(why) > len(shown):
            shown[-1] = cells.shorten_line(shown[-1] + Content("  …"), room - 2, signs)
        first = [sign + what[0], *(Content("  ") + line for line in what[1:])]
        return [*first, *self._with_place(shown, where, room)]

    def _with_place(self, why: list[Content], where: Content, room: int) -> list[Content]:
        """Put the place at the end of the last line of the reason, which is cut for it."""
        lines = [Content("  ") + line for line in why] or [Content("")]
        if where.plain:
            left = cells.shorten_line(lines[-1], room - where.cell_length - 2, glyphs(self))
            lines[-1] = left + Content(" " * (room - left.cell_length - where.cell_length)) + where
        return lines if lines[0].plain.strip() else lines[1:]

    def _where(self, toast: Toast) -> Content:
        colours = ink(self)
        more = [Content.styled(f"{self._more} more: /messages", colours.of("faint"))] if self._more else []
        see = []
        if toast.place is not None:
            key = (str(place_number(toast.place)), colours.of("info", bold=True))
            see = [Content.assemble(key, (" see it", colours.of("foreground")))]
        return Content("  ").join([*more, *see])

    def render_line(self, y: int) -> Strip:
        colours, line = ink(self), glyphs(self).line
        width, edge, base = self.size.width, ink(self).of("failed"), colours.on("panel")
        if 0 < y <= len(self._lines):
            words = self._lines[y - 1]
            blanks = Content(" " * max(0, width - _EDGES - words.cell_length))
            row = Content.assemble((f"{line('│')}  ", edge), words, blanks, (f"  {line('│')}", edge))
        else:
            left, right = ("╭", "╮") if y == 0 else ("╰", "╯")
            row = Content.styled(line(left) + line("─") * (width - 2) + line(right), edge)
        return cells.line_strip(row, width, base)

    def on_click(self, event: events.Click) -> None:
        """Lead to the pane."""
        event.stop()
        if self._toast is not None and self._toast.place is not None:
            self.post_message(self.Pressed(place_number(self._toast.place)))
        self.hide()
