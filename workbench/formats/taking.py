"""One foreign file as events: recognised, read, assembled, as a stream.

Pure but for the stream it reads and what it is given to keep bytes with. Owns how recognising, reading and
assembling go together.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from workbench.domain.events import Event
from workbench.formats import own
from workbench.formats.assembling import Assembler, Generation, Summary
from workbench.formats.calls import Store
from workbench.formats.foreign import Problem
from workbench.formats.recognising import Recognised, recognise


@dataclass(slots=True, kw_only=True)
class Opened:
    """A file that was recognised; the rest fills while `events` is read."""

    format: str
    events: Iterator[Event]
    summaries: list[Summary] = field(default_factory=list[Summary])
    strays: list[Problem] = field(default_factory=list[Problem])
    """Problems of a file in which no session was found."""


def open_file(
    stream: BinaryIO,
    name: str,
    at: int,
    wanted: str | None,
    *,
    store: Store,
    current_id: Generation,
    recorded_at: int | None = None,
    is_elsewhere: own.Elsewhere = own.no_other,
) -> Opened:
    """Recognise a file and return it ready to be read.

    Args:
        stream: Its bytes, from the start.
        name: For problems, and for sessions without an id of their own.
        at: Microseconds, for what has no time.
        wanted: A format that the user named.
        store: Keeps scrubbed bytes of large outputs.
        current_id: Turns the id that a session would get into the one it gets.
        recorded_at: When this is taken in, microseconds; None leaves it to the journal.
        is_elsewhere: Tells whether another session has an event of an id; only for our own files.

    Raises:
        NotRecognised: It has no format that is known.
    """
    found = recognise(stream, name, wanted)
    if found.lines is not None:
        ours = Opened(format=found.format, events=iter(()))
        reading = own.Reading(store, current_id, ours.summaries, is_elsewhere)
        ours.events, ours.strays = reading.events(found.lines), reading.strays
        return ours
    assembler = Assembler(found.format, at, store, current_id, recorded_at)
    opened = Opened(format=found.format, events=iter(()), summaries=assembler.summaries)
    opened.events = _events(found, assembler, opened)
    return opened


def _events(found: Recognised, assembler: Assembler, opened: Opened) -> Iterator[Event]:
    for item in found.items:
        yield from assembler.take(item)
    yield from assembler.finish()
    opened.strays.extend(assembler.strays)


class Counted(io.RawIOBase):
    """A stream that tells how much is read of it."""

    def __init__(self, stream: BinaryIO, note: Callable[[int], None]) -> None:
        self._stream, self._note = stream, note

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]
        """Fill a buffer and tell."""
        data = self._stream.read(len(buffer)) or b""
        buffer[: len(data)] = data
        self._note(len(data))
        return len(data)
