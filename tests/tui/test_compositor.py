"""What a layout tells widgets whose place was asked for before it."""

import asyncio

import pytest
from textual.geometry import Size
from textual.screen import Screen
from textual.strip import Strip
from textual.widgets import Static

from tests.support.pane_host import Host
from tests.tui.test_dialog_bases import is_ours, subclasses
from workbench.tui.compositor import DirtyScreen
from workbench.tui.replay.side_by_side import SideBySideScreen
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.line_view import LineView


class Shown(Static):
    """Keeps what a layout tells it."""

    def __init__(self, content="one"):
        super().__init__(content)
        self.told = []

    def on_show(self):
        self.told.append("show")

    def on_hide(self):
        self.told.append("hide")

    def on_resize(self, event):
        self.told.append(event.size)


class Lines(LineView):
    """Keeps the widths that it was told."""

    def __init__(self):
        super().__init__()
        self.told = []

    def on_width(self, width):
        self.told.append(width)

    def draw_line(self, line, width):
        return Strip.blank(width)


def play(body, screen=None):
    """Run a coroutine function of an app with one screen, and what waits for it."""

    class OneScreen(Host):
        def get_default_screen(self):
            return screen or super().get_default_screen()

    async def run():
        app = OneScreen()
        async with app.run((80, 24)) as pilot:
            await pilot.pause()
            await body(app, pilot.pause)

    asyncio.run(run())


def ask(widget):
    """Ask where a widget is while a frame is due: the framework makes a map that no layout made."""
    compositor = widget.screen._compositor
    compositor.update_widgets({widget})
    assert widget.region.width == 80


@pytest.mark.parametrize("screen", [DirtyScreen, Dialog, None], ids=["main", "dialog", "host"])
def test_a_widget_whose_place_was_asked_for_is_told_of_its_layout_as_any_other(screen):
    async def body(app, pause):
        told = []
        for asks in (False, True):
            shown = Shown()
            below = app.screen if screen is not Dialog else app.screen.box
            await below.mount(shown)
            for is_shown in (True, False, True):
                shown.display = is_shown
                if is_shown and asks:
                    ask(shown)
                await pause()
            shown.styles.height, other = 2, Shown()
            await below.mount(other)
            if asks:
                ask(other)
            await pause()
            told.append((shown.told, other.told))
            await shown.remove()
            await other.remove()
        one, two = Size(80, 1), Size(80, 2)
        assert told[0] == ([one, "show", "hide", one, "show", two], [one, "show"])
        assert told[1] == told[0]

    play(body, screen and screen("of-test"))


def test_what_moves_is_drawn_though_its_new_place_was_asked_for():
    async def body(app, pause):
        first, second, compositor = Shown("first"), Shown("second"), app.screen._compositor
        await app.screen.mount(second)
        await pause()
        await app.screen.mount(first, before=second)
        ask(first)
        compositor._dirty_regions.clear()
        compositor.reflow(app.screen, app.size)
        assert second.region.y == 1
        assert second.region in compositor._dirty_regions

    play(body)


def test_a_list_whose_place_was_asked_for_is_told_its_width():
    """Otherwise it stays wrapped for one column, and looks empty."""

    async def body(app, pause):
        view = Lines()
        await app.screen.mount(view)
        ask(view)
        assert not view.told
        await pause()
        assert view.told == [80]

    play(body)


def test_every_screen_has_such_a_compositor():
    ours = {each for each in subclasses(Screen) if is_ours(each)}
    assert SideBySideScreen in ours
    assert not [each for each in ours if not issubclass(each, (DirtyScreen, Dialog, SideBySideScreen))]
