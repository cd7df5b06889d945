"""Readers of logs of chat completions: Mistral Vibe, Grok, Hermes, and logs of requests and responses."""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Final

import orjson
from msgspec.structs import replace

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import records as r
from workbench.formats.chat_messages import (
    call_result,
    calls_of_completion,
    head_with_model,
    object_lines,
    usage_within,
)
from workbench.formats.input import JsonLine
from workbench.formats.usage_records import join_usage_before

_ROLES: Final = ("system", "developer", "user", "assistant", "tool")
_ERROR: Final = re.compile(r"\s*(?:<tool_error>|\[?(?:Tool )?Error\b)", re.IGNORECASE)
_REFUSAL: Final = re.compile(r"(?:rejected|denied|declined|cancell?ed) by (?:the )?user", re.IGNORECASE)
_GROK_BOOKKEEPING: Final = ("system", "backend_tool_call", "compaction", "checkpoint")


def _message(row: JsonObject, number: int, at: int | None, model: str = "") -> Iterator[r.Record]:
    """Yield what a message of chat completions says."""
    said, role = r.content_of(row, "content"), r.text_of(row, "role")
    match role:
        case "user":
            yield r.Prompt(said, at, number)
        case "assistant":
            thought = r.content_of(row, "reasoning_content") or r.content_of(row, "reasoning")
            yield r.Reply(
                text=said or r.text_of(row, "refusal"), thinking=thought, calls=calls_of_completion(row),
                model=r.text_of(row, "model") or model, at=at, line=number,
            )  # fmt: skip
        case "tool":
            yield _result(
                r.text_of(row, "tool_call_id"), said, number, at, is_error=row.get("is_error") is True
            )
        case _:
            yield r.UnmappedRecord(f"message.{role}", row, at, number, role in ("system", "developer"))


def _result(key: str, said: str, number: int, at: int | None, *, is_error: bool = False) -> r.CallResult:
    is_bad = is_error or bool(_ERROR.match(said))
    is_refused = bool(_REFUSAL.search(said[:400]))
    state: r.ResultState = "rejected" if is_refused else "failed" if is_bad else "succeeded"
    return call_result(key, said, state, at=at, line=number)


# --- Vibe: messages.jsonl, and meta.json beside it ------------------------------------------------------


def is_vibe(sample: list[JsonObject]) -> bool:
    return any(line.get("role") in _ROLES and "message_id" in line for line in sample)


def read_vibe(lines: Iterable[JsonLine | r.FileProblem], name: str) -> Iterator[r.Record]:
    path = PurePath(name)
    key = path.parent.name if path.name == "messages.jsonl" else path.stem
    yield r.SessionHead(key=key or name, provider="mistral")
    for line in object_lines(lines):
        if isinstance(line, r.FileProblem):
            yield line
        else:
            row, number = line
            yield from _message(row, number, r.time_of(row, "timestamp"))


def join_vibe(records: Iterator[r.Record], documents: list[JsonObject]) -> Iterator[r.Record]:
    """Yield a session with its id, title, folder, model, time and tokens, which stand in another file."""
    meta = documents[0]
    stats, place = r.object_of(meta, "stats"), r.object_of(meta, "environment")
    used = usage_within(
        r.count_of(stats, "session_prompt_tokens"), r.count_of(stats, "session_completion_tokens"),
        r.count_of(stats, "session_cached_tokens"), stats.get("session_cost"),
    )  # fmt: skip
    model = r.text_of(meta, "model") or r.text_of(meta, "config", "active_model")

    def told() -> Iterator[r.Record]:
        for record in records:
            if isinstance(record, r.SessionHead):
                yield replace(
                    record, key=r.text_of(meta, "session_id") or record.key, title=r.text_of(meta, "title"),
                    workspace=r.text_of(place, "working_directory"), at=r.time_of(meta, "start_time"),
                    model=model, parent=r.text_of(meta, "parent_session_id"),
                )  # fmt: skip
            else:
                yield record
        if used != Usage():
            yield r.UsageRecord(usage=used)

    yield from join_usage_before(told())


# --- Grok: chat_history.jsonl, and summary.json beside it -----------------------------------------------


def is_grok(sample: list[JsonObject]) -> bool:
    kinds = {r.text_of(line, "type") for line in sample}
    marks = {"prompt_index", "synthetic_reason", "model_fingerprint", "tool_call_id"}
    return bool(kinds & {"user", "assistant", "tool_result"}) and any(
        bool(marks & line.keys()) and "message" not in line and "role" not in line for line in sample
    )


def read_grok(lines: Iterable[JsonLine | r.FileProblem], name: str) -> Iterator[r.Record]:
    """Yield a session; its file holds no times."""
    yield from head_with_model(_read_grok(lines, name))


def _read_grok(lines: Iterable[JsonLine | r.FileProblem], name: str) -> Iterator[r.Record]:
    path = PurePath(name)
    key = path.parent.name if path.name == "chat_history.jsonl" else path.stem
    yield r.SessionHead(key=key or name, provider="xai")
    thoughts: list[str] = []
    for line in object_lines(lines):
        if isinstance(line, r.FileProblem):
            yield line
        else:
            yield from _grok_row(*line, thoughts)
    if thoughts:
        yield r.Reply(thinking="\n\n".join(thoughts))


