"""The runs of all sessions as rows, for a pipeline pane that shows every session."""

from collections.abc import Sequence

from textual.strip import Strip

from workbench.render.pipeline import run_strip
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.line_view import RowList, RowPlacement
from workbench.views.pipeline import PipelineRun


class RunList(RowList):
    """A row for each run, the newest first."""

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self._runs: dict[str, PipelineRun] = {}

    def show_runs(self, runs: Sequence[PipelineRun]) -> None:
        """Show runs; the cursor stays on its run."""
        before, self._runs = self._runs, {run.id: run for run in runs}
        self.set_ids(list(self._runs), {run.id for run in runs if before.get(run.id) != run})

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        return run_strip(
            self._runs[placed.row_id], width, ink(self), glyphs(self),
            is_cursor=placed.is_cursor, has_focus=placed.is_focused,
        )  # fmt: skip
