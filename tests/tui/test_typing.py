"""Whoever types a prompt, a sentence or a shell command at any moment of the screen has decided nothing.

Sentences are typed at 40, 120 and 250 ms a letter, with the line's end that a hand types behind them, at every
state of the screen that has a question. The clock moves exactly; the whole product runs with the marker.
"""

import asyncio
import time

import pytest
from textual import events

from tests.support import drawn_runs
from tests.support.stage import USER
from tests.support.waits import until_true
from tests.tui.screens import play, staged
from workbench.cli.local_backend_library import LocalLibrary
from workbench.domain.events import ActionOpened
from workbench.domain.values import Choice, StepPlan
from workbench.tui.decision_guard import HOLD_SECONDS
from workbench.tui.keymap import normalized_key

SENTENCES = (
    "and add a test",
    "use a better name here",
    "delete all the old rules",
    "approve everything except the last one",
    "please run the tests again",
    "Run them all, then quit",
    "R: rename it; a, b and c",
    "yes, extend it by an hour",
    "clear; cd /tmp && ls -la",
    "explain the Approvals pane, x and u",
)
SPEEDS = (0.04, 0.12, 0.25)
SAID = {"prompt.submitted"}


def key_of(letter):
    """Return the key that a hand presses, as if it had arrived this very moment."""
    event = events.Key(normalized_key(letter), letter if len(letter) == 1 else None)
    event.time = time.monotonic() + 60
    return event


async def typed(shown, words, gap, *, ends_line=True):
    """Type words; time goes on between the letters as a hand lets it, and then for a while."""
    app = shown.app
    for letter in [*words, *(["enter"] if ends_line else [])]:
        shown.hand.waits(gap)
        app.guarded.commit_due()
        arrived = app.guarded.guard.arrived
        app.post_message(key_of(letter))
        await until_true(
            lambda arrived=arrived: app.guarded.guard.arrived > arrived and not app._typed.has_waiting,
            lambda: asyncio.sleep(0.002),
        )
    for _ in range(3):
        shown.hand.waits(HOLD_SECONDS)
        await shown.pilot.pause()
        app.guarded.commit_due()
    await shown.settle()


def recorded(shown):
    return [one.kind for one in shown.stage.journal.events()]


def words_of(shown):
    """Return all that stands in the composer, or comes back into it."""
    composer = shown.main.composer
    return [composer.text, *composer.history._entries]


# --- states with a question -------------------------------------------------------------------------


async def edit(shown):
    shown.approvals.queue.put_cursor(shown.row("router.py").id)


async def command(shown):
    shown.approvals.queue.put_cursor(shown.row("true").id)


async def full(shown):
    await shown.press("enter")


async def lines(shown):
    await shown.press("v")


async def batch(shown):
    await shown.press("M", "a")
    assert shown.app.screen.id == "batch-screen"


async def always(shown):
    await command(shown)
    await shown.settle()
    await shown.press("A")
    assert shown.app.screen.id == "always-screen"


async def rules(shown):
    await shown.press("6")


async def library(shown):
    await shown.press("5")


async def sessions(shown):
    await shown.press("0")


async def conversation(shown):
    await shown.press("1")


async def tools(shown):
    await shown.press("3")


async def pipeline(shown):
    await shown.press("4")


async def graph_gate(shown):
    """A gate that is open beside its graph."""
    journal = shown.stage.journal
    run = drawn_runs.Written(journal, str(shown.stage.workspace), (StepPlan(id="release", kind="gate"),))
    run.ask("release", action=journal.clock.new_id())
    await shown.look()
    await shown.press("4", "a")
    assert shown.main.pipeline.is_answering


async def replay(shown):
    shown.app.open_replay(shown.main.state.current.id)
    await shown.settle()


async def leaving(shown):
    await shown.press("q")
    assert shown.main.is_leaving


async def composer(shown):
    await shown.press("i")


async def trust(shown):
    """A question of trust, as another screen of the folder would show it."""
    choices = ("trust", "trust_and_read", "not_now")
    await asked(shown, "trust", tuple(Choice(key=key, label=key) for key in choices))


@pytest.mark.parametrize("words", ["lets not", "please run all the tests", "hello there"])
def test_the_first_letters_of_typed_text_leave_the_choice_as_it_was(tmp_path, words):
    async def body(shown):
        await trust(shown)
        await shown.press("l")
        shown.hand.waits(2.0)
        choosing, detail = shown.approvals.choosing, shown.approvals.detail
        assert choosing.choice_of(detail) == "trust_and_read"
        await typed(shown, words, 0.12)
        assert choosing.choice_of(detail) == "trust_and_read"

    play(staged(tmp_path), body)


