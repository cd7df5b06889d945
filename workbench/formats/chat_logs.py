"""Readers of logs of chat completions: Mistral Vibe, Grok, Hermes, and logs of requests and responses."""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import PurePath
from typing import Final

from msgspec.structs import replace

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.chat_messages import (
    call_result,
    calls_of_completion,
    end_state,
    json_text,
    usage_within,
)
from workbench.formats.input import JsonLine, JsonLines
from workbench.formats.record_streams import head_with_model, read_rows, session_key, with_heads
from workbench.formats.usage_records import join_usage_before

_ROLES: Final = ("system", "developer", "user", "assistant", "tool")
_ERROR: Final = re.compile(r"\s*(?:<tool_error>|\[?(?:Tool )?Error\b)", re.IGNORECASE)
_REFUSAL: Final = re.compile(r"(?:rejected|denied|declined|cancell?ed) by (?:the )?user", re.IGNORECASE)
_GROK_BOOKKEEPING: Final = ("system", "backend_tool_call", "compaction", "checkpoint")


def _message(row: JsonObject, number: int, time_us: int | None, model: str = "") -> Iterator[r.Record]:
    """Yield what a message of chat completions says."""
    text, role = j.content_of(row, "content"), j.text_of(row, "role")
    match role:
        case "user":
            yield r.Prompt(text, time_us, number)
        case "assistant":
            thought = j.content_of(row, "reasoning_content") or j.content_of(row, "reasoning")
            yield r.Reply(
                text=text or j.text_of(row, "refusal"), thinking=thought, calls=calls_of_completion(row),
                model=j.text_of(row, "model") or model, at=time_us, line=number,
            )  # fmt: skip
        case "tool":
            yield _result(
                j.text_of(row, "tool_call_id"), text, number, time_us, is_error=row.get("is_error") is True
            )
        case _:
            yield r.UnmappedRecord(f"message.{role}", row, time_us, number, role in ("system", "developer"))


def _result(key: str, text: str, number: int, time_us: int | None, *, is_error: bool = False) -> r.CallResult:
    is_refused = bool(_REFUSAL.search(text[:400]))
    state = end_state(is_bad=is_error or bool(_ERROR.match(text)), is_refused=is_refused)
    return call_result(key, text, state, at=time_us, line=number)


# --- Vibe: messages.jsonl, and meta.json beside it ------------------------------------------------------


def is_vibe(sample: list[JsonObject]) -> bool:
    return any(line.get("role") in _ROLES and "message_id" in line for line in sample)


def read_vibe(lines: JsonLines, name: str) -> Iterator[r.Record]:
    yield r.SessionHead(key=session_key(name, "messages.jsonl"), provider="mistral")
    yield from read_rows(lines, lambda row, number: _message(row, number, j.time_of(row, "timestamp")))


def join_vibe(records: Iterator[r.Record], documents: list[JsonObject]) -> Iterator[r.Record]:
    """Yield a session with its id, title, folder, model, time and tokens, which stand in another file."""
    meta = documents[0]
    used = usage_within(
        j.object_of(meta, "stats"), "session_prompt_tokens", "session_completion_tokens",
        "session_cached_tokens", cost=j.value_of(meta, "stats", "session_cost"),
    )  # fmt: skip
    named = with_heads(records, lambda head: replace(
        head, key=j.text_of(meta, "session_id") or head.key, title=j.text_of(meta, "title"),
        workspace=j.text_of(meta, "environment", "working_directory"), at=j.time_of(meta, "start_time"),
        model=j.text_of(meta, "model") or j.text_of(meta, "config", "active_model"),
        parent=j.text_of(meta, "parent_session_id"),
    ))  # fmt: skip
    totals = [r.UsageRecord(usage=used)] if used != Usage() else []
    yield from join_usage_before(chain(named, totals))


# --- Grok: chat_history.jsonl, and summary.json beside it -----------------------------------------------


def is_grok(sample: list[JsonObject]) -> bool:
    kinds = {j.text_of(line, "type") for line in sample}
    marks = {"prompt_index", "synthetic_reason", "model_fingerprint", "tool_call_id"}
    return bool(kinds & {"user", "assistant", "tool_result"}) and any(
        bool(marks & line.keys()) and "message" not in line and "role" not in line for line in sample
    )


def read_grok(lines: JsonLines, name: str) -> Iterator[r.Record]:
    """Yield a session; its file holds no times."""
    yield from head_with_model(_read_grok(lines, name))


def _read_grok(lines: JsonLines, name: str) -> Iterator[r.Record]:
    yield r.SessionHead(key=session_key(name, "chat_history.jsonl"), provider="xai")
    thoughts: list[str] = []
    yield from read_rows(lines, lambda row, number: _grok_row(row, number, thoughts))
    if thoughts:
        yield r.Reply(thinking="\n\n".join(thoughts))


def _grok_row(row: JsonObject, number: int, thoughts: list[str]) -> Iterator[r.Record]:
    time_us, kind = j.time_of(row, "timestamp"), j.text_of(row, "type")
    match kind:
        case "user" if row.get("synthetic_reason"):
            yield r.UnmappedRecord("context.user", row, time_us, number)
        case "user":
            if thoughts:
                yield r.Reply(thinking="\n\n".join(thoughts), at=time_us, line=number)
                thoughts.clear()
            yield r.Prompt(j.content_of(row, "content"), time_us, number)
        case "reasoning":
            text = j.content_of(row, "summary") or j.content_of(row, "content")
            thoughts += [text] if text else []
        case "assistant":
            thinking = "\n\n".join(thoughts)
            thoughts.clear()
            yield r.Reply(
                text=j.content_of(row, "content"), thinking=thinking, calls=calls_of_completion(row),
                model=j.text_of(row, "model_id"), at=time_us, line=number,
            )  # fmt: skip
        case "tool_result":
            is_error = row.get("is_error") is True
            text = j.content_of(row, "content")
            yield _result(j.text_of(row, "tool_call_id"), text, number, time_us, is_error=is_error)
        case _:
            yield r.UnmappedRecord(kind or "record", row, time_us, number, kind in _GROK_BOOKKEEPING)


