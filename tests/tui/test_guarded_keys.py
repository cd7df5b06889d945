"""A deciding key on the screen: it is asked for again, can be cancelled, and counts when it was pressed twice."""

import asyncio

import pytest
from msgspec.structs import force_setattr
from textual import events

from tests.support.stage import USER, Stage, exchange, recording, text
from tests.tui.screens import FILES, play, staged
from tests.tui.test_typing import typed
from workbench.domain.events import ActionOpened, PromptSubmitted
from workbench.domain.values import Choice
from workbench.effects.clock import ManualClock
from workbench.tui.backend import EXIT_FOR_DEMO
from workbench.tui.pane import StatusMessage
from workbench.tui.widgets.pane_frame import PaneRule


@pytest.fixture
def stage(tmp_path):
    return staged(tmp_path)


@pytest.fixture
def fresh(tmp_path):
    """A folder in which nothing has happened yet."""
    return Stage(tmp_path, recording(exchange(text("Hello."))), clock=ManualClock(), files=FILES)


async def reject(shown):
    """Press the key once that rejects the row under the cursor, and look at once."""
    await shown.press_once("r")


def waiting(shown):
    return len(shown.stage.waiting())


def footer(shown):
    return shown.text.splitlines()[-1]


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (160, 48)])
def test_row_and_footer_say_at_once_that_a_key_is_pressed_again_and_nothing_is_done_yet(stage, size):
    async def body(shown):
        await reject(shown)
        assert footer(shown).strip().startswith("r again: reject ·  esc cancels")
        row = next(line for line in shown.text.splitlines() if "r again: reject" in line)
        assert shown.approvals.queue.current.target[:8] in row
        assert waiting(shown) == 3
        await shown.wait_for_key()
        assert waiting(shown) == 2
        assert "again" not in shown.text

    play(stage, body, size=size)


def test_what_is_approved_is_named_before_it_is(stage):
    async def body(shown):
        shown.approvals.queue.put_cursor(shown.row("router.py").id)
        await shown.settle()
        await shown.press_once("a")
        assert "a again: approve 3 of 3" in shown.text and "a again: approve 3 of 3" in footer(shown)

    play(stage, body, size=(160, 60))


def test_a_key_that_is_not_pressed_again_is_forgotten_after_five_seconds(stage):
    async def body(shown):
        await reject(shown)
        await shown.pass_due()
        assert (waiting(shown), "r was not pressed again" in shown.said) == (3, True)
        assert "again" not in footer(shown)
        await reject(shown)
        assert (waiting(shown), "r again: reject" in footer(shown)) == (3, True)

    play(stage, body)


def test_escape_cancels_and_does_nothing_else(stage):
    async def body(shown):
        await reject(shown)
        await shown.pilot.press("escape")
        assert "Cancelled: nothing was done." in shown.said
        await shown.press("g", "J")
        assert (waiting(shown), shown.main.place) == (3, 2)
        assert "again" not in footer(shown)

    play(stage, body)


@pytest.mark.parametrize(("key", "text"), [("enter", "r"), ("backspace", "r"), ("n", "rn"), ("space", "r ")])
def test_another_key_makes_text_of_the_press_and_the_focus_goes_with_it(stage, key, text):
    async def body(shown):
        await reject(shown)
        await shown.press_once(key, wait=0.3)
        assert (waiting(shown), shown.main.composer.text) == (3, text)
        assert shown.main.composer.has_focus_within
        await shown.press_once("a", wait=0.3)
        assert (waiting(shown), shown.main.composer.text) == (3, f"{text}a")

    play(stage, body)


def test_a_key_without_a_character_does_its_own_work_and_nothing_is_decided(stage):
    async def body(shown):
        await reject(shown)
        before = shown.approvals.queue.cursor
        await shown.press_once("down", wait=0.3)
        assert (waiting(shown), shown.main.composer.text) == (3, "")
        assert shown.approvals.queue.cursor != before

    play(stage, body)


def test_behind_a_letter_that_moved_a_key_is_pressed_three_times_and_the_screen_says_so(stage):
    async def body(shown):
        await shown.press_once("j")
        for words in ("r twice again: reject", "r again: reject"):
            await shown.press_once("r")
            assert (waiting(shown), words in footer(shown)) == (3, True)
        await shown.press_once("r", wait=0.3)
        await shown.pass_due()
        assert waiting(shown) == 2

    play(stage, body)


def test_where_one_press_is_enough_an_edit_is_approved_after_a_second_and_a_command_is_not(stage):
    async def body(shown):
        edit, command = shown.row("router.py"), shown.row("true")
        shown.main.context.tasks.read_asks()
        await shown.settle()
        shown.approvals.queue.put_cursor(command.id)
        await shown.settle()
        await shown.press_once("a")
        assert "a again: run outside" in footer(shown)
        await shown.press_once("escape")
        shown.approvals.queue.put_cursor(edit.id)
        await shown.settle()
        await shown.press_once("a")
        assert "a: approve 3 of 3 in a moment" in footer(shown)
        await shown.press_once("escape", wait=0.9)
        assert shown.state(edit) == "pending"
        await shown.press_once("a")
        await shown.pass_due()
        assert shown.state(edit) == "approved"

    play(stage, body, size=(160, 60), takes_single_press=lambda: True)


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
        await shown.press_once("r", wait=0.3)
        await shown.pass_due()
        assert not [one for one in stage.journal.actions() if one.state == "rejected"]

    play(stage, body)


