"""Apply events to the state of a turn, with the clock of the time in which it worked.

Total and pure: no event raises, a forbidden move changes nothing, and time without a driver never counts.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any, Final

from msgspec.structs import replace

from workbench.agents.compaction import CONTINUATION_HEAD
from workbench.agents.prompt import result_digest
from workbench.agents.state import (
    NOTHING_COUNTED,
    AppliedRest,
    ConversationHistory,
    ModelReply,
    PromptItem,
    QueuedPrompt,
    ReplyNote,
    Turn,
    TurnCall,
    TurnState,
    UndoExtent,
    UndoneChange,
    UserMessage,
    repetition_digest,
)
from workbench.domain.events import (
    ActionApproved,
    ActionBecameStale,
    ActionExpired,
    ActionOpened,
    ActionRejected,
    ActionSuperseded,
    CallExecuting,
    CallFinished,
    CallProposed,
    CallRepeated,
    CompactionRequested,
    ContextCollected,
    ContinueRequested,
    ConversationCompacted,
    ErrorRaised,
    Event,
    FileChanged,
    InterruptRequested,
    LeaseReleased,
    LeaseTaken,
    PatchRequested,
    ProcessStarted,
    ProgressReported,
    PromptsReordered,
    PromptSubmitted,
    PromptWithdrawn,
    RefreshRequested,
    ReplyCompleted,
    SessionCreated,
    SessionStatusChanged,
    TurnEnded,
    TurnStarted,
    UndoRequested,
    is_of_file,
)
from workbench.domain.machines import (
    CALL_MOVES,
    HUMAN_ENDED_PAUSES,
    SESSION_MOVES,
    CallState,
    PauseReason,
    may_move,
)
from workbench.domain.values import REOPENS, UNDO_TOOL, Body, ReplyCall

PAUSE_AFTER_OUTCOME: dict[str, PauseReason] = {
    "interrupted": "user",
    "unattended": "unattended",
    "limit": "limit reached",
}
"""Why a session is paused after a turn that ended so; after any other it is ready."""
_STATE_AFTER_VERDICT: dict[str, CallState] = {
    "allowed": "approved",
    "ask": "pending",
    "denied": "rejected",
    "refused": "rejected",
}
_CallChange = Callable[[TurnCall], TurnCall]


def apply_event(state: TurnState, event: Event) -> TurnState:
    """Return the state after an event; foreign events and unknown kinds change nothing."""
    if state.created is not None and event.session_id != state.session_id:
        return state
    handler = EVENT_HANDLERS.get(type(event.body))
    state = with_turn_clock(state, handler(state, event, event.body), event) if handler else state
    has_human_word = _has_human_word(state, event)
    return state if has_human_word == state.has_human_word else replace(state, has_human_word=has_human_word)


def _has_human_word(state: TurnState, event: Event) -> bool:
    body = event.body
    if isinstance(body, ContinueRequested) or (isinstance(body, PromptSubmitted) and not body.replaces_id):
        return True
    return state.has_human_word and (event.actor.kind == "user" or isinstance(event.body, LeaseTaken))


# --- sessions and leases -------------------------------------------------------------------------


def _session_created(state: TurnState, event: Event, body: SessionCreated) -> TurnState:
    if state.created is not None:
        return state
    return replace(state, session_id=event.session_id, created=body, status="created")


def _status_changed(state: TurnState, _: Event, body: SessionStatusChanged) -> TurnState:
    if state.status is None or not may_move(SESSION_MOVES, state.status, body.status):
        return state
    reason = body.reason if body.status == "paused" else None
    state = replace(state, status=body.status, pause=reason)
    if reason not in HUMAN_ENDED_PAUSES:
        return state
    if reason == state.expected_pause:
        return replace(state, expected_pause=None)
    return replace(state, is_held=True)


def _lease_taken(state: TurnState, _: Event, body: LeaseTaken) -> TurnState:
    in_order = state.is_released and not _is_busy(state)
    state = _with_every_call(state, lambda c: replace(c, is_orphaned=c.state == "executing"))
    state = replace(state, lease=(body.host_id, body.epoch), is_released=False)
    if state.is_compaction_begun and not in_order:
        state = replace(state, compaction=None)
    if state.turn is None or in_order:
        return state
    phase = "answered" if state.turn.phase == "answered" else "unanswered"
    turn = replace(state.turn, phase=phase)
    if state.has_human_word:
        # The human spoke to a session whose driver was dead: that word, not the driver, lets it go on.
        turn = replace(turn, takes_prompts=bool(state.queued_prompts))
        return replace(state, turn=turn, is_held=False, is_lost=False)
    return replace(state, turn=turn, is_held=True, is_lost=True, expected_pause="host lost")


def _is_busy(state: TurnState) -> bool:
    is_calling = state.turn is not None and state.turn.phase == "calling"
    return is_calling or any(call.state == "executing" for call in state.calls)


def _lease_released(state: TurnState, _: Event, body: LeaseReleased) -> TurnState:
    return replace(state, is_released=True) if state.lease == (body.host_id, body.epoch) else state


# --- what a human asks for -----------------------------------------------------------------------


def _prompt_submitted(state: TurnState, event: Event, body: PromptSubmitted) -> TurnState:
    prompt = QueuedPrompt(
        id=event.id, prompt=PromptItem(text=body.text, text_ref=body.text_ref),
        is_withdrawable=not (body.incident or body.asks_again),
    )  # fmt: skip
    if any(queued.id == body.replaces_id for queued in state.queued_prompts):
        # An edit lets no paused session continue: its place in the queue is all that it changes.
        queue = (prompt if queued.id == body.replaces_id else queued for queued in state.queued_prompts)
        return replace(state, queued_prompts=tuple(queue))
    turn = state.turn and replace(state.turn, takes_prompts=state.turn.takes_prompts or state.is_lost)
    if turn is not None and is_of_file(event):
        return replace(state, since_reply=(*state.since_reply, prompt.prompt))
    return _human_spoke(
        replace(state, turn=turn, queued_prompts=(*state.queued_prompts, prompt), wants_turn=True)
    )


def _prompt_withdrawn(state: TurnState, _: Event, body: PromptWithdrawn) -> TurnState:
    queue = tuple(queued for queued in state.queued_prompts if queued.id != body.prompt_id)
    return replace(
        state, queued_prompts=queue, wants_turn=state.wants_turn and (bool(queue) or state.is_continued)
    )


def _prompts_reordered(state: TurnState, _: Event, body: PromptsReordered) -> TurnState:
    by_id = {queued.id: queued for queued in state.queued_prompts}
    if len(body.prompt_ids) != len(by_id) or set(body.prompt_ids) != by_id.keys():
        return state
    return replace(state, queued_prompts=tuple(by_id[prompt] for prompt in body.prompt_ids))


def _context_collected(state: TurnState, _: Event, body: ContextCollected) -> TurnState:
    return (
        replace(state, since_reply=(*state.since_reply, PromptItem(text=body.text))) if body.text else state
    )


def _continue_requested(state: TurnState, _: Event, _body: ContinueRequested) -> TurnState:
    is_over = state.turn is None or state.turn.is_interrupted
    is_continued = state.is_continued or is_over
    return _human_spoke(replace(state, wants_turn=state.wants_turn or is_over, is_continued=is_continued))


def _human_spoke(state: TurnState) -> TurnState:
    turn = state.turn
    turn = turn and replace(turn, is_followed=turn.is_interrupted, ended_calls=NOTHING_COUNTED)
    state = _with_every_call(state, lambda call: replace(call, times=0) if call.times else call)
    return replace(state, turn=turn, is_held=False, is_lost=False)


def _interrupt_requested(state: TurnState, _: Event, body: InterruptRequested) -> TurnState:
    state = state if state.compaction is None else replace(state, compaction=None)
    if state.turn is None or (body.why and state.turn.is_interrupted):
        return state
    turn = replace(state.turn, is_interrupted=True, is_followed=False, limit=body.why)
    return replace(state, turn=turn)


def _compaction_requested(state: TurnState, _: Event, body: CompactionRequested) -> TurnState:
    return replace(state, compaction=body.words, is_compaction_begun=False, has_failed_compaction=False)


def _progress_reported(state: TurnState, _: Event, _body: ProgressReported) -> TurnState:
    is_begun = state.compaction is not None and state.turn is None
    return replace(state, is_compaction_begun=True) if is_begun else state


def _conversation_compacted(state: TurnState, _: Event, body: ConversationCompacted) -> TurnState:
    summary = PromptItem(text=body.summary, text_ref=body.summary_ref)
    turn = state.turn
    if turn is not None and turn.phase == "answered":
        turn = replace(turn, phase="unanswered", round=turn.round + 1)
    return replace(
        _with_used_exchange(state, body.exchange), turn=turn, history=None, reply=None,
        since_reply=(PromptItem(text=CONTINUATION_HEAD), summary, *state.since_reply), compaction=None,
    )  # fmt: skip


def _refresh_requested(state: TurnState, event: Event, body: RefreshRequested) -> TurnState:
    if event.action_id is None or event.action_id in state.refreshes:
        return state
    if body.is_approved:
        asked = {action_id for action_id, _ in state.reopenings}
        asked |= {call.reopens for call in state.unannounced_calls}
        if event.action_id in asked:
            return state
        return replace(state, reopenings=(*state.reopenings, (event.action_id, event.id)))
    return replace(state, refreshes=(*state.refreshes, event.action_id))


def _undo_requested(state: TurnState, event: Event, body: UndoRequested) -> TurnState:
    if event.action_id is None and not body.files:
        return state
    return replace(state, undos=(*state.undos, (event.action_id or "", event.id, body)))


def _patch_requested(state: TurnState, event: Event, _body: PatchRequested) -> TurnState:
    return replace(state, patches=(*state.patches, event.id))


# --- turns ---------------------------------------------------------------------------------------


def _turn_started(state: TurnState, event: Event, body: TurnStarted) -> TurnState:
    turn_id = event.turn_id or event.id
    if state.turn is None or state.turn.id != turn_id:
        state = replace(state, turn=None)
        turn = Turn(id=turn_id, round=body.round)
    else:
        turn = replace(state.turn, round=body.round, phase="calling")
    takes = state.turn is None or state.turn.takes_prompts
    state = replace(state, since_reply=(*state.since_reply, *state.untold_notes), untold_notes=())
    if takes:
        state = _take_prompts(state)
    return replace(state, turn=replace(turn, takes_prompts=False), expected_pause=None)


def _take_prompts(state: TurnState) -> TurnState:
    prompts = tuple(queued.prompt for queued in state.queued_prompts)
    return replace(
        state, since_reply=(*state.since_reply, *prompts), queued_prompts=(), wants_turn=False,
        is_continued=False,
    )  # fmt: skip


def _reply_completed(state: TurnState, event: Event, body: ReplyCompleted) -> TurnState:
    if state.turn is None:
        state = _take_prompts(state)
    elif event.turn_id in (None, state.turn.id):
        state = replace(state, turn=replace(state.turn, phase="answered", round=body.round))
    history = ConversationHistory(state.reply, state.history) if state.reply else state.history
    if state.since_reply:
        history = ConversationHistory(UserMessage(prompts=state.since_reply), history)
    unsettled = (call for call in state.calls if not call.is_settled)
    return replace(
        _with_used_exchange(state, body.exchange), history=history, since_reply=(),
        reply=ModelReply(body=body, calls=tuple(map(_announced_call, body.calls))),
        has_failed_compaction=False, leftover_calls=(*state.leftover_calls, *unsettled),
    )  # fmt: skip


def _announced_call(call: ReplyCall) -> TurnCall:
    return TurnCall(id=call.call_id, provider_call_id=call.provider_call_id or call.call_id, tool=call.tool)


def _with_used_exchange(state: TurnState, exchange: int | None) -> TurnState:
    return state if exchange is None else replace(state, used_exchanges=state.used_exchanges | {exchange})


def _error_raised(state: TurnState, _: Event, body: ErrorRaised) -> TurnState:
    if body.code in _NOTED_ERROR_CODES:
        state = replace(state, untold_notes=(*state.untold_notes, ReplyNote(text=body.message)))
    if body.code == COMPACTION_FAILED:
        state = replace(state, compaction=None, has_failed_compaction=True)
    return _with_used_exchange(state, body.exchange)


COMPACTION_FAILED: Final = "compaction_failed"
"""The code of the error that says that there is no summary."""
_NOTED_ERROR_CODES: frozenset[str] = frozenset({"reply_calls", "reply_size", "reply_time"})
"""Bounds of this program that cut a reply: the model reads of them before the next prompt."""


def _turn_ended(state: TurnState, event: Event, body: TurnEnded) -> TurnState:
    turn = state.turn
    if turn is None or event.turn_id not in (None, turn.id):
        return state
    state = replace(state, turn=None)
    if body.outcome not in PAUSE_AFTER_OUTCOME:
        return state
    is_answered = body.outcome == "interrupted" and turn.is_followed
    is_held = state.is_held or not is_answered
    return replace(state, is_held=is_held, is_lost=False, expected_pause=PAUSE_AFTER_OUTCOME[body.outcome])


# --- calls -----------------------------------------------------------------------------------------


def _call_proposed(state: TurnState, event: Event, body: CallProposed) -> TurnState:
    undos = tuple(undo for undo in state.undos if undo[1] != body.verdict.by)
    reopenings = tuple(one for one in state.reopenings if one[1] != event.call_id)
    patches = tuple(one for one in state.patches if one != event.call_id)
    state = replace(state, undos=undos, reopenings=reopenings, patches=patches)
    state = _with_unannounced_call(state, event.call_id, body)
    undoes = _undone_call_id(state, body) if body.tool == UNDO_TOOL else ""
    plan = body.files if body.tool == UNDO_TOOL else ()

    def change(call: TurnCall) -> TurnCall:
        if call.state != "pending":
            return call
        after = _STATE_AFTER_VERDICT.get(body.verdict.outcome, "rejected")
        return replace(
            call, tool=body.tool, verdict=body.verdict, state=after,
            revision=call.revision + 1, on_top_of=_base_revisions(state, body.on_top_of), undoes=undoes,
            plan=plan, key=repetition_digest(body.tool, body.parameters, body.parameters_ref),
            undo_extent=_undo_extent(body),
        )  # fmt: skip

    return _with_counted_call(_with_call(state, event.call_id, change), event.call_id)


def _undo_extent(body: CallProposed) -> UndoExtent:
    if body.parameters.get("redo"):
        return "redo"
    return "calls" if "calls" in body.parameters else "call"


def _undone_call_id(state: TurnState, body: CallProposed) -> str:
    """Return the id of the call that an undo takes back; a fork names it, else its action does."""
    call_id, action_id = body.parameters.get("call"), body.parameters.get("action")
    if isinstance(call_id, str) and call_id:
        return call_id
    call = state.earlier_call(action_id=action_id) if isinstance(action_id, str) else None
    return call.id if call else ""


def _with_unannounced_call(state: TurnState, call_id: str | None, body: CallProposed) -> TurnState:
    """Add a call that no reply announced: in the place of the one it replaces, or outside."""
    if call_id is None or state.call(call_id) is not None:
        return state
    replaced = state.call(body.replaces)
    provider_id = body.provider_call_id or (replaced.provider_call_id if replaced else call_id)
    newcomer = TurnCall(id=call_id, provider_call_id=provider_id, tool=body.tool)
    if replaced is None:
        return replace(state, unannounced_calls=(*state.unannounced_calls, newcomer))
    return _with_call(state, replaced.id, lambda _: newcomer)


def _base_revisions(state: TurnState, bases: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    base_calls = ((base, state.call(base)) for base in bases)
    return tuple((base, call.revision if call else -1) for base, call in base_calls)


def _call_executing(state: TurnState, event: Event, _body: CallExecuting) -> TurnState:
    return _with_call_state(
        state, state.call(event.call_id), "executing", lambda c: replace(c, has_begun=True)
    )


def _process_started(state: TurnState, event: Event, _body: ProcessStarted) -> TurnState:
    return _with_call(state, event.call_id, lambda c: replace(c, has_process=True))


def _call_finished(state: TurnState, event: Event, body: CallFinished) -> TurnState:
    call = state.call(event.call_id)
    after = _with_call_state(state, call, body.state, lambda c: replace(c, finished=body))
    after = after if after is state else _with_counted_call(after, event.call_id)
    if after is state or call is None or body.state != "succeeded":
        return after
    if call.tool == UNDO_TOOL:
        return replace(after, untold_notes=(*after.untold_notes, _undone_change(after, call, body)))
    if call.reopens and body.files_affected:
        return replace(after, untold_notes=(*after.untold_notes, _applied_rest(after, call, body)))
    return after


def _undone_change(state: TurnState, call: TurnCall, body: CallFinished) -> UndoneChange:
    undone = state.earlier_call(call.undoes) if call.undoes else None
    return UndoneChange(
        paths=tuple(plan.path for plan in call.plan) or body.files_affected,
        removed=tuple(plan.path for plan in call.plan if plan.after is None),
        provider_call_id=undone.provider_call_id if undone else "", tool=undone.tool if undone else "",
        extent=call.undo_extent,
    )  # fmt: skip


def _applied_rest(state: TurnState, call: TurnCall, body: CallFinished) -> AppliedRest:
    first = state.earlier_call(action_id=call.reopens)
    is_whole = not body.hunks_left and not call.is_altered
    return AppliedRest(
        paths=body.files_affected, provider_call_id=first.provider_call_id if first else "", tool=call.tool,
        is_whole=is_whole,
    )  # fmt: skip


def _with_counted_call(state: TurnState, call_id: str | None) -> TurnState:
    """Count a call of the newest reply that is settled now."""
    call = next((call for call in state.calls if call.id == call_id and call.is_settled), None)
    result = result_digest(call) if call else None
    if state.turn is None or call is None or result is None:
        return state
    counted = state.turn.ended_calls.with_call(call.key, result, may_change=call.has_process)
    state = replace(state, turn=replace(state.turn, ended_calls=counted))
    return _with_call(state, call.id, lambda c: replace(c, times=counted.times(c.key)))


def _file_changed(state: TurnState, _: Event, _body: FileChanged) -> TurnState:
    return replace(state, turn=state.turn and replace(state.turn, ended_calls=NOTHING_COUNTED))


def _call_repeated(state: TurnState, event: Event, body: CallRepeated) -> TurnState:
    return _with_call(state, event.call_id, lambda c: replace(c, repeats=body.times))


def _with_call_state(
    state: TurnState, call: TurnCall | None, to: CallState, change: _CallChange
) -> TurnState:
    if call is None or not may_move(CALL_MOVES, call.state, to):
        return state
    return _with_call(state, call.id, lambda c: change(replace(c, state=to, is_orphaned=False)))


def _with_call(state: TurnState, call_id: str | None, change: _CallChange) -> TurnState:
    return _with_every_call(state, lambda call: change(call) if call.id == call_id else call)


def _with_every_call(state: TurnState, change: _CallChange) -> TurnState:
    """Change calls where they stand; the ones outside the reply are forgotten once they are settled."""
    reply = state.reply and replace(state.reply, calls=tuple(map(change, state.reply.calls)))
    return replace(
        state,
        reply=reply,
        unannounced_calls=tuple(c for c in map(change, state.unannounced_calls) if not c.is_settled),
        leftover_calls=tuple(c for c in map(change, state.leftover_calls) if not c.is_settled),
    )


# --- actions ---------------------------------------------------------------------------------------


def _action_opened(state: TurnState, event: Event, body: ActionOpened) -> TurnState:
    is_stale, reopens = "stale" in body.warnings, str(body.subject.get(REOPENS, ""))
    return _with_call(
        state,
        event.call_id,
        lambda c: replace(c, action_id=event.action_id, is_stale=is_stale, reopens=reopens),
    )


def _action_approved(state: TurnState, event: Event, body: ActionApproved) -> TurnState:
    call = state.call_of(event.action_id)
    return _with_call_state(state, call, "approved", lambda c: replace(c, approval=body))


def _action_rejected(state: TurnState, event: Event, body: ActionRejected) -> TurnState:
    call = state.call_of(event.action_id)
    after = _with_call_state(state, call, "rejected", lambda c: replace(c, rejection=body))
    return _with_counted_call(after, call.id if call else None)


def _action_expired(state: TurnState, event: Event, _body: ActionExpired) -> TurnState:
    return _with_call_state(state, state.call_of(event.action_id), "expired", lambda c: c)


def _action_superseded(state: TurnState, event: Event, body: ActionSuperseded) -> TurnState:
    state = replace(state, refreshes=tuple(key for key in state.refreshes if key != event.action_id))
    call = state.call_of(event.action_id) or state.call(event.call_id)
    if call is None or body.why == "extended":
        return state
    bases = (state.call(base) for base, _ in call.on_top_of)
    open_bases = tuple((base.id, base.revision) for base in bases if base and not base.is_settled)
    revision = call.revision + 1
    return _with_call(state, call.id, lambda c: replace(c, on_top_of=open_bases, revision=revision))


def _action_became_stale(state: TurnState, event: Event, _body: ActionBecameStale) -> TurnState:
    call = state.call_of(event.action_id)
    return _with_call(state, call.id, lambda c: replace(c, is_stale=True)) if call else state


_Handler = Callable[[TurnState, Event, Any], TurnState]
EVENT_HANDLERS: Final[Mapping[type[Body], _Handler]] = {
    SessionCreated: _session_created,
    SessionStatusChanged: _status_changed,
    LeaseTaken: _lease_taken,
    LeaseReleased: _lease_released,
    PromptSubmitted: _prompt_submitted,
    PromptWithdrawn: _prompt_withdrawn,
    PromptsReordered: _prompts_reordered,
    ContextCollected: _context_collected,
    ContinueRequested: _continue_requested,
    InterruptRequested: _interrupt_requested,
    CompactionRequested: _compaction_requested,
    ConversationCompacted: _conversation_compacted,
    ProgressReported: _progress_reported,
    RefreshRequested: _refresh_requested,
    UndoRequested: _undo_requested,
    PatchRequested: _patch_requested,
    TurnStarted: _turn_started,
    ReplyCompleted: _reply_completed,
    ErrorRaised: _error_raised,
    TurnEnded: _turn_ended,
    CallProposed: _call_proposed,
    CallExecuting: _call_executing,
    ProcessStarted: _process_started,
    CallFinished: _call_finished,
    CallRepeated: _call_repeated,
    FileChanged: _file_changed,
    ActionOpened: _action_opened,
    ActionApproved: _action_approved,
    ActionRejected: _action_rejected,
    ActionExpired: _action_expired,
    ActionSuperseded: _action_superseded,
    ActionBecameStale: _action_became_stale,
}


def with_turn_clock(before: TurnState, after: TurnState, event: Event) -> TurnState:
    """Return the state after an event with its turn's clock started, stopped or left alone."""
    turn = after.turn
    if turn is None:
        return after
    since = turn.working_since
    runs = is_working(after)
    if runs == (since is not None) and not isinstance(event.body, LeaseTaken):
        return after
    # A driver that took over says nothing of when the one before it died, so that time does not count.
    counted = since is not None and before.turn is not None and not isinstance(event.body, LeaseTaken)
    worked = turn.worked + max(0, event.at - since) if counted and since is not None else turn.worked
    return replace(after, turn=replace(turn, worked=worked, working_since=event.at if runs else None))


def is_working(state: TurnState) -> bool:
    """Return whether anything moves: false while all that is left waits for a human, or in a pause."""
    turn = state.turn
    if turn is None or state.is_held or state.pause is not None:
        return False
    if turn.phase == "calling":
        return True
    open_calls = [call for call in state.calls if not call.is_settled]
    if any(call.state == "executing" or call.verdict is None for call in open_calls):
        return True
    return not open_calls or open_calls[0].state == "approved"


def worked_microseconds(turn: Turn, now: int) -> int:
    """Return the microseconds that a turn has worked by a moment."""
    running = max(0, now - turn.working_since) if turn.working_since is not None else 0
    return turn.worked + running


def fold_turn(events: Iterable[Event], state: TurnState | None = None) -> TurnState:
    """Return the state after events, starting from nothing or from an earlier state."""
    return reduce(apply_event, events, state or TurnState())
