"""What appears over panes or in place of them: prompt bar, toast, popup, notice of a small screen.

`MinSizeDialog` is the base of dialogs in which something is decided: they need 60 columns and 18 rows. The
prompt bar replaces composer and footer while a line is asked for. All are loaded when first shown.
"""

import contextlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.render import cells
from workbench.render.cells import Column, wrap_line
from workbench.text import human
from workbench.text.width import cell_width
from workbench.tui import render_context
from workbench.tui.conversation.completion import Completions
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.owner import KeyOwner
from workbench.tui.keyboard.rule import ARM_SECONDS
from workbench.tui.main.layout import LEAST_ROWS, NARROW, SHORT
from workbench.tui.pane import LineWanted, StatusMessage
from workbench.tui.render_context import context_of, glyphs, ink
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.line_view import LineView
from workbench.tui.widgets.pane_frame import PaneTitle, call_after_layout
from workbench.views.approvals import QueueSummary
from workbench.views.toasts import Toast

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext

MAX_TOAST_WIDTH = 64
MIN_TOAST_WIDTH, MIN_TOAST_HEIGHT = 30, 4
_WHAT_LINES = 2
_WHY_LINES = 2
_EDGES = 6
"""Cells of a row that are not words: both borders and the blanks beside them."""
_PADDED_FROM_ROWS: Final = 8
"""Rows of the room from which a blank one stands above and below the words."""


