"""What ended while nobody looked is one line when the user comes back, and is listed in the messages."""

import pytest
from textual import events

from tests.support.stage import USER
from tests.tui.screens import play, staged
from workbench.config.types import NotifySettings
from workbench.domain.events import RunChanged, SessionChanged, SessionCreated, TurnEnded
from workbench.domain.rows import Session
from workbench.tui.main.unseen_ends import AWAY_SECONDS
from workbench.views.unseen_ends import UnseenEnd, ends_sentence, session_end


@pytest.fixture
def stage(tmp_path):
    return staged(tmp_path)


def other_session(stage, title="other"):
    journal = stage.journal
    key = journal.clock.new_id()
    body = SessionCreated(title=title, workspace=str(stage.workspace), provider="recorded", model="m")
    journal.append([journal.event(body, key, USER)])
    return key


def end_turn(stage, session_id, outcome="done"):
    journal = stage.journal
    turn = journal.clock.new_id()
    journal.append([journal.event(TurnEnded(outcome=outcome), session_id, USER, turn_id=turn)], strict=False)


def kept(shown):
    return [message.text for message in shown.main.notifications.kept]


async def go_away(shown):
    shown.hand.waits(AWAY_SECONDS + 1)


def test_many_ends_are_one_line_at_the_first_key_and_each_is_listed(stage):
    async def body(shown):
        here = shown.main.state.current.id
        keys = [other_session(stage, f"s{n}") for n in range(3)]
        await shown.look()
        await go_away(shown)
        for key in keys:
            end_turn(stage, key)
        end_turn(stage, here, "error")
        await shown.look()
        assert "ended" not in shown.said
        await shown.press("j")
        assert shown.said == "While you were away: 3 turns ended, 1 turn failed: “test”."
        assert kept(shown)[-4:] == ["1 turn ended: “s0”.", "1 turn ended: “s1”.", "1 turn ended: “s2”.",
                                    "1 turn failed: “test”."]  # fmt: skip
        shown.main.say("other words", is_kept=False)
        await shown.press("k")
        assert shown.said == "other words"

    play(stage, body)


def test_the_focus_of_the_terminal_is_a_coming_back(stage):
    async def body(shown):
        shown.app.post_message(events.AppBlur())
        await shown.settle()
        end_turn(stage, shown.main.state.current.id)
        await shown.look()
        assert "turn ended" not in shown.said
        shown.app.post_message(events.AppFocus())
        await shown.settle()
        assert shown.said == "While you were away: 1 turn ended: “test”."

    play(stage, body)


def test_who_looks_is_told_nothing_of_the_session_on_show(stage):
    async def body(shown):
        await shown.press("j")
        end_turn(stage, shown.main.state.current.id)
        await shown.look()
        await shown.press("k")
        assert not [words for words in kept(shown) if "turn" in words]

    play(stage, body)


def test_who_is_here_is_told_at_once_of_another_session(stage):
    async def body(shown):
        key = other_session(stage)
        await shown.look()
        await shown.press("j")
        end_turn(stage, key)
        await shown.look()
        assert shown.said == "1 turn ended: “other”."

    play(stage, body)


def test_under_a_dialog_it_waits_until_the_screen_is_back(stage):
    async def body(shown):
        await shown.press("question_mark")
        await go_away(shown)
        end_turn(stage, shown.main.state.current.id)
        shown.main.look()
        await shown.settle()
        await shown.press("escape")
        await shown.press("j")
        assert shown.said == "While you were away: 1 turn ended: “test”."

    play(stage, body)


@pytest.mark.parametrize(
    ("wish", "focus", "count"),
    [("off", False, 0), ("away", True, 0), ("away", False, 1), ("always", True, 1)],
)
def test_it_leaves_the_terminal_as_the_settings_say_once_for_a_burst(stage, wish, focus, count):
    said, rung = [], []

    async def body(shown):
        shown.main.notifications.wishes = NotifySettings(desktop=wish, bell=True)
        shown.app.bell = lambda: rung.append(1)
        if not focus:
            shown.app.post_message(events.AppBlur())
            await shown.settle()
        await go_away(shown)
        for _ in range(3):
            end_turn(stage, shown.main.state.current.id)
            await shown.look()
        assert (len(said), len(rung)) == (count, 1)
        assert all("turn ended: “test”." in words for _, words in said)

    play(stage, body, notify_desktop=lambda *words: said.append(words))


def test_what_ended_while_no_screen_was_open_is_said_at_the_start(stage):
    ends = [UnseenEnd(session_id="s", what="run", state="failed", title="release #2", at=1)]

    async def body(shown):
        assert shown.said == "Since you left: 1 run failed: “release #2”."
        assert kept(shown) == ["1 run failed: “release #2”."]

    play(stage, body, goes_to_queue=False, ends_since_left=lambda: ends)


def test_a_title_that_ends_with_a_full_stop_brings_one_full_stop():
    end = UnseenEnd(session_id="s", what="turn", state="ended", title="Make the tests pass.", at=1)
    assert ends_sentence([end]) == "1 turn ended: “Make the tests pass”."


def session(**facts):
    given = {
        "id": "s",
        "kind": "chat",
        "status": "ready",
        "created_at": 1,
        "updated_at": 1,
        "title": "t" * 99,
    }
    return Session(**{**given, **facts})


@pytest.mark.parametrize(
    ("body", "of", "words"),
    [
        (TurnEnded(outcome="done"), {}, "1 turn ended"),
        (TurnEnded(outcome="limit"), {}, "1 turn paused"),
        (TurnEnded(outcome="unattended"), {}, "1 turn paused"),
        (TurnEnded(outcome="interrupted"), {}, None),
        (TurnEnded(outcome="done"), {"kind": "step"}, None),
        (TurnEnded(outcome="done"), {"kind": "ask"}, None),
        (RunChanged(status="completed"), {"kind": "pipeline"}, "1 run ended"),
        (RunChanged(status="failed"), {"kind": "pipeline"}, "1 run failed"),
        (RunChanged(status="cancelled"), {"kind": "pipeline"}, None),
        (RunChanged(status="waiting"), {"kind": "pipeline"}, None),
        (SessionChanged(title="x"), {}, None),
    ],
)
def test_what_is_an_end(stage, body, of, words):
    event = stage.journal.event(body, "s", USER)
    found = session_end(event, session(**of))
    assert (found and ends_sentence((found,)).partition(":")[0]) == words
    assert session_end(event, None) is None
    assert found is None or len(found.title) <= 40
