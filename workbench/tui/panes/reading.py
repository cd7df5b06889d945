"""What the library reads while it is on the screen: searches, glances at rows, the preview, each in a thread.

Owns when it reads: after a key rests, after agents did something, and never two searches at once.
"""

from collections.abc import Callable, Collection
from typing import Any, Final, cast

from textual.content import Content
from textual.timer import Timer

from workbench.draw import cells
from workbench.draw.libraryrows import between
from workbench.tui.messages import KeysChanged, Said
from workbench.tui.panes.base import Pane
from workbench.tui.panes.librarylist import LibraryList, PreviewView
from workbench.tui.shelf import Shelf, Shown, Wanted
from workbench.tui.theme import glyphs, ink
from workbench.tui.widgets.title import PaneTitle
from workbench.views.library import SPLIT, Preview

PREVIEW_AFTER: Final = 0.08
"""Seconds that the cursor rests before the preview follows it."""
LOOK_AFTER: Final = 0.03
_PAGES_AHEAD: Final = 5
"""Pages around the screen that are asked about with it, so that moving on asks seldom."""
CHANGES_EVERY: Final = 0.25
"""Seconds between two readings while agents run."""


class ReadingPane(Pane):
    """A list of sessions with a preview, read in threads."""

    def __init__(self, shelf: Shelf, *, key: str) -> None:
        super().__init__(key=key)
        self.shelf = shelf
        self.list, self.preview = LibraryList(shelf), PreviewView()
        self.preview_title = PaneTitle("", key="library-preview-title")
        self.wanted = Wanted()
        self._is_finding, self._finds_again = False, False
        self._changed: set[str] | None = None
        self._reader: Timer | None = None
        self._looker: Timer | None = None
        self._previewer: Timer | None = None

    def found(self) -> None:
        """Say what was found."""
        raise NotImplementedError

    def show(self, view: Collection[str] | None) -> None:
        """Be told of sessions that something happened to; None reads all again."""
        if self._changed is not None:
            self._changed = None if view is None else self._changed | set(view)
        if self._reader is None:
            self._reader = self.set_timer(CHANGES_EVERY, self._read_again)

    def _read_again(self) -> None:
        self._reader = None
        if self.display:
            self.find()

    def on_show(self) -> None:
        """Read what happened while another place was on the screen."""
        if self._changed:
            self.find()

    def _from_thread(self, tell: Callable[..., None], *about: object) -> None:
        # Textual leaves the type of an app's result open; nothing here depends on it.
        cast("Any", self).app.call_from_thread(tell, *about)

    # --- reading, in a thread ---------------------------------------------------------------------

    def find(self) -> None:
        """Find anew; while a search is under way the next one waits, and only the last one."""
        if self._is_finding:
            self._finds_again = True
            return
        self._is_finding, self._finds_again = True, False
        self.run_worker(
            self._find_there, group="library", description="find sessions", thread=True, exit_on_error=False
        )

    def _find_there(self) -> None:
        changed, self._changed = self._changed, set()
        try:
            if changed is None or changed:
                self.shelf.read(changed)
            found: Shown | None = self.shelf.find(self.wanted)
        except Exception as error:  # noqa: BLE001 whatever the journal says is told
            found, self._changed = None, None
            self.post_message(Said(f"The library was not read. {error}", is_error=True))
        self._from_thread(self._found, found)

    def _found(self, found: Shown | None) -> None:
        self._is_finding = False
        if found is not None and self.is_attached:
            self.list.marks &= set(self.shelf.sessions)
            self.list.take(found)
            self.found()
            self.look_soon()
            self.preview_soon()
            self.post_message(KeysChanged())
        if self._finds_again:
            self.find()

    def look_soon(self) -> None:
        """Ask about the rows that are on the screen in a moment."""
        if self._looker is None:
            self._looker = self.set_timer(LOOK_AFTER, self._look)

    def _look(self) -> None:
        """Ask about the rows that are on the screen."""
        self._looker = None
        rows = self.list.visible_lines
        ids, glances, more = self.list.ids, self.shelf.glances, _PAGES_AHEAD * len(rows)
        if all(key in glances for key in ids[rows.start : rows.stop] if key != SPLIT):
            return
        first, last = max(0, rows.start - more), min(len(ids), rows.stop + more)
        missing = [line for line in range(first, last) if ids[line] not in glances and ids[line] != SPLIT]

        def work() -> None:
            self.shelf.look(ids[line] for line in missing)
            self._from_thread(self._looked, ids, missing)

        self.run_worker(work, group="glances", description="look at rows", thread=True, exit_on_error=False)

    def _looked(self, ids: tuple[str, ...], lines: list[int]) -> None:
        if self.is_attached and self.list.ids == ids:
            self.list.invalidate(lines)
        elif self.is_attached:
            self.list.invalidate()

    def preview_soon(self) -> None:
        """Let the preview follow the cursor once it rests."""
        if self._previewer is not None:
            self._previewer.stop()
        self._previewer = self.set_timer(PREVIEW_AFTER, self._preview_now)

    def _preview_now(self) -> None:
        self._previewer = None
        key, asked, now = self.list.cursor, self.list.shown.query, self.shelf.now

        def work() -> None:
            found = (
                self.shelf.preview(key, asked, lambda begin, end: between(begin, end, now)) if key else None
            )
            self._from_thread(self._previewed, key, found)

        self.run_worker(work, group="preview", description="preview", thread=True, exit_on_error=False)

    def _previewed(self, key: str | None, found: Preview | None) -> None:
        if not self.is_attached or key != self.list.cursor:
            return
        self.preview.show(found)
        if found is None:
            self.preview_title.show(Content(" "), Content(" "), "Nothing is chosen")
            return
        sign = Content.assemble((glyphs(self).of(found.sign), ink(self).sign(found.sign)), f" {found.word}")
        self.preview_title.show(Content(" "), sign, cells.shorten(cells.content(found.title), 60).plain)
