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
BY_RESIZE = tuple(state for state in STATES if state not in ("batch", "help", "full-diff", "palette"))
"""States whose wide screen is kept as text, and that no size changes: resized, a screen shows what one shows that was opened so."""


def opened(journal, hand, *, theme="workbench-dark", **more):
    app = WorkbenchApp(
        journal, backend(branch=lambda: "main"), "/workspace/shop", home="/workspace", monotonic=hand, **more
    )
    app.theme = theme
    return app


@pytest.fixture
def picture(tmp_path, snap_screen):
    journals = []

    def compare(name="busy-queue", *keys, size=(120, 36), **more):
        journal, hand = golden.load(name, tmp_path / "home"), Hand()
        journals.append(journal)
        app = opened(journal, hand, **more)

        async def before(pilot):
            await stills.play(pilot, keys, hand)

        return snap_screen(app, run_before=before, terminal_size=size)

    yield compare
    for journal in journals:
        journal.close()


@pytest.mark.parametrize(("state", "size"), stills.one_by_one(STATES, BY_RESIZE))
def test_approvals(picture, state, size):
    assert picture("busy-queue", *STATES[state], size=SIZES[size])


@pytest.mark.parametrize("state", BY_RESIZE)
def test_approvals_at_two_sizes(tmp_path, request, state):
    journal, hand = golden.load("busy-queue", tmp_path / "home"), Hand()
    app = opened(journal, hand)

    async def before(pilot, size):
        await stills.play(pilot, STATES[state] if size == "wide" else (), hand)

    try:
        assert stills.are_kept_at_each_size(request, app, before, f"test_approvals[{state}-{{}}]")
    finally:
        journal.close()


@pytest.mark.parametrize("theme", ["workbench-light", "ansi-dark"])
def test_themes(picture, theme):
    assert picture("busy-queue", "j", theme=theme)


def test_ascii(picture):
    assert picture("busy-queue", "j", glyphs=ASCII_GLYPHS)


@pytest.mark.parametrize("size", [(46, 10), (20, 5), (100, 9)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_too_small(picture, size):
    assert picture("busy-queue", size=size)
