"""Writers of the seed programs' formats, with their status words: Wink (S0), kaiak (S2), assistant (S4).

Texts are the recorded, scrubbed ones. One table translates our states into each program's words (SPEC part
B).
"""

# `sessions export --format wink|kaiak|assistant` shows a session in the words of the seeds; the tables are
# one module.

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct, field

from workbench.domain import events as e
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import Body, Json, JsonObject
from workbench.text.human import iso_time

WINK_ROLES: Final = ("user", "assistant", "system", "tool")
WINK_STATUSES: Final = ("active", "paused", "completed", "errored")
WINK_CALL_STATUSES: Final = ("pending", "approved", "rejected", "executed", "failed")
WINK_OUTPUT_LIMIT: Final = 10_240


# --- out -------------------------------------------------------------------------------------------


class _WinkDocument(Struct):
    calls: Mapping[str, Call]
    asked: set[str] = field(default_factory=set[str])
    """Ids of the calls that a message of the model holds."""
    messages: list[JsonObject] = field(default_factory=list[JsonObject])
    results: list[JsonObject] = field(default_factory=list[JsonObject])


def wink_session(session: Session, events: Sequence[e.Event], calls: Sequence[Call]) -> JsonObject:
    writing = _WinkDocument(calls={call.id: call for call in calls})
    if session.system_prompt:
        writing.messages.append(_wink_message("system", session.system_prompt, session.created_at))
    for event in events:
        _write_wink_event(writing, event)
    return {
        "id": session.id,
        "working_dir": session.workspace,
        "model": session.model,
        "created_at": iso_time(session.created_at),
        "updated_at": iso_time(session.updated_at),
        "status": WINK_STATUS[session.status],
        "messages": writing.messages,
        "tool_results": writing.results,
    }


def _write_wink_event(writing: _WinkDocument, event: e.Event) -> None:
    match event.body:
        case e.PromptSubmitted(text=text):
            writing.messages.append(_wink_message("user", text, event.at))
        case e.ReplyCompleted() as body:
            calls = [_wink_call(writing.calls[c.call_id]) for c in body.calls if c.call_id in writing.calls]
            writing.asked |= {c.call_id for c in body.calls}
            asked: JsonObject = {"tool_calls": calls} if calls else {}
            if body.text or calls:
                tokens = {"token_count": body.usage.output_tokens, "model": body.model}
                writing.messages.append(
                    {**_wink_message("assistant", body.text, event.at), **asked, "metadata": tokens}
                )
        case e.CallFinished() as body:
            call = writing.calls.get(event.call_id or "")
            if call is None or call.replaced_by is not None:
                return
            if call.id in writing.asked:
                _write_wink_result(writing, call, body, event.at)
            elif body.state == "succeeded":
                # The user's own call, an undo: no model asked for it, and a result has to have its call.
                said = body.preview or body.summary or body.state
                writing.messages.append(_wink_message("user", f"{call.tool}: {said}", event.at))
        case _:
            pass


def _write_wink_result(writing: _WinkDocument, call: Call, body: e.CallFinished, time_us: int) -> None:
    content = body.preview or body.error or body.summary or body.state
    writing.messages.append(
        {**_wink_message("tool", content, time_us), "tool_call_id": call.provider_call_id or call.id}
    )
    if body.state in ("succeeded", "failed", "interrupted"):
        writing.results.append(wink_result(call, body))


def wink_result(call: Call, body: e.CallFinished) -> JsonObject:
    """Return the one result of a call that ran; S0 ToolResult."""
    is_success = body.state == "succeeded"
    return {
        "tool_call_id": call.provider_call_id or call.id,
        "success": is_success,
        "output": body.preview,
        "error": "" if is_success else call_error(call),
        "execution_time_ms": body.duration_ms,
        "files_affected": list(body.files_affected),
        "metadata": dict(body.metadata),
    }


def _wink_call(call: Call) -> JsonObject:
    document: dict[str, Json] = {
        "id": call.provider_call_id or call.id,
        "tool_name": call.tool,
        "parameters": dict(call.parameters),
        "status": WINK_CALL[call.state],
        "requested_at": iso_time(call.requested_at),
    }
    if call.approval_method is not None:
        document["approval_method"] = call.approval_method
    if call.rule is not None:
        document["approval_rule_id"] = call.rule
    if call.state in ("succeeded", "failed", "interrupted") and call.finished_at is not None:
        document["executed_at"] = iso_time(call.finished_at)
    return document


