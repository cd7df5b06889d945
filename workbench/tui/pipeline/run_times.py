"""The times of a run as a page: a bar for each step, live while the run lasts, and one step in words."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from workbench.domain.events import Event
from workbench.domain.rows import Call
from workbench.render import cells
from workbench.render.run_times import step_times_lines, times_head_strip, times_legend, times_strip
from workbench.text.human import countdown_text
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.footer_keys import footer_keys
from workbench.tui.list_page.screen import ListScreen
from workbench.tui.pipeline.run_comparison import other_runs_of
from workbench.tui.pipeline.run_table import show_in_graph
from workbench.tui.places import place_number
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.line_view import RowList, RowPlacement
from workbench.tui.widgets.pane_frame import ColumnHeader, PaneTitle
from workbench.tui.widgets.text_view import TextView
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
_OTHER_ROWS: Final = 5
"""Rows of the screen that are neither steps nor one step's time: header, titles, scale and footer."""
_STEP_FROM: Final = 8
"""Rows from which the time of the step under the cursor is shown below the bars."""
_STEP_ROWS: Final = 14
"""Rows at most that this keeps from the bars."""
_ENDED_FROM: Final = 70
"""Cells of the screen from which the title says how the run ended and how long it took."""
_LEGEND_FROM: Final = 110
"""Cells of the screen from which the lines of the bars are explained."""


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

    @property
    def row_under_cursor(self) -> StepTimes | None:
        """Return the step under the cursor."""
        return self._rows.get(self.cursor or "")

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        assert self.times is not None
        return times_strip(
            self._rows[placed.row_id], self.times, width, ink(self), glyphs(self),
            is_cursor=placed.is_cursor, has_focus=placed.is_focused,
        )  # fmt: skip


class StepTimesView(TextView, can_focus=False):
    """The time of the step under the cursor in words, and how it went before."""

    def __init__(self) -> None:
        super().__init__(key="times-step")
        self._wrapped: Callable[[int], list[Content]] = lambda _: []

    def show(self, wrapped: Callable[[int], list[Content]]) -> None:
        """Show lines; `wrapped` returns them for a width in cells."""
        self._wrapped = wrapped
        self.on_width(self.width)

    def lines_for(self, width: int) -> list[Content]:
        return self._wrapped(max(20, width))


class TimesScreen(ListScreen, inherit_bindings=False):
    """A page below the header: a run's steps on one scale of time over the time of one step."""

    PLACE = place_number("pipeline")
    BINDINGS = keymap.bindings("times")
    BOX_CLASSES = ""
    SAYS_EXTENT = False

    def __init__(self, context: "MainContext", run_id: str) -> None:
        self._bars = TimesList()
        super().__init__("times", context, self._bars)
        self._run = run_id
        self._shown: PipelineRun | None = None
        self._title = PaneTitle("Pipeline", self.PLACE)
        self._title.set_focused(True)
        self._title.follow(self._bars)
        self._heads = ColumnHeader(self._draw_heads, key="times-heads")
        self._step_title, self._step = PaneTitle("", key="times-step-title"), StepTimesView()
        self._step_title.follow(self._step)
        self._keys = Footer()

    def compose_box(self) -> Iterable[Widget]:
        yield self._title
        yield self._heads
        yield self._bars
        yield self._step_title
        yield self._step
        yield self._keys

    def opened(self) -> None:
        super().opened()
        self._read()
        self.set_interval(1.0, self._read)

    def _read(self) -> None:
        state = self._main.state
        run = state.runs.view(list(state.actions.values()), state.source.now(), self._run)
        if run is None:
            self.dismiss()
            return
        is_first, self._shown = self._shown is None, run
        times = run_times(run, state.source.events(self._run, 0, _MOST_EVENTS), state.source.now())
        self._bars.show_times(times)
        if is_first and (cursor := self._main.widgets.pipeline.graph.cursor):
            self._bars.put_cursor(cursor)
        self._heads.refresh()
        self.fill()

    def fill(self) -> None:
        """Give each part its rows, and show the step under the cursor."""
        run, times = self._shown, self._bars.times
        if run is None or times is None:
            return
        rows = self.size.height - _OTHER_ROWS
        has_step = rows >= _STEP_FROM
        self._step.display = self._step_title.display = has_step
        most = max(rows // 2, rows - _STEP_ROWS)
        self._bars.styles.height = min(len(times.rows), most) if has_step else "1fr"
        muted = ink(self).of("muted")
        facts = cells.safe_content(f"{run.title}  when each step worked", muted)
        ended = f"{'' if run.finished_at is None else run.status}  {countdown_text(run.seconds)}".strip()
        right = ended if self.size.width >= _ENDED_FROM else ""
        self._title.show(facts, cells.safe_content(right, muted))
        self._show_step(times, run)
        self._keys.show(footer_keys("times", self), None)

    def _show_step(self, times: RunTimes, run: PipelineRun) -> None:
        row, colours, signs = self._bars.row_under_cursor, ink(self), glyphs(self)
        if row is None:
            self._step.show(lambda _: [])
            return
        earlier = step_in_other_runs(self._main.state, run, row.id)
        sign = Content.styled(f"{signs.of(row.sign)} {row.word}", colours.sign(row.sign))
        legend = times_legend(colours, signs) if self.size.width >= _LEGEND_FROM else Content("")
        self._step_title.show(sign, legend, row.name)
        self._step.show(lambda width: step_times_lines(row, times, earlier, width, ink(self), glyphs(self)))

    def _draw_heads(self, width: int) -> Strip:
        if self._bars.times is None:
            return Strip.blank(width)
        return times_head_strip(self._bars.times, width, ink(self), glyphs(self))

    def row_moved(self, message: RowList.Moved) -> None:
        del message
        self._step.scroll_to_line(0)
        self.fill()

    def row_opened(self, row_id: str) -> None:
        del row_id
        self.open_step()

    def open_step(self) -> None:
        """Go to the step in the graph of the run on show."""
        step = self._bars.cursor
        self.dismiss()
        show_in_graph(self._main, step)
