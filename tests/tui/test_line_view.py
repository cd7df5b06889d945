"""What every list and log that is drawn line by line does."""

import asyncio

from textual.strip import Strip

from tests.support.pane_host import Host
from workbench.tui.widgets.line_view import LineView


class Lines(LineView):
    """Keeps the widths that it was told."""

    def __init__(self):
        super().__init__()
        self.told = []

    def on_width(self, width):
        self.told.append(width)

    def draw_line(self, line, width):
        return Strip.blank(width)


def test_a_view_that_is_measured_before_its_first_layout_is_told_its_width():
    """Textual posts no resize then: the view would stay wrapped for one column, and look empty."""
    view, app = Lines(), Host()

    async def run():
        async with app.run((80, 24)) as pilot:
            await pilot.pause()
            await app.screen.mount(view)
            # As a frame does that is due before the layout; then somebody asks where the view is.
            app.screen._compositor.update_widgets({view})
            assert view.region.width == 80 and not view.told
            await pilot.pause()
            assert view.told == [80]
            view.display = False
            await pilot.pause()
            assert view.width == 80, "what is shown while it is hidden is wrapped for its return"

    asyncio.run(run())
