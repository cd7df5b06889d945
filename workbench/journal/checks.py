"""Which events a live producer may append: sessions that exist and go on, and legal moves only.

Asked inside the transaction, before an event is stored, so that no two processes can both be right.
Imports are not asked: foreign histories are kept as they are.
"""

from collections.abc import Callable
from typing import Final

from workbench.domain.events import (
    ActionApproved,
    ActionCancelled,
    ActionExpired,
    ActionOpened,
    ActionRejected,
    ActionSuperseded,
    AnswerRefused,
    Body,
    CallExecuting,
    CallFinished,
    CallProposed,
    Event,
    FileChanged,
    LeaseReleased,
    LeaseTaken,
    RuleAdded,
    RuleRevoked,
    SecurityNoted,
    SessionChanged,
    SessionCreated,
    SessionStatusChanged,
)
from workbench.domain.machines import (
    ACTION_MOVES,
    CALL_MOVES,
    DONE_STEPS,
    RUN_MOVES,
    SESSION_MOVES,
    STEP_MOVES,
    TERMINAL_SESSIONS,
    IllegalMoveError,
    require_move,
)
from workbench.domain.rows import Action, Call, step_key
from workbench.domain.runs import (
    ArtifactStored,
    ContractChecked,
    RunChanged,
    RunRequested,
    RunStarted,
    StepChanged,
)
from workbench.domain.values import SYSTEM_SESSION
from workbench.journal.errors import GuardFailed, SessionEnded, SessionUnknown
from workbench.journal.live import LiveTables

LATE: Final[tuple[type[Body], ...]] = (
    AnswerRefused, SessionChanged, SecurityNoted,
    # What was already under way when the session ended: its outcome is a fact, and questions close.
    CallFinished, FileChanged, ActionExpired, ActionCancelled, LeaseReleased,
)  # fmt: skip
"""What a session takes after its end."""

LONGEST_WINDOW: Final = 1440 * 60 * 1_000_000
"""Microseconds; the longest window that the configuration allows."""


def require_not_deleted(event: Event, live: LiveTables) -> None:
    """Refuse an event for a session that was deleted: its id is never used again.

    Raises:
        SessionUnknown: It was deleted.
    """
    if event.session_id != SYSTEM_SESSION and live.is_deleted(event.session_id):
        raise SessionUnknown(
            _not_written(event), f"session {event.session_id} was deleted", "use a new session id"
        )


def require_legal(event: Event, live: LiveTables) -> None:
    """Refuse an event that its session, call or action does not allow as they stand.

    Raises:
        SessionUnknown: There is no such session.
        SessionEnded: The session takes no more events.
        IllegalMoveError: A state machine does not allow the move.
        GuardFailed: What the event is about does not exist, or exists already.
    """
    if event.session_id != SYSTEM_SESSION:
        _require_session(event, live)
    check = _CHECKS.get(type(event.body))
    if check:
        check(event, live)


def _not_written(event: Event) -> str:
    return f"{event.kind} was not written"


def _require_session(event: Event, live: LiveTables) -> None:
    session = live.session(event.session_id)
    if isinstance(event.body, SessionCreated):
        require_not_deleted(event, live)
        if session is not None:
            raise GuardFailed(_not_written(event), f"session {session.id} exists", "use a new session id")
    elif session is None:
        why = f"there is no session {event.session_id}"
        raise SessionUnknown(_not_written(event), why, "check the id with workbench sessions list")
    elif session.status in TERMINAL_SESSIONS and not isinstance(event.body, LATE):
        why = f"session {session.id} is {session.status}"
        raise SessionEnded(_not_written(event), why, "start or fork a session")


def _status_changed(event: Event, live: LiveTables) -> None:
    assert isinstance(event.body, SessionStatusChanged)
    if session := live.session(event.session_id):
        require_move("session", SESSION_MOVES, session.status, event.body.status)


def _call_proposed(event: Event, live: LiveTables) -> None:
    if event.call_id is None:
        raise GuardFailed(_not_written(event), "it names no call", "report this as a bug")
    call = live.call(event.call_id)
    if call and call.state != "pending":
        raise IllegalMoveError("call", call.state, "pending")


def _required_call(event: Event, live: LiveTables) -> Call:
    call = live.call(event.call_id or "")
    if call is None:
        raise GuardFailed(_not_written(event), f"there is no call {event.call_id}", "report this as a bug")
    return call


def _call_executing(event: Event, live: LiveTables) -> None:
    call = _required_call(event, live)
    require_move("call", CALL_MOVES, call.state, "executing")
    if call.approved_until is not None and live.now >= call.approved_until:
        why = "its approval has lapsed"
        raise GuardFailed(_not_written(event), why, "cancel the call; it can be proposed again")


def _call_finished(event: Event, live: LiveTables) -> None:
    assert isinstance(event.body, CallFinished)
    require_move("call", CALL_MOVES, _required_call(event, live).state, event.body.state)


