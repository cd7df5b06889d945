"""The part of an output that a model and the record see: its beginning, its end, and its size.

Owns cutting. It must never cut a character in half, and never leave open that something is missing.
"""

from typing import Final

from workbench.records import dataclass

LIMIT: Final = 10_240
"""Bytes; S0 ToolResult."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A part of an output."""

    text: str
    total_bytes: int
    """Size of the whole."""
    truncated: bool


def preview(data: bytes | str, limit: int = LIMIT, total_bytes: int | None = None) -> Preview:
    """Return an output whole, or its first and last part with a line between them that gives the size.

    Args:
        data: Output; what is not UTF-8 in it becomes U+FFFD.
        limit: Most bytes of the text, the line between included.
        total_bytes: Size of the whole, where `data` is only what was kept of it.
    """
    here = len(data) if isinstance(data, bytes) else len(data.encode("utf-8", "replace"))
    total = here if total_bytes is None else total_bytes
    raw = _readable(data, limit)
    if total <= limit and len(raw) <= limit:
        return Preview(text=raw.decode(), total_bytes=total, truncated=False)
    line = f"\n[… output cut: {total} bytes in all, the middle is left out …]\n".encode()
    room = max(0, limit - len(line))
    head = whole_characters(raw[: room - room // 2])
    tail = _whole_end(raw[len(raw) - room // 2 :])
    return Preview(text=(head + line + tail).decode(), total_bytes=total, truncated=True)


def _readable(data: bytes | str, limit: int) -> bytes:
    """Return valid UTF-8, of a long output only what may be shown of both ends."""
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    if len(data) <= 2 * limit:
        return _repaired(data)
    head, tail = data[:limit], data[-limit:]
    return _repaired(whole_characters(head)) + _repaired(_whole_end(tail))


def _repaired(data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode()


def whole_characters(data: bytes) -> bytes:
    """Return UTF-8 without a character that is cut at its end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            return data
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data if back >= length else data[:-back]
    return data


def _whole_end(data: bytes) -> bytes:
    """Drop the rest of a character that is cut at the beginning."""
    start = 0
    while start < min(3, len(data)) and 0x80 <= data[start] < 0xC0:
        start += 1
    return data[start:]
