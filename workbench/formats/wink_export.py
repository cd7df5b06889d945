"""A session as a wink file.

Texts are the recorded, scrubbed ones. One table translates our states into the words of wink (SPEC part B).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from workbench.domain import events as e
from workbench.domain.rows import Call, Session
from workbench.domain.values import Json, JsonObject
from workbench.formats import json_fields as j
from workbench.formats.kept_rows import kept_rows, local_events
from workbench.formats.seed_files import WINK, WINK_LISTS
from workbench.text.human import iso_time


class _WinkDocument(Struct):
    calls: Mapping[str, Call]
    asked: set[str] = field(default_factory=set[str])
    """Ids of the calls that a message of the model holds."""
    messages: list[JsonObject] = field(default_factory=list[JsonObject])
    results: list[JsonObject] = field(default_factory=list[JsonObject])
    changed_lines: Counter[str] = field(default_factory=Counter[str])
    """Added and removed lines of files, by call."""


def wink_session(session: Session, events: Sequence[e.Event], calls: Sequence[Call]) -> JsonObject:
    """Return a session as S0 has it; one that was read from such a file as it came."""
    return _imported_document(session, events) or _written_document(session, events, calls)


def _imported_document(session: Session, events: Sequence[e.Event]) -> JsonObject:
    documents = kept_rows(session, events, WINK, "document")
    document = dict(j.as_object(documents[-1])) if documents else {}
    for part in WINK_LISTS:
        if rows := kept_rows(session, events, WINK, part):
            document[part] = rows
    if document and local_events(events):
        document["updated_at"] = iso_time(session.updated_at)
    return document


def _written_document(session: Session, events: Sequence[e.Event], calls: Sequence[Call]) -> JsonObject:
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
            tool_calls: JsonObject = {"tool_calls": calls} if calls else {}
            if body.text or calls:
                tokens = {"token_count": body.usage.output_tokens, "model": body.model}
                writing.messages.append(
                    {**_wink_message("assistant", body.text, event.at), **tool_calls, "metadata": tokens}
                )
        case e.FileChanged() as body:
            writing.changed_lines[event.call_id or ""] += body.added + body.removed
        case e.CallFinished() as body:
            call = writing.calls.get(event.call_id or "")
            if call is None or call.replaced_by is not None:
                return
            if call.id in writing.asked:
                _write_wink_result(writing, call, body, event.at)
            elif body.state == "succeeded":
                # The user's own call, an undo: no model asked for it, and a result has to have its call.
                output = body.preview or body.summary or body.state
                writing.messages.append(_wink_message("user", f"{call.tool}: {output}", event.at))
        case _:
            pass


def _write_wink_result(writing: _WinkDocument, call: Call, body: e.CallFinished, time_us: int) -> None:
    content = body.preview or body.error or body.summary or body.state
    writing.messages.append(
        {**_wink_message("tool", content, time_us), "tool_call_id": call.provider_call_id or call.id}
    )
    if body.state in ("succeeded", "failed", "interrupted"):
        writing.results.append(_wink_result(call, body, writing.changed_lines.get(call.id)))


def _wink_result(call: Call, body: e.CallFinished, changed_lines: int | None) -> JsonObject:
    """Return the one result of a call that ran; S0 ToolResult."""
    lines: JsonObject = {} if changed_lines is None else {"lines_changed": changed_lines}
    is_success = body.state == "succeeded"
    return {
        "tool_call_id": call.provider_call_id or call.id,
        "success": is_success,
        "output": body.preview,
        "error": "" if is_success else call_error(call),
        "execution_time_ms": body.duration_ms,
        "files_affected": list(body.files_affected),
        "metadata": {**lines, **body.metadata},
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


_EXPIRED: Final = (
    "nobody answered the question in time, so nothing was done; ask for it again or answer within its window"
)


def call_error(call: Call) -> str:
    """Return why a call has no result, never empty for one that failed (S0 ToolResult)."""
    if call.state == "interrupted":
        return call.error or "outcome unknown"
    if call.state == "expired":
        return call.error or _EXPIRED
    return call.error or call.detail or f"it was {call.state}"
