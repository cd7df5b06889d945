"""The launch form: a pipeline, its input, and the dry run of what it would do and be granted.

A run begins only by a key that came after exactly its dry run had stood on the screen.
"""

# A run begins only behind its dry run. The launch form's enter counts for exactly the pipeline, input and
# grants whose dry run has stood on the screen for 300 ms; grants are taken one by one and none is taken
# beforehand. A file is read anew when the run begins, as on the command line.

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from textual import events, on
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.domain.values import PIPELINE_FOLDERS
from workbench.render import cells
from workbench.render.cells import key_hint, wrap_code
from workbench.render.launch_plan import LaunchRows, plan_columns, prompt_lines
from workbench.text.human import counted
from workbench.text.width import cell_width
from workbench.tui.backend import BackendError, error_text
from workbench.tui.external_editor import edit_in_external_editor
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.arming import TOO_QUICK
from workbench.tui.pipeline.graph_view import GraphView
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.dialog import ListDialog
from workbench.tui.widgets.line_view import LineView, RowList, RowPlacement
from workbench.tui.widgets.pane_frame import call_after_layout
from workbench.views.pipeline import (
    LaunchPlan,
    LaunchRequest,
    PipelineChoice,
    PipelineRun,
    planned_run,
    used_by_text,
    with_input,
)

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.pipeline.graph_picture import GraphPicture

_NO_PIPELINES: Final = f"No pipeline was found in {', '.join(PIPELINE_FOLDERS)}: M makes one."
_MOST_CHOICES: Final = 6
_MOST_WORDS: Final = 4
_BOX_CELLS: Final = 132
"""The most cells of the box, as the stylesheet has it."""
_EDGE_CELLS: Final = 6
"""Cells of its frame and of the blanks inside."""
_PADDED_FROM: Final = 30
"""Rows of the screen from which the box has blanks inside its frame."""
_PROMPT_ROWS: Final = 3
"""Rows of what the marked step does, with the blank one above it."""
_PROMPT_INDENT: Final = 4
_CHOICE_CELLS: Final = 20
"""Cells of a pipeline's row that are neither its name nor what it is for, at most."""
_MIN_GRAPH_ROWS: Final = 6
"""Rows that a graph needs, with the blank one above it."""


def open_launch(context: "MainContext", file: str = "") -> None:
    """Open the form over a main screen; a named file, or the pipeline of the run on show, has the cursor."""
    choices = [*context.backend.runs.pipeline_choices()]
    if file and file not in [choice.file for choice in choices]:
        choices.insert(0, PipelineChoice(name=file.rpartition("/")[2], file=file, place=file))
    if not choices:
        context.say(_NO_PIPELINES)
        return
    run = context.widgets.pipeline.run
    first = file or next(
        (choice.file for choice in choices if run is not None and choice.name == run.name), choices[0].file
    )
    context.app.push_screen(LaunchScreen(context, choices, first))


class PipelineChoiceList(RowList):
    """The pipelines."""

    def __init__(self, choices: Sequence[PipelineChoice]) -> None:
        super().__init__(key="launch-choices")
        self.choices = {choice.file: choice for choice in choices}

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        rows = LaunchRows(
            ink(self), glyphs(self), width, is_cursor=placed.is_cursor, has_focus=placed.is_focused
        )
        return rows.choice(self.choices[placed.row_id], list(self.choices.values()))


class PlanList(RowList):
    """The dry run: what is wrong, steps, grants, each under a caption."""

    def __init__(self) -> None:
        super().__init__(key="launch-plan")
        self.plan: LaunchPlan | None = None
        self._input = ""

    def fill_in(self, text: str) -> None:
        """Show the steps with an input that was typed."""
        if text != self._input:
            self._input = text
            self.invalidate()

    def show_plan(self, plan: LaunchPlan | None) -> None:
        """Show a plan; None while it is read."""
        self.plan = plan
        self.set_ids(_plan_row_ids(plan))
        if self.cursor not in self.ids:
            self.put_cursor(next((key for key in self.ids if not key.startswith("-")), None))
        self.invalidate()

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        plan, (kind, _, position) = self.plan, placed.row_id.partition(":")
        rows = LaunchRows(
            ink(self), glyphs(self), width, is_cursor=placed.is_cursor, has_focus=placed.is_focused
        )
        if plan is None:
            return rows.caption("The pipeline is being read.", "")
        match kind:
            case "step":
                return rows.step(
                    with_input(plan.steps[int(position)], self._input), plan_columns(plan.steps, width)
                )
            case "grant":
                return rows.grant(plan.grants[int(position)], plan.grants)
            case "wrong":
                return rows.finding(plan.findings[int(position)])
            case "-blank":
                return rows.blank()
            case _:
                return rows.caption(*_plan_captions(plan)[kind])


