"""What a command prints: the first and the last part are kept, the beginning is streamed while it comes."""

import codecs
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Protocol

from workbench.host import redaction
from workbench.host.stream_scrubber import DeltaWriter

MAX_KEPT_END_BYTES = 1_048_576
"""Bytes kept of each end of an output."""
MAX_STREAMED_CHARACTERS = 262_144
"""Characters of output that are streamed live in full; of what follows a line now and then."""
LATER_LINE_SECONDS = 1.0
"""Between two lines that are streamed after that."""
_MAX_LATER_LINE = 200


class Prepared(Protocol):
    """A process that waits behind its gate."""

    def abandon(self) -> None: ...


@contextmanager
def abandoned_on_error(command: Prepared) -> Generator[None]:
    """Abandon a prepared command where its process could not be recorded: it never runs then."""
    try:
        yield
    except BaseException:
        command.abandon()
        raise


class CommandOutput:
    """Takes an output piece by piece; `write` gets what is streamed, with its offset in characters.

    `streamed`: characters that an earlier driver streamed of this output, which is fed from its first byte.
    They are not streamed again; where they were all that is streamed in full, later lines follow them.
    """

    def __init__(
        self,
        write: Callable[[int, str], None],
        monotonic: Callable[[], float] = lambda: 0.0,
        *,
        streamed: int = 0,
    ) -> None:
        self.total = 0
        is_cut = streamed >= MAX_STREAMED_CHARACTERS
        self._monotonic, self._later_line_at = monotonic, monotonic() if is_cut else float("-inf")
        self._cut_line_end = "\n"
        """What ends the line in which the whole stream was cut."""
        self._line_ends, self._ends_in_line = 0, False
        self._head = bytearray()
        self._head_room = MAX_KEPT_END_BYTES
        self._tail = bytearray()
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._deltas = DeltaWriter(write, start=streamed if is_cut else 0, written=0 if is_cut else streamed)
        self._streamable_characters = 0 if is_cut else MAX_STREAMED_CHARACTERS

    def feed(self, data: bytes) -> None:
        self.total += len(data)
        begins_line = not self._ends_in_line
        self._line_ends += data.count(b"\n")
        self._ends_in_line = not data.endswith(b"\n") if data else self._ends_in_line
        room = self._head_room
        self._head += data[:room]
        self._tail += data[room:]
        self._head_room = max(0, room - len(data))
        if len(self._tail) > 2 * MAX_KEPT_END_BYTES:
            del self._tail[:-MAX_KEPT_END_BYTES]
        if self._streamable_characters > 0:
            text = self._decode(data)[: self._streamable_characters]
            self._streamable_characters -= len(text)
            self._deltas.feed(text)
        else:
            self._stream_later_line(data if begins_line else data.partition(b"\n")[2])

    def skip(self, size: int) -> None:
        """Count bytes that were printed and not kept."""
        self.total += size
        self._head_room = 0
        self._tail.clear()

    def _stream_later_line(self, data: bytes) -> None:
        """Stream the last whole line of a piece that begins with a line, once a second."""
        whole, _, _ = data.rpartition(b"\n")
        now = self._monotonic()
        if not whole or now - self._later_line_at < LATER_LINE_SECONDS:
            return
        self._later_line_at = now
        line = whole[whole.rfind(b"\n") + 1 :].decode("utf-8", "replace")
        # Whether it stands in the middle of a key is not known any more.
        clean = redaction.redact_text(f"{line}\n", is_fragment=True)
        gap, self._cut_line_end = self._cut_line_end, ""
        self._deltas.feed(f"{gap}{clean.rstrip()[:_MAX_LATER_LINE]}\n")

    @property
    def lines(self) -> int:
        """Return how many lines were printed, those that are not kept too."""
        return self._line_ends + self._ends_in_line

    def close(self) -> None:
        self._deltas.close()

    def texts(self) -> tuple[str, str]:
        """Return what was kept, with a line that names what is missing, and the same without its secrets.

        Where something is missing both parts end at a line end, so that no half of a secret is left over.
        """
        head, tail = bytes(self._head), bytes(self._tail[-MAX_KEPT_END_BYTES:])
        if self.total == len(head) + len(tail):
            whole = (head + tail).decode("utf-8", "replace")
            return whole, redaction.redact_text(whole)
        head, tail = head[: head.rfind(b"\n") + 1], tail[tail.find(b"\n") + 1 :]
        gap = f"… {self.total - len(head) - len(tail)} bytes left out …\n"
        first, last = head.decode("utf-8", "replace"), tail.decode("utf-8", "replace")
        clean = redaction.redact_text(first) + gap + redaction.redact_text(last, is_fragment=True)
        return first + gap + last, clean
