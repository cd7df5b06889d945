"""The two bases of everything that lies over a screen: a box with a body, and one with rows and a cursor."""

# A dialog in which something is decided has to be read first: on a screen below 60×18 it shows why not, and
# only the key that goes back counts. Its deciding keys count for what was drawn, unchanged, for long enough.

from collections.abc import Hashable, Iterable
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.css.scalar import Scalar
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from workbench.render import cells
from workbench.render.cells import key_hint, key_hint_row, wrap_line
from workbench.tui.compositor import LayoutCompositor
from workbench.tui.keyboard.arming import KeyArming
from workbench.tui.keyboard.owner import KeyDialog
from workbench.tui.render_context import are_agents_held, context_of, glyphs, ink
from workbench.tui.widgets.hold_view import HoldView
from workbench.tui.widgets.line_view import LineView, RowList
from workbench.tui.widgets.pane_frame import PaneRule, overflow_text
from workbench.tui.widgets.screen_sizes import NARROW, SHORT

LINE_KEYS: Final = {"j": 1, "down": 1, "k": -1, "up": -1}
PAGE_KEYS: Final = {"ctrl+d": 1, "pagedown": 1, "ctrl+u": -1, "pageup": -1}
END_KEYS: Final = {"g": -1, "home": -1, "G": 1, "end": 1}
_MORE_THAN_ALL: Final = 1_000_000_000
"""More rows than any list or text has."""


PAGE_SHARE: Final = 0.85
"""Share of the screen in one direction from which a box takes the whole."""
_Extent = tuple[Scalar | None, Scalar | None]


def _cells(extent: _Extent, size: Size, whole: int) -> float:
    """Return the cells of a width or a height and its most; 0 where it follows from others."""
    wanted, most = extent
    if wanted is None or wanted.is_auto or wanted.is_fraction:
        return 0
    return float(min(wanted.resolve(size, size), whole if most is None else most.resolve(size, size)))


def rows_of_key(key: str, page: int) -> int:
    """Return by how many rows a key that moves in lists or text does so; 0 for any other key.

    Args:
        key: As Textual names it.
        page: Rows of a page.
    """
    return LINE_KEYS.get(key, 0) + PAGE_KEYS.get(key, 0) * page + END_KEYS.get(key, 0) * _MORE_THAN_ALL


_HELD: Final = " HELD: every call asks; release outside of this page "


class _SizedBox(Widget):
    """A box that tells its dialog when its size changes: content that comes or goes changes its height."""

    def on_resize(self) -> None:
        if isinstance(self.screen, Dialog):
            self.screen.cover_if_high()


class Box(_SizedBox, Vertical):
    """The box of a dialog."""


class ScrolledBox(_SizedBox, VerticalScroll):
    """The box of a dialog whose whole content is scrolled."""


