"""The replay on the screen: the live screen at its end, every key of it, and nothing that writes or runs."""

import asyncio
import re

import pytest
from msgspec.structs import replace

from tests.support import golden
from tests.support.sizes import rarely
from tests.tui.backend import backend
from tests.tui.screens import Hand, counted, settled, work_done
from workbench.domain.events import PromptSubmitted, SessionStatusChanged
from workbench.domain.rows import SessionCounts
from workbench.domain.values import SYSTEM_SESSION, Actor
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.app import WorkbenchApp
from workbench.tui.approvals.decision_writer import DecisionWriter
from workbench.tui.main.place_stack import PLACES_UNAVAILABLE
from workbench.tui.replay.replay_screen import ReplayScreen
from workbench.tui.replay_app import ReplayApp
from workbench.views.conversation import Transcript

SIZES = {"wide": (160, 48), "medium": (120, 36), "narrow": (80, 24)}


def opened(name, folder):
    journal = golden.load(name, folder / "home")
    return journal, next(
        one for one in journal.sessions() if one.id != SYSTEM_SESSION and one.parent_id is None
    )


async def settle(app, pilot):
    await pilot.pause()
    # A pause between keys would move the player, and only a live screen counts them.
    await counted(app, paused=0 if isinstance(app, ReplayApp) else 0.5)
    while app.painter is None:
        await work_done(app)
        await pilot.pause()
    await settled(app, pilot)


def text(app):
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def replayed(name, folder, body, *, at=1, size=(120, 36), **more):
    journal, session = opened(name, folder)
    app = ReplayApp(journal, session, home="/workspace", at=at, monotonic=Hand(), **more)

    async def run():
        async with app.run_test(size=size) as pilot:
            await settle(app, pilot)

            async def press(*keys):
                for key in keys:
                    await pilot.press(key)
                    await settle(app, pilot)

            await body(app, press)

    try:
        asyncio.run(run())
    finally:
        journal.close()


def test_a_search_of_all_sessions_is_refused_in_a_replay(tmp_path):
    async def body(app, press):
        await press("colon", *"zebra", "enter")
        assert app.main.rule.said == PLACES_UNAVAILABLE

    replayed("rename-handler", tmp_path, body)


def test_a_mark_of_a_human_is_gone_to_by_key_and_by_its_words(tmp_path):
    async def body(app, press):
        source = app.main.source
        await press("m")
        (note,) = source.timeline.marks.of("note")
        assert (source.index, source.words_at(source.index)) == (note.index, "where it is called")
        assert "where it is called" in text(app)
        await press("m")
        assert "No later mark of yours" in text(app)
        await press("g", "t", *"CALLED", "enter")
        assert source.index == note.index
        await press("t", *"nowhere", "enter")
        assert source.index == note.index
        assert "No moment of this recording" in text(app)
        await press("M")
        assert "No earlier mark of yours" in text(app)

    replayed("rename-handler", tmp_path, body)


def test_keys_go_to_events_marks_and_moments(tmp_path):
    async def body(app, press):
        player, bar = app.main.player, app.main.source
        await press("full_stop", "full_stop")
        assert player.index == bar.index == 3
        await press("comma")
        assert bar.index == 2
        await press("p", "a")
        marks = {mark.index: mark.jump for mark in bar.timeline.marks}
        assert marks[bar.index] == "approval"
        await press("e")
        assert marks[bar.index] == "edit"
        await press("E", "P")
        assert marks[bar.index] == "prompt"
        await press("t", *"#40", "enter")
        assert bar.index == 40
        assert "event 40 of" in text(app)
        await press("t", *"soon", "enter")
        assert "No moment of this recording" in app.main.rule.said
        assert bar.index == 40
        await press("greater_than_sign", "greater_than_sign")
        assert player.speed == 4
        assert not player.is_playing

    replayed("rename-handler", tmp_path, body)


KINDS = {"a": "approval", "e": "edit", "x": "error", "p": "prompt", "s": "step", "c": "expiry"}


@pytest.mark.parametrize("name", [rarely("release-run"), "late-answers", "hotfix-run"])
def test_each_kind_of_mark_has_keys_that_go_to_all_of_them(name, tmp_path):
    async def body(app, press):
        main, player = app.main, app.main.player
        for key, kind in KINDS.items():
            wanted = sorted({mark.index for mark in main.source.timeline.marks if mark.jump == kind} - {1})
            await press(*"t#1", "enter")
            found = []
            for _ in range(len(wanted)):
                await press(key)
                found.append(player.index)
            assert found == wanted
            await press(key)
            assert main.rule.said == f"No later {kind}."
            if len(wanted) > 1:
                await press(key.upper())
                assert player.index == wanted[-2]

    replayed(name, tmp_path, body, size=(100, 30))


