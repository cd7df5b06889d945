"""The pipeline pane: the run's title and counts, its graph, and the step under the cursor."""

# Ending a run is typed out (`cancel`), not a second press: it withdraws what waits for everybody.

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget

from workbench.domain.machines import LOST
from workbench.domain.values import PIPELINE_FOLDERS
from workbench.render import cells
from workbench.text.failures import failure_fact
from workbench.text.human import countdown_text, duration_text
from workbench.tui import render_context
from workbench.tui.approvals.choice_keys import choice_of_letters, label_of_letter, letter_of
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.arming import TOO_QUICK
from workbench.tui.pane import (
    KeysChanged,
    LineWanted,
    Pane,
    PipelineModel,
    StatusMessage,
    StepWanted,
)
from workbench.tui.pipeline.run_actions import ask_run
from workbench.tui.places import place_number
from workbench.tui.widgets.line_view import RowList
from workbench.tui.widgets.pane_frame import StableStatic
from workbench.views.status_icons import refused_calls_text

if TYPE_CHECKING:
    from workbench.tui.keyboard.arming import PaneArming
    from workbench.tui.pipeline.gate_answer import GateAnswer
    from workbench.tui.pipeline.graph_picture import GraphPicture
    from workbench.tui.pipeline.graph_view import GraphView
    from workbench.tui.pipeline.run_list import RunList
    from workbench.tui.pipeline.step_parts import StepParts
    from workbench.tui.tools.call_detail import StepView
    from workbench.views.detail_pages import DetailPage
    from workbench.views.pipeline import PipelineRun, PipelineStep
    from workbench.views.step_outcomes import EndedSteps

_DETAIL_FROM: Final = 20
"""Rows of the pane from which a step is shown in full below the graph."""
_TWO_COLUMNS_FROM: Final = 140
"""Cells of the pane from which all parts of the step are seen, one of them in full."""
_SENTENCE_FROM: Final = 6
"""Rows from which the graph spares one for what the cursor's step needs and feeds."""
_TALL_FROM: Final = 30
"""Rows of the pane above which boxes have lines for what came of their steps."""
_LEAST_STEP: Final = 9
"""Rows that the step in full has below any graph."""
_GHOST_FROM: Final = 12
"""Rows of a pane without a run from which a pipeline is drawn as it would look."""
_OVERVIEW_FROM: Final = 60
"""Drawn steps from which an overview of one row stands under the title."""
_NO_RUNS: Final = "No pipeline runs."
_IS_LIST: Final = "The runs of all sessions are listed: enter opens one, * goes back."
_NO_RUNS_AT_MOMENT: Final = "No pipeline had run."


