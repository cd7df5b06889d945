"""The parts of a step that are not open, one below the other next to the one that is."""

from collections.abc import Iterator, Sequence
from typing import Final

from textual.content import Content

from workbench.render import cells
from workbench.text.safe import safe_text
from workbench.tui.render_context import glyphs, ink
from workbench.tui.tools.call_detail import tone_style
from workbench.tui.widgets.text_view import TextView
from workbench.views.detail_pages import DetailPage, PageSection
from workbench.views.tools import output_tones

_SHARED_LINES: Final = 8
"""Lines of a part that are seen in any case."""
_ROWS_AROUND: Final = 2
"""The head of a part, and the row below it."""


def shown_lines(counts: Sequence[int], room: int) -> list[int]:
    """Return how many lines of each part are shown: its share, and of the rows that are left the first ones.

    Args:
        counts: Lines of each part.
        room: Rows for all of them.
    """
    shown = [min(count, _SHARED_LINES) for count in counts]
    left = room - sum(shown)
    for number, count in enumerate(counts):
        more = min(count - shown[number], max(0, left))
        shown[number] += more
        left -= more
    return shown


class StepParts(TextView, can_focus=False):
    """Their first lines, of the log its last ones; keys and scrolling belong to the part that is open."""

    def __init__(self, *, key: str) -> None:
        super().__init__(key=key)
        self._sections: tuple[PageSection, ...] = ()

    def show(self, detail: DetailPage | None, opened: str) -> None:
        """Show all parts of a step that hold something but the one that is open."""
        sections = () if detail is None else detail.sections
        shown = tuple(part for part in sections if not part.is_empty and part.name != opened)
        if shown != self._sections:
            self._sections = shown
            self.on_width(self.width)
            self.scroll_to_line(0)

    @property
    def has_parts(self) -> bool:
        """Return whether there is anything to show."""
        return bool(self._sections)

    def lines_for(self, width: int) -> list[Content]:
        if not self.is_attached:
            return []
        filled = [
            [number for number, line in enumerate(part.lines) if line.strip()] for part in self._sections
        ]
        room = self.size.height - _ROWS_AROUND * len(filled)
        counts = shown_lines([len(lines) for lines in filled], room)
        return [
            line
            for part, lines, count in zip(self._sections, filled, counts, strict=True)
            for line in self._lines_of(part, lines, count, max(8, width))
        ]

    def _lines_of(
        self, part: PageSection, filled: Sequence[int], count: int, width: int
    ) -> Iterator[Content]:
        colours, signs = ink(self), glyphs(self)
        is_log, rest = part.name == "Log", len(filled) - count
        shown = filled[rest:] if is_log else filled[:count]
        more = f"{rest:,} more {'before' if is_log else 'below'}" if rest else ""
        head = Content.styled(f" {part.name}", colours.of("foreground", bold=True))
        rule = signs.line("─") * max(0, width - head.cell_length - len(more) - 4)
        yield Content.assemble(head, " ", (rule, colours.of("rule")), " ", (more, colours.of("muted")))
        for number in shown:
            yield cells.shorten_line(self._line(part, number), width - 1, signs)
        yield Content("")

    def _line(self, part: PageSection, number: int) -> Content:
        colours = ink(self)
        text = glyphs(self).line(safe_text(part.lines[number]).expandtabs(8))
        content = cells.styled(text, colours.of("foreground"))
        tones = part.tones.get(number) or (output_tones(text) if part.is_output else ())
        for start, end, tone in tones:
            content = content.stylize(tone_style(tone, colours), start, end)
        return cells.mark_hidden(Content("   ") + content, colours)
