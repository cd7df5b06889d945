"""The scrollbar of lists and texts: which rows its thumb takes, and that it hides nothing."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from textual.app import App
from textual.strip import Strip

from workbench.render.glyphs import UNICODE_GLYPHS
from workbench.render.theme import OWN_THEMES, Ink
from workbench.tui.widgets.line_view import LineView, thumb_rows


@given(st.integers(1, 300), st.integers(0, 100_000), st.data())
def test_the_thumb_is_inside_and_reaches_both_ends(height, more, data):
    count = height + more
    first = data.draw(st.integers(0, more))
    rows = thumb_rows(first, height, count)
    assert bool(rows) == (more > 0)
    if rows:
        assert 0 <= rows.start < rows.stop <= height
        assert first or rows.start == 0
        assert first < more or rows.stop == height


def test_without_room_there_is_no_thumb():
    assert not thumb_rows(0, 0, 10)


class Lines(LineView):
    """Forty lines; every fourth one fills its last cell."""

    def on_mount(self):
        self.set_line_count(40)

    def draw_line(self, line, width):
        return Strip([Segment(str(line).ljust(width, " " if line % 4 else "x"))])


class Harness(App):
    """An app with one view, and what it draws with."""

    glyphs = UNICODE_GLYPHS
    is_held = False
    ink = Ink(tokens=OWN_THEMES["workbench-dark"])

    def compose(self):
        yield Lines()


def test_it_is_drawn_where_the_last_cell_is_blank():
    async def last_cells():
        async with Harness().run_test(size=(20, 10)) as pilot:
            view = pilot.app.query_one(Lines)
            view.scroll_to_line(30)
            await pilot.pause()
            return [strip.text[-1] for strip in view.render_lines(view.size.region)]

    assert asyncio.run(last_cells()) == ["│", "│", "x", "│", "│", "│", "x", "│", "┃", "┃"]
