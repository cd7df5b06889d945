"""Streamed text, scrubbed piece by piece before it is recorded."""

import asyncio
from collections.abc import Callable

from workbench.secrets.scrubber import scrub

_KEY_BLOCK = "-----BEGIN"
_KEY_BLOCK_END = "-----END"
_LONGEST_HELD = 65_536
_KEPT_CONTEXT = 4096
"""Characters of a line longer than that which are kept, so that a name and its secret stay together."""


class StreamScrubber:
    """Scrub a stream in pieces, so that no secret of one line gets out in two halves."""

    def __init__(self) -> None:
        self._line = ""
        """The current line as it came, or an open key block."""
        self._emitted = ""
        """What was let out of the current line, scrubbed."""

    def feed(self, text: str) -> str:
        self._line += text
        out = ""
        while (cut := self._settled()) > 0:
            out += self._finish(self._line[:cut])
            self._line = self._line[cut:]
        return out + self._begin()

    def flush(self) -> str:
        out = self._finish(self._line)
        self._line = ""
        return out

    def _settled(self) -> int:
        """Return how much can be judged for good: whole lines, and key blocks that are closed."""
        block, newline = self._line.find(_KEY_BLOCK), self._line.find("\n")
        if newline < 0:
            return 0
        if 0 <= block < newline and len(self._line) <= _LONGEST_HELD:
            return self._block_end(block)
        if self._emitted or 0 <= block < newline:
            return newline + 1
        return self._line.rfind("\n", 0, block if block >= 0 else None) + 1

    def _block_end(self, block: int) -> int:
        end = self._line.find(_KEY_BLOCK_END, block)
        return self._line.find("\n", end) + 1 if end >= 0 else 0

    def _finish(self, part: str) -> str:
        clean = scrub(part).text
        rest = clean[len(self._emitted) :] if clean.startswith(self._emitted) else ""
        self._emitted = ""
        return rest

    def _begin(self) -> str:
        if _KEY_BLOCK in self._line:
            return ""
        whole = max(self._line.rfind(" "), self._line.rfind("\t")) + 1
        clean = scrub(self._line[:whole]).text
        if not clean.startswith(self._emitted):
            return ""
        new = clean[len(self._emitted) :]
        self._emitted = clean
        if whole > _LONGEST_HELD:
            self._forget(whole)
        return new

    def _forget(self, whole: int) -> None:
        self._line = self._line[whole - _KEPT_CONTEXT :]
        self._emitted = scrub(self._line[:_KEPT_CONTEXT]).text


DELTA_INTERVAL_SECONDS = 0.05
"""Seconds between two events of one block."""


class DeltaWriter:
    """Writes the text of one block: at once after a pause, at most every `DELTA_INTERVAL_SECONDS`.

    `start`: the offset of what is fed first, in characters. `written`: the offset up to which an earlier
    writer wrote the text, which is fed again and not written again.
    """

    def __init__(self, write: Callable[[int, str], None], *, start: int = 0, written: int = 0) -> None:
        self._write, self._written = write, written
        self._scrubber = StreamScrubber()
        self._pieces: list[str] = []
        self._offset = start
        self._timer: asyncio.TimerHandle | None = None
        self._next_at = 0.0
        """When the next piece may be written, on the clock of the loop."""

    def feed(self, text: str) -> None:
        """Take a piece of the stream; it is scrubbed once an interval, not once a word."""
        self._pieces.append(text)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(max(0.0, self._next_at - loop.time()), self._emit_due)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._emit(self._scrubbed_pieces() + self._scrubber.flush())

    def _emit_due(self) -> None:
        self._timer = None
        self._next_at = asyncio.get_running_loop().time() + DELTA_INTERVAL_SECONDS
        self._emit(self._scrubbed_pieces())

    def _scrubbed_pieces(self) -> str:
        pieces, self._pieces = "".join(self._pieces), []
        return self._scrubber.feed(pieces)

    def _emit(self, text: str) -> None:
        known = max(0, self._written - self._offset)
        self._offset += len(text)
        if new := text[known:]:
            self._write(self._offset - len(new), new)
