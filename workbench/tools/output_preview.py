"""The lines of an output that fit: a preview for a model and the journal."""

from typing import Final

from msgspec import Struct

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
    data_bytes = len(data) if isinstance(data, bytes) else len(data.encode("utf-8", "replace"))
    total = data_bytes if total_bytes is None else total_bytes
    readable = _readable_bytes(data, limit)
    if total <= limit and len(readable) <= limit:
        return OutputPreview(text=readable.decode(), total_bytes=total, truncated=False)
    notice = f"\n[… output cut: {total} bytes in all, the middle is left out …]\n".encode()
    remaining = max(0, limit - len(notice))
    head = without_cut_character(readable[: remaining - remaining // 2])
    tail = _without_cut_start(readable[len(readable) - remaining // 2 :])
    return OutputPreview(text=(head + notice + tail).decode(), total_bytes=total, truncated=True)


def _readable_bytes(data: bytes | str, limit: int) -> bytes:
    """Return valid UTF-8; of a long output only both ends."""
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    ends = (data,)
    if len(data) > 2 * limit:
        ends = (without_cut_character(data[:limit]), _without_cut_start(data[-limit:]))
    return b"".join(end.decode("utf-8", "replace").encode() for end in ends)


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