async def asked(shown, kind, choices):
    journal, session = shown.stage.journal, shown.main.state.current.id
    now = journal.now()
    body = ActionOpened(
        action_kind=kind, tool=None, target="which route wins?", digest="0" * 64, created_at=now,
        expires_at=now + 240_000_000, verb="gate" if kind == "gate" else "ask", prompt="Which?", choices=choices,
    )  # fmt: skip
    event = journal.event(body, session, USER, action_id=journal.clock.new_id())
    journal.append([event], strict=False)
    await shown.look()
    shown.approvals.queue.put_cursor(event.action_id)
    await shown.settle()


async def gate(shown):
    await asked(shown, "gate", (Choice(key="approve", label="Deploy"), Choice(key="reject", label="Stop")))


async def question(shown):
    await asked(shown, "question", ())


STATES = (
    edit, command, full, lines, batch, always, gate, question, trust, conversation, tools, pipeline, sessions,
    library, rules, replay, leaving, composer, graph_gate,
)  # fmt: skip


def plays(folder, reach, sentences, **more):
    """Type sentences at a state of the screen, each on a screen that stands as if nothing had been typed."""
    stage = staged(folder)

    async def body(shown):
        await reach(shown)
        await shown.settle()
        shown.hand.waits()
        await shown.settle()
        screen, place = shown.app.screen, shown.main.place
        for sentence, gap in sentences:
            before = recorded(shown)
            await typed(shown, sentence, gap)
            said = recorded(shown)[len(before) :]
            assert not set(said) - (SAID if reach is composer else set()), (sentence, gap, said)
            assert shown.app.is_running
            assert shown.main.is_leaving == (reach is leaving)
            if reach is leaving:
                await shown.press("escape")
            assert any(sentence in one for one in words_of(shown)), (sentence, gap, words_of(shown))
            if len(sentences) > 1:
                shown.main.composer.input.clear()
                assert (shown.app.screen, shown.main.place) == (screen, place)
                await shown.press("escape")

    played_services = {"library": LocalLibrary(stage.home, stage.journal, str(stage.workspace))}
    play(stage, body, **{**played_services, **more})


@pytest.mark.parametrize("gap", SPEEDS)
@pytest.mark.parametrize("reach", [replay, rules, conversation], ids=lambda reach: reach.__name__)
def test_a_sentence_that_opens_the_palette_in_its_middle_is_not_lost(tmp_path, reach, gap):
    plays(tmp_path, reach, [(SENTENCES[6], gap)])


def test_words_after_a_key_that_only_moves_are_looked_for_in_the_palette(tmp_path):
    async def body(shown):
        for words in ("jj:theme", "2:theme"):
            await typed(shown, words, 0.12, ends_line=False)
            assert shown.app.screen.id == "palette-screen"
            await shown.press("escape")
            assert shown.main.composer.text == "" and not any("theme" in one for one in words_of(shown))
        await typed(shown, "2:statistics", 0.12)
        assert shown.main.place == 7

    play(staged(tmp_path), body)


def test_what_is_looked_for_on_the_page_of_keys_is_no_text_for_the_agent(tmp_path):
    async def body(shown):
        await typed(shown, "?theme", 0.12, ends_line=False)
        assert "other colours" in shown.text and "place" not in shown.text.split("Keys here")[1]
        assert shown.main.composer.text == ""

    play(staged(tmp_path), body)


@pytest.mark.parametrize("number", range(len(STATES)), ids=[one.__name__ for one in STATES])
def test_a_sentence_decides_nothing_and_is_not_lost(tmp_path, number):
    plays(tmp_path, STATES[number], [(SENTENCES[number % 10], SPEEDS[number % 3])])


def test_ten_sentences_over_a_waiting_edit_decide_nothing_and_stand_in_the_composer(tmp_path):
    plays(tmp_path, edit, [(words, SPEEDS[at % 3]) for at, words in enumerate(SENTENCES)])


def test_sentences_over_an_open_gate_decide_nothing_and_stand_in_the_composer(tmp_path):
    plays(tmp_path, graph_gate, [(SENTENCES[at], SPEEDS[at % 3]) for at in (0, 3, 9)])


@pytest.mark.campaign
@pytest.mark.parametrize("gap", SPEEDS)
@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("reach", STATES, ids=lambda one: one.__name__)
def test_every_sentence_at_every_speed_in_every_state_decides_nothing(tmp_path, reach, sentence, gap):
    plays(tmp_path, reach, [(sentence, gap)])
