"""Reader of pi sessions: JSON lines."""

from collections.abc import Iterator
from typing import Final

from workbench.domain.values import JsonObject
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.chat_messages import call_result, end_state, texts_of, usage_apart
from workbench.formats.input import JsonLines
from workbench.text.problems import Problem

_ENTRY_TYPES: Final = (
    "message", "model_change", "thinking_level_change", "compaction", "branch_summary", "custom",
    "custom_message", "label", "session_info", "leaf", "usage", "context_edit",
)  # fmt: skip
_NOTE_ROLES: Final = ("custom", "hookMessage", "branchSummary", "compactionSummary")


def is_session(sample: list[JsonObject]) -> bool:
    start = j.as_object(sample[0] if sample else None)
    if start.get("type") != "session":
        return False
    return "cwd" in start or any(line.get("type") in _ENTRY_TYPES for line in sample[1:])


def read(lines: JsonLines, name: str) -> Iterator[r.Record]:
    calls: dict[str, tuple[str, JsonObject]] = {}
    for line in lines:
        if isinstance(line, Problem):
            yield line
            continue
        row = j.as_object(line.value)
        time_us = j.time_of(row, "timestamp")
        match j.text_of(row, "type"):
            case "session":
                facts = {key: row[key] for key in ("version", "thinkingLevel", "parentSession") if key in row}
                yield r.SessionHead(
                    key=j.text_of(row, "id") or name, workspace=j.text_of(row, "cwd"), at=time_us,
                    facts=facts,
                    provider=j.text_of(row, "provider"), model=j.text_of(row, "modelId"),
                )  # fmt: skip
            case "session_info" if j.text_of(row, "name"):
                yield r.TitleChange(j.text_of(row, "name"), time_us)
            case "custom_message" if row.get("display") is not False:
                yield r.Prompt(j.content_of(row, "content"), time_us, line.number)
            case "message":
                yield from _read_message(j.object_of(row, "message"), time_us, line.number, calls)
            case "label" if j.text_of(row, "label"):
                yield r.UnmappedRecord("label", row, time_us, line.number)
            case kind:
                yield r.UnmappedRecord(kind or "entry", row, time_us, line.number, kind in _ENTRY_TYPES)


def _read_message(
    message: JsonObject, time_us: int | None, number: int, calls: dict[str, tuple[str, JsonObject]]
) -> Iterator[r.Record]:
    when = j.time_of(message, "timestamp") or time_us
    match j.text_of(message, "role"):
        case "user":
            yield r.Prompt(j.content_of(message, "content"), when, number)
        case "assistant":
            yield from _read_reply(message, when, number, calls)
        case "toolResult":
            yield _read_result(message, when, number, calls)
        case "bashExecution":
            yield from _read_shell_command(message, when, number)
        case role:
            yield r.UnmappedRecord(f"message.{role}", message, when, number, role in _NOTE_ROLES)


def _read_reply(
    message: JsonObject, time_us: int | None, number: int, calls: dict[str, tuple[str, JsonObject]]
) -> Iterator[r.Record]:
    blocks = j.objects_of(message, "content")
    tool_calls = tuple(
        r.ToolCall(j.text_of(block, "id"), j.text_of(block, "name"), j.object_of(block, "arguments"))
        for block in blocks
        if block.get("type") == "toolCall"
    )
    calls.update({call.id: (call.tool, call.arguments) for call in tool_calls})
    used = j.object_of(message, "usage")
    cost = j.value_of(used, "cost", "total")
    usage = usage_apart(used, "input", "output", "cacheRead", "cacheWrite", cost)
    reason = j.text_of(message, "stopReason")
    yield r.Reply(
        text=texts_of(blocks, "text"), thinking=texts_of(blocks, "thinking", "thinking"),
        may_be_empty=reason in ("aborted", "error"),
        calls=tool_calls, usage=usage, model=j.text_of(message, "model"), at=time_us, line=number,
    )  # fmt: skip
    if reason == "aborted":
        yield r.TurnStop(at=time_us)
    elif reason == "error":
        yield r.ErrorRecord("model", j.text_of(message, "errorMessage") or "error", time_us)


def _read_result(
    message: JsonObject, time_us: int | None, number: int, calls: dict[str, tuple[str, JsonObject]]
) -> r.CallResult:
    key, text = j.text_of(message, "toolCallId"), j.content_of(message, "content")
    tool, arguments = calls.get(key, (j.text_of(message, "toolName"), {}))
    return call_result(
        key, text, end_state(is_bad=message.get("isError") is True), at=time_us, line=number,
        changes=_edits_of_result(tool, arguments, j.object_of(message, "details")),
    )  # fmt: skip


def _edits_of_result(tool: str, arguments: JsonObject, details: JsonObject) -> tuple[r.FileEdit, ...]:
    path = j.first_text(arguments, "path", "file_path")
    if tool == "write":
        return (r.FileEdit(path=path, change="create", new=j.text_of(arguments, "content")),)
    if tool != "edit":
        return ()
    edits = j.objects_of(arguments, "edits") or [arguments]
    old = "\n".join(j.first_text(edit, "oldText", "old_string") for edit in edits)
    new = "\n".join(j.first_text(edit, "newText", "new_string") for edit in edits)
    if old or new:
        return (r.FileEdit(path=path, old=old, new=new),)
    return (r.FileEdit(path=path, patch=j.text_of(details, "diff")),)


def _read_shell_command(message: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
    key = f"shell-{number}"
    call = r.ToolCall(key, "bash", {"command": j.text_of(message, "command")})
    yield r.Reply(calls=(call,), at=time_us, line=number)
    code = j.integer_of(message, "exitCode")
    state = end_state(is_bad=bool(code), is_stopped=message.get("cancelled") is True)
    yield r.CallResult(
        call=key, text=j.text_of(message, "output"), state=state, exit_code=code, at=time_us, line=number
    )
