"""The same call with the same result: how it is counted, when the model is told, when the turn pauses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.unit.agents import turn_script as t
from workbench.agents.planner import CallModel, EndTurn, NoteRepetition, Pause, due_effects
from workbench.agents.prompt import model_messages
from workbench.agents.reducer import fold_turn
from workbench.agents.state import MOST_KEPT_CALLS, RepetitionCount
from workbench.domain import events

LIMITS = replace(t.LIMITS, max_rounds=99, repeats_noted=3, repeats_paused=5)
ended = st.tuples(st.sampled_from("abcd"), st.sampled_from("xy"), st.booleans())


def counted_plainly(history):
    """Say how often the last call of a history ended so, by walking back through it."""
    key, result, _ = history[-1]
    times = 1
    for at in range(len(history) - 2, -1, -1):
        other, came, may_change = history[at]
        if other == key:
            if came != result:
                break
            times += 1
        elif may_change and not was_known(history[: at + 1]):
            break
    return times


def was_known(history):
    """Return whether the last call of a history had ended the same way the time before."""
    key, result, _ = history[-1]
    earlier = [came for other, came, _ in history[:-1] if other == key]
    return bool(earlier) and earlier[-1] == result


@given(st.lists(ended, min_size=1, max_size=40))
def test_the_count_is_what_walking_back_finds(history):
    counted = RepetitionCount()
    for at, (key, result, may_change) in enumerate(history):
        counted = counted.with_call(key, result, may_change=may_change)
        assert counted.times(key) == counted_plainly(history[: at + 1])


def test_calls_that_ended_long_ago_are_forgotten():
    counted = RepetitionCount().with_call("first", "x", may_change=False)
    for number in range(MOST_KEPT_CALLS):
        counted = counted.with_call(f"c{number}", "x", may_change=False)
    assert len(counted.calls) == MOST_KEPT_CALLS
    assert counted.with_call("first", "x", may_change=False).times("first") == 1


def read(number, *between, path="a", preview="same", **ended):
    """One round of a model that reads a file."""
    call = f"c{number}"
    body = events.CallProposed(
        tool="read_file", verdict=t.verdict("allowed"), parameters={"path": path}, provider_call_id=call
    )
    proposed = t.event(body, call_id=call, turn_id="t1")
    finished = t.finished(call, preview=preview, **ended)
    start = [t.started(number)] if number > 1 else []
    return [
        *start,
        t.reply(f"{call}:read_file", round_=number),
        proposed,
        t.executing(call),
        *between,
        finished,
    ]


def rounds(count, **facts):
    """That many equal reads, each noted where it is due."""
    history = list(t.CALLING)
    for number in range(1, count + 1):
        history += read(number, **facts)
        due = due_effects(fold_turn(history), LIMITS)
        history += [
            t.repeated(effect.call_id, effect.times) for effect in due if isinstance(effect, NoteRepetition)
        ]
    return history


def due_after(*parts, limits=LIMITS):
    return due_effects(t.state_of(*parts), limits)


@pytest.mark.parametrize(
    ("history", "due"),
    [
        pytest.param(rounds(2), (CallModel(turn_id="t1", round=3),), id="twice"),
        pytest.param([*rounds(2), *read(3)], (NoteRepetition(call_id="c3", times=3),), id="third-is-noted"),
        pytest.param(rounds(3), (CallModel(turn_id="t1", round=4),), id="then-the-model-is-asked"),
        pytest.param([*rounds(4), *read(5)], (NoteRepetition(call_id="c5", times=5),), id="fifth-is-noted"),
        pytest.param(rounds(5), (Pause(reason="loop"),), id="and-pauses"),
        pytest.param([*rounds(5), t.paused("loop")], (), id="paused"),
        pytest.param([*rounds(5), t.paused("loop"), t.go_on()], (CallModel(turn_id="t1", round=6),), id="continued"),
        pytest.param([*rounds(5), t.paused("loop"), t.go_on(), *read(6)], (CallModel(turn_id="t1", round=7),),
                     id="counts-from-one-again"),
        pytest.param([*rounds(5), t.paused("loop"), t.interrupt()], (EndTurn(outcome="interrupted"),), id="stopped"),
        pytest.param([*rounds(5), t.go_on(), t.paused("loop")], (), id="a-word-before-the-pause-is-asked-again"),
        pytest.param([*rounds(2), *read(3, preview="other")], (CallModel(turn_id="t1", round=4),), id="other-result"),
        pytest.param([*rounds(2), *read(3, path="b")], (CallModel(turn_id="t1", round=4),), id="other-call"),
        pytest.param([*rounds(2), *read(3, t.changed_file("c3"), path="b"), *read(4)],
                     (CallModel(turn_id="t1", round=5),), id="a-file-changed"),
        pytest.param([*rounds(2), *read(3, t.process("c3"), path="b"), *read(4)],
                     (CallModel(turn_id="t1", round=5),), id="a-new-command-ran"),
        pytest.param([*rounds(2), *read(3, path="b"), *read(4)], (NoteRepetition(call_id="c4", times=3),),
                     id="another-read-between"),
    ],
)  # fmt: skip
def test_what_is_due(history, due):
    assert due_after(history) == due


def test_a_denial_that_comes_again_is_a_repetition():
    history = list(t.CALLING)
    for number in (1, 2, 3):
        history += [t.started(number)] if number > 1 else []
        history += [
            t.reply(f"c{number}", round_=number),
            t.proposed(f"c{number}", "denied", reason="not here"),
        ]
    assert due_after(history) == (NoteRepetition(call_id="c3", times=3),)


@pytest.mark.parametrize(
    ("noted", "paused", "kinds"),
    [(0, 0, {CallModel}), (3, 0, {CallModel}), (0, 5, {Pause}), (5, 3, {Pause}), (9, 9, {CallModel})],
)
def test_each_bound_can_be_off(noted, paused, kinds):
    limits, history = replace(LIMITS, repeats_noted=noted, repeats_paused=paused), list(t.CALLING)
    for number in range(1, 6):
        history += read(number)
        due = due_effects(fold_turn(history), limits)
        noted_now = [effect for effect in due if isinstance(effect, NoteRepetition)]
        assert bool(noted_now) == (number >= min((bound for bound in (noted, paused) if bound), default=9))
        history += [t.repeated(effect.call_id, effect.times) for effect in noted_now]
    assert {type(effect) for effect in due_effects(fold_turn(history), limits)} == kinds


def test_the_model_is_told_in_the_result():
    sent, _ = model_messages(t.state_of(rounds(3)), lambda ref: None, 100, str)
    results = [message.content for message in sent if message.role == "tool"]
    assert results[:2] == ["same", "same"]
    assert results[2].splitlines() == [
        "same",
        "Note of the workbench: this exact call has now given this exact result 3 times in this turn."
        " Do something else, or say what keeps you from it.",
    ]
