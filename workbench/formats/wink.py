"""S0 Wink's session file: read with everything wrong in it named, and written from a session of ours.

Owns the rules of seed S0 for sessions, messages, calls and results. A reader never refuses a whole file for
one bad part: problems are reported, and what can be shown is shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final, cast

from workbench.domain.events import CallFinished, Event, PromptSubmitted, ReplyCompleted
from workbench.domain.rows import Call, Session
from workbench.domain.values import Json, JsonObject
from workbench.formats.words import WINK_CALL, WINK_STATUS, call_error
from workbench.text import canonical
from workbench.text.human import iso, parse_iso

ROLES: Final = ("user", "assistant", "system", "tool")
STATUSES: Final = ("active", "paused", "completed", "errored")
CALL_STATUSES: Final = ("pending", "approved", "rejected", "executed", "failed")
CALL_MOVES: Final = {
    ("pending", "approved"), ("pending", "rejected"), ("approved", "executed"), ("approved", "failed"),
}  # fmt: skip
OUTPUT_LIMIT: Final = 10_240


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something in a file that is not as S0 has it; `where` is a path such as `messages[3].role`."""

    where: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WinkSession:
    """A session file as it was read; unknown fields stay in `document`."""

    document: JsonObject
    problems: tuple[Problem, ...] = ()

    @property
    def messages(self) -> tuple[JsonObject, ...]:
        """Return the messages, oldest first."""
        return tuple(_objects(self.document, "messages"))

    @property
    def results(self) -> tuple[JsonObject, ...]:
        """Return the tool results."""
        return tuple(_objects(self.document, "tool_results"))


class NotWink(ValueError):
    """A file is no Wink session at all."""


def read(data: bytes | str) -> WinkSession:
    """Read a session file and name everything in it that breaks a rule of S0.

    Raises:
        NotWink: it is no JSON object with the fields of a session.
    """
    try:
        document = canonical.loads(data)
    except ValueError as error:
        raise NotWink(f"it is no JSON: {error}") from None
    if not isinstance(document, Mapping):
        raise NotWink("it is no JSON object")
    found = cast("JsonObject", document)
    missing = [name for name in ("id", "working_dir", "model", "messages") if name not in found]
    if missing:
        raise NotWink(f"it has no {', '.join(missing)}")
    return WinkSession(document=found, problems=tuple(problems(found)))


def problems(document: JsonObject) -> Iterator[Problem]:
    """Yield everything in a session's document that breaks a rule of S0."""
    if str(document.get("status", "active")) not in STATUSES:
        yield Problem(where="status", why=f"it is none of {', '.join(STATUSES)}")
    if not PurePosixPath(str(document.get("working_dir", ""))).is_absolute():
        yield Problem(where="working_dir", why="it is no absolute path")
    if not str(document["model"]).strip():
        yield Problem(where="model", why="it is empty")
    yield from _of_messages(list(_objects(document, "messages")))
    yield from _of_results(document)


def _of_messages(messages: Sequence[JsonObject]) -> Iterator[Problem]:
    known: set[str] = set()
    for number, message in enumerate(messages):
        where = f"messages[{number}]"
        yield from _of_message(where, message, known)
        for at, call in enumerate(_objects(message, "tool_calls")):
            known.add(str(call.get("id", "")))
            if str(call.get("status", "pending")) not in CALL_STATUSES:
                yield Problem(where=f"{where}.tool_calls[{at}].status", why="it is no status of a call")
    for number, (earlier, later) in enumerate(pairwise(map(_time, messages))):
        if earlier is not None and later is not None and later < earlier:
            yield Problem(where=f"messages[{number + 1}].timestamp", why="it is before the message above")


def _of_message(where: str, message: JsonObject, known: set[str]) -> Iterator[Problem]:
    role, calls = message.get("role"), message.get("tool_calls")
    if str(role) not in ROLES:
        yield Problem(where=f"{where}.role", why=f"it is none of {', '.join(ROLES)}")
    if not message.get("content") and not calls:
        yield Problem(where=f"{where}.content", why="it is empty, and there are no tool calls")
    if role == "user" and calls:
        yield Problem(where=f"{where}.tool_calls", why="a user message has none")
    if role == "tool" and not message.get("tool_call_id"):
        yield Problem(where=f"{where}.tool_call_id", why="it is missing")
    elif role == "tool" and str(message["tool_call_id"]) not in known:
        yield Problem(where=f"{where}.tool_call_id", why="no earlier message made this call")


