"""The column of a diff's files, by folder."""

from collections.abc import Iterator, Sequence
from typing import Final

from textual.content import Content
from textual.strip import Strip

from workbench.render import cells
from workbench.render.cells import Column, wrap_plain_text
from workbench.render.list_rows import line_counts
from workbench.tui.approvals.approval_selection import ApprovalSelection
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.line_view import LineView
from workbench.views.action_detail import ActionDetail
from workbench.views.file_changes import FileDetail
from workbench.views.hunk_selection import HunkState

_FILE_HINT = ("[ ]", "other file")
_DIFF_HINTS = (("{ }", "context"), ("t", "split or unified"), ("v", "choose lines"))
_LINE_HINTS = (("j k", "more, fewer"), ("space", "take or leave"), ("esc", "whole hunks"))
_CHANGE_WORDS = {"create": "new", "delete": "gone", "modify": "", "rename": "moved"}
_MIN_NAME_CELLS: Final = 10


class FileColumn(LineView):
    """Files of an action, for the full-screen diff; the one with the hunk under the cursor is in view."""

    can_focus = False

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self._lines: list[Content] = []
        self._current = 0
        """The line of the file under the cursor."""
        self._shown: tuple[ActionDetail, ApprovalSelection] | None = None

    def show(self, detail: ActionDetail | None, choosing: ApprovalSelection) -> None:
        """Show the files with what is taken of them."""
        self._shown = None if detail is None else (detail, choosing)
        if self.display:
            self._lay_out()

    def on_show(self) -> None:
        """Make the lines that nobody saw."""
        self._lay_out()

    def _lay_out(self) -> None:
        self._lines = [] if self._shown is None else self._made(*self._shown)
        self.set_line_count(len(self._lines))
        self.reveal(self._current)
        self.invalidate()

    def on_width(self, width: int) -> None:
        del width
        self._lay_out()

    def draw_line(self, line: int, width: int) -> Strip:
        return cells.line_strip(self._lines[line], width)

    def _made(self, detail: ActionDetail, choosing: ApprovalSelection) -> list[Content]:
        colours = ink(self)
        lines = [Content.styled(f" files {len(detail.files)}", colours.of("faint"))]
        for is_current, line in self._tree(detail, choosing):
            if is_current:
                self._current = len(lines)
            lines.append(line)
        lines.append(Content(""))
        if choosing.line is not None:
            lines.append(Content.assemble(" ", (" choosing lines ", colours.reverse("info"))))
        for keys, words in _diff_hints(detail) if choosing.line is None else _LINE_HINTS:
            hint = ((f"{keys:<6}", colours.of("info", bold=True)), (words, colours.of("muted")))
            lines.append(Content.assemble(" ", *hint))
        return lines + self._why(detail)

    def _tree(self, detail: ActionDetail, choosing: ApprovalSelection) -> Iterator[tuple[bool, Content]]:
        """Yield the files in the order of the diff, a line for each folder above its files."""
        current, last = choosing.hunk_of(detail), ""
        for file in detail.files:
            folder, _, name = file.path.rpartition("/")
            if folder and folder != last:
                line = cells.safe_content(f"{folder}/", ink(self).of("muted"))
                yield (
                    False,
                    Content(" ")
                    + cells.shorten_line(line, max(4, self.width - 2), glyphs(self), keeps_end=True),
                )
            last = folder
            is_current = any(hunk.index == current for hunk in file.hunks)
            state = _state_of(file, detail, choosing)
            yield is_current, self._file(file, name, state, is_current=is_current)

    def _file(self, file: FileDetail, name: str, state: HunkState | None, *, is_current: bool) -> Content:
        colours, signs = ink(self), glyphs(self)
        bar = signs.of("cursor") if is_current else " "
        path = cells.safe_content(name, colours.of("foreground", bold=is_current))
        style = colours.of("muted" if state == "left" else "added")
        sign = Content.styled(signs.of(state) if state else " ", style)
        columns = [
            Column(content=Content.styled(bar, colours.of("info")), gap=0),
            Column(content=sign, gap=1 if "/" in file.path else 0),
            Column(content=path, grows=True, least=min(path.cell_length, _MIN_NAME_CELLS), cut="path"),
            Column(content=Content.styled(_CHANGE_WORDS[file.change], colours.of("muted")), drop=2),
            Column(content=line_counts(file.added, file.removed, colours, signs), drop=1),
            Column(content=Content(""), width=0),
        ]
        return cells.compose_columns(columns, self.width, signs)

    def _why(self, detail: ActionDetail) -> list[Content]:
        if not detail.why_asked:
            return []
        colours = ink(self)
        room = max(1, self.width - 2)
        texts = [Content(" ") + line for line in wrap_plain_text(detail.why_asked, room, colours)]
        head = Content.styled(" why it asks", colours.of("faint"))
        return [Content(""), head, *(text.stylize_before(colours.of("muted")) for text in texts)]


def _state_of(file: FileDetail, detail: ActionDetail, choosing: ApprovalSelection) -> HunkState | None:
    """Return whether a file is taken or left; one without hunks is taken with the action.

    None where nothing can be taken any more, and nothing was: of what expired, for example.
    """
    if not detail.is_pending and detail.was_taken is None:
        return None
    taken = choosing.taken_of(detail)
    states: set[HunkState] = {taken.state_of(hunk.index) for hunk in file.hunks}
    if len(states) > 1:
        return "partly"
    return states.pop() if states else "taken"


def _diff_hints(detail: ActionDetail) -> Sequence[tuple[str, str]]:
    """Return the keys of a diff; those that go from file to file where there is another."""
    return (_FILE_HINT, *_DIFF_HINTS) if len(detail.files) > 1 else _DIFF_HINTS
