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
    "large": (drawn_runs.nightly, ("4", "z", "h", "space")),
    "step": (drawn_runs.nightly, ("4", "z", "/", *"docs", "enter", "enter")),
    "launch": (drawn_runs.nightly, ("4", "L", "tab", "tab", "G", "k", "space")),
    "launch-broken": (None, ("escape", "4", "L", "tab", "tab")),
    "compare": (three_runs, ("escape", "4", "C", "n", "n")),
}


@pytest.mark.parametrize("size", stills.EVERY_SIZE)
@pytest.mark.parametrize("state", STATES)
def test_runs(tmp_path, snap_screen, state, size):
    make, keys = STATES[state]
    journal = Journal.open(Home.open(tmp_path / "home"), clock=ManualClock())
    if make:
        make(journal, SHOP)
    hand = Hand()
    services = backend(branch=lambda: "main", **Service().services())
    app = WorkbenchApp(journal, services, SHOP, home="/workspace", monotonic=hand)
    app.theme = "workbench-dark"

    async def before(pilot):
        await stills.play(pilot, keys, hand)

    try:
        assert snap_screen(app, run_before=before, terminal_size=SIZES[size])
    finally:
        journal.close()