def test_the_cursors_go_to_what_a_mark_is_about_and_to_what_waits(tmp_path):
    async def body(app, press):
        main = app.main
        queue, calls = main.approvals.queue, main.tools.list
        about = {}
        for mark in main.source.timeline.marks:
            event = main.source.event_at(mark.index)
            if mark.index > 1 and mark.jump in ("approval", "edit"):
                about[mark.index] = event.action_id, event.call_id
        for _ in main.source.timeline.marks:
            await press("n")
            if main.player.index in about:
                action, call = about.pop(main.player.index)
                assert calls.cursor == call
                assert (main.state.actions[queue.cursor].call_id, action in (None, queue.cursor)) == (
                    call,
                    True,
                )
        assert not about
        await press(*"t#50", "enter")
        assert queue.current is not None
        decided = [row.id for row in queue.shown if not row.is_pending]
        waiting = [row.id for row in queue.shown if row.is_pending]
        assert (decided[0], queue.cursor in decided, waiting) == (decided[0], True, [])
        await press(*"t#62", "enter")
        assert queue.current.is_pending
        queue.put_cursor(decided[0])
        main.go(main.player.step(-1))
        main.go(main.player.step(1))
        assert queue.cursor == decided[0], "its user chose that row"
        await press("full_stop", "comma")
        assert queue.current.is_pending

    replayed("rename-handler", tmp_path, body)


