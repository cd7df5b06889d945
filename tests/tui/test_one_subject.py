"""The panes show one session or run, or say in their titles whose they are; what waits in it comes first."""

import pytest

from tests.support import drawn_runs
from tests.tui.screens import play, staged
from tests.tui.test_replay_screen import replayed
from workbench.tui.backend import Backend

RUN = "run-1"


@pytest.fixture
def stage(tmp_path):
    return staged(tmp_path)


def start_run(stage, **gate):
    """Record a run that has just started and asks something."""
    run = drawn_runs.Written(stage.journal, str(stage.workspace), drawn_runs.NIGHTLY)
    run.ask("release", **gate)
    return run


def titles(shown):
    """Return the title rows of the panes, by their numbers."""
    lines = shown.text.splitlines()
    return {
        number: next(line for line in lines if f" {number} {name}" in line) for number, name in NAMES.items()
    }


NAMES = {1: "Conversation", 2: "Approvals", 4: "Pipeline"}


def current(shown):
    return shown.main.state.current.id


async def type_draft(shown, words="later"):
    await shown.press("i")
    await shown.press(*words, wait=0.05)


def test_a_launched_run_takes_all_panes_when_nothing_is_typed(stage):
    async def body(shown):
        assert current(shown) == stage.session_id
        start_run(stage)
        shown.main.context.show_run(RUN)
        await shown.settle()
        assert current(shown) == RUN and shown.main.rail.list.cursor == RUN
        assert "1 Conversation  nightly #41" in titles(shown)[1]
        assert "nightly #41" in titles(shown)[4] and "not this" not in shown.text
        assert shown.main.tools._shown.session.id == RUN

    play(stage, body, size=(160, 48))


def test_a_launch_while_a_message_is_typed_moves_no_pane_and_the_title_says_so(stage):
    async def body(shown):
        await type_draft(shown)
        start_run(stage)
        shown.main.context.show_run(RUN)
        await shown.settle()
        assert current(shown) == stage.session_id and shown.main.composer.text == "later"
        assert "4 Pipeline  nightly #41, not this session" in titles(shown)[4]
        assert "2 Approvals  ◆ 4  of 2 sessions" in titles(shown)[2]
        assert shown.main.pipeline.label_of("list.open") == "show it in all panes"
        await shown.press("enter")
        assert current(shown) == RUN and "not this" not in shown.text
        assert shown.main.composer.text == "later"

    play(stage, body, size=(160, 48))


def test_another_session_leaves_the_run_in_its_pane_and_its_title_says_so(stage):
    start_run(stage)

    async def body(shown):
        assert "nightly #41, not this session" in titles(shown)[4]
        shown.main.show_session(RUN)
        await shown.settle()
        assert "not this" not in shown.text
        shown.main.show_session(stage.session_id)
        await shown.settle()
        assert "nightly #41, not this session" in titles(shown)[4]

    play(stage, body, size=(160, 48), opens_on=stage.session_id)


def test_an_older_run_of_the_pane_is_said_not_to_be_this_run(stage):
    drawn_runs.Written(stage.journal, str(stage.workspace), drawn_runs.NIGHTLY[:2], run="run-0", number=40)
    start_run(stage)

    async def body(shown):
        await shown.press("4", "left_curly_bracket")
        assert "nightly #40, not this run" in titles(shown)[4] and current(shown) == RUN
        await shown.press("enter")
        assert current(shown) == "run-0" and "not this" not in titles(shown)[4]

    play(stage, body, size=(160, 48), opens_on=RUN)


def test_what_waits_in_the_session_on_show_comes_first(stage):
    start_run(stage, minutes=2)

    async def body(shown):
        await type_draft(shown)
        await shown.press("ctrl+g")
        row = shown.approvals.queue.current
        assert row.session_id == stage.session_id and current(shown) == stage.session_id

    play(stage, body, opens_on=stage.session_id)


def test_what_waits_elsewhere_takes_the_panes_with_it_unless_a_message_is_typed(stage):
    start_run(stage)
    for action in stage.waiting():
        stage.approve(action)

    async def body(shown):
        assert "2 Approvals  ◆ 1  of nightly #41, not this session" in titles(shown)[2]
        await type_draft(shown)
        await shown.press("ctrl+g")
        assert shown.approvals.queue.cursor == "gate-1" and current(shown) == stage.session_id
        await shown.press("i", *["backspace"] * 5, "enter")
        assert shown.approvals.queue.cursor == "gate-1" and current(shown) == RUN
        assert "not this" not in shown.text

    play(stage, body, size=(160, 48), opens_on=stage.session_id)


