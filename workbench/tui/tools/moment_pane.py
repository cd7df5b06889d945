"""What a session is about right now, in the room of an empty queue: a change, an output or a thought.

It never has the focus and decides nothing.
"""

from collections.abc import Sequence
from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from workbench.render import cells
from workbench.render.diff import HUNK_CONTEXT_LINES, Diff, DiffDisplay
from workbench.render.theme import Ink
from workbench.text.safe import safe_text
from workbench.tui import render_context
from workbench.tui.conversation.streaming_text import wrap_line
from workbench.tui.widgets.line_view import LineView
from workbench.tui.widgets.pane_frame import PaneTitle
from workbench.views.hunk_selection import HunkSelection
from workbench.views.tools import LineTone, Moment, output_tones

_INDENT: Final = 2
_SPLIT_FROM: Final = 100
"""Cells from which a change is shown on two sides, on a screen that has so many by itself."""


class MomentView(LineView):
    """The lines of it."""

    can_focus = False

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self._moment: Moment | None = None
        self._diff: Diff | None = None
        self._rows: list[str] = []

    def show(self, moment: Moment | None) -> None:
        """Show a moment; another call begins at its top, what still grows is shown at its end."""
        before, self._moment = self._moment, moment
        is_other = before is None or moment is None or before.id != moment.id
        self.is_following = moment is not None and moment.is_growing and not moment.files
        self._lay_out(top=0 if is_other else self.first_line)

    def on_width(self, width: int) -> None:
        del width
        self._lay_out(top=self.first_line)

    def _lay_out(self, top: int) -> None:
        moment, width = self._moment, self.width
        self._diff, self._rows = None, []
        self._strips.clear()
        if moment is not None and moment.files:
            layout = "split" if width >= _SPLIT_FROM else "unified"
            self._diff = Diff(moment.files, width, layout=layout, context=HUNK_CONTEXT_LINES)
        elif moment is not None:
            room = max(1, width - _INDENT - 1)
            lines = (safe_text(line).expandtabs(8) for line in moment.lines)
            self._rows = [piece.rstrip() for line in lines for piece in wrap_line(line, room)]
        self.set_line_count(len(self._diff) if self._diff is not None else len(self._rows))
        if not self.is_following:
            self.scroll_to_line(top)
        self.refresh()

    def draw_line(self, line: int, width: int) -> Strip:
        ink, glyphs = render_context.ink(self), render_context.glyphs(self)
        if self._diff is not None and self._moment is not None:
            display = DiffDisplay(
                taken=HunkSelection.of(self._moment.hunks),
                is_open=False,
                painter=render_context.painter(self),
            )
            return self._diff.strip(line, ink, glyphs, display)
        return cells.line_strip(self._text(self._rows[line]), width, ink.on("background"))

    def _text(self, row: str) -> Content:
        ink, moment = render_context.ink(self), self._moment
        is_change = moment is not None and moment.kind == "change"
        name = "muted" if moment is not None and moment.kind == "thought" else "foreground"
        if is_change and row[:1] in ("+", "-"):
            name = "added" if row[0] == "+" else "removed"
        content = cells.styled(row, ink.of(name))
        for start, end, tone in () if is_change else output_tones(row):
            content = content.stylize(_tone_style(tone, ink), start, end)
        return cells.mark_hidden(Content(" " * _INDENT) + content, ink)


def _tone_style(tone: LineTone, ink: Ink) -> Style:
    match tone:
        case "muted" | "faint":
            return ink.of(tone)
        case "strong":
            return ink.of("foreground", bold=True)
        case _:
            return ink.sign(tone)


class MomentPane(Vertical):
    """A title that names the call, and its lines."""

    DEFAULT_CSS = "MomentPane { background: $background; height: 1fr; }"

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(id=key)
        self.title_row = PaneTitle("Now", key="moment-title")
        self.view = MomentView(key="moment-lines")

    def compose(self) -> ComposeResult:
        yield self.title_row
        self.title_row.follow(self.view)
        yield self.view

    def show(self, moment: Moment | None) -> None:
        """Show a moment, or nothing."""
        self.view.show(moment)
        self.title_row.show(Content("") if moment is None else self._facts(moment))

    def _facts(self, moment: Moment) -> Content:
        ink, glyphs = render_context.ink(self), render_context.glyphs(self)
        parts: Sequence[Content] = [Content.styled(moment.name, ink.of("foreground"))]
        if moment.sign is not None:
            parts = [Content.styled(glyphs.of(moment.sign), ink.sign(moment.sign)), *parts]
        if moment.target:
            parts = [*parts, cells.safe_content(glyphs.target(moment.target), ink.of("muted"), ink)]
        added, removed = (sum(getattr(file, name) for file in moment.files) for name in ("added", "removed"))
        if added or removed:
            parts = [*parts, Content.styled(f"+{added} −{removed}", ink.of("muted"))]
        return Content(" ").join(parts)
