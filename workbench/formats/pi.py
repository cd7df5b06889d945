"""pi: a session's JSON lines.

Pure. Owns what each entry and each role means; the tree of `parentId` is read in the order of the file.
"""

from collections.abc import Iterable, Iterator

from workbench.domain.values import JsonObject, Usage
from workbench.formats import foreign
from workbench.formats.fields import content, count, first, moment, obj, objs, text, whole
from workbench.formats.foreign import Asked, Change, Head, Item, Kept, Problem, Prompt, Reply, Result
from workbench.formats.lines import Line

_ENTRIES = (
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
    """Tell whether lines are a session of pi."""
    start = obj(sample[0] if sample else None)
    if start.get("type") != "session":
        return False
    return "cwd" in start or any(line.get("type") in _ENTRIES for line in sample[1:])


def read(lines: Iterable[Line | Problem], name: str) -> Iterator[Item]:
    """Yield a session from its lines."""
    calls: dict[str, tuple[str, JsonObject]] = {}
    for line in lines:
        if isinstance(line, Problem):
            yield line
            continue
        found = obj(line.value)
        at = moment(found.get("timestamp"))
        match text(found.get("type")):
            case "session":
                facts = {
                    key: found[key] for key in ("version", "thinkingLevel", "parentSession") if key in found
                }
                yield Head(
                    key=text(found.get("id")) or name, workspace=text(found.get("cwd")), at=at, facts=facts,
                    provider=text(found.get("provider")), model=text(found.get("modelId")),
                )  # fmt: skip
            case "session_info" if text(found.get("name")):
                yield foreign.Titled(title=text(found.get("name")), at=at)
            case "custom_message" if found.get("display") is not False:
                yield Prompt(text=content(found.get("content")), at=at, line=line.number)
            case "message":
                yield from _message(obj(found.get("message")), at, line.number, calls)
            case "label" if text(found.get("label")):
                yield Kept(kind="label", content=found, at=at, line=line.number)
            case kind:
                known = kind in _ENTRIES
                yield Kept(kind=kind or "entry", content=found, at=at, line=line.number, is_understood=known)


def _message(
    message: JsonObject, at: int | None, number: int, calls: dict[str, tuple[str, JsonObject]]
) -> Iterator[Item]:
    when = moment(message.get("timestamp")) or at
    match text(message.get("role")):
        case "user":
            yield Prompt(text=content(message.get("content")), at=when, line=number)
        case "assistant":
            yield from _reply(message, when, number, calls)
        case "toolResult":
            yield _result(message, when, number, calls)
        case "bashExecution":
            yield from _shell(message, when, number)
        case role:
            known = role in ("custom", "hookMessage", "branchSummary", "compactionSummary")
            yield Kept(kind=f"message.{role}", content=message, at=when, line=number, is_understood=known)


def _reply(
    message: JsonObject, at: int | None, number: int, calls: dict[str, tuple[str, JsonObject]]
) -> Iterator[Item]:
    blocks = objs(message.get("content"))
    asked = tuple(
        Asked(id=text(block.get("id")), tool=text(block.get("name")), arguments=obj(block.get("arguments")))
        for block in blocks
        if block.get("type") == "toolCall"
    )
    calls.update({one.id: (one.tool, one.arguments) for one in asked})
    used = obj(message.get("usage"))
    spent = Usage(
        input_tokens=sum(count(used.get(name)) for name in ("input", "cacheRead", "cacheWrite")),
        output_tokens=count(used.get("output")),
    )
    yield Reply(
        text="\n".join(text(block.get("text")) for block in blocks if block.get("type") == "text"),
        thinking="\n".join(text(one.get("thinking")) for one in blocks if one.get("type") == "thinking"),
        calls=asked, usage=spent, model=text(message.get("model")), at=at, line=number,
    )  # fmt: skip
    reason = text(message.get("stopReason"))
    if reason == "aborted":
        yield foreign.Stopped(at=at)
    elif reason == "error":
        yield foreign.Failure(code="model", message=text(message.get("errorMessage")) or "error", at=at)


def _result(
    message: JsonObject, at: int | None, number: int, calls: dict[str, tuple[str, JsonObject]]
) -> Result:
    key, said = text(message.get("toolCallId")), content(message.get("content"))
    tool, arguments = calls.get(key, (text(message.get("toolName")), {}))
    is_error = message.get("isError") is True
    return Result(
        call=key, text=said, state="failed" if is_error else "succeeded",
        error=said[:2_000] if is_error else "",
        changes=_changes(tool, arguments, obj(message.get("details"))), at=at, line=number,
    )  # fmt: skip


def _changes(tool: str, arguments: JsonObject, details: JsonObject) -> tuple[Change, ...]:
    path = first(arguments, "path", "file_path")
    if tool == "write":
        return (Change(path=path, change="create", new=text(arguments.get("content"))),)
    if tool != "edit":
        return ()
    edits = objs(arguments.get("edits")) or [arguments]
    old = "\n".join(first(edit, "oldText", "old_string") for edit in edits)
    new = "\n".join(first(edit, "newText", "new_string") for edit in edits)
    if old or new:
        return (Change(path=path, old=old, new=new),)
    return (Change(path=path, patch=text(details.get("diff"))),)


def _shell(message: JsonObject, at: int | None, number: int) -> Iterator[Item]:
    """Yield a command that the human ran: it is no call of the agent, and is kept as one all the same."""
    key = f"shell-{number}"
    asked = Asked(id=key, tool="bash", arguments={"command": text(message.get("command"))})
    yield Reply(calls=(asked,), at=at, line=number)
    code = whole(message.get("exitCode"))
    is_stopped = message.get("cancelled") is True
    state: foreign.ResultState = "cancelled" if is_stopped else "failed" if code else "succeeded"
    yield Result(call=key, text=text(message.get("output")), state=state, exit_code=code, at=at, line=number)
