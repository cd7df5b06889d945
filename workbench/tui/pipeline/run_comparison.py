"""Two runs of a pipeline compared step by step."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from workbench.render import cells
from workbench.render.run_comparison import (
    comparison_head_strip,
    comparison_strip,
    comparison_text,
    comparison_total_strip,
)
from workbench.tui.keyboard import keymap
from workbench.tui.pipeline.run_table import RunTableScreen
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.line_view import RowList, RowPlacement
from workbench.tui.widgets.pane_frame import ColumnHeader
from workbench.views.pipeline import PipelineRun
from workbench.views.run_comparison import ComparisonRow, RunComparison, compare_runs

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.state import ScreenState


_ROW_ORDERS: Final = ("in the order of the file", "by the change of time", "by the change of tokens")
_MOST_WORDS: Final = 4


def open_compare(context: "MainContext") -> None:
    """Open the comparison of the run on show with the one before it, or say that there is none."""
    run = context.widgets.pipeline.run
    if run is None:
        return
    others = other_runs_of(context.state, run)
    if not others:
        context.say(f"There is no other run of {run.name} to compare with.")
        return
    context.app.push_screen(CompareScreen(context, run.id, others))


def other_runs_of(state: "ScreenState", run: PipelineRun) -> list[str]:
    """Return the other runs of a pipeline, the nearest older one first, then older ones, then newer ones."""
    rows = state.runs.rows
    if run.id not in rows:
        return []
    ids = sorted(
        (key for key in reversed(rows) if rows[key].pipeline_name == rows[run.id].pipeline_name),
        key=lambda key: rows[key].created_at,
    )
    index = ids.index(run.id)
    return [*reversed(ids[:index]), *ids[index + 1 :]]


class CompareList(RowList):
    """The steps of both runs."""

    def __init__(self) -> None:
        super().__init__(key="compare-list")
        self.rows: dict[str, ComparisonRow] = {}

    def show_rows(self, rows: Sequence[ComparisonRow]) -> None:
        """Show rows; the cursor stays on its step."""
        self.rows = {row.id: row for row in rows}
        self.set_ids(list(self.rows))
        self.invalidate()

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        return comparison_strip(
            self.rows[placed.row_id], width, ink(self), glyphs(self), is_cursor=placed.is_cursor,
            has_focus=placed.is_focused,
        )  # fmt: skip


class CompareScreen(RunTableScreen, inherit_bindings=False):
    """The table over the main screen."""

    BINDINGS = keymap.bindings("compare")
    SAYS_EXTENT = False

    def __init__(self, context: "MainContext", run_id: str, others: Sequence[str]) -> None:
        self._steps = CompareList()
        super().__init__(context, "compare", self._steps)
        self._run, self._others = run_id, others
        self._at, self._order = 0, 0
        self._made: RunComparison | None = None
        self._heads = ColumnHeader(self._draw_heads, key="compare-heads")
        self._totals = ColumnHeader(self._draw_totals, key="compare-totals")

    def table(self) -> Sequence[Widget]:
        return self._heads, self._steps, self._totals

    def opened(self) -> None:
        super().opened()
        self._read()

    def _read(self) -> None:
        state = self._main.state
        now, actions = state.source.now(), list(state.actions.values())
        shown = state.runs.view(actions, now, self._run)
        other = state.runs.view(actions, now, self._others[self._at])
        if shown is None or other is None:
            self.dismiss()
            return
        pair = (other, shown) if other.created_at <= shown.created_at else (shown, other)
        self._made = compare_runs(*pair)
        self._show()

    def _show(self) -> None:
        comparison = self._made
        if comparison is None:
            return
        count = comparison.outcomes
        words = "one outcome differs" if count == 1 else f"{count or 'no'} outcomes differ"
        words += "" if comparison.has_same_input else ", other input"
        subtitle = glyphs(self).line(f"{words}   {_ROW_ORDERS[self._order]}")
        self.set_titles(f"{comparison.earlier.title} and {comparison.later.title}", subtitle)
        self._steps.show_rows(self._ordered(comparison))
        self._heads.refresh()
        self._totals.refresh()
        self.describe_step()

    def _ordered(self, comparison: RunComparison) -> list[ComparisonRow]:
        if self._order == 1:
            return sorted(comparison.rows, key=lambda row: -abs(row.seconds))
        return (
            sorted(comparison.rows, key=lambda row: -abs(row.tokens))
            if self._order == 2
            else list(comparison.rows)
        )

    def _draw_heads(self, width: int) -> Strip:
        if self._made is None:
            return Strip.blank(width)
        return comparison_head_strip(self._made, width, ink(self), glyphs(self))

    def _draw_totals(self, width: int) -> Strip:
        if self._made is None:
            return Strip.blank(width)
        return comparison_total_strip(self._made, width, ink(self), glyphs(self))

    def words(self) -> Content:
        row, colours = self._steps.rows.get(self._steps.cursor or ""), ink(self)
        text = comparison_text(row) if row is not None else "Neither run has a step."
        return cells.safe_content(text, colours.of("muted"), colours)

    def hints(self) -> Sequence[tuple[str, str]]:
        return (
            ("j k", "step"), ("n N", "next that differs"), ("enter", "its step"),
            ("{ }", f"other run ({len(self._others)})"), ("o", "order"), ("esc", "back"),
        )  # fmt: skip

    # --- what keys ask for ----------------------------------------------------------------------

    def move_to_difference(self, step: int) -> None:
        """Go to the next step that ended otherwise, else to the next that took another time."""
        ids = list(self._steps.rows)
        for kinds in (("outcome", "added", "gone"), ("slower", "faster")):
            differing = [key for key in ids if self._steps.rows[key].kind in kinds]
            if differing:
                index = ids.index(self._steps.cursor) if self._steps.cursor in ids else -1
                ahead = [key for key in differing if (ids.index(key) - index) * step > 0]
                self._steps.put_cursor((ahead or differing)[0 if step > 0 else -1])
                return
        self._main.say("Both runs went the same way.")

    def other_run(self, step: int) -> None:
        """Compare with another run."""
        self._at = (self._at + step) % len(self._others)
        self._read()

    def next_order(self) -> None:
        """Order the rows another way."""
        self._order = (self._order + 1) % len(_ROW_ORDERS)
        self._show()
