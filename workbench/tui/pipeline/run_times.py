"""The times of a run over the main screen: a bar for each step, live while the run goes on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from workbench.domain.events import Event
from workbench.domain.rows import Call
from workbench.render.pipeline import earlier_text
from workbench.render.run_times import times_head_strip, times_strip
from workbench.tui.keyboard import keymap
from workbench.tui.pipeline.run_comparison import other_runs_of
from workbench.tui.pipeline.run_table import RunTableScreen
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.line_view import RowList, RowPlacement
from workbench.tui.widgets.pane_frame import ColumnHeader
from workbench.views.detail_pages import DetailPage, step_detail
from workbench.views.pipeline import PipelineRun
from workbench.views.run_history import EarlierStep, RunTimes, StepTimes, earlier_steps, run_times

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.pipeline.pipeline_pane import PipelinePane
    from workbench.tui.state import ScreenState

_MOST_EVENTS: Final = 50_000
"""Events of a run of which the times are read."""
_MAX_CHILD_EVENTS: Final = 2_000
"""Events of a step's session that its log is made of: the first ones, which hold the prompt, and the rest."""
_MOST_RUNS: Final = 10


def step_in_other_runs(state: "ScreenState", run: PipelineRun, step_id: str) -> tuple[EarlierStep, ...]:
    """Return how a step went in the other runs of its pipeline that are listed, nearest first."""
    rows = [(state.runs.rows[key], key) for key in other_runs_of(state, run)[: 2 * _MOST_RUNS]]
    found = ((row, state.source.run_step(key, step_id)) for row, key in rows)
    return earlier_steps(((row, step) for row, step in found if step is not None), _MOST_RUNS)


def step_page(state: "ScreenState", pipeline: "PipelinePane", drawn: str) -> DetailPage | None:
    """Return the step under the graph's cursor in full, or the item of it that is drawn, with its session."""
    source, graph, run = state.source, pipeline.graph, pipeline.run
    step = graph.step_under_cursor()
    if run is None or step is None or graph.paint is None:
        return None
    item = graph.paint.item(drawn)
    child_id = item.session_id if item is not None else step.session_id
    child: Sequence[Event] = ()
    calls: Sequence[Call] = ()
    if child_id is not None and source.run(child_id) is None:
        child, calls = source.events(child_id, 0, _MAX_CHILD_EVENTS), source.calls(child_id)
    earlier = step_in_other_runs(state, run, step.id if item is None else item.id)
    return step_detail(
        run, step, source.run_events(run.id, step.id), child, calls, source.text_of, item, earlier
    )  # fmt: skip


def open_times(context: "MainContext") -> None:
    """Open the times of the run on show."""
    run = context.widgets.pipeline.run
    if run is not None:
        context.app.push_screen(TimesScreen(context, run.id))


class TimesList(RowList):
    """The steps of the run, each with its bar."""

    def __init__(self) -> None:
        super().__init__(key="times-list")
        self.times: RunTimes | None = None
        self._rows: dict[str, StepTimes] = {}

    def show_times(self, times: RunTimes) -> None:
        """Show rows; the cursor stays on its step."""
        self.times, self._rows = times, {row.id: row for row in times.rows}
        self.set_ids(list(self._rows))
        self.invalidate()

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        assert self.times is not None
        return times_strip(
            self._rows[placed.row_id], self.times, width, ink(self), glyphs(self),
            is_cursor=placed.is_cursor, has_focus=placed.is_focused,
        )  # fmt: skip


class TimesScreen(RunTableScreen, inherit_bindings=False):
    """A run's steps on one scale of time."""

    BINDINGS = keymap.bindings("times")

    def __init__(self, context: "MainContext", run_id: str) -> None:
        self._bars = TimesList()
        super().__init__(context, "times", self._bars)
        self._run = run_id
        self._shown: PipelineRun | None = None
        self._heads = ColumnHeader(self._draw_heads, key="times-heads")

    def table(self) -> Sequence[Widget]:
        return self._heads, self._bars

    def opened(self) -> None:
        super().opened()
        self._bars.put_cursor(self._main.widgets.pipeline.graph.cursor)
        self._read()
        self.set_interval(1.0, self._read)

    def _read(self) -> None:
        state = self._main.state
        run = state.runs.view(list(state.actions.values()), state.source.now(), self._run)
        if run is None:
            self.dismiss()
            return
        self._shown = run
        times = run_times(run, state.source.events(self._run, 0, _MOST_EVENTS), state.source.now())
        is_first = self._bars.times is None
        self._bars.show_times(times)
        if is_first and (cursor := self._main.widgets.pipeline.graph.cursor):
            self._bars.put_cursor(cursor)
        self.set_titles(f"{run.title}, when each step worked", glyphs(self).line(run.status))
        self._heads.refresh()
        self.describe_step()

    def _draw_heads(self, width: int) -> Strip:
        if self._bars.times is None:
            return Strip.blank(width)
        return times_head_strip(self._bars.times, width, ink(self), glyphs(self))

    def words(self) -> Content:
        cursor, run = self._bars.cursor, self._shown
        earlier = step_in_other_runs(self._main.state, run, cursor) if cursor and run is not None else ()
        return earlier_text(earlier, ink(self), glyphs(self))

    def hints(self) -> Sequence[tuple[str, str]]:
        return ("j k", "step"), ("enter", "its step"), ("esc", "back")
