"""The first page of the demo: its question in the middle of the screen, below the name of the program.

It is the detail of the approvals pane, alone and in a frame. The controller only gives the parts their room.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.widgets import Static

from workbench import __version__
from workbench.render import welcome
from workbench.render.cells import wrap_plain_text
from workbench.tui.render_context import glyphs, ink

if TYPE_CHECKING:
    from textual.widget import Widget

    from workbench.tui.main.context import MainContext

QUESTION: Final = "may agents work in this folder?"
_MAX_COLUMNS: Final = 80
_FRAME_ROWS: Final = 2


class QuestionPage:
    """The parts around the question, and how much room each has."""

    def __init__(self, context: "MainContext") -> None:
        self._context = context
        self._pane = context.widgets.approvals
        self._head, self._foot = Static(id="question-head"), Static(id="question-foot")
        self._is_shown = False

    @property
    def _box(self) -> "Widget":
        return self._pane.query_one("#detail-body")

    @property
    def _parts(self) -> "Sequence[Widget]":
        return self._head, self._box, self._pane.answers, self._foot

    def put(self, *, is_shown: bool) -> None:
        """Show the page, or give the pane its parts back."""
        if is_shown and self._head.parent is None:
            self._pane.mount(self._head, before=self._box)
            self._pane.mount(self._foot)
            self._pane.detail_view.watch_extent(self._fit)
        was, self._is_shown = self._is_shown, is_shown
        self._head.display = self._foot.display = is_shown
        if is_shown:
            sign = glyphs(self._pane).of("waiting")
            self._box.border_title = Content(f"{sign} {QUESTION}")  # type: ignore[assignment]
            self._pane.call_after_refresh(self._fit)
        elif was:
            self._box.border_title = None
            for part in self._parts:
                part.styles.width = part.styles.height = None
                part.styles.margin = 0

    def _fit(self) -> None:
        """Give the question the rows that it needs, the name what is left."""
        pane, size = self._pane, self._pane.size
        if not self._is_shown or not size.area:
            return
        colours, signs = ink(pane), glyphs(pane)
        width = min(_MAX_COLUMNS, size.width)
        line = welcome.tagline(width, colours, signs)
        name = [*welcome.name_lines(__version__, width, colours, signs), Content(""), line, Content("")]
        short = [welcome.short_name(__version__, colours) + "   " + line]
        said = wrap_plain_text(signs.line(" ".join(self._context.backend.opening)), max(1, width - 2))
        words = [Content(""), *(line.stylize(colours.of("muted")) for line in said)]
        rows = pane.detail_view.line_count + _FRAME_ROWS
        # The fullest form that has room, as on the first page.
        forms = ((name, words, 1), (short, words, 1), (short, words, 0), (short, words[:0], 0))
        head, foot, gap = next(
            (form for form in forms if len(form[0]) + rows + form[2] + 1 + len(form[1]) <= size.height),
            forms[-1],
        )
        self._head.update(Content("\n").join(Content(" ") + row for row in head))
        self._foot.update(Content("\n").join(Content("  ") + row for row in foot))
        self._foot.display = bool(foot)
        self._box.styles.height = max(_FRAME_ROWS + 1, min(rows, size.height - len(head) - gap - 1))
        left = (size.width - width) // 2
        for part in self._parts:
            part.styles.width = width
            part.styles.margin = (gap if part is pane.answers else 0, 0, 0, left)
