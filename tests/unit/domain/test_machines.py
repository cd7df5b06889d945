import itertools
from typing import get_args

import pytest

from workbench.domain.machines import (
    ACTION_MOVES,
    CALL_MOVES,
    SESSION_MOVES,
    SETTLED_CALL_STATES,
    TERMINAL_SESSION_STATES,
    ActionState,
    CallState,
    IllegalMoveError,
    SessionStatus,
    may_move,
    require_move,
)


@pytest.mark.spec(6, 7, 8, 9, 134, 135)
def test_a_session_makes_exactly_the_moves_of_the_table():
    allowed = {(old, new) for old, after in SESSION_MOVES.items() for new in after}
    assert allowed == {
        ("created", "initializing"), ("created", "terminated"),
        ("initializing", "ready"), ("initializing", "failed"), ("initializing", "terminated"),
        ("ready", "processing"), ("ready", "paused"), ("ready", "completed"), ("ready", "terminated"),
        ("processing", "ready"), ("processing", "paused"), ("processing", "completed"), ("processing", "failed"),
        ("processing", "terminated"),
        ("paused", "ready"), ("paused", "processing"), ("paused", "paused"), ("paused", "completed"), ("paused", "terminated"),
    }  # fmt: skip


@pytest.mark.spec(22, 152)
def test_a_call_makes_exactly_the_moves_of_the_table():
    allowed = {(old, new) for old, after in CALL_MOVES.items() for new in after}
    assert allowed == {
        ("pending", "approved"), ("pending", "rejected"), ("pending", "expired"), ("pending", "cancelled"),
        ("approved", "executing"), ("approved", "cancelled"),
        ("executing", "succeeded"), ("executing", "failed"), ("executing", "cancelled"), ("executing", "interrupted"),
    }  # fmt: skip
    for old, new in itertools.product(get_args(CallState), repeat=2):
        assert may_move(CALL_MOVES, old, new) == ((old, new) in allowed)


@pytest.mark.spec(154)
def test_nothing_executes_that_was_not_approved():
    assert [old for old in get_args(CallState) if may_move(CALL_MOVES, old, "executing")] == ["approved"]


@pytest.mark.spec(209)
def test_a_decided_action_is_final():
    assert {old for old in get_args(ActionState) if ACTION_MOVES[old]} == {"pending"}
    assert ACTION_MOVES["pending"] == {"approved", "rejected", "expired", "cancelled", "superseded"}


@pytest.mark.spec(134, 135, 8)
def test_a_session_skips_no_state_and_leaves_no_terminal_one():
    assert frozenset({"completed", "failed", "terminated"}) == TERMINAL_SESSION_STATES
    assert set(SESSION_MOVES) == set(get_args(SessionStatus))
    for old in set(SESSION_MOVES) - TERMINAL_SESSION_STATES:
        assert may_move(SESSION_MOVES, old, "terminated")
    assert not may_move(SESSION_MOVES, "created", "ready")
    assert not may_move(SESSION_MOVES, "initializing", "processing")
    assert not may_move(SESSION_MOVES, "ready", "failed")


@pytest.mark.spec(7, 9)
def test_a_pause_goes_on_and_only_live_sessions_pause():
    assert may_move(SESSION_MOVES, "paused", "processing")
    assert {old for old in SESSION_MOVES if may_move(SESSION_MOVES, old, "paused")} == {
        "ready",
        "processing",
        "paused",
    }


def test_an_illegal_move_names_the_machine_and_both_states():
    with pytest.raises(IllegalMoveError, match="a call cannot go from rejected to approved"):
        require_move("call", CALL_MOVES, "rejected", "approved")


def test_settled_calls_are_those_that_nothing_leaves():
    assert {old for old, after in CALL_MOVES.items() if not after} == SETTLED_CALL_STATES
