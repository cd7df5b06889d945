"""Two sessions side by side: in step by time, set beside each other by prompts, and nothing that writes."""

import asyncio

import pytest

from tests.support import golden
from tests.tui.backend import backend
from tests.tui.screens import Hand, counted, settled, work_done
from workbench.domain.values import SYSTEM_SESSION
from workbench.journal.journal import Journal
from workbench.tui.app import WorkbenchApp
from workbench.tui.approvals.decision_writer import DecisionWriter
from workbench.tui.compositor import LayoutCompositor
from workbench.tui.replay.side_by_side import NOT_SIDE_BY_SIDE, SideBySideScreen
from workbench.tui.replay_app import ReplayApp
from workbench.views.replay import Player, SyncedReplay
from workbench.views.timeline import Timeline

SECOND = 1_000_000


def timeline(*events):
    return Timeline([(n, at * SECOND, kind, None) for n, (at, kind) in enumerate(events, 1)])


SLOW = timeline((0, "a"), (1, "prompt.submitted"), (8, "b"), (20, "prompt.submitted"), (25, "c"))
FAST = timeline((0, "a"), (2, "prompt.submitted"), (3, "b"), (5, "prompt.submitted"), (9, "c"), (10, "d"))


def test_both_go_on_by_the_same_played_time():
    step = SyncedReplay(Player(SLOW), FAST)
    assert step.index == 1
    for seconds, index in ((1, 1), (3, 3), (6, 4), (25, 6)):
        step.player.seek(1)
        step.player.skip(seconds)
        assert step.index == index


def test_prompts_of_the_same_number_are_set_beside_each_other():
    step = SyncedReplay(Player(SLOW), FAST)
    assert step.to_prompt(1)
    assert (step.player.index, step.index) == (2, 2)
    assert step.to_prompt(1)
    assert (step.player.index, step.index) == (4, 4)
    step.player.skip(4)
    assert step.index == 5
    assert not step.to_prompt(1)
    assert step.to_prompt(-1)
    assert (step.player.index, step.index) == (2, 2)


def test_where_the_other_has_no_such_prompt_it_stays_in_step():
    step = SyncedReplay(Player(SLOW), timeline((0, "a"), (9, "b")))
    assert step.to_prompt(1)
    assert step.index == 1
    assert SyncedReplay(Player(SLOW), Timeline([])).index == 0


def sessions(folder):
    """Return a journal with two sessions: a golden one, and another taken in beside it."""
    journal = golden.load("any-order", folder / "home")
    with golden.load("rename-handler", folder / "other") as other:
        there = {one.id for one in journal.events()}
        journal.append([one for one in other.events() if one.id not in there and one.session_id != SYSTEM_SESSION],
                       strict=False)  # fmt: skip
    found = [one for one in journal.sessions() if one.id != SYSTEM_SESSION and one.parent_id is None]
    assert len(found) == 2
    return journal, found


def compared(folder, body, size=(120, 36), **more):
    journal, (one, other) = sessions(folder)
    app = ReplayApp(journal, one, home="/workspace", at=1, beside=(journal, other), monotonic=Hand(), **more)

    async def run():
        async with app.run_test(size=size) as pilot:
            await pilot.pause()

            async def press(*keys):
                for key in keys:
                    await pilot.press(key)
                    await pilot.pause()
                    await counted(app, paused=0)
                    await work_done(app)
                    await pilot.pause()

            await press()
            assert isinstance(app.screen, SideBySideScreen)
            assert isinstance(app.screen._compositor, LayoutCompositor)
            await body(app, press)
            assert app.failure is None

    try:
        asyncio.run(run())
    finally:
        journal.close()


def text(app):
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


@pytest.mark.parametrize("size", [(160, 48), (120, 36), (80, 24)])
def test_both_conversations_are_shown_at_their_moments(tmp_path, size):
    async def body(app, press):
        screen = app.screen
        await press("p")
        assert (screen.leads.source.index, screen.follows.source.index) == (
            screen.player.index,
            screen.step.index,
        )
        await press("f")
        for side in (screen.one, screen.other):
            assert side.source.index == len(side.source.timeline)
            assert side.conversation.view.blocks
            turn = side.conversation.turns.in_view
            calls = {call.id for call in side.state.calls if call.turn_id == turn.id}
            assert side.state.calls and set(side.tools.list.rows) == calls
        assert len(screen.one.tools.list.rows) > 1
        assert "REPLAY" in text(app)
        await press("escape")
        assert app.screen is app.main

    compared(tmp_path, body, size)


