"""Reader of Factory's Droid: its session store, and what `droid exec --output-format stream-json` prints."""

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
    calls_of_blocks,
    end_state,
    json_text,
    parse_arguments,
    result_blocks,
    said_text,
    thought_text,
    usage_apart,
)
from workbench.formats.input import JsonLines
from workbench.formats.record_streams import head_with_model, read_rows, with_heads
from workbench.formats.usage_records import join_usage_before

_STREAM_TYPES: Final = ("tool_call", "tool_result", "completion")
_STREAM_MEMBERS: Final = frozenset({"toolCallId", "toolName", "finalText"})
_BOOKKEEPING: Final = ("todo_state", "session_end", "compaction_state", "system", "settings", "agent_turn")
_EXIT_CODE: Final = re.compile(r"exit(?:ed with)? code:? (\d{1,3})\b")
_REFUSAL: Final = re.compile(r"(?:rejected|denied|declined|cancell?ed) by (?:the )?user", re.IGNORECASE)
_REMINDER: Final = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)


def is_store(sample: list[JsonObject]) -> bool:
    return any(
        line.get("type") == "session_start" and ("owner" in line or "cwd" in line or "title" in line)
        for line in sample
    )


def is_stream(sample: list[JsonObject]) -> bool:
    """Tell whether lines are Droid's: calls and the end as lines of their own, messages without content."""
    return any(
        "session_id" in line
        and (
            (line.get("type") in _STREAM_TYPES and not _STREAM_MEMBERS.isdisjoint(line))
            or (line.get("type") == "message" and "role" in line and "text" in line)
        )
        for line in sample
    )


def read_store(lines: JsonLines, name: str) -> Iterator[r.Record]:
    """Yield a session of the store; its settings lie beside it."""
    yield from head_with_model(read_rows(lines, _read_stored, lambda row: _store_head(row, name)))


def _read_stored(row: JsonObject, number: int) -> Iterator[r.Record]:
    kind, time_us = j.text_of(row, "type"), j.time_of(row, "timestamp")
    if kind == "message":
        yield from _message(j.object_of(row, "message"), time_us, number)
    elif kind != "session_start":
        yield r.UnmappedRecord(kind or "record", row, time_us, number, kind in _BOOKKEEPING)


def _store_head(row: JsonObject, name: str) -> r.SessionHead:
    is_start = row.get("type") == "session_start"
    facts = {key: row[key] for key in ("version", "owner") if is_start and j.as_text(row.get(key))}
    return r.SessionHead(
        key=(j.text_of(row, "id") if is_start else "") or PurePath(name).stem,
        workspace=j.text_of(row, "cwd"), title=j.first_text(row, "sessionTitle", "title"), facts=facts,
        provider="factory", parent=j.first_text(row, "parent", "callingSessionId"),
        at=j.time_of(row, "timestamp"),
    )  # fmt: skip


