"""Two runs of a pipeline side by side: outcomes before times, the run before first, the way back to the graph."""

import pytest
from msgspec.structs import replace

from tests.support import drawn_runs
from tests.tui.test_pipeline_pane import play as play
from workbench.domain.events import RunChanged
from workbench.domain.values import StepPlan, Usage
from workbench.views.pipeline import pipeline_run
from workbench.views.run_comparison import compare_runs

PLANS = (StepPlan(id="plan"), StepPlan(id="build", needs=("plan",)), StepPlan(id="test", needs=("build",)))


def three_runs(journal, workspace):
    """An old run that failed, one that went well, one with another step in which the test fails."""
    old = drawn_runs.Written(journal, workspace, PLANS, run="run-39", number=39)
    old.step("plan", "running", "failed", detail="no model")
    old.say(RunChanged(status="failed", detail="plan failed"))
    journal.clock.advance(60)
    good = drawn_runs.Written(journal, workspace, PLANS, run="run-40", number=40)
    good.done("plan", 4.0, usage=Usage(input_tokens=1_000, output_tokens=200))
    good.done("build", 60.0)
    good.done("test", 30.0)
    good.say(RunChanged(status="completed"))
    journal.clock.advance(60)
    new = (*PLANS[:2], StepPlan(id="lint", needs=("plan",)), PLANS[2])
    run = drawn_runs.Written(journal, workspace, new, run="run-41", number=41)
    run.done("plan", 4.2, usage=Usage(input_tokens=2_000, output_tokens=700))
    run.done("build", 75.0)
    run.done("lint", 3.0)
    run.step("test", "running")
    run.step("test", "failed", detail="exit 1", duration_ms=12_000)
    run.say(RunChanged(status="failed", detail="test failed"))
    return run


def seen(journal, run_id):
    row = journal.pipeline_state(run_id)
    from workbench.views.pipeline import last_started_step_plans

    return pipeline_run(
        row, last_started_step_plans(journal.events(run_id)), journal.step_states(run_id), (), journal.now()
    )


def test_rows_say_how_each_step_differs(tmp_path):
    from workbench.effects.clock import ManualClock
    from workbench.journal.home import Home
    from workbench.journal.journal import Journal

    journal = Journal.open(Home.open(tmp_path / "home"), clock=ManualClock())
    three_runs(journal, "/workspace/shop")
    made = compare_runs(seen(journal, "run-40"), seen(journal, "run-41"))
    assert [(row.id, row.kind, row.is_worse) for row in made.rows] == [
        ("plan", "same", False),
        ("build", "slower", False),
        ("lint", "added", False),
        ("test", "outcome", True),
    ]
    assert made.outcomes == 2
    total = made.total
    assert (total.kind, total.is_worse, total.earlier.seconds, total.later.seconds) == (
        "outcome", True, 94.0, 94.2,
    )  # fmt: skip
    assert (made.rows[0].tokens, made.rows[1].seconds) == (1_500, 15.0)
    kept = replace(made.later.steps[0], attempt=0, contract_mark="", seconds=0.0)
    going = replace(made.later.steps[1], state="running")
    later = replace(made.later, steps=(kept, going), finished_at=None)
    assert [(row.id, row.kind) for row in compare_runs(made.earlier, later).rows] == [
        ("plan", "same"),
        ("build", "open"),
        ("test", "gone"),
    ]
    turned = compare_runs(seen(journal, "run-41"), seen(journal, "run-40"))
    assert [(row.id, row.kind) for row in turned.rows] == [
        ("plan", "same"),
        ("build", "faster"),
        ("test", "outcome"),
        ("lint", "gone"),
    ]
    journal.close()


@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 36), (160, 48)])
def test_the_run_before_stands_beside_the_one_on_show(play, size):
    async def body(s):
        await s.press("C")
        for words in ("nightly #40 and nightly #41", "outcomes differ", "failed now", "+15 s", "all of it"):
            assert words in s.text, words

    play(body, three_runs, size=size)


def test_the_totals_say_how_it_ended_and_sum_up_the_steps(play):
    async def body(s):
        await s.press("C")
        head = next(line for line in s.text.splitlines() if "change" in line)
        assert head.count("tokens") == 3
        total = next(line for line in s.text.splitlines() if "all of it" in line)
        for words in ("completed", "failed now", "1:34", "+1.5k"):
            assert words in total, words

    play(body, three_runs, size=(160, 48))


def test_keys_go_to_differences_other_runs_orders_and_the_step(play):
    async def body(s):
        await s.press("C", "n")
        assert s.app.screen._list.cursor == "lint"
        await s.press("n")
        assert "exit 1" in s.text
        await s.press("o")
        assert s.app.screen._list.ids[0] == "test"
        await s.press("{")
        assert "nightly #39 and nightly #41" in s.text
        assert "no model" not in s.text
        await s.press("g", "o", "o", "g", "}")
        assert "nightly #40 and nightly #41" in s.text
        await s.press("G", "enter")
        assert s.main.place == 4
        assert s.graph.cursor == "test"

    play(body, three_runs)


def test_a_run_alone_is_compared_with_nothing(play):
    async def body(s):
        await s.press("C")
        assert "There is no other run of nightly to compare with." in s.main.rule.said

    play(body)


def test_without_a_run_the_key_says_so(play):
    async def body(s):
        await s.press("C")
        assert "nightly" not in s.text

    play(body, None)