def _grok_row(row: JsonObject, number: int, thoughts: list[str]) -> Iterator[r.Record]:
    at, kind = r.time_of(row, "timestamp"), r.text_of(row, "type")
    match kind:
        case "user" if row.get("synthetic_reason"):
            yield r.UnmappedRecord("context.user", row, at, number)
        case "user":
            if thoughts:
                yield r.Reply(thinking="\n\n".join(thoughts), at=at, line=number)
                thoughts.clear()
            yield r.Prompt(r.content_of(row, "content"), at, number)
        case "reasoning":
            said = r.content_of(row, "summary") or r.content_of(row, "content")
            thoughts += [said] if said else []
        case "assistant":
            thinking = "\n\n".join(thoughts)
            thoughts.clear()
            yield r.Reply(
                text=r.content_of(row, "content"), thinking=thinking, calls=calls_of_completion(row),
                model=r.text_of(row, "model_id"), at=at, line=number,
            )  # fmt: skip
        case "tool_result":
            is_error = row.get("is_error") is True
            said = r.content_of(row, "content")
            yield _result(r.text_of(row, "tool_call_id"), said, number, at, is_error=is_error)
        case _:
            yield r.UnmappedRecord(kind or "record", row, at, number, kind in _GROK_BOOKKEEPING)


def join_grok(records: Iterator[r.Record], documents: list[JsonObject]) -> Iterator[r.Record]:
    """Yield a session with its id, title, folder and time, which stand in another file."""
    summary = documents[0]
    info = r.object_of(summary, "info")
    facts = {key: summary[key] for key in ("head_branch", "agent_name") if r.as_text(summary.get(key))}
    for record in records:
        if isinstance(record, r.SessionHead):
            yield replace(
                record, key=r.text_of(info, "id") or record.key, workspace=r.text_of(info, "cwd"),
                title=r.first_text(summary, "generated_title", "session_summary"), facts=facts,
                model=record.model or r.text_of(summary, "current_model_id"),
                at=r.time_of(summary, "created_at"), parent=r.text_of(summary, "parent_session_id"),
            )  # fmt: skip
        else:
            yield record


# --- Hermes: one document -------------------------------------------------------------------------------


def is_hermes(value: Json) -> bool:
    return {"session_id", "session_start", "messages", "platform"} <= r.as_object(value).keys()


def read_hermes(value: Json, name: str) -> Iterator[r.Record]:
    document = r.as_object(value)
    model = r.text_of(document, "model")
    yield r.SessionHead(
        key=r.text_of(document, "session_id") or PurePath(name).stem, workspace=r.text_of(document, "cwd"),
        title=r.text_of(document, "title"), model=model, provider=r.text_of(document, "provider"),
        at=r.time_of(document, "session_start"), system_prompt=r.text_of(document, "system_prompt"),
    )  # fmt: skip
    for number, row in enumerate(r.objects_of(document, "messages"), 1):
        yield from _message(row, number, r.time_of(row, "timestamp"), model)


# --- A log of requests and responses --------------------------------------------------------------------


def is_log(sample: list[JsonObject]) -> bool:
    return any(
        line.get("type") in ("request", "response")
        and (isinstance(line.get("messages"), list) or "choices" in line)
        for line in sample
    )


def is_log_document(value: Json) -> bool:
    return is_log([r.as_object(value)])


def read_log_document(value: Json, name: str) -> Iterator[r.Record]:
    yield from read_log([JsonLine(1, value)], name)


def read_log(lines: Iterable[JsonLine | r.FileProblem], name: str) -> Iterator[r.Record]:
    """Yield the conversation of a log; each request repeats all that was said before, which is taken once."""
    yield from head_with_model(join_usage_before(_read_log(lines, name)))


def _read_log(lines: Iterable[JsonLine | r.FileProblem], name: str) -> Iterator[r.Record]:
    said: list[str] = []
    has_begun = False
    for line in object_lines(lines):
        if isinstance(line, r.FileProblem):
            yield line
            continue
        row, number = line
        at = r.time_of(row, "timestamp") or r.time_of(row, "created")
        if not has_begun:
            has_begun = True
            key = r.first_text(row, "session_id", "conversation_id") or PurePath(name).stem
            yield r.SessionHead(key=key or name, provider=r.text_of(row, "provider") or "openai", at=at)
        model = r.text_of(row, "model")
        messages = _messages(row)
        if row.get("type") not in ("request", "response") or not messages:
            yield r.UnmappedRecord("record", row, at, number, is_understood=False)
        fresh = messages[_common(said, messages) :] if row.get("type") == "request" else messages
        for message in fresh:
            said.append(_mark(message))
            yield from _message(message, number, at, model)
        if used := r.object_of(row, "usage"):
            yield r.UsageRecord(usage=_usage(used))


def _messages(row: JsonObject) -> list[JsonObject]:
    choices = [r.object_of(choice, "message") for choice in r.objects_of(row, "choices")[:1]]
    alone = [r.object_of(row, "message")] if "message" in row else []
    return choices or alone or r.objects_of(row, "messages")


def _mark(message: JsonObject) -> str:
    """Return what tells a message from another: role, words, and the calls that it makes or answers."""
    calls = [call.id for call in calls_of_completion(message)]
    held = [r.text_of(message, "role"), r.content_of(message, "content"), calls, message.get("tool_call_id")]
    return orjson.dumps(held, option=orjson.OPT_NON_STR_KEYS).decode()


def _common(said: list[str], messages: list[JsonObject]) -> int:
    """Return how many messages of a request were said before."""
    count = 0
    for before, message in zip(said, messages, strict=False):
        if before != _mark(message):
            break
        count += 1
    return count


def _usage(used: JsonObject) -> Usage:
    details = r.object_of(used, "prompt_tokens_details") or r.object_of(used, "input_tokens_details")
    sent = r.count_of(used, "prompt_tokens") or r.count_of(used, "input_tokens")
    got = r.count_of(used, "completion_tokens") or r.count_of(used, "output_tokens")
    return usage_within(sent, got, r.count_of(details, "cached_tokens"), used.get("cost"))
