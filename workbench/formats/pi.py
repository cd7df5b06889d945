"""Reader of pi sessions: JSON lines."""

from collections.abc import Iterable, Iterator

from workbench.domain.values import JsonObject, Usage
from workbench.formats import records
from workbench.formats.input import JsonLine
from workbench.formats.records import (
    CallResult,
    FileEdit,
    FileProblem,
    Prompt,
    Record,
    Reply,
    SessionHead,
    ToolCall,
    UnmappedRecord,
    as_count,
    as_integer,
    as_object,
    as_objects,
    as_text,
    as_time,
    content_text,
    first_text,
)

_ENTRY_TYPES = (
    "message",
    "model_change",
    "thinking_level_change",
    "compaction",
    "branch_summary",
    "custom",
    "custom_message",
    "label",
    "session_info",
    "leaf",
    "usage",
    "context_edit",
)


def is_session(sample: list[JsonObject]) -> bool:
    start = as_object(sample[0] if sample else None)
    if start.get("type") != "session":
        return False
    return "cwd" in start or any(line.get("type") in _ENTRY_TYPES for line in sample[1:])


def read(lines: Iterable[JsonLine | FileProblem], name: str) -> Iterator[Record]:
    calls: dict[str, tuple[str, JsonObject]] = {}
    for line in lines:
        if isinstance(line, FileProblem):
            yield line
            continue
        row = as_object(line.value)
        at = as_time(row.get("timestamp"))
        match as_text(row.get("type")):
            case "session":
                facts = {key: row[key] for key in ("version", "thinkingLevel", "parentSession") if key in row}
                yield SessionHead(
                    key=as_text(row.get("id")) or name, workspace=as_text(row.get("cwd")), at=at,
                    facts=facts,
                    provider=as_text(row.get("provider")), model=as_text(row.get("modelId")),
                )  # fmt: skip
            case "session_info" if as_text(row.get("name")):
                yield records.TitleChange(title=as_text(row.get("name")), at=at)
            case "custom_message" if row.get("display") is not False:
                yield Prompt(text=content_text(row.get("content")), at=at, line=line.number)
            case "message":
                yield from _read_message(as_object(row.get("message")), at, line.number, calls)
            case "label" if as_text(row.get("label")):
                yield UnmappedRecord(kind="label", content=row, at=at, line=line.number)
            case kind:
                known = kind in _ENTRY_TYPES
                yield UnmappedRecord(
                    kind=kind or "entry", content=row, at=at, line=line.number, is_understood=known
                )


def _read_message(
    message: JsonObject, at: int | None, number: int, calls: dict[str, tuple[str, JsonObject]]
) -> Iterator[Record]:
    when = as_time(message.get("timestamp")) or at
    match as_text(message.get("role")):
        case "user":
            yield Prompt(text=content_text(message.get("content")), at=when, line=number)
        case "assistant":
            yield from _read_reply(message, when, number, calls)
        case "toolResult":
            yield _read_result(message, when, number, calls)
        case "bashExecution":
            yield from _read_shell_command(message, when, number)
        case role:
            known = role in ("custom", "hookMessage", "branchSummary", "compactionSummary")
            yield UnmappedRecord(
                kind=f"message.{role}", content=message, at=when, line=number, is_understood=known
            )


def _read_reply(
    message: JsonObject, at: int | None, number: int, calls: dict[str, tuple[str, JsonObject]]
) -> Iterator[Record]:
    blocks = as_objects(message.get("content"))
    asked = tuple(
        ToolCall(
            id=as_text(block.get("id")),
            tool=as_text(block.get("name")),
            arguments=as_object(block.get("arguments")),
        )
        for block in blocks
        if block.get("type") == "toolCall"
    )
    calls.update({call.id: (call.tool, call.arguments) for call in asked})
    used = as_object(message.get("usage"))
    spent = Usage(
        input_tokens=sum(as_count(used.get(name)) for name in ("input", "cacheRead", "cacheWrite")),
        output_tokens=as_count(used.get("output")),
    )
    yield Reply(
        text="\n".join(as_text(block.get("text")) for block in blocks if block.get("type") == "text"),
        thinking="\n".join(as_text(one.get("thinking")) for one in blocks if one.get("type") == "thinking"),
        calls=asked, usage=spent, model=as_text(message.get("model")), at=at, line=number,
    )  # fmt: skip
    reason = as_text(message.get("stopReason"))
    if reason == "aborted":
        yield records.TurnStop(at=at)
    elif reason == "error":
        yield records.ErrorRecord(
            code="model", message=as_text(message.get("errorMessage")) or "error", at=at
        )


def _read_result(
    message: JsonObject, at: int | None, number: int, calls: dict[str, tuple[str, JsonObject]]
) -> CallResult:
    key, said = as_text(message.get("toolCallId")), content_text(message.get("content"))
    tool, arguments = calls.get(key, (as_text(message.get("toolName")), {}))
    is_error = message.get("isError") is True
    return CallResult(
        call=key, text=said, state="failed" if is_error else "succeeded",
        error=said[:2_000] if is_error else "",
        changes=_edits_of_result(tool, arguments, as_object(message.get("details"))), at=at, line=number,
    )  # fmt: skip


def _edits_of_result(tool: str, arguments: JsonObject, details: JsonObject) -> tuple[FileEdit, ...]:
    path = first_text(arguments, "path", "file_path")
    if tool == "write":
        return (FileEdit(path=path, change="create", new=as_text(arguments.get("content"))),)
    if tool != "edit":
        return ()
    edits = as_objects(arguments.get("edits")) or [arguments]
    old = "\n".join(first_text(edit, "oldText", "old_string") for edit in edits)
    new = "\n".join(first_text(edit, "newText", "new_string") for edit in edits)
    if old or new:
        return (FileEdit(path=path, old=old, new=new),)
    return (FileEdit(path=path, patch=as_text(details.get("diff"))),)


def _read_shell_command(message: JsonObject, at: int | None, number: int) -> Iterator[Record]:
    key = f"shell-{number}"
    asked = ToolCall(id=key, tool="bash", arguments={"command": as_text(message.get("command"))})
    yield Reply(calls=(asked,), at=at, line=number)
    code = as_integer(message.get("exitCode"))
    is_stopped = message.get("cancelled") is True
    state: records.ResultState = "cancelled" if is_stopped else "failed" if code else "succeeded"
    yield CallResult(
        call=key, text=as_text(message.get("output")), state=state, exit_code=code, at=at, line=number
    )
