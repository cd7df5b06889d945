"""The clock of a turn: it runs while something moves, and stands while everything left waits for a human."""

import pytest

from workbench.agents.planner import EndTurn, StopModel, TurnLimits, Withdraw, due_effects
from workbench.agents.reducer import apply_event, is_working, worked_microseconds
from workbench.agents.state import TurnState
from workbench.domain import events
from workbench.domain.values import Actor, GateVerdict, ReplyCall

SECOND = 1_000_000
ASKED = GateVerdict(outcome="ask", step="ask", by="ask")
CALL = ReplyCall(call_id="c1", provider_call_id="p1", tool="create_file", arguments={})


def play(*steps, state=None):
    """Fold (second, body) pairs; bodies about the call name it."""
    state = state or TurnState()
    for number, (second, body) in enumerate(steps):
        about = isinstance(
            body,
            events.CallProposed
            | events.ActionOpened
            | events.ActionApproved
            | events.CallExecuting
            | events.CallFinished,
        )
        event = events.Event(
            id=f"e{number}-{second}", session_id="s", at=second * SECOND, actor=Actor(kind="host"), body=body,
            turn_id="t", call_id="c1" if about else None, action_id="a1" if about else None,
            position=number + 1, sequence_number=number + 1,
        )  # fmt: skip
        state = apply_event(state, event)
    return state


def opened(at):
    return events.ActionOpened(
        action_kind="tool",
        tool="create_file",
        target="x",
        digest="d",
        created_at=at,
        expires_at=None,
        verb="create",
    )


BEGUN = (
    (0, events.SessionCreated(workspace="/w", provider="p", model="m")),
    (0, events.SessionStatusChanged(status="initializing")),
    (0, events.SessionStatusChanged(status="ready")),
    (0, events.LeaseTaken(host_id="h", epoch=1, pid=1, driver="host")),
    (1, events.PromptSubmitted(text="x")),
    (2, events.TurnStarted(provider="p", model="m", round=1)),
    (2, events.SessionStatusChanged(status="processing")),
)
ASKING = (
    (5, events.ReplyCompleted(text="", calls=(CALL,), round=1, model="m")),
    (6, events.CallProposed(tool="create_file", verdict=ASKED, provider_call_id="p1")),
    (6, opened(6)),
)


def test_the_model_works_the_human_does_not():
    state = play(*BEGUN)
    assert is_working(state) and worked_microseconds(state.turn, 4 * SECOND) == 2 * SECOND
    state = play(*BEGUN, *ASKING)
    assert not is_working(state)
    assert worked_microseconds(state.turn, 9_000 * SECOND) == 4 * SECOND


def test_a_decision_starts_the_clock_again():
    approved = events.ActionApproved(digest="d", result_digest="d", approved_until=9_999 * SECOND)
    state = play(*BEGUN, *ASKING, (1_000, approved), (1_001, events.CallExecuting()))
    assert worked_microseconds(state.turn, 1_003 * SECOND) == (4 + 3) * SECOND


def test_a_pause_and_the_time_without_a_driver_do_not_count():
    paused = play(*BEGUN, (3, events.SessionStatusChanged(status="paused", reason="user")))
    assert worked_microseconds(paused.turn, 99 * SECOND) == 1 * SECOND
    lost = play(*BEGUN, (500, events.LeaseTaken(host_id="i", epoch=2, pid=2, driver="host")))
    assert worked_microseconds(lost.turn, 900 * SECOND) == 0


def test_a_new_turn_begins_at_zero():
    state = play(*BEGUN, (9, events.TurnEnded(outcome="done")), (20, events.PromptSubmitted(text="y")))
    again = events.Event(
        id="n", session_id="s", at=30 * SECOND, actor=Actor(kind="host"), turn_id="t2", position=99,
        sequence_number=99, body=events.TurnStarted(provider="p", model="m", round=1),
    )  # fmt: skip
    state = apply_event(state, again)
    assert worked_microseconds(state.turn, 31 * SECOND) == 1 * SECOND


@pytest.mark.spec(137)
def test_a_turn_whose_time_is_over_stops_everything_and_says_which_limit():
    limit = events.InterruptRequested(why="It worked for 60 s, its time limit.")
    calling = due_effects(play(*BEGUN, (70, limit)), TurnLimits(max_rounds=9))
    assert calling == (StopModel(), EndTurn(outcome="limit", detail=limit.why))
    asking = due_effects(play(*BEGUN, *ASKING, (70, limit)), TurnLimits(max_rounds=9))
    assert asking == (Withdraw(call_id="c1"),)


def test_a_humans_stop_stays_a_humans_stop():
    state = play(*BEGUN, (3, events.InterruptRequested()), (4, events.InterruptRequested(why="late")))
    assert due_effects(state, TurnLimits(max_rounds=9))[-1] == EndTurn(outcome="interrupted")
