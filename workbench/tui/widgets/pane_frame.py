"""What surrounds the body of a pane: its title row, column headers, dividers and the rule under the body."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from textual import events
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.visual import VisualType
from textual.widget import Widget
from textual.widgets import Static

from workbench.render import cells
from workbench.render.glyphs import Glyphs
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.line_view import LineView, ListExtent

_MIN_TITLE_CELLS = 12
"""Cells of facts that are worth more than what stands at the right end."""


def overflow_text(view: LineView, signs: Glyphs, *, is_short: bool = False) -> str:
    """Return how far a list goes and where there is more, `4 of 9 ↓`; empty when all of it is seen."""
    return "" if view.is_following else extent_text(view.extent, signs, is_short=is_short)


def extent_text(extent: ListExtent, signs: Glyphs, *, is_short: bool = False) -> str:
    """Return the same of rows that are counted elsewhere."""
    if extent.last - extent.first >= extent.total:
        return ""
    arrows = ("↑" if extent.first else "") + ("↓" if extent.last < extent.total else "")
    return signs.line(
        f"{extent.total:,} {arrows}" if is_short else f"{extent.last:,} of {extent.total:,} {arrows}"
    )


class PaneTitle(Widget):
    """One row over a pane."""

    DEFAULT_CSS = "PaneTitle { height: 1; width: 1fr; color: $foreground; }"

    @dataclass(eq=False, repr=False)
    class Pressed(Message):
        """The title was clicked: the pane wants the focus."""

        title: "PaneTitle"

    def __init__(self, name: str, number: int | None = None, *, key: str | None = None) -> None:
        super().__init__(id=key)
        self._number, self._words = number, name
        self._facts: Content = Content("")
        self._right: Content = Content("")
        self._says_more: bool = False
        self._below: LineView | None = None
        self.is_focused = False

    def follow(self, view: LineView) -> None:
        """Say at the right end what of the list below is not on the screen."""
        self._below = view
        view.watch_extent(self.refresh)

    def show(
        self,
        facts: Content | None = None,
        right: Content | None = None,
        name: str | None = None,
        *,
        says_more: bool = False,
    ) -> None:
        """Set what is said beside the name and at the right end; None leaves a part as it is.

        Args:
            facts: what stands beside the name.
            right: what stands at the right end.
            name: another name.
            says_more: whether the right end says that there is more; then the count of lines goes first.
        """
        # Nothing to say is said too: an empty text is no reason to keep the one before.
        facts = self._facts if facts is None else facts
        right = self._right if right is None else right
        words = self._words if name is None else name
        is_same = facts.is_same(self._facts) and right.is_same(self._right)
        if not is_same or words != self._words or says_more != self._says_more:
            self._facts, self._right, self._words, self._says_more = facts, right, words, says_more
            self.refresh()

    def set_focused(self, is_focused: bool) -> None:
        """Show whether the keys count here."""
        if is_focused != self.is_focused:
            self.is_focused = is_focused
            self.refresh()

    def render(self) -> Content:
        """Return the row: name, facts, rule, facts."""
        rule = "$info" if self.is_focused else "$rule"
        line = glyphs(self).line("─")
        more, short = (self._overflow(is_short=is_short) for is_short in (False, True))
        both = Content("   ").join(part for part in (more, self._right) if part.plain.strip())
        bare = self._left(line, rule, Content("")).cell_length + (3 if self._words else 1)
        # What is not on the screen goes last: then nothing else would say that there is more.
        parts = (both, self._right) if self._says_more else (both,)
        right, room = Content(""), 0
        for shown in (*parts, more, short, Content("")):
            has_words = bool(shown.plain.strip())
            right = Content.assemble(" ", shown, " ", (line, rule)) if has_words else Content("")
            room = self.size.width - bare - right.cell_length
            if room >= min(_MIN_TITLE_CELLS, self._facts.cell_length):
                break
        left = self._left(line, rule, self._cut(max(0, room)))
        room = self.size.width - left.cell_length - right.cell_length - 1
        return Content.assemble(left, " ", (line * max(0, room), rule), right).truncate(self.size.width)

    def _overflow(self, *, is_short: bool) -> Content:
        if self._below is None:
            return Content("")
        return Content.styled(
            overflow_text(self._below, glyphs(self), is_short=is_short), ink(self).of("muted")
        )

    def _cut(self, room: int) -> Content:
        """Return the facts in so many cells; of a part that is cut to nothing no sign is left."""
        shortened, sign = cells.shorten_line(self._facts, room, glyphs(self)), glyphs(self).line("…")
        head = shortened.plain.removesuffix(sign)
        return (
            shortened[: len(head.rstrip())] if head != shortened.plain and head.endswith("  ") else shortened
        )

    def _left(self, line: str, rule: str, facts: Content) -> Content:
        name = self._words if self._number is None else f"{self._number} {self._words}"
        style = "bold $background on $info" if self.is_focused else "bold $foreground"
        if not name:
            return Content.assemble((line, rule), " ", facts)
        gap = "" if self.is_focused else " "
        shown = Content.styled(f" {name} " if self.is_focused else name, style)
        parts = [Content.styled(line, rule), Content(gap), shown]
        if facts.plain.strip():
            # The reversed name ends in a blank of its own: facts stand in the same cells with and without.
            parts += [Content(" " if self.is_focused else "  "), facts]
        return Content("").join(parts)

    def on_click(self, event: events.Click) -> None:
        """Ask for the focus."""
        event.stop()
        self.post_message(self.Pressed(self))


class ColumnHeader(Widget):
    """The heads of a list's columns."""

    DEFAULT_CSS = "ColumnHeader { height: 1; width: 1fr; background: $background; }"

    def __init__(self, draw: Callable[[int], Strip], *, key: str | None = None) -> None:
        """Show what `draw` returns for a width in cells."""
        super().__init__(id=key)
        self._draw = draw

    def render_line(self, y: int) -> Strip:
        del y
        return self._draw(self.size.width).apply_style(self.rich_style)


