"""The seeds' own files, read: S0's session, S2's log of messages, S3's log of a command, S4's session.

Pure. Owns what each of them says here. What breaks a rule of its seed is told, and read all the same.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import assistant, foreign, wink
from workbench.formats.fields import arr, content, count, first, moment, names, obj, objs, text, whole
from workbench.formats.foreign import (
    Asked,
    Change,
    Closed,
    Decision,
    Head,
    Item,
    Kept,
    Problem,
    Prompt,
    Reply,
    Result,
)
from workbench.formats.lines import Line

# --- S0 -------------------------------------------------------------------------------------------


def is_wink(value: Json) -> bool:
    """Tell whether a document is a session of S0."""
    return {"id", "working_dir", "model", "messages"} <= obj(value).keys()


def read_wink(value: Json, name: str) -> Iterator[Item]:
    """Yield a session of S0."""
    found = obj(value)
    messages = objs(found.get("messages"))
    prompt = next((content(row.get("content")) for row in messages[:1] if row.get("role") == "system"), "")
    yield Head(
        key=text(found.get("id")) or name, workspace=text(found.get("working_dir")), system_prompt=prompt,
        model=text(found.get("model")), at=moment(found.get("created_at")), status=text(found.get("status")),
        provider="ollama",
    )  # fmt: skip
    for problem in wink.problems(found):
        yield Problem(line=1, why=f"{problem.where}: {problem.why}")
    results = {text(row.get("tool_call_id")): row for row in objs(found.get("tool_results"))}
    told = {text(row.get("tool_call_id")): row for row in messages if row.get("role") == "tool"}
    for number, row in enumerate(messages, 1):
        yield from _wink_message(row, number, results, told)
    yield Closed(is_failed=found.get("status") == "errored")


def _wink_message(
    row: JsonObject, number: int, results: dict[str, JsonObject], told: dict[str, JsonObject]
) -> Iterator[Item]:
    said, at = content(row.get("content")), moment(row.get("timestamp"))
    match text(row.get("role")):
        case "user":
            yield Prompt(text=said, at=at, line=number)
        case "assistant":
            calls = objs(row.get("tool_calls"))
            meta = obj(row.get("metadata"))
            yield Reply(
                text=said, at=at, line=number, model=text(meta.get("model")),
                usage=Usage(output_tokens=count(meta.get("token_count"))),
                calls=tuple(
                    Asked(id=text(one.get("id")), tool=text(one.get("tool_name")),
                          arguments=obj(one.get("parameters")))
                    for one in calls
                ),
            )  # fmt: skip
            for one in calls:
                key = text(one.get("id"))
                yield from _wink_call(one, results.get(key), told.get(key), number)
        case "system" | "tool":
            if number > 1 and row.get("role") == "system":
                yield Kept(kind="system", content=said, at=at, line=number)
        case role:
            yield Kept(kind=f"message.{role}", content=row, at=at, line=number, is_understood=False)


def _wink_call(
    call: JsonObject, result: JsonObject | None, told: JsonObject | None, number: int
) -> Iterator[Item]:
    key, status = text(call.get("id")), text(call.get("status"))
    at = moment(call.get("executed_at")) or moment((told or {}).get("timestamp"))
    words = content((told or {}).get("content"))
    if status == "rejected":
        yield Result(call=key, state="rejected", reason=words, at=at, line=number)
        return
    if call.get("approval_method") == "manual":
        yield Decision(call=key, is_approved=True, at=at)
    if result is None and told is None:
        return
    found = result or {}
    is_bad = status == "failed" or found.get("success") is False
    paths = names(found.get("files_affected"))
    yield Result(
        call=key, text=text(found.get("output")) or words, state="failed" if is_bad else "succeeded",
        error=text(found.get("error")), duration_ms=whole(found.get("execution_time_ms")), at=at, line=number,
        changes=tuple(_wink_change(call, path) for path in paths),
    )  # fmt: skip


def _wink_change(call: JsonObject, path: str) -> Change:
    given = obj(call.get("parameters"))
    if "old_string" in given:
        return Change(path=path, old=text(given.get("old_string")), new=text(given.get("new_string")))
    return Change(path=path, change="create", new=text(given.get("content")))


# --- S2 -------------------------------------------------------------------------------------------

_KINDS: Final = {
    kind.casefold(): kind
    for kind in ("Progress", "AiResponse", "ToolCall", "Thinking", "UserInteraction", "FileModification",
                 "Error", "System")
}  # fmt: skip
_CHANGES: Final = {"Create": "create", "Modify": "modify", "Delete": "delete", "Rename": "modify"}


def is_kaiak(sample: list[JsonObject]) -> bool:
    """Tell whether lines are messages of S2."""
    return any({"sequence_number", "content", "session_id"} <= line.keys() for line in sample)


def is_kaiak_document(value: Json) -> bool:
    """Tell whether a document is a list of messages of S2, bare or under `messages`."""
    return is_kaiak(objs(value)[:5] or objs(obj(value).get("messages"))[:5])


def read_kaiak_document(value: Json, name: str) -> Iterator[Item]:
    """Yield a session from a list of messages."""
    found = obj(value)
    rows: list[Line | Problem] = [Line(1, {"session": found.get("session")})] if "session" in found else []
    messages = arr(value) or arr(found.get("messages"))
    yield from read_kaiak([*rows, *(Line(n, row) for n, row in enumerate(messages, 1))], name)


def read_kaiak(lines: Iterable[Line | Problem], name: str) -> Iterator[Item]:
    """Yield a session from messages of S2, with what stands before them of the session and its calls."""
    reader = _Kaiak(name)
    for line in lines:
        if isinstance(line, Problem):
            yield line
        else:
            yield from reader.line(obj(line.value), line.number)
    yield from reader.flush()


class _Kaiak:
    """What has to be remembered between messages."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._session: JsonObject = {}
        self._calls: dict[str, JsonObject] = {}
        self._asked: set[str] = set()
        self._partial: list[str] = []
        self._last = 0
        self._has_begun = False
        self._changes: list[Change] = []
        self._failed = False

    def line(self, found: JsonObject, number: int) -> Iterator[Item]:
        if "session" in found:
            self._session = obj(found.get("session"))
        elif "tool_call" in found:
            self._calls[text(obj(found.get("tool_call")).get("id"))] = obj(found.get("tool_call"))
        elif "content" in found:
            yield from self._message(found, number)
        else:
            yield Problem(line=number, why="it is no message of S2")

    def _message(self, found: JsonObject, number: int) -> Iterator[Item]:
        at = moment(found.get("timestamp"))
        if not self._has_begun:
            yield self._head(found, at)
        yield from self._numbered(whole(found.get("sequence_number")), number)
        kind, payload = tagged(found.get("content"))
        if kind != "AiResponse" and self._partial:
            yield from self.flush()
        match kind:
            case "AiResponse":
                yield from self._response(payload, at, number)
            case "Thinking":
                yield Reply(thinking=text(payload.get("text")), at=at, line=number)
            case "ToolCall":
                yield from self._call(payload, at, number)
            case "FileModification":
                self._changes.append(_modified(payload))
            case "Error":
                yield from self._error(payload, at)
            case "System" | "Progress" | "UserInteraction":
                is_prompt = kind == "System" and text(payload.get("event")) == "prompt.submitted"
                said = text(payload.get("text"))
                if is_prompt and said:
                    yield Prompt(text=said, at=at, line=number)
                else:
                    yield Kept(kind=kind, content=payload, at=at, line=number)
            case _:
                yield Kept(kind=kind or "message", content=found, at=at, line=number, is_understood=False)

    def _head(self, found: JsonObject, at: int | None) -> Head:
        self._has_begun = True
        settings = obj(self._session.get("configuration"))
        return Head(
            key=text(found.get("session_id")) or self._name,
            workspace=text(self._session.get("workspace_path")),
            provider=text(settings.get("provider")), model=text(settings.get("model")), at=at,
            status=text(self._session.get("status")) or None,
        )  # fmt: skip

    def _numbered(self, here: int | None, number: int) -> Iterator[Item]:
        """Tell of a gap or a repeat; an event of ours may be two messages of one number."""
        if here is not None and self._last and here not in (self._last, self._last + 1):
            what = "comes again" if here < self._last else "follows a gap"
            yield Problem(line=number, why=f"sequence number {here} {what} after {self._last}")
        self._last = here if here is not None else self._last

    def _response(self, payload: JsonObject, at: int | None, number: int) -> Iterator[Item]:
        said = first(payload, "text", "content")
        if payload.get("partial") is True:
            self._partial.append(said)
            return
        before, self._partial = "".join(self._partial), []
        yield Reply(text=said if said.startswith(before) or not before else before + said, at=at, line=number)

    def flush(self) -> Iterator[Item]:
        """Yield what was streamed and never finished."""
        said, self._partial = "".join(self._partial), []
        if said:
            yield Reply(text=said)
        if self._failed:
            yield Closed(is_failed=True)

    def _call(self, payload: JsonObject, at: int | None, number: int) -> Iterator[Item]:
        key, operation = text(payload.get("tool_call_id")), text(payload.get("operation"))
        if key not in self._asked:
            self._asked.add(key)
            known = self._calls.get(key, payload)
            asked = Asked(
                id=key, tool=first(known, "tool_name") or "tool", arguments=obj(known.get("parameters"))
            )
            yield Reply(calls=(asked,), at=at, line=number)
            if text(known.get("approval_status")) == "Approved":
                yield Decision(call=key, is_approved=True, at=at)
        if operation in ("Complete", "Error"):
            result = obj(payload.get("result"))
            data = result.get("data")
            changes, self._changes = tuple(self._changes), []
            yield Result(
                call=key, text=data if isinstance(data, str) else content(data),
                error=text(result.get("error")),
                state="succeeded" if operation == "Complete" else "failed", at=at, line=number,
                duration_ms=whole(result.get("execution_time_ms")), changes=changes,
            )  # fmt: skip

    def _error(self, payload: JsonObject, at: int | None) -> Iterator[Item]:
        code = first(payload, "error_code", "code") or "error"
        yield foreign.Failure(code=code, message=text(payload.get("message")), at=at)
        self._failed = self._failed or payload.get("recoverable") is False


