"""The rows at the top: header, session strip, tabs of the narrow screen.

Own what is dropped first when a row is too narrow. Facts are made by `views.header` and `views.sessions`.
"""

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.draw import cells
from workbench.draw.words import clock
from workbench.draw.words import left as left_words
from workbench.records import dataclass
from workbench.text import human
from workbench.tui.messages import GoTo, SessionChosen
from workbench.tui.theme import glyphs, has_motion, ink
from workbench.views import sessions
from workbench.views.header import HeaderFacts
from workbench.views.sessions import SessionRow

_TITLE_CELLS = 24
_LEAST_PATH = 12
_GAPS = ("  ", "   ", "   ")
"""Between the facts of each group."""


class Header(Widget):
    """What waits, runs and failed; where; how much; what time it is."""

    DEFAULT_CSS = "Header { height: 1; width: 1fr; background: $panel; }"

    def __init__(self) -> None:
        super().__init__(id="header")
        self._facts: HeaderFacts | None = None
        self._has_model = True

    def show(self, facts: HeaderFacts, *, has_model: bool = True) -> None:
        """Show facts."""
        if (facts, has_model) != (self._facts, self._has_model):
            self._facts, self._has_model = facts, has_model
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the row: place, counts, cost and clock; what does not fit goes by its rank."""
        del y
        width, panel = self.size.width, ink(self).on("panel")
        if self._facts is None:
            return cells.strip(Content(" workbench"), width, panel)
        middle, right = self._middle(self._facts), self._right(self._facts)
        left = self._left(self._facts, width - _needed([], middle, right))
        while right[1:] and _needed(left, middle, right) > width:
            right.pop(0)
        # Beside trouble, what waits is worth more than the path.
        for group in (left, middle) if self._facts.trouble else (middle, left):
            while group[1:] and _needed(left, middle, right) > width:
                group.pop()
        parts = [_joined(group, gap) for group, gap in zip((left, middle, right), _GAPS, strict=True)]
        room = width - sum(part.cell_length for part in parts) - 2
        before = max(2, min(room - 2, (width - parts[1].cell_length) // 2 - parts[0].cell_length - 1))
        after = max(2, room - before)
        line = Content("").join([Content(" "), parts[0], Content(" " * before), parts[1]])
        return cells.strip(
            Content("").join([line, Content(" " * after), parts[2], Content(" ")]), width, panel
        )

    def _left(self, facts: HeaderFacts, room: int) -> list[Content]:
        """Return where it is: the path takes what the others leave, and a quarter of the row at least."""
        colours = ink(self)
        parts = [Content.styled("workbench", colours.of("info", bold=True))]
        after = [cells.content(facts.branch, colours.of("muted"))] if facts.branch else []
        free = room - sum(part.cell_length + len(_GAPS[0]) for part in (*parts, *after))
        room = max(_LEAST_PATH, self.size.width // 4, free)
        place = cells.shorten(cells.content(facts.workspace), room, glyphs(self), keeps_end=True)
        return [*parts, place, *after]

    def _middle(self, facts: HeaderFacts) -> list[Content]:
        colours, signs = ink(self), glyphs(self)
        if facts.trouble:
            trouble = f"{signs.of('failed')} {facts.trouble}"
            return [cells.content(trouble, colours.of("failed", bold=True)), self._waiting(facts)]
        parts = [self._waiting(facts)]
        if facts.running:
            parts.append(_counted(signs.of("running"), colours.of("info"), f"{facts.running} running"))
        if facts.failed:
            parts.append(_counted(signs.of("failed"), colours.of("failed"), f"{facts.failed} failed"))
        return parts

    def _waiting(self, facts: HeaderFacts) -> Content:
        colours, signs = ink(self), glyphs(self)
        if not facts.waiting:
            if not self._has_model:
                return Content("")
            return _counted(signs.of("ok"), colours.of("added"), "nothing waits")
        sign = Content.styled(
            f"{signs.of('waiting')} {facts.waiting} waiting", colours.of("waiting", bold=True)
        )
        if facts.first_left is None:
            return sign
        first = " first " if self.size.width < 100 else " first in "
        tone = {"calm": "foreground", "soon": "waiting", "now": "failed"}[facts.urgency]
        words = left_words(facts.first_left, in_minutes=not has_motion(self))
        left = Content.styled(words, colours.of(tone, bold=True))  # type: ignore[arg-type]
        return Content("").join([sign, Content(first), left])

    def _right(self, facts: HeaderFacts) -> list[Content]:
        colours = ink(self)
        parts: list[Content] = []
        if not self._has_model:
            parts.append(Content.styled("no model yet", colours.of("muted")))
        elif facts.model:
            parts.append(cells.content(facts.model, colours.of("muted")))
        if facts.tokens:
            parts.append(Content.styled(f"{human.tokens(facts.tokens)} tok", colours.of("muted")))
        if facts.money:
            parts.append(cells.content(facts.money, colours.of("muted")))
        return [*parts, Content(clock(facts.clock))]


def _needed(*groups: Sequence[Content]) -> int:
    """Return the cells that a row of groups takes, with what is between them and at both ends."""
    joined = (_joined(group, gap) for group, gap in zip(groups, _GAPS, strict=True))
    return 2 * len(_GAPS) + sum(part.cell_length for part in joined)


def _joined(parts: Sequence[Content], gap: str) -> Content:
    return Content(gap).join(parts)


def _counted(sign: str, style: object, words: str) -> Content:
    return Content.assemble((sign, style), f" {words}")  # type: ignore[arg-type]


class SessionStrip(Widget):
    """The sessions in one row, for the medium screen."""

    DEFAULT_CSS = "SessionStrip { height: 1; width: 1fr; background: $background; }"

    def __init__(self) -> None:
        super().__init__(id="strip")
        self._rows: Sequence[SessionRow] = ()
        self._places: list[tuple[int, int, str]] = []

    def show(self, rows: Sequence[SessionRow]) -> None:
        """Show sessions; the one on show is bold."""
        if rows != self._rows:
            self._rows = rows
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the row and note where each session stands, for the mouse."""
        del y
        colours, signs, width = ink(self), glyphs(self), self.size.width
        right = Content.assemble(
            ("0", colours.of("info", bold=True)), (f" all {len(self._rows)} ", colours.of("muted"))
        )
        fitting, _ = sessions.strip(self._rows, width - right.cell_length - 4)
        self._places = []
        line = Content("  ") if self._rows else Content.styled("  No session here yet.", colours.of("muted"))
        for row in fitting:
            tone = colours.of("muted" if row.is_muted else "foreground", bold=row.is_current)
            item = Content.assemble(
                (signs.of(row.sign), colours.sign(row.sign)),
                " ",
                cells.shorten(cells.content(row.title, tone), _TITLE_CELLS, signs),
            )
            if row.waiting:
                item = Content.assemble(item, (f" {row.waiting}", colours.of("waiting", bold=True)))
            self._places.append((line.cell_length, line.cell_length + item.cell_length, row.id))
            line = Content.assemble(line, item, "   ")
        gap = " " * max(0, width - line.cell_length - right.cell_length)
        return cells.strip(Content.assemble(line, gap, right), width, colours.on("background"))

    def on_click(self, event: events.Click) -> None:
        """Show the clicked session, or all of them."""
        for first, last, session_id in self._places:
            if first <= event.x < last:
                self.post_message(SessionChosen(session_id))
                return
        if event.x >= self.size.width - 8:
            self.post_message(GoTo(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """One pane in the tab row."""

    place: int
    name: str
    waiting: int = 0
    failed: int = 0
    is_here: bool = False


class Tabs(Widget):
    """The panes as a row, with their counts, for the narrow screen."""

    DEFAULT_CSS = "Tabs { height: 1; width: 1fr; background: $background; }"

    @dataclass
    class Clicked(Message):
        """A tab was clicked."""

        place: int

    def __init__(self) -> None:
        super().__init__(id="tabs")
        self._tabs: Sequence[Tab] = ()
        self._places: list[tuple[int, int, int]] = []

    def show(self, tabs: Sequence[Tab]) -> None:
        """Show tabs."""
        if tabs != self._tabs:
            self._tabs = tabs
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the row and note where each tab stands, for the mouse."""
        del y
        self._places = []
        line = Content(" ")
        bare = self._without_name()
        for tab in self._tabs:
            item = self._item(tab, has_name=tab not in bare)
            self._places.append((line.cell_length, line.cell_length + item.cell_length, tab.place))
            line = Content.assemble(line, item, "  " if tab.is_here else "   ")
        return cells.strip(line, self.size.width, ink(self).on("background"))

    def _without_name(self) -> Sequence[Tab]:
        """Return the tabs of which only the number fits: the first ones, and never the one that is here."""
        bare: list[Tab] = []
        over = 1 + sum(self._item(tab).cell_length + 3 for tab in self._tabs) - 3 - self.size.width
        for tab in self._tabs:
            if over > 0 and not tab.is_here:
                bare.append(tab)
                over -= len(tab.name) + 1
        return bare

    def _item(self, tab: Tab, *, has_name: bool = True) -> Content:
        colours, signs = ink(self), glyphs(self)
        name = f"{tab.place} {tab.name}" if has_name else f"{tab.place}"
        parts: list[Content] = [
            Content.styled(f" {name} ", colours.reverse("info"))
            if tab.is_here
            else Content.styled(name, colours.of("muted"))
        ]
        if tab.waiting:
            parts.append(
                Content.styled(f" {signs.of('waiting')} {tab.waiting}", colours.of("waiting", bold=True))
            )
        if tab.failed:
            parts.append(Content.styled(f" {signs.of('failed')} {tab.failed}", colours.of("failed")))
        return Content("").join(parts)

    def on_click(self, event: events.Click) -> None:
        """Go to the clicked pane."""
        for first, last, place in self._places:
            if first <= event.x < last:
                self.post_message(GoTo(place))
