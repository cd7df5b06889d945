"""Which panes are on the screen and how large, by screen size, place and zoom (UX section 2).

The computation is pure; `LayoutController` applies it to the main screen.
"""

# A narrow screen has no rule over the composer. At 80x24 the diff keeps 15 rows that way; a sentence takes
# the composer's row for its four seconds, so that nothing moves.

from collections.abc import Container, Iterator
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

from workbench.tui.pane import LineWanted, Pane
from workbench.tui.places import PANE_PLACES, place_number
from workbench.tui.widgets.screen_sizes import LEAST_ROWS, MEDIUM, NARROW, SHORT, TALL, WIDE

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.main.prompt_bar import PromptBar
    from workbench.tui.main.too_small_page import TooSmallPage

WidthClass = Literal["tiny", "narrow", "medium", "wide"]
FIRST_PAGE_SIZE: Final = (40, 8)
"""Columns and rows from which the first page is shown."""
SIDEBAR_WIDTH: Final = 25
_CONVERSATION_WIDTH, _QUEUE_WIDTH = 58, 74
_MIN_PANE_WIDTH: Final = 48
"""Columns of the conversation on a medium screen, and the least it has on a wide one."""


_SESSIONS, _TOOLS, _PIPELINE = (place_number(name) for name in ("sessions", "tools", "pipeline"))


class Layout(Struct, frozen=True, kw_only=True):
    """What is where."""

    width: WidthClass
    shown: frozenset[int]
    """Places whose panes are on the screen."""
    left: int = 0
    """Columns of conversation and tools; 0 is all of them."""
    tools: int = 0
    """Rows of the tools under the conversation; 0 is all of them."""
    pipeline: int = 0
    """Rows of the pipeline under the approvals; 0 is all of them."""
    is_alone: bool = False
    """One pane has the whole body."""
    has_moment: bool = False
    """What the session is about stands below an empty queue."""

    @property
    def has_rail(self) -> bool:
        """Return whether the rail is beside the other panes."""
        return _SESSIONS in self.shown and not self.is_alone

    @property
    def has_strip(self) -> bool:
        """Return whether the one-line strip stands for the rail."""
        return self.width == "medium" and not self.is_alone

    @property
    def has_tabs(self) -> bool:
        """Return whether a tab row says which panes there are."""
        return self.width == "narrow"


def width_class(columns: int, rows: int) -> WidthClass:
    """Return the class of a size."""
    if columns < NARROW or rows < LEAST_ROWS:
        return "tiny"
    if columns < MEDIUM or rows < SHORT:
        # In an editor's panel one pane has every row there is.
        return "narrow"
    return "medium" if columns < WIDE else "wide"


def layout_for_size(
    columns: int, rows: int, place: int, *, is_zoomed: bool = False, empty: Container[int] = ()
) -> Layout:
    """Return what is on a screen.

    Args:
        columns: of the terminal.
        rows: of the terminal.
        place: where the user is; a place that is none of the five panes has the whole body.
        is_zoomed: whether that pane has the whole body.
        empty: places that have nothing to show: beside others they are folded to their title.
    """
    width = width_class(columns, rows)
    is_short = rows < TALL
    hidden_here = place == _SESSIONS and width == "medium"
    opened_over = is_short and place in (_TOOLS, _PIPELINE)
    if width in ("tiny", "narrow") or is_zoomed or hidden_here or opened_over or place not in PANE_PLACES:
        return Layout(width=width, shown=frozenset({place}), is_alone=True)
    tools = 1 if is_short or _TOOLS in empty else None
    pipeline = 1 if is_short or _PIPELINE in empty else None
    if width == "medium":
        return Layout(
            width=width,
            shown=frozenset(PANE_PLACES) - {_SESSIONS},
            left=_MIN_PANE_WIDTH,
            tools=tools or 7,
            pipeline=pipeline or 7,
        )
    room = columns - SIDEBAR_WIDTH - 2
    left = max(
        _MIN_PANE_WIDTH,
        min(_CONVERSATION_WIDTH, room - _QUEUE_WIDTH),
        round(room / 2.27) if room > 133 else 0,
    )
    return Layout(
        width=width, shown=frozenset(PANE_PLACES), left=left, tools=tools or 12, pipeline=pipeline or 10
    )


_LOW_ROWS: Final = 24
"""Rows up to which a narrow screen gives the list one row less, for the diff."""