def tagged(value: Json) -> tuple[str, JsonObject]:
    """Return the kind of a message and its payload, in the three ways that a union is written."""
    found = obj(value)
    if len(found) == 1:
        kind, payload = next(iter(found.items()))
        return _kind(kind), obj(payload)
    kind = first(found, "type", "kind")
    return _kind(kind), obj(found.get("payload")) or obj(found.get("data")) or found


def _kind(word: str) -> str:
    return _KINDS.get(word.replace("_", "").casefold(), word)


def _modified(payload: JsonObject) -> Change:
    old, new = payload.get("original_content"), payload.get("proposed_content")
    kind = _CHANGES.get(text(payload.get("change_type")), "modify")
    return Change(
        path=text(payload.get("file_path")), change=kind,  # type: ignore[arg-type]
        old=old if isinstance(old, str) else None, new=new if isinstance(new, str) else None,
    )  # fmt: skip


# --- S3 -------------------------------------------------------------------------------------------


def is_command_log(value: Json) -> bool:
    """Tell whether a document is a log of S3."""
    found = obj(value)
    return "user_query" in found and isinstance(found.get("iterations"), list)


def read_command_log(value: Json, name: str) -> Iterator[Item]:
    """Yield a session from a log of S3: a query, what was offered for it, and what the human said of each."""
    found = obj(value)
    meta, rounds = obj(found.get("metadata")), objs(found.get("iterations"))
    start = moment(meta.get("timestamp")) or next((moment(one.get("timestamp")) for one in rounds), None)
    query, model = text(found.get("user_query")), obj(obj(rounds[0] if rounds else None).get("model_input"))
    key = text(found.get("id")) or name.rpartition("/")[2].removesuffix(".json")
    facts = {one: meta[one] for one in ("tmux_info", "tmux_session", "final_feedback") if one in meta}
    facts = {**facts, "context_sources": dict(obj(found.get("context_sources")))}
    yield Head(
        key=key, title=query, provider="claude", model=text(meta.get("model")), at=start, facts=facts,
        status=text(meta.get("final_status")) or "quit", system_prompt=text(model.get("system_prompt")),
    )  # fmt: skip
    counted = whole(meta.get("iteration_count"))
    if counted is not None and counted != len(rounds):
        yield Problem(line=1, why=f"iteration_count is {counted}, there are {len(rounds)} iterations")
    yield Prompt(text=query, at=start, line=1)
    for number, one in enumerate(rounds, 1):
        following = text(rounds[number].get("feedback")) if number < len(rounds) else None
        yield from _round(one, number, following, meta)


