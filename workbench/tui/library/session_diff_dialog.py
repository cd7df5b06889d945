"""Everything that a session changed, over the screen: its files, and the diff of the one under the cursor."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual import on
from textual.containers import Vertical
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from workbench.domain.rows import Session
from workbench.formats.session_diff import BINARY, FileDiff, SessionDiff
from workbench.render import cells
from workbench.render.cells import Column
from workbench.render.list_rows import line_counts
from workbench.text.human import counted, sentence
from workbench.text.safe import one_line
from workbench.tui.approvals.action_detail import DetailView, DetailViewState
from workbench.tui.keyboard import keymap
from workbench.tui.main.overlays import MinSizeDialog
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.line_view import RowList, RowPlacement
from workbench.views.action_detail import ActionDetail
from workbench.views.file_changes import FileDetail
from workbench.views.hunk_selection import HunkSelection
from workbench.views.sessions import session_title

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext

_CHANGE_WORDS = {"create": "created", "modify": "changed", "delete": "deleted", "rename": "renamed"}


def open_session_diff(context: "MainContext", session: Session) -> None:
    """Put the diff together in a thread and open the page of it, or say that there is nothing to see."""

    def work() -> str:
        changed = context.backend.session_diff(session.id)
        if not changed.files and not changed.outside:
            return "It changed no file that is recorded."
        context.call_from_thread(
            lambda: context.app.push_screen(SessionDiffDialog(session_title(session), changed))
        )
        return ""

    context.tasks.file(work)


class SessionDiffList(RowList):
    """The files that were changed."""

    def __init__(self) -> None:
        super().__init__(key="session-diff-list")
        self.rows: dict[str, FileDiff] = {}

    def show_rows(self, rows: Iterable[FileDiff]) -> None:
        self.rows = {row.path: row for row in rows}
        self.set_ids(list(self.rows), set(self.rows))

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        """Draw a row: file, lines, what happened to it."""
        row, colours, signs = self.rows[placed.row_id], ink(self), glyphs(self)
        bar = signs.of("cursor") if placed.is_cursor else " "
        moved = f"  from {one_line(row.old_path, 40)}" if row.change == "rename" else ""
        words = "binary" if BINARY in row.notes else f"{_CHANGE_WORDS[row.change]}{moved}"
        columns = [
            Column(content=Content.styled(bar, colours.of("info")), gap=0),
            Column(content=cells.safe_content(signs.target(row.path)), grows=True, least=16, cut="path"),
            Column(
                content=line_counts(row.added, row.removed, colours, signs), width=12, align="right", drop=1
            ),
            Column(content=Content.styled(words, colours.of("muted")), width=24, gap=2),
            Column(content=Content(" "), gap=0),
        ]
        style = colours.cursor(has_focus=placed.is_focused) if placed.is_cursor else None
        return cells.row_strip(columns, width, style, glyphs=signs)


class SessionDiffDialog(MinSizeDialog, inherit_bindings=False):
    """The files above, the diff of one of them below."""

    BINDINGS = keymap.bindings("session-diff")
    LEAVES = "session-diff.leave"

    def __init__(self, title: str, changed: SessionDiff) -> None:
        super().__init__("session-diff")
        self._title, self._changed = title, changed
        self._files = (*changed.files, *changed.outside)
        self._list, self._view = SessionDiffList(), DetailView(key="session-diff-detail")
        self._note = Static(id="session-diff-note")

    def compose_box(self) -> Iterable[Widget]:
        with Vertical(id="session-diff-box"):
            yield self._list
            yield self._note
            yield self._view

    def on_mount(self) -> None:
        added, removed = (sum(getattr(file, name) for file in self._files) for name in ("added", "removed"))
        signs = glyphs(self)
        counts = signs.line(f"{counted(len(self._files), 'file')}  +{added:,} −{removed:,}")
        about = f"{self._title}  {counts}"
        if self._changed.sessions > 1:
            about += f"  of {self._changed.sessions} sessions"
        self.set_titles(signs.line(about), "j k file  J K scroll  esc back")
        self.follow(self._list)
        self._list.show_rows(self._files)
        self._list.focus()
        self.resized()
        self._list.put_cursor(self._files[0].path)

    def resized(self) -> None:
        self._list.styles.height = min(len(self._files), max(3, self.size.height // 3))

    @on(RowList.Moved)
    def _moved(self, message: RowList.Moved) -> None:
        message.stop()
        row = self._list.rows.get(message.row_id or "")
        if row is not None:
            notes = [note for note in row.notes if note != BINARY]
            self._note.update(cells.safe_content(sentence("; ".join(notes)) if notes else ""))
            look = DetailViewState(taken=HunkSelection.of(row.hunks), layout="unified", has_focus=True)
            self._view.show(_file_page(row), look)

    def move(self, rows: int) -> None:
        """Look at another file."""
        self._list.move(rows)

    def scroll_detail(self, rows: int) -> None:
        """Scroll the diff."""
        self._view.scroll_lines(rows)


def _file_page(row: FileDiff) -> ActionDetail:
    """Return a file as the detail of an action, which is what draws diffs."""
    change = "modify" if row.change == "rename" else row.change
    note = "binary" if BINARY in row.notes else "" if row.hunks else "no lines to show"
    file = FileDetail(
        path=row.path, change=change, hunks=row.hunks, added=row.added, removed=row.removed, note=note
    )
    return ActionDetail(
        id=row.path, digest=row.path, kind="tool", verb="edit", tool="edit", target=one_line(row.path, 200),
        sign="ok", state_word=_CHANGE_WORDS[row.change], session_id="", session_title="", files=(file,),
        hunks=row.hunks, added=row.added, removed=row.removed, is_pending=False,
    )  # fmt: skip
