"""The list of the queue: rows by id, with captions when it is zoomed.

Owns which lines of the list are rows and which are captions, and which rows look different from before.
What a row says is `views.queue`, how it looks is `draw.rows`.
"""

from collections.abc import Sequence
from typing import Final

from rich.style import Style as RichStyle
from textual.content import Content
from textual.strip import Strip

from workbench.draw import cells, rows
from workbench.tui.theme import glyphs, has_motion, ink
from workbench.tui.widgets.lines import Placed, RowList
from workbench.views import queue
from workbench.views.queue import QueueRow

DECIDED: Final = "-decided"
_REVERSED: Final = RichStyle(reverse=True)


class QueueList(RowList):
    """What waits, and what was decided."""

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.rows: dict[str, QueueRow] = {}
        self.order: Sequence[str] = ()
        """The ids of rows as they are shown."""
        self._decided = 0
        self._now = 0
        self.is_zoomed = False
        self.idle: Sequence[Content] = ()
        """What is said without rows."""

    def show_rows(self, shown: Sequence[QueueRow], now: int, *, is_zoomed: bool) -> None:
        """Show rows in this order.

        Args:
            shown: pending first, as `views.queue.rows` has them.
            now: the moment, in microseconds.
            is_zoomed: with marks and the caption of the decided.
        """
        if not has_motion(self):
            shown = [queue.in_minutes(row) for row in shown]
        before, self.rows = self.rows, {row.id: row for row in shown}
        changed = {row.id for row in shown if before.get(row.id) is not row and before.get(row.id) != row}
        self._decided = sum(not row.is_pending for row in shown)
        if is_zoomed != self.is_zoomed:
            self.is_zoomed = is_zoomed
            self.invalidate()
        self._now = now
        if not shown:
            self.refresh()
        self.order = [row.id for row in shown]
        self.set_ids(self._captioned(shown) if is_zoomed else self.order, changed | {DECIDED})

    def _captioned(self, shown: Sequence[QueueRow]) -> list[str]:
        ids: list[str] = []
        for row in shown:
            if not row.is_pending and DECIDED not in ids:
                ids.append(DECIDED)
            ids.append(row.id)
        return ids

    @property
    def has_waiting(self) -> bool:
        """Return whether any row that is shown waits."""
        return self._decided < len(self.rows)

    @property
    def shown(self) -> list[QueueRow]:
        """Return the rows as they are shown."""
        return [self.rows[key] for key in self.order]

    @property
    def current(self) -> QueueRow | None:
        """Return the row under the cursor."""
        return self.rows.get(self.cursor or "")

    def can_hold_above(self, count: int) -> bool:
        """Return whether so many rows above the cursor leave it on its line: the list scrolls by them."""
        is_scrolling = self.line_count > self.size.height > 0
        return is_scrolling and self.first_line + count <= self.line_count + count - self.size.height

    def fixed_line(self, y: int, width: int) -> Strip | None:
        """Return what may come here, while there are no rows."""
        if self.rows or y >= len(self.idle):
            return None
        return cells.strip(self.idle[y], width, ink(self).on("background"))

    def draw_row(self, placed: Placed, width: int) -> Strip:
        """Draw a row or a caption."""
        if placed.row_id == DECIDED:
            return self._caption(width)
        strip = rows.queue_row(
            self.rows[placed.row_id],
            width,
            ink(self),
            glyphs(self),
            self._now,
            is_cursor=placed.is_cursor,
            has_focus=placed.is_focused,
            shows_marks=self.is_zoomed,
            in_minutes=not has_motion(self),
        )
        return strip.apply_style(_REVERSED) if placed.is_flashing else strip

    def _caption(self, width: int) -> Strip:
        colours, line = ink(self), glyphs(self).line("─")
        left, right = f" decided {self._decided}  ", "   d hide decided "
        fill = line * max(0, width - len(left) - len(right))
        return cells.strip(
            Content.assemble(
                (left, colours.of("faint")), (fill, colours.of("rule")), (right, colours.of("faint"))
            ),
            width,
        )
