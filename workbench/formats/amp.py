"""Reader of Amp: a thread as one document, whose results say how their calls ran."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Final
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.chat_messages import (
    call_result,
    calls_of_blocks,
    json_text,
    result_blocks,
    said_text,
    thought_text,
    usage_apart,
)

_STATES: Final[dict[str, r.ResultState]] = {
    "done": "succeeded", "error": "failed", "cancelled": "cancelled", "rejected-by-user": "rejected",
    "in-progress": "interrupted", "queued": "interrupted", "blocked-on-user": "interrupted",
}  # fmt: skip


def is_thread(value: Json) -> bool:
    document = j.as_object(value)
    return j.text_of(document, "id").startswith("T-") and isinstance(document.get("messages"), list)


def read(value: Json, name: str) -> Iterator[r.Record]:
    document = j.as_object(value)
    messages = j.objects_of(document, "messages")
    trees = j.objects_of(document, "env", "initial", "trees")
    model = next((found for row in messages if (found := j.text_of(row, "usage", "model"))), "")
    facts = {key: document[key] for key in ("v", "agentMode") if document.get(key)}
    yield r.SessionHead(
        key=j.text_of(document, "id") or PurePath(name).stem, title=j.text_of(document, "title"),
        workspace=_folder(j.text_of(trees[0], "uri")) if trees else "", provider="amp", model=model,
        at=j.time_of(document, "created"), facts=facts, parent=j.text_of(document, "mainThreadID"),
    )  # fmt: skip
    for number, row in enumerate(messages, 1):
        yield from _message(row, number)


def _folder(uri: str) -> str:
    parts = urlsplit(uri) if uri.startswith("file:") else None
    return unquote(parts.path) if parts else uri


def _message(row: JsonObject, number: int) -> Iterator[r.Record]:
    content, used = row.get("content"), j.object_of(row, "usage")
    time_us = j.time_of(used, "timestamp") or j.time_of(row, "meta", "sentAt")
    results = result_blocks(content)
    for block in results:
        yield _result(block, time_us, number)
    match j.text_of(row, "role"):
        case "assistant":
            state = j.object_of(row, "state")
            yield r.Reply(
                text=said_text(content), thinking=thought_text(content), model=j.text_of(used, "model"),
                calls=calls_of_blocks(content, f"{number}."), usage=_usage(used), at=time_us, line=number,
                may_be_empty=j.text_of(state, "type") == "cancelled",
            )  # fmt: skip
            if j.text_of(state, "type") == "cancelled":
                yield r.TurnStop(detail="cancelled", at=time_us)
            elif j.text_of(state, "type") == "error":
                why = j.text_of(state, "error", "message") or "error"
                yield r.ErrorRecord("model", why, time_us)
        case "user":
            if said_text(content) or not results:
                yield r.Prompt(said_text(content), time_us, number)
        case role:
            yield r.UnmappedRecord(f"message.{role}", row, time_us, number, role in ("info", "system"))


def _usage(used: JsonObject) -> Usage:
    """Return tokens; of a model that bills no writing to a cache, what is called so is input as any other."""
    usage = usage_apart(
        used, "inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"
    )
    return replace(usage, cache_write_tokens=0) if j.text_of(used, "model").startswith("gpt-") else usage


def _result(block: JsonObject, time_us: int | None, number: int) -> r.CallResult:
    key, run = j.first_text(block, "toolUseID", "tool_use_id"), j.object_of(block, "run")
    result = j.as_object(run.get("result"))
    text = _shown(run.get("result")) or j.text_of(run, "error", "message")
    text = text or j.content_of(block, "content")
    code = j.integer_of(result, "exitCode")
    state = _STATES.get(j.text_of(run, "status"), "succeeded")
    if state == "succeeded" and (code or result.get("success") is False):
        state = "failed"
    return call_result(
        key, text, state, at=time_us, line=number, exit_code=code, reason=j.text_of(run, "reason")
    )


def _shown(value: Json) -> str:
    fields = j.as_object(value)
    text = j.content_text(value) or j.first_text(fields, "output", "content", "diff")
    if text or value is None or isinstance(value, str):
        return text
    return json_text(value)
