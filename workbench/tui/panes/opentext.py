"""The lines of a reply that is still being written: its finished blocks as Markdown, the rest plain.

Owns what is kept between two frames, so that a frame costs what was added and not what is there.
"""

from collections.abc import Sequence

from textual.content import Content

from workbench.draw import markdown
from workbench.tui.panes.growing import Growing
from workbench.tui.theme import Drawing

INDENT = 3
"""Blank cells before what an agent says."""


class OpenText(Sequence[Content]):
    """The lines of a reply that is still being written: finished blocks drawn once, the rest plain."""

    def __init__(self, width: int, look: Drawing) -> None:
        self._width, self._look = max(1, width - INDENT - 1), look
        self._growing = Growing(self._width)
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
        row = " " * INDENT + self._growing.row(index).rstrip()
        if index == self._growing.count - 1:
            return Content.assemble(row, self._typing_sign())
        return Content(row)

    def _finished(self, source: str) -> list[Content]:
        look = self._look
        lines = markdown.blocks(source, self._width, look.ink, look.glyphs, look.painter)
        return [Content.assemble(" " * INDENT, line) for line in lines]

    def _typing_sign(self) -> Content:
        return Content.styled(self._look.glyphs.of("typing"), self._look.ink.of("info"))
