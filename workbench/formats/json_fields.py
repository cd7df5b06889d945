"""Members of JSON objects by type: a text, a count, a time; empty where the value is of another type.

A missing or wrong value never raises. Times are microseconds.
"""

from collections.abc import Iterator
from typing import Final, cast

from workbench.domain.values import Json, JsonObject
from workbench.text.human import parse_iso_time

_EMPTY_OBJECT: Final[JsonObject] = {}
_YEAR_10000: Final = 253_402_300_800_000_000
"""Microseconds of the year 10000, which ISO 8601 cannot write."""


def as_object(value: Json) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else _EMPTY_OBJECT


def as_array(value: Json) -> list[Json]:
    return cast("list[Json]", value) if isinstance(value, list) else []


def as_objects(value: Json) -> list[JsonObject]:
    return [cast("JsonObject", item) for item in as_array(value) if isinstance(item, dict)]


def as_text(value: Json) -> str:
    """Return a string, or an empty one."""
    return value if isinstance(value, str) else ""


def text_or_none(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def value_of(holder: JsonObject, name: str, *below: str) -> Json:
    """Return the value of a member, or of one below it; None where there is none."""
    value = holder.get(name)
    for inner_name in below:
        value = as_object(value).get(inner_name)
    return value


def text_of(holder: JsonObject, name: str, *below: str) -> str:
    # Every line of a file is asked for some twenty texts: without a path nothing else is called.
    value = value_of(holder, name, *below) if below else holder.get(name)
    return value if isinstance(value, str) else ""


def object_of(holder: JsonObject, name: str, *below: str) -> JsonObject:
    return as_object(value_of(holder, name, *below) if below else holder.get(name))


def objects_of(holder: JsonObject, *path: str) -> list[JsonObject]:
    return as_objects(value_of(holder, *path))


def count_of(holder: JsonObject, *path: str) -> int:
    return as_count(value_of(holder, *path))


def integer_of(holder: JsonObject, *path: str) -> int | None:
    return as_integer(value_of(holder, *path))


def time_of(holder: JsonObject, *path: str) -> int | None:
    return as_time(value_of(holder, *path))


def content_of(holder: JsonObject, *path: str) -> str:
    return content_text(value_of(holder, *path))


def first_text(holder: JsonObject, *names: str) -> str:
    """Return the first of some fields that holds a text."""
    return next((text for name in names if (text := as_text(holder.get(name)))), "")


def as_count(value: Json) -> int:
    """Return a whole number from 0 on, or 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value < 1 << 53 else 0


def as_cost(dollars: Json) -> int:
    """Return US dollars as millionths of one; 0 for a value that is not an amount."""
    if isinstance(dollars, bool) or not isinstance(dollars, int | float) or not 0 <= dollars < 1e9:
        return 0
    return round(dollars * 1_000_000)


def as_integer(value: Json) -> int | None:
    """Return a whole number, None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53:
        return value
    return None


def as_time(value: Json) -> int | None:
    """Return a time in microseconds: ISO 8601, or a number of s, ms, µs or ns since 1970; None if neither."""
    if isinstance(value, str):
        try:
            time = parse_iso_time(value)
        except ValueError:
            return None
        return time if 0 <= time < _YEAR_10000 else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e19:
        return None
    for limit, factor in ((1e11, 1_000_000.0), (1e14, 1_000.0), (1e17, 1.0)):
        if value < limit:
            return int(value * factor)
    return int(value) // 1000


def lacks_time_zone(value: Json) -> bool:
    """Return whether a time is written without a zone."""
    return isinstance(value, str) and "T" in value and value[-1:].isdigit() and not _has_offset(value)


def _has_offset(value: str) -> bool:
    return any(sign in value[19:] for sign in "+-")


def content_text(value: Json) -> str:
    """Return content as one text: a string, or the text of one or several blocks."""
    if isinstance(value, str):
        return value
    blocks: list[Json] = [value] if isinstance(value, dict) else as_array(value)
    return "\n".join(part for part in map(_block_text, blocks) if part)


_NAMED_BLOCKS: Final = ("tool_reference", "resource_link", "web_search_result", "document")
"""Kinds of blocks without text that are shown by name."""
_FILE_BLOCKS: Final = ("file", "audio", "video", "input_file", "input_audio")


def _block_text(block: Json) -> str:
    if isinstance(block, str):
        return block
    fields = as_object(block)
    text = first_text(fields, "text", "input_text", "output_text", "thinking")
    if text or not fields:
        return text
    if part := _gemini_part_text(fields):
        return part
    kind = as_text(fields.get("type")) or as_text(fields.get("mime"))
    if kind == "tool_result":
        return content_text(fields.get("content"))
    if "image" in kind or "source" in fields or kind in _FILE_BLOCKS:
        return image_note(fields)
    if kind == "resource":
        return as_text(as_object(fields.get("resource")).get("text"))
    return (
        f"[{kind} {first_text(fields, 'tool_name', 'name', 'title', 'url', 'uri')}]"
        if kind in _NAMED_BLOCKS
        else ""
    )


def _gemini_part_text(part: JsonObject) -> str:
    """Return a part that has no type but a member that says what it is (ai.google.dev/api, Part)."""
    if data := as_object(part.get("inlineData")) or as_object(part.get("inline_data")):
        return image_note(data)
    if file := as_object(part.get("fileData")) or as_object(part.get("file_data")):
        return (
            f"[{first_text(file, 'mimeType', 'mime_type') or 'file'}"
            f" {first_text(file, 'fileUri', 'file_uri')}]"
        )
    code, result = as_object(part.get("executableCode")), as_object(part.get("codeExecutionResult"))
    return as_text(code.get("code")) or as_text(result.get("output"))


def image_note(block: JsonObject) -> str:
    """Return what is kept of an image: that there was one, its type and its size."""
    source = as_object(block.get("source"))
    where = first_text(block, "image_url", "url") or as_text(as_object(block.get("image_url")).get("url"))
    where = where or as_text(source.get("url"))
    data = as_text(source.get("data")) or as_text(block.get("data"))
    if where.startswith("data:"):
        head, _, data = where.partition(",")
        kind = head.removeprefix("data:").partition(";")[0]
    else:
        kind = first_text(block, "mimeType", "mime_type", "mime", "media_type")
    named = as_text(block.get("type"))
    kind = as_text(source.get("media_type")) or kind or (named if named in _FILE_BLOCKS else "image")
    words = [kind, first_text(block, "filename", "name")]
    text = " ".join(filter(None, (*words, "" if data else where)))
    return f"[{text}, {len(data) * 3 // 4} bytes, not kept]" if data else f"[{text}]"


def as_texts(value: Json) -> Iterator[str]:
    yield from (item for item in as_array(value) if isinstance(item, str))
