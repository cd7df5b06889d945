"""The dialog that makes a pipeline: of a template, or of the steps of the session on show.

Its files are written only by a key that came after exactly their diff was drawn.
"""

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from workbench.render import cells
from workbench.render.cells import Column
from workbench.text.human import counted
from workbench.tui.backend import error_text
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.arming import TOO_QUICK
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.dialog import ListDialog
from workbench.tui.widgets.line_view import LineView, RowList, RowPlacement
from workbench.tui.widgets.text_view import TextView
from workbench.views.new_pipeline import (
    NewPipelineDraft,
    NewPipelineRequest,
    NewPipelineSource,
)

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext

_COLORS: Final = {"+": "added", "-": "removed", "@": "info"}
_MOST_LEFT_OUT: Final = 2


def open_new_pipeline(context: "MainContext", session_id: str = "") -> None:
    """Open the dialog over a main screen, with the templates or the steps of a session."""

    def work() -> str:
        source = context.backend.runs.new_pipeline_source(session_id)
        context.call_from_thread(lambda: context.app.push_screen(NewPipelineScreen(context, source)))
        return ""

    context.tasks.file(work)


class SourceList(RowList):
    """The templates, or the steps of a session with a mark before those that are kept."""

    def __init__(self, source: NewPipelineSource) -> None:
        super().__init__(key="new-pipeline-rows")
        self.rows = {row.id: row for row in source.rows}
        self.left_out: frozenset[str] = frozenset()
        self._has_marks = bool(source.session_id)

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        row, colours, signs = self.rows[placed.row_id], ink(self), glyphs(self)
        is_kept = row.id not in self.left_out
        bar = signs.of("cursor") if placed.is_cursor else " "
        name = Content.styled(row.id, colours.of("foreground" if is_kept else "faint"))
        mark = f"{signs.of('taken' if is_kept else 'left')} " if self._has_marks else ""
        columns = [
            Column(content=Content.styled(f"{bar}{mark}", colours.of("info")), gap=0),
            Column(content=name, width=max(map(len, self.rows))),
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
        self._request = NewPipelineRequest()

    def compose_box(self) -> Iterable[Widget]:
        yield self._rows
        yield self._diff
        yield self._words
        yield self._keys

    def opened(self) -> None:
        self._diff.display = False
        title = "A pipeline of this session" if self._source.session_id else "A new pipeline"
        self.set_titles(title, "nothing is written yet")
        self._rows.set_ids(list(self._rows.rows))
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

    def fill(self) -> None:
        colours, width = ink(self), max(20, self._keys.size.width or self.size.width - 8)
        words = cells.wrap_plain_text(glyphs(self).line(self._sentence()), width - 1)
        self._words.update(
            Content("\n").join(Content(" ") + line.stylize(colours.of("muted")) for line in words)
        )
        self._keys.update(self.hint_row(self._hints(), width))
        self.call_after_refresh(self.note_drawn)

    def _sentence(self) -> str:
        if self._diff.draft is not None:
            count = counted(len(self._diff.draft.files), "file")
            return f"a a writes {count} exactly as shown; no file is replaced."
        if not self._source.session_id:
            return "A file with comments that teach; its agents come with it as personas."
        kept = len(self._rows.rows) - len(self._rows.left_out)
        left = self._source.left_out
        more = f" and {len(left) - _MOST_LEFT_OUT} more" if len(left) > _MOST_LEFT_OUT else ""
        rest = f"   Not steps: {'; '.join(left[:_MOST_LEFT_OUT])}{more}." if left else ""
        return f"{kept} of {len(self._rows.rows)} steps, one after the other.{rest}"

    def _hints(self) -> list[tuple[str, str]]:
        if self.is_diff:
            return [("a a", "write it"), ("J K", "scroll"), ("esc", "back to the list")]
        space = [("space", "leave out")] if self._source.session_id else []
        return [("enter", "show the file"), *space, ("j k", "row"), ("esc", "back, nothing is written")]

    # --- what keys ask for ----------------------------------------------------------------------------

    def toggle(self) -> None:
        """Leave the step under the cursor out, or keep it again."""
        step = self._rows.cursor
        if self.is_diff or not self._source.session_id or step is None:
            self.say("Only steps of a session can be left out.")
            return
        self._rows.left_out ^= {step}
        self._rows.invalidate()
        self._rows.move(1)
        self.fill()

    def show_file(self) -> None:
        """Show the files of what is chosen, as a diff."""
        if self.is_diff:
            self.say("a a writes it.")
            return
        if self._source.session_id:
            kept = tuple(step for step in self._rows.rows if step not in self._rows.left_out)
            self._request = NewPipelineRequest(session_id=self._source.session_id, steps=kept)
        else:
            self._request = NewPipelineRequest(template=self._rows.cursor or "")
        request, app = self._request, self._main.app

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

    def _show(self, draft: NewPipelineDraft | None) -> None:
        if not self.is_attached:
            return
        self._arming.disarm()
        self._rows.display, self._diff.display = draft is None, draft is not None
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
        draft = self._diff.draft
        if draft is None:
            self.say("enter shows the file first.")
            return
        if not self.end_arming():
            self.say(TOO_QUICK.format(key="a"))
            return
        request, main = self._request, self._main
        self.dismiss()

        def work() -> str:
            file = main.backend.runs.write_pipeline(request, draft)
            return f"Wrote {file}. L starts it, once the folder is trusted with it."

        main.tasks.file(work)

    def scroll(self, rows: int) -> None:
        """Scroll the diff."""
        self.moved_view.scroll_to_line(self.moved_view.first_line + rows)

    def leave(self) -> None:
        if self.is_diff:
            self._show(None)
        else:
            self.dismiss()
