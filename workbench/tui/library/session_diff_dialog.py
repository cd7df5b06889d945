"""Everything that a session changed, over the screen: its files, and the diff of the one under the cursor."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.content import Content
from textual.strip import Strip

from workbench.domain.rows import Session
from workbench.formats.session_diff import BINARY, FileDiff, SessionDiff
from workbench.render import cells
from workbench.render.cells import Column
from workbench.render.list_rows import line_counts
from workbench.text.human import counted, sentence
from workbench.text.safe import one_line
from workbench.tui.approvals.table_dialog import TableDialog
from workbench.tui.keyboard import keymap
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
        if why := changed.why_empty():
            return why
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


class SessionDiffDialog(TableDialog, inherit_bindings=False):
    """The files above, the diff of one of them below."""

    BINDINGS = keymap.bindings("session-diff")
    LEAVES = "session-diff.leave"

    def __init__(self, title: str, changed: SessionDiff) -> None:
        self._rows = SessionDiffList()
        super().__init__("session-diff", self._rows)
        self._title, self._changed = title, changed
        self._files = (*changed.files, *changed.outside)

    def opened(self) -> None:
        added, removed = (sum(getattr(file, name) for file in self._files) for name in ("added", "removed"))
        signs = glyphs(self)
        counts = signs.line(f"{counted(len(self._files), 'file')}  +{added:,} −{removed:,}")
        about = f"{self._title}  {counts}"
        if self._changed.sessions > 1:
            about += f"  of {self._changed.sessions} sessions"
        self.set_titles(signs.line(about), "j k file  J K scroll  esc back")
        super().opened()
        self._rows.show_rows(self._files)
        self.resized()
        self._list.put_cursor(self._files[0].path)

    def resized(self) -> None:
        self._list.styles.height = min(len(self._files), max(3, self.size.height // 3))

    def row_moved(self, message: RowList.Moved) -> None:
        row = self._rows.rows.get(message.row_id or "")
        if row is not None:
            notes = [note for note in row.notes if note != BINARY]
            self._note.update(cells.safe_content(sentence("; ".join(notes)) if notes else ""))
            self.show_diff(_file_page(row), HunkSelection.of(row.hunks))


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
