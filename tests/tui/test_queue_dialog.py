"""The queued messages on the whole screen: taken back from the composer, listed, moved, withdrawn."""

import pytest

from tests.support.stage import USER
from tests.tui.screens import play, staged
from workbench.agents.reducer import fold_turn
from workbench.domain.events import InterruptRequested, TurnEnded
from workbench.tui.conversation.queue_dialog import QueueDialog


@pytest.fixture
def stage(tmp_path):
    stage = staged(tmp_path)
    for words in ("message one", "message two", "message three"):
        stage.say(words)
    return stage


def queue(stage):
    state = fold_turn(stage.journal.events(stage.session_id))
    return [queued.prompt.text.removeprefix("message ") for queued in state.queued_prompts]


async def typed(shown, *keys):
    await shown.pilot.press(*keys)
    await shown.look()


async def opened(shown):
    await typed(shown, *"/queue", "enter")
    assert isinstance(shown.app.screen, QueueDialog)


async def answered(shown, *keys):
    """Press keys in the dialog and have it look at what came of them."""
    await shown.press(*keys)
    await shown.look()
    shown.app.screen.fill()
    await shown.settle()


def test_up_edits_the_last_message_and_enter_queues_it_in_its_place(stage):
    async def body(shown):
        assert "3 queued  ↑ takes it back" in shown.text
        await typed(shown, "up", "up", "!", "enter")
        assert queue(stage) == ["one", "two!", "three"]
        assert "edited below; the agent never read this" in shown.text
        await typed(shown, "up", "ctrl+u", "enter")
        assert queue(stage) == ["one", "two!"]
        assert "taken back; the agent never read it" in shown.text
        assert "2 queued" in shown.text

    play(stage, body, goes_to_queue=False, size=(120, 48))


def test_a_paused_session_gives_its_message_back_and_stays_paused(stage):
    turn = fold_turn(stage.journal.events(stage.session_id)).turn.id
    journal = stage.journal
    journal.append([
        journal.event(InterruptRequested(), stage.session_id, USER),
        journal.event(TurnEnded(outcome="interrupted"), stage.session_id, USER, turn_id=turn),
    ])  # fmt: skip

    async def body(shown):
        assert "3 queued" in shown.text
        await typed(shown, "up", "!", "enter")
        assert queue(stage) == ["one", "two", "three!"]
        assert fold_turn(journal.events(stage.session_id)).is_held

    play(stage, body, goes_to_queue=False)


def test_a_message_that_another_screen_took_back_is_not_edited(stage):
    async def body(shown):
        await typed(shown, "up")
        shown.main.context.backend.edit_prompt(
            stage.session_id, shown.main.state.transcript.facts.queue[-1].id.removeprefix("prompt:"), ""
        )
        await shown.pilot.press("!", "enter")
        await shown.look()
        assert queue(stage) == ["one", "two"]
        assert shown.main.composer.text in ("", "message three!")

    play(stage, body, goes_to_queue=False)


@pytest.mark.parametrize(
    ("keys", "order"),
    [
        (("J",), ["two", "one", "three"]),
        (("j", "K"), ["two", "one", "three"]),
        (("j", "j", "K"), ["one", "three", "two"]),
        (("j", "d"), ["one", "three"]),
    ],
)
def test_a_listed_message_is_moved_or_taken_back(stage, keys, order):
    async def body(shown):
        await opened(shown)
        await answered(shown, *keys)
        assert queue(stage) == order
        assert f"{len(order)} queued messages" in shown.text

    play(stage, body, goes_to_queue=False)


def test_enter_brings_the_listed_message_into_the_composer(stage):
    async def body(shown):
        await opened(shown)
        await shown.press("j", "enter")
        assert shown.main.composer.text == "message two"
        await typed(shown, "!", "enter")
        assert queue(stage) == ["one", "two!", "three"]

    play(stage, body, goes_to_queue=False)


def test_without_a_queued_message_there_is_no_list(tmp_path):
    async def body(shown):
        await typed(shown, *"/queue", "enter")
        assert shown.said == "No message is queued here."

    play(staged(tmp_path), body, goes_to_queue=False)