@pytest.mark.parametrize("keys", [("n",), ("full_stop", "n"), ("f",), ("t", *"100%", "enter"), ("L",)])
def test_a_key_that_comes_while_the_rest_is_read_goes_where_it_would_go(keys, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.tui.replay.replay_source.FIRST_READ_EVENTS", 4)
    monkeypatch.setattr(ReplayScreen, "_build", lambda self: None)
    reached = []

    async def body(app, press):
        main = app.main
        main.player.is_playing = False
        assert not main.source.timeline.is_whole
        assert "its marks are being read" in text(app)
        assert f"of {main.source.timeline.count}" in text(app)
        await press(*keys)
        assert main.source.timeline.is_whole
        assert "being read" not in text(app)
        reached.append(main.player.index)

    async def known(app, press):
        await press(*keys)
        reached.append(app.main.player.index)

    replayed("rename-handler", tmp_path / "one", body, at=None)
    replayed("rename-handler", tmp_path / "other", known)
    assert reached[0] == reached[1] > 1


def test_a_fast_player_does_not_stop_where_the_beginning_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.tui.replay.replay_source.FIRST_READ_EVENTS", 4)
    monkeypatch.setattr(ReplayScreen, "_build", lambda self: None)

    async def body(app, press):
        main = app.main
        assert main.player.is_playing
        app.monotonic.waits(30)
        main._frame()
        assert main.source.timeline.is_whole
        assert main.player.index > 4

    replayed("rename-handler", tmp_path, body, at=None)


def test_time_passes_only_while_it_plays(tmp_path):
    async def body(app, press):
        main = app.main
        at = main.player.played
        await press("space")
        assert main.player.is_playing
        app.monotonic.waits(3)
        main._frame()
        assert main.player.played == pytest.approx(at + 3_000_000, abs=1)
        assert main.source.index == main.player.index > 1
        await press("space")
        app.monotonic.waits(3)
        assert main.player.played == pytest.approx(at + 3_000_000, abs=1)

    replayed("rename-handler", tmp_path, body)


@pytest.mark.spec(218)
def test_keys_that_answer_or_begin_something_say_that_it_is_a_replay(tmp_path):
    async def body(app, press):
        await press("a")
        for key in ("r", "R", "u", "v", "T", "i", "ctrl+n", "ctrl+c", "vertical_line"):
            app.main.rule.say("")
            await press(key)
            assert app.main.rule.said.startswith(
                "This is a replay of 21 Nov 12:00. Nothing can be answered here."
            ), key
            assert not app.main.composer.display, key

    replayed("rename-handler", tmp_path, body)


@pytest.mark.spec(218)
def test_nothing_with_a_side_effect_is_made(tmp_path, monkeypatch):
    def forbidden(*_, **__):
        raise AssertionError("a replay made something that writes, asks or runs")

    async def body(app, press):
        monkeypatch.setattr(DecisionWriter, "__init__", forbidden)
        monkeypatch.setattr(Journal, "append", forbidden)
        before = app._journal.last_position()
        await press(
            "space",
            "n",
            "n",
            "a",
            "r",
            "R",
            "x",
            "f",
            "0",
            "1",
            "2",
            "enter",
            "3",
            "4",
            "N",
            "t",
            "escape",
            "?",
        )
        await press("escape", "escape")
        assert app._journal.last_position() == before

    monkeypatch.setattr(DecisionWriter, "__init__", forbidden)
    replayed("rename-handler", tmp_path, body)


def shown(app):
    """Return the cells of the panes with their styles, without what tells the time or the place of a replay."""
    main = app.main
    found = {}
    drawn = app.screen._compositor.render_strips()
    for pane in (main.conversation, main.tools, main.approvals, main.rail, main.pipeline):
        region = pane.region
        # The scrollbar of a talk is about what was read of it, which is less at once in a replay.
        right = region.right - (pane is main.conversation)
        strips = drawn[region.y : region.bottom]
        found[pane.id] = [
            [(part.text, part.style) for part in strip.crop(region.x, right).simplify()] for strip in strips
        ]
    return found


@pytest.mark.spec(218)
@pytest.mark.parametrize("name", golden.sampled_names())
def test_a_replay_at_its_end_is_the_live_screen(name, tmp_path):
    journal, session = opened(name, tmp_path)
    newest = max(e.position for e in journal.events() if e.session_id != SYSTEM_SESSION)
    live = WorkbenchApp(journal, backend(), session.workspace, home="/workspace", monotonic=Hand())
    there = ReplayApp(journal, session, home="/workspace", at=10**9, monotonic=Hand())
    screens = {}

    async def run(app, size):
        async with app.run_test(size=size) as pilot:
            await settle(app, pilot)
            main = app.main
            if app is live:
                main.state.choose(session.id)
                # How things are begun and answered is said on the live screen alone.
                for pane in main.panes:
                    pane.is_past = True
                main.presenter.everything()
                main.places.point_at_first_waiting()
            else:
                assert main.player.is_at_end
            main.go_to(2)
            # The bar of a replay takes two rows more than an empty composer.
            await settle(app, pilot)
            screens[app] = shown(app), main.source.position() if app is there else newest

    try:
        asyncio.run(run(live, (120, 48 - 2)))
        asyncio.run(run(there, (120, 48)))
    finally:
        journal.close()
    if screens[there][1] < newest:
        pytest.skip("the home holds a session that went on after this one")
    for pane, cells in screens[live][0].items():
        assert screens[there][0][pane] == cells, pane


def test_a_session_that_has_ended_is_not_called_live(tmp_path):
    async def body(app, press):
        journal, key = app._journal, app.main.session_id
        journal.append([journal.event(SessionStatusChanged(status="completed"), key, Actor(kind="user"))])
        app.main.look()
        await press("f")
        assert app.main.player.is_at_end
        assert not app.main.player.is_following
        assert "The session has ended" in app.main.rule.said
        assert "live" not in text(app).splitlines()[-3]

    replayed("rename-handler", tmp_path, body)


def test_the_end_of_a_session_that_may_go_on_is_live(tmp_path):
    async def body(app, press):
        journal, key = app._journal, app.main.session_id
        journal.append([
            journal.event(SessionStatusChanged(status=status), key, Actor(kind="system"))
            for status in ("processing",)
        ])  # fmt: skip
        app.main.look()
        await press("f")
        assert app.main.player.is_following
        assert "live" in text(app).splitlines()[-3]
        count = len(app.main.source.timeline)
        asked = journal.event(PromptSubmitted(text="and now?"), key, Actor(kind="user"))
        journal.append([replace(asked, at=asked.at + 3_600_000_000)])
        app.main.look()
        assert app.main.source.index == app.main.player.index == count + 1
        assert "and now?" in text(app)
        assert re.search("12:00 to 13:0[0-9], shop", text(app)), "when it was grows with it"

    replayed("rename-handler", tmp_path, body)


@pytest.mark.parametrize(("name", "place"), [("rename-handler", 2), ("commands", 2), ("release-run", 2)])
def test_it_begins_at_the_queue_where_something_asks(name, place, tmp_path):
    async def body(app, press):
        assert app.main.place == place

    replayed(name, tmp_path, body, size=(80, 24))


def test_where_nothing_asks_it_begins_with_what_was_said(tmp_path):
    journal, session = opened("rename-handler", tmp_path)
    kept = [one for one in journal.events() if one.action_id is None]
    journal.close()
    with Journal.open(Home.open(tmp_path / "other")) as journal:
        journal.append(kept, strict=False)
        app = ReplayApp(journal, session, home="/workspace", at=60, monotonic=Hand())

        async def run():
            async with app.run_test(size=(80, 24)) as pilot:
                await settle(app, pilot)
                assert app.main.place == 1
                assert "Now the tests." in text(app)

        asyncio.run(run())


def test_what_is_empty_says_nothing_of_how_things_are_begun(tmp_path):
    async def body(app, press):
        await press(*"t#1", "enter")
        shown = text(app)
        assert "Nothing was said yet." in shown
        assert "Nothing waits." in shown
        assert "none had run" in shown
        for live in ("Write below", "When an agent wants", "starts one", "found in .wave"):
            assert live not in shown

    replayed("rename-handler", tmp_path, body, size=(160, 48))


def test_a_fork_is_asked_for_with_its_moment_and_its_folder(tmp_path):
    asked = []

    def fork(wanted):
        asked.append(wanted)
        return "Forked: it is there."

    async def body(app, press):
        main = app.main
        assert "F fork from here" in text(app).splitlines()[1]
        await press("a", "F")
        assert "Fork from event" in text(app)
        await press("escape")
        assert asked == []
        await press("F", "enter")
        assert "Forked: it is there." in main.rule.said
        await press("F", *"git up", "enter")
        await press("F", *"dir", "enter")
        await press("full_stop", "F", "enter")
        here = main.source.timeline.position(main.player.index - 1)
        assert [(one.position, one.folder, one.is_worktree) for one in asked] == [
            (here, "", False), (here, "up", True), (here, "dir", False), (main.source.position(), "", False),
        ]  # fmt: skip
        assert {one.session_id for one in asked} == {main.session_id}

    replayed("rename-handler", tmp_path, body, backend=backend(fork=fork))


def test_without_a_library_a_fork_says_how_to_get_one(tmp_path):
    async def body(app, press):
        await press("F", "enter")
        assert "workbench replay --keep" in app.main.rule.said

    replayed("rename-handler", tmp_path, body)


@pytest.mark.parametrize("key", ["5", "6", "7"])
def test_other_places_are_behind_a_replay(key, tmp_path):
    async def body(app, press):
        await press(key)
        assert app.screen is app.main
        assert app.main.rule.said == "This is a replay: other places are behind it. esc leaves it."

    replayed("rename-handler", tmp_path, body)


def test_help_says_once_why_so_many_keys_are_off(tmp_path):
    async def body(app, press):
        await press("question_mark")
        shown = text(app)
        off = shown[shown.index("Not now") :]
        assert "write a message" not in shown[: shown.index("Not now")]
        assert all(words in off for words in ("write a message", "new session", "reject"))
        assert shown.count("This is a replay of") == 1
        await press("escape", "1", "question_mark")
        assert text(app).count("This is a replay of") == 1

    replayed("rename-handler", tmp_path, body, size=(160, 60))


def test_escape_leaves_a_level_and_at_last_the_replay(tmp_path):
    async def body(app, press):
        await press("z", "escape")
        assert not app.main.places.is_zoomed
        assert app.is_running
        await press("escape")
        assert app._exit

    replayed("rename-handler", tmp_path, body)


def test_found_words_are_gone_through_and_given_up_before_the_replay_is_left(tmp_path):
    async def body(app, press):
        main = app.main
        await press("f", "1", "slash", *"handle", "enter")
        finding, at = main.conversation.finding, main.player.index
        first = finding.current
        await press("N")
        assert (finding.current != first, main.player.index) == (True, at)
        await press("n", "escape")
        assert (finding.current, main.conversation.finding.text, app._exit) == (first, "", False)
        await press("N")
        assert main.player.index < at, "a mark again"

    replayed("rename-handler", tmp_path, body)


def test_a_replay_over_the_live_screen_gives_it_back(tmp_path):
    journal, session = opened("rename-handler", tmp_path)
    app = WorkbenchApp(journal, backend(), session.workspace, home="/workspace", monotonic=Hand())

    async def run():
        async with app.run_test(size=(160, 48)) as pilot:
            await settle(app, pilot)
            for key in ("escape", "0", "p"):
                await pilot.press(key)
                await pilot.pause()
            assert "REPLAY" in text(app)
            assert app.screen.player.is_playing
            await pilot.press("q")
            await pilot.pause()
            assert app.screen is app.main
            assert "REPLAY" not in text(app)

    try:
        asyncio.run(run())
    finally:
        journal.close()


@pytest.mark.parametrize("size", SIZES)
def test_pictures(size, tmp_path, snap_screen):
    journal, session = opened("rename-handler", tmp_path)
    app = ReplayApp(journal, session, home="/workspace", at=1, monotonic=Hand())

    async def before(pilot):
        await settle(pilot.app, pilot)
        for key in ("a", "a", "a"):
            await pilot.press(key)
            await settle(pilot.app, pilot)

    try:
        assert snap_screen(app, run_before=before, terminal_size=SIZES[size])
    finally:
        journal.close()


def test_a_film_is_asked_for_with_the_moment_and_the_size_of_the_screen(tmp_path):
    asked = []

    def film(wanted, told):
        told("100 of 200 moments.")
        asked.append(wanted)
        return "Written: x.svg, 1 KB."

    async def body(app, press):
        await press("t", *"#40", "enter", "W")
        assert "rename-handler.html" in text(app)
        await press("ctrl+u", *"now.svg", "enter")
        assert app.main.rule.said == "Written: x.svg, 1 KB."
        (wanted,) = asked
        assert (wanted.path, wanted.index, wanted.size) == ("now.svg", 40, (120, 36))
        await press("W", "ctrl+u", "enter")
        await press("W", "escape")
        assert len(asked) == 1

    replayed("rename-handler", tmp_path, body, backend=backend(export_film=film))


def test_without_a_library_a_film_says_how_to_get_one(tmp_path):
    async def body(app, press):
        await press("W", "enter")
        assert "workbench replay --keep" in app.main.rule.said

    replayed("rename-handler", tmp_path, body)


def test_a_live_session_is_forked_from_the_block_under_the_cursor(tmp_path):
    journal, session = opened("rename-handler", tmp_path)
    asked, shown = [], []

    def fork(wanted):
        asked.append(wanted.position)
        return "Forked: ab12, the conversation only."

    app = WorkbenchApp(journal, backend(fork=fork), session.workspace, home="/workspace", monotonic=Hand())

    async def run():
        async with app.run_test(size=(160, 48)) as pilot:
            await settle(app, pilot)
            for key in ("escape", "1", "g"):
                await pilot.press(key)
            await settle(app, pilot)
            view = app.main.conversation.view
            while view.cursor_block is not view.blocks[-1]:
                shown.append(view.cursor_block)
                await pilot.press("F")
                await settle(app, pilot)
                assert "as it was at" in text(app)
                await pilot.press("enter")
                await settle(app, pilot)
                await pilot.press("j")
                await settle(app, pilot)

    try:
        asyncio.run(run())
        events = [event for event in journal.events(session.id)]
    finally:
        journal.close()
    assert len(asked) == len(shown) > 5
    assert {type(block).__name__ for block in shown} >= {"PromptBlock", "TextBlock", "CallBlock"}
    for block, position in zip(shown, asked, strict=True):
        then = Transcript(session.id)
        then.apply_all(event for event in events if event.position <= position)
        # What it says is said by then, and everything that was said before it.
        assert then.block(block.id) == block
        assert {one.id for one in shown[: shown.index(block)]} <= {one.id for one in then.blocks}


@pytest.mark.parametrize("keys", [("0", "g", "F"), ("1", "F")])
def test_a_live_session_is_forked_from_its_end(keys, tmp_path):
    journal, session = opened("rename-handler", tmp_path)
    asked = []

    def fork(wanted):
        asked.append(wanted)
        return "Forked: ab12, the conversation only."

    app = WorkbenchApp(journal, backend(fork=fork), session.workspace, home="/workspace", monotonic=Hand())

    async def run():
        async with app.run_test(size=(160, 48)) as pilot:
            await settle(app, pilot)
            for key in ("escape", *keys):
                await pilot.press(key)
            await settle(app, pilot)
            assert "Fork “rename handler” as it is now" in text(app)
            for key in (*"git /tmp/there", "enter"):
                await pilot.press(key)
            await settle(app, pilot)
            assert app.main.rule.said.startswith("Forked: ab12")
            for key in (*keys, "escape"):
                await pilot.press(key)
            await settle(app, pilot)

    try:
        asyncio.run(run())
    finally:
        last = journal.last_position()
        journal.close()
    (wanted,) = asked
    assert (wanted.session_id, wanted.position) == (session.id, last)
    assert (wanted.folder, wanted.is_worktree) == ("/tmp/there", True)


def test_the_board_of_sessions_says_what_was_known_at_the_moment(tmp_path):
    async def body(app, press):
        await press("t", *"#12", "enter", "0")
        assert "now  does" in text(app)
        board = app.main.rail.list.board
        (row,) = [row for row in board.drawn.values() if row.title == "rename handler"]
        assert row.counts == SessionCounts(), "what the session counts in the end is not known yet"
        assert "✓" not in next(line for line in text(app).splitlines() if "rename handler" in line[:40])
        await press("t", *"#1", "enter")
        assert not board.drawn[row.id].activity.said

    replayed("rename-handler", tmp_path, body)
