"""Whoever types a prompt, a sentence or a shell command at any moment of the screen has decided nothing.

Sentences and the gaps between their letters are drawn by seed, with the line's end that a hand types behind them,
at every state of the screen that has a question. The clock is simulated: it moves by at most 20 ms, and what is
due is done at its time. Ten thousand sentences on the rule itself: `test_decision_guard`.
"""

import random

import pytest

from tests.support import drawn_runs
from tests.support.keys import send_key
from tests.support.sizes import size
from tests.support.stage import USER
from tests.support.typists import draw_gaps, draw_sentence
from tests.tui.screens import play, staged
from workbench.backend.library import LocalLibrary
from workbench.domain.events import ActionOpened
from workbench.domain.values import Choice, StepPlan
from workbench.tui.keyboard.rule import RUN_SECONDS
from workbench.tui.widgets.dialog import Dialog

SPEEDS = (0.12, 0.35, 0.6)
STEP = 0.02
SAID = {"prompt.submitted"}


async def pass_time(shown, seconds):
    """Move the clock in small steps, and do what is due at its time."""
    guard, end = shown.app.guarded, shown.hand.at + seconds
    while shown.hand.at < end:
        shown.hand.at = min(end, shown.hand.at + STEP)
        if guard.state.due is not None and guard.state.due <= shown.hand.at:
            # Twice: a moment that is late lets keys in that have arrived meanwhile.
            for _ in range(2):
                guard.commit_due()
            await shown.settle()


async def typed(shown, words, gap, *, ends_line=True, rests=True):
    """Type words, with the same gap between the letters or with one for each, and wait for a while then."""
    keys = [*words, *(["enter"] if ends_line else [])]
    gaps = gap if isinstance(gap, list) else [gap] * len(keys)
    for key, before in zip(keys, gaps, strict=False):
        await pass_time(shown, before)
        await send_key(shown.app, key)
    for _ in range(3 if rests else 0):
        await pass_time(shown, 2.0)
        await shown.pilot.pause()
    await shown.settle()


def recorded(shown):
    return [one.kind for one in shown.stage.journal.events()]


def words_of(shown):
    """Return all that stands in the composer, or comes back into it."""
    composer = shown.main.composer
    return [*composer.history._entries, composer.text]


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
    await shown.press("ctrl+q")
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
        shown.hand.waits(RUN_SECONDS)
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


PAGES = {"rules-screen", "palette-screen"}
"""Screens that are places, and decide nothing by being open."""
STATES = (
    edit, command, full, lines, batch, always, gate, question, trust, conversation, tools, pipeline, sessions,
    library, rules, replay, leaving, composer, graph_gate,
)  # fmt: skip
IN_COMPOSER = (
    edit, command, full, lines, batch, always, gate, question, trust, conversation, tools, pipeline, composer,
    graph_gate,
)  # fmt: skip
"""States in which the words are in the composer, and the focus with them."""


def is_kept(shown, sentence):
    """Return whether all of a sentence is in the composer, was sent from there, or comes back into it."""
    found = "".join(words_of(shown)).split()
    return "".join(sentence.split()) in "".join(found)


def plays(folder, reach, sentences, **more):
    """Type sentences at a state of the screen, each on a screen that is as if nothing had been typed."""
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
            assert not set(said) - SAID, (sentence, gap, said)
            assert shown.app.is_running
            assert shown.main.is_leaving == (reach is leaving)
            assert not isinstance(shown.app.screen, Dialog) or shown.app.screen.id in PAGES
            if reach is leaving:
                await shown.press("escape")
            assert is_kept(shown, sentence), (sentence, gap, words_of(shown))
            if reach in IN_COMPOSER:
                assert shown.main.composer.has_focus_within
            if len(sentences) > 1:
                shown.main.composer.input.clear()
                shown.main.composer.history._entries.clear()
                assert (shown.app.screen, shown.main.place) == (screen, place)
                await shown.press("escape")

    played_services = {"library": LocalLibrary(stage.home, stage.journal, str(stage.workspace))}
    play(stage, body, **{**played_services, **more})


def drawn(seed, count=1):
    """Return sentences with the gaps between their letters."""
    chance = random.Random(seed)
    sentences = [draw_sentence(chance) for _ in range(count)]
    return [(sentence, draw_gaps(chance, len(sentence) + 1)) for sentence in sentences]


@pytest.mark.parametrize("gap", SPEEDS)
@pytest.mark.parametrize("reach", [replay, rules, conversation], ids=lambda reach: reach.__name__)
def test_a_sentence_that_would_open_the_palette_in_its_middle_is_not_lost(tmp_path, reach, gap):
    plays(tmp_path, reach, [("R: rename it; a, b and c", gap)])


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
def test_a_drawn_sentence_decides_nothing_and_is_not_lost(tmp_path, number):
    plays(tmp_path, STATES[number], drawn(number))


def test_drawn_sentences_over_a_waiting_edit_decide_nothing_and_are_in_the_composer(tmp_path):
    plays(tmp_path, edit, drawn("edit", 12))


def test_drawn_sentences_over_an_open_gate_decide_nothing_and_are_in_the_composer(tmp_path):
    plays(tmp_path, graph_gate, drawn("gate", 3))


@pytest.mark.parametrize("words", ["Allow it", "Run the tests", "a good plan", "Tomorrow we ship", "keep it"])
def test_words_that_decided_once_decide_nothing_at_any_speed(tmp_path, words):
    plays(tmp_path, command, [(words, gap) for gap in SPEEDS])


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(size("WORKBENCH_TYPISTS", 1, 20)))
@pytest.mark.parametrize("reach", STATES, ids=lambda one: one.__name__)
def test_drawn_sentences_in_every_state_decide_nothing(tmp_path, reach, seed):
    plays(tmp_path, reach, drawn(f"{reach.__name__} {seed}"))


def test_a_row_that_comes_while_a_sentence_is_typed_is_not_decided(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        while shown.approvals.rows[0].is_pending:
            await shown.press("r")
        for sentence, gaps in drawn("comes", 4):
            await typed(shown, sentence[:2], gaps[:2], ends_line=False, rests=False)
            await asked(
                shown, "gate", (Choice(key="approve", label="Go"), Choice(key="reject", label="Stop"))
            )
            before = recorded(shown)
            await typed(shown, sentence[2:], gaps[2:])
            assert not set(recorded(shown)[len(before) :]) - SAID
            assert is_kept(shown, sentence), words_of(shown)
            shown.main.composer.input.clear()
            await shown.press("escape")

    play(stage, body)