def test_no_key_is_silent(tmp_path):
    async def body(app, press):
        screen = app.screen
        for view in "1234":
            await press(view, "enter")
            assert NOT_SIDE_BY_SIDE in text(app)
        for key, said in (("0", NOT_SIDE_BY_SIDE), ("5", NOT_SIDE_BY_SIDE), ("colon", NOT_SIDE_BY_SIDE), ("z", NOT_SIDE_BY_SIDE), ("ctrl+g", NOT_SIDE_BY_SIDE),
                          ("i", "Nothing can be answered here"), ("ctrl+n", "Nothing can be answered here")):  # fmt: skip
            await press("full_stop", key)
            assert said in text(app), key
        assert app.screen is screen

    compared(tmp_path, body, (160, 48))


@pytest.mark.parametrize("is_other", [False, True])
def test_words_are_found_on_the_side_that_has_the_keys(tmp_path, is_other):
    async def body(app, press):
        screen = app.screen
        await press("f", "1", *(["tab"] if is_other else []))
        side, still = (screen.other, screen.one) if is_other else (screen.one, screen.other)
        assert screen.focused_side is side
        word = "page" if is_other else "tests"
        await press("slash", *word, "enter")
        finding = side.conversation.finding
        assert (finding.text, finding.is_whole, still.conversation.finding.text) == (word, True, "")
        assert len(finding) > 1
        first, moment = finding.current, screen.player.index
        assert first is not None
        await press("N")
        assert finding.current != first, "the place before"
        await press("n")
        assert (finding.current, screen.player.index) == (first, moment)
        await press("slash", *"nowhere at all", "enter")
        assert "is not in this conversation" in text(app)
        await press("slash", *word, "enter", "escape")
        assert (app.screen, side.conversation.finding.text) == (screen, "")
        await press("escape")
        assert app.screen is app.main

    compared(tmp_path, body, (160, 48))


@pytest.mark.spec(218)
def test_nothing_is_answered_and_nothing_written(tmp_path, monkeypatch):
    def forbidden(*_, **__):
        raise AssertionError("a replay made something that writes, asks or runs")

    async def body(app, press):
        monkeypatch.setattr(Journal, "append", forbidden)
        before = app._journal.last_position()
        await press("space", "space", "full_stop", "comma", "n", "N", "a", "e", "x", "p", "P", "h", "l", "H", "L",
                    "t", "escape", "F", "escape", "W", "escape", "j", "k", "greater_than_sign", "less_than_sign", "c", "s")  # fmt: skip
        assert app._journal.last_position() == before

    monkeypatch.setattr(DecisionWriter, "__init__", forbidden)
    compared(tmp_path, body)


def test_a_moment_is_named_for_both_and_a_wrong_one_says_what_is_right(tmp_path):
    async def body(app, press):
        screen = app.screen
        await press("t", *"50%", "enter")
        assert screen.player.index == screen.player.timeline.index_played(screen.player.timeline.length / 2)
        assert screen.follows.source.index == screen.step.index
        assert screen.one.has_focus_within
        at = screen.player.index
        await press("t", *"soon", "enter")
        assert "No moment of this recording. Type 0:30, 12:01:31, 35 %" in text(app)
        await press("t", *"1", "escape")
        assert (screen.player.index, screen.is_current) == (at, True)
        assert "space play" in text(app)

    compared(tmp_path, body)


def test_the_one_that_has_the_keys_is_forked_and_filmed_at_its_moment(tmp_path):
    forked, filmed = [], []

    def fork(wanted):
        forked.append(wanted)
        return "Forked: ab12."

    def film(wanted, told):
        filmed.append(wanted)
        return "Written: x.svg."

    async def body(app, press):
        screen = app.screen
        await press("f", "h", "F", *"git up", "enter")
        assert "Forked: ab12." in text(app)
        await press("tab", "F", "enter")
        await press("W", *["backspace"] * 60, *"x.svg", "enter")
        assert "Written: x.svg." in text(app)
        one, other = screen.sides
        assert [(way.session_id, way.position, way.folder, way.is_worktree) for way in forked] == [
            (one.session.id, one.source.position(), "up", True),
            (other.session.id, other.source.position(), "", False),
        ]
        assert [(way.session_id, way.index, way.path) for way in filmed] == [
            (other.session.id, other.source.index, "x.svg")
        ]

    compared(tmp_path, body, backend=backend(fork=fork, export_film=film))


def test_without_a_library_a_fork_beside_another_says_how_to_get_one(tmp_path):
    async def body(app, press):
        await press("F", "enter")
        assert "workbench replay --keep" in text(app)

    compared(tmp_path, body, size=(160, 48))