def _round(one: JsonObject, number: int, following: str | None, meta: JsonObject) -> Iterator[Item]:
    at, given = moment(one.get("timestamp")), obj(one.get("model_output"))
    if number > 1 and text(one.get("feedback")):
        yield Prompt(text=text(one.get("feedback")), at=at, line=number)
    key = f"command-{number}"
    asked = Asked(id=key, tool="command", arguments={"command": text(given.get("command"))})
    yield Reply(text=text(given.get("explanation")), calls=(asked,), at=at, line=number)
    status = text(meta.get("final_status"))
    if following is not None:
        yield Result(call=key, state="rejected", reason=following, at=at, line=number)
    elif status == "accepted":
        yield Decision(call=key, is_approved=True, at=at)
        yield Result(call=key, text="accepted; nothing was run by it", at=at, line=number)
    elif status == "rejected":
        yield Result(call=key, state="rejected", reason=text(meta.get("final_feedback")), at=at, line=number)
    else:
        yield Result(call=key, state="cancelled", error="quit", at=at, line=number)


# --- S4 -------------------------------------------------------------------------------------------


def is_assistant(value: Json) -> bool:
    """Tell whether a document is a session of S4."""
    return {"systemPrompt", "messages"} <= obj(value).keys()


def is_assistant_lines(sample: list[JsonObject]) -> bool:
    """Tell whether lines are a session of S4 and its records."""
    return bool(sample) and is_assistant(sample[0])


