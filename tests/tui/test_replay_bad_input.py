"""Replays of what nobody wrote on purpose: nothing, one event, wrong times, gaps, unknown kinds, lost bytes."""

import asyncio
import io
import subprocess
import sys

import pytest

from tests.support import golden
from tests.support.waits import PATIENCE, until_true
from tests.tui.screens import Hand, work_done
from workbench.cli.console import Console
from workbench.cli.replay import print_replay
from workbench.domain.events import (
    ActionOpened,
    CallProposed,
    Event,
    FileChanged,
    PromptSubmitted,
    ReplyCompleted,
    SessionCreated,
    TextStreamed,
    TurnStarted,
    Unknown,
)
from workbench.domain.values import SYSTEM_SESSION, Actor, GateVerdict, Hunk, ReplyCall
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.replay.replay_source import ReplaySource
from workbench.tui.replay_app import ReplayApp
from workbench.views.replay import Player, replay_status

SECOND = 1_000_000
BEGUN = 1_760_000_000 * SECOND
USER, AGENT = Actor(kind="user"), Actor(kind="agent")
KEYS = ("space", "full_stop", "comma", "n", "N", "a", "e", "x", "p", "h", "l", "H", "L", "f", "greater_than_sign",
        "less_than_sign", "space")  # fmt: skip


def event(number, body, at, **about):
    return Event(id=f"e{number}", session_id="s", at=at, actor=USER, body=body, recorded_at=BEGUN, **about)


def created(at=BEGUN):
    return event(0, SessionCreated(workspace="/srv/shop", title="odd"), at)


def prompts(*times):
    found = [
        event(number, PromptSubmitted(text=f"prompt {number}"), at) for number, at in enumerate(times, 1)
    ]
    return [created(times[0] if times else BEGUN), *found]


@pytest.fixture
def journal(tmp_path):
    with Journal.open(Home.open(tmp_path / "home")) as found:
        yield found


def replayed(journal, session, body):
    app = ReplayApp(journal, session, home="/home/me", at=1, monotonic=Hand())

    async def run():
        async with app.run_test(size=(120, 36)) as pilot:
            await pilot.pause()

            async def press(*keys):
                for key in keys:
                    await pilot.press(key)
                await work_done(app)
                await pilot.pause()

            await body(app, press)
            assert app.failure is None

    asyncio.run(run())


def text(app):
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def stored(journal, events):
    journal.append(events, strict=False)
    return journal.session("s")


@pytest.mark.spec(141)
@pytest.mark.parametrize(
    "events",
    [
        [created()],
        prompts(BEGUN),
        prompts(*[BEGUN] * 20),
        prompts(*[BEGUN + number * SECOND for number in range(20, 0, -1)]),
        prompts(BEGUN + 10 * SECOND, BEGUN, BEGUN + 3600 * SECOND, 1, 2**62),
        [created(), *(event(n, Unknown(original_kind="other.kind", content={"a": [n]}), BEGUN + n)
                      for n in range(1, 9))],
        [created(), event(1, TurnStarted(provider="p", model="m"), BEGUN, turn_id="t"),
         event(2, TextStreamed(block=0, offset=99, text="lost"), BEGUN, turn_id="t"),
         event(3, ReplyCompleted(text="", calls=(ReplyCall(call_id="c", provider_call_id="c", tool="x",
                                                           arguments={}),)), BEGUN, turn_id="t")],
        [created(), event(1, CallProposed(tool="x", verdict=GateVerdict(outcome="ask", step="ask", by="x"), parameters={}),
                          BEGUN, call_id="of-nobody")],
    ],
    ids=["one event", "two", "same time", "back", "wild times", "unknown kinds", "torn stream", "stray call"],
)  # fmt: skip
def test_every_key_works_on_an_odd_recording(journal, events):
    session = stored(journal, events)

    async def body(app, press):
        for key in KEYS:
            await press(key)
        await press("t", *"50%", "enter")
        await press("t", *f"#{len(events)}", "enter")
        assert app.main.source.index == len(events)
        assert f"event {len(events)} of {len(events)}" in text(app)

    replayed(journal, session, body)


def test_in_a_replay_alone_no_key_waits_and_none_is_taken_for_text(journal):
    session = stored(journal, prompts(*[BEGUN + number * SECOND for number in range(9)]))

    async def body(app, press):
        await press(*"n,.w", "y", *"..")
        assert app.main.source.index == 4
        assert app.guarded.pending_id == ""
        assert "You typed text" not in text(app)
        await press(*",.,.t#7", "enter")
        assert app.main.source.index == 7
        await press("q")
        assert not app.is_running

    replayed(journal, session, body)


def test_a_session_without_events_says_so(journal):
    session = stored(journal, [created()])
    journal.change(lambda live: live.database.execute("DELETE FROM event WHERE session_id = 's'"))

    async def body(app, press):
        assert "no events" in text(app)
        for key in KEYS:
            await press(key)
        assert app.main.source.index == 0

    replayed(journal, session, body)


