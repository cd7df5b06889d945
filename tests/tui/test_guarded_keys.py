"""A deciding key on the screen: it is shown while it waits, can be taken back, and counts only if it came alone."""

import pytest
from msgspec.structs import force_setattr
from textual import events

from tests.support.stage import Stage, exchange, recording, text
from tests.tui.screens import FILES, play, staged
from tests.tui.test_typing import typed
from workbench.domain.events import PromptSubmitted
from workbench.effects.runtime import ManualClock
from workbench.tui.backend import EXIT_FOR_DEMO
from workbench.tui.pane import StatusMessage
from workbench.tui.widgets.pane_frame import Rule


@pytest.fixture
def stage(tmp_path):
    return staged(tmp_path)


@pytest.fixture
def fresh(tmp_path):
    """A folder in which nothing has happened yet."""
    return Stage(tmp_path, recording(exchange(text("Hello."))), clock=ManualClock(), files=FILES)


async def reject(shown):
    """Press the key that rejects the row under the cursor, and look at once."""
    shown.hand.waits()
    await shown.pilot.press("r")
    await shown.pilot.pause()


def waiting(shown):
    return len(shown.stage.waiting())


def footer(shown):
    return shown.text.splitlines()[-1]


def test_the_footer_says_at_once_which_key_waits_and_nothing_is_done_yet(stage):
    async def body(shown):
        await reject(shown)
        assert footer(shown).strip() == "r reject …  esc takes it back"
        assert waiting(shown) == 3
        await shown.wait_for_key()
        assert waiting(shown) == 2
        assert "takes it back" not in footer(shown)

    play(stage, body)


def test_escape_takes_a_key_back_and_does_nothing_else(stage):
    async def body(shown):
        await reject(shown)
        await shown.pilot.press("escape")
        await shown.press("g", "J")
        assert (waiting(shown), shown.main.place) == (3, 2)
        assert "takes it back" not in footer(shown)

    play(stage, body)


async def resize(shown):
    await shown.pilot.resize_terminal(130, 40)


async def other_pane(shown):
    shown.main.conversation.focus_view.focus()


async def expire(shown):
    shown.stage.journal.clock.advance(16 * 60)


async def decide_elsewhere(shown):
    row = shown.approvals.queue.cursor
    shown.stage.approve(shown.stage.journal.action(row))
    await shown.look()


@pytest.mark.parametrize("change", [resize, other_pane, expire, decide_elsewhere])
def test_what_changes_before_the_key_counts_cancels_it(stage, change):
    async def body(shown):
        await reject(shown)
        await change(shown)
        await shown.settle()
        await shown.wait_for_key()
        await shown.settle()
        assert not [one for one in stage.journal.actions() if one.state == "rejected"]

    play(stage, body)


def test_a_key_that_is_typed_but_not_read_yet_is_waited_for(stage, monkeypatch):
    async def body(shown):
        await reject(shown)
        unread = [True]
        monkeypatch.setattr(
            type(shown.app), "has_unread_keys", property(lambda _: bool(unread)), raising=True
        )
        shown.hand.waits()
        for _ in range(5):
            shown.app.guarded.commit_due()
        assert shown.app.guarded.pending_id == "approvals.reject"
        shown.app.post_message(events.Key("n", "n"))
        unread.clear()
        await shown.settle()
        shown.app.guarded.commit_due()
        await shown.settle()
        assert (waiting(shown), shown.main.composer.text) == (3, "rn")

    play(stage, body)


def test_typed_text_stands_behind_the_draft_and_escape_takes_it_out_again(stage):
    async def body(shown):
        await shown.press("i", *"my draft", "escape", wait=1.0)
        await typed(shown, "and then", 0.12)
        assert shown.main.composer.text == "my draft\nand then\n"
        await shown.press("escape")
        assert shown.main.composer.text == "my draft"
        assert shown.approvals.has_pane_focus
        await shown.press("i", "up")
        assert shown.main.composer.text == "and then"

    play(stage, body)


def test_the_line_end_of_typed_text_sends_nothing_and_one_alone_does(stage):
    async def body(shown):
        def said():
            bodies = [one.body for one in stage.journal.events()]
            return [one.text for one in bodies if isinstance(one, PromptSubmitted)]

        before = said()
        await typed(shown, "add a test", 0.12)
        assert said() == before
        await shown.press("enter", wait=2.0)
        assert said() == [*before, "add a test"]

    play(stage, body)


