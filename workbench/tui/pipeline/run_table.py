"""A table of steps over the main screen, with words on the step under the cursor and a row of keys."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.render.cells import wrap_code
from workbench.tui.widgets.dialog import ListDialog
from workbench.tui.widgets.line_view import RowList

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext

_MOST_WORDS: Final = 3
"""Lines of words under the table."""


class RunTableScreen(ListDialog, inherit_bindings=False):
    """A list whose rows are steps of the run that the main screen shows; the cursor leads to its graph."""

    def __init__(self, context: "MainContext", name: str, rows: RowList) -> None:
        super().__init__(name, rows)
        self._main = context
        self._words, self._keys = Static(id=f"{name}-words"), Static(id=f"{name}-keys")

    def table(self) -> Sequence[Widget]:
        """Return the list with what stands above and below it."""
        raise NotImplementedError

    def words(self) -> Content:
        """Return what is said of the step under the cursor."""
        raise NotImplementedError

    def hints(self) -> Sequence[tuple[str, str]]:
        """Return the keys of the table and what they do."""
        raise NotImplementedError

    def compose_box(self) -> Iterable[Widget]:
        yield from self.table()
        yield self._words
        yield self._keys

    def fill(self) -> None:
        self.describe_step()

    def describe_step(self) -> None:
        """Say what there is to know of the step under the cursor, and which keys there are."""
        width = max(20, self._words.size.width - 2)
        lines = wrap_code([self.words()], width)[:_MOST_WORDS]
        self._words.update(Content("\n").join([Content(" ") + line for line in lines]))
        self._keys.update(self.hint_row(self.hints(), self._keys.size.width))

    def row_moved(self, message: RowList.Moved) -> None:
        del message
        self.describe_step()

    def row_opened(self, row_id: str) -> None:
        del row_id
        self.open_step()

    def open_step(self) -> None:
        """Go to the step in the graph of the run on show."""
        step = self._list.cursor
        self.dismiss()
        show_in_graph(self._main, step)


def show_in_graph(context: "MainContext", step: str | None) -> None:
    """Go to a step in the graph of the run on show."""
    pipeline = context.widgets.pipeline
    context.go_to(pipeline.PLACE)
    pipeline.graph.put_cursor(step)
