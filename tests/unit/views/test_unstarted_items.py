"""Items of a matrix that never began: they end with it, as if each had an event of its own."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from workbench.cli.pipeline_output import item_state_counts
from workbench.domain.events import Event, RunChanged, RunRequested, RunStarted, SessionCreated, StepChanged
from workbench.domain.fold import MemoryTables
from workbench.domain.machines import UNSTARTED_ITEM, unstarted_item_state
from workbench.domain.values import Actor, StepPlan
from workbench.journal.session_queries import ItemCount
from workbench.pipelines.state import RunState
from workbench.views.pipeline import pipeline_run

PLANS = (StepPlan(id="m", is_matrix=True),)
ENDS = st.sampled_from([("cancelled", "wrong branch"), ("failed", "1 of 3 items failed"), ("completed", "")])
BEGUN = st.sampled_from(["completed", "failed", "completed_empty", "cancelled", ""])
"""How an item ended that began; empty for one that never did."""


def events_of(bodies):
    return [
        Event(
            id=str(number), session_id="r", at=7, actor=Actor(kind="host"), body=body, step=step,
            position=number, sequence_number=number,
        )
        for number, (step, body) in enumerate(bodies, 1)
    ]  # fmt: skip


def run_of(items, end, *, is_told):
    """Return the events of a run; where `is_told` each item that never began has an event of its own."""
    ids = tuple(f"m[{number}]" for number in range(len(items)))
    bodies = [
        (None, SessionCreated(session_kind="pipeline", workspace="/w", number=1)),
        (None, RunRequested(pipeline="p")), (None, RunStarted(pipeline="p", steps=PLANS, round=1)),
        ("m", StepChanged(state="running", attempt=1, items=ids)),
    ]  # fmt: skip
    for item_id, state in zip(ids, items, strict=True):
        if state:
            bodies.append((item_id, StepChanged(state="running", attempt=1, matrix="m")))
            bodies.append((item_id, StepChanged(state=state, attempt=1, matrix="m", detail="why")))
    state, why = end
    told = StepChanged(
        state=unstarted_item_state(state), matrix="m", detail=why if state == "cancelled" else UNSTARTED_ITEM
    )
    bodies += [(item, told) for item, begun in zip(ids, items, strict=True) if is_told and not begun]
    bodies += [("m", StepChanged(state=state, attempt=1, detail=why)), (None, RunChanged(status="failed"))]
    return ids, bodies


def shown(ids, bodies):
    tables = MemoryTables().fold(events_of(bodies))
    view = pipeline_run(
        tables.pipeline_states["r"], PLANS, tables.step_states.values(), (), 99, listed={"m": ids}
    )
    (step,) = view.steps
    items = sorted(
        (replace(item, attempt=0) for item in step.items), key=lambda item: item.id
    )  # none was tried
    step = replace(step, items=tuple(items))
    counted = Counter((row.state, row.is_warned) for row in tables.step_states.values() if row.matrix)
    counts = [ItemCount("m", state, is_warned, count) for (state, is_warned), count in counted.items()]
    return step, item_state_counts(tables.step_states["r/m"].state, counts, len(ids))


def continued(ids, bodies):
    """Return the items that a later round of the run starts, in order."""
    state = RunState()
    for event in events_of(bodies):
        state.take(event)
    again = RunStarted(pipeline="p", steps=PLANS, round=2, reset=state.steps_to_redo())
    state.take(replace(events_of([*bodies, (None, again)])[-1]))
    state.list_items("m", ids, list(ids))
    return list(state.matrices["m"].startable_ids())


@given(st.lists(BEGUN, min_size=1, max_size=12), ENDS)
def test_one_event_says_of_items_that_never_began_what_an_event_for_each_says(items, end):
    ids, bodies = run_of(items, end, is_told=False)
    _, told = run_of(items, end, is_told=True)
    assert len(told) - len(bodies) == items.count("")
    assert shown(ids, bodies) == shown(ids, told)
    assert continued(ids, bodies) == continued(ids, told)


def test_an_item_is_to_do_as_long_as_its_matrix_works():
    ids, bodies = run_of(["completed", ""], ("cancelled", "x"), is_told=False)
    step, counts = shown(ids, bodies[:-2])
    assert [item.state for item in step.items] == ["completed", "pending"]
    assert counts == {"completed": 1, "pending": 1}
