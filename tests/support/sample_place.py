"""A place as small as one can be: a file with `open_place`, which a row of `PLACES` names."""

from textual.content import Content
from textual.widget import Widget

from workbench.render import cells
from workbench.tui.keyboard import keymap
from workbench.tui.list_page.page import MarkedRows, PreviewPage
from workbench.tui.places import place_number
from workbench.tui.render_context import ink
from workbench.tui.widgets.line_view import LineView


class SampleRows(MarkedRows):
    def draw_row(self, placed, width):
        mark = "*" if placed.row_id in self.marks else " "
        return cells.line_strip(Content(f"{mark} {placed.row_id}"), width, ink(self).on("background"))


class SampleView(LineView, can_focus=False):
    text = ""

    def draw_line(self, line, width):
        return cells.line_strip(Content(self.text), width, ink(self).on("background"))


class SamplePage(PreviewPage[SampleRows, SampleView, tuple[str, ...]]):
    SCOPES = ("list",)
    BINDINGS = keymap.bindings(*SCOPES)
    NAME = "Samples"
    FILTER_TITLE = "Filter samples"
    NO_ROW = "no sample is selected"
    NO_PROBLEM = "No sample is wrong."
    NOT_READ = "The samples were not read."
    READING = "Samples are being read.", "", ()

    def __init__(self, read=lambda: ("apple", "pear", "plum")):
        super().__init__(SampleRows(key="samples-list"), SampleView(key="samples-view"), key="samples")
        self._read_samples, self._samples = read, ()

    def read_list(self):
        return self._read_samples()

    def show_result(self, result):
        self._samples = result
        self.lay_out()

    def lay_out(self):
        self.list.set_ids([name for name in self._samples if self.text_filter in name])
        self.list.invalidate()
        self.say()

    @property
    def has_row(self):
        return self.list.cursor is not None

    def is_problem(self, row_id):
        return row_id.startswith("bad")

    def show_preview(self):
        self.preview.text = f"{self.list.cursor} in full"
        self.preview.set_line_count(1)
        self.preview.invalidate()

    def row_moved(self):
        self.preview_soon()

    def empty_words(self):
        return "No samples", "None is kept.", ()

    def say_title(self):
        self.set_title(Content(f"{len(self.list.ids)} of {len(self._samples)}"))

    def hint_parts(self):
        return Content(f" {self.progress or 'samples are fruit'}"), "/ filters"


def open_place(context) -> Widget:
    """Return the place of a main screen; it exists only where the table has its row."""
    del context

    class SamplePlace(SamplePage):
        PLACE = place_number("samples")

    return SamplePlace()
