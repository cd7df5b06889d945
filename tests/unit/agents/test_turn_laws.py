"""The laws of the turn machine, over histories that no one thought of."""

import copy
import itertools
import random

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.unit.agents import turn_script as t
from tests.unit.agents.turn_world import World
from workbench.agents.planner import (
    CallModel,
    EndTurn,
    Execute,
    Gate,
    Pause,
    RecoverCall,
    Restack,
    due_effects,
)
from workbench.agents.prompt import model_messages
from workbench.agents.reducer import apply_event, fold_turn
from workbench.agents.state import TurnState
from workbench.domain import codec, values
from workbench.domain import events as ev
from workbench.domain.machines import HUMAN_ENDED_PAUSES, SETTLED_CALL_STATES, TERMINAL_SESSION_STATES

READS = t.LIMITS.read_only_tools
tapes = st.binary(min_size=30, max_size=120)


def lived(tape):
    """Yield a world after every step of its life."""
    world = World(tape)
    while True:
        yield world
        try:
            world.step()
        except StopIteration:
            return


# --- laws of every history ---------------------------------------------------------------------------


def the_tables_agree(world, due):
    for call in world.state.every_call():
        assert call.state == world.tables.call(call.id).state
    session = world.tables.session(t.SESSION)
    assert (world.state.status, world.state.pause) == (session.status, session.reason)
    assert (world.state.turn and world.state.turn.id) == session.open_turn


def a_call_has_one_effect_at_most(world, due):
    named = [effect.call_id for effect in due if hasattr(effect, "call_id")]
    assert len(named) == len(set(named))
    assert len(due) == len(set(due))


def no_model_call_while_a_call_is_open(world, due):
    if any(isinstance(effect, CallModel) for effect in due):
        states = [call.state for call in world.tables.calls.values() if call.turn_id is not None]
        assert SETTLED_CALL_STATES.issuperset(states)
        assert world.calling is None


def no_model_call_before_a_human_spoke(world, due):
    if any(isinstance(effect, CallModel) for effect in due):
        assert spoken_since_it_was_held(world.events)


PAUSE_AFTER = {"interrupted": "user", "unattended": "unattended", "limit": "limit reached"}


def spoken_since_it_was_held(events):
    """Read the rule off the events alone: the newest cause of a hold has a human's word after it."""
    spoken, open_turn, is_released, is_interrupted, told = True, None, False, False, None
    unheard = False
    for one in events:
        said = isinstance(one.body, ev.PromptSubmitted | ev.ContinueRequested)
        unheard = said or (unheard and isinstance(one.body, ev.LeaseTaken))
        match one.body:
            case ev.PromptSubmitted() | ev.ContinueRequested():
                spoken, is_interrupted = True, False
            case ev.InterruptRequested():
                is_interrupted = open_turn is not None
            case ev.TurnStarted():
                open_turn = one.turn_id
            case ev.TurnEnded(outcome=outcome):
                stops = is_interrupted if outcome == "interrupted" else outcome in PAUSE_AFTER
                spoken, told = spoken and not stops, PAUSE_AFTER.get(outcome)
                open_turn, is_interrupted = None, False
            case ev.LeaseReleased():
                is_released = True
            case ev.LeaseTaken():
                if open_turn and not is_released and not unheard:
                    spoken, told = False, "host lost"
                is_released = False
            case ev.SessionStatusChanged(reason=reason) if reason in HUMAN_ENDED_PAUSES and reason != told:
                spoken = False
            case _:
                pass
    return spoken


def calls_run_in_order_and_writes_alone(world, due):
    running = {call.id for call in world.tables.calls.values() if call.state == "executing"}
    starting = {effect.call_id for effect in due if isinstance(effect, Execute)}
    assert all(world.tables.call(call).state == "approved" for call in starting)
    if not starting:
        return
    active = [world.tables.call(call) for call in running | starting]
    assert sum(row.tool not in READS for row in active if row.id in starting) <= 1
    for turn in {row.turn_id for row in active} - {None}:
        calls = world.turn_calls(turn)
        for row in (row for row in active if row.turn_id == turn and row.id in starting):
            ahead = [c for c in calls if c.ordinal < row.ordinal and c.state not in SETTLED_CALL_STATES]
            assert all(c.tool in READS for c in (*ahead, row)) or not ahead


