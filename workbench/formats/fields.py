"""Values out of JSON that nobody vouches for: every question has an answer of the right type.

Pure. Owns how a missing or wrong value reads (as empty), how times in all their spellings read, and how
content blocks become one text. It never raises.
"""

from collections.abc import Iterator
from typing import Final, cast

from workbench.domain.values import Json, JsonObject
from workbench.text.human import parse_iso

_EMPTY: Final[JsonObject] = {}
_NEVER: Final = 253_402_300_800_000_000
"""Microseconds of the year 10000, which ISO 8601 cannot write."""


def obj(value: Json) -> JsonObject:
    """Return an object, or an empty one."""
    return cast("JsonObject", value) if isinstance(value, dict) else _EMPTY


def arr(value: Json) -> list[Json]:
    """Return an array, or an empty one."""
    return cast("list[Json]", value) if isinstance(value, list) else []


def objs(value: Json) -> list[JsonObject]:
    """Return the objects of an array."""
    return [cast("JsonObject", item) for item in arr(value) if isinstance(item, dict)]


def text(value: Json) -> str:
    """Return a string, or an empty one."""
    return value if isinstance(value, str) else ""


def first(holder: JsonObject, *names: str) -> str:
    """Return the first of some fields that holds a text."""
    return next((found for name in names if (found := text(holder.get(name)))), "")


def count(value: Json) -> int:
    """Return a whole number from 0 on, or 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value < 1 << 53 else 0


def whole(value: Json) -> int | None:
    """Return a whole number, None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53:
        return value
    return None


def moment(value: Json) -> int | None:
    """Return a time in microseconds: ISO 8601, or a number of s, ms, µs or ns since 1970; None if neither."""
    if isinstance(value, str):
        try:
            found = parse_iso(value)
        except ValueError:
            return None
        return found if 0 <= found < _NEVER else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e19:
        return None
    for limit, factor in ((1e11, 1_000_000.0), (1e14, 1_000.0), (1e17, 1.0)):
        if value < limit:
            return int(value * factor)
    return int(value) // 1000


def is_naive(value: Json) -> bool:
    """Return whether a time is written without a zone."""
    return isinstance(value, str) and "T" in value and value[-1:].isdigit() and not _has_offset(value)


def _has_offset(value: str) -> bool:
    return any(sign in value[19:] for sign in "+-")


def content(value: Json) -> str:
    """Return content as one text: a string, or a block or several of which only text is taken whole."""
    if isinstance(value, str):
        return value
    blocks: list[Json] = [value] if isinstance(value, dict) else arr(value)
    return "\n".join(part for part in map(_block, blocks) if part)


_NAMED: Final = ("tool_reference", "resource_link", "web_search_result", "document")
"""Blocks without text of which a name is shown."""

_FILES: Final = ("file", "audio", "video", "input_file", "input_audio")


def _block(block: Json) -> str:
    if isinstance(block, str):
        return block
    found = obj(block)
    said = first(found, "text", "input_text", "output_text", "thinking")
    if said or not found:
        return said
    if part := _part_of_gemini(found):
        return part
    kind = text(found.get("type")) or text(found.get("mime"))
    if kind == "tool_result":
        return content(found.get("content"))
    if "image" in kind or "source" in found or kind in _FILES:
        return image(found)
    if kind == "resource":
        return text(obj(found.get("resource")).get("text"))
    return f"[{kind} {first(found, 'tool_name', 'name', 'title', 'url', 'uri')}]" if kind in _NAMED else ""


def _part_of_gemini(found: JsonObject) -> str:
    """Return a part that has no type but a member that says what it is (ai.google.dev/api, Part)."""
    if data := obj(found.get("inlineData")) or obj(found.get("inline_data")):
        return image(data)
    if file := obj(found.get("fileData")) or obj(found.get("file_data")):
        return f"[{first(file, 'mimeType', 'mime_type') or 'file'} {first(file, 'fileUri', 'file_uri')}]"
    code, result = obj(found.get("executableCode")), obj(found.get("codeExecutionResult"))
    return text(code.get("code")) or text(result.get("output"))


def image(block: JsonObject) -> str:
    """Return what is kept of an image: that there was one, its type and its size."""
    source = obj(block.get("source"))
    where = first(block, "image_url", "url") or text(obj(block.get("image_url")).get("url"))
    where = where or text(source.get("url"))
    data = text(source.get("data")) or text(block.get("data"))
    if where.startswith("data:"):
        head, _, data = where.partition(",")
        kind = head.removeprefix("data:").partition(";")[0]
    else:
        kind = first(block, "mimeType", "mime_type", "mime", "media_type")
    named = text(block.get("type"))
    kind = text(source.get("media_type")) or kind or (named if named in _FILES else "image")
    words = [kind, first(block, "filename", "name")]
    said = " ".join(filter(None, (*words, "" if data else where)))
    return f"[{said}, {len(data) * 3 // 4} bytes, not kept]" if data else f"[{said}]"


def names(value: Json) -> Iterator[str]:
    """Yield the strings of an array."""
    yield from (item for item in arr(value) if isinstance(item, str))
