"""Readers of the seed programs' files: Wink (S0), kaiak (S2), the command log (S3) and the assistant (S4).

A file that breaks a rule of its format is read all the same; the rule is reported.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Final

from msgspec import Struct

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import records, seed_export
from workbench.formats.input import JsonLine
from workbench.formats.records import (
    CallDecision,
    CallResult,
    FileEdit,
    FileProblem,
    Prompt,
    Record,
    Reply,
    SessionEnd,
    SessionHead,
    ToolCall,
    UnmappedRecord,
    as_array,
    as_count,
    as_integer,
    as_object,
    as_objects,
    as_text,
    as_texts,
    as_time,
    content_text,
    first_text,
)
from workbench.formats.seed_export import WINK_CALL_STATUSES, WINK_OUTPUT_LIMIT, WINK_ROLES, WINK_STATUSES

# --- S0 -------------------------------------------------------------------------------------------


def is_wink(value: Json) -> bool:
    return {"id", "working_dir", "model", "messages"} <= as_object(value).keys()


def read_wink(value: Json, name: str) -> Iterator[Record]:
    document = as_object(value)
    messages = as_objects(document.get("messages"))
    prompt = next(
        (content_text(row.get("content")) for row in messages[:1] if row.get("role") == "system"), ""
    )
    yield SessionHead(
        key=as_text(document.get("id")) or name, workspace=as_text(document.get("working_dir")),
        system_prompt=prompt,
        model=as_text(document.get("model")), at=as_time(document.get("created_at")),
        status=as_text(document.get("status")),
        provider="ollama",
    )  # fmt: skip
    for problem in wink_violations(document):
        yield FileProblem(line=1, why=f"{problem.where}: {problem.why}")
    results = {as_text(row.get("tool_call_id")): row for row in as_objects(document.get("tool_results"))}
    told = {as_text(row.get("tool_call_id")): row for row in messages if row.get("role") == "tool"}
    for number, row in enumerate(messages, 1):
        yield from _read_wink_message(row, number, results, told)
    yield SessionEnd(is_failed=document.get("status") == "errored")


def _read_wink_message(
    row: JsonObject, number: int, results: dict[str, JsonObject], told: dict[str, JsonObject]
) -> Iterator[Record]:
    said, at = content_text(row.get("content")), as_time(row.get("timestamp"))
    match as_text(row.get("role")):
        case "user":
            yield Prompt(text=said, at=at, line=number)
        case "assistant":
            calls = as_objects(row.get("tool_calls"))
            meta = as_object(row.get("metadata"))
            yield Reply(
                text=said, at=at, line=number, model=as_text(meta.get("model")),
                usage=Usage(output_tokens=as_count(meta.get("token_count"))),
                calls=tuple(
                    ToolCall(id=as_text(call.get("id")), tool=as_text(call.get("tool_name")),
                          arguments=as_object(call.get("parameters")))
                    for call in calls
                ),
            )  # fmt: skip
            for call in calls:
                key = as_text(call.get("id"))
                yield from _read_wink_call(call, results.get(key), told.get(key), number)
        case "system" | "tool":
            if number > 1 and row.get("role") == "system":
                yield UnmappedRecord(kind="system", content=said, at=at, line=number)
        case role:
            yield UnmappedRecord(kind=f"message.{role}", content=row, at=at, line=number, is_understood=False)


def _read_wink_call(
    call: JsonObject, result: JsonObject | None, told: JsonObject | None, number: int
) -> Iterator[Record]:
    key, status = as_text(call.get("id")), as_text(call.get("status"))
    at = as_time(call.get("executed_at")) or as_time((told or {}).get("timestamp"))
    words = content_text((told or {}).get("content"))
    if status == "rejected":
        yield CallResult(call=key, state="rejected", reason=words, at=at, line=number)
        return
    if call.get("approval_method") == "manual":
        yield CallDecision(call=key, is_approved=True, at=at)
    if result is None and told is None:
        return
    found = result or {}
    is_bad = status == "failed" or found.get("success") is False
    paths = as_texts(found.get("files_affected"))
    yield CallResult(
        call=key, text=as_text(found.get("output")) or words, state="failed" if is_bad else "succeeded",
        error=as_text(found.get("error")), duration_ms=as_integer(found.get("execution_time_ms")), at=at,
        line=number,
        changes=tuple(_wink_edit(call, path) for path in paths),
    )  # fmt: skip


def _wink_edit(call: JsonObject, path: str) -> FileEdit:
    fields = as_object(call.get("parameters"))
    if "old_string" in fields:
        return FileEdit(
            path=path, old=as_text(fields.get("old_string")), new=as_text(fields.get("new_string"))
        )
    return FileEdit(path=path, change="create", new=as_text(fields.get("content")))


# --- S2 -------------------------------------------------------------------------------------------

_KAIAK_KINDS: Final = {
    kind.casefold(): kind
    for kind in ("Progress", "AiResponse", "ToolCall", "Thinking", "UserInteraction", "FileModification",
                 "Error", "System")
}  # fmt: skip
_KAIAK_CHANGES: Final = {"Create": "create", "Modify": "modify", "Delete": "delete", "Rename": "modify"}


def is_kaiak_lines(sample: list[JsonObject]) -> bool:
    return any({"sequence_number", "content", "session_id"} <= line.keys() for line in sample)


def is_kaiak_document(value: Json) -> bool:
    """Tell whether a document is a list of messages of S2, bare or under `messages`."""
    return is_kaiak_lines(as_objects(value)[:5] or as_objects(as_object(value).get("messages"))[:5])


def read_kaiak_document(value: Json, name: str) -> Iterator[Record]:
    """Yield a session from a list of messages."""
    document = as_object(value)
    rows: list[JsonLine | FileProblem] = (
        [JsonLine(1, {"session": document.get("session")})] if "session" in document else []
    )
    messages = as_array(value) or as_array(document.get("messages"))
    yield from read_kaiak_lines([*rows, *(JsonLine(n, row) for n, row in enumerate(messages, 1))], name)


def read_kaiak_lines(lines: Iterable[JsonLine | FileProblem], name: str) -> Iterator[Record]:
    """Yield a session from messages of S2, with what stands before them of the session and its calls."""
    reader = _KaiakReader(name)
    for line in lines:
        if isinstance(line, FileProblem):
            yield line
        else:
            yield from reader.line(as_object(line.value), line.number)
    yield from reader.flush()


class _KaiakReader:
    def __init__(self, name: str) -> None:
        self._name = name
        self._session: JsonObject = {}
        self._calls: dict[str, JsonObject] = {}
        self._asked: set[str] = set()
        self._partial: list[str] = []
        self._last = 0
        self._has_begun = False
        self._changes: list[FileEdit] = []
        self._failed = False

    def line(self, found: JsonObject, number: int) -> Iterator[Record]:
        if "session" in found:
            self._session = as_object(found.get("session"))
        elif "tool_call" in found:
            self._calls[as_text(as_object(found.get("tool_call")).get("id"))] = as_object(
                found.get("tool_call")
            )
        elif "content" in found:
            yield from self._message(found, number)
        else:
            yield FileProblem(line=number, why="it is no message of S2")

    def _message(self, found: JsonObject, number: int) -> Iterator[Record]:
        at = as_time(found.get("timestamp"))
        if not self._has_begun:
            yield self._head(found, at)
        yield from self._numbered(as_integer(found.get("sequence_number")), number)
        kind, payload = tagged_union(found.get("content"))
        if kind != "AiResponse" and self._partial:
            yield from self.flush()
        match kind:
            case "AiResponse":
                yield from self._response(payload, at, number)
            case "Thinking":
                yield Reply(thinking=as_text(payload.get("text")), at=at, line=number)
            case "ToolCall":
                yield from self._call(payload, at, number)
            case "FileModification":
                self._changes.append(_kaiak_edit(payload))
            case "Error":
                yield from self._error(payload, at)
            case "System" | "Progress" | "UserInteraction":
                is_prompt = kind == "System" and as_text(payload.get("event")) == "prompt.submitted"
                said = as_text(payload.get("text"))
                if is_prompt and said:
                    yield Prompt(text=said, at=at, line=number)
                else:
                    yield UnmappedRecord(kind=kind, content=payload, at=at, line=number)
            case _:
                yield UnmappedRecord(
                    kind=kind or "message", content=found, at=at, line=number, is_understood=False
                )

    def _head(self, found: JsonObject, at: int | None) -> SessionHead:
        self._has_begun = True
        settings = as_object(self._session.get("configuration"))
        return SessionHead(
            key=as_text(found.get("session_id")) or self._name,
            workspace=as_text(self._session.get("workspace_path")),
            provider=as_text(settings.get("provider")), model=as_text(settings.get("model")), at=at,
            status=as_text(self._session.get("status")) or None,
        )  # fmt: skip

    def _numbered(self, here: int | None, number: int) -> Iterator[Record]:
        if here is not None and self._last and here not in (self._last, self._last + 1):
            what = "comes again" if here < self._last else "follows a gap"
            yield FileProblem(line=number, why=f"sequence number {here} {what} after {self._last}")
        self._last = here if here is not None else self._last

    def _response(self, payload: JsonObject, at: int | None, number: int) -> Iterator[Record]:
        said = first_text(payload, "text", "content")
        if payload.get("partial") is True:
            self._partial.append(said)
            return
        before, self._partial = "".join(self._partial), []
        yield Reply(text=said if said.startswith(before) or not before else before + said, at=at, line=number)

    def flush(self) -> Iterator[Record]:
        said, self._partial = "".join(self._partial), []
        if said:
            yield Reply(text=said)
        if self._failed:
            yield SessionEnd(is_failed=True)

    def _call(self, payload: JsonObject, at: int | None, number: int) -> Iterator[Record]:
        key, operation = as_text(payload.get("tool_call_id")), as_text(payload.get("operation"))
        if key not in self._asked:
            self._asked.add(key)
            known = self._calls.get(key, payload)
            asked = ToolCall(
                id=key,
                tool=first_text(known, "tool_name") or "tool",
                arguments=as_object(known.get("parameters")),
            )
            yield Reply(calls=(asked,), at=at, line=number)
            if as_text(known.get("approval_status")) == "Approved":
                yield CallDecision(call=key, is_approved=True, at=at)
        if operation in ("Complete", "Error"):
            result = as_object(payload.get("result"))
            data = result.get("data")
            changes, self._changes = tuple(self._changes), []
            yield CallResult(
                call=key, text=data if isinstance(data, str) else content_text(data),
                error=as_text(result.get("error")),
                state="succeeded" if operation == "Complete" else "failed", at=at, line=number,
                duration_ms=as_integer(result.get("execution_time_ms")), changes=changes,
            )  # fmt: skip

    def _error(self, payload: JsonObject, at: int | None) -> Iterator[Record]:
        code = first_text(payload, "error_code", "code") or "error"
        yield records.ErrorRecord(code=code, message=as_text(payload.get("message")), at=at)
        self._failed = self._failed or payload.get("recoverable") is False


def tagged_union(value: Json) -> tuple[str, JsonObject]:
    """Return the kind of a message and its payload, in the three ways that a union is written."""
    document = as_object(value)
    if len(document) == 1:
        kind, payload = next(iter(document.items()))
        return _kaiak_kind(kind), as_object(payload)
    kind = first_text(document, "type", "kind")
    return _kaiak_kind(kind), as_object(document.get("payload")) or as_object(
        document.get("data")
    ) or document


def _kaiak_kind(word: str) -> str:
    return _KAIAK_KINDS.get(word.replace("_", "").casefold(), word)


def _kaiak_edit(payload: JsonObject) -> FileEdit:
    old, new = payload.get("original_content"), payload.get("proposed_content")
    kind = _KAIAK_CHANGES.get(as_text(payload.get("change_type")), "modify")
    return FileEdit(
        path=as_text(payload.get("file_path")), change=kind,  # type: ignore[arg-type]
        old=old if isinstance(old, str) else None, new=new if isinstance(new, str) else None,
    )  # fmt: skip


# --- S3 -------------------------------------------------------------------------------------------


def is_command_log(value: Json) -> bool:
    document = as_object(value)
    return "user_query" in document and isinstance(document.get("iterations"), list)


def read_command_log(value: Json, name: str) -> Iterator[Record]:
    """Yield a session from a log of S3: a query, what was offered for it, and what the human said of each."""
    document = as_object(value)
    meta, rounds = as_object(document.get("metadata")), as_objects(document.get("iterations"))
    start = as_time(meta.get("timestamp")) or next((as_time(one.get("timestamp")) for one in rounds), None)
    query, model = (
        as_text(document.get("user_query")),
        as_object(as_object(rounds[0] if rounds else None).get("model_input")),
    )
    key = as_text(document.get("id")) or name.rpartition("/")[2].removesuffix(".json")
    facts = {one: meta[one] for one in ("tmux_info", "tmux_session", "final_feedback") if one in meta}
    facts = {**facts, "context_sources": dict(as_object(document.get("context_sources")))}
    yield SessionHead(
        key=key, title=query, provider="claude", model=as_text(meta.get("model")), at=start, facts=facts,
        status=as_text(meta.get("final_status")) or "quit", system_prompt=as_text(model.get("system_prompt")),
    )  # fmt: skip
    counted = as_integer(meta.get("iteration_count"))
    if counted is not None and counted != len(rounds):
        yield FileProblem(line=1, why=f"iteration_count is {counted}, there are {len(rounds)} iterations")
    yield Prompt(text=query, at=start, line=1)
    for number, one in enumerate(rounds, 1):
        following = as_text(rounds[number].get("feedback")) if number < len(rounds) else None
        yield from _read_command_round(one, number, following, meta)


def _read_command_round(
    one: JsonObject, number: int, following: str | None, meta: JsonObject
) -> Iterator[Record]:
    at, given = as_time(one.get("timestamp")), as_object(one.get("model_output"))
    if number > 1 and as_text(one.get("feedback")):
        yield Prompt(text=as_text(one.get("feedback")), at=at, line=number)
    key = f"command-{number}"
    asked = ToolCall(id=key, tool="command", arguments={"command": as_text(given.get("command"))})
    yield Reply(text=as_text(given.get("explanation")), calls=(asked,), at=at, line=number)
    status = as_text(meta.get("final_status"))
    if following is not None:
        yield CallResult(call=key, state="rejected", reason=following, at=at, line=number)
    elif status == "accepted":
        yield CallDecision(call=key, is_approved=True, at=at)
        yield CallResult(call=key, text="accepted; nothing was run by it", at=at, line=number)
    elif status == "rejected":
        yield CallResult(
            call=key, state="rejected", reason=as_text(meta.get("final_feedback")), at=at, line=number
        )
    else:
        yield CallResult(call=key, state="cancelled", error="quit", at=at, line=number)


# --- S4 -------------------------------------------------------------------------------------------


def is_assistant(value: Json) -> bool:
    return {"systemPrompt", "messages"} <= as_object(value).keys()


def is_assistant_lines(sample: list[JsonObject]) -> bool:
    return bool(sample) and is_assistant(sample[0])


def read_assistant(value: Json, name: str) -> Iterator[Record]:
    yield from read_assistant_lines([JsonLine(1, value)], name)


def read_assistant_lines(lines: Iterable[JsonLine | FileProblem], name: str) -> Iterator[Record]:
    """Yield a session of S4, and the records that follow it in lines of their own."""
    has_begun = False
    for line in lines:
        if isinstance(line, FileProblem):
            yield line
            continue
        row = as_object(line.value)
        if not has_begun:
            has_begun = True
            yield from _read_assistant_turns(row, name)
        else:
            yield from _read_invocation_record(row, line.number)


def _read_assistant_turns(found: JsonObject, name: str) -> Iterator[Record]:
    turns = as_objects(found.get("messages"))
    start = as_time(found.get("createdAt")) or next((as_time(one.get("timestamp")) for one in turns), None)
    facts = {key: found[key] for key in ("activeTools", "telemetryId", "capabilityProfile") if key in found}
    yield SessionHead(
        key=as_text(found.get("id")) or name, provider=as_text(found.get("provider")), at=start, facts=facts,
        system_prompt=as_text(found.get("systemPrompt")), model=as_text(found.get("model")),
    )  # fmt: skip
    for number, why in seed_export.turn_order_violations([as_text(turn.get("role")) for turn in turns]):
        yield FileProblem(line=number, why=why)
    for number, turn in enumerate(turns, 1):
        said, at, role = (
            content_text(turn.get("content")),
            as_time(turn.get("timestamp")),
            as_text(turn.get("role")),
        )
        meta = as_object(turn.get("metadata"))
        if role == "user":
            yield Prompt(text=said, at=at, line=number)
        elif role == "assistant":
            used = Usage(
                input_tokens=as_count(meta.get("inputTokens")),
                output_tokens=as_count(meta.get("outputTokens")),
            )
            yield Reply(text=said, usage=used, at=at, line=number)
        elif role != "system" or number > 1:
            yield UnmappedRecord(kind=f"turn.{role}", content=turn, at=at, line=number)
    for number, record in enumerate(
        as_objects(found.get("records")) or as_objects(found.get("toolInvocations")), 1
    ):
        yield from _read_invocation_record(record, number)


def _read_invocation_record(found: JsonObject, number: int) -> Iterator[Record]:
    key, tool = as_text(found.get("id")), as_text(found.get("toolId"))
    if not tool:
        yield UnmappedRecord(kind="record", content=found, line=number, is_understood=False)
        return
    asked = ToolCall(id=key, tool=tool, arguments=as_object(found.get("parameters")))
    yield Reply(calls=(asked,), at=as_time(found.get("startedAt")), line=number)
    status, summary = as_text(found.get("status")), as_text(found.get("resultSummary"))
    states: dict[str, records.ResultState] = {
        "succeeded": "succeeded",
        "failed": "failed",
        "aborted": "cancelled",
    }
    if status in states:
        yield CallResult(
            call=key, text=summary, state=states[status], error="" if status == "succeeded" else summary,
            at=as_time(found.get("finishedAt")), line=number,
        )  # fmt: skip


class RuleViolation(Struct, frozen=True, kw_only=True):
    """Something in a file that is not as S0 has it; `where` is a path such as `messages[3].role`."""

    where: str
    why: str


def wink_violations(document: JsonObject) -> Iterator[RuleViolation]:
    """Yield everything in a session's document that breaks a rule of S0."""
    if str(document.get("status", "active")) not in WINK_STATUSES:
        yield RuleViolation(where="status", why=f"it is none of {', '.join(WINK_STATUSES)}")
    if not PurePosixPath(str(document.get("working_dir", ""))).is_absolute():
        yield RuleViolation(where="working_dir", why="it is no absolute path")
    if not str(document["model"]).strip():
        yield RuleViolation(where="model", why="it is empty")
    yield from _message_list_violations(as_objects(document.get("messages")))
    yield from _result_list_violations(document)