class ToastBox(Widget, can_focus=False):
    """What is told now; hidden while there is nothing."""

    DEFAULT_CSS = """
    ToastBox { layer: over; position: absolute; display: none; width: 10; height: 4; background: $panel; }
    """
    SECONDS = 4.0

    class Pressed(Message):
        """It was clicked: its pane is wanted."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self, room: Callable[[], Region | None]) -> None:
        """Take what says where there is room at the moment."""
        super().__init__(id="toast")
        self._room = room
        self._toast: Toast | None = None
        self._more = 0
        self._count = 0
        self._lines: list[Content] = []

    def on_mount(self) -> None:
        call_after_layout(self, lambda: self.put(self._room()))

    @property
    def toast(self) -> Toast | None:
        """Return what is told now."""
        return self._toast

    def show(self, toast: Toast, room: Region, *, more: int = 0) -> None:
        """Tell something for four seconds, in the bottom right corner of a room.

        Args:
            toast: what.
            room: where it may stand, in cells of the screen.
            more: how many others were to be told at the same moment; the page of messages has them.
        """
        self._toast, self._more = toast, more
        self._count += 1
        count = self._count
        self.put(room)
        self.set_timer(self.SECONDS, lambda: self._end(count))

    def _end(self, count: int) -> None:
        if count == self._count:
            self.hide()

    def hide(self) -> None:
        """Tell nothing any more."""
        self._toast = None
        self.display = False

    def put(self, room: Region | None) -> None:
        """Stand in the corner of another room; without one vanish."""
        if self._toast is None:
            return
        if room is None or room.width < MIN_TOAST_WIDTH or room.height < MIN_TOAST_HEIGHT:
            self.hide()
            return
        width = min(MAX_TOAST_WIDTH, room.width - 1)
        lines = self._drawn(self._toast, width - _EDGES, room.height - 2)
        self._lines = [Content(""), *lines, Content("")] if room.height >= _PADDED_FROM_ROWS else lines
        height = len(self._lines) + 2
        self.styles.width, self.styles.height = width, height
        self.styles.offset = (room.right - width - 1, room.bottom - height)
        self.display = True
        self.refresh()

    # --- drawing --------------------------------------------------------------------------------

    def _drawn(self, toast: Toast, room: int, rows: int) -> list[Content]:
        colours, signs = ink(self), glyphs(self)
        sign = Content.assemble((signs.of("failed"), colours.of("failed")), " ")
        what = wrap_line(cells.safe_content(toast.what, colours.of("foreground", bold=True)), room - 2)
        last = min(_WHAT_LINES, rows - 1) - 1
        if what[last + 1 :]:
            what = [*what[:last], cells.shorten_line(Content(" ").join(what[last:]), room - 2, signs)]
        where = self._where(toast)
        why = wrap_line(cells.safe_content(toast.why, colours.of("muted")), room - 2) if toast.why else []
        shown = why[: min(_WHY_LINES, rows - len(what))]
        if len(why) > len(shown):
            shown[-1] = cells.shorten_line(shown[-1] + Content("  …"), room - 2, signs)
        first = [sign + what[0], *(Content("  ") + line for line in what[1:])]
        return [*first, *self._with_place(shown, where, room)]

    def _with_place(self, why: list[Content], where: Content, room: int) -> list[Content]:
        """Put the place at the end of the last line of the reason, which is cut for it."""
        lines = [Content("  ") + line for line in why] or [Content("")]
        if where.plain:
            left = cells.shorten_line(lines[-1], room - where.cell_length - 2, glyphs(self))
            lines[-1] = left + Content(" " * (room - left.cell_length - where.cell_length)) + where
        return lines if lines[0].plain.strip() else lines[1:]

    def _where(self, toast: Toast) -> Content:
        colours = ink(self)
        more = [Content.styled(f"{self._more} more: /messages", colours.of("faint"))] if self._more else []
        see = []
        if toast.place is not None:
            key = (str(toast.place), colours.of("info", bold=True))
            see = [Content.assemble(key, (" see it", colours.of("foreground")))]
        return Content("  ").join([*more, *see])

    def render_line(self, y: int) -> Strip:
        colours, line = ink(self), glyphs(self).line
        width, edge, base = self.size.width, ink(self).of("failed"), colours.on("panel")
        if 0 < y <= len(self._lines):
            words = self._lines[y - 1]
            blanks = Content(" " * max(0, width - _EDGES - words.cell_length))
            row = Content.assemble((f"{line('│')}  ", edge), words, blanks, (f"  {line('│')}", edge))
        else:
            left, right = ("╭", "╮") if y == 0 else ("╰", "╯")
            row = Content.styled(line(left) + line("─") * (width - 2) + line(right), edge)
        return cells.line_strip(row, width, base)

    def on_click(self, event: events.Click) -> None:
        """Lead to the pane."""
        event.stop()
        if self._toast is not None and self._toast.place is not None:
            self.post_message(self.Pressed(self._toast.place))
        self.hide()


_FULL_TEXT_SIZE = Size(44, 10)
"""Cells from which there is room for whole sentences."""
_AGENTS_GO_ON: Final = " agents still work, nothing is decided"
_AGENTS_GO_ON_FROM_ROWS: Final = 5
"""Rows from which there is one for it."""


class TooSmallPage(Static):
    """A page of a few sentences."""

    def __init__(self) -> None:
        super().__init__(id="small")

    def show(self, size: Size, summary: QueueSummary) -> None:
        """Say how big the screen must be, and what waits."""
        is_full = size.width >= _FULL_TEXT_SIZE.width and size.height >= _FULL_TEXT_SIZE.height
        lines = self._sentences(size) if is_full else self._words(size)
        lines = [self._waits(summary, is_full=is_full), *lines]
        signs = glyphs(self)
        shown = [cells.shorten_line(line, size.width, signs) for line in lines[: size.height]]
        self.update(Content("\n").join(shown))

    def _waits(self, summary: QueueSummary, *, is_full: bool) -> Content:
        colours, signs = ink(self), glyphs(self)
        left = "" if summary.first_left is None else f" {human.countdown_text(summary.first_left)}"
        count = f"{signs.of('waiting')} {summary.waiting} waiting{left}"
        waits = Content.styled(count, colours.of("waiting", bold=True))
        if not summary.waiting:
            waits = Content("nothing waits")
        name = (" workbench ", colours.of("info", bold=True)) if is_full else " "
        return Content.assemble(name, waits)

    def _sentences(self, size: Size) -> list[Content]:
        colours, line = ink(self), glyphs(self).line
        return [
            Content(""),
            Content(line(f"  {size.width}×{size.height} is too small to read a diff.")),
            Content(line(f"  Make it {NARROW}×{LEAST_ROWS} or more.")),
            Content(""),
            Content("  Agents keep working. Nothing is decided here."),
            Content("  By line instead:"),
            Content.styled("  workbench approvals watch", colours.of("muted")),
            Content(""),
            self._leave("  "),
        ]

    def _words(self, size: Size) -> list[Content]:
        line = glyphs(self).line
        has_room = size.width > len(_AGENTS_GO_ON) and size.height >= _AGENTS_GO_ON_FROM_ROWS
        return [
            Content(line(f" {size.width}×{size.height} is too small")),
            Content(line(f" make it {NARROW}×{LEAST_ROWS}")),
            *([Content(_AGENTS_GO_ON)] if has_room else []),
            self._leave(" "),
        ]

    def _leave(self, indent: str) -> Content:
        return Content.assemble(indent, ("q q", ink(self).of("info", bold=True)), " leave")


class MinSizeDialog(Dialog, inherit_bindings=False):
    """A dialog that needs room; its own widgets are in one box."""

    LEAVES: ClassVar[str] = ""
    """Id of the key that goes back, the only one that counts on a small screen."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._too_small = Static(classes="too-small")

    def compose(self) -> ComposeResult:
        yield from self.compose_box()
        yield self._too_small

    def compose_box(self) -> Iterable[Widget]:
        """Yield the box with what the dialog shows."""
        raise NotImplementedError

    @property
    def fits(self) -> bool:
        """Return whether what is asked about can be read."""
        return self.size.width >= NARROW and self.size.height >= SHORT

    def on_resize(self, event: events.Resize) -> None:
        """Show the dialog, or why not."""
        del event
        self.box.display = self.fits
        self._too_small.display = not self.fits
        self._too_small.update(self._sentences())
        self.resized()

    def resized(self) -> None:
        """Lay out in another size."""

    def _sentences(self) -> Content:
        colours, signs, size = ink(self), glyphs(self), self.size
        lines = [
            Content(signs.line(f"{size.width}×{size.height} is too small to decide here.")),
            Content(signs.line(f"Make it {NARROW}×{SHORT} or more; nothing was done.")),
            Content.assemble(("esc", colours.of("info", bold=True)), " back"),
        ]
        return Content("\n").join(
            Content(" ") + part for line in lines for part in wrap_line(line, max(1, size.width - 2))
        )

    def reaches_key(self, key_id: str) -> bool:
        return self.fits or key_id == self.LEAVES


