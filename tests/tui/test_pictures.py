"""Pictures of the screen, made from golden sessions; look at each beside the hand-off before keeping it."""

import pytest

from tests.support import golden
from tests.tui.screens import Hand
from workbench.draw.glyphs import ASCII
from workbench.tui.app import WorkbenchApp
from workbench.tui.services import Services

SIZES = {"wide": (160, 48), "medium": (120, 36), "narrow": (80, 24)}
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
def picture(tmp_path, snap_compare):
    journals = []

    def compare(name="busy-queue", *keys, size=(120, 36), theme="workbench-dark", **more):
        journal = golden.load(name, tmp_path / "home")
        journals.append(journal)
        hand = Hand()
        app = WorkbenchApp(
            journal,
            Services(branch=lambda: "main"),
            "/workspace/shop",
            home="/workspace",
            monotonic=hand,
            **more,
        )
        app.theme = theme

        async def before(pilot):
            while pilot.app.painter is None:
                await pilot.app.workers.wait_for_complete()
                await pilot.pause()
            for key in (None, *keys):
                if key is not None:
                    await pilot.press(key)
                for _ in range(2):
                    await pilot.app.workers.wait_for_complete()
                    await pilot.pause()
                hand.waits()
            main = pilot.app.main
            main.rule.say("")
            main.showing.footer()
            await pilot.pause()

        return snap_compare(app, run_before=before, terminal_size=size)

    yield compare
    for journal in journals:
        journal.close()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("state", STATES)
def test_approvals(picture, state, size):
    assert picture("busy-queue", *STATES[state], size=SIZES[size])


@pytest.mark.parametrize("theme", ["workbench-light", "ansi-dark"])
def test_themes(picture, theme):
    assert picture("busy-queue", "j", theme=theme)


def test_ascii(picture):
    assert picture("busy-queue", "j", glyphs=ASCII)


def test_too_small(picture):
    assert picture("busy-queue", size=(46, 10))
