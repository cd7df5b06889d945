"""The bars around the panes: header, session strip, tabs, sidebar and footer.

Each decides what it drops first when it is too narrow. The sidebar lists sessions, changed files and facts.
"""

# A click never answers. Keys in the footer can be clicked where they move, show or choose; all others say
# which key to press. What changed while a dialog lay over it counts as seen, and may be answered, only
# after the dialog is gone.

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace
from textual import events, on
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.render import cells, list_rows
from workbench.text import human
from workbench.text.human import clock_time, time_left_text
from workbench.tui import keymap
from workbench.tui.pane import (
    LineWanted,
    Pane,
    PlaceWanted,
    SessionChosen,
    SidebarModel,
    StatusMessage,
)
from workbench.tui.render_context import glyphs, has_motion, ink
from workbench.tui.state import MAX_SESSIONS
from workbench.tui.widgets.line_view import LineView, RowList, RowPlacement
from workbench.tui.widgets.pane_frame import ColumnHeader, PaneTitle, StableStatic, overflow_text
from workbench.views import sessions
from workbench.views.sessions import ChangedFile, HeaderFacts, SessionFacts, SessionRow
from workbench.views.status_icons import StatusName

if TYPE_CHECKING:
    from workbench.tui.main.session_board import SessionBoard

_TITLE_CELLS = 24
_MIN_PATH_CELLS = 12
_GAPS = ("  ", "   ", "   ")
"""Between the facts of each group."""


