"""The sidebar: sessions as a list or, with the whole body, as a board; changed files and facts below."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace
from textual import on
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from workbench.render import cells, list_rows
from workbench.tui.keyboard import keymap
from workbench.tui.pane import LineWanted, Pane, SessionChosen, SidebarModel, StatusMessage
from workbench.tui.places import place_number
from workbench.tui.render_context import glyphs, ink
from workbench.tui.state import MAX_SESSIONS
from workbench.tui.widgets.line_view import LineView, RowList, RowPlacement
from workbench.tui.widgets.pane_frame import ColumnHeader, PaneTitle, StableStatic
from workbench.views import sessions
from workbench.views.sessions import ChangedFile, SessionRow, SidebarFacts
from workbench.views.status_icons import StatusName

if TYPE_CHECKING:
    from workbench.tui.main.session_board import SessionBoard

_MAX_CHANGED_FILES: Final = 8
_ROWS_AROUND: Final = 4
"""Rows of a wide screen around its panes, until the sidebar knows its own size."""
_SPACED_LINES: Final = 3
"""Lines of a session on the board, with the blank one."""


class SessionList(RowList):
    """Sessions of the workspace: a line each, on the board two and a blank one where all have room."""

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.rows: dict[str, SessionRow] = {}
        self.board: SessionBoard | None = None
        """What the rows are drawn by where the list has the whole body."""
        self.is_spaced = False
        """Whether a blank row stands between the sessions of the board."""
        self._now = 0

    def show_rows(self, shown: Sequence[SessionRow], now: int) -> None:
        """Show sessions in this order."""
        before, self.rows = self.rows, {row.id: row for row in shown}
        self._now = now
        changed = {row.id for row in shown if before.get(row.id) != row}
        if self.board is None:
            self.set_ids([row.id for row in shown], changed)
            return
        changed |= self.board.changed(self.rows, now)
        below = ("-", "--") if self.is_spaced else ("-",)
        ids = [f"{mark}{row.id}" for row in shown for mark in ("", *below)]
        self.set_ids(ids, {f"{mark}{key}" for key in changed for mark in ("", "-")})

    def put_cursor(self, row_id: str | None) -> None:
        super().put_cursor(row_id)
        if self.board is not None and (line := self.line_of(row_id or "")) is not None:
            self.reveal(line, line + 1)

    def _redraw(self, row_ids: Iterable[str | None]) -> None:
        keys = [key for key in row_ids if key is not None]
        super()._redraw([*keys, *(f"-{key}" for key in keys)])

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        if self.board is not None:
            key = placed.row_id.lstrip("-")
            if placed.row_id.startswith("--"):
                return cells.line_strip(Content(""), width, ink(self).on("background"))
            return self.board.strip(
                self, self.rows[key], width, self._now, is_first=key == placed.row_id,
                is_cursor=key == self.cursor, has_focus=placed.is_focused,
            )  # fmt: skip
        return list_rows.session_strip(
            self.rows[placed.row_id],
            width,
            ink(self),
            glyphs(self),
            self._now,
            is_cursor=placed.is_cursor,
            has_focus=placed.is_focused,
        )


class FactLines(LineView):
    """Strips that somebody else has words for: changed files, facts."""

    can_focus = False

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.files: Sequence[ChangedFile] = ()
        self.facts: Sequence[tuple[str, str]] = ()

    def show(self, files: Sequence[ChangedFile] = (), facts: SidebarFacts | None = None) -> None:
        """Show files, or facts."""
        fact_rows = facts.facts if facts else ()
        if (files, fact_rows) != (self.files, self.facts):
            self.files, self.facts = files, fact_rows
            self.set_line_count(len(files) + len(fact_rows))
            self.invalidate()

    def draw_line(self, line: int, width: int) -> Strip:
        if line < len(self.files):
            return list_rows.changed_file_strip(self.files[line], width, ink(self), glyphs(self))
        label, words = self.facts[line - len(self.files)]
        return list_rows.fact_strip(label, words, width, ink(self), glyphs(self))


class Sidebar(Pane):
    """Place `sessions`."""

    PLACE = place_number("sessions")
    NAME = "Sessions"
    SCOPES = ("rail", "list")
    MOVING = frozenset({"list.row-down", "list.row-up"})
    BINDINGS = keymap.bindings(*SCOPES)

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.list = SessionList(key="session-list")
        self._empty = StableStatic(id="sessions-empty")
        self._changed_title = PaneTitle("Changed here", key="changed-title")
        self._changed = FactLines(key="changed")
        self._facts_title = PaneTitle("This session", key="facts-title")
        self._facts = FactLines(key="facts")
        self._shown: SidebarModel | None = None
        self._board: SessionBoard | None = None
        self._heads = ColumnHeader(self._draw_heads, key="sessions-heads")
        self._must_sort = True
        self._followed: str | None = None
        """The session on show that the cursor was put on."""

    def compose_body(self) -> Iterable[Widget]:
        yield self.list
        yield self._facts_title
        yield self._facts

    @property
    def list_view(self) -> LineView | None:
        return self.list

    @property
    def focus_view(self) -> Widget:
        return self.list

    def show(self, view: SidebarModel) -> None:
        self._shown = view
        current = sessions.listed_id(view.current)
        board = self.list.board
        shown: Sequence[SessionRow] = sessions.session_rows(
            view.sessions,
            view.actions,
            current=current,
            text_filter=self.text_filter,
            seconds=view.seconds,
            folders=view.folders,
        )
        if board is not None:
            before = [key for key in self.list.ids if not key.startswith("-")]
            is_held = self.list.has_focus and not self._must_sort
            axis = board.axis
            shown = board.arranged(shown, before if is_held else ())
            if axis != board.axis:
                self._heads.refresh()
            self._must_sort = False
        self._show_below(view, len(shown))
        self.list.show_rows(shown, view.now)
        self._follow_shown(current)
        self.put(self._empty, self.list, is_shown=not shown)
        self.put(self._heads, self.list, is_shown=board is not None and bool(shown))
        words = cells.safe_content(glyphs(self).line(f"Nothing matches “{self.text_filter}”. esc clears it."))
        if not self.text_filter:
            words = Content("No session here yet.\nctrl+n starts one.")
        self._empty.update(words.stylize(ink(self).of("muted")))
        self._show_title(shown)

    def _follow_shown(self, current: str | None) -> None:
        """Put the cursor on the session that has come on show; afterwards it goes where the keys lead it."""
        if current != self._followed and current in self.list.rows:
            self.list.put_cursor(current)
            self._followed = current
        elif current is None:
            self._followed = None

    def _show_below(self, view: SidebarModel, rows: int) -> None:
        """Show what belongs to the session on show; the board has it in its rows."""
        files = tuple(view.changed_files[:_MAX_CHANGED_FILES])
        facts = SidebarFacts()
        if view.current is not None:
            waiting = sessions.waiting_in(view.current, view.actions)
            facts = sessions.session_facts(
                view.current,
                turns=view.turns,
                asks=view.asks,
                sandbox=view.sandbox,
                rules=view.rules,
                waiting=waiting,
                run=view.run,
            )
        below = sum(len(lines) + 2 for lines in (files, facts.facts) if lines)
        room = (self.size.height or self.screen.size.height - _ROWS_AROUND) - 2
        self.list.is_spaced = _SPACED_LINES * rows < room
        has_room = self.list.board is None
        for widget in (self._changed_title, self._changed):
            self.put(widget, self._facts_title, is_shown=bool(files) and has_room)
        muted = ink(self).of("muted")
        self._changed.show(files)
        self._changed_title.show(right=Content.styled(str(len(view.changed_files)), muted))
        self._facts.show(facts=facts)
        self._facts_title.show(name=sessions.subject_name(view.current))
        self._facts_title.display = self._facts.display = bool(facts.facts) and has_room
        self.list.styles.height = "auto" if has_room else "1fr"
        self.list.styles.max_height = max(4, room - below) if has_room else "100%"

    def _show_title(self, shown: Sequence[SessionRow]) -> None:
        colours, signs, board = ink(self), glyphs(self), self.list.board
        total = len(self._shown.sessions) if self._shown is not None else 0
        words = f"{len(shown)} of {total}" if self.text_filter and board is not None else str(len(shown))
        count = Content.styled(words, colours.of("muted"))
        filtered = f"filter “{self.text_filter}”" if self.text_filter else ""
        if board is None:
            facts = cells.safe_content(signs.line(filtered.removeprefix("filter ")), colours.of("waiting"))
            self.set_title(facts if filtered else Content(" "), count if shown or filtered else Content(" "))
            return
        if len(shown) >= MAX_SESSIONS:
            count = Content.styled(f"the newest {len(shown)}, 5 has all", colours.of("muted"))
        counts = Counter(row.sign for row in shown)
        named: tuple[StatusName, ...] = ("waiting", "running", "failed")
        parts = [
            Content.styled(f"{signs.of(name)} {counts[name]}", colours.sign(name))
            for name in named
            if counts[name]
        ]
        key = colours.of("info", bold=True)
        order = (signs.line(filtered or board.order_words), colours.of("muted"))
        hints = (
            ("  o", key),
            (" order", colours.of("muted")),
            ("  /", key),
            (" filter", colours.of("muted")),
        )
        self.set_title(Content("  ").join([count, *parts]), Content.assemble(order, *hints))

    def on_resize(self) -> None:
        """Give each part its room."""
        if self._shown is not None and self.list.board is not None:
            self.show(self._shown)
        elif self._shown is not None:
            self._show_below(self._shown, len(self.list.rows))

    def set_board(self, *, is_board: bool) -> None:
        """Show sessions as a board where they have the whole body, else as a list."""
        if is_board == (self.list.board is not None):
            return
        if is_board:
            from workbench.tui.main.session_board import SessionBoard

            self._board = self._board or SessionBoard(self.main.state)
        self.list.board = self._board if is_board else None
        self._must_sort = True
        self.list.invalidate()
        if self._shown is not None:
            self.show(self._shown)
        self.call_after_refresh(self._show_top)

    def _show_top(self) -> None:
        """Show the list from its top, unless the cursor is further down."""
        self.list.scroll_to_line(0)
        self.list.put_cursor(self.list.cursor)

    def tick(self, now: int) -> None:
        if self.list.board is not None and self._shown is not None:
            self.show(replace(self._shown, now=now))

    def count(self, seconds: int | None, now: int) -> None:
        """Show how long the turn of the session on show has worked; None while it does not."""
        if self._shown is not None and self._shown.seconds != seconds:
            self.show(replace(self._shown, now=now, seconds=seconds))

    def _draw_heads(self, width: int) -> Strip:
        board = self.list.board
        return Strip.blank(width) if board is None else board.heads(self, width)

    def next_order(self) -> None:
        if self.list.board is None:
            self.post_message(StatusMessage("The list has one order; zoomed it has three."))
            return
        words = self.list.board.next_order()
        self._must_sort = True
        if self._shown is not None:
            self.show(self._shown)
        self.post_message(StatusMessage(f"Ordered {words}."))

    def open_row(self) -> None:
        """Show the session; from the board go to what waits in it first, else to its conversation."""
        key, board = self.list.cursor, self.list.board
        if key is None:
            return
        self.post_message(SessionChosen(key))
        if board is not None:
            self.main.places.is_zoomed = False
            waiting = board.first_waiting(key)
            if waiting is not None:
                self.main.show_action(waiting)
            else:
                self.main.go_to(place_number("conversation"))

    @on(RowList.Opened)
    def _opened(self, message: RowList.Opened) -> None:
        message.stop()
        self.open_row()

    def why_not_open(self) -> str:
        return "there is no session under the cursor" if self.list.cursor is None else ""

    def label_of(self, key_id: str) -> str:
        opens = "show it" if self.list.board is None else "go there"
        return opens if key_id == "list.open" else super().label_of(key_id)

    def move_to_problem(self, step: int) -> None:
        ids = [key for key in self.list.ids if not key.startswith("-")]
        wanted = [key for key in ids if self.list.rows[key].sign in ("waiting", "failed")]
        if wanted:
            index = ids.index(self.list.cursor) if self.list.cursor in ids else -1
            ahead = [key for key in wanted if (ids.index(key) - index) * step > 0]
            self.list.put_cursor((ahead or wanted)[0 if step > 0 else -1])

    def ask_filter(self) -> None:
        self.post_message(
            LineWanted(self, "filter", "Filter sessions", text=self.text_filter, does="keep it")
        )

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        del purpose, is_final
        self.text_filter = text
        if self._shown is not None:
            self.show(self._shown)

    def line_dropped(self, purpose: str) -> None:
        self.line_heard(purpose, "", is_final=True)
