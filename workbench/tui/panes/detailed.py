"""The lower part of the approvals: the action under the cursor in full, and what of it is chosen.

Owns the detail with its title, its files and the heads of its sides, and which hunks were on the screen.
Which action that is, and when a key may answer it, is the queue's part: `tui.panes.approvals`.
"""

from collections.abc import Iterable

from textual import on
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget

from workbench.draw import detail as words
from workbench.draw.diff import Layout, heads_strip
from workbench.tui.messages import HunksShown, KeysChanged, Said
from workbench.tui.panes import captions
from workbench.tui.panes.base import Pane
from workbench.tui.panes.choosing import Choosing
from workbench.tui.panes.detail import DetailLook, DetailView
from workbench.tui.panes.files import FileColumn
from workbench.tui.panes.standing import Standing
from workbench.tui.theme import glyphs, ink
from workbench.tui.widgets.divider import Divider
from workbench.tui.widgets.heads import Heads
from workbench.tui.widgets.title import PaneTitle
from workbench.views.detail import ActionDetail
from workbench.views.queue import QueueRow


class DetailedPane(Pane):
    """A pane that shows one action in full below its list."""

    standing: Standing

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.detail_title = PaneTitle("", key="detail-title")
        self.detail_view = DetailView(key="detail")
        self.sides = Heads(lambda width: heads_strip(width, ink(self), glyphs(self)), key="detail-sides")
        self.files = FileColumn(key="files")
        self.choosing = Choosing()
        self.detail: ActionDetail | None = None
        self.find = ""
        self.layout_wish: Layout = "unified"
        self.context = 3
        self.is_full = False
        self._gone = ""

    def compose_detail(self) -> Iterable[Widget]:
        """Yield title, files and the detail itself."""
        yield self.detail_title
        with Horizontal(id="detail-body"):
            yield self.files
            yield Divider(key="files-divider")
            with Vertical(id="detail-column"):
                yield self.detail_view

    def show_detail(self, detail: ActionDetail | None) -> None:
        """Show the action under the cursor in full."""
        was, self.detail = self.detail, detail
        if was is not None and (detail is None or detail.id != was.id):
            self.choosing.line = None
        self.draw_detail()
        if detail is not None and (gone := captions.gone(detail, self.choosing)) != self._gone:
            self._gone = gone
            if gone:
                self.post_message(Said(f"{gone[0].upper()}{gone[1:]}."))

    def draw_detail(self, *, has_moved: bool = False) -> None:
        """Draw the detail with what is chosen now; with `has_moved` scroll to the hunk under the cursor."""
        self.detail_view.show(self.detail, self._look())
        self.put(self.sides, self.detail_view, is_shown=self.detail_view.is_split)
        if has_moved:
            self.detail_view.reveal_hunk()
        self.files.show(self.detail, self.choosing)
        self.show_titles()
        self.standing.after_frame()
        self.post_message(KeysChanged())

    def _look(self) -> DetailLook:
        detail, choosing = self.detail, self.choosing
        if detail is None:
            return self.detail_view.look
        return DetailLook(
            taken=choosing.taken_of(detail),
            hunk=choosing.hunk_of(detail),
            line=choosing.line,
            choice=choosing.choice_of(detail),
            layout=self.layout_wish,
            context=self.context,
            find=self.find,
            has_focus=self.has_pane_focus,
        )

    def show_titles(self) -> None:
        """Say in the titles what is shown."""
        raise NotImplementedError

    def show_detail_title(self, row: QueueRow | None) -> None:
        """Say what the detail is of, and where in it the user is; full screen with the time of its row."""
        colours, signs = ink(self), glyphs(self)
        if self.detail is None:
            self.detail_title.show(Content(" "), Content(" "))
            return
        left = words.title_left(self.detail, colours, signs)
        right = Content.styled(captions.place(self.detail, self.choosing), colours.of("muted"))
        if self.is_full:
            left = captions.full_title(self.detail, left, colours)
            right += captions.time_left(row, colours, signs)
        self.detail_title.show(left, right)

    @on(HunksShown)
    def _hunks_shown(self, message: HunksShown) -> None:
        message.stop()
        self.choosing.was_shown(message.action_id, message.hunks, message.gone, message.left)
        self.post_message(KeysChanged())

    @on(DetailView.HunkClicked)
    def _hunk_clicked(self, message: DetailView.HunkClicked) -> None:
        message.stop()
        if self.detail is not None:
            self.choosing.hunks[self.detail.id] = message.hunk
            if message.is_box and self.detail.is_pending:
                self.choosing.toggle_hunk(self.detail)
            self.draw_detail()

    def uncovered(self) -> None:
        """Begin to count: a dialog that was over it is gone, and what came meanwhile is seen only now."""
        self.detail_view.uncovered()
        self.standing.forget()

    def scroll_half(self, direction: int) -> None:
        """Scroll half a page of the detail."""
        self.detail_view.scroll_lines(direction * max(1, self.detail_view.size.height // 2))