def _of_results(document: JsonObject) -> Iterator[Problem]:
    calls = {str(c.get("id")) for m in _objects(document, "messages") for c in _objects(m, "tool_calls")}
    seen: set[str] = set()
    for number, result in enumerate(_objects(document, "tool_results")):
        where, call_id = f"tool_results[{number}]", str(result.get("tool_call_id", ""))
        if call_id not in calls:
            yield Problem(where=f"{where}.tool_call_id", why="no message made this call")
        if call_id in seen:
            yield Problem(where=f"{where}.tool_call_id", why="the call has a result already")
        seen.add(call_id)
        yield from _of_result(where, result, str(document["working_dir"]))


def _of_result(where: str, result: JsonObject, working_dir: str) -> Iterator[Problem]:
    has_error = bool(result.get("error"))
    if result.get("success") is True and has_error:
        yield Problem(where=f"{where}.error", why="it succeeded, so there is none")
    if result.get("success") is False and not has_error:
        yield Problem(where=f"{where}.error", why="it failed, so there is one")
    if len(str(result.get("output", "")).encode()) > OUTPUT_LIMIT:
        yield Problem(where=f"{where}.output", why=f"it is over {OUTPUT_LIMIT} bytes")
    for path in _list(result, "files_affected"):
        if not _is_inside(working_dir, str(path)):
            yield Problem(where=f"{where}.files_affected", why=f"{path} is outside the working directory")


def _is_inside(folder: str, path: str) -> bool:
    parts: list[str] = []
    for part in (PurePosixPath(folder) / path).parts:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return PurePosixPath(*parts).is_relative_to(PurePosixPath(folder))


def _time(message: JsonObject) -> int | None:
    try:
        return parse_iso(str(message.get("timestamp", "")))
    except ValueError:
        return None


def _list(holder: JsonObject, name: str) -> list[Json]:
    found = holder.get(name)
    return cast("list[Json]", found) if isinstance(found, list) else []


def _objects(holder: JsonObject, name: str) -> Iterator[JsonObject]:
    for item in _list(holder, name):
        if isinstance(item, Mapping):
            yield cast("JsonObject", item)


# --- out -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Writing:
    calls: Mapping[str, Call]
    provider_ids: dict[str, str] = field(default_factory=dict[str, str])
    messages: list[JsonObject] = field(default_factory=list[JsonObject])
    results: list[JsonObject] = field(default_factory=list[JsonObject])


def write(session: Session, events: Sequence[Event], calls: Sequence[Call]) -> JsonObject:
    """Return a session of ours as S0's session file; texts are the recorded, scrubbed ones."""
    writing = _Writing(calls={call.id: call for call in calls})
    if session.system_prompt:
        writing.messages.append(_message("system", session.system_prompt, session.created_at))
    for event in events:
        _write_event(writing, event)
    return {
        "id": session.id,
        "working_dir": session.workspace,
        "model": session.model,
        "created_at": iso(session.created_at),
        "updated_at": iso(session.updated_at),
        "status": WINK_STATUS[session.status],
        "messages": writing.messages,
        "tool_results": writing.results,
    }


def _write_event(writing: _Writing, event: Event) -> None:
    match event.body:
        case PromptSubmitted(text=text):
            writing.messages.append(_message("user", text, event.at))
        case ReplyCompleted() as body:
            calls = [_call(writing.calls[c.call_id]) for c in body.calls if c.call_id in writing.calls]
            made: JsonObject = {"tool_calls": calls} if calls else {}
            if body.text or calls:
                tokens = {"token_count": body.usage.output_tokens, "model": body.model}
                writing.messages.append(
                    {**_message("assistant", body.text, event.at), **made, "metadata": tokens}
                )
        case CallFinished() as body:
            call = writing.calls.get(event.call_id or "")
            if call is not None and call.replaced_by is None:
                _write_result(writing, call, body, event.at)
        case _:
            pass


def _write_result(writing: _Writing, call: Call, body: CallFinished, at: int) -> None:
    content = body.preview or body.error or body.summary or body.state
    writing.messages.append(
        {**_message("tool", content, at), "tool_call_id": call.provider_call_id or call.id}
    )
    if body.state in ("succeeded", "failed", "interrupted"):
        writing.results.append(result(call, body))


def result(call: Call, body: CallFinished) -> JsonObject:
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


def _call(call: Call) -> JsonObject:
    made: dict[str, Json] = {
        "id": call.provider_call_id or call.id,
        "tool_name": call.tool,
        "parameters": dict(call.parameters),
        "status": WINK_CALL[call.state],
        "requested_at": iso(call.requested_at),
    }
    if call.approval_method is not None:
        made["approval_method"] = call.approval_method
    if call.rule is not None:
        made["approval_rule_id"] = call.rule
    if call.state in ("succeeded", "failed", "interrupted") and call.finished_at is not None:
        made["executed_at"] = iso(call.finished_at)
    return made


def _message(role: str, content: str, at: int) -> dict[str, Json]:
    return {"role": role, "content": content, "timestamp": iso(at)}
