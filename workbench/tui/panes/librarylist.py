"""The list of the library and the preview beside it: lines that are made when they are drawn.

Own how a session becomes a strip. What is read, and when, is the pane's.
"""

from typing import Final

from textual.content import Content
from textual.strip import Strip

from workbench.draw import cells, words
from workbench.draw.libraryrows import library_row, preview_lines, split_row
from workbench.tui.shelf import Shelf, Shown
from workbench.tui.theme import glyphs, ink
from workbench.tui.widgets.lines import LineView, Placed, RowList
from workbench.views import library as views
from workbench.views.library import LibraryRow, Preview
from workbench.views.places import Place

_Said = tuple[LibraryRow, str]
_MOST_SAID: Final = 1_000
"""Rows of which it is known what they said; with more all are drawn again."""


class LibraryList(RowList):
    """The sessions; rows are made when they are drawn."""

    def __init__(self, shelf: Shelf) -> None:
        super().__init__(key="library-list")
        self._shelf = shelf
        self.shown = Shown()
        self.marks: set[str] = set()
        self.now = 0
        self._said: dict[str, _Said] = {}
        """What was drawn of rows: what reads as before is not drawn again."""

    def take(self, shown: Shown) -> None:
        """Show another list; the cursor stays on its session."""
        self.shown, self.now = shown, self._shelf.now
        changed = {key for key, was in self._said.items() if was != self._words_of(key)}
        if len(self._said) > _MOST_SAID:
            self._said.clear()
        self.set_ids(shown.rows, changed if self._said else None)

    def _words_of(self, key: str) -> _Said | None:
        """Return all that is drawn of a session; None if it is not there any more."""
        session = self._shelf.sessions.get(key)
        if session is None:
            return None
        row = views.row(
            session, self._shelf.waiting.get(session.id, 0), self._shelf.glances.get(session.id),
            self.shown.query.terms, is_marked=session.id in self.marks,
        )  # fmt: skip
        return row, words.clock(row.when, self.now)

    def draw_row(self, placed: Placed, width: int) -> Strip:
        """Draw a session, or the line between live ones and others."""
        said = self._words_of(placed.row_id)
        if said is None:
            return split_row(width, ink(self), glyphs(self))
        self._said[placed.row_id] = said
        return library_row(
            said[0],
            width,
            ink(self),
            glyphs(self),
            self.now,
            is_cursor=placed.is_cursor,
            has_focus=placed.is_focused,
        )


class PreviewView(LineView):
    """What is said of the session under the cursor."""

    can_focus = False

    def __init__(self) -> None:
        super().__init__(key="library-preview")
        self._view: Preview | None = None
        self._lines: list[Content] = []
        self._chosen = 0

    @property
    def place(self) -> Place | None:
        """Return the place that is chosen of those that hold what was typed; the newest at first."""
        return self._view.places[self._chosen] if self._view is not None and self._view.places else None

    def choose(self, step: int) -> str:
        """Choose the next place or the one before, and show it.

        Returns:
            Which it is, in words; empty if there is none.
        """
        if self._view is None or self.place is None:
            return ""
        last = len(self._view.places) - 1
        self._chosen = min(last, max(0, self._chosen + step))
        self.on_width(self.width)
        line = len(self._lines) - 1 - last + self._chosen
        if not self.first_line <= line < self.first_line + self.size.height:
            self.scroll_to_line(max(0, line - self.size.height // 2))
        count, shown = self._view.place_count, self._view.places[self._chosen]
        return f"Match {self._chosen + 1} of {count:,}: {shown.text}"

    @property
    def view(self) -> Preview | None:
        """Return what is shown."""
        return self._view

    def show(self, view: Preview | None) -> None:
        """Show a preview; of the same session the lines keep their place."""
        is_same = view is not None and self._view is not None and view.id == self._view.id
        if view is None or self._view is None or not is_same or self._view.places != view.places:
            self._chosen = 0
        self._view = view
        self.on_width(self.width)
        if not is_same:
            self.scroll_to_line(0)

    def on_width(self, width: int) -> None:
        """Wrap anew."""
        drawn = preview_lines(self._view, width, ink(self), glyphs(self), self._chosen) if self._view else []
        self._lines = drawn
        self.set_line_count(len(self._lines))
        self.invalidate()

    def notify_style_update(self) -> None:
        """Make the lines anew in other colours."""
        super().notify_style_update()
        if self._view is not None and self.is_attached:
            self.on_width(self.width)

    def draw_line(self, line: int, width: int) -> Strip:
        """Draw a line."""
        return cells.strip(self._lines[line], width, ink(self).on("background"))
