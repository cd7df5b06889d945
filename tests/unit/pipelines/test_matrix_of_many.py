"""A matrix of thousands: counted, never walked; its ids in a blob; killed, cancelled and resumed; a full disk."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.effects import fault_points
from workbench.pipelines import matrix
from workbench.pipelines.lost_steps import AGAIN
from workbench.pipelines.state import MatrixItems
from workbench.views.pipeline import matrix_item_ids

LIST = """
  - id: list
    workspace: {root: ./}
    exec: {type: command, source: "true"}
    output_artifacts: [{name: all, path: list.json, type: json}]
"""
EACH = """
  - id: each
    dependencies: [list]
    strategy: {type: matrix, items_source: list/all, max_concurrency: %s}
    workspace: {root: ./}
    exec: {type: command, source: "%s"}
"""


def many(here, items, line="true", together=4, **more):
    (here.root / "list.json").write_text(json.dumps(items))
    return here.run(LIST + EACH % (together, line), **more)


def opened(here, run):
    return next(body for step, body in here.bodies(run, "step.changed") if step == "each")


def test_the_ids_of_many_items_stand_in_a_blob_and_of_few_in_the_event(runs, monkeypatch):
    monkeypatch.setattr(matrix, "MOST_LISTED", 5)
    here = runs()
    few, lots = (many(here, [f"i{n}" for n in range(count)]) for count in (5, 6))
    assert (few.status, lots.status) == ("completed", "completed")
    assert opened(here, few.pipeline_id).items == tuple(f"each[i{n}]" for n in range(5))
    body = opened(here, lots.pipeline_id)
    assert (body.items, body.item_count) == (None, 6)
    ids = tuple(f"each[i{n}]" for n in range(6))
    assert msgspec.json.decode(here.journal.blobs.read(body.items_ref)) == list(ids)
    events = here.journal.step_events(lots.pipeline_id, "each")
    assert matrix_item_ids(events, here.journal.blobs.read) == ids
    assert matrix_item_ids(events, lambda _ref: None) == ()
    assert set(here.states(lots.pipeline_id).values()) == {"completed"}


def test_a_killed_run_of_many_goes_on_with_what_is_left(runs, monkeypatch):
    monkeypatch.setattr(matrix, "MOST_LISTED", 5)
    here = runs()
    (here.root / "list.json").write_text(json.dumps(list(range(12))))
    run = here.request(here.pipeline(LIST + EACH % (2, "echo $$ >> done")))

    def die(_coordinator):
        if sum(state == "completed" for state in here.states(run).values()) >= 5:
            raise SystemError("died")
        return False

    with pytest.raises(SystemError):
        here.drive(run, until=die)
    before = len(here.read("done").splitlines())
    assert 0 < before < 12
    row, again = here.resume(run), 0
    while row.status == "waiting":  # what ran when it died was ended with it
        here.answer(run, choice=AGAIN)
        row, again = here.drive(run), again + 1
    assert row.status == "completed" and again <= 2
    states = here.states(run)
    assert len(states) == 14 and set(states.values()) == {"completed"}
    assert 12 <= len(here.read("done").splitlines()) <= 12 + again


def test_cancelled_items_that_never_began_end_with_their_matrix(runs):
    from tests.support.runs import USER
    from workbench.host.steps.run_requests import cancel_run

    here = runs()
    (here.root / "list.json").write_text(json.dumps(list(range(20))))
    run = here.request(here.pipeline(LIST + EACH % (1, "sleep 0.05")))

    def until(coordinator):
        if not coordinator.state.is_cancelled and "each[0]" in here.states(run):
            cancel_run(here.journal, run, USER)
        return False

    assert here.drive(run, until=until).status == "cancelled"
    items = list(here.items(run, "each").values())
    assert len(items) == 20 and items.count("cancelled") >= 17
    assert "pending" not in items
    ends = [step for step, body in here.bodies(run, "step.changed") if body.state == "cancelled"]
    assert len(ends) <= 2 + 1, "the item at work, its matrix, and none that never began"
    assert here.resume(run).status == "completed"


def test_a_full_disk_in_the_middle_of_a_matrix_loses_nothing_of_the_others(runs):
    here = runs()
    (here.root / "list.json").write_text(json.dumps(list(range(9))))
    # Which commit is an item's depends on what shares one with it.
    for nth in range(14, 30):
        run = here.request(here.pipeline(LIST + EACH % (2, "echo done >> done")))
        (here.root / "done").unlink(missing_ok=True)
        with fault_points.arm_fault("journal.before_commit", OSError(28, "full"), nth=nth):
            row = here.drive(run)
        if "items failed" in row.error_message:
            break
    assert (row.status, "items failed" in row.error_message) == ("failed", True)
    failed = [step for step in here.journal.step_states(run) if step.matrix and step.state == "failed"]
    assert len(failed) == 1 and "the disk is full" in failed[0].error_message
    assert here.resume(run).status == "completed"
    assert set(here.states(run).values()) == {"completed"}
    # The one that could not be recorded was never let go, or ran once more; no other did.
    assert len(here.read("done").splitlines()) in (9, 10)


def test_a_sequential_list_begins_nothing_after_a_failure(runs):
    here = runs()
    below = "kind: WavePipeline\nmetadata: {name: below}\nsteps:\n  - {id: a, exec: {type: command, source: 'test {{ input }} != 2'}}\n"
    (here.root / ".wave/pipelines").mkdir(parents=True)
    (here.root / ".wave/pipelines/below.yaml").write_text(below)
    row = here.run("""
  - id: each
    pipeline: below
    input: "{{ item }}"
    iterate: {over: "[1, 2, 3, 4]", mode: sequential}
