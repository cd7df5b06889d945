"""An agent that repeats itself, with everything real but the model."""

import pytest

from tests.support.stage import USER, call, exchange, recording, result, text
from workbench.domain import events
from workbench.host import session_requests

NOTE = "has now given this exact result 3 times in this turn"


def reads(count, path="a.txt", first=1):
    return [exchange(call(f"c{n}", "read_file", path=path)) for n in range(first, first + count)]


def looping(staged, *exchanges, **more):
    return staged(recording(*exchanges), files={"a.txt": "b"}, **more).trust().begin()


def times(stage):
    return [row.repeats for row in stage.journal.calls(stage.session_id)]


@pytest.mark.spec(137)
def test_the_third_is_said_and_the_fifth_pauses_the_turn(staged):
    stage = looping(staged, *reads(6), exchange(text("done")))
    progress = stage.drive()
    assert (stage.session().status, stage.session().reason) == ("paused", "loop")
    assert progress.open_turn is not None and not progress.is_idle
    assert times(stage) == [0, 0, 3, 4, 5]
    assert [body.times for body in stage.bodies(events.CallRepeated)] == [3, 4, 5]


def test_it_is_continued_in_the_same_turn_and_counts_from_one(staged):
    stage = looping(staged, *reads(7), exchange(text("done")))
    stage.drive()
    session_requests.continue_session(stage.journal, stage.session_id, USER)
    assert stage.drive().last_outcome == "done"
    assert times(stage) == [0, 0, 3, 4, 5, 0, 0]
    assert len({event.turn_id for event in stage.journal.events(stage.session_id)} - {None}) == 1


def test_it_is_stopped(staged):
    stage = looping(staged, *reads(6))
    stage.drive()
    session_requests.interrupt_session(stage.journal, stage.session_id, USER)
    assert stage.drive().last_outcome == "interrupted"
    assert (stage.session().status, stage.session().reason) == ("paused", "user")
    assert len(stage.calls()) == 5


def test_the_model_reads_of_it(staged):
    stage = looping(staged, *reads(3), exchange(text("I stop"), expect=result("c3", "succeeded", NOTE)))
    assert stage.drive().last_outcome == "done"
    assert stage.bodies(events.ErrorRaised) == []


def test_a_file_that_is_written_in_between_starts_the_count_again(staged):
    script = [
        *reads(2),
        exchange(call("w", "create_file", path="n.txt", content="1")),
        *reads(2, first=3),
        exchange(text("done")),
    ]
    config = {"approvals": {"allow": ["Write(n.txt)"]}}
    stage = looping(staged, *script, config=config)
    assert stage.drive().last_outcome == "done"
    assert set(times(stage)) == {0}


@pytest.mark.parametrize(("limits", "count"), [({"repeats_paused": 2}, 2), ({"repeats_paused": 0}, 7)])
def test_the_bound_is_a_setting(staged, limits, count):
    stage = looping(staged, *reads(7), exchange(text("done")), config={"limits": limits})
    stage.drive()
    assert len(stage.calls()) == count
