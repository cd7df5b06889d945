"""What is to be done now: the complete set of effects, computed from the state alone.

Owns every rule of what may follow what. It must never let a model call be made because a driver came
back, nor run a call twice, out of order, or after its turn ended.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from workbench.agents.applying import HOLDING
from workbench.agents.effects import (
    CallModel,
    Effect,
    EndTurn,
    Execute,
    Gate,
    Initialize,
    Pause,
    Refresh,
    Restack,
    Settle,
    StopCall,
    StopModel,
    Undo,
    Withdraw,
)
from workbench.agents.state import Turn, TurnCall, TurnState
from workbench.domain.machines import TERMINAL_SESSIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLimits:
    """What the configuration says about turns."""

    max_rounds: int
    """Model calls in one turn."""
    on_expiry: Literal["pause", "continue"] = "pause"
    read_only_tools: frozenset[str] = frozenset()
    """Ids and wire names of tools whose calls may run beside each other."""
    most_tokens: int = 0
    """Tokens of one model call after which the turn ends, its conversation being full; 0 is no limit."""


FULL: Final = "the context is full"
"""How the detail of such an end begins."""


def todo(state: TurnState, limits: TurnLimits) -> tuple[Effect, ...]:
    """Return everything that is due now, in the order in which it is to be started."""
    if state.status is None or state.status in TERMINAL_SESSIONS:
        return ()
    if state.status in ("created", "initializing"):
        return (Initialize(),)
    due = (
        *_settling(state),
        *_retiring(state),
        *_proposing(state),
        *_executing(state, limits),
        *_undoing(state),
        *_turning(state, limits),
    )
    # A foreign reply may name one call twice; there is one of it all the same.
    return tuple(dict.fromkeys(due))


def _settling(state: TurnState) -> Iterator[Effect]:
    for call in state.every_call():
        if call.is_orphaned:
            yield Settle(call_id=call.id)


def _retiring(state: TurnState) -> Iterator[Effect]:
    """Yield how to get rid of calls whose turn is interrupted or over."""
    calls = state.stragglers if state.is_active else (*state.calls, *state.stragglers)
    for call in calls:
        if call.is_settled or call.is_orphaned:
            continue
        yield StopCall(call_id=call.id) if call.state == "executing" else Withdraw(call_id=call.id)


def _proposing(state: TurnState) -> Iterator[Effect]:
    """Yield one proposal at a time: each is computed on the after-images of the earlier ones."""
    if not state.is_active:
        return
    ungated = next((call for call in state.calls if call.state == "pending" and call.verdict is None), None)
    unstacked = next((call for call in state.calls if _needs_restack(state, call)), None)
    if ungated is not None:
        yield Gate(call_id=ungated.id)
    elif unstacked is not None:
        yield Restack(call_id=unstacked.id)
    for action_id in state.refreshes:
        call = state.call_of(action_id)
        if call and call.state == "pending" and call.is_stale and not _needs_restack(state, call):
            yield Refresh(action_id=action_id)


def _needs_restack(state: TurnState, call: TurnCall) -> bool:
    if call.state not in ("pending", "approved"):
        return False
    return any(_is_untrue(state.call(base), revision) for base, revision in call.on_top_of)


def _is_untrue(base: TurnCall | None, revision: int) -> bool:
    """Return whether a base is not, or will not be, what a later proposal was computed on."""
    if base is None or base.revision != revision:
        return True
    return base.is_settled and not base.came_true


def _executing(state: TurnState, limits: TurnLimits) -> Iterator[Effect]:
    outside = next((call for call in state.outside if call.state in ("approved", "executing")), None)
    if outside is not None and outside.state == "approved":
        yield Execute(call_id=outside.id)
    if not state.is_active:
        return
    is_first = True
    for call in state.calls:
        if call.is_settled:
            continue
        is_reading = call.tool in limits.read_only_tools
        may_start = is_reading or (is_first and outside is None)
        if may_start and _is_ready(state, call):
            yield Execute(call_id=call.id)
        if not is_reading:
            return
        is_first = False


def _is_ready(state: TurnState, call: TurnCall) -> bool:
    return call.state == "approved" and call.verdict is not None and not _needs_restack(state, call)


def _undoing(state: TurnState) -> Iterator[Effect]:
    """Yield the first request only: the next is computed on what this one leaves behind."""
    if state.undos and not state.outside:
        action_id, request_id = state.undos[0]
        yield Undo(action_id=action_id, request_id=request_id)


def _turning(state: TurnState, limits: TurnLimits) -> Iterator[Effect]:
    if any(not call.is_settled for call in (*state.calls, *state.stragglers)):
        yield from _pausing(state)
    elif state.turn is None:
        yield from _starting(state)
    else:
        yield from _advancing(state, state.turn, limits)


def _pausing(state: TurnState) -> Iterator[Effect]:
    if state.is_lost and state.pause not in HOLDING:
        yield Pause(reason="host lost")


def _starting(state: TurnState) -> Iterator[Effect]:
    if not (state.wants_turn and state.has_fresh):
        return
    if state.is_held:
        yield from _pausing(state)
    elif not state.is_undoing:
        yield CallModel(turn_id=None, round=1)


def _advancing(state: TurnState, turn: Turn, limits: TurnLimits) -> Iterator[Effect]:
    ending = _ending(state, turn, limits)
    if ending is not None:
        if turn.phase == "calling":
            yield StopModel()
        yield ending
    elif turn.phase == "calling":
        return
    elif state.is_held:
        yield from _pausing(state)
    elif not state.is_undoing:
        yield CallModel(turn_id=turn.id, round=turn.round + (turn.phase == "answered"))


def stopping(turn: Turn) -> EndTurn:
    """Return how a turn ends that was asked to stop."""
    return EndTurn(outcome="limit", detail=turn.limit) if turn.limit else EndTurn(outcome="interrupted")


def _ending(state: TurnState, turn: Turn, limits: TurnLimits) -> EndTurn | None:
    """Return why the turn cannot go on, all its calls being settled."""
    if turn.is_interrupted:
        return stopping(turn)
    if turn.phase != "answered":
        return None
    if not state.calls:
        return EndTurn(outcome="done")
    if limits.on_expiry == "pause" and any(call.state == "expired" for call in state.calls):
        return EndTurn(outcome="unattended", detail="nobody answered in time")
    if turn.round >= limits.max_rounds:
        return EndTurn(outcome="limit", detail=f"{turn.round} model calls in one turn")
    used = state.reply.body.usage.total_tokens if state.reply else 0
    if limits.most_tokens and used >= limits.most_tokens:
        return EndTurn(outcome="limit", detail=f"{FULL}: {used:,} of {limits.most_tokens:,} tokens")
    return None
