"""Lines of a reply that is still being written, at a cost that does not grow with its length.

Finished blocks are drawn once as Markdown; the rest is plain text, wrapped as it comes.
"""

import re
from collections.abc import Iterator, Sequence

from textual.content import Content

from workbench.render import markdown
from workbench.render.conversation import REPLY_INDENT
from workbench.text.safe import safe_text
from workbench.text.width import cell_width
from workbench.tui.render_context import RenderContext

_FENCE = re.compile(r"(`{3,}|~{3,})")
_LIST_ITEM = re.compile(r"([-*+]|\d{1,9}[.)])(\s|$)")
_WORD_OR_SPACE = re.compile(r"\s*\S+|\s+")
_KEPT_ROWS = 2
_LONG_WORD = 4096
_TELLING_LETTERS = 12
"""Characters after which a line can be no list item any more: `999999999. ` has eleven."""


def wrap_line(line: str, width: int) -> list[str]:
    """Break one line into rows of at most `width` cells; joined, they are the line again.

    Spaces at a break stay at the end of their row and may hang over it.
    """
    rows: list[str] = []
    row, room = "", width
    for word in _wrapped_words(line, width):
        size = _cell_width(word)
        if row and size > room and _cell_width(word.lstrip()) <= width:
            gap = len(word) - len(word.lstrip())
            rows.append(row + word[:gap])
            row, room = word[gap:], width - _cell_width(word[gap:])
            continue
        row, room = row + word, room - size
        if room < 0:
            pieces = list(_cut_to_width(row, width))
            rows += pieces[:-1]
            row, room = pieces[-1], width - _cell_width(pieces[-1])
    return [*rows, row]


def _wrapped_words(line: str, width: int) -> Iterator[str]:
    for match in _WORD_OR_SPACE.finditer(line):
        word = match.group()
        for start in range(0, len(word), max(width, _LONG_WORD)):
            yield word[start : start + max(width, _LONG_WORD)]


def _cell_width(text: str) -> int:
    return len(text) if text.isascii() else cell_width(text)


def _cut_to_width(text: str, width: int) -> Iterator[str]:
    """Cut what has no place to break; a character is never cut, so a row of width 1 may hold a wide one."""
    if text.isascii():
        yield from (text[start : start + width] for start in range(0, len(text), width))
        return
    piece = ""
    for character in text:
        if piece and cell_width(piece + character) > width:
            yield piece
            piece = ""
        piece += character
    yield piece