def join_grok(records: Iterator[r.Record], documents: list[JsonObject]) -> Iterator[r.Record]:
    """Yield a session with its id, title, folder and time, which stand in another file."""
    summary = documents[0]
    info = j.object_of(summary, "info")
    facts = {key: summary[key] for key in ("head_branch", "agent_name") if j.as_text(summary.get(key))}
    yield from with_heads(records, lambda head: replace(
        head, key=j.text_of(info, "id") or head.key, workspace=j.text_of(info, "cwd"),
        title=j.first_text(summary, "generated_title", "session_summary"), facts=facts,
        model=head.model or j.text_of(summary, "current_model_id"),
        at=j.time_of(summary, "created_at"), parent=j.text_of(summary, "parent_session_id"),
    ))  # fmt: skip


# --- Hermes: one document -------------------------------------------------------------------------------


def is_hermes(value: Json) -> bool:
    return {"session_id", "session_start", "messages", "platform"} <= j.as_object(value).keys()


def read_hermes(value: Json, name: str) -> Iterator[r.Record]:
    document = j.as_object(value)
    model = j.text_of(document, "model")
    yield r.SessionHead(
        key=j.text_of(document, "session_id") or PurePath(name).stem, workspace=j.text_of(document, "cwd"),
        title=j.text_of(document, "title"), model=model, provider=j.text_of(document, "provider"),
        at=j.time_of(document, "session_start"), system_prompt=j.text_of(document, "system_prompt"),
    )  # fmt: skip
    for number, row in enumerate(j.objects_of(document, "messages"), 1):
        yield from _message(row, number, j.time_of(row, "timestamp"), model)


# --- A log of requests and responses --------------------------------------------------------------------


def is_log(sample: list[JsonObject]) -> bool:
    return any(
        line.get("type") in ("request", "response")
        and (isinstance(line.get("messages"), list) or "choices" in line)
        for line in sample
    )


def is_log_document(value: Json) -> bool:
    return is_log([j.as_object(value)])


def read_log_document(value: Json, name: str) -> Iterator[r.Record]:
    yield from read_log([JsonLine(1, value)], name)


def read_log(lines: JsonLines, name: str) -> Iterator[r.Record]:
    """Yield the conversation of a log; each request repeats all that was said before, which is taken once."""
    yield from head_with_model(join_usage_before(_read_log(lines, name)))


def _read_log(lines: JsonLines, name: str) -> Iterator[r.Record]:
    earlier: list[str] = []
    """Marks of the messages so far."""

    def head(row: JsonObject) -> r.SessionHead:
        key = j.first_text(row, "session_id", "conversation_id") or session_key(name)
        provider = j.text_of(row, "provider") or "openai"
        return r.SessionHead(key=key, provider=provider, at=_log_time(row))

    yield from read_rows(lines, lambda row, number: _log_row(row, number, earlier), head)


def _log_time(row: JsonObject) -> int | None:
    return j.time_of(row, "timestamp") or j.time_of(row, "created")


def _log_row(row: JsonObject, number: int, earlier: list[str]) -> Iterator[r.Record]:
    time_us, model, messages = _log_time(row), j.text_of(row, "model"), _messages(row)
    if row.get("type") not in ("request", "response") or not messages:
        yield r.UnmappedRecord("record", row, time_us, number, is_understood=False)
    fresh = messages[_common(earlier, messages) :] if row.get("type") == "request" else messages
    for message in fresh:
        earlier.append(_mark(message))
        yield from _message(message, number, time_us, model)
    if used := j.object_of(row, "usage"):
        yield r.UsageRecord(usage=_usage(used))


def _messages(row: JsonObject) -> list[JsonObject]:
    choices = [j.object_of(choice, "message") for choice in j.objects_of(row, "choices")[:1]]
    alone = [j.object_of(row, "message")] if "message" in row else []
    return choices or alone or j.objects_of(row, "messages")


def _mark(message: JsonObject) -> str:
    """Return what tells a message from another: role, words, and the calls that it makes or answers."""
    calls = [call.id for call in calls_of_completion(message)]
    parts = [j.text_of(message, "role"), j.content_of(message, "content"), calls, message.get("tool_call_id")]
    return json_text(parts)


def _common(text: list[str], messages: list[JsonObject]) -> int:
    """Return how many messages of a request were said before."""
    count = 0
    for before, message in zip(text, messages, strict=False):
        if before != _mark(message):
            break
        count += 1
    return count


def _usage(used: JsonObject) -> Usage:
    details = j.object_of(used, "prompt_tokens_details") or j.object_of(used, "input_tokens_details")
    counts: JsonObject = {
        "sent": j.count_of(used, "prompt_tokens") or j.count_of(used, "input_tokens"),
        "received": j.count_of(used, "completion_tokens") or j.count_of(used, "output_tokens"),
        "cached": j.count_of(details, "cached_tokens"),
    }
    return usage_within(counts, "sent", "received", "cached", cost=used.get("cost"))
