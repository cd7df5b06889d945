"""While an agent works on a model that says nothing: its seconds stand in every place, and the key that stops it."""

import pytest

from tests.support.stage import Stage
from tests.tui.screens import FILES, THREE, play
from workbench.domain.events import InterruptRequested, SessionStatusChanged, TurnStarted
from workbench.effects.clock import ManualClock
from workbench.journal.leases import lease_guard, take_lease


@pytest.fixture
def asked(tmp_path):
    """A session whose model was asked by a driver that lives, and has not sent a byte."""
    stage = Stage(tmp_path, THREE, clock=ManualClock(), files=FILES)
    stage.trust()
    stage.begin()
    driver = stage.driver()
    guard = lease_guard(take_lease(stage.journal, stage.session_id, driver))
    bodies = (
        *(SessionStatusChanged(status=status) for status in ("initializing", "ready", "processing")),
        TurnStarted(provider="local", model="qwen3"),
    )
    events = [stage.journal.event(body, stage.session_id, driver.actor, turn_id="t1") for body in bodies]
    stage.journal.append(events, guard=guard)
    return stage


async def later(shown, seconds):
    shown.stage.journal.clock.advance(seconds)
    shown.main.redraw_timer.tick()
    await shown.settle()


def test_the_seconds_of_the_turn_stand_in_header_sidebar_and_conversation(asked):
    async def body(shown):
        await later(shown, 65)
        lines = shown.text.splitlines()
        assert "● 1 running 1:05" in lines[0]
        assert "● turn 1  1:05" in lines[1]
        assert any("● test" in line and "1:05" in line.partition("│")[0] for line in lines)
        assert any("● qwen3 reads   1:05" in line for line in lines)

    play(asked, body, size=(160, 48), goes_to_queue=False)


def test_the_header_counts_although_the_conversation_is_not_on_the_screen(asked):
    async def body(shown):
        await shown.press("escape", "3")
        await later(shown, 65)
        assert "1 running 1:05" in shown.text.splitlines()[0]

    play(asked, body, size=(80, 24), goes_to_queue=False)


def test_a_driver_that_died_counts_nothing(asked):
    asked.lock.close()

    async def body(shown):
        await later(shown, 65)
        assert "1 running" not in shown.text and "1:05" not in shown.text
        assert "lost" in shown.text

    play(asked, body, size=(160, 48), goes_to_queue=False)


SIZES = ((80, 24), (120, 36), (160, 48))


@pytest.mark.parametrize(("number", "place"), enumerate(["", "0", "1", "2", "3", "4"]))
def test_the_key_that_stops_stands_in_the_footer_of_every_place_and_stops_from_each(asked, number, place):
    """Six apps, two of them at each size, look at the places; each of them ends in another one and stops there."""
    size = SIZES[number % len(SIZES)]

    async def body(shown):
        for looked_at in (*("01234" if place else ""), place):
            if looked_at:
                await shown.press("escape", looked_at)
            label = "stop the agent" if size[0] >= 100 else "stop"
            assert f"ctrl+c {label}  " in shown.text.splitlines()[-1], looked_at
        await shown.press("ctrl+c")
        assert asked.bodies(InterruptRequested)

    play(asked, body, size=size, goes_to_queue=False)


def test_nothing_is_offered_to_be_stopped_where_nothing_works(tmp_path):
    stage = Stage(tmp_path, THREE, clock=ManualClock(), files=FILES)
    stage.trust()
    stage.begin()

    async def body(shown):
        for keys in ((), ("escape", "1"), ("2",), ("3",)):
            await shown.press(*keys)
            assert "ctrl+c" not in shown.text.splitlines()[-1]

    play(stage, body, goes_to_queue=False)
