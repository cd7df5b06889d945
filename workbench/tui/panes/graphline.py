"""One line of the graph as a strip: signs, names and badges in their colours, the cursor and its edges.

Owns the look and nothing of the place: parts come from `graph.picture` and are never moved.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Final

from rich.segment import Segment
from textual.strip import Strip
from textual.style import Style

from workbench.draw.glyphs import Glyphs
from workbench.draw.tokens import Ink, TokenName
from workbench.graph.facts import PENDING, SIGNS, Facts, State
from workbench.graph.picture import Run
from workbench.views.signs import STEP_MEANINGS

_OF_SIGN: Final[Mapping[str, State]] = {sign: state for state, pair in SIGNS.items() for sign in pair}
_LIVE: Final = ("running", "waiting", "failed", "warned", "retrying")
_BADGES: Final[Mapping[State, TokenName]] = {"waiting": "waiting", "warned": "failed"}


class GraphLine:
    """Draws lines in the colours in force."""

    def __init__(self, ink: Ink, glyphs: Glyphs, *, has_focus: bool) -> None:
        self._ink, self._glyphs, self._has_focus = ink, glyphs, has_focus
        self._wire, self._heavy = ink.of("faint"), ink.of("foreground")
        self._near = ink.of("info", bold=True)

    def strip(
        self,
        runs: Iterable[Run],
        facts: Mapping[int, Facts],
        cursor: int | None,
        near: Mapping[int, int],
        mark: int | None,
        x: int,
        width: int,
    ) -> Strip:
        """Return what is seen of a line.

        Args:
            runs: its parts without gaps; the first may begin before `x`.
            facts: by step.
            cursor: the step under the cursor.
            near: cells of the cursor's edges.
            mark: the cell of the cursor's mark; None draws none.
            x: the first cell that is seen.
            width: how many are.
        """
        segments: list[Segment] = []
        start: int | None = None
        for run in runs:
            start = run.x if start is None else start
            for text, style in self._styled(run, facts, cursor, near, mark):
                segments.append(Segment(text, style.rich_style))
        found = Strip(segments)
        first = x - (start if start is not None else x)
        base = self._ink.on("background").rich_style
        return found.crop(first, first + width).extend_cell_length(width, base).apply_style(base)

    def below(self, text: str, x: int, width: int) -> Strip:
        """Return a line that leads back, below the picture."""
        base = self._ink.on("background").rich_style
        strip = Strip([Segment(text, self._near.rich_style)]).crop(x, x + width)
        return strip.extend_cell_length(width, base).apply_style(base)

    def _styled(
        self, run: Run, facts: Mapping[int, Facts], cursor: int | None, near: Mapping[int, int],
        mark: int | None,
    ) -> Iterator[tuple[str, Style]]:  # fmt: skip
        if run.role in ("wire", "heavy"):
            yield from self._line(run, near, mark)
            return
        state = facts.get(run.step if run.step is not None else -1, PENDING).state
        is_cursor = run.step == cursor
        style = self._text(run, state)
        if run.role == "item":
            yield from self._item(run.text)
        elif is_cursor and run.role in ("sign", "name"):
            yield run.text, self._ink.cursor(has_focus=self._has_focus) + style + self._reversed(mark)
        else:
            yield run.text, style

    def _reversed(self, mark: int | None) -> Style:
        """Return what tells the cursor where it has no mark and backgrounds are not seen."""
        return Style(reverse=True) if mark is None and not self._ink.has_tints else Style.null()

    def _text(self, run: Run, state: State) -> Style:
        ink = self._ink
        if run.role == "sign":
            return ink.sign(STEP_MEANINGS[state])
        if run.role == "name":
            return ink.of("muted" if state in ("pending", "skipped") else "foreground", bold=state in _LIVE)
        return ink.of(_BADGES.get(state, "muted"))

    def _item(self, text: str) -> Iterator[tuple[str, Style]]:
        state = _OF_SIGN.get(text[:1], "pending")
        yield text[:1], self._ink.sign(STEP_MEANINGS[state])
        yield text[1:], self._ink.of("muted")

    def _line(self, run: Run, near: Mapping[int, int], mark: int | None) -> Iterator[tuple[str, Style]]:
        plain = self._heavy if run.role == "heavy" else self._wire
        if not near and (mark is None or not run.x <= mark < run.x + len(run.text)):
            yield run.text, plain
            return
        cells = ((run.x + at, character) for at, character in enumerate(run.text))
        for kind, group in groupby(cells, key=lambda cell: 2 if cell[0] == mark else cell[0] in near):
            text = "".join(character for _, character in group)
            if kind == 2:
                cursor = self._ink.of("info" if self._has_focus else "faint")
                yield self._glyphs.of("cursor"), self._ink.cursor(has_focus=self._has_focus) + cursor
            else:
                yield text, self._near if kind else plain
