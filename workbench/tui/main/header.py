"""The row above the panes: what waits, runs and failed, where, how much, and the time."""

from collections.abc import Sequence
from typing import Final

from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from workbench.render import cells
from workbench.text import human
from workbench.text.human import clock_time, time_left_text
from workbench.tui.keyboard import keymap
from workbench.tui.render_context import glyphs, has_motion, ink
from workbench.views.approvals import waiting_elsewhere_text
from workbench.views.sessions import HeaderFacts, hold_notice

_MIN_PATH_CELLS = 12
NARROW_HEADER: Final = 80
"""Columns below which the header says less."""
_WHOLE_AGENT: Final = 100
"""Columns from which the state of an agent is behind its name."""
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
        """Return the place, and what waits, runs and failed; shorter where there is no room."""
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
        brand = Content.styled("workbench", colours.of("info", bold=True))
        parts = [self.hold_sign() if facts.are_agents_held else brand]
        after = [cells.safe_content(facts.branch, colours.of("muted"))] if facts.branch else []
        free = room - sum(part.cell_length + len(_GAPS[0]) for part in (*parts, *after))
        # What waits elsewhere is worth more than the beginning of a path.
        least = 0 if facts.elsewhere else self.size.width // 4
        room = max(_MIN_PATH_CELLS, least, free)
        place = cells.shorten_line(cells.safe_content(facts.workspace), room, glyphs(self), keeps_end=True)
        return [*parts, place, *after]

    def hold_sign(self) -> Content:
        """Return in words that all agents are held, and which key releases them."""
        key = keymap.own_key(keymap.key_of("agents.release"), keymap.user_keymap(self))
        words = hold_notice(key, is_short=self.size.width < NARROW_HEADER)
        return Content.styled(words, ink(self).reverse("failed"))

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
            if not (self._has_model or facts.agent):
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
        if facts.model and (self._has_model or facts.agent):
            parts.append(cells.safe_content(facts.model, colours.of("muted")))
        if facts.agent:
            words = facts.agent if self.size.width >= _WHOLE_AGENT else facts.agent.rpartition(", ")[0]
            parts.append(cells.safe_content(f"{glyphs(self).of('agent')} {words}", colours.of("muted")))
        elif not self._has_model:
            parts.append(Content.styled("no model yet", colours.of("muted")))
        if facts.tokens:
            whose = " in this step" if facts.is_step else ""
            parts.append(Content.styled(f"{human.token_text(facts.tokens)} tok{whose}", colours.of("muted")))
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
