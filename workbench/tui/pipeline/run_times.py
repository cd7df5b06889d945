"""The times of a run over the main screen: a bar for each step, live while the run goes on."""

from typing import TYPE_CHECKING, Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.strip import Strip
from textual.widgets import Static

from workbench.render.cells import key_hint, key_hint_row, wrap_code
from workbench.render.run_times import earlier_text, times_head_strip, times_strip
from workbench.tui import keymap
from workbench.tui.pipeline.run_results import other_runs_of
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.line_view import RowList, RowPlacement
from workbench.tui.widgets.pane_frame import ColumnHeader
from workbench.views.pipeline import PipelineRun
from workbench.views.run_times import EarlierStep, RunTimes, StepTimes, earlier_steps, run_times

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.state import ScreenState

_MOST_EVENTS: Final = 50_000
"""Events of a run of which the times are read."""
_MOST_RUNS: Final = 10
_MOST_WORDS: Final = 3


def step_in_other_runs(state: "ScreenState", run: PipelineRun, step_id: str) -> tuple[EarlierStep, ...]:
    """Return how a step went in the other runs of its pipeline that are listed, nearest first."""
    rows = [(state.runs.rows[key], key) for key in other_runs_of(state, run)[: 2 * _MOST_RUNS]]
    found = ((row, state.source.run_step(key, step_id)) for row, key in rows)
    return earlier_steps(((row, step) for row, step in found if step is not None), _MOST_RUNS)


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


class TimesScreen(Dialog, inherit_bindings=False):
    """A run's steps on one scale of time."""

    AUTO_FOCUS = ""
    BINDINGS = keymap.bindings("times")

    def __init__(self, context: "MainContext", run_id: str) -> None:
        super().__init__("times")
        self._main, self._run = context, run_id
        self._shown: PipelineRun | None = None
        self._list = TimesList()
        self._heads = ColumnHeader(self._draw_heads, key="times-heads")
        self._words, self._keys = Static(id="times-words"), Static(id="times-keys")

    def compose(self) -> ComposeResult:
        with Vertical(id="times-box"):
            yield self._heads
            yield self._list
            yield self._words
            yield self._keys

    def on_mount(self) -> None:
        self._list.focus()
        self.follow(self._list)
        self._list.put_cursor(self._main.widgets.pipeline.graph.cursor)
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
        is_first = self._list.times is None
        self._list.show_times(times)
        if is_first and (cursor := self._main.widgets.pipeline.graph.cursor):
            self._list.put_cursor(cursor)
        self.set_titles(f"{run.title}, when each step worked", glyphs(self).line(run.status))
        self._heads.refresh()
        self._say()

    def _draw_heads(self, width: int) -> Strip:
        if self._list.times is None:
            return Strip.blank(width)
        return times_head_strip(self._list.times, width, ink(self), glyphs(self))

    def _say(self) -> None:
        colours, cursor = ink(self), self._list.cursor
        run = self._shown
        earlier = step_in_other_runs(self._main.state, run, cursor) if cursor and run is not None else ()
        width = max(20, self._words.size.width - 2)
        lines = wrap_code([earlier_text(earlier, colours, glyphs(self))], width)[:_MOST_WORDS]
        self._words.update(Content("\n").join([Content(" ") + line for line in lines]))
        pairs = (("j k", "step"), ("enter", "its step"), ("esc", "back"))
        parts = [key_hint(keys, words, colours) for keys, words in pairs]
        self._keys.update(key_hint_row(parts, max(8, self._keys.size.width)))

    @on(RowList.Moved)
    def _moved(self, message: RowList.Moved) -> None:
        message.stop()
        self._say()

    @on(RowList.Opened)
    def _opened(self, message: RowList.Opened) -> None:
        message.stop()
        self.open_step()

    # --- what keys ask for ----------------------------------------------------------------------

    def move(self, rows: int) -> None:
        """Go to another step."""
        self._list.move(rows)

    def move_to_end(self, *, is_last: bool) -> None:
        """Go to the first or the last step."""
        self._list.move_to_end(is_last=is_last)

    def open_step(self) -> None:
        """Go to the step in the graph of the run on show."""
        step = self._list.cursor
        self.dismiss()
        self._main.go_to(4)
        self._main.widgets.pipeline.graph.put_cursor(step)
