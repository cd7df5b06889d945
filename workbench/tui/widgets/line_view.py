"""Lists and logs that are drawn line by line: `LineView`, and `RowList` with a cursor that belongs to an id.

Owns scrolling, the strip cache, the anchor (new rows never move the row under the cursor), the flash of a
changed row and the mouse. Subclasses draw strips of exactly the width.
"""

from abc import abstractmethod
from bisect import bisect, bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import ClassVar, Final, Self, cast

from msgspec import Struct
from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.content import Content
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from workbench.render.cells import line_strip, styled
from workbench.render.glyphs import Glyphs
from workbench.render.theme import Ink
from workbench.tui.render_context import context_of, glyphs, has_motion, ink


class RowIndex(Struct, frozen=True):
    """Rows in order. Ids that start with `-` are captions."""

    ids: tuple[str, ...]
    lines: dict[str, int]
    captions: list[int]

    @classmethod
    def of(cls, ids: Iterable[str]) -> Self:
        """Index rows."""
        row_ids = tuple(ids)
        lines = {key: line for line, key in enumerate(row_ids)}
        return cls(row_ids, lines, [line for line, key in enumerate(row_ids) if key.startswith("-")])


class JumpTarget(Struct, frozen=True):
    """Something on the screen that a letter leads to."""

    at: Offset
    """Where the letter stands, from the first cell of the view that has it."""
    go: Callable[[], object]
    """Puts the cursor there; it decides nothing."""


class ListExtent(Struct, frozen=True):
    """Which rows of a list are on the screen: those from `first` to `last`, the last not included."""

    first: int = 0
    last: int = 0
    total: int = 0


EMPTY_ROW_INDEX: Final = RowIndex((), {}, [])
FLASH_SECONDS = 0.15
_BELOW: Final = -1
"""Under which the blank row below the last line is kept."""


@cache
def _bar_strip(colours: Ink, signs: Glyphs, *, is_thumb: bool, has_focus: bool) -> Strip:
    tone = colours.of(("info" if has_focus else "muted") if is_thumb else "rule")
    sign = signs.of("thumb") if is_thumb else signs.line("│")
    return line_strip(styled(sign, tone), 1, colours.on("background"))