def _action_opened(event: Event, live: LiveTables) -> None:
    body = event.body
    assert isinstance(body, ActionOpened)
    if event.action_id is None or live.action(event.action_id) is not None:
        why = f"action {event.action_id} exists or has no id"
        raise GuardFailed(_not_written(event), why, "open it under a new id")
    _require_window(event, body)
    if body.action_kind == "trust" and not {"workspace", "content_hash"} <= body.subject.keys():
        why = "it does not say which workspace and which files it is about"
        raise GuardFailed(_not_written(event), why, "report this as a bug")
    if call := live.call(event.call_id or ""):
        require_move("call", CALL_MOVES, call.state, "approved")
        before = live.action(call.action_id or "")
        if before and before.state == "pending":
            why = f"action {before.id} of this call is open"
            raise GuardFailed(_not_written(event), why, "supersede it in the same append")


def _require_window(event: Event, body: ActionOpened) -> None:
    if body.expires_at is None:
        return
    window = body.expires_at - body.created_at
    if window < 0 or (body.action_kind == "tool" and window > LONGEST_WINDOW):
        why = f"its window is {window / 60_000_000:g} minutes"
        raise GuardFailed(_not_written(event), why, "set approvals.window_minutes to at most 1440")


def _required_action(event: Event, live: LiveTables) -> Action:
    action = live.action(event.action_id or "")
    if action is None:
        why = f"there is no action {event.action_id}"
        raise GuardFailed(_not_written(event), why, "check the id with workbench approvals list")
    return action


def _action_moves(state: str) -> Callable[[Event, LiveTables], None]:
    def check(event: Event, live: LiveTables) -> None:
        require_move("action", ACTION_MOVES, _required_action(event, live).state, state)

    return check


def _answered(state: str) -> Callable[[Event, LiveTables], None]:
    def check(event: Event, live: LiveTables) -> None:
        action = _required_action(event, live)
        require_move("action", ACTION_MOVES, action.state, state)
        if call := live.call(action.call_id or ""):
            require_move("call", CALL_MOVES, call.state, state)

    return check


def _rule_added(event: Event, live: LiveTables) -> None:
    assert isinstance(event.body, RuleAdded)
    if live.rule(event.body.rule) is not None:
        why = f"rule {event.body.rule} exists; numbers are never used again"
        raise GuardFailed(_not_written(event), why, "take the next number")


def _rule_revoked(event: Event, live: LiveTables) -> None:
    assert isinstance(event.body, RuleRevoked)
    if live.rule(event.body.rule) is None:
        why = f"there is no rule {event.body.rule}"
        raise GuardFailed(_not_written(event), why, "check the number with workbench rules list")


def _lease_taken(event: Event, live: LiveTables) -> None:
    assert isinstance(event.body, LeaseTaken)
    lease = live.lease(event.session_id)
    before = lease.epoch if lease else 0
    if event.body.epoch != before + 1:
        why = f"the lease stands at epoch {before}"
        raise GuardFailed(_not_written(event), why, "take the lease again")


def _run_requested(event: Event, live: LiveTables) -> None:
    session = live.session(event.session_id)
    if session is None or session.kind != "pipeline" or live.pipeline_state(session.id) is not None:
        raise GuardFailed(_not_written(event), "its session is no new pipeline run", "report this as a bug")


def _run_started(event: Event, live: LiveTables) -> None:
    assert isinstance(event.body, RunStarted)
    run = live.pipeline_state(event.session_id)
    if run is None or run.status == "completed" or event.body.round != run.round + 1:
        found = (
            f"run {event.session_id} is in round {run.round}, {run.status}" if run else "there is no such run"
        )
        raise GuardFailed(_not_written(event), found, "look at the run with workbench pipeline status")


def _run_changed(event: Event, live: LiveTables) -> None:
    assert isinstance(event.body, RunChanged)
    run = live.pipeline_state(event.session_id)
    require_move("run", RUN_MOVES, run.status if run else "", event.body.status)


def _step_changed(event: Event, live: LiveTables) -> None:
    body = event.body
    assert isinstance(body, StepChanged)
    known = live.step_state(step_key(event.session_id, event.step or ""))
    if known is None and live.step_state(step_key(event.session_id, body.matrix)) is None:
        raise GuardFailed(_not_written(event), f"the run has no step {event.step}", "report this as a bug")
    require_move("step", STEP_MOVES, known.state if known else "pending", body.state)


def _about_step(event: Event, live: LiveTables) -> None:
    known = live.step_state(step_key(event.session_id, event.step or ""))
    is_late = known is not None and known.state in DONE_STEPS and isinstance(event.body, ContractChecked)
    if known is None or is_late:
        state = known.state if known else "not there"
        why = f"step {event.step} is {state}"
        raise GuardFailed(_not_written(event), why, "report this as a bug")


_CHECKS: Final[dict[type[Body], Callable[[Event, LiveTables], None]]] = {
    SessionStatusChanged: _status_changed,
    CallProposed: _call_proposed,
    CallExecuting: _call_executing,
    CallFinished: _call_finished,
    ActionOpened: _action_opened,
    ActionApproved: _answered("approved"),
    ActionRejected: _answered("rejected"),
    ActionExpired: _action_moves("expired"),
    ActionSuperseded: _action_moves("superseded"),
    ActionCancelled: _action_moves("cancelled"),
    RuleAdded: _rule_added,
    RuleRevoked: _rule_revoked,
    LeaseTaken: _lease_taken,
    RunRequested: _run_requested,
    RunStarted: _run_started,
    RunChanged: _run_changed,
    StepChanged: _step_changed,
    ContractChecked: _about_step,
    ArtifactStored: _about_step,
}
