"""What the turn machine asks its runner to do, one frozen dataclass each.

An effect is an order, not a record: it names what to act on and carries no bytes. Those that come in
one `todo` are started in the order given; one that is already running is never started again.
"""

from dataclasses import dataclass
from typing import Literal

from workbench.domain.machines import PauseReason

TurnOutcome = Literal["done", "interrupted", "limit", "error", "unattended"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Initialize:
    """Bring a created session up: append `initializing`, then `ready`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallModel:
    """Append `turn.started`, call the model, append what it says."""

    turn_id: str | None
    """None asks for a new turn."""
    round: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Ask the gate about a call and append `call.proposed`, with its action if it asks."""

    call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Execute:
    """Check an approved call again, commit `call.executing`, do it."""

    call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """Find out how a call ended that was executing when its driver died; never run it again."""

    call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StopCall:
    """End a running call; its end is appended as `call.finished`."""

    call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StopModel:
    """End the running model call; nothing of it may be appended afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdraw:
    """Cancel a call that has not begun, and its open action."""

    call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restack:
    """Propose a call anew: what it was computed on did not come true as shown."""

    call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """Propose the call of a stale action anew, because a human asked."""

    action_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """Propose to take an applied change back; the verdict is spoken by `request_id`."""

    action_id: str
    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTurn:
    """Append `turn.ended`, and the status that follows from it, in one transaction."""

    outcome: TurnOutcome
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Append that the session is paused."""

    reason: PauseReason


Effect = (
    Initialize
    | CallModel
    | Gate
    | Execute
    | Settle
    | StopCall
    | StopModel
    | Withdraw
    | Restack
    | Refresh
    | Undo
    | EndTurn
    | Pause
)
