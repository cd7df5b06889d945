"""What is due in a state: the complete set of effects, computed from the state alone.

A model call is never made because a driver came back; no call runs twice, out of order, or after its turn.
"""

from collections.abc import Iterator
from typing import Final, Literal

from msgspec import Struct

from workbench.agents.state import Turn, TurnCall, TurnState
from workbench.domain.events import UndoRequested
from workbench.domain.machines import HUMAN_ENDED_PAUSES, TERMINAL_SESSION_STATES, PauseReason


class TurnLimits(Struct, frozen=True, kw_only=True):
    """What the configuration says about turns."""

    max_rounds: int
    """Model calls in one turn."""
    on_expiry: Literal["pause", "continue"] = "pause"
    read_only_tools: frozenset[str] = frozenset()
    """Ids and wire names of tools whose calls may run beside each other."""
    repeats_noted: int = 0
    """How often a call may end the same way until the model is told; 0 is never."""
    repeats_paused: int = 0
    """How often until the turn is paused; 0 is never."""
    most_tokens: int = 0
    """Tokens of one model call after which the turn ends, its conversation being full; 0 is no limit."""
    compact_at: int = 0
    """Tokens of one model call after which the conversation is compacted before the next; 0 is never."""


CONTEXT_FULL: Final = "the context is full"
"""How the detail of such an end begins."""


class Initialize(Struct, frozen=True, kw_only=True):
    """Bring a created session up: append `initializing`, then `ready`."""


class CallModel(Struct, frozen=True, kw_only=True):
    """Append `turn.started`, call the model, append what it says."""

    turn_id: str | None
    """None asks for a new turn."""
    round: int


class Compact(Struct, frozen=True, kw_only=True):
    """Ask the model for a summary, and append it; it stands for what was said until then."""

    words: str = ""
    is_asked: bool = False


class Gate(Struct, frozen=True, kw_only=True):
    """Ask the gate about a call and append `call.proposed`, with its action if it asks."""

    call_id: str


class Execute(Struct, frozen=True, kw_only=True):
    """Check an approved call again, commit `call.executing`, do it."""

    call_id: str


class RecoverCall(Struct, frozen=True, kw_only=True):
    """Find out how a call ended that was executing when its driver died; never run it again."""

    call_id: str


class NoteRepetition(Struct, frozen=True, kw_only=True):
    """Append that a call ended once more as it had ended before."""

    call_id: str
    times: int


class StopCall(Struct, frozen=True, kw_only=True):
    """End a running call; its end is appended as `call.finished`."""

    call_id: str


class StopModel(Struct, frozen=True, kw_only=True):
    """End the running model call; nothing of it may be appended afterwards."""


class Withdraw(Struct, frozen=True, kw_only=True):
    """Cancel a call that has not started, and its open action."""

    call_id: str


class Restack(Struct, frozen=True, kw_only=True):
    """Propose a call again: what it was computed on was not taken as shown."""

    call_id: str


class Refresh(Struct, frozen=True, kw_only=True):
    """Propose the call of a stale action again, because a human asked."""

    action_id: str


class Undo(Struct, frozen=True, kw_only=True):
    """Propose to take applied changes back; the verdict is spoken by `request_id`.

    `action_id` names the one whose change it is; empty where `body` names several calls.
    """

    action_id: str
    request_id: str
    body: UndoRequested = UndoRequested()


class Reopen(Struct, frozen=True, kw_only=True):
    """Propose what the files lack of an approved action, as a call whose id is `request_id`."""

    action_id: str
    request_id: str


class ProposePatch(Struct, frozen=True, kw_only=True):
    """Propose the changes of a patch, as a call whose id is `request_id`."""

    request_id: str


TurnOutcome = Literal["done", "interrupted", "limit", "error", "unattended"]


class EndTurn(Struct, frozen=True, kw_only=True):
    """Append `turn.ended`, and the status that follows from it, in one transaction."""

    outcome: TurnOutcome
    detail: str = ""


class Pause(Struct, frozen=True, kw_only=True):
    """Append that the session is paused."""

    reason: PauseReason


