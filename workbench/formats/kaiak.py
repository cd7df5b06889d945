"""S2 kaiak's view of a session: typed messages with sequence numbers, tool calls, the session itself.

Owns the projection that JOURNAL section 1 names: which event is which of the eight kinds of message.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from workbench.domain.events import (
    ActionOpened,
    Body,
    CallExecuting,
    CallFinished,
    ErrorRaised,
    Event,
    FileChanged,
    OutputStreamed,
    ProgressReported,
    ReplyCompleted,
    TextStreamed,
    ThinkingStreamed,
)
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import Json, JsonObject
from workbench.formats.words import KAIAK_CALL, KAIAK_STATUS, approval_status, call_error
from workbench.text.human import iso

Content = tuple[str, JsonObject]
"""The kind of a message and its payload."""

_SOURCES: Final = {
    "AiResponse": "GooseAgent",
    "Thinking": "GooseAgent",
    "ToolCall": "ToolExecution",
    "FileModification": "ToolExecution",
    "UserInteraction": "UserInteraction",
    "Progress": "SystemMonitoring",
    "Error": "SystemMonitoring",
    "System": "SystemMonitoring",
}
_CHANGES: Final = {"create": "Create", "modify": "Modify", "delete": "Delete"}


def messages(events: Sequence[Event]) -> Iterator[JsonObject]:
    """Yield a session's events as S2 AgentMessages, in order; an action with a change makes two."""
    for event in events:
        for kind, payload in contents(event):
            source = "UserInteraction" if event.actor.kind == "user" else _SOURCES[kind]
            yield {
                "id": event.id,
                "session_id": event.session_id,
                "timestamp": iso(event.at),
                "sequence_number": event.sequence_number,
                "content": {kind: payload},
                "source": source,
            }


def contents(event: Event) -> Iterator[Content]:
    """Yield what an event says, as one or more of the eight kinds."""
    match event.body:
        case ActionOpened() as body:
            yield from _asked(event, body)
        case FileChanged() as body:
            yield "FileModification", _modification(event.id, body.path, _CHANGES[body.change])
        case ErrorRaised() as body:
            yield "Error", {
                "error_code": body.code, "message": body.message, "details": body.details or None,
                "recoverable": body.recoverable,
            }  # fmt: skip
        case ProgressReported() as body:
            percentage = round(body.percentage or 0)
            yield (
                "Progress",
                {"percentage": percentage, "phase": event.step or "", "description": body.message},
            )
        case _:
            yield _spoken(event.body) or _called(event) or _system(event)


def _spoken(body: Body) -> Content | None:
    match body:
        case TextStreamed(text=text):
            return "AiResponse", {"text": text, "partial": True}
        case ReplyCompleted(text=text):
            return "AiResponse", {"text": text, "partial": False}
        case ThinkingStreamed(text=text):
            return "Thinking", {"text": text}
        case _:
            return None


def _called(event: Event) -> Content | None:
    match event.body:
        case CallExecuting():
            operation, result = "Start", None
        case OutputStreamed(text=text):
            operation, result = "Progress", {"data": text}
        case CallFinished() as body:
            is_success = body.state == "succeeded"
            operation = "Complete" if is_success else "Error"
            error = None if is_success else body.error or body.detail or body.state
            result = {
                "success": is_success, "data": body.preview or None, "error": error,
                "execution_time_ms": body.duration_ms, "output_size_bytes": body.output_bytes,
            }  # fmt: skip
        case _:
            return None
    return "ToolCall", {"tool_call_id": event.call_id, "operation": operation, "result": result}


def _asked(event: Event, body: ActionOpened) -> Iterator[Content]:
    seconds = None if body.expires_at is None else max(0, body.expires_at - body.created_at) // 1_000_000
    kind = "Choice" if body.choices else "Input" if body.action_kind == "question" else "Approval"
    asked: dict[str, Json] = {
        "interaction_id": event.action_id, "interaction_type": kind, "timeout": seconds,
        "prompt": body.prompt or f"{body.verb} {body.target}",
    }  # fmt: skip
    if body.choices:
        asked["options"] = [choice.key for choice in body.choices]
    yield "UserInteraction", asked
    for plan in body.files:
        change = "Create" if plan.base is None else "Delete" if plan.after is None else "Modify"
        yield "FileModification", _modification(event.action_id or "", plan.path, change)


def _modification(proposal_id: str, path: str, change: str) -> JsonObject:
    """Return a change without its bytes: they are sealed, and sealed bytes never leave the machine."""
    return {"proposal_id": proposal_id, "file_path": path, "change_type": change}


def _system(event: Event) -> Content:
    return "System", {
        "event": event.kind,
        "request_id": event.action_id or event.call_id,
        "status": event.kind.rpartition(".")[2],
    }


def tool_call(call: Call, action: Action | None) -> JsonObject:
    """Return a call as S2 ToolCall."""
    status = approval_status(call, action)
    made: dict[str, Json] = {
        "id": call.id, "session_id": call.session_id, "tool_name": call.tool,
        "parameters": dict(call.parameters), "status": KAIAK_CALL[call.state],
        "created_at": iso(call.requested_at),
        "completed_at": None if call.finished_at is None else iso(call.finished_at),
        "approval_required": action is not None, "approval_status": status, "intercepted": True,
    }  # fmt: skip
    if call.finished_at is not None:
        is_success = call.state == "succeeded"
        made["result"] = {
            "success": is_success, "error": None if is_success else call_error(call),
            "execution_time_ms": call.duration_ms or 0, "output_size_bytes": call.output_bytes,
        }  # fmt: skip
    return made


def session(row: Session, stream: Mapping[str, Json] | None = None) -> JsonObject:
    """Return a session as S2 AgentSession.

    Args:
        row: the session.
        stream: its StreamConnection, while a reader of events is attached.
    """
    usage = row.usage
    settings = row.configuration
    return {
        "id": row.id, "incident_ids": list(settings.get("incident_ids", [])), "workspace_path": row.workspace,
        "status": KAIAK_STATUS[row.status], "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "configuration": {
            "provider": row.provider or None, "model": row.model or None, "timeout": settings.get("timeout"),
            "max_turns": settings.get("max_turns"), "enable_tool_interception": True,
        },
        "token_usage": {
            "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens,
            "total_tokens": usage.total_tokens,
        },
        "stream_connection": None if stream is None else dict(stream),
    }  # fmt: skip
