"""The row of sessions on a screen without room for the list of them."""

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from workbench.render import cells, list_rows
from workbench.text import human
from workbench.tui.pane import PlaceWanted, SessionChosen
from workbench.tui.places import place_number
from workbench.tui.render_context import glyphs, ink
from workbench.views import sessions
from workbench.views.sessions import SessionRow

_TITLE_CELLS = 24


class SessionStrip(Widget):
    """The sessions in one row, for the medium screen."""

    DEFAULT_CSS = "SessionStrip { height: 1; width: 1fr; background: $background; }"

    def __init__(self) -> None:
        super().__init__(id="strip")
        self._rows: Sequence[SessionRow] = ()
        self._places: list[tuple[int, int, str]] = []
        self._all_cells = 0
        """Cells at the right end that lead to all sessions."""

    def show(self, rows: Sequence[SessionRow]) -> None:
        """Show sessions; the one on show is marked."""
        if rows != self._rows:
            self._rows = rows
            self.refresh()

    def render_line(self, y: int) -> Strip:
        del y
        colours, signs, width = ink(self), glyphs(self), self.size.width
        count = len(self._rows)
        words = f" all {human.counted(count, 'session')} " if count else " all sessions "
        right = Content.assemble(("0", colours.of("info", bold=True)), (words, colours.of("muted")))
        self._all_cells = right.cell_length
        fitting, _ = sessions.fitting_strip_rows(self._rows, width - right.cell_length - 4)
        self._places = []
        line = Content("  ") if self._rows else Content.styled("  No session here yet.", colours.of("muted"))
        for row in fitting:
            tone = colours.of("muted" if row.is_muted else "foreground", bold=row.is_current)
            item = Content.assemble(
                (signs.of(row.sign), colours.sign(row.sign)),
                " ",
                list_rows.folder_prefix(row.folder, colours),
                list_rows.agent_sign(colours, signs, is_supervised=row.is_supervised),
                cells.shorten_line(cells.safe_content(row.title, tone), _TITLE_CELLS, signs),
            )
            if row.is_current:
                item = Content.assemble(item, " ", list_rows.shown_mark(colours, signs, is_shown=True))
            if row.waiting:
                item = Content.assemble(item, (f" {row.waiting}", colours.of("waiting", bold=True)))
            self._places.append((line.cell_length, line.cell_length + item.cell_length, row.id))
            line = Content.assemble(line, item, "   ")
        gap = " " * max(0, width - line.cell_length - right.cell_length)
        return cells.line_strip(Content.assemble(line, gap, right), width, colours.on("background"))

    def on_click(self, event: events.Click) -> None:
        """Show the clicked session, or all of them."""
        for first, last, session_id in self._places:
            if first <= event.x < last:
                self.post_message(SessionChosen(session_id))
                return
        if event.x >= self.size.width - self._all_cells:
            self.post_message(PlaceWanted(place_number("sessions")))