def _message(message: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
    content = message.get("content")
    results = result_blocks(content)
    for block in results:
        yield _result(
            j.text_of(block, "tool_use_id"), block.get("content"), time_us, number,
            is_error=block.get("is_error") is True,
        )  # fmt: skip
    text = said_text(content)
    if message.get("role") == "assistant":
        yield r.Reply(
            text=text, thinking=thought_text(content), calls=calls_of_blocks(content, f"{number}."),
            model=j.text_of(message, "model"), at=time_us, line=number,
            usage=_usage(j.object_of(message, "usage")),
        )  # fmt: skip
    elif words := _REMINDER.sub("", text).strip():
        yield r.Prompt(words, time_us, number)
    elif text:
        yield r.UnmappedRecord("context.user", text, time_us, number)
    elif not results:
        yield r.Prompt("", time_us, number)


def _usage(used: JsonObject) -> Usage:
    return usage_apart(
        used, "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"
    )


def _result(key: str, value: Json, time_us: int | None, number: int, *, is_error: bool) -> r.CallResult:
    fields = j.as_object(value)
    text = j.content_text(value) or _shown(fields)
    code = j.integer_of(fields, "exitCode")
    if code is None and (is_error or text.startswith("Error:")):
        code = int(match[1]) if (match := _EXIT_CODE.search(text[:400])) else None
    is_bad = is_error or bool(code) or text.startswith("Error:")
    state = end_state(is_bad=is_bad, is_refused=is_bad and bool(_REFUSAL.search(text[:400])))
    return call_result(key, text, state, at=time_us, line=number, exit_code=code)


def _shown(fields: JsonObject) -> str:
    parts = (j.first_text(fields, "stdout", "output", "text"), j.text_of(fields, "stderr"))
    text = "\n".join(filter(None, parts))
    if text or not fields:
        return text
    return json_text(fields)


def join_settings(records: Iterator[r.Record], documents: list[JsonObject]) -> Iterator[r.Record]:
    """Yield a session of the store with the model and the tokens that its settings name."""
    settings = documents[0]
    model = j.text_of(settings, "model")
    total = usage_apart(
        j.object_of(settings, "tokenUsage"), "inputTokens", ("outputTokens", "thinkingTokens"),
        "cacheReadTokens", "cacheCreationTokens",
    )  # fmt: skip
    totals = [r.UsageRecord(usage=total)] if total != Usage() else []
    named = with_heads(records, lambda head: replace(head, model=head.model or model))
    yield from join_usage_before(chain(named, totals))


def read_stream(lines: JsonLines, name: str) -> Iterator[r.Record]:
    """Yield a session from what a run printed."""
    yield from join_usage_before(read_live(lines, name))


def read_live(lines: JsonLines, name: str) -> Iterator[r.Record]:
    """Yield what a run prints as it comes: what it spent stands behind the rest."""
    reader = _StreamReader(name)
    yield from read_rows(lines, reader.row, reader.head)


class _StreamReader:
    def __init__(self, name: str) -> None:
        self._name, self._model, self._last = name, "", ""

    def head(self, row: JsonObject) -> r.SessionHead:
        self._model = j.text_of(row, "model")
        return r.SessionHead(
            key=j.text_of(row, "session_id") or self._name, workspace=j.text_of(row, "cwd"),
            provider="factory", model=self._model, at=j.time_of(row, "timestamp"),
        )  # fmt: skip

    def row(self, row: JsonObject, number: int) -> Iterator[r.Record]:
        kind, time_us = j.text_of(row, "type"), j.time_of(row, "timestamp")
        call = j.first_text(row, "toolCallId", "id")
        match kind:
            case "message" if row.get("role") == "user":
                yield r.Prompt(j.first_text(row, "text", "content"), time_us, number)
            case "message":
                yield self._reply(j.first_text(row, "text", "content"), time_us, number)
            case "reasoning" | "thinking":
                yield r.Reply(thinking=j.first_text(row, "text", "content"), at=time_us, line=number)
            case "tool_call":
                arguments = parse_arguments(row.get("parameters", row.get("input")))
                tool = j.first_text(row, "toolName", "name", "toolId")
                tool_call = r.ToolCall(call, tool, arguments)
                yield r.Reply(calls=(tool_call,), model=self._model, at=time_us, line=number)
            case "tool_result":
                value = row.get("value", row.get("error"))
                yield _result(call, value, time_us, number, is_error=row.get("isError") is True)
            case "completion":
                yield from self._completion(row, time_us, number)
            case "error":
                text = j.first_text(row, "message", "text") or "error"
                yield r.ErrorRecord(j.text_of(row, "source") or "error", text, time_us)
            case _:
                known = kind == "system"
                yield r.UnmappedRecord(kind or "record", row, time_us, number, known)

    def _reply(self, text: str, time_us: int | None, number: int) -> r.Reply:
        self._last = text
        return r.Reply(text=text, model=self._model, at=time_us, line=number)

    def _completion(self, row: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        """Yield the final words, where they were not said before, and what the run spent."""
        text, usage = j.text_of(row, "finalText"), _usage(j.object_of(row, "usage"))
        if text.strip() and text != self._last:
            yield self._reply(text, time_us, number)
        if usage != Usage():
            yield r.UsageRecord(usage=usage)
        if row.get("isError") is True:
            yield r.TurnStop(outcome="error", at=time_us)
        else:
            yield r.UnmappedRecord("completion", row, time_us, number)
