"""The turns of a conversation: which one is in view, a list of them beside the text, the way between them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.strip import Strip

from workbench.render import cells
from workbench.render.cells import Column, safe_content, styled
from workbench.render.list_rows import END_COLUMN, cursor_column, icon_column, list_row_style
from workbench.tui import render_context
from workbench.tui.widgets.line_view import RowList, RowPlacement
from workbench.views.conversation_blocks import TurnSummary

if TYPE_CHECKING:
    from textual.widget import Widget

    from workbench.tui.conversation.transcript_view import TranscriptView
    from workbench.views.conversation import Transcript

LIST_FROM_CELLS: Final = 140
"""Cells of a conversation from which on there is room for the list beside its text."""


class TurnList(RowList):
    """Number, outcome and first words of each; its cursor is where the reader of the conversation is."""

    can_focus = False

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self._turns: dict[str, TurnSummary] = {}

    def show_turns(self, turns: Sequence[TurnSummary], current: TurnSummary | None) -> None:
        """Show turns, with the cursor on the one that is in view."""
        before, self._turns = self._turns, {turn.id: turn for turn in turns}
        self.set_ids(list(self._turns), {turn.id for turn in turns if before.get(turn.id) != turn})
        if current is not None and current.id != self.cursor and current.id in self._turns:
            self.put_cursor(current.id)

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        ink, glyphs = render_context.ink(self), render_context.glyphs(self)
        turn, is_cursor = self._turns[placed.row_id], placed.is_cursor
        failed = f"{glyphs.of('failed')} {turn.failed}" if turn.failed else ""
        title = ink.of("foreground" if is_cursor else "muted")
        columns = [
            cursor_column(glyphs, ink, is_cursor=is_cursor, has_focus=False),
            icon_column(turn.sign, ink, glyphs),
            Column(content=styled(str(turn.number), ink.of("faint")), width=4, align="right"),
            Column(content=safe_content(turn.title or "continued", title, ink), grows=True, gap=2),
            Column(content=Content.styled(failed, ink.sign("failed")), align="right"),
            END_COLUMN,
        ]
        style = list_row_style(ink, is_cursor=is_cursor, has_focus=False)
        return cells.row_strip(columns, width, style, glyphs=glyphs)


class TurnNavigation:
    """Knows the turn in view of a conversation, and goes to others."""

    def __init__(self, view: "TranscriptView") -> None:
        self._view = view
        self.transcript: Transcript | None = None
        self._list: TurnList | None = None
        """Made when there is first room for it."""
        self._seen: TurnSummary | None = None

    @property
    def in_view(self) -> TurnSummary | None:
        """Return the turn of the block under the cursor, else of the last one on the screen."""
        if self.transcript is None:
            return None
        return self.transcript.turn_of(self._view.blocks, self._view.block_in_view)

    def look(self) -> bool:
        """Show which turn is in view; return whether it is another one than before."""
        before, self._seen = self._seen, self.in_view
        self._show()
        return (before.id if before else None) != (self._seen.id if self._seen else None)

    def fit(self, pane: "Widget") -> None:
        """Show the list where there is room for it, and turns: the first page has none."""
        is_wide = pane.size.width >= LIST_FROM_CELLS and self._view.page is None
        if is_wide and self._list is None:
            self._list = TurnList(key="conversation-turns")
            pane.mount(self._list)
        if self._list is not None:
            self._list.display = is_wide
        self._show()

    def _show(self) -> None:
        if self._list is not None and self._list.display and self.transcript is not None:
            self._list.show_turns(self.transcript.turns, self._seen)

    def go_to(self, turn_id: str) -> None:
        """Put the prompt of a turn at the top."""
        turn = next((turn for turn in self._known() if turn.id == turn_id), None)
        if turn is not None:
            self._view.go_to_top(turn.block_id)

    def move(self, step: int) -> bool:
        """Go to the next (1) or previous (-1) turn, first to the prompt of this one; False without one."""
        known = [turn.id for turn in self._known()]
        here = self.in_view
        index = known.index(here.id) if here is not None and here.id in known else len(known)
        if step > 0 or (here is not None and here.block_id == self._view.cursor):
            index += step
        if 0 <= index < len(known):
            self.go_to(known[index])
            return True
        return False

    def _known(self) -> list[TurnSummary]:
        turns = self.transcript.turns if self.transcript is not None else ()
        return [turn for turn in turns if turn.block_id]
