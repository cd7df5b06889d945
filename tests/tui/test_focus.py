"""The focus, and the footer that says what its keys do, belong to what is on the screen."""

import pytest

from tests.tui.screens import play, staged
from workbench.tui.compositor import DirtyScreen
from workbench.tui.places import PLACES

SIZES = [(80, 24), (160, 48)]


@pytest.fixture
def frames(monkeypatch):
    """Return the list of frames as they are drawn, each as the place it belongs to and its last row."""
    drawn = []
    refresh = DirtyScreen._compositor_refresh

    def record(screen):
        refresh(screen)
        if screen.has_frame and screen.is_current:
            drawn.append((screen.place, screen._compositor.render_strips()[-1].text))

    monkeypatch.setattr(DirtyScreen, "_compositor_refresh", record)
    return drawn


@pytest.mark.parametrize("size", SIZES)
def test_no_frame_shows_the_keys_of_a_pane_that_has_lost_the_focus(tmp_path, frames, size):
    async def body(shown):
        for number, place in enumerate(PLACES):
            if place.name in ("rules", "providers"):
                continue  # Screens of their own.
            await shown.press("2")
            frames.clear()
            await shown.press_once(place.key)
            assert shown.main.place == number
            late = [row for where, row in frames if where == number and "a approve" in row]
            assert not late or place.name == "approvals", (place.name, late[0])

    play(staged(tmp_path), body, size=size)
