"""The bars around the panes: header, session strip, tabs and footer.

Each decides what it drops first when it is too narrow.
"""

# A click never answers. Keys in the footer can be clicked where they move, show or choose; all others say
# which key to press. What changed while a dialog lay over it counts as seen, and may be answered, only
# after the dialog is gone.

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from textual import events
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.domain.machines import HUMAN_ENDED_PAUSES
from workbench.domain.rows import Session
from workbench.render import cells, list_rows
from workbench.text import human
from workbench.text.human import clock_time, time_left_text
from workbench.tui.keyboard import keymap
from workbench.tui.pane import PlaceWanted, SessionChosen
from workbench.tui.render_context import glyphs, has_motion, ink
from workbench.tui.widgets.line_view import LineView
from workbench.tui.widgets.pane_frame import overflow_text
from workbench.views import sessions
from workbench.views.approvals import waiting_elsewhere_text
from workbench.views.sessions import HeaderFacts, SessionRow

_TITLE_CELLS = 24
_MIN_PATH_CELLS = 12
_TAB_MARGIN = 4
"""Cells between the last tab and what stands at the right end, and behind it."""
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
            return cells.line_strip(Content(" workbench"), width, panel)
        right = self._right(self._facts)
        left, middle = self._left_and_middle(self._facts, right)
        while right[1:] and _needed_cells(left, middle, right) > width:
            right.pop(0)
        # Beside trouble, what waits is worth more than the path.
        for group in (left, middle) if self._facts.trouble else (middle, left):
            while group[1:] and _needed_cells(left, middle, right) > width:
                group.pop()
        parts = [_joined_parts(group, gap) for group, gap in zip((left, middle, right), _GAPS, strict=True)]
        room = width - sum(part.cell_length for part in parts) - 2
        before = max(2, min(room - 2, (width - parts[1].cell_length) // 2 - parts[0].cell_length - 1))
        after = max(2, room - before)
        line = Content("").join([Content(" "), parts[0], Content(" " * before), parts[1]])
        return cells.line_strip(
            Content("").join([line, Content(" " * after), parts[2], Content(" ")]), width, panel
        )

    def _left_and_middle(
        self, facts: HeaderFacts, right: Sequence[Content]
    ) -> tuple[list[Content], list[Content]]:
        """Return where it is, and what waits, runs and failed; in few words where there is no room."""
        width = self.size.width
        for is_short in (False, True):
            middle = self._middle(facts, is_short=is_short)
            left = self._left(facts, width - _needed_cells([], middle, right))
            if _needed_cells(left, middle, right[-1:]) <= width:
                break
        return left, middle

    def _left(self, facts: HeaderFacts, room: int) -> list[Content]:
        """Return where it is: the path takes what the others leave, and a quarter of the row at least."""
        colours = ink(self)
        parts = [Content.styled("workbench", colours.of("info", bold=True))]
        after = [cells.safe_content(facts.branch, colours.of("muted"))] if facts.branch else []
        free = room - sum(part.cell_length + len(_GAPS[0]) for part in (*parts, *after))
        # What waits elsewhere is worth more than the beginning of a path.
        least = 0 if facts.elsewhere else self.size.width // 4
        room = max(_MIN_PATH_CELLS, least, free)
        place = cells.shorten_line(cells.safe_content(facts.workspace), room, glyphs(self), keeps_end=True)
        return [*parts, place, *after]

    def _middle(self, facts: HeaderFacts, *, is_short: bool) -> list[Content]:
        colours, signs = ink(self), glyphs(self)
        if facts.trouble:
            trouble = f"{signs.of('failed')} {facts.trouble}"
            return [cells.safe_content(trouble, colours.of("failed", bold=True)), self._waiting(facts)]
        parts = [self._waiting(facts)]
        if facts.running:
            is_timed = facts.running == 1 and facts.seconds is not None
            clock = f" {human.countdown_text(facts.seconds or 0)}" if is_timed else ""
            words = f"{facts.running} running{clock}"
            parts.append(_sign_with_count(signs.of("running"), colours.of("info"), words))
        if facts.failed:
            parts.append(_sign_with_count(signs.of("failed"), colours.of("failed"), f"{facts.failed} failed"))
        if facts.elsewhere:
            words = waiting_elsewhere_text(facts.elsewhere)
            words = f"{facts.elsewhere} elsewhere, w" if is_short else words
            parts.append(Content.styled(words, colours.of("waiting")))
        return parts

    def _waiting(self, facts: HeaderFacts) -> Content:
        colours, signs = ink(self), glyphs(self)
        if not facts.waiting:
            if not self._has_model:
                return Content("")
            return _sign_with_count(signs.of("ok"), colours.of("added"), "nothing waits")
        sign = Content.styled(
            f"{signs.of('waiting')} {facts.waiting} waiting", colours.of("waiting", bold=True)
        )
        if facts.first_left is None:
            return sign
        first = " first " if self.size.width < 100 else " first in "
        tone = {"calm": "foreground", "soon": "waiting", "now": "failed"}[facts.urgency]
        words = time_left_text(facts.first_left, in_minutes=not has_motion(self))
        left = Content.styled(words, colours.of(tone, bold=True))  # type: ignore[arg-type]
        return Content("").join([sign, Content(first), left])

    def _right(self, facts: HeaderFacts) -> list[Content]:
        colours = ink(self)
        parts: list[Content] = []
        if not self._has_model:
            parts.append(Content.styled("no model yet", colours.of("muted")))
        elif facts.model:
            parts.append(cells.safe_content(facts.model, colours.of("muted")))
        if facts.tokens:
            parts.append(Content.styled(f"{human.token_text(facts.tokens)} tok", colours.of("muted")))
        if facts.money:
            parts.append(cells.safe_content(facts.money, colours.of("muted")))
        return [*parts, Content(clock_time(facts.clock))]


def _needed_cells(*groups: Sequence[Content]) -> int:
    """Return the cells that a row of groups takes, with what is between them and at both ends."""
    joined = (_joined_parts(group, gap) for group, gap in zip(groups, _GAPS, strict=True))
    return 2 * len(_GAPS) + sum(part.cell_length for part in joined)


def _joined_parts(parts: Sequence[Content], gap: str) -> Content:
    return Content(gap).join(parts)


def _sign_with_count(sign: str, style: object, words: str) -> Content:
    return Content.assemble((sign, style), f" {words}")  # type: ignore[arg-type]


class SessionStrip(Widget):
    """The sessions in one row, for the medium screen."""

    DEFAULT_CSS = "SessionStrip { height: 1; width: 1fr; background: $background; }"

    def __init__(self) -> None:
        super().__init__(id="strip")
        self._rows: Sequence[SessionRow] = ()
        self._places: list[tuple[int, int, str]] = []
        self._all_cells = 0
        """Cells at the right end that lead to all sessions."""

    def show(self, rows: Sequence[SessionRow]) -> None:
        """Show sessions; the one on show is marked."""
        if rows != self._rows:
            self._rows = rows
            self.refresh()

    def render_line(self, y: int) -> Strip:
        del y
        colours, signs, width = ink(self), glyphs(self), self.size.width
        count = len(self._rows)
        words = f" all {human.counted(count, 'session')} " if count else " all sessions "
        right = Content.assemble(("0", colours.of("info", bold=True)), (words, colours.of("muted")))
        self._all_cells = right.cell_length
        fitting, _ = sessions.fitting_strip_rows(self._rows, width - right.cell_length - 4)
        self._places = []
        line = Content("  ") if self._rows else Content.styled("  No session here yet.", colours.of("muted"))
        for row in fitting:
            tone = colours.of("muted" if row.is_muted else "foreground", bold=row.is_current)
            item = Content.assemble(
                (signs.of(row.sign), colours.sign(row.sign)),
                " ",
                list_rows.folder_prefix(row.folder, colours),
                cells.shorten_line(cells.safe_content(row.title, tone), _TITLE_CELLS, signs),
            )
            if row.is_current:
                item = Content.assemble(item, " ", list_rows.shown_mark(colours, signs, is_shown=True))
            if row.waiting:
                item = Content.assemble(item, (f" {row.waiting}", colours.of("waiting", bold=True)))
            self._places.append((line.cell_length, line.cell_length + item.cell_length, row.id))
            line = Content.assemble(line, item, "   ")
        gap = " " * max(0, width - line.cell_length - right.cell_length)
        return cells.line_strip(Content.assemble(line, gap, right), width, colours.on("background"))

    def on_click(self, event: events.Click) -> None:
        """Show the clicked session, or all of them."""
        for first, last, session_id in self._places:
            if first <= event.x < last:
                self.post_message(SessionChosen(session_id))
                return
        if event.x >= self.size.width - self._all_cells:
            self.post_message(PlaceWanted(0))


class Tab(Struct, frozen=True, kw_only=True):
    """One pane in the tab row."""

    place: int
    name: str
    waiting: int = 0
    failed: int = 0
    is_here: bool = False


class Tabs(Widget):
    """The panes as a row, with their counts, for the narrow screen."""

    DEFAULT_CSS = "Tabs { height: 1; width: 1fr; background: $background; }"

    class Clicked(Message):
        """A tab was clicked."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self) -> None:
        super().__init__(id="tabs")
        self._tabs: Sequence[Tab] = ()
        self._places: list[tuple[int, int, int]] = []
        self._lists: dict[int, LineView] = {}

    def follow(self, place: int, view: LineView) -> None:
        """Say at the right end what of the list of a pane is not on the screen, while it is there."""
        self._lists[place] = view
        view.watch_extent(self.refresh)

    def show(self, tabs: Sequence[Tab]) -> None:
        """Show tabs."""
        if tabs != self._tabs:
            self._tabs = tabs
            self.refresh()

    def render_line(self, y: int) -> Strip:
        del y
        self._places = []
        line = Content(" ")
        here = self._lists.get(next((tab.place for tab in self._tabs if tab.is_here), -1))
        more, short = (
            "" if here is None else overflow_text(here, glyphs(self), is_short=is_short)
            for is_short in (False, True)
        )
        bare = self._without_name(self.size.width - (len(more) + _TAB_MARGIN if more else 0))
        for tab in self._tabs:
            item = self._item(tab, has_name=tab not in bare)
            self._places.append((line.cell_length, line.cell_length + item.cell_length, tab.place))
            line = Content.assemble(line, item, "  " if tab.is_here else "   ")
        room = self.size.width - line.cell_length - 1
        more = more if len(more) <= room else short
        line = Content.assemble(line, " " * max(0, room - len(more)), (more, ink(self).of("muted")))
        return cells.line_strip(line, self.size.width, ink(self).on("background"))

    def _without_name(self, room: int) -> Sequence[Tab]:
        """Return the tabs of which only the number fits: the first ones, and never the one that is here."""
        bare: list[Tab] = []
        over = 1 + sum(self._item(tab).cell_length + 3 for tab in self._tabs) - 3 - room
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
                self.post_message(PlaceWanted(place))


class FooterKey(Struct, frozen=True, kw_only=True):
    """One key of the footer."""

    keys: str
    label: str
    why_off: str = ""
    is_waiting: bool = False
    """It counts in a moment: what it is about just appeared."""
    id: str = ""
    """Which key of the table a click is about; empty where a click does nothing."""


def footer_keys(scope: str, owner: Any) -> list[FooterKey]:
    """Return the keys of a page in the order of their rank; those that do nothing now are left out."""
    users = keymap.user_keymap(owner)
    rows = sorted((key for key in keymap.keys_of_scopes([scope]) if key.footer), key=lambda key: key.footer)
    return [
        FooterKey(id=key.id, keys=keymap.printed_keys(key, users), label=key.label)
        for key in rows
        if not key.why_off(owner)
    ]


def resume_keys(session: Session | None) -> list[FooterKey]:
    """Return what continues a paused agent from the composer, where the keys of its notice are text."""
    if session is None or session.status != "paused" or session.kind != "chat":
        return []
    is_held = session.reason in HUMAN_ENDED_PAUSES
    return [FooterKey(keys="/continue", label="the paused agent")] if is_held else []


class Footer(Widget):
    """Keys of what has the focus."""

    DEFAULT_CSS = "Footer { height: 1; width: 1fr; background: $panel; }"

    class Pressed(Message):
        """A key was clicked."""

        def __init__(self, key: FooterKey) -> None:
            super().__init__()
            self.key = key

    def __init__(self) -> None:
        super().__init__(id="footer")
        self._places: list[tuple[int, int, FooterKey]] = []
        self._keys: Sequence[FooterKey] = ()
        self._right: FooterKey | None = None

    def show(self, keys: Sequence[FooterKey], right: FooterKey | None) -> None:
        """Show keys by rank, and one at the right end."""
        if (keys, right) != (self._keys, self._right):
            self._keys, self._right = keys, right
            self.refresh()

    def render_line(self, y: int) -> Strip:
        del y
        self._places = []
        width = self.size.width
        right = self._item(self._right, width) if self._right else Content("")
        room = width - right.cell_length - 3
        line = Content(" ")
        for key in self._keys:
            item = self._item(key, width)
            if line.cell_length + item.cell_length > room:
                continue
            self._places.append((line.cell_length, line.cell_length + item.cell_length, key))
            line = Content.assemble(line, item, "  ")
        if self._right is not None:
            self._places.append((width - right.cell_length - 1, width - 1, self._right))
        gap = " " * max(0, width - line.cell_length - right.cell_length - 1)
        return cells.line_strip(Content.assemble(line, gap, right, " "), width, ink(self).on("panel"))

    def on_click(self, event: events.Click) -> None:
        """Say which key was clicked."""
        for first, last, key in self._places:
            if first <= event.x < last and key.id:
                self.post_message(self.Pressed(key))

    def _item(self, key: FooterKey, width: int) -> Content:
        colours, signs = ink(self), glyphs(self)
        keys, label = signs.line(key.keys), signs.line(key.label)
        if key.why_off:
            reason = f" {key.why_off}" if width >= 140 else ""
            words = reason or f" {label}"
            return Content.styled(f"{keys}{words}", colours.of("faint"))
        tone = colours.of("faint" if key.is_waiting else "foreground")
        key_tone = colours.of("muted") if key.is_waiting else colours.of("info", bold=True)
        return Content.assemble((keys, key_tone), " ", cells.safe_content(label, tone))