def test_time_passes_for_both(tmp_path):
    async def body(app, press):
        screen = app.screen
        await press("space")
        app.monotonic.waits(4)
        screen._frame()
        assert screen.player.played == pytest.approx(4 * SECOND, abs=1)
        assert screen.follows.source.index == screen.step.index

    compared(tmp_path, body)


VIEWS = {"1": "conversation", "2": "approvals", "3": "tools", "4": "pipeline"}


@pytest.mark.parametrize("key", VIEWS)
def test_the_same_part_of_both_is_compared(tmp_path, key):
    async def body(app, press):
        await press("f", key)
        screen = app.screen
        for side in screen.sides:
            assert side.view == VIEWS[key]
            shown = {pane.id for pane in side.panes if pane.display}
            assert shown == ({"conversation", "tools"} if key == "1" else {VIEWS[key]})
        assert screen.focused_side is screen.one
        await press("tab")
        assert screen.focused_side is screen.other
        await press("2" if key != "2" else "1")
        assert screen.focused_side is screen.other
        await press("question_mark")
        assert "Two sessions side by side" in text(app)

    compared(tmp_path, body)


def test_the_queue_of_each_is_that_of_its_moment(tmp_path):
    async def body(app, press):
        await press("2")
        seen = set()
        for _ in range(6):
            await press("a")
            for side in app.screen.sides:
                waiting = {row.id for row in side.approvals.rows if row.is_pending}
                then = {one.id for one in side.source.actions(0) if one.state == "pending"}
                assert waiting == then
                seen |= waiting
                if side.approvals.queue.cursor is not None:
                    assert side.approvals.detail.id == side.approvals.queue.cursor
        assert seen
        await press("u", "r", "R", "v")
        assert "Nothing can be answered here" in text(app)

    compared(tmp_path, body)


def opened(folder, body, size=(160, 48)):
    """Run the live screen on a journal with the sessions of some golden ones."""
    journal, found = sessions(folder)
    app = WorkbenchApp(journal, backend(), found[0].workspace, home="/workspace", monotonic=Hand())

    async def run():
        async with app.run_test(size=size) as pilot:
            await pilot.pause()

            async def press(*keys):
                for key in keys:
                    await pilot.press(key)
                    await pilot.pause()
                    await counted(app, paused=0)
                    await work_done(app)
                    await pilot.pause()

            await press()
            await body(app, press)
            assert app.failure is None

    try:
        asyncio.run(run())
    finally:
        journal.close()


def test_a_key_of_the_sessions_opens_the_one_under_the_cursor_beside_the_one_on_show(tmp_path):
    async def body(app, press):
        await press("escape", "0", "g", "B")
        assert "Put the cursor on another session" in app.main.rule.said
        await press("j", "B")
        assert isinstance(app.screen, SideBySideScreen)
        assert [side.session.id for side in app.screen.sides] == list(app.main.rail.list.ids)
        await press("escape")
        assert app.screen is app.main

    opened(tmp_path, body)


def test_a_key_of_the_library_opens_the_two_that_are_marked(tmp_path):
    async def body(app, press):
        await press("escape", "5", "B")
        assert "Mark two sessions with m" in app.main.rule.said
        await press("m", "j", "m", "B")
        assert isinstance(app.screen, SideBySideScreen)
        assert len({side.session.id for side in app.screen.sides}) == 2

    opened(tmp_path, body)


@pytest.mark.parametrize("size", [(160, 48), (120, 36), (80, 24)])
@pytest.mark.parametrize("view", ["1", "2"])
def test_pictures(tmp_path, snap_screen, size, view):
    journal, (one, other) = sessions(tmp_path)
    with journal:
        app = ReplayApp(journal, one, home="/workspace", at=40, beside=(journal, other), monotonic=Hand())

        async def before(pilot):
            await pilot.pause()
            await pilot.press(view)
            await settled(pilot.app, pilot)

        assert snap_screen(app, run_before=before, terminal_size=size)


def test_graphs_of_two_runs_are_compared_first(tmp_path):
    journal = golden.load("release-run", tmp_path / "home")
    (run,) = [one for one in journal.sessions() if one.kind == "pipeline"]
    app = ReplayApp(journal, run, home="/workspace", at=1, beside=(journal, run), monotonic=Hand())

    async def go():
        async with app.run_test(size=(160, 48)) as pilot:
            await settled(app, pilot)
            await pilot.press("f")
            await pilot.pause()
            assert [side.view for side in app.screen.sides] == ["pipeline", "pipeline"]
            assert all(side.pipeline.run.status == "completed" for side in app.screen.sides)
            assert app.failure is None

    try:
        asyncio.run(go())
    finally:
        journal.close()