def test_a_replay_shows_its_own_session_at_moments_before_the_chosen_one_was_there(tmp_path):
    async def body(app, press):
        screen = app.main
        whole = len(screen.source.timeline)
        screen.go(whole)
        step = next(session for session in screen.source.rows.sessions.values() if session.kind == "step")
        screen.show_session(step.id)
        assert screen.state.current.id == step.id
        screen.go(1)
        assert screen.state.current.id == screen.session_id
        assert screen.conversation._session.id == screen.session_id
        screen.go(whole)
        assert screen.state.is_own(screen.pipeline.run.id) and screen.pipeline._shown.whose == ""

    replayed("release-run", tmp_path, body)


def ask_in_second_session(stage):
    """Have another session of the same folder ask for the same calls, and return its id."""
    first = stage.session_id
    stage.begin(title="second")
    stage.drive()
    second, stage.session_id = stage.session_id, first
    return second


def tool_rows(shown):
    """Return the rows of the calls that are listed, as they are drawn."""
    top = shown.main.tools.list.region
    return [line[top.x : top.right] for line in shown.text.splitlines()[top.y : top.bottom] if line.strip()]


def test_the_tools_pane_shows_every_sessions_calls_live_with_their_names(stage):
    ask_in_second_session(stage)
    kept = []

    async def body(shown):
        await shown.press("3")
        assert len(shown.main.tools.list.rows) == 3
        await shown.press("asterisk")
        assert "3 Tool invocations" in shown.text and "all sessions  6 calls" in shown.text
        names = {"test": 0, "second": 0}
        for line in tool_rows(shown):
            for name in names:
                names[name] += f" {name} " in line
        assert names == {"test": 3, "second": 3}
        # A call of the session that is not on show changes on the screen.
        other = next(key for key in shown.main.state.sessions if key != current(shown))
        action = stage.journal.actions(session_id=other, states=("pending",))[0]
        stage.approve(action)
        await shown.look()
        row = shown.main.tools.list.rows[action.call_id]
        assert row.call.state == "approved"
        await shown.press("asterisk")
        assert len(shown.main.tools.list.rows) == 3 and "all sessions  6" not in shown.text
        assert kept == [["tools"], []]

    play(stage, body, size=(160, 48), keep_all_sessions=lambda places: kept.append(list(places)))


def test_the_pipeline_pane_lists_every_run_live_and_enter_shows_one_in_all_panes(stage):
    older = drawn_runs.Written(
        stage.journal, str(stage.workspace), drawn_runs.NIGHTLY[:2], run="run-0", number=40
    )
    start_run(stage)

    async def body(shown):
        await shown.press("4", "asterisk")
        rows = [line for line in shown.text.splitlines() if "nightly #4" in line and " of " in line]
        assert "all sessions  2 runs  ◆ 1" in titles(shown)[4]
        assert ["0 of 9" in line or "0 of 2" in line for line in rows].count(True) == 2
        assert "not this" not in titles(shown)[4]
        older.done("plan")
        await shown.look()
        assert any("1 of 2" in line for line in shown.text.splitlines())
        shown.main.pipeline.every_run.put_cursor("run-0")
        await shown.press("enter")
        assert current(shown) == "run-0" and shown.main.pipeline.run.id == "run-0"
        assert not shown.main.pipeline.is_list and shown.main.pipeline.has_pane_focus

    play(stage, body, size=(160, 48), opens_on=stage.session_id)


def test_a_screen_opens_with_every_session_where_the_last_one_showed_it(stage, monkeypatch):
    ask_in_second_session(stage)
    start_run(stage)
    monkeypatch.setattr(Backend, "all_sessions", ("tools", "pipeline"))

    async def body(shown):
        assert "all sessions  6 calls" in shown.text and "all sessions  1 run" in titles(shown)[4]

    play(stage, body, size=(160, 48))


def test_every_sessions_calls_of_a_replay_are_those_of_the_moment(tmp_path):
    async def body(app, press):
        screen = app.main
        screen.context.toggle_all_sessions("tools")
        whole = len(screen.source.timeline)
        screen.go(whole)
        calls = screen.source.rows.calls
        assert set(screen.tools.list.rows) == set(calls) and calls
        screen.go(1)
        assert not screen.tools.list.rows

    replayed("release-run", tmp_path, body)