def test_a_key_that_is_typed_but_not_read_yet_is_waited_for(stage, monkeypatch):
    async def body(shown):
        await reject(shown)
        await shown.press_once("r", wait=0.3)
        unread = [True]
        monkeypatch.setattr(
            type(shown.app), "has_unread_keys", property(lambda _: bool(unread)), raising=True
        )
        shown.hand.waits()
        for _ in range(5):
            shown.app.guarded.commit_due()
        assert shown.app.guarded.pending_id == "approvals.reject"
        shown.hand.at -= 0.95  # it was typed within a tenth of a second, and is read now
        shown.app.post_message(events.Key("n", "n"))
        unread.clear()
        await shown.settle()
        shown.app.guarded.commit_due()
        await shown.settle()
        assert (waiting(shown), shown.main.composer.text) == (3, "rrn")

    play(stage, body)


def test_typed_text_stands_behind_the_draft_and_escape_takes_it_out_again(stage):
    async def body(shown):
        await shown.press("i", *"my draft", "escape", wait=1.0)
        await typed(shown, "and then", 0.12)
        assert shown.main.composer.text == "my draft\nand then", "enter only shows it"
        await shown.press("escape")
        assert shown.main.composer.text == "my draft"
        assert shown.approvals.has_pane_focus
        await shown.press("i", "up")
        assert shown.main.composer.text == "and then"

    play(stage, body)


def test_the_line_end_of_typed_text_sends_it_unless_there_was_a_draft(stage):
    async def body(shown):
        def said():
            bodies = [one.body for one in stage.journal.events()]
            return [one.text for one in bodies if isinstance(one, PromptSubmitted)]

        before = said()
        await typed(shown, "add a test", 0.12)
        assert said() == [*before, "add a test"]
        await shown.press(*"draft", "escape")
        await typed(shown, "and another", 0.12)
        assert said()[1:] == [*before[1:], "add a test"]
        await shown.press("enter", wait=2.0)
        assert said() == [*before, "add a test", "draft\nand another"]

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


def test_after_the_answer_that_empties_the_queue_the_focus_stays_and_the_next_row_is_answered(stage):
    async def body(shown):
        await shown.press("r", "r", "r")
        assert (waiting(shown), shown.approvals.has_pane_focus) == (0, True)
        journal, session = shown.stage.journal, shown.main.state.current.id
        now = journal.now()
        opened = ActionOpened(
            action_kind="gate", tool=None, target="deploy?", digest="0" * 64, created_at=now, verb="gate",
            expires_at=now + 240_000_000, prompt="Which?", choices=(Choice(key="approve", label="Go"),),
        )  # fmt: skip
        event = journal.event(opened, session, USER, action_id=journal.clock.new_id())
        journal.append([event], strict=False)
        await shown.look()
        assert shown.approvals.queue.cursor == event.action_id
        await shown.press("a")
        assert journal.action(event.action_id).state == "approved"

    play(stage, body)


def test_a_chain_of_asks_is_a_double_press_for_each_and_nothing_else(stage):
    async def body(shown):
        for left in (2, 1, 0):
            await shown.press_once("r")
            await shown.press_once("r", wait=0.27)
            await shown.pass_due()
            assert waiting(shown) == left

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
        await shown.press("d", wait=6.0)
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
    monkeypatch.setattr(PaneRule, "SECONDS", 0.05)

    async def body(shown):
        await shown.press("ctrl+q")
        assert "3 asks wait" in shown.text
        assert footer(shown).strip() == "q leave  esc stay"
        later = asyncio.Event()
        shown.app.set_timer(4 * PaneRule.SECONDS, later.set)
        await later.wait()
        assert "3 asks wait" in shown.text
        await shown.press("a", "r", "enter", "2", "i", "tab", "ctrl+g", "ctrl+n", "ctrl+c", "x", "e")
        await typed(shown, "clear; cd ..", 0.12)
        shown.app.post_message(events.Paste("rm -rf x\n"))
        await shown.settle()
        assert (waiting(shown), shown.main.is_leaving) == (3, True)
        await shown.press("escape")
        assert (shown.main.is_leaving, shown.main.composer.text) == (False, "")
        await shown.press("i", "up", "up")
        assert "clear; cd .." in shown.main.composer.text

    play(stage, body)


@pytest.mark.parametrize("gap", [0.04, 0.12, 0.25])
def test_the_q_that_leaves_is_no_letter_of_a_word(stage, gap):
    async def body(shown):
        await shown.press("ctrl+q")
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
        assert said.startswith("Not sent. A pipeline run reads no messages: answer its rows")
        assert composer.text == "is it done?"

    play(stage, body)


def test_on_a_narrow_screen_text_has_the_focus_of_the_composer_though_a_sentence_had_its_row(stage):
    async def body(shown):
        await reject(shown)
        await shown.press_once("escape")
        assert "Cancelled" in shown.text
        await typed(shown, "a good plan", 0.35, ends_line=False)
        assert (waiting(shown), shown.main.composer.text) == (3, "a good plan")
        assert shown.main.composer.has_focus_within and "a good plan" in shown.text

    play(stage, body, size=(80, 24))


def test_a_key_that_is_off_may_be_pressed_twice_and_says_why_each_time(stage):
    async def body(shown):
        for _ in range(2):
            await shown.press_once("u", wait=0.3)
            assert shown.main.composer.text == "" and shown.said == "Nothing was applied yet."
            shown.main.rule.say("")
        await shown.press_once("s", wait=0.3)
        assert shown.main.composer.text == "uus"

    play(stage, body)