Effect = (
    Initialize
    | CallModel
    | Compact
    | Gate
    | Execute
    | RecoverCall
    | NoteRepetition
    | StopCall
    | StopModel
    | Withdraw
    | Restack
    | Refresh
    | Undo
    | Reopen
    | ProposePatch
    | EndTurn
    | Pause
)


def due_effects(state: TurnState, limits: TurnLimits) -> tuple[Effect, ...]:
    """Return everything that is due now, in the order in which it starts."""
    if state.status is None or state.status in TERMINAL_SESSION_STATES:
        return ()
    if state.status in ("created", "initializing"):
        return (Initialize(),)
    due = (
        *_recovery_effects(state),
        *_repetition_effects(state, limits),
        *_stop_effects(state),
        *_proposal_effects(state),
        *_refresh_effects(state),
        *_execution_effects(state, limits),
        *_request_effects(state),
        *_turn_effects(state, limits),
    )
    # A foreign reply may name one call twice; there is one of it all the same.
    return tuple(dict.fromkeys(due))


def _recovery_effects(state: TurnState) -> Iterator[Effect]:
    for call in state.every_call():
        if call.is_orphaned:
            yield RecoverCall(call_id=call.id)


def _repetition_effects(state: TurnState, limits: TurnLimits) -> Iterator[Effect]:
    """Yield what the model is to be told of its calls before it is asked again."""
    if not state.is_active:
        return
    first = min((limit for limit in (limits.repeats_noted, limits.repeats_paused) if limit), default=0)
    for call in state.calls:
        if first and call.times >= first and not call.repeats:
            yield NoteRepetition(call_id=call.id, times=call.times)


def _is_looping(state: TurnState, limits: TurnLimits) -> bool:
    return bool(limits.repeats_paused) and any(call.times >= limits.repeats_paused for call in state.calls)


def _stop_effects(state: TurnState) -> Iterator[Effect]:
    calls = state.leftover_calls if state.is_active else (*state.calls, *state.leftover_calls)
    for call in calls:
        if call.is_settled or call.is_orphaned:
            continue
        yield StopCall(call_id=call.id) if call.state == "executing" else Withdraw(call_id=call.id)


def _proposal_effects(state: TurnState) -> Iterator[Effect]:
    """Yield one proposal at a time: each is computed on the after-images of the earlier ones."""
    if not state.is_active:
        return
    ungated = next((call for call in state.calls if call.state == "pending" and call.verdict is None), None)
    unstacked = next((call for call in state.calls if _needs_restack(state, call)), None)
    if ungated is not None:
        yield Gate(call_id=ungated.id)
    elif unstacked is not None:
        yield Restack(call_id=unstacked.id)


def _refresh_effects(state: TurnState) -> Iterator[Effect]:
    for action_id in state.refreshes:
        call = state.call_of(action_id)
        if call is None or call.state != "pending" or not call.is_stale:
            continue
        is_open = state.is_active or call in state.unannounced_calls
        if is_open and not _needs_restack(state, call):
            yield Refresh(action_id=action_id)


def _needs_restack(state: TurnState, call: TurnCall) -> bool:
    if call.state not in ("pending", "approved"):
        return False
    return any(_is_outdated_base(state.call(base), revision) for base, revision in call.on_top_of)


def _is_outdated_base(base: TurnCall | None, revision: int) -> bool:
    """Return whether a base is not, or will not be, what a later proposal was computed on."""
    if base is None or base.revision != revision:
        return True
    return base.is_settled and not base.was_done_as_shown


def _execution_effects(state: TurnState, limits: TurnLimits) -> Iterator[Effect]:
    unannounced = next(
        (call for call in state.unannounced_calls if call.state in ("approved", "executing")), None
    )
    if unannounced is not None and unannounced.state == "approved":
        yield Execute(call_id=unannounced.id)
    if not state.is_active:
        return
    is_first = True
    for call in state.calls:
        if call.is_settled:
            continue
        is_reading = call.tool in limits.read_only_tools
        may_start = is_reading or (is_first and unannounced is None)
        if may_start and _is_ready_to_run(state, call):
            yield Execute(call_id=call.id)
        if not is_reading:
            return
        is_first = False


