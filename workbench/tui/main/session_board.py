"""The board of sessions as the sidebar shows it where it has the whole body: rows are made when drawn."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from textual.strip import Strip
from textual.widget import Widget

from workbench.domain.rows import Action, SessionCounts
from workbench.render import session_board as render
from workbench.tui.journal_source import JournalSource
from workbench.tui.render_context import glyphs, ink
from workbench.tui.transcript_window import EventArchive
from workbench.views import session_board as views
from workbench.views.session_board import BOARD_ORDERS, Activity, BoardOrder, BoardRow
from workbench.views.sessions import SessionRow, waiting_by_session

if TYPE_CHECKING:
    from workbench.tui.state import ScreenState


class _Known(Struct, frozen=True):
    last: int
    activity: Activity
    counts: SessionCounts


class SessionBoard:
    """Reads what the board says of the sessions on the screen."""

    def __init__(self, state: "ScreenState") -> None:
        self._state = state
        self.order: BoardOrder = "needs"
        self._known: dict[str, _Known] = {}
        self._asked: Mapping[str, Sequence[Action]] = {}
        self.drawn: dict[str, BoardRow] = {}
        """What the rows that were drawn say."""
        self.axis = views.board_axis((), state.source.now())

    @property
    def order_words(self) -> str:
        """Return what the order is called."""
        return BOARD_ORDERS[self.order]

    def next_order(self) -> str:
        """Take the next order and return what it is called."""
        orders = list(BOARD_ORDERS)
        self.order = orders[(orders.index(self.order) + 1) % len(orders)]
        return BOARD_ORDERS[self.order]

    def arranged(self, rows: Sequence[SessionRow], before: Sequence[str]) -> list[SessionRow]:
        """Return rows by the order; those that are shown already (`before`) stay as they stand.

        The axis is that of these rows from now on.
        """
        shown = (self._state.sessions.get(row.id) for row in rows)
        self.axis = views.board_axis((one for one in shown if one is not None), self._state.source.now())
        self._asked = waiting_by_session(self._state.sessions.values(), self._state.pending)
        ordered = views.board_order(rows, self._asked, self.order)
        places = {key: place for place, key in enumerate(before)}
        return sorted(ordered, key=lambda row: places.get(row.id, len(places))) if before else ordered

    def first_waiting(self, session_id: str) -> str | None:
        """Return the action of a session that expires first."""
        asked = self._asked.get(session_id, ())
        first = min(asked, key=lambda action: (action.expires_at is None, action.expires_at), default=None)
        return None if first is None else first.id

    def changed(self, rows: Mapping[str, SessionRow], now: int) -> set[str]:
        """Return which of the drawn rows read otherwise now; those that are gone are forgotten."""
        self.drawn = {key: row for key, row in self.drawn.items() if key in rows}
        return {key for key, row in self.drawn.items() if self.row(rows[key], now) != row}

    def row(self, row: SessionRow, now: int) -> BoardRow:
        """Return what is said of a session; its events are read again only if there are new ones."""
        state = self._state
        session = state.sessions.get(row.id)
        assert session is not None, "a row is made of a session"
        known = self._read(row.id, is_quiet=session.updated_at < self.axis.begin)
        run = state.runs.view(state.actions.values(), now, row.id) if row.id in state.runs.rows else None
        progress = views.run_progress(run, state.runs.rows.values()) if run is not None else None
        return views.board_row(
            row, session, known.activity, known.counts, self._asked.get(row.id, ()), now, progress, self.axis
        )

    def _read(self, session_id: str, *, is_quiet: bool) -> _Known:
        source = self._state.source
        if not isinstance(source, EventArchive):
            return _Known(0, Activity(), SessionCounts())
        last, known = source.last_number(session_id), self._known.get(session_id)
        if known is None or known.last != last:
            limit = views.MAX_QUIET_EVENTS if is_quiet else views.MAX_EVENTS
            counts = SessionCounts()
            # Of a moment in the past only its events are known.
            if isinstance(source, JournalSource) and source.is_live:
                counts = source.counts(session_id)
            known = _Known(last, views.activity(source.lasting(session_id, limit=limit)), counts)
            self._known[session_id] = known
        return known

    def strip(
        self,
        widget: Widget,
        row: SessionRow,
        width: int,
        now: int,
        *,
        is_first: bool,
        is_cursor: bool,
        has_focus: bool,
    ) -> Strip:
        """Draw one of the two lines of a session."""
        colours, signs = ink(widget), glyphs(widget)
        if is_first or row.id not in self.drawn:
            self.drawn[row.id] = self.row(row, now)
        shown = self.drawn[row.id]
        if is_first:
            return render.board_strip(
                shown, width, colours, signs, now, is_cursor=is_cursor, has_focus=has_focus
            )
        return render.board_second_strip(
            shown, width, colours, signs, is_cursor=is_cursor, has_focus=has_focus
        )

    def heads(self, widget: Widget, width: int) -> Strip:
        """Draw the heads of the columns."""
        return render.board_head_strip(width, ink(widget), glyphs(widget), self.axis)
