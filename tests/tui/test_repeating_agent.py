"""An agent that repeats itself, as the screen shows it, its two keys, and what each answer to trust asks."""

import pytest

from tests.support.stage import Stage, call, exchange, recording, text
from tests.tui.screens import FILES, play, staged
from workbench.cli.attached_screen import usable_config
from workbench.domain.events import CallRepeated, ContinueRequested, Event, InterruptRequested
from workbench.domain.values import Actor
from workbench.effects.clock import ManualClock
from workbench.host.workspace_trust import asked_tools
from workbench.journal.statistics_queries import undecided_calls_by_tool
from workbench.views.action_detail import QuestionCounts, trust_choice_notes
from workbench.views.event_text import event_line
from workbench.views.status_icons import action_status
from workbench.views.timeline import mark_for
from workbench.views.tools import ToolRow

READS = [exchange(call(f"c{n}", "read_file", path="router.py")) for n in range(1, 7)]


def looping(tmp_path):
    return staged(tmp_path, recording(*READS, exchange(text("Done."))))


@pytest.mark.parametrize(("key", "request_made"), [("c", ContinueRequested), ("x", InterruptRequested)])
def test_the_conversation_says_it_and_its_keys_answer(tmp_path, key, request_made):
    stage = looping(tmp_path)

    async def body(shown):
        for times in (3, 4, 5):
            assert f"same call, same result, {times} times" in shown.text
        assert "The agent repeats the same call" in shown.text
        assert "c continue" in shown.text and "x stop" in shown.text
        await shown.press("escape", "1", key)
        assert len(stage.bodies(request_made)) == 1

    play(stage, body, size=(120, 60), goes_to_queue=False)


def test_the_composer_names_the_command_that_continues_where_the_key_is_text(tmp_path):
    async def body(shown):
        assert "/continue the paused agent" in shown.text.splitlines()[-1]
        await shown.press(*"c")
        assert shown.main.composer.text == "c"
        await shown.press("escape", "1")
        assert "/continue" not in shown.text.splitlines()[-1]

    play(looping(tmp_path), body, size=(80, 24), goes_to_queue=False)


def test_the_tools_count_it(tmp_path):
    stage = looping(tmp_path)

    async def body(shown):
        assert [row.target for row in shown.app.main.tools.list_view.rows.values()] == [
            "router.py", "router.py", "3× router.py", "4× router.py", "5× router.py",
        ]  # fmt: skip

    play(stage, body, size=(120, 60), goes_to_queue=False)


def test_the_key_says_why_it_does_nothing_else(tmp_path):
    stage = staged(tmp_path, recording(exchange(text("Done."))))

    async def body(shown):
        await shown.press("escape", "1", "x")
        assert "No repeated call waits for an answer here." in shown.text
        assert stage.bodies(InterruptRequested) == []

    play(stage, body, goes_to_queue=False)


def test_what_each_answer_asks_is_counted_in_the_own_history(tmp_path):
    stage = looping(tmp_path)
    with stage.journal.snapshot() as database:
        assert undecided_calls_by_tool(database) == {"read_file": 5}
        assert undecided_calls_by_tool(database, most=2) == {"read_file": 2}
    stage.close()


@pytest.mark.parametrize(
    ("counts", "notes"),
    [
        (None, ("asks before every call", "asks before all except reads")),
        (
            QuestionCounts(every=1_212, all_but_reads=87),
            (
                "asks before every call: your last 1,212 calls would all have asked",
                "asks before all except reads: 87 of your last 1,212 calls",
            ),
        ),
    ],
)
def test_what_each_answer_asks_is_said(counts, notes):
    said = trust_choice_notes(counts)
    assert (said["trust"], said["trust_and_read"]) == notes
    assert said["not_now"].startswith("asks before every call")


@pytest.mark.parametrize(
    ("read", "config", "mode"),
    [
        (True, None, "all except reads"),
        (False, None, "every call"),
        (False, {"approvals": {"read_only": "auto"}}, "all except reads"),
    ],
)
def test_a_screen_opens_with_the_mode_that_holds(tmp_path, read, config, mode):
    stage = Stage(tmp_path, recording(), config=config).trust(read=read)
    loaded = usable_config(stage.home.path, str(stage.workspace), trusted=True)
    assert asked_tools(stage.journal, str(stage.workspace), loaded) == mode
    stage.close()


def test_a_released_read_is_called_allowed(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.host.session_driver.CLOCK_TICK_SECONDS", 0.01)
    script = recording(exchange(call("c1", "read_file", path="router.py")), exchange(text("Done.")))
    stage = Stage(tmp_path, script, clock=ManualClock(), files=FILES).begin()
    stage.drive()
    (action,) = stage.waiting()
    stage.trust(read=True)
    stage.drive(lambda progress: progress.is_idle)
    row = stage.journal.action(action.id)
    assert action_status(row, stage.calls()["c1"]) == ("ok", "allowed")
    assert ToolRow(call=stage.calls()["c1"], sign="ok", word="ok").by == "auto"

    async def body(shown):
        shown.approvals.queue.put_cursor(action.id)
        await shown.settle()
        assert "Allowed: you let agents read here." in shown.text

    play(stage, body, size=(160, 48))


def test_a_replay_has_a_mark_for_it_and_lists_say_it():
    event = Event(
        id="e", session_id="s", at=1, actor=Actor(kind="host"), body=CallRepeated(times=3), call_id="c"
    )
    assert mark_for(event.kind, None) == ("error", "partly")
    assert event_line(event, None, None) == "a call: same call, same result, 3 times"


def test_the_mode_is_read_again_when_a_grant_comes_from_elsewhere(tmp_path):
    stage, modes = staged(tmp_path, recording(exchange(text("Done.")))), ["every call"]

    async def body(shown):
        assert "asks before every call" in shown.text
        modes.append("all except reads")
        stage.trust(read=True)
        await shown.look()
        assert "asks before all except reads" in shown.text

    play(stage, body, goes_to_queue=False, approval_setting=lambda: (modes[-1], 0))