class LayoutController:
    """Puts the widgets of a main screen where its size, place and zoom want them."""

    def __init__(self, screen: Screen[Any], context: "MainContext") -> None:
        self._screen, self._context, self._widgets = screen, context, context.widgets
        for pane in context.places.panes:
            if pane.list_view is not None:
                self._widgets.tabs.follow(pane.PLACE, pane.list_view)
        widgets = self._widgets
        widgets.strip.display = widgets.tabs.display = False
        self.arrangement: Layout | None = None
        self._has_moment = self._has_question = False
        self._small: TooSmallPage | None = None
        self._line_bar: PromptBar | None = None
        self._focused_before: Widget | None = None
        """What had the focus before the terminal became too small for anything."""

    @property
    def is_tiny(self) -> bool:
        """Return whether the terminal is too small for anything."""
        return self.arrangement is not None and self.arrangement.width == "tiny"

    @property
    def is_alone(self) -> bool:
        """Return whether one pane has the whole body."""
        return self.arrangement is not None and self.arrangement.is_alone

    @property
    def is_smaller_than_panes(self) -> bool:
        """Return whether there is room for the first page at most."""
        size = self._screen.size
        return width_class(size.width, size.height) == "tiny"

    def is_shown(self, pane: Pane) -> bool:
        """Return whether a pane is on the screen."""
        return self.arrangement is not None and pane.PLACE in self.arrangement.shown

    def show_too_small(self) -> None:
        """Say on a terminal that is too small how large it must be, and what waits."""
        if not self.is_tiny:
            return
        if self._small is None:
            from workbench.tui.main.too_small_page import TooSmallPage

            self._small = TooSmallPage()
            self._screen.mount(self._small, after=self._widgets.footer)
        self._small.show(self._screen.size, self._context.presenter.summary())

    @property
    def line_bar(self) -> "PromptBar":
        """Return where a line is typed for a pane, made when one is first asked for."""
        if self._line_bar is None:
            from workbench.tui.main.prompt_bar import PromptBar

            self._line_bar = PromptBar(self._line_closed)
            self._line_bar.display = False
            self._screen.mount(self._line_bar, before=self._widgets.footer)
        return self._line_bar

    @property
    def is_line_asked(self) -> bool:
        """Return whether a line is being typed for a pane."""
        return self._line_bar is not None and self._line_bar.asked is not None

    def show_bottom(self, *, is_shown: bool) -> None:
        """Show the last rows, or give their place to a line that is asked for."""
        self._widgets.footer.display = is_shown
        self._widgets.composer.display = is_shown and self.has_composer

    def _line_closed(self, asked: LineWanted) -> None:
        self.show_bottom(is_shown=True)
        if isinstance(asked.pane, Pane):
            asked.pane.focus_view.focus()
        else:
            self._context.go_to(self._context.places.current)

    def rearrange(self) -> None:
        """Put panes where size, place and zoom want them."""
        if not self._screen.size.area:
            return
        had_rows = self._widgets.strip.display, self._widgets.tabs.display
        self.arrangement = layout = self._layout()
        if self._classify(layout):
            self._screen.update_node_styles()
        self.put(layout)
        if (self._widgets.strip.display, self._widgets.tabs.display) != had_rows:
            self._context.presenter.head()
        approvals = self._widgets.approvals
        is_large = layout.width in ("medium", "wide") and not self.is_question_page
        is_zoomed = layout.is_alone and is_large and not approvals.is_full
        if approvals.is_zoomed != is_zoomed:
            approvals.is_zoomed = is_zoomed
            approvals.reshow(is_sorted=True)
        self._take_or_give_focus()

    def first_rows(self) -> Iterator[Widget]:
        """Say in classes how things will be arranged, and yield the rows that are over the panes then."""
        layout = self._layout()
        self._classify(layout)
        self._show_rows(layout)
        yield from (row for row in (self._widgets.strip, self._widgets.tabs) if row.display)

    def has_strip(self, layout: Layout) -> bool:
        """Return whether the row below the header is shown."""
        return layout.has_strip

    def _show_rows(self, layout: Layout) -> None:
        self._widgets.strip.display = self.has_strip(layout)
        has_tabs = layout.has_tabs and not self.is_question_page
        self._widgets.tabs.display = has_tabs and not self._context.places.is_away

    def _layout(self) -> Layout:
        size = self._screen.size
        is_zoomed = self._context.places.is_zoomed or self._widgets.approvals.is_full
        if self._is_first_page and size.width >= FIRST_PAGE_SIZE[0] and size.height >= FIRST_PAGE_SIZE[1]:
            # It has the whole body, and is read where nothing else is.
            size = Size(max(size.width, NARROW), max(size.height, SHORT))
            is_zoomed = True
        is_zoomed = is_zoomed or self.is_question_page
        state = self._context.state
        empty = [place for place, rows in ((3, state.listed_calls), (4, state.runs.rows)) if not rows]
        layout = layout_for_size(
            size.width, size.height, self._context.places.current, is_zoomed=is_zoomed, empty=empty
        )
        has_room = 2 in layout.shown and layout.width != "tiny" and size.height >= SHORT
        has_moment = has_room and not state.pending and self._context.moment.is_wanted
        return replace(layout, has_moment=True) if has_moment else layout

    def refit(self) -> None:
        """Fold a pane that has nothing to show any more, open one that has, say what a small screen can."""
        if self.arrangement is not None and self._layout() != self.arrangement:
            self.rearrange()
        self.show_too_small()

    @property
    def _is_first_page(self) -> bool:
        return self._context.first_page.is_shown and self._context.places.current == 1

    @property
    def is_question_page(self) -> bool:
        """Return whether the first question of a demo has the body."""
        is_here = self._context.places.current == place_number("approvals")
        return is_here and self._context.first_page.asks_first and not self._widgets.approvals.is_full

    def _classify(self, layout: Layout) -> bool:
        """Say in classes how things are arranged; return whether that is new."""
        screen = self._screen
        before = screen.classes
        for name in ("tiny", "narrow", "medium", "wide"):
            screen.set_class(layout.width == name, f"-{name}", update=False)
        screen.set_class(layout.is_alone, "-alone", update=False)
        screen.set_class(self._widgets.approvals.is_full, "-full", update=False)
        screen.set_class(screen.size.height <= _LOW_ROWS, "-low", update=False)
        screen.set_class(screen.size.height < SHORT, "-short", update=False)
        screen.set_class(self._is_first_page, "-first", update=False)
        screen.set_class(self.is_question_page, "-question", update=False)
        return screen.classes != before

    def put(self, layout: Layout) -> None:
        """Show what an arrangement shows, in its sizes."""
        screen, widgets = self._screen, self._widgets
        for pane in self._context.places.panes:
            pane.display = pane.PLACE in layout.shown
        left, right = screen.query_one("#left"), screen.query_one("#right")
        left.display, right.display = bool(layout.shown & {1, 3}), bool(layout.shown & {2, 4})
        left.styles.width = layout.left or "1fr"
        widgets.tools.styles.height = layout.tools or "1fr"
        widgets.pipeline.styles.height = layout.pipeline or "1fr"
        screen.query_one("#rail-divider").display = layout.has_rail
        screen.query_one("#middle-divider").display = left.display and right.display
        self._show_rows(layout)
        for row in (widgets.strip, widgets.tabs):
            if row.display and row.parent is None:
                screen.mount(row, before="#body")
        widgets.rail.set_board(is_board=layout.is_alone and 0 in layout.shown and layout.width != "tiny")
        if layout.has_moment or self._has_moment:
            self._has_moment = layout.has_moment
            self._context.moment.put(is_shown=layout.has_moment)
        if self.is_question_page or self._has_question:
            self._has_question = self.is_question_page
            self._context.question_page.put(is_shown=self._has_question)
        self._context.places.show()
        self.status()

    def status(self) -> None:
        """Give the rule its row; a narrow screen has none to spare, there a sentence takes the composer's."""
        widgets = self._widgets
        is_narrow = self.arrangement is not None and self.arrangement.width == "narrow"
        is_said = bool(widgets.rule.said)
        widgets.rule.display = not is_narrow or is_said
        if not self.is_line_asked:
            has_room = not (is_narrow and is_said) or widgets.composer.is_written_in
            widgets.composer.display = has_room and self.has_composer

    @property
    def has_composer(self) -> bool:
        """Return whether the screen has a composer, be it below a sentence for a moment."""
        is_closed = self._context.places.is_away or self.is_question_page
        return not is_closed and self._context.presenter.has_model

    def focus_composer(self) -> None:
        """Give the composer the focus at once, and its row where a sentence has it."""
        composer = self._widgets.composer
        composer.display = True
        self._screen.set_focus(composer.input)

    def focus(self, widget: Widget) -> None:
        """Give a widget the focus, on a screen that is too small as soon as it grows."""
        if self.is_tiny:
            self._focused_before = widget
        else:
            widget.focus()

    def _take_or_give_focus(self) -> None:
        """Let nothing have the focus on a screen that is too small, and give it back when it grows."""
        if self.is_tiny:
            self._focused_before = self._screen.focused or self._focused_before
            self._screen.set_focus(None)
            self.show_too_small()
        elif self._focused_before is not None:
            self._focused_before.focus()
            self._focused_before = None
            self._widgets.approvals.disarm()