class Dialog(ModalScreen[None], KeyDialog, HoldView, inherit_bindings=False):
    """A box over another screen: the screen is `#NAME-screen`, the box `#NAME-box`."""

    AUTO_FOCUS = ""
    BOX_CLASSES: ClassVar[str] = "dialog-box"
    """Classes of the box in the stylesheet."""
    LEAVES: ClassVar[str] = ""
    """Id of the key that goes back, the only one on a small screen; empty where every size will do."""

    def __init__(self, name: str) -> None:
        super().__init__(id=f"{name}-screen")
        self._compositor = LayoutCompositor()
        self._box_id = f"{name}-box"
        self._subtitle = ""
        self._followed: LineView | None = None
        self._too_small = Static(classes="too-small")
        self._hold = Static(classes="dialog-hold")
        self._arming = KeyArming()
        self._box_extents: tuple[_Extent, _Extent] | None = None
        """Width and height of the box in the stylesheet, each with its most."""
        self._is_page = False
        """Whether the stylesheet makes the box nearly as large as the screen."""
        self.said = ""
        """A sentence for a few seconds."""

    # --- its widgets ------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield self._hold
        with self.make_box():
            yield from self.compose_box()
        if self.LEAVES:
            yield self._too_small

    def make_box(self) -> Widget:
        """Return the box, still empty."""
        return Box(id=self._box_id, classes=self.BOX_CLASSES)

    def compose_box(self) -> Iterable[Widget]:
        """Yield the widgets in the box."""
        return ()

    def on_mount(self) -> None:
        self.show_hold()
        self.opened()

    def show_hold(self) -> None:
        """Say that all agents are held where the box hides the header that says it."""
        is_held = are_agents_held(self) and self.has_class("-page")
        self._hold.display = is_held
        if is_held:
            self._hold.update(Content.styled(_HELD, ink(self).reverse("failed")))

    def opened(self) -> None:
        """Called when its widgets exist: focus one and show the content."""

    def fill(self) -> None:
        """Write the present content into the widgets; called again in another size."""

    @property
    def box(self) -> Widget:
        """Return the box that holds the dialog's widgets."""
        return self.query_one(f"#{self._box_id}")

    # --- size -------------------------------------------------------------------------------------

    @property
    def fits(self) -> bool:
        """Return whether all that has to be read fits on the screen."""
        return not self.LEAVES or (self.size.width >= NARROW and self.size.height >= SHORT)

    def on_resize(self) -> None:
        """Show the box, or why the screen is too small for it."""
        if self.LEAVES:
            self.box.display = self.fits
            self._too_small.display = not self.fits
            self._too_small.update(self._too_small_text())
        self.fit_box()
        self._arming.disarm()
        self.resized()

    def fit_box(self) -> None:
        """Make the box a page where little of the screen would be seen next to it."""
        box, size = self.box, self.size
        if self._box_extents is None:
            styles = box.styles
            self._box_extents = (styles.width, styles.max_width), (styles.height, styles.max_height)
        wide, high = self._box_extents
        is_wide = _cells(wide, size, size.width) >= PAGE_SHARE * size.width
        is_high = _cells(high, size, size.height) >= PAGE_SHARE * size.height
        box.set_class(is_wide, "-page-wide")
        box.set_class(is_high, "-page-high")
        self._is_page = is_wide or is_high
        self.set_class(self._is_page, "-page")
        self.show_hold()
        self.cover_if_high()

    def cover_if_high(self) -> None:
        """Cover the screen below as long as the content makes the box nearly as high as that."""
        if self._box_extents is None or (height := self._box_extents[1][0]) is None or not height.is_auto:
            return
        # The row of the notice may be taken from the box: without it the screen would be shown again.
        rows = self.box.outer_size.height + int(self._hold.display)
        self.set_class(self._is_page or rows >= PAGE_SHARE * self.size.height, "-page")
        self.show_hold()

    def resized(self) -> None:
        """Lay out in another size."""
        self.call_after_refresh(self.fill)

    def _too_small_text(self) -> Content:
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

    # --- the borders ------------------------------------------------------------------------------

    def set_titles(self, title: str, subtitle: str) -> None:
        """Write into the upper and the lower border of the box."""
        box = self.box
        box.border_title = cells.safe_content(title)  # type: ignore[assignment]
        self._subtitle = subtitle
        self._show_subtitle()

    def follow(self, view: LineView) -> None:
        """Say in the lower border what of a list is not on the screen."""
        self._followed = view
        view.watch_extent(self._show_subtitle)

    def say(self, text: str) -> None:
        """Say a sentence for four seconds: the box lies over where the screen says its own."""
        self.said = text
        self.show_said()
        self.set_timer(PaneRule.SECONDS, lambda: self._end_saying(text))

    def show_waiting(self, key_id: str, words: str) -> None:
        del key_id
        self.said = words and f"{words} · esc cancels"
        self.show_said()

    def _end_saying(self, text: str) -> None:
        if text == self.said:
            self.said = ""
            self.show_said()

    def show_said(self) -> None:
        """Show what is said, or that nothing is any more: in the lower border unless a dialog has a place."""
        self._show_subtitle()

    def _show_subtitle(self) -> None:
        if self.said:
            self.box.border_subtitle = cells.safe_content(self.said)  # type: ignore[assignment]
            return
        more = overflow_text(self._followed, glyphs(self)) if self._followed is not None else ""
        words = "  ".join(part for part in (more, self._subtitle) if part)
        self.box.border_subtitle = cells.safe_content(words)  # type: ignore[assignment]

    def hint_row(
        self, hints: Iterable[tuple[str, str]], width: int, *, first: Content | None = None, keeps: int = 1
    ) -> Content:
        """Return keys and what they do in one row.

        Args:
            hints: Keys and their words.
            width: Cells of the row.
            first: A hint before the others.
            keeps: How many at the end are never left out.
        """
        parts = [key_hint(keys, words, ink(self)) for keys, words in hints]
        return key_hint_row([*([] if first is None else [first]), *parts], max(8, width), keeps=keeps)

    # --- when a deciding key counts ---------------------------------------------------------------

    @property
    def decided(self) -> Hashable:
        """Return what its deciding keys are about, as it is drawn; None where they decide nothing now."""
        return None

    def note_drawn(self) -> None:
        """Start the wait of the deciding keys for what was drawn just now."""
        if self.is_active and self.decided is not None:
            self._arming.drawn(self.decided, context_of(self).monotonic())

    @property
    def is_armed_for_key(self) -> bool:
        """Return whether the key that is being handled came late enough."""
        return self._arming.is_armed(self.decided, context_of(self).key_time)

    def end_arming(self) -> bool:
        """Return whether the key that is being handled counts; one that counts is the last one that does."""
        return self._arming.take(self.decided, context_of(self).key_time)

    def was_early(self, key_id: str) -> None:
        del key_id
        self._arming.count_again(context_of(self).key_time)

    # --- going back -------------------------------------------------------------------------------

    def leave(self) -> None:
        """Go back."""
        self.dismiss()

    def close(self) -> None:
        self.leave()
        if self.is_active:
            # It went back by one level of its own, as from a field.
            self.dismiss()


