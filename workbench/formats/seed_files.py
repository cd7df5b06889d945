"""Files of the seed programs: Wink's sessions (S0), written and read, and the assistant's (S4), read.

Texts that are written are the recorded, scrubbed ones. One table translates our states into each program's
words (SPEC part B). A file that breaks a rule of its format is read all the same, and the rule is
reported.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Final

from msgspec import Struct, field

from workbench.domain import events as e
from workbench.domain.rows import Call, Session
from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import records as r
from workbench.text.human import iso_time

# `sessions export --format wink` shows a session so; `kaiak_export` has S2, `assistant` S4.


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
            tool_calls: JsonObject = {"tool_calls": calls} if calls else {}
            if body.text or calls:
                tokens = {"token_count": body.usage.output_tokens, "model": body.model}
                writing.messages.append(
                    {**_wink_message("assistant", body.text, event.at), **tool_calls, "metadata": tokens}
                )
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


def call_error(call: Call) -> str:
    """Return why a call has no result, never empty for one that failed (S0 ToolResult)."""
    if call.state == "interrupted":
        return call.error or "outcome unknown"
    return call.error or call.detail or f"it was {call.state}"


# --- S0 -------------------------------------------------------------------------------------------


def is_wink(value: Json) -> bool:
    return {"id", "working_dir", "model", "messages"} <= r.as_object(value).keys()


def read_wink(value: Json, name: str) -> Iterator[r.Record]:
    document = r.as_object(value)
    messages = r.objects_of(document, "messages")
    prompt = next((r.content_of(row, "content") for row in messages[:1] if row.get("role") == "system"), "")
    yield r.SessionHead(
        key=r.text_of(document, "id") or name, workspace=r.text_of(document, "working_dir"),
        system_prompt=prompt,
        model=r.text_of(document, "model"), at=r.time_of(document, "created_at"),
        status=r.text_of(document, "status"),
        provider="ollama",
    )  # fmt: skip
    for problem in wink_violations(document):
        yield r.FileProblem(1, f"{problem.where}: {problem.why}")
    results = {r.text_of(row, "tool_call_id"): row for row in r.objects_of(document, "tool_results")}
    tool_messages = {r.text_of(row, "tool_call_id"): row for row in messages if row.get("role") == "tool"}
    for number, row in enumerate(messages, 1):
        yield from _read_wink_message(row, number, results, tool_messages)
    yield r.SessionEnd(is_failed=document.get("status") == "errored")


def _read_wink_message(
    row: JsonObject, number: int, results: dict[str, JsonObject], tool_messages: dict[str, JsonObject]
) -> Iterator[r.Record]:
    text, time_us = r.content_of(row, "content"), r.time_of(row, "timestamp")
    match r.text_of(row, "role"):
        case "user":
            yield r.Prompt(text, time_us, number)
        case "assistant":
            calls = r.objects_of(row, "tool_calls")
            meta = r.object_of(row, "metadata")
            yield r.Reply(
                text=text, at=time_us, line=number, model=r.text_of(meta, "model"),
                usage=Usage(output_tokens=r.count_of(meta, "token_count")),
                calls=tuple(
                    r.ToolCall(
                        r.text_of(call, "id"), r.text_of(call, "tool_name"), r.object_of(call, "parameters")
                    )
                    for call in calls
                ),
            )  # fmt: skip
            for call in calls:
                key = r.text_of(call, "id")
                yield from _read_wink_call(call, results.get(key), tool_messages.get(key), number)
        case "system" | "tool":
            if number > 1 and row.get("role") == "system":
                yield r.UnmappedRecord("system", text, time_us, number)
        case role:
            yield r.UnmappedRecord(f"message.{role}", row, time_us, number, is_understood=False)


def _read_wink_call(
    call: JsonObject, result: JsonObject | None, tool_message: JsonObject | None, number: int
) -> Iterator[r.Record]:
    key, status = r.text_of(call, "id"), r.text_of(call, "status")
    time_us = r.time_of(call, "executed_at") or r.as_time((tool_message or {}).get("timestamp"))
    text = r.content_text((tool_message or {}).get("content"))
    if status == "rejected":
        yield r.CallResult(call=key, state="rejected", reason=text, at=time_us, line=number)
        return
    if call.get("approval_method") == "manual":
        yield r.CallDecision(call=key, is_approved=True, at=time_us)
    if result is None and tool_message is None:
        return
    fields = result or {}
    is_bad = status == "failed" or fields.get("success") is False
    paths = r.as_texts(fields.get("files_affected"))
    yield r.CallResult(
        call=key, text=r.text_of(fields, "output") or text, state="failed" if is_bad else "succeeded",
        error=r.text_of(fields, "error"), duration_ms=r.integer_of(fields, "execution_time_ms"), at=time_us,
        line=number,
        changes=tuple(_wink_edit(call, path) for path in paths),
    )  # fmt: skip


def _wink_edit(call: JsonObject, path: str) -> r.FileEdit:
    fields = r.object_of(call, "parameters")
    if "old_string" in fields:
        return r.FileEdit(path=path, old=r.text_of(fields, "old_string"), new=r.text_of(fields, "new_string"))
    return r.FileEdit(path=path, change="create", new=r.text_of(fields, "content"))


# --- the rules of S0 ------------------------------------------------------------------------------


class RuleViolation(Struct, frozen=True, kw_only=True):
    """Something in a file that is not as S0 has it; `where` is a path such as `messages[3].role`."""

    where: str
    why: str


def wink_violations(document: JsonObject) -> Iterator[RuleViolation]:
    """Yield everything in a session's document that breaks a rule of S0."""
    if str(document.get("status", "active")) not in WINK_STATUSES:
        yield RuleViolation(where="status", why=f"it is none of {', '.join(WINK_STATUSES)}")
    if not PurePosixPath(str(document.get("working_dir", ""))).is_absolute():
        yield RuleViolation(where="working_dir", why="it is not an absolute path")
    if not str(document["model"]).strip():
        yield RuleViolation(where="model", why="it is empty")
    yield from _message_list_violations(r.objects_of(document, "messages"))
    yield from _result_list_violations(document)


