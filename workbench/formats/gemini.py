"""Gemini CLI: a chat as one document or as lines, and the log of what was typed.

Pure. Owns what each message means; the newest file of a chat holds all of it.
"""

from collections.abc import Iterable, Iterator

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import foreign
from workbench.formats.fields import content, count, first, moment, obj, objs, text
from workbench.formats.foreign import Asked, Change, Head, Item, Kept, Problem, Prompt, Reply, Result
from workbench.formats.lines import Line


def is_chat(value: Json) -> bool:
    """Tell whether a document is a chat."""
    found = obj(value)
    return "sessionId" in found and isinstance(found.get("messages"), list) and (
        "projectHash" in found or "startTime" in found
    )  # fmt: skip


def is_lines(sample: list[JsonObject]) -> bool:
    """Tell whether lines are a chat: a header, then messages."""
    return bool(sample) and {"sessionId", "projectHash"} <= sample[0].keys() and "messages" not in sample[0]


def is_log(value: Json) -> bool:
    """Tell whether a document is the log of what was typed."""
    rows = objs(value)
    return bool(rows) and {"sessionId", "messageId", "message"} <= rows[0].keys()


def read(value: Json, name: str) -> Iterator[Item]:
    """Yield a session from a document."""
    found = obj(value)
    yield _head(found, name)
    for number, message in enumerate(objs(found.get("messages")), 1):
        yield from _message(message, number)


def read_lines(lines: Iterable[Line | Problem], name: str) -> Iterator[Item]:
    """Yield a session from its lines; a message that comes again with the same id stands for the newest."""
    has_begun = False
    seen: set[str] = set()
    for line in lines:
        if isinstance(line, Problem):
            yield line
            continue
        found = obj(line.value)
        if not has_begun:
            has_begun = True
            yield _head(found, name)
        elif "type" in found and text(found.get("id")) not in seen:
            seen.add(text(found.get("id")))
            yield from _message(found, line.number)


def read_log(value: Json, name: str) -> Iterator[Item]:
    """Yield one session for each id, with what was typed."""
    del name
    typed: dict[str, list[Prompt]] = {}
    for number, row in enumerate(objs(value), 1):
        said = Prompt(text=text(row.get("message")), at=moment(row.get("timestamp")), line=number)
        typed.setdefault(text(row.get("sessionId")), []).append(said)
    for key, prompts in typed.items():
        yield Head(key=f"log:{key}", at=prompts[0].at, provider="google")
        yield from prompts


def _head(found: JsonObject, name: str) -> Head:
    messages = objs(found.get("messages"))
    model = next((model for message in messages if (model := text(message.get("model")))), "")
    facts = {key: found[key] for key in ("projectHash", "lastUpdated") if key in found}
    return Head(
        key=text(found.get("sessionId")) or name, provider="google", model=model, facts=facts,
        title=text(found.get("summary")), at=moment(found.get("startTime")),
    )  # fmt: skip


def _message(message: JsonObject, number: int) -> Iterator[Item]:
    kind, at = text(message.get("type")), moment(message.get("timestamp"))
    said = content(message.get("content"))
    match kind:
        case "user":
            yield Prompt(text=said, at=at, line=number)
        case "gemini" | "model":
            yield from _reply(message, said, at, number)
        case "error":
            yield foreign.Failure(code="error", message=said, at=at)
        case "info" | "warning":
            is_stop = "cancelled" in said.casefold()
            yield Kept(kind=kind, content=said, at=at, line=number)
            if is_stop:
                yield foreign.Stopped(detail=said, at=at)
        case _:
            yield Kept(kind=kind or "message", content=message, at=at, line=number, is_understood=False)


def _reply(message: JsonObject, said: str, at: int | None, number: int) -> Iterator[Item]:
    thoughts = [
        f"{text(one.get('subject'))}: {text(one.get('description'))}" for one in objs(message.get("thoughts"))
    ]
    calls = objs(message.get("toolCalls"))
    tokens = obj(message.get("tokens"))
    used = Usage(
        input_tokens=count(tokens.get("input")),
        output_tokens=count(tokens.get("output")) + count(tokens.get("thoughts")),
    )
    yield Reply(
        text=said, thinking="\n\n".join(thoughts), usage=used, model=text(message.get("model")), at=at,
        line=number, calls=tuple(
            Asked(id=text(call.get("id")), tool=text(call.get("name")), arguments=obj(call.get("args")))
            for call in calls
        ),
    )  # fmt: skip
    for call in calls:
        yield _result(call, number)


def _result(call: JsonObject, number: int) -> Result:
    responses = [obj(obj(one.get("functionResponse")).get("response")) for one in objs(call.get("result"))]
    said = "\n".join(first(one, "output", "error") for one in responses)
    status = text(call.get("status"))
    error = next((text(one.get("error")) for one in responses if one.get("error")), "")
    is_refused = status == "cancelled" and "did not" in f"{said} {error}".casefold()
    state: foreign.ResultState = (
        "rejected" if is_refused else "cancelled" if status == "cancelled" else "failed" if status == "error"
        else "succeeded"
    )  # fmt: skip
    return Result(
        call=text(call.get("id")), text=said, state=state, error=error, at=moment(call.get("timestamp")),
        line=number, changes=_changes(call),
    )  # fmt: skip


def _changes(call: JsonObject) -> tuple[Change, ...]:
    shown, arguments = obj(call.get("resultDisplay")), obj(call.get("args"))
    path = first(arguments, "file_path", "absolute_path") or text(shown.get("fileName"))
    if patch := text(shown.get("fileDiff")):
        before = shown.get("originalContent")
        is_new = before is None and "originalContent" in shown
        return (Change(path=path, change="create" if is_new else "modify", patch=patch),)
    if text(call.get("name")) == "replace":
        return (
            Change(path=path, old=text(arguments.get("old_string")), new=text(arguments.get("new_string"))),
        )
    if text(call.get("name")) == "write_file":
        return (Change(path=path, new=text(arguments.get("content"))),)
    return ()
