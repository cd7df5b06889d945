"""Header, notice and timeline bar that a replay shows around the panes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from textual import events
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.render import cells, replay
from workbench.text.safe import one_line
from workbench.tui.main.header import Header
from workbench.tui.main.session_strip import SessionStrip
from workbench.tui.render_context import glyphs, ink
from workbench.views import replay as views
from workbench.views.replay import ReplayStatus
from workbench.views.sessions import HeaderFacts, SessionRow
from workbench.views.status_icons import IconName
from workbench.views.timeline import Timeline

REPLAY_NOTICE: str = "A replay. The queue is shown as it was; nothing here can be answered, run or written."
_MIN_GAP: Final = 2
_SHORT_NOTICE: str = "A replay: nothing here can be answered, run or written."


class ReplayHeader(Header):
    """That it is a replay, of what, and at which moment."""

    has_keys: bool = True
    """Whether somebody is there to press them: not before a picture."""

    def __init__(self, title: str, when: str) -> None:
        super().__init__()
        self._title, self._when, self._at = one_line(title, 60), one_line(when, 80), ""
        self._is_held_now = self._was_held = False

    def show(self, facts: HeaderFacts, *, has_model: bool = True) -> None:
        del facts, has_model

    def show_span(self, when: str) -> None:
        """Show when it was recorded, which grows with a session at work."""
        self._when = one_line(when, 80)
        self.refresh()

    def show_hold(self, *, is_held_now: bool, was_held: bool) -> None:
        """Show whether all agents are held: now, and at the moment that is shown."""
        if (is_held_now, was_held) != (self._is_held_now, self._was_held):
            self._is_held_now, self._was_held = is_held_now, was_held
            self.refresh()

    def show_moment(self, at: str) -> None:
        """Show a moment: a time of day."""
        if at != self._at:
            self._at = at
            self.refresh()

    def render_line(self, y: int) -> Strip:
        del y
        width, colours = self.size.width, ink(self)
        info, bold = colours.of("info", bold=True), colours.of("foreground", bold=True)
        name = Content.styled(" REPLAY ", colours.reverse("waiting"))
        if self._was_held:
            name = Content.assemble(name, (" agents held then ", colours.of("waiting", bold=True)))
        if self._is_held_now and self.has_keys:  # a picture is about its moment
            name = Content.assemble(self.hold_sign(), name)
        moment = Content.assemble(("at ", colours.of("muted")), (self._at, bold))
        right = (
            Content.assemble(moment, "   ", ("esc", info), " leave ") if self.has_keys else moment.append(" ")
        )
        room = max(0, width - name.cell_length - right.cell_length - 3)
        title = cells.shorten_line(cells.safe_content(self._title, bold), room, glyphs(self))
        when = Content.styled(f"  {self._when}", colours.of("muted"))
        if title.cell_length + when.cell_length > room:
            when = Content("")
        left = Content.assemble(name, " ", title, when)
        gap = " " * max(1, width - left.cell_length - right.cell_length)
        return cells.line_strip(Content.assemble(left, gap, right), width, colours.on("panel"))


class ReplayNotice(SessionStrip):
    """That nothing counts here, in place of the sessions."""

    has_keys: bool = True
    """As of the header."""

    def show(self, rows: Sequence[SessionRow]) -> None:
        """Take no sessions: which one is shown stands in the header."""
        del rows

    def render_line(self, y: int) -> Strip:
        del y
        colours, width = ink(self), self.size.width
        words = REPLAY_NOTICE if width >= len(REPLAY_NOTICE) + 4 else _SHORT_NOTICE
        sign = Content.styled(f" {glyphs(self).of('waiting')} ", colours.of("waiting"))
        line = Content.assemble(sign, (words, colours.of("muted")))
        fork = Content.assemble(("F", colours.of("info", bold=True)), " fork from here ")
        gap = width - line.cell_length - fork.cell_length
        if self.has_keys and gap >= _MIN_GAP:
            line = Content.assemble(line, " " * gap, fork)
        return cells.line_strip(line, width, colours.on("background"))

    def on_click(self, event: events.Click) -> None:
        """Do nothing: there is nothing to choose."""
        event.prevent_default()


class ReplayBar(Widget):
    """Marks, line, facts: three rows."""

    DEFAULT_CSS = "ReplayBar { height: 3; width: 1fr; background: $background; }"

    @dataclass(eq=False, repr=False)
    class Clicked(Message):
        """The line was clicked."""

        share: float
        """0 to 1, of played time."""

    def __init__(self, timeline: Timeline) -> None:
        super().__init__(id="transport")
        self._timeline = timeline
        self._shown: ReplayStatus | None = None
        self._made: tuple[int, int] = (-1, -1)
        self._signs: dict[int, IconName] = {}
        self._gaps: frozenset[int] = frozenset()

    def show(self, shown: ReplayStatus) -> None:
        """Show where the replay is."""
        if shown != self._shown:
            self._shown = shown
            self.refresh()

    def render_line(self, y: int) -> Strip:
        shown, width = self._shown, self.size.width
        if shown is None:
            return cells.line_strip(Content(""), width, ink(self).on("background"))
        if y == 2:
            return replay.replay_facts_strip(shown, width, ink(self), glyphs(self))
        room = replay.replay_bar_width(shown, width)
        self._measure(room)
        if y == 0:
            return replay.replay_marks_strip(self._signs, room, width, ink(self), glyphs(self))
        column = round(shown.share * (room - 1))
        return replay.replay_line_strip(shown, room, column, self._gaps, width, ink(self), glyphs(self))

    def _measure(self, room: int) -> None:
        """Say on which cells marks and gaps are, again only in another width or after growth."""
        if self._made != (room, len(self._timeline)):
            self._made = (room, len(self._timeline))
            self._signs = views.mark_cells(self._timeline, room)
            self._gaps = views.gap_cells(self._timeline, room)

    def on_click(self, event: events.Click) -> None:
        """Go to the clicked place of the line."""
        if self._shown is not None:
            room = replay.replay_bar_width(self._shown, self.size.width)
            cell = event.x - replay.BAR_LEFT_CELLS
            if 0 <= cell < room and event.y < 2:
                self.post_message(self.Clicked(cell / max(1, room - 1)))
