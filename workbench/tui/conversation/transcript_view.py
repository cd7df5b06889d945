"""The blocks of a conversation as lines, with a cursor on one block.

A virtual list: heights for all blocks, lines only for those near the screen. The line being read stays in
place when anything above it changes.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct, structs
from textual import events
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.strip import Strip

from workbench.render import cells, conversation, markdown
from workbench.render.conversation import REPLY_INDENT, blank_rows_before, block_lines
from workbench.tui import render_context
from workbench.tui.widgets.height_index import HeightIndex
from workbench.tui.widgets.line_view import JumpTarget, LineView
from workbench.views.conversation_blocks import (
    Block,
    CallBlock,
    CallGroupBlock,
    ErrorBlock,
    NoticeBlock,
    OutputBlock,
    ProgressBlock,
    PromptBlock,
    StepBlock,
    TextBlock,
    ThoughtBlock,
)

if TYPE_CHECKING:
    from workbench.tui.conversation.streaming_text import PartialMarkdown

OPEN_TAIL = 16_384
"""Characters shown of an output or a thought that is still being written: its end."""
MAX_TEXT_CELLS = 100
"""Cells of a line at most: longer ones are hard to read, and results would be far from their tool."""
_MAX_DRAWN_BLOCKS = 512
"""Drawn blocks that are kept; any other is drawn again when it is looked at."""


class DrawnBlock(Struct, frozen=True):
    """One block in one width: blank lines before it, and its lines."""

    gap: int
    lines: Sequence[Content]

    @property
    def height(self) -> int:
        """Return its lines with the blank ones."""
        return self.gap + len(self.lines) if self.lines else 0


class LineAnchor(Struct, frozen=True):
    """A line of a block and the row of the screen where it has to stay."""

    block_id: str
    line: int
    row: int


def estimated_height(block: Block, width: int) -> int:
    """Guess the height of a block without drawing it; the true one takes its place when it comes near."""
    match block:
        case OutputBlock(is_folded=True):
            return 0
        case ThoughtBlock(is_folded=True) | CallBlock() | CallGroupBlock() | StepBlock() | ProgressBlock():
            return 1
        case TextBlock() | PromptBlock() | OutputBlock() | ThoughtBlock():
            return 2 + block.text.count("\n") + len(block.text) // width
        case _:
            return 3


class BlockView(LineView):
    """Blocks of any number, each known by its id."""

    class Looked(Message):
        """Where the reader looks has changed: at the end or not, another block under the cursor."""

        def __init__(self, view: "BlockView") -> None:
            super().__init__()
            self.view = view

    def __init__(self, *, key: str | None = None, classes: str | None = None) -> None:
        super().__init__(key=key, classes=classes)
        self.blocks: Sequence[Block] = ()
        self.cursor: str | None = None
        self.unread = 0
        """Blocks that came below since the reader left the end."""
        self.is_compact = False
        self.find = ""
        """What is looked for: underlined wherever it stands on a line."""
        self.empty: Sequence[Content] = ()
        """What is said instead while there are no blocks."""
        self.page: Callable[[int], Sequence[Strip]] | None = None
        """Returns the rows of a page that is shown instead of it, in a width."""
        self.is_following = True
        self.has_later = False
        """Whether what is shown ends before the conversation does."""
        self._index: dict[str, int] = {}
        self._heights = HeightIndex()
        self._exact: set[str] = set()
        self._drawn: OrderedDict[str, DrawnBlock] = OrderedDict()
        self._open: dict[str, PartialMarkdown] = {}
        self._wrapped = 0
        self._is_placing = False

    # --- what is shown --------------------------------------------------------------------------

    def show_blocks(self, blocks: Sequence[Block], changed: Collection[str] | None) -> None:
        """Show blocks.

        Args:
            blocks: All of them, in reading order.
            changed: Ids that came, changed or went since the last time; None is another conversation.
        """
        if changed is None:
            self._start_over(blocks)
            return
        anchor = self._anchor()
        first = self._first_difference(blocks, changed)
        new = sum(
            block.id not in self._index and not isinstance(block, ProgressBlock) for block in blocks[first:]
        )
        self._take_over(blocks, first, changed)
        self._restore(anchor)
        self.unread = 0 if self.is_following or self.is_at_end else self.unread + new

    def _start_over(self, blocks: Sequence[Block]) -> None:
        self._forget_drawn()
        self._index.clear()
        self.blocks, self.cursor, self.unread, self.is_following = (), None, 0, True
        self._take_over(blocks, 0, ())
        self._restore(None)

    def _forget_drawn(self) -> None:
        self._exact.clear()
        self._drawn.clear()
        self._open.clear()
        self._strips.clear()

    def _first_difference(self, blocks: Sequence[Block], changed: Collection[str]) -> int:
        old = self.blocks
        first = min([len(old), len(blocks), *(self._index.get(key, len(old)) for key in changed)])
        while first and blocks[first - 1] is not old[first - 1]:
            first -= 1
        return first

    def _take_over(self, blocks: Sequence[Block], first: int, changed: Collection[str]) -> None:
        kept = self._kept_lines(blocks, first)
        gone = self._touched(blocks, first, changed)
        for block in self.blocks[first:]:
            self._index.pop(block.id, None)
        self._exact -= gone
        for key in gone:
            self._drawn.pop(key, None)
        old_top = self._heights.top(min(first, len(self._heights))) + kept
        known = {block.id: height for block, height in self._old_heights(first) if block.id in self._exact}
        self.blocks = blocks
        self._index.update((block.id, index) for index, block in enumerate(blocks[first:], first))
        self._open = {key: text for key, text in self._open.items() if key in self._index}
        self._heights.replace_from(
            first,
            [known.get(blocks[index].id, self._estimate(index)) for index in range(first, len(blocks))],
        )
        for line in [line for line in self._strips if line >= old_top]:
            del self._strips[line]
        if self.cursor not in self._index:
            self.cursor = None

    def _kept_lines(self, blocks: Sequence[Block], first: int) -> int:
        """Return how many lines of the first changed block stay: those of a reply that only grew."""
        if first >= min(len(blocks), len(self.blocks)) or blocks[first].id != self.blocks[first].id:
            return 0
        block = blocks[first]
        drawn, text = self._drawn.get(block.id), self._open.get(block.id)
        if drawn is None or text is None or not isinstance(block, TextBlock) or not block.is_open:
            return 0
        return drawn.gap + text.kept if text.take(block.text) else 0

    def _touched(self, blocks: Sequence[Block], first: int, changed: Collection[str]) -> set[str]:
        """Return what has to be drawn again: what changed, and what stands below that."""
        touched, is_below = set(changed), True
        for block in blocks[first:]:
            if is_below and not is_hidden(block):
                # What the model does changes with whatever changes the blank rows above it.
                touched |= set() if isinstance(block, ProgressBlock) else {block.id}
                is_below = False
            is_below = is_below or block.id in changed or block.id not in self._index
        return touched

    def _old_heights(self, first: int) -> list[tuple[Block, int]]:
        return [(self.blocks[index], self._heights[index]) for index in range(first, len(self.blocks))]

    # --- heights --------------------------------------------------------------------------------

    def _gap(self, index: int) -> int:
        blocks_above = (self.blocks[above] for above in range(index - 1, -1, -1))
        previous = next((block for block in blocks_above if not is_hidden(block)), None)
        return blank_rows_before(self.blocks[index], previous, is_compact=self.is_compact)

    def _estimate(self, index: int) -> int:
        return estimated_height(self.blocks[index], max(1, self._wrapped - REPLY_INDENT - 1))

    def _measure(self, index: int) -> None:
        block = self.blocks[index]
        if block.id not in self._exact:
            self._heights.put(index, self._draw(index).height)
            self._exact.add(block.id)

    def _measure_run(self, index: int, step: int, lines: int) -> None:
        while 0 <= index < len(self.blocks) and lines > 0:
            self._measure(index)
            lines -= self._heights[index]
            index += step

    def _measure_around(self, index: int) -> None:
        page = max(1, self.size.height)
        self._measure_run(index, 1, 2 * page)
        self._measure_run(index - 1, -1, 2 * page)

    # --- keeping the place ----------------------------------------------------------------------

    def _anchor(self) -> LineAnchor | None:
        """Return the line that must not move: the cursor's if it is on the screen, else the topmost."""
        if not self._line_count or not len(self._heights):
            return None
        lines = self.visible_lines
        index = self._index.get(self.cursor or "")
        if index is not None and self._heights[index]:
            top = self._heights.top(index)
            line = max(top, lines.start)
            if line < min(lines.stop, top + self._heights[index]):
                return LineAnchor(self.blocks[index].id, line - top, line - lines.start)
        if lines.start >= self._heights.total:
            return None
        index, line = self._heights.at(lines.start)
        return LineAnchor(self.blocks[index].id, line, 0)

    def _restore(self, anchor: LineAnchor | None) -> None:
        if not self._wrapped:
            return
        index = None if anchor is None else self._index.get(anchor.block_id)
        if self.is_following or index is None or anchor is None:
            self._measure_run(len(self.blocks) - 1, -1, 2 * max(1, self.size.height))
            self._place(None if self.is_following else self.first_line)
            return
        self._measure_around(index)
        line = min(anchor.line, max(0, self._heights[index] - 1))
        self._place(self._heights.top(index) + line - anchor.row)

    def _place(self, top: int | None) -> None:
        """Take over the heights and put a line at the top; None is the end."""
        self._is_placing = True
        try:
            total = self._heights.total
            if total != self._line_count:
                self.set_line_count(total)
            self.scroll_to_line(total if top is None else top)
        finally:
            self._is_placing = False
        self.on_placed()
        self.refresh()

    def on_placed(self) -> None:
        """Be told that blocks have their places on the screen."""

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self._is_placing or not self._line_count or round(old_value) == round(new_value):
            return
        index, line = self._heights.at(min(self.first_line, self._heights.total - 1))
        before = self._heights.total
        self._measure_around(index)
        if self._heights.total != before:
            self._strips.clear()
            self._place(self._heights.top(index) + line)
        self._set_following(self.is_at_end)

    def _set_following(self, is_following: bool) -> None:
        self.is_following = is_following = is_following and not self.has_later
        if is_following:
            self.unread = 0
        self.post_message(self.Looked(self))

    def on_width(self, width: int) -> None:
        anchor, width = self._anchor(), min(width, MAX_TEXT_CELLS)
        if width != self._wrapped:
            self._wrapped = width
            self._forget_drawn()
            self._heights.replace_from(0, [self._estimate(index) for index in range(len(self.blocks))])
        self._restore(anchor)

    def redraw(self) -> None:
        """Draw what is near the screen anew, with the same line in its place."""
        anchor = self._anchor()
        self._forget_drawn()
        self._restore(anchor)

    # --- drawing --------------------------------------------------------------------------------

    def notify_style_update(self) -> None:
        self._drawn.clear()
        self._open.clear()
        super().notify_style_update()

    def _draw(self, index: int) -> DrawnBlock:
        block = self.blocks[index]
        drawn = DrawnBlock(self._gap(index), self._lines_of(block))
        self._drawn[block.id] = drawn
        self._drawn.move_to_end(block.id)
        if len(self._drawn) > _MAX_DRAWN_BLOCKS:
            self._drawn.popitem(last=False)
        return drawn

    def _lines_of(self, block: Block) -> Sequence[Content]:
        if isinstance(block, TextBlock) and block.is_open:
            return self._open_lines(block)
        if isinstance(block, OutputBlock | ThoughtBlock) and block.is_open and len(block.text) > OPEN_TAIL:
            block = structs.replace(block, text=block.text[-OPEN_TAIL:])
        look = render_context.context_of(self)
        if look.painter is None and isinstance(block, TextBlock) and not markdown.is_markdown_loaded():
            # The first frame does not wait for the reader of markdown; `redraw` comes with it.
            lines = conversation.wrap_plain_text(
                block.text, max(1, self._wrapped - REPLY_INDENT - 1), look.ink
            )
            return [Content(" " * REPLY_INDENT) + line for line in lines]
        return block_lines(block, self._wrapped, look.ink, look.glyphs, look.painter)

    def _open_lines(self, block: TextBlock) -> "PartialMarkdown":
        text = self._open.get(block.id)
        if text is None or not text.take(block.text):
            from workbench.tui.conversation.streaming_text import PartialMarkdown

            text = self._open[block.id] = PartialMarkdown(self._wrapped, render_context.context_of(self))
            text.take(block.text)
        return text

    def fixed_line(self, y: int, width: int) -> Strip | None:
        if self.blocks or not self.empty:
            return None
        if self.page is not None:
            rows = self.page(width)
            return rows[y] if y < len(rows) else None
        room = max(1, width - REPLY_INDENT - 1)
        rows = [row for line in self.empty for row in cells.wrap_line(line, room)]
        if y >= len(rows):
            return None
        return cells.line_strip(
            Content(" " * REPLY_INDENT) + rows[y], width, render_context.ink(self).on("background")
        )

    def draw_line(self, line: int, width: int) -> Strip:
        index, row = self._heights.at(line)
        block = self.blocks[index]
        drawn = self._drawn.get(block.id) or self._draw(index)
        row -= drawn.gap
        if not 0 <= row < len(drawn.lines):
            return Strip.blank(width)
        is_cursor = self.has_focus and block.id == self.cursor
        ink = render_context.context_of(self).ink
        style = ink.on("panel") if isinstance(block, PromptBlock) else ink.on("background")
        if is_cursor and isinstance(block, CallBlock | CallGroupBlock):
            style = ink.cursor(has_focus=True)
        content = self._with_hits(drawn.lines[row])
        if is_cursor:
            bar = Content.styled(render_context.context_of(self).glyphs.of("cursor"), ink.of("info"))
            content = Content.assemble(bar, content[1:])
        return cells.line_strip(content, min(width, self._wrapped), style)

    def _with_hits(self, line: Content) -> Content:
        if not self.find:
            return line
        text, wanted = line.plain.casefold(), self.find.casefold()
        style = render_context.ink(self).hit()
        start = text.find(wanted)
        while start >= 0:
            line = line.stylize(style, start, start + len(wanted))
            start = text.find(wanted, start + len(wanted))
        return line

    def has_block(self, block_id: str) -> bool:
        """Return whether a block is in the part that is shown."""
        return block_id in self._index

    def line_of_hit(self, index: int) -> int:
        """Return the line, from the top of all, of the first hit in a block that was drawn."""
        block = self.blocks[index]
        drawn = self._drawn.get(block.id) or self._draw(index)
        wanted, top = self.find.casefold(), self._heights.top(index) + drawn.gap
        rows = range(len(drawn.lines))
        return top + next((row for row in rows if wanted in drawn.lines[row].plain.casefold()), 0)


