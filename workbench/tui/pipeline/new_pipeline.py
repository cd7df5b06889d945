"""The dialog that makes a pipeline: of a template, or of the steps of the session on show.

Its files are written only by a key that came after exactly their diff was drawn.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from textual import on
from textual.containers import Horizontal
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.pipelines.draft_names import NAME_REMEDY, pipeline_name_refusal, step_name_refusal
from workbench.render import cells
from workbench.render.cells import Column
from workbench.text.human import counted
from workbench.tui.backend import error_text
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.arming import TOO_QUICK
from workbench.tui.places import place_key_id
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.dialog import ListDialog
from workbench.tui.widgets.line_view import LineView, RowList, RowPlacement
from workbench.tui.widgets.text_view import TextView
from workbench.views.new_pipeline import (
    KeptStep,
    NewPipelineDraft,
    NewPipelineRequest,
    NewPipelineRow,
    NewPipelineSource,
    WrittenPipeline,
)

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext

_COLORS: Final = {"+": "added", "-": "removed", "@": "info"}
_MOST_LEFT_OUT: Final = 2
_NAME_ROW: Final = ":name"
"""Of the pipeline's name, above the steps of a session. No step has a colon in its id."""
_NAME_CELLS: Final = 32
_OTHER_ROWS: Final = 12
"""Rows of the screen that the list never takes: the frame, the field, the words and the keys."""


def open_new_pipeline(context: "MainContext", session_id: str = "") -> None:
    """Open the dialog over a main screen, with the templates or the steps of a session."""

    def work() -> str:
        source = context.backend.runs.new_pipeline_source(session_id)
        context.call_from_thread(lambda: context.app.push_screen(NewPipelineScreen(context, source)))
        return ""

    context.tasks.file(work)


class SourceList(RowList):
    """The templates, or the name and the steps of a session with a mark before those that are kept."""

    def __init__(self, source: NewPipelineSource) -> None:
        super().__init__(key="new-pipeline-rows")
        name_row = NewPipelineRow(
            id=_NAME_ROW, kind="pipeline", about="its name, and that of its file", name=source.name
        )
        self.rows = {row.id: row for row in ((name_row,) if source.session_id else ()) + source.rows}
        self.names = {row.id: row.name for row in self.rows.values()}
        """What each row is called now."""
        self.left_out: frozenset[str] = frozenset()
        self._has_marks = bool(source.session_id)

    @property
    def kept(self) -> tuple[KeptStep, ...]:
        """Return the steps that are not left out, with their names."""
        left_out = self.left_out | {_NAME_ROW}
        return tuple(KeptStep(row_id, name) for row_id, name in self.names.items() if row_id not in left_out)

    def set_name(self, row_id: str, name: str) -> None:
        """Give a row another name."""
        self.names[row_id] = name
        self.invalidate()

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        row, colours, signs = self.rows[placed.row_id], ink(self), glyphs(self)
        is_kept = row.id not in self.left_out
        bar = signs.of("cursor") if placed.is_cursor else " "
        labels = self.names if self._has_marks else {row_id: row_id for row_id in self.rows}
        mark = signs.of("taken" if is_kept else "left") if row.id != _NAME_ROW else " "
        name = Content.styled(
            labels[row.id], colours.of("foreground" if is_kept else "faint", bold=row.id == _NAME_ROW)
        )
        columns = [
            Column(content=Content.styled(bar + mark * self._has_marks, colours.of("info")), gap=0),
            Column(content=name, width=min(_NAME_CELLS, max(map(len, labels.values())))),
            Column(content=Content.styled(row.kind, colours.of("muted")), width=8 if self._has_marks else 1),
            Column(content=cells.safe_content(signs.line(row.about)), grows=True, least=10),
        ]
        style = colours.cursor(has_focus=placed.is_focused) if placed.is_cursor else None
        return cells.row_strip(columns, width, style, glyphs=signs)


class DraftView(TextView):
    """The files that would be written, as a diff."""

    def __init__(self) -> None:
        super().__init__(key="new-pipeline-diff")
        self.draft: NewPipelineDraft | None = None

    def show_draft(self, draft: NewPipelineDraft | None) -> None:
        self.draft = draft
        self.on_width(self.width)
        self.scroll_to_line(0)

    def lines_for(self, width: int) -> list[Content]:
        colours = ink(self)
        return [
            row
            for line in (self.draft.diff if self.draft else ())
            for row in cells.wrap_code(
                [cells.safe_content(line, colours.of(_COLORS.get(line[:1], "muted")))],  # type: ignore[arg-type]
                max(20, width - 1),
            )
        ]


