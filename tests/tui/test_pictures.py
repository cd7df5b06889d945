"""Pictures of the screen, made from golden sessions; look at each beside the hand-off before keeping it."""

import pytest

from tests.support import golden
from tests.tui import stills
from tests.tui.backend import backend
from tests.tui.screens import Hand
from workbench.render.glyphs import ASCII_GLYPHS
from workbench.tui.app import WorkbenchApp

SIZES = stills.SIZES
STATES = {
    "queue": (),
    "edit": ("j",),
    "stale": ("j", "j", "j"),
    "reason": ("j", "R"),
    "full-diff": ("j", "enter"),
    "lines": ("j", "v", "space"),
    "zoomed": ("z",),
    "batch": ("M", "a"),
    "help": ("?",),
    "palette": (":",),
}


@pytest.fixture
def picture(tmp_path, snap_screen):
    journals = []

    def compare(name="busy-queue", *keys, size=(120, 36), theme="workbench-dark", **more):
        journal = golden.load(name, tmp_path / "home")
        journals.append(journal)
        hand = Hand()
        app = WorkbenchApp(
            journal,
            backend(branch=lambda: "main"),
            "/workspace/shop",
            home="/workspace",
            monotonic=hand,
            **more,
        )
        app.theme = theme

        async def before(pilot):
            await stills.play(pilot, keys, hand)

        return snap_screen(app, run_before=before, terminal_size=size)

    yield compare
    for journal in journals:
        journal.close()


@pytest.mark.parametrize("size", stills.EVERY_SIZE)
@pytest.mark.parametrize("state", STATES)
def test_approvals(picture, state, size):
    assert picture("busy-queue", *STATES[state], size=SIZES[size])


@pytest.mark.parametrize("theme", ["workbench-light", "ansi-dark"])
def test_themes(picture, theme):
    assert picture("busy-queue", "j", theme=theme)


def test_ascii(picture):
    assert picture("busy-queue", "j", glyphs=ASCII_GLYPHS)


@pytest.mark.parametrize("size", [(46, 10), (20, 5), (100, 9)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_too_small(picture, size):
    assert picture("busy-queue", size=size)
