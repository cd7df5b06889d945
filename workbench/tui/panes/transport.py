"""What a replay shows around the panes: its header, its sentence, and the bar in place of the composer.

Owns these rows only. Where the replay is, is the player's; a click on the bar is a message.
"""

from collections.abc import Sequence
from typing import Final

from textual import events
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.draw import cells
from workbench.draw import transport as drawing
from workbench.records import dataclass
from workbench.text.safe import one_line
from workbench.tui.panes.header import Header, SessionStrip
from workbench.tui.theme import glyphs, ink
from workbench.views import transport as views
from workbench.views.header import HeaderFacts
from workbench.views.reel import Reel
from workbench.views.sessions import SessionRow
from workbench.views.signs import SignName
from workbench.views.transport import Transport

NOTHING: str = "A replay. The queue is shown as it was; nothing here can be answered, run or written."
_LEAST_GAP: Final = 2
_SHORTER: str = "A replay: nothing here can be answered, run or written."


class ReplayHeader(Header):
    """That it is a replay, of what, and at which moment."""

    has_keys: bool = True
    """Whether somebody is there to press them: not before a picture."""

    def __init__(self, title: str, when: str) -> None:
        super().__init__()
        self._title, self._when, self._at = one_line(title, 60), one_line(when, 80), ""

    def show(self, facts: HeaderFacts, *, has_model: bool = True) -> None:
        """Take no facts of a live screen."""
        del facts, has_model

    def show_span(self, when: str) -> None:
        """Show when it was recorded, which grows with a session at work."""
        self._when = one_line(when, 80)
        self.refresh()

    def show_moment(self, at: str) -> None:
        """Show a moment: a time of day."""
        if at != self._at:
            self._at = at
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the row; what does not fit is dropped from the middle."""
        del y
        width, colours = self.size.width, ink(self)
        info, bold = colours.of("info", bold=True), colours.of("foreground", bold=True)
        name = Content.styled(" REPLAY ", colours.reverse("waiting"))
        at = Content.assemble(("at ", colours.of("muted")), (self._at, bold))
        right = Content.assemble(at, "   ", ("esc", info), " leave ") if self.has_keys else at.append(" ")
        room = max(0, width - name.cell_length - right.cell_length - 3)
        title = cells.shorten(cells.content(self._title, bold), room, glyphs(self))
        when = Content.styled(f"  {self._when}", colours.of("muted"))
        if title.cell_length + when.cell_length > room:
            when = Content("")
        left = Content.assemble(name, " ", title, when)
        gap = " " * max(1, width - left.cell_length - right.cell_length)
        return cells.strip(Content.assemble(left, gap, right), width, colours.on("panel"))


class ReplaySentence(SessionStrip):
    """That nothing counts here, in place of the sessions."""

    has_keys: bool = True
    """As of the header."""

    def show(self, rows: Sequence[SessionRow]) -> None:
        """Take no sessions: which one is shown stands in the header."""
        del rows

    def render_line(self, y: int) -> Strip:
        """Draw the sentence."""
        del y
        colours, width = ink(self), self.size.width
        words = NOTHING if width >= len(NOTHING) + 4 else _SHORTER
        sign = Content.styled(f" {glyphs(self).of('waiting')} ", colours.of("waiting"))
        line = Content.assemble(sign, (words, colours.of("muted")))
        fork = Content.assemble(("F", colours.of("info", bold=True)), " fork from here ")
        gap = width - line.cell_length - fork.cell_length
        if self.has_keys and gap >= _LEAST_GAP:
            line = Content.assemble(line, " " * gap, fork)
        return cells.strip(line, width, colours.on("background"))

    def on_click(self, event: events.Click) -> None:
        """Do nothing: there is nothing to choose."""
        event.prevent_default()


class TransportBar(Widget):
    """Marks, line, facts: three rows."""

    DEFAULT_CSS = "TransportBar { height: 3; width: 1fr; background: $background; }"

    @dataclass
    class Clicked(Message):
        """The line was clicked."""

        share: float
        """0 to 1, of played time."""

    def __init__(self, reel: Reel) -> None:
        super().__init__(id="transport")
        self._reel = reel
        self._shown: Transport | None = None
        self._made: tuple[int, int] = (-1, -1)
        self._signs: dict[int, SignName] = {}
        self._gaps: frozenset[int] = frozenset()

    def show(self, shown: Transport) -> None:
        """Show where the replay is."""
        if shown != self._shown:
            self._shown = shown
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw a row."""
        shown, width = self._shown, self.size.width
        if shown is None:
            return cells.strip(Content(""), width, ink(self).on("background"))
        if y == 2:
            return drawing.facts_row(shown, width, ink(self), glyphs(self))
        room = drawing.bar_width(shown, width)
        self._measure(room)
        if y == 0:
            return drawing.marks_row(self._signs, room, width, ink(self), glyphs(self))
        at = round(shown.share * (room - 1))
        return drawing.line_row(shown, room, at, self._gaps, width, ink(self), glyphs(self))

    def _measure(self, room: int) -> None:
        """Say on which cells marks and gaps are, again only in another width or after growth."""
        if self._made != (room, len(self._reel)):
            self._made = (room, len(self._reel))
            self._signs = views.mark_cells(self._reel, room)
            self._gaps = views.gap_cells(self._reel, room)

    def on_click(self, event: events.Click) -> None:
        """Go to the clicked place of the line."""
        if self._shown is not None:
            room = drawing.bar_width(self._shown, self.size.width)
            cell = event.x - drawing.LEFT
            if 0 <= cell < room and event.y < 2:
                self.post_message(self.Clicked(cell / max(1, room - 1)))
