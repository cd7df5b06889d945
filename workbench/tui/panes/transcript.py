"""The transcript of a conversation: its blocks, and a cursor that belongs to the id of one of them.

Owns how keys and clicks move the cursor. Where lines stand is `BlockView`'s; what keys do is the pane's.
"""

from textual import events
from textual.message import Message

from workbench.records import dataclass
from workbench.tui.panes.blockview import BlockView, is_hidden
from workbench.views.transcript import Block, ErrorBlock, Notice, Prompt

_AROUND = 2
"""Lines that are shown above and below a hit."""


class TranscriptView(BlockView):
    """A conversation of any length."""

    @dataclass
    class Opened(Message):
        """A block was clicked twice."""

        view: "TranscriptView"
        block_id: str

    @property
    def cursor_block(self) -> Block | None:
        """Return the block under the cursor."""
        at = self._index.get(self.cursor or "")
        return None if at is None else self.blocks[at]

    def put_cursor(self, block_id: str | None, *, is_revealed: bool = True) -> None:
        """Put the cursor on a block at the reader's wish."""
        before, self.cursor = self.cursor, block_id
        at = self._index.get(block_id or "")
        if at is not None and is_revealed:
            self._measure_around(at)
            self._settle()
            top = self._heights.top(at)
            self.reveal(top, top + self._heights[at] - 1)
        for key in {before, block_id}:
            self._redraw(key)
        self.post_message(self.Looked(self))

    def show_hit(self, block_id: str) -> None:
        """Put the cursor on a block that holds what is looked for, and the hit on the screen."""
        at = self._index.get(block_id)
        if at is None:
            return
        self.is_following = False
        self.put_cursor(block_id)
        line = self.line_of_hit(at)
        self.reveal(line - _AROUND, line + _AROUND)

    def on_focus(self) -> None:
        """Show whose keys count, and what they are about."""
        super().on_focus()
        self._find_cursor()

    def on_placed(self) -> None:
        """Have a cursor as soon as there is a block for it."""
        self._find_cursor()

    def _find_cursor(self) -> None:
        if self.cursor is None and self.has_focus and self._line_count:
            self.put_cursor(self._block_on_screen(is_last=True), is_revealed=False)

    def _settle(self) -> None:
        if self._heights.total != self._line_count:
            self._strips.clear()
            self.set_line_count(self._heights.total)

    def _redraw(self, block_id: str | None) -> None:
        at = self._index.get(block_id or "")
        if at is not None:
            top = self._heights.top(at)
            lines = self.visible_lines
            self.invalidate(range(max(top, lines.start), min(top + self._heights[at], lines.stop)))

    def move(self, rows: int) -> None:
        """Move by a block, or by a line within one that is larger than the screen; more rows are lines."""
        if not self._line_count:
            return
        if abs(rows) > 1:
            self.scroll_to_line(self.first_line + rows)
            self.put_cursor(self._block_on_screen(is_last=rows > 0), is_revealed=False)
            return
        at = self._cursor_on_screen()
        if at is None:
            self.put_cursor(self._block_on_screen(is_last=rows < 0), is_revealed=False)
            return
        top, lines = self._heights.top(at), self.visible_lines
        if (rows > 0 and top + self._heights[at] > lines.stop) or (rows < 0 and top < lines.start):
            self.scroll_to_line(self.first_line + rows)
            return
        self._step(at, rows)

    def _step(self, at: int, rows: int) -> None:
        at += rows
        while 0 <= at < len(self.blocks) and is_hidden(self.blocks[at]):
            at += rows
        if 0 <= at < len(self.blocks):
            self.put_cursor(self.blocks[at].id)

    def _cursor_on_screen(self) -> int | None:
        at = self._index.get(self.cursor or "")
        if at is None:
            return None
        top, lines = self._heights.top(at), self.visible_lines
        return at if top < lines.stop and top + self._heights[at] > lines.start else None

    def _block_on_screen(self, *, is_last: bool) -> str:
        lines = self.visible_lines
        line = lines.stop - 1 if is_last else lines.start
        return self.blocks[self._heights.at(max(0, min(line, self._heights.total - 1)))[0]].id

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
        shown = [block for block in self.blocks[-8:] if not is_hidden(block)]
        self.put_cursor(shown[-1].id if shown else None, is_revealed=False)
        self._set_following(True)

    def move_to_problem(self, step: int) -> bool:
        """Go to the next (1) or previous (-1) prompt, error or notice with keys; False without one."""
        at = self._cursor_on_screen()
        if at is None:
            at = self._index.get(self._block_on_screen(is_last=step < 0), 0) - step if self.blocks else 0
        at += step
        while 0 <= at < len(self.blocks):
            if _matters(self.blocks[at]):
                self.put_cursor(self.blocks[at].id)
                return True
            at += step
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


def _matters(block: Block) -> bool:
    return isinstance(block, Prompt | ErrorBlock) or (isinstance(block, Notice) and bool(block.keys))