class NewPipelineScreen(ListDialog, inherit_bindings=False):
    """The rows to choose from, then the diff of what was chosen."""

    BINDINGS = keymap.bindings("new-pipeline")
    LEAVES = "new-pipeline.leave"
    DECIDES = True

    def __init__(self, context: "MainContext", source: NewPipelineSource) -> None:
        self._rows, self._diff = SourceList(source), DraftView()
        super().__init__("new-pipeline", self._rows)
        self._main, self._source = context, source
        self._words, self._keys = Static(id="new-pipeline-words"), Static(id="new-pipeline-keys")
        self._label = Static(" name   ", id="new-pipeline-label")
        self._input = Input(id="new-pipeline-input", select_on_focus=False, compact=True)
        self._input.cursor_blink = False
        self._field = Horizontal(self._label, self._input, id="new-pipeline-field")
        self._request: NewPipelineRequest | None = None
        self._refusal = ""
        """Why the name in the field cannot be taken."""

    def compose_box(self) -> Iterable[Widget]:
        yield self._rows
        yield self._diff
        yield self._field
        yield self._words
        yield self._keys

    def opened(self) -> None:
        self._diff.display = self._field.display = False
        title = "A pipeline of this session" if self._source.session_id else "A new pipeline"
        self.set_titles(title, "nothing is written yet")
        self._rows.set_ids(list(self._rows.rows))
        self._rows.put_cursor(self._source.rows[0].id)
        super().opened()
        self.fill()

    @property
    def is_diff(self) -> bool:
        """Return whether the diff is on show."""
        return self._diff.draft is not None

    @property
    def moved_view(self) -> LineView:
        return self._diff if self.is_diff else self._rows

    @property
    def decided(self) -> Hashable:
        return self._diff.draft

    @property
    def is_naming(self) -> bool:
        """Return whether the field for a name is open."""
        return bool(self._field.display)

    def reaches_key(self, key_id: str) -> bool:
        return (not self.is_naming or key_id == self.LEAVES) and super().reaches_key(key_id)

    def row_moved(self, message: RowList.Moved) -> None:
        del message
        self.fill()

    def fill(self) -> None:
        self._rows.styles.height = max(1, min(len(self._rows.rows), self.size.height - _OTHER_ROWS))
        colours, width = ink(self), max(20, self._keys.size.width or self.size.width - 8)
        words = cells.wrap_plain_text(glyphs(self).line(self._refusal or self._sentence()), width - 1)
        shade = colours.of("failed" if self._refusal else "muted")
        self._words.update(Content("\n").join(Content(" ") + line.stylize(shade) for line in words))
        self._keys.update(self.hint_row(self._hints(), width))
        self.call_after_refresh(self.note_drawn)

    def _sentence(self) -> str:
        if self.is_naming:
            return f"A name for {self._named}. {NAME_REMEDY}"
        if self._diff.draft is not None:
            count = counted(len(self._diff.draft.files), "file")
            return f"a a writes {count} exactly as shown."
        if not self._source.session_id:
            name = self._rows.names[self._rows.cursor or self._source.rows[0].id]
            return f"{name}.yaml: a file with comments that teach; its agents come with it as personas."
        left = self._source.left_out
        more = f" and {len(left) - _MOST_LEFT_OUT} more" if len(left) > _MOST_LEFT_OUT else ""
        rest = f"   Not steps: {'; '.join(left[:_MOST_LEFT_OUT])}{more}." if left else ""
        return f"{len(self._rows.kept)} of {len(self._source.rows)} steps, one after the other.{rest}"

    def _hints(self) -> list[tuple[str, str]]:
        if self.is_naming:
            return [("enter", "rename"), ("esc", "back, the name stays")]
        if self.is_diff:
            return [("a a", "write it"), ("J K", "scroll"), ("esc", "back to the list")]
        space = [("space", "leave out")] if self._source.session_id else []
        return [
            ("enter", "show the file"), *space, ("e", "rename"), ("j k", "row"),
            ("esc", "back"),
        ]  # fmt: skip

    # --- what keys ask for ----------------------------------------------------------------------------

    def toggle(self) -> None:
        """Leave the step under the cursor out, or keep it again."""
        step = self._rows.cursor
        if self.is_diff or not self._source.session_id or step in (None, _NAME_ROW):
            self.say("Only steps of a session can be left out.")
            return
        self._rows.left_out ^= {step}
        self._rows.invalidate()
        self._rows.move(1)
        self.fill()

    def edit_name(self) -> None:
        """Open the field with the name of the row under the cursor."""
        row_id = self._rows.cursor
        if self.is_diff or row_id is None:
            self.say("esc goes back to the list, where e renames.")
            return
        self._arming.disarm()
        self._field.display = True
        self._input.value = self._rows.names[row_id]
        self._input.cursor_position = len(self._input.value)
        self._input.focus()
        self.fill()

    @property
    def _named(self) -> str:
        """Return what the row under the cursor names."""
        return "the step" if self._names_step else "the pipeline"

    @property
    def _names_step(self) -> bool:
        return bool(self._source.session_id) and self._rows.cursor != _NAME_ROW

    @on(Input.Changed)
    def _typed(self, message: Input.Changed) -> None:
        message.stop()
        self._refusal = ""
        self.fill()

    @on(Input.Submitted)
    def _entered(self, message: Input.Submitted) -> None:
        message.stop()
        row_id, name = self._rows.cursor, message.value.strip()
        if row_id is None:
            return
        others = {self._rows.names[step.id] for step in self._source.rows if step.id != row_id}
        self._refusal = (
            step_name_refusal(name, others)
            if self._names_step
            else pipeline_name_refusal(name, self._source.used_names)
        )
        if self._refusal:
            self.fill()
            return
        self._rows.set_name(row_id, name)
        self._close_field()

    @on(RowList.Clicked)
    def _clicked(self, message: RowList.Clicked) -> None:
        message.stop()
        if self.is_naming:
            self._close_field()

    def _close_field(self) -> None:
        self._field.display, self._refusal = False, ""
        self._rows.focus()
        self.fill()

    def show_file(self) -> None:
        """Show the files of what is chosen, as a diff."""
        if self.is_diff:
            self.say("a a writes it.")
            return
        request, app = self._chosen(), self._main.app
        self._request = request

        def work() -> None:
            try:
                draft = self._main.backend.runs.draft_pipeline(request)
            except Exception as error:  # noqa: BLE001 whatever a service says is told, nothing is hidden
                app.call_from_thread(self.say, error_text(error))
                return
            app.call_from_thread(self._show, draft)

        self.run_worker(
            work, group="new-pipeline", description="draft a pipeline", thread=True, exit_on_error=False,
            exclusive=True,
        )  # fmt: skip

    def _chosen(self) -> NewPipelineRequest:
        names = self._rows.names
        if self._source.session_id:
            return NewPipelineRequest(
                name=names[_NAME_ROW], session_id=self._source.session_id, steps=self._rows.kept
            )
        template = self._rows.cursor or self._source.rows[0].id
        return NewPipelineRequest(name=names[template], template=template)

    def _show(self, draft: NewPipelineDraft | None) -> None:
        if not self.is_attached:
            return
        self._arming.disarm()
        self._rows.display, self._diff.display = draft is None, draft is not None
        self.box.set_class(draft is not None, "-diff")
        self._diff.show_draft(draft)
        self.follow(self.moved_view)
        self.moved_view.focus()
        self.set_titles(self._titled(draft), "nothing is written yet")
        self.call_after_refresh(self.fill)

    def _titled(self, draft: NewPipelineDraft | None) -> str:
        if draft is not None:
            return draft.files[-1]
        return "A pipeline of this session" if self._source.session_id else "A new pipeline"

    def write(self) -> None:
        """Write what is shown, once it was drawn for long enough to be read."""
        draft, request = self._diff.draft, self._request
        if draft is None or request is None:
            self.say("enter shows the file first.")
            return
        if not self.end_arming():
            self.say(TOO_QUICK.format(key="a"))
            return
        main, users = self._main, keymap.user_keymap(self)
        self.dismiss()

        def work() -> str:
            written = main.backend.runs.write_pipeline(request, draft)
            main.tasks.read_pipelines()
            return _written_text(written, users)

        main.tasks.file(work)

    def scroll(self, rows: int) -> None:
        """Scroll the diff."""
        self.moved_view.scroll_to_line(self.moved_view.first_line + rows)

    def leave(self) -> None:
        if self.is_naming:
            self._close_field()
        elif self.is_diff:
            self._show(None)
        else:
            self.dismiss()


def _written_text(written: WrittenPipeline, users: Mapping[str, str]) -> str:
    """Return what was written, and the keys that trust it and start it."""
    queue, answer, start = (
        keymap.own_key(keymap.key_of(key_id), users)
        for key_id in (place_key_id("approvals"), "trust.answer", "pipeline.launch")
    )
    trust = f"{queue} and {answer} trust" if written.asks_for_trust else "workbench trust trusts"
    return f"Wrote {written.file.rpartition('/')[2]}. {trust} it, then {start} starts it."
