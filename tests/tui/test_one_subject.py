"""The panes show one session or run, or say in their titles whose they are; what waits in it comes first."""

import pytest

from tests.support import drawn_runs
from tests.tui.screens import play, staged
from tests.tui.test_replay_screen import replayed

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
