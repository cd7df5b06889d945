"""A filter of a pane is seen in its title, and escape clears it before it does anything else."""

import pytest

from tests.tui.screens import play, staged


def title_of(shown, pane):
    region = pane.title_row.region
    return shown.text.splitlines()[region.y][region.x : region.right]


@pytest.mark.parametrize(
    ("place", "size"), [(place, (160, 48)) for place in (0, 2, 3)] + [(place, (80, 24)) for place in (0, 2)]
)
def test_a_filter_stands_in_the_title_and_escape_clears_it(tmp_path, place, size):
    async def body(shown):
        await shown.press(str(place), "/", *"zzz", "enter")
        pane = next(pane for pane in shown.main.panes if place == pane.PLACE)
        assert pane.text_filter == "zzz"
        if size[0] > 100:
            assert "zzz" in title_of(shown, pane)
        assert "Nothing matches" in shown.text or "zzz" in shown.text
        await shown.press("escape")
        assert pane.text_filter == "" and "zzz" not in shown.text
        assert shown.main.place == place

    play(staged(tmp_path), body, size=size)


def test_sessions_say_how_many_of_them_are_left(tmp_path):
    async def body(shown):
        await shown.press("0", "z", "/", *"zzz", "enter")
        assert "0 of 1" in title_of(shown, shown.main.rail)
        assert "esc clears it" in " ".join(shown.text.split())

    play(staged(tmp_path), body, size=(160, 48))
