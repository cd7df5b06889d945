"""When the steps of a run worked, how a step went before, the run below a step and the one above, newer runs."""

import pytest

from tests.support import drawn_runs
from tests.tui.test_compare import PLANS, three_runs
from tests.tui.test_pipeline_pane import play as play
from workbench.domain.events import (
    CallProposed,
    LeaseReleased,
    LeaseTaken,
    ReplyCompleted,
    SessionCreated,
    StepChanged,
)
from workbench.domain.values import Actor, GateVerdict, ReplyCall, StepPlan
from workbench.effects.clock import ManualClock
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.render.glyphs import UNICODE_GLYPHS
from workbench.render.run_times import span_bar
from workbench.render.theme import OWN_THEMES, Ink
from workbench.views.pipeline import last_started_step_plans, pipeline_run
from workbench.views.run_history import RunTimes, StepSpan, StepTimes, run_times


def shown(journal, run_id):
    plans, states = last_started_step_plans(journal.events(run_id)), journal.step_states(run_id)
    return pipeline_run(journal.pipeline_state(run_id), plans, states, (), journal.now())


@pytest.mark.spec(114)
def test_each_attempt_wait_and_what_goes_on_is_a_span(tmp_path):
    journal = Journal.open(Home.open(tmp_path / "home"), clock=ManualClock())
    begun = journal.now()
    plans = (StepPlan(id="a", attempts=2), StepPlan(id="gate", kind="gate", needs=("a",)), StepPlan(id="b"))
    run = drawn_runs.Written(journal, "/w", plans)

    def later(seconds):
        journal.clock.advance(seconds)

    run.step("a", "running")
    later(4)
    run.step("a", "retrying")
    later(1)
    run.step("a", "running", attempt=2)
    later(5)
    run.step("a", "completed", attempt=2)
    run.ask("gate")
    later(10)
    run.step("b", "running")
    later(2)
    made = run_times(shown(journal, run.run), journal.events(run.run), journal.now())
    spans = {
        row.id: [((s.first - begun) // 1_000_000, (s.last - begun) // 1_000_000, s.kind) for s in row.spans]
        for row in made.rows
    }
    assert spans["a"] == [(0, 4, "failed"), (5, 10, "worked")]
    assert spans["gate"][-1] == (10, 22, "waited")
    assert spans["b"] == [(20, 22, "works")]
    assert (made.last - made.first) // 1_000_000 == 22
    journal.close()


def times_of(*spans, last=100_000_000, sign="ok"):
    row = StepTimes(id="a", name="a", sign=sign, word="", seconds=0.0, attempt=1, spans=spans)
    return row, RunTimes(title="", first=0, last=last, rows=(row,))


def bar_of(row, times, width):
    return span_bar(row, times, width, Ink(tokens=OWN_THEMES["workbench-dark"]), UNICODE_GLYPHS).plain


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_bar_stands_where_its_time_is_and_is_never_lost(width):
    row, times = times_of(
        StepSpan(first=0, last=1, kind="worked"),
        StepSpan(first=50_000_000, last=100_000_000, kind="waited"),
    )
    bar = bar_of(row, times, width)
    ran, waited = UNICODE_GLYPHS.of("ran"), UNICODE_GLYPHS.of("waited")
    assert bar[0] == ran
    assert bar.count(ran) == 1
    assert abs(bar.index(waited) - len(bar) / 2) <= 1
    assert bar.endswith(f"{waited}✓")


def test_time_without_a_process_is_neither_work_nor_failure():
    row, times = times_of(
        StepSpan(first=0, last=0, kind="failed"),
        StepSpan(first=0, last=90_000_000, kind="lost"),
        StepSpan(first=90_000_000, last=100_000_000, kind="worked"),
    )
    bar = bar_of(row, times, 100)
    assert bar.startswith("━×╱╱")
    assert " its process was gone ╱" in bar
    assert bar.endswith("━✓")


def test_a_run_whose_process_is_gone_does_no_work_until_another_one_drives_it(tmp_path):
    journal = Journal.open(Home.open(tmp_path / "home"), clock=ManualClock())
    begun = journal.now()
    run = drawn_runs.Written(journal, "/w", (StepPlan(id="a"), StepPlan(id="b")))

    def drive(epoch):
        run.say(LeaseTaken(host_id=f"h{epoch}", epoch=epoch, pid=1))

    drive(1)
    run.step("a", "running")
    run.step("b", "running")
    journal.clock.advance(60)
    drive(2)
    run.step("a", "waiting", detail="its process was lost")
    journal.clock.advance(5)
    run.step("a", "running", attempt=2)
    run.say(LeaseReleased(host_id="h2", epoch=2))
    journal.clock.advance(40)
    drive(3)
    journal.clock.advance(10)
    run.step("a", "completed", attempt=2)
    made = run_times(shown(journal, run.run), journal.events(run.run), journal.now())
    spans = {
        row.id: [((s.first - begun) // 1_000_000, (s.last - begun) // 1_000_000, s.kind) for s in row.spans]
        for row in made.rows
    }
    cut_off = [(0, 0, "failed"), (0, 60, "lost"), (60, 65, "waited")]
    resumed = [(65, 65, "worked"), (65, 105, "stopped"), (105, 115, "worked")]
    assert spans["a"] == cut_off + resumed
    assert spans["b"] == [
        (0, 0, "works"), (0, 60, "lost"), (60, 65, "works"), (65, 105, "stopped"), (105, 115, "works"),
    ]  # fmt: skip
    assert made.rows[0].waited == 5
    journal.close()


@pytest.mark.parametrize("size", [(46, 10), (60, 18), (200, 60)])
def test_the_page_of_times_reaches_every_edge(play, size):
    async def body(s):
        await s.press("d")
        box = s.main.app.screen.box.region
        assert (box.x, box.y, box.width, box.bottom) == (0, 1, size[0], size[1])
        assert "esc back" in s.text.splitlines()[-1]

    play(body, three_runs, size=size)


@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 36), (200, 60)])
def test_the_times_of_a_run_are_bars_with_how_it_went_before(play, size):
    async def body(s):
        await s.press("d")
        assert "when each step" in s.text
        if size[1] >= 24:
            assert "all steps in order of time" in s.text
        for step in ("plan", "build", "lint", "test"):
            assert step in s.text
        await s.press("g", "j")
        assert "#40" in s.text
        await s.press("enter")
        assert s.pane.graph.cursor == "build"

    play(body, three_runs, size=size)


def test_the_detail_of_a_step_has_its_history(play):
    async def body(s):
        await s.press("z", "enter")
        while s.pane.step.section.name != "History":
            await s.press("]")
        assert "usual 30 s" in s.text
        assert "✓ #40   30 s   completed" in s.text

    play(body, three_runs, size=(120, 36))


def nested(journal, workspace):
    above = drawn_runs.Written(
        journal, workspace, (StepPlan(id="fetch"), StepPlan(id="sub", kind="pipeline", needs=("fetch",)))
    )
    above.done("fetch")
    above.step("sub", "running", session_id="run-below")
    below = SessionCreated(
        session_kind="pipeline", title="inner", workspace=workspace, number=1, parent_id=above.run
    )
    inner = drawn_runs.Written.__new__(drawn_runs.Written)
    inner.journal, inner.run, inner.plans = journal, "run-below", PLANS
    inner.say(below, actor=drawn_runs.USER)
    inner.say(drawn_runs.RunRequested(pipeline="inner"), drawn_runs.RunStarted(pipeline="inner", steps=PLANS))
    inner.say(StepChanged(state="running"), step="plan")
    return above


def test_a_key_goes_into_the_run_of_a_step_and_back_to_its_step(play):
    async def body(s):
        s.main.state.runs.shown = s.run.run
        s.main.presenter.pipeline()
        await s.settle()
        await s.press("z", "g")
        s.hand.waits()
        await s.press("D")
        assert "starts no pipeline" in s.main.rule.said
        await s.press("right")
        s.hand.waits()
        await s.press("D")
        assert s.pane.run.id == "run-below"
        s.hand.waits()
        await s.press("A")
        assert (s.pane.run.id, s.pane.graph.cursor) == (s.run.run, "sub")
        s.hand.waits()
        await s.press("A")
        assert "No run started this one" in s.main.rule.said

    play(body, nested)


def test_a_newer_run_is_offered_where_an_old_one_is_shown(play):
    async def body(s):
        newer = drawn_runs.Written(s.main.app.journal, "/workspace/shop", PLANS, run="run-50", number=50)
        newer.step("plan", "running")
        s.main.state.runs.shown = "run-40"
        await s.settle()
        s.main.presenter.pipeline()
        await s.press("z")
        assert "} nightly #50 runs now" in s.text
        await s.press("}", "}")
        assert s.pane.run.id == "run-50"
        assert "runs now" not in s.text

    play(body, three_runs, size=(120, 36))


def working_agents(journal, workspace):
    run = drawn_runs.Written(journal, workspace, (StepPlan(id="a"), StepPlan(id="b")))
    for step in ("a", "b"):
        child = f"session-{step}"
        created = SessionCreated(
            session_kind="step", title=f"nightly #41 · {step}", workspace=workspace, parent_id=run.run
        )
        journal.append([journal.event(created, child, drawn_runs.HOST)])
        run.step(step, "running", session_id=child)
    return run


def said(journal, step, *bodies, call=None):
    child = f"session-{step}"
    agent = Actor(kind="agent")
    journal.append([journal.event(body, child, agent, turn_id="t", call_id=call) for body in bodies])


def test_the_conversation_of_a_run_is_what_its_agents_say_and_its_calls_are_theirs(play):
    async def body(s):
        journal = s.main.app.journal
        s.main.state.choose(s.run.run)
        s.main.presenter.everything()
        call = ReplyCall(call_id="session-a.call1", provider_call_id="1", tool="Bash", arguments={})
        said(journal, "a", ReplyCompleted(text="I look at the handler.", calls=(call,)))
        allowed = GateVerdict(outcome="allowed", step="grants", by="claude-code")
        proposed = CallProposed(
            tool="Bash", verdict=allowed, parameters={"command": "pytest -q"}, target="pytest -q"
        )
        said(journal, "a", proposed, call="session-a.call1")
        await s.press("1")
        assert "`a`" not in s.text
        assert "a I look at the handler." in s.text
        assert "shell pytest -q" in s.text
        run = s.run
        run.step("b", "completed")
        said(journal, "a", ReplyCompleted(text="All done."))
        run.step("a", "completed")
        await s.settle()
        assert "shell pytest -q" not in s.main.state.transcript.block("step:1:a").note
        assert [call.id for call in s.main.state.calls] == ["session-a.call1"]
        before = [(block.id, getattr(block, "text", "")) for block in s.main.state.transcript.blocks]
        s.main.state.choose(s.run.run)
        again = [(block.id, getattr(block, "text", "")) for block in s.main.state.transcript.blocks]
        assert again == before
        assert [text for _, text in again if text][-1] == "All done."

    play(body, working_agents, size=(160, 48))