def thumb_rows(first: int, height: int, count: int) -> range:
    """Return the rows of the screen that a scrollbar's thumb takes; none where all lines are on the screen.

    Args:
        first: The line at the top of the screen.
        height: Rows of the screen.
        count: All lines.
    """
    hidden = count - height
    if hidden <= 0 or height <= 0:
        return range(0)
    size = max(1, height * height // count)
    top = round(first / hidden * (height - size))
    return range(top, top + size)


class LineView(ScrollView, can_focus=True, inherit_bindings=False):
    """A number of lines, of which only those on the screen are ever drawn.

    Subclasses implement `draw_line`. A strip is drawn once and kept until `invalidate`, a resize, a change of
    theme or of focus.
    """

    DEFAULT_CSS = """
    LineView { scrollbar-size: 0 0; overflow-x: hidden; overflow-y: auto; background: $background; }
    """

    HAS_SCROLLBAR: ClassVar[bool] = True
    """Whether the last cell of each row is the scrollbar's, where it is blank and not all lines fit."""

    def __init__(self, *, key: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=key, classes=classes)
        self._line_count = 0
        self._strips: dict[int, Strip] = {}
        self._edged: dict[int, tuple[Strip, Strip, Strip]] = {}
        """Of lines with another last cell: their strip, that cell, and both."""
        self.is_following = False
        """Whether the view stays at its end when lines are added there."""
        self.extent = ListExtent()
        """Which of its rows are on the screen."""
        self.empty_page: Callable[[int, int], Sequence[Content]] | None = None
        """Returns what stands there in a width and a height while there are no lines."""
        self._empty_rows: Sequence[Content] | None = None
        """Those of the frame that is drawn."""
        self._thumb = range(0)
        self._extent_watchers: list[Callable[[], object]] = []

    # --- what subclasses say --------------------------------------------------------------------

    @abstractmethod
    def draw_line(self, line: int, width: int) -> Strip:
        """Return the strip of one line, of exactly `width` cells."""

    def fixed_line(self, y: int, width: int) -> Strip | None:
        """Return what stands in a row of the screen whatever is scrolled; None where the lines are."""
        if self._line_count or self.empty_page is None:
            return None
        if self._empty_rows is None:
            self._empty_rows = self.empty_page(width, self.size.height)
        rows = self._empty_rows
        return line_strip(rows[y], width, ink(self).on("background")) if y < len(rows) else None

    def edge_strip(self, y: int) -> Strip | None:
        """Return the last cell of a row of the screen whatever is scrolled; None where lines have it.

        The same cell must be the same strip: the terminal scrolls rows that it knows.
        """
        del y
        return None

    def _bar_cell(self, y: int) -> Strip | None:
        if not (self.HAS_SCROLLBAR and self._thumb):
            return None
        return _bar_strip(ink(self), glyphs(self), is_thumb=y in self._thumb, has_focus=self.has_focus)

    def on_width(self, width: int) -> None:
        """Be told of a new width before lines are drawn in it; wraps anew and calls `set_line_count`."""

    def jump_targets(self) -> Iterable[JumpTarget]:
        """Return what of it is on the screen and can be gone to."""
        return ()

    def rows_before(self, line: int) -> int:
        """Return how many rows stand above a line; every line is one unless some are captions."""
        return line

    # --- what is not on the screen ----------------------------------------------------------------

    def watch_extent(self, watcher: Callable[[], object]) -> None:
        """Have a function called whenever other rows are on the screen, or others are not."""
        self._extent_watchers.append(watcher)

    def _look_at_extent(self) -> None:
        seen, height = self.visible_lines, self.size.height
        if not height:
            return
        extent = ListExtent(
            first=self.rows_before(seen.start), last=self.rows_before(seen.stop),
            total=self.rows_before(self._line_count),
        )  # fmt: skip
        thumb = thumb_rows(seen.start, height, self._line_count)
        if self.HAS_SCROLLBAR and thumb != self._thumb:
            before, self._thumb = self._thumb, thumb
            changed = set(before) ^ set(thumb) if before and thumb else range(height)
            for y in changed:
                self.refresh_line(y + self.first_line)
        if extent != self.extent:
            self.extent = extent
            for watcher in self._extent_watchers:
                watcher()

    # --- what they use --------------------------------------------------------------------------

    @property
    def line_count(self) -> int:
        """Return how many lines there are."""
        return self._line_count

    @property
    def width(self) -> int:
        """Return the cells of a line."""
        return max(1, self.scrollable_content_region.width)

    @property
    def first_line(self) -> int:
        """Return the line at the top of the screen."""
        return self.scroll_offset.y

    @property
    def visible_lines(self) -> range:
        """Return the lines that are on the screen."""
        return range(self.first_line, min(self._line_count, self.first_line + self.size.height))

    @property
    def is_at_end(self) -> bool:
        """Return whether the last line is on the screen."""
        return self.first_line + self.size.height >= self._line_count

    def set_line_count(self, count: int, *, shift: int = 0) -> None:
        """Say how many lines there are now.

        Args:
            count: All lines.
            shift: How many lines came to stand above the one that must keep its place on the screen.
        """
        top = self.first_line + shift
        self._line_count = count
        self._grow(Size(self.width, count))
        if self.is_following:
            self.scroll_to_line(count)
        elif shift:
            self.scroll_to_line(top)
        self._look_at_extent()

    def _grow(self, size: Size) -> None:
        """Take another height; the screen is laid out anew only when it begins or ceases to scroll."""
        before, height = self.virtual_size, self.size.height
        does_scroll = height and before.width == size.width and before.height > height
        if does_scroll and size.height > height:
            # There is no scrollbar to move; a reply that streams would lay everything out 30 times a second.
            self.set_reactive(cast("Reactive[Size]", LineView.virtual_size), size)
        else:
            self.virtual_size = size

    def scroll_to_line(self, line: int) -> None:
        """Put a line at the top, as far as there are lines below it."""
        self.scroll_to(y=max(0, min(line, self._line_count - self.size.height)), animate=False, force=True)

    def reveal(self, first: int, last: int | None = None) -> None:
        """Scroll as little as needed to have lines on the screen; the first wins if not all fit."""
        last = first if last is None else last
        top, height = self.first_line, self.size.height
        if last >= top + height:
            top = last - height + 1
        if first < top:
            top = first
        if top != self.first_line:
            self.scroll_to_line(top)

    def invalidate(self, lines: Iterable[int] | None = None) -> None:
        """Have lines drawn again; all of them unless some are named."""
        if lines is None:
            self._strips.clear()
            self.refresh()
            return
        seen = self.visible_lines
        for line in lines:
            self._strips.pop(line, None)
            if line in seen:
                self.refresh_line(line)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Draw other lines; a scrollbar of no width is not told: that would lay the screen out anew."""
        if self.styles.scrollbar_size_vertical:
            super().watch_scroll_y(old_value, new_value)
        elif round(old_value) != round(new_value):
            self.refresh(self.size.region)
        self._look_at_extent()

    # --- drawing --------------------------------------------------------------------------------

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return rows of the screen; whole ones without what the framework asks and keeps a row for CSS."""
        size, self._empty_rows = self.size, None
        if size != self.outer_size or crop.column_span != (0, size.width):
            return super().render_lines(crop)
        top, width, style = self.first_line, size.width, self.rich_style
        strips = [self._screen_row(y, top, width, style) for y in crop.line_range]
        background = self.background_colors[1]
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        return self._screen_row(y, self.first_line, self.size.width, self.rich_style)

    def _screen_row(self, y: int, top: int, width: int, style: RichStyle) -> Strip:
        # The style is handed in: asking for it puts the styles of all ancestors together.
        fixed = self.fixed_line(y, width)
        if fixed is not None:
            return fixed.apply_style(style)
        line = y + top if y + top < self._line_count else _BELOW
        strip = self._strips.get(line)
        if strip is None:
            drawn = Strip.blank(width) if line == _BELOW else self.draw_line(line, width)
            self._strips[line] = strip = finish_strip(drawn, width, style)
        edge = self.edge_strip(y)
        if edge is not None:
            return self._with_edge(line, strip, edge, width)
        bar = self._bar_cell(y)
        return strip if bar is None else self._with_edge(line, strip, bar, width, only_blank=True)

    def _with_edge(
        self, line: int, strip: Strip, edge: Strip, width: int, *, only_blank: bool = False
    ) -> Strip:
        known = self._edged.get(line)
        if known is None or known[0] is not strip or known[1] is not edge:
            keeps_own = only_blank and strip.crop(width - 1).text != " "
            joined = strip if keeps_own else Strip([*strip.crop(0, width - 1), *edge], width)
            self._edged[line] = known = strip, edge, joined
        return known[2]

    def notify_style_update(self) -> None:
        """Draw everything again in other colours."""
        self._strips.clear()
        super().notify_style_update()

    def on_resize(self, event: events.Resize) -> None:
        """Wrap again in another width."""
        self._strips.clear()
        self.on_width(event.size.width)
        if self.is_following:
            self.scroll_to_line(self._line_count)
        self._look_at_extent()

    def restyle(self) -> None:
        """Lay out and draw anew what holds finished colours."""
        if self.size.width:
            self.on_width(self.size.width)
        self.invalidate()

    def on_focus(self) -> None:
        """Draw the cursor of a focused view."""
        self.invalidate()

    def on_blur(self) -> None:
        """Draw the cursor of a view that has lost the focus."""
        self.invalidate()


def finish_strip(drawn: Strip, width: int, style: RichStyle) -> Strip:
    """Return a strip of a width with a style under its own, neighbours of one style taken together.

    Every cell has a style: the framework's filter for NO_COLOR takes no other. It is done in one go, because
    each strip that is made on the way makes its caches.
    """
    if drawn.cell_length != width:
        drawn = drawn.adjust_cell_length(width)
    segments: list[Segment] = []
    words, last = "", None
    for text, own, _ in drawn:
        merged = style + own
        if merged is not last and merged != last and words:
            segments.append(Segment(words, last))
            words = ""
        words, last = words + text, merged
    if words:
        segments.append(Segment(words, last))
    return Strip(segments, width)


class RowPlacement(Struct, frozen=True):
    """A row as `RowList` draws it."""

    row_id: str
    line: int
    is_cursor: bool
    is_focused: bool
    is_flashing: bool


class RowList(LineView):
    """Rows of one line each, known by ids; the cursor belongs to an id and only keys and clicks move it.

    Subclasses implement `draw_row`. Ids that start with `-` are captions: the cursor passes over them.
    """

    @dataclass(eq=False, repr=False)
    class Moved(Message):
        """The user moved the cursor, or the row under it is gone and its neighbour has it."""

        view: "RowList"
        row_id: str | None

        @property
        def control(self) -> "RowList":
            """Return the list that sent it."""
            return self.view

    @dataclass(eq=False, repr=False)
    class Opened(Message):
        """A row was clicked twice."""

        view: "RowList"
        row_id: str

    @dataclass(eq=False, repr=False)
    class Clicked(Message):
        """A cell of a row was clicked once, after the cursor came to it."""

        view: "RowList"
        row_id: str
        column: int

    def __init__(self, *, key: str | None = None, classes: str | None = None) -> None:
        super().__init__(key=key, classes=classes)
        self.ids: tuple[str, ...] = ()
        self._lines: dict[str, int] = {}
        self._captions: list[int] = []
        self._flashing: frozenset[str] = frozenset()
        self.cursor: str | None = None

    @abstractmethod
    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        """Return the strip of a row, of exactly `width` cells."""

    def draw_line(self, line: int, width: int) -> Strip:
        row_id = self.ids[line]
        return self.draw_row(
            RowPlacement(
                row_id=row_id,
                line=line,
                is_cursor=row_id == self.cursor,
                is_focused=self.has_focus,
                is_flashing=row_id in self._flashing,
            ),
            width,
        )

    # --- rows -----------------------------------------------------------------------------------

    def rows_before(self, line: int) -> int:
        return line - bisect_left(self._captions, line)

    def set_ids(self, ids: Sequence[str] | RowIndex, changed: Collection[str] | None = None) -> None:
        """Say which rows there are, in order; the row under the cursor keeps its line on the screen.

        Args:
            ids: All rows.
            changed: Those that look different; None is all of them.
        """
        before, ids = self.ids, ids if isinstance(ids, RowIndex) else tuple(ids)
        if (ids.ids if isinstance(ids, RowIndex) else ids) == before:
            lines = None if changed is None else [self._lines[key] for key in changed if key in self._lines]
            self.invalidate(lines)
            return
        old_line = self._lines.get(self.cursor or "")
        drawn = self._drawn_rows()
        rows = ids if isinstance(ids, RowIndex) else RowIndex.of(ids)
        self.ids, self._lines, self._captions = rows.ids, rows.lines, rows.captions
        cursor = self.cursor if self.cursor in self._lines else self._heir(before, old_line)
        self._strips.clear()
        line = self._lines.get(cursor or "")
        if changed is not None and cursor == self.cursor:
            self._strips |= {
                self._lines[key]: strip
                for key, strip in drawn.items()
                if key in self._lines and key not in changed
            }
        self.set_line_count(len(self.ids), shift=0 if line is None or old_line is None else line - old_line)
        self.refresh()
        if cursor != self.cursor:
            self.cursor = cursor
            self.post_message(self.Moved(self, cursor))

    def _drawn_rows(self) -> dict[str, Strip]:
        """Return the strips that are kept, by row: a row that only moved is not drawn anew."""
        return {self.ids[line]: strip for line, strip in self._strips.items() if 0 <= line < len(self.ids)}

    def _heir(self, before: tuple[str, ...], line: int | None) -> str | None:
        """Return who has the cursor after its row is gone: the next one that is left, else the one before."""
        if line is None:
            return next((key for key in self.ids if not key.startswith("-")), None)
        for key in (*before[line + 1 :], *reversed(before[:line])):
            if key in self._lines and not key.startswith("-"):
                return key
        return next((key for key in self.ids if not key.startswith("-")), None)

    def jump_targets(self) -> Iterator[JumpTarget]:
        for line in self.visible_lines:
            row_id = self.ids[line]
            if not row_id.startswith("-"):
                yield JumpTarget(Offset(0, line - self.first_line), partial(self.put_cursor, row_id))

    def line_of(self, row_id: str) -> int | None:
        """Return the line of a row."""
        return self._lines.get(row_id)

    def flash(self, row_ids: Iterable[str]) -> None:
        """Reverse rows for 150 ms: their state has changed."""
        if not has_motion(self):
            return
        self._flashing |= frozenset(row_ids)
        self._redraw(self._flashing)
        self.set_timer(FLASH_SECONDS, self._end_flash)

    def _end_flash(self) -> None:
        rows, self._flashing = self._flashing, frozenset()
        self._redraw(rows)

    def _redraw(self, row_ids: Iterable[str | None]) -> None:
        self.invalidate([self._lines[key] for key in row_ids if key in self._lines])

    # --- the cursor -----------------------------------------------------------------------------

    def put_cursor(self, row_id: str | None) -> None:
        """Put the cursor on a row at the user's wish and scroll to it."""
        if row_id is not None and row_id not in self._lines:
            return
        before, self.cursor = self.cursor, row_id
        self._redraw((before, row_id))
        if row_id is not None:
            self.reveal(self._lines[row_id])
        if before != row_id:
            self.post_message(self.Moved(self, row_id))
        self._place_terminal_cursor()

    def move(self, rows: int) -> None:
        """Move the cursor by a number of rows, as far as there are any."""
        captions, count = self._captions, len(self.ids) - len(self._captions)
        if not count:
            return
        here = self._lines.get(self.cursor or "")
        position = 0 if here is None else here - bisect(captions, here) + rows
        line = max(0, min(position, count - 1))
        for caption in captions:
            line += caption <= line
        self.put_cursor(self.ids[line])

    def move_to_end(self, *, is_last: bool) -> None:
        """Move the cursor to the first or the last row."""
        self.move(len(self.ids) if is_last else -len(self.ids))

    def _place_terminal_cursor(self) -> None:
        # Screen readers and magnifiers follow the terminal's own cursor: the first letter of the row.
        line = self._lines.get(self.cursor or "")
        if line is not None and self.has_focus and line in self.visible_lines:
            context_of(self).cursor_position = self.region.offset + Offset(3, line - self.first_line)

    def on_resize(self, event: events.Resize) -> None:
        """Keep a cursor that was on the screen there, in fewer rows, too; with the caption above it."""
        line = self._lines.get(self.cursor or "")
        if line is not None and self.extent.first <= self.rows_before(line) < self.extent.last:
            self.reveal(line - (line - 1 in self._captions), line)
        super().on_resize(event)

    def on_focus(self) -> None:
        super().on_focus()
        self._place_terminal_cursor()

    # --- the mouse ------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Move to the clicked row; a second click opens it."""
        line = event.y + self.first_line
        if not 0 <= line < len(self.ids) or self.ids[line].startswith("-"):
            return
        row_id = self.ids[line]
        self.put_cursor(row_id)
        if event.chain >= 2:
            self.post_message(self.Opened(self, row_id))
        else:
            self.post_message(self.Clicked(self, row_id, event.x))
