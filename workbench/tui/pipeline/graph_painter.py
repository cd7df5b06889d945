"""The colours of a drawn graph: frames and lines by state, the cursor, and the lines at the cursor's step."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Final

from msgspec import Struct
from rich.segment import Segment
from textual.color import Color
from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from workbench.graph.canvas import DrawingKind, StyledSpan
from workbench.graph.model import PENDING_FACTS, StepFacts
from workbench.render.glyphs import Glyphs
from workbench.render.theme import ColorName, Ink
from workbench.text.width import cell_width
from workbench.views.status_icons import ICONS, STEP_STATUSES, IconName, StatusName, StepStatus

_STATUS_OF_GLYPH: Final[Mapping[str, StatusName]] = {
    glyph: name for name, _ in STEP_STATUSES.values() for glyph in (ICONS[name].unicode, ICONS[name].ascii)
}
_STATE_COLORS: Final[Mapping[StepStatus, ColorName]] = {
    "waiting": "waiting", "failed": "failed", "warned": "failed", "running": "info", "retrying": "info",
    "completed": "added", "completed_empty": "added", "refused": "added",
}  # fmt: skip
"""The colour of a step's frame and of what is said of it; all others are to come, or were left out."""
_QUIET: Final = 0.5
"""How far the green of what is done goes towards the background."""
_LOUD_STATES: Final = ("running", "waiting", "failed", "warned", "retrying")


def legend(ink: Ink, glyphs: Glyphs) -> Content:
    """Return what signs and the colours of frames mean."""
    faint, ran = ink.of("faint"), glyphs.of("ran")
    meanings: tuple[tuple[str, IconName, Style], ...] = (
        ("done", "ok", quiet(ink, "added")), ("runs", "running", ink.of("info")),
        ("asks you", "waiting", ink.of("waiting")),
        ("failed", "failed", ink.of("failed")), ("calls refused", "risk", ink.sign("risk")),
        ("to come", "todo", ink.of("rule")),
    )  # fmt: skip
    parts = [
        Content.styled(glyphs.of(sign), style) + Content.styled(f" {word}", faint)
        for word, sign, style in meanings
    ]
    parts.append(Content.styled(f"{ran} longest path", faint))
    return Content("  ").join(parts)


def quiet(ink: Ink, name: ColorName) -> Style:
    """Return a colour on its way to the background: for what is over and needs no look."""
    if ink.tokens.is_ansi:
        return ink.of(name)
    color = Color.parse(getattr(ink.tokens, name))
    return Style(foreground=color.blend(Color.parse(ink.tokens.background), _QUIET))


class LineState(Struct, frozen=True, kw_only=True):
    """What the colours of one line depend on."""

    facts: Mapping[int, StepFacts]
    kind: DrawingKind
    cursor: int | None = None
    """The step under the cursor."""
    near: Mapping[int, int] = {}
    """Cells of the cursor's lines."""
    lit: Mapping[int, StepStatus] = {}
    """Cells of lines that come from steps that have ended."""
    mark: int | None = None
    """The cell of the cursor's mark; None draws none."""