def nothing_lost_is_run_again(world, due):
    settling = {effect.call_id for effect in due if isinstance(effect, RecoverCall)}
    assert settling == {c.id for c in world.tables.calls.values() if c.state == "executing"} - world.running


def it_never_gets_stuck(world, due):
    """With nothing due, nothing running and nobody asked, either a human holds it or all is said."""
    if due or world.calling or world.running or world.pending():
        return
    state = world.state
    assert state.is_held or (state.turn is None and not state.queued_prompts), state
    if state.is_held and state.turn is not None:
        assert state.pause in HUMAN_ENDED_PAUSES, "held, but nobody is told"


def the_conversation_is_well_formed(world, due):
    sent, fresh = model_messages(world.state, lambda ref: None, 100, str)
    assert [m.role for m in sent][:1] == ["system"]
    asked = []
    for before, message in itertools.pairwise(sent):
        assert message.content or message.calls
        assert (before.role, message.role) != ("user", "user")
        if message.role == "tool":
            assert message.tool_call_id == asked.pop(0)
            assert message.outcome is not None
        else:
            assert not asked
            asked = [call.id for call in message.calls]
    assert not asked
    calls = [effect for effect in due if isinstance(effect, CallModel)]
    if calls:
        assert fresh, "a model call with nothing to say"
        after = fold_turn([t.started(calls[0].round, calls[0].turn_id or "new")], world.state)
        assert model_messages(after, lambda ref: None, 100, str) == (sent, fresh)


LAWS = [
    the_tables_agree,
    a_call_has_one_effect_at_most,
    no_model_call_while_a_call_is_open,
    no_model_call_before_a_human_spoke,
    calls_run_in_order_and_writes_alone,
    nothing_lost_is_run_again,
    it_never_gets_stuck,
    the_conversation_is_well_formed,
]


@settings(max_examples=150)
@given(tapes)
def test_the_laws_hold_at_every_moment_of_every_life(tape):
    for world in lived(tape):
        due = world.due()
        for law in LAWS:
            law(world, due)


def test_the_world_reaches_what_the_laws_are_about():
    """The laws say nothing of what never happens: every effect and every hold must have come up."""
    seen, held = set(), set()
    for seed in range(60):
        for world in lived(random.Random(seed).randbytes(200)):
            seen |= {type(effect).__name__ for effect in world.due()}
            held |= {world.state.pause}
    assert seen >= {"CallModel", "Gate", "Execute", "RecoverCall", "StopCall", "StopModel", "Withdraw"}
    assert seen >= {"Restack", "Refresh", "Undo", "EndTurn", "Pause", "Initialize", "NoteRepetition"}
    assert held >= HUMAN_ENDED_PAUSES


@given(tapes, st.integers(0, 10**6))
def test_a_fold_may_be_cut_anywhere(tape, where):
    *_, world = lived(tape)
    cut = where % (len(world.events) + 1)
    before = fold_turn(world.events[:cut])
    kept = copy.deepcopy(before)
    assert fold_turn(world.events[cut:], before) == fold_turn(world.events) == world.state
    assert before == kept
    assert due_effects(before, t.LIMITS) == due_effects(kept, t.LIMITS)