def test_pasted_text_goes_to_the_composer_and_decides_nothing(stage):
    async def body(shown):
        shown.app.post_message(events.Paste("aaaa\nrrrr\n"))
        await shown.settle()
        await shown.wait_for_key()
        assert (waiting(shown), shown.main.composer.text) == (3, "aaaa\nrrrr\n")

    play(stage, body)


# --- where the focus is -----------------------------------------------------------------------------


def test_the_composer_has_the_focus_at_the_start_whatever_waits(stage):
    async def body(shown):
        assert shown.main.composer.input.has_focus
        assert "enter to what waits" in footer(shown)
        await shown.press(*"aar", "escape", "r")
        assert (shown.main.composer.text, waiting(shown)) == ("aar", 2)

    play(stage, body, goes_to_queue=False)


def test_the_answer_that_empties_the_queue_gives_the_composer_the_focus(stage):
    async def body(shown):
        await shown.press("r", "r")
        assert shown.approvals.has_pane_focus
        await shown.press("r")
        assert (waiting(shown), shown.main.composer.input.has_focus) == (0, True)
        await shown.press(*"ru")
        assert shown.main.composer.text == "ru"

    play(stage, body)


def test_without_a_model_there_is_no_composer_and_words_do_nothing_on_the_page(fresh):
    async def body(shown):
        main = shown.main
        assert (main.composer.display, main.conversation.has_pane_focus) == (False, True)
        assert "You decide." in shown.text and "d   try the demo" in shown.text
        for gap in (0.04, 0.12, 0.25):
            await typed(shown, "hello there, deploy it", gap)
        assert shown.app.is_running
        assert main.conversation.has_pane_focus
        assert shown.app.screen is main
        shown.hand.waits(2)
        await shown.pilot.press("d")
        shown.hand.waits()
        shown.app.guarded.commit_due()
        shown.app.guarded.commit_due()
        assert shown.app.return_value == EXIT_FOR_DEMO

    play(fresh, body, has_model=lambda: False)


def test_with_a_model_the_keys_of_the_first_page_count_after_escape_and_it_says_so(fresh):
    async def body(shown):
        assert "Or esc, and then:" in shown.text
        await shown.press("d", "p")
        assert shown.main.composer.text == "dp"
        await shown.press("escape", "p")
        assert shown.app.screen is not shown.main

    play(fresh, body)


# --- leaving ----------------------------------------------------------------------------------------


def test_whether_to_leave_is_asked_until_it_is_answered_and_all_other_keys_are_dead(stage, monkeypatch):
    monkeypatch.setattr(Rule, "SECONDS", 0.05)

    async def body(shown):
        await shown.press("q")
        assert "3 asks wait" in shown.text
        assert footer(shown).strip() == "q leave  esc stay"
        await shown.pilot.pause(0.2)
        assert "3 asks wait" in shown.text
        await shown.press("a", "r", "enter", "2", "i", "tab", "ctrl+g", "ctrl+n", "ctrl+c", "x", "e")
        await typed(shown, "clear; cd ..", 0.12)
        shown.app.post_message(events.Paste("rm -rf x\n"))
        await shown.settle()
        assert (waiting(shown), shown.main.is_leaving) == (3, True)
        await shown.press("escape")
        assert (shown.main.is_leaving, shown.main.composer.text) == (False, "")
        await shown.press("i", "up")
        assert "clear; cd .." in shown.main.composer.text

    play(stage, body)


@pytest.mark.parametrize("gap", [0.04, 0.12, 0.25])
def test_the_second_q_is_no_letter_of_a_word(stage, gap):
    async def body(shown):
        await shown.press("q")
        await typed(shown, "quit", gap)
        assert shown.app.is_running
        assert shown.main.is_leaving

    play(stage, body)


# --- the run of a pipeline ----------------------------------------------------------------------------


def test_a_message_to_the_run_of_a_pipeline_says_that_nobody_reads_it_and_stays(stage):
    async def body(shown):
        composer, heard = shown.main.composer, []
        session = shown.main.state.current
        force_setattr(session, "kind", "pipeline")
        shown.main.presenter.composer()
        composer.post_message, sends = (lambda message: heard.append(message)), composer.post_message
        composer.input.type_in("is it done?")
        composer.send()
        composer.post_message = sends
        (said,) = [one.text for one in heard if isinstance(one, StatusMessage)]
        assert said.startswith("Not sent: this is the run of a pipeline, nobody answers there.")
        assert composer.text == "is it done?"

    play(stage, body)