def test_times_that_go_back_stand_still_and_are_told(journal):
    session = stored(journal, prompts(BEGUN, BEGUN + 5 * SECOND, BEGUN + 2 * SECOND, BEGUN + 9 * SECOND))
    timeline = ReplaySource(journal, session).timeline
    assert [(timeline.time(index) - BEGUN) // SECOND for index in range(1, len(timeline) + 1)] == [
        0,
        0,
        5,
        5,
        9,
    ]
    assert timeline.went_back == 1

    async def body(app, press):
        await press("f")
        assert "1 time went back" in text(app)

    replayed(journal, session, body)


def test_without_times_no_day_and_no_time_of_day_is_made_up(journal):
    session = stored(journal, prompts(*[BEGUN] * 90))

    async def body(app, press):
        head = text(app).splitlines()[0]
        assert "odd  no times recorded, shop" in head
        assert "at 0:00 " in head
        await press("f")
        assert "at 1:30 " in text(app).splitlines()[0]

    replayed(journal, session, body)


def test_times_that_go_back_are_told_beside_a_gap_and_without_a_screen(journal):
    times = BEGUN, BEGUN + 5 * SECOND, BEGUN + 2 * SECOND, BEGUN + 3 * SECOND, BEGUN + 600 * SECOND
    session = stored(journal, prompts(*times))
    source = ReplaySource(journal, session)
    shown = replay_status(Player(source.timeline)).saved
    assert shown.startswith("2 times went back, 1 idle gap shortened, ")
    said, noted = io.StringIO(), io.StringIO()
    print_replay(source, session, None, Console(said, noted), is_json=True)
    assert noted.getvalue().startswith("2 times went back: ")
    said.truncate(0)
    print_replay(source, session, 3, Console(said, noted), is_json=False)
    assert "2 times went back: " in said.getvalue()


def test_one_time_that_is_too_late_does_not_stop_all_others(journal):
    late = [BEGUN + 86_400 * SECOND, *(BEGUN + number * SECOND for number in range(1, 9))]
    session = stored(journal, prompts(*late))
    timeline = ReplaySource(journal, session).timeline
    assert not timeline.is_steady
    assert timeline.recorded == 7 * SECOND


def test_a_gap_in_numbers_is_walked_over(journal):
    session = stored(journal, prompts(*[BEGUN + number * SECOND for number in range(40)]))
    gap = "DELETE FROM event WHERE session_id = 's' AND sequence_number BETWEEN 10 AND 25"
    journal.change(lambda live: live.database.execute(gap))

    async def body(app, press):
        assert len(app.main.source.timeline) == 25
        for index in (9, 10, 25):
            await press("t", *f"#{index}", "enter")
            assert app.main.source.index == index
        assert "prompt 39" in text(app)
        await press("t", *"#9", "enter")
        assert "prompt 8" in text(app)

    replayed(journal, session, body)


def test_a_session_that_another_process_writes_to_grows(journal):
    session = stored(journal, prompts(BEGUN, BEGUN + SECOND))
    writer = (
        "import sys; from pathlib import Path; from workbench.journal.home import Home;"
        "from workbench.journal.journal import Journal; from workbench.domain.values import Actor;"
        "from workbench.domain.events import PromptSubmitted;"
        "j = Journal.open(Home.open(Path(sys.argv[1])));"
        "j.append([j.event(PromptSubmitted(text=f'later {n}'), 's', Actor(kind='user')) for n in range(50)]);"
        "j.close()"
    )

    async def body(app, press):
        await press("f")
        argv = [sys.executable, "-c", writer, str(journal.home.path)]
        await asyncio.to_thread(subprocess.run, argv, check=True, timeout=PATIENCE)
        await until_true(lambda: len(app.main.source.timeline) == 53)
        await press("G")
        assert len(app.main.source.timeline) == 53
        assert app.main.source.index == app.main.player.index
        await press("comma")
        assert app.main.source.index == 52

    replayed(journal, session, body)


def test_blobs_that_are_gone_are_no_trouble(tmp_path):
    journal = golden.load("rename-handler", tmp_path / "home")
    for ref in list(journal.blobs.stale(-(10**6))):
        journal.blobs.remove(ref)
    session = next(one for one in journal.sessions() if one.id != SYSTEM_SESSION)

    async def body(app, press):
        for _ in range(6):
            await press("n", "2", "j", "3", "k")
        await press("t", *"100%", "enter")
        assert app.main.player.is_at_end

    try:
        replayed(journal, session, body)
    finally:
        journal.close()


def test_a_proposal_whose_event_is_gone_leaves_its_row(journal):
    hunk = Hunk(index=1, path="a.py", old_start=1, old_count=1, new_start=1, new_count=1,
                lines=(("-", "a"), ("+", "b")))  # fmt: skip
    opened = ActionOpened(
        action_kind="tool",
        tool="x",
        target="a.py",
        verb="edit",
        digest="d",
        hunks=(hunk,),
        created_at=BEGUN,
        expires_at=None,
    )
    events = [
        created(),
        event(1, opened, BEGUN + SECOND, action_id="a"),
        event(2, FileChanged(path="a.py", change="modify", before="x", after="y"), BEGUN + 2 * SECOND),
    ]
    session = stored(journal, events)
    journal.change(lambda live: live.database.execute("DELETE FROM event WHERE id = 'e1'"))

    async def body(app, press):
        for key in KEYS:
            await press(key)
        await press("f")
        assert app.main.source.index == 2

    replayed(journal, session, body)