class PipelinePane(Pane):
    """Place `pipeline`."""

    PLACE: ClassVar[int] = place_number("pipeline")
    NAME: ClassVar[str] = "Pipeline"
    SCOPES: ClassVar[tuple[str, ...]] = ("choice", "gate", "runs", "step", "pipeline", "list")
    BINDINGS: ClassVar = [*keymap.bindings(*SCOPES)]
    MARKS = (
        "On a step",
        (
            ("2nd try", "which attempt it is"),
            ("contract", "its output was checked: ✓ as agreed, × not"),
            ("1 refused", "calls of its agent that a policy or a person refused"),
            ("← name", "the step that it may send the run back to"),
        ),
    )
    ONE_ORDER = "Steps stand where the pipeline puts them; v draws them another way."

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self._graph: GraphView | None = None
        self._step: StepView | None = None
        self._below: Horizontal | None = None
        """The row of the step in full and its other parts."""
        self._parts: StepParts | None = None
        self._answer: GateAnswer | None = None
        self._every_run: RunList | None = None
        self._step_results: EndedSteps | None = None
        self._read_from: object = None
        self._detail: DetailPage | None = None
        self._top = StableStatic(id="pipeline-top", markup=False)
        self._words = StableStatic(id="pipeline-words", markup=False)
        self._shown = PipelineModel()
        self._is_full = False
        self._has_overview: bool | None = None
        self._find = ""
        self._wanted: str | None = None

    def compose_body(self) -> Iterable[Widget]:
        if self._graph is not None:
            yield self._graph
        yield self._words
        if self._below is not None:
            yield self._below
        if self._every_run is not None:
            yield self._every_run

    @property
    def step(self) -> "StepView":
        """Return the step in full, made when there is first room for one."""
        if self._step is None:
            from workbench.tui.pipeline.step_parts import StepParts
            from workbench.tui.tools.call_detail import StepView

            self._step, self._parts = StepView(key="pipeline-step"), StepParts(key="pipeline-parts")
            is_mounted = self._words.is_attached
            self._below = Horizontal(*(() if is_mounted else (self._step, self._parts)), id="pipeline-below")
            self._below.display = self._step.display = self._parts.display = False
            self._step.is_past = self.is_past
            if is_mounted:
                # Both are mounted at once: the step may get the focus before the row is composed.
                self.mount(self._below, after=self._words)
                self._below.mount(self._step, self._parts)
            self._step.show(self._detail)
        return self._step

    @property
    def has_step(self) -> bool:
        """Return whether a step is shown in full."""
        return self._below is not None and bool(self._below.display)

    @property
    def every_run(self) -> "RunList":
        """Return the list of all runs, made when it is first shown."""
        if self._every_run is None:
            from workbench.tui.pipeline.run_list import RunList

            self._every_run = RunList(key="pipeline-runs")
            if self._words.is_attached:
                self.mount(self._every_run, after=self._words)
        return self._every_run

    @property
    def is_list(self) -> bool:
        """Return whether the runs of all sessions are listed instead of the graph of one."""
        return self._shown.every_run is not None

    @property
    def answer(self) -> "GateAnswer":
        """Return the question of a gate, made when the first one is opened."""
        if self._answer is None:
            from workbench.tui.pipeline.gate_answer import GateAnswer

            self._answer = GateAnswer(self)
            self.mount(self._answer, after=self._words)
        return self._answer

    @property
    def is_answering(self) -> bool:
        """Return whether a gate is open, so that keys answer it."""
        return self._answer is not None and self._answer.detail is not None

    @property
    def graph(self) -> "GraphView":
        """Return the graph; what lays graphs out is loaded when there is one to draw."""
        if self._graph is None:
            from workbench.tui.pipeline.graph_view import GraphView

            self._graph = GraphView(key="pipeline-graph")
            self._graph.display, self._graph.notes_of = False, self._results
            if self._words.is_attached:
                self.mount(self._graph, before=self._words)
        return self._graph

    def _results(self, run: "PipelineRun") -> Mapping[str, tuple[str, ...]]:
        """Return what came of the steps of a run; a replay may have gone back, and its source is another."""
        from workbench.views.step_outcomes import EndedSteps

        source = self.main.state.source
        if self._read_from is not source:
            self._read_from, self._step_results = source, EndedSteps(source.run_events)
        assert self._step_results is not None
        return self._step_results.of(run)

    @property
    def focus_view(self) -> Widget:
        if self.is_list:
            return self.every_run
        return self.step if self._is_full or self._graph is None else self._graph

    @property
    def run(self) -> "PipelineRun | None":
        """Return the run on show."""
        return self._shown.run

    # --- what is shown --------------------------------------------------------------------------

    def show(self, view: PipelineModel) -> None:
        was_list, self._shown = self.is_list, view
        if view.run is None or self.is_list:
            self._is_full = False
        had_focus = self.has_pane_focus
        if view.every_run is not None:
            if self.is_answering:
                self.answer.leave()
            self.every_run.show_runs(view.every_run)
        self.fit()
        if was_list != self.is_list and had_focus:
            self.focus_view.focus()
        if view.run is not None or self._graph is not None:
            self.graph.show(view.run, view.before)
        if self.is_answering:
            self.answer.update_gate()
        self._say()
        self._want(is_anew=True)

    def show_step(self, detail: "DetailPage | None") -> None:
        """Show the step under the cursor in full, as it was asked for."""
        self._detail = detail
        if self._step is not None:
            self._step.show(detail)
            self._show_parts()

    def turn_part(self, parts: int) -> None:
        """Show the next (1) or previous (-1) part of the step."""
        self.step.turn(parts)
        self._show_parts()

    def _show_parts(self) -> None:
        """Show the other parts of the step next to the open one, where there is room for them."""
        if self._parts is None or self._step is None:
            return
        section = self._step.section
        self._parts.show(self._detail, section.name if section is not None else "")
        self._parts.display = self._parts.has_parts and self.size.width >= _TWO_COLUMNS_FROM

    def fit(self) -> None:
        """Give each part its room."""
        if self.is_list or self._every_run is not None:
            self.every_run.display = self.is_list
        if self.is_list:
            parts = (self._graph, self._below, self._words, self._top)
            for part in (part for part in parts if part is not None):
                part.display = False
            return
        has_run = self._shown.run is not None
        height = self.size.height - 1
        has_step = has_run and not self.is_answering and (self._is_full or height >= _DETAIL_FROM)
        if has_step or self._step is not None:
            self._fit_step(is_shown=has_step)
        if has_run or self._graph is not None:
            self.graph.display = has_run and not self._is_full
            self._fit_graph(height, has_step=has_step)
        has_top = has_run and not self._is_full and (self.has_overview or not self.title_row.display)
        self.put(self._top, self.graph if has_run else self._words, is_shown=has_top)
        self._words.display = not has_run or (not self._is_full and height >= _SENTENCE_FROM)
        self._words.styles.height = 1 if has_run else "1fr"
        if self._answer is not None:
            self._answer.fit(self.size.width, height)

    def _fit_step(self, *, is_shown: bool) -> None:
        """Show the step below the graph, which leaves it at least its share, or hide it."""
        self.step.styles.height = "1fr"
        self.step.display = is_shown
        if self._below is not None:
            self._below.display = is_shown
        self._show_parts()

    def _fit_graph(self, height: int, *, has_step: bool) -> None:
        """Give the graph the rows that its picture needs, at most those that it was fitted to."""
        self.graph.set_may_scroll(may_scroll=height >= _DETAIL_FROM or self.is_answering)
        if not has_step or self._is_full:
            self.graph.set_rows(None)
            self.graph.styles.height = "1fr"
            return
        most = max(1, height - max(_LEAST_STEP, height * 9 // 20) - 1)
        self.graph.set_rows(most, is_tall=height > _TALL_FROM)
        self.graph.styles.height = max(1, min(most, self.graph.needed_rows + 1))

    def on_resize(self, event: events.Resize) -> None:
        """Arrange anew."""
        del event
        self.fit()
        self._say()
        self._want(is_anew=False)

    def tick(self, now: int) -> None:
        """Count on: the screen shows the run anew each second while it moves."""
        del now
        if self._answer is not None:
            self._answer.show_title()

    # --- words ----------------------------------------------------------------------------------

    def _say(self) -> None:
        if not self.is_attached:
            return
        run = self._shown.run
        if self._shown.every_run is not None:
            self._show_title_of_all(self._shown.every_run)
            return
        if run is None:
            self._say_nothing()
            return
        self._show_title(run)
        if self._top.parent is not None and self._top.display:
            self._top.update(
                self._overview() if self.has_overview else Content(" ") + self._title_facts(run, 12)
            )
        if self._words.display:
            self._words.update(self._under())

    def _say_nothing(self) -> None:
        from workbench.render.list_rows import empty_page_lines

        ink, count = render_context.ink(self), None if self.is_past else self._shown.found
        found = f"{count} found." if count else f"No pipeline was found in {', '.join(PIPELINE_FOLDERS)}."
        wanted = [("pipeline.launch", "start one")] if count else [("pipeline.new", "make one")]
        keys = keymap.own_keys(self, [] if self.is_past or count is None else wanted)
        heading = _NO_RUNS_AT_MOMENT if self.is_past else _NO_RUNS
        sentence, width, glyphs = "" if count is None else found, self.size.width, render_context.glyphs(self)
        if self.size.height < _GHOST_FROM:
            rows = empty_page_lines(heading, sentence, keys, width, ink, glyphs)
        else:
            from workbench.render.empty_place import empty_place_lines
            from workbench.render.pipeline import PIPELINE_GHOST

            height = self.size.height - 1
            rows = empty_place_lines(PIPELINE_GHOST, heading, sentence, keys, width, height, ink, glyphs)
        self._words.update(Content("\n").join(rows))
        self.set_title(Content.styled(self._folded_words(), ink.of("muted")), Content(" "))

    def _folded_words(self) -> str:
        """Return what the title says where there is no room under it."""
        if not self.is_folded:
            return " "
        if self.is_past:
            return "none had run"
        count = self._shown.found
        if count is None:
            return "none runs"
        return f"none runs, {f'{count} found, L starts' if count else 'none found, M makes'} one"

    def _show_title_of_all(self, runs: "Sequence[PipelineRun]") -> None:
        ink, glyphs = render_context.ink(self), render_context.glyphs(self)
        count = f"{len(runs)} run{'' if len(runs) == 1 else 's'}"
        waiting = sum(run.waiting for run in runs)
        parts = [Content.styled(f"all sessions  {count}", ink.of("muted"))]
        if waiting:
            parts.append(Content.styled(f"{glyphs.of('waiting')} {waiting}", ink.sign("waiting")))
        self.set_title(Content("  ").join(parts), Content(" "))

    def _show_title(self, run: "PipelineRun") -> None:
        self.set_title(self._title_facts(run), Content(" "))

    def _title_facts(self, run: "PipelineRun", more_room: int = 0) -> Content:
        from workbench.render.pipeline import run_title_facts

        ink, glyphs = render_context.ink(self), render_context.glyphs(self)
        to_go, width = self._seconds_to_go(), self.size.width + more_room
        return run_title_facts(run, to_go, width, ink, glyphs, whose=self._shown.whose)

    def _seconds_to_go(self) -> float | None:
        from workbench.graph.run_graph import seconds_to_go

        drawing, paint = self.graph.drawing, self.graph.paint
        if drawing is None or paint is None:
            return None
        return seconds_to_go(paint, drawing.folded, drawing.layout.graph, self._shown.before)

    @property
    def has_overview(self) -> bool:
        """Return whether the overview is shown: by itself in a large graph, else when it is asked for."""
        drawing = self.graph.drawing
        if self._has_overview is not None:
            return self._has_overview
        return drawing is not None and drawing.names is None and len(drawing.index) > _OVERVIEW_FROM

    def _overview(self) -> Content:
        from workbench.graph.navigation import overview_lines, overview_viewport

        drawing, ink = self.graph.drawing, render_context.ink(self)
        if drawing is None:
            return Content("")
        (line,) = overview_lines(
            drawing.layout, self.graph.facts, is_ascii=render_context.glyphs(self).is_ascii
        ) or ("",)  # fmt: skip
        offset, size = self.graph.scroll_offset, self.graph.size
        first, last, _, _ = overview_viewport(
            drawing.layout,
            drawing.picture,
            (offset.x, offset.x + size.width),
            (offset.y, offset.y + size.height),
        )
        room = max(1, self.size.width - 2)
        start = max(0, min(first - room // 4, len(line) - room))
        overview = Content.styled(line[start : start + room], ink.of("muted"))
        return Content(" ") + overview.stylize(ink.reverse("info"), first - start, last + 1 - start)

    def _under(self) -> Content:
        """Return what the cursor's step needs and feeds, and what is hidden."""
        from workbench.graph.navigation import hidden_edges_note, needs_and_feeds_text

        drawing, ink = self.graph.drawing, render_context.ink(self)
        index = drawing.index.get(self.graph.cursor or "") if drawing is not None else None
        if drawing is None or index is None:
            return Content("")
        graph = drawing.layout.graph
        about, ways = self._about(), needs_and_feeds_text(drawing.layout, index)
        # A step that was skipped says which one it needs, and so do its ways.
        named = self._name_under_cursor() if drawing.names is not None else ""
        words = [*self._newer(), named, about if about.removeprefix("it ") not in ways else "", ways]
        note = hidden_edges_note(drawing.layout)
        words += [f"{note}, t shows" if note else "", *graph.problems[:1]]
        text = "   ".join(word for word in words if word)
        said = Content(" ") + cells.safe_content(text, ink.of("muted"), ink)
        said = cells.shorten_line(said, max(1, self.size.width - 1), render_context.glyphs(self))
        return self._with_legend(said) if drawing.picture.kind == "boxes" and self.graph.may_scroll else said

    def _newer(self) -> list[str]:
        keys = keymap.own_keys(self, [("pipeline.run-newer", f"{self._shown.newer} runs now")])
        return [f"{key} {words}" for key, words in keys] if self._shown.newer else []

    def _with_legend(self, said: Content) -> Content:
        """Return a row with what the frames and lines mean at its right end, where there is room."""
        from workbench.tui.pipeline.graph_painter import legend

        ink, glyphs = render_context.ink(self), render_context.glyphs(self)
        words = legend(ink, glyphs)
        gap = self.size.width - said.cell_length - words.cell_length - 1
        return said + Content(" " * gap) + words if gap >= 2 else said

    def _name_under_cursor(self) -> str:
        """Return the name of the cursor's step with its state, for a picture without names."""
        step = self.graph.step_under_cursor()
        if step is None:
            return ""
        took = f" {duration_text(step.seconds)}" if step.completed_at is not None and step.seconds else ""
        return f"{step.name} · {step.status[1]}{took}"

    def _about(self) -> str:
        step = self.graph.step_under_cursor()
        if step is None:
            return ""
        if step.place:
            return step.place
        seconds = self._shown.before.get(step.id)
        if step.state in ("pending", "ready") and seconds:
            return f"about {countdown_text(seconds)}"
        # What the step in full says below is not said twice.
        reason = "" if self.has_step else _failure_reason(step)
        words = (step.asks or reason, refused_calls_text(step.refused))
        return ", ".join(word for word in words if word)

    # --- the cursor -----------------------------------------------------------------------------

    def on_graph_picture_moved(self, message: "GraphPicture.Moved") -> None:
        """Say what is under the cursor."""
        message.stop()
        if self.is_answering:
            self.answer.update_gate()
        self.fit()
        self._say()
        self._want(is_anew=False)
        self.post_message(KeysChanged())

    def on_graph_picture_opened(self, message: "GraphPicture.Opened") -> None:
        """Open what was clicked twice."""
        message.stop()
        self.open_row()

    def _want(self, *, is_anew: bool) -> None:
        wanted = self.graph.cursor if self.has_step and not self.is_list else None
        if wanted is not None and (is_anew or wanted != self._wanted):
            self.post_message(StepWanted(wanted))
        self._wanted = wanted

    @property
    def cursor_step(self) -> "PipelineStep | None":
        """Return the step under the cursor."""
        return self._graph.step_under_cursor() if self._graph is not None else None

    @property
    def gate(self) -> str | None:
        """Return the queue's row of the gate, or of the item, under the cursor."""
        graph = self._graph
        paint = graph.paint if graph is not None else None
        item = paint.item(graph.cursor or "") if graph is not None and paint is not None else None
        step = self.cursor_step
        return item.action_id if item is not None else step.action_id if step is not None else None

    @property
    def _is_gate(self) -> bool:
        action = self.main.state.actions.get(self.gate or "")
        return action is not None and action.kind == "gate"

    def open_gate(self) -> None:
        """Open the choices of the gate under the cursor; what waits otherwise is answered in the queue."""
        if self._is_gate:
            self._is_full = False
            self.answer.open()
        else:
            self.go_to_row()

    def go_to_row(self) -> None:
        """Go to what waits under the cursor in the queue."""
        action_id = self.gate
        if self.is_answering:
            self.answer.leave()
        if action_id is not None:
            self.main.show_action(action_id)

    @property
    def standing(self) -> "PaneArming":
        """Return how long the open gate has stood under the answering keys."""
        return self.answer.standing

    @property
    def is_armed(self) -> bool:
        return self.standing.is_armed

    @property
    def subject(self) -> tuple[object, ...]:
        return self._answer.subject if self._answer is not None else ()

    def why_early(self, key_id: str) -> str:
        key = keymap.key_of(key_id)
        if not key.answers or self.answer.standing.is_armed_for_key:
            return ""
        return TOO_QUICK.format(key=keymap.own_key(key, keymap.user_keymap(self)))

    def shows_part(self, key_id: str) -> bool:
        return (key_id == "gate.answer" or bool(letter_of(key_id))) and self.answer.shows_part()

    def was_early(self, key_id: str) -> None:
        del key_id
        self.standing.count_again()

    def show_waiting(self, key_id: str, words: str) -> None:
        del key_id
        if self._answer is not None:
            self._answer.show_waiting(words)

    def uncovered(self) -> None:
        """Begin to count: a dialog that was over it is gone."""
        if self.is_answering:
            self.answer.uncovered()

    # --- list keys ------------------------------------------------------------------------------

    def move(self, rows: int) -> None:
        if self.is_list:
            super().move(rows)
            return
        if self._is_full:
            self.step.scroll_to_line(self.step.first_line + rows)

    def move_to_end(self, *, is_last: bool) -> None:
        if self.is_list:
            super().move_to_end(is_last=is_last)
            return
        if self._is_full:
            self.step.scroll_to_line(self.step.line_count if is_last else 0)
        else:
            self.graph.go_to_end(is_last=is_last)

    def scroll_half(self, direction: int) -> None:
        if self.is_list:
            super().scroll_half(direction)
            return
        view = self.step if self.has_step else self.graph
        view.scroll_to_line(view.first_line + direction * max(1, view.size.height // 2))

    def move_to_problem(self, step: int) -> None:
        if self.is_list:
            self._move_to_problem_run(step)
            return
        if not self.graph.go_to_problem(step):
            self.post_message(StatusMessage("Nothing has failed, asks or runs here."))

    def _move_to_problem_run(self, step: int) -> None:
        runs, cursor = list(self._shown.every_run or ()), self.every_run.cursor
        index = next((n for n, run in enumerate(runs) if run.id == cursor), 0)
        ahead = runs[index + 1 :] if step > 0 else runs[:index][::-1]
        found = next((run for run in ahead if run.waiting or run.status == "failed"), None)
        if found is None:
            self.post_message(StatusMessage("No other run waits or has failed here."))
        else:
            self.every_run.put_cursor(found.id)

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        """Open the run that was clicked twice."""
        message.stop()
        self.open_row()

    def open_row(self) -> None:
        if self.is_list:
            if self.every_run.cursor is not None:
                self.main.show_session(self.every_run.cursor)
                self.main.toggle_all_sessions("pipeline")
            return
        if self._shown.run is not None and self._shown.whose:
            self.main.show_session(self._shown.run.id)
        elif self.gate is not None:
            self.main.show_action(self.gate)
        elif self.cursor_step is not None:
            self.post_message(StepWanted(self.graph.cursor, is_opened=not self.has_step))
            self.set_full(is_full=self.has_step or self._is_full)

    def open_step(self) -> None:
        """Give the step the whole pane where even a large pane has no room for it beside the graph."""
        if not self.has_step and self._shown.run is not None:
            self.set_full(is_full=True)

    def set_full(self, *, is_full: bool) -> None:
        """Give the step all of the pane, or the graph its place back."""
        self._is_full = is_full
        self.fit()
        # What is hidden loses the focus, and with it the pane its keys.
        self.focus_view.focus()
        self._say()
        self.post_message(KeysChanged())

    @property
    def is_full(self) -> bool:
        """Return whether the step has all of the pane."""
        return self._is_full

    def copy_text(self) -> str:
        if self.is_list:
            runs = {run.id: run.title for run in self._shown.every_run or ()}
            return runs.get(self.every_run.cursor or "", "")
        return self.step.text() if self._is_full else self.graph.cursor or ""

    def ask_filter(self) -> None:
        if self.is_list:
            self.post_message(StatusMessage("The list of runs has no filter: 5 finds any of them."))
            return
        self._ask_find()

    def _ask_find(self) -> None:
        """Ask for what to find: in the part that is shown in full, else among the steps."""
        section = self.step.section if self._is_full else None
        title = f"Find in {section.name}" if section is not None else "Find a step"
        purpose = "find-text" if section is not None else "find"
        again = "nothing typed finds the last again" if self._find and section is None else ""
        self.post_message(LineWanted(self, purpose, title, again, does="find"))

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        if purpose == "cancel":
            if is_final and text.strip().casefold() == "cancel":
                ask_run(self, "cancel")
            elif is_final:
                self.post_message(StatusMessage("Nothing was ended: the word is cancel."))
            return
        if purpose in ("artifact", "link"):
            if is_final and text:
                self.use_result(purpose, text)
            return
        if purpose == "find-text":
            if is_final and text and not self.step.find_next(text):
                self.post_message(StatusMessage(f"“{text}” is not in this part."))
            return
        is_again = is_final and not text
        text = self._find = text or self._find
        if not self.graph.find(text, is_again=is_again) and is_final and text:
            self.post_message(StatusMessage(f"No step has “{text}” in its name."))

    # --- keys -----------------------------------------------------------------------------------

    def scopes(self) -> tuple[str, ...]:
        """Return the scopes in force: those of an open gate, of the step while it has all of the pane."""
        if self.is_list:
            return ("runs", "list")
        if self.is_answering:
            return ("gate", "list")
        return ("step", "pipeline", "list") if self._is_full else ("pipeline", "list")

    def use_result(self, what: str, name: str = "") -> None:
        """Open an artifact of the step, or copy a link of the run; without a name the only one."""
        from workbench.tui.pipeline.run_artifacts import copy_link, open_artifact

        (open_artifact if what == "artifact" else copy_link)(self.main, name)

    def open_launch(self) -> None:
        """Open the form that starts a pipeline."""
        from workbench.tui.pipeline.launch_form import open_launch

        open_launch(self.main)

    def open_new(self, *, of_session: bool = False) -> None:
        """Open the dialog that makes a pipeline."""
        from workbench.tui.pipeline.new_pipeline import open_new_pipeline

        session = self.main.state.current if of_session else None
        open_new_pipeline(self.main, session.id if session is not None else "")

    def open_compare(self) -> None:
        """Show the run beside another run of its pipeline."""
        from workbench.tui.pipeline.run_comparison import open_compare

        open_compare(self.main)

    def open_times(self) -> None:
        """Show when each step of the run worked."""
        from workbench.tui.pipeline.run_times import open_times

        open_times(self.main)

    def ask_cancel(self) -> None:
        """Have the word typed that ends the run."""
        run = self._shown.run
        if run is not None:
            title, right = f"End {run.title}: type cancel", "what waits in it is withdrawn"
            self.post_message(LineWanted(self, "cancel", title, right, "end it", is_armed=True))

    def toggle_overview(self) -> None:
        """Show the overview, or hide it."""
        self._has_overview = not self.has_overview
        self.fit()
        self._say()

    def choice_of_letters(self) -> Mapping[str, str]:
        """Return the answers of the open gate by the letters of its file that give them here."""
        detail = self._answer.detail if self._answer is not None else None
        return choice_of_letters(detail, self.scopes(), keymap.user_keymap(self))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        letter = letter_of(str(parameters[0])) if action == "do" else ""
        return letter in self.choice_of_letters() if letter else super().check_action(action, parameters)

    def answer_with(self, letter: str) -> None:
        """Give the answer that the open gate has for a letter."""
        self.answer.actions.answer_with(letter, self.choice_of_letters()[letter])

    def label_of(self, key_id: str) -> str:
        if self.is_answering and self.answer.detail is not None and (letter := letter_of(key_id)):
            return label_of_letter(self.answer.detail, letter)
        if key_id == "list.open" and self.is_list:
            return "show it in all panes"
        if key_id == "list.filter":
            return "find"
        if key_id == "list.open" and self._shown.whose:
            return "show it in all panes"
        if key_id == "list.open" and self.gate is not None:
            return "its row"
        if key_id == "pipeline.answer" and self.gate is not None and not self._is_gate:
            return "to its row"
        if key_id == "gate.answer":
            return self.answer.label()
        return super().label_of(key_id)

    def why_no_run(self) -> str:
        """Return why there is nothing to do to a run; empty when one is shown."""
        if self.is_list:
            return _IS_LIST
        return _NO_RUNS if self._shown.run is None else ""

    def why_no_session(self) -> str:
        """Return why no pipeline can be made of a session; empty when one is shown."""
        return "" if self.main.state.current is not None else "No session is shown."

    def why_no_gate(self) -> str:
        """Return why there is no gate to answer; empty when one waits under the cursor."""
        return self.why_no_run() or ("" if self.gate is not None else "No gate waits under the cursor.")

    def why_no_parts(self) -> str:
        """Return why the parts of a step are not shown; empty when they are."""
        hint = "The parts of a step are shown when this pane is large: z."
        return self.why_no_run() or ("" if self.has_step else hint)

    def why_not_cancel(self) -> str:
        """Return why the run cannot be ended; empty when it can."""
        run = self._shown.run
        return (
            self.why_no_run()
            if run is None or run.finished_at is None
            else f"The run is {run.status} already."
        )

    def why_not_repeat(self) -> str:
        """Return why no step can run again; empty when one can."""
        run = self._shown.run
        if run is None or run.finished_at is not None or run.status == LOST:
            return self.why_no_run()
        return "The run is not over: a step can run again after that."

    def scroll_page(self, step: int) -> None:
        """Scroll a page of the graph, or items of an open fold, down (1) or up (-1)."""
        if not self.graph.scroll_items(step * 4):
            self.graph.scroll_to_line(self.graph.first_line + step * max(1, self.graph.size.height - 1))

    def toggle_fold(self) -> None:
        """Open or close the matrix or fold under the cursor."""
        if not self.graph.toggle_fold():
            self.post_message(StatusMessage("Nothing is folded under the cursor."))

    def toggle_follow(self) -> None:
        """Let the log, or else the cursor, follow the run, or stay."""
        if self.is_full:
            self.step.follows = not self.step.follows
            words = "The log follows." if self.step.follows else "The log stands still."
        else:
            is_on = self.graph.follow()
            words = "The cursor follows the run." if is_on else "The cursor stays where it is."
        self.post_message(StatusMessage(words))

    def change_zoom(self, step: int) -> None:
        """Show more (1) or fewer (-1) steps around the one in focus; else leave or show the overview."""
        if self.graph.focus_step is not None:
            self.graph.change_hops(step)
        elif (step < 0) != self.has_overview:
            self.toggle_overview()


def _failure_reason(step: "PipelineStep") -> str:
    """Return why a step failed, and that the run continues where it does."""
    reason = failure_fact(step.error) or step.error
    if step.state != "warned":
        return reason
    return f"failed, allowed: {reason}" if reason else "failed, allowed"
