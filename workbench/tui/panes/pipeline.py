"""The pipeline pane while there are no pipelines to run: it says so, and how many were found.

The drawing of runs comes with what runs them.
"""

from collections.abc import Iterable

from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from workbench.draw import cells
from workbench.tui import keymap
from workbench.tui.panes.base import Pane
from workbench.tui.panes.shown import PipelineShown
from workbench.tui.theme import ink
from workbench.tui.widgets.lines import LineView


class PipelineView(LineView):
    """A few sentences."""

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self._sentences: tuple[str, ...] = ()

    def say(self, sentences: tuple[str, ...]) -> None:
        """Show sentences, one a line."""
        if sentences != self._sentences:
            self._sentences = sentences
            self.set_line_count(len(sentences) + 1)
            self.invalidate()

    def draw_line(self, line: int, width: int) -> Strip:
        """Draw a sentence."""
        text = self._sentences[line - 1] if line else ""
        return cells.strip(Content.styled(f"  {text}", ink(self).of("muted")), width)


class PipelinePane(Pane):
    """Place 4."""

    PLACE = 4
    NAME = "Pipeline"
    SCOPES = ("list",)
    BINDINGS = keymap.bindings(*SCOPES)

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self._view = PipelineView(key="pipeline-view")

    def compose_body(self) -> Iterable[Widget]:
        """Yield the sentences."""
        yield self._view

    @property
    def focus_view(self) -> Widget:
        """Return the sentences."""
        return self._view

    def show(self, view: PipelineShown) -> None:
        """Say what there is."""
        found = (
            f"{view.found} found in .wave/pipelines." if view.found else "None was found in .wave/pipelines."
        )
        self._view.say(("No pipeline runs.", found))
