"""Two sessions side by side: in step by time, set beside each other by prompts, and nothing that writes."""

import asyncio

import pytest

from tests.support import golden
from tests.tui.screens import Hand
from workbench.domain.values import SYSTEM_SESSION
from workbench.journal.journal import Journal
from workbench.tui.answering import Answering
from workbench.tui.replay_app import ReplayApp
from workbench.tui.screens.beside import BesideScreen
from workbench.views.instep import InStep
from workbench.views.player import Player
from workbench.views.reel import Reel

SECOND = 1_000_000


def reel(*events):
    return Reel([(n, at * SECOND, kind, None) for n, (at, kind) in enumerate(events, 1)])


SLOW = reel((0, "a"), (1, "prompt.submitted"), (8, "b"), (20, "prompt.submitted"), (25, "c"))
FAST = reel((0, "a"), (2, "prompt.submitted"), (3, "b"), (5, "prompt.submitted"), (9, "c"), (10, "d"))


def test_both_go_on_by_the_same_played_time():
    step = InStep(Player(SLOW), FAST)
    assert step.index == 1
    for seconds, index in ((1, 1), (3, 3), (6, 4), (25, 6)):
        step.player.seek(1)
        step.player.skip(seconds)
        assert step.index == index


def test_prompts_of_the_same_number_are_set_beside_each_other():
    step = InStep(Player(SLOW), FAST)
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
    step = InStep(Player(SLOW), reel((0, "a"), (9, "b")))
    assert step.to_prompt(1)
    assert step.index == 1
    assert InStep(Player(SLOW), Reel([])).index == 0


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


def compared(folder, body, size=(120, 36)):
    journal, (one, other) = sessions(folder)
    app = ReplayApp(journal, one, home="/workspace", at=1, beside=other, monotonic=Hand())

    async def run():
        async with app.run_test(size=size) as pilot:
            await pilot.pause()

            async def press(*keys):
                for key in keys:
                    await pilot.press(key)
                    await app.workers.wait_for_complete()
                    await pilot.pause()

            await press()
            assert isinstance(app.screen, BesideScreen)
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
            assert side.source.index == len(side.source.reel)
            assert side.conversation.view.blocks
            assert side.tools.list.rows
        assert "REPLAY" in text(app)
        await press("escape")
        assert app.screen is app.main

    compared(tmp_path, body, size)


@pytest.mark.spec(218)
def test_nothing_is_answered_and_nothing_written(tmp_path, monkeypatch):
    def forbidden(*_, **__):
        raise AssertionError("a replay made something that writes, asks or runs")

    async def body(app, press):
        monkeypatch.setattr(Journal, "append", forbidden)
        before = app._journal.last_position()
        await press("space", "space", "full_stop", "comma", "n", "N", "a", "e", "x", "p", "P", "h", "l", "H", "L",
                    "t", "F", "j", "k", "greater_than_sign", "less_than_sign", "c", "s")  # fmt: skip
        assert app._journal.last_position() == before

    monkeypatch.setattr(Answering, "__init__", forbidden)
    compared(tmp_path, body)


def test_time_passes_for_both(tmp_path):
    async def body(app, press):
        screen = app.screen
        await press("space")
        app.monotonic.waits(4)
        screen._frame()
        assert screen.player.played == pytest.approx(4 * SECOND, abs=1)
        assert screen.follows.source.index == screen.step.index

    compared(tmp_path, body)