def _is_ready_to_run(state: TurnState, call: TurnCall) -> bool:
    return call.state == "approved" and call.verdict is not None and not _needs_restack(state, call)


def _request_effects(state: TurnState) -> Iterator[Effect]:
    """Yield the first request only: the next is computed on what it leaves behind."""
    if state.is_request_running:
        return
    if state.undos:
        action_id, request_id, body = state.undos[0]
        yield Undo(action_id=action_id, request_id=request_id, body=body)
    elif state.reopenings:
        action_id, request_id = state.reopenings[0]
        yield Reopen(action_id=action_id, request_id=request_id)
    elif state.patches:
        yield ProposePatch(request_id=state.patches[0])


def _turn_effects(state: TurnState, limits: TurnLimits) -> Iterator[Effect]:
    if any(not call.is_settled for call in (*state.calls, *state.leftover_calls)):
        yield from _pause_effects(state)
    elif state.turn is None:
        yield from _start_effects(state, limits)
    else:
        yield from _advance_effects(state, state.turn, limits)


def _pause_effects(state: TurnState) -> Iterator[Effect]:
    if state.is_lost and state.pause not in HUMAN_ENDED_PAUSES:
        yield Pause(reason="host lost")


def _model_effect(state: TurnState, limits: TurnLimits, call: CallModel) -> Effect:
    """Return the call of the model, or the summary that goes before it where the context is nearly full."""
    if state.compaction is not None:
        return Compact(words=state.compaction, is_asked=True)
    used = state.reply.body.usage.total_tokens if state.reply else 0
    is_full = bool(limits.compact_at) and used >= limits.compact_at and not state.has_failed_compaction
    return Compact() if is_full else call


def _start_effects(state: TurnState, limits: TurnLimits) -> Iterator[Effect]:
    if state.compaction is not None and not state.is_undoing:
        yield Compact(words=state.compaction, is_asked=True)
        return
    if not (state.wants_turn and state.has_news):
        return
    if state.is_held:
        yield from _pause_effects(state)
    elif not state.is_undoing:
        yield _model_effect(state, limits, CallModel(turn_id=None, round=1))


def _advance_effects(state: TurnState, turn: Turn, limits: TurnLimits) -> Iterator[Effect]:
    ending = _end_of_turn(state, turn, limits)
    if ending is not None:
        if turn.phase == "calling":
            yield StopModel()
        yield ending
    elif turn.phase == "calling":
        return
    elif state.is_held:
        yield from _pause_effects(state)
    elif any(_repetition_effects(state, limits)):
        return
    elif _is_looping(state, limits):
        yield Pause(reason="loop")
    elif not state.is_undoing:
        call = CallModel(turn_id=turn.id, round=turn.round + (turn.phase == "answered"))
        yield _model_effect(state, limits, call)


def end_of_stopped_turn(turn: Turn) -> EndTurn:
    """Return how a turn ends that was asked to stop."""
    return EndTurn(outcome="limit", detail=turn.limit) if turn.limit else EndTurn(outcome="interrupted")


def _end_of_turn(state: TurnState, turn: Turn, limits: TurnLimits) -> EndTurn | None:
    if turn.is_interrupted:
        return end_of_stopped_turn(turn)
    if turn.phase != "answered":
        return None
    if not state.calls:
        return EndTurn(outcome="done")
    if limits.on_expiry == "pause" and any(call.state == "expired" for call in state.calls):
        return EndTurn(outcome="unattended", detail="nobody answered in time")
    if turn.round >= limits.max_rounds:
        calls = "1 model call" if turn.round == 1 else f"{turn.round} model calls"
        return EndTurn(outcome="limit", detail=f"{calls} in one turn")
    used = state.reply.body.usage.total_tokens if state.reply else 0
    if limits.most_tokens and used >= limits.most_tokens:
        return EndTurn(outcome="limit", detail=f"{CONTEXT_FULL}: {used:,} of {limits.most_tokens:,} tokens")
    return None
