"""What is asked of a run from its graph: nothing happens but what a key and a word have said."""

from tests.support import drawn_runs
from tests.tui.test_pipeline_pane import play as play
from workbench.domain.events import RunChanged


def test_a_run_ends_only_when_the_word_is_typed(play):
    asked = []

    async def body(s):
        await s.press("z", "X", *"no")
        s.hand.waits()
        await s.press("enter")
        assert asked == []
        await s.press("X", *"cancel")
        s.hand.waits()
        await s.press("enter")
        assert asked == [s.run.run]

    play(body, cancel_run=asked.append)


def test_a_step_is_not_done_again_while_the_run_goes_on(play):
    async def body(s):
        await s.press("z", "R")
        assert "The run is not over" in s.main.rule.said

    play(body, retry_step=lambda run, step: 1 / 0)


def test_a_run_from_a_step_on_is_shown_once_it_has_begun(play):
    asked = []

    def two(journal, workspace):
        drawn_runs.nightly(journal, workspace)
        run = drawn_runs.Written(journal, workspace, drawn_runs.NIGHTLY[:2], run="run-2", number=42)
        run.say(RunChanged(status="failed", detail="stopped"))
        return run

    def begin(run, step):
        asked.append((run, step))
        return "run-1"

    async def body(s):
        s.main.state.runs.shown = "run-2"
        s.main.presenter.pipeline()
        await s.settle()
        await s.press("z", "g", "F")
        assert asked == [("run-2", "plan")]
        assert "nightly #41 has started." in s.main.rule.said
        assert s.pane.run.title == "nightly #41"

    play(body, two, run_from=begin)


def test_a_failed_step_is_done_again(play):
    asked = []

    def failed(journal, workspace):
        run = drawn_runs.Written(journal, workspace, drawn_runs.NIGHTLY[:2])
        run.step("plan", "running", "failed", detail="exit 1")
        run.say(RunChanged(status="failed", detail="plan failed"))
        return run

    async def body(s):
        await s.press("z", "n", "R")
        assert asked == [(s.run.run, "plan")]
        assert "plan runs again (attempt 2" in s.main.rule.said

    play(body, failed, retry_step=lambda run, step: asked.append((run, step)))