class ListDialog(Dialog, inherit_bindings=False):
    """A dialog whose keys move a cursor over rows."""

    SAYS_EXTENT: ClassVar[bool] = True
    """Whether the lower border says which rows are not on the screen."""

    def __init__(self, name: str, rows: RowList) -> None:
        super().__init__(name)
        self._list = rows

    @property
    def moved_view(self) -> LineView:
        """Return what the keys move in; a dialog without rows at the moment has its text here."""
        return self._list

    def opened(self) -> None:
        if self.SAYS_EXTENT:
            self.follow(self.moved_view)
        self.moved_view.focus()

    def move(self, rows: int) -> None:
        """Go to another row; scroll where there is only text."""
        view = self.moved_view
        if isinstance(view, RowList):
            view.move(rows)
        else:
            view.scroll_to_line(view.first_line + rows)

    def move_to_end(self, *, is_last: bool) -> None:
        """Go to the first or the last row."""
        self.move(_MORE_THAN_ALL if is_last else -_MORE_THAN_ALL)

    def move_by_key(self, key: str) -> None:
        """Go where a key leads that moves in every list; half the rows on the screen are a page."""
        self.move(rows_of_key(key, max(1, self.moved_view.size.height // 2)))

    @on(RowList.Moved)
    def _row_moved(self, message: RowList.Moved) -> None:
        message.stop()
        self.row_moved(message)

    def row_moved(self, message: RowList.Moved) -> None:
        """Called when the cursor of a list came to another row."""

    @on(RowList.Opened)
    def _row_opened(self, message: RowList.Opened) -> None:
        message.stop()
        self.row_opened(message.row_id)

    def row_opened(self, row_id: str) -> None:
        """Called when a row was clicked twice."""