def read_assistant(value: Json, name: str) -> Iterator[Item]:
    """Yield a session of S4."""
    yield from read_assistant_lines([Line(1, value)], name)


def read_assistant_lines(lines: Iterable[Line | Problem], name: str) -> Iterator[Item]:
    """Yield a session of S4, and the records that follow it in lines of their own."""
    has_begun = False
    for line in lines:
        if isinstance(line, Problem):
            yield line
            continue
        found = obj(line.value)
        if not has_begun:
            has_begun = True
            yield from _assistant_session(found, name)
        else:
            yield from _record(found, line.number)


def _assistant_session(found: JsonObject, name: str) -> Iterator[Item]:
    turns = objs(found.get("messages"))
    start = moment(found.get("createdAt")) or next((moment(one.get("timestamp")) for one in turns), None)
    facts = {key: found[key] for key in ("activeTools", "telemetryId", "capabilityProfile") if key in found}
    yield Head(
        key=text(found.get("id")) or name, provider=text(found.get("provider")), at=start, facts=facts,
        system_prompt=text(found.get("systemPrompt")), model=text(found.get("model")),
    )  # fmt: skip
    for number, why in assistant.order_problems([text(turn.get("role")) for turn in turns]):
        yield Problem(line=number, why=why)
    for number, turn in enumerate(turns, 1):
        said, at, role = content(turn.get("content")), moment(turn.get("timestamp")), text(turn.get("role"))
        meta = obj(turn.get("metadata"))
        if role == "user":
            yield Prompt(text=said, at=at, line=number)
        elif role == "assistant":
            used = Usage(
                input_tokens=count(meta.get("inputTokens")), output_tokens=count(meta.get("outputTokens"))
            )
            yield Reply(text=said, usage=used, at=at, line=number)
        elif role != "system" or number > 1:
            yield Kept(kind=f"turn.{role}", content=turn, at=at, line=number)
    for number, record in enumerate(objs(found.get("records")) or objs(found.get("toolInvocations")), 1):
        yield from _record(record, number)


def _record(found: JsonObject, number: int) -> Iterator[Item]:
    """Yield a ToolInvocationRecord."""
    key, tool = text(found.get("id")), text(found.get("toolId"))
    if not tool:
        yield Kept(kind="record", content=found, line=number, is_understood=False)
        return
    asked = Asked(id=key, tool=tool, arguments=obj(found.get("parameters")))
    yield Reply(calls=(asked,), at=moment(found.get("startedAt")), line=number)
    status, summary = text(found.get("status")), text(found.get("resultSummary"))
    states: dict[str, foreign.ResultState] = {
        "succeeded": "succeeded",
        "failed": "failed",
        "aborted": "cancelled",
    }
    if status in states:
        yield Result(
            call=key, text=summary, state=states[status], error="" if status == "succeeded" else summary,
            at=moment(found.get("finishedAt")), line=number,
        )  # fmt: skip
