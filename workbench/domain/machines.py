"""State machines of session, call, action, pipeline run and step, as tables of legal moves."""

from typing import Final, Literal, get_args

SessionStatus = Literal[
    "created", "initializing", "ready", "processing", "paused", "completed", "failed", "terminated"
]
LOST: Final = "lost"
ListedSessionStatus = Literal[SessionStatus, "lost"]
"""As rows are listed: `lost` is never recorded. It is under way by its row, and its driver is gone."""
PauseReason = Literal[
    "user", "parked", "run ended", "host lost", "unattended", "limit reached", "loop", "failed"
]  # fmt: skip
"""Why a session pauses; `failed` also stands beside `ready`: its last turn, or its run, ended in an error."""
HUMAN_ENDED_PAUSES: Final[frozenset[PauseReason]] = frozenset({
    "user", "host lost", "unattended", "limit reached", "loop",
})  # fmt: skip
"""Pauses that only a human ends; what was approved in them is carried out, and the agent still waits."""
CallState = Literal[
    "pending",
    "approved",
    "rejected",
    "expired",
    "cancelled",
    "executing",
    "succeeded",
    "failed",
    "interrupted",
]
ActionState = Literal["pending", "approved", "rejected", "expired", "cancelled", "superseded"]
RunStatus = Literal["queued", "running", "waiting", "completed", "failed", "cancelled"]
ListedRunStatus = Literal[RunStatus, "lost"]
"""As rows are listed: `lost` is never recorded. It runs by its row, and its driver is gone."""
StepStateName = Literal[
    "pending",
    "running",
    "waiting",
    "retrying",
    "completed",
    "completed_empty",
    "failed",
    "skipped",
    "cancelled",
]
Moves = dict[str, frozenset[str]]
SESSION_MOVES: Final[Moves] = {
    "created": frozenset({"initializing", "terminated"}),
    "initializing": frozenset({"ready", "failed", "terminated"}),
    "ready": frozenset({"processing", "paused", "completed", "terminated"}),
    "processing": frozenset({"ready", "paused", "completed", "failed", "terminated"}),
    "paused": frozenset({"ready", "processing", "paused", "completed", "terminated"}),
    "completed": frozenset(),
    "failed": frozenset(),
    "terminated": frozenset(),
}
"""S2 AgentSession with S0's pause; a pause may change its reason."""
CALL_MOVES: Final[Moves] = {
    "pending": frozenset({"approved", "rejected", "expired", "cancelled"}),
    "approved": frozenset({"executing", "cancelled"}),
    "executing": frozenset({"succeeded", "failed", "cancelled", "interrupted"}),
    "rejected": frozenset(),
    "expired": frozenset(),
    "cancelled": frozenset(),
    "succeeded": frozenset(),
    "failed": frozenset(),
    "interrupted": frozenset(),
}
"""A call cancelled because its base moved is followed by a new call under the same provider call id."""
ACTION_MOVES: Final[Moves] = {
    "pending": frozenset({"approved", "rejected", "expired", "cancelled", "superseded"}),
    "approved": frozenset(),
    "rejected": frozenset(),
    "expired": frozenset(),
    "cancelled": frozenset(),
    "superseded": frozenset(),
}
RUN_MOVES: Final[Moves] = {
    "queued": frozenset({"running", "failed", "cancelled"}),
    "running": frozenset({"waiting", "completed", "failed", "cancelled"}),
    "waiting": frozenset({"running", "failed", "cancelled"}),
    "completed": frozenset(),
    "failed": frozenset(),
    "cancelled": frozenset(),
}
"""S1 PipelineState. `run.started` of a later round begins a failed or cancelled run anew; no move does."""
STEP_MOVES: Final[Moves] = {
    "pending": frozenset({"running", "skipped", "cancelled"}),
    "running": frozenset({"waiting", "completed", "completed_empty", "failed", "retrying", "cancelled"}),
    "waiting": frozenset({"running", "failed", "cancelled"}),
    "retrying": frozenset({"running", "cancelled"}),
    "completed": frozenset(),
    "completed_empty": frozenset(),
    "failed": frozenset(),
    "skipped": frozenset(),
    "cancelled": frozenset(),
}
"""S1 StepState. What is left to do is `pending` again after the `run.started` of a later round."""
ENDED_RUN_STATES: Final = frozenset({"completed", "failed", "cancelled"})
COMPLETED_STEP_STATES: Final = frozenset({"completed", "completed_empty"})
ENDED_STEP_STATES: Final = COMPLETED_STEP_STATES | {"failed", "skipped", "cancelled"}
UNSTARTED_ITEM: Final = "an item before it failed"
"""Why an item of a matrix that ended otherwise than by a cancel never began."""
TERMINAL_SESSION_STATES: Final = frozenset(name for name, after in SESSION_MOVES.items() if not after)
SETTLED_CALL_STATES: Final = frozenset(get_args(CallState)) - {"pending", "approved", "executing"}


def unstarted_item_state(matrix: StepStateName) -> StepStateName:
    """Return the state of an item that never began: it ends with its matrix, without an event of its own."""
    if matrix == "cancelled":
        return "cancelled"
    return "skipped" if matrix in ENDED_STEP_STATES else "pending"


class IllegalMoveError(ValueError):
    """A state may not follow another; names the machine and both states."""

    def __init__(self, machine: str, old: str, new: str) -> None:
        article = "an" if machine[0] in "aeiou" else "a"
        super().__init__(f"{article} {machine} cannot go from {old} to {new}")
        self.machine, self.old, self.new = machine, old, new


def may_move(moves: Moves, old: str, new: str) -> bool:
    """Return whether `new` may follow `old`; unknown states may not move at all."""
    return new in moves.get(old, frozenset())


def require_move(machine: str, moves: Moves, old: str, new: str) -> None:
    if not may_move(moves, old, new):
        raise IllegalMoveError(machine, old, new)
