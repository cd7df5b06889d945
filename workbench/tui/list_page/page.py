"""The base of panes that are a list: filter, marks, title, hint, empty page, two columns, and the way back.

A page says what it reads and how its rows look; all else that lists have in common is here.
"""

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import ClassVar, Final, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget

from workbench.render import cells
from workbench.tui.list_page.place import EmptyWords, ListPlace, empty_page
from workbench.tui.list_page.reader import ListReader, ResultT
from workbench.tui.pane import KeysChanged, Pane, StatusMessage
from workbench.tui.render_context import context_of, glyphs, ink
from workbench.tui.widgets.line_view import LineView, RowList
from workbench.tui.widgets.pane_frame import Divider, PaneTitle, StableStatic

PREVIEW_AFTER: Final = 0.08
"""Seconds that the cursor rests before the preview follows it."""


class MarkedRows(RowList):
    """A list whose rows can be marked."""

    def __init__(self, *, key: str) -> None:
        super().__init__(key=key)
        self.marks: set[str] = set()


RowsT = TypeVar("RowsT", bound=RowList)
MarkedT = TypeVar("MarkedT", bound=MarkedRows)
ViewT = TypeVar("ViewT", bound=LineView)


class ListPage(ListPlace, Pane, Generic[RowsT, ResultT]):
    """A place with the whole body: a list that is read in a thread, and a second column where there is room.

    A subclass implements `read_list`, `show_result`, `empty_words`, `say_title`, `hint_parts` and
    `compose_second`.
    """

    DEFAULT_CSS = """
    ListPage { height: 1fr; width: 1fr; }
    ListPage > .-columns, ListPage > .-columns > Vertical { height: 1fr; }
    ListPage > .-columns > .-first-column { width: 1.6fr; }
    ListPage > .-columns > .-second-column { width: 1fr; }
    ListPage > .-columns > Vertical > LineView { height: 1fr; }
    """

    TWO_COLUMNS_FROM: ClassVar[int] = 100
    """Columns from which the second one is shown."""
    NOT_READ: ClassVar[str] = ""
    """What is said before the reason when reading failed."""
    GHOST: ClassVar[Sequence[str]] = ()
    """Rows as they would be, shown in faint while there are none."""
    READING: ClassVar[EmptyWords] = "Reading.", "", ()
    """What is shown before it was read for the first time."""

    def __init__(self, rows: RowsT, *, key: str, joint: str = "") -> None:
        """Make the page.

        Args:
            rows: Its list.
            key: Its id.
            joint: The top of the line between the columns, see `Divider`.
        """
        super().__init__(key=key)
        self.list = rows
        self.list.empty_page = self._empty_page
        self.hint = StableStatic(id=f"{key}-hint", classes="-place-hint")
        self.is_read = False
        """Whether it was read since it was made."""
        self.reader = ListReader(self, self.read_list, self._show_result, self.reading_failed)
        self._divider = Divider(key=f"{key}-divider", top=joint)
        self.second = Vertical(id=f"{key}-second", classes="-second-column")

    def compose(self) -> ComposeResult:
        yield from self.compose_body()

    def compose_body(self) -> Iterable[Widget]:
        with Horizontal(classes="-columns"):
            with Vertical(classes="-first-column"):
                yield self.title_row
                yield from self.compose_list()
            yield self._divider
            with self.second:
                yield from self.compose_second()

    def compose_list(self) -> Iterable[Widget]:
        """Yield what is below the title."""
        yield self.list

    @abstractmethod
    def compose_second(self) -> Iterable[Widget]:
        """Yield what is in the second column."""

    def on_mount(self) -> None:
        """Read for the first time."""
        self.follow_list()
        self.say()
        self.read()
        self.list.focus()

    def on_resize(self) -> None:
        """Show the second column where there is room for it."""
        self.arrange_columns()
        self.resized()
        self.call_after_refresh(self.say)

    def resized(self) -> None:
        """Called when it has another size."""

    @property
    def has_second(self) -> bool:
        """Return whether there is something to show in the second column."""
        return True

    def arrange_columns(self) -> None:
        """Show or hide the second column; next to nothing it would be empty."""
        has_two = self.size.width >= self.TWO_COLUMNS_FROM and self.has_second and not self.is_bare
        self.second.display = self._divider.display = has_two

    @property
    def list_view(self) -> LineView | None:
        return self.list

    @property
    def focus_view(self) -> Widget:
        return self.list

    @on(RowList.Moved)
    def _moved(self, message: RowList.Moved) -> None:
        message.stop()
        self.row_moved()

    def row_moved(self) -> None:
        """Called when the cursor came to another row."""

    @on(RowList.Opened)
    def _opened(self, message: RowList.Opened) -> None:
        message.stop()
        self.open_row()

    # --- reading --------------------------------------------------------------------------------

    @abstractmethod
    def read_list(self) -> ResultT:
        """Return what is to be listed; called in a thread."""

    @abstractmethod
    def show_result(self, result: ResultT) -> None:
        """Show what was read."""

    def reading_failed(self, error: Exception) -> None:
        """Say why nothing was read."""
        self.is_read = True
        self.list.invalidate()
        self.post_message(StatusMessage(f"{self.NOT_READ} {error}", is_error=True))

    def _show_result(self, result: ResultT) -> None:
        self.is_read = True
        self.show_result(result)
        self.arrange_columns()

    def read(self) -> None:
        """Read again."""
        self.reader.read()

    def show(self, view: Collection[str] | None) -> None:
        """Read again soon: something happened to these sessions."""
        del view
        self.reader.read_soon()

    @property
    def is_stale(self) -> bool:
        """Return whether something may have happened since it was read."""
        return True

    def on_show(self) -> None:
        """Read what happened while another place was on the screen."""
        if self.is_stale:
            self.read()

    # --- what is said ---------------------------------------------------------------------------

    def say(self) -> None:
        """Write title and hint again."""
        self.say_title()
        self.say_hint()

    @abstractmethod
    def say_title(self) -> None:
        """Write into the title how many rows there are, and in which order."""

    @abstractmethod
    def hint_parts(self) -> tuple[Content, str]:
        """Return what is said on the row over the footer, and what at its right end."""

    def say_hint(self) -> None:
        """Write the row over the footer."""
        left, right = self.hint_parts()
        right = glyphs(self).line(right)
        room = max(0, self.size.width - len(right) - (2 if right else 1))
        left = cells.shorten_line(left, room, glyphs(self))
        gap = " " * max(1, self.size.width - left.cell_length - len(right) - 1)
        self.hint.update(Content.assemble(left, gap, (right, ink(self).of("muted"))))

    @abstractmethod
    def empty_words(self) -> EmptyWords:
        """Return why there are no rows."""

    @property
    def is_filtered(self) -> bool:
        """Return whether a filter may be why there are no rows."""
        return bool(self.text_filter)

    @property
    def is_bare(self) -> bool:
        """Return whether there is nothing to list."""
        return self.is_read and not self.list.line_count and not self.is_filtered

    def _empty_page(self, width: int, height: int) -> list[Content]:
        ghost = self.GHOST if self.is_bare else ()
        words = self.empty_words() if self.is_read else self.READING
        return empty_page(self, words, width, height, ghost)

    # --- the way back ---------------------------------------------------------------------------

    def leave_place(self) -> None:
        self.main.go_back()