class PromptBarInput(Input, inherit_bindings=True):
    """The text field; its keys are the dialog's."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *keymap.bindings("dialog"), Binding("ctrl+c", "copy_or_leave", show=False),
    ]  # fmt: skip

    def __init__(self, bar: "PromptBar") -> None:
        super().__init__(id="line-input", select_on_focus=False)
        self.cursor_blink = False
        self._bar = bar

    def action_do(self, key_id: str) -> None:
        self._bar.action_do(key_id)

    def action_copy_or_leave(self) -> None:
        """Copy what is selected; without that leave the line, as ctrl+c does in a shell."""
        if self.selected_text:
            self.action_copy()
        else:
            self._bar.leave()


class PromptBarRows:
    """The widgets of one line bar, mounted on it."""

    def __init__(self, bar: "PromptBar") -> None:
        self.title = PaneTitle("", key="line-title")
        self.input = PromptBarInput(bar)
        self.earlier, self.keys = Static(id="line-earlier"), Static(id="line-keys")
        row = Horizontal(id="line-row")
        bar.mount(self.title, row, self.earlier, self.keys)
        # Not handed to the row to compose: what has no screen yet is refused the focus, silently.
        row.mount(Static(Content(f" {glyphs(bar).of('prompt')} "), id="line-sign"), self.input)


_MAX_SHOWN_HISTORY = 2
_DEFAULT_HISTORY_TITLE = "earlier words"
_HISTORY_TITLES = {"reject": "earlier reasons", "batch": "earlier reasons", "answer": "earlier answers"}
"""What the history of a line is called, by its purpose."""


class PromptBar(Vertical, KeyOwner):
    """Title, field, earlier lines, keys."""

    def __init__(self, on_close: Callable[[LineWanted], None]) -> None:
        """Stand where nothing is asked yet.

        Args:
            on_close: is told when the line is sent or left, before the pane that asked hears of it.
        """
        super().__init__(id="line-bar")
        self._on_close = on_close
        self._rows: PromptBarRows | None = None
        self._asked: LineWanted | None = None
        self._at = -1
        self._since = 0.0

    @property
    def rows(self) -> "PromptBarRows":
        """Return what it consists of, made when it is first asked for."""
        if self._rows is None:
            self._rows = PromptBarRows(self)
        return self._rows

    @property
    def input(self) -> "PromptBarInput":
        """Return the text field."""
        return self.rows.input

    @property
    def asked(self) -> LineWanted | None:
        """Return what is asked for now."""
        return self._asked

    def ask(self, asked: LineWanted) -> None:
        """Take a line for a pane."""
        self._asked, self._at = asked, -1
        self.rows.title.show(Content(" "), Content.styled(asked.right, ink(self).of("muted")), asked.title)
        with self.input.prevent(self.input.Changed):
            self.input.value = asked.text
        self.input.cursor_position = len(asked.text)
        self._say(asked)
        self.display = True
        self.input.focus()
        self._since = context_of(self).monotonic()

    def _say(self, asked: LineWanted) -> None:
        colours, signs = ink(self), glyphs(self)
        quoted = [
            cells.safe_content(signs.line(f"“{entry}”"), colours.of("muted", italic=True))
            for entry in asked.history
        ]
        shown = Content("   ").join(quoted[:_MAX_SHOWN_HISTORY])
        self.rows.earlier.display = bool(quoted)
        self.rows.earlier.update(Content.assemble((f" {signs.of('caret')} ", colours.of("faint")), shown))
        info = colours.of("info", bold=True)
        parts = [Content.assemble(("enter", info), f" {asked.does}")]
        if quoted:
            parts.append(
                Content.assemble(
                    (signs.line("↑ ↓"), info),
                    f" {_HISTORY_TITLES.get(asked.purpose, _DEFAULT_HISTORY_TITLE)}",
                )
            )
        parts.append(Content.assemble(("esc", info), " back, nothing is done"))
        self.rows.keys.update(Content.assemble(" ", Content("  ").join(parts)))

    def _close(self, asked: LineWanted) -> None:
        self._asked = None
        self.display = False
        self._on_close(asked)

    def on_input_changed(self, message: "Input.Changed") -> None:
        """Tell the asking pane of the words so far; named so that the class need not be loaded for it."""
        message.stop()
        if self._asked is not None:
            self._asked.pane.line_heard(self._asked.purpose, message.value, is_final=False)

    def send(self) -> None:
        """Send the words, once the line has stood long enough."""
        asked = self._asked
        if asked is None:
            return
        if asked.is_armed and context_of(self).key_time - self._since < ARM_SECONDS:
            self._since = context_of(self).monotonic()
            self.post_message(StatusMessage("Too quick: this line just appeared. Press enter again."))
            return
        text = self.input.value.strip()
        self._close(asked)
        asked.pane.line_heard(asked.purpose, text, is_final=True)

    def leave(self) -> None:
        """Leave the line."""
        asked = self._asked
        if asked is not None:
            self._close(asked)
            asked.pane.line_dropped(asked.purpose)

    def recall(self, step: int) -> None:
        """Take an earlier (1) or later (-1) line."""
        history = self._asked.history if self._asked else ()
        self._at = max(-1, min(self._at + step, len(history) - 1))
        self.input.value = history[self._at] if self._at >= 0 else ""
        self.input.cursor_position = len(self.input.value)

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text never sends the line."""
        event.stop()


