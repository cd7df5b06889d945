"""OpenCode: the export of a session.

Pure. Owns what each part of a message means, and the state of its tools.
"""

from collections.abc import Iterator

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import foreign
from workbench.formats.fields import count, first, image, moment, obj, objs, text, whole
from workbench.formats.foreign import Asked, Change, Head, Item, Kept, Prompt, Reply, Result

_QUIET = ("step-start", "step-finish", "patch", "snapshot", "agent", "subtask", "compaction", "retry")


def is_export(value: Json) -> bool:
    """Tell whether a document is an export of OpenCode."""
    found = obj(value)
    messages = objs(found.get("messages"))
    is_named = text(obj(found.get("info")).get("id")).startswith("ses_") and "messages" in found
    return is_named or (bool(messages) and "info" in messages[0] and "parts" in messages[0])


def read(value: Json, name: str) -> Iterator[Item]:
    """Yield a session from an export."""
    found = obj(value)
    info = obj(found.get("info"))
    messages = objs(found.get("messages"))
    models = [obj(one.get("info")) for one in messages if text(obj(one.get("info")).get("modelID"))]
    facts = {key: info[key] for key in ("version", "projectID", "parentID", "slug") if key in info}
    yield Head(
        key=text(info.get("id")) or name, title=text(info.get("title")),
        workspace=text(info.get("directory")),
        provider=text(models[0].get("providerID")) if models else "",
        model=text(models[0].get("modelID")) if models else "",
        at=moment(obj(info.get("time")).get("created")), facts=facts, parent=text(info.get("parentID")),
    )  # fmt: skip
    for number, message in enumerate(messages, 1):
        yield from _message(message, number)


def _message(message: JsonObject, number: int) -> Iterator[Item]:
    info, parts = obj(message.get("info")), objs(message.get("parts"))
    at = moment(obj(info.get("time")).get("created"))
    if info.get("role") == "user":
        yield Prompt(text="\n".join(filter(None, map(_said, parts))), at=at, line=number)
        return
    tools = [part for part in parts if part.get("type") == "tool"]
    tokens = obj(info.get("tokens"))
    cache = obj(tokens.get("cache"))
    yield Reply(
        text="\n".join(text(part.get("text")) for part in parts if part.get("type") == "text"),
        thinking="\n".join(text(part.get("text")) for part in parts if part.get("type") == "reasoning"),
        calls=tuple(_asked(part) for part in tools), model=text(info.get("modelID")), at=at, line=number,
        usage=Usage(
            input_tokens=count(tokens.get("input")) + count(cache.get("read")) + count(cache.get("write")),
            output_tokens=count(tokens.get("output")) + count(tokens.get("reasoning")),
        ),
    )  # fmt: skip
    for part in tools:
        yield _result(part, number)
    yield from _rest(parts, info, at, number)


def _said(part: JsonObject) -> str:
    if part.get("type") == "file":
        return image({**part, "mime": text(part.get("mime")) or "file"})
    return "" if part.get("synthetic") is True else text(part.get("text"))


def _asked(part: JsonObject) -> Asked:
    state = obj(part.get("state"))
    return Asked(
        id=first(part, "callID", "id"), tool=text(part.get("tool")), arguments=obj(state.get("input"))
    )


def _result(part: JsonObject, number: int) -> Result:
    state, key = obj(part.get("state")), first(part, "callID", "id")
    meta, times, status = obj(state.get("metadata")), obj(state.get("time")), text(state.get("status"))
    begun, ended = moment(times.get("start")), moment(times.get("end"))
    error = text(state.get("error"))
    return Result(
        call=key, text=text(state.get("output")) or error, state=_state(status, error), error=error,
        exit_code=whole(meta.get("exit")), at=ended or begun, line=number,
        duration_ms=(ended - begun) // 1000 if begun and ended else None,
        reason=error.partition("with the following feedback:")[2].strip(),
        changes=_changes(text(part.get("tool")), obj(state.get("input")), meta),
    )  # fmt: skip


def _state(status: str, error: str) -> foreign.ResultState:
    if status == "error":
        lower = error.casefold()
        if "rejected permission" in lower or "user rejected" in lower or "user has specified a rule" in lower:
            return "rejected"
        return "cancelled" if "abort" in lower else "failed"
    return "succeeded" if status == "completed" else "interrupted"


def _changes(tool: str, given: JsonObject, meta: JsonObject) -> tuple[Change, ...]:
    path = first(given, "filePath", "path")
    if tool == "write":
        return (Change(path=path, change="modify" if meta.get("exists") is True else "create",
                       new=text(given.get("content"))),)  # fmt: skip
    if tool in ("edit", "multiedit"):
        if patch := text(meta.get("diff")):
            return (Change(path=path, patch=patch),)
        return (Change(path=path, old=text(given.get("oldString")), new=text(given.get("newString"))),)
    return ()


def _rest(parts: list[JsonObject], info: JsonObject, at: int | None, number: int) -> Iterator[Item]:
    for part in parts:
        kind = text(part.get("type"))
        if kind not in ("text", "reasoning", "tool", "file", "step-start", "step-finish"):
            yield Kept(kind=f"part.{kind}", content=part, at=at, line=number, is_understood=kind in _QUIET)
    error = obj(info.get("error"))
    if error:
        why = text(obj(error.get("data")).get("message")) or text(error.get("name"))
        if "Abort" in text(error.get("name")):
            yield foreign.Stopped(detail=why, at=at)
        else:
            yield foreign.Failure(code=text(error.get("name")) or "error", message=why, at=at)