class StableStatic(Static):
    """Content that changes seldom and is set often."""

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        """Show another content.

        Args:
            content: What to show.
            layout: Whether the screen is laid out anew if it is another one.
        """
        before = self.content
        if isinstance(content, Content) and isinstance(before, Content) and content.is_same(before):
            return
        super().update(content, layout=layout)


_JUNCTIONS = {(False, False): "│", (True, False): "┤", (False, True): "├", (True, True): "┼"}


def call_after_layout(widget: Widget, look: Callable[[], None]) -> None:
    """Have a function called whenever a widget's screen was laid out."""

    def laid_out(_: object) -> None:
        look()

    # Textual leaves the type of a screen's result open; nothing here depends on it.
    cast("Any", widget).screen.screen_layout_refresh_signal.subscribe(widget, laid_out)


class Divider(Widget):
    """One column between two panes."""

    DEFAULT_CSS = "Divider { width: 1; height: 1fr; }"

    def __init__(self, *, key: str | None = None, top: str = "") -> None:
        """Divide two panes.

        Args:
            key: the id.
            top: what the first cell is where a title meets it at the left; empty joins it as any other.
        """
        super().__init__(id=key)
        self._top = top

    def on_mount(self) -> None:
        call_after_layout(self, self.look)

    def look(self) -> None:
        """Note the rows at which titles meet this column."""
        joints: dict[int, str] = {}
        column = self.region.x
        # Not a query: matching selectors against every widget, thrice a layout, took longer than laying out.
        regions = [title.region for title in self.screen.walk_children(PaneTitle)]
        titles = [region for region in regions if region.width and column in (region.right, region.x - 1)]
        for y in range(self.region.y, self.region.bottom):
            left = any(region.y == y and region.right == column for region in titles)
            right = any(region.y == y and region.x == column + 1 for region in titles)
            joints[y - self.region.y] = _JUNCTIONS[left, right]
        if joints and joints[0] == "┼":
            joints[0] = "┬"
        elif joints and joints[0] == "┤" and self._top:
            joints[0] = self._top
        if joints != getattr(self, "_joints", None):
            self._joints = joints
            self.refresh()

    def render_line(self, y: int) -> Strip:
        joint = getattr(self, "_joints", {}).get(y, "│")
        colours = ink(self)
        return cells.line_strip(
            Content.styled(glyphs(self).line(joint), colours.of("rule")), 1, colours.on("background")
        )


class PaneRule(Widget):
    """The row under the body: a hairline, or for four seconds a sentence in it."""

    DEFAULT_CSS = "PaneRule { height: 1; width: 1fr; }"

    class Changed(Message):
        """A sentence came or went."""

    SECONDS = 4.0

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(id=key)
        self._said, self._is_error, self._is_focused = "", False, False
        self._asked = self._about = ""
        self._count = 0
        self._columns: set[int] = set()

    def on_mount(self) -> None:
        call_after_layout(self, self.look)

    def look(self) -> None:
        """Note the columns at which dividers meet this row."""
        dividers = (divider.region for divider in self.screen.walk_children(Divider))
        columns = {region.x for region in dividers if region.width}
        if columns != self._columns:
            self._columns = columns
            self.refresh()

    def set_focused(self, is_focused: bool) -> None:
        """Show whether what is typed goes below it, as the title of a pane does."""
        if is_focused != self._is_focused:
            self._is_focused = is_focused
            self.refresh()

    def say(self, text: str, *, is_error: bool = False, about: str = "") -> None:
        """Show a sentence for four seconds; one about an action at most as long as keys answer it."""
        self._said, self._is_error, self._about = text, is_error, about
        self._count += 1
        count = self._count
        self.refresh()
        self.post_message(self.Changed())
        self.set_timer(self.SECONDS, lambda: self._stop(count))

    def ask(self, text: str) -> None:
        """Show a question until it is answered; empty takes it away."""
        self._asked = text
        self.refresh()
        self.post_message(self.Changed())

    def end_advice(self, following: str | None) -> None:
        """Take away what is said about an action that keys no longer answer."""
        if self._about and self._about != following:
            self._stop(self._count)

    def _stop(self, count: int) -> None:
        if count == self._count:
            self._said = self._about = ""
            self.refresh()
            self.post_message(self.Changed())

    @property
    def said(self) -> str:
        """Return the sentence that is shown."""
        return self._asked or self._said

    def render_line(self, y: int) -> Strip:
        del y
        colours, signs = ink(self), glyphs(self)
        line = "".join(signs.line("┴" if x in self._columns else "─") for x in range(self.size.width))
        base, tone = colours.on("background"), colours.of("info" if self._is_focused else "rule")
        if not self.said:
            return cells.line_strip(Content.styled(line, tone), self.size.width, base)
        is_error = self._is_error and not self._asked
        style = colours.of("failed" if is_error else "waiting", bold=True)
        said = cells.shorten_line(cells.safe_content(self.said, style), max(0, self.size.width - 4), signs)
        words = Content.assemble(" ", said, " ")
        rest = Content.styled(line[min(len(line), 1 + words.cell_length) :], tone)
        whole = Content.assemble((line[:1], tone), words, rest)
        return cells.line_strip(whole, self.size.width, base)
