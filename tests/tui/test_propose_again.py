"""An expired row asks its agent to propose again: one of them or all of the session, once."""

import asyncio

import pytest

from tests.support.stage import USER
from tests.tui.screens import play, staged
from workbench.domain.events import ActionExpired, PromptSubmitted
from workbench.domain.values import Actor
from workbench.host.session_requests import propose_again


@pytest.fixture
def stage(tmp_path):
    return staged(tmp_path)


def asks(stage):
    """Return a service that asks as the command line does."""

    def ask(ids):
        return f"Asked for {len(propose_again(stage.journal, ids, USER))}."

    return ask


async def expire(shown):
    shown.stage.journal.clock.advance(16 * 60)
    shown.main.redraw_timer.tick()
    await shown.settle()
    await shown.look()


def asked(stage):
    return [body.asks_again for body in stage.bodies(PromptSubmitted) if body.asks_again]


def test_p_asks_once_for_the_row_under_the_cursor(stage):
    async def body(shown):
        edit = next(action for action in shown.stage.waiting() if action.verb == "edit")
        shown.approvals.queue.put_cursor(edit.id)
        await expire(shown)
        assert "p propose again" in shown.text and "P all 3 again" in shown.text
        await shown.press("p")
        assert shown.said == "Asked for 1."
        assert "p propose again" not in shown.text, "the footer says at once what the keys do now"
        await shown.look()
        assert asked(shown.stage) == [(edit.id,)]
        assert "The agent was asked for it already." in shown.text
        assert "p propose again" not in shown.text
        await shown.press("p")
        assert asked(shown.stage) == [(edit.id,)]
        assert shown.state(edit) == "expired"

    play(stage, body, size=(160, 48), propose_again=asks(stage))


def test_two_presses_before_the_first_is_done_prompt_once(stage):
    async def body(shown):
        await expire(shown)
        await shown.press("p", wait=1.0)
        await shown.press("p", wait=0.4)
        await asyncio.sleep(0)
        await shown.settle()
        assert len(asked(shown.stage)) == 1

    play(stage, body, propose_again=asks(stage))


def test_shift_p_asks_for_all_that_expired(stage):
    async def body(shown):
        actions = shown.stage.waiting()
        shown.approvals.queue.put_cursor(actions[-1].id)
        await expire(shown)
        await shown.press("P")
        assert asked(shown.stage) == [tuple(action.id for action in actions)]
        assert "again" not in shown.text.splitlines()[-1], "the footer says at once what the keys do now"

    play(stage, body, propose_again=asks(stage))


def test_the_row_counts_what_expires_after_it(stage):
    async def body(shown):
        edit = next(action for action in shown.stage.waiting() if action.verb == "edit")
        shown.approvals.queue.put_cursor(edit.id)
        journal = shown.stage.journal
        for action in shown.stage.waiting():
            event = journal.event(
                ActionExpired(),
                action.session_id,
                Actor(kind="system"),
                action_id=action.id,
                call_id=action.call_id,
            )
            journal.append([event])
            await shown.look()
        assert "P all 3 again" in shown.text

    play(stage, body, size=(160, 48), propose_again=asks(stage))


def test_what_waits_or_was_decided_is_not_asked_for(stage):
    async def body(shown):
        for key in ("p", "P"):
            await shown.press(key)
            assert "nly what expired can be proposed again" in shown.said
        await shown.press("r")
        assert asked(shown.stage) == []

    play(stage, body, propose_again=asks(stage))


def test_a_letter_of_a_sentence_asks_for_nothing(stage):
    async def body(shown):
        await expire(shown)
        for key in "stop it":
            await shown.press("space" if key == " " else key, wait=0.08)
        await shown.wait_for_key()
        assert asked(shown.stage) == []
        assert shown.main.composer.text == "stop it"

    play(stage, body, propose_again=asks(stage))
