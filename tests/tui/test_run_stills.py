"""Pictures of runs: pane, full screen, a step in full, the launch form, two runs side by side, in three sizes."""

import pytest

from tests.support import drawn_runs
from tests.tui import stills
from tests.tui.backend import backend
from tests.tui.screens import Hand
from tests.tui.test_compare import three_runs
from tests.tui.test_launch import Service
from workbench.effects.clock import ManualClock
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.app import WorkbenchApp

SHOP = "/workspace/shop"
SIZES = stills.SIZES
STATES = {
    "pane": (drawn_runs.nightly, ("4",)),
    "conversation": (drawn_runs.nightly, ("1",)),
    "lost": (drawn_runs.lost, ("4",)),
    "large": (drawn_runs.nightly, ("4", "z", "h", "space")),
    "step": (drawn_runs.nightly, ("4", "z", "/", *"docs", "enter", "enter")),
    "launch": (drawn_runs.nightly, ("4", "L", "tab", "tab", "G", "k", "space")),
    "launch-broken": (None, ("escape", "4", "L", "tab", "tab")),
    "compare": (three_runs, ("escape", "4", "C", "n", "n")),
}


BY_RESIZE = tuple(state for state in STATES if state != "large")
"""States whose wide screen is kept as text; a screen that is resized shows what one shows that was opened so."""


@pytest.fixture
def opened(tmp_path):
    """Yield what opens a screen on a state."""
    journal, hand = Journal.open(Home.open(tmp_path / "home"), clock=ManualClock()), Hand()

    def make(state):
        if STATES[state][0]:
            STATES[state][0](journal, SHOP)
        services = backend(branch=lambda: "main", **Service().services())
        app = WorkbenchApp(journal, services, SHOP, home="/workspace", monotonic=hand)
        app.theme = "workbench-dark"
        return app, hand

    yield make
    journal.close()


@pytest.mark.parametrize(("state", "size"), stills.one_by_one(STATES, BY_RESIZE))
def test_runs(opened, snap_screen, state, size):
    app, hand = opened(state)

    async def before(pilot):
        await stills.play(pilot, STATES[state][1], hand)

    assert snap_screen(app, run_before=before, terminal_size=SIZES[size])


@pytest.mark.parametrize("state", BY_RESIZE)
def test_runs_at_two_sizes(opened, request, state):
    app, hand = opened(state)

    async def before(pilot, size):
        await stills.play(pilot, STATES[state][1] if size == "wide" else (), hand)

    assert stills.are_kept_at_each_size(request, app, before, f"test_runs[{state}-{{}}]")