""")
    assert row.status == "failed"
    states = here.items(row.pipeline_id, "each")
    assert list(states.values()) == ["completed", "failed", "skipped", "skipped"]


def test_what_looks_like_a_secret_is_no_items_name(runs):
    here = runs()
    row = many(here, ["plain", "ghp_" + "a1B2" * 9])
    assert set(here.states(row.pipeline_id)) == {"list", "each", "each[plain]", "each[2]"}


def test_more_than_the_most_are_refused_with_their_number(runs, monkeypatch):
    monkeypatch.setattr(matrix, "MOST_ITEMS", 3)
    here = runs()
    assert "it has 4 items; 3 are the most" in many(here, [1, 2, 3, 4]).error_message


# --- counted ---------------------------------------------------------------------------------------------

STATES = ("pending", "retrying", "active", "ended", "stopped")


@given(st.integers(0, 12), st.lists(st.tuples(st.integers(0, 11), st.sampled_from(STATES)), max_size=60))
def test_counting_finds_what_walking_finds(count, moves):
    items = MatrixItems(ids=tuple(f"m[{n}]" for n in range(count)), values=list(range(count)))
    plain = dict.fromkeys(items.ids, "pending")
    for number, state in moves:
        if number >= count:
            items.note(f"m[{number}]", state)  # none of it
            continue
        items.note(f"m[{number}]", state)
        plain[f"m[{number}]"] = state
        assert list(items.startable_ids()) == [i for i in items.ids if plain[i] in ("pending", "retrying")]
        assert items.active_count == list(plain.values()).count("active")
        over = [state in ("ended", "stopped") for state in plain.values()]
        assert items.has_ended(is_stopping=False) == all(over)
        stopped = "stopped" in plain.values() and not {"active", "retrying"} & set(plain.values())
        assert items.has_ended(is_stopping=True) == (all(over) or stopped)
    anew = MatrixItems(ids=items.ids, values=items.values)
    anew.recount({name: state for name, state in plain.items() if state != "pending"})
    assert list(anew.startable_ids()) == list(items.startable_ids())


def test_what_is_next_of_a_hundred_thousand_is_known_without_walking_them():
    ids = tuple(f"m[{n}]" for n in range(100_000))
    items = MatrixItems(ids=ids, values=range(100_000))
    looked = []
    real = MatrixItems._is_startable
    MatrixItems._is_startable = lambda self, place: looked.append(place) or real(self, place)
    try:
        for number in range(1_000):
            assert next(items.startable_ids()) == ids[number]
            items.note(ids[number], "active")
            items.note(ids[number], "ended")
    finally:
        MatrixItems._is_startable = real
    assert len(looked) < 5_000


def test_a_round_of_thousands_is_told_in_one_line():
    from workbench.cli.pipeline_output import named_steps

    names = [f"m[{n}]" for n in range(5_000)]
    assert named_steps(names).endswith("m[19] and 4,980 more")
    assert (named_steps(names[:2]), named_steps(())) == ("m[0], m[1]", "nothing")
