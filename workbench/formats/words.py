"""One table for each word that other systems use for our states; SPEC part B, rows 1 to 3.

Owns the translation of states and nothing else. Our own states are `domain.machines`.
"""

from typing import Final

from workbench.domain.rows import Action, Call

WINK_STATUS: Final = {
    "created": "active",
    "initializing": "active",
    "ready": "active",
    "processing": "active",
    "paused": "paused",
    "completed": "completed",
    "failed": "errored",
    "terminated": "completed",
}
"""S0 Session.status."""

KAIAK_STATUS: Final = {
    "created": "Created",
    "initializing": "Initializing",
    "ready": "Ready",
    "processing": "Processing",
    "paused": "Ready",
    "completed": "Completed",
    "failed": "Failed",
    "terminated": "Terminated",
}
"""S2 AgentSession.status; S2 has no pause, a session that can go on is Ready."""

WINK_CALL: Final = {
    "pending": "pending",
    "approved": "approved",
    "executing": "approved",
    "succeeded": "executed",
    "failed": "failed",
    "interrupted": "failed",
    "rejected": "rejected",
    "expired": "rejected",
    "cancelled": "rejected",
}
"""S0 ToolCall.status."""

KAIAK_CALL: Final = {
    "pending": "Pending",
    "approved": "Approved",
    "executing": "Executing",
    "succeeded": "Completed",
    "failed": "Failed",
    "interrupted": "Failed",
    "rejected": "Rejected",
    "expired": "Cancelled",
    "cancelled": "Cancelled",
}
"""S2 ToolCall.status."""

RECORD_STATUS: Final = {
    "pending": "pending",
    "approved": "pending",
    "executing": "pending",
    "succeeded": "succeeded",
    "failed": "failed",
    "interrupted": "failed",
    "rejected": "aborted",
    "expired": "aborted",
    "cancelled": "aborted",
}
"""S4 ToolInvocationRecord.status; pending covers what was approved and runs."""

_APPROVAL: Final = {
    "pending": "Pending",
    "approved": "Approved",
    "rejected": "Rejected",
    "expired": "Timeout",
    "cancelled": "Rejected",
    "superseded": "Pending",
}


def approval_status(call: Call, action: Action | None) -> str:
    """Return S2 ToolCall.approval_status, which is an entity of its own here."""
    if action is None:
        return "NotRequired" if call.approval_method in ("auto", "config_rule") else "Rejected"
    return _APPROVAL[action.state]


def call_error(call: Call) -> str:
    """Return why a call has no result, never empty for one that failed (S0 ToolResult)."""
    if call.state == "interrupted":
        return call.error or "outcome unknown"
    return call.error or call.detail or f"it was {call.state}"