def is_hidden(block: Block) -> bool:
    """Return whether a block has no lines now."""
    return isinstance(block, OutputBlock) and block.is_folded


def _has_no_cursor(block: Block) -> bool:
    return is_hidden(block) or isinstance(block, ProgressBlock)


_ROWS_AROUND_CURSOR = 2
"""Lines that are shown above and below a hit."""


class TranscriptView(BlockView):
    """A conversation of any length."""

    @dataclass(eq=False, repr=False)
    class Opened(Message):
        """A block was clicked twice."""

        view: "TranscriptView"
        block_id: str

    @property
    def cursor_block(self) -> Block | None:
        """Return the block under the cursor."""
        index = self._index.get(self.cursor or "")
        return None if index is None else self.blocks[index]

    @property
    def block_in_view(self) -> int:
        """Return the index of the block that the reader is at; behind the last one while they follow."""
        if self.is_following or not self._line_count or not len(self._heights):
            return len(self.blocks)
        cursor = self._cursor_on_screen() if self.has_focus else None
        last = min(self.visible_lines.stop, self._heights.total) - 1
        return self._heights.at(max(0, last))[0] if cursor is None else cursor

    def put_cursor(self, block_id: str | None, *, is_revealed: bool = True) -> None:
        """Put the cursor on a block at the reader's wish."""
        before, self.cursor = self.cursor, block_id
        index = self._index.get(block_id or "")
        if index is not None and is_revealed:
            self._measure_around(index)
            self._settle()
            top = self._heights.top(index)
            self.reveal(top, top + self._heights[index] - 1)
        for key in {before, block_id}:
            self._redraw(key)
        self.post_message(self.Looked(self))

    def jump_targets(self) -> Iterator[JumpTarget]:
        lines = self.visible_lines
        for line in range(lines.start, min(lines.stop, self._heights.total)):
            index, row = self._heights.at(line)
            if row == self._gap(index):
                go = partial(self.put_cursor, self.blocks[index].id, is_revealed=False)
                yield JumpTarget(Offset(0, line - lines.start), go)

    def show_hit(self, block_id: str) -> None:
        """Put the cursor on a block that holds what is looked for, and the hit on the screen."""
        index = self._index.get(block_id)
        if index is None:
            return
        self.is_following = False
        self.put_cursor(block_id)
        line = self.line_of_hit(index)
        self.reveal(line - _ROWS_AROUND_CURSOR, line + _ROWS_AROUND_CURSOR)

    def on_focus(self) -> None:
        super().on_focus()
        self.on_placed()

    def on_placed(self) -> None:
        if self.cursor is None and self.has_focus and self._line_count:
            self.put_cursor(self._block_on_screen(is_last=True), is_revealed=False)

    def _settle(self) -> None:
        if self._heights.total != self._line_count:
            self._strips.clear()
            self.set_line_count(self._heights.total)

    def _redraw(self, block_id: str | None) -> None:
        index = self._index.get(block_id or "")
        if index is not None:
            top, lines = self._heights.top(index), self.visible_lines
            self.invalidate(range(max(top, lines.start), min(top + self._heights[index], lines.stop)))

    def move(self, rows: int) -> None:
        """Move by a block, or by a line within one that is larger than the screen; more rows are lines."""
        if not self._line_count:
            return
        if abs(rows) > 1:
            self.scroll_to_line(self.first_line + rows)
            self.put_cursor(self._block_on_screen(is_last=rows > 0), is_revealed=False)
            return
        index = self._cursor_on_screen()
        if index is None:
            self.put_cursor(self._block_on_screen(is_last=rows < 0), is_revealed=False)
            return
        top, lines = self._heights.top(index), self.visible_lines
        if (rows > 0 and top + self._heights[index] > lines.stop) or (rows < 0 and top < lines.start):
            self.scroll_to_line(self.first_line + rows)
            return
        self._step(index, rows)

    def _step(self, index: int, rows: int) -> None:
        index += rows
        while 0 <= index < len(self.blocks) and _has_no_cursor(self.blocks[index]):
            index += rows
        if 0 <= index < len(self.blocks):
            self.put_cursor(self.blocks[index].id)

    def _cursor_on_screen(self) -> int | None:
        index = self._index.get(self.cursor or "")
        if index is None:
            return None
        top, lines = self._heights.top(index), self.visible_lines
        return index if top < lines.stop and top + self._heights[index] > lines.start else None

    def _block_on_screen(self, *, is_last: bool) -> str:
        lines = self.visible_lines
        line = lines.stop - 1 if is_last else lines.start
        index = self._heights.at(max(0, min(line, self._heights.total - 1)))[0]
        # What the model does now comes and goes: no place for a cursor.
        return self.blocks[index - (index > 0 and isinstance(self.blocks[index], ProgressBlock))].id

    def move_to_end(self, *, is_last: bool) -> None:
        """Go to the first block, or to the end and stay there."""
        if not self.blocks:
            return
        if is_last:
            self.follow()
        else:
            self.put_cursor(self.blocks[0].id)
            self.scroll_to_line(0)

    def stay(self) -> None:
        """Keep the cursor's line in its place even at the end, until `stay_no_more`."""
        self.is_following = False

    def stay_no_more(self) -> None:
        """Follow again if the end is still on the screen."""
        self._set_following(self.is_at_end)

    def follow(self) -> None:
        """Go to the end and stay there while more comes."""
        self.is_following = True
        self._restore(None)
        shown = [block for block in self.blocks[-8:] if not _has_no_cursor(block)]
        self.put_cursor(shown[-1].id if shown else None, is_revealed=False)
        self._set_following(True)

    def go_to_top(self, block_id: str) -> None:
        """Put the cursor on a block, its first line at the top; what comes below does not scroll it away."""
        index = self._index.get(block_id)
        if index is not None:
            self.put_cursor(block_id)
            self.scroll_to_line(self._heights.top(index) + self._gap(index))
            self.stay()
            self.post_message(self.Looked(self))

    def move_to_problem(self, step: int) -> bool:
        """Go to the next (1) or previous (-1) prompt, error or notice with keys; False without one."""
        index = self._cursor_on_screen()
        if index is None:
            index = self._index.get(self._block_on_screen(is_last=step < 0), 0) - step if self.blocks else 0
        index += step
        while 0 <= index < len(self.blocks):
            if _is_problem_block(self.blocks[index]):
                self.put_cursor(self.blocks[index].id)
                return True
            index += step
        return False

    # --- the mouse ------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the clicked block; a second click opens it."""
        line = event.y + self.first_line
        if not 0 <= line < min(self._line_count, self._heights.total):
            return
        block_id = self.blocks[self._heights.at(line)[0]].id
        self.put_cursor(block_id, is_revealed=False)
        if event.chain >= 2:
            self.post_message(self.Opened(self, block_id))


def _is_problem_block(block: Block) -> bool:
    return isinstance(block, PromptBlock | ErrorBlock) or (
        isinstance(block, NoticeBlock) and bool(block.keys)
    )
