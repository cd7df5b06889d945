"""Statistics: what is counted, and what is never added up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.rows import ActionFact, CallFact, FileFact, SessionFact
from workbench.views.statistics import (
    DECISION_BUCKETS,
    UNASKED_OUTCOMES,
    percentile,
    session_statistics,
    unfinished_text,
)


def call(tool="read_file", state="succeeded", run_ms=10, waited_ms=None, unasked=""):
    return CallFact(tool=tool, state=state, run_ms=run_ms, waited_ms=waited_ms, unasked=unasked)


def answer(state="approved", took_ms=1000, is_partly=False):
    return ActionFact(state=state, is_partly=is_partly, took_ms=took_ms)


def session(**facts):
    return SessionFact(**{"status": "paused", "updated_at": 1, **facts})


@pytest.mark.parametrize(
    "values, share, found",
    [([], 50, None), ([7], 95, 7), ([1, 2, 3, 4], 50, 2), (list(range(1, 101)), 95, 95), ([1, 9], 95, 9)],
)
def test_percentiles_are_values_that_were_there(values, share, found):
    assert percentile(values, share) == found


@pytest.mark.spec(210)
def test_time_run_and_time_waited_stay_apart():
    counts = session_statistics(
        [call("run", waited_ms=9_000, run_ms=100), call("run", "failed", run_ms=300),
         call("run", "rejected", run_ms=None, waited_ms=1_000), call("read")],
        [], [], [],
    )  # fmt: skip
    run, read = counts.tools
    assert (run.tool, run.calls, run.ok, run.failed, run.not_run) == ("run", 3, 1, 1, 1)
    assert unfinished_text(counts.tools) == ""
    assert (run.run_ms, run.waited_ms, run.p50_ms, run.p95_ms, run.success) == (400, 10_000, 100, 300, 0.5)
    assert (read.tool, read.waited_ms) == ("read", 0)


@pytest.mark.spec(210)
def test_a_call_without_a_result_did_not_fail():
    counts = session_statistics(
        [call("run"), call("run", "interrupted", run_ms=None), call("run", "cancelled")], [], [], []
    )
    run = counts.tools[0]
    assert (run.ok, run.failed, run.unfinished, run.not_run, run.success) == (1, 0, 1, 1, 1.0)
    assert unfinished_text(counts.tools) == "1 call has no result: cut off, or not in the file"


def test_every_outcome_has_its_own_count():
    counts = session_statistics(
        [call(unasked=why) for why in ("rule", "grant", "agent", "refused", "")],
        [answer(), answer(is_partly=True), answer("rejected"), answer("expired", None), answer("cancelled", None),
         answer("superseded", None)],
        [], [],
    )  # fmt: skip
    assert dict(counts.outcomes) == {
        "by rule": 1, "by grant": 1, "own mode": 1, "not allowed": 1, "approved": 1, "partly": 1, "rejected": 1, "expired": 1,
        "withdrawn": 1, "replaced": 1,
    }  # fmt: skip
    assert (counts.deciding.answers, counts.deciding.p50_ms) == (3, 1000)
    assert counts.deciding.buckets[0] == 3


@given(
    st.lists(st.sampled_from(["", "rule", "grant", "refused"])),
    st.lists(
        st.tuples(
            st.sampled_from(["approved", "rejected", "expired", "cancelled", "superseded"]), st.booleans()
        )
    ),
)
def test_every_decided_call_and_every_question_that_is_over_is_counted_once(calls, answers):
    counts = session_statistics(
        [call(unasked=unasked) for unasked in calls],
        [answer(state, None, is_partly) for state, is_partly in answers],
        [],
        [],
    )
    outcomes = dict(counts.outcomes)
    assert sum(outcomes.values()) == sum(bool(unasked) for unasked in calls) + len(answers)
    assert sum(outcomes[name] for name in UNASKED_OUTCOMES) == sum(bool(unasked) for unasked in calls)


def test_a_long_thought_is_in_the_last_bar():
    counts = session_statistics([], [answer(took_ms=DECISION_BUCKETS[-1] * 1000 + 1)], [], [])
    assert counts.deciding.buckets == (*[0] * len(DECISION_BUCKETS), 1)


def test_sessions_are_counted_by_status():
    counts = session_statistics([], [], [session(), session(status="completed")], [])
    assert dict(counts.statuses) == {"paused": 1, "completed": 1}
    assert counts.used.cost is None


def test_files_are_passed_on_and_nothing_is_nothing():
    file = FileFact(path="a", times=2, added=3, removed=1)
    assert session_statistics([], [], [], [file]).files == (file,)
    assert session_statistics([], [], [], []).tools == ()