class GraphPainter:
    """Draws lines in the colours in force."""

    def __init__(self, ink: Ink, glyphs: Glyphs, *, has_focus: bool) -> None:
        self._ink, self._glyphs, self._has_focus = ink, glyphs, has_focus
        self._near = ink.of("info")

    def strip(self, spans: Iterable[StyledSpan], state: LineState, x: int, width: int) -> Strip:
        """Return what is seen of a line.

        Args:
            spans: its parts, from left to right; the first may begin before `x`.
            state: what their colours depend on.
            x: the first cell that is seen.
            width: how many are.
        """
        segments: list[Segment] = []
        start: int | None = None
        end = x
        for span in spans:
            if start is None:
                start = end = min(x, span.x)
            if span.x > end:
                segments.append(Segment(" " * (span.x - end)))
            for text, style in self._styled(span, state):
                segments.append(Segment(text, style.rich_style))
            end = span.x + cell_width(span.text)
        first = x - (start if start is not None else x)
        return self._finished(Strip(segments).crop(first, first + width), width)

    def below(self, text: str, x: int, width: int) -> Strip:
        """Return a line that leads back, below the picture."""
        strip = Strip([Segment(text, self._near.rich_style)]).crop(x, x + width)
        return self._finished(strip, width)

    def _finished(self, strip: Strip, width: int) -> Strip:
        base = self._ink.on("background").rich_style
        return strip.extend_cell_length(width, base).apply_style(base)

    def _styled(self, span: StyledSpan, state: LineState) -> Iterator[tuple[str, Style]]:
        if span.role in ("wire", "heavy"):
            yield from self._wire(span, state)
            return
        status = state.facts.get(span.step if span.step is not None else -1, PENDING_FACTS).state
        is_cursor = span.step is not None and span.step == state.cursor
        tint = self._cursor(state) if is_cursor else Style.null()
        match span.role:
            case "frame":
                yield from self._frame(span, status, state.mark if is_cursor else None, tint)
            case "mark":
                yield self._mark() if is_cursor else (span.text, tint)
            case "item":
                yield span.text[:1], tint + self._ink.sign(_STATUS_OF_GLYPH.get(span.text[:1], "todo"))
                yield span.text[1:], tint + self._ink.of("muted")
            case _:
                yield span.text, tint + self._text(span, status, state.kind)

    def _cursor(self, state: LineState) -> Style:
        """Return the style of the cursor; where it has no mark and no tint is seen, it is reversed."""
        style = self._ink.cursor(has_focus=self._has_focus)
        return style + Style(reverse=True) if state.mark is None and not self._ink.has_tints else style

    def _text(self, span: StyledSpan, status: StepStatus, kind: DrawingKind) -> Style:
        ink = self._ink
        color: ColorName = _STATE_COLORS.get(status, "faint")
        is_loud = status in _LOUD_STATES
        match span.role:
            case "sign":
                return ink.sign(STEP_STATUSES[status][0])
            case "name" if is_loud and kind != "boxes":
                return ink.of(color, bold=True)
            case "name":
                quiet = status in ("pending", "ready", "skipped", "cancelled")
                return ink.of("muted" if quiet else "foreground", bold=is_loud)
            case _:
                return ink.of("rule" if span.tone == "rest" else color if span.tone == "state" else "muted")

    def _frame(
        self, span: StyledSpan, status: StepStatus, mark: int | None, tint: Style
    ) -> Iterator[tuple[str, Style]]:
        """Yield the frame in the colour of its state, and the blank within it as a part of the box."""
        style, text = self._frame_style(status), span.text
        if len(text) != 2:
            yield text, style
        elif text[1] == " ":
            yield text[0], style
            if mark == span.x + 1:
                yield self._mark()
            else:
                yield " ", tint
        else:
            yield " ", tint
            yield text[1], style

    def _frame_style(self, status: StepStatus) -> Style:
        color = _STATE_COLORS.get(status)
        if color is None:
            return self._ink.of("rule")
        return quiet(self._ink, color) if color == "added" else self._ink.of(color)

    def _mark(self) -> tuple[str, Style]:
        color = self._ink.of("info" if self._has_focus else "faint")
        return self._glyphs.of("cursor"), self._ink.cursor(has_focus=self._has_focus) + color

    def _wire(self, span: StyledSpan, state: LineState) -> Iterator[tuple[str, Style]]:
        is_heavy = span.role == "heavy"
        end = span.x + len(span.text)
        has_mark = state.mark is not None and span.x <= state.mark < end
        if not state.near and not state.lit and not has_mark:
            yield span.text, self._ink.of("rule")
            return

        def looks(x: int) -> str:
            if x == state.mark:
                return "mark"
            return "near" if x in state.near else state.lit.get(x, "")

        for kind, group in groupby(range(span.x, end), key=looks):
            cells = list(group)
            text = span.text[cells[0] - span.x : cells[-1] + 1 - span.x]
            if kind == "mark":
                yield self._mark()
            elif kind == "near":
                yield text, self._near
            elif kind == "completed":
                yield text, self._ink.of("added") if is_heavy else quiet(self._ink, "added")
            else:
                yield text, self._ink.of("failed" if kind else "rule")
