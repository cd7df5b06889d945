"""Keys that arrive together do what they would do one by one: words reach the field that a key opens."""

import asyncio
import time
from itertools import count
from types import SimpleNamespace

import pytest
from textual import events
from textual.app import App
from textual.widgets import Input

from tests.support.waits import PATIENCE, until_true
from tests.tui.screens import play, staged
from workbench.domain.events import PromptSubmitted
from workbench.tui.keyboard import queue
from workbench.tui.keyboard.keymap import normalized_key
from workbench.tui.main.screen import MainScreen
from workbench.tui.render_context import call_once_after


@pytest.fixture(autouse=True)
def _wait_for_what_is_under_way(monkeypatch):
    """Let a key wait until what the one before it began is done, however long the machine takes."""
    monkeypatch.setattr(queue, "LONGEST_WAIT", PATIENCE)


async def burst(shown, *keys):
    """Let keys arrive in one reading of the terminal; a key of several characters that is none is pasted."""
    shown.hand.waits(2.0)
    for key in keys:
        if len(key) > 1 and key not in ("enter", "escape", "ctrl+n", "tab", "backspace"):
            shown.app.post_message(events.Paste(key))
        else:
            shown.app.post_message(events.Key(normalized_key(key), key if len(key) == 1 else None))
    await shown.settle()


@pytest.mark.parametrize(
    ("keys", "written"),
    [
        ([*"ihello"], "hello"),
        (["i", "pasted words", *" and"], "pasted words and"),
        (["escape", *"2jji", *"ja"], "ja"),
        (["i", *"abc", "escape", *"jki", *"d"], "abcd"),
        (["i", *"ab", "backspace", *"c"], "ac"),
    ],
    ids=str,
)
def test_words_typed_with_the_key_that_opens_the_composer_reach_it(tmp_path, keys, written):
    async def body(shown):
        await shown.press("2")
        await burst(shown, *keys)
        assert shown.main.composer.text == written

    play(staged(tmp_path), body)


def test_words_typed_before_the_first_frame_wait_for_the_composer(tmp_path, monkeypatch):
    typed = []

    def type_ahead(screen):
        if not typed:
            typed.extend("approve a")
            for key in typed:
                screen.textual.post_message(events.Key(normalized_key(key), key))

    monkeypatch.setattr(MainScreen, "before_first_frame", type_ahead)

    async def body(shown):
        await shown.settle()
        assert shown.main.composer.text == "approve a"
        assert shown.stage.waiting()

    play(staged(tmp_path), body)


def test_words_and_enter_are_sent_in_order(tmp_path):
    async def body(shown):
        await shown.press("2")
        await burst(shown, *"ifirst", "enter", *"second", "enter")
        journal = shown.stage.journal
        session = shown.main.state.current.id
        said = [
            one.body.text
            for one in journal.window(session, 0, 1_000)
            if isinstance(one.body, PromptSubmitted)
        ]
        assert said[-2:] == ["first", "second"]

    play(staged(tmp_path), body)


@pytest.mark.parametrize(
    ("keys", "field"),
    [
        ([*"/router"], "router"),
        ([*"1/change"], "change"),
        ([*"5/mine"], "mine"),
    ],
    ids=str,
)
def test_words_typed_with_the_key_that_opens_a_line_reach_it(tmp_path, keys, field):
    async def body(shown):
        await shown.press("2")
        await burst(shown, *keys)
        assert isinstance(shown.app.focused, Input)
        assert shown.app.focused.value == field

    play(staged(tmp_path), body)


def test_words_typed_together_with_a_deciding_key_are_text_and_not_what_it_asks_for(tmp_path):
    async def body(shown):
        await shown.press("2")
        await burst(shown, *"Rtoo long")
        assert (shown.main.composer.text, shown.main.layout_controller.is_line_asked) == ("Rtoo long", False)

    play(staged(tmp_path), body)


def test_a_time_typed_with_its_key_goes_to_the_line_of_the_replay(tmp_path):
    async def body(shown):
        session = shown.main.state.current.id
        shown.app.open_replay(session)
        await shown.settle()
        await burst(shown, *"t35 %")
        assert (isinstance(shown.app.focused, Input), shown.app.focused.value) == (True, "35 %")

    play(staged(tmp_path), body)


def test_keys_that_move_a_replay_are_no_word_and_the_line_opens_behind_them(tmp_path):
    async def body(shown):
        shown.app.open_replay(shown.main.state.current.id)
        await shown.settle()
        await burst(shown, *".,.,t35")
        assert (isinstance(shown.app.focused, Input), shown.app.focused.value) == (True, "35")

    play(staged(tmp_path), body)


def test_keys_after_a_dialog_opened_go_to_it(tmp_path):
    async def body(shown):
        await shown.press("2")
        await burst(shown, *":mess")
        assert shown.app.focused.value == "mess"

    play(staged(tmp_path), body)


@pytest.fixture
def stalls(monkeypatch):
    """Let five milliseconds pass at every second look of a timer at the clock, as on a busy machine."""
    looks, stalled = count(), [0.0]

    def clock():
        stalled[0] += 0.005 * (next(looks) % 2)
        return time.monotonic() + stalled[0]

    monkeypatch.setattr("textual.timer._time", SimpleNamespace(get_time=clock))
    return stalled


def test_keys_come_through_where_the_machine_stalls_as_a_timer_begins(tmp_path, stalls):
    """A timer of the framework whose time passes between its first two looks at the clock is lost."""

    async def body(shown):
        await shown.press("2")
        await burst(shown, *"ihello")
        assert not shown.app.has_unread_keys
        assert shown.main.composer.text == "hello"

    play(staged(tmp_path), body)
    assert stalls[0]


@pytest.mark.parametrize("seconds", [0.0, 0.002, 0.02])
def test_what_is_called_once_is_called_once_where_the_machine_stalls(stalls, seconds):
    calls = []

    async def body():
        async with App().run_test() as pilot:
            call_once_after(pilot.app, seconds, lambda: calls.append(seconds))
            await until_true(lambda: calls)
            for number in range(3):
                call_once_after(pilot.app, seconds, lambda number=number: calls.append(number))
                await until_true(lambda number=number: number in calls)

    asyncio.run(body())
    assert calls == [seconds, 0, 1, 2]
    assert stalls[0]