class StreamingText:
    """A text that only grows at its end."""

    def __init__(self, width: int) -> None:
        self.width = max(width, 1)
        self.length = 0
        """Characters taken in so far."""
        self.finished: list[str] = []
        """Sources of whole blocks, in order; each appears here once and never changes."""
        self.is_in_fence = False
        self._fence = ""
        self._lines: list[str] = []
        self._rows: list[str] = []
        self._open: list[str] = []
        self._begun: list[str] = []
        self._had_blank = False
        self._is_judged = False

    @property
    def count(self) -> int:
        """Return how many plain rows the unfinished rest has."""
        return len(self._rows) + len(self._open)

    def row(self, index: int) -> str:
        """Return a plain row of the unfinished rest."""
        return self._rows[index] if index < len(self._rows) else self._open[index - len(self._rows)]

    @property
    def settled(self) -> int:
        """Return how many plain rows from the top will not change before their block is finished."""
        return len(self._rows)

    def extend(self, text: str) -> None:
        """Take in more of the text."""
        self.length += len(text)
        parts = safe_text(text).expandtabs(4).split("\n")
        for part in parts[:-1]:
            self._grow(part)
            self._end_line()
        self._grow(parts[-1])

    def _grow(self, part: str) -> None:
        if not part:
            return
        self._begun.append(part)
        if self._had_blank and not self._is_judged:
            self._judge()
            if self._is_judged and not self._lines:
                part, self._open = "".join(self._begun), []
        rows = wrap_line("".join(self._open) + part, self.width)
        kept = max(len(rows) - _KEPT_ROWS, 0)
        self._rows += rows[:kept]
        self._open = rows[kept:]

    def _judge(self) -> None:
        """Look whether a line that has only begun shows already that what stands above it is finished."""
        line = "".join(self._begun)
        if len(line) >= _TELLING_LETTERS:
            self._is_judged = True
            if self._begins_block(line):
                self._finish()

    def _end_line(self) -> None:
        line = "".join(self._begun)
        rows = self._open or [""]
        self._begun, self._open, self._is_judged = [], [], False
        if self._begins_block(line):
            whole = wrap_line(line, self.width)
            self._finish()
            rows = whole
        if not line.strip() and not self._lines:
            self._rows = []
            return
        self._lines.append(line)
        self._rows += rows
        self._note_fence(line)
        self._had_blank = not line.strip()

    def _begins_block(self, line: str) -> bool:
        """Return whether everything before this line is one or more whole blocks."""
        if self.is_in_fence or not self._lines or not line.strip() or line[0] == " ":
            return False
        if _FENCE.match(line):
            return True
        return self._had_blank and not _LIST_ITEM.match(line)

    def _note_fence(self, line: str) -> None:
        match = _FENCE.match(line.lstrip(" "))
        if not match:
            return
        mark = match.group(1)
        if not self.is_in_fence:
            self.is_in_fence, self._fence = True, mark
        elif mark[0] == self._fence[0] and len(mark) >= len(self._fence) and line.strip() == mark:
            self.is_in_fence = False
            if not line.startswith(" "):
                self._finish()

    def _finish(self) -> None:
        self.finished.append("\n".join(self._lines).rstrip("\n"))
        self._lines, self._rows, self._had_blank = [], [], False


class PartialMarkdown(Sequence[Content]):
    """The lines of a reply that is still being written: finished blocks drawn once, the rest plain."""

    def __init__(self, width: int, look: RenderContext) -> None:
        self._width, self._look = max(1, width - REPLY_INDENT - 1), look
        self._growing = StreamingText(self._width)
        self._done: list[Content] = []
        self._drawn = 0
        self._text = ""
        self.kept = 0
        """Lines from the top that the last addition left as they were; the sign moves on from the last."""

    def take(self, text: str) -> bool:
        """Take the text as it stands; False when it is not what was taken before with something added."""
        if not text.startswith(self._text):
            return False
        before = len(self)
        kept = before - self._growing.count + self._growing.settled
        self._growing.extend(text[len(self._text) :])
        self._text = text
        if len(self._growing.finished) != self._drawn:
            kept = max(0, len(self._done) - 1)
        self.kept = max(0, min(kept, before - 1))
        for source in self._growing.finished[self._drawn :]:
            self._done += [Content(""), *self._finished(source)]
        self._drawn = len(self._growing.finished)
        return True

    def __len__(self) -> int:
        return max(0, len(self._done) - 1) + self._rest()

    def _rest(self) -> int:
        count = self._growing.count
        return count + 1 if count and self._done else count

    def __getitem__(self, index: int) -> Content:  # type: ignore[override]  no slices here
        finished = max(0, len(self._done) - 1)
        if index < finished:
            return self._done[index + 1]
        index -= finished
        if self._done:
            index -= 1
        if index < 0:
            return Content("")
        row = " " * REPLY_INDENT + self._growing.row(index).rstrip()
        if index == self._growing.count - 1:
            return Content.assemble(row, self._typing_sign())
        return Content(row)

    def _finished(self, source: str) -> list[Content]:
        look = self._look
        lines = markdown.markdown_lines(source, self._width, look.ink, look.glyphs, look.painter)
        return [Content.assemble(" " * REPLY_INDENT, line) for line in lines]

    def _typing_sign(self) -> Content:
        return Content.styled(self._look.glyphs.of("typing"), self._look.ink.of("info"))