def _plan_row_ids(plan: LaunchPlan | None) -> list[str]:
    if plan is None:
        return ["-reading"]
    row_ids: list[str] = []
    for kind, rows in (("wrong", plan.findings), ("step", plan.steps), ("grant", plan.grants)):
        if rows:
            row_ids += [f"-blank:{kind}"] if row_ids else []
            row_ids += [f"-{kind}", *(f"{kind}:{index}" for index in range(len(rows)))]
    return row_ids


def _plan_captions(plan: LaunchPlan) -> Mapping[str, tuple[str, str]]:
    steps, taken = len(plan.steps), len(plan.taken)
    asking = f"{plan.asking} may ask you" if plan.asking else "none asks you"
    return {
        "-wrong": ("What is wrong", counted(len(plan.findings), "problem")),
        "-step": (
            "What it would do",
            f"dry run, nothing has run   {counted(steps, 'step')}, {asking}",
        ),
        "-grant": (
            "What agents may do without asking",
            f"{taken} of {len(plan.grants)} granted for this run",
        ),
    }


class LaunchScreen(ListDialog, inherit_bindings=False):
    """The form over the main screen."""

    BINDINGS = keymap.bindings("launch")
    LEAVES = "launch.leave"
    DECIDES = True

    def __init__(self, context: "MainContext", choices: Sequence[PipelineChoice], first: str) -> None:
        self._choices, self._plan_list = PipelineChoiceList(choices), PlanList()
        super().__init__("launch", self._choices)
        self._main, self._file = context, first
        self._body, self._graph = Vertical(id="launch-body"), GraphView(key="launch-graph")
        self._graph.can_focus, self._graph.display = False, False
        self._graph.set_rows(None, is_tall=True)
        self._graph.notes_of = self._step_notes
        self._prompt = Static(id="launch-prompt")
        self._graph_of: object = None
        self._without_graph: tuple[LaunchPlan | None, Size] | None = None
        """The dry run and the room in which its graph would be cut."""
        self._input = Input(id="launch-input", select_on_focus=False, compact=True)
        self._input.cursor_blink = False
        self._label, self._words = Static(" input   ", id="launch-label"), Static(id="launch-words")
        self._keys = Static(id="launch-keys")
        self._said, self._is_starting = "", False
        self._asked_without_input = ""
        """The file of the pipeline whose missing input the last enter asked about."""
        self._whole: str | None = None
        """The input where it has several lines; the field shows the first."""

    def compose_box(self) -> Iterable[Widget]:
        yield self._choices
        with Horizontal(id="launch-row"):
            yield self._label
            yield self._input
        with self._body:
            yield self._plan_list
            yield self._prompt
            yield self._graph
        yield self._words
        yield self._keys

    def opened(self) -> None:
        self.set_titles("Start a pipeline", counted(len(self._choices.choices), "pipeline"))
        self._choices.set_ids(list(self._choices.choices))
        self._choices.focus()
        self._choices.put_cursor(self._file)
        call_after_layout(self, self._look_at_graph)
        self._fit()
        self._read()

    def resized(self) -> None:
        self._fit()
        super().resized()

    def _fit(self) -> None:
        most = _MOST_CHOICES if self.size.height >= 30 else _MOST_CHOICES // 2
        self._choices.styles.height = min(len(self._choices.choices), most)
        self.box.styles.padding = (1, 2) if self.size.height >= _PADDED_FROM else (0, 1)

    def _fit_graph(self) -> None:
        """Draw what would run below the dry run, where all of it leaves enough room."""
        plan, rows, room = self.plan, len(self._plan_list.ids), self._body.size
        self._prompt.display = plan is not None and bool(plan.steps) and room.height - rows >= _PROMPT_ROWS
        above = rows + _PROMPT_ROWS * int(self._prompt.display)
        is_shown = plan is not None and bool(plan.plans) and room.height - above >= _MIN_GRAPH_ROWS
        self._graph.display = is_shown and (plan, room) != self._without_graph
        self._plan_list.styles.height = rows if self._graph.display or self._prompt.display else "1fr"
        if plan is None or not self._graph.display:
            return
        if (plan.plans, room) != self._graph_of:
            self._graph_of = plan.plans, room
            self._graph.styles.margin = (1, 0, 0, 0)
            self._graph.show(planned_run(plan), {})
        self._center_graph()

    def _center_graph(self) -> None:
        """Move the picture to the middle of its room; it fits there as it did in all of the room."""
        picture, margin = self._graph.picture, self._graph.styles.margin
        if picture is None or not self._graph.is_fitted or margin.left:
            return
        spare = self._body.size.width - picture.width
        if spare > 1:
            self._graph.styles.margin = (1, 0, 0, spare // 2)

    def _step_notes(self, run: PipelineRun) -> Mapping[str, tuple[str, ...]]:
        """Return who does each step and whether it may ask, for its box."""
        del run
        steps = self.plan.steps if self.plan is not None else ()
        return {step.id: (step.who, "may ask you" if step.is_asking else "asks nothing") for step in steps}

    def on_graph_picture_moved(self, message: "GraphPicture.Moved") -> None:
        """Look at a graph that was drawn after its room was laid out."""
        message.stop()
        self._look_at_graph()

    def _look_at_graph(self) -> None:
        self._hide_cut_graph()
        if self._graph.display:
            self._center_graph()

    def _hide_cut_graph(self) -> None:
        """Draw no graph rather than a part of one, or one in which steps share a cell.

        Nothing is known of it until the picture was made for the room that it has.
        """
        if not (self._graph.display and self._graph.is_fitted):
            return
        size, whole, picture = self._graph.size, self._graph.virtual_size, self._graph.picture
        places = picture.places if picture is not None else ()
        is_crowded = len({(place.sign_x, place.y) for place in places}) < len(places)
        is_cut = whole.height > size.height or whole.width > size.width
        if is_cut or is_crowded:
            self._without_graph = (self.plan, self._body.size)
            self._fit_graph()

    # --- the dry run ----------------------------------------------------------------------------

    def _read(self) -> None:
        """Read the pipeline under the cursor in a thread; the form is usable meanwhile."""
        file, backend, app = self._file, self._main.backend, self._main.app
        self._plan_list.show_plan(None)
        self._arming.disarm()
        self.fill()

        def work() -> None:
            try:
                plan = backend.runs.launch_plan(file)
            except Exception as error:  # noqa: BLE001 whatever a service says is told, nothing is hidden
                plan = LaunchPlan(name=file, file=file, why_not=error_text(error))
            app.call_from_thread(self._planned, file, plan)

        self.run_worker(
            work, group="launch-plan", description="read a pipeline", thread=True, exit_on_error=False,
            exclusive=True,
        )  # fmt: skip

    def _planned(self, file: str, plan: LaunchPlan) -> None:
        if file == self._file and self.is_attached:
            hint = f"what it works on; @FILE reads it from a file   {plan.input_hint}".rstrip()
            self._input.placeholder = glyphs(self).line(hint)
            self._show(plan)

    def _show(self, plan: LaunchPlan) -> None:
        self._plan_list.show_plan(plan)
        self.fill()

    @property
    def plan(self) -> LaunchPlan | None:
        """Return the dry run on show; None while it is read."""
        return self._plan_list.plan

    @property
    def input_text(self) -> str:
        """Return the input as it would be given."""
        return self._input.value if self._whole is None else self._whole

    @property
    def decided(self) -> tuple[object, ...] | None:
        return None if self.plan is None else (self._file, self.plan, self.input_text, self._said)

    # --- words ----------------------------------------------------------------------------------

    def fill(self) -> None:
        """Say what keeps the run from beginning, or the row under the cursor in full; then the keys."""
        self._plan_list.fill_in(self.input_text)
        width, colours, plan = max(20, self._line_cells - 2), ink(self), self.plan
        why_not = plan.why_not if plan is not None else ""
        text, shade = self._row_in_full(), "muted"
        if self._said or why_not:
            text, shade = self._said or f"No run can start: {why_not}.", "failed"
        lines = wrap_code([cells.safe_content(text, colours.of(shade), colours)], width)[:_MOST_WORDS]  # type: ignore[arg-type]
        self._words.update(Content("\n").join([Content(" ") + line for line in lines]))
        self._keys.update(self._key_line(plan))
        self._prompt.update(self._prompt_text(width))
        self.call_after_refresh(self._fit_graph)
        self.call_after_refresh(self.note_drawn)

    @property
    def _line_cells(self) -> int:
        """Return the cells of a line in the box; before it is laid out about as many."""
        return self._keys.size.width or min(self.size.width, _BOX_CELLS) - _EDGE_CELLS

    def _prompt_text(self, width: int) -> Content:
        """Return what the marked step does; of a row that is no step nothing."""
        plan, (kind, _, position) = self.plan, (self._plan_list.cursor or "").partition(":")
        if plan is None or kind != "step":
            return Content("")
        step = with_input(plan.steps[int(position)], self.input_text)
        lines = prompt_lines(step, width - _PROMPT_INDENT, ink(self), glyphs(self))
        return Content("\n").join([Content(" " * _PROMPT_INDENT) + line for line in lines])

    def _row_in_full(self) -> str:
        plan, (kind, _, position) = self.plan, (self._plan_list.cursor or "").partition(":")
        is_whole = kind == "step" and plan is not None and self._says_whole(plan, int(position))
        if plan is None or not position or is_whole or self.focused is not self._plan_list:
            chosen = self._choices.choices[self._file]
            # The row of the pipeline says what it is for, unless it is cut there.
            taken = cell_width(chosen.name) + _CHOICE_CELLS
            is_cut = taken + cell_width(chosen.description) > self._line_cells
            about = chosen.description if is_cut else ""
            project = plan.project if plan is not None else ""
            return "   ".join(word for word in (about, chosen.place or chosen.file, project) if word)
        if kind == "step":
            step = with_input(plan.steps[int(position)], self.input_text)
            does = "" if self._prompt.display else step.does
            parts = (step.id, step.who, step.asks, step.facts, step.cannot, does)
        elif kind == "grant":
            grant = plan.grants[int(position)]
            parts = (grant.pattern, f"for {grant.whose}", grant.origin, grant.refused)
        else:
            finding = plan.findings[int(position)]
            parts = (finding.place, finding.message)
        return "   ".join(part for part in parts if part)

    def _says_whole(self, plan: LaunchPlan, position: int) -> bool:
        """Return whether the row of a step and what it does below the list say all that is known of it."""
        columns, step = plan_columns(plan.steps, self._line_cells), plan.steps[position]
        has_facts = bool(columns.facts) or not step.facts
        return self._prompt.display and not step.cannot and has_facts

    def _key_line(self, plan: LaunchPlan | None) -> Content:
        colours = ink(self)
        if self.focused is self._input:
            pairs = [("enter", "done"), ("ctrl+o", "editor"), ("esc", "back to the form")]
        else:
            has_grants = plan is not None and bool(plan.grants)
            pairs = [("space", "grant")] if has_grants else []
            pairs += [("tab", "field"), ("i", "input"), ("j k", "row")]
            pairs += [("T", "all")] if has_grants else []
            pairs += [("esc", "back, nothing is run")]
        first = None
        if self.focused is not self._input:
            can_start = plan is not None and not plan.why_not and not self._is_starting
            off = Content.styled("enter start", colours.of("faint"))
            first = key_hint("enter", "start", colours) if can_start else off
        return self.hint_row(pairs, self._line_cells, first=first)

    def _tell(self, text: str) -> None:
        self._said = text
        self.fill()

    # --- what keys and mouse ask for ----------------------------------------------------------------

    def reaches_key(self, key_id: str) -> bool:
        is_typed = self.focused is self._input and key_id not in _KEYS_IN_FIELD
        return not is_typed and super().reaches_key(key_id)

    def row_moved(self, message: RowList.Moved) -> None:
        row_id = message.row_id
        self._said = ""
        if message.view is self._choices and row_id and row_id != self._file:
            self._file = row_id
            self._read()
        else:
            kind, _, position = (row_id or "").partition(":")
            if self.plan is not None and kind == "step":
                self._graph.put_cursor(self.plan.steps[int(position)].id)
            self.fill()

    @on(RowList.Clicked)
    def _clicked(self, message: RowList.Clicked) -> None:
        message.stop()
        if message.view is self._plan_list and message.row_id.startswith("grant:") and message.column < 7:
            self.toggle()

    def on_descendant_focus(self) -> None:
        """Say the keys of what has the focus."""
        self.fill()

    @on(Input.Changed)
    def _typed(self, message: Input.Changed) -> None:
        message.stop()
        self._whole, self._said = None, ""
        self._arming.disarm()
        self.fill()

    @on(Input.Submitted)
    def _entered(self, message: Input.Submitted) -> None:
        message.stop()
        self._plan_list.focus()

    def on_paste(self, event: events.Paste) -> None:
        """Take several pasted lines as the input; they never start anything."""
        if self.focused is self._input and "\n" in event.text.strip():
            event.stop()
            event.prevent_default()
            self._take(event.text)

    def _take(self, text: str) -> None:
        lines = text.strip("\n").splitlines() or [""]
        with self._input.prevent(Input.Changed):
            self._input.value = lines[0] + (f"  (and {len(lines) - 1} lines more)" if len(lines) > 1 else "")
        self._whole = text if len(lines) > 1 else None
        self._arming.disarm()
        self.fill()

    @property
    def moved_view(self) -> RowList:
        return self._choices if self.focused is self._choices else self._plan_list

    def scroll_plan(self, rows: int) -> None:
        """Scroll the dry run."""
        self._plan_list.scroll_to_line(self._plan_list.first_line + rows)

    def to_field(self, step: int) -> None:
        """Go to another field."""
        fields: list[LineView | Input] = [self._choices, self._input, self._plan_list]
        index = fields.index(self.focused) if self.focused in fields else 0  # type: ignore[arg-type]
        fields[(index + step) % len(fields)].focus()

    def write(self) -> None:
        """Go to the input."""
        self._input.focus()

    def edit(self) -> None:
        """Write the input in an editor."""
        data, main = self.input_text.encode("utf-8", "surrogatepass"), self._main
        try:
            saved = edit_in_external_editor(main.app, main.backend, "input.md", data)
        except BackendError as error:
            self._tell(str(error))
            return
        if saved is not None:
            self._take(saved.decode("utf-8", "replace").rstrip("\n"))

    def toggle(self) -> None:
        """Grant what is under the cursor, or leave it; what is refused says why."""
        plan, (kind, _, position) = self.plan, (self._plan_list.cursor or "").partition(":")
        if plan is None or kind != "grant" or self.focused is not self._plan_list:
            self._tell("Nothing that may be granted is under the cursor.")
            return
        grant = plan.grants[int(position)]
        if grant.refused:
            self._tell(f"{grant.pattern} is never granted: {grant.refused}.")
            return
        self._said = ""
        self._show(plan.with_grant_toggled(grant.pattern))

    def toggle_all(self) -> None:
        """Grant everything that may be, or nothing."""
        if self.plan is not None and self.plan.grants:
            self._show(self.plan.with_all_grants_toggled())

    def start(self) -> None:
        """Begin the run as it stands on the screen."""
        plan = self.plan
        if plan is None or self._is_starting:
            return
        if plan.why_not:
            self._tell(f"No run can start: {plan.why_not}.")
            return
        if not self.end_arming():
            self._tell(TOO_QUICK.format(key="enter"))
            return
        if self._asks_for_input(plan):
            return
        self._is_starting = True
        wish = LaunchRequest(file=plan.file, input=self.input_text, grants=plan.taken)
        self._main.tasks.begin_run(lambda: self._main.backend.runs.launch(wish), self._begun)

    def _asks_for_input(self, plan: LaunchPlan) -> bool:
        """Ask once where steps use an input and none was typed; return whether this press asked."""
        if not plan.input_steps or self.input_text.strip() or self._asked_without_input == plan.file:
            return False
        self._asked_without_input = plan.file
        self._tell(
            f"No input, and {used_by_text(plan.input_steps)}: enter again starts without, i writes one."
        )
        return True

    def _begun(self, run_id: str, why_not: str) -> None:
        self._is_starting = False
        if why_not:
            self._main.say(why_not, is_error=True)
            if self.is_attached:
                self._tell(why_not)
            return
        if self.is_attached:
            self.dismiss()
        self._main.show_run(run_id)

    def leave(self) -> None:
        if self.focused is self._input:
            self._choices.focus()
        else:
            self.dismiss()


_KEYS_IN_FIELD: Final = frozenset(
    {"launch.leave", "launch.field-next", "launch.field-previous", "launch.edit"}
)