def _message_list_violations(messages: Sequence[JsonObject]) -> Iterator[RuleViolation]:
    call_ids: set[str] = set()
    for number, message in enumerate(messages):
        where = f"messages[{number}]"
        yield from _message_violations(where, message, call_ids)
        for index, call in enumerate(r.objects_of(message, "tool_calls")):
            call_ids.add(str(call.get("id", "")))
            if str(call.get("status", "pending")) not in WINK_CALL_STATUSES:
                yield RuleViolation(
                    where=f"{where}.tool_calls[{index}].status", why="it is not a status of a call"
                )
    for number, (earlier, later) in enumerate(
        pairwise(r.time_of(message, "timestamp") for message in messages)
    ):
        if earlier is not None and later is not None and later < earlier:
            yield RuleViolation(
                where=f"messages[{number + 1}].timestamp", why="it is before the message above"
            )


def _message_violations(where: str, message: JsonObject, call_ids: set[str]) -> Iterator[RuleViolation]:
    role, calls = message.get("role"), message.get("tool_calls")
    if str(role) not in WINK_ROLES:
        yield RuleViolation(where=f"{where}.role", why=f"it is none of {', '.join(WINK_ROLES)}")
    if not message.get("content") and not calls:
        yield RuleViolation(where=f"{where}.content", why="it is empty, and there are no tool calls")
    if role == "user" and calls:
        yield RuleViolation(where=f"{where}.tool_calls", why="a user message has none")
    if role == "tool" and not message.get("tool_call_id"):
        yield RuleViolation(where=f"{where}.tool_call_id", why="it is missing")
    elif role == "tool" and str(message["tool_call_id"]) not in call_ids:
        yield RuleViolation(where=f"{where}.tool_call_id", why="no earlier message made this call")


def _result_list_violations(document: JsonObject) -> Iterator[RuleViolation]:
    calls = {
        str(c.get("id")) for m in r.objects_of(document, "messages") for c in r.objects_of(m, "tool_calls")
    }
    earlier_ids: set[str] = set()
    for number, result in enumerate(r.objects_of(document, "tool_results")):
        where, call_id = f"tool_results[{number}]", str(result.get("tool_call_id", ""))
        if call_id not in calls:
            yield RuleViolation(where=f"{where}.tool_call_id", why="no message made this call")
        if call_id in earlier_ids:
            yield RuleViolation(where=f"{where}.tool_call_id", why="the call has a result already")
        earlier_ids.add(call_id)
        yield from _result_violations(where, result, str(document["working_dir"]))


def _result_violations(where: str, result: JsonObject, working_dir: str) -> Iterator[RuleViolation]:
    has_error = bool(result.get("error"))
    if result.get("success") is True and has_error:
        yield RuleViolation(where=f"{where}.error", why="it succeeded, so there is none")
    if result.get("success") is False and not has_error:
        yield RuleViolation(where=f"{where}.error", why="it failed, so there is one")
    if len(str(result.get("output", "")).encode()) > WINK_OUTPUT_LIMIT:
        yield RuleViolation(where=f"{where}.output", why=f"it is over {WINK_OUTPUT_LIMIT} bytes")
    for path in r.as_array(result.get("files_affected")):
        if not _is_inside(working_dir, str(path)):
            yield RuleViolation(
                where=f"{where}.files_affected", why=f"{path} is outside the working directory"
            )


def _is_inside(folder: str, path: str) -> bool:
    return PurePosixPath(normpath(PurePosixPath(folder, path))).is_relative_to(PurePosixPath(folder))
