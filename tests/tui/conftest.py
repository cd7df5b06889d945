"""The screen's tests see one time zone, one theme and colours."""

import os
import time

import pytest
from textual.css.stylesheet import Stylesheet

from tests.support import frames, idle
from tests.support.kept_stages import KeptStages
from tests.tui import screens, snapshots
from workbench.tui.main.redraw_timer import RedrawTimer

FRAMES_A_SECOND = 250
"""More than the 60 of a terminal: a test waits for a frame after every key."""
SOON_SECONDS = 0.02
"""The library reads and previews again, and a row ends its flash, within the time that counts as work to be done."""

LAYOUTS = {
    "test_stills": (
        "test_states[main-wide]", "test_states[main-medium]", "test_states[main-narrow]", "test_states[library-wide]",
        "test_main_in_other_colours[workbench-light-medium]", "test_main_in_other_colours[ansi-dark-medium]",
        "test_main_without_colours[medium]",
    ),
    "test_pictures": ("test_approvals[batch-wide]", "test_approvals[help-wide]"),
    "test_run_stills": ("test_runs[large-wide]",),
    "test_replay_screen": ("test_pictures[wide]",),
    "test_beside": ("test_pictures[1-size0]",),
}  # fmt: skip
"""The twelve that are kept as pictures, with the colours themselves; all others as text with names of colours."""


@pytest.fixture(scope="session", autouse=True)
def snapshot_settings():
    """Keep what the snapshot plugin says to itself: the isolation of every test would take it away."""
    return {name: value for name, value in os.environ.items() if name.startswith("TEXTUAL_SNAPSHOT")}


@pytest.fixture(scope="session", autouse=True)
def styles_parsed_once():
    """Let the apps of all tests share the rules that were read of their styles: nothing changes them later."""
    parsed, parse = {}, Stylesheet._parse_rules

    def parse_once(self, *source, **more):
        key = (*source, *more.items(), *self._variables.items())
        if key not in parsed:
            parsed[key] = parse(self, *source, **more)
        return parsed[key]

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def kept_stages(tmp_path_factory):
    """Let tests share the work of the recorded agent: each has a copy of what it left behind."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(screens, "kept_stages", KeptStages(tmp_path_factory.mktemp("stages")))
        yield


@pytest.fixture
def drawn_frames():
    """Draw every frame: for tests of drawing itself, of what is written to a terminal, and when."""


@pytest.fixture
def real_redraw_timer():
    """Let the screen wake by the clock of the machine: for tests of that timer itself."""


@pytest.fixture(autouse=True)
def still_terminal(request, isolated, snapshot_settings, monkeypatch):
    for name, value in snapshot_settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("TEXTUAL_THEME", raising=False)
    time.tzset()
    idle.install(monkeypatch)
    if "drawn_frames" not in request.fixturenames:
        frames.leave_undrawn(monkeypatch)
    if "real_redraw_timer" not in request.fixturenames:
        # A slow machine would wake the screen between two keys; a test calls `redraw_timer.tick` itself.
        monkeypatch.setattr(RedrawTimer, "keep", lambda timer: None)
        monkeypatch.setattr(RedrawTimer, "begin", lambda timer: None)
    monkeypatch.setattr("textual.screen.UPDATE_PERIOD", 1 / FRAMES_A_SECOND)
    for name in ("page.PREVIEW_AFTER", "reader.REREAD_SECONDS"):
        monkeypatch.setattr(f"workbench.tui.list_page.{name}", SOON_SECONDS)
    monkeypatch.setattr("workbench.tui.widgets.line_view.FLASH_SECONDS", SOON_SECONDS)
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def snap_screen(request):
    """Return what compares the screen of an app after keys with the one that was kept for this test."""
    if request.node.name in LAYOUTS.get(request.node.path.stem, ()):
        return request.getfixturevalue("snap_compare")

    def compare(app, *, run_before, terminal_size):
        return snapshots.compare(request, app, run_before, terminal_size)

    return compare
