"""The base of dialogs with a table of changes and the diff of the row under the cursor below it."""

from collections.abc import Callable, Iterable, Sequence

from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from workbench.tui.approvals.action_detail import DetailView, DetailViewState
from workbench.tui.render_context import ink
from workbench.tui.widgets.dialog import ListDialog
from workbench.tui.widgets.line_view import RowList
from workbench.tui.widgets.pane_frame import ColumnHeader
from workbench.views.action_detail import ActionDetail
from workbench.views.hunk_selection import HunkSelection


class TableDialog(ListDialog, inherit_bindings=False):
    """Column heads, rows, a note, keys and a diff, from top to bottom."""

    def __init__(self, name: str, rows: RowList, heads: Callable[[int], Strip] | None = None) -> None:
        """Make the widgets.

        Args:
            name: Of the dialog.
            rows: The table.
            heads: Draws the column heads at a width in cells; without them there is no row of keys either.
        """
        super().__init__(name, rows)
        self._heads = ColumnHeader(heads, key=f"{name}-heads") if heads is not None else None
        self._note, self._keys = Static(id=f"{name}-note"), Static(id=f"{name}-keys")
        self._view = DetailView(key=f"{name}-detail")

    def compose_box(self) -> Iterable[Widget]:
        if self._heads is not None:
            yield self._heads
        yield self._list
        yield self._note
        if self._heads is not None:
            yield self._keys
        yield self._view

    def show_diff(self, detail: ActionDetail, taken: HunkSelection, hunk: int | None = None) -> None:
        """Show the change of the row under the cursor."""
        self._view.show(detail, DetailViewState(taken=taken, hunk=hunk, layout="unified", has_focus=True))

    def key_rows(self, first: Content, others: Sequence[tuple[str, str]], width: int) -> Content:
        """Return the keys with what they do, in as many rows as it takes; none is broken."""
        info = ink(self).of("info", bold=True)
        parts = [first, *(Content.assemble((keys, info), f" {words}") for keys, words in others)]
        rows = [Content("")]
        for part in parts:
            if rows[-1] and rows[-1].cell_length + part.cell_length + 4 > max(width, 20):
                rows.append(Content(""))
            rows[-1] = Content.assemble(rows[-1], "   " if rows[-1] else " ", part)
        return Content("\n").join(rows)

    def scroll_detail(self, rows: int) -> None:
        """Scroll the diff."""
        self._view.scroll_lines(rows)
