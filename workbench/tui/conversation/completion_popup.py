"""The list of candidates over the composer, best first; loaded when it is first shown."""

from typing import Final

from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from workbench.render import cells
from workbench.render.cells import Column
from workbench.text.width import cell_width
from workbench.tui import render_context
from workbench.tui.conversation.completion import Completions
from workbench.tui.widgets.line_view import LineView

_KIND_TITLES = {
    "file": "Files",
    "command": "/commands",
    "model": "Models",
    "mode": "Modes",
    "sandbox": "Sandbox",
    "tools": "Tools",
}


_LEAST_POPUP_ROWS: Final = 3
"""The title, a candidate and how many there are."""


class CompletionPopup(LineView, can_focus=False):
    """Candidates, best first, under a title row; hidden without any."""

    def __init__(self) -> None:
        super().__init__(key="composer-offers")
        self.offer: Completions | None = None
        self._at = 0
        self.display = False

    @property
    def chosen(self) -> str | None:
        """Return the candidate under the cursor."""
        return self.offer.candidates[self._at][0] if self.offer is not None else None

    def show_offer(self, offer: Completions | None) -> None:
        """Show candidates, the best one under the cursor; None hides the list."""
        if offer == self.offer:
            return
        self.offer, self._at = offer, 0
        self.display = offer is not None
        if offer is not None:
            rows = len(offer.candidates) + 2
            height = min(rows, max(_LEAST_POPUP_ROWS, self._rows_above()))
            self.styles.height = height
            self.styles.width = self._width_to_divider()
            self.styles.offset = (0, -height - 1)
            self.set_line_count(rows)
            self.scroll_to_line(0)
            self.invalidate()

    def _rows_above(self) -> int:
        """Return the number of rows above its parent, without the row between them."""
        parent = self.parent
        return parent.region.y - 1 if isinstance(parent, Widget) else self.screen.size.height

    def _width_to_divider(self) -> int:
        """Return the cells up to the line between the panes, so that it covers none of them by half."""
        for divider in self.screen.query("#middle-divider"):
            if divider.display and divider.region.width:
                return divider.region.right
        return self.screen.size.width

    def move(self, rows: int) -> None:
        """Move the cursor; past the end it begins again."""
        if self.offer is not None:
            self._at = (self._at + rows) % len(self.offer.candidates)
            self.reveal(self._at + 1)
            self.invalidate()

    def draw_line(self, line: int, width: int) -> Strip:
        offer, ink, glyphs = self.offer, render_context.ink(self), render_context.glyphs(self)
        if offer is None:
            return Strip.blank(width)
        if width == self.screen.size.width:
            return self._row(offer, line, width)
        # Beside it the panes go on: without an edge their words would read as the end of its own.
        edge = Content.styled(glyphs.line("┐" if line == 0 else "│"), ink.of("rule"))
        return Strip.join([self._row(offer, line, width - 1), cells.line_strip(edge, 1, ink.on("surface"))])

    def _row(self, offer: Completions, line: int, width: int) -> Strip:
        ink, glyphs = render_context.ink(self), render_context.glyphs(self)
        if line == 0:
            return self._title(offer, width)
        if line > len(offer.candidates):
            return cells.line_strip(self._below(offer), width, ink.on("surface"))
        name, words = offer.candidates[line - 1]
        is_cursor = line - 1 == self._at
        bar = Content.styled(glyphs.of("cursor"), ink.of("info")) if is_cursor else Content(" ")
        longest = max(cell_width(name) for name, _ in offer.candidates)
        has_words = any(words for _, words in offer.candidates)
        columns = [
            Column(content=bar, width=1, gap=0),
            Column(
                content=cells.safe_content(name, ink.of("foreground", bold=is_cursor), ink),
                width=min(longest, width // 2) if has_words else width - 4,
                cut="path",
            ),
            Column(content=cells.safe_content(words, ink.of("muted")), grows=True, gap=2),
            Column(content=Content(" "), width=1, gap=0),
        ]
        style = ink.cursor(has_focus=True) if is_cursor else ink.on("surface")
        return cells.row_strip(columns, width, style, glyphs=glyphs)

    def _title(self, offer: Completions, width: int) -> Strip:
        ink, glyphs = render_context.ink(self), render_context.glyphs(self)
        is_file = offer.word.kind == "file"
        name = Content.styled(_KIND_TITLES[offer.word.kind], ink.of("foreground", bold=True))
        right = Content.assemble(
            ("tab", ink.of("info", bold=True)), (" or ", ink.of("muted")),
            ("enter", ink.of("info", bold=True)), (" takes" if is_file else " does it", ink.of("muted")),
        )  # fmt: skip
        return cells.title_strip(name, right, width, ink, glyphs=glyphs)

    def _below(self, offer: Completions) -> Content:
        ink = render_context.ink(self)
        count = f"  {len(offer.candidates)} of {offer.total:,}"
        rest = "   ignored files are left out" if offer.word.kind == "file" else ""
        now = Content.assemble("   ", ("now ", ink.of("faint")), (offer.now, ink.of("muted")))
        return Content.styled(count + rest, ink.of("faint")) + (now if offer.now else Content(""))