def _message_list_violations(messages: Sequence[JsonObject]) -> Iterator[RuleViolation]:
    known: set[str] = set()
    for number, message in enumerate(messages):
        where = f"messages[{number}]"
        yield from _message_violations(where, message, known)
        for at, call in enumerate(as_objects(message.get("tool_calls"))):
            known.add(str(call.get("id", "")))
            if str(call.get("status", "pending")) not in WINK_CALL_STATUSES:
                yield RuleViolation(where=f"{where}.tool_calls[{at}].status", why="it is no status of a call")
    for number, (earlier, later) in enumerate(
        pairwise(as_time(message.get("timestamp")) for message in messages)
    ):
        if earlier is not None and later is not None and later < earlier:
            yield RuleViolation(
                where=f"messages[{number + 1}].timestamp", why="it is before the message above"
            )


def _message_violations(where: str, message: JsonObject, known: set[str]) -> Iterator[RuleViolation]:
    role, calls = message.get("role"), message.get("tool_calls")
    if str(role) not in WINK_ROLES:
        yield RuleViolation(where=f"{where}.role", why=f"it is none of {', '.join(WINK_ROLES)}")
    if not message.get("content") and not calls:
        yield RuleViolation(where=f"{where}.content", why="it is empty, and there are no tool calls")
    if role == "user" and calls:
        yield RuleViolation(where=f"{where}.tool_calls", why="a user message has none")
    if role == "tool" and not message.get("tool_call_id"):
        yield RuleViolation(where=f"{where}.tool_call_id", why="it is missing")
    elif role == "tool" and str(message["tool_call_id"]) not in known:
        yield RuleViolation(where=f"{where}.tool_call_id", why="no earlier message made this call")