_KIND_TITLES = {"file": "Files", "command": "/commands", "model": "Models", "mode": "Modes"}


_LEAST_POPUP_ROWS: Final = 3
"""The title, a candidate and how many there are."""


class CompletionPopup(LineView, can_focus=False):
    """Candidates, best first, under a title row; hidden without any."""

    def __init__(self) -> None:
        super().__init__(key="composer-offers")
        self.offer: Completions | None = None
        self._at = 0
        self.display = False

    @property
    def chosen(self) -> str | None:
        """Return the candidate under the cursor."""
        return self.offer.candidates[self._at][0] if self.offer is not None else None

    def show_offer(self, offer: Completions | None) -> None:
        """Show candidates, the best one under the cursor; None hides the list."""
        if offer == self.offer:
            return
        self.offer, self._at = offer, 0
        self.display = offer is not None
        if offer is not None:
            rows = len(offer.candidates) + 2
            height = min(rows, max(_LEAST_POPUP_ROWS, self._rows_above()))
            self.styles.height = height
            self.styles.width = self._width_to_divider()
            self.styles.offset = (0, -height - 1)
            self.set_line_count(rows)
            self.scroll_to_line(0)
            self.invalidate()

    def _rows_above(self) -> int:
        """Return the rows over what it stands upon, but for the one between them."""
        parent = self.parent
        return parent.region.y - 1 if isinstance(parent, Widget) else self.screen.size.height

    def _width_to_divider(self) -> int:
        """Return the cells up to the line between the panes, so that it covers none of them by half."""
        for divider in self.screen.query("#middle-divider"):
            if divider.display and divider.region.width:
                return divider.region.right
        return self.screen.size.width

    def move(self, rows: int) -> None:
        """Move the cursor; past the end it begins again."""
        if self.offer is not None:
            self._at = (self._at + rows) % len(self.offer.candidates)
            self.reveal(self._at + 1)
            self.invalidate()

    def draw_line(self, line: int, width: int) -> Strip:
        offer, ink, glyphs = self.offer, render_context.ink(self), render_context.glyphs(self)
        if offer is None:
            return Strip.blank(width)
        if width == self.screen.size.width:
            return self._row(offer, line, width)
        # Beside it the panes go on: without an edge their words would read as the end of its own.
        edge = Content.styled(glyphs.line("┐" if line == 0 else "│"), ink.of("rule"))
        return Strip.join([self._row(offer, line, width - 1), cells.line_strip(edge, 1, ink.on("surface"))])

    def _row(self, offer: Completions, line: int, width: int) -> Strip:
        ink, glyphs = render_context.ink(self), render_context.glyphs(self)
        if line == 0:
            return self._title(offer, width)
        if line > len(offer.candidates):
            return cells.line_strip(self._below(offer), width, ink.on("surface"))
        name, words = offer.candidates[line - 1]
        is_cursor = line - 1 == self._at
        bar = Content.styled(glyphs.of("cursor"), ink.of("info")) if is_cursor else Content(" ")
        longest = max(cell_width(name) for name, _ in offer.candidates)
        has_words = any(words for _, words in offer.candidates)
        columns = [
            Column(content=bar, width=1, gap=0),
            Column(
                content=cells.safe_content(name, ink.of("foreground", bold=is_cursor), ink),
                width=min(longest, width // 2) if has_words else width - 4,
                cut="path",
            ),
            Column(content=cells.safe_content(words, ink.of("muted")), grows=True, gap=2),
            Column(content=Content(" "), width=1, gap=0),
        ]
        style = ink.cursor(has_focus=True) if is_cursor else ink.on("surface")
        return cells.row_strip(columns, width, style, glyphs=glyphs)

    def _title(self, offer: Completions, width: int) -> Strip:
        ink, glyphs = render_context.ink(self), render_context.glyphs(self)
        is_file = offer.word.kind == "file"
        name = Content.styled(_KIND_TITLES[offer.word.kind], ink.of("foreground", bold=True))
        right = Content.assemble(
            ("tab", ink.of("info", bold=True)), (" or ", ink.of("muted")),
            ("enter", ink.of("info", bold=True)), (" takes" if is_file else " does it", ink.of("muted")),
        )  # fmt: skip
        return cells.title_strip(name, right, width, ink, glyphs=glyphs)

    def _below(self, offer: Completions) -> Content:
        ink = render_context.ink(self)
        count = f"  {len(offer.candidates)} of {offer.total:,}"
        rest = "   ignored files are left out" if offer.word.kind == "file" else ""
        return Content.styled(count + rest, ink.of("faint"))


class PipePrompt:
    """Asks for a shell command and gives it a text; a line hears of what is typed as a pane does."""

    def __init__(self, context: "MainContext", text: str) -> None:
        self._context, self._text = context, text

    def ask(self) -> None:
        """Ask for the command."""
        asked = LineWanted(self, "pipe", "Give it to a command", "it runs in this terminal", "run it")
        self._context.post(asked)

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        del purpose
        if is_final and text:
            with contextlib.suppress(SuspendNotSupported), self._context.app.suspend():
                self._context.say(self._context.backend.pipe_to(text, self._text))

    def line_dropped(self, purpose: str) -> None:
        del purpose
