"""Messages as chat protocols write them: blocks, calls and results, tables of counted tokens, JSON in texts.

What several programs' files share stands here once. A missing or wrong value reads as empty and never raises.
"""

from typing import Final

import orjson

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import json_fields as j
from workbench.formats import records as r

_CALL_TYPES: Final = ("tool_use", "tool-call", "server_tool_use")
_RESULT_TYPES: Final = ("tool_result", "tool-result")
_THOUGHT_TYPES: Final = ("thinking", "reasoning", "redacted_thinking", "redacted-reasoning")
MOST_ERROR: Final = 2_000
"""Characters of a result that are also its error."""


def parse_json(written: Json | bytes) -> Json:
    """Return the value of a JSON text, None where it is damaged; any other value is itself."""
    try:
        return orjson.loads(written) if isinstance(written, str | bytes) else written
    except ValueError:
        return None


def json_text(value: Json) -> str:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()


def parse_arguments(written: Json) -> JsonObject:
    """Return the arguments of a call, an object or its JSON text; any other text becomes `input`."""
    return j.as_object(parse_json(written)) or ({"input": written} if isinstance(written, str) else {})


Names = str | tuple[str, ...]
"""A member of a table of counts, or several that are added up; empty: the program has none."""


def _count(counts: JsonObject, names: Names) -> int:
    return sum(j.count_of(counts, name) for name in ([names] if isinstance(names, str) else names) if name)


def usage_apart(
    counts: JsonObject, sent: Names, received: Names, read: str = "", written: str = "", cost: Json = None
) -> Usage:
    """Return tokens of a program that counts what was cached apart from what was sent; cost in US dollars."""
    cache_read, cache_write = _count(counts, read), _count(counts, written)
    return Usage(
        input_tokens=_count(counts, sent) + cache_read + cache_write,
        output_tokens=_count(counts, received), cache_read_tokens=cache_read,
        cache_write_tokens=cache_write, cost_microdollars=j.as_cost(cost),
    )  # fmt: skip


def usage_within(
    counts: JsonObject, sent: Names, received: Names, read: str = "", written: str = "", cost: Json = None
) -> Usage:
    """Return tokens of a program that counts what was read from a cache among what was sent."""
    input_tokens = _count(counts, sent)
    return Usage(
        input_tokens=input_tokens, output_tokens=_count(counts, received),
        cache_read_tokens=min(input_tokens, _count(counts, read)),
        cache_write_tokens=_count(counts, written), cost_microdollars=j.as_cost(cost),
    )  # fmt: skip


def texts_of(blocks: list[JsonObject], kind: str, name: str = "text") -> str:
    """Return the texts of the blocks of a type, each in a line of its own; `name` is their member."""
    return "\n".join(j.text_of(block, name) for block in blocks if block.get("type") == kind)


def said_text(content: Json) -> str:
    """Return what blocks say, without thoughts, calls and results; of an image that there was one."""
    if isinstance(content, str):
        return content
    others = (*_CALL_TYPES, *_RESULT_TYPES, *_THOUGHT_TYPES)
    return j.content_text([block for block in j.as_objects(content) if block.get("type") not in others])


def thought_text(content: Json) -> str:
    """Return the thoughts among blocks."""
    thoughts = (
        j.first_text(block, "thinking", "text", "reasoning")
        for block in j.as_objects(content)
        if block.get("type") in _THOUGHT_TYPES
    )
    return "\n\n".join(filter(None, thoughts))


def calls_of_blocks(content: Json, prefix: str = "") -> tuple[r.ToolCall, ...]:
    """Return the calls among blocks; one without an id gets `prefix` and its place as one."""
    blocks = (block for block in j.as_objects(content) if block.get("type") in _CALL_TYPES)
    return tuple(
        r.ToolCall(
            j.first_text(block, "id", "toolCallId") or f"{prefix}{place}",
            j.first_text(block, "name", "toolName"),
            parse_arguments(block.get("input", block.get("args"))),
        )
        for place, block in enumerate(blocks, 1)
    )


def result_blocks(content: Json) -> list[JsonObject]:
    return [block for block in j.as_objects(content) if block.get("type") in _RESULT_TYPES]


def calls_of_completion(message: JsonObject) -> tuple[r.ToolCall, ...]:
    """Return the calls of a message of chat completions, also of one that writes them without `function`."""
    calls: list[r.ToolCall] = []
    for place, call in enumerate(j.objects_of(message, "tool_calls"), 1):
        function = j.object_of(call, "function") or call
        key = j.text_of(call, "id") or f"{j.text_of(function, 'name')}-{place}"
        arguments = parse_arguments(function.get("arguments", function.get("args")))
        calls.append(r.ToolCall(key, j.text_of(function, "name"), arguments))
    return tuple(calls)


def call_result(
    call: str, text: str, state: r.ResultState, *, at: int | None, line: int, exit_code: int | None = None,
    duration_ms: int | None = None, reason: str = "", changes: tuple[r.FileEdit, ...] = (), child: str = "",
) -> r.CallResult:  # fmt: skip
    """Return a result whose text is also its error where it failed."""
    return r.CallResult(
        call=call, text=text, state=state, error=text[:MOST_ERROR] if state == "failed" else "",
        reason=reason, exit_code=exit_code, duration_ms=duration_ms, changes=changes, child=child,
        at=at, line=line,
    )  # fmt: skip


def end_state(*, is_bad: bool, is_refused: bool = False, is_stopped: bool = False) -> r.ResultState:
    """Return how a call ended by what is known of it; that it was refused tells more than that it failed."""
    if is_refused:
        return "rejected"
    return "cancelled" if is_stopped else "failed" if is_bad else "succeeded"