class PreviewPage(ListPage[MarkedT, ResultT], Generic[MarkedT, ViewT, ResultT]):
    """A list whose rows can be marked, and next to it the row under the cursor in full.

    A subclass also implements `show_preview`.
    """

    def __init__(self, rows: MarkedT, preview: ViewT, *, key: str) -> None:
        super().__init__(rows, key=key)
        self.preview = preview
        self.preview_title = PaneTitle("", key=f"{preview.id}-title")
        self.progress = ""
        """What is said of work that was begun here; empty while there is none."""
        self._is_cancelled = False
        self._previewer: Timer | None = None

    def compose_second(self) -> Iterable[Widget]:
        yield self.preview_title
        yield self.preview
        self.preview_title.follow(self.preview)

    def preview_soon(self) -> None:
        """Let the preview follow the cursor once it rests."""
        if self._previewer is not None:
            self._previewer.stop()
        self._previewer = self.set_timer(PREVIEW_AFTER, self._preview_now)

    def _preview_now(self) -> None:
        self._previewer = None
        self.show_preview()

    @abstractmethod
    def show_preview(self) -> None:
        """Show the row under the cursor in full."""

    def scroll_preview(self, lines: int) -> None:
        """Scroll the preview."""
        self.preview.scroll_to_line(self.preview.first_line + lines)

    # --- marks ----------------------------------------------------------------------------------

    def toggle_mark(self) -> None:
        """Mark the row under the cursor, or take the mark off, and go to the next one."""
        key = self.list.cursor
        if key is not None:
            self.list.marks ^= {key}
            self.list.move(1)
            self.marks_changed()

    def marks_changed(self) -> None:
        """Show the marks, and what the keys do with them."""
        self.list.invalidate()
        self.say()
        self.post_message(KeysChanged())

    # --- rows that wait or failed ---------------------------------------------------------------

    def is_problem(self, row_id: str) -> bool:
        """Return whether a row waits or failed."""
        del row_id
        return False

    def move_to_problem(self, step: int) -> None:
        ids, here = self.list.ids, self.list.line_of(self.list.cursor or "") or 0
        ahead, behind = (
            (ids[here + 1 :], ids[:here]) if step > 0 else (ids[:here][::-1], ids[here + 1 :][::-1])
        )
        found = next((key for key in (*ahead, *behind) if self.is_problem(key)), None)
        if found is not None:
            self.list.put_cursor(found)
        elif self.NO_PROBLEM:
            self.post_message(StatusMessage(self.NO_PROBLEM))

    NO_PROBLEM: ClassVar[str] = ""
    """What is said where no row waits or failed."""

    # --- the way back ---------------------------------------------------------------------------

    def show_progress(self, words: str) -> None:
        """Say how far work is that was begun here; empty where it has ended."""
        self.progress = words
        self.say_hint()

    def begin_work(self, words: str) -> None:
        """Say that work begins which asks `goes_on` from its thread."""
        self._is_cancelled = False
        self.show_progress(words)

    def goes_on(self, words: str) -> bool:
        """Say from a thread how far work is; False once it was cancelled."""
        if words:
            context_of(self).call_from_thread(self._work_says, words)
        return not self._is_cancelled

    def _work_says(self, words: str) -> None:
        # Looked at here, in the loop: words that were under way when esc came say nothing any more.
        if not self._is_cancelled:
            self.show_progress(words)

    def cancel_work(self) -> None:
        """Cancel work that was begun here: it ends when it asks next."""
        self._is_cancelled = True

    def levels(self) -> Iterable[Callable[[], bool]]:
        return self.leave_work, self.leave_filter, self.leave_marks

    def leave_work(self) -> bool:
        """Cancel work that was begun here; False where there is none."""
        if not self.progress:
            return False
        self.cancel_work()
        return True

    def leave_filter(self) -> bool:
        """Clear the filter; False where there is none."""
        if not self.text_filter:
            return False
        self.filter_by("")
        return True

    def leave_marks(self) -> bool:
        """Take off all marks; False where there are none."""
        if not self.list.marks:
            return False
        self.list.marks.clear()
        self.marks_changed()
        return True
