"""The table that undoes a turn or a session: what each file would become, its diff, and one answer."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.strip import Strip

from workbench.render import cells
from workbench.render.cells import Column
from workbench.render.glyphs import Glyphs
from workbench.render.list_rows import line_counts
from workbench.render.theme import Ink
from workbench.text.human import counted, sentence
from workbench.text.safe import one_line
from workbench.tui.approvals.table_dialog import TableDialog
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.arming import TOO_QUICK
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.line_view import RowList, RowPlacement
from workbench.views.action_detail import ActionDetail
from workbench.views.file_changes import FileDetail
from workbench.views.hunk_selection import HunkSelection
from workbench.views.undo_plan import UndoPlan, UndoRow, nothing_to_undo, undo_sentences

if TYPE_CHECKING:
    from workbench.tui.conversation.conversation_pane import ConversationPane
    from workbench.tui.main.context import MainContext

_NO_SESSION: Final = "there is no session here"
_NOT_A_CHAT: Final = "a pipeline run and its steps are not undone here"
_NO_FILES: Final = "this turn changed no file"


def why_no_undo(pane: "ConversationPane") -> str:
    """Return why the turn in view cannot be undone; empty where it changed files."""
    main = pane.main
    session, turn = main.state.current, pane.turns.in_view
    if session is None:
        return _NO_SESSION
    if not session.is_conversation:
        return _NOT_A_CHAT
    if turn is None or not turn.id:
        return "there is no turn in view"
    if main.state.window is None and turn.id not in {event.turn_id for event in main.state.file_events}:
        return _NO_FILES
    return ""


def open_undo(context: "MainContext", session_id: str, turn_id: str | None = None) -> None:
    """Work out in a thread what would be undone, and open the table of it, or say why there is none."""

    def work() -> str:
        plan = context.backend.library.undo_plan(session_id, turn_id, is_redo=False)
        if not plan.rows and plan.others:
            plan = context.backend.library.undo_plan(session_id, turn_id, is_redo=True)
        if not plan.rows:
            return nothing_to_undo(plan)
        context.call_from_thread(lambda: context.app.push_screen(UndoDialog(context, plan)))
        return ""

    context.tasks.file(work)


class UndoList(RowList):
    """The files of the table."""

    def __init__(self) -> None:
        super().__init__(key="undo-list")
        self.rows: dict[str, UndoRow] = {}
        self.taken: set[str] = set()

    def show_rows(self, rows: Iterable[UndoRow], taken: set[str]) -> None:
        """Show files and which of them are taken."""
        self.rows, self.taken = {row.path: row for row in rows}, taken
        self.set_ids(list(self.rows), set(self.rows))

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        """Draw a row: taken, file, lines, what happens to it."""
        row, colours, signs = self.rows[placed.row_id], ink(self), glyphs(self)
        is_taken = row.path in self.taken
        bar = signs.of("cursor") if placed.is_cursor else " "
        box = Content.styled(signs.of("taken"), colours.of("added")) if is_taken else Content.styled(
            signs.of("left"), colours.of("muted")
        )  # fmt: skip
        does = row.word if is_taken else f"left: {row.why}" if row.why else "left as it is"
        meaning = "waiting" if row.why else "foreground" if is_taken else "muted"
        columns = [
            Column(content=Content.styled(bar, colours.of("info")), gap=0),
            Column(content=box, gap=0),
            Column(content=cells.safe_content(signs.target(row.path)), grows=True, least=16, cut="path"),
            Column(
                content=line_counts(row.added, row.removed, colours, signs),
                width=9, align="right", drop=1,
            ),
            Column(content=Content.styled(does, colours.of(meaning)), width=36, gap=2),
            Column(content=Content(" "), gap=0),
        ]  # fmt: skip
        style = colours.cursor(has_focus=placed.is_focused) if placed.is_cursor else None
        return cells.row_strip(columns, width, style, glyphs=signs)


def _column_header(width: int, colours: Ink, signs: Glyphs) -> Strip:
    faint = colours.of("faint")
    columns = [
        Column(content=Content(""), width=2, gap=0),
        Column(content=Content.styled("file", faint), grows=True, least=16),
        Column(content=Content.styled("lines", faint), width=9, align="right", drop=1),
        Column(content=Content.styled("what happens to it", faint), width=36, gap=2),
        Column(content=Content(" "), gap=0),
    ]
    return cells.row_strip(columns, width, colours.on("background"), glyphs=signs)


class UndoDialog(TableDialog, inherit_bindings=False):
    """The table over the main screen."""

    BINDINGS = keymap.bindings("undo")
    LEAVES = "undo.leave"
    DECIDES = True

    def __init__(self, context: "MainContext", plan: UndoPlan) -> None:
        self._files = UndoList()
        super().__init__("undo", self._files, lambda width: _column_header(width, ink(self), glyphs(self)))
        self._main, self._plan, self._taken = context, plan, set(plan.ready)

    def opened(self) -> None:
        super().opened()
        self.fill()
        self._list.put_cursor(self._plan.rows[0].path)

    @property
    def subject(self) -> tuple[object, ...]:
        return (self._plan.is_redo, *sorted(self._taken), *(row.plan.base for row in self._plan.rows))

    @property
    def decided(self) -> tuple[object, ...] | None:
        return self.subject if self._taken else None

    def fill(self) -> None:
        plan, count, colours = self._plan, len(self._taken), ink(self)
        self.set_titles(plan.title, f"{count} of {len(plan.rows)} taken")
        self._list.styles.height = min(len(plan.rows), max(2, self.size.height // 3 - 2), 12)
        self._files.show_rows(plan.rows, self._taken)
        sign = Content.styled(glyphs(self).of("waiting"), colours.of("waiting"))
        sentences = [self.said] if self.said else undo_sentences(plan, self._taken)
        lines = [Content.assemble(" ", sign, " ", line) for line in sentences]
        self._note.update(Content("\n").join([Content(""), *lines, Content("")]))
        info, faint = colours.of("info", bold=True), colours.of("faint")
        parts = [("space", "take/leave"), ("j k", "file"), ("J K", "scroll"), ("esc", "back")]
        if plan.others:
            parts.insert(1, ("r", "undo instead" if plan.is_redo else "what was undone"))
        label = self.label_of("undo.answer")
        first = Content.assemble(("a", info), f" {label}") if count else Content.styled(
            "a nothing is taken", faint
        )  # fmt: skip
        self._keys.update(self.key_rows(first, parts, self._list.size.width))
        self.call_after_refresh(self.note_drawn)

    def row_moved(self, message: RowList.Moved) -> None:
        row = self._files.rows.get(message.row_id or "")
        if row is not None:
            self._look_at(row)

    def _look_at(self, row: UndoRow) -> None:
        self.show_diff(_detail(self._plan, row), HunkSelection.of(row.hunks))

    # --- what keys ask for ----------------------------------------------------------------------

    def why_early(self, key_id: str) -> str:
        if key_id != "undo.answer":
            return ""
        if not self._taken:
            return "No file is taken. space takes one."
        return "" if self.is_armed_for_key else TOO_QUICK.format(key="a")

    def label_of(self, key_id: str) -> str:
        if key_id != "undo.answer":
            return super().label_of(key_id)
        files = counted(len(self._taken), "file")
        return f"restore {files}" if self._plan.is_redo else f"undo {files}"

    def show_said(self) -> None:
        self.fill()

    def answer(self) -> None:
        """Have the taken files written, all or none, as they are shown."""
        if why := self.why_early("undo.answer"):
            self.say(why)
            return
        plan, paths = self._plan, [row.path for row in self._plan.rows if row.path in self._taken]
        self._main.tasks.file(lambda: self._main.backend.library.undo_files(plan, paths))
        self.dismiss()

    def toggle(self) -> None:
        """Take the file under the cursor, or leave it; say why where it cannot be taken."""
        row = self._files.rows.get(self._list.cursor or "")
        if row is None:
            return
        if not row.can_be_taken:
            self._main.say(sentence(f"{one_line(row.path, 60)}: {row.why}"))
            return
        self._taken ^= {row.path}
        self.fill()
        self._list.move(1)

    def turn_round(self) -> None:
        """Show what was undone, to restore it; or what can be undone."""
        plan = self._plan
        if not plan.others:
            self._main.say("Nothing is left to undo." if plan.is_redo else "Nothing was undone.")
            return
        library = self._main.backend.library

        def work() -> str:
            turned = library.undo_plan(plan.session_id, plan.turn_id, is_redo=not plan.is_redo)
            self._main.call_from_thread(self._turned, turned)
            return ""

        self._main.tasks.file(work)

    def _turned(self, plan: UndoPlan) -> None:
        if not plan.rows:
            self._main.say(nothing_to_undo(plan))
            return
        self._plan, self._taken = plan, set(plan.ready)
        self.fill()
        self._list.put_cursor(plan.rows[0].path)
        self._look_at(plan.rows[0])


def _detail(plan: UndoPlan, row: UndoRow) -> ActionDetail:
    """Return a file as the detail of an action, whose diff goes from now to then."""
    change = {"remove": "delete", "bring back": "create"}.get(row.outcome, "modify")
    file = FileDetail(
        path=row.path, change=change, hunks=row.hunks, added=row.added, removed=row.removed,  # type: ignore[arg-type]
        note=row.note,
    )  # fmt: skip
    return ActionDetail(
        id=row.path, digest=f"{row.plan.base}:{row.plan.after}", kind="tool", verb="edit", tool="undo",
        target=one_line(row.path, 200), sign="stale" if row.why else "waiting", state_word=row.word,
        session_id=plan.session_id, session_title="", files=(file,), hunks=row.hunks, added=row.added,
        removed=row.removed, is_pending=False,
    )  # fmt: skip
