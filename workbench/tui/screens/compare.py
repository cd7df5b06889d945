"""Two runs of a pipeline side by side: outcomes, times and tokens of each step, and where they differ.

Owns which two runs are compared and how rows are ordered. It reads runs through the screen's state and asks
for nothing.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import Static

from workbench.draw import cells
from workbench.draw.comparerows import compare_heads, compare_strip, compare_words, total_strip
from workbench.draw.keyrow import key_part, key_row
from workbench.draw.wrapping import hard_wrap
from workbench.tui import keymap
from workbench.tui.theme import glyphs, ink
from workbench.tui.widgets.heads import Heads
from workbench.tui.widgets.lines import Placed, RowList
from workbench.views.comparison import CompareRow, Comparison, comparison
from workbench.views.pipeline import PipelineRun

if TYPE_CHECKING:
    from workbench.tui.screens.main import MainScreen

_ORDERS: Final = ("in the order of the file", "by the change of time", "by the change of tokens")
_MOST_WORDS: Final = 4


def open_compare(screen: "MainScreen") -> None:
    """Open the comparison of the run on show with the one before it, or say that there is none."""
    run = screen.pipeline.run
    if run is None:
        return
    others = others_of(screen, run)
    if not others:
        screen.say(f"There is no other run of {run.name} to compare with.")
        return
    screen.textual.push_screen(CompareScreen(screen, run.id, others))


def others_of(screen: "MainScreen", run: PipelineRun) -> list[str]:
    """Return the other runs of a pipeline, the nearest older one first, then older ones, then newer ones."""
    rows = screen.state.runs.rows
    ids = sorted(
        (key for key in reversed(rows) if rows[key].pipeline_name == rows[run.id].pipeline_name),
        key=lambda key: rows[key].created_at,
    )
    at = ids.index(run.id)
    return [*reversed(ids[:at]), *ids[at + 1 :]]


class CompareList(RowList):
    """The steps of both runs."""

    def __init__(self) -> None:
        super().__init__(key="compare-list")
        self.rows: dict[str, CompareRow] = {}

    def show_rows(self, rows: Sequence[CompareRow]) -> None:
        """Show rows; the cursor stays on its step."""
        self.rows = {row.id: row for row in rows}
        self.set_ids(list(self.rows))
        self.invalidate()

    def draw_row(self, placed: Placed, width: int) -> Strip:
        """Draw a step."""
        return compare_strip(
            self.rows[placed.row_id], width, ink(self), glyphs(self), is_cursor=placed.is_cursor,
            has_focus=placed.is_focused,
        )  # fmt: skip


class CompareScreen(ModalScreen[None], inherit_bindings=False):
    """The table over the main screen."""

    AUTO_FOCUS = ""
    BINDINGS = keymap.bindings("compare")

    def __init__(self, main: "MainScreen", run_id: str, others: Sequence[str]) -> None:
        super().__init__(id="compare-screen")
        self._main, self._run, self._others = main, run_id, others
        self._at, self._order = 0, 0
        self._made: Comparison | None = None
        self._list = CompareList()
        self._heads = Heads(self._draw_heads, key="compare-heads")
        self._totals = Heads(self._draw_totals, key="compare-totals")
        self._words, self._keys = Static(id="compare-words"), Static(id="compare-keys")

    def compose(self) -> ComposeResult:
        """Yield heads, steps, sums, words, keys."""
        with Vertical(id="compare-box"):
            yield self._heads
            yield self._list
            yield self._totals
            yield self._words
            yield self._keys

    def on_mount(self) -> None:
        """Compare with the first of the others."""
        self._list.focus()
        self._read()

    def on_resize(self, event: events.Resize) -> None:
        """Wrap anew."""
        del event
        self.call_after_refresh(self._say)

    def _read(self) -> None:
        state = self._main.state
        now, actions = state.source.now(), list(state.actions.values())
        shown = state.runs.view(actions, now, self._run)
        other = state.runs.view(actions, now, self._others[self._at])
        if shown is None or other is None:
            self.dismiss()
            return
        pair = (other, shown) if other.created_at <= shown.created_at else (shown, other)
        self._made = comparison(*pair)
        self._show()

    def _show(self) -> None:
        made = self._made
        if made is None:
            return
        box, line = self.query_one("#compare-box"), glyphs(self).line
        box.border_title = cells.content(f"{made.earlier.title} and {made.later.title}")  # type: ignore[assignment]
        count = made.outcomes
        words = "one outcome differs" if count == 1 else f"{count or 'no'} outcomes differ"
        words += "" if made.has_same_input else ", other input"
        box.border_subtitle = cells.content(line(f"{words}   {_ORDERS[self._order]}"))  # type: ignore[assignment]
        self._list.show_rows(self._ordered(made))
        self._heads.refresh()
        self._totals.refresh()
        self._say()

    def _ordered(self, made: Comparison) -> list[CompareRow]:
        if self._order == 1:
            return sorted(made.rows, key=lambda row: -abs(row.seconds))
        return sorted(made.rows, key=lambda row: -abs(row.tokens)) if self._order == 2 else list(made.rows)

    def _draw_heads(self, width: int) -> Strip:
        if self._made is None:
            return Strip.blank(width)
        return compare_heads(self._made, width, ink(self), glyphs(self))

    def _draw_totals(self, width: int) -> Strip:
        if self._made is None:
            return Strip.blank(width)
        return total_strip(self._made, width, ink(self), glyphs(self))

    def _say(self) -> None:
        colours, row = ink(self), self._list.rows.get(self._list.cursor or "")
        width = max(20, self._words.size.width - 2)
        text = compare_words(row) if row is not None else "Neither run has a step."
        lines = hard_wrap([cells.content(text, colours.of("muted"), colours)], width)[:_MOST_WORDS]
        self._words.update(Content("\n").join([Content(" ") + line for line in lines]))
        pairs = (
            ("j k", "step"), ("n N", "next that differs"), ("enter", "its step"),
            ("{ }", f"other run ({len(self._others)})"), ("o", "order"), ("esc", "back"),
        )  # fmt: skip
        parts = [key_part(keys, words, colours) for keys, words in pairs]
        self._keys.update(key_row(parts, max(8, self._keys.size.width)))

    @on(RowList.Moved)
    def _moved(self, message: RowList.Moved) -> None:
        message.stop()
        self._say()

    @on(RowList.Opened)
    def _opened(self, message: RowList.Opened) -> None:
        message.stop()
        self.open_step()

    # --- what keys ask for ----------------------------------------------------------------------

    def action_do(self, key_id: str) -> None:
        """Do what the table says."""
        keymap.run(key_id, self)

    def move(self, rows: int) -> None:
        """Go to another step."""
        self._list.move(rows)

    def move_to_end(self, *, is_last: bool) -> None:
        """Go to the first or the last step."""
        self._list.move_to_end(is_last=is_last)

    def move_to_difference(self, step: int) -> None:
        """Go to the next step that ended otherwise, else to the next that took another time."""
        ids = list(self._list.rows)
        for kinds in (("outcome", "added", "gone"), ("slower", "faster")):
            found = [key for key in ids if self._list.rows[key].kind in kinds]
            if found:
                at = ids.index(self._list.cursor) if self._list.cursor in ids else -1
                ahead = [key for key in found if (ids.index(key) - at) * step > 0]
                self._list.put_cursor((ahead or found)[0 if step > 0 else -1])
                return
        self._main.say("Both runs went the same way.")

    def other_run(self, step: int) -> None:
        """Compare with another run."""
        self._at = (self._at + step) % len(self._others)
        self._read()

    def next_order(self) -> None:
        """Order the rows another way."""
        self._order = (self._order + 1) % len(_ORDERS)
        self._show()

    def open_step(self) -> None:
        """Go to the step in the graph of the run on show."""
        step = self._list.cursor
        self.dismiss()
        self._main.go_to(4)
        self._main.pipeline.graph.put_cursor(step)

    def leave(self) -> None:
        """Go back."""
        self.dismiss()