def _result_list_violations(document: JsonObject) -> Iterator[RuleViolation]:
    calls = {
        str(c.get("id"))
        for m in as_objects(document.get("messages"))
        for c in as_objects(m.get("tool_calls"))
    }
    seen: set[str] = set()
    for number, result in enumerate(as_objects(document.get("tool_results"))):
        where, call_id = f"tool_results[{number}]", str(result.get("tool_call_id", ""))
        if call_id not in calls:
            yield RuleViolation(where=f"{where}.tool_call_id", why="no message made this call")
        if call_id in seen:
            yield RuleViolation(where=f"{where}.tool_call_id", why="the call has a result already")
        seen.add(call_id)
        yield from _result_violations(where, result, str(document["working_dir"]))


def _result_violations(where: str, result: JsonObject, working_dir: str) -> Iterator[RuleViolation]:
    has_error = bool(result.get("error"))
    if result.get("success") is True and has_error:
        yield RuleViolation(where=f"{where}.error", why="it succeeded, so there is none")
    if result.get("success") is False and not has_error:
        yield RuleViolation(where=f"{where}.error", why="it failed, so there is one")
    if len(str(result.get("output", "")).encode()) > WINK_OUTPUT_LIMIT:
        yield RuleViolation(where=f"{where}.output", why=f"it is over {WINK_OUTPUT_LIMIT} bytes")
    for path in as_array(result.get("files_affected")):
        if not _is_inside(working_dir, str(path)):
            yield RuleViolation(
                where=f"{where}.files_affected", why=f"{path} is outside the working directory"
            )


def _is_inside(folder: str, path: str) -> bool:
    return PurePosixPath(normpath(PurePosixPath(folder, path))).is_relative_to(PurePosixPath(folder))
