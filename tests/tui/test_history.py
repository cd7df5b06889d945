"""A long conversation: its end is shown at once, its beginning when somebody goes there, memory stays."""

from contextlib import closing

import pytest

from benchmarks import homes
from tests.tui.screens import play
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui import journal_source, transcript_window
from workbench.tui.journal_source import JournalSource
from workbench.tui.state import TAIL_EVENTS, ScreenState

EVENTS = 4_000


@pytest.fixture
def long(tmp_path):
    return homes.conversation(tmp_path, EVENTS, is_open=True)


@pytest.fixture
def state(long):
    with closing(Journal.open(Home.open(long.root / "home"))) as journal:
        state = ScreenState(JournalSource(journal, str(long.workspace)))
        state.load()
        yield state


def ids(state):
    return [block.id for block in state.shown.blocks]


def test_the_turns_of_a_long_session_are_all_counted(state):
    assert state.transcript.facts.turns == EVENTS // homes.EVENTS_A_TURN + 1
    assert len(state.calls) + state.earlier_calls == EVENTS // homes.EVENTS_A_TURN


def test_every_block_is_reached_going_up_and_again_going_down(state):
    whole = journal_source.Transcript("long")
    whole.apply_all(state.source.events("long", 0, 1_000_000))
    wanted = [block.id for block in whole.blocks]
    up = list(ids(state))
    while state.look_back("earlier"):
        here = ids(state)
        assert set(here) & set(up), "two parts in a row share what is being read"
        assert len(here) <= transcript_window.WINDOW_SPAN
        up = [key for key in here if key not in up] + up
    assert up == wanted
    down = ids(state)
    while state.window is not None:
        assert state.look_back("later")
        here = ids(state)
        assert set(here) & set(down)
        down += [key for key in here if key not in down]
    assert down == wanted


def test_the_ends_are_one_step_away(state):
    assert state.look_back("first")
    assert state.window.first == 1
    assert state.window.words.startswith("events 1 to ")
    assert not state.look_back("earlier")
    assert state.look_back("end")
    assert state.window is None
    assert not state.look_back("later")


def test_what_came_of_a_reply_that_was_stopped_is_in_its_part(state):
    journal = state.source._journal
    actor = homes.AGENT
    events = []
    for text, number in (("kept ", 0), ("words", 5)):
        body = homes.TextStreamed(block=0, offset=number, text=text)
        events.append(journal.event(body, "long", actor, turn_id="long-open"))
    ended = homes.TurnEnded(outcome="interrupted")
    journal.append([*events, journal.event(ended, "long", actor, turn_id="long-open")], strict=False)
    homes.add_turns(journal, "long", 2 * TAIL_EVENTS, start=EVENTS)
    state.choose("long")
    found = []
    while state.look_back("earlier"):
        found += [block.text for block in state.shown.blocks if getattr(block, "was_cut", False)]
    assert "kept words" in found


def test_an_open_conversation_does_not_grow_without_end(state):
    journal, source = state.source._journal, state.source
    cursor = journal.last_position()
    ended = homes.TurnEnded(outcome="done")
    journal.append([journal.event(ended, "long", homes.AGENT, turn_id="long-open")], strict=False)
    homes.add_turns(journal, "long", 4 * TAIL_EVENTS, start=EVENTS)
    state.apply(journal.events(after=cursor))
    before = len(state.transcript.blocks)
    turns = state.transcript.facts.turns
    assert state.trim()
    assert len(state.transcript.blocks) < before / 2
    assert state.transcript.facts.turns == turns
    assert [call.id for call in state.calls] == [call.id for call in source.calls("long")]


def test_keys_go_to_the_beginning_and_back(long):
    long.journal = Journal.open(long.home)

    async def body(shown):
        shown.main.go_to(1)
        await shown.press("g")
        assert "prompt 1:" in shown.text
        assert "events 1 to " in shown.text
        await shown.press("G")
        assert "events 1 to " not in shown.text
        for _ in range(12):
            shown.main.conversation.move(-200)
            await shown.settle()
        assert shown.main.state.window is not None
        first = shown.main.state.window.first
        top = shown.main.conversation.view.cursor
        assert top in [block.id for block in shown.main.state.shown.blocks]
        assert 1 < first < EVENTS

    play(long, body, size=(160, 48))
