"""The rail: sessions, the files that the one on show changed, and its facts.

Owns the three lists and their captions. Choosing a session is a message.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from textual import on
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from workbench.draw import rows
from workbench.tui import keymap
from workbench.tui.messages import LineAsked, SessionChosen
from workbench.tui.panes.base import Pane
from workbench.tui.panes.shown import RailShown
from workbench.tui.theme import glyphs, ink
from workbench.tui.widgets.lines import LineView, Placed, RowList
from workbench.tui.widgets.title import PaneTitle
from workbench.tui.widgets.words import Words
from workbench.views import sessions
from workbench.views.sessions import ChangedFile, SessionFacts, SessionRow

_MOST_CHANGED: Final = 8


class SessionList(RowList):
    """Sessions of the workspace."""

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.rows: dict[str, SessionRow] = {}
        self._now = 0

    def show_rows(self, shown: Sequence[SessionRow], now: int) -> None:
        """Show sessions in this order."""
        before, self.rows = self.rows, {row.id: row for row in shown}
        self._now = now
        self.set_ids([row.id for row in shown], {row.id for row in shown if before.get(row.id) != row})

    def draw_row(self, placed: Placed, width: int) -> Strip:
        """Draw a session."""
        return rows.session_row(
            self.rows[placed.row_id],
            width,
            ink(self),
            glyphs(self),
            self._now,
            is_cursor=placed.is_cursor,
            has_focus=placed.is_focused,
        )


class Lines(LineView):
    """Strips that somebody else has words for: changed files, facts."""

    can_focus = False

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.files: Sequence[ChangedFile] = ()
        self.facts: Sequence[tuple[str, str]] = ()

    def show(self, files: Sequence[ChangedFile] = (), facts: SessionFacts | None = None) -> None:
        """Show files, or facts."""
        found = facts.facts if facts else ()
        if (files, found) != (self.files, self.facts):
            self.files, self.facts = files, found
            self.set_line_count(len(files) + len(found))
            self.invalidate()

    def draw_line(self, line: int, width: int) -> Strip:
        """Draw a file or a fact."""
        if line < len(self.files):
            return rows.changed_row(self.files[line], width, ink(self), glyphs(self))
        label, words = self.facts[line - len(self.files)]
        return rows.fact_row(label, words, width, ink(self), glyphs(self))


class Rail(Pane):
    """Place 0."""

    PLACE = 0
    NAME = "Sessions"
    SCOPES = ("rail", "list")
    MOVING = frozenset({"list.row-down", "list.row-up"})
    BINDINGS = keymap.bindings(*SCOPES)

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.list = SessionList(key="session-list")
        self._empty = Words(id="sessions-empty")
        self._changed_title = PaneTitle("Changed here", key="changed-title")
        self._changed = Lines(key="changed")
        self._facts_title = PaneTitle("This session", key="facts-title")
        self._facts = Lines(key="facts")
        self._filter = ""
        self._shown: RailShown | None = None

    def compose_body(self) -> Iterable[Widget]:
        """Yield sessions and facts; changed files come between them when there are any."""
        yield self.list
        yield self._facts_title
        yield self._facts

    @property
    def focus_view(self) -> Widget:
        """Return the sessions."""
        return self.list

    def show(self, view: RailShown) -> None:
        """Show sessions, and what belongs to the one on show."""
        self._shown = view
        current = view.current.id if view.current else None
        shown = sessions.rows(view.sessions, view.actions, current=current, text_filter=self._filter)
        self.list.show_rows(shown, view.now)
        muted = ink(self).of("muted")
        self.put(self._empty, self.list, is_shown=not shown)
        words = " Nothing matches." if self._filter else " No session here yet.\n ctrl+n starts one."
        self._empty.update(Content.styled(words, muted))
        self.set_title(right=Content.styled(str(len(shown)), muted) if shown else Content(" "))
        files = tuple(view.changed_files[:_MOST_CHANGED])
        for widget in (self._changed_title, self._changed):
            self.put(widget, self._facts_title, is_shown=bool(files))
        self._changed.show(files)
        self._changed_title.show(right=Content.styled(str(len(view.changed_files)), muted))
        if view.current is not None:
            self._facts.show(
                facts=sessions.session_facts(view.current, turns=view.turns, asks=view.asks, rules=view.rules)
            )
        self._facts_title.display = self._facts.display = view.current is not None

    def open_row(self) -> None:
        """Show the session under the cursor."""
        if self.list.cursor is not None:
            self.post_message(SessionChosen(self.list.cursor))

    @on(RowList.Opened)
    def _opened(self, message: RowList.Opened) -> None:
        message.stop()
        self.open_row()

    def why_off(self, key_id: str) -> str:
        """Return why a key does nothing: those of the sessions need one."""
        is_off = self.list.cursor is None and (key_id.startswith("rail.") or key_id == "list.open")
        return "there is no session under the cursor" if is_off else ""

    def label_of(self, key_id: str) -> str:
        """Return what a key does here."""
        return "show it" if key_id == "list.open" else super().label_of(key_id)

    def move_to_problem(self, step: int) -> None:
        """Go to the next session that waits or failed."""
        ids = list(self.list.ids)
        wanted = [key for key in ids if self.list.rows[key].sign in ("waiting", "failed")]
        if wanted:
            at = ids.index(self.list.cursor) if self.list.cursor in ids else -1
            ahead = [key for key in wanted if (ids.index(key) - at) * step > 0]
            self.list.put_cursor((ahead or wanted)[0 if step > 0 else -1])

    def ask_filter(self) -> None:
        """Ask for the words that titles must have."""
        self.post_message(LineAsked(self, "filter", "Filter sessions", text=self._filter, does="keep it"))

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        """Filter as it is typed."""
        del purpose, is_final
        self._filter = text
        if self._shown is not None:
            self.show(self._shown)

    def line_dropped(self, purpose: str) -> None:
        """Clear the filter."""
        self.line_heard(purpose, "", is_final=True)
