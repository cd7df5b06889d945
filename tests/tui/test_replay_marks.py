"""Every mark of a recording: what a live screen showed when it had just happened is what its replay shows."""

import asyncio

import pytest

from tests.support import golden
from tests.support.sizes import rarely
from tests.tui.backend import backend
from tests.tui.screens import Hand, settled, work_done
from workbench.config.sections import NotifySettings
from workbench.config.types import UiSettings
from workbench.domain.values import SYSTEM_SESSION
from workbench.effects.clock import ManualClock
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.app import WorkbenchApp
from workbench.tui.replay.replay_source import ReplaySource
from workbench.tui.replay_app import ReplayApp

STILL = UiSettings(theme="workbench-dark", density="normal", glyphs="unicode", motion="none", keymap={},
           notify=NotifySettings(bell=False, title=False, desktop="off"))  # fmt: skip
"""Nothing flashes: what is compared is what stays."""
NAMES = ["rename-handler", "late-answers", "stacked-edits", "release-run"]
SIZE = (120, 48)
MORE_ROWS = 2
"""The bar of a replay has three rows, the composer of a live screen one."""


async def settle(app, pilot):
    while app.painter is None:
        await work_done(app)
        await pilot.pause()
    await settled(app, pilot)


def cells(app, pane):
    region, strips = pane.region, app.screen._compositor.render_strips()
    lines = [strip.crop(region.x, region.right).simplify() for strip in strips[region.y : region.bottom]]
    return [[(part.text, part.style) for part in line] for line in lines]


def shown(app):
    """Return conversation, calls and graph as styled cells; of the queue its rows in no order.

    The order of the queue keeps still under a live cursor, and the cursor is where its user left it.
    """
    main = app.main
    found = {pane.id: cells(app, pane) for pane in (main.conversation, main.pipeline)}
    found["tools"] = [line.text.rstrip().lstrip("▌ ") for line in lines_of(app, main.tools)]
    found["queue"] = sorted(map(repr, main.approvals.rows))
    return found


def lines_of(app, pane):
    region, strips = pane.region, app.screen._compositor.render_strips()
    return [strip.crop(region.x, region.right) for strip in strips[region.y : region.bottom]]


def marks_of(name, folder):
    """Return the positions of the marks of a golden session, at most one for several at a time."""
    with golden.load(name, folder) as journal:
        session = main_session(journal)
        timeline = ReplaySource(journal, session).timeline
        return session.id, sorted({mark.index for mark in timeline.marks}), timeline.position


def main_session(journal):
    return next(one for one in journal.sessions() if one.id != SYSTEM_SESSION and one.parent_id is None)


async def live(name, session_id, positions, folder):
    """Feed a journal event by event, and return what the live screen shows at each position."""
    every = list(golden.events(name))
    (folder / "key").parent.mkdir(mode=0o700)
    (folder / "key").write_bytes(golden.KEY)
    clock = ManualClock(every[0].at)
    found, at = {}, 0
    with Journal.open(Home.open(folder), clock) as journal:
        for data in golden.blobs(name).values():
            journal.blobs.record(data)
        while journal.session(session_id) is None:
            journal.append([every[at]], strict=False)
            at += 1
        workspace = journal.session(session_id).workspace
        app = WorkbenchApp(journal, backend(), workspace, home="/workspace", ui=STILL, monotonic=Hand())
        async with app.run_test(size=(SIZE[0], SIZE[1] - MORE_ROWS)) as pilot:
            await settle(app, pilot)
            # The host that wrote these events held the lease of the session.
            app._live.is_driven = lambda _: True
            app._live.is_driver_gone = lambda _: False
            for pane in app.main.panes:
                pane.is_past = True
            app.main.state.choose(session_id)
            app.main.presenter.everything()
            app.main.go_to(2)
            for position in positions:
                journal.append(every[at:position], strict=False)
                at = position
                # The sessions below a run have times of their own: the moment is that of the mark.
                app._live.now = lambda at=every[at - 1].at: at
                app.main.look()
                app.main.redraw_timer.tick()
                await settle(app, pilot)
                found[position] = shown(app)
    return found


async def replayed(name, positions, folder):
    """Return what the replay shows at each position, gone to by `n` from mark to mark, and back again."""
    found = [{}, {}]
    with golden.load(name, folder) as journal:
        app = ReplayApp(journal, main_session(journal), home="/workspace", at=1, ui=STILL, monotonic=Hand())
        async with app.run_test(size=SIZE) as pilot:
            await settle(app, pilot)
            for key, seen in (("n", found[0]), ("N", found[1])):
                for _ in range(len(positions)):
                    await pilot.press(key)
                    await settle(app, pilot)
                    # Parts of a second are shown when the second is over; here, as live, at once.
                    app.main._second = -1
                    app.main.show_moment()
                    await settle(app, pilot)
                    seen[app.main.source.position()] = shown(app)
    return found


@pytest.mark.spec(140, 218)
@pytest.mark.parametrize("name", [NAMES[0], *map(rarely, NAMES[1:])])
def test_each_mark_shows_what_the_live_screen_showed_then(name, tmp_path):
    session_id, indices, position = marks_of(name, tmp_path / "marks")
    positions = [position(index) for index in indices if index > 1]
    then = asyncio.run(live(name, session_id, positions, tmp_path / "live"))
    forth, back = asyncio.run(replayed(name, positions, tmp_path / "replay"))
    assert set(forth) == set(positions)
    for seen in (forth, back):
        for key, screen in seen.items():
            if key in then:
                for pane, content in then[key].items():
                    assert screen[pane] == content, (key, pane)
