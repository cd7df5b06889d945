"""Messages as chat protocols write them: blocks of the Messages API, and calls of chat completions.

What several agents' files share stands here once. A missing or wrong value reads as empty and never raises.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import orjson
from msgspec.structs import replace

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import records as r
from workbench.formats.input import JsonLine

_CALL_TYPES: Final = ("tool_use", "tool-call", "server_tool_use")
_RESULT_TYPES: Final = ("tool_result", "tool-result")
_THOUGHT_TYPES: Final = ("thinking", "reasoning", "redacted_thinking", "redacted-reasoning")
_MOST_RECORDS_WITHOUT_MODEL: Final = 50
"""Records after which a session begins without its model being known."""
MOST_ERROR: Final = 2_000
"""Characters of a result that are also its error."""


def object_lines(
    lines: Iterable[JsonLine | r.FileProblem],
) -> Iterator[tuple[JsonObject, int] | r.FileProblem]:
    """Yield the objects of lines with their numbers; what is no object is a problem."""
    for line in lines:
        if isinstance(line, r.FileProblem):
            yield line
        elif row := r.as_object(line.value):
            yield row, line.number
        else:
            yield r.FileProblem(line.number, "it is not an object")


def head_with_model(records: Iterable[r.Record]) -> Iterator[r.Record]:
    """Yield records with the model of a session's first reply in its head, where the head names none."""
    head: r.SessionHead | None = None
    held: list[r.Record] = []
    for record in records:
        if isinstance(record, r.SessionHead) and not record.model:
            yield from _begun(head, "", held)
            head, held = record, []
            continue
        if head is None:
            yield record
            continue
        held.append(record)
        model = record.model if isinstance(record, r.Reply) else ""
        if model or len(held) >= _MOST_RECORDS_WITHOUT_MODEL:
            yield from _begun(head, model, held)
            head, held = None, []
    yield from _begun(head, "", held)


def _begun(head: r.SessionHead | None, model: str, held: list[r.Record]) -> Iterator[r.Record]:
    if head is not None:
        yield replace(head, model=model)
        yield from held


def parse_arguments(written: Json) -> JsonObject:
    """Return the arguments of a call, an object or its JSON text; any other text becomes `input`."""
    if isinstance(written, str):
        try:
            value = orjson.loads(written)
        except ValueError:
            return {"input": written}
        return r.as_object(value) or {"input": written}
    return r.as_object(written)


def usage_apart(sent: int, got: int, read: int, written: int, cost: Json = None) -> Usage:
    """Return tokens of a file that counts what was cached apart from what was sent; cost in US dollars."""
    return Usage(
        input_tokens=sent + read + written, output_tokens=got, cache_read_tokens=read,
        cache_write_tokens=written, cost_microdollars=r.as_cost(cost),
    )  # fmt: skip


def usage_within(sent: int, got: int, read: int, cost: Json = None) -> Usage:
    """Return tokens of a file that counts what was read from a cache among what was sent."""
    return Usage(
        input_tokens=sent, output_tokens=got, cache_read_tokens=min(sent, read),
        cost_microdollars=r.as_cost(cost),
    )  # fmt: skip


def said_text(content: Json) -> str:
    """Return what blocks say, without thoughts, calls and results; of an image that there was one."""
    if isinstance(content, str):
        return content
    others = (*_CALL_TYPES, *_RESULT_TYPES, *_THOUGHT_TYPES)
    return r.content_text([block for block in r.as_objects(content) if block.get("type") not in others])


def thought_text(content: Json) -> str:
    """Return the thoughts among blocks."""
    thoughts = (
        r.first_text(block, "thinking", "text", "reasoning")
        for block in r.as_objects(content)
        if block.get("type") in _THOUGHT_TYPES
    )
    return "\n\n".join(filter(None, thoughts))


def calls_of_blocks(content: Json, prefix: str = "") -> tuple[r.ToolCall, ...]:
    """Return the calls among blocks; one without an id gets `prefix` and its place as one."""
    blocks = (block for block in r.as_objects(content) if block.get("type") in _CALL_TYPES)
    return tuple(
        r.ToolCall(
            r.first_text(block, "id", "toolCallId") or f"{prefix}{place}",
            r.first_text(block, "name", "toolName"),
            parse_arguments(block.get("input", block.get("args"))),
        )
        for place, block in enumerate(blocks, 1)
    )


def result_blocks(content: Json) -> list[JsonObject]:
    return [block for block in r.as_objects(content) if block.get("type") in _RESULT_TYPES]


def calls_of_completion(message: JsonObject) -> tuple[r.ToolCall, ...]:
    """Return the calls of a message of chat completions, also of one that writes them without `function`."""
    calls: list[r.ToolCall] = []
    for place, call in enumerate(r.objects_of(message, "tool_calls"), 1):
        function = r.object_of(call, "function") or call
        key = r.text_of(call, "id") or f"{r.text_of(function, 'name')}-{place}"
        arguments = parse_arguments(function.get("arguments", function.get("args")))
        calls.append(r.ToolCall(key, r.text_of(function, "name"), arguments))
    return tuple(calls)


def call_result(
    call: str, said: str, state: r.ResultState, *, at: int | None, line: int, exit_code: int | None = None,
    duration_ms: int | None = None, reason: str = "", changes: tuple[r.FileEdit, ...] = (), child: str = "",
) -> r.CallResult:  # fmt: skip
    """Return a result whose text is also its error where it failed."""
    return r.CallResult(
        call=call, text=said, state=state, error=said[:MOST_ERROR] if state == "failed" else "",
        reason=reason, exit_code=exit_code, duration_ms=duration_ms, changes=changes, child=child,
        at=at, line=line,
    )  # fmt: skip
