"""Events of a server's reply as they arrive: server-sent events and lines of JSON.

Bytes may be cut anywhere (WHATWG HTML section 9.2); a line that does not end is an error, not a full memory.
"""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class EventTooLarge(Exception):
    """One event is larger than the limit."""


class ServerEvent(Struct, frozen=True, kw_only=True):
    """One event: its type (empty: a message) and its data lines joined by line feeds."""

    kind: str
    data: str


class EventReader:
    """Turns pieces of a stream into events."""

    def __init__(self, most: int) -> None:
        """Start a stream; one event may have so many bytes."""
        self._most = most
        self._buffer = bytearray()
        self._scanned = 0
        """Where in the buffer to look for the next line end: before it there is none."""
        self._is_first_line = True
        self._after_return = False
        """The last piece ended with CR: a LF that follows belongs to it."""
        self._kind = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, piece: bytes) -> Iterator[ServerEvent]:
        """Take a piece and yield the events that are whole now. Raises EventTooLarge."""
        if self._after_return and piece:
            piece = piece.removeprefix(b"\n")
            self._after_return = False
        self._buffer += piece
        for line in self._lines():
            event = self._line(line)
            if event is not None:
                yield event
        self._check(len(self._buffer))

    def finish(self) -> Iterator[ServerEvent]:
        """Yield what a server left without its last blank line; the standard would drop it."""
        if self._buffer:
            event = self._line(bytes(self._buffer))
            self._buffer.clear()
            if event is not None:
                yield event
        event = self._dispatched()
        if event is not None:
            yield event

    def _lines(self) -> Iterator[bytes]:
        start = 0
        while line_end := _LINE_END.search(self._buffer, max(start, self._scanned)):
            yield bytes(self._buffer[start : line_end.start()])
            start = self._scanned = line_end.end()
            self._after_return = line_end.group() == b"\r" and start == len(self._buffer)
        del self._buffer[:start]
        self._scanned = len(self._buffer)

    def _line(self, line: bytes) -> ServerEvent | None:
        if self._is_first_line:
            line = line.removeprefix(_BYTE_ORDER_MARK)
            self._is_first_line = False
        if not line:
            return self._dispatched()
        name, _, value = line.partition(b":")
        self._field(name, value.removeprefix(b" "))
        return None

    def _field(self, name: bytes, value: bytes) -> None:
        if name == b"data":
            self._check(self._size + len(value))
            self._size += len(value) + 1
            self._data.append(value.decode("utf-8", "replace"))
        elif name == b"event":
            self._kind = value.decode("utf-8", "replace")
        elif name == b"error" and value:
            # llama.cpp of old put errors into a field of their own.
            self._kind = "error"
            self._data.append(value.decode("utf-8", "replace"))

    def _dispatched(self) -> ServerEvent | None:
        event = ServerEvent(kind=self._kind, data="\n".join(self._data)) if self._data else None
        self._kind, self._data, self._size = "", [], 0
        return event

    def _check(self, size: int) -> None:
        if size > self._most:
            raise EventTooLarge


class LineReader:
    """Turns pieces of a stream of JSON lines (NDJSON) into events."""

    def __init__(self, most: int) -> None:
        """Start a stream; one line may have so many bytes."""
        self._most = most
        self._buffer = bytearray()
        self._scanned = 0

    def feed(self, piece: bytes) -> Iterator[ServerEvent]:
        """Take a piece and yield the lines that are whole now. Raises EventTooLarge."""
        self._buffer += piece
        start = 0
        while (end := self._buffer.find(b"\n", max(start, self._scanned))) >= 0:
            yield from _line_event(bytes(self._buffer[start:end]))
            start = self._scanned = end + 1
        del self._buffer[:start]
        self._scanned = len(self._buffer)
        if self._scanned > self._most:
            raise EventTooLarge

    def finish(self) -> Iterator[ServerEvent]:
        """Yield a last line without its line end."""
        yield from _line_event(bytes(self._buffer))
        self._buffer.clear()


def _line_event(line: bytes) -> Iterator[ServerEvent]:
    text = line.removeprefix(_BYTE_ORDER_MARK).strip()
    if text:
        yield ServerEvent(kind="", data=text.decode("utf-8", "replace"))
