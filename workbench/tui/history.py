"""Earlier parts of a long conversation: a window of lasting events, folded when somebody looks there.

Owns which events a window holds and how it moves; two windows in a row overlap, so that the line being read
is in both. Memory is that of one window, however long the session is. It reads, and never writes.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Protocol, runtime_checkable

from workbench.domain.events import Event, ReplyCompleted, TurnEnded, TurnStarted
from workbench.records import dataclass
from workbench.views.transcript import Transcript

SPAN: Final = 1_000
"""Lasting events in a window."""
STEP: Final = 500
"""By how many of them it moves."""
_PIECES: Final = 5_000
"""Streamed pieces that are read of a reply that never came to its end."""


@runtime_checkable
class Archive(Protocol):
    """What a history is read from; `tui.live.JournalSource` is one."""

    def last_number(self, session_id: str) -> int:
        """Return the number of a session's newest event."""
        ...

    def lasting(
        self, session_id: str, *, before: int | None = None, after: int = 0, limit: int
    ) -> Sequence[Event]:
        """Return events that are no pieces: the last ones before a number, or the first ones after one."""
        ...

    def between(self, session_id: str, first: int, last: int, limit: int) -> Sequence[Event]:
        """Return all events between two numbers, both included."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A part of a session that is not its end."""

    transcript: Transcript
    first: int
    """The number of its first event."""
    last: int
    total: int
    """The number of the session's newest event when the window was read."""
    middle: int
    """The number of the event by which the next window begins or ends."""

    @property
    def words(self) -> str:
        """Return where it is: `events 1 to 1,000 of 100,000`; nothing of a whole session."""
        if self.first == 1 and self.last >= self.total:
            return ""
        return f"events {self.first:,} to {self.last:,} of {self.total:,}"


def beginning(archive: Archive, session_id: str) -> Window | None:
    """Return the first window of a session; None when it has no events."""
    return _window(archive, session_id, archive.lasting(session_id, limit=SPAN))


def before(archive: Archive, session_id: str, number: int) -> Window | None:
    """Return the window that reaches half its length to before a number; None when nothing is there."""
    earlier = archive.lasting(session_id, before=number, limit=STEP)
    if not earlier:
        return None
    later = archive.lasting(session_id, after=number - 1, limit=SPAN - len(earlier))
    return _window(archive, session_id, [*earlier, *later])


def around(archive: Archive, session_id: str, number: int) -> Window | None:
    """Return the window with an event in its middle; None when the session has none before or after it."""
    return before(archive, session_id, number + 1)


def after(archive: Archive, session_id: str, window: Window) -> Window | None:
    """Return the window that follows one, with the second half of it; None when nothing is there."""
    return _window(archive, session_id, archive.lasting(session_id, after=window.middle - 1, limit=SPAN))


def pieces(archive: Archive, session_id: str) -> Iterator[Sequence[Event]]:
    """Yield all lasting events of a session, so many at a time, the newest first."""
    number = archive.last_number(session_id) + 1
    while events := archive.lasting(session_id, before=number, limit=SPAN):
        yield events
        number = events[0].sequence_number


def _window(archive: Archive, session_id: str, events: Sequence[Event]) -> Window | None:
    if not events:
        return None
    transcript = Transcript(session_id)
    transcript.apply_all(_with_pieces(archive, session_id, events))
    transcript.close()
    return Window(
        transcript=transcript, first=events[0].sequence_number, last=events[-1].sequence_number,
        total=archive.last_number(session_id), middle=events[len(events) // 2].sequence_number,
    )  # fmt: skip


def _with_pieces(archive: Archive, session_id: str, events: Sequence[Event]) -> list[Event]:
    """Put what was streamed of replies that never came to their end where it belongs."""
    found: list[Event] = []
    begun: Event | None = None
    for event in events:
        if isinstance(event.body, ReplyCompleted):
            begun = None
        elif isinstance(event.body, TurnStarted | TurnEnded):
            if begun is not None:
                first, last = begun.sequence_number + 1, event.sequence_number - 1
                pieces = archive.between(session_id, first, last, _PIECES)
                found += [piece for piece in pieces if not piece.body.DURABLE]
            begun = event if isinstance(event.body, TurnStarted) else None
        found.append(event)
    return sorted(found, key=lambda event: event.sequence_number)
