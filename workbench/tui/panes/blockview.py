"""The blocks of a conversation as lines: heights for all of them, text only for those near the screen.

Owns where each block begins, following the end, and that the line being read stays in its place when anything
above it changes. What a block looks like is `draw.talk`'s; the cursor is `TranscriptView`'s.
"""

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import replace

from textual.content import Content
from textual.message import Message
from textual.strip import Strip

from workbench.draw import cells, markdown
from workbench.draw.talk import block_lines, gap_before
from workbench.draw.wrapping import wrap
from workbench.records import dataclass
from workbench.tui import theme
from workbench.tui.panes.heights import Heights
from workbench.tui.panes.opentext import INDENT, OpenText
from workbench.tui.widgets.lines import LineView
from workbench.views.blocks import Block, CallLine, CallRun, Output, Prompt, StepLine, Text, Thought

OPEN_TAIL = 16_384
"""Characters shown of an output or a thought that is still being written: its end."""

_KEPT = 512
"""Drawn blocks that are kept; any other is drawn again when it is looked at."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """One block in one width: blank lines before it, and its lines."""

    gap: int
    lines: Sequence[Content]

    @property
    def height(self) -> int:
        """Return its lines with the blank ones."""
        return self.gap + len(self.lines) if self.lines else 0


@dataclass(frozen=True, slots=True)
class Anchor:
    """A line of a block and the row of the screen where it has to stay."""

    block_id: str
    line: int
    row: int


class BlockView(LineView):
    """Blocks of any number, each known by its id."""

    @dataclass
    class Looked(Message):
        """Where the reader looks has changed: at the end or not, another block under the cursor."""

        view: "BlockView"

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
        self.is_following = True
        self.has_later = False
        """Whether what is shown ends before the conversation does."""
        self._index: dict[str, int] = {}
        self._heights = Heights()
        self._exact: set[str] = set()
        self._drawn: OrderedDict[str, Drawn] = OrderedDict()
        self._open: dict[str, OpenText] = {}
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
        new = sum(block.id not in self._index for block in blocks[first:])
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
        self._index.update((block.id, at) for at, block in enumerate(blocks[first:], first))
        self._open = {key: text for key, text in self._open.items() if key in self._index}
        self._heights.replace_from(
            first,
            [known.get(blocks[at].id, self._estimate(at)) for at in range(first, len(blocks))],
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
        if drawn is None or text is None or not isinstance(block, Text) or not block.is_open:
            return 0
        return drawn.gap + text.kept if text.take(block.text) else 0

    def _touched(self, blocks: Sequence[Block], first: int, changed: Collection[str]) -> set[str]:
        """Return what has to be drawn again: what changed, and what stands below that."""
        touched, is_below = set(changed), True
        for block in blocks[first:]:
            if is_below and not is_hidden(block):
                touched.add(block.id)
                is_below = False
            is_below = is_below or block.id in changed or block.id not in self._index
        return touched

    def _old_heights(self, first: int) -> list[tuple[Block, int]]:
        return [(self.blocks[at], self._heights[at]) for at in range(first, len(self.blocks))]

    # --- heights --------------------------------------------------------------------------------

    def _gap(self, index: int) -> int:
        previous = next(
            (self.blocks[at] for at in range(index - 1, -1, -1) if not is_hidden(self.blocks[at])), None
        )
        return gap_before(self.blocks[index], previous, is_compact=self.is_compact)

    def _estimate(self, index: int) -> int:
        """Guess a height without drawing; the true one takes its place when the block comes near."""
        block = self.blocks[index]
        width = max(1, self._wrapped - INDENT - 1)
        match block:
            case Output(is_folded=True):
                return 0
            case Thought(is_folded=True) | CallLine() | CallRun() | StepLine():
                return 1
            case Text() | Prompt() | Output() | Thought():
                return 2 + block.text.count("\n") + len(block.text) // width
            case _:
                return 3

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

    def _anchor(self) -> Anchor | None:
        """Return the line that must not move: the cursor's if it is on the screen, else the topmost."""
        if not self._line_count or not len(self._heights):
            return None
        lines = self.visible_lines
        at = self._index.get(self.cursor or "")
        if at is not None and self._heights[at]:
            top = self._heights.top(at)
            line = max(top, lines.start)
            if line < min(lines.stop, top + self._heights[at]):
                return Anchor(self.blocks[at].id, line - top, line - lines.start)
        if lines.start >= self._heights.total:
            return None
        at, line = self._heights.at(lines.start)
        return Anchor(self.blocks[at].id, line, 0)

    def _restore(self, anchor: Anchor | None) -> None:
        if not self._wrapped:
            return
        at = None if anchor is None else self._index.get(anchor.block_id)
        if self.is_following or at is None or anchor is None:
            self._measure_run(len(self.blocks) - 1, -1, 2 * max(1, self.size.height))
            self._place(None if self.is_following else self.first_line)
            return
        self._measure_around(at)
        line = min(anchor.line, max(0, self._heights[at] - 1))
        self._place(self._heights.top(at) + line - anchor.row)

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
        """Draw what came near; a scroll of the reader's own tells whether to follow."""
        super().watch_scroll_y(old_value, new_value)
        if self._is_placing or not self._line_count or round(old_value) == round(new_value):
            return
        at, line = self._heights.at(min(self.first_line, self._heights.total - 1))
        before = self._heights.total
        self._measure_around(at)
        if self._heights.total != before:
            self._strips.clear()
            self._place(self._heights.top(at) + line)
        self._set_following(self.is_at_end)

    def _set_following(self, is_following: bool) -> None:
        self.is_following = is_following = is_following and not self.has_later
        if is_following:
            self.unread = 0
        self.post_message(self.Looked(self))

    def on_width(self, width: int) -> None:
        """Wrap everything anew, with the same line in its place."""
        anchor = self._anchor()
        if width != self._wrapped:
            self._wrapped = width
            self._forget_drawn()
            self._heights.replace_from(0, [self._estimate(at) for at in range(len(self.blocks))])
        self._restore(anchor)

    def redraw(self) -> None:
        """Draw what is near the screen anew, with the same line in its place."""
        anchor = self._anchor()
        self._forget_drawn()
        self._restore(anchor)

    # --- drawing --------------------------------------------------------------------------------

    def notify_style_update(self) -> None:
        """Draw everything again in other colours."""
        self._drawn.clear()
        self._open.clear()
        super().notify_style_update()

    def _draw(self, index: int) -> Drawn:
        block = self.blocks[index]
        drawn = Drawn(self._gap(index), self._lines_of(block))
        self._drawn[block.id] = drawn
        self._drawn.move_to_end(block.id)
        if len(self._drawn) > _KEPT:
            self._drawn.popitem(last=False)
        return drawn

    def _lines_of(self, block: Block) -> Sequence[Content]:
        if isinstance(block, Text) and block.is_open:
            return self._open_lines(block)
        if isinstance(block, Output | Thought) and block.is_open and len(block.text) > OPEN_TAIL:
            block = replace(block, text=block.text[-OPEN_TAIL:])
        look = theme.drawing(self)
        if look.painter is None and isinstance(block, Text) and not markdown.is_loaded():
            # The first frame does not wait for the reader of markdown; `redraw` comes with it.
            lines = markdown.plain_wrap(block.text, max(1, self._wrapped - INDENT - 1), look.ink)
            return [Content(" " * INDENT) + line for line in lines]
        return block_lines(block, self._wrapped, look.ink, look.glyphs, look.painter)

    def _open_lines(self, block: Text) -> OpenText:
        text = self._open.get(block.id)
        if text is None or not text.take(block.text):
            text = self._open[block.id] = OpenText(self._wrapped, theme.drawing(self))
            text.take(block.text)
        return text

    def fixed_line(self, y: int, width: int) -> Strip | None:
        """Return what is said while there are no blocks."""
        if self.blocks or not self.empty:
            return None
        room = max(1, width - INDENT - 1)
        rows = [row for line in self.empty for row in wrap(line, room)]
        if y >= len(rows):
            return None
        return cells.strip(Content(" " * INDENT) + rows[y], width, theme.ink(self).on("background"))

    def draw_line(self, line: int, width: int) -> Strip:
        """Draw one line of one block."""
        index, at = self._heights.at(line)
        block = self.blocks[index]
        drawn = self._drawn.get(block.id) or self._draw(index)
        at -= drawn.gap
        if not 0 <= at < len(drawn.lines):
            return Strip.blank(width)
        is_cursor = self.has_focus and block.id == self.cursor
        ink = theme.drawing(self).ink
        style = ink.on("panel") if isinstance(block, Prompt) else ink.on("background")
        if is_cursor and isinstance(block, CallLine | CallRun):
            style = ink.cursor(has_focus=True)
        content = self._with_hits(drawn.lines[at])
        if is_cursor:
            bar = Content.styled(theme.drawing(self).glyphs.of("cursor"), ink.of("info"))
            content = Content.assemble(bar, content[1:])
        return cells.strip(content, width, style)

    def _with_hits(self, line: Content) -> Content:
        if not self.find:
            return line
        text, wanted = line.plain.casefold(), self.find.casefold()
        style = theme.ink(self).hit()
        at = text.find(wanted)
        while at >= 0:
            line = line.stylize(style, at, at + len(wanted))
            at = text.find(wanted, at + len(wanted))
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
        return top + next((at for at in rows if wanted in drawn.lines[at].plain.casefold()), 0)


def is_hidden(block: Block) -> bool:
    """Return whether a block has no lines now."""
    return isinstance(block, Output) and block.is_folded
