"""The column beside a full-screen diff: the files of the action, the keys of the diff, why it asks.

Owns nothing but its lines; which file is current follows from the hunk under the cursor.
"""

from collections.abc import Sequence

from textual.content import Content
from textual.strip import Strip

from workbench.draw import cells
from workbench.draw.wrapping import plain_wrap
from workbench.tui.panes.choosing import Choosing
from workbench.tui.theme import glyphs, ink
from workbench.tui.widgets.lines import LineView
from workbench.views.detail import ActionDetail, FileDetail

_FILE_HINT = ("[ ]", "other file")
_HINTS = (("{ }", "context"), ("t", "split or unified"), ("v", "choose lines"))
_LINE_HINTS = (("j k", "more, fewer"), ("space", "take or leave"), ("esc", "whole hunks"))
_CHANGES = {"create": "new", "delete": "gone", "modify": ""}


class FileColumn(LineView):
    """Files of an action, for the full-screen diff."""

    can_focus = False

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self._lines: list[Content] = []
        self._shown: tuple[ActionDetail, Choosing] | None = None

    def show(self, detail: ActionDetail | None, choosing: Choosing) -> None:
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
        self.invalidate()

    def on_width(self, width: int) -> None:
        """Cut the paths anew."""
        del width
        self._lay_out()

    def draw_line(self, line: int, width: int) -> Strip:
        """Draw a line."""
        return cells.strip(self._lines[line], width)

    def _made(self, detail: ActionDetail, choosing: Choosing) -> list[Content]:
        colours = ink(self)
        lines = [Content.styled(f" files {len(detail.files)}", colours.of("faint"))]
        lines += [self._file(file, detail, choosing) for file in detail.files]
        lines.append(Content(""))
        if choosing.line is not None:
            lines.append(Content.assemble(" ", (" choosing lines ", colours.reverse("info"))))
        for keys, words in _hints(detail) if choosing.line is None else _LINE_HINTS:
            lines.append(
                Content.assemble(
                    " ", (f"{keys:<6}", colours.of("info", bold=True)), (words, colours.of("muted"))
                )
            )
        return lines + self._why(detail)

    def _why(self, detail: ActionDetail) -> list[Content]:
        if not detail.why_asked:
            return []
        colours = ink(self)
        room = max(1, self.width - 2)
        texts = [Content(" ") + line for line in plain_wrap(detail.why_asked, room, colours)]
        head = Content.styled(" why it asks", colours.of("faint"))
        return [Content(""), head, *(text.stylize_before(colours.of("muted")) for text in texts)]

    def _file(self, file: FileDetail, detail: ActionDetail, choosing: Choosing) -> Content:
        taken, colours, signs = choosing.taken_of(detail), ink(self), glyphs(self)
        states = [taken.state_of(hunk.index) for hunk in file.hunks]
        count = sum(state != "left" for state in states)
        right = _CHANGES[file.change] or (f"{count}/{len(states)}" if states else "")
        here = any(hunk.index == choosing.hunk_of(detail) for hunk in file.hunks)
        path = cells.content(file.path, colours.of("foreground", bold=here))
        name = cells.shorten(path, max(4, self.width - 6 - len(right)), signs, keeps_end=True)
        line = Content.assemble(
            (signs.of("cursor") if here else " ", colours.of("info")),
            (
                signs.of("left" if states and not count else "taken"),
                colours.of("added" if count or not states else "muted"),
            ),
            " ",
            name,
        )
        gap = max(1, self.width - line.cell_length - len(right) - 1)
        return Content.assemble(line, " " * gap, (right, colours.of("muted")))


def _hints(detail: ActionDetail) -> Sequence[tuple[str, str]]:
    """Return the keys of a diff; those that go from file to file where there is another."""
    return (_FILE_HINT, *_HINTS) if len(detail.files) > 1 else _HINTS
