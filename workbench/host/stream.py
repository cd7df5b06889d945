"""Text on its way into the journal: scrubbed as it streams, and cut into at most 20 events a second.

Owns the holding back that makes scrubbing of a stream possible: a word is let out when it is whole, a key
block when it is closed. Never keeps more than one line and what is not yet written.
"""

import asyncio
from collections.abc import Callable

from workbench.text.scrub import scrub

INTERVAL = 0.05
"""Seconds between two events of one block."""

_KEY_BLOCK = "-----BEGIN"
_KEY_BLOCK_END = "-----END"
_LONGEST_HELD = 65_536


class StreamScrubber:
    """Scrub a stream in pieces, so that no secret of one line gets out in two halves."""

    def __init__(self) -> None:
        self._line = ""
        """The current line as it came, or an open key block."""
        self._emitted = ""
        """What was let out of the current line, scrubbed."""

    def feed(self, text: str) -> str:
        """Return what may be shown now."""
        self._line += text
        out: list[str] = []
        at = 0
        while (cut := self._line_end(at)) >= 0:
            out.append(self._finish(self._line[at:cut]))
            at = cut
        self._line = self._line[at:]
        return "".join(out) + self._begin()

    def flush(self) -> str:
        """Return what was still held back; the stream is over."""
        out = self._finish(self._line)
        self._line = ""
        return out

    def _line_end(self, at: int) -> int:
        """Return where the part from there ends that can be judged for good: a line or a closed key block."""
        newline = self._line.find("\n", at)
        if newline < 0:
            return -1
        start = self._line.find(_KEY_BLOCK, at, newline)
        if start < 0 or len(self._line) - at > _LONGEST_HELD:
            return newline + 1
        end = self._line.find(_KEY_BLOCK_END, start)
        close = self._line.find("\n", end) if end >= 0 else -1
        return close + 1 if close >= 0 else -1

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
        return new


class Deltas:
    """Collect the text of one block and hand it on at most every `INTERVAL` seconds."""

    def __init__(self, write: Callable[[int, str], None]) -> None:
        """Start a block.

        Args:
            write: gets the offset in characters from the block's start, and the text.
        """
        self._write = write
        self._scrubber = StreamScrubber()
        self._pending = ""
        self._offset = 0
        self._timer: asyncio.TimerHandle | None = None

    def feed(self, text: str) -> None:
        """Take a piece of the stream."""
        self._pending += self._scrubber.feed(text)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._due)

    def close(self) -> None:
        """Write what is left; nothing follows."""
        if self._timer is not None:
            self._timer.cancel()
        self._pending += self._scrubber.flush()
        self._out()

    def _due(self) -> None:
        self._timer = None
        self._out()

    def _out(self) -> None:
        if self._pending:
            self._write(self._offset, self._pending)
            self._offset += len(self._pending)
            self._pending = ""