def _wink_message(role: str, content: str, time_us: int) -> dict[str, Json]:
    return {"role": role, "content": content, "timestamp": iso_time(time_us)}


KaiakContent = tuple[str, JsonObject]
"""The kind of a message and its payload."""
_KAIAK_SOURCES: Final = {
    "AiResponse": "GooseAgent",
    "Thinking": "GooseAgent",
    "ToolCall": "ToolExecution",
    "FileModification": "ToolExecution",
    "UserInteraction": "UserInteraction",
    "Progress": "SystemMonitoring",
    "Error": "SystemMonitoring",
    "System": "SystemMonitoring",
}
_KAIAK_CHANGE_TYPES: Final = {"create": "Create", "modify": "Modify", "delete": "Delete"}


def kaiak_messages(events: Sequence[e.Event]) -> Iterator[JsonObject]:
    """Yield a session's events as S2 AgentMessages, in order; an action with a change makes two."""
    for event in events:
        for kind, payload in kaiak_contents(event):
            source = "UserInteraction" if event.actor.kind == "user" else _KAIAK_SOURCES[kind]
            yield {
                "id": event.id,
                "session_id": event.session_id,
                "timestamp": iso_time(event.at),
                "sequence_number": event.sequence_number,
                "content": {kind: payload},
                "source": source,
            }


def kaiak_contents(event: e.Event) -> Iterator[KaiakContent]:
    """Yield what an event says, as one or more of the eight kinds."""
    match event.body:
        case e.ActionOpened() as body:
            yield from _question_contents(event, body)
        case e.FileChanged() as body:
            yield (
                "FileModification",
                _modification_content(event.id, body.path, _KAIAK_CHANGE_TYPES[body.change]),
            )
        case e.ErrorRaised() as body:
            yield "Error", {
                "error_code": body.code, "message": body.message, "details": body.details or None,
                "recoverable": body.recoverable,
            }  # fmt: skip
        case e.ProgressReported() as body:
            percentage = round(body.percentage or 0)
            yield (
                "Progress",
                {"percentage": percentage, "phase": event.step or "", "description": body.message},
            )
        case _:
            yield _spoken_content(event.body) or _call_content(event) or _system_content(event)


def _spoken_content(body: Body) -> KaiakContent | None:
    match body:
        case e.TextStreamed(text=text):
            return "AiResponse", {"text": text, "partial": True}
        case e.ReplyCompleted(text=text):
            return "AiResponse", {"text": text, "partial": False}
        case e.ThinkingStreamed(text=text):
            return "Thinking", {"text": text}
        case _:
            return None


def _call_content(event: e.Event) -> KaiakContent | None:
    match event.body:
        case e.CallExecuting():
            operation, result = "Start", None
        case e.OutputStreamed(text=text):
            operation, result = "Progress", {"data": text}
        case e.CallFinished() as body:
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


def _question_contents(event: e.Event, body: e.ActionOpened) -> Iterator[KaiakContent]:
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
        yield "FileModification", _modification_content(event.action_id or "", plan.path, change)


def _modification_content(proposal_id: str, path: str, change: str) -> JsonObject:
    """Return a change without its bytes: they are sealed, and sealed bytes never leave the machine."""
    return {"proposal_id": proposal_id, "file_path": path, "change_type": change}


def _system_content(event: e.Event) -> KaiakContent:
    said = {"text": event.body.text} if isinstance(event.body, e.PromptSubmitted) else {}
    return "System", {
        **said,
        "event": event.kind,
        "request_id": event.action_id or event.call_id,
        "status": event.kind.rpartition(".")[2],
    }


def kaiak_tool_call(call: Call, action: Action | None) -> JsonObject:
    status = kaiak_approval_status(call, action)
    document: dict[str, Json] = {
        "id": call.id, "session_id": call.session_id, "tool_name": call.tool,
        "parameters": dict(call.parameters), "status": KAIAK_CALL[call.state],
        "created_at": iso_time(call.requested_at),
        "completed_at": None if call.finished_at is None else iso_time(call.finished_at),
        "approval_required": action is not None, "approval_status": status, "intercepted": True,
    }  # fmt: skip
    if call.finished_at is not None:
        is_success = call.state == "succeeded"
        document["result"] = {
            "success": is_success, "error": None if is_success else call_error(call),
            "execution_time_ms": call.duration_ms or 0, "output_size_bytes": call.output_bytes,
        }  # fmt: skip
    return document


