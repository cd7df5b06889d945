"""The list over the composer: files or commands that complete the word that is typed.

Owns which candidate is under the cursor. It never has the focus: the composer hands its keys on.
"""

from textual.content import Content
from textual.strip import Strip

from workbench.draw import cells
from workbench.draw.cells import Column
from workbench.tui import theme
from workbench.tui.panes.completion import Offer
from workbench.tui.widgets.lines import LineView

_NAMES = {"file": "Files", "command": "/commands", "model": "Models", "mode": "Modes"}


class Offers(LineView, can_focus=False):
    """Candidates, best first, under a title row; hidden without any."""

    def __init__(self) -> None:
        super().__init__(key="composer-offers")
        self.offer: Offer | None = None
        self._at = 0
        self.display = False

    @property
    def chosen(self) -> str | None:
        """Return the candidate under the cursor."""
        return self.offer.candidates[self._at][0] if self.offer is not None else None

    def show_offer(self, offer: Offer | None) -> None:
        """Show candidates, the best one under the cursor; None hides the list."""
        if offer == self.offer:
            return
        self.offer, self._at = offer, 0
        self.display = offer is not None
        if offer is not None:
            rows = len(offer.candidates) + 2
            self.styles.height = rows
            self.styles.width = _width(self.screen.size.width)
            self.styles.offset = (0, -rows - 1)
            self.set_line_count(rows)
            self.invalidate()

    def move(self, rows: int) -> None:
        """Move the cursor; past the end it begins again."""
        if self.offer is not None:
            self._at = (self._at + rows) % len(self.offer.candidates)
            self.invalidate()

    def draw_line(self, line: int, width: int) -> Strip:
        """Draw the title, a candidate or what is said below."""
        offer, ink, glyphs = self.offer, theme.ink(self), theme.glyphs(self)
        if offer is None:
            return Strip.blank(width)
        if width == self.screen.size.width:
            return self._row(offer, line, width)
        # Beside it the panes go on: without an edge their words would read as the end of its own.
        edge = Content.styled(glyphs.line("┐" if line == 0 else "│"), ink.of("rule"))
        return Strip.join([self._row(offer, line, width - 1), cells.strip(edge, 1, ink.on("surface"))])

    def _row(self, offer: Offer, line: int, width: int) -> Strip:
        ink, glyphs = theme.ink(self), theme.glyphs(self)
        if line == 0:
            return self._title(offer, width)
        if line > len(offer.candidates):
            return cells.strip(self._below(offer), width, ink.on("surface"))
        name, words = offer.candidates[line - 1]
        is_cursor = line - 1 == self._at
        bar = Content.styled(glyphs.of("cursor"), ink.of("info")) if is_cursor else Content(" ")
        columns = [
            Column(content=bar, width=1, gap=0),
            Column(
                content=cells.content(name, ink.of("foreground", bold=is_cursor), ink), grows=True, cut="path"
            ),
            Column(content=cells.content(words, ink.of("muted")), drop=1),
            Column(content=Content(" "), width=1, gap=0),
        ]
        style = ink.cursor(has_focus=True) if is_cursor else ink.on("surface")
        return cells.row(columns, width, style, glyphs=glyphs)

    def _title(self, offer: Offer, width: int) -> Strip:
        ink, glyphs = theme.ink(self), theme.glyphs(self)
        is_file = offer.word.kind == "file"
        name = Content.styled(_NAMES[offer.word.kind], ink.of("foreground", bold=True))
        right = Content.assemble(
            ("tab", ink.of("info", bold=True)), (" or ", ink.of("muted")),
            ("enter", ink.of("info", bold=True)), (" takes" if is_file else " does it", ink.of("muted")),
        )  # fmt: skip
        return cells.title(name, right, width, ink, glyphs=glyphs)

    def _below(self, offer: Offer) -> Content:
        ink = theme.ink(self)
        count = f"  {len(offer.candidates)} of {offer.total:,}"
        rest = "   ignored files are left out" if offer.word.kind == "file" else ""
        return Content.styled(count + rest, ink.of("faint"))


def _width(columns: int) -> int:
    """Return how wide the list is: as the conversation it stands over, or the whole of a narrow screen."""
    if columns < 100:
        return columns
    return 48 if columns < 140 else 60
