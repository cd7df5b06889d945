"""What is due for the calls of an agent that executes them itself, for every state that they can be in."""

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.machines import SETTLED_CALL_STATES, CallState
from workbench.supervised import machine as m

STATES = st.sampled_from(get_args(CallState))
KEYS, DIGESTS, NONCES = (
    st.sampled_from(["", "call_0", "call_1"]),
    st.sampled_from("xyz"),
    st.sampled_from("pqr"),
)
CALLS = st.builds(
    m.KnownCall, id=st.uuids().map(str), key=KEYS, digest=DIGESTS, state=STATES, nonces=st.frozensets(NONCES),
    waiters=st.integers(0, 2), unattended_for=st.floats(0, 20),
    base_states=st.lists(st.sampled_from(["open", "as shown", "otherwise"]), max_size=2).map(tuple),
    is_refresh_asked=st.booleans(), is_lapsed=st.booleans(), handed_at=st.integers(0, 9),
)  # fmt: skip


@given(call=CALLS, is_here=st.booleans(), since=st.floats(0, 20))
def test_a_call_is_handed_over_only_if_it_is_approved_waited_for_and_its_bases_are_as_shown(
    call, is_here, since
):
    (move,) = m.due_moves([call], is_agent_here=is_here, since_start=since) or (None,)
    may_be_handed = call.state == "approved" and call.waiters and set(call.base_states) <= {"as shown"}
    assert isinstance(move, m.HandOver) == bool(may_be_handed)


@given(call=CALLS, is_here=st.booleans(), since=st.floats(0, 20))
def test_what_was_handed_over_is_only_looked_at_and_what_is_settled_only_denied(call, is_here, since):
    moves = m.due_moves([call], is_agent_here=is_here, since_start=since)
    if call.state == "executing":
        assert all(isinstance(move, m.Observe) for move in moves) and not (moves and is_here)
    elif call.state in SETTLED_CALL_STATES:
        assert all(isinstance(move, m.Deny) for move in moves) and bool(moves) == bool(call.waiters)
    else:
        assert not any(isinstance(move, m.Observe | m.Deny) for move in moves)


@given(call=CALLS, is_here=st.booleans(), since=st.floats(0, 20))
def test_a_call_that_a_connection_waits_for_is_never_withdrawn(call, is_here, since):
    moves = m.due_moves([call], is_agent_here=is_here, since_start=since)
    if any(isinstance(move, m.WithdrawCall) for move in moves):
        assert not call.waiters and call.state in ("pending", "approved")
        assert is_here or since >= m.RETURN_SECONDS
        assert call.is_lapsed or call.unattended_for >= m.WITHDRAWAL_SECONDS


@given(calls=st.lists(CALLS, max_size=5), key=KEYS, digest=DIGESTS, nonce=NONCES)
def test_a_question_joins_only_the_same_call_that_was_not_answered(calls, key, digest, nonce):
    found = m.on_ask(m.IncomingCall(nonce=nonce, key=key, digest=digest), calls)
    if isinstance(found, m.Attach):
        (joined,) = (call for call in calls if call.id == found.call_id)
        assert (joined.digest, joined.state in ("pending", "approved")) == (digest, True)
        assert nonce in joined.nonces or (key and joined.key == key)
    elif found.interrupted is not None:
        assert next(call for call in calls if call.id == found.interrupted).state == "executing"


@given(calls=st.lists(CALLS, max_size=5), digest=DIGESTS, nonce=st.just("new"))
def test_two_equal_questions_without_an_id_are_two_decisions(calls, digest, nonce):
    found = m.on_ask(m.IncomingCall(nonce=nonce, key="", digest=digest), calls)
    assert found == m.Announce()


@given(calls=st.lists(CALLS, max_size=5), key=KEYS, digest=DIGESTS)
def test_the_end_of_a_call_settles_at_most_one_that_is_open(calls, key, digest):
    found = m.on_done(key, digest, calls)
    if isinstance(found, m.Compare | m.RanUnanswered):
        (ended,) = (call for call in calls if call.id == found.call_id)
        assert (
            ended.state == "executing"
            if isinstance(found, m.Compare)
            else ended.state in ("pending", "approved")
        )
        assert ended.key == key if key and ended.key else ended.digest == digest


@given(calls=st.lists(CALLS, max_size=5, unique_by=lambda call: call.handed_at), digest=DIGESTS)
def test_the_end_of_a_call_without_an_id_settles_the_equal_one_that_was_handed_over_first(calls, digest):
    handed = [call for call in calls if (call.state, call.digest) == ("executing", digest)]
    found = m.on_done("", digest, calls)
    if handed:
        assert found == m.Compare(min(handed, key=lambda call: call.handed_at).id)
    else:
        assert not isinstance(found, m.Compare)