class Header(Widget):
    """What waits, runs and failed; where; how much; what time it is."""

    DEFAULT_CSS = "Header { height: 1; width: 1fr; background: $panel; }"

    def __init__(self) -> None:
        super().__init__(id="header")
        self._facts: HeaderFacts | None = None
        self._has_model = True

    def show(self, facts: HeaderFacts, *, has_model: bool = True) -> None:
        """Show facts."""
        if (facts, has_model) != (self._facts, self._has_model):
            self._facts, self._has_model = facts, has_model
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the row: place, counts, cost and clock; what does not fit goes by its rank."""
        del y
        width, panel = self.size.width, ink(self).on("panel")
        if self._facts is None:
            return cells.line_strip(Content(" workbench"), width, panel)
        middle, right = self._middle(self._facts), self._right(self._facts)
        left = self._left(self._facts, width - _needed_cells([], middle, right))
        while right[1:] and _needed_cells(left, middle, right) > width:
            right.pop(0)
        # Beside trouble, what waits is worth more than the path.
        for group in (left, middle) if self._facts.trouble else (middle, left):
            while group[1:] and _needed_cells(left, middle, right) > width:
                group.pop()
        parts = [_joined_parts(group, gap) for group, gap in zip((left, middle, right), _GAPS, strict=True)]
        room = width - sum(part.cell_length for part in parts) - 2
        before = max(2, min(room - 2, (width - parts[1].cell_length) // 2 - parts[0].cell_length - 1))
        after = max(2, room - before)
        line = Content("").join([Content(" "), parts[0], Content(" " * before), parts[1]])
        return cells.line_strip(
            Content("").join([line, Content(" " * after), parts[2], Content(" ")]), width, panel
        )

    def _left(self, facts: HeaderFacts, room: int) -> list[Content]:
        """Return where it is: the path takes what the others leave, and a quarter of the row at least."""
        colours = ink(self)
        parts = [Content.styled("workbench", colours.of("info", bold=True))]
        after = [cells.safe_content(facts.branch, colours.of("muted"))] if facts.branch else []
        free = room - sum(part.cell_length + len(_GAPS[0]) for part in (*parts, *after))
        room = max(_MIN_PATH_CELLS, self.size.width // 4, free)
        place = cells.shorten_line(cells.safe_content(facts.workspace), room, glyphs(self), keeps_end=True)
        return [*parts, place, *after]

    def _middle(self, facts: HeaderFacts) -> list[Content]:
        colours, signs = ink(self), glyphs(self)
        if facts.trouble:
            trouble = f"{signs.of('failed')} {facts.trouble}"
            return [cells.safe_content(trouble, colours.of("failed", bold=True)), self._waiting(facts)]
        parts = [self._waiting(facts)]
        if facts.running:
            parts.append(
                _sign_with_count(signs.of("running"), colours.of("info"), f"{facts.running} running")
            )
        if facts.failed:
            parts.append(_sign_with_count(signs.of("failed"), colours.of("failed"), f"{facts.failed} failed"))
        return parts

    def _waiting(self, facts: HeaderFacts) -> Content:
        colours, signs = ink(self), glyphs(self)
        if not facts.waiting:
            if not self._has_model:
                return Content("")
            return _sign_with_count(signs.of("ok"), colours.of("added"), "nothing waits")
        sign = Content.styled(
            f"{signs.of('waiting')} {facts.waiting} waiting", colours.of("waiting", bold=True)
        )
        if facts.first_left is None:
            return sign
        first = " first " if self.size.width < 100 else " first in "
        tone = {"calm": "foreground", "soon": "waiting", "now": "failed"}[facts.urgency]
        words = time_left_text(facts.first_left, in_minutes=not has_motion(self))
        left = Content.styled(words, colours.of(tone, bold=True))  # type: ignore[arg-type]
        return Content("").join([sign, Content(first), left])

    def _right(self, facts: HeaderFacts) -> list[Content]:
        colours = ink(self)
        parts: list[Content] = []
        if not self._has_model:
            parts.append(Content.styled("no model yet", colours.of("muted")))
        elif facts.model:
            parts.append(cells.safe_content(facts.model, colours.of("muted")))
        if facts.tokens:
            parts.append(Content.styled(f"{human.token_text(facts.tokens)} tok", colours.of("muted")))
        if facts.money:
            parts.append(cells.safe_content(facts.money, colours.of("muted")))
        return [*parts, Content(clock_time(facts.clock))]


def _needed_cells(*groups: Sequence[Content]) -> int:
    """Return the cells that a row of groups takes, with what is between them and at both ends."""
    joined = (_joined_parts(group, gap) for group, gap in zip(groups, _GAPS, strict=True))
    return 2 * len(_GAPS) + sum(part.cell_length for part in joined)


def _joined_parts(parts: Sequence[Content], gap: str) -> Content:
    return Content(gap).join(parts)


def _sign_with_count(sign: str, style: object, words: str) -> Content:
    return Content.assemble((sign, style), f" {words}")  # type: ignore[arg-type]


class SessionStrip(Widget):
    """The sessions in one row, for the medium screen."""

    DEFAULT_CSS = "SessionStrip { height: 1; width: 1fr; background: $background; }"

    def __init__(self) -> None:
        super().__init__(id="strip")
        self._rows: Sequence[SessionRow] = ()
        self._places: list[tuple[int, int, str]] = []

    def show(self, rows: Sequence[SessionRow]) -> None:
        """Show sessions; the one on show is bold."""
        if rows != self._rows:
            self._rows = rows
            self.refresh()

    def render_line(self, y: int) -> Strip:
        del y
        colours, signs, width = ink(self), glyphs(self), self.size.width
        right = Content.assemble(
            ("0", colours.of("info", bold=True)), (f" all {len(self._rows)} ", colours.of("muted"))
        )
        fitting, _ = sessions.fitting_strip_rows(self._rows, width - right.cell_length - 4)
        self._places = []
        line = Content("  ") if self._rows else Content.styled("  No session here yet.", colours.of("muted"))
        for row in fitting:
            tone = colours.of("muted" if row.is_muted else "foreground", bold=row.is_current)
            item = Content.assemble(
                (signs.of(row.sign), colours.sign(row.sign)),
                " ",
                cells.shorten_line(cells.safe_content(row.title, tone), _TITLE_CELLS, signs),
            )
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
        if event.x >= self.size.width - 8:
            self.post_message(PlaceWanted(0))


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
        bare = self._without_name(self.size.width - len(more) - bool(more))
        for tab in self._tabs:
            item = self._item(tab, has_name=tab not in bare)
            self._places.append((line.cell_length, line.cell_length + item.cell_length, tab.place))
            line = Content.assemble(line, item, "  " if tab.is_here else "   ")
        room = self.size.width - line.cell_length - 1
        more = more if len(more) <= room else short
        line = Content.assemble(line, " " * max(0, room - len(more)), (more, ink(self).of("muted")))
        return cells.line_strip(line, self.size.width, ink(self).on("background"))

    def _without_name(self, room: int) -> Sequence[Tab]:
        """Return the tabs of which only the number fits: the first ones, and never the one that is here."""
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

    def show(self, files: Sequence[ChangedFile] = (), facts: SessionFacts | None = None) -> None:
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
    """Place 0."""

    PLACE = 0
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
        self._filter = ""
        self._shown: SidebarModel | None = None
        self._board: SessionBoard | None = None
        self._heads = ColumnHeader(self._draw_heads, key="sessions-heads")
        self._must_sort = True

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
        current = view.current.id if view.current else None
        board = self.list.board
        shown: Sequence[SessionRow] = sessions.session_rows(
            view.sessions, view.actions, current=current, text_filter=self._filter
        )
        if board is not None:
            before = [key for key in self.list.ids if not key.startswith("-")]
            is_held = self.list.has_focus and not self._must_sort
            shown = board.arranged(shown, before if is_held else ())
            self._must_sort = False
        self._show_below(view, len(shown))
        self.list.show_rows(shown, view.now)
        self.put(self._empty, self.list, is_shown=not shown)
        self.put(self._heads, self.list, is_shown=board is not None and bool(shown))
        words = cells.safe_content(glyphs(self).line(f"Nothing matches “{self._filter}”. / changes it."))
        if not self._filter:
            words = Content("No session here yet.\nctrl+n starts one.")
        self._empty.update(words.stylize(ink(self).of("muted")))
        self._show_title(shown)

    def _show_below(self, view: SidebarModel, rows: int) -> None:
        """Show what belongs to the session on show; on the board where the sessions leave room for it."""
        files = tuple(view.changed_files[:_MAX_CHANGED_FILES])
        facts = SessionFacts()
        if view.current is not None:
            facts = sessions.session_facts(view.current, turns=view.turns, asks=view.asks, rules=view.rules)
        below = sum(len(lines) + 2 for lines in (files, facts.facts) if lines)
        room = (self.size.height or self.screen.size.height - _ROWS_AROUND) - 2
        self.list.is_spaced = _SPACED_LINES * rows <= room
        has_room = self.list.board is None or _SPACED_LINES * rows + below < room
        for widget in (self._changed_title, self._changed):
            self.put(widget, self._facts_title, is_shown=bool(files) and has_room)
        muted = ink(self).of("muted")
        self._changed.show(files)
        self._changed_title.show(right=Content.styled(str(len(view.changed_files)), muted))
        self._facts.show(facts=facts)
        self._facts_title.display = self._facts.display = bool(facts.facts) and has_room
        self.list.styles.height = "auto" if has_room else "1fr"
        self.list.styles.max_height = max(4, room - below) if has_room else "100%"

    def _show_title(self, shown: Sequence[SessionRow]) -> None:
        colours, signs, board = ink(self), glyphs(self), self.list.board
        count = Content.styled(str(len(shown)), colours.of("muted"))
        if board is None:
            self.set_title(Content(" "), count if shown else Content(" "))
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
        order = (board.order_words, colours.of("muted"))
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

    def tick(self, now: int) -> None:
        if self.list.board is not None and self._shown is not None:
            self.show(replace(self._shown, now=now))

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
                self.main.go_to(1)

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
        self.post_message(LineWanted(self, "filter", "Filter sessions", text=self._filter, does="keep it"))

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        del purpose, is_final
        self._filter = text
        if self._shown is not None:
            self.show(self._shown)

    def line_dropped(self, purpose: str) -> None:
        self.line_heard(purpose, "", is_final=True)


class FooterKey(Struct, frozen=True, kw_only=True):
    """One key of the footer."""

    keys: str
    label: str
    why_off: str = ""
    is_waiting: bool = False
    """It counts in a moment: what it is about just appeared."""
    id: str = ""
    """Which key of the table a click is about; empty where a click does nothing."""


class Footer(Widget):
    """Keys of what has the focus."""

    DEFAULT_CSS = "Footer { height: 1; width: 1fr; background: $panel; }"

    class Pressed(Message):
        """A key was clicked."""

        def __init__(self, key: FooterKey) -> None:
            super().__init__()
            self.key = key

    def __init__(self) -> None:
        super().__init__(id="footer")
        self._places: list[tuple[int, int, FooterKey]] = []
        self._keys: Sequence[FooterKey] = ()
        self._right: FooterKey | None = None

    def show(self, keys: Sequence[FooterKey], right: FooterKey | None) -> None:
        """Show keys by rank, and one at the right end."""
        if (keys, right) != (self._keys, self._right):
            self._keys, self._right = keys, right
            self.refresh()

    def render_line(self, y: int) -> Strip:
        del y
        self._places = []
        width = self.size.width
        right = self._item(self._right, width) if self._right else Content("")
        room = width - right.cell_length - 3
        line = Content(" ")
        for key in self._keys:
            item = self._item(key, width)
            if line.cell_length + item.cell_length > room:
                continue
            self._places.append((line.cell_length, line.cell_length + item.cell_length, key))
            line = Content.assemble(line, item, "  ")
        if self._right is not None:
            self._places.append((width - right.cell_length - 1, width - 1, self._right))
        gap = " " * max(0, width - line.cell_length - right.cell_length - 1)
        return cells.line_strip(Content.assemble(line, gap, right, " "), width, ink(self).on("panel"))

    def on_click(self, event: events.Click) -> None:
        """Say which key was clicked."""
        for first, last, key in self._places:
            if first <= event.x < last and key.id:
                self.post_message(self.Pressed(key))

    def _item(self, key: FooterKey, width: int) -> Content:
        colours, signs = ink(self), glyphs(self)
        keys, label = signs.line(key.keys), signs.line(key.label)
        if key.why_off:
            reason = f" {key.why_off}" if width >= 140 else ""
            words = reason or f" {label}"
            return Content.styled(f"{keys}{words}", colours.of("faint"))
        tone = colours.of("faint" if key.is_waiting else "foreground")
        key_tone = colours.of("muted") if key.is_waiting else colours.of("info", bold=True)
        return Content.assemble((keys, key_tone), " ", cells.safe_content(label, tone))