@settings(max_examples=150)
@given(tapes, st.integers(0, 10**6))
def test_a_crash_anywhere_calls_no_model_before_a_human_speaks(tape, where):
    *_, world = lived(tape)
    kept = world.events[: 1 + where % len(world.events)]
    # What was said to a driver that died before it did anything counts for the next one.
    heard = ev.LeaseTaken | ev.LeaseReleased | ev.PromptSubmitted | ev.ContinueRequested
    while kept and isinstance(kept[-1].body, heard):
        kept.pop()
    state = apply_event(fold_turn(kept), t.lease(10**6))
    is_open = state.turn is not None
    due = due_effects(state, t.LIMITS)
    assert not (is_open and any(isinstance(effect, CallModel) for effect in due))
    executing = {call.id for call in state.every_call() if call.state == "executing"}
    assert {effect.call_id for effect in due if isinstance(effect, RecoverCall)} == executing
    if is_open:
        is_told = any(isinstance(effect, Pause | EndTurn) for effect in due)
        assert is_told or state.pause in HUMAN_ENDED_PAUSES
        later = fold_turn([t.paused("host lost")], state)
        assert not any(isinstance(effect, CallModel | Pause) for effect in due_effects(later, t.LIMITS))


@given(tapes, st.sampled_from(sorted(TERMINAL_SESSION_STATES)))
def test_nothing_is_due_once_it_is_over(tape, end):
    *_, world = lived(tape)
    state = replace(world.state, status=end)
    assert due_effects(state, t.LIMITS) == ()


# --- any events at all -------------------------------------------------------------------------------

_KEYS = st.sampled_from(["a1", "a2", "c1", "c2", "t1", "t2", "u1"])
_MAYBE = st.none() | _KEYS


def _anything(body):
    overrides = {"verdict": st.builds(values.GateVerdict, by=_KEYS)} if body is ev.CallProposed else {}
    overrides |= {"on_top_of": st.lists(_KEYS, max_size=2).map(tuple)} if body is ev.CallProposed else {}
    overrides |= {"replaces": _MAYBE} if body is ev.CallProposed else {}
    if body is ev.ReplyCompleted:
        calls = st.builds(values.ReplyCall, call_id=_KEYS, arguments=st.just({}))
        overrides |= {"calls": st.lists(calls, max_size=3).map(tuple)}
    return st.builds(body, **_plain(body), **overrides)


def _plain(body):
    """JSON of any shape is no matter of the machine."""
    shapes = ("configuration", "parameters", "metadata", "subject", "arguments")
    names = set(body.__struct_fields__)
    return {name: st.just({}) for name in shapes if name in names}


MACHINE_EVENTS = [body for body in codec.EVENT_BODIES if body is not ev.SessionDeleted]
soup = st.lists(
    st.builds(
        ev.Event,
        id=st.uuids().map(str),
        session_id=st.just(t.SESSION),
        at=st.just(1),
        actor=st.just(values.Actor(kind="system")),
        body=st.one_of([_anything(body) for body in MACHINE_EVENTS]),
        turn_id=_MAYBE,
        call_id=_MAYBE,
        action_id=_MAYBE,
        raw=st.none(),
    ),
    max_size=25,
)


@settings(max_examples=150)
@given(soup, st.booleans())
def test_any_events_fold_without_raising(events, is_ready):
    state = fold_turn(t.READY) if is_ready else TurnState()
    for one in events:
        state = apply_event(state, one)
        due = due_effects(state, t.LIMITS)
        assert due == due_effects(state, t.LIMITS)
        a_call_has_one_effect_at_most(None, due)
        if any(isinstance(effect, CallModel) for effect in due):
            assert not any(call.state not in SETTLED_CALL_STATES for call in state.calls)
            assert not state.is_held
        assert (
            not any(isinstance(effect, Execute | Restack | Gate) for effect in due)
            or state.status != "created"
        )
        model_messages(state, lambda ref: b"\xff", 3, str)


def test_what_is_not_of_the_machine_leaves_the_state_as_it_is():
    state = fold_turn(t.CALLING)
    for body in (
        ev.TextStreamed(block=0, offset=0, text="x"),
        ev.OutputStreamed(offset=0, text="x"),
        ev.RuleUsed(rule="R1"),
        ev.Unknown(original_kind="model.dreamt", content={"of": "sheep"}),
    ):
        assert apply_event(state, t.event(body)) is state
    elsewhere = replace(t.interrupt(), session_id="another")
    assert apply_event(state, elsewhere) is state