def kaiak_session(row: Session, stream: Mapping[str, Json] | None = None) -> JsonObject:
    usage = row.usage
    settings = row.configuration
    return {
        "id": row.id, "incident_ids": list(settings.get("incident_ids", [])), "workspace_path": row.workspace,
        "status": KAIAK_STATUS[row.status], "created_at": iso_time(row.created_at),
        "updated_at": iso_time(row.updated_at),
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


def assistant_session(row: Session, events: Sequence[e.Event], actions: Sequence[Action]) -> JsonObject:
    return {
        "id": row.id,
        "provider": row.provider,
        "systemPrompt": row.system_prompt,
        "messages": list(assistant_turns(row, events)),
        "activeTools": list(row.active_tools),
        "pendingApprovals": [pending_action(a) for a in actions if a.state == "pending" and a.tool],
        "telemetryId": row.telemetry_id,
    }


def assistant_turns(row: Session, events: Sequence[e.Event]) -> Iterator[JsonObject]:
    """Yield alternating turns, system first; what one side said without an answer in between is one turn."""
    yield {"role": "system", "content": row.system_prompt, "timestamp": iso_time(row.created_at)}
    said: dict[str, Json] | None = None
    for message in _assistant_messages(row, events):
        if said is not None and said["role"] == message["role"]:
            said = {**message, "content": f"{said['content']}\n\n{message['content']}"}
            continue
        if said is not None:
            yield said
        said = message
    if said is not None:
        yield said


def _assistant_messages(row: Session, events: Sequence[e.Event]) -> Iterator[dict[str, Json]]:
    for event in events:
        match event.body:
            case e.PromptSubmitted(text=text):
                yield {"role": "user", "content": text, "timestamp": iso_time(event.at)}
            case e.ReplyCompleted() as body if body.text:
                usage = {"inputTokens": body.usage.input_tokens, "outputTokens": body.usage.output_tokens}
                meta = {**usage, "provider": row.provider, "round": body.round}
                yield {
                    "role": "assistant",
                    "content": body.text,
                    "timestamp": iso_time(event.at),
                    "metadata": meta,
                }
            case _:
                pass


def turn_order_violations(roles: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield each turn, from 1 on, that breaks the order of roles that S4 asks for, with what is wrong."""
    if not roles or roles[0] != "system":
        yield 1, "the first turn is not a system turn"
    for number, (earlier, later) in enumerate(pairwise(roles), 2):
        if later not in ("user", "assistant"):
            yield number, f"turn {number} is by {later[:40] or 'nobody'}"
        elif later == earlier:
            yield number, f"turns {number - 1} and {number} are both by {later}"


def tool_invocation_record(call: Call) -> JsonObject:
    status = INVOCATION_STATUS[call.state]
    document: dict[str, Json] = {
        "id": call.id, "sessionId": call.session_id, "toolId": call.tool, "status": status,
        "parameters": dict(call.parameters), "startedAt": iso_time(call.requested_at),
    }  # fmt: skip
    if status != "pending":
        document["resultSummary"] = call.summary or call.error or call.detail or call.state
        document["finishedAt"] = iso_time(max(call.requested_at, call.finished_at or call.requested_at))
    return document


def pending_action(action: Action) -> JsonObject:
    return {
        "id": action.id, "sessionId": action.session_id, "toolId": action.tool,
        "diffPreview": f"{action.target} +{action.added} -{action.removed}" if action.files else None,
        "createdAt": iso_time(action.created_at),
        "expiresAt": None if action.expires_at is None else iso_time(action.expires_at),
    }  # fmt: skip


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
INVOCATION_STATUS: Final = {
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
_KAIAK_APPROVAL: Final = {
    "pending": "Pending",
    "approved": "Approved",
    "rejected": "Rejected",
    "expired": "Timeout",
    "cancelled": "Rejected",
    "superseded": "Pending",
}


def kaiak_approval_status(call: Call, action: Action | None) -> str:
    """Return S2 ToolCall.approval_status, which is an entity of its own here."""
    if action is None:
        return "NotRequired" if call.approval_method in ("auto", "config_rule") else "Rejected"
    return _KAIAK_APPROVAL[action.state]


def call_error(call: Call) -> str:
    """Return why a call has no result, never empty for one that failed (S0 ToolResult)."""
    if call.state == "interrupted":
        return call.error or "outcome unknown"
    return call.error or call.detail or f"it was {call.state}"
