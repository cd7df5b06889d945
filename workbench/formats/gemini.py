"""Gemini CLI: a chat as one document or as lines, its checkpoints, and the log of what was typed.

Pure. Owns what each message means, and the replay of lines that replace or take back earlier ones; the newest
file of a chat holds all of it.
"""

import hashlib
from collections.abc import Iterable, Iterator

import orjson

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import foreign
from workbench.formats.fields import content, count, first, moment, names, obj, objs, text
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


def is_checkpoint(value: Json) -> bool:
    """Tell whether a document is a saved or shared conversation in the words of the interface."""
    rows = objs(_history(value))
    return bool(rows) and all("parts" in row and row.get("role") in ("user", "model") for row in rows[:5])


def _history(value: Json) -> Json:
    found = obj(value)
    return value if not found else found.get("history") or found.get("clientHistory")


def read_lines(lines: Iterable[Line | Problem], name: str) -> Iterator[Item]:
    """Yield a session from its lines, once all of them were played: a later one may change an earlier one."""
    chat = _Chat()
    for line in lines:
        if isinstance(line, Problem):
            chat.problems.append(line)
        elif found := obj(line.value):
            chat.play(found, line.number)
        else:
            chat.problems.append(Problem(line=line.number, why="it is no object"))
    yield _head({**chat.facts, "messages": [message for message, _ in chat.messages.values()]}, name)
    yield from chat.problems
    for message, number in chat.messages.values():
        yield from _message(message, number)
    yield from chat.rest


class _Chat:
    """What stands after the lines that were played so far."""

    def __init__(self) -> None:
        self.facts: dict[str, Json] = {}
        self.messages: dict[str, tuple[JsonObject, int]] = {}
        self.problems: list[Problem] = []
        self.rest: list[Item] = []

    def play(self, found: JsonObject, number: int) -> None:
        """Take one line: what the chat is, a message, or a change of either."""
        update = obj(found.get("$set"))
        if update:
            self._set(update, number)
        elif "$rewindTo" in found:
            self._rewind(text(found.get("$rewindTo")), number)
        elif "type" in found:
            self._put(found, number)
        elif "sessionId" in found:
            self.facts.update(found)
        elif "$set" not in found:
            kept = Kept(kind="record", content=found, line=number, is_understood=False)
            self.rest.append(kept)

    def _put(self, message: JsonObject, number: int) -> None:
        key = text(message.get("id")) or f"line {number}"
        self.messages[key] = (message, self.messages.get(key, ({}, number))[1])

    def _set(self, update: JsonObject, number: int) -> None:
        if isinstance(update.get("messages"), list):
            self.messages = {}
            for at, message in enumerate(objs(update.get("messages"))):
                self._put({"id": f"{number}.{at}", **message}, number)
        self.facts.update({key: value for key, value in update.items() if key != "messages"})

    def _rewind(self, target: str, number: int) -> None:
        keys = list(self.messages)
        gone = keys[keys.index(target) :] if target in self.messages else []
        taken: list[Json] = [self.messages.pop(key)[0] for key in gone]
        self.rest.append(Kept(kind="rewind", content={"to": target, "messages": taken}, line=number))


def read_checkpoint(value: Json, name: str) -> Iterator[Item]:
    """Yield a session from a saved conversation; it has no id, no times and no model."""
    del name
    rows = objs(_history(value))
    key = hashlib.sha256(orjson.dumps(rows[:2], option=orjson.OPT_NON_STR_KEYS)).hexdigest()
    yield Head(key=f"checkpoint:{key}", provider="google")
    waiting: list[tuple[str, str]] = []
    for number, row in enumerate(rows, 1):
        parts = objs(row.get("parts"))
        if row.get("role") == "model":
            yield _said_by_model(parts, number, waiting)
        else:
            yield from _said_to_model(parts, number, waiting)


def _said_by_model(parts: list[JsonObject], number: int, waiting: list[tuple[str, str]]) -> Reply:
    calls: list[Asked] = []
    for at, part in enumerate(parts):
        if made := obj(part.get("functionCall")):
            key, tool = text(made.get("id")) or f"call-{number}.{at}", text(made.get("name"))
            calls.append(Asked(id=key, tool=tool, arguments=obj(made.get("args"))))
            waiting.append((key, tool))
    words = [text(part.get("text")) for part in parts if part.get("thought") is not True]
    thoughts = [text(part.get("text")) for part in parts if part.get("thought") is True]
    said = "\n".join(filter(None, words))
    return Reply(text=said, thinking="\n\n".join(thoughts), calls=tuple(calls), line=number)


def _said_to_model(parts: list[JsonObject], number: int, waiting: list[tuple[str, str]]) -> Iterator[Item]:
    for part in parts:
        if made := obj(part.get("functionResponse")):
            key, tool = text(made.get("id")), text(made.get("name"))
            asked = next((one for one in waiting if one[0] == key), None) or next(
                (one for one in waiting if one[1] == tool), (key, tool)
            )
            waiting[:] = [one for one in waiting if one != asked]
            response = obj(made.get("response"))
            error = text(response.get("error"))
            yield Result(
                call=asked[0], text=first(response, "output", "error", "content"), error=error, line=number,
                state="failed" if error else "succeeded",
            )  # fmt: skip
    said = "\n".join(text(part.get("text")) for part in parts if text(part.get("text")))
    if said:
        yield Prompt(text=said, line=number)


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
    facts = {key: found[key] for key in ("projectHash", "kind") if key in found}
    folder = next(names(found.get("directories")), "")
    return Head(
        key=text(found.get("sessionId")) or name, provider="google", model=model, facts=facts,
        title=text(found.get("summary")), workspace=folder, at=moment(found.get("startTime")),
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
    error = error or text(call.get("error")) or text(obj(call.get("error")).get("message"))
    said = said or text(call.get("resultDisplay")) or error
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
