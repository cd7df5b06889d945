"""`OpenSteps` says after every event what looking at all steps would say."""

from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.events import Event, RunStarted, StepChanged
from workbench.domain.machines import ENDED_STEP_STATES
from workbench.domain.values import Actor, StepPlan
from workbench.effects.clock import ManualClock
from workbench.pipelines.model import FailurePolicy, Pipeline, Step
from workbench.pipelines.schedule import OpenSteps, ready_steps, unreachable_steps, unused_rework_steps
from workbench.pipelines.state import RunState

HOST = Actor(kind="host", pid=1)
STATES = ("running", "waiting", "retrying", "completed", "completed_empty", "failed", "skipped", "cancelled")


@st.composite
def pipelines(draw):
    count = draw(st.integers(1, 9))
    steps = []
    for number in range(count):
        needs = draw(st.sets(st.integers(0, number - 1), max_size=3)) if number else set()
        rework = f"s{draw(st.integers(0, count - 1))}" if draw(st.booleans()) else ""
        failing = FailurePolicy(attempts=1, then="rework", rework_step=rework) if rework else FailurePolicy()
        steps.append(
            Step(
                id=f"s{number}", line=number, kind="command", needs=tuple(f"s{n}" for n in sorted(needs)),
                failing=failing, is_rework_only=draw(st.integers(0, 5)) == 0,
            )
        )  # fmt: skip
    return Pipeline(name="p", file="p.yaml", steps=tuple(steps))


def plain_skips(state, pipeline):
    lost = {name for name, found in state.steps.items() if found.has_ended and not found.is_done}
    return {
        step.id
        for step in pipeline.steps
        if state.steps[step.id].state == "pending" and not step.is_rework_only and lost & set(step.needs)
    }


@given(pipelines(), st.data())
def test_after_any_events_it_finds_what_looking_everywhere_finds(pipeline, data):
    clock = ManualClock(1)

    def event(body, step=None):
        return Event(id=clock.new_id(), session_id="r", at=clock.now(), actor=HOST, body=body, step=step)

    state = RunState()
    state.take(event(RunStarted(pipeline="p", steps=tuple(StepPlan(id=s.id) for s in pipeline.steps))))
    open_steps = OpenSteps(pipeline, state)
    for _ in range(data.draw(st.integers(0, 14))):
        name = data.draw(st.sampled_from([step.id for step in pipeline.steps]))
        if data.draw(st.integers(0, 7)) == 0:
            reset = tuple(s.id for s in pipeline.steps if not state.steps[s.id].is_done)
            body = RunStarted(pipeline="p", steps=(), round=2, reset=reset)
        elif state.steps[name].has_ended:
            continue
        else:
            body = StepChanged(state=data.draw(st.sampled_from(STATES)))
        made = event(body, name)
        state.take(made)
        open_steps.take(made)
        every, current = list(pipeline.steps), open_steps.current()
        assert list(ready_steps(state, current, reworked=current)) == list(
            ready_steps(state, every, reworked=every)
        )
        assert {one.step for one in unreachable_steps(state, open_steps.doomed())} == plain_skips(
            state, pipeline
        )
        assert unused_rework_steps(state, open_steps.current()) == unused_rework_steps(state, every)
        assert open_steps.is_over == all(state.steps[s.id].state in ENDED_STEP_STATES for s in every)
        assert state.waiting == {k: v for k, v in state.steps.items() if v.state == "waiting"}


def test_a_failure_that_a_route_takes_is_done_for_that_route_alone():
    steps = (
        Step(id="build", line=1, kind="command"),
        Step(id="route", line=2, kind="route", needs=("build",), tolerates=("build",)),
        Step(id="ship", line=3, kind="command", needs=("build",)),
    )
    clock, state = ManualClock(1), RunState()
    begun = RunStarted(pipeline="p", steps=tuple(StepPlan(id=step.id) for step in steps))
    failed = StepChanged(state="completed", is_warned=True, has_failed=True)
    events = [
        Event(id=clock.new_id(), session_id="r", at=clock.now(), actor=HOST, body=body, step=step)
        for body, step in ((begun, None), (failed, "build"))
    ]
    state.take(events[0])
    open_steps = OpenSteps(Pipeline(name="p", file="p.yaml", steps=steps), state)
    state.take(events[1])
    open_steps.take(events[1])
    assert [one.id for one in ready_steps(state, steps)] == ["route"]
    assert [skip.step for skip in unreachable_steps(state, open_steps.doomed())] == ["ship"]
