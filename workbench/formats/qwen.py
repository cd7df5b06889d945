"""Reader of Qwen Code: chats as JSON lines, whose messages have parts where Claude Code's have content."""

from collections.abc import Iterator

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import gemini
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.input import JsonLines
from workbench.formats.record_streams import head_with_model, object_lines
from workbench.text.problems import Problem

_HOOK_CONTEXT = "<qwen:"
"""How a part begins that a hook added to what was typed."""


def is_session(sample: list[JsonObject]) -> bool:
    return any(
        {"sessionId", "uuid"} <= line.keys()
        and ("systemPayload" in line or isinstance(j.object_of(line, "message").get("parts"), list))
        for line in sample
    )


def read(lines: JsonLines, name: str) -> Iterator[r.Record]:
    yield from head_with_model(_read(lines, name))


def _read(lines: JsonLines, name: str) -> Iterator[r.Record]:
    calls: dict[str, r.ToolCall] = {}
    session_keys: set[str] = set()
    above: set[str] = set()
    for line in object_lines(lines):
        if isinstance(line, Problem):
            yield line
            continue
        row, number = line
        key = j.text_of(row, "sessionId")
        # One of another id that hangs below no message that was read is another session.
        is_other = (
            key not in session_keys | {""}
            and "" not in session_keys
            and j.text_of(row, "parentUuid") not in above
        )
        if not session_keys or is_other:
            session_keys.add(key)
            calls = {}
            facts = {fact: row[fact] for fact in ("version", "gitBranch") if j.as_text(row.get(fact))}
            yield r.SessionHead(
                key=key or name, workspace=j.text_of(row, "cwd"), provider="qwen",
                at=j.time_of(row, "timestamp"), facts=facts,
            )  # fmt: skip
        if own := j.text_of(row, "uuid"):
            above.add(own)
        yield from _read_row(row, number, calls)


def _read_row(row: JsonObject, number: int, calls: dict[str, r.ToolCall]) -> Iterator[r.Record]:
    parts, time_us = j.objects_of(row, "message", "parts"), j.time_of(row, "timestamp")
    subtype = j.text_of(row, "subtype")
    match j.text_of(row, "type"):
        case "user" if not subtype:
            yield r.Prompt(_typed_text(row, parts), time_us, number)
            yield from _results(row, parts, time_us, number, calls)
        case "assistant":
            yield _reply(row, parts, time_us, number, calls)
        case "tool_result":
            yield from _results(row, parts, time_us, number, calls)
        case "user" | "system" as kind:
            yield r.UnmappedRecord(f"{kind}.{subtype or 'record'}", row, time_us, number)
        case kind:
            yield r.UnmappedRecord(kind or "record", row, time_us, number, is_understood=False)


def _typed_text(row: JsonObject, parts: list[JsonObject]) -> str:
    text: list[Json] = [part for part in parts if not j.text_of(part, "text").startswith(_HOOK_CONTEXT)]
    return j.content_text(text) or j.text_of(row, "systemPayload", "displayText")


def _reply(
    row: JsonObject, parts: list[JsonObject], time_us: int | None, number: int, calls: dict[str, r.ToolCall]
) -> r.Reply:
    tool_calls = gemini.calls_of_parts(parts, number)
    calls.update((call.id, call) for call in tool_calls)
    text: list[Json] = [part for part in parts if part.get("thought") is not True]
    thoughts = (j.text_of(part, "text") for part in parts if part.get("thought") is True)
    return r.Reply(
        text=j.content_text(text), thinking="\n\n".join(filter(None, thoughts)), calls=tool_calls,
        usage=_usage(j.object_of(row, "usageMetadata")), model=j.text_of(row, "model"), at=time_us,
        line=number,
    )  # fmt: skip


def _usage(counts: JsonObject) -> Usage:
    """Return tokens; some services count thoughts among the candidates, and the total tells which."""
    sent, received = j.count_of(counts, "promptTokenCount"), j.count_of(counts, "candidatesTokenCount")
    return Usage(
        input_tokens=sent, output_tokens=max(received, j.count_of(counts, "totalTokenCount") - sent),
        cache_read_tokens=min(sent, j.count_of(counts, "cachedContentTokenCount")),
    )  # fmt: skip


def _results(
    row: JsonObject, parts: list[JsonObject], time_us: int | None, number: int, calls: dict[str, r.ToolCall]
) -> Iterator[r.Record]:
    outcome = j.object_of(row, "toolCallResult")
    count = 0
    for part in parts:
        response = j.object_of(part, "functionResponse")
        if not response:
            continue
        count += 1
        key = j.text_of(response, "id") or j.text_of(outcome, "callId")
        status = j.text_of(outcome, "status")
        if not status:
            status = "error" if j.object_of(response, "response").get("error") else "success"
        call = calls.get(key, r.ToolCall(key, ""))
        ended: JsonObject = {
            "id": key, "name": call.tool, "args": call.arguments, "status": status, "result": [part],
            "resultDisplay": outcome.get("resultDisplay"), "timestamp": row.get("timestamp"),
        }  # fmt: skip
        yield gemini.read_result(ended, number)
    if not count and row.get("type") == "tool_result":
        yield r.UnmappedRecord("tool_result", row, time_us, number, is_understood=False)
