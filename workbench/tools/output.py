"""Output of tools: the lines that fit, the preview for a model and the journal, the result schemas."""

# The content of a file or page may take 100 KB, any other output 10 KB (S0 has both limits; before,
# `read_file` was cut to the smaller one).
#
# A list is cut at its end, an output in its middle. Searches say how much is missing and how to narrow.

from typing import Final

from msgspec import Struct

from workbench.domain.values import Json, JsonObject

_RESERVED_FOR_NOTICE: Final = 400
"""Bytes kept free for the lines that say what is missing."""


class OutputLines:
    """Lines up to a number of bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._room = max(0, most_bytes - _RESERVED_FOR_NOTICE)
        self._lines: list[str] = []
        self.missing = 0
        """How many did not fit."""

    def add(self, line: str) -> None:
        """Take a line, or count it."""
        self._room -= len(line.encode("utf-8", "replace")) + 1
        if self._room >= 0 and not self.missing:
            self._lines.append(line)
        else:
            self.missing += 1

    def text(self, *words: str) -> str:
        """Return the lines, and below them what there is to say."""
        return "\n".join((*self._lines, *(f"[{said}]" for said in words if said)))


def result_schema(**properties: JsonObject) -> dict[str, Json]:
    """Return the schema of a result: `output` for the model, and facts beside it that are always there."""
    return {
        "type": "object",
        "properties": {"output": {"type": "string"}, **properties},
        "required": ["output", *properties],
    }


COUNT_SCHEMA: Final[JsonObject] = {"type": "integer", "minimum": 0}
FLAG_SCHEMA: Final[JsonObject] = {"type": "boolean"}
TEXT_SCHEMA: Final[JsonObject] = {"type": "string"}
PREVIEW_BYTES: Final = 10_240
"""Bytes; S0 ToolResult."""


class OutputPreview(Struct, frozen=True, kw_only=True):
    """A part of an output."""

    text: str
    total_bytes: int
    """Size of the whole."""
    truncated: bool


def preview_output(
    data: bytes | str, limit: int = PREVIEW_BYTES, total_bytes: int | None = None
) -> OutputPreview:
    """Return an output whole, or its two ends with a line between that gives the size, in `limit` bytes.

    Bytes that are not UTF-8 become U+FFFD; `total_bytes` is the whole size where `data` is a part.
    """
    here = len(data) if isinstance(data, bytes) else len(data.encode("utf-8", "replace"))
    total = here if total_bytes is None else total_bytes
    raw = _readable_bytes(data, limit)
    if total <= limit and len(raw) <= limit:
        return OutputPreview(text=raw.decode(), total_bytes=total, truncated=False)
    line = f"\n[… output cut: {total} bytes in all, the middle is left out …]\n".encode()
    room = max(0, limit - len(line))
    head = without_cut_character(raw[: room - room // 2])
    tail = _without_cut_start(raw[len(raw) - room // 2 :])
    return OutputPreview(text=(head + line + tail).decode(), total_bytes=total, truncated=True)


def _readable_bytes(data: bytes | str, limit: int) -> bytes:
    """Return valid UTF-8, of a long output only what may be shown of both ends."""
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    if len(data) <= 2 * limit:
        return _repaired_utf8(data)
    head, tail = data[:limit], data[-limit:]
    return _repaired_utf8(without_cut_character(head)) + _repaired_utf8(_without_cut_start(tail))


def _repaired_utf8(data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode()


def without_cut_character(data: bytes) -> bytes:
    """Return UTF-8 without a character that is cut at its end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            return data
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data if back >= length else data[:-back]
    return data


def _without_cut_start(data: bytes) -> bytes:
    """Drop the rest of a character that is cut at the beginning."""
    start = 0
    while start < min(3, len(data)) and 0x80 <= data[start] < 0xC0:
        start += 1
    return data[start:]
